"""Nodes of branch and bound for objectives that are sums, such as over the vertices of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.certify.nodes import Node
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SparseObjective, Summand

# All sets of all summands are enumerated beforehand, if that takes no more numbers than this: some seconds.
MOST_NUMBERS, MOST_SETS = 50_000_000, 200_000

# Sets are evaluated in chunks of about this many numbers: a tenth of a second between looks at the clock.
NUMBERS_AT_ONCE = 1_000_000


class SummandTable:
    """All independent sets of elements of one summand, and an upper bound on the summand for each."""

    def __init__(self, block: Summand, members: BoolArray, values: FloatArray) -> None:
        self.elements = block.elements
        self.members = members  # one row per set
        self.values = values

    def best(self, region: Region) -> tuple[float, IndexArray]:
        """Return the largest value among the sets of a region, and the set."""
        inside, outside = region.inside[self.elements], region.outside[self.elements]
        within = ~self.members[:, outside].any(axis=1) & self.members[:, inside].all(axis=1)
        values = np.where(within, self.values, -np.inf)
        row = int(np.argmax(values))
        return float(values[row]), self.elements[self.members[row]]


def summand_tables(blocks: list[Summand], region: Region, clock: Clock) -> list[SummandTable] | None:
    """Return the tables of all summands, or None if there are too many sets."""
    tables, numbers, count = [], 0, 0
    for block in blocks:
        sizes: list[IndexArray] = []
        for subsets in _independent_subsets(block, region, MOST_SETS - count, clock):
            numbers += block.cost * subsets.size
            count += len(subsets)
            if numbers > MOST_NUMBERS or count > MOST_SETS:
                return None
            sizes.append(subsets)
        tables.append((block, sizes))
    return [_table(block, sizes, clock) for block, sizes in tables]


def _table(block: Summand, sizes: list[IndexArray], clock: Clock) -> SummandTable:
    members = np.zeros((sum(map(len, sizes)), len(block.elements)), dtype=bool)
    values, row = np.empty(len(members)), 0
    for subsets in sizes:
        rows = np.arange(row, row + len(subsets))
        members[rows[:, None], subsets] = True
        step = max(1, NUMBERS_AT_ONCE // (block.cost * (1 + subsets.shape[1])))
        for at in range(0, len(subsets), step):
            clock.check()
            values[rows[at : at + step]] = block.bounds(subsets[at : at + step])
        row += len(subsets)
    return SummandTable(block, members, values + ROUNDING * np.abs(values))


def _independent_subsets(block: Summand, region: Region, most: int, clock: Clock) -> Iterator[IndexArray]:
    """Yield the sets of a block's elements that may be chosen, size by size, as rows of positions.

    It ends, not necessarily soon, when there are more than ``most`` of a size.
    """
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
    """A region bounded by the sum over the maxima of its summands, each maximised by itself."""

    kind = "blocks"

    def __init__(
        self,
        objective: SparseObjective,
        tables: list[SummandTable],
        region: Region,
        parent: SummandNode | None = None,
    ) -> None:
        self.objective: SparseObjective = objective
        self.region = region
        self._tables = tables
        self._best: list[tuple[float, IndexArray]] = []
        for number, table in enumerate(tables):
            if parent is None or parent._changed(table, region):
                self._best.append(table.best(region))
            else:
                self._best.append(parent._best[number])
        self.bound = sum(value for value, _ in self._best)
        if parent is not None:
            self.bound = min(self.bound, parent.bound)

    def _changed(self, table: SummandTable, region: Region) -> bool:
        at = table.elements
        changed = (self.region.inside[at] != region.inside[at]) | (
            self.region.outside[at] != region.outside[at]
        )
        return bool(changed.any())

    def tighten(self, target: float, clock: Clock) -> None:
        """Do nothing: the bound is all there is."""

    def _votes(self) -> FloatArray:
        """Return how many summands have each element in their best set."""
        votes = np.zeros(self.region.constraint.n)
        for _, support in self._best:
            votes[support] += 1
        return votes

    def candidate(self) -> IndexArray:
        """Return a set of elements that are best for many summands."""
        return self.region.greedy_set(self._votes())

    def split(self) -> int:
        """Return an element on which summands disagree: the one whose fixing lowers the bound most."""
        votes = self._votes()
        asked = np.zeros(len(votes))
        for table in self._tables:
            asked[table.elements] += 1
        open_ = self.region.open
        disputed = open_[(votes[open_] > 0) & (votes[open_] < asked[open_])]
        if not len(disputed):
            return int(open_[np.argmax(votes[open_])])
        return max(disputed.tolist(), key=self._bound_decrease)

    def _bound_decrease(self, element: int) -> tuple[float, float]:
        drops = [self.bound - self.part(region).bound for region in self._halves(element)]
        return min(drops), max(drops)

    def _halves(self, element: int) -> tuple[Region, Region]:
        return self.region.with_inside(element), self.region.with_outside(element)

    def part(self, region: Region) -> SummandNode:
        """Return a part; only the summands of newly fixed elements are maximised again."""
        return SummandNode(self.objective, self._tables, region, self)
