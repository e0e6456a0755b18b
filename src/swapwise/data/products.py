"""Products of single columns with all others, kept because searches come back to the same columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# No fewer products are kept than these.
FEWEST = 32

# So many features are handed out at a time.
BLOCK = 2048


class KeptProducts:
    """``a_jᵀA`` for the columns that were asked for last.

    ``compute`` is asked for what is not known yet: it takes elements, ``at_once`` at the most, and returns
    their products, one a row. There is room for the products of so many columns, or more if they are asked
    for together.

    >>> asked = []
    >>> kept = KeptProducts(4, 10, 2, lambda elements: asked.append(elements.tolist()) or np.eye(4)[elements])
    >>> kept.of(np.array([2, 0]))
    array([[0., 0., 1., 0.],
           [1., 0., 0., 0.]])
    >>> _ = kept.of(np.array([0, 3]))
    >>> asked
    [[2, 0], [3]]
    """

    def __init__(
        self,
        n_features: int,
        room: int,
        at_once: int,
        compute: Callable[[IndexArray], FloatArray],
    ) -> None:
        self._compute, self._at_once = compute, at_once
        self._n_features = n_features
        self._room = min(n_features, max(FEWEST, room))
        self._forget()

    def _forget(self) -> None:
        self._rows = np.empty((self._room, self._n_features))  # costs nothing until it is written to
        self._element = np.full(self._room, -1, dtype=np.intp)  # which one each row is of, -1 for none
        self._row: dict[int, int] = {}
        self._next = 0
        self._lock = Lock()  # searches of one objective may run side by side

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: products can be computed again."""
        kept = ("_compute", "_at_once", "_n_features", "_room")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin anew."""
        self.__dict__.update(state)
        self._forget()

    def __contains__(self, element: int) -> bool:
        """Tell whether the products of a column are kept."""
        return element in self._row

    def elements(self) -> IndexArray:
        """Return the columns whose products are kept."""
        return np.array(list(self._row), dtype=np.intp)

    def of(self, elements: IndexArray) -> FloatArray:
        """Return the products of some columns, one a row."""
        with self._lock:
            places = self._places(elements)
            return self._rows[places]

    def blocks(self, elements: IndexArray) -> Iterator[tuple[slice, FloatArray]]:
        """Go through the same products, a part of the features at a time: that takes less memory."""
        for begin in range(0, self._n_features, BLOCK):
            part = slice(begin, begin + BLOCK)
            with self._lock:
                places = self._places(elements)
                block = self._rows[places, part]
            yield part, block

    def _places(self, elements: IndexArray) -> list[int]:
        wanted = elements.tolist()
        self._reserve(len(wanted))
        missing = [element for element in dict.fromkeys(wanted) if element not in self._row]
        if missing:
            rows = self._free(len(missing), set(wanted))
            for begin in range(0, len(missing), self._at_once):
                part = slice(begin, begin + self._at_once)
                self._rows[rows[part]] = self._compute(np.array(missing[part], dtype=np.intp))
            for element, row in zip(missing, rows, strict=True):
                self._row[element], self._element[row] = row, element
        return [self._row[element] for element in wanted]

    def _reserve(self, wanted: int) -> None:
        """Have room for what is wanted at once."""
        more = wanted - len(self._rows)
        if more > 0:
            self._rows = np.concatenate([self._rows, np.empty((more, self._n_features))])
            self._element = np.append(self._element, np.full(more, -1, dtype=np.intp))

    def _free(self, count: int, wanted: set[int]) -> list[int]:
        """Return rows for newcomers: those that were filled longest ago and are not wanted now."""
        rows: list[int] = []
        while len(rows) < count:
            row, self._next = self._next, (self._next + 1) % len(self._rows)
            old = int(self._element[row])
            if old not in wanted and row not in rows:
                self._row.pop(old, None)
                self._element[row] = -1  # even if what was to come here never does
                rows.append(row)
        return rows
