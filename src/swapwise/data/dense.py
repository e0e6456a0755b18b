"""A matrix in memory: rows or columns side by side, single or double precision, never copied."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, require_finite, require_unmasked
from swapwise.data.matrix import Matrix, Moments, require_entries
from swapwise.kernels import exploration, moments
from swapwise.override import override

# Numbers per block of rows, and columns per block: copies that stay in the cache.
BLOCK_ENTRIES, COLUMNS_AT_ONCE = 1 << 18, 64


class DenseMatrix(Matrix):
    def __init__(self, X: ArrayLike) -> None:
        require_unmasked(X, "X")
        is_single = isinstance(X, np.ndarray) and X.dtype == np.float32 and X.ndim == 2
        array: Any = np.asarray(X) if is_single else as_matrix(X, "X", finite=False)
        require_entries(array.shape)
        by_columns = array.flags.f_contiguous and not array.flags.c_contiguous
        self._array = array if by_columns else np.ascontiguousarray(array)
        self._by_columns = by_columns
        self.n_samples, self.n_features = array.shape
        self.is_float32 = self.stored_as_float32 = array.dtype == np.float32

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        return self._gather(elements, slice(None))

    def _gather(self, elements: IndexArray, rows: slice) -> FloatArray:
        if self._by_columns:
            return self._array.T[elements, rows].astype(np.float64, copy=False)
        # Rows are read, and left, in the order in which they lie: that is faster than column by column.
        return self._array[rows][:, elements].astype(np.float64, copy=False).T

    @override
    def products(self, vectors: FloatArray) -> FloatArray:
        if not self.is_float32:
            return vectors @ self._array
        largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
        largest[largest == 0] = 1.0
        return ((vectors / largest).astype(np.float32) @ self._array) * largest

    @override
    def exact_products(self, vectors: FloatArray) -> FloatArray:
        if not self.is_float32:
            return self.products(vectors)
        products = np.zeros((len(vectors), self.n_features))
        step = max(1, BLOCK_ENTRIES // self.n_features)
        for begin in range(0, self.n_samples, step):
            rows = slice(begin, begin + step)
            products += vectors[:, rows] @ self._array[rows].astype(np.float64)
        return products

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        used = np.flatnonzero(coef)
        if 4 * len(used) < len(coef):
            return coef[used] @ self.columns(used)
        if not self.is_float32:
            return np.asarray(self._array @ coef)
        step = max(1, BLOCK_ENTRIES // len(coef))  # a product with doubles copies the floats
        starts = range(0, self.n_samples, step)
        return np.concatenate([self._array[begin : begin + step] @ coef for begin in starts])

    @override
    def moments(self, weight: FloatArray) -> Moments:
        origin = self._array[int(np.argmax(weight))].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            sums, squares = self._sums(weight, origin)
            total = weight.sum()
            offset = sums / total
            return Moments(origin + offset, np.maximum(squares - sums * offset, 0.0))

    def _sums(self, weight: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return Σ w (x − origin) and Σ w (x − origin)² for every column."""
        sums, squares = np.empty(self.n_features), np.empty(self.n_features)
        given = self._array.T if self._by_columns else self._array
        kernel = moments.by_columns if self._by_columns else moments.by_rows
        kernel(given, weight, origin, 0, self.n_features, sums, squares)
        return sums, squares

    @override
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = self._array.min(axis=0), self._array.max(axis=0)
        return lowest.astype(np.float64, copy=False), highest.astype(np.float64, copy=False)

    @override
    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        return self._sums(weight, origin)[1]

    @override
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        gram = np.zeros((len(first), len(second)))
        step = max(1, BLOCK_ENTRIES // max(1, len(first) + len(second)))
        for begin in range(0, self.n_samples, step):
            rows = slice(begin, begin + step)
            left = self._gather(first, rows)
            right = left if first is second else self._gather(second, rows)
            gram += (left if (weight[rows] == 1.0).all() else left * weight[rows]) @ right.T
        return gram

    @override
    def gram_of_all(self, weight: FloatArray) -> FloatArray:
        if self.is_float32 or (weight != 1.0).any():
            return super().gram_of_all(weight)
        return self._array.T @ self._array

    def unit_columns(self, shift: FloatArray, factors: FloatArray, row_scale: FloatArray) -> Any:
        """Return ``(X − shift) · factors`` for kernels, in single precision, its rows scaled."""
        lying = self._array.T if self._by_columns else self._array
        return exploration.unit_columns(lying, self._by_columns, shift, factors, row_scale)

    @override
    def take(self, rows: IndexArray) -> DenseMatrix:
        return DenseMatrix(self._array[rows])

    @override
    def restricted(self, elements: IndexArray) -> DenseMatrix:
        some = np.empty((len(elements), self.n_samples), dtype=self._array.dtype)
        step = self.n_samples if self._by_columns else max(1, BLOCK_ENTRIES // len(elements))
        for begin in range(0, self.n_samples, step):
            rows = slice(begin, begin + step)
            some[:, rows] = self._array[rows][:, elements].T
        return DenseMatrix(some.T)

    @override
    def require_finite(self) -> None:
        require_finite(self._array, "X")

    @override
    def in_double(self) -> DenseMatrix:
        return DenseMatrix(self._array.astype(np.float64)) if self.is_float32 else self

    @override
    def largest_entries(self, elements: IndexArray) -> FloatArray:
        largest = np.empty(len(elements))
        for begin in range(0, len(elements), COLUMNS_AT_ONCE):
            part = slice(begin, begin + COLUMNS_AT_ONCE)
            columns = self.columns(elements[part])
            largest[part] = np.maximum(columns.max(axis=1), -columns.min(axis=1))
        return largest
