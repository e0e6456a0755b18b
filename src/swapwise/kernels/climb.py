"""Best-improvement search among a few columns in one call: no look at Python between its moves."""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels.swaps import best_of_grid, insert_slot, remove_slot


@njit(cache=True)
def _feasible(leaf, end, parent, capacity, fixed, place, drops):
    """Return the mask of additions and swaps under limits on nested sets, numbered in preorder."""
    nodes, n, size = len(end), len(leaf), len(drops)
    counts = np.zeros(nodes, dtype=np.int64)
    for dropped in drops:
        counts[leaf[dropped]] += 1
    for node in range(nodes - 1, 0, -1):
        counts[parent[node]] += counts[node]
    blocker = np.full(nodes, -1, dtype=np.int64)  # the smallest full set around each
    for node in range(nodes):
        if counts[node] >= capacity[node]:
            blocker[node] = node
        elif node:
            blocker[node] = blocker[parent[node]]
    feasible = np.zeros((n, size + 1), dtype=np.bool_)
    for j in range(n):
        if place[j] >= 0:
            continue
        full = blocker[leaf[j]]
        feasible[j, size] = full < 0
        if full >= 0:
            for i in range(size):
                dropped = drops[i]
                feasible[j, i] = full <= leaf[dropped] < end[full] and not fixed[dropped]
    return feasible


@njit(cache=True)
def _is_plain(sigma, squares, place, share):
    """Whether of every column that is not chosen at least a share is left."""
    spanned = 0
    for j in range(len(sigma)):
        spanned += place[j] < 0 and sigma[j] < share * squares[j]
    return spanned == 0


@njit(cache=True)
def climb(gram, with_y, squares, floor, limits, fixed, start, room, total, tol, tie, share, rounds):
    """Take the best move under nested limits for as long as it gains more than ``tol · total``.

    ``gram`` and ``with_y`` are inner products of the columns with each other and with y, ``squares`` the
    diagonal of the first plus the ridge, ``limits`` the arrays of a laminar family, ``fixed`` what is never
    dropped, and ``room`` the largest size of an allowed set. The search also ends when less than ``share``
    is left of a column. Returns whether the start could be put together, the chosen elements, how much of the
    squared length of y they explain, the number of gains computed, and for every move what it adds and drops
    (-1 for nothing) and its gain.
    """
    leaf, end, parent, capacity = limits
    n = len(with_y)
    elements, place = np.empty(room, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    coupling, inverse, coef = np.zeros((n, room)), np.zeros((room, room)), np.zeros(room)
    corr, sigma = with_y.copy(), squares.copy()
    moves, gains = np.full((rounds, 2), -1, dtype=np.int64), np.zeros(rounds)
    explained, size, taken, evaluated, waiting = 0.0, 0, 0, 0, len(start)
    while taken < rounds:
        if waiting:  # the start comes in one by one, by the same sweeps
            added = start[len(start) - waiting]
            waiting -= 1
            if sigma[added] <= floor[added]:
                return False, elements[:size], explained, evaluated, moves[:0], gains[:0]
            explained += corr[added] * corr[added] / sigma[added]
        else:
            if share > 0.0 and not _is_plain(sigma, squares, place, share):
                break
            slots = np.argsort(elements[:size])  # by element, so that ties go to the smallest
            feasible = _feasible(leaf, end, parent, capacity, fixed, place, elements[slots])
            spread = 1.0 / np.diag(inverse)[:size]
            index, gain, computed = best_of_grid(
                feasible, slots, coupling, coef, spread, corr, sigma, floor, tie, total
            )
            evaluated += computed
            if index < 0 or not gain > tol * total:
                break
            added, column = index // (size + 1), index % (size + 1)
            explained += gain
            moves[taken, 0], gains[taken] = added, gain
            if column < size:
                slot = slots[column]
                moves[taken, 1] = elements[slot]
                remove_slot(slot, size, coupling, inverse, coef, corr, sigma)
                place[elements[slot]] = -1
                size -= 1
                if slot < size:
                    elements[slot] = elements[size]
                    place[elements[slot]] = slot
            taken += 1
        known = np.empty(size)
        for slot in range(size):
            known[slot] = gram[added, elements[slot]]
        beta, left = coupling[added, :size].copy(), sigma[added]
        insert_slot(
            size, beta, left, corr[added] / left, known, gram[added], coupling, inverse, coef, corr, sigma
        )
        elements[size], place[added] = added, size
        size += 1
    return True, elements[:size], explained, evaluated, moves[:taken], gains[:taken]
