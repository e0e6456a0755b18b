"""What holds for families beyond matroids, and for pairs of them: each test compares with definitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from benchmarks.families.zoo import Member, Set, families_and_pairs, member_of
from swapwise.clock import Clock
from swapwise.constraints.matroid import Matroid
from swapwise.search.methods.exhaustive import enumerate_sets

PAIRS = sorted(families_and_pairs())
every_pair = pytest.mark.parametrize("names", PAIRS, ids=" and ".join)
seeds = st.integers(0, 2**32 - 1)

NOTHING = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Case:
    """A constraint, what it forces in, the sets that it allows with that, and one of them."""

    constraint: sw.Constraint
    forced: Set
    sets: frozenset[Set]
    #: Those that meet all lower limits
    answers: frozenset[Set]
    chosen: Set
    random: np.random.Generator

    @property
    def support(self) -> np.ndarray:
        return as_array(self.chosen)

    @property
    def reachable(self) -> frozenset[Set]:
        """The sets that moves may lead to: with lower limits in an intersection, no move gives them up."""
        return self.answers if not self.is_matroid and self.chosen in self.answers else self.sets

    @property
    def weighed(self) -> frozenset[Set]:
        """The sets whose weights are bounded: all of a matroid, whose bases meet all limits, or answers."""
        return self.sets if self.is_matroid else self.answers

    @property
    def is_matroid(self) -> bool:
        return isinstance(self.constraint, Matroid)

    def some_of(self, chosen: Set) -> np.ndarray:
        return as_array({e for e in chosen if self.random.random() < 0.5} | self.forced)


def as_array(chosen) -> np.ndarray:
    return np.array(sorted(chosen), dtype=np.intp)


def case_of(names: tuple[str, ...], seed: int) -> Case:
    """Return a case with five to seven elements, which may be truncated, restricted or forced in."""
    random = np.random.default_rng(seed)
    member = member_of(names, random, int(random.integers(5, 8)))
    change, allowed, forced = minor_of(member, random)
    answers = [s for s in member.answers() if allowed(s)]
    if answers:
        constraint = change(member.constraint)
    else:  # then there is nothing to choose from, which is told at once
        with pytest.raises(ValueError, match=r"lower limits|must be chosen|need that many places"):
            change(member.constraint)
        constraint, forced, answers = member.constraint, frozenset(), member.answers()
        allowed = everything
    sets = [s for s in member.sets() if allowed(s)]
    if isinstance(constraint, Matroid):  # whose sets are those that can be completed
        sets = [s for s in sets if any(s <= answer for answer in answers)]
    within = sorted((s for s in sets if forced <= s), key=sorted)
    chosen = within[random.integers(len(within))]
    return Case(constraint, forced, frozenset(sets), frozenset(answers), chosen, random)


def everything(chosen: Set) -> bool:
    return True


def minor_of(
    member: Member, random: np.random.Generator
) -> tuple[Callable[[sw.Constraint], sw.Constraint], Callable[[Set], bool], Set]:
    """Return a change of a constraint, which sets it leaves, and what it forces in."""
    n, nothing, kind = member.constraint.n, frozenset[int](), random.integers(5)
    if kind == 0:
        size = int(random.integers(0, n))
        return lambda constraint: constraint.truncate(size), lambda s: len(s) <= size, nothing
    if kind == 1:
        kept = frozenset(np.flatnonzero(random.random(n) < 0.7).tolist())
        return lambda constraint: constraint.restrict(sorted(kept)), lambda s: s <= kept, nothing
    if kind == 2:
        small = [s for s in member.sets() if len(s) <= 2]
        forced = small[random.integers(len(small))]
        return lambda constraint: constraint.contract(sorted(forced)), lambda s: forced <= s, forced
    return lambda constraint: constraint, everything, nothing


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_sets_are_those_of_the_definition(names, seed):
    random = np.random.default_rng(seed)
    member = member_of(names, random, int(random.integers(5, 8)))
    constraint, allowed = member.constraint, set(member.sets())
    n = constraint.n
    for number in range(2**n):
        chosen = frozenset(e for e in range(n) if number >> e & 1)
        assert constraint.is_independent(sorted(chosen)) == (chosen in allowed), chosen
    if constraint.hereditary:
        assert all(chosen - {e} in allowed for chosen in allowed for e in chosen)
    found = [frozenset(some.tolist()) for some in enumerate_sets(constraint, maximal=False)]
    assert len(found) == len(set(found))
    assert set(found) == allowed


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_what_can_be_added_swapped_and_reached(names, seed):
    case = case_of(names, seed)
    constraint, chosen, support = case.constraint, case.chosen, case.support
    others = [e for e in range(constraint.n) if e not in chosen]
    addable, mask = constraint.addable(support), constraint._swap_mask(support)
    for element in others:
        larger = chosen | {element}
        assert addable[element] == mask[element, -1] == (larger in case.sets)
        for column, dropped in enumerate(support.tolist()):
            if dropped not in case.forced:
                assert mask[element, column] == (larger - {dropped} in case.reachable)
    held = case.some_of(chosen)
    joinable = constraint.joinable(held)
    within = [s for s in case.sets if frozenset(held.tolist()) <= s]
    assert not any(
        (s - frozenset(held.tolist())) - frozenset(np.flatnonzero(joinable).tolist()) for s in within
    )
    assert all(frozenset(constraint.required(held).tolist()) <= s for s in within)
    assert max(map(len, within)) <= constraint.max_size()
    assert not set(constraint.loops().tolist()) & frozenset().union(
        *(s for s in case.sets if case.forced <= s)
    )


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_sets_grow_and_shrink_to_sets(names, seed):
    case = case_of(names, seed)
    constraint, support = case.constraint, case.support
    order = case.random.permutation(constraint.n)[: case.random.integers(constraint.n + 1)]
    grown = frozenset(constraint.extend(support, order).tolist())
    assert case.chosen <= grown <= case.chosen | set(order.tolist())
    assert grown in case.sets
    dropped = np.setdiff1d(case.some_of(case.chosen), constraint.forced)
    kept = frozenset(constraint.without(support, dropped).tolist())
    if case.forced <= kept:
        assert kept in case.sets
        assert kept <= case.chosen - set(dropped.tolist())


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_moves_lead_from_set_to_set(names, seed):
    case = case_of(names, seed)
    for batch in case.constraint.moves(case.support):
        listed = batch.to_list()
        assert len({(move.added, move.dropped) for move in listed.moves()}) == len(listed)
        for move in listed.moves():
            assert frozenset(move.result(case.support).tolist()) in case.reachable
            assert not case.forced & set(move.dropped)
        assert case.constraint._feasible(case.support, listed).all()
    # Not only what is feasible is told to be.
    others = np.setdiff1d(np.arange(case.constraint.n), case.support)
    droppable = np.setdiff1d(case.support, case.constraint.forced)
    pairs = sw.extending.MoveList(
        np.array([[e, f] for e in others for f in others if e < f], dtype=np.intp).reshape(-1, 2),
        np.tile(droppable[:1], (len(others) * (len(others) - 1) // 2, 1)),
    )
    expected = [frozenset(move.result(case.support).tolist()) in case.reachable for move in pairs.moves()]
    assert case.constraint._feasible(case.support, pairs).tolist() == expected


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_weights_are_bounded_and_largest_ones_found(names, seed):
    case = case_of(names, seed)
    constraint, held = case.constraint, case.some_of(case.chosen)
    weights = case.random.integers(-1, 5, constraint.n).astype(float)
    if case.random.random() < 0.5:
        weights = case.random.random(constraint.n)
    weights[held] = np.abs(weights[held])
    inside = frozenset(held.tolist())
    totals = {
        s: sum(weights[e] for e in s) for s in case.weighed if inside <= s and all(weights[e] >= 0 for e in s)
    }
    answer = constraint._max_weight_holding(held, weights, Clock())
    assert answer.upper_bound >= max(totals.values(), default=-np.inf) - 1e-9
    if not totals:
        return
    if answer.exact:
        assert answer.weight == pytest.approx(max(totals.values()), abs=1e-9)
        assert frozenset(answer.support.tolist()) in case.weighed
    with_it, without = constraint._bounds_with_and_without(held, weights, answer)
    for element in range(constraint.n):
        having = [total for s, total in totals.items() if element in s]
        lacking = [total for s, total in totals.items() if element not in s]
        assert with_it[element] >= max(having, default=-np.inf) - 1e-9
        assert element in inside or without[element] >= max(lacking, default=-np.inf) - 1e-9
    if not case.forced:
        found = constraint.max_weight(np.abs(weights))
        best = max(sum(abs(weights[e]) for e in s) for s in case.weighed)
        assert found.exact or found.upper_bound >= best - 1e-9
        assert found.weight <= best + 1e-9
        assert constraint.p is not None or found.weight == pytest.approx(best, abs=1e-9)


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_no_set_is_heavier_than_the_bound_with_weights_of_any_sign(names, seed):
    case = case_of(names, seed)
    weights = np.round(case.random.normal(size=case.constraint.n), 2) * 10.0 ** case.random.integers(-2, 6)
    size = np.abs(weights).max()
    found = case.constraint.max_weight(weights)
    assert found.upper_bound >= max(weights[as_array(s)].sum() for s in case.answers) - 1e-9 * size
    assert found.weight == pytest.approx(weights[found.support].sum(), abs=1e-9 * size)
    assert case.constraint.is_independent(found.support)
    # What is forced in need not be in a set that is asked about.
    costs = [
        -weights[as_array(s & case.forced)].sum(where=weights[as_array(s & case.forced)] < 0)
        for s in case.answers
    ]
    totals = [weights[as_array(s)].sum() + cost for s, cost in zip(case.answers, costs, strict=True)]
    assert found.weight <= max(totals) + 1e-9 * size
    assert not found.exact or found.weight >= max(totals) - 1e-7 * size


@every_pair
@settings(max_examples=3)
@given(seed=seeds)
def test_some_elements_make_a_constraint_of_their_own(names, seed):
    case = case_of(names, seed)
    some = case.random.permutation(case.constraint.n)
    if not case.forced:
        some = some[: case.random.integers(1, len(some) + 1)]
    part = case.constraint.induced(some)
    assert part.hereditary == case.constraint.hereditary
    for number in range(2 ** len(some)):
        places = [e for e in range(len(some)) if number >> e & 1]
        chosen = frozenset(some[places].tolist()) | case.forced
        assert part.is_independent(np.union1d(places, part.forced).astype(int)) == (chosen in case.sets)
