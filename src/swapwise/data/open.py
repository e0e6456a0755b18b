"""The storage of a matrix by its kind, and the columns of a linear model on it."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.data.dense import DenseMatrix
from swapwise.data.design import Design
from swapwise.data.matrix import Matrix, require_entries, require_real, require_two_dimensions

if TYPE_CHECKING:
    from swapwise.data.chunked import ChunkedMatrix


def open_matrix(X: Any) -> Matrix:
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
    """Return X, or the memory-mapped array if it is the name of a file."""
    if not isinstance(X, (str, PathLike)):
        return X
    from swapwise.data.mapped import open_npy

    return open_npy(X, name)


def is_chunked(X: Any) -> bool:
    return is_mapped(X) or is_dask(X) or isinstance(X, (str, PathLike))


def is_mapped(X: Any) -> bool:
    """Return whether X is in a file, and not a private copy of one, whose changes would be lost."""
    return isinstance(X, np.memmap) and X.mode != "c" and getattr(X, "_mmap", None) is not None


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array or frame, without an import of Dask."""
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
    """Return the columns of a linear model that explains ``y``; see :class:`Design`.

    With ``by_rows``, a file that is stored by columns is read in chunks of rows, as other data in chunks are.
    """
    matrix = open_matrix(X)
    if by_rows:
        matrix = matrix.by_rows()
    return Design(matrix, sample_weight, centre, standardize, target=y, scale_rows=scale_rows)


def by_rows(X: Any) -> ChunkedMatrix:
    """Return data in chunks of rows, even of a file that is stored by columns."""
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
    require_two_dimensions(X.shape)
    require_entries(X.shape)
    require_real(X.dtype)
    from swapwise.data.mapped import ColumnFile, FileChunks, MappedFile

    by_columns = X.strides[0] == X.itemsize and X.shape[1] > 1
    return ColumnFile(MappedFile(X)) if by_columns else ChunkedMatrix(FileChunks(MappedFile(X)))
