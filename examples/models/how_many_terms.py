"""
Schools: how many terms, by cross-validation
============================================

Twelve variables of 303 school districts in California, their squares and products: 90 terms. A product may
only be used with both factors, and cross-validation chooses the number of terms.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.preprocessing import PolynomialFeatures
from statsmodels.datasets import star98

import swapwise as sw

# %%
# The terms
# ---------
# The target is the share of pupils above the national median. The data already contain some products, whose
# names have an underscore; these are left out.

data = star98.load_pandas().data
share = data["NABOVE"] / (data["NABOVE"] + data["NBELOW"])
facts = data[[name for name in data.columns[2:] if "_" not in name]]
expand = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
terms = expand.fit_transform((facts - facts.mean()) / facts.std())
print(f"{facts.shape[1]} facts, {terms.shape[1]} terms: {', '.join(facts.columns)}")

# %%
# The path
# --------
# One to fifteen terms. Of the sizes within one standard error of the best, the smallest is taken.

hierarchy = sw.Hierarchy.from_names(terms.columns, sep=" ")
model = sw.SparseRegressorCV(
    hierarchy, sizes=range(1, 16), criterion="cv", cv=10, one_standard_error=True, random_state=0
).fit(terms, share)
print(model.path_.round(3).to_string(index=False))

# %%
# What is chosen
# --------------
# The path with the standard error over the ten folds, and the terms.

kinds = ["product or square" if " " in name or "^" in name else "fact" for name in terms.columns]
plt.rcParams["font.size"] = 11
figure, ax = plt.subplots(figsize=(8, 5), constrained_layout=True)
sw.plot_path(model, ax)
figure, ax = plt.subplots(figsize=(8, 5), constrained_layout=True)
sw.plot_support(model, ax, groups=pd.Series(kinds, index=terms.columns))
plt.show()
