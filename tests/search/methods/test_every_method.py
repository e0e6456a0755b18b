"""What holds for every method, whatever it does: those that are registered later are tested here, too."""

import warnings
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.objectives.base import SparseObjective
from swapwise.search.plan import resolve
from tests.search.methods.problems import (
    BEYOND,
    EVERY_CONSTRAINT,
    EVERY_MATROID,
    OBJECTIVES,
    Countdown,
    degenerate,
    family_of,
    problem,
)
from tests.search.test_record import check_record, check_watched, moves_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* chosen columns (only|span)"),
    pytest.mark.filterwarnings("ignore:.*allows only the empty set"),
]

NAMES = tuple(sw.methods.METHODS)
STARTS = tuple(name for name in NAMES if name != "exhaustive")
PLAIN = sw.Linear([1.0, 3.0, 2.0])


def fits(name, objective, constraint):
    return sw.methods.METHODS[name]().missing(objective, constraint) is None


def check(result, f, system):
    """The answer is an independent set with what is forced in, of the value it says, and none too good."""
    assert system.is_independent(result.support)
    assert system.is_complete(result.support)
    assert np.isin(system.forced, result.support).all()
    assert result.value == pytest.approx(f(result.support), rel=1e-9, abs=1e-9)
    assert result.value <= max(f(S) for S in family_of(system).sets) + 1e-9
    check_record(result, f, system.forced)


@pytest.mark.parametrize("constraint", EVERY_CONSTRAINT)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3)
@given(st.integers(0, 10**6))
def test_under_every_constraint(name, constraint, seed):
    if name == "frank-wolfe":  # which takes seconds beyond matroids
        seed %= 2
    check_under(name, constraint, seed)


@lru_cache(maxsize=1000)
def check_under(name, constraint, seed):
    f, system = problem(seed, "least squares", constraint)
    if not fits(name, f, system):
        with pytest.raises(TypeError, match=f"{name} needs"):
            sw.maximize(f, system, name)
        return
    result = check_watched(lambda **options: sw.maximize(f, system, name, **options))
    check(result, f, system)
    assert moves_of(sw.maximize(f, system, name)) == moves_of(result)
    assert result.method.removesuffix(", completion") == name


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=3)
@given(st.integers(0, 10**6), st.sampled_from([*EVERY_MATROID, *BEYOND]))
def test_of_every_objective_with_forced_elements(name, objective, seed, constraint):
    f, system = problem(seed, objective, constraint, force=True)
    if fits(name, f, system):
        check(sw.maximize(f, system, name), f, system)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from(EVERY_MATROID))
def test_of_degenerate_data(name, seed, constraint):
    rng = np.random.default_rng(seed)
    f = sw.LeastSquares(*degenerate(rng))
    system = EVERY_CONSTRAINT[constraint](rng, f.n)
    if fits(name, f, system):
        check(sw.maximize(f, system, name), f, system)


@pytest.mark.parametrize("name", STARTS)
@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from(list(EVERY_CONSTRAINT)))
def test_as_a_start(name, seed, constraint):
    f, system = problem(seed % 3 if name == "frank-wolfe" else seed, "least squares", constraint)
    if not fits(name, f, system):
        return
    alone, further = sw.maximize(f, system, name), sw.maximize(f, system, "oblivious", start=name)
    assert [run.name for run in further.strategies[:2]] == [name, "oblivious"]
    own = [move for move in moves_of(alone) if move[-1] != "completion"]
    assert moves_of(further)[: len(own)] == own
    assert further.value >= alone.value - 1e-9
    check(further, f, system)


@pytest.mark.parametrize("name", NAMES)
def test_limits(name):
    f, system = problem(5, "least squares", "partition")
    if not fits(name, f, system):
        return
    ended = sw.maximize(f, system, name, time_limit=0.0)
    assert ended.status is sw.Status.TIME_LIMIT
    assert ended.support.tolist() == []
    whole = sw.maximize(f, system, name)
    for most in range(len(whole.history) + 1):
        limited = sw.maximize(f, system, name, max_iter=most)
        assert len(limited.history) <= most
        check(limited, f, system)
    stopped = sw.maximize(f, system, name, callback=lambda event: True)
    assert stopped.status is sw.Status.INTERRUPTED
    assert moves_of(stopped) == moves_of(whole)[: len(stopped.history)]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from(["uniform", "partition", "intersection"]))
