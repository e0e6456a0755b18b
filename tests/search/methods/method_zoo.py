"""Small problems for the methods: constraints of six kinds, and objectives with a plain twin."""

import re

import numpy as np
import pytest

import swapwise as sw
from swapwise.paper.plain import PlainLeastSquares
from tests.search.test_record import check_record, check_watched


def uniform(n, rng):
    return sw.Uniform(n, int(rng.integers(0, 5)))


def partition(n, rng):
    return sw.Partition(rng.integers(0, 3, n), int(rng.integers(0, 3)))


def laminar(n, rng):
    return sw.Laminar(n, [(range(n // 2), int(rng.integers(0, 3))), (range(n), int(rng.integers(1, 5)))])


def graphic(n, rng):
    return sw.Graphic([tuple(rng.choice(5, 2, replace=False).tolist()) for _ in range(n)])


def two_partitions(n, rng):
    return sw.Intersection(*(sw.Partition(rng.integers(0, 3, n), 1) for _ in range(2)))


def b_matching(n, rng):
    pairs = [(i, j) for j in range(5) for i in range(j)]
    chosen = rng.choice(len(pairs), min(n, len(pairs)), replace=False)
    return sw.BMatching([pairs[e] for e in chosen], int(rng.integers(1, 3)))


CONSTRAINTS = [uniform, partition, laminar, graphic, two_partitions, b_matching]


def regression(rng, n=7, samples=12, ridge=0.0):
    """Least squares without ties, and the same written plainly."""
    X = rng.standard_normal((samples, n)) + 0.5 * rng.standard_normal((samples, 1))
    y = X @ rng.standard_normal(n) + rng.standard_normal(samples)
    return sw.LeastSquares(X, y, ridge=ridge), PlainLeastSquares(X, y, ridge=ridge)


def degenerate(rng, n=7):
    """Least squares with duplicate, constant and zero columns, and more features than samples."""
    X = rng.integers(-1, 2, (4, n)).astype(float)
    X[:, 0] = 0.0
    X[:, -1] = X[:, 1]
    return sw.LeastSquares(X, rng.integers(-2, 3, 4) + 0.5)


class Plain:
    """A set function of the library, asked for nothing but values."""

    def __init__(self, f):
        self.f, self.n = f, f.n

    def value(self, S):
        return self.f(sorted(S))


def submodular(rng, n=7):
    """Coverage or facility location."""
    if rng.integers(2):
        sets = [set(rng.choice(10, rng.integers(0, 5), replace=False).tolist()) for _ in range(n)]
        return sw.Coverage(sets, weights={x: float(rng.random()) for x in range(10)})
    return sw.FacilityLocation(rng.random((6, n)) ** 3)


def best_value(f, constraint):
    return sw.maximize(f, constraint, "exhaustive").value


def check_everywhere(method, *, sparse=True):
    """The record is right on problems of all kinds: forced elements, groups, likelihoods, limits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12))
    y = X[:, :4] @ [2.0, -1.0, 1.0, 0.5] + 0.3 * rng.standard_normal(60)
    spins = np.where(rng.random((50, 5)) < 0.5, -1.0, 1.0)
    problems = [
        (sw.LeastSquares(X, y), sw.Uniform(12, 4)),
        (sw.LeastSquares(X, y), sw.Partition(np.arange(12) % 4, 1).contract([2, 7])),
        (sw.LeastSquares(X, y, groups=np.arange(12) // 3), sw.Uniform(4, 2)),
        (sw.Logistic(X, y > 0, ridge=0.1), sw.Partition(np.arange(12) % 3, 1)),
        (sw.Multinomial(X, np.digitize(y, [-1, 1]), ridge=0.1), sw.Uniform(12, 3)),
        (
            sw.graphs.IsingPseudoLikelihood(spins, ridge=0.1),
            sw.BMatching(sw.graphs.IsingPseudoLikelihood(spins).edges, 2),
        ),
        (sw.LeastSquares(X, y), two_partitions(12, rng)),
        (sw.LeastSquares(X, y), sw.Uniform(12, 0)),
        (sw.LeastSquares(np.zeros((5, 3)), np.arange(5.0)), sw.Uniform(3, 2)),
        (sw.graphs.IsingPseudoLikelihood(spins[:, :1]), sw.Uniform(0, 0)),
    ]
    if not sparse:
        problems.append((submodular(rng), graphic(7, rng)))
    for objective, constraint in problems:
        result = check_watched(
            lambda _f=objective, _c=constraint, **options: sw.maximize(_f, _c, method, **options)
        )
        check_record(result, objective, constraint.forced)
        assert constraint.is_independent(result.support)
        assert set(constraint.forced) <= set(result.support)
    objective, constraint = problems[0]
    assert sw.maximize(objective, constraint, method, time_limit=0.0).status is sw.Status.TIME_LIMIT
    one = sw.maximize(objective, constraint, method, max_iter=1)
    assert len(one.history) <= 1
    check_record(one, objective)
    stopped = sw.maximize(objective, constraint, method, callback=lambda event: True)
    assert stopped.status is sw.Status.INTERRUPTED
    if isinstance(method, str):
        improved = sw.maximize(objective, constraint, "oblivious", start=method)
        check_record(improved, objective)
        assert improved.value >= sw.maximize(objective, constraint, method).value - 1e-9


def refuses(make, *wrong):
    """Each of some options is refused with a message that says what was given."""
    for options in wrong:
        (value,) = options.values()
        with pytest.raises((TypeError, ValueError), match=re.escape(repr(value))):
            make(**options)
