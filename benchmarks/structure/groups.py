"""Few groups: six columns of three cell features at most, since each feature costs work to measure."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

import swapwise as sw
from benchmarks.structure.case import WITH, WITHOUT, Case
from benchmarks.structure.peers import l1_supports
from swapwise.checks import FloatArray, IndexArray

FEATURES = 3
COLUMNS_PER_FEATURE = 2  # on average, of the mean, the error and the worst value of each
RIDGE = 1e-3
ANY = "as many columns, of any cell features"


def tumours() -> tuple[pd.DataFrame, FloatArray, dict[str, str]]:
    """Return thirty columns of 569 tumours, whether they are benign, and what each column measures."""
    data = load_breast_cancer(as_frame=True)
    measured = {
        name: name.removeprefix("mean ").removeprefix("worst ").removesuffix(" error")
        for name in data.data.columns
    }
    return data.data, data.target.to_numpy(), measured


def three_cell_features(repeats: int = 60) -> Case:
    """Measure the log loss of tumours that were left out."""
    losses = log_losses(FEATURES, repeats)
    any_six = losses.pop(ANY)
    return Case(
        "Which three things should a laboratory measure?",
        "breast cancer (scikit-learn), 10 cell features × 3 statistics, 341 rows",
        f"{FEATURES * COLUMNS_PER_FEATURE} columns of at most {FEATURES} cell features",
        "log loss",
        losses,
        {"any six columns": float(np.nanmean(any_six))},
    )


def log_losses(features: int, repeats: int) -> dict[str, FloatArray]:
    """Return the log loss of each tumour by program and split, NaN where the tumour was in training."""
    columns, benign, measured = tumours()
    losses: dict[str, list[FloatArray]] = {}
    splits = StratifiedShuffleSplit(repeats, test_size=0.4, random_state=0)
    for train, test in splits.split(columns, benign):
        centre, scale = columns.iloc[train].mean(), columns.iloc[train].std()
        X, y = (columns.iloc[train] - centre) / scale, benign[train]
        unseen = (columns.iloc[test] - centre) / scale
        for name, chosen in supports(X, y, measured, features).items():
            plain = LogisticRegression(C=1 / (RIDGE * len(y)), max_iter=1000, tol=1e-8)
            chance = plain.fit(X.iloc[:, chosen], y).predict_proba(unseen.iloc[:, chosen])
            loss = np.full(len(benign), np.nan)
            loss[test] = -np.log(np.maximum(chance[np.arange(len(test)), benign[test]], 1e-15))
            losses.setdefault(name, []).append(loss)
    return {name: np.array(values) for name, values in losses.items()}


def supports(
    X: pd.DataFrame, y: FloatArray, measured: dict[str, str], features: int
) -> dict[str, IndexArray]:
    """Return the columns that each program chooses; all are then refitted in the same way.

    A program that knows nothing of cell features gets as many columns as it can have of so few features.
    """
    most = features * COLUMNS_PER_FEATURE
    few = sw.FewGroups(measured, features, size=most)
    sizes = range(1, most + 1)
    paths = {
        WITH: [sw.SparseClassifier(few, ridge=RIDGE).fit(X, y).support_],
        WITHOUT: [sw.SparseClassifier(size, ridge=RIDGE).fit(X, y).support_ for size in sizes],
        "L1": [chosen for chosen in l1_supports(X.to_numpy(), y) if 0 < len(chosen) <= most],
    }
    if find_spec("abess"):
        from abess import LogisticRegression as Abess

        fits = [Abess(support_size=size, thread=1).fit(X.to_numpy(), y) for size in sizes]
        paths["abess"] = [np.flatnonzero(fit.coef_) for fit in fits]
    label = np.array([measured[name] for name in X.columns])
    return {ANY: paths[WITHOUT][-1]} | {
        name: [chosen for chosen in path if len(set(label[chosen])) <= features][-1]
        for name, path in paths.items()
    }
