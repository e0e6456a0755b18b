"""Bounds by summands from all of their sets or, if these are too many, from those that can matter."""

from __future__ import annotations

import numpy as np

from swapwise.certify.nodes import Observer
from swapwise.certify.set_table import SetPrices, SetTable, UnlistedSets
from swapwise.certify.subsets import ListedSets, SubsetSearch, TooManySets, WorkBudget
from swapwise.certify.summands import SummandNode, complete_table
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SparseObjective, Summand

# The share of the time for the first lists; if they fail, other bounds have the rest.
SHARE_OF_TIME = 0.6

# Lists reach DEEPER times as far below the best of each summand as those before, and at least SHALLOWEST
# times the slack.
DEEPER, SHALLOWEST = 2.0, 0.05


def summand_node(
    objective: SparseObjective, region: Region, support: IndexArray, clock: Clock, observe: Observer
) -> SummandNode | None:
    """Return the root, bounded by summands; None if there are none, or too many sets."""
    blocks = objective.summands(objective.coef(support))
    if not blocks:
        return None
    table = complete_table(blocks, region, clock)
    if table is not None:
        return SummandNode(objective, table, region)
    lists = SummandLists(objective, blocks, region, support, observe)
    try:
        lists.begin(clock.share(SHARE_OF_TIME))
        return lists.node(clock)
    except (OutOfTime, TooManySets):
        clock.check()
        return None


