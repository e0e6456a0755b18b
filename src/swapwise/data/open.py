"""Which kind of storage a matrix has, and the columns of a linear model on it."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.data.dense import DenseMatrix
from swapwise.data.design import Design
from swapwise.data.matrix import Matrix


def open_matrix(X: Any) -> Matrix:
    """Return access to a matrix as it is stored.

    >>> open_matrix([[1.0, 2.0]]).shape
    (1, 2)
    """
    if isinstance(X, Matrix):
        return X
    X = opened(X)
    if is_chunked(X):
        return _chunked(X)
    if hasattr(X, "tocsc"):
        from swapwise.data.sparse import SparseMatrix

        return SparseMatrix(X)
    return DenseMatrix(X)


def opened(X: Any, name: str = "X") -> Any:
    """Return X, or the memory-mapped array whose file it names."""
    if not isinstance(X, (str, PathLike)):
        return X
    from swapwise.data.mapped_file import open_npy

    return open_npy(X, name)


def is_chunked(X: Any) -> bool:
    """Tell whether X is to be read in chunks: a memory-mapped file, a Dask array or frame."""
    return is_mapped(X) or is_dask(X) or isinstance(X, (str, PathLike))


def is_mapped(X: Any) -> bool:
    """Tell whether X lies in a file, and not in a private copy of one, whose changes would be lost."""
    return isinstance(X, np.memmap) and X.mode != "c" and getattr(X, "_mmap", None) is not None


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask array or frame, without a look at Dask if it is not."""
    is_lazy = type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")
    return is_lazy and hasattr(type(X), "ndim")


def open_design(
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    centre: bool = False,
    standardize: bool = False,
    *,
    scale_rows: bool = True,
    by_rows: bool = False,
) -> Design:
    """Return the columns of a linear model that is to explain ``y``; see :class:`Design`.

    With ``by_rows``, a file that is stored by columns is read in chunks of rows, as other data in chunks are.
    """
    matrix = open_matrix(X)
    if not isinstance(matrix, DenseMatrix):  # chunks take a moment to load
        from swapwise.data.chunked import ChunkedMatrix
        from swapwise.data.column_file import ColumnFile

        if by_rows and isinstance(matrix, ColumnFile):
            matrix = ChunkedMatrix(matrix.row_blocks())
        if isinstance(matrix, ChunkedMatrix):
            from swapwise.data.streamed import StreamedDesign

            return StreamedDesign(matrix, y, sample_weight, centre, standardize, scale_rows=scale_rows)
    return Design(matrix, sample_weight, centre, standardize, scale_rows=scale_rows)


def _chunked(X: Any) -> Matrix:
    from swapwise.data.chunked import ChunkedMatrix

    if is_dask(X):
        from swapwise.data.dask_blocks import DaskBlocks

        return ChunkedMatrix(DaskBlocks(X))
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows are samples, columns are features), got shape {X.shape}"
        )
    if 0 in X.shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X must hold real numbers, got values of type {X.dtype}")
    from swapwise.data.column_file import ColumnFile
    from swapwise.data.file_blocks import FileBlocks
    from swapwise.data.mapped_file import MappedFile

    by_columns = X.strides[0] == X.itemsize and X.shape[1] > 1
    return ColumnFile(MappedFile(X)) if by_columns else ChunkedMatrix(FileBlocks(MappedFile(X)))
