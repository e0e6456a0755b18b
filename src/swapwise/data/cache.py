"""Caches of columns of a matrix and of results computed from them, as searches come back to them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.data.chunked import ChunkedMatrix
from swapwise.data.matrix import CountedMatrix
from swapwise.data.reductions import Reduction

# Columns are copied if they are at most one in this many of those that would be read with them.
ONE_IN = 2

# Limit on the columns known by their triangle, unless more are requested at once.
MOST_KNOWN = 1000

# Numbers of each vector that ``parts`` yields at a time, to save memory.
NUMBERS_AT_ONCE = 2048

# A function that computes what is not cached comes with the request: a cache that held a method of its owner
# would make a reference cycle, and keep all data in memory until garbage is collected.
Compute = Callable[[IndexArray], FloatArray]


class VectorCache:
    """A vector for each of the elements requested last: a column, or its products with all others.

    ``compute`` is called for unknown vectors: it takes at most ``at_once`` elements, and returns their
    vectors of length ``width``, one per row. ``room`` vectors are kept, or more if they are requested
    together.
    """

    def __init__(self, width: int, room: int, at_once: int) -> None:
        self._at_once = at_once
        self.room = max(1, room)
        self._width = width
        self._forget()

    def _forget(self) -> None:
        self._rows = np.empty((self.room, self._width))  # costs nothing until it is written to
        self._element = np.full(self.room, -1, dtype=np.intp)  # which one each row is of, -1 for none
        self._row: dict[int, int] = {}
        self._next = 0
        self._lock = Lock()  # searches of one objective may run side by side

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_at_once", "_width", "room")
        return {name: self.__dict__[name] for name in kept}  # vectors can be computed again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __contains__(self, element: int) -> bool:
        return element in self._row

    def elements(self) -> IndexArray:
        return np.array(list(self._row), dtype=np.intp)

    def of(self, elements: IndexArray, compute: Compute) -> FloatArray:
        with self._lock:
            places = self._places(elements, compute)
            return self._rows[places]

    def parts(self, elements: IndexArray, compute: Compute) -> Iterator[tuple[slice, FloatArray]]:
        for begin in range(0, self._width, NUMBERS_AT_ONCE):
            part = slice(begin, begin + NUMBERS_AT_ONCE)
            with self._lock:
                places = self._places(elements, compute)
                rows = self._rows[places, part]
            yield part, rows

    def _places(self, elements: IndexArray, compute: Compute) -> list[int]:
        wanted = elements.tolist()
        self._reserve(len(wanted))
        missing = [element for element in dict.fromkeys(wanted) if element not in self._row]
        if missing:
            rows = self._free(len(missing), set(wanted))
            for begin in range(0, len(missing), self._at_once):
                part = slice(begin, begin + self._at_once)
                self._rows[rows[part]] = compute(np.array(missing[part], dtype=np.intp))
            for element, row in zip(missing, rows, strict=True):
                self._row[element], self._element[row] = row, element
        return [self._row[element] for element in wanted]

    def _reserve(self, wanted: int) -> None:
        more = wanted - len(self._rows)
        if more > 0:
            self._rows = np.concatenate([self._rows, np.empty((more, self._width))])
            self._element = np.append(self._element, np.full(more, -1, dtype=np.intp))

    def _free(self, count: int, wanted: set[int]) -> list[int]:
        """Return rows for newcomers: those that were filled longest ago and are not wanted now."""
        rows: dict[int, None] = {}
        while len(rows) < count:
            row, self._next = self._next, (self._next + 1) % len(self._rows)
            old = int(self._element[row])
            if old not in wanted and row not in rows:
                self._row.pop(old, None)
                self._element[row] = -1  # even if what was to come here never does
                rows[row] = None
        return list(rows)


class GramRows:
    """Rows of the Gram matrix, where there is room for all of them.

    ``compute`` is called for unknown rows: it takes at most ``at_once`` columns, and returns their products
    with all others, one per row.
    """

    def __init__(self, n: int, at_once: int) -> None:
        self._n, self._at_once = n, at_once
        self._forget()

    def _forget(self) -> None:
        #: The Gram matrix, of which only some rows are known; not to be written to
        self.matrix = np.empty((self._n, self._n))  # costs nothing until it is written to
        self.is_known = np.zeros(self._n, dtype=bool)
        #: Whether all rows come from a matrix that was computed as a whole
        self.is_filled = False
        self._lock = Lock()  # searches of one objective may run side by side

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("_n", "_at_once")}  # rows can be computed again

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def __contains__(self, element: int) -> bool:
        return bool(self.is_known[element])

    def elements(self) -> IndexArray:
        return np.flatnonzero(self.is_known)

    def of(self, elements: IndexArray, compute: Compute) -> FloatArray:
        return self.know(elements, compute)[0][elements]

    def parts(self, elements: IndexArray, compute: Compute) -> Iterator[tuple[slice, FloatArray]]:
        matrix, _ = self.know(elements, compute)
        for begin in range(0, self._n, NUMBERS_AT_ONCE):
            part = slice(begin, begin + NUMBERS_AT_ONCE)
            yield part, matrix[elements, part]

    def know(self, elements: IndexArray, compute: Compute) -> tuple[FloatArray, BoolArray]:
        """Return the matrix, with at least some rows known, and the mask of known rows."""
        with self._lock:
            missing = np.unique(elements[~self.is_known[elements]])
            for begin in range(0, len(missing), self._at_once):
                some = missing[begin : begin + self._at_once]
                self.matrix[some] = compute(some)
                self.is_known[some] = True
            return self.matrix, self.is_known.copy()  # others may fill in more while a kernel reads it

    def fill(self, matrix: FloatArray) -> None:
        with self._lock:  # replaced and not changed: a search may be reading the old rows
            self.matrix, self.is_known, self.is_filled = matrix, np.ones(self._n, dtype=bool), True


class _Part(NamedTuple):
    elements: IndexArray
    matrix: ChunkedMatrix


class ColumnCache:
    """A matrix, some columns of it, some of those, and so on: a reduction reads the smallest sufficient copy.

    >>> from swapwise.data.mapped import ArrayChunks
    >>> from swapwise.data.reductions import Dots
    >>> counted = CountedMatrix(ChunkedMatrix(ArrayChunks(np.eye(4), 3)))
    >>> ColumnCache(counted).reduce(np.array([1, 3]), lambda elements: Dots(), np.ones((1, 4)))
    (array([[1., 1.]]),)
    >>> counted.passes  # one for all columns, of which two were copied, and a half for these
    1.5
    """

    def __init__(self, whole: CountedMatrix) -> None:
        assert isinstance(whole.stored, ChunkedMatrix)
        self._whole, self._n = whole, whole.stored.n_features
        self._parts = [_Part(np.arange(self._n), whole.stored)]
        self._lock = Lock()  # searches of one objective may run side by side

    def reduce(
        self, elements: IndexArray, reduction: Callable[[IndexArray], Reduction], *rows: NDArray[Any]
    ) -> Any:
        """Return the answer of a reduction that needs no more than these columns, at least one of them.

        ``reduction`` makes it from the columns, in increasing order, that chunks will have.
        """
        with self._lock:
            part = self._smallest_part(elements)
        self._whole.count(len(part.elements) / self._n)
        return part.matrix.reduce(reduction(part.elements), *rows)

    def _smallest_part(self, elements: IndexArray) -> _Part:
        while not np.isin(elements, self._parts[-1].elements).all():
            self._parts.pop()
        last = self._parts[-1]
        if ONE_IN * len(elements) <= len(last.elements):
            self._whole.count(len(last.elements) / self._n)
            places = np.searchsorted(last.elements, elements)
            self._parts.append(_Part(elements, last.matrix.restricted(places)))
        return self._parts[-1]

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_parts": self._parts[:1]}  # copies can be made again
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = Lock()


class TriangleCache:
    """Columns and a target in few coordinates: the R of ``[A_K y] = QR`` for the columns read last.

    ``compute`` returns it for columns in increasing order. It has all inner products without loss of digits.
    """

    def __init__(self, square: float) -> None:
        # Replaced as a whole: searches of one objective may run side by side.
        self._known = np.empty(0, dtype=np.intp), np.array([[np.sqrt(square)]])

    def find(self, elements: IndexArray) -> tuple[FloatArray, FloatArray] | None:
        """Return columns, one per row, and the target; None if not all of these columns are known."""
        known, triangle = self._known
        if not np.isin(elements, known).all():
            return None
        return _shown(known, triangle, elements)

    def read(
        self, elements: IndexArray, compute: Compute, *others: IndexArray
    ) -> tuple[FloatArray, FloatArray]:
        """Read some columns, along with the known ones and others, if these are not too many."""
        known = np.unique(elements)
        for more in (self._known[0], *others):
            if len(known) + len(more) <= MOST_KNOWN:
                known = np.union1d(known, more)
        triangle = compute(known)
        self._known = known, triangle
        return _shown(known, triangle, elements)


def _shown(known: IndexArray, triangle: FloatArray, elements: IndexArray) -> tuple[FloatArray, FloatArray]:
    columns = triangle[:, np.searchsorted(known, elements)]
    return np.ascontiguousarray(columns.T), triangle[:, -1].copy()
