"""At most two sensors per site: eight pixels of digits are read, and a row of pixels fails later."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import RFE
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

import swapwise as sw
from benchmarks.structure.case import WITH, WITHOUT, Case
from swapwise.checks import FloatArray, IndexArray

PIXELS, PER_ROW, SIDE = 8, 2, 8
RIDGE = 1e-3
ROW_OF = np.arange(SIDE * SIDE) // SIDE


def a_row_fails(repeats: int = 10) -> Case:
    """Measure the share of digits taken for another one after the row whose loss hurts most has failed."""
    X, digit = load_digits(return_X_y=True)
    errors: dict[str, list[FloatArray]] = {}
    also: dict[str, list[float]] = {}
    for train, test in StratifiedShuffleSplit(repeats, test_size=0.4, random_state=0).split(X, digit):
        for name, chosen in supports(X[train], digit[train]).items():
            wrong = after_failures(X[train], digit[train], X[test], digit[test], chosen)
            also.setdefault(f"{name}, before", []).append(float(wrong[0].mean()))
            also.setdefault(f"{name}, a random row fails", []).append(float(np.mean(wrong[1:])))
            loss = np.full(len(digit), np.nan)
            loss[test] = max(wrong[1:], key=np.mean)
            errors.setdefault(name, []).append(loss)
    return Case(
        "Which eight sensors go on working when a site fails?",
        "digits (scikit-learn), 8 of 64 pixels, 1078 rows",
        f"at most {PER_ROW} pixels per row of pixels",
        "share wrong after the worst row has failed",
        {name: np.array(values) for name, values in errors.items()},
        {name: float(np.mean(shares)) for name, shares in also.items()},
    )


def supports(X: FloatArray, y: IndexArray) -> dict[str, IndexArray]:
    """Return the pixels that each program chooses; all are then refitted in the same way."""
    two_per_row = sw.Partition(ROW_OF, PER_ROW, size=PIXELS)
    found = {
        WITHOUT: sw.SparseClassifier(PIXELS, ridge=RIDGE).fit(X / 16, y).support_,
        WITH: sw.SparseClassifier(two_per_row, ridge=RIDGE).fit(X / 16, y).support_,
        "RFE": RFE(LogisticRegression(max_iter=200), n_features_to_select=PIXELS)
        .fit(X / 16, y)
        .get_support(True),
    }
    if find_spec("abess"):
        from abess import MultinomialRegression

        varied = np.flatnonzero(np.ptp(X, axis=0))  # others it refuses
        coef = MultinomialRegression(support_size=PIXELS, thread=1).fit(X[:, varied] / 16, y).coef_
        found["abess"] = varied[np.any(np.asarray(coef) != 0, axis=1)]
    return found


def after_failures(
    X: FloatArray, y: IndexArray, unseen: FloatArray, truth: IndexArray, chosen: IndexArray
) -> list[FloatArray]:
    """Return which digits are taken for others: first with all rows, then after each row in turn has failed.

    A pixel that has failed is replaced by its mean in the training data.
    """
    model = LogisticRegression(C=1 / (RIDGE * len(y)), max_iter=1000).fit(X[:, chosen] / 16, y)
    wrong = []
    for failed in range(-1, SIDE):
        read = np.where(failed == ROW_OF, X.mean(axis=0), unseen)
        wrong.append((model.predict(read[:, chosen] / 16) != truth).astype(float))
    return wrong
