"""The sets of one summand's elements that may matter, found by branch and bound."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, islice
from math import comb
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import Summand

# Up to this many sets are bounded one by one: that takes about as long as a bound on all of them.
FEW_SETS = 5_000

# Sets are bounded in chunks of this many, and the clock is checked before each.
CHUNK = 10_000

# The most sets in the list of one summand
MOST_LISTED = 20_000

# Searches give up when they have bounded about MOST_WORK sets, after some minutes. A bound on many sets
# counts as WORK_PER_BOUND.
MOST_WORK, WORK_PER_BOUND = 50_000_000, 5_000


class TooManySets(Exception):
    """Raised when a search would take too long."""


class WorkBudget:
    def __init__(self) -> None:
        self._done = 0

    def add(self, sets: int) -> None:
        self._done += sets
        if self._done > MOST_WORK:
            raise TooManySets


class ListedSets(NamedTuple):
    """Sets of a summand's elements, a row of positions each, and a bound on the summand for each.

    Rows of fewer elements are filled up with the number of the summand's elements.
    """

    subsets: IndexArray
    bounds: FloatArray
    #: A bound on all other sets, with the prices of their elements
    threshold: float


class SubsetSearch:
    """Lists the sets of one summand that, with prices on their elements, may exceed a threshold."""

    def __init__(
        self,
        summand: Summand,
        prices: FloatArray,
        size: int,
        threshold: float,
        clock: Clock,
        work: WorkBudget | None = None,
    ) -> None:
        self._summand, self._size, self._clock = summand, size, clock
        self._work = work or WorkBudget()
        self._prices = np.append(prices, 0.0)
        self._threshold = threshold
        self._subsets = [np.zeros((0, size), dtype=np.intp)]
        self._bounds = [np.zeros(0)]

    def run(self, held: IndexArray, candidates: IndexArray) -> ListedSets:
        room = min(self._size - len(held), len(candidates))
        # Where elements cost, sets of different sizes are bounded one size at a time.
        sizes = [(size, size) for size in range(room + 1)] if self._prices.min() < 0 else [(0, room)]
        parts = [(held, candidates, at_least, at_most) for at_least, at_most in sizes if at_most >= 0]
        while parts:
            held, candidates, at_least, at_most = parts.pop()
            element = self._split(held, candidates, at_least, at_most)
            if element is not None:
                rest = candidates[candidates != element]
                parts += [
                    (held, rest, at_least, at_most),
                    (np.append(held, element), rest, max(0, at_least - 1), at_most - 1),
                ]
        return ListedSets(np.concatenate(self._subsets), np.concatenate(self._bounds), self._threshold)

    def _split(self, held: IndexArray, candidates: IndexArray, at_least: int, at_most: int) -> int | None:
        """Return the candidate to split a part of the sets by, or None if the part is done.

        The part has the sets of all held elements and ``at_least`` to ``at_most`` of the candidates.
        """
        self._clock.check()
        at_most = min(at_most, len(candidates))
        if _count(len(candidates), at_least, at_most) > FEW_SETS:
            target = self._threshold - self._prices[held].sum()
            self._work.add(WORK_PER_BOUND)
            prices = self._prices[candidates]
            bound, worth = self._summand.bound_among(held, candidates, (at_least, at_most), prices, target)
            if bound + ROUNDING * abs(bound) <= target:
                return None
            if _is_worth_splitting(worth, bound - target, at_least, at_most):
                return int(candidates[np.argmax(worth)])
        for size in range(at_least, at_most + 1):
            for chosen in _combinations(candidates, size):
                self._list(np.hstack([np.tile(held, (len(chosen), 1)), chosen]))
        return None

    def _list(self, subsets: IndexArray) -> None:
        self._clock.check()
        self._work.add(len(subsets))
        bounds = self._summand.bounds(subsets)
        bounds += ROUNDING * np.abs(bounds)
        kept = bounds + self._prices[subsets].sum(axis=1) > self._threshold
        filled = np.full((int(kept.sum()), self._size), len(self._prices) - 1, dtype=np.intp)
        filled[:, : subsets.shape[1]] = subsets[kept]
        self._subsets.append(filled)
        self._bounds.append(bounds[kept])
        if sum(map(len, self._bounds)) > 2 * MOST_LISTED:
            self._shorten()

    def _shorten(self) -> None:
        subsets, bounds = np.concatenate(self._subsets), np.concatenate(self._bounds)
        priced = bounds + self._prices[subsets].sum(axis=1)
        self._threshold = float(np.partition(priced, -MOST_LISTED - 1)[-MOST_LISTED - 1])
        kept = priced > self._threshold
        self._subsets, self._bounds = [subsets[kept]], [bounds[kept]]


def _count(n: int, at_least: int, at_most: int) -> int:
    return sum(comb(n, size) for size in range(at_least, at_most + 1))


def _is_worth_splitting(worth: FloatArray, excess: float, at_least: int, at_most: int) -> bool:
    """Return whether splits and bounds take less work than to bound all sets.

    Candidates are excluded, the best first, until their worth makes up for the excess of the bound. Each of
    them leaves the sets that hold it, for which the same holds, and a bound on the others.
    """
    exclusions = 1 + int(np.searchsorted(np.cumsum(np.sort(worth)[::-1]), excess))
    work = count = 1
    for taken in range(at_most - 1, -1, -1):
        count = _count(len(worth), max(0, at_least - taken), at_most - taken)
        work = count if count <= FEW_SETS else min(count, exclusions * (WORK_PER_BOUND + work))
    return work < count


def _combinations(candidates: IndexArray, size: int) -> Iterator[IndexArray]:
    sets = combinations(candidates.tolist(), size)
    if size == 0:
        yield np.zeros((1, 0), dtype=np.intp)
        return
    while len(chunk := np.fromiter(chain.from_iterable(islice(sets, CHUNK)), dtype=np.intp)):
        yield chunk.reshape(-1, size)
