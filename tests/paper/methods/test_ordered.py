"""Squared marginals in a fixed order against exhaustive search and plain enumeration."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

import swapwise as sw
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Move
from swapwise.paper.methods.ordered import OrderedSet

N = 9


def coverage(rng: np.random.Generator) -> sw.Coverage:
    sets = [rng.choice(9, rng.integers(0, 5), replace=False) for _ in range(N)]
    return sw.Coverage(sets, dict(enumerate(rng.integers(0, 5, 9))))


def packings(rng: np.random.Generator) -> list[IndependenceSystem]:
    edges = list(combinations(range(5), 2))[:N]
    return [
        sw.SetPacking([rng.choice(7, rng.integers(1, 4), replace=False) for _ in range(N)]),
        sw.SetPacking([rng.choice(9, rng.integers(1, 5), replace=False) for _ in range(N)]),
        sw.BMatching(edges, 2),
        sw.Intersection(*(sw.Partition(rng.integers(0, 4, N), capacity) for capacity in (1, 2, 1))),
    ]


def test_the_promise_is_kept() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        f = coverage(rng)
        for constraint in packings(rng):
            result = sw.maximize(f, constraint, "ordered")
            best = sw.maximize(f, constraint, "exhaustive").value
            share = result.strategies[-1].details["share"]
            assert share == 2 / (constraint.p + 3)
            assert constraint.is_independent(result.support)
            assert share * best - 1e-9 <= result.value <= best + 1e-9
            assert all(a.value < b.value for a, b in pairwise(result.history))


def test_the_squares_of_a_local_optimum_beat_all_small_exchanges() -> None:
    """What the proof asks for, over all sets of up to p newcomers and all that leave for them."""
    rng = np.random.default_rng(1)
    for _ in range(3):
        f = coverage(rng)
        for constraint in packings(rng):
            method = sw.methods.OrderedLocalSearch().bound(f, constraint)
            walk = OrderedSet(f, sw.maximize(f, constraint, "greedy").support)
            total = float((walk.weights**2).sum())
            while (found := method._find(walk, Budget())) is not None:
                walk.apply(found.move)
                assert (walk.weights**2).sum() >= total + found.score - 1e-9
                total = float((walk.weights**2).sum())
            assert not improving_claws(f, constraint, walk)


def improving_claws(f: sw.Coverage, constraint: IndependenceSystem, walk: OrderedSet) -> list:
    """Exchanges of up to p elements that all share a group with a chosen one, and raise the squares."""
    groups = [set(row[row >= 0]) for row in constraint.group_limits().groups]
    weight = dict(zip(walk._order.tolist(), walk.weights, strict=True))
    found = []
    for y in weight:
        near = [x for x in range(N) if x not in weight and groups[x] & groups[y]]
        for C in (c for size in range(1, constraint.p + 1) for c in combinations(near, size)):
            for B in (b for size in range(len(weight) + 1) for b in combinations(weight, size)):
                rest = [s for s in weight if s not in B]
                if constraint.is_independent([*rest, *C]):
                    values = [f([*rest, *C[:i]]) for i in range(len(C) + 1)]
                    if sum(np.diff(values) ** 2) > sum(weight[b] ** 2 for b in B) + 1e-6:
                        found.append((C, B))
    return found


def test_gains_are_differences_of_squares_in_order() -> None:
    f = sw.Coverage([{1, 2, 3}, {3, 4}, {4, 5, 6}, {1, 7}])
    chosen = OrderedSet(f, np.array([0, 1]))
    assert chosen.weights.tolist() == [3, 1]
    assert chosen.gain(Move((2, 3), (1,))) == 3**2 + 1**2 - 1**2
    assert chosen.gain(Move((3,), (0,))) == 2**2 - 3**2
    chosen.apply(Move((3,), (0,)))
    assert chosen.support.tolist() == [1, 3]
    assert chosen.weights.tolist() == [2, 2]  # what is left counts more: it has nothing before it


def test_it_leaves_what_single_exchanges_cannot() -> None:
    """Three sets that are a little lighter than the one that is in the way of all of them."""
    f = sw.Linear([10.0, 9.0, 9.0, 9.0])
    constraint = sw.SetPacking([{1, 2, 3}, {1}, {2}, {3}])
    assert sw.maximize(f, constraint, "oblivious", start=[0]).value == 10
    assert sw.maximize(f, constraint, "ordered").value == 27


def test_what_is_missing_is_named() -> None:
    f = sw.Coverage([{1}, {2}])
    with pytest.raises(TypeError, match="ordered needs SetPacking, BMatching or an Intersection"):
        sw.maximize(f, sw.Uniform(2, 1), "ordered")
    with pytest.raises(TypeError, match="ordered needs a submodular objective"):
        sw.maximize(sw.AOptimal(np.eye(2)), sw.SetPacking([{1}, {1}]), "ordered")


def test_nothing_to_choose() -> None:
    assert sw.maximize(sw.Coverage([]), sw.SetPacking([]), "ordered").value == 0
    assert sw.maximize(sw.Coverage([{1}]), sw.SetPacking([{1}]), "ordered", max_iter=1).value == 1


def test_time_limits_leave_a_feasible_set() -> None:
    rng = np.random.default_rng(2)
    f, constraint = coverage(rng), packings(rng)[1]
    for limit in (0.0, 0.002):
        result = sw.maximize(f, constraint, "ordered", time_limit=limit)
        assert constraint.is_independent(result.support)
