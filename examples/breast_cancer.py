"""Breast cancer: each of ten cell features comes as mean, error and worst; use at most one of the three.

A partition matroid with one place a cell feature, beside an L1 penalty and a plain limit on the size: neither
of them knows that three columns measure the same thing.
"""

from pathlib import Path

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


def cell_feature(column: str) -> str:
    """Return what a column measures: 'mean radius', 'radius error' and 'worst radius' are all 'radius'."""
    return column.removeprefix("mean ").removeprefix("worst ").removesuffix(" error")


def l1_penalised(C: float) -> Pipeline:
    """Return an L1 fit of standardised columns."""
    logistic = LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", random_state=0)
    return make_pipeline(StandardScaler(), logistic)


def weakest_penalty(X: pd.DataFrame, y: pd.Series) -> float:
    """Return the weakest L1 penalty that leaves no more than the wanted number of features."""
    low, high = 1e-4, 1.0
    for _ in range(20):
        middle = (low * high) ** 0.5
        too_many = np.count_nonzero(l1_penalised(middle).fit(X, y)[-1].coef_) > SIZE
        low, high = (low, middle) if too_many else (middle, high)
    return low


def main(folder: Path) -> pd.DataFrame:
    """Compare the three, draw what two of them choose, and return a row for each."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target
    measures = pd.Series({column: cell_feature(column) for column in X.columns})
    one_of_three = sw.Partition(measures, capacity=1).truncate(SIZE)
    models = {
        "at most one of three": sw.SparseClassifier(one_of_three, ridge=RIDGE),
        "any five": sw.SparseClassifier(SIZE, ridge=RIDGE),
        "L1": l1_penalised(weakest_penalty(X, y)),
    }
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
            "columns": ", ".join(chosen),
        }

    figure, axes = plt.subplots(1, 2, figsize=(13, 5.2), constrained_layout=True)
    for ax, name in zip(axes, ("at most one of three", "any five"), strict=True):
        standard = (X - X.mean()) / X.std()  # so that bars compare
        sw.plot_support(models[name].fit(standard, y), ax, groups=measures)
        ax.set_title(f"{name}: log loss {rows[name]['log loss']:.3f}")
    figure.savefig(folder / "breast-cancer.png", dpi=110)
    plt.close(figure)
    return pd.DataFrame(rows).T


if __name__ == "__main__":
    print(main(Path()).to_string())
