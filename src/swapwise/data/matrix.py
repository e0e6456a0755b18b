"""The contract of stored matrices: the few things a search asks of its data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

from swapwise.checks import FloatArray, IndexArray


class Moments(NamedTuple):
    """Sums over the samples, one per column, from one pass over the data."""

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

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and of features."""
        return self.n_samples, self.n_features

    @abstractmethod
    def take(self, rows: IndexArray) -> Matrix:
        """Return some of the samples, given in the order in which they are stored."""

    def in_double(self) -> Matrix:
        """Return the same numbers in double precision."""
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
        """Return ``Σ_s v_s (x_js − origin_j)²`` for every column, of weights that are not negative."""

    @abstractmethod
    def gram(self, first: IndexArray, second: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``X_firstᵀ diag(weight) X_second``."""
