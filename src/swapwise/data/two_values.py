"""Data of two values in blocks of rows: 0 and 1, booleans, or -1 and +1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.data.blocks import Work
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.column_file import ColumnFile
from swapwise.data.open import is_chunked, is_mapped
from swapwise.data.works import FirstBad

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


class Tally(Work):
    """How often -1, 0 and +1 are in each column, and the products of columns with each other.

    >>> Tally()(np.array([[0.0, 1.0], [1.0, 1.0]]))[0]
    array([[0, 0],
           [1, 0],
           [1, 2]])
    """

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return three rows of counts, and a square matrix."""
        counts = np.stack([(block == value).sum(axis=0) for value in (-1, 0, 1)])
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused by its counts
            return counts, block.T @ block


@dataclass(frozen=True)
class FirstOther(FirstBad):
    """The first entry that is neither ``low`` nor 1: sample, feature, value; None if there is none.

    >>> FirstOther(0)(np.array([[0.0, 1.0], [1.0, 7.0]]), np.array([10, 11]))
    (11, 1, 7.0)
    """

    low: int

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Look for one; the number of each sample is given with the rows."""
        is_other = (block != self.low) & (block != 1)
        if not is_other.any():
            return None
        row, column = np.argwhere(is_other)[0]
        return int(rows[0][row]), int(column), float(block[row, column])


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

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> refuse_others(ChunkedMatrix(ArrayBlocks(np.array([[1.0, 2.0]]), 1)), 0, "must hold 0 and 1")
    Traceback (most recent call last):
    ValueError: X must hold 0 and 1, got 2 at position (0, 1)
    """
    found = matrix.fold(FirstOther(low), np.arange(matrix.n_samples))
    if found is not None:
        row, column, value = found
        place = f"{value:g} at position {(row, column)}{matrix.place_of(row)}"
        raise ValueError(f"X {expected if np.isfinite(value) else 'must be finite'}, got {place}")
