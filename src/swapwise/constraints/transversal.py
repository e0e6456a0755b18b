"""Elements that can all be given a slot of their own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy

from swapwise.checks import BoolArray, IndexArray, as_count, as_elements
from swapwise.constraints.base import names_of
from swapwise.constraints.matroid import Matroid
from swapwise.override import override

UNMATCHED = -1  # no slot for this element, or no element in this slot


class Transversal(Matroid):
    """Slots that one of their members each can fill; a set is independent if all of it finds slots.

    Parameters
    ----------
    n : int
        Size of the ground set.
    sets : iterable of (iterable of int)
        For each slot the elements that can fill it. Elements in no set can never be chosen.

    See Also
    --------
    Partition : each element fits one slot only.
    SetPacking : elements that need several things.

    References
    ----------
    - Schrijver (2003), Combinatorial Optimization: Polyhedra and Efficiency.

    Examples
    --------
    Three people and two posts; only person 0 can fill both:

    >>> from swapwise import Transversal
    >>> posts = Transversal(3, [[0, 1], [0, 2]])
    >>> posts.is_independent([1, 2]), posts.is_independent([0, 1]), posts.is_independent([0, 1, 2])
    (True, True, False)
    >>> posts.max_weight([3, 2, 1]).support
    array([0, 1])
    """

    def __init__(self, n: int, sets: Iterable[Iterable[int]]) -> None:
        self.n = as_count(n, "n")
        slots = [as_elements(members, self.n, f"set number {s}") for s, members in enumerate(sets)]
        self._fits = np.zeros((self.n, len(slots)), dtype=bool)
        for s, members in enumerate(slots):
            self._fits[members, s] = True

    @override
    def __repr__(self) -> str:
        return f"Transversal(n={self.n}, {self._fits.shape[1]} slots)"

    @override
    def induced(self, elements: IndexArray) -> Transversal:
        part = object.__new__(Transversal)
        part.n, part.names, part._fits = len(elements), names_of(self, elements), self._fits[elements]
        return part

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return bool((self._match(support) != UNMATCHED).all())

    def assign(self, support: Iterable[int]) -> dict[int, int]:
        """Return a slot for each element of an independent set.

        >>> Transversal(3, [[0, 1], [0, 2]]).assign([0, 1])
        {0: 1, 1: 0}
        """
        elements = as_elements(support, self.n, "the set")
        slots = self._match(elements)
        if (slots == UNMATCHED).any():
            raise ValueError(f"the set must be independent, but {elements.tolist()} cannot all find a slot")
        return dict(zip(elements.tolist(), slots.tolist(), strict=True))

    def _match(self, support: IndexArray) -> IndexArray:
        """Return a slot for each element of the support, in a matching as large as can be."""
        return scipy.sparse.csgraph.maximum_bipartite_matching(
            scipy.sparse.csr_array(self._fits[support]), perm_type="column"
        ).astype(np.intp)

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        # A newcomer takes a slot; its owner moves to another, and so on along an alternating path, which ends
        # at an empty slot (then nothing is dropped) or with a drop. A newcomer can replace all it reaches.
        slot = self._match(support)
        pushes = _closure(self._fits[np.ix_(support, slot)])
        reaches = _product(self._fits[:, slot], pushes)
        empty = np.ones(self._fits.shape[1], dtype=bool)
        empty[slot] = False
        finds_empty = self._fits[:, empty].sum(axis=1) > 0
        free = finds_empty | (reaches & finds_empty[support]).any(axis=1)
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        feasible[:, :-1] = reaches
        feasible[:, -1] = False
        feasible[free] = True
        return feasible

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        (grid,) = self.moves(support)
        return grid.free

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        owner = np.full(self._fits.shape[1], UNMATCHED, dtype=np.intp)
        owner[self._match(np.asarray(support, dtype=np.intp))] = support
        chosen = set(np.asarray(support).tolist())
        # Slots from which no empty one can be reached stay so for good: later augmenting paths avoid them,
        # since a path through them would have led to the empty slot before.
        dead_ends: set[int] = set()
        for element in order:
            if element not in chosen and self._place(int(element), owner, dead_ends):
                chosen.add(int(element))
        return np.array(sorted(chosen), dtype=np.intp)

    def _place(self, element: int, owner: IndexArray, dead_ends: set[int]) -> bool:
        """Give the element a slot along an augmenting path, if there is one."""
        came_from: dict[int, int] = {}
        waiting = [(element, UNMATCHED)]
        for mover, left in waiting:
            for slot in np.flatnonzero(self._fits[mover]).tolist():
                if slot in came_from or slot in dead_ends:
                    continue
                came_from[slot] = left
                if owner[slot] == UNMATCHED:
                    _shift(element, slot, owner, came_from)
                    return True
                waiting.append((int(owner[slot]), slot))
        dead_ends.update(came_from)
        return False


def _shift(element: int, slot: int, owner: IndexArray, came_from: dict[int, int]) -> None:
    """Move the owners along the path that ends in ``slot`` one slot on, and ``element`` to its beginning."""
    while came_from[slot] != UNMATCHED:
        owner[slot] = owner[came_from[slot]]
        slot = came_from[slot]
    owner[slot] = element


def _closure(steps: BoolArray) -> BoolArray:
    """Return the transitive closure, by squaring; all steps to oneself are there."""
    reached = steps
    while True:
        further = _product(reached, reached)
        if (further == reached).all():
            return reached
        reached = further


def _product(left: BoolArray, right: BoolArray) -> BoolArray:
    # Sums of non-negative floats are positive if one term is, and BLAS has no boolean product.
    return left.astype(np.float32) @ right.astype(np.float32) > 0
