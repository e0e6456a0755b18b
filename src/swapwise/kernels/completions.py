"""The best ways to add a few elements to a set, by going through all of them in closed form."""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.checks import FloatArray, IndexArray

# What is left of the square of a column is rounding below the first share of it, and safe above the second.
SPANNED, SAFE = 1e-14, 1e-9

UNRELIABLE = -1


def completions(gram: FloatArray, corr: FloatArray, size: int, floor: float, room: int) -> IndexArray | None:
    """Return the sets of ``size`` columns that explain more than ``floor``, one a row.

    ``gram`` and ``corr`` are the products of the columns with each other and with the response, when the
    columns chosen already are taken out of both, of columns that had length 1 before that; what a set
    explains is ``corr_Sᵀ gram_SS⁻¹ corr_S``. None if there are more than ``room`` sets, or if columns are so
    nearly collinear that rounding could hide one.

    >>> completions(np.eye(4), np.array([1.0, 2.0, 3.0, 4.0]), size=2, floor=20.0, room=10)
    array([[2, 3]])
    """
    m = len(corr)
    swept, rests = np.empty((size, m, m)), np.empty((size, m))
    swept[0], rests[0] = gram, corr
    sets = np.zeros((room, size), dtype=np.intp)
    chosen = np.full(size + 1, -1, dtype=np.intp)
    count = _walk(swept, rests, np.zeros(size + 1), chosen, floor, sets)
    return sets[:count] if 0 <= count <= room else None


@njit(cache=True)
def _walk(
    swept: FloatArray,
    rests: FloatArray,
    gains: FloatArray,
    chosen: IndexArray,
    floor: float,
    sets: IndexArray,
) -> int:
    """Go through all sets of increasing indices; those before the last two are swept out of the rest."""
    size, m = rests.shape
    depth = max(size - 2, 0)
    count, level = 0, 0
    while level >= 0:
        if level == depth:
            count = _last(swept, rests, gains[level], chosen, floor, count, sets)
            if count < 0 or count > len(sets):
                return count
            level -= 1
            continue
        j = chosen[level] + 1
        if j > m - (size - level):
            level -= 1
            continue
        pivot = swept[level, j, j]
        if SPANNED < pivot < SAFE:
            return UNRELIABLE
        chosen[level] = chosen[level + 1] = j
        gains[level + 1] = gains[level]
        inverse = 0.0
        if pivot >= SAFE:
            inverse = 1.0 / pivot
            gains[level + 1] += rests[level, j] ** 2 * inverse
        for a in range(j + 1, m):
            ratio = swept[level, j, a] * inverse
            rests[level + 1, a] = rests[level, a] - ratio * rests[level, j]
            for b in range(a, m):
                swept[level + 1, a, b] = swept[level, a, b] - ratio * swept[level, j, b]
        level += 1
    return count


@njit(cache=True)
def _last(
    swept: FloatArray,
    rests: FloatArray,
    gained: float,
    chosen: IndexArray,
    floor: float,
    count: int,
    sets: IndexArray,
) -> int:
    """Note the last pairs (or single columns) that explain more than ``floor`` with those before."""
    size, m = rests.shape
    level = max(size - 2, 0)
    for a in range(chosen[level] + 1, m):
        pivot, rest = swept[level, a, a], rests[level, a]
        if SPANNED < pivot < SAFE:
            return UNRELIABLE
        inverse = 1.0 / pivot if pivot >= SAFE else 0.0
        alone = gained + rest * rest * inverse
        # A single column has no partner: one round of the loop stands for nobody.
        for b in range(a + 1, m if size > 1 else a + 2):
            gain = alone
            if size > 1:
                ratio = swept[level, a, b] * inverse
                left = swept[level, b, b] - ratio * swept[level, a, b]
                if left >= SAFE:
                    gain += (rests[level, b] - ratio * rest) ** 2 / left
                elif left > SPANNED:
                    return UNRELIABLE
            if gain > floor:
                if count < len(sets):
                    for place in range(size - 2):
                        sets[count, place] = chosen[place]
                    sets[count, max(size - 2, 0)] = a
                    if size > 1:
                        sets[count, size - 1] = b
                count += 1
        if count > len(sets):
            return count
    return count
