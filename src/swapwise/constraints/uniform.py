"""At most k elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count
from swapwise.constraints.base import LaminarTree, names_of
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.matroid import require_single_swaps
from swapwise.moves import NOTHING, MoveList


class Uniform(Laminar):
    """At most ``k`` of ``n`` elements: the plain size limit.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> pair = Uniform(4, 2)
    >>> pair.is_independent([0, 3]), pair.is_independent([0, 1, 3])
    (True, False)
    >>> pair.max_weight([0.5, 2.0, 1.0, 0.1]).support
    array([1, 2])
    """

    def __init__(self, n: int, k: int) -> None:
        self.n = as_count(n, "n")
        self.k = as_count(k, "k")
        root = np.zeros(1, dtype=np.intp)
        self._tree = LaminarTree(
            leaf=np.zeros(self.n, dtype=np.intp),
            end=root + 1,
            parent=root,
            capacity=root + min(self.k, self.n),
        )
        self._levels = [root]

    def _is_independent(self, support: IndexArray) -> bool:
        return len(support) <= self.k

    def _swap_mask(self, support: IndexArray) -> BoolArray:
        feasible = np.ones((self.n, len(support) + 1), dtype=bool)
        feasible[:, -1] = len(support) < self.k
        return feasible

    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield the same drop for every candidate: nothing, as long as there is room."""
        require_single_swaps(q)
        candidates = np.ones(self.n, dtype=bool)
        candidates[support] = False
        drop = np.array([NOTHING])
        if len(support) >= self.k:
            droppable = support[np.isfinite(cost[support])]
            drop = droppable[cost[droppable].argsort(kind="stable")[:1]]
            candidates &= len(drop) > 0
        added = np.flatnonzero(candidates)[:, None]
        yield MoveList(added, np.full(added.shape, drop, dtype=np.intp) if len(added) else added)

    def max_size(self) -> int:
        """Return the rank."""
        return min(self.k, self.n)

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which elements can be added: all others, as long as there is room for one."""
        addable = np.full(self.n, len(support) < self.k)
        addable[support] = False
        return addable

    def induced(self, elements: IndexArray) -> Uniform:
        """Return the same limit on some of the elements."""
        part = Uniform(len(elements), self.k)
        part.names = names_of(self, elements)
        return part

    def __repr__(self) -> str:
        """Return a short description."""
        return f"Uniform(n={self.n}, k={self.k})"
