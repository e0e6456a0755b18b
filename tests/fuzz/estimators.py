"""Estimators: the same numbers in any container, type and order, weights, pickles, and what is refused."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import clone

import swapwise as sw
from tests.fuzz.report import Report

Random = np.random.Generator
#: Coefficients and predictions of the same problem agree to this, relative to the largest
AGREE = 1e-6


def check(seed: int) -> Report:
    """Fit one estimator to one sample in several ways."""
    random = np.random.default_rng([35, seed])
    name = str(random.choice(list(MODELS)))
    X, y = _sample(random, name)
    report = Report(f"{name}, {X.shape[0]} x {X.shape[1]}", (name,))
    make = _maker(random, name, X.shape[1])
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = make().fit(X, y)
            for about in (_containers, _weights, _copies, _refusals):
                about(random, report, make, model, X, y)
        except Exception as error:
            report.claim("raises nothing else", False, f"{type(error).__name__}: {error}")
    return report


def _sample(random: Random, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return whole numbers, which every type holds, or others, some of them on odd scales."""
    n, p = int(random.integers(12, 60)), int(random.integers(2, 9))
    X = random.integers(-4, 5, (n, p)).astype(float)
    X[0], X[1] = 4, -4  # no constant column
    if random.random() < 0.4:
        X = (X + random.standard_normal((n, p))) * 10.0 ** random.integers(-3, 4)
    signal = (X / X.std(axis=0)) @ random.choice([-1.0, 0.0, 1.0], p) + random.standard_normal(n)
    if name.startswith("SparseClassifier"):
        return X, np.where(signal + random.standard_normal(n) > np.median(signal), 1, 0)
    if name.endswith("of counts"):
        return X, random.poisson(np.exp(np.clip(signal / 3, -3, 3))).astype(float)
    if name.startswith("SparseGLM"):
        return X, random.gamma(2.0, np.exp(np.clip(signal / 3, -3, 3)))
    if name.startswith("Ising"):
        return np.sign(X + random.choice([-0.5, 0.5])), signal
    return X, signal


MODELS = {
    "SparseRegressor": sw.SparseRegressor,
    "SparseRegressorCV": sw.SparseRegressorCV,
    "SparseClassifier": sw.SparseClassifier,
    "SparseGLMRegressor of counts": sw.SparseGLMRegressor,
    "SparseSelector": sw.SparseSelector,
    "SparseClassifierCV": sw.SparseClassifierCV,
    "SparseGLMRegressor": sw.SparseGLMRegressor,
    "SparseGLMRegressorCV": sw.SparseGLMRegressorCV,
    "GaussianGraph": sw.GaussianGraph,
    "IsingGraph": sw.IsingGraph,
}


def _maker(random: Random, name: str, p: int) -> Callable[[], Any]:
    size, standardize = int(random.integers(1, p + 1)), bool(random.integers(2))
    if name.endswith("Graph"):
        return lambda: MODELS[name](min(size, 3), ridge=0.05)
    family = {"family": "gamma"} if name in ("SparseGLMRegressor", "SparseGLMRegressorCV") else {}
    if name.endswith("CV"):
        return lambda: MODELS[name](sizes=range(1, size + 1), cv=3, standardize=standardize, **family)
    if name == "SparseSelector":
        return lambda: sw.SparseSelector(size)
    ridge = float(random.choice([0.001, 0.1]))
    return lambda: MODELS[name](size, standardize=standardize, ridge=ridge, **family)


