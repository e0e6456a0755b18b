"""Answers under lower limits: always complete, whatever ends the search, and worth what they say."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.certify.branching import BranchAndBound
from swapwise.clock import Clock
from swapwise.search.path import warm_path
from swapwise.search.plan import resolve
from swapwise.search.restarts import RestartProblem, restart
from tests.contracts.constraint_zoo import between, contracted, randoms, restricted
from tests.search.test_record import moves_of

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* chosen columns (only|span)"),
    pytest.mark.filterwarnings("ignore:.*allows only the empty set"),
    pytest.mark.filterwarnings("ignore:the function is not monotone"),
]


def degenerate(random, n):
    """Return an objective for which many elements add nothing: ties, zeros, copies, items covered already."""
    kind = random.integers(4)
    if kind == 0:
        return sw.Linear(random.choice([0.0, 0.0, 1.0, 2.0], n))
    if kind == 1:
        return sw.Coverage([random.integers(0, 4, random.integers(0, 3)).tolist() for _ in range(n)])
    X = random.choice([-1.0, 0.0, 1.0], (5, n)) * random.integers(0, 2, n)
    if kind == 2:
        return sw.LeastSquares(X, random.standard_normal(5))
    return sw.Logistic(X, [0, 1, 0, 1, 1], ridge=0.3)


def some_problem(random):
    specimen = between(random)
    while not specimen.matroid.n:
        specimen = between(random)
    for step in random.integers(2, size=random.integers(0, 3)):
        specimen = [contracted, restricted][step](random, specimen)
    return degenerate(random, specimen.matroid.n), specimen


def check(result, f, specimen):
    """The answer is complete, of its value, and what is said to be filled in is worth nothing."""
    support, constraint = frozenset(result.support.tolist()), specimen.matroid
    assert support in specimen.complete_sets()
    assert set(constraint.forced.tolist()) <= support
    assert result.value == pytest.approx(f(result.support), abs=1e-9)
    rest = np.setdiff1d(result.support, result.filled)
    assert f(rest) >= result.value - 1e-8 * max(1.0, abs(result.value))
    assert set(result.filled.tolist()) <= support
    for element in result.filled:
        last = [event.strategy for event in result.history if element in event.added][-1]
        assert last == "completion"
    if result.history:
        assert result.history[-1].support.tolist() == result.support.tolist()


def best_of(f, specimen):
    forced = set(specimen.matroid.forced.tolist())
    return max(f(sorted(s)) for s in specimen.complete_sets() if forced <= s)


@settings(max_examples=50)
@given(randoms)
def test_answers_of_all_ways_to_search_are_complete_and_the_best_is_the_best(random):
    f, specimen = some_problem(random)
    matroid, best = specimen.matroid, best_of(f, specimen)
    for method in ("auto", "greedy", "modular", "random", "exhaustive"):
        found = sw.maximize(f, matroid, method, random_state=0)
        check(found, f, specimen)
        assert found.value <= best + 1e-9
    assert found.value == pytest.approx(best, abs=1e-9)
    exact = sw.exact(f, matroid, time_limit=5.0)
    check(exact, f, specimen)
    assert exact.value == pytest.approx(best, abs=1e-8)
    assert exact.certificate.upper_bound >= best - 1e-9


@settings(max_examples=60)
@given(randoms)
def test_searches_that_are_cut_short_end_in_complete_sets(random):
    f, specimen = some_problem(random)
    matroid = specimen.matroid

    def interrupt(event):
        raise KeyboardInterrupt

    for options in (
        {"time_limit": 0.0},
        {"max_iter": int(random.integers(3)), "start": "empty"},
        {"callback": lambda event: True},
        {"callback": interrupt},
    ):
        check(sw.maximize(f, matroid, **options), f, specimen)
    check(sw.exact(f, matroid, time_limit=0.0), f, specimen)


@settings(max_examples=60)
@given(randoms)
def test_local_optima_stay_so_when_they_are_completed(random):
    f, specimen = some_problem(random)
    found = sw.maximize(f, specimen.matroid, "oblivious", start="empty")
    if found.status is not sw.Status.LOCAL_OPTIMUM:
        return
    support = set(found.support.tolist())
    allowed = specimen.independent_sets()
    for added in set(range(f.n)) - support:
        for dropped in [set(), *({e} for e in support)]:
            after = frozenset(support - dropped | {added})
            if after in allowed:
                assert f(sorted(after)) <= found.value + 1e-8 * max(1.0, found.value)


def test_what_completes_a_set_may_take_the_place_of_another_element():
    """Element 3 does all that 0 does, in a group that must be touched: 0 can then go for 2."""
    f = sw.Coverage([{1, 2}, {3, 4}, {5}, {1, 2}])
    constraint = sw.Partition([*"bbba"], {"a": 2, "b": 2}, {"a": 1}, size=3)
    found = sw.maximize(f, constraint, start="empty")
    assert found.support.tolist() == [1, 2, 3]
    assert [event.strategy for event in found.history][-2:] == ["completion", "oblivious"]
    assert found.filled.tolist() == []  # without 3 it would be worth less
    assert found.status is sw.Status.LOCAL_OPTIMUM
    assert [run.name for run in found.strategies] == ["oblivious", "completion", "oblivious"]


def test_the_record_says_what_completed_it_and_a_callback_hears_it():
    f, heard = sw.Linear([0.0, 5.0, 0.0, 3.0]), []
    found = sw.maximize(f, sw.Uniform(4, 4, 3), callback=lambda event: heard.append(event.strategy))
    assert found.support.tolist() == [0, 1, 3]
    assert found.filled.tolist() == [0]
    assert heard == ["oblivious", "oblivious", "completion"]
    assert moves_of(found)[-1] == ((0,), (), 8.0, "completion")
    assert found.n_iter == 3
    assert "filled=[0]" in repr(found)
    assert "filled" not in repr(sw.maximize(f, sw.Uniform(4, 2)))
    assert found.guarantee.ratio == 1.0
    stopped = sw.maximize(f, sw.Uniform(4, 4, 3), callback=lambda event: True)
    assert stopped.support.tolist() == [0, 1, 3]  # a callback does not stop that
    assert stopped.status is sw.Status.INTERRUPTED
    assert stopped.filled.tolist() == [0]  # 3 completed it as well, and is worth something


def test_what_looks_best_completes_a_set():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    f = sw.LeastSquares(X, X[:, 4] + 0.5 * X[:, 2] + 0.1 * rng.standard_normal(60))
    found = sw.maximize(f, sw.Uniform(6, 3, 2), start="empty", max_iter=1)
    assert found.support.tolist() == [2, 4]
    assert found.filled.tolist() == []
    late = sw.maximize(f, sw.Uniform(6, 3, 2), time_limit=0.0)
    assert late.status is sw.Status.TIME_LIMIT
    assert late.support.tolist() == [2, 4]
    first = sw.maximize(sw.Linear([1.0, 2.0, 3.0]), sw.Uniform(3, 2, 1), time_limit=0.0)
    assert first.support.tolist() == [0]  # no time to tell them apart


def test_elements_of_coarse_searches_are_worth_nothing_beyond_their_tolerance():
    f = sw.Linear([100.0, 1.0, 0.0])
    found = sw.maximize(f, sw.Uniform(3, 3, 2), tol=0.1)
    assert (found.support.tolist(), found.filled.tolist()) == ([0, 1], [1])


def test_only_sets_that_meet_the_limits_count_where_values_may_fall():
    def value(support):
        return len(support) - 3.0 * (0 in support) - 2.0 * (1 in support)

    f = sw.CustomSetFunction(value, 4, monotone=False)
    constraint = sw.Partition([*"aabb"], 2, {"a": 1})
    found = sw.maximize(f, constraint, "exhaustive")
    assert found.support.tolist() == [1, 2, 3]
    nothing = sw.maximize(f, sw.Partition([*"aabb"], 2, {"a": 1}, size=1), "exhaustive")
    assert (nothing.support.tolist(), nothing.value) == ([1], -1.0)
    assert nothing.history[0].strategy == "completion"
    pairs = {(0, 2): -4.0, (0, 3): -4.0, (1, 2): -4.0, (1, 3): -1.0}  # the second of each, though not alone
    g = sw.CustomSetFunction(lambda s: pairs.get(tuple(s), -float(sum(s))), 4, monotone=False)
    assert sw.maximize(g, sw.Partition([*"aabb"], 1, 1), "exhaustive").support.tolist() == [1, 3]
    searched = sw.maximize(f, constraint)
    assert constraint.is_complete(searched.support)


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_paths_and_restarts_end_in_complete_sets(seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([-1.0, 0.0, 1.0], (6, 8)) * rng.integers(0, 2, 8)
    f = sw.LeastSquares(X, rng.standard_normal(6))
    whole = sw.Partition([*"aaabbbcc"], 3, {"a": 2, "c": 1})
    family = [whole.truncate(size) for size in (3, 4, 6)]
    plans = [resolve(f, constraint) for constraint in family]
    paths = [
        warm_path(f, family, plans[0]),
        warm_path(f, family, plans[0], time_limit=0.0),
        warm_path(f, family, resolve(f, family[0], "greedy")),
    ]
    for path in paths:
        for result, constraint in zip(path, family, strict=True):
            assert constraint.is_independent(result.support)
            assert constraint.is_complete(result.support)
            assert result.value == pytest.approx(f(result.support), abs=1e-9)
            assert f(np.setdiff1d(result.support, result.filled)) >= result.value - 1e-9
            assert result.n_iter == len(result.history) == sum(run.n_moves for run in result.strategies)
    first = plans[0].search(f, family[0], rng, Clock())
    best, _ = restart(RestartProblem(f, family[0], plans[0]), first, 3, rng, Clock())
    assert family[0].is_complete(best.support)
    assert best.value >= first.value


def test_a_start_need_only_be_independent_but_what_is_judged_must_be_complete():
    f = sw.Linear([1.0, 2.0, 3.0, 4.0])
    constraint = sw.Partition([*"aabb"], 2, {"a": 1, "b": 1}, size=3)
    assert sw.maximize(f, constraint, start=[0]).value == 9.0
    with pytest.raises(ValueError, match=r"\[2, 3\] has only 0 of 'a', of which at least 1 must be chosen"):
        sw.certify(f, constraint, [2, 3])
    assert sw.certify(f, constraint, [1, 2, 3]).optimal


@pytest.mark.parametrize("start", ["empty", "arbitrary", "greedy", "best-singleton", "model"])
def test_large_working_sets_and_all_starts(start):
    """More columns than are looked at at once, and limits that those looked at first do not meet."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 400))
    X[:, 390:] *= 1e-3 * (np.arange(10) > 4)  # five empty columns, and five that matter as others do
    f = sw.LeastSquares(X, X[:, :5].sum(axis=1) + 0.1 * rng.standard_normal(60), ridge=0.1)
    labels = np.repeat(["many", "few", "empty"], [390, 5, 5])
    labels[390:] = ["empty"] * 5 + ["few"] * 5
    constraint = sw.Partition(labels, 10, {"few": 2, "empty": 2}, size=9)
    found = sw.maximize(f, constraint, start=start)
    chosen = labels[found.support].tolist()
    assert (chosen.count("few"), chosen.count("empty")) == (2, 2)
    in_the_start = start in ("arbitrary", "best-singleton")  # which are maximal sets to begin with
    assert found.filled.tolist() == ([] if in_the_start else [390, 391])
    assert set(range(5)) <= set(found.support.tolist())


def test_sets_that_branching_finds_are_completed():
    tree = BranchAndBound(sw.Linear([0, 0, 0, 2]), sw.Partition([*"aabb"], 2, 1), np.array([0, 2]), 0.0)
    tree._improve(np.array([3]), 2.0, Clock())
    assert (tree.support.tolist(), tree.filled.tolist()) == ([0, 3], [0])


def test_all_pairs_are_tried():
    """Two per group, of groups of three: exact and exhaustive search against a loop over all of them."""
    rng = np.random.default_rng(1)
    X, groups = rng.standard_normal((30, 9)), np.repeat([0, 1, 2], 3)
    f = sw.LeastSquares(X, X @ rng.standard_normal(9) + rng.standard_normal(30))
    pairs = sw.Partition(groups, 2, 2)
    best = max(
        f(sorted(chosen))
        for chosen in combinations(range(9), 6)
        if all((groups[list(chosen)] == group).sum() == 2 for group in range(3))
    )
    assert sw.exact(f, pairs).value == pytest.approx(best)
    assert sw.maximize(f, pairs, "exhaustive").value == pytest.approx(best)
