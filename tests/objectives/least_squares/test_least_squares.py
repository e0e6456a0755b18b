"""Least squares: closed forms against refits, degenerate columns, rounding, and errors."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapwise import LeastSquares, Partition, Uniform, maximize
from swapwise.clock import Budget
from swapwise.moves import Move, MoveList, SwapGrid
from swapwise.objectives.least_squares.active_set import ActiveSet
from swapwise.paper.plain.least_squares import PlainLeastSquares


@st.composite
def gaussian_problems(draw):
    """Well-conditioned data: what rounding does is far below what the tests look for."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, samples = draw(st.integers(2, 7)), draw(st.integers(8, 14))
    X = rng.standard_normal((samples, n)) * 10.0 ** rng.integers(-3, 4, size=n)
    weight = rng.random(samples) + 0.1 if draw(st.booleans()) else None
    ridge = draw(st.sampled_from([0.0, 0.5, 30.0]))
    return X, rng.standard_normal(samples), ridge, weight


@st.composite
def degenerate_problems(draw):
    """Few samples, small whole numbers, repeated, constant and zero columns."""
    n, samples = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    entry = st.integers(-1, 2)
    X = np.array(draw(st.lists(st.lists(entry, min_size=n, max_size=n), min_size=samples, max_size=samples)))
    for target, source in draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=2)):
        X[:, target] = draw(st.sampled_from([0, 1, 2])) * X[:, source]
    y = np.array(draw(st.lists(entry, min_size=samples, max_size=samples)))
    assume(y.any())
    return X, y, draw(st.sampled_from([0.0, 0.5])), None


def supports_of(data, n):
    return np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))


def full_grid(n, support):
    feasible = np.ones((n, len(support) + 1), dtype=bool)
    feasible[support] = False
    feasible[data_free(n), -1] = False
    return SwapGrid(support, feasible)


def data_free(n):
    """Half of the elements can only come in by a swap, so that the grid has both kinds of moves."""
    return np.arange(n) % 2 == 0


