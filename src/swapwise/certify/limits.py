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
from swapwise.constraints.base import Constraint
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.kinds import Inequalities
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
        """Read the rows that limit sums of elements: none with negative entries, or other variables."""
        entries = rows.matrix.tocoo()
        there = entries.data != 0
        row, column, share = entries.row[there], entries.col[there], entries.data[there]
        kept = np.bincount(row, minlength=len(rows.limit)) > 0
        kept[row[(share < 0) | (column >= n)]] = False
        some = np.flatnonzero(kept[row])
        some = some[np.argsort(row[some], kind="stable")]
        sets = (np.cumsum(kept) - 1)[row[some]]
        parts = np.full(np.count_nonzero(kept), part)
        return cls(column[some].astype(np.intp), sets, share[some], rows.limit[kept], parts)

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
    several = constraint.parts if isinstance(constraint, Intersection) else (constraint,)
    known = [(part, part.inequalities()) for part in several]
    known = [(part, rows) for part, rows in known if rows is not None or isinstance(part, Matroid)]
    limits, matroids = SetLimits.of([]), {}
    for number, (part, rows) in enumerate(known):
        if rows is None:
            limits = limits.with_others(SetLimits.of([(range(part.n), part.max_size())], number))
        else:
            limits = limits.with_others(SetLimits.of_rows(rows, part.n, number))
        tree = part.laminar_tree()
        # Places reserved for lower limits limit every union of other sets, too.
        if isinstance(part, Matroid) and (tree is None or tree.at_least.any()):
            matroids[number] = part
    return ConstraintParts(limits, matroids) if known else None
