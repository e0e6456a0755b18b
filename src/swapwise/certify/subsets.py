"""Which sets of one summand's elements may matter: branch and bound instead of going through all of them."""

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

# Up to this many sets are gone through: that takes about as long as a bound on all of them.
FEW_SETS = 5_000

# Up to this many are, too, if more than a few candidates would have to go before a bound rules the rest out.
MOST_AT_ONCE, FEW_EXCLUSIONS = 200_000, 5

# Sets are bounded in chunks of this many, with a look at the clock before each.
CHUNK = 10_000

# No more sets than this are listed of one summand.
MOST_LISTED = 20_000

# Searches give up when they have bounded about this many sets: some minutes. A bound on many sets counts as
# this many.
MOST_WORK, WORK_PER_BOUND = 50_000_000, 2_000


class TooManySets(Exception):
    """A search was given up, because it would take too long."""


class Work:
    """How much all searches of one proof have done."""

    def __init__(self) -> None:
        self._done = 0

    def add(self, sets: int) -> None:
        """Count sets that were bounded, and give up when there are too many."""
        self._done += sets
        if self._done > MOST_WORK:
            raise TooManySets


class Listed(NamedTuple):
    """Sets of a summand's elements, a row of positions each, and a bound on the summand for each.

    Rows of fewer elements are filled up with the number of the summand's elements.
    """

    subsets: IndexArray
    bounds: FloatArray
    #: All other sets have a bound, with the prices of their elements, of no more than this
    threshold: float


class SubsetSearch:
    """Lists the sets of one summand that, with prices on their elements, may exceed a threshold.

    >>> from swapwise import IsingPseudoLikelihood
    >>> spins = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1], [1, -1, 1], [1, 1, -1]]
    >>> summand = IsingPseudoLikelihood(spins, ridge=0.1).summands(np.zeros(3))[0]
    >>> search = SubsetSearch(summand, np.zeros(2), 1, 0.05, Clock())
    >>> search.run(np.array([], dtype=int), np.arange(2)).subsets
    array([[0]])
    """

    def __init__(
        self,
        summand: Summand,
        prices: FloatArray,
        size: int,
        threshold: float,
        clock: Clock,
        work: Work | None = None,
    ) -> None:
        self._summand, self._size, self._clock = summand, size, clock
        self._work = work or Work()
        self._prices = np.append(prices, 0.0)
        self._threshold = threshold
        self._subsets = [np.zeros((0, size), dtype=np.intp)]
        self._bounds = [np.zeros(0)]

    def run(self, held: IndexArray, candidates: IndexArray) -> Listed:
        """Return the sets that hold all of ``held``, and some of the candidates."""
        parts = [(held, candidates)]
        while parts:
            held, candidates = parts.pop()
            element = self._split(held, candidates)
            if element is not None:
                rest = candidates[candidates != element]
                parts += [(held, rest), (np.append(held, element), rest)]
        return Listed(np.concatenate(self._subsets), np.concatenate(self._bounds), self._threshold)

    def _split(self, held: IndexArray, candidates: IndexArray) -> int | None:
        """Return the candidate to split a part of the sets by, or None if nothing of it is left to do."""
        self._clock.check()
        room = min(self._size - len(held), len(candidates))
        if room < 0:
            return None
        count = sum(comb(len(candidates), size) for size in range(room + 1))
        if count > FEW_SETS:
            prices = np.sort(self._prices[candidates])[len(candidates) - room :]
            target = self._threshold - self._prices[held].sum() - np.maximum(prices, 0.0).sum()
            self._work.add(WORK_PER_BOUND)
            bound, worth = self._summand.bound_among(held, candidates, room, target)
            if bound + ROUNDING * abs(bound) <= target:
                return None
            is_hopeless = bound - FEW_EXCLUSIONS * worth.max() > target
            if count > MOST_AT_ONCE or not is_hopeless:
                return int(candidates[np.argmax(worth)])
        for size in range(room + 1):
            for chosen in _combinations(candidates, size):
                self._list(np.hstack([np.tile(held, (len(chosen), 1)), chosen]))
        return None

    def _list(self, subsets: IndexArray) -> None:
        """Bound sets of equal size, and keep those above the threshold."""
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
        """Raise the threshold until no more than the most sets are above it."""
        subsets, bounds = np.concatenate(self._subsets), np.concatenate(self._bounds)
        priced = bounds + self._prices[subsets].sum(axis=1)
        self._threshold = float(np.partition(priced, -MOST_LISTED - 1)[-MOST_LISTED - 1])
        kept = priced > self._threshold
        self._subsets, self._bounds = [subsets[kept]], [bounds[kept]]


def _combinations(candidates: IndexArray, size: int) -> Iterator[IndexArray]:
    """Yield all sets of candidates of a size, in chunks of rows."""
    sets = combinations(candidates.tolist(), size)
    if size == 0:
        yield np.zeros((1, 0), dtype=np.intp)
        return
    while len(chunk := np.fromiter(chain.from_iterable(islice(sets, CHUNK)), dtype=np.intp)):
        yield chunk.reshape(-1, size)
