"""Limits on sets that may overlap, within which a fractional set is sought: as many of them as matter.

How many elements of each set fit together says all about some constraints, and about each matroid. But most
matroids have far too many such sets. So the search for a fractional set begins with a few, and those that its
answer violates are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.base import Constraint, GroupLimits, Inequalities, LaminarTree
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.matroid import Matroid


class Limits(NamedTuple):
    """Sets, and how many of the elements of each may be chosen, or how large a sum of their shares.

    >>> limits = Limits.of([([0, 1, 2], 2), ([2, 3], 1)])
    >>> limits.loads(np.array([1.0, 0.5, 0.5, 0.5]))
    array([2., 1.])
    >>> limits.among(np.array([1, 2, 3])).members
    array([0, 1, 1, 2])
    """

    #: The members of all sets, those of the first set first
    members: IndexArray
    #: The set of each member
    sets: IndexArray
    #: What each member takes of the capacity of its set, more than 0
    shares: FloatArray
    capacity: FloatArray
    #: Of each set, the part of an intersection that it is about
    part: IndexArray

    @classmethod
    def of(cls, sets: Iterable[tuple[IndexArray | Iterable[int], Any]], part: int = 0) -> Limits:
        """Return limits on the number of elements of some sets, each with its capacity."""
        pairs = [(np.asarray(list(members), dtype=np.intp), capacity) for members, capacity in sets]
        sizes = [len(members) for members, _ in pairs]
        members = np.concatenate([np.empty(0, dtype=np.intp), *(members for members, _ in pairs)])
        return cls(
            members,
            np.repeat(np.arange(len(pairs)), sizes),
            np.ones(len(members)),
            np.array([capacity for _, capacity in pairs], dtype=np.float64),
            np.full(len(pairs), part),
        )

    @classmethod
    def of_rows(cls, rows: Inequalities, n: int, part: int = 0) -> Limits:
        """Return those inequalities that are about the elements alone and have no negative coefficient.

        >>> from swapwise import Knapsack
        >>> Limits.of_rows(Knapsack([1.0, 3.0], 2.0).inequalities(), 2).shares
        array([0.5, 1.5])
        """
        matrix = rows.matrix.tocsr()
        low, beside = matrix.min(axis=1).toarray(), abs(matrix[:, n:]).sum(axis=1)
        kept = np.flatnonzero((low >= 0) & (np.asarray(beside) == 0) & (np.diff(matrix.indptr) > 0))
        entries = matrix[kept].tocoo()
        there = entries.data > 0
        order = np.argsort(entries.row[there], kind="stable")
        members, sets, shares = (values[there][order] for values in (entries.col, entries.row, entries.data))
        parts = np.full(len(kept), part)
        return cls(members.astype(np.intp), sets.astype(np.intp), shares, rows.limit[kept], parts)

    def loads(self, values: FloatArray) -> FloatArray:
        """Return the sum over each set."""
        weighted = self.shares * values[self.members]
        return np.bincount(self.sets, weighted, len(self.capacity)).astype(np.float64)

    def costs(self, prices: FloatArray, n: int) -> FloatArray:
        """Return the sum, for each element, of what it costs by the prices of its sets."""
        return np.bincount(self.members, self.shares * prices[self.sets], n).astype(np.float64)

    def having(self, kept: BoolArray) -> Limits:
        """Return the same sets with some of the elements."""
        return self._with_members(kept[self.members])

    def among(self, elements: IndexArray) -> Limits:
        """Return the same sets with some of the elements, numbered by their places among these."""
        some = self.having(np.isin(np.arange(self.members.max(initial=-1) + 1), elements))
        return some._replace(members=np.searchsorted(elements, some.members))

    def only(self, kept: BoolArray) -> Limits:
        """Return some of the sets."""
        some = self._with_members(kept[self.sets])
        sets = (np.cumsum(kept) - 1)[some.sets]
        return some._replace(sets=sets, capacity=self.capacity[kept], part=self.part[kept])

    def _with_members(self, kept: BoolArray) -> Limits:
        return self._replace(members=self.members[kept], sets=self.sets[kept], shares=self.shares[kept])

    def with_others(self, other: Limits) -> Limits:
        """Return these sets, followed by others."""
        return Limits(
            np.append(self.members, other.members),
            np.append(self.sets, other.sets + len(self.capacity)),
            np.append(self.shares, other.shares),
            np.append(self.capacity, other.capacity),
            np.append(self.part, other.part),
        )


class Parts(NamedTuple):
    """What a constraint is made of: limits that are known, and matroids that have many more."""

    limits: Limits
    #: By the number of the part
    matroids: dict[int, Matroid]


def parts_of(constraint: Constraint) -> Parts | None:
    """Return limits that come close to a constraint, or None if there are none known.

    Where something else limits sets as well, fractional sets within these limits may be far from any set.

    >>> from swapwise import BMatching, Graphic, Intersection, Partition
    >>> edges = [("a", "b"), ("b", "c"), ("a", "c")]
    >>> parts_of(BMatching(edges, 1)).limits.capacity
    array([1., 1., 1.])
    >>> parts = parts_of(Intersection(Graphic(edges), Partition(["x", "y", "y"], 1)))
    >>> parts.limits.capacity, parts.matroids
    (array([2., 3., 1., 1.]), {0: Graphic(n=3, 3 vertices)})
    """
    groups = constraint.group_limits()
    if groups is not None:
        return Parts(_of_groups(groups), {})
    several = constraint.parts if isinstance(constraint, Intersection) else (constraint,)
    limits, others = Limits.of([]), {}
    for number, part in enumerate(several):
        known, tree = part.inequalities(), part.laminar_tree()
        if tree is not None:
            limits = limits.with_others(_of_tree(tree, number))
        elif known is not None:
            limits = limits.with_others(Limits.of_rows(known, part.n, number))
        elif isinstance(part, Matroid):
            limits = limits.with_others(Limits.of([(range(part.n), part.max_size())], number))
        # Places that are kept for lower limits limit every union of other sets, too.
        if isinstance(part, Matroid) and (tree is None or tree.at_least.any()):
            others[number] = part
    return Parts(limits, others) if len(limits.capacity) else None


def _of_groups(groups: GroupLimits) -> Limits:
    element, column = np.nonzero(groups.groups >= 0)
    number = groups.groups[element, column]
    order, count = np.argsort(number, kind="stable"), len(groups.capacity)
    return Limits(
        element[order],
        number[order],
        np.ones(len(order)),
        groups.capacity.astype(np.float64),
        np.zeros(count, dtype=np.intp),
    )


def _of_tree(tree: LaminarTree, part: int) -> Limits:
    sets = (np.flatnonzero((tree.leaf >= first) & (tree.leaf < end)) for first, end in enumerate(tree.end))
    return Limits.of(zip(sets, tree.capacity.tolist(), strict=True), part)
