"""Elements of few groups."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count
from swapwise.clock import Clock
from swapwise.constraints.algorithms.few_groups import FewGroupsProblem
from swapwise.constraints.base import IndependenceSystem, MaxWeight
from swapwise.constraints.kinds import Labels, Size
from swapwise.constraints.limits import Limits
from swapwise.constraints.partition import number_labels, read_capacity, read_labels
from swapwise.override import override


class FewGroups(Limits, IndependenceSystem):
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
        label, self.labels = number_labels(given)
        n = len(label)
        self.capacity = read_capacity(n if capacity is None else capacity, self.labels)
        room = np.array([*self.capacity.values()], dtype=np.intp)
        most = n if size is None else min(n, as_count(size, "size"))
        self._hold(n, Labels(label, room, as_count(groups, "groups")), Size(n, most))

    @property
    def _labels(self) -> Labels:
        return cast(Labels, self.kinds[0])

    @property
    def groups(self) -> int:
        return self._labels.groups

    @property
    def size(self) -> int:
        return cast(Size, self.kinds[1]).size

    @override
    def __repr__(self) -> str:
        size = "" if self.size == self.n else f", size={self.size}"
        return f"FewGroups(n={self.n}, {self.groups} of {len(self.labels)} groups{size})"

    @property
    def element_labels(self) -> list[Hashable]:
        """The label of every element."""
        return [self.labels[label] for label in self._labels.label]

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
        labels = self._labels
        counts, may_come = labels.counts(self._with_forced(held)), weights >= 0
        may_come[self._with_forced(held)] = False
        others, touched = np.flatnonzero(may_come), counts > 0
        return others, FewGroupsProblem(
            weights[others],
            labels.label[others],
            labels.room - counts,
            touched,
            max(0, labels.groups - int(touched.sum())),
            max(0, self.size - int(counts.sum())),
        )
