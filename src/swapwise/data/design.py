"""The design of a linear model: stored numbers, centred, scaled and weighted without a copy of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from swapwise.checks import (
    LARGEST,
    SMALLEST,
    BoolArray,
    FloatArray,
    IndexArray,
    as_vector,
    as_weights,
    require_scale,
)
from swapwise.data.cache import ColumnCache, GramRows, TriangleCache, VectorCache
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.columns import Columns, Likely
from swapwise.data.dense import DenseMatrix
from swapwise.data.matrix import CountedMatrix, Matrix, Moments
from swapwise.data.reductions import ColumnProducts, Reduction, Scaled, ScaledProducts, Triangle
from swapwise.kernels import moments
from swapwise.numerics import CONSTANT
from swapwise.override import override

# Columns are factored by their inner products as long as each leaves at least this share of its squared
# length unexplained by the others; else the columns themselves have to be factored.
SAFE_SHARE = 1e-3

# Sizes of columns in single precision whose products neither overflow nor underflow.
FLOAT32_SIZES = (1e-15, 1e15)

# Columns whose mean is this many times their deviation are kept centred: subtracting the mean from products
# would lose as many digits as there are zeros here. In single precision there are fewer to lose.
FAR_FROM_ZERO, FAR_IN_FLOAT32 = 1e3, 30.0

# The same for the inner products of a few columns with each other, which are only needed for a first guess.
OFF_CENTRE = 30.0

# The same for those of all columns, which the last scan of a search reads, too: no digit may be lost.
CENTRED = 1.0

# Products of columns with all others are kept up to this share of the data, of at least 32 columns, and
# computed for 128 at a time.
KEPT_SHARE, FEWEST_KEPT, PRODUCTS_AT_ONCE = 0.04, 32, 128

# Limits on the products of columns of sequential data with all others: numbers kept, and computed in a pass.
KEPT_ENTRIES, ENTRIES_AT_ONCE = 1 << 26, 1 << 25

# Limit on the columns of sequential data that are kept for fits, in numbers: 8 MB.
KEPT_COLUMNS_ENTRIES = 1 << 20

# Limit on the entries of data that are copied in single precision, where that makes searches faster.
COPIED_ENTRIES = 1 << 21

# Numbers per block in which the means of columns are subtracted from products, to save memory.
ENTRIES_OF_SHIFTS = 1 << 14

# Inner products of all columns are kept if there are no more of them than this, and computed at once if that
# takes no more products of two numbers than this.
SMALL_GRAM, QUICK_GRAM = 1 << 18, 10**6


# Attributes with one number per column.
BY_COLUMN = {
    *("origin", "sizes", "deviation", "shift", "scale", "factor", "squared_norms", "offsets"),
    *("with_target", "largest_entries"),
}


class Design(Columns):
    """``A = diag(√weight) (X − shift) diag(1/scale)``, of which only ``AᵀV`` and a few columns are needed.

    With ``centre``, the shift is the weighted mean of each column, with ``standardize`` the scale its
    deviation. Without ``scale_rows``, ``A = (X − shift) diag(1/scale)``, for likelihoods, which weight
    samples themselves: means, deviations and inner products of columns are weighted, but columns, and their
    products with vectors, are not.

    Of sequential data, one pass also computes what will be needed next: the first pass the products with the
    target, products of a few columns those of others that are likely to follow. Views of a few columns have
    few coordinates, from their inner products or, where these would lose digits, from a
    :class:`TriangleCache`.

    >>> design = Design(DenseMatrix([[1.0, 5.0], [3.0, 5.0]]), centre=True)
    >>> design.columns(np.array([0, 1]))
    array([[-1.,  1.],
           [ 0.,  0.]])
    >>> design.correlate(np.array([1.0, 2.0]))
    array([1., 0.])
    >>> design.aimed_at([0.0, 2.0]).with_target
    array([2., 0.])
    """

    def __init__(
        self,
        matrix: Matrix,
        sample_weight: ArrayLike | None = None,
        centre: bool = False,
        standardize: bool = False,
        *,
        target: ArrayLike | None = None,
        scale_rows: bool = True,
    ) -> None:
        self.matrix = CountedMatrix(matrix)
        self.n_samples, self.n_features = matrix.n_samples, matrix.n_features
        self.is_float32, self.stored_as_float32 = matrix.is_float32, matrix.stored_as_float32
        self.sequential = matrix.sequential
        self._read_weight(sample_weight, scale_rows)
        self._target = None if target is None else self.rows(target, "y")
        #: What the matrix itself subtracts from its columns
        self.origin = np.zeros(self.n_features)
        self._centre, self._standardize = centre, standardize
        # Copies of columns that are extreme or far from zero, and the place of each among them.
        self._kept, self._kept_columns = np.empty(0, dtype=np.intp), np.empty((0, self.n_samples))
        self._kept_place = np.full(self.n_features, -1, dtype=np.intp)
        self._settle()
        self._products = self._no_products()
        if not matrix.in_memory:
            require_scale(self.sizes, "column {} of X", self._largest_stored)
        if self.sequential:
            self._begin_reading()
            if self._target is not None:
                self._take_first_products()
                self._triangles = self._no_triangles()

    def _read_weight(self, sample_weight: ArrayLike | None, scale_rows: bool) -> None:
        weight = np.ones(self.n_samples)
        if sample_weight is not None:
            weight = as_weights(sample_weight, self.n_samples)
        self._weight, self._has_weights = weight, sample_weight is not None
        self._root_weight = np.sqrt(weight)
        self.row_scale = self._root_weight if self._has_weights and scale_rows else None

    def _begin_reading(self) -> None:
        self._some_columns = ColumnCache(self.matrix)
        room = KEPT_COLUMNS_ENTRIES // self.n_samples
        self._used_columns = VectorCache(self.n_samples, room, room) if room else None

    def kept_columns(self, elements: IndexArray) -> FloatArray | None:
        """Return columns of sequential data from a cache in memory; None if they are many."""
        kept = self._used_columns
        if kept is None or len(elements) > kept.room:
            return None
        return kept.of(elements, self.columns)

    def _no_products(self) -> VectorCache | GramRows:
        """Return an empty cache of products of columns with all others."""
        n, at_once = self.n_features, PRODUCTS_AT_ONCE
        room = max(FEWEST_KEPT, int(KEPT_SHARE * self.n_samples))
        if self.sequential:
            room, at_once = max(FEWEST_KEPT, KEPT_ENTRIES // n), max(1, ENTRIES_AT_ONCE // n)
        if n * n <= SMALL_GRAM:
            return GramRows(n, at_once)
        return VectorCache(n, min(n, room), at_once)

    # -- centre and scale ---------------------------------------------------------------------------

    def _look(self) -> Moments:
        """Return moments of the columns as stored; products with the target come from the same pass."""
        if not self.sequential or self._target is None:
            return self.matrix.read().moments(self._weight)
        moments, self._first_products = self.matrix.read().first_look(self._weight, self._stored_target())
        return moments

    def _stored_target(self) -> FloatArray:
        """Return the row vector whose products with stored rows are those with the target."""
        return self._without_root(self._weighted(self.target[None, :]))

    def _take_first_products(self) -> None:
        self.with_target = self._to_columns(self._first_products, self._stored_target().sum(axis=1))[0]
        del self._first_products

    def _settle(self) -> None:
        """Find shift and scale of every column, and their squared lengths."""
        mean, spread = self._look()
        total = float(self._weight.sum())
        with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
            #: The root mean square of every column as it is stored
            self.sizes = np.sqrt(spread / total + mean**2)
            if not np.isfinite(self.sizes.max()):
                self.matrix.stored.require_finite()
            if self.is_float32 and not is_moderate(self.sizes, FLOAT32_SIZES).all():
                self.matrix.stored = self.matrix.stored.in_double()
                self.is_float32 = False
            extreme, exponent = self._rescale_extreme(mean, spread)
            #: The weighted standard deviation of every column as it is stored
            self.deviation = np.ldexp(np.sqrt(spread / total), exponent)
            switches = bool(self._centre), bool(self._standardize)
            found = moments.scales(mean, spread, exponent, total, CONSTANT, *switches)
            # Stored columns are multiplied by the factor, which is 0 for a constant one that is centred.
            self.shift, self.scale, step, self.factor, self.squared_norms, self.offsets = found
            self._keep_apart(extreme, exponent, mean, step)
        self._is_shifted, self._is_scaled = bool(self.shift.any()), bool((self.factor != 1.0).any())

    def _rescale_extreme(self, mean: FloatArray, spread: FloatArray) -> tuple[IndexArray, NDArray[np.int_]]:
        """Find columns whose squares overflow or underflow, and powers of two that bring them near 1.

        Their moments are written in units of these powers. Data that are not in memory are not copied:
        :meth:`__init__` refuses such columns.
        """
        exponent = np.zeros(self.n_features, dtype=int)
        if not self.matrix.stored.in_memory or (self.sizes.min() > SMALLEST and self.sizes.max() < LARGEST):
            return np.empty(0, dtype=np.intp), exponent
        is_extreme, vanished = ~is_moderate(self.sizes, (SMALLEST, LARGEST)), np.flatnonzero(self.sizes == 0)
        if len(vanished):
            is_extreme[vanished] = self._largest_stored(vanished) > 0
        extreme = np.flatnonzero(is_extreme)
        if len(extreme):
            columns = self.matrix.stored.columns(extreme)
            exponent[extreme] = np.frexp(np.abs(columns).max(axis=1))[1] - 1
            rescaled = DenseMatrix(np.ldexp(columns, -exponent[extreme, None]).T)
            mean[extreme], spread[extreme] = rescaled.moments(self._weight)
        return extreme, exponent

    def _largest_stored(self, elements: IndexArray) -> FloatArray:
        return self.matrix.read(len(elements)).largest_entries(elements)

    def _keep_apart(
        self, extreme: IndexArray, exponent: NDArray[np.int_], mean: FloatArray, step: FloatArray
    ) -> None:
        """Keep copies of columns that are extreme or far from zero, as the design has them.

        They are centred twice: the first mean was rounded. In chunked data, the means of columns that are far
        from zero are subtracted as they are read.
        """
        far = np.flatnonzero(self.offsets > (FAR_IN_FLOAT32 if self.is_float32 else FAR_FROM_ZERO))
        if self.sequential:
            self._shift_chunks(far)
            return
        if not len(far) and not len(extreme):
            return
        kept = np.union1d(far, extreme)
        columns = np.ldexp(self.matrix.stored.columns(kept), -exponent[kept, None])
        if self._centre:
            columns -= mean[kept, None]
        columns *= step[kept, None]
        _require_scale_of(columns, kept, extreme)
        if self.row_scale is not None:
            columns *= self.row_scale
        if self._centre:
            self._take_means_off(columns)
        self._kept, self._kept_columns = kept, columns
        self._kept_place[kept] = np.arange(len(kept))
        self.squared_norms[kept] = np.einsum("js,js->j", self._weighted(columns), columns)
        self.offsets[kept] = 0.0  # their means are off before anything is lost to them
        self.factor[extreme] = 0.0

    def _shift_chunks(self, far: IndexArray) -> None:
        stored = self.matrix.stored
        if len(far) and not self.origin.any():
            assert isinstance(stored, ChunkedMatrix)
            self.origin[far] = self.shift[far]
            self.matrix.stored = stored.shifted(self.origin)
            self._settle()

    def _take_means_off(self, columns: FloatArray) -> None:
        ones = np.ones(self.n_samples) if self.row_scale is None else self.row_scale
        means = columns @ self._weighted(ones) / self._weight.sum()
        for column, mean in zip(columns, means, strict=True):  # one by one, to save memory
            column -= mean * ones

    @property
    def leaves_weights_out(self) -> bool:
        """Whether samples have weights that the rows are not scaled by."""
        return self._has_weights and self.row_scale is None

    @override
    def _weighted(self, vectors: FloatArray) -> FloatArray:
        return vectors * self._weight if self.leaves_weights_out else vectors

    def _rooted(self, vectors: FloatArray) -> FloatArray:
        """Return vectors, scaled so that plain inner products are those of the design."""
        return vectors * self._root_weight if self.leaves_weights_out else vectors

    def _without_root(self, vectors: FloatArray) -> FloatArray:
        """Return the vectors whose products with stored rows are those with the rows of the design."""
        return vectors if self.row_scale is None else vectors * self.row_scale

    @override
    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        vector = as_vector(values, self.n_samples, name)
        return vector.copy() if self.row_scale is None else vector * self.row_scale

    def original(self, coef: FloatArray, intercept: Any) -> tuple[FloatArray, Any]:
        """Return coefficients (features last) and intercept for the columns on their original scale."""
        with np.errstate(over="ignore"):
            coef = coef / self.scale
        if not np.isfinite(coef).all():
            column = int(np.argwhere(~np.isfinite(coef))[0, -1])
            raise ValueError(
                f"column {column} of X varies by no more than {self.deviation[column]:.3g}, so that its "
                "coefficient leaves floating point; rescale it, or leave it out"
            )
        return coef, intercept - coef @ (self.origin + self.shift)

    # -- columns and products with vectors ----------------------------------------------------------

    @property
    @override
    def passes(self) -> float:
        return self.matrix.passes

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        return self._read(elements, self.matrix.read(len(elements)))

    def _read(self, elements: IndexArray, matrix: Matrix) -> FloatArray:
        columns = matrix.columns(elements)
        if self._is_shifted:
            columns -= self.shift[elements, None]
        if self._is_scaled:
            columns *= self.factor[elements, None]
        if self.row_scale is not None:
            columns *= self.row_scale
        if len(self._kept):
            place = self._kept_place[elements]
            columns[place >= 0] = self._kept_columns[place[place >= 0]]
        return columns

    @override
    def restricted(self, elements: IndexArray) -> Design:
        """Return a design of copies of some columns; centre, scale and weights are those of this one."""
        some = copy(self)
        known = some.__dict__
        for name in BY_COLUMN & known.keys():
            known[name] = known[name][elements]
        some.n_features = len(elements)
        some.matrix = self.matrix.restricted(elements)
        place = self._kept_place[elements]
        some._kept = np.flatnonzero(place >= 0)
        some._kept_columns = self._kept_columns[place[some._kept]]
        some._kept_place = np.full(len(elements), -1, dtype=np.intp)
        some._kept_place[some._kept] = np.arange(len(some._kept))
        some._is_shifted, some._is_scaled = bool(some.shift.any()), bool((some.factor != 1.0).any())
        some._products = some._no_products()
        if self.sequential:
            some._begin_reading()
            if self._target is not None:
                some._triangles = some._no_triangles()
        return some

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        used = np.flatnonzero(coef)
        kept = self.kept_columns(used) if self.sequential else None
        if kept is not None:
            return coef[used] @ kept
        plain = coef * self.factor
        plain[self._kept] = 0.0
        fit = self.matrix.read(len(used)).combine(plain) - plain @ self.shift
        fit = fit if self.row_scale is None else fit * self.row_scale
        return fit + coef[self._kept] @ self._kept_columns if len(self._kept) else fit

    @override
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        plain = self._without_root(vectors)
        with np.errstate(over="ignore", invalid="ignore"):  # extreme columns are kept apart
            stored = self.matrix.read()
            products = stored.exact_products(plain) if exact else stored.products(plain)
            dots = self._to_columns(products, plain.sum(axis=1))
        if len(self._kept):
            dots[:, self._kept] = vectors @ self._kept_columns.T
        return dots

    def _to_columns(self, products: FloatArray, totals: FloatArray) -> FloatArray:
        """Turn products with stored columns into products with those of the design, in place."""
        step = max(1, ENTRIES_OF_SHIFTS // self.n_features)  # some rows at a time, to save memory
        for begin in range(0, len(products) if self._is_shifted else 0, step):
            products[begin : begin + step] -= totals[begin : begin + step, None] * self.shift
        products *= self.factor
        return products

    @cached_property
    @override
    def largest_entries(self) -> FloatArray:
        if self.row_scale is not None:
            return super().largest_entries
        lowest, highest = self.matrix.read().extremes()
        largest = np.maximum(highest - self.shift, self.shift - lowest) * self.factor
        largest[self._kept] = np.abs(self._kept_columns).max(axis=1, initial=0.0)
        return largest

    @override
    def weighted_squares(self, weight: FloatArray) -> FloatArray:
        plain = weight if self.row_scale is None else weight * self.row_scale**2
        with np.errstate(over="ignore", invalid="ignore"):
            squares = self.matrix.read().weighted_squares(plain, self.shift) * self.factor**2
        squares[self._kept] = (self._kept_columns**2) @ weight
        return squares

    # -- inner products -----------------------------------------------------------------------------

    @override
    def products(self, elements: IndexArray, likely: Likely | None = None) -> FloatArray:
        if self.sequential and likely is not None and not self._has_products(elements):
            more = likely()
            if more is not None:
                return self._products.of(np.append(elements, more), self.cross)[: len(elements)]
        return self._products.of(elements, self.cross)

    def _has_products(self, elements: IndexArray) -> bool:
        return all(element in self._products for element in elements.tolist())

    @override
    def product_parts(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        return self._products.parts(elements, self.cross)

    @override
    def cross(self, elements: IndexArray, weight: FloatArray | None = None) -> FloatArray:
        if not self.sequential:
            columns = self._read(elements, self.matrix.stored)
            return self.dots(self._weighted(columns) if weight is None else columns * weight)
        roots = self._roots() if weight is None else (self._without_root(np.sqrt(weight)),)
        products, sums = self.matrix.read().reduce(ColumnProducts(self.scaled(elements)), *roots)
        return self._to_columns(products, sums)

    @override
    def gram(
        self, first: IndexArray, second: IndexArray, likely: Likely | None = None, *, exact: bool = False
    ) -> FloatArray:
        if self.sequential:
            if exact and not self._has_products(first):
                return self._gram_of_some(first, second)
            return self.products(first, likely)[:, second]
        farthest = CENTRED if exact else OFF_CENTRE
        if self._loses_digits(first, farthest) or self._loses_digits(second, farthest):
            return self._gram_of_columns(first, second)
        gram = self.matrix.read(len(first) + len(second)).gram(first, second, self._weight)
        return self._to_gram(gram, first, second)

    def _gram_of_columns(self, first: IndexArray, second: IndexArray) -> FloatArray:
        stored = self.matrix.read(len(first) + len(second))
        left = self._read(first, stored)
        if first is second:
            return self._weighted(left) @ left.T
        left, gram = self._weighted(left), np.empty((len(first), len(second)))
        step = max(1, ENTRIES_AT_ONCE // self.n_samples)
        for begin in range(0, len(second), step):
            part = slice(begin, begin + step)
            gram[:, part] = left @ self._read(second[part], stored).T
        return gram

    def _gram_of_some(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return inner products from a copy of these columns alone."""
        both = np.union1d(first, second)
        kept = self.kept_columns(both)
        if kept is not None:
            left, right = (kept[np.searchsorted(both, some)] for some in (first, second))
            return self._weighted(left) @ right.T

        def reduction(held: IndexArray) -> ScaledProducts:
            return ScaledProducts(self.scaled(first, held), self.scaled(second, held))

        gram: FloatArray = self.reduce_some(both, reduction, *self._roots())[0]
        return gram

    def _to_gram(self, gram: FloatArray, first: IndexArray | slice, second: IndexArray | slice) -> FloatArray:
        if self._is_shifted:
            gram -= (self._weight.sum() * self.shift[first])[:, None] * self.shift[second]
        if self._is_scaled:
            gram *= self.factor[second]
            gram *= self.factor[first][:, None]
        return gram

    @override
    def gram_of_all(self) -> FloatArray:
        """Return the inner products of all columns; of data in memory, later answers come from them.

        They are in double precision, which proofs rely on: the rows of a search of float32 data are not.
        """
        if self.sequential:
            return super().gram_of_all()
        if not isinstance(self._products, GramRows):
            self._products = GramRows(self.n_features, PRODUCTS_AT_ONCE)
        if not (self._products.is_filled if self.is_float32 else self._products.is_known.all()):
            self._products.fill(self._gram_in_memory())
        return self._products.matrix

    @override
    def gram_rows(self, elements: IndexArray, likely: Likely) -> tuple[FloatArray, BoolArray]:
        kept, n = self._products, self.n_features
        if self.sequential or not isinstance(kept, GramRows) or n * n * self.n_samples <= QUICK_GRAM:
            return super().gram_rows(elements, likely)
        if not len(elements) or not kept.is_known[elements].all():
            more = likely()
            elements = elements if more is None else np.append(elements, more)
            # Half of the rows take as long as all of them, which are symmetric.
            if 2 * (np.count_nonzero(kept.is_known) + len(elements)) >= n:
                return super().gram_rows(elements, likely)
        return kept.know(elements, self.cross)

    def _gram_in_memory(self) -> FloatArray:
        if len(self._kept) or self.offsets.max(initial=0.0) > CENTRED:
            every = np.arange(self.n_features)
            return self._gram_of_columns(every, every)
        return self._to_gram(self.matrix.read().gram_of_all(self._weight), slice(None), slice(None))

    def _loses_digits(self, elements: IndexArray, farthest: float) -> bool:
        """Return whether inner products should come from the columns, not from the stored numbers."""
        is_kept = len(self._kept) and (self._kept_place[elements] >= 0).any()
        return bool(is_kept) or self.offsets[elements].max(initial=0.0) > farthest

    @override
    def unit_columns(self, factors: FloatArray) -> Any:
        stored = self.matrix.stored
        is_small = self.n_samples * self.n_features <= COPIED_ENTRIES and not len(self._kept)
        if not isinstance(stored, DenseMatrix) or not is_small or self.leaves_weights_out:
            return None
        self.matrix.count(1.0)
        rows = np.empty(0) if self.row_scale is None else self.row_scale
        return stored.unit_columns(self.shift, self.factor * factors, rows)

    def extreme_eigenvalues(self) -> tuple[float, float]:
        """Return bounds on the smallest and largest eigenvalue of ``AᵀA``, safe against rounding.

        Both come from the smaller of ``AᵀA`` and ``AAᵀ``.
        """
        wide = self.n_features > self.n_samples
        every = np.arange(self.n_features)
        if wide:
            columns = self._rooted(self.columns(every))
            small = columns.T @ columns
        else:
            small = self.gram(every, every)
        eigenvalues = np.linalg.eigvalsh(small)
        # Subtracting means from inner products loses digits.
        lost = 1.0 + min(float(self.offsets.max()), OFF_CENTRE) ** 2
        margin = lost * np.finfo(float).eps * max(self.n_samples, self.n_features) * eigenvalues[-1]
        smallest = 0.0 if wide else max(0.0, float(eigenvalues[0] - margin))
        return smallest, float(eigenvalues[-1] + margin)

    # -- the target, and views ----------------------------------------------------------------------

    @override
    def _aimed_at(self, target: FloatArray) -> Self:
        aimed = super()._aimed_at(target)
        if self.sequential:
            aimed._triangles = aimed._no_triangles()
        return aimed

    @override
    def view(self, elements: IndexArray) -> tuple[FloatArray, FloatArray]:
        if not self.sequential:
            return self._rooted(self.columns(elements)), self._rooted(self.target)
        triangles = self._triangles
        shown = triangles.find(elements) or self._view_of_products(elements)
        if shown is None:
            shown = triangles.read(elements, self._read_triangle, self._products.elements())
        return shown

    def _no_triangles(self) -> TriangleCache:
        target = self._rooted(self.target)
        return TriangleCache(float(target @ target))

    def _read_triangle(self, elements: IndexArray) -> FloatArray:
        target, columns = self._rooted(self.target), self.scaled(elements)
        triangle: FloatArray = self.matrix.read().reduce(Triangle(columns), target, *self._roots())
        return triangle

    def _view_of_products(self, elements: IndexArray) -> tuple[FloatArray, FloatArray] | None:
        """Return columns and target from a Cholesky factor, or None if rounding would spoil it."""
        lengths = np.sqrt(self.squared_norms[elements])
        if not lengths.all():
            return None
        scaled = self.products(elements)[:, elements] / lengths / lengths[:, None]
        factor, info = scipy.linalg.lapack.dpotrf(scaled, lower=1, clean=1)
        if info != 0:
            return None
        inverse, _ = scipy.linalg.lapack.dtrtri(factor, lower=1)
        if not np.einsum("ij,ij->j", inverse, inverse).max(initial=0.0) * SAFE_SHARE <= 1.0:
            return None
        target, explained = self._rooted(self.target), inverse @ (self.with_target[elements] / lengths)
        rest = np.sqrt(max(0.0, float(target @ target - explained @ explained)))
        columns = np.column_stack([factor * lengths[:, None], np.zeros(len(elements))])
        return columns, np.append(explained, rest)

    # -- reductions of data in chunks ---------------------------------------------------------------

    def require_rows_as_they_are(self, weight: FloatArray, *, centred: bool) -> None:
        """Refuse a design whose weights or centring differ from those of a likelihood."""
        if self.row_scale is not None:
            raise ValueError("X must be a design with scale_rows=False, got one whose rows are scaled")
        if not np.allclose(self._weight, weight, rtol=1e-9, atol=0.0):
            raise ValueError("X must be a design with the weights of the model, which sum to one, got others")
        if self._centre != centred:
            raise ValueError(
                f"X must be a design with centre={centred} for fit_intercept={centred}, "
                f"got centre={self._centre}"
            )

    def scaled(self, elements: IndexArray, held: IndexArray | None = None) -> Scaled:
        """Return the recipe for columns of the design from those of a chunk of rows.

        ``held`` are the columns that chunks have, in increasing order, if these are not all.
        """
        places = elements if held is None else np.searchsorted(held, elements)
        return Scaled(places, self.shift[elements], self.factor[elements])

    def reduce(self, reduction: Reduction, *rows: NDArray[Any]) -> Any:
        return self.matrix.read().reduce(reduction, *rows)

    def reduce_some(
        self, elements: IndexArray, reduction: Callable[[IndexArray], Reduction], *rows: NDArray[Any]
    ) -> Any:
        """Return the answer of a reduction that needs only these columns."""
        return self._some_columns.reduce(elements, reduction, *rows)

    def _roots(self) -> tuple[FloatArray, ...]:
        return (self._root_weight,) if self._has_weights else ()


def _require_scale_of(columns: FloatArray, kept: IndexArray, extreme: IndexArray) -> None:
    sizes = np.ones(kept.max() + 1)
    sizes[extreme] = np.abs(columns).max(axis=1)[np.searchsorted(kept, extreme)]
    require_scale(sizes, "column {} of X")


def is_moderate(sizes: FloatArray, bounds: tuple[float, float]) -> BoolArray:
    """Return which sizes are zero or within bounds."""
    moderate: BoolArray = (sizes == 0) | ((sizes > bounds[0]) & (sizes < bounds[1]))
    return moderate
