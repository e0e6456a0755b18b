"""Nodes of branch and bound for objectives that are sums, such as over the vertices of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.certify.nodes import Node
from swapwise.certify.set_table import SetPrices, SetTable, SummandChoice
from swapwise.certify.subsets import ListedSets
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SparseObjective, Summand
from swapwise.override import override

# All sets of all summands are enumerated beforehand up to this many numbers and sets, which takes some
# seconds.
MOST_NUMBERS, MOST_SETS = 50_000_000, 200_000

# Sets are evaluated in chunks of about this many numbers: a tenth of a second between checks of the clock.
NUMBERS_AT_ONCE = 1_000_000

# The most steps of the prices, at the root and below it; after IDLE_STEPS without a better bound, the step
# length is halved.
STEPS_AT_ROOT, STEPS_BELOW, IDLE_STEPS = 300, 30, 10

# Step lengths, as shares of those that would close the gap if the bound fell at a constant rate: they begin
# at FIRST_STEP, and prices are final below LAST_STEP.
FIRST_STEP, LAST_STEP = 1.0, 0.02

# The most rounds of fixing elements and choosing prices again
MOST_ROUNDS = 8


def complete_table(blocks: list[Summand], region: Region, clock: Clock) -> SetTable | None:
    found, numbers, count = [], 0, 0
    for block in blocks:
        sizes: list[IndexArray] = []
        for subsets in _independent_subsets(block, region, MOST_SETS - count, clock):
            numbers += block.cost * subsets.size
            count += len(subsets)
            if numbers > MOST_NUMBERS or count > MOST_SETS:
                return None
            sizes.append(subsets)
        found.append(sizes)
    lists = [_bounded(block, sizes, clock) for block, sizes in zip(blocks, found, strict=True)]
    elements = [block.elements for block in blocks]
    return SetTable(elements, lists, region.constraint.n, region.constraint.max_size())


def _bounded(block: Summand, sizes: list[IndexArray], clock: Clock) -> ListedSets:
    subsets = np.full((sum(map(len, sizes)), len(sizes) - 1), len(block.elements), dtype=np.intp)
    bounds, row = np.empty(len(subsets)), 0
    for equal in sizes:
        rows = slice(row, row + len(equal))
        subsets[rows, : equal.shape[1]] = equal
        step = max(1, NUMBERS_AT_ONCE // (block.cost * (1 + equal.shape[1])))
        for at in range(0, len(equal), step):
            clock.check()
            bounds[rows][at : at + step] = block.bounds(equal[at : at + step])
        row += len(equal)
    return ListedSets(subsets, bounds + ROUNDING * np.abs(bounds), -np.inf)


def _independent_subsets(block: Summand, region: Region, most: int, clock: Clock) -> Iterator[IndexArray]:
    """Yield independent sets of a block, size by size, until more than ``most`` have the same size."""
    constraint, elements = region.constraint, block.elements
    sets: list[tuple[int, ...]] = [()]
    while sets:
        yield np.array(sets, dtype=np.intp).reshape(len(sets), -1)
        larger: list[tuple[int, ...]] = []
        for chosen in sets:
            clock.check()
            addable = constraint.addable(elements[list(chosen)])[elements] & ~region.outside[elements]
            first = chosen[-1] + 1 if chosen else 0
            larger += [(*chosen, first + int(at)) for at in np.flatnonzero(addable[first:])]
            if len(larger) > most:
                break
        sets = larger


class SummandNode(Node):
    """A region bounded by the sum over the maxima of its summands, each maximised by itself.

    Prices make summands agree: they are chosen by subgradient steps (Lagrangian decomposition). Then elements
    are fixed that all sets above the target have, or none.
    """

    kind = "blocks"

    def __init__(
        self,
        objective: SparseObjective,
        table: SetTable,
        region: Region,
        parent: SummandNode | None = None,
        prices: SetPrices | None = None,
    ) -> None:
        self.objective: SparseObjective = objective
        self.region = region
        given = prices if parent is None else parent.prices
        self.prices: SetPrices = given or table.no_prices()
        self._is_root = parent is None
        self._table = table
        self._rows: IndexArray | None = None  # the sets of the region, computed on demand
        among = None if parent is None else parent._sets()
        choice = table.choose(table.within(region, among), self.prices)
        self._shares = table.shares(choice.chosen)
        self.bound = np.inf if parent is None else parent.bound
        # Fixing here and above has ruled out sets up to this value: no bound may fall below it.
        self._floor: float = table.floor if parent is None else parent._floor
        self._note(choice)

    def _note(self, choice: SummandChoice) -> None:
        self.bound = min(self.bound, max(choice.bound, self._floor))

    def _sets(self) -> IndexArray:
        if self._rows is None:
            self._rows = self._table.within(self.region)
        return self._rows

    # -- tightening ---------------------------------------------------------------------------------

    @override
    def tighten(self, target: float, clock: Clock) -> None:
        for _ in range(MOST_ROUNDS):
            choice = self.improve_prices(target, clock)
            if self.bound <= max(target, self._floor):
                return
            # Sets that are not in the table may be above the target, and have any elements: none can be
            # fixed.
            if self._table.floor > target or not self._fix(choice, target):
                return

    def improve_prices(self, target: float, clock: Clock) -> SummandChoice:
        """Improve the prices by subgradient steps (Polyak), and return the choice at the best."""
        table, rows = self._table, self._sets()
        best = choice = table.choose(rows, self.prices)
        prices, step, idle = self.prices, FIRST_STEP, 0
        for _ in range(STEPS_AT_ROOT if self._is_root else STEPS_BELOW):
            clock.check()
            if best.bound <= target or step < LAST_STEP:
                break
            length = table.moved(prices, choice, 0.0)[1]
            if not length:
                break
            prices, _ = table.moved(prices, choice, step * (choice.bound - target) / length)
            choice = table.choose(rows, prices)
            self._shares += 0.1 * (table.shares(choice.chosen) - self._shares)
            idle += 1
            if choice.bound < best.bound:
                best, self.prices, idle = choice, prices, 0
                self._note(best)
                self.observe(self.kind, self.bound)
            elif idle >= IDLE_STEPS:
                prices, choice, step, idle = self.prices, best, step / 2, 0
        self._note(best)
        return best

    def _fix(self, choice: SummandChoice, target: float) -> bool:
        table, region = self._table, self.region
        self._floor = max(self._floor, target)
        slack = choice.bound - target
        scores = table.scores(self._sets(), self.prices)
        # No better set has a part that loses more than the slack: other summands cannot make up for it.
        self._rows = self._sets()[scores > choice.maxima[table.part[self._sets()]] - slack]
        with_it, without = table.losses(self._rows, self.prices, choice.maxima)
        is_open = ~(region.inside | region.outside)
        out, into = is_open & (with_it >= slack), is_open & (without >= slack)
        if not (out | into).any():
            return False
        held = np.flatnonzero(region.inside | into)
        if (out & into).any() or not region.constraint._is_independent(held):
            self.bound = min(self.bound, self._floor)
            return False
        self.region = region.with_outside(np.flatnonzero(out))
        if into.any():
            self.region = self.region.with_inside(np.flatnonzero(into))
        self._rows = table.within(self.region, self._rows)
        return True

    # -- branching ----------------------------------------------------------------------------------

    @override
    def candidate(self) -> IndexArray:
        return self.region.greedy_set(self._shares)

    @override
    def split(self) -> int:
        choice = self._table.choose(self._sets(), self.prices)
        shares, open_ = self._table.shares(choice.chosen), self.region.open
        disputed = open_[(shares[open_] > 0) & (shares[open_] < 1)]
        if not len(disputed) or not np.isfinite(choice.bound):
            return int(open_[np.argmax(shares[open_])])
        losses = self._table.losses(self._sets(), self.prices, choice.maxima)
        return int(disputed[np.argmax(_product(*losses)[disputed])])

    @override
    def part(self, region: Region) -> SummandNode:
        return SummandNode(self.objective, self._table, region, self)


def _product(first: FloatArray, second: FloatArray) -> FloatArray:
    """Combine the losses of both parts to a score for branching; the smaller one counts most."""
    return np.minimum(first, second) + 0.01 * np.minimum(np.maximum(first, second), 1e300)
