"""
Breast cancer: five different cell features
===========================================

Each of ten cell features comes as mean, error and worst value: thirty columns, in which three
each measure the same thing. The best five columns repeat some features. A partition matroid with capacity
one per feature gives five different ones. What does that cost?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import swapwise as sw

SIZE, RIDGE = 5, 1e-3

# %%
# The constraint
# --------------
# "mean radius", "radius error" and "worst radius" are all "radius". At most one of them, and five in all:

X, y = load_breast_cancer(as_frame=True, return_X_y=True)
measures = pd.Series(X.columns.str.replace("mean |worst | error", "", regex=True), index=X.columns)
one_of_three = sw.Partition(measures, capacity=1).truncate(SIZE)
print(one_of_three)

# %%
# What it is compared with
# ------------------------
# Any five columns, and the columns kept by the weakest L1 penalty that keeps no more than five.


def l1_columns(X, y):
    """Return the columns that an L1 penalty keeps."""
    for C in np.geomspace(0.1, 0.005, 25):
        # From scikit-learn 1.8 on; before, ``penalty="l1"`` instead of ``l1_ratio``.
        logistic = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", random_state=0)
        kept = np.flatnonzero(make_pipeline(StandardScaler(), logistic).fit(X, y)[-1].coef_[0])
        if len(kept) <= SIZE:
            return kept
    raise AssertionError("the strongest penalty keeps too many columns")


choosers = {
    "at most one of three": lambda X, y: sw.SparseClassifier(one_of_three, ridge=RIDGE).fit(X, y).support_,
    "any five": lambda X, y: sw.SparseClassifier(SIZE, ridge=RIDGE).fit(X, y).support_,
    "L1": l1_columns,
}

# %%
# How well they do
# ----------------
# Ten times, columns are chosen and fitted on 60 % of the tumours and scored on the others; all are fitted in
# the same way. The cost of five different features is within chance: the differences are within two of their
# standard errors.

losses = {name: [] for name in choosers}
used = {name: [] for name in choosers}
for train, test in StratifiedShuffleSplit(10, test_size=0.4, random_state=0).split(X, y):
    for name, choose in choosers.items():
        columns = X.columns[choose(X.iloc[train], y.iloc[train])]
        refit = sw.SparseClassifier(SIZE, ridge=RIDGE).fit(X.iloc[train][columns], y.iloc[train])
        losses[name].append(log_loss(y.iloc[test], refit.predict_proba(X.iloc[test][columns])))
        used[name].append(measures[columns].nunique())
losses = pd.DataFrame(losses)
comparison = pd.DataFrame({"log loss": losses.mean(), "cell features": pd.DataFrame(used).mean()})
comparison["standard error of the difference"] = losses.sub(losses["at most one of three"], axis=0).sem()
print(comparison.round(3).to_string())

# %%
# What they choose
# ----------------
# On standardised columns, so that bars are comparable:

standard = (X - X.mean()) / X.std()
plt.rcParams["font.size"] = 11
for name, rule in (("at most one of three", one_of_three), ("any five", SIZE)):
    figure, ax = plt.subplots(figsize=(8, 5), constrained_layout=True)
    sw.plot_support(sw.SparseClassifier(rule, ridge=RIDGE).fit(standard, y), ax, groups=measures)
    ax.set_title(f"{name}: log loss {comparison.loc[name, 'log loss']:.3f}")
plt.show()
