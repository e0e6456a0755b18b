"""The entry point: what it refuses, how it stops, what it returns."""

import signal
import time
import warnings

import numpy as np
import pytest

import swapwise as sw
from swapwise.objectives.base import SparseObjective

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 12))
Y = X[:, :5] @ RNG.standard_normal(5) + RNG.standard_normal(30)
LABELS = np.arange(12) % 3


@pytest.fixture
def regression():
    return sw.LeastSquares(X, Y)


@pytest.fixture
def coverage():
    return sw.Coverage([{1, 2, 3}, {3, 4}, {5}, {1, 5, 6}])


class Unsmooth(SparseObjective):
    """Least squares that says nothing of its smoothness and has no fast gains."""

    def __init__(self):
        self.inner = sw.LeastSquares(X, Y)
        self.n = self.inner.n

    def _fit(self, support):
        return self.inner._fit(support)

    def value_at(self, coef):
        return self.inner.value_at(coef)

    def gradient_at(self, coef):
        return self.inner.gradient_at(coef)


class Boastful(Unsmooth):
    """The same, but claims to be far smoother than it is."""

    def smoothness(self, t):
        return 1e-6


# -- what is refused ------------------------------------------------------------------------------


def test_different_ground_sets(regression):
    with pytest.raises(ValueError, match=r"same ground set.*n = 12 .*n = 11"):
        sw.maximize(regression, sw.Uniform(11, 3))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "simplex"}, ValueError, "method must be .*oblivious.*got 'simplex'"),
        ({"method": sw.Oblivious}, TypeError, r"call it: Oblivious\(\)"),
        ({"method": 3}, TypeError, "method must be a name, a pivot rule such as .* or a method such as"),
        ({"start": "middle"}, ValueError, "start must be .*greedy.*got 'middle'"),
        ({"start": [0, 3]}, ValueError, r"start must be independent, but \[0, 3\] is not allowed"),
        ({"start": [0, 0]}, ValueError, "start must hold every element once"),
        ({"start": [99]}, ValueError, "start must hold integers from 0 to 11 .*got 99"),
        ({"start": [0.5]}, TypeError, "start must be a flat collection of integers"),
        ({"q": 2}, ValueError, "one-for-one swaps, q = 1; got q = 2"),
        ({"q": 0}, ValueError, "q must be at least 1"),
        ({"max_iter": -1}, ValueError, "max_iter must be a non-negative integer, got -1"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be a non-negative integer, got 2.5"),
        ({"tol": -1}, ValueError, "tol must be a non-negative number"),
        ({"epsilon": 0}, ValueError, "epsilon must be a positive number, got 0"),
        ({"time_limit": "soon"}, TypeError, "time_limit must be a non-negative number, got 'soon'"),
        ({"random_state": "dice"}, TypeError, "random_state must be a non-negative integer"),
        ({"callback": 7}, TypeError, "callback must be callable, got 7"),
        ({"method": "greedy", "q": 2}, ValueError, "q is an option of local search; greedy"),
        ({"method": "greedy", "epsilon": 0.1}, ValueError, "epsilon is an option of local search; greedy"),
        ({"method": "modular", "start": "greedy"}, ValueError, "start is an option of local search; modular"),
        ({"method": "random", "start": [1]}, ValueError, "start is an option of local search; random"),
    ],
)
def test_bad_options(regression, options, error, message):
    with pytest.raises(error, match=message):
        sw.maximize(regression, sw.Partition(LABELS, 1), **options)


