"""Reductions: what a pass over data in chunks computes, and how the answers for two chunks are merged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import moments
from swapwise.override import override


class Reduction(ABC):
    """A computation on a chunk of rows, and a merge of the answers for two chunks.

    A reduction travels to where the chunks are: it should be small, and must not change its arguments.
    """

    @abstractmethod
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return the answer for a chunk; ``rows`` are its parts of the arrays given to ``Chunks.reduce``."""

    def merge(self, first: Any, second: Any) -> Any:
        """Return the answer for two chunks, of which ``first`` has the earlier rows: by default their sum."""
        return tuple(one + other for one, other in zip(first, second, strict=True))


def merged(reduction: Reduction, answers: list[Any]) -> Any:
    return reduce(reduction.merge, answers)


@dataclass(frozen=True)
class Scaled:
    """Some columns, shifted and multiplied: ``(x − shift) · factor``."""

    elements: IndexArray
    shift: FloatArray
    factor: FloatArray

    def of(self, chunk: FloatArray, root: FloatArray | None) -> FloatArray:
        """Return the columns of a chunk, one per row, with each sample multiplied by its ``root``, if any."""
        columns = chunk[:, self.elements].T - self.shift[:, None]
        columns *= self.factor[:, None]
        if root is not None:
            columns *= root
        return columns


class FirstLook(Reduction):
    """Total weight, weighted means and spreads of all columns, and their products with vectors.

    ``rows`` are the vectors, and weights of the samples unless all are one.
    """

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        vectors = rows[0]
        weight = np.ascontiguousarray(rows[1]) if len(rows) > 1 else np.ones(len(chunk))
        origin = chunk[int(np.argmax(weight))].copy()  # so that large offsets do no harm
        sums, squares = np.empty(len(origin)), np.empty(len(origin))
        with np.errstate(over="ignore", invalid="ignore"):
            moments.by_rows(chunk, weight, origin, 0, len(origin), sums, squares)
            total = float(weight.sum())
            offset = sums / (total or 1.0)
            return total, origin + offset, np.maximum(squares - sums * offset, 0.0), vectors @ chunk

    @override
    def merge(self, first: Any, second: Any) -> Any:
        total = first[0] + second[0]
        share = second[0] / (total or 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            apart = second[1] - first[1]
            mean = first[1] + share * apart
            spread = first[2] + second[2] + first[0] * share * apart**2
            return total, mean, spread, first[3] + second[3]


class Dots(Reduction):
    """Products of all columns with vectors."""

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return (rows[0] @ chunk,)


@dataclass(frozen=True)
class ColumnProducts(Reduction):
    """Products of some columns with all, and the sums of these columns."""

    columns: Scaled

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        root = rows[0] if rows else None
        columns = self.columns.of(chunk, root)
        if root is not None:
            columns *= root
        return columns @ chunk, columns.sum(axis=1)


@dataclass(frozen=True)
class ScaledProducts(Reduction):
    """Inner products of some columns with others, both shifted and multiplied first."""

    first: Scaled
    second: Scaled

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        root = rows[0] if rows else None
        return (self.first.of(chunk, root) @ self.second.of(chunk, root).T,)


@dataclass(frozen=True)
class Triangle(Reduction):
    """The R of ``[A_K y] = QR``, which has all inner products of columns without loss of digits."""

    columns: Scaled

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        root = rows[1] if len(rows) > 1 else None
        return _reduced(np.column_stack([self.columns.of(chunk, root).T, rows[0]]))

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return _reduced(np.vstack([first, second]))


def _reduced(rows: FloatArray) -> FloatArray:
    triangle: Any = np.linalg.qr(rows, mode="r")
    return np.asarray(triangle, dtype=np.float64)


@dataclass(frozen=True)
class Products(Reduction):
    """``X_firstᵀ diag(weight) X_second``."""

    first: IndexArray
    second: IndexArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return ((chunk[:, self.first].T * rows[0]) @ chunk[:, self.second],)


class Gathering(Reduction):
    """A reduction whose answers are concatenated: a list of parts."""

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return [*first, *second]


@dataclass(frozen=True)
class Gathered(Gathering):
    """Some columns as they are."""

    elements: IndexArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return [np.ascontiguousarray(chunk[:, self.elements].T)]


@dataclass(frozen=True)
class Combined(Gathering):
    """``X w`` for a vector ``w``, or several as columns, that are zero elsewhere."""

    elements: IndexArray
    coef: FloatArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return [chunk[:, self.elements] @ self.coef]


@dataclass(frozen=True)
class Largest(Reduction):
    """The largest absolute values of some columns."""

    elements: IndexArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return np.abs(chunk[:, self.elements]).max(axis=0)

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return np.maximum(first, second)


class Extremes(Reduction):
    """The smallest and the largest entry of every column."""

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return chunk.min(axis=0), chunk.max(axis=0)

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return np.minimum(first[0], second[0]), np.maximum(first[1], second[1])


@dataclass(frozen=True)
class WeightedSquares(Reduction):
    """``Σ_s v_s (x_js − origin_j)²`` for every column."""

    origin: FloatArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        sums, squares = np.empty(len(self.origin)), np.empty(len(self.origin))
        weight, origin = np.array(rows[0]), self.origin.copy()
        moments.by_rows(chunk, weight, origin, 0, len(origin), sums, squares)
        return (squares,)


class FirstBad(Reduction):
    """The first entry that is not finite: sample, feature, value; None if all are."""

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        bad = ~np.isfinite(chunk)
        if not bad.any():
            return None
        row, column = np.argwhere(bad)[0]
        return int(rows[0][row]), int(column), float(chunk[row, column])

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return second if first is None else first
