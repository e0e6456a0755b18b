"""Local search in least squares where an element is a block of columns: closed-form gains, whole runs.

The formula of a swap in :mod:`swapwise.kernels.swaps` with blocks in place of numbers. With I the slots of
the element that is dropped, ``C_II = K Kᵀ`` and ``F = B_jI K⁻ᵀ``, dropping i and adding j lowers the residual
sum of squares by exactly

    hᵀ (S_j + F Fᵀ)⁻¹ h  −  ‖K⁻¹ w_I‖²,    h = c_j + F K⁻¹ w_I ,

where ``S_j`` are the inner products of the columns of j once the chosen ones are taken out of them, with the
penalty. The columns of an element stand in rows ``begin[j] : begin[j + 1]``; its block S_j is stored row by
row from ``at[j]`` on.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels import DONE, GOING_ON
from swapwise.kernels.swaps import _feasible, insert_slot, remove_slot


@njit(cache=True)
def _forward(matrix, vector, floor, size, strict):
    """Factor ``matrix = L Lᵀ`` and solve ``L z = vector``, both in place; return ‖z‖².

    A pivot at its floor counts as none; if ``strict``, the answer is then not a number.
    """
    total = 0.0
    for i in range(size):
        for j in range(i):
            rest = matrix[i, j]
            for k in range(j):
                rest -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = rest / matrix[j, j] if matrix[j, j] > 0.0 else 0.0
            vector[i] -= matrix[i, j] * vector[j]
        pivot = matrix[i, i]
        for k in range(i):
            pivot -= matrix[i, k] * matrix[i, k]
        if pivot > floor[i]:
            matrix[i, i] = np.sqrt(pivot)
            vector[i] /= matrix[i, i]
        elif strict:
            return np.nan
        else:
            matrix[i, i] = vector[i] = 0.0
        total += vector[i] * vector[i]
    return total


@njit(cache=True)
def drop_factors(first, slots, inverse, coef):
    """Return ``K`` and ``K⁻¹ w_I`` of every element that can be dropped, padded, and what each loses.

    The slots of drop i are ``slots[first[i] : first[i + 1]]``.
    """
    drops = len(first) - 1
    width = 1
    for i in range(drops):
        width = max(width, first[i + 1] - first[i])
    roots, lost, losses = np.zeros((drops, width, width)), np.zeros((drops, width)), np.zeros(drops)
    nothing = np.zeros(width)
    for i in range(drops):
        own = slots[first[i] : first[i + 1]]
        for a in range(len(own)):
            lost[i, a] = coef[own[a]]
            for b in range(a + 1):
                roots[i, a, b] = inverse[own[a], own[b]]
        losses[i] = _forward(roots[i], lost[i], nothing, len(own), False)
    return first, slots, roots, lost, losses


@njit(cache=True)
def _gain(j, i, blocks, drops, scratch, strict):
    """Return the gain of adding element j in exchange for drop i (-1: nothing is lost)."""
    begin, at, coupling, corr, left, floor = blocks
    first, slots, roots, lost, losses = drops
    height, width, freed = scratch
    row, size = begin[j], begin[j + 1] - begin[j]
    for a in range(size):
        height[a] = corr[row + a]
        for b in range(a + 1):
            width[a, b] = left[at[j] + a * size + b]
    if i < 0:
        return _forward(width, height, floor[row : row + size], size, strict)
    out = first[i + 1] - first[i]
    for a in range(size):
        for k in range(out):
            share = coupling[row + a, slots[first[i] + k]]
            for m in range(k):
                share -= roots[i, k, m] * freed[a, m]
            freed[a, k] = share / roots[i, k, k] if roots[i, k, k] > 0.0 else 0.0
            height[a] += freed[a, k] * lost[i, k]
        for b in range(a + 1):
            for k in range(out):
                width[a, b] += freed[a, k] * freed[b, k]
    return _forward(width, height, floor[row : row + size], size, strict) - losses[i]


@njit(cache=True)
def _scratch(blocks, drops):
    begin, widest = blocks[0], drops[2].shape[1]
    size = 1
    for j in range(len(begin) - 1):
        size = max(size, begin[j + 1] - begin[j])
    return np.empty(size), np.empty((size, size)), np.empty((size, widest))


@njit(cache=True)
def addition_gains(blocks, drops, strict):
    """Return what each element gains if nothing is dropped for it."""
    scratch = _scratch(blocks, drops)
    gains = np.empty(len(blocks[0]) - 1)
    for j in range(len(gains)):
        gains[j] = _gain(j, -1, blocks, drops, scratch, strict)
    return gains


@njit(cache=True)
def block_solutions(begin, at, corr, left, floor):
    """Return ``S_j⁻¹ c_j`` of every element and ``c_jᵀ S_j⁻¹ c_j``, which is not a number at a floor."""
    solution, gains = np.zeros(len(corr)), np.empty(len(begin) - 1)
    for j in range(len(gains)):
        row, size = begin[j], begin[j + 1] - begin[j]
        root, vector = np.empty((size, size)), corr[row : row + size].copy()
        for a in range(size):
            for b in range(a + 1):
                root[a, b] = left[at[j] + a * size + b]
        gains[j] = _forward(root, vector, floor[row : row + size], size, True)
        if np.isnan(gains[j]):
            continue
        for a in range(size - 1, -1, -1):
            for b in range(a + 1, size):
                vector[a] -= root[b, a] * vector[b]
            vector[a] /= root[a, a]
        solution[row : row + size] = vector
    return solution, gains


@njit(cache=True)
def add_combinations(steps, elements, begin, coef, columns):
    """Add to ``steps`` (elements by levels by samples) the columns of each, with coefficients by levels."""
    levels = steps.shape[1]
    for row in range(len(elements)):
        for k in range(begin[elements[row]], begin[elements[row] + 1]):
            for a in range(levels):
                weight = coef[k * levels + a]
                for s in range(steps.shape[2]):
                    steps[row, a, s] += weight * columns[k, s]


@njit(cache=True)
def pair_gains(added, column, blocks, drops, strict):
    """Return the gains of listed moves that add ``added[k]`` in exchange for drop ``column[k]``."""
    scratch = _scratch(blocks, drops)
    gains = np.empty(len(added))
    for k in range(len(added)):
        if added[k] < 0:
            gains[k] = -drops[4][column[k]] if column[k] >= 0 else 0.0
        else:
            gains[k] = _gain(added[k], column[k], blocks, drops, scratch, strict)
    return gains


@njit(cache=True)
def grid_gains(feasible, blocks, drops, strict, least, tie, scale):
    """Return the gains of a grid, minus infinity for moves that cannot be its best, and how many there are.

    Elements that can be added alone are: a needless drop never pays. No swap that adds j gains more than j
    does alone, so swaps are computed only where that beats ``least`` and the best found. With a ``least`` of
    minus infinity and ``tie`` infinite, all are. Gains that are not known in closed form are not numbers.
    """
    n, last = feasible.shape[0], feasible.shape[1] - 1
    scratch = _scratch(blocks, drops)
    gains, bound = np.full(feasible.shape, -np.inf), np.full(n, -np.inf)
    best, evaluated = least, 0
    for j in range(n):
        if not feasible[j].any():
            continue
        alone = _gain(j, -1, blocks, drops, scratch, strict)
        evaluated += 1
        if feasible[j, last]:
            gains[j, last] = alone
            if alone > best:
                best = alone
        else:
            bound[j] = np.inf if np.isnan(alone) else alone
    for j in np.argsort(-bound):
        if bound[j] == -np.inf or bound[j] < best - tie * (abs(best) + scale):
            break
        for i in range(last):
            if feasible[j, i]:
                gains[j, i] = _gain(j, i, blocks, drops, scratch, strict)
                evaluated += 1
                if gains[j, i] > best:
                    best = gains[j, i]
    return gains, evaluated


@njit(cache=True)
def _first_best(gains, tie, scale):
    """Return the flat index and the gain of the first move that ties with the best; -1 if there is none."""
    best = gains.max()
    if best == -np.inf:
        return -1, best
    target = best - tie * (abs(best) + scale)
    flat = gains.ravel()
    for index in range(len(flat)):
        if flat[index] >= target:
            return index, flat[index]
    return -1, best


@njit(cache=True)
def remaining_blocks(own, begin, at, coupling, products):
    """Return ``S_j = G_j − B_j P_jᵀ`` for every element: its own block without what the chosen explain."""
    left = own.copy()
    for j in range(len(begin) - 1):
        row, size = begin[j], begin[j + 1] - begin[j]
        for a in range(size):
            for b in range(a + 1):
                share = 0.0
                for k in range(coupling.shape[1]):
                    share += coupling[row + a, k] * products[row + b, k]
                left[at[j] + a * size + b] -= share
    return left


@njit(cache=True)
def _sweep(begin, at, left, shares, amount):
    """Add ``amount · s sᵀ`` to every block, for a number s per row."""
    for j in range(len(begin) - 1):
        row, size = begin[j], begin[j + 1] - begin[j]
        for a in range(size):
            for b in range(a + 1):
                left[at[j] + a * size + b] += amount * shares[row + a] * shares[row + b]


@njit(cache=True)
def _put_in(element, gram, floor, begin, at, tableau):
    """Put the columns of an element into the next slots; those that the chosen ones span get none."""
    elements, place, coupling, inverse, coef, corr, sigma, left, slot_row, slot, counts, explained = tableau
    elements[counts[0]], place[element] = element, counts[0]
    counts[0] += 1
    for row in range(begin[element], begin[element + 1]):
        if not sigma[row] > floor[row]:
            continue
        size, unexplained, step = counts[2], sigma[row], corr[row] / sigma[row]
        known = np.empty(size)
        for k in range(size):
            known[k] = gram[row, slot_row[k]]
        explained[0] += corr[row] * step
        beta = coupling[row, :size].copy()
        insert_slot(size, beta, unexplained, step, known, gram[row], coupling, inverse, coef, corr, sigma)
        _sweep(begin, at, left, coupling[:, size], -unexplained)
        slot_row[size], slot[row] = row, size
        counts[2] = size + 1


@njit(cache=True)
def _take_out(element, begin, at, tableau):
    """Take the columns of an element out; the last slots, and the last element, move into their places."""
    elements, place, coupling, inverse, coef, corr, sigma, left, slot_row, slot, counts, explained = tableau
    for row in range(begin[element], begin[element + 1]):
        out = slot[row]
        if out < 0:
            continue
        size = counts[2]
        explained[0] -= coef[out] * coef[out] / inverse[out, out]
        _sweep(begin, at, left, coupling[:, out].copy(), 1.0 / inverse[out, out])
        remove_slot(out, size, coupling, inverse, coef, corr, sigma)
        slot[row] = -1
        if out < size - 1:
            slot_row[out] = slot_row[size - 1]
            slot[slot_row[out]] = out
        counts[2] = size - 1
    last = counts[0] - 1
    where = place[element]
    elements[where] = elements[last]
    place[elements[where]] = where
    place[element] = -1
    counts[0] = last


@njit(cache=True)
def _slots_of(drops, begin, slot):
    """Return the slots of elements one after the other, and where those of each begin."""
    first = np.zeros(len(drops) + 1, dtype=np.int64)
    slots = np.empty(len(slot), dtype=np.int64)
    for i in range(len(drops)):
        first[i + 1] = first[i]
        for row in range(begin[drops[i]], begin[drops[i] + 1]):
            if slot[row] >= 0:
                slots[first[i + 1]] = slot[row]
                first[i + 1] += 1
    return first, slots


@njit(cache=True)
def _is_plain(blocks, drops, place):
    """Return whether of every element that is not chosen more than its floors is left."""
    scratch, spanned = _scratch(blocks, drops), False
    for j in range(len(place)):
        spanned |= place[j] < 0 and np.isnan(_gain(j, -1, blocks, drops, scratch, True))
    return not spanned


@njit(cache=True)
def best_moves(gram, floor, begin, at, limits, fixed, tableau, start, total, tol, tie, strict, rounds):
    """Take the best move under nested limits for as long as it gains more than ``tol · total``.

    What :func:`swapwise.kernels.swaps.best_moves` is for single columns, and with the same answer. The
    ``tableau`` has the chosen elements, the place of each, B, C, w, c, σ, the blocks S, the row of each slot,
    the slot of each row, three counts (chosen, elements of the start that are in, slots) and what is
    explained. If ``strict``, the search ends where the chosen ones leave less than the floor of a column.
    """
    leaf, end, parent, capacity = limits
    elements, place, coupling, inverse, coef, corr, _, left, _, slot, counts, _ = tableau
    moves, gains = np.full((rounds, 2), -1, dtype=np.int64), np.zeros(rounds)
    taken, evaluated, status = 0, 0, GOING_ON
    for _ in range(rounds):
        if counts[1] < len(start):
            _put_in(start[counts[1]], gram, floor, begin, at, tableau)
            counts[1] += 1
            continue
        drops = np.sort(elements[: counts[0]])
        feasible = _feasible(leaf, end, parent, capacity, fixed, place, drops)
        first, slots = _slots_of(drops, begin, slot)
        factors = drop_factors(first, slots, inverse, coef)
        blocks = (begin, at, coupling, corr, left, floor)
        if strict and not _is_plain(blocks, factors, place):
            status = DONE
            break
        table, computed = grid_gains(feasible, blocks, factors, False, 0.0, tie, total)
        evaluated += computed
        index, gain = _first_best(table, tie, total)
        if index < 0 or not gain > tol * total:
            status = DONE
            break
        added, column = index // table.shape[1], index % table.shape[1]
        moves[taken, 0], gains[taken] = added, gain
        if column < len(drops):
            moves[taken, 1] = drops[column]
            _take_out(drops[column], begin, at, tableau)
        _put_in(added, gram, floor, begin, at, tableau)
        taken += 1
    return status, evaluated, moves[:taken], gains[:taken]
