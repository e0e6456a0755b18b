"""Columns that are read again and again, held apart from the many that are not."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import IndexArray
from swapwise.data.blocks import Work
from swapwise.data.chunked import ChunkedMatrix

# Columns are stored anew if they are at most one in so many of those that would be read with them.
ONE_IN = 2


class _Part(NamedTuple):
    elements: IndexArray
    matrix: ChunkedMatrix


class HeldColumns:
    """A matrix, some columns of it, some of those, and so on: work is done on the fewest that will do.

    >>> from swapwise.data.file_blocks import ArrayBlocks
    >>> from swapwise.data.works import Dots
    >>> held = HeldColumns(ChunkedMatrix(ArrayBlocks(np.eye(4), 3)))
    >>> held.fold(np.array([1, 3]), lambda elements: Dots(), np.ones((1, 4)))
    (array([[1., 1.]]),)
    >>> held.passes  # one for all columns, of which two were stored anew, and a half for these
    1.5
    """

    def __init__(self, matrix: ChunkedMatrix) -> None:
        self._n = matrix.n_features
        self._parts = [_Part(np.arange(self._n), matrix)]
        #: How many times all of the data were read; a part counts as its share
        self.passes = 0.0
        self._lock = Lock()  # searches of one objective may run side by side

    def fold(self, elements: IndexArray, work: Callable[[IndexArray], Work], *rows: NDArray[Any]) -> Any:
        """Return the answer of some work that needs no more than these columns, at least one of them.

        ``work`` makes it, once it is known which columns, in increasing order, blocks will have.
        """
        part = self._holding(elements)
        self.passes += len(part.elements) / self._n
        return part.matrix.fold(work(part.elements), *rows)

    def fold_all(self, work: Work, *rows: NDArray[Any]) -> Any:
        """Return the answer of some work that needs all columns: one pass over the data."""
        self.passes += 1
        return self._parts[0].matrix.fold(work, *rows)

    def _holding(self, elements: IndexArray) -> _Part:
        with self._lock:
            return self._held(elements)

    def _held(self, elements: IndexArray) -> _Part:
        while not np.isin(elements, self._parts[-1].elements).all():
            self._parts.pop()
        last = self._parts[-1]
        if ONE_IN * len(elements) <= len(last.elements):
            self.passes += len(last.elements) / self._n
            places = np.searchsorted(last.elements, elements)
            self._parts.append(_Part(elements, last.matrix.restricted(places)))
        return self._parts[-1]

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: nothing that can be read again."""
        state = {**self.__dict__, "_parts": self._parts[:1]}
        del state["_lock"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin anew."""
        self.__dict__.update(state)
        self._lock = Lock()
