"""A matrix of which only blocks of rows are ever in memory: files on disk, Dask arrays and frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data import works
from swapwise.data.blocks import Blocks, Work
from swapwise.data.matrix import Matrix, Moments


class ChunkedMatrix(Matrix):
    """Blocks of rows, gone through from the first to the last for whatever is asked.

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> matrix = ChunkedMatrix(ArrayBlocks(np.arange(6.0).reshape(3, 2), 2))
    >>> matrix.columns(np.array([1]))
    array([[1., 3., 5.]])
    """

    #: The names of the columns, to tell users of them
    names: Sequence[str] | None = None

    def __init__(self, blocks: Blocks, origin: FloatArray | None = None) -> None:
        if 0 in (blocks.n_samples, blocks.n_features):
            shape = blocks.n_samples, blocks.n_features
            raise ValueError(f"X must have at least one sample and one feature, got shape {shape}")
        self._blocks, self._origin = blocks, origin
        self.n_samples, self.n_features = blocks.n_samples, blocks.n_features
        self.stored_as_float32 = blocks.stored_as_float32

    def fold(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Return the answer of some work for all blocks together: one pass over the data."""
        return self._blocks.fold(work if self._origin is None else _Shifted(work, self._origin), *rows)

    @property
    def passes_to_open(self) -> int:
        """How many passes over the data it took to learn where the blocks begin."""
        return self._blocks.passes_to_open

    def place_of(self, sample: int) -> str:
        """Return words for the block of a sample, where blocks are something that users know."""
        return self._blocks.place_of(sample)

    def shifted(self, origin: FloatArray) -> ChunkedMatrix:
        """Return the same numbers less those of one row, which are taken off block by block."""
        shifted = ChunkedMatrix(self._blocks, origin if self._origin is None else self._origin + origin)
        shifted.names = self.names
        return shifted

    def take(self, rows: IndexArray) -> ChunkedMatrix:
        """Return some of the samples, in the order in which they are stored."""
        return ChunkedMatrix(self._blocks.take(rows), self._origin)

    def restricted(self, elements: IndexArray) -> ChunkedMatrix:
        """Return some of the columns, stored anew where the blocks are: worth it if they are read often."""
        origin = None if self._origin is None else self._origin[elements]
        return ChunkedMatrix(self._blocks.restricted(elements), origin)

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns as the rows of a new array: one pass, however few they are."""
        return np.concatenate(self.fold(works.Gathered(elements)), axis=1)

    def products(self, vectors: FloatArray) -> FloatArray:
        """Return ``V X``."""
        products: FloatArray = self.fold(works.Dots(), vectors)[0]
        return products

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``X w`` for a vector, or for several as columns."""
        used = np.flatnonzero(coef.any(axis=1) if coef.ndim == 2 else coef)
        if not len(used):
            return np.zeros((self.n_samples, *coef.shape[1:]))
        return np.concatenate(self.fold(works.Combined(used, coef[used])))

    def moments(self, weight: FloatArray) -> Moments:
        """Return weighted means of the columns, and the spread around them."""
        return self.first_look(weight, np.empty((0, self.n_samples)))[0]

    def first_look(self, weight: FloatArray, vectors: FloatArray) -> tuple[Moments, FloatArray]:
        """Return moments and ``V X`` from the same pass."""
        weights = () if (weight == 1.0).all() else (weight,)  # what says nothing need not travel
        _, mean, spread, products = self.fold(works.FirstLook(), vectors, *weights)
        return Moments(mean, spread), products

    def require_finite(self) -> None:
        """Say which entry is not finite, if one is not, and in which block it is."""
        bad = self.fold(works.FirstBad(), np.arange(self.n_samples))
        if bad is not None:
            row, column, value = bad
            place = f"position {(row, column)}{self.place_of(row)}"
            name = "" if self.names is None else f" of column {str(self.names[column])!r}"
            raise ValueError(f"X must be finite, got {value} at {place}{name}")

    def largest_entries(self, elements: IndexArray) -> FloatArray:
        """Return the largest absolute value in some columns."""
        largest: FloatArray = self.fold(works.Largest(elements))
        return largest

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest entry of every column: one pass over the data."""
        lowest, highest = self.fold(works.Extremes())
        return lowest, highest

    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s (x_js − origin_j)²`` for every column: one pass over the data."""
        squares: FloatArray = self.fold(works.WeightedSquares(origin), weight)[0]
        return squares

    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second``."""
        gram: FloatArray = self.fold(works.Products(first, second), weight)[0]
        return gram


class _Shifted(Work):
    def __init__(self, work: Work, origin: FloatArray) -> None:
        self._work, self._origin = work, origin

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        return self._work(block - self._origin, *rows)

    def merge(self, first: Any, second: Any) -> Any:
        return self._work.merge(first, second)
