"""The columns of a linear model: stored numbers, centred, scaled and weighted without a copy of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_vector
from swapwise.data.matrix import Matrix
from swapwise.data.products import KeptProducts

# A column that varies by no more than this, relative to its size, is constant but for rounding.
CONSTANT = 1e-13

# Columns in single precision are to be of such a size that their products are numbers.
SINGLE_SIZES = (1e-15, 1e15)

# Columns whose mean is this many times their spread are kept centred: taking the mean out of their products
# would cost as many digits as there are zeros here.
FAR_FROM_ZERO = 1e3

# The same for the inner products of a few columns with each other, which are only needed for a first guess.
OFF_CENTRE = 30.0


class Design:
    """``A = diag(√weight) (X − shift) diag(1/scale)``, of which only ``AᵀV`` and a few columns are needed.

    Parameters
    ----------
    matrix : Matrix
        The numbers X as they are stored.
    sample_weight : array-like, optional
        Weights of the samples: they turn weighted least squares into plain least squares.
    centre, standardize : bool
        Whether the weighted mean of each column is taken off, and whether it is divided by its deviation.

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
    ) -> None:
        self.matrix = matrix
        self.n_samples, self.n_features = matrix.n_samples, matrix.n_features
        self.single = matrix.single
        #: How many times all of the data were read so far; a few columns count as their share
        self.passes = 0.0
        self.row_scale: FloatArray | None = None
        weight = np.ones(self.n_samples)
        if sample_weight is not None:
            weight = as_vector(sample_weight, self.n_samples, "sample_weight", non_negative=True)
            if not weight.any():
                raise ValueError("sample_weight must have a positive entry, got zeros only")
            self.row_scale = np.sqrt(weight)
        self._weight = weight
        self._settle(centre, standardize)
        self._kept = KeptProducts(self.n_features, self.n_samples, self._products)

    def _settle(self, centre: bool, standardize: bool) -> None:
        """Find shift and scale of every column, and their squared lengths."""
        mean, spread = self.matrix.moments(self._weight)
        self.passes += 1
        total = float(self._weight.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            #: The root mean square of every column as it is stored
            self.sizes = np.sqrt(spread / total + mean**2)
            if not np.isfinite(self.sizes).all():
                self.matrix.require_finite()
            if self.single and not is_moderate(self.sizes, SINGLE_SIZES).all():
                self.matrix, self.single = self.matrix.in_double(), False
            constant = spread <= (CONSTANT * np.abs(mean)) ** 2 * total
            deviation = np.sqrt(np.where(constant, total, spread) / total)
            self.shift = mean if centre else np.zeros_like(mean)
            self.scale = deviation if standardize else np.ones_like(mean)
            #: What columns are multiplied with; a constant one that is centred leaves exactly nothing
            self._factor = np.where(constant & centre, 0.0, 1.0 / self.scale)
            self._squares = (spread if centre else spread + total * mean**2) * self._factor**2
        self._off_centre = centre & ~constant & (np.abs(mean) > OFF_CENTRE * deviation)
        far = np.flatnonzero(self._off_centre & (np.abs(mean) > FAR_FROM_ZERO * deviation))
        self._far, self._far_columns = far, self._read(far)

    @property
    def squared_norms(self) -> FloatArray:
        """The squared length of every column."""
        return self._squares

    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        """Return one number a sample, scaled as the rows of the design are."""
        vector = as_vector(values, self.n_samples, name)
        return vector if self.row_scale is None else vector * self.row_scale

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return the columns ``elements`` as the rows of a new array."""
        self.passes += len(elements) / self.n_features
        return self._read(elements)

    def _read(self, elements: IndexArray, rows: slice = slice(None)) -> FloatArray:
        columns = self.matrix.columns(elements, rows)
        if self.shift[elements].any():
            columns -= self.shift[elements, None]
        if (self._factor[elements] != 1.0).any():
            columns *= self._factor[elements, None]
        if self.row_scale is not None:
            columns *= self.row_scale[rows]
        return columns

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``."""
        self.passes += np.count_nonzero(coef) / self.n_features
        plain = coef * self._factor
        fit = self.matrix.combine(plain) - plain @ self.shift
        return fit if self.row_scale is None else fit * self.row_scale

    def correlate(self, vectors: FloatArray) -> FloatArray:
        """Return ``AᵀV`` for a vector, or for a matrix with one a column: one pass over the data."""
        if vectors.ndim == 1:
            return self.dots(vectors[None, :])[0]
        return self.dots(np.ascontiguousarray(vectors.T)).T

    def dots(self, vectors: FloatArray) -> FloatArray:
        """Return ``V A`` for vectors with one number a sample, one vector a row: one pass over the data."""
        self.passes += 1
        plain = vectors if self.row_scale is None else vectors * self.row_scale
        dots = self.matrix.products(plain)
        if self.shift.any():
            for row, total in zip(dots, plain.sum(axis=1), strict=True):  # row by row, to save memory
                row -= total * self.shift
        dots *= self._factor
        if len(self._far):
            dots[:, self._far] = vectors @ self._far_columns.T
        return dots

    def products(self, elements: IndexArray) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one a row; what was asked for before need not be read again."""
        return self._kept.of(elements)

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the same products, a part of the features at a time."""
        return self._kept.blocks(elements)

    def _products(self, elements: IndexArray) -> FloatArray:
        return self.dots(self._read(elements))

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""
        self.passes += (len(first) + len(second)) / self.n_features
        if self._off_centre[first].any() or self._off_centre[second].any():
            return self._read(first) @ self._read(second).T
        gram = self.matrix.gram(first, second, self._weight)
        if self.shift.any():
            gram -= np.outer(self._weight.sum() * self.shift[first], self.shift[second])
        return gram * np.outer(self._factor[first], self._factor[second])

    def pool(self, elements: IndexArray, gram: FloatArray) -> Pool:
        """Return the design of some columns, whose inner products are known."""
        return Pool(self, elements, gram)

    def extreme_eigenvalues(self) -> tuple[float, float]:
        """Return bounds on the smallest and largest eigenvalue of ``AᵀA``, safe against rounding.

        Both come from the smaller of ``AᵀA`` and ``AAᵀ``.
        """
        wide = self.n_features > self.n_samples
        every = np.arange(self.n_features)
        if wide:
            columns = self.columns(every)
            small = columns.T @ columns
        else:
            small = self.gram(every, every)
        eigenvalues = np.linalg.eigvalsh(small)
        margin = np.finfo(float).eps * max(self.n_samples, self.n_features) * eigenvalues[-1]
        smallest = 0.0 if wide else max(0.0, float(eigenvalues[0] - margin))
        return smallest, float(eigenvalues[-1] + margin)


def is_moderate(sizes: FloatArray, bounds: tuple[float, float]) -> BoolArray:
    """Return which sizes are zero or within bounds."""
    moderate: BoolArray = (sizes == 0) | ((sizes > bounds[0]) & (sizes < bounds[1]))
    return moderate


class Pool(Design):
    """A few columns of a design, with all their inner products at hand."""

    def __init__(self, whole: Design, elements: IndexArray, gram: FloatArray) -> None:
        self._whole, self._elements, self._gram = whole, elements, gram
        self.n_samples, self.n_features = whole.n_samples, len(elements)
        self.single, self.passes = False, 0.0
        self._squares = whole.squared_norms[elements]
        self.row_scale = whole.row_scale

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns, from the whole."""
        return self._whole.columns(self._elements[elements])

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``, from the columns themselves."""
        used = np.flatnonzero(coef)
        return coef[used] @ self.columns(used)

    def dots(self, vectors: FloatArray) -> FloatArray:
        """Return ``V A``, from the columns themselves."""
        return vectors @ self.columns(np.arange(self.n_features)).T

    def products(self, elements: IndexArray) -> FloatArray:
        """Return rows of the Gram matrix."""
        return self._gram[elements]

    def product_blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Return rows of the Gram matrix, all at once."""
        yield slice(None), self._gram[elements]

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return a part of the Gram matrix."""
        return self._gram[np.ix_(first, second)]
