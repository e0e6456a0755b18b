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
from swapwise.data.file_blocks import FileBlocks
from swapwise.data.open import is_chunked, open_matrix
from swapwise.data.works import FirstBad


def has_blocks(X: Any) -> bool:
    """Tell whether X is to be read block by block.

    >>> has_blocks(np.eye(2)), has_blocks("spins.npy")
    (False, True)
    """
    return is_chunked(X) or isinstance(X, (ChunkedMatrix, ColumnFile))


def open_rows(X: Any) -> ChunkedMatrix:
    """Return access to blocks of rows, of a file that is stored by columns too.

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> open_rows(ChunkedMatrix(ArrayBlocks(np.eye(2), 1))).shape
    (2, 2)
    """
    matrix = open_matrix(X)
    if isinstance(matrix, ColumnFile):
        matrix = ChunkedMatrix(FileBlocks(matrix._columns.T))
    if not isinstance(matrix, ChunkedMatrix):
        raise TypeError(f"X must be a file, a Dask array or a Dask frame, got {type(X).__name__}")
    return matrix


class Tally(Work):
    """How often -1, 0 and +1 are in each column."""

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return three rows of counts."""
        return (np.stack([(block == value).sum(axis=0) for value in (-1, 0, 1)]),)


@dataclass(frozen=True)
class FirstOther(FirstBad):
    """The first entry that is neither ``low`` nor 1: sample, feature, value; None if there is none."""

    low: int

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Look for one; the number of each sample is given with the rows."""
        is_other = (block != self.low) & (block != 1)
        if not is_other.any():
            return None
        row, column = np.argwhere(is_other)[0]
        return int(rows[0][row]), int(column), float(block[row, column])


def low_value(tally: NDArray[np.int_], n_samples: int) -> int | None:
    """Return 0 or -1, whichever is the other value than 1 by the counts of :class:`Tally`; None if neither is.

    >>> low_value(np.array([[0, 0], [1, 2], [1, 0]]), 2)
    0
    """
    for low, others in ((0, tally[0]), (-1, tally[1])):
        if not others.any() and (tally.sum(axis=0) == n_samples).all():
            return low
    return None


def refuse_others(matrix: ChunkedMatrix, low: int, expected: str) -> None:
    """Say where the first entry is that is neither ``low`` nor 1: one pass over the data."""
    found = matrix.fold(FirstOther(low), np.arange(matrix.n_samples))
    if found is not None:
        row, column, value = found
        place = f"{value:g} at position {(row, column)}{matrix._blocks.place_of(row)}"
        raise ValueError(f"X {expected if np.isfinite(value) else 'must be finite'}, got {place}")
