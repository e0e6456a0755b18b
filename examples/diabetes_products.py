"""
Diabetes: at most two squares
=============================

Ten columns, their squares and their products. At most two of the squares may be used, and cross-validation
says how many terms in all: a laminar matroid along a path of sizes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

import swapwise as sw

# %%
# The terms
# ---------
# Sex has but two values, so it has no square.

data = load_diabetes(as_frame=True)
expand = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
X, y = expand.fit_transform(data.data).drop(columns="sex^2"), data.target
print(*X.columns, sep=", ")

# %%
# The path
# --------
# One to fifteen terms; of those within a standard error of the best, the fewest.

squares = np.flatnonzero(X.columns.str.endswith("^2"))
two_squares = sw.Laminar(X.shape[1], [(squares, 2)])
model = sw.SparseRegressorCV(
    two_squares, sizes=range(1, 16), criterion="cv", cv=10, one_standard_error=True
).fit(X, y)
model.path_.round(3)

# %%
# What is chosen
# --------------
# The path on the left; on the right the terms of the chosen size, standardised, so that bars compare.

kinds = np.where(
    X.columns.str.endswith("^2"), "squares", np.where(X.columns.str.contains(" "), "products", "plain")
)
standard = (X - X.mean()) / X.std()
shown = sw.SparseRegressor(two_squares.truncate(model.size_)).fit(standard, y)

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.4), constrained_layout=True)
sw.plot_path(model, left)
sw.plot_support(shown, right, groups=pd.Series(kinds, index=X.columns))
plt.show()
