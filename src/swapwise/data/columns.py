"""The contract of the columns of a model, and its implementations in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_vector
from swapwise.numerics import FLOAT32_PRECISION, FLOAT64_PRECISION
from swapwise.override import override

# Columns that are copied at a time: few next to the data, enough to read whole cache lines of data stored by
# rows.
AT_ONCE = 32

# Columns of several sets are gathered until they have about this many numbers.
GATHERED_ENTRIES = 1 << 20

# Returns elements that may be needed next: called only where that saves another pass over the data.
Likely = Callable[[], IndexArray | None]


class Columns(ABC):
    """Columns of numbers, one number per sample, of which only ``AᵀV`` and a few columns are ever needed.

    They may have a target, which they are to explain.
    """

    n_samples: int
    n_features: int
    #: Whether products are computed in float32
    is_float32: bool = False
    #: Whether the numbers are stored as float32, whatever products are computed in
    stored_as_float32: bool = False
    #: Whether one column costs as much to read as all of them do
    sequential: bool = False
    #: The squared length of every column, weighted as its inner products with others are
    squared_norms: FloatArray
    #: Mean of every column over its deviation, as far as it is subtracted on reading: that loses digits
    offsets: FloatArray
    _target: FloatArray | None = None

    @abstractmethod
    def columns(self, elements: IndexArray) -> FloatArray:
        """Return the columns ``elements`` as the rows of a new array."""

    @abstractmethod
    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``."""

    @abstractmethod
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        """Return ``V A`` for vectors with one number per sample, one vector per row: one pass over the data.

        With ``exact``, in double precision, whatever the data are stored in.
        """

    @abstractmethod
    def products(self, elements: IndexArray, likely: Likely | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, one per row; products are cached.

        ``likely`` returns the elements that may be needed next, which are read as well if that saves a pass.
        """

    @abstractmethod
    def product_parts(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the same products, a part of the features at a time, to save memory."""

    @abstractmethod
    def gram(
        self, first: IndexArray, second: IndexArray, likely: Likely | None = None, *, exact: bool = False
    ) -> FloatArray:
        """Return the inner products of some columns with others.

        ``exact`` computes all digits; without it, they are good enough for a first guess.
        """

    @abstractmethod
    def restricted(self, elements: IndexArray) -> Columns:
        """Return a copy of some columns, at least one, in the order given."""

    def unit_columns(self, factors: FloatArray) -> Any:
        """Return columns in single precision, multiplied by factors, for kernels; None if there are none."""
        return None

    def gram_of_all(self) -> FloatArray:
        """Return the inner products of all columns; read-only, as they may be cached."""
        every = np.arange(self.n_features)
        return self.gram(every, every)

    def gram_rows(self, elements: IndexArray, likely: Likely) -> tuple[FloatArray, BoolArray]:
        """Return the Gram matrix and the mask of its known rows: at least those of ``elements``.

        ``likely`` returns the elements that may be needed next, which are computed along with them.
        """
        return self.gram_of_all(), np.ones(self.n_features, dtype=bool)

    @abstractmethod
    def cross(self, elements: IndexArray, weight: FloatArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, without the cache.

        With ``weight``, that is ``Σ_s v_s a_js a_ks``: other weights than those of the columns.
        """

    # -- the target ---------------------------------------------------------------------------------

    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        """Return a copy of one number per sample, scaled as the rows of the columns are."""
        return as_vector(values, self.n_samples, name).copy()  # what follows from them is kept

    def aimed_at(self, values: ArrayLike, name: str = "y") -> Self:
        """Return the same columns with a target, one number per sample on the original scale."""
        target = self.rows(values, name)
        known = self._target
        is_same = known is not None and (target is known or np.array_equal(target, known))
        return self if is_same else self._aimed_at(target)

    def _aimed_at(self, target: FloatArray) -> Self:
        aimed = copy(self)
        aimed._target = target
        aimed.__dict__.pop("with_target", None)
        return aimed

    @property
    def target(self) -> FloatArray:
        """The target, scaled as the rows are."""
        if self._target is None:
            raise ValueError("the columns must have a target, got none: give one by aimed_at(y)")
        return self._target

    @cached_property
    def with_target(self) -> FloatArray:
        """The inner products of all columns with the target."""
        return self.correlate(self._weighted(self.target))

    def _weighted(self, vectors: FloatArray) -> FloatArray:
        """Return vectors, weighted as the inner products of columns are."""
        return vectors

    # -- columns in other coordinates ---------------------------------------------------------------

    @property
    def shows_samples(self) -> bool:
        """Whether the coordinates of every view are the samples."""
        return not self.sequential

    def view(self, elements: IndexArray) -> tuple[FloatArray, FloatArray]:
        """Return columns, one per row, and the target, in coordinates that leave inner products as they are.

        These may be the samples, or fewer, and may differ from call to call.
        """
        return self.columns(elements), self.target

    def view_of_both(
        self, first: IndexArray, second: IndexArray, shown: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return some columns, others, and the target, in the same coordinates.

        ``shown`` are the first ones from an earlier view; they are returned as they are if its coordinates
        are the samples.
        """
        if shown is not None and self.shows_samples:
            return shown, self.columns(second), self.target
        columns, target = self.view(np.append(first, second))
        return columns[: len(first)], columns[len(first) :], target

    def dots_of_view(self, vectors: FloatArray) -> FloatArray | None:
        """Return ``V A`` for vectors in the coordinates of a view; None if these are not the samples."""
        return self.dots(vectors) if self.shows_samples else None

    # -- all columns --------------------------------------------------------------------------------

    def correlate(self, vectors: FloatArray) -> FloatArray:
        """Return ``AᵀV`` for a vector, or for a matrix with one per column: one pass over the data."""
        if vectors.ndim == 1:
            return self.dots(vectors[None, :])[0]
        return self.dots(np.ascontiguousarray(vectors.T)).T

    @cached_property
    def largest_entries(self) -> FloatArray:
        return np.concatenate([np.abs(columns).max(axis=1) for _, columns in self._parts()])

    def weighted_squares(self, weight: FloatArray) -> FloatArray:
        """Return ``Σ_s v_s a_js²`` for every column, of any weights."""
        return np.concatenate([(columns**2) @ weight for _, columns in self._parts()])

    def _parts(self) -> Iterator[tuple[slice, FloatArray]]:
        for begin in range(0, self.n_features, AT_ONCE):
            part = slice(begin, min(begin + AT_ONCE, self.n_features))
            yield part, self.columns(np.arange(part.start, part.stop))

    def curvature_bounds(self, sets: IndexArray, penalty: FloatArray) -> FloatArray:
        """Return an upper bound on eigenvalues of ``A_JᵀA_J + diag(penalty_J)`` for each row J of elements.

        Rows are padded with -1. Where columns would have to be read for it, the trace is the bound.
        """
        if self.sequential:
            traces = np.append(self.squared_norms + penalty, 0.0)
            return traces[sets].sum(axis=1)
        largest = np.zeros(len(sets))
        rows = max(1, GATHERED_ENTRIES // max(1, sets.shape[1] * self.n_samples))
        for begin in range(0, len(sets) if sets.shape[1] else 0, rows):
            part = sets[begin : begin + rows]
            columns = self.columns(part.ravel()).reshape(*part.shape, -1)
            columns[part < 0] = 0.0
            largest[begin : begin + rows] = np.linalg.eigvalsh(columns @ columns.transpose(0, 2, 1))[:, -1]
        return largest + float(penalty.max(initial=0.0))

    @property
    def passes(self) -> float:
        """How many times all of the data were read so far; a few columns count as their share."""
        return 0.0

    @property
    def precision(self) -> float:
        """The relative error of columns; see ``swapwise.numerics``."""
        return FLOAT32_PRECISION if self.stored_as_float32 else FLOAT64_PRECISION

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_samples, self.n_features


class GramColumns(Columns):
    """A few columns whose inner products are known."""

    def __init__(self, gram: FloatArray) -> None:
        self._gram = gram
        self.n_features = len(gram)

    @override
    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        return np.asarray(values)

    @override
    def products(self, elements: IndexArray, likely: Likely | None = None) -> FloatArray:
        return self._gram[elements]

    @override
    def cross(self, elements: IndexArray, weight: FloatArray | None = None) -> FloatArray:
        return self._gram[elements] if weight is None else self.dots(self.columns(elements) * weight)

    @override
    def product_parts(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        yield slice(None), self._gram[elements]

    @override
    def gram(
        self, first: IndexArray, second: IndexArray, likely: Likely | None = None, *, exact: bool = False
    ) -> FloatArray:
        return self._gram[np.ix_(first, second)]

    @override
    def gram_of_all(self) -> FloatArray:
        return self._gram


class ColumnSubset(GramColumns):
    def __init__(self, whole: Columns, elements: IndexArray, gram: FloatArray) -> None:
        super().__init__(gram)
        self._whole, self._elements = whole, elements
        self.n_samples, self.sequential = whole.n_samples, whole.sequential
        self.stored_as_float32, self._target = whole.stored_as_float32, whole._target
        self.squared_norms, self.offsets = whole.squared_norms[elements], whole.offsets[elements]

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        return self._whole.columns(self._elements[elements])

    @property
    @override
    def shows_samples(self) -> bool:
        return self._whole.shows_samples

    @cached_property
    def _copied(self) -> Columns:
        """The columns apart from the whole, for repeated reads of all of them."""
        return self._whole.restricted(self._elements)

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        return self._copied.combine(coef)

    @override
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        return self._copied.dots(vectors, exact) if self.n_features else np.empty((len(vectors), 0))

    @override
    def restricted(self, elements: IndexArray) -> Columns:
        return self._whole.restricted(self._elements[elements])

    @override
    def view(self, elements: IndexArray) -> tuple[FloatArray, FloatArray]:
        return self._whole.view(self._elements[elements])

    @override
    def view_of_both(
        self, first: IndexArray, second: IndexArray, shown: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._whole.view_of_both(self._elements[first], self._elements[second], shown)

    @cached_property
    @override
    def with_target(self) -> FloatArray:
        return self._whole.with_target[self._elements]

    @override
    def _aimed_at(self, target: FloatArray) -> Self:
        aimed = super()._aimed_at(target)
        aimed._whole = self._whole._aimed_at(target)
        return aimed


class ColumnArray(GramColumns):
    """A few columns in memory, one per row of an array; their inner products may be known more precisely."""

    def __init__(self, columns: FloatArray, gram: FloatArray | None = None) -> None:
        super().__init__(columns @ columns.T if gram is None else gram)
        self._columns = columns
        self.n_samples = columns.shape[1]
        self.squared_norms, self.offsets = np.maximum(np.diag(self._gram), 0.0), np.zeros(len(columns))

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        return self._columns[elements]

    @override
    def restricted(self, elements: IndexArray) -> ColumnArray:
        some = ColumnArray(self._columns[elements], self._gram[np.ix_(elements, elements)])
        some._target = self._target
        return some

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        used = np.flatnonzero(coef)
        return coef[used] @ self._columns[used]

    @override
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        return vectors @ self._columns.T
