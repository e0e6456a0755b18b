"""Matroids made of a matroid: shortened, with elements forced out, with elements forced in.

All keep the numbers of the elements, so data and results need no translation. Elements that are
forced in stay so in whatever is made of the matroid afterwards, and the order of the steps does not
matter: ``M.contract(F).truncate(k)`` and ``M.truncate(k).contract(F)`` allow the same sets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import numpy as np

from swapwise.checks import BoolArray, IndexArray
from swapwise.constraints.base import IndependenceSystem, as_order
from swapwise.constraints.matroid import Matroid


class Minor(Matroid):
    """A matroid that is made of another, and takes on trust what that does.

    >>> from swapwise import Uniform
    >>> isinstance(Uniform(5, 4).truncate(2), Minor)
    True
    """

    matroid: Matroid

    @property
    def _parts(self) -> tuple[IndependenceSystem, ...]:
        return (self.matroid,)


class Truncation(Minor):
    """The allowed sets of at most ``size`` elements; see :meth:`Matroid.truncate`.

    Elements that are forced in count whether they are chosen yet or not: their places are taken.

    >>> from swapwise import Uniform
    >>> Uniform(5, 4).truncate(2).is_independent([0, 1, 2])
    False
    """

    def __init__(self, matroid: Matroid, size: int) -> None:
        if size < len(matroid.forced):
            raise ValueError(
                f"size must leave room for the {len(matroid.forced)} elements that are forced in, got {size}"
            )
        self.n, self.names = matroid.n, matroid.names
        self._forced = matroid.forced
        self.matroid = matroid
        self.size = size

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{self.matroid!r}.truncate({self.size})"

    def _reordered(self, order: IndexArray) -> Self:
        return type(self)(self.matroid._reordered(order), self.size)

    def induced(self, elements: IndexArray) -> Matroid:
        """Return the truncation of what the matroid is on some elements."""
        return type(self)(self.matroid.induced(elements), self.size)

    def nested_limits(self) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray] | None:
        """Return the limits of the matroid, with that of the whole ground set lowered."""
        limits = self.matroid.nested_limits()
        if limits is None:
            return None
        leaf, end, parent, capacity = limits
        return leaf, end, parent, np.append(min(self.size, int(capacity[0])), capacity[1:])

    def _taken(self, support: IndexArray) -> int:
        """Return how many places are taken by the support and the forced elements."""
        return len(np.union1d(support, self.forced))

    def _is_independent(self, support: IndexArray) -> bool:
        return self._taken(support) <= self.size and self.matroid._is_independent(support)

    def _exchanges(self, support: IndexArray) -> BoolArray:
        feasible = self.matroid._exchanges(support)
        if self._taken(support) == self.size:
            # All places are taken, so somebody has to go for each newcomer, but nobody who is
            # forced in: a forced element keeps its place even when it is dropped.
            newcomers = np.setdiff1d(np.arange(self.n), self.forced)
            keep_places = np.append(np.isin(support, self.forced), True)
            feasible[np.ix_(newcomers, keep_places)] = False
        return feasible

    def addable(self, support: IndexArray) -> BoolArray:
        """Return what the matroid can add; without a free place, nothing but forced elements."""
        addable = self.matroid.addable(support)
        if self._taken(support) == self.size:
            addable &= np.isin(np.arange(self.n), self.forced)
        return addable

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Extend the support in the whole matroid, and keep what came first."""
        rest = as_order(order)
        grown = self.matroid.extend(support, rest)
        in_turn = np.concatenate([np.asarray(support, dtype=np.intp), rest[~np.isin(rest, support)]])
        in_turn = in_turn[np.isin(in_turn, grown)]
        takes_place = ~np.isin(in_turn, self.forced)
        room = self.size - len(self.forced)
        return np.sort(in_turn[~takes_place | (np.cumsum(takes_place) <= room)])


