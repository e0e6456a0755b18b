"""The columns of a linear model: what a search asks of them, and stored numbers that answer it.

A design centres, scales and weights stored numbers without a copy of them; a few columns with their inner
products make a design of their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_vector
from swapwise.data.matrix import Matrix, Moments
from swapwise.data.products import KeptProducts
from swapwise.data.works import Scaled
from swapwise.numerics import CONSTANT, FLOAT32_PRECISION, FLOAT64_PRECISION

# Inner products say all there is to know of columns as long as each leaves at least this share of its
# squared length unexplained by the others; beyond that, the columns themselves have to be factored.
SAFE_SHARE = 1e-3

# Columns in single precision are to be of such a size that their products are numbers.
FLOAT32_SIZES = (1e-15, 1e15)

# Columns whose mean is this many times their deviation are kept centred: taking the mean out of products
# would cost as many digits as there are zeros here. In single precision there are fewer to lose.
FAR_FROM_ZERO, FAR_IN_FLOAT32 = 1e3, 30.0

# The same for the inner products of a few columns with each other, which are only needed for a first guess.
OFF_CENTRE = 30.0

# Products of columns with all others are kept up to this share of the data, and worked out for this
# many columns at a time.
KEPT_SHARE, AT_ONCE = 0.04, 128


class Columns(ABC):
    """Columns of numbers, one number per sample, of which only ``AᵀV`` and a few columns are ever needed."""

    n_samples: int
    n_features: int
    #: Whether products are computed in float32
    is_float32: bool = False
    #: Whether the numbers are stored as float32, whatever products are computed in
    stored_as_float32: bool = False
    #: Whether one column costs as much to read as all of them do
    streamed: bool = False
    #: How many times all of the data were read so far; a few columns count as their share
    passes: float = 0.0
    #: The squared length of every column, weighted as its inner products with others are
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
        """Return ``V A`` for vectors with one number per sample, one vector per row: one pass over the data.

        ``exact`` asks for double precision, whatever the data are stored in.
        """

    @abstractmethod
    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one per row; what was asked for before need not be read again.

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
        """Return the same products, computed again and not kept."""

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns, one per row, and ``y``, in coordinates that leave inner products as they are.

        These may be the samples, or fewer; they may be others next time.
        """
        return self.columns(elements), y

    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        """Return one number per sample, scaled as the rows of the design are."""
        return as_vector(values, self.n_samples, name)

    @cached_property
    def largest_entries(self) -> FloatArray:
        """The largest absolute value in every column."""
        parts = [np.abs(columns).max(axis=1) for _, columns in self._parts()]
        return np.concatenate(parts)

    def weighted_squares(self, weight: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s a_js²`` for every column, of weights that are not negative."""
        return np.concatenate([(columns**2) @ weight for _, columns in self._parts()])

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the columns, some at a time."""
        for begin in range(0, self.n_features, AT_ONCE):
            part = slice(begin, min(begin + AT_ONCE, self.n_features))
            yield part, self.columns(np.arange(part.start, part.stop))

    @property
    def precision(self) -> float:
        """How far columns are known, relative to their length; see ``swapwise.numerics``."""
        return FLOAT32_PRECISION if self.stored_as_float32 else FLOAT64_PRECISION

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and of features."""
        return self.n_samples, self.n_features

    def products_with(self, y: FloatArray) -> FloatArray:
        """Return ``Aᵀy`` for the target of the model."""
        return self.correlate(y)

    def correlate(self, vectors: FloatArray) -> FloatArray:
        """Return ``AᵀV`` for a vector, or for a matrix with one per column: one pass over the data."""
        if vectors.ndim == 1:
            return self.dots(vectors[None, :])[0]
        return self.dots(np.ascontiguousarray(vectors.T)).T


class Design(Columns):
    """``A = diag(√weight) (X − shift) diag(1/scale)``, of which only ``AᵀV`` and a few columns are needed.

    Without ``scale_rows``, ``A = (X − shift) diag(1/scale)``: means, deviations and inner products of columns
    are weighted all the same, but columns, and their products with vectors, are not.

    Parameters
    ----------
    matrix : Matrix
        The numbers X as they are stored.
    sample_weight : array-like, optional
        Weights of the samples: they turn weighted least squares into plain least squares.
    centre, standardize : bool
        Whether the weighted mean of each column is taken off, and whether it is divided by its deviation.
    scale_rows : bool
        Whether rows are multiplied by the square roots of their weights. Likelihoods weight their samples
        themselves, and want rows as they are.

    >>> from swapwise.data.dense import DenseMatrix
    >>> design = Design(DenseMatrix([[1.0, 5.0], [3.0, 5.0]]), centre=True)
    >>> design.columns(np.array([0, 1]))
    array([[-1.,  1.],
           [ 0.,  0.]])
    >>> design.correlate(np.array([1.0, 2.0]))
    array([1., 0.])
    """

    def __init__(
        self,
        matrix: Matrix,
        sample_weight: ArrayLike | None = None,
        centre: bool = False,
        standardize: bool = False,
        *,
        scale_rows: bool = True,
    ) -> None:
        self.matrix = matrix
        self.n_samples, self.n_features = matrix.n_samples, matrix.n_features
        self.is_float32, self.stored_as_float32 = matrix.is_float32, matrix.stored_as_float32
        self.row_scale: FloatArray | None = None
        weight = np.ones(self.n_samples)
        if sample_weight is not None:
            weight = as_vector(sample_weight, self.n_samples, "sample_weight", non_negative=True)
            if not weight.any():
                raise ValueError("sample_weight must have a positive entry, got zeros only")
            self.row_scale = np.sqrt(weight) if scale_rows else None
        self._root_weight = np.sqrt(weight) if self.row_scale is None else self.row_scale
        self._weight, self._has_weights = weight, sample_weight is not None
        #: What the matrix has taken off its columns already
        self.origin = np.zeros(self.n_features)
        self._centre, self._standardize = centre, standardize
        self._far, self._far_columns = np.empty(0, dtype=np.intp), np.empty((0, self.n_samples))
        self._far_place = np.full(self.n_features, -1, dtype=np.intp)
        self._settle()
        room, at_once = self._room_for_products()
        self._kept = KeptProducts(self.n_features, room, at_once, self.cross)

    def _look(self) -> Moments:
        """Return means and spreads of the columns as they are stored."""
        self.passes += 1
        return self.matrix.moments(self._weight)

    def _room_for_products(self) -> tuple[int, int]:
        """Return of how many columns products are kept, and worked out together."""
        return int(KEPT_SHARE * self.n_samples), AT_ONCE

    def _settle(self) -> None:
        """Find shift and scale of every column, and their squared lengths."""
        centre, standardize = self._centre, self._standardize
        mean, spread = self._look()
        total = float(self._weight.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            #: The root mean square of every column as it is stored
            self.sizes = np.sqrt(spread / total + mean**2)
            if not np.isfinite(self.sizes).all():
                self.matrix.require_finite()
            if self.is_float32 and not is_moderate(self.sizes, FLOAT32_SIZES).all():
                self.matrix, self.is_float32 = self.matrix.in_double(), False
            constant = spread <= (CONSTANT * np.abs(mean)) ** 2 * total
            deviation = np.sqrt(np.where(constant, total, spread) / total)
            self.shift = mean if centre else np.zeros_like(mean)
            self.scale = deviation if standardize else np.ones_like(mean)
            #: What columns are multiplied by; a constant one that is centred leaves exactly nothing
            self.factor = np.where(constant & centre, 0.0, 1.0 / self.scale)
            self.squared_norms = (spread if centre else spread + total * mean**2) * self.factor**2
            self.offsets = np.where(constant | (not centre), 0.0, np.abs(mean) / deviation)
        self._keep_far_columns()

    def _keep_far_columns(self) -> None:
        """Keep the columns whose means are far from zero, centred twice: the first mean was rounded."""
        self._far = self._far_from_zero()
        self._far_columns = self._read(self._far)
        if len(self._far):
            self._take_means_off(self._far_columns)
            weighted = self._weighted(self._far_columns)
            self.squared_norms[self._far] = np.einsum("js,js->j", weighted, self._far_columns)
            self._far_place[self._far] = np.arange(len(self._far))

    def _take_means_off(self, columns: FloatArray) -> None:
        """Take the weighted means of columns of the design off them, in place."""
        means = self._weighted(columns) @ self._root / self._weight.sum()
        for column, mean in zip(columns, means, strict=True):  # one by one, to save memory
            column -= mean * self._root

    @property
    def _root(self) -> FloatArray:
        """What a column of ones becomes in the design."""
        return np.ones(self.n_samples) if self.row_scale is None else self.row_scale

    def _weighted(self, columns: FloatArray) -> FloatArray:
        """Return columns of the design, weighted as their inner products are."""
        is_weighted = self._has_weights and self.row_scale is None
        return columns * self._weight if is_weighted else columns

    def _far_from_zero(self) -> IndexArray:
        return np.flatnonzero(self.offsets > (FAR_IN_FLOAT32 if self.is_float32 else FAR_FROM_ZERO))

    def scaled(self, elements: IndexArray, held: IndexArray | None = None) -> Scaled:
        """Return how to make columns of the design from those of a chunk of rows.

        ``held`` are the columns that chunks have, in increasing order, if these are not all.
        """
        places = elements if held is None else np.searchsorted(held, elements)
        return Scaled(places, self.shift[elements], self.factor[elements])

    def original(self, coef: FloatArray, intercept: Any) -> tuple[FloatArray, Any]:
        """Return coefficients (features last) and intercept for the columns as they were given.

        >>> from swapwise.data.dense import DenseMatrix
        >>> design = Design(DenseMatrix([[1.0], [5.0]]), centre=True, standardize=True)
        >>> design.original(np.array([2.0]), 7.0)
        (array([1.]), np.float64(4.0))
        """
        coef = coef / self.scale
        return coef, intercept - coef @ (self.origin + self.shift)

    def materialize(self) -> DenseColumns:
        """Return the same columns as an array in memory: one copy of the data.

        >>> from swapwise.data.dense import DenseMatrix
        >>> Design(DenseMatrix([[1.0, 5.0], [3.0, 5.0]]), centre=True).materialize().array
        array([[-1.,  1.],
               [ 0.,  0.]])
        """
        array = np.empty((self.n_features, self.n_samples))
        for part, columns in self._parts():
            if self._centre:  # once more: the mean was rounded
                self._take_means_off(columns)
            array[part] = columns
        weight = self._weight if self._has_weights and self.row_scale is None else None
        return DenseColumns(array, weight, self.offsets, is_float32=self.stored_as_float32)

    @cached_property
    def largest_entries(self) -> FloatArray:
        """The largest absolute value in every column."""
        if self.row_scale is not None:
            return super().largest_entries
        self.passes += 1
        lowest, highest = self.matrix.extremes()
        largest = np.maximum(highest - self.shift, self.shift - lowest) * self.factor
        largest[self._far] = np.abs(self._far_columns).max(axis=1, initial=0.0)
        return largest

    def weighted_squares(self, weight: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s a_js²`` for every column, of weights that are not negative: one pass."""
        self.passes += 1
        plain = weight if self.row_scale is None else weight * self.row_scale**2
        squares = self.matrix.weighted_squares(plain, self.shift) * self.factor**2
        squares[self._far] = (self._far_columns**2) @ weight
        return squares

    def largest_stored(self, elements: IndexArray) -> FloatArray:
        """Return the largest absolute values of some columns as they are stored."""
        self.passes += 1 if self.streamed else len(elements) / self.n_features
        return self.matrix.largest_entries(elements)

    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        """Return one number per sample, scaled as the rows of the design are."""
        vector = as_vector(values, self.n_samples, name)
        return vector if self.row_scale is None else vector * self.row_scale

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return the columns ``elements`` as the rows of a new array."""
        self.passes += len(elements) / self.n_features
        return self._read(elements)

    def _read(self, elements: IndexArray) -> FloatArray:
        columns = self.matrix.columns(elements)
        if self.shift[elements].any():
            columns -= self.shift[elements, None]
        if (self.factor[elements] != 1.0).any():
            columns *= self.factor[elements, None]
        if self.row_scale is not None:
            columns *= self.row_scale
        place = self._far_place[elements]
        if len(self._far) and (place >= 0).any():
            columns[place >= 0] = self._far_columns[place[place >= 0]]
        return columns

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``."""
        self.passes += np.count_nonzero(coef) / self.n_features
        return self._combine(coef)

    def _combine(self, coef: FloatArray) -> FloatArray:
        plain = coef * self.factor
        plain[self._far] = 0.0
        fit = self.matrix.combine(plain) - plain @ self.shift
        fit = fit if self.row_scale is None else fit * self.row_scale
        return fit + coef[self._far] @ self._far_columns if len(self._far) else fit

    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A`` for vectors with one number per sample: one pass over the data."""
        self.passes += 1
        plain = self._without_root(vectors)
        products = self.matrix.exact_products(plain) if exact else self.matrix.products(plain)
        dots = self._to_columns(products, plain.sum(axis=1))
        if len(self._far):
            dots[:, self._far] = vectors @ self._far_columns.T
        return dots

    def _without_root(self, vectors: FloatArray) -> FloatArray:
        """Return what to multiply the stored rows with for products with the rows of the design."""
        return vectors if self.row_scale is None else vectors * self.row_scale

    def _to_columns(self, products: FloatArray, totals: FloatArray) -> FloatArray:
        """Turn products with stored columns into products with those of the design, in place."""
        if self.shift.any():
            for row, total in zip(products, totals, strict=True):  # row by row, to save memory
                row -= total * self.shift
        products *= self.factor
        return products

    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one per row; what was asked for before is not read again."""
        return self._kept.of(elements)

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the same products, a part of the features at a time."""
        return self._kept.blocks(elements)

    def cross(self, elements: IndexArray) -> FloatArray:
        """Return the same products, computed again."""
        return self.dots(self._weighted(self._read(elements)))

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""
        self.passes += (len(first) + len(second)) / self.n_features
        if max(self.offsets[first].max(initial=0.0), self.offsets[second].max(initial=0.0)) > OFF_CENTRE:
            left = self._read(first)
            return self._weighted(left) @ (left if first is second else self._read(second)).T
        gram = self.matrix.gram(first, second, self._weight)
        if self.shift.any():
            gram -= np.outer(self._weight.sum() * self.shift[first], self.shift[second])
        return gram * np.outer(self.factor[first], self.factor[second])

    def extreme_eigenvalues(self) -> tuple[float, float]:
        """Return bounds on the smallest and largest eigenvalue of ``AᵀA``, safe against rounding.

        Both come from the smaller of ``AᵀA`` and ``AAᵀ``.
        """
        wide = self.n_features > self.n_samples
        every = np.arange(self.n_features)
        if wide:
            columns = self.columns(every)
            if self._has_weights and self.row_scale is None:
                columns *= self._root_weight
            small = columns.T @ columns
        else:
            small = self.gram(every, every)
        eigenvalues = np.linalg.eigvalsh(small)
        # Taking means out of inner products costs digits.
        lost = 1.0 + min(float(self.offsets.max()), OFF_CENTRE) ** 2
        margin = lost * np.finfo(float).eps * max(self.n_samples, self.n_features) * eigenvalues[-1]
        smallest = 0.0 if wide else max(0.0, float(eigenvalues[0] - margin))
        return smallest, float(eigenvalues[-1] + margin)


class GramColumns(Columns):
    """A few columns with all their inner products at hand."""

    def __init__(self, gram: FloatArray) -> None:
        self._gram = gram
        self.n_features = len(gram)

    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return rows of the Gram matrix."""
        return self._gram[elements]

    def cross(self, elements: IndexArray) -> FloatArray:
        """Return rows of the Gram matrix."""
        return self._gram[elements]

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Return rows of the Gram matrix, all at once."""
        yield slice(None), self._gram[elements]

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return a part of the Gram matrix."""
        return self._gram[np.ix_(first, second)]

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``, from the columns themselves."""
        used = np.flatnonzero(coef)
        return coef[used] @ self.columns(used)

    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A``, from the columns themselves."""
        return vectors @ self.columns(np.arange(self.n_features)).T


class ColumnSubset(GramColumns):
    """Some columns of a design.

    >>> from swapwise.data.dense import DenseMatrix
    >>> whole, few = Design(DenseMatrix(np.eye(3))), np.array([0, 2])
    >>> ColumnSubset(whole, few, whole.gram(few, few)).products(np.array([1]))
    array([[0., 1.]])
    """

    def __init__(self, whole: Columns, elements: IndexArray, gram: FloatArray) -> None:
        super().__init__(gram)
        self._whole, self._elements = whole, elements
        self.n_samples, self.streamed = whole.n_samples, whole.streamed
        self.stored_as_float32 = whole.stored_as_float32
        self.squared_norms, self.offsets = whole.squared_norms[elements], whole.offsets[elements]

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns, from the whole."""
        return self._whole.columns(self._elements[elements])

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns and ``y``, as the whole shows them."""
        return self._whole.view(self._elements[elements], y)


class DenseColumns(Columns):
    """All columns in memory, one per row of an array; inner products are computed when they are asked for.

    Parameters
    ----------
    array : array of shape (n_features, n_samples)
    weight : array of shape (n_samples,), optional
        Weights of the samples in inner products.
    offsets : array of shape (n_features,), optional
        How many deviations the mean was that has been taken off every column.
    is_float32 : bool
        Whether the numbers come from data in single precision.

    >>> columns = DenseColumns(np.array([[1.0, 2.0], [0.0, 3.0]]), weight=np.array([1.0, 0.5]))
    >>> columns.squared_norms, columns.gram(np.array([0]), np.array([1]))
    (array([3. , 4.5]), array([[3.]]))
    >>> columns.dots(np.array([[1.0, 1.0]])), columns.largest_entries
    (array([[3., 3.]]), array([2., 3.]))
    """

    def __init__(
        self,
        array: FloatArray,
        weight: FloatArray | None = None,
        offsets: FloatArray | None = None,
        *,
        is_float32: bool = False,
    ) -> None:
        self.array, self.weight = array, weight
        self.n_features, self.n_samples = array.shape
        self.offsets = np.zeros(len(array)) if offsets is None else offsets
        self.stored_as_float32 = is_float32
        self.squared_norms = self.weighted_squares(np.ones(self.n_samples) if weight is None else weight)

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return a copy of some columns."""
        return self.array[elements]

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``, from the columns with a coefficient."""
        used = np.flatnonzero(coef)
        return coef @ self.array if len(used) == len(coef) else coef[used] @ self.array[used]

    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A``."""
        return vectors @ self.array.T

    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one per row."""
        return self.cross(elements)

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Return the same products, all at once."""
        yield slice(None), self.cross(elements)

    def cross(self, elements: IndexArray) -> FloatArray:
        """Return the same products."""
        return self._weighted(elements) @ self.array.T

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""
        return self._weighted(first) @ self.array[second].T

    def _weighted(self, elements: IndexArray) -> FloatArray:
        columns = self.array[elements]
        return columns if self.weight is None else columns * self.weight

    @cached_property
    def largest_entries(self) -> FloatArray:
        """The largest absolute value in every column."""
        return np.maximum(self.array.max(axis=1), -self.array.min(axis=1))

    def weighted_squares(self, weight: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s a_js²`` for every column."""
        from swapwise.kernels import moments

        sums, squares = np.empty(self.n_features), np.empty(self.n_features)
        moments.by_columns(self.array, weight, np.zeros(self.n_features), 0, self.n_features, sums, squares)
        return squares


class ColumnArray(GramColumns):
    """A few columns in memory, one per row of an array.

    >>> ColumnArray(np.array([[1.0, 2.0], [0.0, 3.0]])).products(np.array([1]))
    array([[6., 9.]])
    """

    def __init__(self, columns: FloatArray) -> None:
        super().__init__(columns @ columns.T)
        self._columns = columns
        self.n_samples = columns.shape[1]
        self.squared_norms, self.offsets = np.diag(self._gram).copy(), np.zeros(len(columns))

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return a copy of some columns."""
        return self._columns[elements]

    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A``."""
        return vectors @ self._columns.T


def is_moderate(sizes: FloatArray, bounds: tuple[float, float]) -> BoolArray:
    """Return which sizes are zero or within bounds."""
    moderate: BoolArray = (sizes == 0) | ((sizes > bounds[0]) & (sizes < bounds[1]))
    return moderate
