"""Data of two values in blocks of rows: 0 and 1, booleans, or -1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.mapped import ColumnFile
from swapwise.data.open import is_chunked, is_mapped
from swapwise.data.reductions import FirstOther

# So many rows of a file tell whether it holds two values.
FIRST_ROWS = 1000


def has_blocks(X: Any) -> bool:
    """Tell whether X is to be read block by block: not if it is a file of other numbers, by its first rows.

    >>> has_blocks(np.eye(2)), has_blocks("spins.npy")
    (False, True)
    """
    if is_mapped(X):
        return X.ndim == 2 and bool(np.isin(X[:FIRST_ROWS], (-1, 0, 1)).all())
    return is_chunked(X) or isinstance(X, (ChunkedMatrix, ColumnFile))


def low_value(tally: NDArray[np.int_], n_samples: int) -> int | None:
    """Return which of 0 and -1 is the other value than 1, by the counts of a tally; None if neither is.

    >>> low_value(np.array([[0, 0], [1, 2], [1, 0]]), 2)
    0
    """
    for low, others in ((0, tally[0]), (-1, tally[1])):
        if not others.any() and (tally.sum(axis=0) == n_samples).all():
            return low
    return None


def refuse_others(matrix: ChunkedMatrix, low: int, expected: str) -> None:
    """Say where the first entry is that is neither ``low`` nor 1: one pass over the data.

    >>> from swapwise.data.mapped import ArrayChunks
    >>> refuse_others(ChunkedMatrix(ArrayChunks(np.array([[1.0, 2.0]]), 1)), 0, "must hold 0 and 1")
    Traceback (most recent call last):
    ValueError: X must hold 0 and 1, got 2 at position (0, 1)
    """
    found = matrix.reduce(FirstOther(low), np.arange(matrix.n_samples))
    if found is not None:
        row, column, value = found
        place = f"{value:g} at position {(row, column)}{matrix.place_of(row)}"
        raise ValueError(f"X {expected if np.isfinite(value) else 'must be finite'}, got {place}")
