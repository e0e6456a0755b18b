"""A scipy sparse matrix, which is never made dense."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.matrix import Matrix, Moments, require_real
from swapwise.kernels import moments
from swapwise.override import override


class SparseMatrix(Matrix):
    """A scipy sparse matrix or array; formats other than CSR and CSC are converted to CSC."""

    def __init__(self, X: Any) -> None:
        if 0 in X.shape or len(X.shape) != 2:
            raise ValueError(f"X must have at least one sample and one feature, got shape {X.shape}")
        require_real(X.dtype)
        stored = X if X.format in ("csr", "csc") else X.tocsc()
        if not stored.has_canonical_format:
            stored = stored.copy()
            stored.sum_duplicates()
        self.stored_as_float32 = stored.dtype == np.float32
        self._stored = stored if stored.dtype == np.float64 else stored.astype(np.float64)
        self._by_columns: Any = self._stored if stored.format == "csc" else None
        self.n_samples, self.n_features = X.shape

    @property
    def _columns(self) -> Any:
        """The matrix in CSC, made when single columns are first needed."""
        if self._by_columns is None:
            self._by_columns = self._stored.tocsc()
        return self._by_columns

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        return np.ascontiguousarray(self._columns[:, elements].toarray().T)

    @override
    def products(self, vectors: FloatArray) -> FloatArray:
        return np.ascontiguousarray((self._stored.T @ vectors.T).T)

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        used = np.flatnonzero(coef)
        if self._by_columns is not None and 4 * len(used) < len(coef):
            return np.asarray(self._by_columns[:, used] @ coef[used])
        return np.asarray(self._stored @ coef)

    @override
    def moments(self, weight: FloatArray) -> Moments:
        n, total, data = self.n_features, weight.sum(), self._stored.data
        rows, columns = self._places()
        shares = weight[rows]
        with np.errstate(over="ignore", invalid="ignore"):
            mean = _sums(columns, shares * data, n) / total
            spread = _sums(columns, shares * (data - mean[columns]) ** 2, n)
            spread += np.maximum(total - _sums(columns, shares, n), 0.0) * mean**2
        return Moments(mean, spread)

    def _places(self) -> tuple[IndexArray, IndexArray]:
        lines = np.repeat(np.arange(len(self._stored.indptr) - 1), np.diff(self._stored.indptr))
        across = self._stored.indices
        return (lines, across) if self._stored.format == "csr" else (across, lines)

    @override
    def take(self, rows: IndexArray) -> SparseMatrix:
        some = SparseMatrix(self._stored[rows])
        some.stored_as_float32 = self.stored_as_float32
        return some

    @override
    def restricted(self, elements: IndexArray) -> SparseMatrix:
        some = SparseMatrix(self._columns[:, elements])
        some.stored_as_float32 = self.stored_as_float32
        return some

    @override
    def require_finite(self) -> None:
        bad = np.flatnonzero(~np.isfinite(self._stored.data))
        if len(bad):
            place = tuple(int(places[bad[0]]) for places in self._places())
            raise ValueError(f"X must be finite, got {self._stored.data[bad[0]]} at position {place}")

    @override
    def largest_entries(self, elements: IndexArray) -> FloatArray:
        return np.asarray(abs(self._columns[:, elements]).max(axis=0).toarray()).ravel()

    @override
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = self._stored.min(axis=0), self._stored.max(axis=0)
        return np.asarray(lowest.toarray()).ravel(), np.asarray(highest.toarray()).ravel()

    @override
    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        stored, squares = self._columns, np.empty(self.n_features)
        moments.of_stored(stored.indptr, stored.indices, stored.data, weight, origin, squares)
        return squares

    @override
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        left, right = self._columns[:, first], self._columns[:, second]
        return np.asarray((left.T @ (right.multiply(weight[:, None])).tocsc()).toarray())


def _sums(columns: IndexArray, values: FloatArray, n: int) -> FloatArray:
    """Return the sum of values by column, as floats even if there are none."""
    return np.bincount(columns, values, minlength=n).astype(np.float64, copy=False)