def _outcome(model: Any, X: Any) -> np.ndarray:
    """Return what a model makes of a sample: predictions, weights of edges, or the columns chosen."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    if hasattr(model, "adjacency_"):
        return np.append(model.adjacency_.ravel(), model.score(X))
    return np.flatnonzero(model.get_support()).astype(float)


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    size = max(1e-12, float(np.abs(first).max(initial=0.0)))
    return first.shape == second.shape and bool(np.abs(first - second).max(initial=0.0) <= AGREE * size)


def _containers(random: Random, report: Report, make: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """The same numbers, kept in another way."""
    names = [f"c{place}" for place in range(X.shape[1])]
    kinds: dict[str, Callable[[], Any]] = {
        "Fortran": lambda: np.asfortranarray(X),
        "strided": lambda: np.repeat(X, 2, axis=0)[::2],
        "read-only": lambda: _read_only(X),
        "frame": lambda: pd.DataFrame(X, columns=names),
        "list": lambda: X.tolist(),
        "csr": lambda: sparse.csr_matrix(X),
        "csc": lambda: sparse.csc_array(X),
        "big-endian": lambda: X.astype(">f8"),
        "nullable frame": lambda: pd.DataFrame(X, columns=names).convert_dtypes(),
        "object": lambda: X.astype(object),
    }
    if hasattr(model, "adjacency_"):
        del kinds["csr"], kinds["csc"]  # which graphs refuse
    if (np.rint(X) == X).all():
        kinds |= {"int8": lambda: X.astype(np.int8), "int64": lambda: X.astype(np.int64)}
    kind = str(random.choice(list(kinds)))
    given = kinds[kind]()
    other = make().fit(given, y)
    dense = given if not sparse.issparse(given) else X
    agrees = _same(_outcome(model, X), _outcome(other, dense))
    report.claim(f"the same answer for {kind}", agrees, f"{model.support_} and {other.support_}")


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _weights(random: Random, report: Report, make: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """A weight of 2 is the same sample twice, one of 0 none; and large or small ones change nothing."""
    if hasattr(model, "path_") or isinstance(model, sw.SparseSelector):  # folds would differ
        return
    counts = random.integers(0, 3, len(y))
    counts[: len(y) // 2] = 1
    if len(np.unique(np.repeat(y, counts))) < 2:
        return
    often = make().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    weighted = make().fit(X, y, sample_weight=counts)
    agrees = abs(weighted.result_.value - often.result_.value) <= AGREE * max(1.0, often.result_.value)
    report.claim("weights are repetitions", agrees, f"{weighted.result_} and {often.result_}")
    if np.array_equal(weighted.result_.support, often.result_.support):  # other sets may be worth the same
        agrees = _same(_outcome(often, X), _outcome(weighted, X))
        report.claim("weights are repetitions in the fit", agrees, f"{weighted.result_} and {often.result_}")
    factor = float(10.0 ** random.uniform(-6, 6))  # not whole, which would be counts for a graph
    scaled = make().fit(X, y, sample_weight=np.full(len(y), factor))
    if not isinstance(model, sw.SparseRegressor):  # whose ridge is added to sums over samples, not to means
        agrees = _same(_outcome(model, X), _outcome(scaled, X))
        report.claim("the unit of weights is nothing", agrees, f"{factor}: {scaled.result_}, {model.result_}")


def _copies(random: Random, report: Report, make: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    again = pickle.loads(pickle.dumps(model))
    report.claim("a pickle predicts the same", (_outcome(again, X) == _outcome(model, X)).all())
    report.claim("a clone fits the same", _same(_outcome(clone(model).fit(X, y), X), _outcome(model, X)))
    report.claim("so does a second fit", _same(_outcome(model.fit(X, y), X), _outcome(again, X)))


def _refusals(random: Random, report: Report, make: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """What cannot be fitted is refused by a ValueError or a TypeError that says something."""
    holed, place = X.copy(), tuple(int(random.integers(size)) for size in X.shape)
    is_graph = hasattr(model, "adjacency_")  # which take missing values, and no target
    holed[place] = random.choice([np.inf, -np.inf] if is_graph else [np.nan, np.inf, -np.inf])
    text = X.astype(object)
    text[place] = "East"
    bad: dict[str, Callable[[], Any]] = {
        "a hole": lambda: make().fit(holed, y),
        "text": lambda: make().fit(text, y),
        "too short a target": lambda: make().fit(X, y[:-1]),
        "one dimension": lambda: make().fit(X[:, 0], y),
        "nothing": lambda: make().fit(X[:0], y[:0]),
        "complex numbers": lambda: make().fit(X * 1j, y),
        "a negative weight": lambda: make().fit(X, y, sample_weight=-np.ones(len(y))),
        "other columns": lambda: _outcome_of_fewer(model, X),
    }
    if is_graph:
        del bad["too short a target"]
    if isinstance(model, sw.IsingGraph):
        del bad["text"]  # which may be one of two values
    kind = str(random.choice(list(bad)))
    try:
        bad[kind]()
    except (ValueError, TypeError) as error:
        report.refusals[kind] += 1
        report.claim("a refusal says why", len(str(error)) > 15, f"{kind}: {error}")
    else:
        report.claim("what cannot be fitted is refused", False, kind)


def _outcome_of_fewer(model: Any, X: np.ndarray) -> Any:
    few = X[:, :-1]
    if hasattr(model, "adjacency_"):
        return model.score(few)
    return model.transform(few) if not hasattr(model, "predict") else model.predict(few)