class Restriction(Minor):
    """The allowed sets within ``elements``; see :meth:`Matroid.restrict`.

    >>> from swapwise import Uniform
    >>> Uniform(5, 2).restrict([0, 1, 2]).is_independent([0, 3])
    False
    """

    def __init__(self, matroid: Matroid, elements: IndexArray) -> None:
        excluded = np.setdiff1d(matroid.forced, elements)
        if len(excluded):
            raise ValueError(f"element {excluded[0]} is forced in, so it must be among the elements to keep")
        self.n, self.names = matroid.n, matroid.names
        self._forced = matroid.forced
        self.matroid = matroid
        self.elements = elements
        self._kept = np.isin(np.arange(self.n), elements)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{self.matroid!r}.restrict({self.elements.tolist()})"

    def _reordered(self, order: IndexArray) -> Self:
        return type(self)(self.matroid._reordered(order), np.flatnonzero(self._kept[order]))

    def nested_limits(self) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray] | None:
        """Return the limits of the matroid, and one more set for what cannot be chosen."""
        limits = self.matroid.nested_limits()
        if limits is None:
            return None
        leaf, end, parent, capacity = limits
        nodes = len(end)
        return (
            np.where(self._kept, leaf, nodes),
            np.concatenate([[nodes + 1], end[1:], [nodes + 1]]),
            np.append(parent, 0),
            np.append(capacity, 0),
        )

    def induced(self, elements: IndexArray) -> Matroid:
        """Return the restriction of what the matroid is on some elements."""
        return type(self)(self.matroid.induced(elements), np.flatnonzero(self._kept[elements]))

    def _is_independent(self, support: IndexArray) -> bool:
        return bool(self._kept[support].all()) and self.matroid._is_independent(support)

    def _exchanges(self, support: IndexArray) -> BoolArray:
        feasible = self.matroid._exchanges(support)
        feasible[~self._kept] = False
        return feasible

    def addable(self, support: IndexArray) -> BoolArray:
        """Return what the matroid can add among the elements kept."""
        return self.matroid.addable(support) & self._kept

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Extend the support by those elements of the order that may be chosen."""
        rest = as_order(order)
        return self.matroid.extend(support, rest[self._kept[rest]])


class Contraction(Minor):
    """The sets that are allowed together with ``elements``; see :meth:`Matroid.contract`.

    >>> from swapwise import Uniform
    >>> Uniform(5, 3).contract([0, 1]).is_independent([2, 3])
    False
    """

    def __init__(self, matroid: Matroid, elements: IndexArray) -> None:
        for element in elements:
            if not matroid._is_independent(np.array([element], dtype=np.intp)):
                raise ValueError(f"element {element} is a loop: it can never be chosen")
        if not matroid._is_independent(elements):
            raise ValueError(
                f"the elements to force in must be allowed together, got {elements.tolist()}, which are not"
            )
        self.n, self.names = matroid.n, matroid.names
        self._forced = np.union1d(matroid.forced, elements)
        self.matroid = matroid

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{self.matroid!r}.contract({self.forced.tolist()})"

    def _reordered(self, order: IndexArray) -> Self:
        forced = np.flatnonzero(np.isin(order, self.forced))
        return type(self)(self.matroid._reordered(order), forced)

    def nested_limits(self) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray] | None:
        """Return the limits of the matroid: what is forced in counts as any other does."""
        return self.matroid.nested_limits()

    def induced(self, elements: IndexArray) -> Matroid:
        """Return the contraction of what the matroid is on some elements, which hold all that is forced."""
        forced = np.flatnonzero(np.isin(elements, self.forced))
        return type(self)(self.matroid.induced(elements), forced)

    def _is_independent(self, support: IndexArray) -> bool:
        return self.matroid._is_independent(np.union1d(support, self.forced))

    def _exchanges(self, support: IndexArray) -> BoolArray:
        whole = np.union1d(support, self.forced)
        of_whole = self.matroid._exchanges(whole)
        feasible = of_whole[:, np.append(np.searchsorted(whole, support), len(whole))]
        # To drop a forced element makes no room: it is counted as chosen in any case.
        feasible[:, :-1][:, np.isin(support, self.forced)] = feasible[:, -1:]
        feasible[self.forced] = True
        return feasible

    def addable(self, support: IndexArray) -> BoolArray:
        """Return what can be added to the support and the forced, and the forced themselves."""
        addable = self.matroid.addable(np.union1d(support, self.forced))
        addable[np.setdiff1d(self.forced, support)] = True
        return addable

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Extend the support and the forced elements, and leave out the forced that were not asked for."""
        rest = as_order(order)
        grown = self.matroid.extend(np.union1d(support, self.forced), rest)
        return grown[np.isin(grown, np.union1d(support, rest))]


class Induced(Minor):
    """A matroid on some of its elements, which get new numbers: their places in ``elements``.

    For computing with few elements at a time; whoever wants to keep the numbers uses :class:`Restriction`.

    >>> from swapwise import Partition
    >>> Induced(Partition(["a", "b", "a", "b"], 1), np.array([0, 2, 3])).is_independent([0, 1])
    False
    """

    def __init__(self, matroid: Matroid, elements: IndexArray) -> None:
        missing = np.setdiff1d(matroid.forced, elements)
        if len(missing):
            raise ValueError(f"element {missing[0]} is forced in, so it must be among the elements")
        self.matroid, self.elements, self.n = matroid, elements, len(elements)
        self._forced = np.flatnonzero(np.isin(elements, matroid.forced))

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{self.matroid!r} on {self.n} elements"

    def _is_independent(self, support: IndexArray) -> bool:
        return self.matroid._is_independent(self.elements[support])

    def _exchanges(self, support: IndexArray) -> BoolArray:
        return self.matroid._exchanges(self.elements[support])[self.elements]

    def addable(self, support: IndexArray) -> BoolArray:
        """Return what the matroid can add among the elements."""
        return self.matroid.addable(self.elements[support])[self.elements]

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Extend the support by those elements of the order that may be chosen."""
        rest = as_order(order)
        grown = self.matroid.extend(self.elements[support], self.elements[rest])
        return np.flatnonzero(np.isin(self.elements, grown))
