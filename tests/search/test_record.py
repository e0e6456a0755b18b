"""The record of a search: every move from the start to the answer, whichever strategy made it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.moves import Move
from swapwise.search.plan import resolve

LEAVING = ("perturbation", "restart", "backward")


def check_record(result, objective, begin=()):
    """The moves lead from the beginning to the answer, through sets that have the values on record."""
    support, value = np.array(begin, dtype=np.intp), objective(begin)
    for number, event in enumerate(result.history, 1):
        assert event.n_iter == number
        support = Move(event.added, event.dropped).result(support)
        assert event.support.tolist() == support.tolist()
        assert event.value == pytest.approx(objective(support), rel=1e-8, abs=1e-9)
        assert event.value >= value - 1e-9 or event.strategy in LEAVING
        assert 0 <= event.seconds <= result.seconds
        value = event.value
    assert support.tolist() == result.support.tolist()
    assert value == pytest.approx(result.value, rel=1e-8, abs=1e-9)
    assert result.n_iter == len(result.history)
    assert sum(run.n_moves for run in result.strategies) == len(result.history)
    assert result.method == ", ".join(dict.fromkeys(run.name for run in result.strategies))


def moves_of(result):
    return [(event.added, event.dropped, event.value, event.strategy) for event in result.history]


def check_watched(search):
    """A callback changes nothing: same moves, same number of evaluations; and it hears of every move."""
    heard = []
    alone, watched = search(), search(callback=heard.append)
    assert moves_of(alone) == moves_of(watched)
    assert alone.n_evaluations == watched.n_evaluations
    assert [event.n_iter for event in heard] == list(range(1, len(watched.history) + 1))
    return alone


def regression(n, seed=0, samples=150):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((samples, n)) + 0.7 * rng.standard_normal((samples, 1))
    y = X[:, :: max(1, n // 12)] @ rng.standard_normal(len(range(0, n, max(1, n // 12))))
    return X, y + 0.5 * rng.standard_normal(samples)


def two_partitions(n, seed=0):
    rng = np.random.default_rng(seed)
    return sw.Intersection(sw.Partition(np.arange(n) % 12, 1), sw.Partition(rng.integers(0, 15, n), 1))


CONSTRAINTS = {
    "uniform": lambda n: sw.Uniform(n, 8),
    "partition": lambda n: sw.Partition(np.arange(n) % 10, 1),
    "forced": lambda n: sw.Partition(np.arange(n) % 10, 1).contract([3, 7]),
    "intersection": two_partitions,
    "packing": lambda n: sw.SetPacking([{j % 9, 100 + j % 7} for j in range(n)]),
    "oracle": lambda n: sw.OracleMatroid(n, lambda support: len(support) <= 6),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("n", [60, 500])
def test_the_default_search_of_least_squares_is_on_the_record(name, n):
    X, y = regression(n)
    objective, constraint = sw.LeastSquares(X, y), CONSTRAINTS[name](n)
    result = check_watched(lambda **options: sw.maximize(sw.LeastSquares(X, y), constraint, **options))
    check_record(result, objective, constraint.forced)
    assert result.history
    assert result.begin.tolist() == constraint.forced.tolist()
    assert result.status is sw.Status.LOCAL_OPTIMUM


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_working_sets_serve_every_constraint(name):
    X, y = regression(500)
    objective, constraint = sw.LeastSquares(X, y), CONSTRAINTS[name](500)

    def search(**options):
        return sw.maximize(sw.LeastSquares(X, y), constraint, start="model", **options)

    result = check_watched(search)
    check_record(result, objective, constraint.forced)
    is_laminar = constraint.laminar_tree() is not None
    first = "exploration" if is_laminar else "working sets"
    assert [run.name for run in result.strategies] == [first, "oblivious"]
    assert result.strategies[0].n_moves > (0 if is_laminar else 3)
    by_moves = sw.maximize(objective, constraint, start="model", max_iter=10**6)
    assert by_moves.strategies[0].name == "working sets"
    assert by_moves.strategies[0].n_moves > 3


def test_the_default_depends_on_what_is_fastest():
    def strategies(n, constraint):
        plan = resolve(sw.LeastSquares(np.ones((2, n)), [1.0, 2.0]), constraint)
        return plan.start

    assert strategies(200, sw.Uniform(200, 3)) == "empty"
    assert strategies(201, sw.Uniform(201, 3)) == "model"
    assert strategies(200, two_partitions(200)) == "empty"
    assert strategies(201, two_partitions(201)) == "model"
    path = [(vertex, vertex + 1) for vertex in range(2001)]
    assert strategies(201, sw.Intersection(sw.Graphic(path[:201]), sw.Uniform(201, 3))) == "model"
    assert strategies(201, sw.Graphic(path[:201])) == "empty"
    assert strategies(2001, sw.Graphic(path)) == "model"


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_model_rounds_serve_every_constraint(name):
    X, y = regression(120)
    constraint = CONSTRAINTS[name](120)

    def search(**options):
        return sw.maximize(sw.Logistic(X, y > 0, ridge=0.01), constraint, **options)

    result = check_watched(search)
    check_record(result, sw.Logistic(X, y > 0, ridge=0.01), constraint.forced)
    assert result.strategies[0].name == "model rounds"
    assert result.strategies[0].n_moves > 0


STARTS = ["auto", "empty", "arbitrary", "greedy", "modular", "best-singleton", "relaxation", "model"]


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("method", ["oblivious", "semi-oblivious", "non-oblivious"])
def test_every_start_is_on_the_record(start, method):
    X, y = regression(40)
    objective, constraint = sw.LeastSquares(X, y, ridge=0.1), sw.Partition(np.arange(40) % 8, 1)

    def search(**options):
        return sw.maximize(sw.LeastSquares(X, y, ridge=0.1), constraint, method, start=start, **options)

    check_record(check_watched(search), objective)


@pytest.mark.parametrize("method", ["greedy", "random-residual-greedy", "modular", "random", "exhaustive"])
def test_other_methods_are_on_the_record(method):
    X, y = regression(12)
    objective, constraint = sw.LeastSquares(X, y), sw.Uniform(12, 4)
    result = check_watched(lambda **options: sw.maximize(objective, constraint, method, **options))
    check_record(result, objective)
    assert result.method == method


def test_perturbations_leave_a_local_optimum_for_a_better_one():
    left = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 300))
        objective = sw.LeastSquares(X, X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(60))
        result = sw.maximize(objective, sw.Uniform(300, 10))
        check_record(result, objective)
        values = [event.value for event in result.history]
        for place, event in enumerate(result.history):
            if event.strategy == "perturbation":
                left += 1
                assert event.value > values[place - 1]
    assert left > 0


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 60))
@example(4, 14)
@example(11, 16)
@example(36, 13)
def test_a_callback_may_stop_at_any_move(seed, most):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 300))
    y = X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(60)
    objective, constraint = sw.LeastSquares(X, y), sw.Uniform(300, 10)
    whole = sw.maximize(objective, constraint)
    stopped = sw.maximize(objective, constraint, callback=lambda event: event.n_iter == most)
    check_record(stopped, objective)
    if most > len(whole.history):
        assert moves_of(stopped) == moves_of(whole)
        return
    assert stopped.status is sw.Status.INTERRUPTED
    assert moves_of(stopped) == moves_of(whole)[: len(stopped.history)]
    # In the middle of a perturbation it goes back to the better set before, as it does after an interrupt.
    heard = whole.history[:most]
    leaps = [place for place, event in enumerate(heard) if event.strategy == "perturbation"]
    before = [heard[place - 1].value for place in leaps]
    assert stopped.value >= max([heard[-1].value, *before]) - 1e-9

    def interrupt(event):
        if event.n_iter == most:
            raise KeyboardInterrupt

    interrupted = sw.maximize(objective, constraint, callback=interrupt)
    assert interrupted.support.tolist() == stopped.support.tolist()
    assert interrupted.status is sw.Status.INTERRUPTED


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(0, 30))
def test_a_limit_on_moves_holds_for_working_sets(seed, most):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 300))
    objective = sw.LeastSquares(X, X[:, :20] @ rng.standard_normal(20) + rng.standard_normal(60))
    whole = sw.maximize(objective, sw.Uniform(300, 10), max_iter=10**6)
    result = sw.maximize(objective, sw.Uniform(300, 10), max_iter=most)
    check_record(result, objective)
    assert len(result.history) <= most
    made, expected = ([event[:2] for event in moves_of(each)] for each in (result, whole))
    assert made == expected[: len(made)]
    # A perturbation that would not fit in is not begun, and the limit is named.
    assert result.status is (sw.Status.ITERATION_LIMIT if most <= len(expected) else whole.status)


def test_a_compiled_call_shares_its_time_and_says_so():
    X, y = regression(500)
    result = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(500, 8), max_iter=10**6)
    together = [event for event in result.history if event.n_together > 1]
    assert together
    for event in together:
        shared = [other for other in result.history if other.seconds == event.seconds]
        assert len(shared) == event.n_together


def test_the_frame_holds_what_the_record_does():
    X, y = regression(500)
    result = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(500, 8))
    frame = result.to_frame()
    assert frame["strategy"].tolist() == [event.strategy for event in result.history]
    assert frame["value"].tolist() == [event.value for event in result.history]


def test_the_plain_call_is_as_good_as_the_estimator():
    X, y = regression(800)
    X, y = X - X.mean(axis=0), y - y.mean()
    result = sw.maximize(sw.LeastSquares(X, y), sw.Uniform(800, 8))
    fitted = sw.SparseRegressor(8, standardize=False).fit(X, y)
    assert result.support.tolist() == fitted.support_.tolist()
    assert [event.added for event in result.history] == [event.added for event in fitted.result_.history]
