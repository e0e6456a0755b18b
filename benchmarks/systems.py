"""Measurements on constraints beyond one matroid: each function measures one thing.

``python -m benchmarks.systems`` prints how long searches under two matroids take, of several families.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

import swapwise as sw
from benchmarks.regression import ROUNDS, TOL, VARIANTS, timed
from swapwise.checks import FloatArray
from swapwise.paper.instances import paper_regression


@dataclass(frozen=True)
class Heaviest:
    """A heaviest b-matching of a complete graph, and the bound that confirms it."""

    vertices: int
    edges: int
    seconds: float
    weight: float
    upper_bound: float
    exact: bool


@dataclass(frozen=True)
class UnderIntersection:
    """One variant on a regression under three partition matroids."""

    features: int
    q: int
    variant: str
    seconds: float
    iterations: int
    value: float
    feasible: bool
    rises: bool
    maximal: bool


def heaviest_matching(n_vertices: int = 1000, b: int = 3, seed: int = 0) -> Heaviest:
    """Time ``max_weight`` on a complete graph with random weights."""
    constraint = sw.BMatching.complete(n_vertices, b)
    weights = np.random.default_rng(seed).random(constraint.n)
    found, seconds = timed(1, constraint.max_weight, weights)
    return Heaviest(n_vertices, constraint.n, seconds, found.weight, found.upper_bound, found.exact)


@dataclass(frozen=True)
class Alternative:
    """One way to find the heaviest b-matching of a complete graph."""

    program: str
    vertices: int
    b: int
    seconds: float
    weight: float


def alternatives() -> list[Alternative]:
    """Time what else could find heaviest b-matchings, beside ``max_weight``, on the same weights."""
    rows = []
    for n_vertices, b, program, other in (
        (50, 1, "networkx blossom", _by_networkx),
        (100, 1, "networkx blossom", _by_networkx),
        (200, 1, "networkx blossom", _by_networkx),
        (100, 3, "HiGHS, all edges", _by_milp),
        (200, 3, "HiGHS, all edges", _by_milp),
        (400, 3, "HiGHS, all edges", _by_milp),
    ):
        constraint = sw.BMatching.complete(n_vertices, b)
        weights = np.random.default_rng(0).random(constraint.n)
        found, seconds = timed(1, constraint.max_weight, weights)
        rows.append(Alternative("max_weight", n_vertices, b, seconds, found.weight))
        weight, seconds = timed(1, other, constraint, weights)
        rows.append(Alternative(program, n_vertices, b, seconds, weight))
    return rows


def _by_networkx(constraint: sw.BMatching, weights: FloatArray) -> float:
    import networkx as nx

    graph = constraint.to_graph(range(constraint.n), weights)
    return float(sum(graph.edges[edge]["weight"] for edge in nx.max_weight_matching(graph)))


def _by_milp(constraint: sw.BMatching, weights: FloatArray) -> float:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    ends = np.array(constraint.edges).T.ravel()
    columns = np.tile(np.arange(constraint.n), 2)
    incidence = coo_array((np.ones(len(ends)), (ends, columns))).tocsr()
    limits = LinearConstraint(incidence, ub=list(constraint.b.values()))
    solved = milp(-weights, integrality=np.ones(constraint.n), bounds=Bounds(0, 1), constraints=limits)
    return float(-solved.fun)


def under_intersections(
    settings: Iterable[tuple[int, int]] = ((300, 1), (40, 1), (40, 2)),
) -> list[UnderIntersection]:
    """Run every variant for each (features, q), under three random partitions of capacity 2."""
    return [under_intersection(features, q, variant) for features, q in settings for variant in VARIANTS]


def under_intersection(features: int, q: int, variant: str, seed: int = 0) -> UnderIntersection:
    """Choose features such that each of three labellings has every label at most twice."""
    rng = np.random.default_rng(seed)
    instance = paper_regression(features, n_true=min(5, features // 5), random_state=rng)
    matroids = [sw.Partition(rng.integers(5, size=features), 2) for _ in range(3)]
    constraint = sw.Intersection(*matroids)
    objective = sw.LeastSquares(instance.X, instance.y)
    search = partial(sw.maximize, objective, constraint, variant, q=q, start="empty", tol=TOL)
    search(max_iter=1)  # compiles, which is not to be timed
    result, seconds = timed(1, lambda: search(max_iter=ROUNDS))
    return UnderIntersection(
        features,
        q,
        variant,
        seconds,
        result.n_iter,
        result.value,
        all(matroid.is_independent(event.support) for event in result.history for matroid in matroids),
        bool(np.all(np.diff([event.value for event in result.history]) > 0)),
        not constraint.addable(result.support).any(),  # a search that stalls early shows here
    )


# R² after 60 seconds of a search that lists all moves, on the data of `under_two_matroids`.
BY_LISTS = {
    ("graphic", 500): 0.7438925084,
    ("linear", 500): 0.7203988421,
    ("transversal", 500): 0.7354393534,
    ("graphic", 2000): 0.7504047405,
    ("linear", 2000): 0.7536460482,
    ("transversal", 2000): 0.7857429921,
    ("graphic", 5000): 0.7889971246,
    ("linear", 5000): 0.7996747912,
    ("transversal", 5000): 0.7886505306,
}
VERTICES, LABELS = 41, 18  # 40 edges of a forest, slots or dimensions; two elements of each label


@dataclass(frozen=True)
class UnderTwoMatroids:
    """The default search of a regression under a matroid and a partition."""

    family: str
    elements: int
    seconds: float
    status: str
    chosen: int
    value: float
    by_lists: float


def under_two_matroids(
    families: Iterable[str] = ("graphic", "linear", "transversal"), sizes: Iterable[int] = (500, 2000, 5000)
) -> list[UnderTwoMatroids]:
    """Time the default search among correlated columns, 600 samples, at most 36 chosen."""
    rows = []
    for elements in sizes:
        for family in families:
            objective, labels = _correlated(elements), _labels(elements, family)
            constraint = sw.Intersection(*labels)
            result, seconds = timed(1, sw.maximize, objective, constraint)
            by_lists = BY_LISTS[family, elements]
            status, chosen = result.status.name, len(result.support)
            rows.append(UnderTwoMatroids(family, elements, seconds, status, chosen, result.value, by_lists))
    return rows


@dataclass(frozen=True)
class OneOrTwoPartitions:
    """The default search under a partition, and under it and another."""

    samples: int
    elements: int
    one: float
    two: float


def one_or_two_partitions(
    settings: Iterable[tuple[int, int]] = ((500, 1000), (600, 5000)), seeds: int = 5
) -> list[OneOrTwoPartitions]:
    """Time the default search under one partition and under two: medians of several data sets."""
    rows = []
    for samples, elements in settings:
        seconds: dict[int, list[float]] = {1: [], 2: []}
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            first, second = (
                sw.Partition(rng.integers(0, labels, elements), 30 // labels) for labels in (10, 15)
            )
            for count, constraint in ((1, first), (2, sw.Intersection(first, second))):
                objective = _correlated(elements, samples, seed)
                _, took = timed(1, sw.maximize, objective, constraint)
                seconds[count].append(took)
        rows.append(OneOrTwoPartitions(samples, elements, median(seconds[1]), median(seconds[2])))
    return rows


def _correlated(features: int, samples: int = 600, seed: int = 0) -> sw.LeastSquares:
    """Return a regression on autoregressive columns, of which 40 matter."""
    rng, correlation = np.random.default_rng(seed), 0.5
    X = rng.standard_normal((samples, features))
    for j in range(1, features):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    X -= X.mean(axis=0)
    signal = X[:, rng.choice(features, 40, replace=False)] @ rng.standard_normal(40)
    y = signal + rng.standard_normal(samples) * signal.std() / np.sqrt(3)
    return sw.LeastSquares(X, y - y.mean())


def _labels(n: int, family: str) -> tuple[sw.Matroid, sw.Partition]:
    """Return a matroid of a family, and a partition."""
    rng, rank = np.random.default_rng(100), VERTICES - 1
    matroid: sw.Matroid
    if family == "graphic":
        tail, head = rng.integers(0, VERTICES, (n, 2)).T
        head = np.where(tail == head, (head + 1) % VERTICES, head)
        matroid = sw.Graphic(list(zip(tail.tolist(), head.tolist(), strict=True)))
    elif family == "linear":
        matrix = np.zeros((rank, n))
        for column in matrix.T:
            column[rng.choice(rank, 3, replace=False)] = rng.choice([-1.0, 1.0], 3)
        matroid = sw.LinearMatroid(matrix)
    else:
        fits = np.array([rng.choice(rank, 2, replace=False) for _ in range(n)])
        matroid = sw.Transversal(n, [np.flatnonzero((fits == slot).any(axis=1)) for slot in range(rank)])
    return matroid, sw.Partition(rng.integers(0, LABELS, n), 2)


def main() -> None:
    """Print searches under two matroids, and under one partition and two."""
    sw.maximize(_correlated(300), sw.Uniform(300, 5))  # what is loaded on first use is not to be timed
    console = Console()
    table = Table("matroid ∩ partition", "elements", "chosen", "s", "status", "R²", "− that of 60 s by lists")
    for row in under_two_matroids():
        values = f"{row.value:.5f}", f"{row.value - row.by_lists:+.5f}"
        table.add_row(
            row.family, str(row.elements), str(row.chosen), f"{row.seconds:.2f}", row.status, *values
        )
    console.print(table)
    table = Table("samples × elements", "one partition, s", "two, s", "ratio")
    for both in one_or_two_partitions():
        size = f"{both.samples} × {both.elements}"
        table.add_row(size, f"{both.one:.4f}", f"{both.two:.4f}", f"{both.two / both.one:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
