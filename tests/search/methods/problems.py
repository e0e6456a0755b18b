"""Small random problems under all constraints, and the library's objectives as plain versions read them."""

from __future__ import annotations

import numpy as np

import swapwise as sw
from benchmarks.reference.neighbours import Family
from swapwise.clock import Clock, OutOfTime
from swapwise.objectives.base import element_norms2

N = 8
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 0), (3, 1), (3, 4), (4, 0)]


def uniform(rng, n):
    return sw.Uniform(n, int(rng.integers(1, 4)))


def partition(rng, n):
    return sw.Partition(rng.integers(0, 3, n), int(rng.integers(1, 3)))


def laminar(rng, n):
    half = n // 2
    return sw.Laminar(n, [(range(n), int(rng.integers(2, 4))), (range(half), 1), (range(half, n), 2)])


def between(rng, n):
    labels = rng.integers(0, 3, n)
    at_least = dict.fromkeys(np.unique(labels[: int(rng.integers(1, 4))]), 1)
    return sw.Partition(labels, 2, at_least, size=int(rng.integers(3, 5)))


def graphic(rng, n, edges=None):
    return sw.Graphic(some_edges(rng, n) if edges is None else edges)


def intersection(rng, n):
    return sw.Intersection(sw.Partition(rng.integers(0, 3, n), 1), sw.Partition(rng.integers(0, 4, n), 1))


def bmatching(rng, n, edges=None):
    return sw.BMatching(some_edges(rng, n) if edges is None else edges, int(rng.integers(1, 3)))


def some_edges(rng, n):
    return [EDGES[edge] for edge in rng.permutation(len(EDGES))[:n]]


CONSTRAINTS = {
    "uniform": uniform,
    "partition": partition,
    "laminar": laminar,
    "graphic": graphic,
    "intersection": intersection,
    "b-matching": bmatching,
}
MATROIDS = ("uniform", "partition", "laminar", "graphic")


def knapsack(rng, n):
    return sw.Knapsack(rng.integers(1, 5, n), float(rng.integers(3, 9)))


def few_groups(rng, n):
    return sw.FewGroups(rng.integers(0, 4, n), 2, size=int(rng.integers(2, 5)))


def conflicts(rng, n):
    return sw.Conflicts(n, [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.3] or [(0, 1)])


def hierarchy(rng, n):
    parents = {e: rng.integers(0, 3, 2).tolist() for e in range(3, n)}
    return sw.Hierarchy(n, parents, int(rng.integers(2, 5)), kind=str(rng.choice(["strong", "weak"])))


def budget_and_hierarchy(rng, n):
    return sw.Intersection(hierarchy(rng, n), knapsack(rng, n), uniform(rng, n))


#: Those without a theorem, or of another kind than the paper's
BEYOND = {
    "knapsack": knapsack,
    "few groups": few_groups,
    "conflicts": conflicts,
    "hierarchy": hierarchy,
    "budget and hierarchy": budget_and_hierarchy,
}
#: Plain versions of methods know nothing of lower limits, or of what an element needs.
EVERY_CONSTRAINT = CONSTRAINTS | {"between": between} | BEYOND
EVERY_MATROID = (*MATROIDS, "between")


def data(rng, n=N):
    """Correlated columns, often more than samples, and a target that some of them explain."""
    samples = int(rng.integers(4, 14))
    X = rng.standard_normal((samples, n)) + rng.choice([0.0, 0.7]) * rng.standard_normal((samples, 1))
    return X, X[:, :3] @ rng.standard_normal(3) + 0.5 * rng.standard_normal(samples)


def degenerate(rng, n=N):
    """Few simple numbers: equal, constant and empty columns, and ties between them."""
    samples = int(rng.integers(2, 7))
    X = rng.choice([-1.0, 0.0, 0.0, 1.0, 2.0], (samples, n))
    X[:, 1], X[:, n - 1] = X[:, 0], 1.0
    y = rng.choice([-1.0, 0.0, 1.0, 3.0], samples)
    y[0] = 1.0
    return X, y


def least_squares(rng):
    X, y = data(rng)
    return sw.LeastSquares(X, y, ridge=float(rng.choice([0.0, 0.5])))


def groups(rng):
    X, y = data(rng, 2 * N)
    return sw.LeastSquares(X, y, groups=np.arange(2 * N) % N, ridge=0.1)


def logistic(rng):
    X, y = data(rng)
    y = y > np.median(y)
    return sw.Logistic(X, y, ridge=0.5)


def ising(rng):
    spins = np.where(rng.random((20, 4)) < 0.5, -1.0, 1.0)
    spins[:, 1] = np.where(rng.random(20) < 0.8, spins[:, 0], spins[:, 1])
    return sw.graphs.IsingPseudoLikelihood(spins, 0.1, sample_weight=rng.random(20))  # few ties between edges


OBJECTIVES = {"least squares": least_squares, "groups": groups, "logistic": logistic, "ising": ising}


class Plain:
    """An objective by its definition: refits, values and gradients; groups have a row per element."""

    def __init__(self, objective):
        self.objective, self.n = objective, objective.n

    def value(self, S):
        return self.objective(S)

    def coef(self, S):
        return self._by_element(self.objective.coef(S))

    def u(self, w):
        return self.objective.value_at(self._by_row(w))

    def gradient(self, w):
        return self._by_element(self.objective.gradient_at(self._by_row(w)))

    def _by_element(self, values):
        members = self._members()
        return values if members is None else values[members]

    def _by_row(self, w):
        members = self._members()
        if members is None:
            return w
        values = np.zeros(members.size)
        values[members] = w
        return values

    def _members(self):
        groups = self.objective.groups
        return None if groups is None else np.array([groups.members(np.array([e])) for e in range(self.n)])


class Countdown(Clock):
    """A clock that runs out when it was looked at a given number of times."""

    def __init__(self, looks):
        super().__init__()
        self.looks = looks

    def check(self):
        self.looks -= 1
        if self.looks < 0:
            raise OutOfTime


def family_of(constraint):
    return Family(lambda S: constraint.is_independent(S), constraint.n, constraint.forced.tolist())


def problem(seed, objective, constraint, force=False):
    """Return an objective and a constraint on as many elements; some matroids force an element in."""
    rng = np.random.default_rng(seed)
    f = OBJECTIVES[objective](rng)
    make = EVERY_CONSTRAINT[constraint]
    has_edges = hasattr(f, "edges") and constraint in ("graphic", "b-matching")
    system = make(rng, f.n, f.edges) if has_edges else make(rng, f.n)
    if force:
        alone = np.flatnonzero(system.addable(np.empty(0, dtype=np.intp)))
        system = system.contract([int(rng.choice(alone))]) if len(alone) else system
    return f, system


def is_fixed(f, constraint, support, step):
    """Return whether no independent set is heavier than a set, after a step from its fit."""
    w, S = f.coef(support), list(support)
    weights = element_norms2(f, w + step * f.gradient_at(w) * outside(f, support))
    heaviest = max(weights[list(T)].sum() for T in family_of(constraint).sets)
    return bool(weights[S].sum() >= heaviest * (1 - 1e-9))


def outside(f, support):
    """Return 1 for the coefficients outside of a set, where the gradient of its fit is not rounding."""
    mask = np.ones(len(f.coef([])))
    rows = support if f.groups is None else f.groups.members(np.asarray(support))
    mask[rows] = 0.0
    return mask
