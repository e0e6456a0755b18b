"""Measurements on constraints beyond one matroid: each function measures one thing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

import swapwise as sw
from benchmarks.regression import ROUNDS, TOL, VARIANTS, timed
from swapwise.checks import FloatArray
from swapwise.experiments.instances import paper_regression


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
