"""What the paper guarantees, against exhaustive search."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import Coverage, FacilityLocation, LeastSquares, Linear, maximize
from swapwise.theory.constants import restricted_constants
from tests.contracts.constraint_zoo import FAMILIES

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set")

matroids = st.one_of(*FAMILIES.values()).map(lambda specimen: specimen.matroid)


@st.composite
def coverage_under_a_matroid(draw):
    matroid = draw(matroids)
    items = st.frozensets(st.integers(0, 7), max_size=4)
    sets = draw(st.lists(items, min_size=matroid.n, max_size=matroid.n))
    return Coverage(sets), matroid


@settings(max_examples=400)
@given(coverage_under_a_matroid(), st.sampled_from(["empty", "arbitrary", "best-singleton"]))
def test_local_optima_of_coverage_are_half_optimal(problem, start):
    """Theorem 9 with (α, β₁, β₂) = (1, 1, 1)."""
    objective, matroid = problem
    best = maximize(objective, matroid, "exhaustive").value
    assert maximize(objective, matroid, start=start).value >= best / 2 - 1e-9


@settings(max_examples=200)
@given(coverage_under_a_matroid(), st.integers(0, 4))
def test_a_few_iterations_already_guarantee_a_part(problem, T):
    """Theorem 9 after T iterations: ½ (1 − exp(−2T/s)) of the optimum."""
    objective, matroid = problem
    best = maximize(objective, matroid, "exhaustive").value
    share = 0.5 * (1 - np.exp(-2 * T / max(1, matroid.rank())))
    assert maximize(objective, matroid, start="arbitrary", max_iter=T).value >= share * best - 1e-9


@settings(max_examples=200)
@given(coverage_under_a_matroid(), st.sampled_from([0.05, 0.5]))
def test_the_geometric_rule_loses_at_most_epsilon(problem, epsilon):
    """At a stop, f(X*) ≤ (2 + ε) f(X) for a submodular f: sum the rule over the exchange bijection."""
    objective, matroid = problem
    best = maximize(objective, matroid, "exhaustive").value
    assert maximize(objective, matroid, epsilon=epsilon).value >= best / (2 + epsilon) - 1e-9


@settings(max_examples=200)
@given(st.data())
def test_linear_functions_are_solved_exactly(data):
    """Theorem 9 with (1, 1, 0): a local optimum of a linear function under a matroid is optimal."""
    matroid = data.draw(matroids)
    weights = data.draw(st.lists(st.integers(0, 5), min_size=matroid.n, max_size=matroid.n))
    result = maximize(Linear(weights), matroid)
    assert result.value == pytest.approx(matroid.max_weight(weights).weight)


@settings(max_examples=100)
@given(st.data())
def test_facility_location_is_half_optimal(data):
    matroid = data.draw(matroids)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    objective = FacilityLocation(rng.random((5, matroid.n)))
    best = maximize(objective, matroid, "exhaustive").value
    assert maximize(objective, matroid).value >= best / 2 - 1e-9


@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious"])
@settings(max_examples=100)
@given(data=st.data())
def test_sparse_regression_keeps_the_ratio_of_its_constants(method, data):
    """Theorem 13: at least m²/M² of the optimum, with m of all 2s columns and M of all pairs, exactly."""
    matroid = data.draw(matroids.filter(lambda matroid: matroid.rank() > 0))
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    X = rng.standard_normal((40, matroid.n)) + 0.3 * rng.standard_normal((40, 1))
    objective = LeastSquares(X, rng.standard_normal(40))
    constants = restricted_constants(objective, matroid.rank(), min(2, matroid.n))
    assert constants.m_2s.exact
    assert constants.M_st.exact
    ratio = (constants.m_2s / constants.M_st) ** 2
    result = maximize(objective, matroid, method, start="arbitrary")
    assert result.guarantee.by_theorem.ratio == pytest.approx(ratio, rel=1e-4)  # tol costs a little
    assert result.value >= ratio * maximize(objective, matroid, "exhaustive").value - 1e-9


def chosen_block(matrix, chosen):
    return matrix[np.ix_(chosen, chosen)]


@given(st.integers(0, 1000), st.integers(1, 3))
@settings(max_examples=30)
def test_the_constants_are_eigenvalues_of_all_blocks(seed, s):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((10, 5)), rng.standard_normal(10)
    H = 2 * X.T @ X / (y @ y)
    constants = restricted_constants(LeastSquares(X, y), s, 2)
    smallest = [np.linalg.eigvalsh(chosen_block(H, c))[0] for c in combinations(range(5), min(5, 2 * s))]
    largest = [np.linalg.eigvalsh(chosen_block(H, c))[-1] for c in combinations(range(5), 2)]
    assert constants.m_2s == pytest.approx(min(smallest))
    assert constants.M_st == pytest.approx(max(largest))
