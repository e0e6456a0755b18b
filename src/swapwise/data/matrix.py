"""The contract of stored matrices: the few operations that searches need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.reductions import Reduction


class Moments(NamedTuple):
    mean: FloatArray
    #: Σ w (x − mean)², free of cancellation
    spread: FloatArray


class Matrix(ABC):
    """Numbers with samples as rows and features as columns, however they are stored.

    A new kind of storage is one file that writes these few methods.
    """

    n_samples: int
    n_features: int
    #: Whether products are computed in float32
    is_float32: bool = False
    #: Whether the numbers are stored as float32, whatever products are computed in
    stored_as_float32: bool = False
    #: Whether the numbers are in memory
    in_memory: bool = True
    #: Whether one column costs as much to read as all of them do
    sequential: bool = False
    #: How many passes over the data it took to learn their shape
    passes_to_open: int = 0

    @abstractmethod
    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns as the rows of a new array of doubles."""

    @abstractmethod
    def products(self, vectors: FloatArray) -> FloatArray:
        """Return ``V X`` for vectors with one number per sample, one vector per row."""

    def exact_products(self, vectors: FloatArray) -> FloatArray:
        """Return the same in double precision, whatever the numbers are stored in."""
        return self.products(vectors)

    @abstractmethod
    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``X w``."""

    @abstractmethod
    def moments(self, weight: FloatArray) -> Moments:
        """Return weighted means of the columns, and the spread around them."""

    def first_look(self, weight: FloatArray, vectors: FloatArray) -> tuple[Moments, FloatArray]:
        """Return moments and ``V X``: from the same pass, where data are read as a whole."""
        return self.moments(weight), self.products(vectors)

    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        """Return the answer of a reduction for all samples together; ``rows`` have one number per sample."""
        return reduction(np.ascontiguousarray(self.columns(np.arange(self.n_features)).T), *rows)

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, self.n_features

    @abstractmethod
    def take(self, rows: IndexArray) -> Matrix:
        """Return some of the samples, given in the order in which they are stored."""

    @abstractmethod
    def restricted(self, elements: IndexArray) -> Matrix:
        """Return a copy of some columns, in the order given, that is worth it if they are read often."""

    def by_rows(self) -> Matrix:
        """Return the same numbers, to be read in chunks of rows if they are read in parts at all."""
        return self

    def in_double(self) -> Matrix:
        return self

    @abstractmethod
    def require_finite(self) -> None:
        """Say which entry is not finite, if one is not."""

    @abstractmethod
    def largest_entries(self, elements: IndexArray) -> FloatArray:
        """Return the largest absolute value in some columns."""

    @abstractmethod
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest entry of every column."""

    @abstractmethod
    def weighted_squares(self, weight: FloatArray, origin: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s (x_js − origin_j)²`` for every column, of any weights."""

    @abstractmethod
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second``."""

    def gram_of_all(self, weight: FloatArray) -> FloatArray:
        """Return ``Xᵀ diag(weight) X``."""
        every = np.arange(self.n_features)
        return self.gram(every, every, weight)


def require_two_dimensions(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"X must be two-dimensional (rows are samples, columns are features), got shape {shape}"
        )


def require_entries(shape: tuple[int, ...]) -> None:
    if 0 in shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {shape}")


def require_real(dtype: Any, name: str = "X") -> None:
    if dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, got values of type {dtype}")


class CountedMatrix:
    """A matrix, and how many times all of it was read; a few columns count as their share.

    Where one column costs as much to read as all of them do, every read is a pass.

    >>> from swapwise.data.dense import DenseMatrix
    >>> counted = CountedMatrix(DenseMatrix(np.eye(4)))
    >>> _ = counted.read(1).columns(np.array([2])), counted.read().products(np.ones((1, 4)))
    >>> counted.passes
    1.25
    """

    def __init__(self, stored: Matrix, whole: CountedMatrix | None = None) -> None:
        #: The matrix itself, for reads that are not counted
        self.stored = stored
        self.passes, self._whole = float(stored.passes_to_open), whole

    def read(self, n_columns: int | None = None) -> Matrix:
        """Return the matrix for one read of some columns, or of all, which is counted."""
        share = 1.0 if n_columns is None else n_columns / self.stored.n_features
        self.count(float(share > 0) if self.stored.sequential else share)
        return self.stored

    def count(self, share: float) -> None:
        """Count a read of a share of the data; if they are columns of another matrix, there too."""
        self.passes += share
        if self._whole is not None:
            self._whole.count(share * self.stored.n_features / self._whole.stored.n_features)

    def restricted(self, elements: IndexArray) -> CountedMatrix:
        """Return a copy of some columns, whose reads count as those of a share of this matrix."""
        return CountedMatrix(self.read(len(elements)).restricted(elements), self)
