"""The contract of the columns of a linear model: what a search asks of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Inner products say all there is to know of columns as long as each leaves at least this share of its
# squared length unexplained by the others; beyond that, the columns themselves have to be factored.
SAFE_SHARE = 1e-3


class Columns(ABC):
    """Columns of numbers, one number a sample, of which only ``AᵀV`` and a few columns are ever needed."""

    n_samples: int
    n_features: int
    #: Whether products are only as exact as single precision
    single: bool = False
    #: Whether the numbers are stored in single precision, whatever is made of them
    stored_in_single: bool = False
    #: Whether one column costs as much to read as all of them do
    streamed: bool = False
    #: How many times all of the data were read so far; a few columns count as their share
    passes: float = 0.0
    #: The squared length of every column
    squared_norms: FloatArray
    #: How many deviations the mean that is taken off every column is: that costs as many digits
    offsets: FloatArray

    @abstractmethod
    def columns(self, elements: IndexArray) -> FloatArray:
        """Return the columns ``elements`` as the rows of a new array."""

    @abstractmethod
    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``."""

    @abstractmethod
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A`` for vectors with one number a sample, one vector a row: one pass over the data.

        ``exact`` asks for double precision, whatever the data are stored in.
        """

    @abstractmethod
    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one a row; what was asked for before need not be read again.

        ``likely`` is what may be asked for next: it is read along if that saves another look at the data.
        """

    @abstractmethod
    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the same products, a part of the features at a time."""

    @abstractmethod
    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""

    @abstractmethod
    def cross(self, elements: IndexArray) -> FloatArray:
        """Return the same products, worked out anew and not kept."""

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns, one a row, and ``y``, in coordinates that leave inner products as they are.

        These may be the samples, or fewer; they may be others next time.
        """
        return self.columns(elements), y

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and of features."""
        return self.n_samples, self.n_features

    def products_with(self, y: FloatArray) -> FloatArray:
        """Return ``Aᵀy`` for the target of the model."""
        return self.correlate(y)

    def correlate(self, vectors: FloatArray) -> FloatArray:
        """Return ``AᵀV`` for a vector, or for a matrix with one a column: one pass over the data."""
        if vectors.ndim == 1:
            return self.dots(vectors[None, :])[0]
        return self.dots(np.ascontiguousarray(vectors.T)).T


class Pool(Columns):
    """A few columns of some others, with all their inner products at hand.

    >>> from swapwise.data.dense import DenseMatrix
    >>> from swapwise.data.design import Design
    >>> whole, few = Design(DenseMatrix(np.eye(3))), np.array([0, 2])
    >>> Pool(whole, few, whole.gram(few, few)).products(np.array([1]))
    array([[0., 1.]])
    """

    def __init__(self, whole: Columns, elements: IndexArray, gram: FloatArray) -> None:
        self._whole, self._elements, self._gram = whole, elements, gram
        self.n_samples, self.n_features = whole.n_samples, len(elements)
        self.squared_norms, self.offsets = whole.squared_norms[elements], whole.offsets[elements]
        self.streamed = whole.streamed

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns, from the whole."""
        return self._whole.columns(self._elements[elements])

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``, from the columns themselves."""
        used = np.flatnonzero(coef)
        return coef[used] @ self.columns(used)

    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A``, from the columns themselves."""
        return vectors @ self.columns(np.arange(self.n_features)).T

    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return rows of the Gram matrix."""
        return self._gram[elements]

    def cross(self, elements: IndexArray) -> FloatArray:
        """Return rows of the Gram matrix."""
        return self._gram[elements]

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns and ``y``, as the whole shows them."""
        return self._whole.view(self._elements[elements], y)

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Return rows of the Gram matrix, all at once."""
        yield slice(None), self._gram[elements]

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return a part of the Gram matrix."""
        return self._gram[np.ix_(first, second)]
