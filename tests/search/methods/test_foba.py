"""Forward-backward selection beside its plain version; its steps back are on the record."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.reference import neighbours
from swapwise.objectives.base import State
from swapwise.search.plan import resolve
from tests.search.methods.problems import (
    CONSTRAINTS,
    MATROIDS,
    OBJECTIVES,
    Countdown,
    Plain,
    degenerate,
    family_of,
    problem,
)
from tests.search.test_record import check_record, moves_of

pytestmark = pytest.mark.filterwarnings("ignore:.* chosen columns (only|span)")

OPTIONS = [{}, {"nu": 0.9}, {"nu": 0.0}, {"forward": "gradient"}]


class Careless(State):
    """A state that takes every drop to cost nothing."""

    def gains(self, moves):
        return super().gains(moves) * (moves.n_added > 0)


def test_it_ends_where_scores_are_wrong(monkeypatch):
    f, system = sw.CustomSetFunction(lambda chosen: float(len(chosen)), 4), sw.Uniform(4, 3)
    monkeypatch.setattr(f, "start", lambda support=(): Careless(f, np.array(support, dtype=np.intp)))
    result = sw.maximize(f, system, "foba", time_limit=5.0)
    assert result.status is sw.Status.COMPLETE
    assert result.value == 3.0


@pytest.mark.parametrize("constraint", CONSTRAINTS)
@pytest.mark.parametrize("objective", OBJECTIVES)
@settings(max_examples=8)
@given(st.integers(0, 10**6), st.sampled_from(OPTIONS))
def test_it_is_the_plain_version(objective, constraint, seed, options):
    f, system = problem(seed, objective, constraint)
    expected = neighbours.foba(Plain(f), family_of(system), **options)
    result = sw.maximize(f, system, sw.methods.ForwardBackward(**options))
    assert result.support.tolist() == list(expected)
    check_record(result, f)


@pytest.mark.parametrize("constraint", MATROIDS)
@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_forced_elements_and_ties(constraint, seed):
    rng = np.random.default_rng(seed)
    f = sw.LeastSquares(*degenerate(rng))
    system = CONSTRAINTS[constraint](rng, f.n)
    free = np.setdiff1d(np.arange(f.n), system.loops())
    for held in (system, system.contract([int(rng.choice(free))])):
        expected = neighbours.foba(Plain(f), family_of(held))
        result = sw.maximize(f, held, "foba")
        assert result.support.tolist() == list(expected)
        check_record(result, f, held.forced)


class AtMost:
    """All sets of at most k elements, for plain versions that ask for additions only."""

    forced = ()

    def __init__(self, n, k):
        self.n, self.k = n, k

    def additions(self, S):
        return [x for x in range(self.n) if x not in S and len(S) < self.k]


def unscaled(seed):
    """Columns of all scales: gradients lead to some that are soon taken back."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((25, 14)) + rng.standard_normal((25, 1))) * 10 ** rng.uniform(-1, 1, 14)
    y = X[:, :8] / np.linalg.norm(X[:, :8], axis=0) @ rng.standard_normal(8)
    return sw.LeastSquares(X, y + 0.2 * rng.standard_normal(25))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from([0.5, 0.9]))
@example(0, 0.9)  # ends on trial, below the best
@example(55, 0.9)
def test_runs_with_many_steps_back_are_the_plain_version(seed, nu):
    f = unscaled(seed)
    expected = neighbours.foba(Plain(f), AtMost(14, 6), nu, "gradient")
    result = sw.maximize(f, sw.Uniform(14, 6), sw.methods.ForwardBackward(nu, "gradient"))
    assert result.support.tolist() == list(expected)
    check_record(result, f)
    assert result.strategies[-1].value == pytest.approx(result.value)  # the state is where the record ends


