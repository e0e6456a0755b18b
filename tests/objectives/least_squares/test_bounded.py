"""Least squares within bounds on coefficients, against the best fit on every face of the box."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Budget
from swapwise.objectives.least_squares.active_set import fit_by_columns

pytestmark = pytest.mark.filterwarnings("ignore:.*(chosen columns|y is zero)")

seeds = st.integers(0, 2**32 - 1)


def plain_value(X, y, ridge, lower, upper, support):
    """Return R² of the best fit: every coefficient is at one of its bounds, or free and within them."""
    support, best = list(support), 0.0
    A = np.vstack([X[:, support], np.sqrt(ridge) * np.eye(len(support))])
    target = np.append(y, np.zeros(len(support)))
    pairs = np.column_stack([lower[support], upper[support]])
    ends = [{None, *pair[np.isfinite(pair)].tolist()} for pair in pairs]
    for face in product(*ends):
        free = np.array([end is None for end in face], dtype=bool)
        coef = np.array([0.0 if end is None else end for end in face])
        if free.any():
            coef[free] = np.linalg.lstsq(A[:, free], target - A @ coef)[0]
        if (coef >= lower[support] - 1e-12).all() and (coef <= upper[support] + 1e-12).all():
            best = max(best, 1 - ((target - A @ coef) ** 2).sum() / (y @ y))
    return best


class Problem:
    """A small regression with bounds of any kind, degenerate columns among them."""

    def __init__(self, seed, n=None):
        self.random = random = np.random.default_rng(seed)
        self.n = n = n or int(random.integers(2, 7))
        rows = int(random.integers(2, 12))
        X = random.standard_normal((rows, n))
        if random.random() < 0.3:
            X[:, random.integers(n)] = X[:, random.integers(n)]
        if random.random() < 0.2:
            X[:, random.integers(n)] = 0.0
        self.X, self.y = X, X @ random.standard_normal(n) + random.standard_normal(rows)
        self.ridge = float(random.choice([0.0, 0.5]))
        size = np.abs(random.standard_normal((2, n))) * random.choice([0.0, 0.3, 1.0, np.inf], (2, n))
        size[np.isnan(size)] = np.inf
        self.lower, self.upper = -size[0], size[1]
        if random.random() < 0.4:
            self.lower, self.upper = np.zeros(n), np.full(n, np.inf)
        pairs = list(zip(self.lower, self.upper, strict=True))
        self.f = sw.LeastSquares(self.X, self.y, self.ridge, bounds=pairs)

    def value(self, support):
        return plain_value(self.X, self.y, self.ridge, self.lower, self.upper, support)

    def constraint(self):
        if self.random.random() < 0.5:
            return sw.Uniform(self.n, int(self.random.integers(1, self.n)))
        return sw.Partition(self.random.integers(0, 3, self.n).tolist(), 1)

    def some_set(self, constraint):
        order = self.random.permutation(self.n)[: self.random.integers(self.n + 1)]
        return constraint.extend(np.empty(0, dtype=np.intp), order)


@given(seed=seeds)
def test_values_are_those_of_the_best_face(seed):
    problem = Problem(seed, n=4)
    for size in range(5):
        for support in combinations(range(4), size):
            assert problem.f(support) == pytest.approx(problem.value(support), abs=1e-8)
            coef = problem.f.coef(support)
            assert ((coef >= problem.lower) & (coef <= problem.upper)).all()
            assert problem.f.value_at(coef) == pytest.approx(problem.f(support), abs=1e-9)


@given(seed=seeds)
def test_gains_and_the_best_move_are_exact(seed):
    problem = Problem(seed)
    constraint = problem.constraint()
    support = problem.some_set(constraint)
    state = problem.f.start(support)
    (grid,) = constraint.moves(support)
    gains, before = state.gains(grid), problem.f(support)
    assert state.value == pytest.approx(before, abs=1e-9)
    expected = np.full(grid.shape, -np.inf)
    for index in np.flatnonzero(grid.useful):
        move = grid.move(int(index))
        expected.flat[index] = problem.f(move.result(support)) - before
    np.testing.assert_allclose(gains, expected, atol=1e-8)
    listed = grid.to_list()
    np.testing.assert_allclose(state.gains(listed), expected[grid.useful], atol=1e-8)
    by_element = np.maximum(expected.max(axis=1, initial=0.0), 0.0)
    np.testing.assert_allclose(state.gains_by_element(grid), by_element, atol=1e-8)
    found = state.find_best([grid], 1e-9, Budget())
    best = expected.max(initial=-np.inf)
    assert (found is None and best < 1e-8) or found.score == pytest.approx(best, abs=1e-8)


@given(seed=seeds)
def test_moves_keep_the_state_up_to_date(seed):
    problem = Problem(seed, n=6)
    constraint = sw.Uniform(6, 4)
    state = problem.f.start(())
    for _ in range(6):
        (grid,) = constraint.moves(state.support)
        moves = list(grid.to_list().moves())
        state.apply(moves[problem.random.integers(len(moves))])
        fresh = problem.f.start(state.support)
        assert state.value == pytest.approx(problem.value(state.support), abs=1e-8)
        np.testing.assert_allclose(state.gradient, fresh.gradient, atol=1e-7)


@given(seed=seeds)
def test_a_gradient_shows_only_what_coefficients_can_follow(seed):
    problem = Problem(seed)
    support = problem.some_set(sw.Uniform(problem.n, problem.n))
    state = problem.f.start(support)
    whole = problem.f.gradient_at(state.coef)
    whole[support] = 0.0
    stuck = ((whole > 0) & (problem.upper <= 0)) | ((whole < 0) & (problem.lower >= 0))
    np.testing.assert_allclose(state.gradient, np.where(stuck, 0.0, whole), atol=1e-7)
    assert (state.screening_scores() >= -1e-12).all()


@pytest.mark.parametrize("method", ["auto", "oblivious", "semi-oblivious", "non-oblivious", "greedy"])
@settings(max_examples=20)
@given(seed=seeds)
def test_searches_end_in_local_optima_within_bounds(method, seed):
    problem = Problem(seed)
    constraint = problem.constraint()
    found = sw.maximize(problem.f, constraint, method)
    assert found.value == pytest.approx(problem.value(found.support), abs=1e-8)
    assert ((found.coef >= problem.lower) & (found.coef <= problem.upper)).all()
    at_bound = (found.coef <= problem.lower) | (found.coef >= problem.upper)
    np.testing.assert_array_equal(found.at_bound, found.support[at_bound[found.support]])
    if method in ("auto", "oblivious"):
        (grid,) = constraint.moves(found.support)
        near = [problem.value(move.result(found.support)) for move in grid.to_list().moves()]
        assert max(near, default=0.0) <= found.value + 1e-7


@settings(max_examples=20)
@given(seed=seeds)
def test_larger_moves_are_found_within_bounds(seed):
    problem = Problem(seed, n=6)
    costs = problem.random.integers(1, 4, 6)
    for constraint in (
        sw.Knapsack(costs, 5.0),
        sw.BMatching([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)], 1),
        sw.Hierarchy(6, {4: [0, 1], 5: [2]}, size=3),
    ):
        found = sw.maximize(problem.f, constraint, "oblivious")
        near = [
            problem.value(move.result(found.support))
            for batch in constraint.moves(found.support)
            for move in batch.to_list().moves()
        ]
        assert max(near, default=0.0) <= found.value + 1e-7


def test_many_columns_are_searched_by_working_sets():
    random = np.random.default_rng(0)
    X = random.standard_normal((120, 400))
    y = X[:, :8] @ [2, -2, 1, -1, 1.5, -1.5, 1, 1] + random.standard_normal(120)
    f = sw.LeastSquares(X, y, positive=True)
    found = sw.maximize(f, sw.Uniform(400, 8))
    assert "working sets" in [run.name for run in found.strategies]
    assert found.status is sw.Status.LOCAL_OPTIMUM
    coef, left = scipy.optimize.nnls(X[:, found.support], y)
    assert found.value == pytest.approx(1 - left**2 / (y @ y), abs=1e-9)
    np.testing.assert_allclose(found.coef[found.support], coef, atol=1e-7)
    assert found.value >= sw.maximize(f, sw.Uniform(400, 8), "oblivious", start="empty").value - 1e-9
    clipped = np.maximum(sw.maximize(sw.LeastSquares(X, y), sw.Uniform(400, 8)).coef, 0.0)
    assert found.value > f(np.flatnonzero(clipped)) + 0.01


def test_bounds_that_no_coefficient_comes_near_change_nothing():
    random = np.random.default_rng(1)
    X = random.standard_normal((60, 30))
    y = X[:, :3].sum(axis=1) + random.standard_normal(60)
    plain = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(30, 3))
    wide = sw.maximize(sw.LeastSquares(X, y, bounds=(-50, 50)), sw.Uniform(30, 3))
    np.testing.assert_array_equal(plain.support, wide.support)
    assert plain.value == pytest.approx(wide.value, abs=1e-12)
    assert len(wide.at_bound) == 0


@given(seed=seeds)
def test_fits_by_columns_are_those_of_the_best_face(seed):
    random = np.random.default_rng(seed)
    A, y = random.standard_normal((6, 3)), random.standard_normal(6)
    A[:, 2] = A[:, 1] * random.choice([1.0, -2.0]) + random.choice([1e-9, 1.0]) * A[:, 2]
    lower, upper = -random.choice([0.0, 0.5, np.inf], 3), random.choice([0.0, 0.5, np.inf], 3)
    coef = fit_by_columns(A, y, lower, upper, random.standard_normal(3))
    value = 1 - ((y - A @ coef) ** 2).sum() / (y @ y)
    assert ((coef >= lower) & (coef <= upper)).all()
    assert value == pytest.approx(plain_value(A, y, 0.0, lower, upper, range(3)), abs=1e-6)


@pytest.mark.parametrize(
    ("given_bounds", "error", "words"),
    [
        ((1, 2), ValueError, r"must hold 0, .* got \(1, 2\)"),
        ((2, -1), ValueError, "the lower number first"),
        ((float("nan"), 1), ValueError, "must be numbers, or None"),
        ([(0, 1)], ValueError, "each of the 3 coefficients, got 1"),
        ({5: (0, 1)}, ValueError, "positions from 0 to 2, got 5"),
        ({"a": (0, 1)}, ValueError, "names 'a', but the coefficients have no names"),
        ({0: 3}, TypeError, "of coefficient 0 must be a pair of numbers"),
        (3, TypeError, "must be a pair such as"),
    ],
)
def test_wrong_bounds_are_named(given_bounds, error, words):
    with pytest.raises(error, match=words):
        sw.LeastSquares(np.eye(3), np.ones(3), bounds=given_bounds)


@pytest.mark.filterwarnings("ignore:.*strong-concavity")
@settings(max_examples=20)
@given(seed=seeds)
def test_proofs_within_bounds_are_true(seed):
    problem = Problem(seed)
    constraint = problem.constraint()
    every = (s for size in range(problem.n + 1) for s in combinations(range(problem.n), size))
    best = max(problem.value(support) for support in every if constraint.is_independent(support))
    found = sw.maximize(problem.f, constraint, "greedy")
    for nodes in (0, 1, 3):
        assert sw.certify(problem.f, constraint, found, max_nodes=nodes).upper_bound >= best - 1e-8
    proven = sw.exact(problem.f, constraint)
    assert proven.value == pytest.approx(best, abs=1e-7)
    if problem.ridge > 0:
        assert proven.status is sw.Status.OPTIMAL


def test_two_columns_take_an_array_of_bounds():
    f = sw.LeastSquares(np.eye(2), [3.0, -1.0], bounds=np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert f.coef([0, 1]).tolist() == [1.0, 0.0]
    assert sw.LeastSquares(np.eye(2), [3.0, -1.0], bounds=[None, None]).bounds is None
