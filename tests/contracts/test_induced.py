"""What holds for every constraint on some of its elements, in any order: it says what the whole one says."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.constraints.base import IndependenceSystem, LaminarTree
from swapwise.constraints.matroid import Matroid
from swapwise.moves import MoveList
from tests.contracts.constraint_zoo import (
    BASIC_BUILDERS,
    FAMILIES,
    MINORS,
    SYSTEMS,
    Set,
    as_array,
    cheapest_drops,
    randoms,
    some_allowed_set,
    some_order,
    subsets,
)

EVERY = FAMILIES | SYSTEMS
PLAIN_SYSTEMS = ["packing", "bmatching", "set packing", "oracle system"]
every_constraint = pytest.mark.parametrize("name", EVERY)


class Part:
    """A constraint of the zoo, some of its elements in some order, and what is independent among them."""

    def __init__(self, specimen, random) -> None:
        self.whole: IndependenceSystem = getattr(specimen, "matroid", None) or specimen.system
        n = self.whole.n
        kept = {*random.permutation(n)[: random.integers(0, n + 1)].tolist(), *self.whole.forced.tolist()}
        if random.random() < 0.3:
            kept = set(range(n))
        in_order = random.random() < 0.3
        self.elements = as_array(kept) if in_order else random.permutation(as_array(kept))
        self.system = self.whole.induced(self.elements)
        self.allows = lambda s: specimen.allows(self.in_whole(s))

    def in_whole(self, places) -> Set:
        return frozenset(self.elements[sorted(places)].tolist())

    def independent_sets(self) -> set[Set]:
        return {s for s in subsets(range(len(self.elements))) if self.allows(s)}


def moves_of(
    system: IndependenceSystem, support: np.ndarray
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(move.added, move.dropped) for batch in system.moves(support) for move in batch.to_list().moves()]


def is_within(tree: LaminarTree, subset: Set) -> bool:
    def demand(node: int) -> int:
        own = sum(tree.leaf[element] == node for element in subset)
        within = [child for child in range(node + 1, tree.end[node]) if tree.parent[child] == node]
        return max(tree.at_least[node], own + sum(map(demand, within)))

    return all(demand(node) <= tree.capacity[node] for node in range(len(tree.end)))


@every_constraint
@settings(max_examples=40)
@given(data=st.data())
def test_the_same_sets_are_independent(name, data):
    part = Part(data.draw(EVERY[name]), data.draw(randoms))
    system = part.system
    assert (system.n, system.p) == (len(part.elements), part.whole.p)
    assert isinstance(system, Matroid) == isinstance(part.whole, Matroid)
    assert part.in_whole(system.forced) == frozenset(part.whole.forced.tolist())
    assert system.assumptions == part.whole.assumptions
    for subset in subsets(range(system.n)):
        assert system._is_independent(as_array(subset)) == part.allows(subset), subset


@every_constraint
@settings(max_examples=40)
@given(data=st.data())
def test_sets_grow_in_the_same_way(name, data):
    random = data.draw(randoms)
    part = Part(data.draw(EVERY[name]), random)
    n, system = part.system.n, part.system
    chosen, order = some_allowed_set(random, n, part.allows), some_order(random, n)
    addable = [e not in chosen and part.allows(chosen | {e}) for e in range(n)]
    assert system.addable(as_array(chosen)).tolist() == addable
    extended = set(chosen)
    for element in order:
        if part.allows(frozenset(extended | {element})):
            extended.add(element)
    assert system.extend(as_array(chosen), order).tolist() == sorted(extended)
    largest = max(map(len, part.independent_sets()))
    assert largest <= system.max_size() <= max(largest, part.whole.max_size())
    assert system.p != 1 or system.max_size() == largest


@every_constraint
@settings(max_examples=40)
@given(data=st.data())
def test_moves_are_those_of_the_whole(name, data):
    random = data.draw(randoms)
    part = Part(data.draw(EVERY[name]), random)
    support = as_array(some_allowed_set(random, part.system.n, part.allows))
    kept, place = set(part.elements.tolist()), {e: i for i, e in enumerate(part.elements.tolist())}
    mapped = [
        tuple(tuple(sorted(place[e] for e in some)) for some in move)
        for move in moves_of(part.whole, as_array(part.in_whole(support)))
        if kept.issuperset(move[0])
    ]
    expected = sorted(mapped, key=lambda move: (len(move[0]), *move))
    assert moves_of(part.system, support) == expected
    assert part.system.exchange_size() <= max(part.system.n, part.whole.exchange_size())
    cost = random.integers(0, 4, part.system.n).astype(float)
    cheapest = {}
    for added, dropped in expected:
        price = (cost[list(dropped)].sum(), dropped)
        cheapest[added] = min(price, cheapest.get(added, price))
    found = cheapest_drops(part.system, support, cost)
    assert {m.added: (cost[list(m.dropped)].sum(), m.dropped) for m in found.moves()} == cheapest
    assert len(found) == len(cheapest)


@every_constraint
@settings(max_examples=40)
@given(data=st.data())
def test_weights_and_limits_are_those_of_the_elements(name, data):
    random = data.draw(randoms)
    part = Part(data.draw(EVERY[name]), random)
    weights = random.integers(-2, 5, part.system.n).astype(float)
    found = part.system.max_weight(weights)
    forced = frozenset(part.system.forced.tolist())
    sets = list(part.independent_sets())
    complete = [s for s in sets if part.system.is_complete(as_array(s | forced))]
    largest = max(weights[as_array(s)].sum() for s in complete or sets)
    assert part.allows(frozenset(found.support.tolist()))
    assert found.weight == weights[found.support].sum()
    assert found.factor * largest - 1e-9 <= found.weight <= largest <= found.upper_bound + 1e-9
    assert found.exact or part.system.p != 1
    tree = part.system.laminar_tree()
    assert (tree is None) == (part.whole.laminar_tree() is None)
    if tree is not None:
        for subset in subsets(range(part.system.n)):
            assert is_within(tree, subset | forced) == part.allows(subset)


@pytest.mark.parametrize("name", [*(builder.__name__ for builder in BASIC_BUILDERS), *PLAIN_SYSTEMS])
@settings(max_examples=20)
@given(data=st.data())
def test_names_follow(name, data):
    random = data.draw(randoms)
    whole = Part(data.draw(EVERY[name]), random).whole
    whole.names = [f"x{e}" for e in range(whole.n)]
    order = random.permutation(whole.n)[: random.integers(0, whole.n + 1)]
    assert whole.induced(order).names == [f"x{e}" for e in order]


@pytest.mark.parametrize("name", [*MINORS, "intersection of minors", "intersection of partitions"])
@settings(max_examples=20)
@given(data=st.data())
def test_no_forced_element_is_left_out(name, data):
    whole = Part(data.draw(EVERY[name]), data.draw(randoms)).whole
    for element in whole.forced:
        with pytest.raises(ValueError, match=f"element {element} is forced in, so it must be among"):
            whole.induced(np.setdiff1d(np.arange(whole.n), [element]))


class Spread(sw.IndependenceSystem):
    """No two neighbours, as a user writes it: candidates are not looked at."""

    def __init__(self, n):
        self.n = n

    def _is_independent(self, support):
        return bool((np.diff(support) > 1).all())

    def moves(self, support, q=1, candidates=None):
        rows = []
        for added in np.setdiff1d(np.arange(self.n), support).tolist():
            rows.append((added, [e for e in support.tolist() if abs(e - added) == 1]))
        dropped = np.array([[*drop, -1, -1][:2] for _, drop in rows], dtype=np.intp).reshape(-1, 2)
        yield MoveList(np.array([[added] for added, _ in rows], dtype=np.intp).reshape(-1, 1), dropped)


def test_a_class_of_the_users_can_be_induced():
    whole = Spread(9)
    part = whole.induced(np.array([4, 8, 3, 5]))
    assert moves_of(part, np.array([2, 3])) == [((0,), (2, 3)), ((1,), ())]
    (cheapest,) = part.cheapest_drops(np.array([0]), np.ones(4))
    assert [move.dropped for move in cheapest.moves()] == [(), (0,), (0,)]
    assert part.max_weight([3.0, 1.0, 2.0, 2.0]).weight == 4.0  # greedy takes 3 first
    assert part.max_weight([3.0, 1.0, 2.0, 2.0]).upper_bound >= 5.0
    assert part.assumptions == whole.assumptions == ()
    again = part.induced(np.array([3, 0]))
    assert again.is_independent([0])
    assert not again.is_independent([0, 1])
    assert sw.maximize(sw.Linear([1.0, 2.0, 3.0, 4.0]), part).support.tolist() == [1, 2, 3]


def test_induced_constraints_survive_pickling():
    for whole in (sw.Partition([*"aabb"], 1).contract([1]), Spread(4), sw.BMatching.complete(4, 1)):
        part = pickle.loads(pickle.dumps(whole.induced(np.arange(whole.n)[::-1])))
        for subset in subsets(range(whole.n)):
            mirrored = as_array({whole.n - 1 - e for e in subset})
            assert part._is_independent(as_array(subset)) == whole._is_independent(mirrored)
