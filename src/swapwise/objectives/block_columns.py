"""Columns of elements that have several: offsets, inner products, and bases of their spans.

Columns of one element may depend on each other, as centred dummies of a factor do. A search then uses fewer
columns with the same span, so that the matrix of inner products of an element is invertible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Columns are read in chunks of about this many numbers.
CHUNK_ENTRIES = 1 << 19

# Directions within an element that are shorter than this, relative to its columns at unit length, are not
# trusted to inner products, which have squares of it. Where they are longer, what the precision of the
# columns takes from them, (1e-10 / 1e-4)², is rounding.
SHORT = 1e-4

# Directions shorter than this, times the larger of the numbers of columns and of samples, are rounding, as in
# numpy's ``matrix_rank``: the rounding of a null direction grows with the samples.
ROUNDED = float(np.finfo(float).eps)

# Columns are rounded relative to their own lengths. Where these are not made equal, they may differ by this
# factor: dummies of levels that are 10,000 times as frequent as others do.
LARGEST_RATIO = 100.0

# A copy of the columns, without the directions that are rounding, is made up to this many numbers: 80 MB.
COPY_UP_TO = 10**7


class Components(NamedTuple):
    #: Factors of the other columns, one row per new column
    from_columns: FloatArray
    #: Factors of the coefficients of the other columns
    from_coefficients: FloatArray


def offsets_of(sizes: IndexArray) -> IndexArray:
    return np.append(0, np.cumsum(sizes)).astype(np.intp)


def diagonals(begin: IndexArray, at: IndexArray) -> IndexArray:
    """Positions of the diagonals of blocks that are stored row by row from ``at`` on."""
    sizes = np.diff(begin)
    within = np.arange(begin[-1]) - np.repeat(begin[:-1], sizes)
    places: IndexArray = np.repeat(at[:-1], sizes) + within * np.repeat(sizes + 1, sizes)
    return places


def chunks_of(begin: IndexArray, samples: int) -> Iterator[tuple[int, int]]:
    first = 0
    while first < len(begin) - 1:
        room = np.searchsorted(begin, begin[first] + CHUNK_ENTRIES // samples, side="right") - 1
        last = max(first + 1, int(room))
        yield first, last
        first = last


def own_products(
    read: Callable[[int, int], FloatArray], begin: IndexArray, samples: int, weights: FloatArray | None = None
) -> FloatArray:
    """Return the inner products within every element, one block behind the other, row by row.

    ``read(a, b)`` returns columns a to b, one per row. With weights of the samples, there is a block per
    vector.
    """
    count = 1 if weights is None else len(weights)
    at = count * offsets_of(np.diff(begin) ** 2)
    own = np.empty(at[-1])
    single = len(begin) - 1 == begin[-1]
    for first, last in chunks_of(begin, samples):
        columns = read(int(begin[first]), int(begin[last]))
        if single:
            squares = columns * columns
            own[at[first] : at[last]] = (
                squares.sum(axis=1) if weights is None else (squares @ weights.T).ravel()
            )
            continue
        for e in range(first, last):
            part = columns[begin[e] - begin[first] : begin[e + 1] - begin[first]]
            left = part if weights is None else (weights[:, None] * part).reshape(-1, samples)
            own[at[e] : at[e + 1]] = (left @ part.T).ravel()
    return own


def shortest_directions(own: FloatArray, begin: IndexArray) -> FloatArray:
    """Return the least singular value within every element, its columns scaled to unit length.

    It is 1 for a single column, even if that is zero.
    """
    sizes = np.diff(begin)
    at, shortest = offsets_of(sizes**2), np.ones(len(sizes))
    for size in np.unique(sizes[sizes > 1]):
        same = np.flatnonzero(sizes == size)
        grams = own[at[same, None] + np.arange(size**2)].reshape(-1, size, size)
        lengths = np.sqrt(np.einsum("eii->ei", grams))
        unit = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        squares = np.linalg.eigvalsh(grams * unit[:, :, None] * unit[:, None, :])[:, 0]
        shortest[same] = np.sqrt(np.maximum(squares, 0.0))
    return shortest


def components(columns: FloatArray, ridge: float) -> Components | None:
    """Return the principal components of columns that are more than rounding; None if some are short.

    What a short one explains depends on the precision of the columns as they are given, unless the ridge is
    much larger than that. Where there is a ridge, lengths of coefficients stay what they are, and columns
    must not differ too much in length.

    >>> columns = np.array([[1.0, 2.0], [2.0, 4.0]])
    >>> found = components(columns, ridge=1.0)
    >>> np.abs(found.from_columns @ columns).round(6)
    array([[2.236068, 4.472136]])
    """
    lengths = np.linalg.norm(columns, axis=1)
    longest = float(lengths.max())
    if longest == 0:
        return Components(np.zeros((1, len(columns))), np.zeros((1, len(columns))))
    if ridge > 0:  # else only the span matters, and equal lengths are best for the numerics
        if longest > LARGEST_RATIO * lengths[lengths > 0].min():
            return None
        lengths = np.ones(len(columns))
    unit = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    directions, sizes, _ = np.linalg.svd(columns * unit[:, None], full_matrices=False)
    shares = sizes / sizes[0]
    is_kept = shares > ROUNDED * max(columns.shape)
    if (shares[is_kept] < SHORT).any() and ridge < (SHORT * longest) ** 2:
        return None
    kept = directions[:, is_kept].T
    return Components(kept * unit, kept * lengths)