@pytest.mark.parametrize("seed", range(6))
def test_out_of_time_on_trial_nothing_of_the_trial_is_made(seed):
    f, system = unscaled(seed), sw.Uniform(14, 4)
    plan, value = resolve(f, system, sw.methods.ForwardBackward(nu=0.95)), 0.0
    for looks in range(200):
        ended = plan.search(f, system, None, Countdown(looks))
        check_record(ended, f)
        assert ended.value >= value - 1e-9
        value = ended.value
        if ended.status is sw.Status.COMPLETE:
            return
    raise AssertionError("it does not end")


def steps_back(samples=40, n=60, count=60):
    """Return problems and results whose record has steps back."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((samples, n)) + rng.standard_normal((samples, 1))
        f = sw.LeastSquares(X, X[:, :8] @ rng.standard_normal(8) + rng.standard_normal(samples))
        result = sw.maximize(f, sw.Uniform(n, 10), sw.methods.ForwardBackward(nu=0.9))
        if any(event.strategy == "backward" for event in result.history):
            yield f, result


def test_steps_back_are_on_the_record_if_they_led_to_a_better_set():
    found = list(steps_back())
    assert len(found) > 10
    for f, result in found:
        check_record(result, f)
        best = 0.0
        for event in result.history:
            if event.strategy == "backward":
                assert event.value < best
                assert len(event.dropped) == 1
                assert not event.added
            best = max(best, event.value)
        assert result.value == pytest.approx(best)
        # It never ends below forward selection of as many.
        assert result.history[-1].strategy == "foba"


def test_a_limit_on_moves_or_a_callback_never_ends_in_the_middle_of_steps_back():
    f, whole = next(steps_back())
    method, system = sw.methods.ForwardBackward(nu=0.9), sw.Uniform(60, 10)
    values = [0.0, *(event.value for event in whole.history)]
    for most in range(len(whole.history) + 1):
        limited = sw.maximize(f, system, method, max_iter=most)
        check_record(limited, f)
        assert len(limited.history) <= most
        assert moves_of(limited) == moves_of(whole)[: len(limited.history)]
        assert limited.status is (
            sw.Status.ITERATION_LIMIT if most <= len(whole.history) else sw.Status.COMPLETE
        )
        if most:
            stopped = sw.maximize(f, system, method, callback=lambda event, n=most: event.n_iter == n)
            check_record(stopped, f)
            assert stopped.value >= max(values[: most + 1]) - 1e-9 or stopped.value >= limited.value - 1e-9


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["uniform", "graphic", "intersection"]))
def test_the_value_at_a_size_rises_at_every_step_back(seed, constraint):
    """The sequence of last values by size grows in lexicographic order: this is why it ends."""
    f, system = problem(seed, "least squares", constraint)
    method = sw.methods.ForwardBackward(nu=0.95).bound(f, system)
    state, last = f.start(), [0.0]
    for step in method._walk(state, sw.search.loop.Budget(), []):
        before = list(last)
        size = len(state.support)
        last = [*last[:size], step.value]
        assert last > before
        assert (step.strategy == "backward") == (size < len(before))


def test_plain_set_functions_are_served():
    f = sw.Coverage([{1, 2, 3, 4}, {1, 2, 5}, {3, 4, 6}, {7}])
    assert sw.maximize(f, sw.Uniform(4, 3), "foba").support.tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="foba needs coefficients and gradients"):
        sw.maximize(f, sw.Uniform(4, 3), sw.methods.ForwardBackward(forward="gradient"))


def test_steps_back_are_drawn(tmp_path):
    from swapwise.app.report.search_parts import moves_of as drawn
    from swapwise.app.report.search_parts import moves_parts

    _, result = next(steps_back())
    assert "backward" in {move.kind for move in drawn(result)}
    assert "At a backward step it took an element back" in moves_parts(result, str)[0].words
    sw.plot_history(result)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"nu": 1.0}, ValueError, "nu must be less than 1"),
        ({"nu": -0.1}, ValueError, "nu must be a non-negative number"),
        ({"nu": "half"}, TypeError, "nu must be"),
        ({"forward": "best"}, ValueError, "forward must be 'gain' or 'gradient'"),
    ],
)
def test_options_are_checked(options, error, words):
    with pytest.raises(error, match=words):
        sw.methods.ForwardBackward(**options)
