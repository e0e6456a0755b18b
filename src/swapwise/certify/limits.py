"""Limits on overlapping sets, within which a fractional set is sought.

The numbers of elements of each set that fit together describe some constraints, and each matroid, completely.
But most matroids have far too many such sets. So the search for a fractional set begins with a few, and those
that its answer violates are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.base import Constraint, GroupLimits, Inequalities, LaminarTree
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.matroid import Matroid


class SetLimits(NamedTuple):
    """Sets, each with a limit on the number of its elements, or on the sum of their shares."""

    #: The members of all sets, those of the first set first
    members: IndexArray
    #: The set of each member
    sets: IndexArray
    #: The share of each member in the capacity of its set, more than 0
    shares: FloatArray
    capacity: FloatArray
    #: The part of an intersection that each set belongs to
    part: IndexArray

    @classmethod
    def of(cls, sets: Iterable[tuple[IndexArray | Iterable[int], Any]], part: int = 0) -> SetLimits:
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
    def of_rows(cls, rows: Inequalities, n: int, part: int = 0) -> SetLimits:
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
        weighted = self.shares * values[self.members]
        return np.bincount(self.sets, weighted, len(self.capacity)).astype(np.float64)

    def costs(self, prices: FloatArray, n: int) -> FloatArray:
        return np.bincount(self.members, self.shares * prices[self.sets], n).astype(np.float64)

    def having(self, kept: BoolArray) -> SetLimits:
        return self._with_members(kept[self.members])

    def among(self, elements: IndexArray) -> SetLimits:
        """Restrict the sets to some of the elements, renumbered by their positions among these."""
        some = self.having(np.isin(np.arange(self.members.max(initial=-1) + 1), elements))
        return some._replace(members=np.searchsorted(elements, some.members))

    def only(self, kept: BoolArray) -> SetLimits:
        some = self._with_members(kept[self.sets])
        sets = (np.cumsum(kept) - 1)[some.sets]
        return some._replace(sets=sets, capacity=self.capacity[kept], part=self.part[kept])

    def _with_members(self, kept: BoolArray) -> SetLimits:
        return self._replace(members=self.members[kept], sets=self.sets[kept], shares=self.shares[kept])

    def with_others(self, other: SetLimits) -> SetLimits:
        return SetLimits(
            np.append(self.members, other.members),
            np.append(self.sets, other.sets + len(self.capacity)),
            np.append(self.shares, other.shares),
            np.append(self.capacity, other.capacity),
            np.append(self.part, other.part),
        )


class ConstraintParts(NamedTuple):
    """Limits that come close to a constraint, and the matroids in it that have many more."""

    limits: SetLimits
    #: By the number of the part
    matroids: dict[int, Matroid]


def parts_of(constraint: Constraint) -> ConstraintParts | None:
    """Return limits that come close to a constraint, or None if none are known.

    Where other conditions limit sets as well, fractional sets within these limits may be far from any set.
    """
    groups = constraint.group_limits()
    if groups is not None:
        return ConstraintParts(_of_groups(groups), {})
    several = constraint.parts if isinstance(constraint, Intersection) else (constraint,)
    limits, others = SetLimits.of([]), {}
    for number, part in enumerate(several):
        known, tree = part.inequalities(), part.laminar_tree()
        if tree is not None:
            limits = limits.with_others(_of_tree(tree, number))
        elif known is not None:
            limits = limits.with_others(SetLimits.of_rows(known, part.n, number))
        elif isinstance(part, Matroid):
            limits = limits.with_others(SetLimits.of([(range(part.n), part.max_size())], number))
        # Places reserved for lower limits limit every union of other sets, too.
        if isinstance(part, Matroid) and (tree is None or tree.at_least.any()):
            others[number] = part
    return ConstraintParts(limits, others) if len(limits.capacity) else None


def _of_groups(groups: GroupLimits) -> SetLimits:
    element, column = np.nonzero(groups.groups >= 0)
    number = groups.groups[element, column]
    order, count = np.argsort(number, kind="stable"), len(groups.capacity)
    return SetLimits(
        element[order],
        number[order],
        np.ones(len(order)),
        groups.capacity.astype(np.float64),
        np.zeros(count, dtype=np.intp),
    )


def _of_tree(tree: LaminarTree, part: int) -> SetLimits:
    sets = (np.flatnonzero((tree.leaf >= first) & (tree.leaf < end)) for first, end in enumerate(tree.end))
    return SetLimits.of(zip(sets, tree.capacity.tolist(), strict=True), part)
