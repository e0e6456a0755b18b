"""Which kind of storage a matrix has, and the columns of a linear model on it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.data.dense import DenseMatrix
from swapwise.data.design import Design
from swapwise.data.matrix import Matrix

if TYPE_CHECKING:
    from swapwise.data.chunked import ChunkedMatrix


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
    from swapwise.data.mapped import open_npy

    return open_npy(X, name)


def is_chunked(X: Any) -> bool:
    """Return whether X is to be read in chunks: a memory-mapped file, a Dask array or frame."""
    return is_mapped(X) or is_dask(X) or isinstance(X, (str, PathLike))


def is_mapped(X: Any) -> bool:
    """Return whether X lies in a file, and not in a private copy of one, whose changes would be lost."""
    return isinstance(X, np.memmap) and X.mode != "c" and getattr(X, "_mmap", None) is not None


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array or frame, without a look at Dask if it is not."""
    is_lazy = type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")
    return is_lazy and hasattr(type(X), "ndim")


def open_design(
    X: Any,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    centre: bool = False,
    standardize: bool = False,
    *,
    scale_rows: bool = True,
    by_rows: bool = False,
) -> Design:
    """Return the columns of a linear model that is to explain ``y``; see :class:`Design`.

    With ``by_rows``, a file that is stored by columns is read in chunks of rows, as other data in chunks are.

    >>> open_design([[1.0, 5.0], [3.0, 5.0]], [0.0, 2.0], centre=True).with_target
    array([2., 0.])
    """
    matrix = open_matrix(X)
    if by_rows:
        matrix = matrix.by_rows()
    return Design(matrix, sample_weight, centre, standardize, target=y, scale_rows=scale_rows)


def by_rows(X: Any) -> ChunkedMatrix:
    """Return data in chunks of rows: of a file that is stored by columns, a part of all columns at a time.

    >>> import dask.array as da
    >>> by_rows(da.ones((4, 2), chunks=2)).shape
    (4, 2)
    """
    from swapwise.data.chunked import ChunkedMatrix

    matrix = open_matrix(X).by_rows()
    if not isinstance(matrix, ChunkedMatrix):
        raise TypeError(f"X must be data in chunks (a file, a Dask array or frame), got {type(X).__name__}")
    return matrix


def _chunked(X: Any) -> Matrix:
    from swapwise.data.chunked import ChunkedMatrix

    if is_dask(X):
        from swapwise.data.dask import DaskChunks

        return ChunkedMatrix(DaskChunks(X))
    if X.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows are samples, columns are features), got shape {X.shape}"
        )
    if 0 in X.shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
    if X.dtype.kind not in "biuf":
        raise TypeError(f"X must hold real numbers, got values of type {X.dtype}")
    from swapwise.data.mapped import ColumnFile, FileChunks, MappedFile

    by_columns = X.strides[0] == X.itemsize and X.shape[1] > 1
    return ColumnFile(MappedFile(X)) if by_columns else ChunkedMatrix(FileChunks(MappedFile(X)))
