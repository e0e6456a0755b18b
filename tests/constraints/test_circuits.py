"""Moves that add one element, from the circuits that it closes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from swapwise.constraints.algorithms.exchanges import left_aligned, minimal_hitting_sets
from swapwise.constraints.circuits import Circuits, Exchanges
from swapwise.moves import MoveList


def masks(rng, n, size, p):
    """Return what p matroids might say of n elements beside a set, loops and free elements among them."""
    feasible = rng.random((p, n, size + 1)) < rng.choice([0.2, 0.5, 0.8])
    feasible[:, :, :-1] |= feasible[:, :, -1:]
    return list(feasible)


@given(st.integers(0, 10**6), st.integers(0, 6), st.integers(1, 5))
def test_drops_are_the_minimal_hitting_sets(seed, size, p):
    rng, n = np.random.default_rng(seed), 12
    support, found = np.sort(rng.choice(100, size, replace=False)), masks(rng, n, size, p)
    is_open = rng.random(n) < 0.8
    listed = Exchanges(support, Circuits.of_masks(found, is_open), (2, p)).to_list()

    closed = [~mask[:, -1] for mask in found]
    circuits = [mask[:, :-1] & shut[:, None] for mask, shut in zip(found, closed, strict=True)]
    hopeless = np.any([s & ~c.any(axis=1) for s, c in zip(closed, circuits, strict=True)], axis=0)
    row, columns = minimal_hitting_sets(circuits)
    dropped = left_aligned(np.append(support, -1)[columns], p)
    expected = {
        (int(j), *goes)
        for j, goes in zip(row, dropped.tolist(), strict=True)
        if is_open[j] and not hopeless[j]
    }
    moves = [(int(j), *goes) for j, goes in zip(listed.added[:, 0], listed.dropped.tolist(), strict=True)]
    assert set(moves) == expected
    assert moves == sorted(moves)
    assert len(set(moves)) == len(moves)
    assert listed.added.shape[1] == 2


@given(st.integers(0, 10**6))
def test_parts_are_all_moves_in_order(seed):
    rng = np.random.default_rng(seed)
    circuits = Circuits.of_masks(masks(rng, 12, 5, 2), np.ones(12, dtype=bool))
    whole = Exchanges(np.arange(5), circuits, (1, 2))
    parts = MoveList.joined([part.to_list() for part in whole.parts()], 1, 2)
    np.testing.assert_array_equal(parts.added, whole.added)
    np.testing.assert_array_equal(parts.dropped, whole.dropped)
