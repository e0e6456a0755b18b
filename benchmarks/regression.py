"""Measurements on the paper's regression instances; each function measures one thing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

import swapwise as sw
from benchmarks.reference.local_search import local_search
from swapwise.paper.instances import RegressionInstance, paper_regression
from swapwise.paper.plain import PlainLeastSquares, PlainPartition

VARIANTS = ("oblivious", "semi-oblivious", "non-oblivious")
ROUNDS = 1000  # no search here needs as many; both sides have the same limit
TOL = 1e-10


@dataclass(frozen=True)
class Against:
    """One variant on one instance: the library against the plain program."""

    variant: str
    trial: int
    seconds: float
    plain_seconds: float
    same_set: bool

    @property
    def ratio(self) -> float:
        """How many times faster the library is."""
        return self.plain_seconds / self.seconds


@dataclass(frozen=True)
class Pace:
    """One variant on many instances: time for one iteration, and the quality reached."""

    variant: str
    milliseconds_per_iteration: float
    iterations: float
    mean_value: float


def against_reference(trials: int = 3, repeats: int = 51, capacity: int = 5) -> list[Against]:
    """Time every variant from the empty set, in the paper's first setting."""
    rows = []
    for variant in VARIANTS:
        for trial in range(trials):
            instance = paper_regression(random_state=trial)
            search(instance, capacity, variant)  # compiles, which is not to be timed
            result, seconds = timed(repeats, search, instance, capacity, variant)
            plain, plain_seconds = timed(1, plain_search, instance, capacity, variant)
            same = plain.support == set(result.support.tolist())
            rows.append(Against(variant, trial, seconds, plain_seconds, same))
    return rows


def paces(trials: int = 10, repeats: int = 5, capacity: int = 5) -> list[Pace]:
    """Time one iteration of the oblivious and the non-oblivious variant in the paper's second setting."""
    return [pace(variant, trials, repeats, capacity) for variant in ("oblivious", "non-oblivious")]


def pace(variant: str, trials: int, repeats: int, capacity: int) -> Pace:
    """Average one variant over the instances with 1000 features and 100 samples."""
    seconds, iterations, values = [], [], []
    for trial in range(trials):
        instance = paper_regression(1000, 100, 10, 10, random_state=trial)
        search(instance, capacity, variant)
        result, elapsed = timed(repeats, search, instance, capacity, variant)
        seconds.append(elapsed)
        iterations.append(result.n_iter)
        values.append(result.value)
    per_iteration = 1000 * sum(seconds) / sum(iterations)
    return Pace(variant, per_iteration, float(np.mean(iterations)), float(np.mean(values)))


def search(instance: RegressionInstance, capacity: int, variant: str) -> Any:
    """Run the library from the data to the answer."""
    objective = sw.LeastSquares(instance.X, instance.y)
    constraint = sw.Partition(instance.labels, capacity)
    return sw.maximize(objective, constraint, variant, start="empty", max_iter=ROUNDS, tol=TOL)


def plain_search(instance: RegressionInstance, capacity: int, variant: str) -> Any:
    """Run the plain program on the same problem, with the same constants and tolerance."""
    f = PlainLeastSquares(instance.X, instance.y)
    return local_search(
        f,
        PlainPartition(instance.labels.tolist(), capacity),
        f.n,
        variant,
        start=[],
        T=ROUNDS,
        M=move_constants(f) if variant == "non-oblivious" else None,
        tol=TOL,
        needless_drops=False,
    )


def move_constants(f: PlainLeastSquares) -> Callable[[int | None, int], float]:
    """Return ``f.move_smoothness`` as a table, so that the plain program is not timed on eigenvalues."""
    gram = (2 / f.total) * f.A.T @ f.A
    diagonal = np.diag(gram)
    mean = (diagonal[:, None] + diagonal) / 2
    half_gap = (diagonal[:, None] - diagonal) / 2
    pair = mean + np.sqrt(half_gap**2 + gram**2)
    return lambda dropped, added: diagonal[added] if dropped is None else pair[dropped, added]


def timed(repeats: int, call: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """Return the answer of a call and its median seconds."""
    seconds = []
    for _ in range(repeats):
        begin = perf_counter()
        answer = call(*args)
        seconds.append(perf_counter() - begin)
    return answer, median(seconds)
