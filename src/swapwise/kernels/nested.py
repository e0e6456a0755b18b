"""Limits on nested sets: a tree of sets, numbered so that parents come before their children.

``leaf`` is the smallest set of each element, ``parent`` and ``capacity`` are by set; the root, number 0, is
the whole ground set.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def first_base(chosen, order, leaf, parent, capacity):
    """Add to a mask of chosen elements each of an order in turn that the limits allow."""
    counts = np.zeros(len(parent), dtype=np.int64)
    for element in range(len(chosen)):
        if chosen[element]:
            _count(leaf[element], parent, counts)
    for element in order:
        if chosen[element]:
            continue
        node = leaf[element]
        while node > 0 and counts[node] < capacity[node]:
            node = parent[node]
        if node == 0 and counts[0] < capacity[0]:
            chosen[element] = True
            _count(leaf[element], parent, counts)
            if counts[0] == capacity[0]:
                break


@njit(cache=True, inline="always")
def _count(node, parent, counts):
    while node > 0:
        counts[node] += 1
        node = parent[node]
    counts[0] += 1
