"""The columns of a linear model whose data are read block by block: few passes, and small answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray
from swapwise.data import works
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.design import Design
from swapwise.data.matrix import Moments

# So many columns are known by their triangle at the most, unless more are asked for at once.
MOST_KNOWN = 1000

# Products are worked out for as many columns in a pass as have no more than so many of them.
ENTRIES_AT_ONCE = 1 << 25


class StreamedDesign(Design):
    """A design of which one column costs as much to read as all do: one pass over the data.

    So whatever is asked for brings along what will be: the first look at the data the products with the
    target, and the products of some columns their *triangle*, the R of ``[A_K y] = QR``. Columns in the
    coordinates of Q are as short as there are columns in K, and their inner products with each other and with
    the target are those of the columns themselves.

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
    ) -> None:
        self._plain_target = target
        self._known = np.empty(0, dtype=np.intp)
        super().__init__(matrix, sample_weight, centre, standardize)
        self._triangle: FloatArray = np.sqrt(self.target @ self.target).reshape(1, 1)
        #: The inner products of all columns with the target
        self.with_target = self._to_columns(self._raw_products, self._plain_rows.sum(axis=1))[0]

    def _look(self) -> Moments:
        self.target = self.rows(self._plain_target, "y")
        self._plain_rows = self._without_root(self.target[None, :])
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

    def view(self, elements: IndexArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return columns, one a row, and the target, in coordinates that leave inner products as they are."""
        if not np.isin(elements, self._known).all():
            self._fold(np.empty(0, dtype=np.intp), elements)
        columns = self._triangle[:, np.searchsorted(self._known, elements)]
        return np.ascontiguousarray(columns.T), self._triangle[:, -1].copy()

    def gram(self, first: IndexArray, second: IndexArray) -> FloatArray:
        """Return the inner products of some columns with others."""
        return self.products(first)[:, second]

    def cross(self, elements: IndexArray) -> FloatArray:
        """Return ``a_jᵀA`` for each element, and have their triangle from the same pass."""
        products, sums = self._fold(elements, elements)
        return self._to_columns(products, sums)

    def _fold(self, columns: IndexArray, wanted: IndexArray) -> tuple[FloatArray, FloatArray]:
        known = np.union1d(wanted, self._known)
        if len(known) > MOST_KNOWN:
            known = np.unique(wanted)
        root = np.ones(self.n_samples) if self.row_scale is None else self.row_scale
        work = works.ColumnProducts(self._scaled(columns), self._scaled(known))
        products, sums, triangle = self.matrix.fold(work, root, self.target)
        self._known, self._triangle = known, triangle
        self.passes += 1
        return products, sums

    def _products_at_once(self) -> int:
        return max(1, ENTRIES_AT_ONCE // self.n_features)

    def _scaled(self, elements: IndexArray) -> works.Scaled:
        return works.Scaled(elements, self.shift[elements], self._factor[elements])
