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
from swapwise.constraints.base import Constraint, GroupLimits, LaminarTree, heaviest_first
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.matroid import Matroid

# A limit counts as violated if a fractional set exceeds it by more.
VIOLATED = 1e-4


class Limits(NamedTuple):
    """Sets, and how many of the elements of each may be chosen.

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
    capacity: IndexArray
    #: Of each set, the matroid of an intersection that it is about
    part: IndexArray

    @classmethod
    def of(cls, sets: Iterable[tuple[IndexArray | Iterable[int], Any]], part: int = 0) -> Limits:
        """Return limits on some sets, each with its capacity."""
        pairs = [(np.asarray(list(members), dtype=np.intp), capacity) for members, capacity in sets]
        sizes = [len(members) for members, _ in pairs]
        return cls(
            np.concatenate([members for members, _ in pairs]) if pairs else np.empty(0, dtype=np.intp),
            np.repeat(np.arange(len(pairs)), sizes),
            np.array([capacity for _, capacity in pairs], dtype=np.intp),
            np.full(len(pairs), part),
        )

    def loads(self, values: FloatArray) -> FloatArray:
        """Return the sum over each set."""
        return np.bincount(self.sets, values[self.members], len(self.capacity)).astype(np.float64)

    def costs(self, prices: FloatArray, n: int) -> FloatArray:
        """Return the sum, for each element, of the prices of its sets."""
        return np.bincount(self.members, prices[self.sets], n).astype(np.float64)

    def having(self, kept: BoolArray) -> Limits:
        """Return the same sets with some of the elements."""
        some = kept[self.members]
        return self._replace(members=self.members[some], sets=self.sets[some])

    def among(self, elements: IndexArray) -> Limits:
        """Return the same sets with some of the elements, numbered by their places among these."""
        some = self.having(np.isin(np.arange(self.members.max(initial=-1) + 1), elements))
        return some._replace(members=np.searchsorted(elements, some.members))

    def only(self, kept: BoolArray) -> Limits:
        """Return some of the sets."""
        stays, numbers = kept[self.sets], np.cumsum(kept) - 1
        sets = numbers[self.sets[stays]]
        return Limits(self.members[stays], sets, self.capacity[kept], self.part[kept])

    def with_others(self, other: Limits) -> Limits:
        """Return these sets, followed by others."""
        return Limits(
            np.append(self.members, other.members),
            np.append(self.sets, other.sets + len(self.capacity)),
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

    >>> from swapwise import BMatching, Graphic, Intersection, Partition
    >>> edges = [("a", "b"), ("b", "c"), ("a", "c")]
    >>> parts_of(BMatching(edges, 1)).limits.capacity
    array([1, 1, 1])
    >>> parts = parts_of(Intersection(Graphic(edges), Partition(["x", "y", "y"], 1)))
    >>> parts.limits.capacity, parts.matroids
    (array([2, 3, 1, 1]), {0: Graphic(n=3, 3 vertices)})
    """
    groups = constraint.group_limits()
    if groups is not None:
        return Parts(_of_groups(groups), {})
    if isinstance(constraint, Matroid):
        matroids: tuple[Matroid, ...] = (constraint,)
    elif isinstance(constraint, Intersection):
        matroids = constraint.matroids
    else:
        return None
    limits, others = Limits.of([]), {}
    for part, matroid in enumerate(matroids):
        tree = matroid.laminar_tree()
        if tree is None:
            others[part] = matroid
            limits = limits.with_others(Limits.of([(range(matroid.n), matroid.max_size())], part))
        else:
            limits = limits.with_others(_of_tree(tree, part))
    return Parts(limits, others)


def _of_groups(groups: GroupLimits) -> Limits:
    element, column = np.nonzero(groups.groups >= 0)
    number = groups.groups[element, column]
    order, count = np.argsort(number, kind="stable"), len(groups.capacity)
    return Limits(element[order], number[order], groups.capacity, np.zeros(count, dtype=np.intp))


def _of_tree(tree: LaminarTree, part: int) -> Limits:
    sets = (np.flatnonzero((tree.leaf >= first) & (tree.leaf < end)) for first, end in enumerate(tree.end))
    return Limits.of(zip(sets, tree.capacity.tolist(), strict=True), part)


def violated_spans(
    matroid: Matroid, held: IndexArray, weights: FloatArray, point: FloatArray, part: int = 0
) -> Limits:
    """Return sets of which a fractional set holds more than fits, if there are any that weights point to.

    These are what the heaviest elements span, in connected parts. If the fractional set weighs more than any
    independent set, then it exceeds the rank of one of them (Edmonds 1971).

    >>> from swapwise import Graphic
    >>> triangle_and_tail = Graphic([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    >>> point, weights = np.array([1.0, 0.9, 0.9, 0.2]), np.array([4.0, 3.0, 2.0, 1.0])
    >>> violated_spans(triangle_and_tail, np.array([], dtype=int), weights, point)[:3]
    (array([0, 1, 2]), array([0, 0, 0]), array([2]))
    """
    rest = weights.copy()
    rest[held] = 0.0
    base = matroid.extend(held, heaviest_first(rest))
    if not len(base):
        return Limits.of([], part)
    rest[held] = np.inf
    turn = np.argsort(-rest[base], kind="stable")
    circuits = matroid._swap_mask(base)
    spanned = ~circuits[:, -1] & circuits.any(axis=1)
    circuits = circuits[:, turn]  # from the heaviest on
    base = base[turn]
    circuits[base] = np.eye(len(base), dtype=bool)
    spanned[base] = True
    # An element is spanned from the turn on that has the last of its circuit.
    last = np.where(spanned, len(base) - 1 - np.argmax(circuits[:, ::-1], axis=1), -1)
    in_turn = np.argsort(last, kind="stable")
    ends = np.searchsorted(last[in_turn], np.arange(len(base) + 1))
    component, found = np.arange(len(base)), []
    for now in range(len(base)):
        joined = np.logical_or.reduce(circuits[in_turn[ends[now] : ends[now + 1]]], axis=0)
        component[np.isin(component, component[joined])] = now
        rank = np.count_nonzero(component[: now + 1] == now)
        if rank == 1 and ends[now + 1] == ends[now] + 1:
            continue  # an element by itself
        known = in_turn[ends[0] : ends[now + 1]]
        members = known[component[last[known]] == now]
        if point[members].sum() > rank + VIOLATED:
            found.append((np.sort(members), rank))
    return Limits.of(found, part)
