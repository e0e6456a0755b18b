"""A matrix in a file that is stored by columns: single columns are cheap to read, all are gone through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.blocks import Blocks
from swapwise.data.file_blocks import BLOCK_BYTES, FileBlocks
from swapwise.data.mapped_file import MappedFile
from swapwise.data.matrix import Matrix, Moments
from swapwise.events import notify


class ColumnFile(Matrix):
    """A memory-mapped file in Fortran's order, of which no more than some columns are resident at a time."""

    def __init__(self, file: MappedFile, rows: IndexArray | None = None) -> None:
        self._file, self._rows = file, rows
        samples, self.n_features = file.array.shape
        self.n_samples = samples if rows is None else len(rows)
        self.stored_as_float32 = file.array.dtype == np.float32

    def take(self, rows: IndexArray) -> ColumnFile:
        """Return some of the samples."""
        return ColumnFile(self._file, rows if self._rows is None else self._rows[rows])

    def row_blocks(self) -> Blocks:
        """Return the same numbers in blocks of rows, for those who need all columns of a sample."""
        blocks = FileBlocks(self._file)
        return blocks if self._rows is None else blocks.take(self._rows)

    def _read(self, some: Any) -> FloatArray:
        """Return columns by their numbers or as a slice, one a row."""
        columns = self._file.array.T[some]
        columns = columns if self._rows is None else columns[:, self._rows]
        if columns.dtype == np.float64 and isinstance(some, slice):
            return columns
        return np.ascontiguousarray(columns, dtype=np.float64)

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the columns, some at a time, one a row."""
        step = max(1, BLOCK_BYTES // (8 * len(self._file.array)))
        for begin in range(0, self.n_features, step):
            part = slice(begin, min(begin + step, self.n_features))
            yield part, self._read(part)
            self._file.let_go()
            notify(share=part.stop / self.n_features)

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns as the rows of a new array."""
        columns = self._read(np.asarray(elements, dtype=np.intp))
        self._file.let_go()
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
            total += np.multiply.outer(self._read(slice(element, element + 1))[0], coef[element])
            self._file.let_go()
        return total

    def moments(self, weight: FloatArray) -> Moments:
        """Return means and spreads, counted from a row so that large offsets do no harm."""
        mean, spread = np.empty(self.n_features), np.empty(self.n_features)
        origin_row = int(np.argmax(weight))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, columns in self._parts():
                origin = np.array(columns[:, origin_row])
                sums, squares = _sums(columns, weight, origin)
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
        return np.array([np.abs(self._read(slice(e, e + 1))).max() for e in elements])

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest entry of every column."""
        lowest, highest = np.empty(self.n_features), np.empty(self.n_features)
        for part, columns in self._parts():
            lowest[part], highest[part] = columns.min(axis=1), columns.max(axis=1)
        return lowest, highest

    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s (x_js − origin_j)²`` for every column."""
        squares = np.empty(self.n_features)
        for part, columns in self._parts():
            squares[part] = _sums(columns, weight, origin[part])[1]
        return squares

    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second``."""
        left = self.columns(first)
        right = left if first is second else self.columns(second)
        return (left * weight) @ right.T


def _sums(columns: FloatArray, weight: FloatArray, origin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Σ w (x − origin) and Σ w (x − origin)² for columns, given one per row."""
    from swapwise.kernels import moments

    sums, squares = np.empty(len(columns)), np.empty(len(columns))
    moments.by_columns(columns, weight, origin, 0, len(columns), sums, squares)
    return sums, squares