class SummandLists:
    """Lists, for every summand, the parts of all sets that are better than the answer.

    Relative to its maximum, a summand must not lose more than the sum of all maxima exceeds the answer. Good
    prices make that small, so they come first: from short lists, and bounds on all other sets.
    """

    def __init__(
        self,
        objective: SparseObjective,
        blocks: list[Summand],
        region: Region,
        support: IndexArray,
        observe: Observer,
    ) -> None:
        self._objective, self._blocks, self._region = objective, blocks, region
        self._observe, self._work = observe, WorkBudget()
        self._support, self._value = support, objective._value(support)
        self._sizes = np.array([self._largest(block) for block in blocks])
        self._own = [np.flatnonzero(np.isin(block.elements, support)) for block in blocks]
        self._values = np.array(
            [block.bounds(own[None])[0] for block, own in zip(blocks, self._own, strict=True)]
        )
        none = [ListedSets(np.zeros((0, 0), dtype=np.intp), np.zeros(0), np.inf) for _ in blocks]
        self._empty = self._table(none)
        self.prices, self.lists, self._depth = self._empty.no_prices(), none, 0.0
        self._begin = np.searchsorted(self._empty.owner, np.arange(len(blocks) + 1))

    def _largest(self, block: Summand) -> int:
        members = np.zeros(self._region.constraint.n)
        members[block.elements] = 1.0
        most = self._region.heaviest(members).upper_bound
        return min(int(most + 0.5), len(block.elements))

    def _table(
        self, lists: list[ListedSets], floor: float = -np.inf, rest: UnlistedSets | None = None
    ) -> SetTable:
        elements, constraint = [block.elements for block in self._blocks], self._region.constraint
        return SetTable(elements, lists, constraint.n, constraint.max_size(), floor, rest)

    def _of(self, v: int, copies: FloatArray) -> FloatArray:
        return copies[self._begin[v] : self._begin[v + 1]]

    def begin(self, clock: Clock) -> None:
        worth = self._relax(clock)
        self.prices = prices = self._first_prices(clock)
        own = self._values + [self._of(v, prices.copies)[at].sum() for v, at in enumerate(self._own)]
        self._depth = self._reach(worth)
        self.lists = self._list(own - self._depth, clock)
        self._observe(SummandNode.kind, self._value + self._slack())

    def node(self, clock: Clock) -> SummandNode:
        if self._slack() > EQUAL * abs(self._value):
            self._improve(clock)
        slack, best = self._slack(), self._best()
        # Other sets lose at least ``lost``, and so exceed the answer by at most ``slack − lost``.
        lost = min(float(peak - each.threshold) for peak, each in zip(best, self.lists, strict=True))
        floor = self._value + max(0.0, slack - lost)
        return SummandNode(self._objective, self._table(self.lists, floor), self._region, prices=self.prices)

    def _relax(self, clock: Clock) -> FloatArray:
        """Observe a first bound, by every summand without a search; return the worth of copies."""
        maxima, worth = np.zeros(len(self._blocks)), np.zeros(self._empty.n_copies)
        for v, block in enumerate(self._blocks):
            clock.check()
            held, candidates = self._positions(block)
            room = min(max(0, self._sizes[v] - len(held)), len(candidates))
            found = block.bound_among(held, candidates, (0, room), np.zeros(len(candidates)))
            maxima[v], self._of(v, worth)[candidates] = found
        self._observe(SummandNode.kind, self._empty.total(maxima, self._empty.no_prices()))
        return worth

    def _reach(self, worth: FloatArray) -> float:
        """Return how far below the answer the first lists go: the worth of other sets of its size."""
        left = np.minimum(worth, np.abs(worth + self.prices.copies[:-1]))
        reach = 0.0
        for v, own in enumerate(self._own):
            others = np.sort(np.delete(self._of(v, left), own))[::-1]
            reach += float(others[: self._sizes[v]].sum())
        return reach / len(self._blocks) + EQUAL * abs(self._value)

    def _slack(self) -> float:
        return self._empty.total(self._best(), self.prices) - self._value

    def _positions(self, block: Summand) -> tuple[IndexArray, IndexArray]:
        inside, outside = self._region.inside[block.elements], self._region.outside[block.elements]
        return np.flatnonzero(inside), np.flatnonzero(~(inside | outside))

    # -- prices -------------------------------------------------------------------------------------

    def _first_prices(self, clock: Clock) -> SetPrices:
        """Return prices at which no more elements would be chosen, if the answer has as many as it may."""
        table, region = self._empty, self._region
        chosen, free = region.inside.copy(), ~region.outside & (table.n_copies_of > 0)
        chosen[self._support] = True
        for block, own, size in zip(self._blocks, self._own, self._sizes, strict=True):
            free[block.elements] &= len(own) < size
        free &= ~chosen
        if len(self._support) < table.size or not free.any():
            return table.no_prices()
        gains, losses = self._gains_and_losses(clock)
        total = max(0.0, float(gains[free].max() + losses[chosen].min()) / 2)
        copies = -total / table.n_copies_of[table.element]
        return SetPrices(np.append(copies, 0.0), total)

    def _gains_and_losses(self, clock: Clock) -> tuple[FloatArray, FloatArray]:
        gains, losses = np.zeros((2, self._region.constraint.n))
        for block, own, value in zip(self._blocks, self._own, self._values, strict=True):
            clock.check()
            others = np.setdiff1d(np.arange(len(block.elements)), own)
            more = np.column_stack([np.tile(own, (len(others), 1)), others])
            gains[block.elements[others]] += block.bounds(more) - value
            fewer = np.array([np.delete(own, at) for at in range(len(own))], dtype=np.intp)
            losses[block.elements[own]] += value - block.bounds(fewer.reshape(len(own), max(0, len(own) - 1)))
        return gains, losses

    def _improve(self, clock: Clock) -> None:
        while True:
            table = self._table(self.lists, rest=self._rest())
            node = SummandNode(self._objective, table, self._region, prices=self.prices)
            node.observe = self._observe
            choice = node.improve_prices(self._value, clock)
            self.prices = node.prices
            slack = max(0.0, choice.bound - self._value)
            known = table.rest_bounds(self.prices)[0] <= choice.maxima - slack
            self._depth = slack if known.all() else min(slack, max(DEEPER * self._depth, SHALLOWEST * slack))
            self._list_anew(choice.maxima - self._depth, known, clock)
            if self._depth >= slack:
                return

    def _rest(self) -> UnlistedSets:
        return UnlistedSets(
            np.array([each.threshold for each in self.lists]), self.prices.copies, self._sizes
        )

    def _list_anew(self, thresholds: FloatArray, known: BoolArray, clock: Clock) -> None:
        missing = iter(self._list(thresholds, clock, np.flatnonzero(~known)))
        self.lists = [
            self._shortened(v, thresholds[v]) if known[v] else next(missing) for v in range(len(known))
        ]

    # -- lists --------------------------------------------------------------------------------------

    def _list(
        self, thresholds: FloatArray, clock: Clock, which: IndexArray | None = None
    ) -> list[ListedSets]:
        lists = []
        for v in range(len(self._blocks)) if which is None else which.tolist():
            block, own = self._blocks[v], self._of(v, self.prices.copies)
            search = SubsetSearch(block, own, int(self._sizes[v]), thresholds[v], clock, self._work)
            lists.append(search.run(*self._positions(block)))
        return lists

    def _shortened(self, v: int, threshold: float) -> ListedSets:
        listed = self.lists[v]
        kept = self._priced(v, listed) > threshold
        return ListedSets(listed.subsets[kept], listed.bounds[kept], float(threshold))

    def _priced(self, v: int, listed: ListedSets) -> FloatArray:
        own = np.append(self._of(v, self.prices.copies), 0.0)
        priced: FloatArray = listed.bounds + own[listed.subsets].sum(axis=1)
        return priced

    def _best(self) -> FloatArray:
        return np.array(
            [self._priced(v, each).max(initial=each.threshold) for v, each in enumerate(self.lists)]
        )
