"""Nodes of branch and bound for objectives that fall apart into blocks, such as the vertices of a graph."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import Summand
from swapwise.theory.branching import Node
from swapwise.theory.region import Region

# All sets of all blocks are looked at beforehand, if that takes no more numbers than this: some seconds.
MOST_NUMBERS, MOST_SETS = 50_000_000, 200_000

# Of a block, as many sets at a time as have about this many numbers: a tenth of a second between looks at the
# clock.
NUMBERS_AT_ONCE = 1_000_000


class BlockTable:
    """All allowed sets of elements of one block, and what the block does not exceed on each."""

    def __init__(self, block: Summand, members: BoolArray, values: FloatArray) -> None:
        self.elements = block.elements
        self.members = members  # one row a set
        self.values = values

    def best(self, region: Region) -> tuple[float, IndexArray]:
        """Return the largest value among the sets of a region, and the set."""
        inside, outside = region.inside[self.elements], region.outside[self.elements]
        allowed = ~self.members[:, outside].any(axis=1) & self.members[:, inside].all(axis=1)
        values = np.where(allowed, self.values, -np.inf)
        row = int(np.argmax(values))
        return float(values[row]), self.elements[self.members[row]]


def block_tables(blocks: list[Summand], region: Region, clock: Clock) -> list[BlockTable] | None:
    """Return the tables of all blocks, or None if there are too many sets."""
    tables, numbers, count = [], 0, 0
    for block in blocks:
        sizes: list[IndexArray] = []
        for subsets in _allowed_subsets(block, region, MOST_SETS - count, clock):
            numbers += block.cost * subsets.size
            count += len(subsets)
            if numbers > MOST_NUMBERS or count > MOST_SETS:
                return None
            sizes.append(subsets)
        tables.append((block, sizes))
    return [_table(block, sizes, clock) for block, sizes in tables]


def _table(block: Summand, sizes: list[IndexArray], clock: Clock) -> BlockTable:
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
    return BlockTable(block, members, values + ROUNDING * np.abs(values))


def _allowed_subsets(block: Summand, region: Region, most: int, clock: Clock) -> Iterator[IndexArray]:
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


class BlockNode(Node):
    """A region bounded by the sum of what its blocks can have, each with the set it likes best."""

    kind = "blocks"

    def __init__(self, tables: list[BlockTable], region: Region, parent: BlockNode | None = None) -> None:
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

    def _changed(self, table: BlockTable, region: Region) -> bool:
        at = table.elements
        changed = (self.region.inside[at] != region.inside[at]) | (
            self.region.outside[at] != region.outside[at]
        )
        return bool(changed.any())

    def tighten(self, target: float, clock: Clock) -> None:
        """Do nothing: the bound is all there is."""

    def _votes(self) -> FloatArray:
        """Return how many blocks would choose each element."""
        votes = np.zeros(self.region.constraint.n)
        for _, support in self._best:
            votes[support] += 1
        return votes

    def candidate(self) -> IndexArray:
        """Return a set of elements that many blocks would choose."""
        return self.region.heavy(self._votes())

    def split(self) -> int:
        """Return an element that some of its blocks want and others do not, by what settling it gains."""
        votes = self._votes()
        asked = np.zeros(len(votes))
        for table in self._tables:
            asked[table.elements] += 1
        open_ = self.region.open
        disputed = open_[(votes[open_] > 0) & (votes[open_] < asked[open_])]
        if not len(disputed):
            return int(open_[np.argmax(votes[open_])])
        return max(disputed.tolist(), key=self._promise)

    def _promise(self, element: int) -> tuple[float, float]:
        drops = [self.bound - self.part(region).bound for region in self._halves(element)]
        return min(drops), max(drops)

    def _halves(self, element: int) -> tuple[Region, Region]:
        return self.region.with_inside(element), self.region.with_outside(element)

    def part(self, region: Region) -> BlockNode:
        """Return a part; only the blocks of settled elements are looked at anew."""
        return BlockNode(self._tables, region, self)