def test_wrong_kinds_of_arguments(regression):
    with pytest.raises(TypeError, match="start must be a flat collection of integers from 0 to 11, got 5"):
        sw.maximize(regression, sw.Uniform(12, 3), start=5)
    with pytest.raises(TypeError, match=r"for a mask, use np.flatnonzero"):
        sw.maximize(regression, sw.Uniform(12, 3), start=np.ones(12, dtype=bool))
    with pytest.raises(TypeError, match=r"sw.Intersection"):
        sw.maximize(regression, [sw.Uniform(12, 3), sw.Uniform(12, 2)])
    with pytest.raises(TypeError, match=r"did you mean sw.Uniform\(12, 5\)"):
        sw.maximize(regression, 5)
    with pytest.raises(TypeError, match=r"wrap a function in sw.CustomSetFunction"):
        sw.maximize(len, sw.Uniform(3, 1))
    with pytest.raises(TypeError, match="objective must be a SetFunction"):
        sw.maximize(X, sw.Uniform(3, 1))


@pytest.mark.parametrize("method", ["semi-oblivious", "non-oblivious"])
def test_a_rule_that_needs_coefficients_says_what_is_missing_and_what_works(coverage, method):
    expected = (
        f"{method} rule needs what Coverage lacks: coefficients.*Methods that work here: oblivious, greedy"
    )
    with pytest.raises(TypeError, match=expected):
        sw.maximize(coverage, sw.Uniform(4, 2), method)


def test_a_rule_that_needs_smoothness_says_so():
    with pytest.raises(TypeError, match=r"a smoothness constant.*oblivious, semi-oblivious, greedy"):
        sw.maximize(Unsmooth(), sw.Uniform(12, 3), "non-oblivious")
    assert sw.maximize(Unsmooth(), sw.Uniform(12, 3), sw.NonOblivious(smoothness=10.0)).value > 0


@pytest.mark.parametrize("smoothness", ["local", 0, -1.0, np.nan])
def test_bad_smoothness(smoothness):
    with pytest.raises(ValueError, match="smoothness must be"):
        sw.NonOblivious(smoothness)


def test_a_start_on_a_loop_names_it(regression):
    constraint = sw.Partition(LABELS, {0: 1, 1: 0, 2: 1})
    with pytest.raises(ValueError, match="element 1 is a loop: it can never be chosen"):
        sw.maximize(regression, constraint, start=[1])


