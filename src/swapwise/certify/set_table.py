"""Tables of the sets that the summands of an objective choose among, each with its own copies of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from swapwise.certify.subsets import ListedSets
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING


class SetPrices(NamedTuple):
    """Prices on which summands that choose for themselves come to agree.

    Every summand pays for its copies of the elements (``copies``, a negative number is paid), and of each
    element all copies together cost ``total``, which every set of the region gives back: it has at most so
    many elements. So prices raise no bound below the optimum, and good ones lower it.
    """

    copies: FloatArray  # of each copy, and at the end 0 for no element
    total: float


class UnlistedSets(NamedTuple):
    """Bounds on all sets that are not in the lists, which prices may make attractive."""

    thresholds: FloatArray  # for each summand, of bounds with prices on copies
    copies: FloatArray  # these prices
    sizes: IndexArray  # the largest size of a set, for each summand


class SummandChoice(NamedTuple):
    bound: float
    maxima: FloatArray
    chosen: FloatArray  # 1 for each copy that its summand has chosen, and 0 at the end


class SetTable:
    """The sets of all summands that matter, one row each, those of a summand side by side.

    A set of the region is worth at most ``floor`` if a part of it is not listed; or ``rest`` bounds these
    parts.
    """

    def __init__(
        self,
        elements: Sequence[IndexArray],
        lists: Sequence[ListedSets],
        n: int,
        size: int,
        floor: float = -np.inf,
        rest: UnlistedSets | None = None,
    ) -> None:
        self.floor, self.size, self.rest = floor, size, rest
        begin = np.append(0, np.cumsum([len(own) for own in elements])).astype(np.intp)
        self.n_copies, self.n_parts = int(begin[-1]), len(elements)
        #: The element and the summand of each copy
        self.element = np.concatenate([*elements, np.zeros(0, dtype=np.intp)])
        self.owner = np.repeat(np.arange(self.n_parts), np.diff(begin))
        self.n_copies_of = np.bincount(self.element, minlength=n)
        self.part = np.repeat(np.arange(self.n_parts), [len(each.bounds) for each in lists])
        self.values = np.concatenate([*(each.bounds for each in lists), np.zeros(0)])
        width = max((each.subsets.shape[1] for each in lists), default=0)
        self.copies = np.full((len(self.values), width), self.n_copies, dtype=np.intp)
        row = 0
        for own, first, each in zip(elements, begin, lists, strict=False):
            block = self.copies[row : row + len(each.bounds), : each.subsets.shape[1]]
            block[:] = np.where(each.subsets < len(own), each.subsets + first, self.n_copies)
            row += len(each.bounds)

    def no_prices(self) -> SetPrices:
        return SetPrices(np.zeros(self.n_copies + 1), 0.0)

    def within(self, region: Region, rows: IndexArray | None = None) -> IndexArray:
        rows = np.arange(len(self.part)) if rows is None else rows
        inside, outside = (np.append(flags[self.element], False) for flags in (region.inside, region.outside))
        n_inside = np.bincount(self.owner, inside[:-1], minlength=self.n_parts)
        copies = self.copies[rows]
        kept: BoolArray = inside[copies].sum(axis=1) == n_inside[self.part[rows]]
        return rows[kept & ~outside[copies].any(axis=1)]

    def scores(self, rows: IndexArray, prices: SetPrices) -> FloatArray:
        return self.values[rows] + prices.copies[self.copies[rows]].sum(axis=1)

    def choose(self, rows: IndexArray, prices: SetPrices) -> SummandChoice:
        chosen, maxima = np.zeros(self.n_copies + 1), np.full(self.n_parts, -np.inf)
        part, scores = self.part[rows], self.scores(rows, prices)
        present, begin = np.unique(part, return_index=True)
        if len(present):
            maxima[present] = np.maximum.reduceat(scores, begin)
        at_best = np.flatnonzero(scores == maxima[part])
        first = at_best[np.unique(part[at_best], return_index=True)[1]]
        chosen[self.copies[rows[first]]] = 1.0
        chosen[-1] = 0.0
        if self.rest is not None:
            bounds, attractive = self.rest_bounds(prices)
            above = bounds > maxima
            chosen[:-1] = np.where(above[self.owner], attractive, chosen[:-1])
            maxima = np.maximum(maxima, bounds)
        if (maxima == -np.inf).any():  # some summand has no set left
            return SummandChoice(-np.inf, maxima, np.zeros(self.n_copies + 1))
        return SummandChoice(self.total(maxima, prices), maxima, chosen)

    def rest_bounds(self, prices: SetPrices) -> tuple[FloatArray, BoolArray]:
        """Bound the sets of each summand that are not listed, and flag the copies that they may have.

        Such a set has at most ``sizes`` elements, each cheaper than when the list was made by a given amount.
        """
        assert self.rest is not None
        cheaper = np.maximum(prices.copies - self.rest.copies, 0.0)[:-1]
        order = np.lexsort((-cheaper, self.owner))
        rank = np.empty(self.n_copies, dtype=np.intp)
        rank[order] = np.arange(self.n_copies) - np.searchsorted(self.owner, self.owner)
        attractive = (rank < self.rest.sizes[self.owner]) & (cheaper > 0)
        more = np.bincount(self.owner, cheaper * attractive, minlength=self.n_parts)
        return self.rest.thresholds + more, attractive

    def total(self, maxima: FloatArray, prices: SetPrices) -> float:
        back = prices.total * self.size
        return float(maxima.sum() + back + ROUNDING * (np.abs(maxima).sum() + abs(back)))

    def shares(self, chosen: FloatArray) -> FloatArray:
        count = np.bincount(self.element, chosen[:-1], minlength=len(self.n_copies_of))
        return count / np.maximum(self.n_copies_of, 1)

    def moved(self, prices: SetPrices, choice: SummandChoice, step: float) -> tuple[SetPrices, float]:
        """Return prices after a step along the subgradient, and its squared length; step 0 only measures it.

        Copies that were chosen more often than the others of their element become dearer; all do if more
        elements were chosen than a set can have.
        """
        share = self.shares(choice.chosen)
        dearer = choice.chosen[:-1] - share[self.element]
        scarce = share.sum() - self.size
        if prices.total <= 0 and scarce < 0:
            scarce = 0.0
        total = max(0.0, prices.total + step * scarce)
        copies = prices.copies.copy()
        copies[:-1] -= step * dearer + (total - prices.total) / self.n_copies_of[self.element]
        return SetPrices(copies, total), float(dearer @ dearer + scarce**2)

    def losses(self, rows: IndexArray, prices: SetPrices, maxima: FloatArray) -> list[FloatArray]:
        """Return for every element the fall of the bound if all sets have it, and if none has it."""
        scores, copies, part = self.scores(rows, prices), self.copies[rows], self.part[rows]
        best_with = np.full(self.n_copies + 1, -np.inf)
        np.maximum.at(best_with, copies, scores[:, None])
        best_without = np.append(maxima[self.owner], np.inf)
        for copy in np.flatnonzero(best_with[:-1] == maxima[self.owner]):
            own = slice(*np.searchsorted(part, [self.owner[copy], self.owner[copy] + 1]))
            others = ~(copies[own] == copy).any(axis=1)
            best_without[copy] = scores[own][others].max(initial=-np.inf)
        lost = [maxima[self.owner] - best[:-1] for best in (best_with, best_without)]
        return [np.bincount(self.element, each, len(self.n_copies_of)).astype(np.float64) for each in lost]