def quiet(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def check_gains_equal_refits(problem, support, tolerance):
    X, y, ridge, weight = problem
    plain = PlainLeastSquares(X, y, ridge, weight)
    state = LeastSquares(X, y, ridge, weight).start(support)
    grid = full_grid(X.shape[1], support)
    gains = state.gains(grid)
    before = plain.value(support)
    assert state.value == pytest.approx(before, abs=tolerance)
    for index in np.flatnonzero(grid.useful):
        move = grid.move(int(index))
        after = plain.value(move.result(support))
        assert gains.flat[index] == pytest.approx(after - before, rel=tolerance, abs=tolerance)
    for element in support:
        drop = MoveList(np.array([[-1]]), np.array([[element]]))
        lost = plain.value(np.setdiff1d(support, element)) - before
        assert state.gains(drop)[0] == pytest.approx(lost, rel=tolerance, abs=tolerance)


@given(gaussian_problems(), st.data())
def test_gains_equal_refits(problem, data):
    check_gains_equal_refits(problem, supports_of(data, problem[0].shape[1]), 1e-8)


@given(degenerate_problems(), st.data())
def test_gains_equal_refits_on_degenerate_columns(problem, data):
    quiet(check_gains_equal_refits, problem, supports_of(data, problem[0].shape[1]), 1e-7)


@given(degenerate_problems() | gaussian_problems(), st.data())
def test_moves_keep_the_state_true(problem, data):
    X, y, ridge, weight = problem
    n = X.shape[1]
    objective = LeastSquares(X, y, ridge, weight)
    state = quiet(objective.start, supports_of(data, n))
    for _ in range(4):
        support = state.support
        added = np.setdiff1d(supports_of(data, n), support)
        dropped = np.intersect1d(supports_of(data, n), support)
        quiet(state.apply, Move(tuple(added.tolist()), tuple(dropped.tolist())))
        fresh = quiet(objective.start, state.support)
        np.testing.assert_allclose(state.value, fresh.value, atol=1e-8)
        np.testing.assert_allclose(
            state.gradient, fresh.gradient, atol=1e-7 * (1 + np.abs(fresh.gradient).max())
        )
        np.testing.assert_allclose(state.value, objective.value_at(state.coef), atol=1e-8)
        grid = full_grid(n, state.support)
        np.testing.assert_allclose(state.gains(grid)[grid.useful], fresh.gains(grid)[grid.useful], atol=1e-7)


@given(gaussian_problems(), st.data())
def test_gradient_equals_finite_differences(problem, data):
    X, y, ridge, weight = problem
    objective = LeastSquares(X, y, ridge, weight)
    coef = objective.coef(supports_of(data, X.shape[1])) + 0.1 / np.linalg.norm(X, axis=0)
    step = 1e-4 / np.linalg.norm(X, axis=0)
    for j in range(X.shape[1]):
        shift = np.zeros(X.shape[1])
        shift[j] = step[j]
        slope = (objective.value_at(coef + shift) - objective.value_at(coef - shift)) / (2 * step[j])
        assert objective.gradient_at(coef)[j] * step[j] == pytest.approx(slope * step[j], abs=1e-10)


@given(gaussian_problems(), st.data())
def test_coefficients_are_the_maximiser(problem, data):
    X, y, ridge, weight = problem
    objective = LeastSquares(X, y, ridge, weight)
    support = supports_of(data, X.shape[1])
    coef = objective.coef(support)
    assert objective.value_at(coef) == pytest.approx(objective(support), abs=1e-12)
    np.testing.assert_allclose(objective.gradient_at(coef)[support] * np.abs(coef[support]), 0, atol=1e-9)


@given(gaussian_problems(), st.data())
def test_curvature_bounds_hold_on_every_block(problem, data):
    X, y, ridge, weight = problem
    objective = LeastSquares(X, y, ridge, weight)
    block = supports_of(data, X.shape[1])
    assume(len(block))
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    A, b = X[:, block] * root[:, None], y * root
    curvature = np.linalg.eigvalsh(A.T @ A + ridge * np.eye(len(block))) * 2 / (b @ b)
    assert curvature[-1] <= objective.smoothness(len(block)) * (1 + 1e-12)
    assert curvature[0] >= objective.strong_concavity(len(block)) * (1 - 1e-12) - 1e-12


@given(gaussian_problems(), st.data())
def test_the_smoothness_of_a_move_is_that_of_its_pair(problem, data):
    X, y, ridge, weight = problem
    objective = LeastSquares(X, y, ridge, weight)
    state = objective.start(supports_of(data, X.shape[1]))
    for _ in range(2):
        grid = full_grid(objective.n, state.support)
        constants = state.move_smoothness(grid)
        root = np.ones(len(y)) if weight is None else np.sqrt(weight)
        gram = (X * root[:, None]).T @ (X * root[:, None]) + ridge * np.eye(objective.n)
        for index in np.flatnonzero(grid.useful):
            move = grid.move(int(index))
            block = np.array([*move.added, *move.dropped])
            largest = np.linalg.eigvalsh(gram[np.ix_(block, block)])[-1] * 2 / objective.total
            assert constants.flat[index] == pytest.approx(largest, rel=1e-9)
        added = np.setdiff1d(np.arange(objective.n), state.support)[:1]
        state.apply(Move(tuple(added.tolist()), tuple(state.support[:1].tolist())))


def test_a_thousand_moves_leave_no_rounding_behind():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 60)) + 3 * rng.standard_normal((40, 1))
    objective = LeastSquares(X, rng.standard_normal(40))
    state = objective.start(np.arange(20))
    for _ in range(1000):
        outside = np.setdiff1d(np.arange(60), state.support)
        state.apply(Move((int(rng.choice(outside)),), (int(rng.choice(state.support)),)))
    fresh = objective.start(state.support)
    grid = full_grid(60, state.support)
    np.testing.assert_allclose(state.gains(grid)[grid.useful], fresh.gains(grid)[grid.useful], atol=1e-10)