def test_exhaustive_search_declines_large_families(regression):
    objective = sw.LeastSquares(RNG.standard_normal((5, 60)), RNG.standard_normal(5))
    with pytest.raises(ValueError, match="exhaustive search is for at most 1,000,000"):
        sw.maximize(objective, sw.Uniform(60, 10), "exhaustive")
    with pytest.raises(ValueError, match="exhaustive search is for at most 1,000,000"):
        sw.maximize(sw.Linear(np.ones(3000)), sw.Partition(np.arange(3000) // 2, 1), "exhaustive")
    few = sw.Uniform(40, 20).contract(range(18))  # 231 bases
    assert sw.maximize(sw.Linear(np.arange(40.0)), few, "exhaustive").support[-2:].tolist() == [38, 39]


# -- how it stops ---------------------------------------------------------------------------------


def test_iteration_limit(regression):
    result = sw.maximize(regression, sw.Uniform(12, 5), max_iter=2)
    assert (result.status, result.n_iter, len(result.support)) == (sw.Status.ITERATION_LIMIT, 2, 2)
    assert sw.maximize(regression, sw.Uniform(12, 5), max_iter=0).n_iter == 0


def test_time_limit_stops_within_a_round_of_slow_values():
    def slow(chosen):
        time.sleep(0.002)
        return float(len(chosen))

    result = sw.maximize(sw.CustomSetFunction(slow, 400), sw.Uniform(400, 200), time_limit=0.2)
    assert result.status == sw.Status.TIME_LIMIT
    assert len(result.support) == result.n_iter == 1  # a round takes 0.8 s; the best of the first part


@pytest.mark.parametrize("method", ["oblivious", "greedy", "modular", "random-residual-greedy"])
def test_what_a_cut_round_has_found_is_kept(method):
    def slow(chosen):
        time.sleep(0.01)
        return float(len(chosen))

    result = sw.maximize(sw.CustomSetFunction(slow, 100), sw.Uniform(100, 5), method, time_limit=0.2)
    assert result.status == sw.Status.TIME_LIMIT
    assert len(result.support) == 1


def test_the_clock_is_looked_at_after_every_slow_value():
    calls = []

    def slow(chosen):
        calls.append(1)
        time.sleep(0.1)
        return float(len(chosen))

    sw.maximize(sw.CustomSetFunction(slow, 50), sw.Uniform(50, 5), time_limit=0.35)
    assert len(calls) < 10


def test_a_random_objective_is_called_that():
    values = iter([0.0, 0.0, 5.0, 4.0, 3.0, -1.0, *[0.0] * 99])
    with pytest.warns(UserWarning, match="two values for the same set"):
        sw.maximize(sw.CustomSetFunction(lambda chosen: next(values), 3), sw.Uniform(3, 2))


def test_exhaustive_search_of_a_function_that_may_fall_looks_at_all_sets():
    objective = sw.CustomSetFunction(lambda chosen: 5 * len(chosen) - len(chosen) ** 2, 8)
    assert sw.maximize(objective, sw.Uniform(8, 5), "exhaustive").value == 6


def test_callbacks_cannot_spoil_the_search(regression):
    def spoil(event):
        event.support[:] = 0

    spoilt = sw.maximize(regression, sw.Uniform(12, 3), callback=spoil)
    assert spoilt.support.tolist() == sw.maximize(regression, sw.Uniform(12, 3)).support.tolist()


def test_warnings_point_at_the_line_of_the_user():
    with pytest.warns(UserWarning, match="not monotone") as caught:
        sw.maximize(sw.CustomSetFunction(lambda chosen: -len(chosen), 3), sw.Uniform(3, 2))
    assert caught[0].filename == __file__


def test_time_limit_in_the_start_returns_what_there_is(coverage):
    result = sw.maximize(coverage, sw.Uniform(4, 2), start="greedy", time_limit=0)
    assert result.status == sw.Status.TIME_LIMIT
    assert len(result.support) == 0


@pytest.mark.parametrize("stop", ["return", "numpy", "raise"])
def test_a_callback_may_stop_the_search(regression, stop):
    seen = []

    def callback(event):
        seen.append(event)
        if event.n_iter == 3:
            if stop == "raise":
                raise StopIteration
            return np.True_ if stop == "numpy" else True
        return None

    result = sw.maximize(regression, sw.Uniform(12, 5), callback=callback)
    assert result.status == sw.Status.INTERRUPTED
    assert [event.n_iter for event in seen] == [1, 2, 3]
    assert result.support.tolist() == seen[-1].support.tolist()
    assert result.value == pytest.approx(seen[-1].value)


def test_a_callback_that_returns_a_number_does_not_stop(regression):
    assert sw.maximize(regression, sw.Uniform(12, 5), callback=lambda event: 1).status == "LOCAL_OPTIMUM"


@pytest.mark.parametrize("start", ["empty", "greedy"])
def test_a_keyboard_interrupt_gives_the_best_so_far(start):
    calls = []

    def value(chosen):
        calls.append(1)
        if len(calls) == 60:
            signal.raise_signal(signal.SIGINT)
        return float(np.sqrt(len(chosen)))

    result = sw.maximize(sw.CustomSetFunction(value, 20), sw.Uniform(20, 10), start=start)
    assert result.status == sw.Status.INTERRUPTED
    # The third round was cut short, but what it had found by then is not lost.
    assert len(result.support) == 3
    assert result.value == pytest.approx(np.sqrt(3))


def test_a_move_that_does_not_keep_its_promise_is_taken_back():
    with pytest.warns(UserWarning, match="smoothness constant is too small"):
        result = sw.maximize(Boastful(), sw.Uniform(12, 3), "non-oblivious", start="arbitrary")
    assert result.value >= Boastful()([0, 1, 2]) - 1e-12
    assert result.status == sw.Status.INTERRUPTED


def test_other_methods_end_complete(regression):
    for method in ("greedy", "random-residual-greedy", "modular", "random", "exhaustive"):
        assert sw.maximize(regression, sw.Partition(LABELS, 1), method).status == sw.Status.COMPLETE


# -- what it returns ------------------------------------------------------------------------------


def test_the_result_is_what_it_says(regression):
    result = sw.maximize(regression, sw.Partition(LABELS, 2))
    assert result.value == regression(result.support)
    np.testing.assert_array_equal(np.flatnonzero(result.coef), result.support)
    assert np.all(np.diff(result.support) > 0)
    assert result.method == "oblivious, exploration"
    assert result.seconds > 0
    assert result.n_evaluations > result.n_iter == len(result.history)
    frame = result.to_frame()
    assert list(frame.columns) == ["added", "dropped", "value", "seconds", "strategy", "n_together"]
    assert frame["value"].is_monotonic_increasing
    assert frame["seconds"].is_monotonic_increasing
    assert "LOCAL_OPTIMUM" in repr(result)


def test_plain_set_functions_have_no_coefficients(coverage):
    assert sw.maximize(coverage, sw.Uniform(4, 2)).coef is None


def test_an_empty_history_is_an_empty_frame(regression):
    assert sw.maximize(regression, sw.Uniform(12, 3), max_iter=0).to_frame().shape == (0, 6)


@pytest.mark.parametrize("method", ["random-residual-greedy", "random", "oblivious"])
def test_the_same_call_gives_the_same_answer(regression, method):
    constraint = sw.Partition(LABELS, 2)
    first, second = (sw.maximize(regression, constraint, method) for _ in range(2))
    assert first.support.tolist() == second.support.tolist()


def test_random_states_matter(regression):
    constraint = sw.Partition(LABELS, 2)
    sets = {tuple(sw.maximize(regression, constraint, "random", random_state=s).support) for s in range(9)}
    assert len(sets) > 1


def test_random_residual_greedy_draws_from_the_heaviest_rest():
    objective, constraint = sw.Linear([5.0, 1.0, 4.0, 2.0]), sw.Partition([0, 0, 1, 1], 1)
    for seed in range(10):
        result = sw.maximize(objective, constraint, "random-residual-greedy", random_state=seed)
        assert result.support.tolist() == [0, 2]  # a linear function leaves no choice but the order
    firsts = {
        sw.maximize(objective, constraint, "random-residual-greedy", random_state=s).history[0].added
        for s in range(20)
    }
    assert firsts == {(0,), (2,)}


def test_auto_is_oblivious_where_gains_are_in_closed_form(regression, coverage):
    assert sw.maximize(regression, sw.Uniform(12, 3)).method == "oblivious, exploration"
    assert sw.maximize(regression, sw.Uniform(12, 3), "oblivious").method == "oblivious"
    assert sw.maximize(coverage, sw.Uniform(4, 2)).method == "oblivious"
    assert sw.maximize(Unsmooth(), sw.Uniform(12, 3)).method == "semi-oblivious"


@pytest.mark.parametrize("start", ["empty", "arbitrary", "greedy", "modular", "best-singleton", [0, 1, 2]])
def test_all_starts_lead_to_local_optima(regression, start):
    result = sw.maximize(regression, sw.Partition(LABELS, 2), start=start)
    again = sw.maximize(regression, sw.Partition(LABELS, 2), start=result.support)
    assert again.n_iter == 0
    assert again.support.tolist() == result.support.tolist()


def test_a_result_is_a_start(regression):
    first = sw.maximize(regression, sw.Uniform(12, 3), max_iter=2)
    again = sw.maximize(regression, sw.Uniform(12, 3), start=first, max_iter=0)
    assert again.support.tolist() == first.support.tolist()


def test_no_time_limit_is_infinite(regression):
    assert sw.maximize(regression, sw.Uniform(12, 3), time_limit=np.inf).status == "LOCAL_OPTIMUM"


def test_a_greedy_start_is_where_greedy_ends(regression):
    constraint = sw.Partition(LABELS, 2)
    greedy = sw.maximize(regression, constraint, "greedy")
    begun = sw.maximize(regression, constraint, start="greedy", max_iter=0)
    assert begun.support.tolist() == greedy.support.tolist()
    assert {event.strategy for event in begun.history} == {"greedy"}
    assert begun.status == sw.Status.ITERATION_LIMIT


@pytest.mark.parametrize(
    "method", ["oblivious", "greedy", "random-residual-greedy", "modular", "random", "exhaustive"]
)
def test_forced_elements_are_in_every_answer(regression, method):
    constraint = sw.Partition(LABELS, 2).contract([4, 11])
    result = sw.maximize(regression, constraint, method)
    assert {4, 11} <= set(result.support.tolist())
    assert sw.Partition(LABELS, 2).is_independent(result.support)


def test_elements_forced_out_are_in_no_answer(regression):
    result = sw.maximize(regression, sw.Uniform(12, 4).restrict(range(6, 12)))
    assert result.support.min() >= 6


@pytest.mark.parametrize("method", ["oblivious", "greedy", "random-residual-greedy", "modular", "exhaustive"])
def test_an_empty_ground_set_has_an_empty_answer(method):
    result = sw.maximize(sw.Linear([]), sw.Uniform(0, 0), method)
    assert (len(result.support), result.value) == (0, 0.0)


def test_a_constraint_of_loops_warns():
    with pytest.warns(UserWarning, match="only the empty set"):
        result = sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 0))
    assert len(result.support) == 0


