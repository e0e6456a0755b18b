"""Elements of few groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count
from swapwise.clock import Clock
from swapwise.constraints.algorithms.few_groups import FewGroupsProblem
from swapwise.constraints.base import (
    IndependenceSystem,
    Inequalities,
    MaxWeight,
    MixedLimits,
    as_order,
    forced_among,
    names_of,
)
from swapwise.constraints.partition import number_labels, read_capacity, read_labels
from swapwise.moves import MoveList
from swapwise.override import override


class FewGroups(IndependenceSystem):
    """Elements from at most ``groups`` groups: three panels of markers, whatever is measured of each.

    At most ``capacity`` of each group, and at most ``size`` in all, if these are given. It is not a matroid.
    A move swaps one element for one, or drops all that is chosen of a group to make room for an element of
    another. There is no theorem on such a search; ``certify`` and ``exact`` prove how good its answer is.

    Parameters
    ----------
    labels : iterable of hashable, or mapping from name or position to hashable
        The group of each element, as in :class:`Partition`.
    groups : int
        How many groups may be touched.
    capacity : int or mapping from label to int, optional
        How many elements of each group may be chosen; no limit by default.
    size : int, optional
        How many elements may be chosen in all; no limit by default.

    Attributes
    ----------
    labels : list of hashable
        The different labels, in the order in which they first appear.
    names : list of str, or None

    See Also
    --------
    Partition : limits for each group, however many are touched.

    Examples
    --------
    >>> from swapwise import FewGroups
    >>> panels = FewGroups(["blood", "blood", "urine", "scan", "scan"], groups=2, size=3)
    >>> panels.is_independent([0, 1, 3]), panels.is_independent([0, 2, 3])
    (True, False)
    >>> panels.max_weight([3.0, 2.0, 4.0, 2.5, 2.0]).support
    array([0, 1, 2])
    """

    most_units = 1  # to drop a group makes room for an element of any other

    def __init__(
        self,
        labels: Iterable[Hashable] | Mapping[str, Hashable] | Mapping[int, Hashable],
        groups: int,
        capacity: int | Mapping[Any, int] | None = None,
        size: int | None = None,
    ) -> None:
        given, self.names = read_labels(labels)
        self._group, self.labels = number_labels(given)
        self.n = len(self._group)
        self.groups = as_count(groups, "groups")
        self.size = self.n if size is None else min(self.n, as_count(size, "size"))
        wanted = self.n if capacity is None else capacity
        self.capacity = read_capacity(wanted, self.labels)
        self._capacity = np.array([*self.capacity.values()], dtype=np.intp)

    @override
    def __repr__(self) -> str:
        size = "" if self.size == self.n else f", size={self.size}"
        return f"FewGroups(n={self.n}, {self.groups} of {len(self.labels)} groups{size})"

    @override
    def induced(self, elements: IndexArray) -> FewGroups:
        part = object.__new__(FewGroups)
        part.n, part.names = len(elements), names_of(self, elements)
        part.labels, part._group = self.labels, self._group[elements]
        part.groups, part.size = self.groups, min(self.size, len(elements))
        part.capacity, part._capacity = self.capacity, self._capacity
        part.forced = forced_among(self, elements)
        return part

    @override
    def truncate(self, size: int) -> FewGroups:
        other = self._forcing(self.forced)
        other.size = min(self.size, as_count(size, "size"))
        if other.size < len(self.forced):
            raise ValueError(
                f"size must leave room for the {len(self.forced)} elements that are forced in, got {size}"
            )
        return other

    @property
    def element_labels(self) -> list[Hashable]:
        """The label of every element."""
        return [self.labels[group] for group in self._group]

    def _counts(self, support: IndexArray) -> IndexArray:
        return np.bincount(self._group[self._with_forced(support)], minlength=len(self.labels))

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        counts = self._counts(support)
        is_small = counts.sum() <= self.size and np.count_nonzero(counts) <= self.groups
        return bool(is_small and (counts <= self._capacity).all())

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        counts = self._counts(support)
        is_open = counts < self._capacity
        if np.count_nonzero(counts) >= self.groups:
            is_open &= counts > 0
        addable = is_open[self._group] if counts.sum() < self.size else np.zeros(self.n, dtype=bool)
        addable[self.forced] = True
        addable[support] = False
        return addable

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        counts, chosen = self._counts(np.asarray(support, dtype=np.intp)), set(np.asarray(support).tolist())
        used, total, forced = np.count_nonzero(counts), int(counts.sum()), set(self.forced.tolist())
        held, group, capacity = counts.tolist(), self._group.tolist(), self._capacity.tolist()
        for element in as_order(order).tolist():
            own = group[element]
            if element in forced:
                chosen.add(element)
            if element in chosen or total >= self.size or held[own] >= capacity[own]:
                continue
            if held[own] == 0:
                if used >= self.groups:
                    continue
                used += 1
            held[own] += 1
            total += 1
            chosen.add(element)
        return np.array(sorted(chosen), dtype=np.intp)

    @override
    def max_size(self) -> int:
        sizes = np.minimum(np.bincount(self._group, minlength=len(self.labels)), self._capacity)
        touched = self._counts(self.forced[:0]) > 0
        free = np.sort(sizes[~touched])[::-1][: max(0, self.groups - int(touched.sum()))]
        return min(self.size, int(sizes[touched].sum() + free.sum()))

    # -- moves --------------------------------------------------------------------------------------

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        counts, group = self._counts(support), self._group
        used, total = np.count_nonzero(counts), counts.sum()
        is_new, has_room = counts[group] == 0, counts[group] < self._capacity[group]
        dropped = group[support]
        same, was_last = group[:, None] == dropped, counts[dropped] == 1
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        # With the last of its group gone, another group can come in, or the same one again.
        comes_new = is_new[:, None] | (same & was_last)
        feasible[:, :-1] = used - was_last + comes_new <= self.groups
        feasible[:, :-1] &= has_room[:, None] | (same & (self._capacity[group] > 0)[:, None])
        feasible[:, -1] = (used + is_new <= self.groups) & has_room & (total < self.size)
        feasible[self.forced] = True
        feasible[:, :-1][:, self._are_forced(support)] = False
        return feasible

    @override
    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        counts = np.append(self._counts(support), 0)
        change = np.append(np.ones(self.n), 0.0)
        change[self.forced] = 0.0
        touched = np.hstack([moves.added, moves.dropped])
        step = np.hstack([change[moves.added], -change[moves.dropped]])
        group = np.where(touched < 0, len(self.labels), np.append(self._group, 0)[touched])
        same = group[:, :, None] == group[:, None, :]
        after = counts[group] + (same * step[:, None, :]).sum(axis=2)
        earlier = np.tri(group.shape[1], k=-1, dtype=bool)
        is_first = ~(same & earlier).any(axis=2) & (touched >= 0)
        used = np.count_nonzero(counts) + (
            is_first * ((after > 0).astype(np.intp) - (counts[group] > 0))
        ).sum(axis=1)
        fits = (after <= np.append(self._capacity, 0)[group]) | (touched < 0)
        return (used <= self.groups) & fits.all(axis=1) & (counts.sum() + step.sum(axis=1) <= self.size)

    @override
    def mixed_limits(self) -> MixedLimits:
        most = np.array([self.groups, self.size], dtype=np.intp)
        # One label more, which no element has: a table of one label stands for no labels.
        room = np.append(self._capacity, 0)
        return MixedLimits.none(self.n)._replace(label=self._group, room=room, most=most)

    @override
    def _excludes(self, elements: IndexArray, others: IndexArray) -> BoolArray:
        if self.groups > 1 and self.size > 1 and (self._capacity > 1).all() and not len(self.forced):
            return np.zeros((len(elements), len(others)), dtype=bool)
        return super()._excludes(elements, others)

    @override
    def _units(self, support: IndexArray) -> list[IndexArray]:
        group = self._group[support]
        units = (support[group == each] for each in np.flatnonzero(np.bincount(group) > 1))
        return [unit for unit in units if not self._are_forced(unit).any()]

    # -- weights ------------------------------------------------------------------------------------

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return self._max_weight_holding(self.forced[weights[self.forced] > 0], weights, clock)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        others, problem = self._problem(held, weights)
        support = np.union1d(held, others[problem.heaviest()])
        return MaxWeight(support, float(weights[support].sum()))

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        others, problem = self._problem(held, weights)
        with_it, without = np.full((2, self.n), answer.upper_bound)
        certain = float(weights[held].sum())
        with_it[others], without[others] = (bound + certain for bound in problem.bounds())
        return with_it, without

    def _problem(self, held: IndexArray, weights: FloatArray) -> tuple[IndexArray, FewGroupsProblem]:
        """Return the elements that may be chosen beside those held, and the problem of choosing some."""
        counts = self._counts(held)
        may_come = weights >= 0
        may_come[self._with_forced(held)] = False
        others, touched = np.flatnonzero(may_come), counts > 0
        room = self._capacity - counts
        return others, FewGroupsProblem(
            weights[others],
            self._group[others],
            room,
            touched,
            max(0, self.groups - int(touched.sum())),
            max(0, self.size - int(counts.sum())),
        )

    @override
    def inequalities(self) -> Inequalities:
        n, count = self.n, len(self.labels)
        own = scipy.sparse.csr_array((np.ones(n), (np.arange(n), self._group)), shape=(n, count))
        every = scipy.sparse.eye_array(n)
        rows = [
            scipy.sparse.hstack([every, -own]),
            scipy.sparse.hstack([own.T, -scipy.sparse.diags_array(self._capacity.astype(float))]),
            scipy.sparse.csr_array(np.append(np.zeros(n), np.ones(count))[None, :]),
            scipy.sparse.csr_array(np.append(np.ones(n), np.zeros(count))[None, :]),
        ]
        limit = np.concatenate([np.zeros(n + count), [self.groups, self.size]]).astype(np.float64)
        return Inequalities(scipy.sparse.vstack(rows, format="csr"), limit)
