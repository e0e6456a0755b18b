"""Matroids made of a matroid: truncated, with elements forced out, with elements forced in.

All keep the numbers of the elements. Forced elements stay forced in whatever is made of the matroid, and the
order of the steps does not matter: ``M.contract(F).truncate(k)`` and ``M.truncate(k).contract(F)`` have the
same independent sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.base import as_order, forced_among
from swapwise.constraints.kinds import LaminarTree
from swapwise.constraints.matroid import Matroid
from swapwise.override import override


class Minor(Matroid):
    """A matroid that is made of another, and verified as far as that is."""

    def __init__(self, matroid: Matroid, forced: IndexArray) -> None:
        self.n, self.names, self.forced = matroid.n, matroid.names, forced
        self.matroid, self._made_of = matroid, (matroid,)

    @override
    def shortfall(self, support: IndexArray) -> str:
        return self.matroid.shortfall(np.union1d(support, self.forced))

    @override
    def completed(self, support: IndexArray, weights: FloatArray) -> IndexArray:
        whole = np.union1d(support, self.forced)
        return whole if self._nested is None else self._nested.completed(whole, weights)


def _induced(matroid: Matroid, elements: IndexArray) -> Matroid:
    return cast(Matroid, matroid.induced(elements))  # of a matroid it is one


class Truncation(Minor):
    """The independent sets of at most ``size`` elements; see :meth:`Matroid.truncate`.

    Forced elements count whether they are chosen yet or not: their places are taken.
    """

    def __init__(self, matroid: Matroid, size: int) -> None:
        if size < len(matroid.forced):
            raise ValueError(
                f"size must leave room for the {len(matroid.forced)} elements that are forced in, got {size}"
            )
        super().__init__(matroid, matroid.forced)
        self.size = size

    @override
    def __repr__(self) -> str:
        return f"{self.matroid!r}.truncate({self.size})"

    @override
    def induced(self, elements: IndexArray) -> Matroid:
        return Truncation(_induced(self.matroid, elements), self.size)

    @override
    def laminar_tree(self) -> LaminarTree | None:
        tree = self.matroid.laminar_tree()
        if tree is None:
            return None
        root = min(self.size, int(tree.capacity[0]))
        return tree._replace(capacity=np.append(root, tree.capacity[1:]))

    def _taken(self, support: IndexArray) -> int:
        return len(np.union1d(support, self.forced))

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return self._taken(support) <= self.size and self.matroid._is_independent(support)

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        feasible = self.matroid._swap_mask(support)
        if self._taken(support) == self.size:
            # Each newcomer replaces an element, but none that is forced in: a forced element keeps its
            # place even when it is dropped.
            newcomers = np.setdiff1d(np.arange(self.n), self.forced)
            keep_places = np.append(np.isin(support, self.forced), True)
            feasible[np.ix_(newcomers, keep_places)] = False
        return feasible

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = self.matroid.addable(support)
        if self._taken(support) == self.size:
            addable &= np.isin(np.arange(self.n), self.forced)
        return addable

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        rest = as_order(order)
        grown = self.matroid.extend(support, rest)
        in_turn = np.concatenate([np.asarray(support, dtype=np.intp), rest[~np.isin(rest, support)]])
        in_turn = in_turn[np.isin(in_turn, grown)]
        takes_place = ~np.isin(in_turn, self.forced)
        room = self.size - len(self.forced)
        return np.sort(in_turn[~takes_place | (np.cumsum(takes_place) <= room)])


class Restriction(Minor):
    """The independent sets within ``elements``; see :meth:`Matroid.restrict`."""

    def __init__(self, matroid: Matroid, elements: IndexArray) -> None:
        excluded = np.setdiff1d(matroid.forced, elements)
        if len(excluded):
            raise ValueError(f"element {excluded[0]} is forced in, so it must be among the elements to keep")
        super().__init__(matroid, matroid.forced)
        self.elements = elements
        self._kept = np.isin(np.arange(self.n), elements)

    @override
    def __repr__(self) -> str:
        return f"{self.matroid!r}.restrict({self.elements.tolist()})"

    @override
    def laminar_tree(self) -> LaminarTree | None:
        tree = self.matroid.laminar_tree()
        if tree is None:
            return None
        nodes = len(tree.end)
        return LaminarTree(
            leaf=np.where(self._kept, tree.leaf, nodes),
            end=np.concatenate([[nodes + 1], tree.end[1:], [nodes + 1]]),
            parent=np.append(tree.parent, 0),
            capacity=np.append(tree.capacity, 0),
            at_least=np.append(tree.at_least, 0),
        )

    @override
    def induced(self, elements: IndexArray) -> Matroid:
        return Restriction(_induced(self.matroid, elements), np.flatnonzero(self._kept[elements]))

    @override
    def _truncated(self, size: int) -> Restriction:
        return Restriction(self.matroid._truncated(size), self.elements)

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return bool(self._kept[support].all()) and self.matroid._is_independent(support)

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        feasible = self.matroid._swap_mask(support)
        feasible[~self._kept] = False
        return feasible

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        return self.matroid.addable(support) & self._kept

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        rest = as_order(order)
        return self.matroid.extend(support, rest[self._kept[rest]])


class Contraction(Minor):
    """The sets that are independent together with ``elements``; see :meth:`Matroid.contract`."""

    def __init__(self, matroid: Matroid, elements: IndexArray) -> None:
        for element in elements:
            if not matroid._is_independent(np.array([element], dtype=np.intp)):
                raise ValueError(f"element {element} is a loop: it can never be chosen")
        if not matroid._is_independent(elements):
            raise ValueError(
                f"the elements to force in must be allowed together, got {elements.tolist()}, which are not"
            )
        super().__init__(matroid, np.union1d(matroid.forced, elements))

    @override
    def __repr__(self) -> str:
        return f"{self.matroid!r}.contract({self.forced.tolist()})"

    @override
    def laminar_tree(self) -> LaminarTree | None:
        return self.matroid.laminar_tree()

    @override
    def induced(self, elements: IndexArray) -> Matroid:
        forced = forced_among(self, elements)
        return Contraction(_induced(self.matroid, elements), forced)

    @override
    def _truncated(self, size: int) -> Contraction:
        return Contraction(self.matroid._truncated(size), self.forced)

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return self.matroid._is_independent(np.union1d(support, self.forced))

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        whole = np.union1d(support, self.forced)
        of_whole = self.matroid._swap_mask(whole)
        feasible = of_whole[:, np.append(np.searchsorted(whole, support), len(whole))]
        # To drop a forced element makes no room: it is counted as chosen in any case.
        feasible[:, :-1][:, np.isin(support, self.forced)] = feasible[:, -1:]
        feasible[self.forced] = True
        return feasible

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = self.matroid.addable(np.union1d(support, self.forced))
        addable[np.setdiff1d(self.forced, support)] = True
        return addable

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        rest = as_order(order)
        grown = self.matroid.extend(np.union1d(support, self.forced), rest)
        return grown[np.isin(grown, np.union1d(support, rest))]
