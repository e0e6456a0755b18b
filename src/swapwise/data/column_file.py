"""A matrix in a file that is stored by columns: single columns are cheap to read, all are gone through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.file_blocks import BLOCK_BYTES, let_go
from swapwise.data.matrix import Matrix, Moments


class ColumnFile(Matrix):
    """A memory-mapped file in Fortran's order, of which no more than some columns are resident at a time."""

    def __init__(self, array: np.memmap[Any, Any]) -> None:
        self._columns: Any = array.T
        self.n_samples, self.n_features = array.shape

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the columns, some at a time, one a row."""
        step = max(1, BLOCK_BYTES // (8 * self.n_samples))
        for begin in range(0, self.n_features, step):
            part = slice(begin, begin + step)
            yield part, np.ascontiguousarray(self._columns[part], dtype=np.float64)
            let_go(self._columns)

    def take(self, rows: IndexArray) -> ColumnFile:
        """Return some of the samples."""
        return ColumnFile(self._columns[:, rows].T)  # copies

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns as the rows of a new array."""
        columns = np.empty((len(elements), self.n_samples))
        for row, element in zip(columns, elements, strict=True):
            row[:] = self._columns[element]
        let_go(self._columns)
        return columns

    def products(self, vectors: FloatArray) -> FloatArray:
        """Return ``V X``."""
        products = np.empty((len(vectors), self.n_features))
        for part, columns in self._parts():
            products[:, part] = vectors @ columns.T
        return products

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``X w``, from the columns with a coefficient, for a vector or for several as columns."""
        total = np.zeros((self.n_samples, *coef.shape[1:]))
        for element in np.flatnonzero(coef.reshape(len(coef), -1).any(axis=1)):
            total += np.multiply.outer(self._columns[element], coef[element])
            let_go(self._columns)
        return total

    def moments(self, weight: FloatArray) -> Moments:
        """Return means and spreads, counted from a row so that large offsets do no harm."""
        from swapwise.kernels import moments

        mean, spread = np.empty(self.n_features), np.empty(self.n_features)
        origin_row = int(np.argmax(weight))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, columns in self._parts():
                origin, count = columns[:, origin_row].copy(), len(columns)
                sums, squares = np.empty(count), np.empty(count)
                moments.by_columns(columns, weight, origin, 0, count, sums, squares)
                offset = sums / weight.sum()
                mean[part] = origin + offset
                spread[part] = np.maximum(squares - sums * offset, 0.0)
        return Moments(mean, spread)

    def require_finite(self) -> None:
        """Say which entry is not finite, if one is not."""
        for part, columns in self._parts():
            bad = np.argwhere(~np.isfinite(columns))
            if len(bad):
                column, row = (int(place) for place in bad[0])
                value, place = columns[column, row], (row, part.start + column)
                raise ValueError(f"X must be finite, got {value} at position {place}")

    def largest_entries(self, elements: IndexArray) -> FloatArray:
        """Return the largest absolute value in some columns."""
        return np.array([np.abs(self._columns[element]).max() for element in elements])

    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second``."""
        left = self.columns(first)
        right = left if first is second else self.columns(second)
        return (left * weight) @ right.T