@st.composite
def near_collinear_problems(draw, closest):
    """Some columns are others with a little noise added: from a tenth of their length down to very little."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, samples = draw(st.integers(4, 8)), draw(st.integers(12, 20))
    X = rng.standard_normal((samples, n))
    for target in range(n // 2, n):
        distance = 10.0 ** -draw(st.integers(1, closest))
        X[:, target] = X[:, rng.integers(0, n // 2)] + distance * rng.standard_normal(samples)
    y = X[:, 0] + rng.standard_normal(samples)
    return X, y, draw(st.sampled_from([0.0, 1e-3])), None


def random_walk(data, objective, moves):
    """Yield a state after each of many random swaps, additions and drops."""
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    state = quiet(objective.start, [0])
    for _ in range(moves):
        outside = np.setdiff1d(np.arange(objective.n), state.support)
        added = rng.choice(outside, size=min(len(outside), rng.integers(0, 2)), replace=False)
        dropped = rng.choice(state.support, size=min(len(state.support), rng.integers(0, 2)), replace=False)
        quiet(state.apply, Move(tuple(added.tolist()), tuple(dropped.tolist())))
        yield state


@settings(max_examples=60)
@given(near_collinear_problems(closest=4), st.data())
def test_near_collinear_columns_are_scored_as_refits_score_them(problem, data):
    X, y, ridge, weight = problem
    objective, plain = LeastSquares(X, y, ridge, weight), PlainLeastSquares(X, y, ridge, weight)
    for step, state in enumerate(random_walk(data, objective, 30)):
        assert state.value == pytest.approx(plain.value(state.support), abs=1e-9)
        if step % 10 < 9:
            continue
        grid = full_grid(objective.n, state.support)
        gains = state.gains(grid)
        for index in np.flatnonzero(grid.useful):
            refit = plain.value(grid.move(int(index)).result(state.support)) - state.value
            assert gains.flat[index] == pytest.approx(refit, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6, 1e-8])
def test_nearly_collinear_columns_that_come_together_are_scored_as_refits_score_them(distance, precision):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5)).astype(precision)
    X[:, 4] = X[:, 3] + precision(distance) * X[:, 0]
    objective = LeastSquares(X, X[:, 0] + 0.3 * rng.standard_normal(20))
    state = objective.start([1, 2])
    moves = MoveList(np.array([[3, 4], [3, 4], [0, 4]]), np.array([[1], [-1], [2]]))
    refits = [quiet(objective, move.result(state.support)) - state.value for move in moves.moves()]
    tolerance = 4e-6 if precision == np.float32 else 1e-15 / distance + 1e-10
    assert quiet(state.gains, moves) == pytest.approx(refits, abs=tolerance)


def as_list(move):
    return MoveList(np.array([move.added]), np.array([move.dropped], dtype=int).reshape(1, -1))


@settings(max_examples=100)
@given(near_collinear_problems(closest=12), st.data())
def test_the_lazy_scan_never_misses_the_best_of_all_gains(problem, data):
    objective = LeastSquares(*problem)
    for state in random_walk(data, objective, 10):
        grid = full_grid(objective.n, state.support)
        gains = quiet(state.gains, grid)
        found = quiet(state.find_best, [grid], -np.inf, Budget())
        if np.isfinite(gains).any():
            assert found.score >= gains.max() - 1e-11
            assert quiet(state.gains, as_list(found.move)) == pytest.approx(found.score, abs=1e-12)


@settings(max_examples=100)
@given(near_collinear_problems(closest=12), st.integers(1, 5), st.sampled_from(["empty", "arbitrary"]))
def test_searches_among_near_twins_tell_the_truth(problem, size, start):
    objective = LeastSquares(*problem)
    result = quiet(maximize, objective, Uniform(objective.n, size), start=start)
    values = [event.value for event in result.history]
    assert np.all(np.diff(values) > 0)
    if values:
        assert result.value == pytest.approx(values[-1], abs=1e-7)


def test_a_swap_for_a_near_twin_is_found():
    rng = np.random.default_rng(0)
    first, noise = rng.standard_normal(30), rng.standard_normal(30)
    X = np.column_stack([first, first + 5e-7 * noise])
    objective = LeastSquares(X, first + noise)
    assert maximize(objective, Uniform(2, 1), start=[0]).support.tolist() == [1]


def test_drift_is_noticed_and_mended(monkeypatch):
    rng = np.random.default_rng(2)
    objective = LeastSquares(rng.standard_normal((30, 12)), rng.standard_normal(30))
    state = objective.start([0, 1, 2])
    state._basis.coupling[:] += 1e-6 * rng.standard_normal(state._basis.coupling.shape)
    rebuilt = []
    original = ActiveSet._rebuild
    monkeypatch.setattr(ActiveSet, "_rebuild", lambda self: (rebuilt.append(1), original(self))[1])
    state.apply(Move((5,), (1,)))
    assert rebuilt
    assert state.value == pytest.approx(objective([0, 2, 5]), abs=1e-13)


def test_lazy_scan_finds_the_argmax_and_looks_at_less():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 300))
    objective = LeastSquares(X, X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(80))
    state = objective.start([0, 100, 101, 102])
    (grid,) = Uniform(300, 4).moves(state.support)
    counted = state.n_evaluations
    move, gain = state.find_best([grid], 0.0, Budget())
    lazy = state.n_evaluations - counted
    gains = state.gains(grid)
    assert (move, gain) == (grid.move(int(np.argmax(gains))), pytest.approx(gains.max(), abs=1e-15))
    assert lazy < grid.useful.sum() / 4


def test_equal_columns_tie_and_the_smallest_index_wins():
    rng = np.random.default_rng(4)
    column = rng.standard_normal((37, 1))
    X = np.hstack([rng.standard_normal((37, 3)), np.repeat(column, 9, axis=1)])
    objective = LeastSquares(X, column[:, 0] + 0.1 * rng.standard_normal(37))
    assert maximize(objective, Uniform(12, 1)).support.tolist() == [3]


def test_more_features_than_samples_stops_at_the_rank_with_one_warning():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((6, 30)), rng.standard_normal(6)
    objective = LeastSquares(X, y)
    with pytest.warns(UserWarning, match="chosen columns") as caught:
        result = maximize(objective, Uniform(30, 10))
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        maximize(objective, Uniform(30, 10), start="arbitrary")
    assert result.value == pytest.approx(1.0)
    assert len(result.support) <= 6
    assert np.isfinite(result.coef).all()


def test_columns_of_zeros_are_named_where_there_are_no_others():
    objective = LeastSquares(np.zeros((5, 3)), np.arange(5.0))
    with pytest.warns(UserWarning, match="all columns are zero, or constant beside an intercept"):
        assert maximize(objective, Uniform(3, 2)).support.tolist() == []


@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious"])
@pytest.mark.parametrize("start", ["empty", "arbitrary"])
def test_supports_past_the_rank_stay_finite(method, start):
    rng = np.random.default_rng(6)
    X = np.repeat(rng.standard_normal((20, 4)), 5, axis=1)
    X[:, 7] = 0.0
    objective = LeastSquares(X, rng.standard_normal(20))
    result = quiet(maximize, objective, Partition(np.arange(20) % 3, 4), method, start=start)
    assert np.isfinite(result.value)
    assert np.isfinite(result.coef).all()
    assert result.value == pytest.approx(quiet(objective, range(20)), abs=1e-10)


def test_a_spare_copy_takes_over_when_its_twin_is_dropped():
    X = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    objective = LeastSquares(X, [2.0, 1.0])
    state = quiet(objective.start, [0, 1])
    assert state.gains(MoveList(np.array([[-1], [2]]), np.array([[0], [0]]))) == pytest.approx([0.0, 0.2])
    state.apply(Move((2,), (0,)))
    assert state.value == pytest.approx(1.0)


def test_ridge_and_weights_are_those_of_the_formula():
    X, y, weight = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 1.0]]), np.array([1.0, 2.0, 3.0]), [1.0, 0.5, 2.0]
    objective = LeastSquares(X, y, ridge=0.7, sample_weight=weight)
    W = np.diag(weight)
    w = np.linalg.solve(X.T @ W @ X + 0.7 * np.eye(2), X.T @ W @ y)
    rest = (y - X @ w) @ W @ (y - X @ w) + 0.7 * w @ w
    assert objective([0, 1]) == pytest.approx(1 - rest / (y @ W @ y))
    np.testing.assert_allclose(objective.coef([0, 1]), w)


def test_y_of_zeros_warns_and_has_nothing_to_explain():
    with pytest.warns(UserWarning, match="y is zero"):
        objective = LeastSquares(np.eye(3), np.zeros(3))
    result = maximize(objective, Uniform(3, 2))
    assert result.value == 0.0
    assert len(result.support) == 0


def test_a_response_that_nothing_explains_chooses_nothing():
    X = np.array([[1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]])
    assert len(maximize(LeastSquares(X, [0.0, 0.0, 1.0]), Uniform(2, 2)).support) == 0


def test_integer_and_fortran_ordered_data_are_fine():
    X = np.asfortranarray([[1, 0], [0, 1], [1, 1]])
    assert LeastSquares(X, [1, 0, 1])([0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("X", "y", "options", "error", "message"),
    [
        (np.ones((3, 2)), [1, 2], {}, ValueError, "y must have length 3, got length 2"),
        (np.ones((3, 2)), [[1], [2], [3]], {}, ValueError, r"one-dimensional, got shape \(3, 1\).*ravel"),
        (np.ones(3), [1, 2, 3], {}, ValueError, "X must be two-dimensional"),
        ([[1.0, np.nan]], [1], {}, ValueError, r"X must be finite, got nan at position \(0, 1\)"),
        ([[1.0, 2.0]], [np.inf], {}, ValueError, "y must be finite, got inf at position 0"),
        (np.ones((0, 2)), [], {}, ValueError, r"at least one sample and one feature, got shape \(0, 2\)"),
        (np.ones((2, 0)), [1, 2], {}, ValueError, "at least one sample and one feature"),
        ([["a", "b"]], [1], {}, TypeError, "X must hold real numbers"),
        ([[1.0]], [1], {"ridge": -1}, ValueError, "ridge must be a non-negative number, got -1"),
        ([[1.0]], [1], {"ridge": "big"}, TypeError, "ridge must be a non-negative number, got 'big'"),
        ([[1.0]], [1], {"sample_weight": [-1]}, ValueError, "sample_weight must be non-negative, got -1"),
        ([[1.0]], [1], {"sample_weight": [0]}, ValueError, "sample_weight must have a positive entry"),
        ([[1.0]], [1], {"sample_weight": [1, 1]}, ValueError, "sample_weight must have length 1"),
        ([[1e200]], [1], {}, ValueError, r"column 0 of X has entries of size 1e\+200"),
        ([[1.0, 1e-158]], [1], {}, ValueError, "column 1 of X has entries of size 1e-158"),
        ([[1.0]], [1e-165], {}, ValueError, "y has entries of size 1e-165"),
    ],
)
def test_bad_data_is_refused(X, y, options, error, message):
    with pytest.raises(error, match=message):
        LeastSquares(X, y, **options)


def test_its_model_on_some_elements_is_the_same_function_of_their_coefficients():
    rng = np.random.default_rng(0)
    objective = LeastSquares(rng.standard_normal((20, 6)), rng.standard_normal(20), ridge=0.3)
    model, coef = objective.start().model(np.array([1, 4, 5])), np.array([0.2, 0.0, -1.0])
    whole = np.zeros(6)
    whole[[1, 4, 5]] = coef
    assert model.value_at(coef) == pytest.approx(objective.value_at(whole), abs=1e-12)
    np.testing.assert_allclose(model.gradient_at(coef), objective.gradient_at(whole)[[1, 4, 5]], atol=1e-12)
