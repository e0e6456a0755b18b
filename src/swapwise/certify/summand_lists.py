"""Where bounding by summands begins: all of their sets or, if these are too many, those that can matter."""

from __future__ import annotations

import numpy as np

from swapwise.certify.nodes import Observer
from swapwise.certify.set_table import Rest, SetPrices, SetTable
from swapwise.certify.subsets import Listed, SubsetSearch, TooManySets, Work
from swapwise.certify.summands import SummandNode, complete_table
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.region import Region
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SparseObjective, Summand

# The search for sets that matter may take this share of the time; without success, other bounds have the rest.
SHARE_OF_TIME = 0.6

# Lists for the first prices reach this many times as far below the answer as a summand would gain without it.
REACH = 2.0


def summand_node(
    objective: SparseObjective, region: Region, support: IndexArray, clock: Clock, observe: Observer
) -> SummandNode | None:
    """Return the node of all independent sets, bounded by summands; None if there are none, or too many sets.

    ``support`` is a good set, at which summands are to agree.
    """
    blocks = objective.summands(objective.coef(support))
    if not blocks:
        return None
    table = complete_table(blocks, region, clock)
    if table is not None:
        return SummandNode(objective, table, region)
    try:
        return SummandLists(objective, blocks, region, support, clock.share(SHARE_OF_TIME), observe).node()
    except (OutOfTime, TooManySets):
        clock.check()
        return None


