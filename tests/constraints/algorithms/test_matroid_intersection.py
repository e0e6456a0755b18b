import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from swapwise import Graphic, Matroid, Partition, Transversal, Uniform
from swapwise.clock import Clock
from swapwise.constraints.algorithms.matroid_intersection import common_set_within
from swapwise.constraints.algorithms.max_weight_packing import max_weight_packing
from tests.contracts.constraint_zoo import FAMILIES, LARGEST, randoms

EVERYTHING = st.sampled_from(sorted(FAMILIES)).flatmap(FAMILIES.__getitem__)


def some_weights(random, n):
    kinds = [
        random.integers(-2, 4, n).astype(float),
        random.integers(1, 3, n).astype(float),
        random.normal(0.5, 1.0, n),
        np.ones(n),
        10.0 ** random.uniform(-8, 8, n),
    ]
    return kinds[random.integers(len(kinds))]


def max_weight_common_set(first, second, weights):
    return common_set_within(first, second, weights, Clock()).support


def check_heaviest(first, second, weights):
    """Compare with every set that both definitions allow."""
    common = first.independent_sets() & second.independent_sets()
    largest = max(sum(weights[list(s)]) for s in common)
    found = max_weight_common_set(first.matroid, second.matroid, weights)
    assert found.tolist() == sorted(set(found.tolist()))
    assert frozenset(found.tolist()) in common
    assert (weights[found] > 0).all()
    assert weights[found].sum() == pytest.approx(largest, rel=1e-12, abs=1e-12)


@settings(max_examples=600, deadline=None)
@given(EVERYTHING, EVERYTHING, randoms)
def test_nothing_in_both_is_heavier(first, second, random):
    # The zoo draws sizes on its own; pairs of one size are frequent enough among the larger ones.
    assume(first.matroid.n == second.matroid.n)
    check_heaviest(first, second, some_weights(random, first.matroid.n))


@settings(max_examples=300, deadline=None)
@given(randoms)
def test_long_paths(random):
    """Slots on both sides, few for each element: exchanges run through many elements."""
    n = int(random.integers(LARGEST, 11))
    first, second = (
        Partition(random.integers(0, int(random.integers(2, 6)), n).tolist(), 1) for _ in range(2)
    )
    weights = some_weights(random, n)
    found = max_weight_common_set(first, second, weights)
    assert first.is_independent(found)
    assert second.is_independent(found)
    assert weights[found].sum() == pytest.approx(best_by_enumeration(first, second, weights), rel=1e-12)


def best_by_enumeration(first, second, weights):
    """Return the largest weight, adding elements one after the other wherever both allow it."""
    best, reached = 0.0, [frozenset()]
    for element in range(len(weights)):
        reached += [
            s | {element}
            for s in reached
            if first.is_independent(sorted(s | {element})) and second.is_independent(sorted(s | {element}))
        ]
    for s in reached:
        best = max(best, weights[list(s)].sum())
    return best


@pytest.mark.parametrize("whole", [False, True])
def test_two_partitions_as_by_linear_programming(whole):
    random = np.random.default_rng(0)
    labels = random.integers(0, 25, (300, 2))
    weights = random.integers(1, 6, 300).astype(float) if whole else random.random(300)
    found = max_weight_common_set(*(Partition(column.tolist(), 2) for column in labels.T), weights)
    _, largest = max_weight_packing(weights, labels + np.array([0, 25]), np.full(50, 2))
    assert weights[found].sum() == pytest.approx(largest, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_makes_no_circuit(seed):
    # Sums of tenths and thirds depend on their order, and all the gains here are such sums.
    random = np.random.default_rng(seed)
    n = 60
    weights = random.choice([0.1, 0.2, 0.3, 1 / 3, 2 / 3, 0.7], n)
    labels = random.integers(0, 12, (n, 2))
    found = max_weight_common_set(*(Partition(column.tolist(), 1) for column in labels.T), weights)
    _, largest = max_weight_packing(weights, labels + np.array([0, 12]), np.ones(24, dtype=int))
    assert weights[found].sum() == pytest.approx(largest, rel=1e-12)


def test_a_forest_of_many_colours():
    edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)]
    colours = Partition([0, 0, 1, 1, 2, 2], 1)
    weights = np.array([5.0, 4.0, 4.5, 3.0, 2.0, 2.0])
    assert max_weight_common_set(Graphic(edges), colours, weights).tolist() == [0, 2, 4]
    assert max_weight_common_set(Transversal(6, [[0, 1], [0, 3]]), Uniform(6, 3), weights).tolist() == [0, 1]


def test_no_elements_and_no_weights():
    assert max_weight_common_set(Uniform(0, 1), Uniform(0, 1), np.empty(0)).size == 0
    assert max_weight_common_set(Uniform(3, 2), Uniform(3, 1), np.array([-1.0, 0.0, -2.0])).size == 0


def test_ends_even_under_what_is_no_matroid():
    class Bad(Matroid):
        n = 4

        def _is_independent(self, support):
            return set(support.tolist()) <= {0, 1} or set(support.tolist()) <= {2, 3}

    bad = Bad()
    found = max_weight_common_set(bad, Uniform(4, 2), np.array([3.0, 0.1, 2.0, 2.0]))
    assert bad.is_independent(found)
