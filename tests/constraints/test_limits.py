"""Constraints made of kinds of limits: what families and contracts do not reach by themselves."""

import numpy as np
import pytest

import swapwise as sw
from swapwise.constraints.kinds import Budgets, Size
from swapwise.constraints.limits import Limits
from swapwise.constraints.needs import Needs

NOTHING = np.empty(0, dtype=np.intp)


class Chain(sw.Constraint):
    """The first elements, up to some one: neither every subset, nor limits of a known kind."""

    def __init__(self, n):
        self.n = n

    def _is_independent(self, support):
        return support.tolist() == list(range(len(support)))


class AtMostOne(sw.Knapsack):
    def _is_independent(self, support):
        return super()._is_independent(support) and len(support) <= 1


def needs(n, *pairs):
    return Needs.of([(element, [other]) for element, other in pairs], np.zeros(n, dtype=bool))


def test_a_copy_with_elements_forced_in_knows_nothing_of_before():
    pairs = sw.BMatching([("a", "b"), ("a", "c"), ("b", "c"), ("c", "d")], 1)
    assert len(next(iter(pairs.moves(np.array([0])))).to_list()) == 3
    forced = pairs.contract([0])
    moves = next(iter(forced.moves(np.array([0])))).to_list()
    assert [(move.added, move.dropped) for move in moves.moves()] == [((3,), ())]
    assert forced.extend([], [0, 1, 2, 3]).tolist() == [0, 3]


def test_what_a_constraint_of_ones_own_leaves_out_is_a_loop():
    assert Chain(4).restrict([0, 1]).loops().tolist() == [2, 3]
    assert sw.Intersection(Chain(4), sw.Knapsack([1.0, 9.0, 1.0, 1.0], 4.0)).loops().tolist() == [1]


def test_two_families_with_needs_of_their_own():
    both = sw.Intersection(Chain(4), sw.Hierarchy(4, {3: [0]}))
    support = np.arange(4)
    assert both.without(support, np.array([1])).tolist() == [0]
    assert both.droppable(support).tolist() == [3]


def test_a_class_of_ones_own_keeps_its_sets_in_an_intersection():
    assert not sw.Intersection(AtMostOne([1.0, 1.0, 1.0], 3.0), sw.Uniform(3, 3)).is_independent([0, 1])


def test_an_oracle_on_some_elements_keeps_what_is_forced_in():
    system = sw.OracleSystem(4, lambda chosen: len({0, 1} & set(chosen)) <= 1)
    part = system.induced(np.array([0, 1, 2])).contract([0])
    assert not part.is_independent([1])
    assert sw.exact(sw.Linear([0.0, 5.0, 1.0]), part).support.tolist() == [0, 2]


def test_several_limits_of_one_kind():
    ladder = Limits.of(4, [needs(4, (1, 0)), needs(4, (2, 1))], NOTHING)
    assert ladder.required(np.array([2])).tolist() == [0, 1, 2]
    assert ladder.contract([2]).forced.tolist() == [0, 1, 2]
    assert not Limits.of(5, [Size(5, 4), Size(5, 2)], NOTHING).truncate(3).is_independent([0, 1, 2])
    two = Limits.of(2, [Budgets(np.array([[2.0, 1.0]]), np.array([2.0])), Size(2, 2)], NOTHING)
    assert two.extend(NOTHING, np.arange(2)).tolist() == [0]


def test_without_limits_everything_is_allowed():
    free = Limits.of(3, [], NOTHING)
    assert free.addable(NOTHING).all()
    assert free.max_size() == 3


def test_out_of_time_the_weight_is_that_of_the_set():
    random = np.random.default_rng(0)
    labels, others = (random.integers(0, 60, 300).tolist() for _ in "ab")
    constraint = sw.Intersection(
        sw.Partition(labels, 2, dict.fromkeys(set(labels), 1)),
        sw.Partition(others, 3, dict.fromkeys(sorted(set(others))[:30], 1)),
        sw.Knapsack(random.random(300), 66.0),
    )
    weights = random.random(300)
    found = constraint.max_weight(weights, time_limit=1e-4)
    assert found.weight == pytest.approx(weights[found.support].sum())
