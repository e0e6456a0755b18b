import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import swapwise as sw
from swapwise.constraints.algorithms.matroid_intersection import local_search_weight
from tests.contracts.constraint_zoo import FAMILIES, randoms, subsets

MATROIDS = st.sampled_from(sorted(FAMILIES)).flatmap(FAMILIES.__getitem__)


def some_weights(random, n):
    return random.normal(0.5, 1.0, n) if random.random() < 0.5 else random.integers(-1, 4, n).astype(float)


def largest_weight(constraint, weights):
    allowed = (list(s) for s in subsets(range(constraint.n)) if constraint.is_independent(s))
    return max(weights[s].sum() for s in allowed)


def check_ratio(constraint, weights, q, ratio):
    found = local_search_weight(constraint, weights, q)
    assert constraint.is_independent(found)
    assert (weights[found] > 0).all()
    assert weights[found].sum() >= ratio * largest_weight(constraint, weights) - 1e-9
    for batch in constraint.moves(found, q):
        for move in batch.to_list().moves():
            rise = weights[list(move.added)].clip(0).sum() - weights[list(move.dropped)].sum()
            assert rise <= 1e-9


@settings(max_examples=150, deadline=None)
@given(MATROIDS, randoms)
def test_under_one_matroid_nothing_is_heavier(specimen, random):
    check_ratio(specimen.matroid, some_weights(random, specimen.matroid.n), 1, 1.0)


@settings(max_examples=60, deadline=None)
@given(randoms, st.sampled_from([1, 2]))
def test_graphs(random, q):
    tail, head = np.triu_indices(5, 1)
    kept = np.sort(random.permutation(10)[:9])
    matching = sw.BMatching(list(zip(tail[kept].tolist(), head[kept].tolist(), strict=True)), 1)
    check_ratio(matching, some_weights(random, len(kept)), q, 1 / (1 + 1 / q))


@settings(max_examples=60, deadline=None)
@given(randoms, st.sampled_from([(2, 1), (2, 2), (3, 1), (3, 2)]))
def test_intersections(random, numbers):
    p, q = numbers
    n = 7
    matroids = [sw.Partition(random.integers(0, 4, n).tolist(), 1) for _ in range(p)]
    check_ratio(sw.Intersection(*matroids), some_weights(random, n), q, 1 / (p - 1 + 1 / q))


def test_better_than_greedy():
    # Greedy takes the middle edge of a path, 1.1, and is stuck; the two outer ones weigh 2.
    path = sw.BMatching([(0, 1), (1, 2), (2, 3)], 1)
    assert local_search_weight(path, np.array([1.0, 1.1, 1.0]), q=2).tolist() == [0, 2]


def test_a_matroid_has_single_swaps_only():
    with pytest.raises(ValueError, match="q = 1; got q = 2"):
        local_search_weight(sw.Uniform(3, 1), np.ones(3), q=2)