def test_progress_shows_a_bar(regression, capsys):
    result = sw.maximize(regression, sw.Uniform(12, 5), progress=True, max_iter=4)
    shown = capsys.readouterr()
    assert "oblivious" in shown.err
    assert "moves: 4" in shown.err
    assert shown.out == ""
    assert result.n_iter == 4


def test_nothing_is_printed_or_warned_by_default(regression, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.maximize(regression, sw.Partition(LABELS, 2))
    assert capsys.readouterr() == ("", "")


def test_exact_is_a_function_of_its_own():
    with pytest.raises(ValueError, match=r"sw\.exact\(objective, constraint\)"):
        sw.maximize(sw.Linear([1.0]), sw.Uniform(1, 1), "exact")


def test_a_method_may_be_given_as_an_object_and_as_a_start():
    objective, constraint = sw.LeastSquares(np.eye(3), [1.0, 3.0, 2.0]), sw.Uniform(3, 2)
    by_name = sw.maximize(objective, constraint, "htp")
    as_object = sw.maximize(objective, constraint, sw.methods.HardThresholdingPursuit())
    assert by_name.support.tolist() == as_object.support.tolist() == [1, 2]
    for start in ("htp", sw.methods.HardThresholdingPursuit(step=0.3)):
        result = sw.maximize(objective, constraint, "oblivious", start=start)
        assert [run.name for run in result.strategies] == ["htp", "oblivious"]


@pytest.mark.parametrize("option", ["method", "start"])
def test_a_method_that_lacks_something_names_those_that_work(option):
    message = r"htp needs coefficients and gradients.*work here: oblivious, greedy"
    with pytest.raises(TypeError, match=message):
        sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1), **{option: "htp"})


@pytest.mark.parametrize("option", ["method", "start"])
def test_a_class_is_not_a_method(option):
    with pytest.raises(TypeError, match=r"call it: Greedy\(\)"):
        sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1), **{option: sw.methods.Greedy})


def test_a_name_that_is_nearly_right_is_suggested():
    with pytest.raises(ValueError, match="did you mean 'frank-wolfe'"):
        sw.maximize(sw.Linear([1.0, 2.0]), sw.Uniform(2, 1), "frank-wolf")
