"""Limits on nested sets: the tree that kernels read, and what constraints make of it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise import Laminar
from swapwise.kernels import nested
from tests.contracts.constraint_zoo import (
    BASIC_BUILDERS,
    MINOR_BUILDERS,
    Specimen,
    as_array,
    between,
    contracted,
    laminar,
    partition,
    randoms,
    restricted,
    some_independent_set,
    some_order,
    subsets,
    swap_grid,
    truncated,
    uniform,
)


def limited(random):
    """Return a matroid of limits on nested sets, shortened and with elements forced in at random."""
    specimen = [uniform, partition, laminar, between, between][random.integers(5)](random)
    for step in random.integers(2, size=random.integers(0, 4)):
        specimen = [truncated, contracted][step](random, specimen)
    return specimen


def any_specimen(random):
    specimen = BASIC_BUILDERS[random.integers(len(BASIC_BUILDERS))](random)
    for step in random.integers(len(MINOR_BUILDERS), size=random.integers(0, 4)):
        specimen = MINOR_BUILDERS[step](random, specimen)
    return specimen


def greedy(specimen, chosen, order):
    """Return the set that adding what the definition allows, one by one, leads to."""
    for element in order:
        if specimen.allows(chosen | {element}):
            chosen = chosen | {element}
    return chosen


def rank(specimen):
    return max(map(len, specimen.independent_sets()))


def within(limits, subset):
    """Return whether every set of the tree, and all that are around it, have room for the subset."""
    leaf, end, parent, capacity, at_least = limits
    counts, kept = np.zeros((2, len(capacity)), dtype=int)
    for element in subset:
        node = leaf[element]
        counts[node] += 1
        while node:
            node = parent[node]
            counts[node] += 1
    by_range = [sum(t <= leaf[element] < end[t] for element in subset) for t in range(len(capacity))]
    assert counts.tolist() == by_range  # the two ways to read the tree agree
    for node in reversed(range(len(capacity))):  # places for elements to come are taken as well
        kept[node] += max(0, at_least[node] - counts[node] - kept[node])
        kept[parent[node]] += kept[node] if node else 0
    return bool((counts + kept <= capacity).all())


@given(randoms)
def test_first_base_adds_what_the_definition_allows(random):
    specimen = [laminar, between][random.integers(2)](random)
    leaf, _, *limits = specimen.matroid.laminar_tree()
    chosen = some_independent_set(random, specimen)
    order = some_order(random, specimen.matroid.n)
    mask = np.zeros(specimen.matroid.n, dtype=bool)
    mask[list(chosen)] = True
    nested.first_base(mask, np.array(order, dtype=np.intp), leaf, *limits)
    assert set(np.flatnonzero(mask).tolist()) == greedy(specimen, chosen, order)


def test_first_base_goes_through_many_levels():
    deep = Laminar(300, [(range(size), (size + 1) // 2) for size in range(1, 300)])
    base = deep.extend(np.empty(0, dtype=np.intp), np.arange(300))
    assert base.tolist() == [*range(0, 300, 2), 299]  # the last one is in none of the sets


@given(randoms)
def test_the_largest_size_is_the_rank(random):
    specimen = limited(random)
    assert specimen.matroid.max_size() == rank(specimen)


@given(randoms)
def test_laminar_trees_say_the_same_as_the_matroid(random):
    specimen = limited(random)
    limits = specimen.matroid.laminar_tree()
    forced = frozenset(specimen.matroid.forced.tolist())
    for subset in subsets(range(specimen.matroid.n)):
        assert within(limits, subset | forced) == specimen.allows(subset)


@given(randoms)
def test_what_has_no_laminar_tree_says_so_or_tells_the_truth(random):
    specimen = any_specimen(random)
    limits = specimen.matroid.laminar_tree()
    forced = frozenset(specimen.matroid.forced.tolist())
    for subset in subsets(range(specimen.matroid.n)) if limits is not None else []:
        assert within(limits, subset | forced) == specimen.allows(subset)


@given(randoms, st.booleans())
def test_induced_matroids_allow_the_same_sets(random, shuffled):
    specimen = any_specimen(random)
    n = specimen.matroid.n
    kept = sorted(
        set(random.permutation(n)[: random.integers(0, n + 1)]) | set(specimen.matroid.forced.tolist())
    )
    elements = np.array(random.permutation(kept) if shuffled else kept, dtype=np.intp)
    part = specimen.matroid.induced(elements)
    assert part.n == len(elements)
    assert set(elements[part.forced].tolist()) == set(specimen.matroid.forced.tolist())
    same = Specimen(part, lambda s: specimen.allows(frozenset(elements[sorted(s)].tolist())), "induced")
    for subset in subsets(range(part.n)):
        assert part.is_independent(subset) == same.allows(subset)
    assert part.max_size() == rank(same)
    support, order = some_independent_set(random, same), some_order(random, part.n)
    assert set(part.extend(as_array(support), order).tolist()) == greedy(same, support, order)
    np.testing.assert_array_equal(
        swap_grid(part, as_array(support)).feasible,
        swap_grid(specimen.matroid, elements[sorted(support)]).feasible[elements][
            :, np.append(np.argsort(np.argsort(elements[sorted(support)])), len(support))
        ],
    )


@given(randoms)
def test_induced_limits_are_those_of_the_elements_kept(random):
    specimen = limited(random)
    n = specimen.matroid.n
    kept = set(random.permutation(n)[: random.integers(0, n + 1)]) | set(specimen.matroid.forced.tolist())
    elements = np.array(sorted(kept), dtype=np.intp)
    part = specimen.matroid.induced(elements)
    limits, forced = part.laminar_tree(), frozenset(part.forced.tolist())
    for subset in subsets(range(part.n)):
        expected = specimen.allows(frozenset(elements[sorted(subset)].tolist()))
        assert within(limits, subset | forced) == expected


@pytest.mark.parametrize("builder", [restricted, contracted, truncated])
def test_elements_may_be_left_out_down_to_none(builder):
    random = np.random.default_rng(3)
    matroid = builder(
        random, Specimen(Laminar(4, [([0, 1], 1)]), lambda s: not s >= {0, 1}, "laminar")
    ).matroid
    part = matroid.induced(matroid.forced)
    assert part.max_size() == len(matroid.forced)
