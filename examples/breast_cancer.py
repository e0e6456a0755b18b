"""
Breast cancer: at most one of three
===================================

Each of ten cell features comes as mean, error and worst: thirty columns, of which three always measure the
same thing. A partition matroid with one place per cell feature, beside an L1 penalty and a plain limit on
the size, neither of which knows about the threes.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import swapwise as sw

SIZE = 5
RIDGE = 0.01

X, y = load_breast_cancer(as_frame=True, return_X_y=True)

# %%
# The constraint
# --------------
# "mean radius", "radius error" and "worst radius" are all "radius". One of them at most, and five in all:


def cell_feature(column: str) -> str:
    """Return what a column measures."""
    return column.removeprefix("mean ").removeprefix("worst ").removesuffix(" error")


measures = pd.Series({column: cell_feature(column) for column in X.columns})
one_of_three = sw.Partition(measures, capacity=1).truncate(SIZE)
print(one_of_three)

# %%
# What it is compared with
# ------------------------
# An L1 penalty has no size of its own: the weakest one is looked for that leaves five columns or fewer.


def l1_penalised(C: float) -> Pipeline:
    """Return an L1 fit of standardised columns."""
    logistic = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", random_state=0)
    return make_pipeline(StandardScaler(), logistic)


def weakest_penalty() -> float:
    """Return the weakest L1 penalty that leaves no more than the wanted number of features."""
    low, high = 1e-4, 1.0
    for _ in range(20):
        middle = (low * high) ** 0.5
        too_many = np.count_nonzero(l1_penalised(middle).fit(X, y)[-1].coef_) > SIZE
        low, high = (low, middle) if too_many else (middle, high)
    return low


models = {
    "at most one of three": sw.SparseClassifier(one_of_three, ridge=RIDGE),
    "any five": sw.SparseClassifier(SIZE, ridge=RIDGE),
    "L1": l1_penalised(weakest_penalty()),
}

# %%
# How well they do
# ----------------
# Five different cell features for the price of a hundredth of log loss, and far below the L1 fit's:

rows = {}
for name, model in models.items():
    model.fit(X, y)
    coef = model[-1].coef_ if isinstance(model, Pipeline) else model.coef_
    chosen = X.columns[coef[0] != 0]
    scores = cross_validate(model, X, y, cv=5, scoring=("neg_log_loss", "accuracy"))
    rows[name] = {
        "log loss": -scores["test_neg_log_loss"].mean(),
        "accuracy": scores["test_accuracy"].mean(),
        "cell features": measures[chosen].nunique(),
    }
comparison = pd.DataFrame.from_dict(rows, orient="index")
comparison.round(3)

# %%
# What they choose
# ----------------
# On standardised columns, so that bars compare:

standard = (X - X.mean()) / X.std()
figure, axes = plt.subplots(1, 2, figsize=(13, 5.2), constrained_layout=True)
for ax, name in zip(axes, ("at most one of three", "any five"), strict=True):
    sw.plot_support(models[name].fit(standard, y), ax, groups=measures)
    ax.set_title(f"{name}: log loss {rows[name]['log loss']:.3f}")
plt.show()