def test_out_of_time_at_any_moment(name, seed, constraint):
    f, system = problem(seed, "logistic", constraint)
    if not fits(name, f, system):
        return
    plan = resolve(f, system, name)
    for looks in range(25):
        ended = plan.search(f, system, None, Countdown(looks))
        check(ended, f, system)
        if ended.status is not sw.Status.TIME_LIMIT:
            break


#: Said where a search stands that adds elements, whether it ends there or not
USUAL_WARNING = "chosen columns span all"


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(EVERY_MATROID))
def test_warnings_are_about_the_answer(name, seed, constraint):
    rng = np.random.default_rng(seed)
    X, y = degenerate(rng)
    system = EVERY_CONSTRAINT[constraint](rng, X.shape[1])
    if not fits(name, sw.LeastSquares(X, y), system):
        return
    result, messages = heard(lambda: sw.maximize(sw.LeastSquares(X, y), system, name))
    _, deserved = heard(lambda: sw.LeastSquares(X, y)(result.support))
    assert deserved or not {message for message in messages if USUAL_WARNING not in message}


def heard(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = call()
    return answer, {str(warning.message) for warning in caught}


@pytest.mark.parametrize("name", ["iht", "htp", "clash", "frank-wolfe"])
def test_the_first_projection_is_kept(name):
    f, system = problem(5, "least squares", "intersection")
    ended = resolve(f, system, name).search(f, system, None, Countdown(1))
    assert ended.status is sw.Status.TIME_LIMIT
    assert ended.value > 0
    check(ended, f, system)


def test_modular_holds_what_is_forced_in():
    f, by_label = sw.Linear([0.0, 2.0, 1.0, 3.0]), sw.Partition([0, 0, 0, 1], 2).contract([0])
    other = sw.Partition([0, 1, 1, 2], 1).contract([0])
    for parts in (
        [by_label],
        [by_label, other],
        [by_label, other, sw.Graphic([(0, i) for i in range(1, 5)])],
    ):
        for neighbourhood in ("matroid", "auto"):
            system = sw.Intersection(*parts, neighbourhood=neighbourhood)
            assert system.is_independent(system.max_weight([0.0, 2.0, 1.0, 3.0]).support)
            result = sw.maximize(f, system, "modular")
            check(result, f, system)
            assert result.support.tolist() == [0, 1, 3]


class Nearest(SparseObjective):
    """The nearest point to a target."""

    def __init__(self, target):
        self.target, self.n = target, len(target)

    def _fit(self, support):
        return float(self.target[support] @ self.target[support]) / 2, self.target[support]

    def value_at(self, coef):
        return float(self.target @ coef - coef @ coef / 2)

    def gradient_at(self, coef):
        return self.target - coef


NOTHING = {
    "no elements": sw.Uniform(0, 0),
    "capacity 0": sw.Uniform(3, 0),
    "all loops": sw.Partition([0, 0, 0], {0: 0}),
    "self-loops": sw.Graphic([(0, 0), (1, 1), (2, 2)]),
}


@pytest.mark.parametrize("case", NOTHING)
@pytest.mark.parametrize("name", NAMES)
def test_where_there_is_nothing_to_choose(name, case):
    f, system = Nearest(np.arange(1.0, 1.0 + NOTHING[case].n)), NOTHING[case]
    if not fits(name, f, system):
        return
    result = sw.maximize(f, system, name)
    assert result.support.tolist() == []
    assert result.value == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_plain_set_functions_are_served_or_refused_by_name(name):
    system = sw.Uniform(3, 2)
    if fits(name, PLAIN, system):
        assert len(sw.maximize(PLAIN, system, name).support) == 2
        return
    with pytest.raises(TypeError, match=f"{name} needs .*Methods that work here: .*oblivious.*greedy"):
        sw.maximize(PLAIN, system, name)
