"""What holds for every matroid, whatever its family: each test compares with the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swapwise.constraints.base import IndependenceSystem
from swapwise.search.methods.exhaustive import count_bound, enumerate_sets
from tests.contracts.constraint_zoo import (
    FAMILIES,
    MINORS,
    Specimen,
    as_array,
    basics,
    cheapest_drops,
    contracted,
    independent_sets,
    orders,
    randoms,
    restricted,
    subsets,
    swap_grid,
)

every_family = pytest.mark.parametrize("family", FAMILIES)


def drawn(data, family: str) -> tuple[Specimen, np.ndarray]:
    specimen = data.draw(FAMILIES[family])
    return specimen, data.draw(independent_sets(specimen))


def prices(n: int, lowest: int, highest: int):
    # Few different values, so that ties are common.
    return st.lists(st.integers(lowest, highest), min_size=n, max_size=n).map(
        lambda values: np.array(values, dtype=float)
    )


@every_family
@given(data=st.data())
def test_allows_the_sets_of_its_definition(family, data):
    specimen = data.draw(FAMILIES[family])
    matroid = specimen.matroid
    for subset in subsets(range(matroid.n)):
        assert matroid.is_independent(subset) == specimen.allows(subset), subset


@every_family
@given(data=st.data())
def test_is_a_matroid(family, data):
    matroid = data.draw(FAMILIES[family]).matroid
    allowed = {s for s in subsets(range(matroid.n)) if matroid._is_independent(as_array(s))}
    assert frozenset() in allowed
    for large in allowed:
        assert all(large - {element} in allowed for element in large)
    for small in allowed:
        extensions = {element for element in range(matroid.n) if small | {element} in allowed} - small
        for large in allowed:
            assert len(large) <= len(small) or (large - small) & extensions


@every_family
@given(data=st.data())
def test_swap_grid_is_what_the_definition_allows(family, data):
    specimen, support = drawn(data, family)
    grid = swap_grid(specimen.matroid, support)
    current = frozenset(support.tolist())
    expected = np.zeros((specimen.matroid.n, len(support) + 1), dtype=bool)
    for added in set(range(specimen.matroid.n)) - current:
        for column, dropped in enumerate(support.tolist()):
            expected[added, column] = specimen.allows(current - {dropped} | {added})
        expected[added, -1] = specimen.allows(current | {added})
    assert grid.drops.tolist() == support.tolist()
    assert grid.feasible.dtype == bool
    np.testing.assert_array_equal(grid.feasible, expected)


@every_family
@given(data=st.data())
def test_cheapest_drops(family, data):
    specimen, support = drawn(data, family)
    cost = data.draw(prices(specimen.matroid.n, 0, 3))
    found = cheapest_drops(specimen.matroid, support, cost)
    expected = cheapest_by_trying(specimen, support, cost)
    assert [(move.added, move.dropped) for move in found.moves()] == expected
    (default,) = IndependenceSystem.cheapest_drops(specimen.matroid, support, cost)
    np.testing.assert_array_equal(found.added, default.added)
    np.testing.assert_array_equal(found.dropped, default.dropped)


def cheapest_by_trying(specimen: Specimen, support: np.ndarray, cost: np.ndarray):
    current = frozenset(support.tolist())
    moves = []
    for added in sorted(set(range(specimen.matroid.n)) - current):
        if specimen.allows(current | {added}):
            moves.append(((added,), ()))
            continue
        dropped = [i for i in support.tolist() if specimen.allows(current - {i} | {added})]
        if dropped:
            moves.append(((added,), (min(dropped, key=lambda i: (cost[i], i)),)))
    return moves


@every_family
@given(data=st.data())
def test_extend_is_the_slow_extend(family, data):
    specimen, support = drawn(data, family)
    order = np.array(data.draw(orders(specimen.matroid.n)), dtype=np.intp)
    before = support.copy()
    found = specimen.matroid.extend(support, order)
    expected = set(support.tolist())
    for element in order.tolist():
        if specimen.allows(frozenset(expected | {element})):
            expected.add(element)
    assert found.tolist() == sorted(expected)
    assert np.issubdtype(found.dtype, np.integer)
    assert IndependenceSystem.extend(specimen.matroid, support, order).tolist() == sorted(expected)
    assert specimen.matroid.extend(support, iter(order.tolist())).tolist() == sorted(expected)
    assert support.tolist() == before.tolist()


@every_family
@given(data=st.data())
def test_max_weight_is_the_largest_of_all(family, data):
    specimen = data.draw(FAMILIES[family])
    weights = data.draw(prices(specimen.matroid.n, -3, 5))
    heaviest = specimen.matroid.max_weight(weights)
    assert heaviest.exact
    assert specimen.allows(frozenset(heaviest.support.tolist()))
    assert heaviest.weight == weights[heaviest.support].sum()
    complete, forced = specimen.complete_sets(), frozenset(specimen.matroid.forced.tolist())
    assert frozenset(heaviest.support.tolist()) | forced in complete
    sets = (s for s in specimen.independent_sets() if s | forced in complete)
    assert heaviest.weight == max(weights[as_array(s)].sum() for s in sets)


@every_family
@given(data=st.data())
def test_addable_is_what_the_definition_allows(family, data):
    specimen, support = drawn(data, family)
    chosen = frozenset(support.tolist())
    allowed = [e not in chosen and specimen.allows(chosen | {e}) for e in range(specimen.matroid.n)]
    assert specimen.matroid.addable(support).tolist() == allowed


@pytest.mark.parametrize("family", ["graphic", "between", *MINORS])
@settings(max_examples=50)
@given(data=st.data())
def test_completed_sets_meet_all_limits_with_few_and_heavy_elements(family, data):
    specimen, support = drawn(data, family)
    weights = data.draw(prices(specimen.matroid.n, -3, 5))
    held = frozenset([*support.tolist(), *specimen.matroid.forced.tolist()])
    answers = [s for s in specimen.complete_sets() if held <= s]
    fewest = min(map(len, answers))
    heaviest = max(weights[as_array(s)].sum() for s in answers if len(s) == fewest)
    found = specimen.matroid.completed(as_array(held), weights)
    assert frozenset(found.tolist()) in answers
    assert (len(found), weights[found].sum()) == (fewest, heaviest)
    assert specimen.matroid.completed(found, weights).tolist() == found.tolist()


@pytest.mark.parametrize("family", ["graphic", "between", *MINORS])
@settings(max_examples=50)
@given(data=st.data())
def test_what_meets_all_lower_limits_is_complete_and_every_base_does(family, data):
    specimen = data.draw(FAMILIES[family])
    complete, forced = specimen.complete_sets(), set(specimen.matroid.forced.tolist())
    for subset in specimen.independent_sets():
        assert specimen.matroid.is_complete(as_array(subset | forced)) == (subset | forced in complete)
        if len(subset) == specimen.matroid.rank():
            assert subset | forced in complete


@every_family
@given(data=st.data())
def test_no_more_bases_than_promised(family, data):
    specimen = data.draw(FAMILIES[family])
    allowed = specimen.independent_sets()
    bases = [s for s in allowed if len(s) == specimen.matroid.rank()]
    assert count_bound(specimen.matroid) >= len(bases)
    if specimen.matroid.laminar_tree() is not None and not len(specimen.matroid.forced):
        assert count_bound(specimen.matroid) == len(bases)
    found = [frozenset(s.tolist()) for s in enumerate_sets(specimen.matroid, maximal=True)]
    assert len(found) == len(set(found))
    assert set(found) == set(bases)


@every_family
@given(data=st.data())
def test_all_sets_are_found_and_no_more_than_promised(family, data):
    specimen = data.draw(FAMILIES[family])
    forced = set(specimen.matroid.forced.tolist())
    found = [frozenset(s.tolist()) for s in enumerate_sets(specimen.matroid, maximal=False)]
    assert len(found) == len(set(found)) <= count_bound(specimen.matroid, maximal=False)
    assert set(found) == {s for s in specimen.independent_sets() if forced <= s}


@every_family
@given(data=st.data())
def test_rank_and_loops(family, data):
    specimen = data.draw(FAMILIES[family])
    matroid, allowed = specimen.matroid, specimen.independent_sets()
    some = frozenset(data.draw(orders(matroid.n)))
    assert matroid.rank() == max(len(s) for s in allowed)
    assert matroid.rank(some) == max(len(s) for s in allowed if s <= some)
    assert matroid.max_size() == matroid.rank()
    assert matroid.loops().tolist() == [e for e in range(matroid.n) if frozenset({e}) not in allowed]


@pytest.mark.parametrize("family", MINORS)
@given(data=st.data())
def test_forced_elements_are_in_every_base_and_never_worth_dropping(family, data):
    specimen, support = drawn(data, family)
    matroid = specimen.matroid
    forced = frozenset(matroid.forced.tolist())
    for subset in specimen.independent_sets():
        assert matroid._is_independent(as_array(subset | forced))
    dropped = swap_grid(matroid, support).to_list().dropped
    assert not np.isin(dropped, matroid.forced).any()


@given(data=st.data())
def test_forcing_in_and_truncating_can_come_in_either_order(data):
    inner = data.draw(basics)
    forced = data.draw(independent_sets(inner))
    needed = len(inner.matroid.completed(forced, np.zeros(inner.matroid.n)))
    size = data.draw(st.integers(needed, 6))
    one = inner.matroid.contract(forced).truncate(size)
    other = inner.matroid.truncate(size).contract(forced)
    assert one.forced.tolist() == other.forced.tolist() == forced.tolist()
    for subset in subsets(range(inner.matroid.n)):
        assert one.is_independent(subset) == other.is_independent(subset), subset


@given(inner=basics, random=randoms)
def test_forced_elements_pass_through_all_minors(inner, random):
    once = contracted(random, inner)
    kept = restricted(random, once)
    twice = contracted(random, kept)
    assert kept.matroid.forced.tolist() == once.matroid.forced.tolist()
    assert set(kept.matroid.forced.tolist()) <= set(twice.matroid.forced.tolist())
