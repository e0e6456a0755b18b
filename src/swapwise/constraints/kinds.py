"""The kinds of limits that constraints are made of: places, labels, budgets and needs.

A kind knows nothing of what is forced in: it is asked about all that is chosen, forced elements among it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override

# Sums of costs are off by their last digits: a budget may be exceeded by this share.
ROUNDING = 1e-9

NO_GROUP = -2  # a group that no element has


class Inequalities(NamedTuple):
    """Linear inequalities ``matrix @ x ≤ limit`` whose solutions in zeros and ones are the independent sets.

    With lower limits, they are the sets that meet these. Columns beyond those of the elements are auxiliary
    variables, such as whether a group is touched; a set is independent if some values of these fit.
    """

    matrix: scipy.sparse.csr_array
    limit: FloatArray

    @classmethod
    def stacked(cls, several: Iterable[Inequalities], n: int) -> Inequalities:
        """Return all of several inequalities on n elements; each has auxiliary variables of its own."""
        given = list(several)
        if len(given) == 1:
            return given[0]
        before = np.cumsum([0, *(own.matrix.shape[1] - n for own in given)])
        rows = [scipy.sparse.csr_array((0, n + int(before[-1])))]
        for own, begin in zip(given, before, strict=False):
            entries = own.matrix.tocoo()
            column = np.where(entries.col < n, entries.col, entries.col + begin)
            shape = own.matrix.shape[0], n + int(before[-1])
            rows.append(scipy.sparse.csr_array((entries.data, (entries.row, column)), shape=shape))
        limits = np.concatenate([np.empty(0), *(own.limit for own in given)])
        return cls(scipy.sparse.vstack(rows, format="csr"), limits)


class LaminarTree(NamedTuple):
    """Limits on nested sets, as plain arrays for kernels.

    The sets form a tree whose root, node 0, is the ground set. Nodes are numbered in preorder: the subtree of
    node t is the range ``t .. end[t] - 1``, and an element is in the set t if and only if its ``leaf``, its
    smallest set, lies in that range.

    A set demands as many places as its elements and the sets within it demand together, or as its lower limit
    says if that is more. A support is independent if no set demands more than its capacity; it can then be
    completed.
    """

    leaf: IndexArray  #: the smallest set of each element
    end: IndexArray  #: of each set, where its subtree ends
    parent: IndexArray  #: of each set, the smallest set around it; of the root, itself
    capacity: IndexArray  #: of each set, how many of its elements may be chosen
    at_least: IndexArray  #: of each set, how many of its elements must be chosen

    def rows(self) -> Inequalities:
        """Return limits on nested sets, without those that never bind."""
        rows, limits = [scipy.sparse.csr_array((0, len(self.leaf)))], list[int]()
        for node, (end, most, least) in enumerate(zip(self.end, self.capacity, self.at_least, strict=True)):
            members = (self.leaf >= node) & (self.leaf < end)
            if members.sum() > most:
                rows.append(scipy.sparse.csr_array(members[None, :], dtype=np.float64))
                limits.append(most)
            if least:
                rows.append(scipy.sparse.csr_array(-1.0 * members[None, :]))
                limits.append(-least)
        return Inequalities(scipy.sparse.vstack(rows, format="csr"), np.array(limits, dtype=np.float64))

    @property
    def is_flat(self) -> bool:
        """Whether no limit but those of disjoint sets binds: that on all beside sets without a place does."""
        is_closed = not self.capacity[1:].any()
        return bool((self.parent == 0).all() and (is_closed or self.capacity[0] >= len(self.leaf)))

    def places(self) -> Places:
        """Return the upper limits as places: the sets that an element is in are its groups."""
        columns, node = [self.leaf], self.leaf
        while not self.is_flat and (node > 0).any():
            node = np.where(node > 0, self.parent[np.maximum(node, 0)], NOTHING)
            columns.append(node)
        return Places(np.column_stack(columns), self.capacity)


class MixedLimits(NamedTuple):
    """Limits of several kinds at once, as plain arrays for kernels: on groups, on labels, and budgets."""

    groups: IndexArray  #: the groups of each element, one per column, padded with -1
    capacity: IndexArray  #: of each group, how many of its elements may be chosen
    label: IndexArray  #: of each element
    room: IndexArray  #: of each label, how many of its elements may be chosen
    most: IndexArray  #: the largest numbers of labels and of elements that may be chosen
    shares: FloatArray  #: the shares of each budget that elements take, one row per budget
    budget: FloatArray

    @classmethod
    def none(cls, n: int) -> MixedLimits:
        """Return limits that allow every set, for some of them to be replaced."""
        nowhere, same, most = np.full((n, 1), NOTHING), np.zeros(n, dtype=np.intp), np.array([1, n])
        return cls(nowhere, same[:0], same, most[1:], most, np.empty((0, n)), np.empty(0))


class Kind(ABC):
    """Limits of one kind on the elements ``0 .. n-1``; ``chosen`` are those of a set that they allow."""

    #: Whether every subset of an allowed set is allowed
    hereditary = True

    @abstractmethod
    def allows(self, chosen: IndexArray) -> bool:
        """Return whether a set is within the limits."""

    @abstractmethod
    def additions(self, chosen: IndexArray) -> BoolArray:
        """Return which elements can be added; entries of chosen ones do not matter."""

    def joinable(self, chosen: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        """Return which elements may be in an allowed set with some, and with none ``outside``.

        Entries of chosen ones, and of those outside, do not matter.
        """
        return self.additions(chosen)

    @abstractmethod
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        """Return which elements (rows) can come for each of ``drops`` (columns), which are chosen.

        The last column is whether they can come with nothing dropped.
        """

    @abstractmethod
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        """Return which moves lead to an allowed set; they add what is not chosen, and drop what is."""

    @abstractmethod
    def among(self, elements: IndexArray) -> Self:
        """Return the limits on some elements, which get new numbers: their places in ``elements``."""

    @abstractmethod
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        """Return which of some elements (rows) are in no allowed set with ``held`` and which of others.

        None of both is held.
        """

    def units(self, chosen: IndexArray) -> list[IndexArray]:
        """Return sets of several chosen elements that moves drop together."""
        return []

    @abstractmethod
    def rows(self) -> Inequalities | None:
        """Return linear inequalities whose solutions in zeros and ones are the allowed sets, if known."""

    @abstractmethod
    def joined(self, limits: MixedLimits) -> MixedLimits | None:
        """Return limits for kernels with these among them, or None if kernels do not know both."""

    @abstractmethod
    def most(self, chosen: IndexArray) -> int:
        """Return how many more elements can be chosen, at most."""


@dataclass(frozen=True, eq=False)
class Budgets(Kind):
    """The costs of what is chosen, one row per budget, must not exceed it in sum."""

    costs: FloatArray
    budget: FloatArray

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each budget that each element takes."""
        return self.costs / np.where(self.budget > 0, self.budget, 1.0)[:, None]

    @cached_property
    def share_limit(self) -> FloatArray:
        return np.where(self.budget > 0, 1.0 + ROUNDING, 0.0)

    def left(self, chosen: IndexArray) -> FloatArray:
        return self.share_limit - self.shares[:, chosen].sum(axis=1)

    @override
    def allows(self, chosen: IndexArray) -> bool:
        return bool((self.left(chosen) >= 0).all())

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        return np.logical_and.reduce(self.shares <= self.left(chosen)[:, None], axis=0)

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        freed = np.append(self.shares[:, drops], np.zeros((len(self.shares), 1)), axis=1)
        freed += self.left(chosen)[:, None]
        feasible = np.ones((self.shares.shape[1], len(drops) + 1), dtype=bool)
        for own, most in zip(self.shares, freed, strict=True):
            feasible &= own[:, None] <= most
        return feasible

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        feasible = np.ones(len(moves), dtype=bool)
        for own, left in zip(self.shares, self.left(chosen), strict=True):
            feasible &= moves.sums(moves.added, own) - moves.sums(moves.dropped, own) <= left
        return feasible

    @override
    def among(self, elements: IndexArray) -> Budgets:
        return replace(self, costs=self.costs[:, elements])

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        excludes = np.zeros((len(elements), len(others)), dtype=bool)
        for own, left in zip(self.shares, self.left(held), strict=True):
            excludes |= own[elements][:, None] + own[others] > left
        return excludes

    @override
    def rows(self) -> Inequalities:
        return Inequalities(scipy.sparse.csr_array(self.shares), self.share_limit)

    @override
    def joined(self, limits: MixedLimits) -> MixedLimits:
        return limits._replace(
            shares=np.vstack([limits.shares, self.shares]), budget=np.append(limits.budget, self.share_limit)
        )

    @override
    def most(self, chosen: IndexArray) -> int:
        rising = np.cumsum(np.sort(np.delete(self.shares, chosen, axis=1), axis=1), axis=1)
        counts = (rising <= self.left(chosen)[:, None]).sum(axis=1)
        return int(counts.min(initial=rising.shape[1]))


