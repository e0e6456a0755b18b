"""The best ways to add a few elements to a set: all of them, in closed form."""

from __future__ import annotations

import numpy as np
from numba import njit

from swapwise.checks import FloatArray, IndexArray

# Stands on the diagonal for a column of which nothing is left: zeros, or a copy of one that was taken out.
# Rounding leaves nothing that is as far below zero.
GONE = -1.0


def completions(
    gram: FloatArray,
    corr: FloatArray,
    copies: IndexArray,
    size: int,
    floor: float,
    room: int,
    noise: float,
) -> IndexArray | None:
    """Return the sets of ``size`` columns that may explain more than ``floor``, one per row.

    ``gram`` and ``corr`` are the products of the columns with each other and with the response, when the
    columns chosen already are taken out of both; columns and response had length 1 before that. What a set
    explains is ``corr_Sᵀ gram_SS⁻¹ corr_S``. Columns with the same number in ``copies`` are copies of each
    other. None if there are more than ``room`` sets.

    ``noise`` is what entries of both may be off by. The error grows with every column that is taken out, and
    what a column explains is moved up by what the error may hide. So nearly collinear columns, of which
    little but rounding is left, may explain everything: no set is missed, and those found need a closer look.

    >>> corr = np.array([0.1, 0.2, 0.3, 0.4])
    >>> completions(np.eye(4), corr, np.arange(4), size=2, floor=0.22, room=10, noise=1e-13)
    array([[2, 3]])
    """
    m = len(corr)
    swept, rests = np.empty((size, m, m)), np.empty((size, m))
    swept[0], rests[0] = gram, corr
    np.fill_diagonal(swept[0], np.where(np.diag(gram) == 0.0, GONE, np.diag(gram)))
    sets = np.zeros((room, size), dtype=np.intp)
    chosen = np.full(size + 1, -1, dtype=np.intp)
    noises = np.full(size + 1, noise)
    count = _walk(swept, rests, copies, np.zeros(size + 1), noises, chosen, floor, sets)
    return sets[:count] if count <= room else None


@njit(cache=True)
def _walk(swept, rests, copies, gains, noises, chosen, floor, sets):
    """Visit all sets of increasing indices; those before the last two are swept out of the rest."""
    size, m = rests.shape
    depth = max(size - 2, 0)
    count, level = 0, 0
    while level >= 0:
        if level == depth:
            count = _last(swept, rests, copies, gains[level], noises[level], chosen, floor, count, sets)
            if count > len(sets):
                return count
            level -= 1
            continue
        j = chosen[level] + 1
        if j > m - (size - level):
            level -= 1
            continue
        chosen[level] = chosen[level + 1] = j
        inverse, gain = _explained(swept[level, j, j], rests[level, j], noises[level])
        gains[level + 1] = gains[level] + gain
        _sweep(swept, rests, copies, noises, level, j, inverse)
        level += 1
    return count


@njit(cache=True, inline="always")
def _explained(pivot, rest, noise):
    """One over what is left of a column, and what it explains at most."""
    inverse = 1.0 / max(pivot, noise) if pivot != GONE else 0.0
    return inverse, (rest * rest + noise) * inverse


@njit(cache=True)
def _sweep(swept, rests, copies, noises, level, j, inverse):
    """Take a column out of those behind it."""
    m = rests.shape[1]
    largest, out = 0.0, swept[level, j]
    for a in range(j + 1, m):
        ratio = out[a] * inverse
        largest = max(largest, abs(ratio))
        rests[level + 1, a] = rests[level, a] - ratio * rests[level, j]
        before, after = swept[level, a], swept[level + 1, a]
        for b in range(a, m):
            after[b] = before[b] - ratio * out[b]
    for a in range(j + 1, m):
        if copies[a] == copies[j]:
            rests[level + 1, a] = 0.0
            for b in range(j + 1, m):
                swept[level + 1, min(a, b), max(a, b)] = 0.0
            swept[level + 1, a, a] = GONE
    noises[level + 1] = noises[level] * (1.0 + largest) ** 2


@njit(cache=True)
def _last(swept, rests, copies, gained, noise, chosen, floor, count, sets):
    """Note the last pairs (or single columns) that may explain more than ``floor`` with those before."""
    size, m = rests.shape
    level = max(size - 2, 0)
    products, with_y = swept[level], rests[level]
    squares = np.diag(products).copy()  # side by side, so that the loop below is one over plain rows
    for a in range(chosen[level] + 1, m):
        rest = with_y[a]
        inverse, gain = _explained(squares[a], rest, noise)
        missing = floor - gained - gain
        if size == 1:
            count = _noted(missing < 0.0, a, a, chosen, count, sets)
            continue
        # No ratio below exceeds 1/√pivot, for the other columns are no longer than 1.
        after = noise * (1.0 + np.sqrt(inverse)) ** 2
        if _hits(products[a, a + 1 :], squares[a + 1 :], with_y[a + 1 :], inverse, rest, after, missing) > 0:
            for b in range(a + 1, m):
                if _hits(products[a, b : b + 1], squares[b:], with_y[b:], inverse, rest, after, missing):
                    found = missing < 0.0 or not (squares[b] == GONE or copies[b] == copies[a])
                    count = _noted(found, a, b, chosen, count, sets)
        if count > len(sets):
            return count
    return count


@njit(cache=True)
def _hits(products, squares, with_y, inverse, rest, noise, missing):
    """Count the columns that may explain as much as is missing once another is taken out of them.

    Nothing is divided, and nothing but a number is kept: the loop runs on vectors.
    """
    hits = 0
    for b in range(len(products)):
        ratio = products[b] * inverse
        left = squares[b] - ratio * products[b]
        other = with_y[b] - ratio * rest
        # That is, if (other² + noise) / left exceeds it.
        hits += other * other + noise > missing * (left if left > noise else noise)
    return hits


@njit(cache=True, inline="always")
def _noted(found, a, b, chosen, count, sets):
    """Write down a set if it was found and there is room, and count it."""
    if not found:
        return count
    if count < len(sets):
        size = sets.shape[1]
        for place in range(size - 2):
            sets[count, place] = chosen[place]
        sets[count, max(size - 2, 0)] = a
        sets[count, size - 1] = b
    return count + 1
