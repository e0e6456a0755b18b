"""Data in chunks of rows, however they are stored."""

from __future__ import annotations

from typing import Any

from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.column_file import ColumnFile
from swapwise.data.matrix import Matrix
from swapwise.data.open import open_matrix


def by_rows(X: Any) -> ChunkedMatrix:
    """Return data in chunks of rows: of a file that is stored by columns, a part of all columns at a time.

    >>> import dask.array as da
    >>> by_rows(da.ones((4, 2), chunks=2)).shape
    (4, 2)
    """
    matrix: Matrix = open_matrix(X)
    if isinstance(matrix, ChunkedMatrix):
        return matrix
    if not isinstance(matrix, ColumnFile):
        raise TypeError(f"X must be data in chunks (a file, a Dask array or frame), got {type(X).__name__}")
    return ChunkedMatrix(matrix.row_blocks())
