"""Samples, and the scaling of their columns that makes coefficients comparable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from swapwise.checks import FloatArray, IndexArray, as_vector, is_number
from swapwise.data.matrix import Matrix
from swapwise.numerics import CONSTANT

# Predictors of several fits are computed together up to this many numbers.
ENTRIES_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Sample:
    """Checked data without samples of weight zero; X is dense, or what the objective takes as it is.

    Data in chunks are a :class:`Matrix`.
    """

    X: Any
    y: FloatArray
    weight: FloatArray | None = None
    offset: FloatArray | None = None

    def take(self, rows: IndexArray) -> Sample:
        """Return some of the samples, in the order in which they are stored."""
        rows = np.sort(rows)
        weight, offset = (None if part is None else part[rows] for part in (self.weight, self.offset))
        return Sample(some_rows(self.X, rows), self.y[rows], weight, offset)

    def columns(self) -> FloatArray:
        """Return a copy of the columns, one per row."""
        X = self.X.toarray() if issparse(self.X) else self.X
        return np.array(X.T, dtype=np.float64, order="C")

    def mean(self, values: FloatArray) -> Any:
        """Return the weighted mean over the samples."""
        return np.average(values, axis=0, weights=self.weight)

    def mean_of(self, columns: FloatArray) -> FloatArray:
        """Return the weighted mean of every column, given one per row."""
        if self.weight is None:
            return columns.mean(axis=1)
        return columns @ (self.weight / self.weight.sum())

    def mean_square_of(self, columns: FloatArray) -> FloatArray:
        """Return the weighted mean of the squares of every column, given one per row."""
        if self.weight is None:
            return np.einsum("js,js->j", columns, columns) / columns.shape[1]
        return np.einsum("js,js,s->j", columns, columns, self.weight / self.weight.sum())


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns shifted and divided, and the way back for coefficients."""

    shift: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, sample: Sample, centre: bool, standardize: bool) -> tuple[Scaling, FloatArray]:
        """Return the scaling that a sample asks for, and its columns scaled."""
        columns = sample.columns()  # one column per row, as objectives want them
        highest = _largest(columns)
        shift = sample.mean_of(columns)
        columns -= shift[:, None]
        rest = sample.mean_of(
            columns
        )  # rounding of the first mean, which a constant column would be left with
        columns -= rest[:, None]
        shift += rest
        peak = _largest(columns)
        constant = peak <= CONSTANT * highest
        columns[constant] = 0.0
        peak[constant] = 1.0
        scale = np.ones(len(columns))
        if standardize:
            # Squares of numbers of size 1 neither overflow nor vanish, however large or small the column is.
            unusual = (peak < 1e-100) | (peak > 1e100)
            size = np.where(unusual, peak, 1.0)
            columns[unusual] /= size[unusual, None]
            scale = size * np.sqrt(sample.mean_square_of(columns))
            columns[unusual] *= size[unusual, None]
            scale[constant] = 1.0
        if not centre:
            columns = sample.columns()
            shift = np.zeros_like(shift)
        columns /= scale[:, None]
        return cls(shift, scale), columns.T

    def original(self, coef: FloatArray, intercept: Any) -> tuple[FloatArray, Any]:
        """Return coefficients (features last) and intercept for the columns as they were."""
        coef = coef / self.scale
        return coef, intercept - coef @ self.shift


def read_offset(offset: Any, n: int) -> FloatArray:
    """Return the offset of each of n samples; a number is that of all.

    >>> read_offset(2, 3)
    array([2., 2., 2.])
    """
    return as_vector(np.full(n, offset) if is_number(offset) else offset, n, "offset")


def some_rows(X: Any, rows: IndexArray) -> Any:
    """Return some of the samples of a matrix, given in the order in which they are stored."""
    return X.take(rows) if isinstance(X, Matrix) else X[rows]


def times(X: Any, coef: FloatArray) -> FloatArray:
    """Return ``X coef`` for a vector, or for a matrix with one vector per column."""
    product: FloatArray = X.combine(coef) if isinstance(X, Matrix) else X @ coef
    return product


def linear_predictors(X: Any, fits: Sequence[tuple[FloatArray, Any]]) -> Iterator[FloatArray]:
    """Yield ``X coefᵀ + intercept`` for each fit; data in chunks are read once for many fits.

    >>> list(linear_predictors(np.array([[1.0, 2.0]]), [(np.array([1.0, 1.0]), 3.0)]))
    [array([6.])]
    """
    at_once = 1
    if isinstance(X, Matrix) and fits:
        at_once = max(1, ENTRIES_AT_ONCE // (X.n_samples * max(1, fits[0][0].size // X.n_features)))
    for begin in range(0, len(fits), at_once):
        some = fits[begin : begin + at_once]
        columns = [coef.T.reshape(coef.shape[-1], -1) for coef, _ in some]
        products = np.split(times(X, np.hstack(columns)), len(some), axis=1)
        for (coef, intercept), product in zip(some, products, strict=True):
            yield product.reshape(-1, *coef.shape[:-1]) + intercept


def _largest(columns: FloatArray) -> FloatArray:
    """Return the largest absolute value of every column, given one per row."""
    return np.maximum(columns.max(axis=1), -columns.min(axis=1))
