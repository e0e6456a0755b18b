"""Proofs about objectives with bounds on coefficients, against all sets and plain fits within bounds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

import swapwise as sw
from swapwise.certify import leaf
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.root import relaxed_root
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.fit_bounds import fit_bound, lbfgs_bound
from swapwise.objectives.restricted import RestrictedObjective
from swapwise.theory.along_the_run import _bound_at
from tests.certify.bounded_zoo import BoundedLeastSquares, BoundedLogistic
from tests.certify.problem_zoo import expected_warnings

pytestmark = expected_warnings

randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
ENDS = [0.0, 0.01, 0.1, 0.5, 3.0, 1e3, np.inf]


def some_bounds(random, n):
    """Draw signs, narrow boxes, or a mixture of tight, wide and no bounds."""
    kind = random.integers(4)
    if kind == 0:
        return np.zeros(n), np.full(n, np.inf)
    if kind == 1:
        return np.full(n, -0.2 * random.integers(2)), np.full(n, random.choice([0.05, 0.2]))
    ends = [0.0, np.inf] if kind == 2 else ENDS
    return -random.choice(ends, n), random.choice(ends, n)


def some_objective(random, n):
    samples = int(random.choice([n // 2, n + 3, 40]))
    X = random.standard_normal((samples, n)) + random.choice([0.0, 1.0]) * random.standard_normal(
        (samples, 1)
    )
    for first, second in random.integers(0, n, (2 * (random.random() < 0.4), 2)):
        X[:, first] = X[:, second] * random.choice([1.0, -2.0, 1e3])
    y = X @ (random.standard_normal(n) * (random.random(n) < 0.5))
    y = y + random.choice([0.1, 2.0]) * random.standard_normal(samples)
    ridge = samples * float(random.choice([0.0, 0.0, 1e-3, 1.0]))
    return BoundedLeastSquares(X, y, ridge, *some_bounds(random, n))


def some_constraint(random, n):
    k, edges = (
        int(random.integers(1, 5)),
        [(int(u), int(u + step) % 5) for u, step in random.integers(1, 5, (n, 2))],
    )
    parents = {i: [int(random.integers(i))] for i in range(1, n) if random.random() < 0.5}
    makers = [
        lambda: sw.Uniform(n, k),
        lambda: sw.Partition(random.integers(0, 3, n).tolist(), 1),
        lambda: sw.Intersection(*(sw.Partition(random.integers(0, 3, n).tolist(), 1) for _ in range(2))),
        lambda: sw.BMatching(edges, 1),
        lambda: sw.Graphic(edges),
        lambda: sw.Knapsack(random.uniform(0.5, 3.0, n), float(random.uniform(2.0, 5.0))),
        lambda: sw.Hierarchy(n, parents, size=k + 1),
    ]
    return makers[random.integers(len(makers))]()


def best_value(f, constraint):
    sets = (s for size in range(f.n + 1) for s in combinations(range(f.n), size))
    return max(f(s) for s in sets if constraint.is_independent(s))


def without_enumeration(monkeypatch):
    monkeypatch.setattr(leaf, "MOST_SETS", 0)
    monkeypatch.setattr(leaf, "FEW_FITS", 0)


@pytest.mark.parametrize("enumerated", [True, False])
@settings(max_examples=25)
@given(random=randoms)
def test_bounds_hold_and_the_best_set_is_found(enumerated, random):
    with pytest.MonkeyPatch.context() as monkeypatch:
        if not enumerated:
            without_enumeration(monkeypatch)
        n = int(random.integers(6, 9))
        f, constraint = some_objective(random, n), some_constraint(random, n)
        best = best_value(f, constraint)
        for max_nodes in range(4):
            certificate = sw.certify(f, constraint, max_nodes=max_nodes, time_limit=None)
            assert certificate.upper_bound >= best - 1e-9
        found = sw.exact(f, constraint)
    assert found.status == "OPTIMAL"
    assert found.value == pytest.approx(best, abs=1e-9)
    assert f.bounds.hold(found.coef)


@settings(max_examples=20)
@given(randoms)
def test_the_best_set_of_positive_coefficients_is_that_of_scipy(random):
    X, y = random.standard_normal((20, 7)), random.standard_normal(20)
    f = BoundedLeastSquares(X, y, 0.0, np.zeros(7), np.full(7, np.inf))
    best = max(1 - nnls(X[:, list(s)], y)[1] ** 2 / (y @ y) for s in combinations(range(7), 3))
    assert sw.exact(f, sw.Uniform(7, 3)).value == pytest.approx(best, abs=1e-9)


@settings(max_examples=20)
@given(randoms)
def test_likelihoods_are_bounded_within_bounds(random):
    X, n = random.standard_normal((30, 6)), 6
    bounds = CoefficientBounds(*some_bounds(random, n))
    f = BoundedLogistic(X, np.sign(X[:, 0] - X[:, 1] + random.standard_normal(30)), 0.1, bounds)
    constraint = sw.Uniform(n, 2)
    best = best_value(f, constraint)
    for max_nodes in range(3):
        assert sw.certify(f, constraint, max_nodes=max_nodes).upper_bound >= best - 1e-9
    found = sw.exact(f, constraint)
    assert found.status == "OPTIMAL"
    assert found.value == pytest.approx(best, abs=1e-8)


@pytest.mark.parametrize("ends", [(0.0, np.inf), (-np.inf, 0.0), (-0.1, 0.1), (0.0, 0.15)])
@pytest.mark.parametrize("family", ["uniform", "overlapping", "combinations"])
def test_relaxations_within_bounds_are_solved(ends, family):
    """Value and bound meet: no bound is below the value of a fractional set within bounds."""
    random = np.random.default_rng(3)
    X = random.standard_normal((60, 12)) + 0.5 * random.standard_normal((60, 1))
    y = X @ random.standard_normal(12) + random.standard_normal(60)
    constraint = sw.Uniform(12, 4)
    if family == "overlapping":
        constraint = sw.Intersection(sw.Partition(np.arange(12) % 4, 1), sw.Partition(np.arange(12) % 5, 1))
    if family == "combinations":
        X[:, 11] = X[:, 0] + X[:, 1]  # nothing to spare for these: steps over combinations of sets
    f = BoundedLeastSquares(X, y, 0.0, np.full(12, ends[0]), np.full(12, ends[1]))
    root, free = relaxed_root(f, Region.of(constraint)), relaxed_root(f.free, Region.of(constraint))
    for node in (root, free):
        for _ in range(30):
            if not node._relax().improve(-1.0, 1e-6):
                break
    relaxation = root._relax()
    assert relaxation.dual.bound <= relaxation.value + 1e-5
    assert relaxation.dual.bound >= best_value(f, constraint) - 1e-9
    if family != "combinations":  # there, elements that have nothing to spare count in full in the value
        assert relaxation.dual.bound >= relaxation.value - 1e-9
    assert relaxation.dual.bound < free._relax().dual.bound - 1e-3
    lower, upper = root.objective.bounds.lower, root.objective.bounds.upper
    share = np.where(relaxation.point > 0, relaxation.point, 1.0)
    assert (relaxation.coef <= upper * share + 1e-9).all()
    assert (relaxation.coef >= lower * share - 1e-9).all()


def test_products_have_the_bounds_in_their_units():
    random = np.random.default_rng(0)
    X = random.standard_normal((30, 5)) * np.array([1.0, 10.0, 0.1, 1.0, 1.0])
    f = BoundedLeastSquares(
        X, random.standard_normal(30), 0.0, [-1.0, 0, -np.inf, -1, 0], [0.02, 3e-3, 1, 0, 0]
    )
    kept = np.array([0, 1, 2, 4])
    part = RestrictedProblem(f).among(kept, Clock()).objective
    for chosen in ([0], [0, 1], [0, 1, 2, 3]):
        assert part(chosen) == pytest.approx(f(kept[chosen]), abs=1e-9)


def test_parts_of_objectives_have_their_bounds():
    f = BoundedLeastSquares(np.eye(3), np.ones(3), 0.0, [0.0, -1, -np.inf], [1.0, 2, np.inf])
    assert RestrictedObjective(f, np.array([1, 2])).bounds.upper.tolist() == [2.0, np.inf]
    assert RestrictedObjective(f, np.array([2])).bounds is None


@settings(max_examples=40)
@given(randoms)
def test_fits_within_bounds_are_known_to_be_best(random):
    f = some_objective(random, 7)
    support = np.sort(random.permutation(7)[: random.integers(1, 6)])
    value = f(support)
    assert value <= fit_bound(f, support) <= value + 1e-8
    if f.ridge > 0.5:
        assert value - 1e-9 <= lbfgs_bound(f, support, Clock()) <= value + 1e-5


@settings(max_examples=60)
@given(randoms)
def test_tangents_at_fits_within_bounds_prove_bounds(random):
    f, constraint = some_objective(random, 6), sw.Uniform(6, int(random.integers(1, 4)))
    support = np.sort(random.permutation(6)[: constraint.k])
    bound = _bound_at(f, Region.of(constraint), support, None, None)
    assert bound >= best_value(f, constraint) - 1e-9
