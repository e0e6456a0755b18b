"""Small random objectives of every kind that has upper bounds, for a ground set of given size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

import swapwise as sw
from swapwise.certify import leaf

Random = np.random.Generator

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)


class RidgeLogistic(sw.SparseObjective):
    """Logistic regression as a user would write it: three methods, and how much the ridge curves."""

    def __init__(self, X: np.ndarray, signs: np.ndarray, ridge: float) -> None:
        self.X, self.signs, self.ridge, self.n = X, signs, ridge, X.shape[1]

    def _fit(self, support):
        coef = np.zeros(self.n)
        for _ in range(50):
            curve = self.ridge * np.eye(len(support)) + self._curve(coef, support)
            step = np.linalg.solve(curve, self.gradient_at(coef)[support])
            coef[support] += step
            if np.abs(step).max(initial=0.0) < 1e-12:
                break
        return self.value_at(coef), coef[support]

    def _curve(self, coef, support):
        chance = 1 / (1 + np.exp(-self.X @ coef))
        A = self.X[:, support]
        return (A.T * (chance * (1 - chance))) @ A / len(A)

    def value_at(self, coef):
        loss = np.logaddexp(0.0, -self.signs * (self.X @ coef)).mean()
        return float(np.log(2.0) - loss - self.ridge * coef @ coef / 2)

    def gradient_at(self, coef):
        wrong = self.signs / (1 + np.exp(self.signs * (self.X @ coef)))
        return self.X.T @ wrong / len(wrong) - self.ridge * coef

    def strong_concavity(self, t):
        return self.ridge


# What these problems are bound to be told, and what is not the point here.
expected_warnings = pytest.mark.filterwarnings(
    "ignore:.*allows only the empty set",
    "ignore:.*linearly independent",
    "ignore:.*span all that could be added",
    "ignore:.*no strong-concavity bound",
)


def tall(random: Random, n: int) -> sw.SetFunction:
    X = random.standard_normal((12, n)) + 0.7 * random.standard_normal((12, 1))
    return sw.LeastSquares(X, random.standard_normal(12), ridge=random.choice([0.0, 0.0, 0.3]))


def wide(random: Random, n: int) -> sw.SetFunction:
    samples = max(1, n // 2)
    X, y = random.standard_normal((samples, n)), random.standard_normal(samples)
    return sw.LeastSquares(X, y, ridge=random.choice([0.0, 0.1, 2.0]))


def degenerate(random: Random, n: int) -> sw.SetFunction:
    """Some columns are repeated, multiples or sums of others, constant or zero; lengths differ."""
    X = random.standard_normal((9, n))
    for column in random.integers(0, n, n // 2):
        other, another = random.integers(0, n, 2)
        X[:, column] = [X[:, other], -2 * X[:, other], X[:, other] + X[:, another], np.ones(9), np.zeros(9)][
            random.integers(5)
        ]
    X = X * 10.0 ** random.integers(-3, 4, n)
    return sw.LeastSquares(X, random.standard_normal(9), ridge=random.choice([0.0, 0.0, 0.5]))


def integers(random: Random, n: int) -> sw.SetFunction:
    """Few values, so that many sets tie."""
    X, y = random.integers(-1, 2, (5, n)), random.integers(-1, 2, 5)
    y[0] = 1
    return sw.LeastSquares(X, y, ridge=random.choice([0.0, 1.0]))


def logistic(random: Random, n: int) -> sw.SetFunction:
    X = random.standard_normal((10, n))
    return RidgeLogistic(X, np.where(random.random(10) < 0.5, 1.0, -1.0), ridge=random.choice([0.02, 0.5]))


def coverage(random: Random, n: int) -> sw.SetFunction:
    return sw.Coverage([random.permutation(7)[: random.integers(5)].tolist() for _ in range(n)])


def facility_location(random: Random, n: int) -> sw.SetFunction:
    return sw.FacilityLocation(random.random((4, n)) ** 2)


def linear(random: Random, n: int) -> sw.SetFunction:
    return sw.Linear(random.choice([0.0, 0.1, 0.2, 0.3, 1.0, 2.5], n))


def monotone(random: Random, n: int) -> sw.SetFunction:
    """Neither submodular nor supermodular, and far from 0 on the empty set."""
    weights = random.integers(0, 5, n)
    return sw.CustomSetFunction(lambda s: -7.0 + np.ceil(weights[s].sum() / 3) ** 2, n, monotone=True)


def submodular(random: Random, n: int) -> sw.SetFunction:
    weights = random.integers(0, 5, (3, n))
    return sw.CustomSetFunction(lambda s: np.sqrt(weights[:, s].sum(axis=1)).sum(), n, submodular=True)


def spins(random: Random, vertices: int) -> np.ndarray:
    """Return a chain in which neighbours mostly agree."""
    turns = np.where(random.random((25, vertices)) < 0.25, -1.0, 1.0)
    return np.cumprod(turns, axis=1) * np.where(random.random((25, 1)) < 0.5, 1.0, -1.0)


def ising(random: Random, n: int) -> sw.SetFunction:
    """Return a model of n pairs of four or more vertices."""
    vertices = next(v for v in range(4, 99) if v * (v - 1) // 2 >= n)
    edges = list(combinations(range(vertices), 2))[:n]
    ridge, fields = random.choice([0.05, 0.5]), bool(random.integers(2))
    weight = random.choice([0.0, 1.0, 2.5], 25) if random.integers(2) else None
    return sw.graphs.IsingPseudoLikelihood(spins(random, vertices), ridge, fields, edges, weight)


Builder = Callable[[Random, int], sw.SetFunction]

OBJECTIVES: dict[str, Builder] = {
    builder.__name__: builder
    for builder in (
        tall,
        wide,
        degenerate,
        integers,
        logistic,
        coverage,
        facility_location,
        linear,
        monotone,
        submodular,
        ising,
    )
}


def some_objectives(random: Random, constraint: sw.IndependenceSystem, count: int) -> list[sw.SetFunction]:
    """Return objectives of different kinds that go with the constraint."""
    kinds = [name for name in OBJECTIVES if name != "ising" or not has_edges(constraint)]
    return [OBJECTIVES[kind](random, constraint.n) for kind in random.permutation(kinds)[:count]]


def has_edges(constraint: sw.IndependenceSystem) -> bool:
    """Return whether the elements are edges of a graph that an Ising model would have to share."""
    return any(hasattr(part, "edges") for part in getattr(constraint, "matroids", (constraint,)))


COMPLETE = list(combinations(range(4), 2))

#: Constraints on the pairs of four vertices
GRAPH_CONSTRAINTS = [
    sw.Uniform(6, 2),
    sw.Graphic(COMPLETE),
    sw.Graphic(COMPLETE).contract([1]),
    sw.BMatching.complete(4, 1),
    sw.BMatching.complete(4, [1, 2, 1, 2]),
    sw.Intersection(sw.Graphic(COMPLETE), sw.Partition(list("aabbcc"), 1)),
]

#: Whether small regions of least squares are gone through in closed form, as a parameter of tests
WAYS = pytest.mark.parametrize("closed_form", [True, False], ids=["closed form", "branching"])


@contextmanager
def enumeration(closed_form: bool) -> Iterator[pytest.MonkeyPatch]:
    """Switch the closed form off if asked to, so that nothing but relaxation and branching is left."""
    with pytest.MonkeyPatch.context() as patch:
        if not closed_form:
            patch.setattr(leaf, "MOST_SETS", 0)
        yield patch


def tolerance(objective: sw.SetFunction, value: float, share: float = 1e-12) -> float:
    return share * max(abs(value), objective.scale)


def best_of(objective: sw.SetFunction, sets) -> float:
    """Return the largest value of some sets, minus infinity if there are none."""
    return max((objective(sorted(chosen)) for chosen in sets), default=-np.inf)


def check_history(objective: sw.SetFunction, certificate: sw.Certificate, best: float) -> None:
    """Check that all on the record is true of the optimum, and that it leads to what the certificate says."""
    history, slack = certificate.history, tolerance(objective, best)
    found = certificate.value if certificate.better is None else certificate.better_value
    assert history[-1].upper_bound == certificate.upper_bound
    assert abs(history[-1].value - found) <= certificate.resolution
    assert history[-1].n_nodes <= certificate.n_nodes
    assert history[0].seconds >= 0.0
    assert history[-1].seconds <= certificate.seconds
    for event in history:
        assert event.upper_bound >= best - slack, f"{event} for an optimum of {best}"
        assert event.value <= best + slack, f"{event} for an optimum of {best}"
        assert event.kind in certificate.bounds if np.isfinite(event.upper_bound) else not event.kind
    for before, after in pairwise(history):
        assert before.seconds < after.seconds
        assert before.n_nodes <= after.n_nodes
        assert before.value <= after.value
        assert before.upper_bound >= after.upper_bound
        assert before[1:3] != after[1:3]
