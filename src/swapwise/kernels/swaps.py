"""Local search in least squares: closed-form gains of swaps, rank-one updates, and whole runs of best moves.

With X the chosen columns, ``C = (A_Xᵀ A_X + λI)⁻¹``, ``w = C A_Xᵀ y``, ``B = C A_Xᵀ A``, the residual
correlations ``c = Aᵀ(y − A_X w)`` and ``σ_j`` the squared length of column j that X does not
explain, dropping i and adding j lowers the residual sum of squares by exactly

    (c_j + B_ij w_i / C_ii)² / (σ_j + B_ij² / C_ii)  −  w_i² / C_ii .

``coupling`` below is B transposed, so that all that concerns a candidate lies side by side.
Chosen columns sit in slots ``0 .. size-1`` of the small arrays. A slot of -1 stands for no column at all.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.kernels import DEPENDENT, DONE, GOING_ON


@njit(cache=True, inline="always")
def _add_gain(corr, sigma, floor):
    """Gain of adding a column: nothing if the chosen ones already explain it."""
    return corr * corr / sigma if sigma > floor else 0.0


@njit(cache=True, inline="always")
def _swap_gain(coupling, weight, spread, corr, sigma, floor):
    """Gain of a swap; ``weight`` is w_i, ``spread`` is 1 / C_ii."""
    height = corr + coupling * weight * spread
    width = sigma + coupling * coupling * spread
    gained = height * height / width if width > floor else 0.0
    return gained - weight * weight * spread


@njit(cache=True)
def gain_of(added, slot, coupling, coef, spread, corr, sigma, floor):
    """Gain of adding column ``added`` in exchange for slot ``slot`` (-1: nothing is lost)."""
    if slot < 0:
        return _add_gain(corr[added], sigma[added], floor[added])
    return _swap_gain(
        coupling[added, slot], coef[slot], spread[slot], corr[added], sigma[added], floor[added]
    )


@njit(cache=True)
def grid_gains(useful, slots, coupling, coef, spread, corr, sigma, floor):
    """Gains of all useful moves of a grid; minus infinity elsewhere."""
    gains = np.full(useful.shape, -np.inf)
    last = useful.shape[1] - 1
    for j in range(useful.shape[0]):
        for i in range(last):
            if useful[j, i]:
                gains[j, i] = gain_of(j, slots[i], coupling, coef, spread, corr, sigma, floor)
        if useful[j, last]:
            gains[j, last] = _add_gain(corr[j], sigma[j], floor[j])
    return gains


@njit(cache=True)
def pair_gains(added, slots, coupling, coef, spread, corr, sigma, floor):
    """Gains of listed moves that add ``added[k]`` in exchange for ``slots[k]``."""
    gains = np.empty(len(added))
    for k in range(len(added)):
        gains[k] = gain_of(added[k], slots[k], coupling, coef, spread, corr, sigma, floor)
    return gains


@njit(cache=True)
def _cholesky_solve(matrix, vector, floor):
    """Forward-solve ``L z = vector`` for ``matrix = L Lᵀ`` in place; pivots at their floor count as none."""
    for i in range(len(vector)):
        for j in range(i):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / matrix[j, j] if matrix[j, j] > 0.0 else 0.0
            vector[i] -= matrix[i, j] * vector[j]
        pivot = matrix[i, i]
        for k in range(i):
            pivot -= matrix[i, k] * matrix[i, k]
        matrix[i, i] = np.sqrt(pivot) if pivot > floor[i] else 0.0
        vector[i] = vector[i] / matrix[i, i] if pivot > floor[i] else 0.0


@njit(cache=True)
def move_gains(added, places, slots, rest, inverse, coupling, coef, corr, floor, share):
    """Gains of listed moves of any size: the formula of a swap with blocks in place of numbers.

    NaN where added columns are nearly collinear with each other, and less than a ``share`` of one is left.

    Row k adds ``added[k]`` and takes out ``slots[k]`` (both padded with -1). ``rest[places[k, a],
    places[k, b]]`` is the inner product of two added columns after projection on the chosen ones; one column
    of squares is enough if no row adds more than one.
    """
    gains = np.empty(len(added))
    no_floor = np.zeros(slots.shape[1])
    last = rest.shape[1] - 1
    for k in range(len(added)):
        out = slots[k][slots[k] >= 0]
        new = added[k][added[k] >= 0]
        place = places[k][added[k] >= 0]
        block = np.empty((len(out), len(out)))
        lost = coef[out]
        for i in range(len(out)):
            for j in range(len(out)):
                block[i, j] = inverse[out[i], out[j]]
        _cholesky_solve(block, lost, no_floor)
        freed = np.empty((len(new), len(out)))
        gained = corr[new]
        unexplained = np.empty((len(new), len(new)))
        for a in range(len(new)):
            for i in range(len(out)):
                total = coupling[new[a], out[i]]
                for j in range(i):
                    total -= block[i, j] * freed[a, j]
                freed[a, i] = total / block[i, i]
                gained[a] += freed[a, i] * lost[i]
            for b in range(a + 1):
                total = rest[place[a], min(place[b], last)]
                for i in range(len(out)):
                    total += freed[a, i] * freed[b, i]
                unexplained[a, b] = total
        alone = np.diag(unexplained).copy()
        _cholesky_solve(unexplained, gained, floor[new])
        collinear = False
        for a in range(1, len(new)):
            collinear |= unexplained[a, a] ** 2 < share * alone[a]
        if collinear:
            gains[k] = np.nan
            continue
        gains[k] = (gained * gained).sum() - (lost * lost).sum()
    return gains


@njit(cache=True)
def _best_of_row(j, target, feasible, slots, coupling, coef, spread, corr, sigma, floor):
    """First column of row j with a gain of at least ``target``, else the best one, and its gain."""
    best, where = -np.inf, -1
    for i in range(len(slots)):
        if feasible[j, i]:
            gain = gain_of(j, slots[i], coupling, coef, spread, corr, sigma, floor)
            if gain > best:
                best, where = gain, i
                if best >= target:
                    break
    return best, where


@njit(cache=True)
def _row_reaches(j, target, feasible, slots, coupling, coef, spread, corr, sigma, floor):
    """Whether a swap that adds j gains ``target``: no division, so that hopeless rows cost little."""
    c, left, least = corr[j], sigma[j], floor[j]
    for i in range(len(slots)):
        slot = slots[i]
        if not feasible[j, i]:
            continue
        if slot < 0:
            if _add_gain(c, left, least) >= target:
                return True
            continue
        weight, free, share = coef[slot], spread[slot], coupling[j, slot]
        height, width = c + share * weight * free, left + share * share * free
        if width > least:
            if height * height >= (target + weight * weight * free) * width:
                return True
        elif -weight * weight * free >= target:
            return True
    return False


@njit(cache=True)
def best_of_grid(feasible, slots, coupling, coef, spread, corr, sigma, floor, tie, scale):
    """Flat index and gain of the best move of a grid, and how many gains were computed.

    Exact, yet lazy: no swap that adds j gains more than adding j without any drop, so that bound
    is computed for all and the swaps only for those candidates whose bound beats the best found.
    """
    n, last = feasible.shape[0], feasible.shape[1] - 1
    bound, gains = np.empty(n), np.full(n, -np.inf)
    best, leader, evaluated = -np.inf, -1, 0
    for j in range(n):
        bound[j] = _add_gain(corr[j], sigma[j], floor[j])
        if feasible[j, last]:
            evaluated += 1
            gains[j] = bound[j]
            best = max(best, bound[j])
            continue
        if sigma[j] <= floor[j]:
            bound[j] = np.inf  # too little is left of it to tell, but a swap for its near twin may gain
        if leader < 0 or bound[j] > bound[leader]:
            leader = j
    if leader >= 0 and bound[leader] > best:
        gains[leader], _ = _best_of_row(
            leader, np.inf, feasible, slots, coupling, coef, spread, corr, sigma, floor
        )
        best = max(best, gains[leader])
        evaluated += last
        for j in range(n):
            target = best - tie * (abs(best) + abs(scale))
            if feasible[j, last] or j == leader or not bound[j] >= target:
                continue
            evaluated += last
            if _row_reaches(j, target, feasible, slots, coupling, coef, spread, corr, sigma, floor):
                gains[j], _ = _best_of_row(
                    j, np.inf, feasible, slots, coupling, coef, spread, corr, sigma, floor
                )
                best = max(best, gains[j])
    if best == -np.inf:
        return -1, best, evaluated

    # The smallest index among all that are equal up to rounding.
    target = best - tie * (abs(best) + abs(scale))
    j = np.argmax(gains >= target)
    if feasible[j, last]:
        return j * (last + 1) + last, gains[j], evaluated
    gain, i = _best_of_row(j, target, feasible, slots, coupling, coef, spread, corr, sigma, floor)
    return j * (last + 1) + i, gain, evaluated


@njit(cache=True)
def best_of_rows(feasible, slots, coupling, coef, spread, corr, sigma, floor):
    """Gain of the best move of a grid that adds each candidate, 0 if none improves."""
    n, last = feasible.shape[0], feasible.shape[1] - 1
    gains = np.zeros(n)
    for j in range(n):
        if feasible[j, last]:
            gains[j] = _add_gain(corr[j], sigma[j], floor[j])
        else:
            best, _ = _best_of_row(j, np.inf, feasible, slots, coupling, coef, spread, corr, sigma, floor)
            gains[j] = max(best, 0.0)
    return gains


@njit(cache=True)
def pair_curvatures(squares, drops, slots, products):
    """Largest eigenvalue of the Gram block of every pair (added, dropped); last column: added alone."""
    n, last = len(squares), len(drops)
    largest = np.empty((n, last + 1))
    for j in range(n):
        for i in range(last):
            mean = (squares[j] + squares[drops[i]]) / 2
            half = squares[j] - mean
            across = products[j, slots[i]]
            largest[j, i] = mean + np.sqrt(half * half + across * across)
        largest[j, last] = squares[j]
    return largest


@njit(cache=True)
def remove_slot(slot, size, coupling, inverse, coef, corr, sigma):
    """Take a chosen column out: a sweep of the factors. The last slot moves into its place."""
    spread = 1.0 / inverse[slot, slot]
    ratio = inverse[:size, slot] * spread
    weight = coef[slot]
    last = size - 1
    for j in range(coupling.shape[0]):
        share = coupling[j, slot]
        corr[j] += share * weight * spread
        sigma[j] += share * share * spread
        for i in range(size):
            coupling[j, i] -= ratio[i] * share
        coupling[j, slot] = coupling[j, last]
    row = inverse[slot, :size].copy()
    for i in range(size):
        coef[i] -= ratio[i] * weight
        for k in range(size):
            inverse[i, k] -= ratio[i] * row[k]
    coef[slot] = coef[last]
    inverse[slot, :last] = inverse[last, :last]
    inverse[:last, slot] = inverse[:last, last]
    inverse[slot, slot] = inverse[last, last]


@njit(cache=True)
def insert_slot(size, explained, unexplained, step, known, row, coupling, inverse, coef, corr, sigma):
    """Put a column into slot ``size``: the inverse sweep.

    ``explained`` are its coefficients on the chosen columns, ``unexplained`` its σ, ``step`` its own new
    coefficient. ``row`` holds its inner products with all columns, and ``known`` those with the chosen ones:
    what a column has in common with the rest of the new one follows from its row of B.
    """
    for j in range(coupling.shape[0]):
        share = row[j]
        for i in range(size):
            share -= coupling[j, i] * known[i]
        corr[j] -= step * share
        share /= unexplained
        sigma[j] -= unexplained * share * share
        for i in range(size):
            coupling[j, i] -= explained[i] * share
        coupling[j, size] = share
    for i in range(size):
        coef[i] -= explained[i] * step
        for k in range(size):
            inverse[i, k] += explained[i] * explained[k] / unexplained
        inverse[i, size] = inverse[size, i] = -explained[i] / unexplained
    inverse[size, size] = 1.0 / unexplained
    coef[size] = step


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
def best_moves(gram, squares, floor, limits, fixed, tableau, start, total, tol, tie, share, rounds):
    """Take the best move under nested limits for as long as it gains more than ``tol · total``.

    ``gram`` are inner products of the columns with each other, ``squares`` its diagonal plus the ridge,
    ``limits`` the arrays of a laminar family, ``fixed`` what is never dropped. The ``tableau`` is where the
    search is, and is left where it ends: chosen elements by slot, slot by element, B, C, w, c and σ, two
    counts (slots, elements of the start that are in) and how much of the squared length of y is
    explained. First the elements of the start come in one by one, by the same sweeps.

    The search also ends when less than ``share`` is left of a column. Returns GOING_ON after ``rounds``
    rounds, DONE, or DEPENDENT if the start cannot be put together; the number of gains computed; and for
    every move what it adds and drops (-1 for nothing) and its gain.
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
