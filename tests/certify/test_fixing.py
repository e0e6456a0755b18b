"""Fixing by reduced cost: what sets weigh with and without an element, and what follows for regions."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.clock import Clock
from swapwise.constraints import laminar, matroid
from swapwise.constraints.base import MaxWeight
from swapwise.constraints.region import Region
from tests.certify.problem_zoo import randoms
from tests.certify.region_zoo import sets_of, some_region, weights_of
from tests.contracts.constraint_zoo import FAMILIES, SYSTEMS

pytestmark = pytest.mark.filterwarnings("ignore:.*allows only the empty set")


def heaviest_with_and_without(region, allows, weights):
    """Return both by the definition; -inf where there is no set."""
    n = len(weights)
    with_it, without = np.full((2, n), -np.inf)
    for s in sets_of(region, allows):
        chosen = np.isin(np.arange(n), sorted(s))
        side = np.where(chosen, with_it, without)
        side = np.maximum(side, weights[chosen].sum())
        with_it[chosen], without[~chosen] = side[chosen], side[~chosen]
    return with_it, without


def drawn(data, family):
    """Return a region of a random constraint, what the constraint allows, and weights, ties among them."""
    specimen, random = data.draw((FAMILIES | SYSTEMS)[family]), data.draw(randoms)
    constraint = specimen.matroid if family in FAMILIES else specimen.system
    return some_region(random, constraint), specimen.allows, weights_of(random, constraint.n), random


def check_bounds(region, allows, weights, exact):
    found = region.bounds_with_and_without(weights)
    bound = region.max_weight(weights)[1]
    for proven, true in zip(found, heaviest_with_and_without(region, allows, weights), strict=True):
        assert (proven >= true).all()
        if exact:
            assert proven == pytest.approx(true)
        else:
            assert (proven <= bound * (1 + 1e-12)).all()


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=60)
@given(data=st.data())
def test_under_a_matroid_the_bounds_are_met(family, data):
    region, allows, weights, _ = drawn(data, family)
    check_bounds(region, allows, weights, exact=True)


def nested_lower_limits(n):
    """Return two halves with lower limits, and thirds of them with others; most places are kept."""
    thirds = [range(start, start + n // 6) for start in range(0, n, n // 6)]
    halves = [range(n // 2), range(n // 2, n)]
    tree = sw.Laminar(n, [*((half, 6) for half in halves), *((third, 4) for third in thirds)]).laminar_tree()
    at_least = np.array([0, 4, 2, 1, 0, 3, 0, 1, 1])
    capacity = np.append(9, tree.capacity[1:])
    return sw.Laminar.of_tree(tree._replace(capacity=capacity, at_least=at_least))


@pytest.mark.parametrize(
    "constraint",
    [
        sw.Uniform(300, 7),
        sw.Partition(np.arange(300) % 9, 2),
        sw.Partition(np.arange(300) % 9, 2).truncate(5),
        sw.Laminar(300, [(range(40), 3), (range(10), 1), (range(10, 20), 2), (range(100, 300), 4)]),
        sw.Partition(np.arange(300) % 9, 3, {0: 2, 1: 2, 2: 1}, size=9),
        nested_lower_limits(300),
        sw.Graphic([(i % 17, i * i % 23) for i in range(300)]),
    ],
)
def test_many_elements_are_looked_at_by_turns_and_in_blocks(constraint, monkeypatch):
    """Turns and blocks are far larger than what enumeration can follow, unless they are made small."""
    monkeypatch.setattr(laminar, "SAMPLE", 20)
    monkeypatch.setattr(matroid, "LARGEST_GRID", 100)
    random = np.random.default_rng(0)
    for weights in (random.random(300), np.sort(random.random(300)), random.integers(0, 3, 300) / 2.0):
        region = Region.of(constraint).with_outside(np.arange(0, 300, 7)).with_inside(np.array([1, 150]))
        bounds = region.bounds_with_and_without(weights)
        heaviest = region.greedy_set(weights)
        assert region.max_weight(weights)[1] == pytest.approx(weights[heaviest].sum())
        for element in [*random.choice(region.open, 30), *np.intersect1d(heaviest, region.open)]:
            parts = region.with_inside(int(element)), region.with_outside(int(element))
            for part, bound in zip(parts, bounds, strict=True):
                assert bound[element] == pytest.approx(weights[part.greedy_set(weights)].sum())


@pytest.mark.parametrize("family", SYSTEMS)
@settings(max_examples=40)
@given(data=st.data())
def test_no_set_with_or_without_an_element_exceeds_its_bound(family, data):
    region, allows, weights, _ = drawn(data, family)
    check_bounds(region, allows, weights, exact=False)


@pytest.mark.parametrize("family", [*FAMILIES, *SYSTEMS])
@settings(max_examples=20)
@given(data=st.data())
def test_sets_above_the_target_are_in_the_part_above(family, data):
    region, allows, weights, random = drawn(data, family)
    values = {s: 3.0 + weights[sorted(s)].sum() for s in sets_of(region, allows)}
    target = random.choice([*values.values(), random.uniform(3.0, max(values.values()) + 1.0)])
    if random.random() < 0.3:
        region = replace(region, clock=Clock(0.0))
    part = region.above(weights, 3.0, target)
    above = {s for s, value in values.items() if value > target * (1 + 1e-12)}
    assert above <= (set() if part is None else set(sets_of(part, allows)))
    if part is not None:
        assert not (part.inside & part.outside).any()
        every, none = region.fixed_by(weights, 3.0, target)
        assert part.inside[every].all()
        assert part.outside[none].all()
        assert (part is region) == (len(every) + len(none) == 0)


@pytest.mark.parametrize("k", [2, 4])
def test_elements_that_every_set_has_and_none_leave_no_set(k):
    """The bound on all sets may be looser than those with and without an element."""
    answer = MaxWeight(np.arange(k), float(k), bound=20.0)
    assert Region.of(sw.Uniform(4, k)).above(np.ones(4), 0.0, 5.0, answer) is None
    assert Region.of(sw.Uniform(4, k)).above(np.ones(4), 0.0, k - 0.5, answer) is not None


@settings(max_examples=60)
@given(random=randoms)
def test_under_two_partitions_the_bounds_are_met(random):
    n = int(random.integers(1, 8))
    parts = [sw.Partition(random.integers(0, 3, n).tolist(), int(random.integers(1, 3))) for _ in range(2)]
    constraint = sw.Intersection(*parts)
    region = some_region(random, constraint)
    check_bounds(region, lambda s: constraint.is_independent(sorted(s)), weights_of(random, n), exact=True)


SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


@pytest.mark.parametrize(
    ("constraint", "weights", "with_it", "without"),
    [
        # The best pairs are {0, 2} and {1, 3}, of which the first weighs 9; the diagonal goes with nothing.
        (sw.BMatching(SQUARE, 1), [5, 3, 4, 3, 1], [9, 6, 9, 6, 1], [6, 9, 6, 9, 9]),
        (sw.SetPacking([{1, 2}, {2, 3}, {3}]), [2, 1, 2], [4, 1, 4], [2, 4, 2]),
        (
            sw.Intersection(sw.Partition([0, 0, 1, 1], 1), sw.Partition([0, 1, 0, 1], 1)),
            [5, 1, 1, 5],
            [10, 2, 2, 10],
            [5, 10, 10, 5],
        ),
        (
            sw.Intersection(sw.Graphic(SQUARE), sw.Partition([0, 0, 1, 1, 1], 1)),
            [5, 3, 4, 3, 1],
            [9, 7, 9, 8, 6],
            [7, 9, 8, 9, 9],
        ),
    ],
)
def test_bounds_tell_good_elements_from_bad_ones(constraint, weights, with_it, without):
    region, weights = Region.of(constraint), np.array(weights, dtype=float)
    true = heaviest_with_and_without(region, lambda s: constraint.is_independent(sorted(s)), weights)
    assert [values.tolist() for values in true] == [with_it, without]
    found = region.bounds_with_and_without(weights)
    largest = region.max_weight(weights)[1]
    for proven, met in zip(found, true, strict=True):
        assert (proven[met < largest] < largest).all()
        assert proven[met == largest] == pytest.approx(largest)


@pytest.mark.parametrize("family", [*SYSTEMS])
@settings(max_examples=15)
@given(data=st.data())
def test_out_of_time_the_bounds_hold_all_the_same(family, data):
    region, allows, weights, _ = drawn(data, family)
    check_bounds(replace(region, clock=Clock(0.0)), allows, weights, exact=False)


@pytest.mark.parametrize("family", ["bmatching", "intersection", "oracle system"])
@settings(max_examples=15)
@given(data=st.data())
def test_some_elements_of_a_constraint_have_the_same_bounds(family, data):
    specimen, random = data.draw(SYSTEMS[family]), data.draw(randoms)
    constraint = specimen.system
    order = random.permutation(constraint.n)
    induced = constraint.induced(order)
    region = some_region(random, induced)
    check_bounds(
        region,
        lambda s: specimen.allows(frozenset(order[sorted(s)].tolist())),
        weights_of(random, constraint.n),
        False,
    )
