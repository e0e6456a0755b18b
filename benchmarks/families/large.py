"""2000 features, 500 samples, 20 chosen: how long a fit takes under each family, and what can be proven."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import NamedTuple

import numpy as np

import swapwise as sw

N_SAMPLES, N_FEATURES, SIZE, N_MAIN = 500, 2000, 20, 60


class Timing(NamedTuple):
    """Seconds of a fit, those over a uniform one's, and how good the answer is proven to be."""

    name: str
    seconds: float
    ratio: float
    value: float
    size: int
    status: str
    proven: float


def problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of which neighbours are correlated by a half, and a target that 20 of them explain."""
    random = np.random.default_rng(seed)
    fresh = random.standard_normal((N_SAMPLES, N_FEATURES))
    X = fresh.copy()
    for column in range(1, N_FEATURES):
        X[:, column] = 0.5 * X[:, column - 1] + np.sqrt(0.75) * fresh[:, column]
    signal = X[:, random.choice(N_FEATURES, SIZE, replace=False)].sum(axis=1)
    return X, signal + 3 * random.standard_normal(N_SAMPLES)


def products() -> dict[int, list[int]]:
    """Return the parents of products of 60 variables, two each."""
    pairs = [(i, j) for i in range(N_MAIN) for j in range(i)]
    return {N_MAIN + number: [j, i] for number, (i, j) in enumerate(pairs) if N_MAIN + number < N_FEATURES}


def constraints(seed: int) -> dict[str, sw.Constraint]:
    """Return a constraint of every family, under which about 20 elements can be chosen."""
    n, random = N_FEATURES, np.random.default_rng(seed)
    site, costs = np.arange(n) % 100, random.uniform(0.5, 2.0, (2, n))
    near = [(e, e + step) for step in (1, 2) for e in range(n - step)]
    edges = [tuple(random.choice(50, 2, replace=False).tolist()) for _ in range(n)]
    return {
        "size": sw.Uniform(n, SIZE),
        "at least 1 of each of 10 groups": sw.Partition(np.arange(n) % 10, 3, at_least=1, size=SIZE),
        "exactly 2 of each of 10 groups": sw.Partition(np.arange(n) % 10, 2, at_least=2),
        "conflicts, size": sw.Conflicts(n, near).truncate(SIZE),
        "few groups": sw.FewGroups(site, 8, size=SIZE),
        "few groups of few": sw.FewGroups(site, 8, capacity=3, size=SIZE),
        "b-matching, size": sw.BMatching(edges, 2).truncate(SIZE),
        "groups, budget": sw.Intersection(sw.Partition(site, 1), sw.Knapsack(costs[0], 20.0)),
        "conflicts, few groups, size": sw.Intersection(
            sw.Conflicts(n, near), sw.FewGroups(site, 8, size=SIZE)
        ),
        "budget": sw.Knapsack(costs[0], 20.0),
        "two budgets": sw.Knapsack(costs, [20.0, 20.0]),
        "strong hierarchy": sw.Hierarchy(n, products(), SIZE),
        "weak hierarchy": sw.Hierarchy(n, products(), SIZE, kind="weak"),
    }


def timings(seed: int, ridge: float, proof_seconds: float, repeats: int = 3) -> list[Timing]:
    """Return what is seen of one seed; the fastest of some fits counts."""
    X, y = problem(seed)
    found, uniform = [], np.inf
    for name, constraint in constraints(seed).items():
        seconds = []
        for _ in range(repeats):
            begin = perf_counter()
            objective = sw.LeastSquares(X, y, ridge)
            result = sw.maximize(objective, constraint)
            seconds.append(perf_counter() - begin)
        uniform = min(seconds) if name == "size" else uniform
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proof = sw.certify(objective, constraint, result, time_limit=proof_seconds)
        found.append(
            Timing(
                name,
                min(seconds),
                min(seconds) / uniform,
                result.value,
                len(result.support),
                result.status.name,
                proof.ratio,
            )
        )
    return found
