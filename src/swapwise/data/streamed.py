"""The columns of a linear model whose data are read block by block: few passes, and small answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import lapack

from swapwise.checks import FloatArray, IndexArray
from swapwise.data import works
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.design import SAFE_SHARE, Design
from swapwise.data.matrix import Moments

# So many columns are known by their triangle at the most, unless more are asked for at once.
MOST_KNOWN = 1000

# So many products of columns with all others are kept, and so many are worked out in a pass.
KEPT_ENTRIES, ENTRIES_AT_ONCE = 1 << 26, 1 << 25


class _Triangle(NamedTuple):
    """Columns in increasing order, and the R of these and the target."""

    elements: IndexArray
    triangle: FloatArray


class StreamedDesign(Design):
    """A design of which one column costs as much to read as all do: one pass over the data.

    So whatever is asked for brings along what will be: the first look at the data the products with the
    target. And a few columns are shown in coordinates in which they are short, from their inner products or,
    where these would lose digits, from their *triangle*, the R of ``[A_K y] = QR``, which is a pass of its
    own.

    Parameters
    ----------
    matrix : ChunkedMatrix
    target : array-like of shape (n_samples,)
        What is to be explained, without weights.
    sample_weight, centre, standardize :
        As of :class:`Design`.

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> matrix = ChunkedMatrix(ArrayBlocks(np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 0.0]]), 2))
    >>> design = StreamedDesign(matrix, [1.0, 1.0, 1.0])
    >>> design.with_target, design.passes
    (array([6., 3.]), 1.0)
    >>> columns, target = design.view(np.array([0, 1]), design.target)
    >>> (columns @ columns.T).round(6), (columns @ target).round(6), design.passes
    (array([[14.,  5.],
           [ 5.,  5.]]), array([6., 3.]), 2.0)
    """

    matrix: ChunkedMatrix
    streamed = True

    def __init__(
        self,
        matrix: ChunkedMatrix,
        target: ArrayLike,
        sample_weight: ArrayLike | None = None,
        centre: bool = False,
        standardize: bool = False,
        *,
        scale_rows: bool = True,
    ) -> None:
        self._plain_target = target
        self.passes = float(matrix.passes_to_open)
        super().__init__(matrix, sample_weight, centre, standardize, scale_rows=scale_rows)
        length: FloatArray = np.sqrt(self._rooted_target @ self._rooted_target).reshape(1, 1)
        self._known = _Triangle(np.empty(0, dtype=np.intp), length)
        #: The inner products of all columns with the target
        self.with_target = self._to_columns(self._raw_products, self._plain_rows.sum(axis=1))[0]

    def _look(self) -> Moments:
        self.target = self.rows(self._plain_target, "y")
        #: In which inner products are what they are in the design
        self._rooted_target = self.target if self.row_scale is not None else self.target * self._root_weight
        self._plain_rows = (self._rooted_target * self._root_weight)[None, :]
        moments, self._raw_products = self.matrix.first_look(self._weight, self._plain_rows)
        self.passes += 1
        return moments

    def _keep_far_columns(self) -> None:
        """Take the means of columns that are far from zero off the blocks as they are read."""
        far = self._far_from_zero()
        if len(far) and not self.origin.any():
            self.origin[far] = self.shift[far]
            self.matrix = self.matrix.shifted(self.origin)
            self._settle()

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return columns, one number a sample: one pass over the data."""
        self.passes += 1
        return self._read(elements)

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``: one pass over the data, unless ``w`` is zero."""
        self.passes += bool(coef.any())
        return self._combine(coef)

    def products_with(self, y: FloatArray) -> FloatArray:
        """Return ``Aᵀy`` for the target, which the first look at the data has brought along."""
        return self.with_target

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns, one a row, and the target, in coordinates that leave inner products as they are."""
        known = self._known
        if not np.isin(elements, known.elements).all():
            shown = self._from_products(elements)
            if shown is not None:
                return shown
            known = self._known = self._read_triangle(elements)
        columns = known.triangle[:, np.searchsorted(known.elements, elements)]
        return np.ascontiguousarray(columns.T), known.triangle[:, -1].copy()

    def products(self, elements: IndexArray, likely: IndexArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element; if that takes a look at the data, what is likely comes along."""
        if likely is None or self._has_products(elements):
            return super().products(elements)
        return super().products(np.append(elements, likely))[: len(elements)]

    def _has_products(self, elements: IndexArray) -> bool:
        return all(element in self._kept for element in elements.tolist())

    def _from_products(self, elements: IndexArray) -> tuple[FloatArray, FloatArray] | None:
        """Return columns and target as Cholesky's factor shows them, or None if rounding would spoil it."""
        lengths = np.sqrt(self.squared_norms[elements])
        if not lengths.all():
            return None
        scaled = self.products(elements)[:, elements] / lengths / lengths[:, None]
        factor, info = lapack.dpotrf(scaled, lower=1, clean=1)
        if info != 0:
            return None
        inverse, _ = lapack.dtrtri(factor, lower=1)
        if not np.einsum("ij,ij->j", inverse, inverse).max(initial=0.0) * SAFE_SHARE <= 1.0:
            return None
        explained = inverse @ (self.with_target[elements] / lengths)
        rest = np.sqrt(max(0.0, float(self._rooted_target @ self._rooted_target - explained @ explained)))
        columns = np.column_stack([factor * lengths[:, None], np.zeros(len(elements))])
        return columns, np.append(explained, rest)

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""
        return self.products(first)[:, second]

    def cross(self, elements: IndexArray, weight: FloatArray | None = None) -> FloatArray:
        """Return ``a_jᵀA`` for each element, with other weights if any are given: one pass over the data."""
        roots = self._roots() if weight is None else (np.sqrt(weight),)
        products, sums = self.matrix.fold(works.ColumnProducts(self.scaled(elements)), *roots)
        self.passes += 1
        return self._to_columns(products, sums)

    def _read_triangle(self, elements: IndexArray) -> _Triangle:
        """Read the triangle of some columns, and of what else searches have come back to."""
        known = np.unique(elements)
        for more in (self._known.elements, self._kept.elements()):
            if len(known) + len(more) <= MOST_KNOWN:
                known = np.union1d(known, more)
        triangle = self.matrix.fold(works.Triangle(self.scaled(known)), self._rooted_target, *self._roots())
        self.passes += 1
        return _Triangle(known, triangle)

    def _roots(self) -> tuple[FloatArray, ...]:
        return (self._root_weight,) if self._has_weights else ()

    def _room_for_products(self) -> tuple[int, int]:
        return KEPT_ENTRIES // self.n_features, max(1, ENTRIES_AT_ONCE // self.n_features)