@dataclass(frozen=True, eq=False)
class Places(Kind):
    """Each element takes a place in each of its groups, and a group has limited places."""

    groups: IndexArray  #: of each element, one per column, padded with -1
    capacity: IndexArray  #: of each group, how many of its elements may be chosen

    def room(self, chosen: IndexArray) -> IndexArray:
        """Return the places that each group has left, and an endless entry for padding to find."""
        taken = self.groups[chosen]
        counts = np.bincount(taken[taken >= 0], minlength=len(self.capacity))
        return np.append(self.capacity - counts, np.iinfo(np.intp).max // 2)

    @override
    def allows(self, chosen: IndexArray) -> bool:
        return bool((self.room(chosen) >= 0).all())

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        return np.logical_and.reduce(self.room(chosen)[self.groups] > 0, axis=1)

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        feasible, room = np.ones((len(self.groups), len(drops) + 1), dtype=bool), self.room(chosen)
        taken = self.with_padding[np.append(drops, NOTHING)]
        for groups in self.groups.T:
            full = np.flatnonzero(room[groups] <= 0)
            helps = np.logical_or.reduce(groups[full, None, None] == taken, axis=2)
            feasible[full] &= helps & (self.capacity[groups[full]] > 0)[:, None]
        return feasible

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        room, feasible = self.room(chosen), np.ones(len(moves), dtype=bool)
        added, dropped = self.with_padding[moves.added], self.with_padding[moves.dropped]
        for place in range(added.shape[1]):
            for groups in added[:, place].T:
                more = np.count_nonzero(added == groups[:, None, None], axis=(1, 2))
                less = np.count_nonzero(dropped == groups[:, None, None], axis=(1, 2))
                feasible &= (groups < 0) | (more - less <= room[np.maximum(groups, NOTHING)])
        return feasible

    @cached_property
    def with_padding(self) -> IndexArray:
        """The groups, and a last row for padding to find: "no element" is in no group at all."""
        return np.vstack([self.groups, np.full((1, self.groups.shape[1]), NO_GROUP)])

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        single = self.room(held) == 1
        excludes = np.zeros((len(elements), len(others)), dtype=bool)
        for groups in self.groups[elements].T:
            own = np.where(single[groups], groups, NO_GROUP)
            excludes |= np.logical_or.reduce(own[:, None, None] == self.groups[others], axis=2)
        return excludes

    @override
    def among(self, elements: IndexArray) -> Places:
        return replace(self, groups=self.groups[elements])

    @override
    def rows(self) -> Inequalities:
        element, column = np.nonzero(self.groups >= 0)
        entries = np.ones(len(element)), (self.groups[element, column], element)
        matrix = scipy.sparse.csr_array(entries, shape=(len(self.capacity), len(self.groups)))
        return Inequalities(matrix, self.capacity.astype(np.float64))

    def beside(self, others: Places) -> Places:
        """Return both limits as one."""
        more = np.where(others.groups < 0, NOTHING, others.groups + len(self.capacity))
        return Places(np.hstack([self.groups, more]), np.append(self.capacity, others.capacity))

    @override
    def joined(self, limits: MixedLimits) -> MixedLimits:
        both = self
        if len(limits.capacity):
            both = Places(limits.groups, limits.capacity).beside(self)
        return limits._replace(groups=both.groups, capacity=both.capacity)

    @override
    def most(self, chosen: IndexArray) -> int:
        """Return a bound on how many more can be chosen, exact if no element is in two groups.

        An element uses as many places as it has groups, so the elements with the fewest groups bound how
        many fit; and in each column of ``groups`` alone no group gets more than its places.
        """
        others = self.additions(chosen)
        others[chosen] = False
        room, groups = self.room(chosen)[:-1], self.groups[others]
        used = np.sort((groups >= 0).sum(axis=1))
        bounds = [int(np.searchsorted(np.cumsum(used), _places_for(groups, room), side="right"))]
        for column in groups.T:
            bounds.append(int((column < 0).sum()) + _places_for(column, room))
        return min(bounds)


def _places_for(groups: IndexArray, room: IndexArray) -> int:
    wanted = np.bincount(groups[groups >= 0], minlength=len(room))
    return int(np.minimum(wanted, room).sum())


@dataclass(frozen=True, eq=False)
class Size(Kind):
    """At most ``size`` elements."""

    n: int
    size: int

    @override
    def allows(self, chosen: IndexArray) -> bool:
        return len(chosen) <= self.size

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        return np.full(self.n, len(chosen) < self.size)

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        feasible = np.ones((self.n, len(drops) + 1), dtype=bool)
        feasible[:, -1] = len(chosen) < self.size
        return feasible

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        change = (moves.added >= 0).sum(axis=1) - (moves.dropped >= 0).sum(axis=1)
        return np.asarray(len(chosen) + change <= self.size)

    @override
    def among(self, elements: IndexArray) -> Size:
        return Size(len(elements), min(self.size, len(elements)))

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        return np.full((len(elements), len(others)), len(held) + 2 > self.size)

    @override
    def rows(self) -> Inequalities:
        return Inequalities(scipy.sparse.csr_array(np.ones((1, self.n))), np.array([float(self.size)]))

    @override
    def joined(self, limits: MixedLimits) -> MixedLimits:
        most, size = limits.most
        return limits._replace(most=np.array([most, min(size, self.size)], dtype=np.intp))

    @override
    def most(self, chosen: IndexArray) -> int:
        return max(0, self.size - len(chosen))


@dataclass(frozen=True, eq=False)
class Labels(Kind):
    """Elements of at most ``groups`` labels, and of each label at most its ``room``."""

    label: IndexArray
    room: IndexArray
    groups: int

    def counts(self, chosen: IndexArray) -> IndexArray:
        return np.bincount(self.label[chosen], minlength=len(self.room))

    @override
    def allows(self, chosen: IndexArray) -> bool:
        counts = self.counts(chosen)
        return bool(np.count_nonzero(counts) <= self.groups and (counts <= self.room).all())

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        counts = self.counts(chosen)
        is_open = counts < self.room
        if np.count_nonzero(counts) >= self.groups:
            is_open &= counts > 0
        return is_open[self.label]

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        counts, label = self.counts(chosen), self.label
        used, dropped = np.count_nonzero(counts), label[drops]
        is_new, has_room = counts[label] == 0, counts[label] < self.room[label]
        same, was_last = label[:, None] == dropped, counts[dropped] == 1
        feasible = np.empty((len(label), len(drops) + 1), dtype=bool)
        # With the last of its label gone, another label can come in, or the same one again.
        comes_new = is_new[:, None] | (same & was_last)
        feasible[:, :-1] = used - was_last + comes_new <= self.groups
        feasible[:, :-1] &= has_room[:, None] | (same & (self.room[label] > 0)[:, None])
        feasible[:, -1] = (used + is_new <= self.groups) & has_room
        return feasible

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        counts = np.append(self.counts(chosen), 0)
        touched = np.hstack([moves.added, moves.dropped])
        step = np.hstack([np.where(moves.added >= 0, 1, 0), np.where(moves.dropped >= 0, -1, 0)])
        label = np.where(touched < 0, len(self.room), np.append(self.label, 0)[touched])
        same = label[:, :, None] == label[:, None, :]
        after = counts[label] + (same * step[:, None, :]).sum(axis=2)
        is_first = ~(same & np.tri(label.shape[1], k=-1, dtype=bool)).any(axis=2) & (touched >= 0)
        change = (is_first * ((after > 0).astype(np.intp) - (counts[label] > 0))).sum(axis=1)
        fits = (after <= np.append(self.room, 0)[label]) | (touched < 0)
        return (np.count_nonzero(counts) + change <= self.groups) & fits.all(axis=1)

    @override
    def among(self, elements: IndexArray) -> Labels:
        return replace(self, label=self.label[elements])

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        counts, one, other = self.counts(held), self.label[elements][:, None], self.label[others]
        same, is_new = one == other, counts == 0
        many = np.count_nonzero(counts) + is_new[one] + (is_new[other] & ~same) > self.groups
        full = (counts[one] + 1 + same > self.room[one]) | (counts[other] + 1 > self.room[other])
        return np.asarray(many | full, dtype=bool)

    @override
    def rows(self) -> Inequalities:
        n, count = len(self.label), len(self.room)
        own = scipy.sparse.csr_array((np.ones(n), (np.arange(n), self.label)), shape=(n, count))
        rows = [
            scipy.sparse.hstack([scipy.sparse.eye_array(n), -own]),
            scipy.sparse.hstack([own.T, -scipy.sparse.diags_array(self.room.astype(float))]),
            scipy.sparse.csr_array(np.append(np.zeros(n), np.ones(count))[None, :]),
        ]
        limit = np.append(np.zeros(n + count), float(self.groups))
        return Inequalities(scipy.sparse.vstack(rows, format="csr"), limit)

    @override
    def joined(self, limits: MixedLimits) -> MixedLimits | None:
        if len(limits.room) > 1:  # there can be one kind of labels only
            return None
        # One label more, which no element has: a table of one label stands for no labels.
        room, most = np.append(self.room, 0), np.array([self.groups, limits.most[1]], dtype=np.intp)
        return limits._replace(label=self.label, room=room, most=most)

    @override
    def most(self, chosen: IndexArray) -> int:
        counts = self.counts(chosen)
        left = np.minimum(np.bincount(self.label, minlength=len(counts)), self.room) - counts
        free = np.sort(left[counts == 0])[::-1][: max(0, self.groups - np.count_nonzero(counts))]
        return int(left[counts > 0].sum() + free.sum())

    @override
    def units(self, chosen: IndexArray) -> list[IndexArray]:
        label = self.label[chosen]
        return [chosen[label == each] for each in np.flatnonzero(np.bincount(label) > 1)]
