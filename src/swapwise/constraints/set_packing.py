"""Sets of which no two share an item."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from swapwise.checks import is_missing
from swapwise.constraints.packing import PackingSystem
from swapwise.override import override


class SetPacking(PackingSystem):
    """Sets that have no item in common: crews that share no member, bundles of goods sold once.

    Element ``j`` uses the items ``sets[j]``, and no item may be used twice. Sets of at most p items
    make a p-exchange system. An empty set uses nothing and can always be chosen.

    Parameters
    ----------
    sets : iterable of iterables of hashable
        The items of each element. An item that a set names more than once counts once.

    See Also
    --------
    BMatching : edges, which use two vertices each.
    Conflicts : pairs that exclude each other.

    References
    ----------
    - Feldman, Naor, Schwartz and Ward (2011), Improved approximations for k-exchange systems.

    Examples
    --------
    >>> from swapwise import SetPacking
    >>> crews = SetPacking([{"ann", "bob"}, {"bob", "eve"}, {"eve"}])
    >>> crews.is_independent([0, 2]), crews.is_independent([1, 2])
    (True, False)
    >>> crews.p
    2
    """

    def __init__(self, sets: Iterable[Iterable[Hashable]]) -> None:
        number: dict[Hashable, int] = {}
        rows = [
            [number.setdefault(item, len(number)) for item in _read_set(given, j)]
            for j, given in enumerate(sets)
        ]
        groups = np.full((len(rows), max([1, *map(len, rows)])), -1, dtype=np.intp)
        for j, row in enumerate(rows):
            groups[j, : len(row)] = row
        self.items = list(number)
        super().__init__(groups, np.ones(len(number), dtype=np.intp))

    @override
    def __repr__(self) -> str:
        return f"SetPacking(n={self.n}, {len(self.items)} items, p={self.p})"


def _read_set(given: Any, j: int) -> list[Hashable]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"sets must be collections of items, got {given!r} as number {j}")
    items: dict[Hashable, None] = {}
    for item in given:
        if not isinstance(item, Hashable):
            raise TypeError(f"items must be hashable, got {item!r} in set number {j}")
        if is_missing(item):
            raise ValueError(f"items must not be missing, got {item!r} in set number {j}")
        items[item] = None
    return list(items)