class SummandLists:
    """Lists, for every summand, the sets that it may see of a set that is better than the answer.

    With the others at their best, a summand must not lose more than all of them are above the answer. Good
    prices leave little of that, so they come first: from short lists, and what is known of all other sets.
    """

    def __init__(
        self,
        objective: SparseObjective,
        blocks: list[Summand],
        region: Region,
        support: IndexArray,
        clock: Clock,
        observe: Observer,
    ) -> None:
        self._objective, self._blocks, self._region = objective, blocks, region
        self._clock, self._observe, self._work = clock, observe, Work()
        self._support, self._value = support, objective._value(support)
        self._sizes = np.array([self._largest(block) for block in blocks])
        self._own = [np.flatnonzero(np.isin(block.elements, support)) for block in blocks]
        self._values = np.array([block.bounds(own[None])[0] for block, own in zip(blocks, self._own, strict=True)])
        none = [Listed(np.zeros((0, 0), dtype=np.intp), np.zeros(0), np.inf) for _ in blocks]
        self._empty = self._table(none)
        self._begin = np.searchsorted(self._empty.owner, np.arange(len(blocks) + 1))

    def _largest(self, block: Summand) -> int:
        """Return how many of a summand's elements a set has at most."""
        members = np.zeros(self._region.constraint.n)
        members[block.elements] = 1.0
        most = self._region.heaviest(members).upper_bound
        return min(int(most + 0.5), len(block.elements))

    def _table(self, lists: list[Listed], floor: float = -np.inf, rest: Rest | None = None) -> SetTable:
        elements, constraint = [block.elements for block in self._blocks], self._region.constraint
        return SetTable(elements, lists, constraint.n, constraint.max_size(), floor, rest)

    def _of(self, v: int, copies: FloatArray) -> FloatArray:
        """Return what belongs to the copies of one summand."""
        return copies[self._begin[v] : self._begin[v + 1]]

    def node(self) -> SummandNode:
        """Return the node of all independent sets."""
        self._relax()
        prices = self._first_prices()
        own = self._values + [self._of(v, prices.copies)[at].sum() for v, at in enumerate(self._own)]
        lists = self._list(prices, own - EQUAL * abs(self._value) / len(own))
        best = self._best(lists, prices)
        slack = self._empty.total(best, prices) - self._value
        if slack > EQUAL * abs(self._value):
            lists = self._list(prices, own - min(slack, REACH * float((best - own).max())))
            lists, prices = self._with_better_prices(lists, prices)
            best = self._best(lists, prices)
            slack = self._empty.total(best, prices) - self._value
        # What is not in the lists loses this much, and may be above the answer by the rest.
        lost = min(float(peak - each.threshold) for peak, each in zip(best, lists, strict=True))
        floor = self._value + max(0.0, slack - lost)
        return SummandNode(self._objective, self._table(lists, floor), self._region, prices=prices)

    def _relax(self) -> None:
        """Bound every summand without a search: a first bound, in case there is no time for more."""
        maxima = []
        for block, size in zip(self._blocks, self._sizes, strict=True):
            self._clock.check()
            held, candidates = self._positions(block)
            maxima.append(block.bound_among(held, candidates, max(0, size - len(held)))[0])
        self._observe(SummandNode.kind, self._empty.total(np.array(maxima), self._empty.no_prices()))

    def _positions(self, block: Summand) -> tuple[IndexArray, IndexArray]:
        """Return which of a summand's elements all sets have, and which some sets may have."""
        inside, outside = self._region.inside[block.elements], self._region.outside[block.elements]
        return np.flatnonzero(inside), np.flatnonzero(~(inside | outside))

    # -- prices -------------------------------------------------------------------------------------

    def _first_prices(self) -> SetPrices:
        """Return prices at which no more elements would be taken, if the answer has as many as it may."""
        table, region = self._empty, self._region
        chosen, free = region.inside.copy(), ~region.outside & (table.n_copies_of > 0)
        chosen[self._support] = True
        for block, own, size in zip(self._blocks, self._own, self._sizes, strict=True):
            free[block.elements] &= len(own) < size
        free &= ~chosen
        if len(self._support) < table.size or not free.any():
            return table.no_prices()
        gains, losses = self._gains_and_losses()
        total = max(0.0, float(gains[free].max() + losses[chosen].min()) / 2)
        copies = -total / table.n_copies_of[table.element]
        return SetPrices(np.append(copies, 0.0), total)

    def _gains_and_losses(self) -> tuple[FloatArray, FloatArray]:
        """Return about what each element would add to the answer, and what the answer loses without it."""
        gains, losses = np.zeros((2, self._region.constraint.n))
        for block, own, value in zip(self._blocks, self._own, self._values, strict=True):
            self._clock.check()
            others = np.setdiff1d(np.arange(len(block.elements)), own)
            more = np.column_stack([np.tile(own, (len(others), 1)), others])
            gains[block.elements[others]] += block.bounds(more) - value
            fewer = np.array([np.delete(own, at) for at in range(len(own))], dtype=np.intp)
            losses[block.elements[own]] += value - block.bounds(fewer.reshape(len(own), max(0, len(own) - 1)))
        return gains, losses

    def _with_better_prices(self, lists: list[Listed], prices: SetPrices) -> tuple[list[Listed], SetPrices]:
        """Return lists of all that matters at better prices, and these."""
        rest = Rest(np.array([each.threshold for each in lists]), prices.copies, self._sizes)
        table = self._table(lists, rest=rest)
        node = SummandNode(self._objective, table, self._region, prices=prices)
        node.observe = self._observe
        choice = node.improve_prices(self._value, self._clock)
        prices = node.prices
        thresholds = choice.maxima - max(0.0, choice.bound - self._value)
        known = table.rest_bounds(prices)[0] <= thresholds
        missing = self._list(prices, thresholds, np.flatnonzero(~known))
        found = [
            self._shortened(v, each, prices, threshold) if known[v] else missing.pop(0)
            for v, (each, threshold) in enumerate(zip(lists, thresholds, strict=True))
        ]
        return found, prices

    def _shortened(self, v: int, listed: Listed, prices: SetPrices, threshold: float) -> Listed:
        kept = self._priced(v, listed, prices) > threshold
        return Listed(listed.subsets[kept], listed.bounds[kept], float(threshold))

    # -- lists --------------------------------------------------------------------------------------

    def _list(
        self, prices: SetPrices, thresholds: FloatArray, which: IndexArray | None = None
    ) -> list[Listed]:
        """List the sets of all summands, or of some, that exceed their thresholds at prices."""
        lists = []
        for v in range(len(self._blocks)) if which is None else which.tolist():
            block, own = self._blocks[v], self._of(v, prices.copies)
            search = SubsetSearch(block, own, int(self._sizes[v]), thresholds[v], self._clock, self._work)
            lists.append(search.run(*self._positions(block)))
        return lists

    def _priced(self, v: int, listed: Listed, prices: SetPrices) -> FloatArray:
        own = np.append(self._of(v, prices.copies), 0.0)
        priced: FloatArray = listed.bounds + own[listed.subsets].sum(axis=1)
        return priced

    def _best(self, lists: list[Listed], prices: SetPrices) -> FloatArray:
        """Return what no set of each summand exceeds at prices."""
        return np.array(
            [self._priced(v, each, prices).max(initial=each.threshold) for v, each in enumerate(lists)]
        )
