"""The columns of elements that have several coefficients, in the form that second-order models use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.columns import Columns
from swapwise.objectives.base import Groups
from swapwise.objectives.block_columns import (
    COPY_UP_TO,
    SHORT,
    components,
    offsets_of,
    own_products,
    shortest_directions,
)

# Columns are copied from where they are stored up to this many numbers: 32 MB.
MOST_GATHERED = 1 << 22


class ElementColumns:
    """The columns of elements, one element after the other, without those that others of the element span.

    Up to a moderate size they are copied, so that products are fast; beyond that, or without ``copy``, they
    are read as they are stored, and columns that others of their element span stay. The span is that with
    respect to ``weight``, one number per sample; ``read`` returns some columns, one per row.
    """

    def __init__(
        self,
        columns: Columns,
        groups: Groups,
        weight: FloatArray,
        ridge: float,
        read: Callable[[IndexArray], FloatArray],
        *,
        copy: bool = True,
    ) -> None:
        self._columns, self._rows, self._weight, self._ridge = columns, groups.rows, weight, ridge
        #: Element e has the columns ``begin[e] : begin[e + 1]`` here, and had those of ``given`` before
        self.begin = self._given = groups.begin
        self._maps: dict[int, FloatArray] = {}
        self._array: FloatArray | None = None
        self._read_rows = read
        if copy and columns.n_samples * columns.n_features <= COPY_UP_TO:
            self._array = np.ascontiguousarray(columns.columns(self._rows))
        self._are_single = groups.largest <= 1
        if self._are_single:
            #: Weighted inner products within every element, one block behind the other
            self.own = columns.squared_norms[self._rows]
        else:
            self.own = self._own_products()
            too_short = np.flatnonzero(shortest_directions(self.own, self.begin) < SHORT)
            if len(too_short) and self._array is not None:
                self._reduce(self._array, too_short)
        #: The largest absolute value in every column
        self.heights = columns.largest_entries[self._rows]
        if self._array is not None:
            self.heights = np.maximum(self._array.max(axis=1), -self._array.min(axis=1))

    def _read(self, first: int, last: int) -> FloatArray:
        if self._array is not None:
            return self._array[first:last]
        return self._read_rows(self._rows[first:last])

    def _own_products(self) -> FloatArray:
        return own_products(self._read, self.begin, len(self._weight), self._weight[None])

    def _reduce(self, array: FloatArray, elements: IndexArray) -> None:
        parts = [array[a:b] for a, b in zip(self.begin[:-1], self.begin[1:], strict=True)]
        root = np.sqrt(self._weight)
        for e in elements.tolist():
            found = components(parts[e] * root, self._ridge)
            if found is None:
                continue
            self._maps[e] = found.from_coefficients
            parts[e] = found.from_columns @ parts[e]
        self._array = np.vstack(parts)
        self.begin = offsets_of(np.array([len(part) for part in parts]))
        self.own = self._own_products()

    def places(self, elements: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Return the positions of the columns of elements here, and where those of each begin among them."""
        sizes = np.diff(self.begin)[elements]
        begin = offsets_of(sizes)
        return np.arange(begin[-1]) + np.repeat(self.begin[elements] - begin[:-1], sizes), begin

    def _are_all(self, elements: IndexArray) -> bool:
        return np.array_equal(elements, np.arange(len(self.begin) - 1))

    def of(self, elements: IndexArray) -> FloatArray:
        if self._array is not None and self._are_all(elements):
            return self._array
        places, _ = self.places(elements)
        return self._read_rows(self._rows[places]) if self._array is None else self._array[places]

    def _are_many(self, n_columns: int) -> bool:
        return self._array is None and n_columns * len(self._weight) > MOST_GATHERED

    def products(self, elements: IndexArray, vectors: FloatArray) -> FloatArray:
        places, _ = self.places(elements)
        if self._are_many(len(places)):
            return self._columns.dots(vectors, exact=True).T[self._rows[places]]
        return self.of(elements) @ vectors.T

    def own_products_of(self, elements: IndexArray, weights: FloatArray) -> FloatArray:
        """The inner products within elements, a block per vector of weights."""
        places, begin = self.places(elements)
        if self._are_single and self._are_many(len(places)):
            squares = np.stack([self._columns.weighted_squares(weight) for weight in weights], axis=1)
            return squares[self._rows[places]].ravel()
        columns = self._array if self._are_all(elements) else None

        def read(first: int, last: int) -> FloatArray:
            if columns is not None:
                return columns[first:last]
            some = places[first:last]
            return self._read_rows(self._rows[some]) if self._array is None else self._array[some]

        return own_products(read, begin, len(self._weight), weights)

    def coefficients(self, elements: IndexArray, theta: FloatArray) -> FloatArray:
        """Return parameters on elements, and the intercept behind them, for these columns."""
        if not self._maps:
            return theta
        begin, parts = offsets_of(np.diff(self._given)[elements]), []
        for place, e in enumerate(elements.tolist()):
            part = theta[begin[place] : begin[place + 1]]
            parts.append(self._maps[e] @ part if e in self._maps else part)
        return np.vstack([*parts, theta[begin[-1] :]])
