"""What holds for constraints beyond one matroid: each test compares with the definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.constraints.base import IndependenceSystem
from swapwise.search.methods.exhaustive import count_bound, enumerate_sets
from tests.contracts.constraint_zoo import (
    SYSTEMS,
    Set,
    System,
    as_array,
    cheapest_drops,
    orders,
    starting_sets,
    subsets,
)

every_system = pytest.mark.parametrize("name", SYSTEMS)
ORACLES = ("oracle system", "large oracle system")
every_exchange = pytest.mark.parametrize(
    ("name", "q"), [(name, q) for name in SYSTEMS for q in (1, 2) if q == 1 or name not in ORACLES]
)
EXCHANGE_SYSTEMS = ["packing", "bmatching", "set packing", "intersection of partitions"]

Moves = dict[tuple[int, ...], list[tuple[int, ...]]]


def drawn(data, name: str) -> tuple[System, np.ndarray]:
    specimen = data.draw(SYSTEMS[name])
    return specimen, data.draw(starting_sets(specimen))


def prices(n: int):
    # Few different values, so that ties are common.
    return st.lists(st.integers(0, 3), min_size=n, max_size=n).map(
        lambda values: np.array(values, dtype=float)
    )


def reachable(specimen: System, support: np.ndarray, q: int) -> Moves:
    """Return by trying all sets what can be added, and for each the drops of which no part would do."""
    current = frozenset(support.tolist())
    n_added, n_dropped = specimen.widths(q)
    drops: dict[Set, list[Set]] = {}
    for target in specimen.independent_sets():
        added, dropped = target - current, current - target
        if 1 <= len(added) <= n_added and len(dropped) <= n_dropped:
            drops.setdefault(added, []).append(dropped)
    minimal = {added: [d for d in found if not any(o < d for o in found)] for added, found in drops.items()}
    in_order = sorted(minimal, key=lambda added: (len(added), sorted(added)))
    return {tuple(sorted(a)): sorted(tuple(sorted(d)) for d in minimal[a]) for a in in_order}


def spelled_out(moves: Moves) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(added, dropped) for added, drops in moves.items() for dropped in drops]


def total(values: np.ndarray, elements: tuple[int, ...]) -> float:
    return float(values[list(elements)].sum())


@every_system
@given(data=st.data())
def test_allows_the_sets_of_its_definition(name, data):
    specimen = data.draw(SYSTEMS[name])
    for subset in subsets(range(specimen.system.n)):
        assert specimen.system.is_independent(subset) == specimen.allows(subset), subset


@every_system
@given(data=st.data())
def test_allows_every_part_of_what_it_allows(name, data):
    system = data.draw(SYSTEMS[name]).system
    allowed = {s for s in subsets(range(system.n)) if system._is_independent(as_array(s))}
    assert frozenset() in allowed
    for large in allowed:
        assert all(large - {element} in allowed for element in large)


@every_system
@given(st.data())
def test_limits_on_groups_say_the_same(name, data):
    specimen = data.draw(SYSTEMS[name])
    limits = specimen.system.group_limits()
    if limits is None:
        assert name not in EXCHANGE_SYSTEMS
        return
    for chosen in subsets(range(specimen.system.n)):
        groups = limits.groups[as_array(chosen)]
        counts = np.bincount(groups[groups >= 0], minlength=len(limits.capacity))
        assert (counts <= limits.capacity).all() == specimen.allows(chosen)


@every_system
@given(st.data())
def test_batches_of_moves_come_in_order_of_size_and_do_not_mix_sizes(name, data):
    specimen, support = drawn(data, name)
    q = 1 if name in ORACLES else 2
    batches = [part for batch in specimen.system.moves(support, q) for part in batch.parts()]
    sizes = [(batch.n_added, set((batch.to_list().added >= 0).sum(axis=1).tolist())) for batch in batches]
    assert all(found <= {size} for size, found in sizes)
    told = [size for size, found in sizes if found]
    assert told == sorted(told)


@pytest.mark.parametrize("name", EXCHANGE_SYSTEMS)
@settings(max_examples=40)
@given(data=st.data())
def test_is_an_exchange_system(name, data):
    specimen = data.draw(SYSTEMS[name].filter(lambda s: s.system.n <= 5))
    allowed = specimen.independent_sets()
    for current in allowed:
        for target in allowed:
            maps = exchange_maps(sorted(target - current), current - target, specimen.system.p)
            assert any(is_exchange_map(chosen, current, specimen) for chosen in maps), (current, target)


def exchange_maps(added: list[int], gone: Set, p: int) -> Iterator[dict[int, Set]]:
    small = [s for s in subsets(sorted(gone)) if len(s) <= p]
    for chosen in product(small, repeat=len(added)):
        if all(sum(e in s for s in chosen) <= p for e in gone):
            yield dict(zip(added, chosen, strict=True))


def is_exchange_map(chosen: dict[int, Set], current: Set, specimen: System) -> bool:
    return all(
        specimen.allows((current - frozenset().union(*(chosen[e] for e in some))) | some)
        for some in subsets(chosen)
    )


@every_system
@settings(max_examples=60)
@given(data=st.data())
def test_addable_and_loops_are_what_the_definition_allows(name, data):
    specimen, support = drawn(data, name)
    system, chosen = specimen.system, frozenset(support.tolist())
    addable = [e not in chosen and specimen.allows(chosen | {e}) for e in range(system.n)]
    assert system.addable(support).tolist() == addable
    assert system.loops().tolist() == [e for e in range(system.n) if not specimen.allows(frozenset({e}))]


@every_system
@given(data=st.data())
def test_extend_is_the_slow_extend(name, data):
    specimen, support = drawn(data, name)
    order = np.array(data.draw(orders(specimen.system.n)), dtype=np.intp)
    before = support.copy()
    expected = set(support.tolist())
    for element in order.tolist():
        if specimen.allows(frozenset(expected | {element})):
            expected.add(element)
    found = specimen.system.extend(support, order)
    assert found.tolist() == sorted(expected)
    assert np.issubdtype(found.dtype, np.integer)
    assert specimen.system.extend(support, iter(order.tolist())).tolist() == sorted(expected)
    assert support.tolist() == before.tolist()


@every_system
@settings(max_examples=60)
@given(data=st.data())
def test_no_set_is_larger_and_no_more_are_maximal_than_promised(name, data):
    specimen = data.draw(SYSTEMS[name])
    allowed = specimen.independent_sets()
    largest = max(map(len, allowed))
    assert specimen.system.max_size() >= largest
    if specimen.system.p == 1:
        assert specimen.system.max_size() == largest
    maximal = {s for s in allowed if not any(s < other for other in allowed)}
    assert count_bound(specimen.system) >= len(maximal)
    found = [frozenset(s.tolist()) for s in enumerate_sets(specimen.system, maximal=True)]
    assert len(found) == len(set(found))
    assert set(found) == maximal
    with_forced = {s for s in allowed if s >= set(specimen.system.forced.tolist())}
    everything = [frozenset(s.tolist()) for s in enumerate_sets(specimen.system, maximal=False)]
    assert len(everything) == len(with_forced) <= count_bound(specimen.system, maximal=False)
    assert set(everything) == with_forced


@every_exchange
@settings(max_examples=60)
@given(data=st.data())
def test_moves_are_those_of_the_definition(name, q, data):
    specimen, support = drawn(data, name)
    before = support.copy()
    batches = [batch.to_list() for batch in specimen.system.moves(support, q)]
    assert batches
    n_added, n_dropped = specimen.widths(q)
    assert all(batch.added.shape[1] == n_added for batch in batches)
    if name in ORACLES:  # as wide as it has to be
        assert all(1 + batch.dropped.shape[1] <= max(2, specimen.system.exchange_size()) for batch in batches)
    else:
        assert all(batch.dropped.shape[1] == n_dropped for batch in batches)
        assert specimen.system.exchange_size(q) == n_added + n_dropped
    found = [(move.added, move.dropped) for batch in batches for move in batch.moves()]
    for added, dropped in found:
        assert specimen.allows(frozenset(support.tolist()) - set(dropped) | set(added))
    assert found == spelled_out(reachable(specimen, support, q))  # in order, and each of them once
    assert support.tolist() == before.tolist()


@every_exchange
@settings(max_examples=60)
@given(data=st.data())
def test_cheapest_drops(name, q, data):
    specimen, support = drawn(data, name)
    cost = data.draw(prices(specimen.system.n))
    found = cheapest_drops(specimen.system, support, cost, q)
    expected = [
        (added, min(drops, key=lambda d: (total(cost, d), d)))
        for added, drops in reachable(specimen, support, q).items()
    ]
    assert [(move.added, move.dropped) for move in found.moves()] == expected
    assert name in ORACLES or (found.added.shape[1], found.dropped.shape[1]) == specimen.widths(q)


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name not in ORACLES])
@pytest.mark.parametrize("q", [1, 2, 3])
@settings(max_examples=40)
@given(data=st.data())
def test_best_exchange_is_the_best_of_all(name, q, data):
    specimen, support = drawn(data, name)
    # Values of any size and close together: no tolerance of a solver may decide for the wrong one.
    scale = data.draw(st.sampled_from([1.0, 1e-9, 1e6]))
    gain = scale * data.draw(prices(specimen.system.n))
    cost = scale * (data.draw(prices(specimen.system.n)) + 1e-5 * np.arange(specimen.system.n))
    moves = spelled_out(reachable(specimen, support, q))
    found = specimen.system.best_exchange(support, gain, cost, q)
    assert (found.added.shape[1], found.dropped.shape[1]) == specimen.widths(q)
    scores = [total(gain, added) - total(cost, dropped) for added, dropped in moves]
    assert len(found) == min(1, len(moves))
    for move in found.moves():
        assert (move.added, move.dropped) in moves
        score = total(gain, move.added) - total(cost, move.dropped)
        assert score == pytest.approx(max(scores), rel=1e-9, abs=1e-9 * scale)
    if moves and (q == 1 or not specimen.exchange or name == "exchange system"):
        default = IndependenceSystem.best_exchange(specimen.system, support, gain, cost, q)
        assert (default.move(0)) == found.move(0)


@pytest.mark.parametrize("name", ["intersection of partitions", "intersection of minors"])
@settings(max_examples=60)
@given(data=st.data())
def test_forced_elements_stand_in_nobodys_way_and_are_never_dropped(name, data):
    specimen, support = drawn(data, name)
    system = specimen.system
    forced = frozenset(system.forced.tolist())
    for subset in specimen.independent_sets():
        assert system._is_independent(as_array(subset | forced))
    for batch in system.moves(support, 1):
        assert not np.isin(batch.to_list().dropped, system.forced).any()
