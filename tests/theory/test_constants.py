"""Restricted constants: against enumeration of numerical Hessians, against their definition, and bounds."""

import copy
import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise import LeastSquares, Linear, SparseObjective
from swapwise.graphs import IsingPseudoLikelihood
from swapwise.theory import constants
from swapwise.theory.constants import Constant, restricted_constants
from tests.contracts.objective_zoo import ising, least_squares, masks

sizes = st.integers(1, 6)


def hessian_at(objective, coef, step=1e-3):
    """Minus the Hessian of u by central differences of its gradient."""
    columns = [
        (objective.gradient_at(coef - step * unit) - objective.gradient_at(coef + step * unit)) / (2 * step)
        for unit in np.eye(objective.n)
    ]
    return np.array(columns).reshape(objective.n, objective.n)


def eigenvalues_of_submatrices(matrix, size):
    """The smallest and the largest over all principal submatrices, one by one."""
    size = min(size, len(matrix))
    spectra = [
        np.linalg.eigvalsh(matrix[np.ix_(rows, rows)]) for rows in combinations(range(len(matrix)), size)
    ]
    return max(0.0, min(values[0] for values in spectra)), max(values[-1] for values in spectra)


def wide_design(n, samples=30, seed=0):
    """Columns of different lengths, some equal, one constant and one zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, n)) * rng.uniform(0.5, 2.0, n) + 0.5 * rng.standard_normal((samples, 1))
    X[:, 1], X[:, 2] = X[:, 0], 1.0
    return X, rng.standard_normal(samples)


class Opaque(SparseObjective):
    """The nearest point to a target; it does not tell how it curves."""

    n = 2

    def _fit(self, support):
        return len(support) / 2, np.ones(len(support))

    def value_at(self, coef):
        return float(coef.sum() - coef @ coef / 2)

    def gradient_at(self, coef):
        return 1.0 - coef


@settings(max_examples=300)
@given(least_squares(), sizes, sizes)
def test_least_squares_equals_plain_enumeration(objective, s, t):
    found = restricted_constants(objective, s, t)
    hessian = hessian_at(objective, np.zeros(objective.n), step=1.0)
    wanted = {
        "m_1": eigenvalues_of_submatrices(hessian, 1)[0],
        "m_s": eigenvalues_of_submatrices(hessian, s)[0],
        "m_2s": eigenvalues_of_submatrices(hessian, 2 * s)[0],
        "M_1": eigenvalues_of_submatrices(hessian, 1)[1],
        "M_s": eigenvalues_of_submatrices(hessian, s)[1],
        "M_st": eigenvalues_of_submatrices(hessian, t)[1],
    }
    tolerance = 1e-11 * max(1.0, np.abs(hessian).max())
    for name, value in wanted.items():
        constant = getattr(found, name)
        assert constant == pytest.approx(value, rel=1e-9, abs=tolerance), name
        assert constant.exact or (name == "M_st" and t > 2 * s), name
        assert constant >= 0


@settings(max_examples=200)
@given(least_squares(), st.integers(2, 3), sizes)
def test_bounds_lie_beyond_the_constants(objective, s, t):
    exact = restricted_constants(objective, s, t)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "_is_affordable", lambda n, size: False)
        by_whole = restricted_constants(objective, s, t)
        patch.setattr(constants, "WHOLE_UP_TO", 0)
        by_circles = restricted_constants(objective, s, t)
    for bound in (by_whole, by_circles):
        assert bound.M_st >= exact.M_st * (1 - 1e-14)
        assert bound.M_s >= exact.M_s * (1 - 1e-14)
        assert 0 <= bound.m_2s <= exact.m_2s + 1e-14 * exact.M_1
        assert bound.M_st.exact == (min(t, objective.n) <= 2)
        assert bound.m_2s.kind == ("exact" if objective.n <= 2 else "lower bound")
        assert by_circles.M_st <= objective.smoothness(t) * (1 + 1e-9)
        assert by_whole.m_2s >= objective.strong_concavity(2 * s) * (1 - 1e-9)


def test_each_bound_is_the_best_one_somewhere(monkeypatch):
    """Eigenvalues of the whole, circles of the largest entries, and the longest columns."""
    monkeypatch.setattr(constants, "SUBMATRICES", 0)
    monkeypatch.setattr(LeastSquares, "smoothness", lambda self, t: np.inf)
    monkeypatch.setattr(LeastSquares, "strong_concavity", lambda self, t: 0.0)
    y = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    # One pair of close columns, all others orthogonal: the whole is no worse than its worst part.
    close = np.eye(6)
    close[0, 1] = 0.5
    eigenvalues = 2 * np.linalg.eigvalsh(close.T @ close)
    whole = restricted_constants(LeastSquares(close, y), 2, 3)
    assert (whole.m_2s, whole.M_st) == pytest.approx((eigenvalues[0], eigenvalues[-1]))
    monkeypatch.setattr(constants, "WHOLE_UP_TO", 0)
    circles = restricted_constants(LeastSquares(close, y), 2, 3)
    assert (circles.m_2s, circles.M_st) == pytest.approx((2 * (1.0 - 0.5), 2 * (1.25 + 0.5)))
    # Slightly oblique columns: only the three largest of five entries count.
    gram = (np.eye(6) + 0.01).T @ (np.eye(6) + 0.01)
    oblique = restricted_constants(LeastSquares(np.eye(6) + 0.01, y), 2, 3)
    assert oblique.m_2s == pytest.approx(2 * (gram[0, 0] - 3 * gram[0, 1]))
    assert oblique.M_st == pytest.approx(2 * (gram[0, 0] + 2 * gram[0, 1]))
    # Six equal columns, one of them ten times as long: circles reach beyond the sum of squares.
    equal = np.zeros((6, 6))
    equal[0] = [10.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    assert restricted_constants(LeastSquares(equal, y), 2, 3).M_st == pytest.approx(2 * 102.0)


@pytest.mark.parametrize("block", [1, 7, 40, 41, 256])
def test_pairs_in_blocks_equal_all_pairs(monkeypatch, block):
    monkeypatch.setattr(constants, "BLOCK", block)
    X, y = wide_design(40)
    objective = LeastSquares(X[:, 3:], y)
    hessian = 2 * (X[:, 3:].T @ X[:, 3:]) / (y @ y)
    found = restricted_constants(objective, s=1, t=2)
    smallest, largest = eigenvalues_of_submatrices(hessian, 2)
    assert found.M_st == pytest.approx(largest, rel=1e-12)
    assert found.m_2s == pytest.approx(smallest, rel=1e-10)


@pytest.mark.parametrize("block", [1, 7, 256])
def test_bounds_in_blocks_do_not_depend_on_the_blocks(monkeypatch, block):
    X, y = wide_design(60)
    objective = LeastSquares(X, y, ridge=0.1)
    monkeypatch.setattr(constants, "WHOLE_UP_TO", 0)
    in_one = restricted_constants(objective, s=5, t=7)
    monkeypatch.setattr(constants, "BLOCK", block)
    assert vars(restricted_constants(objective, s=5, t=7)) == pytest.approx(vars(in_one))


def test_repeated_constant_and_zero_columns():
    X, y = wide_design(6)
    X[:, 5] = 0.0
    found = restricted_constants(LeastSquares(X, y), s=1, t=2)
    assert (found.m_1, found.m_2s) == (0.0, 0.0)
    repeated = restricted_constants(LeastSquares(X[:, :2], y), s=1, t=2)
    assert repeated.m_2s == 0.0
    assert repeated.m_2s.exact
    assert repeated.M_st == pytest.approx(2 * repeated.M_1)


@pytest.mark.parametrize("s", [1, 2])
def test_dependent_columns_come_out_as_zero_and_not_as_rounding(s):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((50, 2 * s))
        X[:, -1] = X[:, :-1] @ rng.uniform(0.1, 1.0, 2 * s - 1)
        assert restricted_constants(LeastSquares(X, rng.standard_normal(50)), s, 2).m_2s == 0.0


@pytest.mark.parametrize(("n", "s"), [(8, 3), (8, 4), (40, 10), (300, 150)])
def test_more_columns_than_samples_leave_only_the_ridge(n, s):
    X, y = wide_design(n, samples=4)
    assert restricted_constants(LeastSquares(X, y), s, 2).m_2s == 0.0
    with_ridge = restricted_constants(LeastSquares(X, y, ridge=0.5), s, 2)
    assert with_ridge.m_2s == pytest.approx(2 * 0.5 / (y @ y))


def test_a_ridge_below_rounding_is_still_a_bound():
    objective = LeastSquares(np.ones((3, 2)), np.ones(3), ridge=1e-16)
    m_2s = restricted_constants(objective, 1, 2).m_2s
    assert m_2s == pytest.approx(2e-16 / 3)
    assert m_2s.kind == "lower bound"


def test_a_single_element_and_sizes_beyond_n():
    objective = LeastSquares([[1.0], [2.0]], [1.0, 0.0], ridge=1.0)
    found = restricted_constants(objective, s=3, t=4)
    names = ("m_1", "m_s", "m_2s", "M_1", "M_s", "M_st")
    assert [getattr(found, name) for name in names] == pytest.approx([12.0] * 6)
    assert all(getattr(found, name).exact for name in names)


def test_columns_of_very_different_lengths_keep_their_digits():
    objective = LeastSquares(np.diag([1e12, 1.0, 3.0]), [1.0, 0.0, 0.0])
    assert restricted_constants(objective, s=1, t=2).m_2s == pytest.approx(2.0)


def test_exchanges_beyond_two_supports_are_bounds():
    X, y = wide_design(6)
    found = restricted_constants(LeastSquares(X, y), s=1, t=3)
    assert found.M_st.kind == "upper bound"
    assert restricted_constants(LeastSquares(X, y), s=2, t=3).M_st == found.M_st


@settings(max_examples=100)
@given(st.integers(2, 4), st.integers(1, 6), st.data(), sizes, sizes)
def test_ising_equals_the_hessian_at_no_coupling(vertices, samples, data, s, t):
    signs = data.draw(masks(samples * vertices)).reshape(samples, vertices)
    ridge = data.draw(st.sampled_from([0.0, 0.3]))
    objective = IsingPseudoLikelihood(np.where(signs, 1.0, -1.0), ridge=ridge)
    found = restricted_constants(objective, s, t)
    hessian = hessian_at(objective, np.zeros(objective.n))
    assert found.M_st == pytest.approx(eigenvalues_of_submatrices(hessian, t)[1], abs=1e-5)
    assert found.M_st <= t + 1 + ridge + 1e-9
    assert found.M_st.exact == (min(t, objective.n) <= 2 * s)
    assert (found.m_2s, found.m_2s.kind) == (ridge, "lower bound")
    assert (found.M_rule, found.M_rule.kind) == (t + 1 + ridge, "upper bound")


def test_fields_make_the_curvature_a_bound():
    spins = np.where(np.random.default_rng(0).random((20, 4)) < 0.7, 1.0, -1.0)
    found = restricted_constants(IsingPseudoLikelihood(spins, ridge=0.1, fields=True), 2, 3)
    assert found.M_st.kind == "upper bound"
    assert found.M_st <= 4.1


@settings(max_examples=300)
@given(st.one_of(least_squares(), ising()), st.integers(1, 2), st.integers(1, 4), st.integers(0, 10**6))
def test_the_definition_holds_for_random_pairs(objective, s, t, seed):
    """−m‖y − x‖²/2 ≥ u(y) − u(x) − ⟨∇u(x), y − x⟩ ≥ −M‖y − x‖²/2."""
    found = restricted_constants(objective, s, t)
    rng = np.random.default_rng(seed)
    for _ in range(5):
        x, y = _sparse_pair(rng, objective.n, s)
        apart, distance = np.count_nonzero(x != y), float((y - x) @ (y - x))
        bend = objective.value_at(y) - objective.value_at(x) - objective.gradient_at(x) @ (y - x)
        slack = 1e-7 * (1 + abs(bend) + found.M_st * distance)
        assert -found.m_2s * distance / 2 >= bend - slack
        for most, m, M in ((s, found.m_s, found.M_s), (1, found.m_1, found.M_1), (t, 0.0, found.M_st)):
            if apart <= most:
                assert -m * distance / 2 + slack >= bend >= -M * distance / 2 - slack


def _sparse_pair(rng, n, s):
    """Two vectors with at most s non-zeros each, which often share some of them."""
    x, y = np.zeros(n), np.zeros(n)
    if n:
        x[rng.permutation(n)[:s]] = rng.standard_normal(min(s, n))
        y[rng.permutation(n)[:s]] = rng.standard_normal(min(s, n))
        if rng.random() < 0.7:
            y = np.where(rng.random(n) < 0.5, x, 0.0)
            y[rng.integers(n)] = 0.0
    return x, y


def test_the_rule_has_the_pair_or_what_the_objective_knows():
    X, y = wide_design(12)
    objective = LeastSquares(X, y)
    pairs, triples = restricted_constants(objective, 2, 2), restricted_constants(objective, 2, 3)
    assert pairs.M_rule == pairs.M_st
    assert pairs.M_rule.exact
    assert triples.M_rule == objective.smoothness(3) > triples.M_st
    assert triples.M_rule.kind == "upper bound"


def test_an_objective_that_tells_nothing():
    found = restricted_constants(Opaque(), 1, 2)
    assert (found.m_2s, found.M_st, found.M_rule) == (0.0, np.inf, np.inf)
    assert {found.m_1.kind, found.M_1.kind} == {"lower bound", "upper bound"}


def test_an_objective_without_elements():
    found = restricted_constants(IsingPseudoLikelihood([[1.0], [-1.0]], ridge=0.2), 1, 2)
    assert (found.m_2s, found.M_st) == (0.2, 0.2)


def test_wrong_arguments_are_named():
    objective = LeastSquares(np.eye(2), [1.0, 0.0])
    with pytest.raises(TypeError, match=r"objective must be a SparseObjective .*, got Linear"):
        restricted_constants(Linear([1.0, 2.0]), 1, 2)
    with pytest.raises(ValueError, match="s must be at least 1, got 0"):
        restricted_constants(objective, 0, 2)
    with pytest.raises(ValueError, match="t must be at least 1, got 0"):
        restricted_constants(objective, 1, 0)
    with pytest.raises(TypeError, match=r"t must be a non-negative integer, got 1\.5"):
        restricted_constants(objective, 1, 1.5)


def test_a_constant_says_what_it_is():
    assert repr(Constant(1 / 3, "lower bound")) == "0.333333 (lower bound)"
    assert Constant(1.0, "exact").exact


def test_constants_can_be_pickled_and_copied():
    constants = restricted_constants(LeastSquares(np.eye(3), [1.0, 2.0, 0.0]), 1, 2)
    for copied in (pickle.loads(pickle.dumps(constants)), copy.deepcopy(constants)):
        assert copied == constants
        assert copied.M_st.kind == constants.M_st.kind
