"""Measurements of what is proven: guarantees, certificates, exact solutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import swapwise as sw
from benchmarks.reference.best_subset import best_subset
from benchmarks.regression import timed
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.paper.instances import paper_ising, paper_regression

RIDGES = (0.0, 0.001, 0.01, 0.1)  # times the number of samples
SECONDS = 10.0


@dataclass(frozen=True)
class Proven:
    """What is promised and what is proven of one answer."""

    setting: str
    ridge: float
    value: float
    guarantee: float
    root: float | None  # what is proven without branching, by relaxation or blocks
    certificate: float
    trivial: bool
    kind: str
    nodes: int
    seconds: float


@dataclass(frozen=True)
class Solved:
    """A problem solved exactly, and the same by going through all sets plainly."""

    problem: str
    seconds: float
    nodes: int
    status: str
    value: float
    support: list[int]
    plain_value: float | None
    plain_seconds: float | None


def tall_regression(
    anywhere: bool, random_state: int = 0, samples: int = 2000, features: int = 200, true: int = 20
) -> tuple[FloatArray, FloatArray, IndexArray]:
    """Return X, y and labels: autocorrelated features (0.5), signal to noise 5, 10 categories.

    The true features, with weights ±1, lie two in each category or anywhere.
    """
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((samples, features))
    for j in range(1, features):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    labels = np.arange(features) // (features // 10)
    if anywhere:
        support = rng.choice(features, true, replace=False)
    else:
        support = np.concatenate(
            [rng.choice(np.flatnonzero(labels == c), true // 10, False) for c in range(10)]
        )
    signal = X[:, support] @ rng.choice([-1.0, 1.0], true)
    y = signal + np.sqrt(signal.var() / 5) * rng.standard_normal(samples)
    return X, y, labels


def regression_settings() -> Iterator[tuple[str, FloatArray, FloatArray, sw.Matroid]]:
    """Yield the paper's setting, and tall ones with the true features two a category or anywhere."""
    paper = paper_regression(random_state=0)
    yield "paper, 50 × 200", paper.X, paper.y, sw.Partition(paper.labels, 5)
    for anywhere, seeds in ((False, (0,)), (True, (0, 1, 2))):
        for seed in seeds:
            X, y, labels = tall_regression(anywhere, seed)
            where = "anywhere" if anywhere else "two each"
            yield f"tall, {where}, {seed}", X, y, sw.Partition(labels, 2)


def regression_certificates() -> Iterator[Proven]:
    """Certify the default search for several ridges."""
    for setting, X, y, constraint in regression_settings():
        for share in RIDGES:
            objective = sw.LeastSquares(X, y, ridge=share * len(y))
            yield proven(setting, share, objective, constraint)


def ising_certificates() -> Iterator[Proven]:
    """Certify the structure of an Ising model with 20 vertices of degree 3."""
    instance = paper_ising(n_vertices=20, degree=3, random_state=0)
    for ridge in (0.01, 0.1):
        objective = sw.graphs.IsingPseudoLikelihood(instance.spins, ridge=ridge)
        yield proven("Ising, 20 vertices", ridge, objective, sw.BMatching.complete(20, 3))


def proven(setting: str, ridge: float, objective: sw.SparseObjective, constraint: sw.Constraint) -> Proven:
    """Search, and find out what can be said of the answer."""
    result = sw.maximize(objective, constraint)
    certificate = sw.certify(objective, constraint, result, time_limit=SECONDS)
    roots = [certificate.bounds[kind] for kind in ("relaxation", "blocks") if kind in certificate.bounds]
    return Proven(
        setting,
        ridge,
        result.value,
        result.guarantee.ratio,
        min(1.0, result.value / min(roots)) if roots else None,
        certificate.ratio,
        certificate.trivial,
        certificate.kind,
        certificate.n_nodes,
        certificate.seconds,
    )


def exact_solutions(plainly: bool = True) -> Iterator[Solved]:
    """Solve two problems exactly, and plainly as well."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30)) + 0.5 * rng.standard_normal((100, 1))
    y = X @ rng.standard_normal(30) + 3 * rng.standard_normal(100)
    labels = np.arange(30) // 6
    few = sw.Partition(labels, 2)
    yield solved("30 features, 5 categories, 2 each", X, y, few, 10, plainly, (labels, 2))
    X, y, squares = diabetes_with_products()
    limits = sw.Laminar(64, [(np.flatnonzero(squares), 2), (np.arange(64), 6)])
    kinds = np.where(squares, 0, np.arange(64) + 1)
    yield solved("diabetes, 64 features, 6, 2 squares", X, y, limits, 6, plainly, (kinds, 2))


def solved(
    problem: str,
    X: FloatArray,
    y: FloatArray,
    constraint: sw.Matroid,
    size: int,
    plainly: bool,
    labels: tuple[IndexArray, int],
) -> Solved:
    """Solve one problem."""
    objective = sw.LeastSquares(X, y)
    best, seconds = timed(1, sw.exact, objective, constraint)
    plain, plain_seconds = None, None
    if plainly:
        (plain, _), plain_seconds = timed(1, best_subset, X, y, size, *labels)
    return Solved(
        problem,
        seconds,
        best.certificate.n_nodes,
        best.status,
        best.value,
        best.support.tolist(),
        plain,
        plain_seconds,
    )


def diabetes_with_products() -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the diabetes data of scikit-learn with all squares and products, and which are squares.

    The square of a feature with two values (sex) tells nothing new, which leaves 64 columns, all centred
    and of unit length.
    """
    from sklearn.datasets import load_diabetes

    data = load_diabetes()
    X, y = data.data, data.target - data.target.mean()
    pairs = [(i, j) for i in range(X.shape[1]) for j in range(i, X.shape[1])]
    pairs = [(i, j) for i, j in pairs if i != j or len(np.unique(X[:, i])) > 2]
    columns = np.column_stack([X, *(X[:, i] * X[:, j] for i, j in pairs)])
    columns = columns - columns.mean(axis=0)
    squares = np.array([False] * X.shape[1] + [i == j for i, j in pairs])
    return columns / np.linalg.norm(columns, axis=0), y, squares
