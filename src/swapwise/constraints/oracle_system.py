"""Any family in which subsets of independent sets are independent, given by a test for its sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from itertools import combinations, islice
from typing import Self

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.axioms import SECONDS, Axioms, as_p, grown
from swapwise.constraints.base import MaxWeight
from swapwise.constraints.oracle import Oracle
from swapwise.moves import MoveBatch, MoveList
from swapwise.override import override

# Sets tried beyond single drops, for one element and for all that might be added: the first finds every
# minimal drop from sets of up to eight, the second limits the time for all moves to a second if the function
# takes microseconds.
MOST_TRIED, MOST_TRIED_IN_ALL = 256, 50_000

# Elements whose subsets are all tested, for a bound on weights: 1024 questions per block, once.
BLOCK = 10

Drops = tuple[int, ...]


class OracleSystem(Oracle):
    """Any downward-closed family, given by a function that says which sets are independent.

    Moves add one element and drop the least that must go: all inclusion-minimal sets of chosen elements that
    make room for it where they are few, else all single elements that do and some larger sets. There is no
    theorem on such a search; ``result.guarantee`` bounds how good its answer is from the run itself, and
    ``certify`` and ``exact`` use bounds that hold for every downward-closed family. With ``p``, moves
    add up to q elements and drop up to ``pq − q + 1``, all that do, and ``result.guarantee`` has the theorem.

    Parameters
    ----------
    n : int
        Size of the ground set.
    is_independent : callable
        Gets a sorted integer array and returns True or False, for the same set always the same. ∅ has to be
        independent, and every subset of an independent set.
    size : int, optional
        Allow no more elements than this; the function is not called for larger sets. Proofs are much faster
        if it is small.
    p : int, optional
        Say that the family is a p-exchange system, as the paper's Definition 3 has it (:func:`smallest_p`).
        Moves are then the paper's, with ``q=`` of :func:`maximize`, and its theorems hold. With p = 1 it is a
        matroid, and q is 1.

    Raises
    ------
    ValueError
        If a set is independent and one of its subsets is not, or p is too small. Up to 12 elements all sets
        are verified; beyond, pairs, random subsets, and every set that a search meets. What was not verified
        is named by ``assumptions``, and by every guarantee and certificate.

    See Also
    --------
    OracleMatroid : where the family is a matroid, moves are fewer, and theorems say how good they are.
    Knapsack, Conflicts, FewGroups : families of their own, which are searched faster.

    Examples
    --------
    At most 7 to spend:

    >>> import numpy as np
    >>> from swapwise import Linear, OracleSystem, exact, maximize
    >>> price = np.array([4, 3, 5, 2, 1])
    >>> affordable = OracleSystem(5, lambda support: price[support].sum() <= 7)
    >>> worth = Linear([5.0, 4.0, 6.0, 2.5, 1.0])
    >>> found = maximize(worth, affordable)
    >>> found.support, found.value, found.guarantee.theorem
    (array([2, 3]), 8.5, 'along the run')
    >>> best = exact(worth, affordable)
    >>> best.support, best.value, best.status.name
    (array([0, 1]), 9.0, 'OPTIMAL')

    Shifts of which any two are a night apart, a 2-exchange system:

    >>> apart = OracleSystem(6, lambda nights: bool((np.diff(nights) > 1).all()), p=2)
    >>> found = maximize(Linear([3.0, 4.0, 3.0, 3.0, 4.0, 3.0]), apart, "oblivious", q=2, start=[1, 4])
    >>> found.support, found.value, round(found.guarantee.by_theorem.ratio, 4)
    (array([0, 2, 4]), 10.0, 0.6667)
    """

    def __init__(
        self,
        n: int,
        is_independent: Callable[[IndexArray], bool],
        size: int | None = None,
        p: int | None = None,
    ) -> None:
        super().__init__(n, is_independent)
        self.size = self.n if size is None else min(self.n, as_count(size, "size"))
        self.p = as_p(p)
        self._axioms = Axioms(self, self.p)

    @override
    def _forcing(self, forced: IndexArray) -> Self:
        other = super()._forcing(forced)
        for known in ("_max_size", "_blocks"):
            other.__dict__.pop(known, None)
        other._axioms = Axioms(other, self.p)
        return other

    @override
    def _allows(self, elements: tuple[int, ...]) -> bool:
        if len(self.forced):
            elements = tuple(sorted({*elements, *self.forced.tolist()}))
        return len(elements) <= self.size and super()._allows(elements)

    def _fits(self, *elements: int) -> bool:
        return self._allows(tuple(sorted(elements)))

    def _grown(self, chosen: Iterable[int], order: Iterable[int]) -> list[int]:
        return grown(lambda elements: self._fits(*elements), chosen, order)

    @override
    def exchange_size(self, q: int = 1) -> int:
        return min(self.n, 1 + self.max_size()) if self.p is None else super().exchange_size(q)

    # -- moves --------------------------------------------------------------------------------------

    @override
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveBatch]:
        """Yield the moves that add one element and drop no more than has to go for it.

        With a p, those of the paper: see :class:`~swapwise.constraints.reachable.Reachable`.
        """
        if self.p is not None:
            self._axioms.note(support)
            yield from super().moves(support, q, candidates)
        else:
            yield _listed(self._ways(support, q, candidates))

    @override
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield, for all that can be added, the move whose drop has the least total cost.

        The cheapest of the moves that :meth:`moves` lists and of one more, which keeps the costly elements
        first. It is the cheapest of all where :meth:`moves` lists all, as it does from sets of up to eight,
        and with a p.
        """
        if self.p is not None:
            yield from super().cheapest_drops(support, cost, q)
            return
        costly_first = support[np.argsort(-cost[support], kind="stable")].tolist()
        cheapest = []
        for element, ways in self._ways(support, q):
            drops = {*ways, self._dropped(support, [element], costly_first)}
            cheapest.append((element, [min(drops, key=lambda drop: (cost[list(drop)].sum(), drop))]))
        yield _listed(cheapest)

    def _ways(
        self, support: IndexArray, q: int, candidates: IndexArray | None = None
    ) -> Iterator[tuple[int, list[Drops]]]:
        """Yield the elements that can be added, each with the drops that make room for it."""
        if q != 1:
            raise ValueError(
                f"an OracleSystem without a p is searched by adding one element at a time, q = 1; got q = {q}"
            )
        self._axioms.note(support)
        outside = np.setdiff1d(np.arange(self.n) if candidates is None else candidates, support)
        most = min(MOST_TRIED, MOST_TRIED_IN_ALL // max(1, len(outside)))
        for element in outside.tolist():
            if self._fits(element):
                yield element, self._drops(support, element, most)

    def _drops(self, support: IndexArray, element: int, most: int) -> list[Drops]:
        """Return the minimal sets to drop for an element: all, if ``most`` tests suffice."""
        chosen = support.tolist()
        if self._fits(*chosen, element):
            return [()]
        free = [e for e in chosen if e not in self.forced]
        alone = [e for e in free if self._fits(*(other for other in chosen if other != e), element)]
        # Other minimal drops hold none of these, so that all of these have to fit beside the element.
        rest = [e for e in free if e not in alone]
        found: list[Drops] = []
        if rest and self._fits(*alone, element):
            for drop in islice(
                (drop for size in range(2, len(rest) + 1) for drop in combinations(rest, size)), most
            ):
                kept = (e for e in chosen if e not in drop)
                if not any(set(other) <= set(drop) for other in found) and self._fits(*kept, element):
                    found.append(drop)
            if 2 ** len(rest) > most:
                found += [self._dropped(support, [element, *alone], order) for order in (rest, rest[::-1])]
        return sorted({(e,) for e in alone} | set(found))

    def _dropped(self, support: IndexArray, first: list[int], order: list[int]) -> Drops:
        """Return the drop that keeps each element of the order in turn that fits beside those before it."""
        kept = {*self._grown(first, order), *self.forced.tolist()}
        return tuple(element for element in support.tolist() if element not in kept)

    # -- weights ------------------------------------------------------------------------------------

    @override
    def max_size(self) -> int:
        return self._max_size

    @cached_property
    def _max_size(self) -> int:
        return min(self.size, super().max_size(), int(self._bound(np.ones(self.n), Clock())))

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        value = np.maximum(weights, 0.0)
        if self._axioms.maximal is not None:
            largest = self._axioms.maximal[int(np.argmax(self._axioms.maximal @ value))]
            support = np.flatnonzero(largest & (value > 0))
            return MaxWeight(support, float(weights[support].sum()))
        return MaxWeight.below(self._bound(value, clock), self._improved_greedy(value, clock), weights)

    def _improved_greedy(self, value: FloatArray, clock: Clock) -> IndexArray:
        """Return the greedy set, improved by trying each element for the least valuable it excludes."""
        in_turn = np.argsort(-value, kind="stable")[: np.count_nonzero(value)].tolist()
        chosen: list[int] = []
        with suppress(OutOfTime):
            for element in in_turn:
                clock.check()
                chosen = self._grown(chosen, [element])
            for element in in_turn:
                clock.check()
                if element not in chosen and self._fits(element):
                    by_value = sorted(chosen, key=lambda e: (-value[e], e))
                    other = self._grown([element], by_value)
                    if value[other].sum() > value[chosen].sum():
                        chosen = self._grown(other, in_turn)
        return np.array(sorted(chosen), dtype=np.intp)

    def _bound(self, value: FloatArray, clock: Clock) -> float:
        """Return a weight that no independent set exceeds; no value is negative.

        In each block of elements, a set weighs no more than a max-weight subset of the block, and in all no
        more than the ``size`` largest values.
        """
        largest = float(np.sort(value)[::-1][: self.size].sum())
        if "_blocks" not in self.__dict__ and clock.left() < SECONDS:
            return largest  # they take up to that long, once
        return min(sum(float((maximal @ value[block]).max()) for block, maximal in self._blocks), largest)

    @cached_property
    def _blocks(self) -> list[tuple[IndexArray, FloatArray]]:
        """The elements in blocks, each with its maximal independent subsets as rows of zeros and ones."""
        if self._axioms.maximal is not None:
            return [(np.arange(self.n), self._axioms.maximal.astype(float))]
        clock = Clock(SECONDS)
        blocks = (np.arange(begin, min(self.n, begin + BLOCK)) for begin in range(0, self.n, BLOCK))
        return [(block, self._maximal_within(block, clock)) for block in blocks]

    def _maximal_within(self, block: IndexArray, clock: Clock) -> FloatArray:
        """Return the maximal independent subsets of a block, or the block itself if time is up."""
        independent: set[Drops] = {()}
        latest: list[Drops] = [()]
        try:
            while latest:
                larger = [(*s, e) for s in latest for e in range(s[-1] + 1 if s else 0, len(block))]
                latest = []
                for places in larger:
                    clock.check()
                    if self._fits(*block[list(places)].tolist()):
                        latest.append(places)
                independent.update(latest)
        except OutOfTime:
            return np.ones((1, len(block)))
        inner = {places[:at] + places[at + 1 :] for places in independent for at in range(len(places))}
        maximal = sorted(independent - inner)
        rows = np.zeros((len(maximal), len(block)))
        for row, places in enumerate(maximal):
            rows[row, list(places)] = 1.0
        return rows


def _listed(ways: Iterable[tuple[int, list[Drops]]]) -> MoveList:
    pairs = [(element, drop) for element, drops in ways for drop in drops]
    width = max((len(drop) for _, drop in pairs), default=1)
    dropped = np.full((len(pairs), width), -1, dtype=np.intp)
    for row, (_, drop) in enumerate(pairs):
        dropped[row, : len(drop)] = drop
    return MoveList(np.array([[element] for element, _ in pairs], dtype=np.intp).reshape(-1, 1), dropped)
