"""Fixing by reduced cost: what sets weigh with and without an element, and what follows for regions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.certify.problem_zoo import randoms
from tests.certify.test_relaxation import sets_of, some_region, weights_of
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
    part = region.above(weights, 3.0, target)
    above = {s for s, value in values.items() if value > target * (1 + 1e-12)}
    assert above <= (set() if part is None else set(sets_of(part, allows)))
    if part is not None:
        every, none = region.fixed_by(weights, 3.0, target)
        assert part.inside[every].all()
        assert part.outside[none].all()
        assert (part is region) == (len(every) + len(none) == 0)
