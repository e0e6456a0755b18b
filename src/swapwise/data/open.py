"""Which kind of storage a matrix has."""

from __future__ import annotations

from typing import Any

from swapwise.data.dense import DenseMatrix
from swapwise.data.matrix import Matrix


def open_matrix(X: Any) -> Matrix:
    """Return access to a matrix as it is stored."""
    if hasattr(X, "tocsc"):
        from swapwise.data.sparse import SparseMatrix

        return SparseMatrix(X)
    return DenseMatrix(X)
