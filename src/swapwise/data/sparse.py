"""A matrix of which few entries are not zero: stored as they are, never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_vector
from swapwise.data.matrix import Matrix, Moments


class SparseMatrix(Matrix):
    """A scipy sparse matrix or array; other formats than CSR and CSC are converted to CSC.

    >>> from scipy.sparse import csc_array
    >>> SparseMatrix(csc_array([[1.0, 0.0], [3.0, 4.0]])).products(np.array([[1.0, 1.0]]))
    array([[4., 4.]])
    """

    def __init__(self, X: Any) -> None:
        if 0 in X.shape or len(X.shape) != 2:
            raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
        if X.dtype.kind not in "biuf":
            raise TypeError(f"X must hold real numbers, got values of type {X.dtype}")
        stored = X if X.format in ("csr", "csc") else X.tocsc()
        self._stored = stored if stored.dtype == np.float64 else stored.astype(np.float64)
        self._by_columns: Any = self._stored if stored.format == "csc" else None
        self.n_samples, self.n_features = X.shape

    @property
    def _columns(self) -> Any:
        """The same numbers column by column: made when single columns are first asked for."""
        if self._by_columns is None:
            self._by_columns = self._stored.tocsc()
        return self._by_columns

    def columns(self, elements: IndexArray, rows: slice = slice(None)) -> FloatArray:
        """Return columns as the rows of a new array."""
        return np.ascontiguousarray(self._columns[:, elements].toarray().T[:, rows])

    def products(self, vectors: FloatArray) -> FloatArray:
        """Return ``V X``."""
        return np.ascontiguousarray((self._stored.T @ vectors.T).T)

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``X w``."""
        return np.asarray(self._stored @ coef)

    def moments(self, weight: FloatArray) -> Moments:
        """Return means and spreads; entries that are zero are only counted."""
        total = weight.sum()
        squared = self._stored.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            squared.data = squared.data**2
            mean = self._stored.T @ weight / total
            # Σ w (x − m)² = Σ w x² − total·m²; sparse columns have small means, so little cancels.
            spread = squared.T @ weight - total * mean**2
        return Moments(mean, np.maximum(spread, 0.0))

    def require_finite(self) -> None:
        """Say which entry is not finite, if one is not."""
        as_vector(self._stored.data, None, "X.data")

    def largest_entry(self, element: int) -> float:
        """Return the largest absolute value in a column."""
        return float(np.abs(self._columns[:, [element]].data).max(initial=0.0))

    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second`` through the entries that are not zero."""
        left, right = self._columns[:, first], self._columns[:, second]
        return np.asarray((left.T @ (right.multiply(weight[:, None])).tocsc()).toarray())
