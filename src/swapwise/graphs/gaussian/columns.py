"""The edges of a Gaussian graph as columns, whose inner products are entries of the covariance matrix."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.columns import Columns, Likely
from swapwise.override import override

# Inner products of all edges are kept up to this many edges: 72 MB.
KEPT_UP_TO = 3000

# Inner products with all edges are computed for about this many numbers at a time.
PRODUCTS_AT_ONCE = 1 << 22


class EdgeColumns(Columns):
    """One column per edge, in a block of coordinates per vertex, none of which is stored.

    With the covariance matrix ``S = L Lᵀ`` (L is ``roots``) and the diagonal d of a precision matrix, edge
    (u, v) has ``L_u/√d_v`` in block v and ``L_v/√d_u`` in block u, and the target has ``−√d_v L_v`` in block
    v. Edges that share the vertex v, with the other ends a and b, have the inner product ``S_ab/d_v``; others
    have 0.
    """

    def __init__(self, roots: FloatArray, diagonal: FloatArray, tail: IndexArray, head: IndexArray) -> None:
        self.roots, self.diagonal, self.covariance = roots, diagonal, roots @ roots.T
        self.tail, self.head = tail, head
        self.n_features, self.n_samples = len(tail), roots.size
        variances = np.diag(self.covariance)
        self.squared_norms = variances[tail] / diagonal[head] + variances[head] / diagonal[tail]
        self.offsets = np.zeros(self.n_features)
        self._target = (-np.sqrt(diagonal)[:, None] * roots).ravel()

    @cached_property
    @override
    def with_target(self) -> FloatArray:
        return self.dots(self.target[None, :])[0]

    @override
    def restricted(self, elements: IndexArray) -> EdgeColumns:
        some = EdgeColumns(self.roots, self.diagonal, self.tail[elements], self.head[elements])
        some._target = self._target
        return some

    # -- columns and products with vectors ----------------------------------------------------------

    @override
    def columns(self, elements: IndexArray) -> FloatArray:
        columns = np.zeros((len(elements), *self.roots.shape))
        rows, tail, head = np.arange(len(elements)), self.tail[elements], self.head[elements]
        scale = np.sqrt(self.diagonal)[:, None]
        columns[rows, head] = self.roots[tail] / scale[head]
        columns[rows, tail] = self.roots[head] / scale[tail]
        return columns.reshape(len(elements), self.n_samples)

    def symmetric(self, coef: FloatArray) -> FloatArray:
        matrix = np.zeros_like(self.covariance)
        matrix[self.tail, self.head] = matrix[self.head, self.tail] = coef
        return matrix

    @override
    def combine(self, coef: FloatArray) -> FloatArray:
        return (self.symmetric(coef) @ self.roots / np.sqrt(self.diagonal)[:, None]).ravel()

    @override
    def dots(self, vectors: FloatArray, exact: bool = False) -> FloatArray:
        blocks = vectors.reshape(len(vectors), *self.roots.shape) / np.sqrt(self.diagonal)[:, None]
        dots = np.empty((len(vectors), self.n_features))
        for row, block in zip(dots, blocks, strict=True):  # one by one, to save memory
            across = block @ self.roots.T
            row[:] = across[self.tail, self.head] + across[self.head, self.tail]
        return dots

    @override
    def cross(self, elements: IndexArray, weight: FloatArray | None = None) -> FloatArray:
        if weight is not None:
            return self.dots(self.columns(elements) * weight)
        return self.gram(elements, np.arange(self.n_features))

    # -- inner products -----------------------------------------------------------------------------

    @override
    def products(self, elements: IndexArray, likely: Likely | None = None) -> FloatArray:
        return self._meetings(elements, self._places, self.n_features)

    @override
    def product_parts(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        step = max(1, PRODUCTS_AT_ONCE // max(1, len(elements)))
        for begin in range(0, self.n_features, step):
            part = slice(begin, min(begin + step, self.n_features))
            yield part, self.gram(elements, np.arange(part.start, part.stop))

    @override
    def gram(
        self, first: IndexArray, second: IndexArray, likely: Likely | None = None, *, exact: bool = False
    ) -> FloatArray:
        if "_every_product" in self.__dict__:
            return self._every_product[np.ix_(first, second)]
        return self._meetings(first, self._places_of(second), len(second))

    @override
    def gram_of_all(self) -> FloatArray:
        return self._every_product if self.n_features <= KEPT_UP_TO else super().gram_of_all()

    @cached_property
    def _every_product(self) -> FloatArray:
        return self._meetings(np.arange(self.n_features), self._places, self.n_features)

    @cached_property
    def _places(self) -> IndexArray:
        """The number of the edge between any two vertices, one beyond the last where there is none."""
        return self._places_of(np.arange(self.n_features))

    def _places_of(self, elements: IndexArray) -> IndexArray:
        places = np.full(self.covariance.shape, len(elements), dtype=np.intp)
        tail, head, order = self.tail[elements], self.head[elements], np.arange(len(elements))
        places[tail, head] = places[head, tail] = order
        return places

    def _meetings(self, elements: IndexArray, places: IndexArray, count: int) -> FloatArray:
        """Return inner products with ``count`` edges, numbered by ``places`` for every pair of vertices."""
        tail, head, rows = self.tail[elements], self.head[elements], np.arange(len(elements))[:, None]
        products = np.zeros((len(elements), count + 1))
        products[rows, places[tail]] += self.covariance[head] / self.diagonal[tail, None]
        products[rows, places[head]] += self.covariance[tail] / self.diagonal[head, None]
        return np.ascontiguousarray(products[:, :count])

    @override
    def curvature_bounds(self, sets: IndexArray, penalty: FloatArray) -> FloatArray:
        if not sets.size:
            return np.full(len(sets), float(penalty.max(initial=0.0)))
        there = (sets[:, :, None] >= 0) & (sets[:, None, :] >= 0)
        gram: FloatArray = np.zeros(there.shape)
        for ends, others in ((self.tail, self.head), (self.head, self.tail)):
            for other_ends, far in ((self.tail, self.head), (self.head, self.tail)):
                shared = ends[sets][:, :, None] == other_ends[sets][:, None, :]
                met = self.covariance[others[sets][:, :, None], far[sets][:, None, :]]
                gram += shared * there * met / self.diagonal[ends[sets]][:, :, None]
        largest: FloatArray = np.linalg.eigvalsh(gram)[:, -1].astype(np.float64)
        return largest + float(penalty.max(initial=0.0))

    # -- few coordinates ----------------------------------------------------------------------------

    #: The coordinates of a view are its own
    shows_samples = False

    @override
    def view(self, elements: IndexArray) -> tuple[FloatArray, FloatArray]:
        # As many coordinates per vertex as it has neighbours, and one more for the target: in block v there
        # are only the roots of the neighbours and the target's part, and a triangular factor of these few
        # vectors has all their inner products.
        vertices, others = self._ends_of(elements)
        degrees = np.bincount(vertices, minlength=len(self.roots))
        first = np.append(0, np.cumsum(degrees))  # of each vertex's edges, sorted by vertex
        order = np.argsort(vertices, kind="stable")
        widths = np.minimum(degrees, self.roots.shape[1])
        begin = np.append(0, np.cumsum(widths))
        columns, target = np.zeros((len(elements), begin[-1] + 1)), np.zeros(begin[-1] + 1)
        blocks, left = self.target.reshape(self.roots.shape), 0.0
        for degree in np.unique(degrees):
            alike = np.flatnonzero(degrees == degree)
            ends = order[first[alike][:, None] + np.arange(degree)]
            vectors = np.concatenate([self.roots[others[ends]], blocks[alike][:, None, :]], axis=1)
            triangles = np.asarray(np.linalg.qr(vectors.transpose(0, 2, 1), mode="r"))
            width = min(degree, self.roots.shape[1])
            places = begin[alike][:, None] + np.arange(width)
            scale = np.sqrt(self.diagonal[alike])[:, None, None]
            rows = (ends % max(1, len(elements)))[:, :, None]
            columns[rows, places[:, None, :]] = triangles[:, :width, :degree].transpose(0, 2, 1) / scale
            target[places] = triangles[:, :width, degree]
            left += float((triangles[:, width:, degree] ** 2).sum())
        target[-1] = np.sqrt(left)
        return columns, target

    def _ends_of(self, elements: IndexArray) -> tuple[IndexArray, IndexArray]:
        tail, head = self.tail[elements], self.head[elements]
        return np.append(tail, head), np.append(head, tail)

    @override
    def view_of_both(
        self, first: IndexArray, second: IndexArray, shown: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        columns, target = self.view(np.append(first, second))
        return columns[: len(first)], columns[len(first) :], target
