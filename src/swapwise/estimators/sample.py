"""Checked samples, and linear predictors for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_vector, is_number
from swapwise.data.matrix import Matrix

# Predictors of several fits are computed together up to this many numbers.
ENTRIES_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Sample:
    """Checked data without samples of weight zero.

    X is an array, a sparse matrix, or a :class:`Matrix` of data in chunks.
    """

    X: Any
    y: FloatArray
    weight: FloatArray | None = None
    offset: FloatArray | None = None

    def take(self, rows: IndexArray) -> Sample:
        rows = np.sort(rows)
        weight, offset = (None if part is None else part[rows] for part in (self.weight, self.offset))
        return Sample(some_rows(self.X, rows), self.y[rows], weight, offset)

    def mean(self, values: FloatArray) -> Any:
        if self.weight is None:
            return values.mean(axis=0)
        return np.average(values, axis=0, weights=self.weight)

    @cached_property
    def mean_target(self) -> float:
        return float(self.mean(self.y))


def read_offset(offset: Any, n: int) -> FloatArray:
    return as_vector(np.full(n, offset) if is_number(offset) else offset, n, "offset")


def some_rows(X: Any, rows: IndexArray) -> Any:
    return X.take(rows) if isinstance(X, Matrix) else X[rows]


def times(X: Any, coef: FloatArray) -> FloatArray:
    """Return ``X coef`` for a vector, or for a matrix with one vector per column."""
    product: FloatArray = X.combine(coef) if isinstance(X, Matrix) else X @ coef
    return product


def linear_predictors(X: Any, fits: Sequence[tuple[FloatArray, Any]]) -> Iterator[FloatArray]:
    """Yield ``X coefᵀ + intercept`` for each fit; data in chunks are read once for many fits."""
    at_once = 1
    if isinstance(X, Matrix) and fits:
        at_once = max(1, ENTRIES_AT_ONCE // (X.n_samples * max(1, fits[0][0].size // X.n_features)))
    for begin in range(0, len(fits), at_once):
        some = fits[begin : begin + at_once]
        columns = [coef.T.reshape(coef.shape[-1], -1) for coef, _ in some]
        products = np.split(times(X, np.hstack(columns)), len(some), axis=1)
        for (coef, intercept), product in zip(some, products, strict=True):
            yield product.reshape(-1, *coef.shape[:-1]) + intercept
