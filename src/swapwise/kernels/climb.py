"""Best-improvement search among a few columns in one call: no look at Python between its moves."""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels.statuses import DEPENDENT, DONE, GOING_ON
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
def climb(gram, squares, floor, limits, fixed, tableau, start, total, tol, tie, share, rounds):
    """Take the best move under nested limits for as long as it gains more than ``tol · total``.

    ``gram`` are inner products of the columns with each other, ``squares`` its diagonal plus the ridge,
    ``limits`` the arrays of a laminar family, ``fixed`` what is never dropped. The ``tableau`` is where the
    search is, and is left where it ends: chosen elements by slot, slot by element, B, C, w, c and σ, two
    counts (slots, elements of the start that are in) and how much of the squared length of y is
    explained. First the elements of the start come in one by one, by the same sweeps.

    The search also ends when less than ``share`` is left of a column. Returns GOING_ON after so many rounds,
    DONE, or DEPENDENT if the start cannot be put together; the number of gains computed; and for every move
    what it adds and drops (-1 for nothing) and its gain.
    """
    leaf, end, parent, capacity = limits
    elements, place, coupling, inverse, coef, corr, sigma, counts, explained = tableau
    moves, gains = np.full((rounds, 2), -1, dtype=np.int64), np.zeros(rounds)
    taken, evaluated, status = 0, 0, GOING_ON
    for _ in range(rounds):
        size = counts[0]
        if counts[1] < len(start):
            added = start[counts[1]]
            counts[1] += 1
            if sigma[added] <= floor[added]:
                status = DEPENDENT
                break
            explained[0] += corr[added] * corr[added] / sigma[added]
        else:
            if share > 0.0 and not _is_plain(sigma, squares, place, share):
                status = DONE
                break
            slots = np.argsort(elements[:size])  # by element, so that ties go to the smallest
            feasible = _feasible(leaf, end, parent, capacity, fixed, place, elements[slots])
            spread = 1.0 / np.diag(inverse)[:size]
            index, gain, computed = best_of_grid(
                feasible, slots, coupling, coef, spread, corr, sigma, floor, tie, total
            )
            evaluated += computed
            if index < 0 or not gain > tol * total:
                status = DONE
                break
            added, column = index // (size + 1), index % (size + 1)
            explained[0] += gain
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
        _put_in(added, size, gram, tableau)
    return status, evaluated, moves[:taken], gains[:taken]


@njit(cache=True)
def _put_in(added, size, gram, tableau):
    """Put a column into the next slot."""
    elements, place, coupling, inverse, coef, corr, sigma, counts, _ = tableau
    known = np.empty(size)
    for slot in range(size):
        known[slot] = gram[added, elements[slot]]
    beta, left = coupling[added, :size].copy(), sigma[added]
    insert_slot(
        size, beta, left, corr[added] / left, known, gram[added], coupling, inverse, coef, corr, sigma
    )
    elements[size], place[added] = added, size
    counts[0] = size + 1
