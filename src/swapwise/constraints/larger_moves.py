"""Moves beyond one for one, under constraints of any kind: built unit by unit, or listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.algorithms.exchanges import in_order, left_aligned, without_supersets
from swapwise.constraints.circuits import ListedLater
from swapwise.moves import NOTHING, MoveList, padded
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint

# Limit on the moves per level, for families that test sets one by one.
MOST_TESTED = 20_000

#: Scores of moves that only fall when more is dropped
Scores = Callable[[MoveList], FloatArray]


@dataclass(frozen=True, eq=False)
class _PartialMoves:
    """Moves under construction: what each adds, the unit it dropped last, and all that is dropped so far."""

    bundle: IndexArray  # the row of what is added
    last: IndexArray
    moves: MoveList

    def take(self, rows: IndexArray) -> _PartialMoves:
        return _PartialMoves(self.bundle[rows], self.last[rows], self.moves.take(rows))


class LargerMoves(ListedLater):
    """All moves that add one element, with its missing predecessors, and add or drop several in all.

    A move drops all chosen elements that exclude what is added, and besides up to ``most_units`` units (two,
    for most families), or as many as it adds elements: as few as make room. A unit is a chosen element with
    all that depend on it, or by itself if an added element can replace it, or a set that a family drops as a
    whole, such as the chosen elements of a group (:class:`~swapwise.FewGroups`).

    Larger drops score less. So :meth:`search` builds moves unit by unit, and prunes where a part scores too
    little.

    >>> from swapwise import Knapsack
    >>> list(LargerMoves(Knapsack([1.0, 1.0, 2.0, 3.0], 3.0), np.array([0, 1])).moves())
    [Move(added=(3,), dropped=(0, 1))]
    """

    constraint: Constraint
    support: IndexArray
    candidates: IndexArray | None

    def __init__(
        self, constraint: Constraint, support: IndexArray, candidates: IndexArray | None = None
    ) -> None:
        self._hold(constraint=constraint, support=support, candidates=candidates)

    @property
    @override
    def n_added(self) -> int:  # type: ignore[override]
        return self._added.shape[1]

    @property
    @override
    def effort(self) -> int:
        return max(2, self.n_added)

    @override
    def to_list(self) -> MoveList:
        return self._listed

    @cached_property
    def _listed(self) -> MoveList:
        found = [moves for moves, _ in self.search(lambda moves: np.zeros(len(moves)), -np.inf)]
        moves = MoveList.joined(found)
        # A unit of several may hold an element that makes room by itself.
        swaps = np.column_stack(
            [self.constraint._swap_mask(self.support)[:, :-1], np.zeros(self.constraint.n)]
        )
        places = np.where(moves.dropped >= 0, np.searchsorted(self.support, moves.dropped), len(self.support))
        is_needless = swaps[moves.added[:, :1], places].any(axis=1) & (moves.added[:, 1:] < 0).all(axis=1)
        moves = moves.take(np.flatnonzero(~is_needless))
        n_added = (moves.added >= 0).sum(axis=1)
        order = in_order(n_added, np.hstack([moves.added, moves.dropped]))
        return without_supersets(moves.take(order))

    def search(self, scores: Scores, least: float | FloatArray) -> Iterator[tuple[MoveList, FloatArray]]:
        """Yield moves that score more than ``least``, with their scores.

        ``least`` may have a number for each row of what is added, and may be raised while the generator runs.
        """
        level = self._nothing_dropped()
        for depth in range(-1, 1 + max(self.constraint.most_units, self._added.shape[1])):
            score = scores(level.moves)
            worth = np.flatnonzero(score > self._least_of(level, least))
            level, score = level.take(worth), score[worth]
            fits = self.constraint._feasible(self.support, level.moves)
            done = np.flatnonzero(fits & self._are_larger(level.moves))
            if len(done):
                yield level.moves.take(done), score[done]
            deep = depth < np.maximum(self.constraint.most_units, self._sizes[level.bundle])
            level = level.take(np.flatnonzero(~fits & deep))
            if not len(level.bundle):
                return
            level = self._without_excluded(level) if depth < 0 else self._with_more_units(level)

    def _least_of(self, level: _PartialMoves, least: float | FloatArray) -> float | FloatArray:
        return least[level.bundle] if isinstance(least, np.ndarray) and least.ndim else least

    @staticmethod
    def _are_larger(moves: MoveList) -> BoolArray:
        return ((moves.added >= 0).sum(axis=1) > 1) | ((moves.dropped >= 0).sum(axis=1) > 1)

    # -- what is added ------------------------------------------------------------------------------

    @cached_property
    def _added(self) -> IndexArray:
        """The elements that moves add, one row per set, padded and sorted."""
        constraint, support = self.constraint, self.support
        possible = constraint.joinable(constraint.forced)
        possible[support] = False
        elements = np.flatnonzero(possible)
        if self.candidates is not None:
            elements = np.intersect1d(elements, self.candidates)
        added = constraint._bundles(support, elements)
        if self.candidates is not None and added.shape[1] > 1:
            added = added[np.isin(added, np.append(self.candidates, NOTHING)).all(axis=1)]
        return added if constraint.hereditary else added[in_order((added >= 0).sum(axis=1), added)]

    @cached_property
    def _sizes(self) -> IndexArray:
        return (self._added >= 0).sum(axis=1)

    # -- what is dropped ----------------------------------------------------------------------------

    @cached_property
    def _units(self) -> IndexArray:
        """The elements that are dropped together, one row per unit, padded."""
        single = np.append(self.constraint.droppable(self.support), np.array([*self._substitutes], np.intp))
        return padded([*np.unique(single)[:, None], *self.constraint._units(self.support)])

    @cached_property
    def _substitutes(self) -> dict[int, IndexArray]:
        return self.constraint._substitutes(self.support)

    @cached_property
    def _may_drop(self) -> BoolArray:
        """Which units (columns) may be dropped for which added sets (rows): those needed only if replaced."""
        may_drop = np.ones((len(self._added), len(self._units)), dtype=bool)
        is_single = (self._units >= 0).sum(axis=1) == 1
        for unit in np.flatnonzero(is_single):
            takers = self._substitutes.get(int(self._units[unit, 0]))
            if takers is not None:
                takes = np.zeros(self.constraint.n + 1, dtype=bool)  # one more for padding to find
                takes[takers] = True
                may_drop[:, unit] = takes[self._added].any(axis=1)
        return may_drop

    def _nothing_dropped(self) -> _PartialMoves:
        added = self._added
        nothing = np.empty((len(added), 0), dtype=np.intp)
        return _PartialMoves(np.arange(len(added)), np.full(len(added), -1), MoveList(added, nothing))

    def _without_excluded(self, level: _PartialMoves) -> _PartialMoves:
        """Return the moves with all chosen elements dropped that what is added excludes."""
        chosen = np.setdiff1d(self.support, self.constraint.forced)
        excludes = np.zeros((len(level.bundle), len(chosen)), dtype=bool)
        for column in level.moves.added.T:
            there = np.flatnonzero(column >= 0)
            excludes[there] |= self.constraint._excludes(column[there], chosen)
        if not self.constraint.hereditary:  # dependants go as well, unless newcomers supply them
            for row in np.flatnonzero(excludes.any(axis=1)):
                added = level.moves.added[row]
                whole = np.union1d(self.support, added[added >= 0])
                kept = self.constraint.without(whole, chosen[excludes[row]])
                excludes[row] = ~np.isin(chosen, kept)
        width = int(excludes.sum(axis=1).max(initial=0))
        dropped = left_aligned(np.where(excludes, chosen, NOTHING), width)
        return _PartialMoves(level.bundle, level.last, MoveList(level.moves.added, dropped))

    def _with_more_units(self, level: _PartialMoves) -> _PartialMoves:
        """Return the moves with one more unit dropped, in the order of units."""
        units = self._units
        count = len(units) - 1 - level.last
        if type(self.constraint)._feasible is _test_of_each():
            count = count[np.cumsum(count) <= MOST_TESTED]
        row = np.repeat(np.arange(len(count)), count)
        unit = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count) + level.last[row] + 1
        allowed = self._may_drop[level.bundle[row], unit]
        row, unit = row[allowed], unit[allowed]
        dropped = level.moves.dropped[row]
        # A unit of which all is dropped already would change nothing.
        is_new = ~(units[unit][:, :, None] == dropped[:, None, :]).any(axis=2) & (units[unit] >= 0)
        fresh = is_new.any(axis=1)
        row, unit, is_new = row[fresh], unit[fresh], is_new[fresh]
        more = np.where(is_new, units[unit], NOTHING)
        both = np.hstack([dropped[fresh], more])
        both = left_aligned(both, int((both >= 0).sum(axis=1).max(initial=0)))
        return _PartialMoves(level.bundle[row], unit, MoveList(level.moves.added[row], both))


def _test_of_each() -> object:
    from swapwise.constraints.base import Constraint  # which imports this module

    return Constraint._feasible
