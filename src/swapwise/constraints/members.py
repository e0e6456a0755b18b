"""Who is in which group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.exchanges import first_of_each
from swapwise.moves import NOTHING


@dataclass(frozen=True)
class Members:
    """The chosen elements, group by group, and the places that are left.

    >>> members = Members.of(np.array([3, 7]), groups=np.array([[0, 1], [1, -1]]), room=np.array([1, 0, 99]))
    >>> members.count(np.array([0, 1, -1]))
    array([1, 2, 0])
    >>> members.member(np.array([1, 1]), place=np.array([0, 1]))
    array([3, 7])
    """

    room: IndexArray  # the places that each group has left; one more entry for padding
    start: IndexArray  # where the members of each group begin
    members: IndexArray  # group after group, in rising order in each

    @classmethod
    def of(cls, support: IndexArray, groups: IndexArray, room: IndexArray) -> Members:
        """Sort the support by its groups, one row of them for each element and padded with -1."""
        flat = groups.ravel()
        order = np.argsort(flat, kind="stable")[(flat < 0).sum() :]
        start = np.searchsorted(flat[order], np.arange(len(room) + 1))
        return cls(room, start, np.repeat(support, groups.shape[1])[order])

    def count(self, groups: IndexArray) -> IndexArray:
        """Return how many members the groups have; padding has none."""
        return np.append(np.diff(self.start), 0)[groups]

    def member(self, groups: IndexArray, place: IndexArray) -> IndexArray:
        """Return the member at a place of its group, where the place exists."""
        where = np.append(self.start, 0)[groups] + place
        return np.append(self.members, NOTHING)[np.minimum(where, len(self.members))]

    def cheapest(self, cost: FloatArray) -> IndexArray:
        """Return the cheapest member of each group, and nothing for padding; ties go to the smallest."""
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        order = np.lexsort([self.members, cost[self.members], group])
        cheapest = np.full(len(self.room), NOTHING, dtype=np.intp)
        first = first_of_each(group[:, None])  # the order keeps groups where they are
        cheapest[group[first]] = self.members[order][first]
        return cheapest
