"""At most k elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count
from swapwise.constraints.base import names_of
from swapwise.constraints.kinds import LaminarTree
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.matroid import require_single_swaps
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override


class Uniform(Laminar):
    """At most ``k`` of ``n`` elements: the plain size limit.

    Parameters
    ----------
    n : int
        Size of the ground set.
    k : int
        How many elements may be chosen.
    at_least : int, optional
        How many must be chosen: with ``at_least=k``, exactly ``k`` are. Answers of searches and proofs meet
        it; while a search goes on, sets may be smaller.

    See Also
    --------
    Partition : a limit per group.
    Knapsack : elements that cost differently.

    References
    ----------
    - Schrijver (2003), Combinatorial Optimization: Polyhedra and Efficiency.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> pair = Uniform(4, 2)
    >>> pair.is_independent([0, 3]), pair.is_independent([0, 1, 3])
    (True, False)
    >>> pair.max_weight([0.5, 2.0, 1.0, 0.1]).support
    array([1, 2])

    Exactly two, though the second adds nothing:

    >>> from swapwise import Linear, maximize
    >>> result = maximize(Linear([0.0, 0.0, 4.0]), Uniform(3, 2, at_least=2))
    >>> result.support, result.filled
    (array([0, 2]), array([0]))
    """

    def __init__(self, n: int, k: int, at_least: int | None = None) -> None:
        self.n = as_count(n, "n")
        self.k = as_count(k, "k")
        self.at_least = 0 if at_least is None else as_count(at_least, "at_least")
        if self.at_least > min(self.k, self.n):
            limit = f"k = {self.k}" if self.k <= self.n else f"n = {self.n}"
            raise ValueError(f"at_least must be no larger than {limit}, got {self.at_least}")
        self._set_limits()

    def _set_limits(self) -> None:
        root = np.zeros(1, dtype=np.intp)
        self._tree = LaminarTree(
            leaf=np.zeros(self.n, dtype=np.intp),
            end=root + 1,
            parent=root,
            capacity=root + max(min(self.k, self.n), self.at_least),
            at_least=root + self.at_least,
        )
        self._levels = [root]

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return len(support) <= self.k

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        feasible = np.ones((self.n, len(support) + 1), dtype=bool)
        feasible[:, -1] = len(support) < self.k
        return feasible

    @override
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
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

    @override
    def max_size(self) -> int:
        return min(self.k, self.n)

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = np.full(self.n, len(support) < self.k)
        addable[support] = False
        return addable

    @override
    def induced(self, elements: IndexArray) -> Uniform:
        part = object.__new__(Uniform)  # which may have fewer elements than must be chosen of all
        part.n, part.k, part.at_least = len(elements), self.k, self.at_least
        part.names = names_of(self, elements)
        part._set_limits()
        return part

    @override
    def _truncated(self, size: int) -> Uniform:
        shorter = Uniform(self.n, min(size, self.k), self.at_least)
        shorter.names = self.names
        return shorter

    @override
    def __repr__(self) -> str:
        least = f", at_least={self.at_least}" if self.at_least else ""
        return f"Uniform(n={self.n}, k={self.k}{least})"
