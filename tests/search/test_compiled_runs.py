"""Many moves in one compiled call are those that local search makes one by one."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Budget
from swapwise.data import design
from swapwise.moves import Run, move_between
from swapwise.objectives.least_squares.state import LeastSquaresState
from swapwise.search.local_search import LocalSearch
from swapwise.search.rules import BestImprovement


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, samples = draw(st.integers(1, 12)), draw(st.integers(2, 15))
    X = rng.integers(-1, 2, (samples, n)) * 1.0 if draw(st.booleans()) else rng.standard_normal((samples, n))
    if n > 2 and draw(st.booleans()):
        X[:, 1] = X[:, 0]
    y = rng.standard_normal(samples)
    labels = (np.arange(n) % 3).tolist()
    constraint = draw(
        st.sampled_from(
            [
                sw.Uniform(n, 4),
                sw.Partition(labels, 2),
                sw.Partition(labels, 2).truncate(3),
                sw.Partition(labels, 2).contract([0]),
                sw.Partition(labels, 2).restrict(range(n - n // 2)),
                sw.Laminar(n, [(range(n // 2), 2), (range(n), 4)]),
            ]
        )
    )
    return sw.LeastSquares(X, y, ridge=draw(st.sampled_from([0.0, 0.5]))), constraint


def moves_of(result):
    return [(event.added, event.dropped) for event in result.history]


@given(
    problems(),
    st.sampled_from(["empty", "arbitrary"]),
    st.sampled_from([None, 0, 2]),
    st.sampled_from([0, design.QUICK_GRAM]),
)
def test_same_moves_as_one_by_one(problem, start, max_iter, quick):
    objective, constraint = problem
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        patch.setattr(design, "QUICK_GRAM", quick)
        compiled = sw.maximize(objective, constraint, start=start, max_iter=max_iter)
        patch.setattr(LeastSquaresState, "best_run", lambda *_: Run())
        single = sw.maximize(objective, constraint, start=start, max_iter=max_iter)
    assert moves_of(compiled) == moves_of(single)
    assert compiled.status == single.status
    for event in compiled.history:
        assert event.value == pytest.approx(objective(event.support), abs=1e-7)


def large(n=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, n))
    return sw.LeastSquares(X, X[:, :6].sum(axis=1) + rng.standard_normal(50)), sw.Uniform(n, 5)


@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_products_are_computed_for_those_that_may_be_added(correlation):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 120))
    for j in range(1, 120):
        X[:, j] = correlation * X[:, j - 1] + np.sqrt(1 - correlation**2) * X[:, j]
    y = X[:, ::30].sum(axis=1) + rng.standard_normal(200)
    objective = sw.LeastSquares(X, y)
    with pytest.MonkeyPatch.context() as patch:
        result = sw.maximize(objective, sw.Uniform(120, 5))
        known = np.flatnonzero(objective.design.gram_rows(result.support, lambda: None)[1])
        patch.setattr(LeastSquaresState, "best_run", lambda *_: Run())
        single = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(120, 5))
    assert moves_of(result) == moves_of(single)
    assert {element for event in result.history for element in event.added} <= set(known.tolist())
    assert 10 <= len(known) < 60


def scans_of(objective, constraint):
    """Return a search, and how many times it scanned all moves from the factors of its state."""
    found = []
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        scan = LeastSquaresState.find_best
        patch.setattr(LeastSquaresState, "find_best", lambda *given: found.append(1) or scan(*given))
        return sw.maximize(objective, constraint), len(found)


def test_a_clear_end_is_not_looked_at_again():
    result, scans = scans_of(*large())
    assert (result.status, scans) == (sw.Status.LOCAL_OPTIMUM, 0)


@pytest.mark.parametrize("noise", [0.0, 1e-5, 1e-3])
def test_an_end_that_rounding_may_hide_is_looked_at_again(noise):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    X[:, 5] = X[:, 0] + noise * X[:, 5]
    result, scans = scans_of(sw.LeastSquares(X, X[:, 0] + X[:, 1]), sw.Uniform(6, 2))
    assert (result.status, scans > 0) == (sw.Status.LOCAL_OPTIMUM, True)


def test_an_end_with_room_for_more_is_looked_at_again():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 6))
    result, scans = scans_of(sw.LeastSquares(X, X[:, 0] + X[:, 1]), sw.Uniform(6, 4))
    assert (result.n_iter, scans) == (2, 1)


def test_no_time_no_moves():
    result = sw.maximize(*large(), time_limit=0)
    assert (result.n_iter, result.status) == (0, sw.Status.TIME_LIMIT)


def test_the_answer_and_the_history_are_apart():
    result = sw.maximize(*large())
    result.history[-1].support[0] = -1
    assert result.support.min() >= 0


def test_moves_of_one_call_share_its_time_and_say_so():
    result = sw.maximize(*large())
    assert result.n_iter > 1
    assert {event.n_together for event in result.history} == {result.n_iter}
    assert len({event.seconds for event in result.history}) == 1
    assert 0 < result.history[0].seconds <= result.seconds


def test_a_state_that_was_searched_before_is_searched_again():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 8))
    X[:, 1] = X[:, 0] + 1e-4 * rng.standard_normal(40)  # nearly collinear: no compiled run from there
    objective = sw.LeastSquares(X, X[:, 4] + X[:, 5] + 0.1 * rng.standard_normal(40))
    constraint, state = sw.Uniform(8, 2), objective.start()

    def search():
        strategy = LocalSearch(constraint, sw.Oblivious(), BestImprovement(1e-10))
        while strategy.advance(state, Budget()):
            pass
        return state.support.tolist()

    assert search() == [4, 5]
    state.apply(move_between(state.support, np.array([0, 1])))
    assert search() == [4, 5]


@pytest.mark.parametrize("offset", [0.0, 25.0])
def test_ties_go_to_the_smallest_index_far_from_zero(offset):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = (
            np.sqrt(0.02) * rng.standard_normal((100, 12))
            + np.sqrt(0.98) * rng.standard_normal((100, 1))
            + offset
        )
        X[:, 2] = -1.7 * X[:, 9] + 60.3
        y = X[:, 9] + X[:, 5] - 2 * X[:, 7] + 0.1 * rng.standard_normal(100)
        assert 9 not in sw.SparseRegressor(3).fit(X, y).support_
