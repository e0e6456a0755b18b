"""A matrix that is read in chunks of rows: files on disk, Dask arrays and frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data import reductions
from swapwise.data.matrix import Matrix, Moments, require_entries, require_real
from swapwise.data.reductions import Reduction
from swapwise.override import override


class Chunks(ABC):
    """A matrix in chunks of rows, few of which are ever in memory together."""

    n_samples: int
    n_features: int
    #: Passes over the data that it took to count the rows of chunks
    passes_to_open: int = 0
    #: Whether the numbers are stored in single precision; chunks are handed out in double
    stored_as_float32: bool = False

    @abstractmethod
    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        """Return the answer of a reduction for all chunks together: one pass over the data.

        ``rows`` are arrays with one number per sample along their last axis.
        """

    def take(self, rows: IndexArray) -> Chunks:
        """Return some of the samples, in the order in which they are stored."""
        return SomeRows(self, rows)

    @abstractmethod
    def restricted(self, elements: IndexArray) -> Chunks:
        """Return a copy of some of the columns, kept where the chunks are: one pass over the data."""

    def place_of(self, sample: int) -> str:
        """Return words for the chunk of a sample, where users know chunks."""
        return ""


class SomeRows(Chunks):
    def __init__(self, whole: Chunks, rows: IndexArray) -> None:
        self._whole, self._rows = whole, np.sort(rows)
        self.n_samples, self.n_features = len(rows), whole.n_features
        self.stored_as_float32 = whole.stored_as_float32

    @override
    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        is_wanted = np.zeros(self._whole.n_samples, dtype=bool)
        is_wanted[self._rows] = True
        return self._whole.reduce(_OnSome(reduction), is_wanted, *map(self._spread, rows))

    @override
    def restricted(self, elements: IndexArray) -> Chunks:
        return SomeRows(self._whole.restricted(elements), self._rows)

    def _spread(self, values: NDArray[Any]) -> FloatArray:
        spread = np.zeros((*values.shape[:-1], self._whole.n_samples))
        spread[..., self._rows] = values
        return spread


class _OnSome(Reduction):
    """A reduction of the selected rows; None for a chunk that has none."""

    def __init__(self, reduction: Reduction) -> None:
        self._reduction = reduction

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        is_wanted, parts = rows[0].astype(bool), rows[1:]
        if not is_wanted.any():
            return None
        return self._reduction(chunk[is_wanted], *(part[..., is_wanted] for part in parts))

    @override
    def merge(self, first: Any, second: Any) -> Any:
        if first is None or second is None:
            return second if first is None else first
        return self._reduction.merge(first, second)


def as_chunk(chunk: Any, number: int, begin: int, end: int, n_features: int) -> FloatArray:
    """Return a chunk in double precision, or raise an error that names it.

    >>> as_chunk(np.eye(2), 3, 6, 8, 5)
    Traceback (most recent call last):
    ValueError: chunk 3 of X (rows 6 to 7) must have shape (2, 5), got (2, 2)
    """
    name = f"chunk {number} of X (rows {begin} to {end - 1})"
    if hasattr(chunk, "toarray"):
        chunk = chunk.toarray()
    elif hasattr(chunk, "to_numpy"):
        chunk = chunk.to_numpy()
    if chunk.shape != (end - begin, n_features):
        raise ValueError(f"{name} must have shape {(end - begin, n_features)}, got {chunk.shape}")
    require_real(chunk.dtype, name)
    return np.ascontiguousarray(chunk, dtype=np.float64)


class ChunkedMatrix(Matrix):
    """Chunks of rows: every operation is a pass over all of them."""

    in_memory, sequential = False, True
    #: Names of the columns, for messages
    names: Sequence[str] | None = None

    def __init__(self, chunks: Chunks, origin: FloatArray | None = None) -> None:
        require_entries((chunks.n_samples, chunks.n_features))
        self._chunks, self._origin = chunks, origin
        self.n_samples, self.n_features = chunks.n_samples, chunks.n_features
        self.stored_as_float32 = chunks.stored_as_float32
        self.passes_to_open = chunks.passes_to_open

    @override
    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        if self._origin is not None:
            reduction = _Shifted(reduction, self._origin)
        return self._chunks.reduce(reduction, *rows)

    def place_of(self, sample: int) -> str:
        return self._chunks.place_of(sample)

    def shifted(self, origin: FloatArray) -> ChunkedMatrix:
        """Return the same numbers less those of one row, subtracted chunk by chunk."""
        shifted = ChunkedMatrix(self._chunks, origin if self._origin is None else self._origin + origin)
        shifted.names = self.names
        return shifted

    @override
    def take(self, rows: IndexArray) -> ChunkedMatrix:
        return ChunkedMatrix(self._chunks.take(rows), self._origin)

    @override
    def restricted(self, elements: IndexArray) -> ChunkedMatrix:
        origin = None if self._origin is None else self._origin[elements]
        return ChunkedMatrix(self._chunks.restricted(elements), origin)

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        if not len(elements):
            return np.empty((0, self.n_samples))
        return np.concatenate(self.reduce(reductions.Gathered(elements)), axis=1)

    @override
    def products(self, vectors: FloatArray) -> FloatArray:
        products: FloatArray = self.reduce(reductions.Dots(), vectors)[0]
        return products

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        used = np.flatnonzero(coef.any(axis=1) if coef.ndim == 2 else coef)
        if not len(used):
            return np.zeros((self.n_samples, *coef.shape[1:]))
        return np.concatenate(self.reduce(reductions.Combined(used, coef[used])))

    @override
    def moments(self, weight: FloatArray) -> Moments:
        return self.first_look(weight, np.empty((0, self.n_samples)))[0]

    @override
    def first_look(self, weight: FloatArray, vectors: FloatArray) -> tuple[Moments, FloatArray]:
        weights = () if (weight == 1.0).all() else (weight,)  # less to send
        _, mean, spread, products = self.reduce(reductions.FirstLook(), vectors, *weights)
        return Moments(mean, spread), products

    @override
    def require_finite(self) -> None:
        bad = self.reduce(reductions.FirstBad(), np.arange(self.n_samples))
        if bad is not None:
            row, column, value = bad
            place = f"position {(row, column)}{self.place_of(row)}"
            name = "" if self.names is None else f" of column {str(self.names[column])!r}"
            raise ValueError(f"X must be finite, got {value} at {place}{name}")

    @override
    def largest_entries(self, elements: IndexArray) -> FloatArray:
        largest: FloatArray = self.reduce(reductions.Largest(elements))
        return largest

    @override
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        lowest, highest = self.reduce(reductions.Extremes())
        return lowest, highest

    @override
    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        squares: FloatArray = self.reduce(reductions.WeightedSquares(origin), weight)[0]
        return squares

    @override
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        gram: FloatArray = self.reduce(reductions.Products(first, second), weight)[0]
        return gram


class _Shifted(Reduction):
    def __init__(self, reduction: Reduction, origin: FloatArray) -> None:
        self._reduction, self._origin = reduction, origin

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return self._reduction(chunk - self._origin, *rows)

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return self._reduction.merge(first, second)
