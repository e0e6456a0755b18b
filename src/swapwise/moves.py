"""Moves, and batches of them as plain arrays, which objectives, constraints and search exchange.

A :class:`SwapGrid` holds all one-for-one moves with a mask of the feasible ones, a :class:`MoveList` lists
moves. In both, moves are ordered by what they add and then by what they drop, so that "the first" and "the
smallest index" mean the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.numerics import TIE
from swapwise.override import override

NOTHING = -1  # pads the rows of a MoveList: no element here


@dataclass(frozen=True)
class Move:
    """One move: the elements it adds and those it drops.

    See Also
    --------
    MoveList, SwapGrid : many moves at once.

    Examples
    --------
    >>> Move(added=(4,), dropped=(1,))
    Move(added=(4,), dropped=(1,))
    """

    added: tuple[int, ...] = ()
    dropped: tuple[int, ...] = ()

    def result(self, support: IndexArray) -> IndexArray:
        """Return the sorted set that the move makes of ``support``."""
        kept = support
        if self.dropped:
            gone = set(self.dropped)
            kept = support[[element not in gone for element in support.tolist()]]
        made = np.concatenate([kept, np.array(self.added, dtype=np.intp)])
        made.sort()
        return made

    @property
    def undone(self) -> Move:
        """The move that leads back."""
        return Move(self.dropped, self.added)


class Step(NamedTuple):
    """A move that was made, and the value that it led to."""

    move: Move
    value: float
    #: The strategy that made it, if not the one that is run
    strategy: str | None = None


class Run(NamedTuple):
    """Moves that were made in one compiled call."""

    steps: Sequence[Step] = ()
    #: Whether no move improves the resulting set for certain
    is_optimal: bool = False


class Found(NamedTuple):
    """The best move of some batches, and its score."""

    move: Move
    score: float


def move_between(support: IndexArray, target: IndexArray) -> Move:
    before, after = set(support.tolist()), set(target.tolist())
    return Move(tuple(sorted(after - before)), tuple(sorted(before - after)))


def additions(addable: BoolArray) -> SwapGrid:
    return SwapGrid(np.empty(0, dtype=np.intp), addable[:, None])


class MoveBatch(ABC):
    """Many moves from one set, scored together in an array of shape ``shape``."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of an array of scores."""

    @abstractmethod
    def move(self, index: int) -> Move:
        """Return the move at a flat index of the scores."""

    @abstractmethod
    def to_list(self) -> MoveList:
        """Spell out the moves worth scoring, in order."""

    @abstractmethod
    def spread(self, scores: FloatArray) -> FloatArray:
        """Lay the scores of ``to_list()`` out in an array of shape ``shape``."""

    @abstractmethod
    def cheapest(self, cost: FloatArray) -> MoveList:
        """Return, of all moves that add the same, the one with the cheapest drop; ties go to the first."""

    #: How many elements a move adds at most
    n_added: int = 1

    @property
    def effort(self) -> int:
        """The relative cost of scoring the moves: batches of less effort are scored first."""
        return self.n_added

    def parts(self) -> Iterator[MoveBatch]:
        """Yield the moves, in order, in batches that are not too large to be scored at once."""
        yield self

    def best(self, scores: FloatArray, scale: float = 0.0) -> tuple[int, float]:
        """Return flat index and score of the best move; ties go to the smallest index.

        The index is -1 when there is no move at all. ``scale`` is the size of the values whose
        differences the scores are: it sets what counts as a tie.
        """
        top = float(scores.max(initial=-np.inf))
        if top == -np.inf:
            return -1, top
        index = int(np.argmax(scores >= top - TIE * (abs(top) + abs(scale))))
        return index, float(scores.flat[index])


@dataclass(frozen=True, eq=False)
class MoveList(MoveBatch):
    """Moves spelled out: row ``k`` adds ``added[k]`` and drops ``dropped[k]``, padded with -1.

    See Also
    --------
    SwapGrid : all swaps of one for one.
    Move : one of them.

    Examples
    --------
    >>> moves = MoveList(added=np.array([[4], [5]]), dropped=np.array([[1], [-1]]))
    >>> moves.move(1)
    Move(added=(5,), dropped=())
    """

    added: IndexArray
    dropped: IndexArray

    @classmethod
    def empty(cls) -> MoveList:
        """Return a list without moves."""
        nothing = np.empty((0, 0), dtype=np.intp)
        return cls(nothing, nothing)

    @classmethod
    def of(cls, moves: Sequence[Move]) -> MoveList:
        """Return moves as a list.

        >>> MoveList.of([Move((4, 5), (1,)), Move((), (0,))]).added
        array([[ 4,  5],
               [-1, -1]])
        """
        rows = [[np.array([part], dtype=np.intp) for part in (move.added, move.dropped)] for move in moves]
        return cls.joined(cls(*row) for row in rows)

    @classmethod
    def joined(cls, lists: Iterable[MoveList], n_added: int = 0, n_dropped: int = 0) -> MoveList:
        """Return one list of all moves, in order, with columns for at least ``n_added`` and ``n_dropped``.

        >>> swap = MoveList(np.array([[4]]), np.array([[1]]))
        >>> MoveList.joined([swap, MoveList(np.array([[5]]), np.array([[0, 2]]))]).dropped
        array([[ 1, -1],
               [ 0,  2]])
        """
        parts = list(lists)
        return cls(
            _stacked([moves.added for moves in parts], n_added),
            _stacked([moves.dropped for moves in parts], n_dropped),
        )

    @property
    @override
    def n_added(self) -> int:  # type: ignore[override]
        return int((self.added >= 0).sum(axis=1).max(initial=0))

    @property
    @override
    def shape(self) -> tuple[int, ...]:
        return (len(self.added),)

    def __len__(self) -> int:
        return len(self.added)

    @override
    def move(self, index: int) -> Move:
        added, dropped = self.added[index], self.dropped[index]
        return Move(tuple(added[added >= 0].tolist()), tuple(dropped[dropped >= 0].tolist()))

    def moves(self) -> Iterator[Move]:
        """Go through the moves in order."""
        return (self.move(index) for index in range(len(self)))

    @override
    def to_list(self) -> MoveList:
        return self

    @override
    def spread(self, scores: FloatArray) -> FloatArray:
        return scores

    @override
    def cheapest(self, cost: FloatArray) -> MoveList:
        """Return, of all moves that add the same, the one with the cheapest drop; ties go to the first.

        Moves that add the same must follow each other.

        >>> moves = MoveList(np.array([[3], [3], [4]]), np.array([[0], [1], [-1]]))
        >>> moves.cheapest(np.array([2.0, 1.0, 0.0, 0.0, 0.0])).dropped
        array([[ 1],
               [-1]])
        """
        if not len(self):
            return self
        total = self.sums(self.dropped, cost)
        first = first_of_each(self.added)
        run = np.cumsum(first) - 1
        cheapest = np.flatnonzero(total == np.minimum.reduceat(total, np.flatnonzero(first))[run])
        return self.take(cheapest[first_of_each(run[cheapest][:, None])])

    def take(self, rows: slice | IndexArray) -> MoveList:
        """Return some of the moves."""
        return MoveList(self.added[rows], self.dropped[rows])

    def chunks(self, size: int) -> Iterator[MoveList]:
        """Cut the list into pieces of at most ``size`` moves."""
        for begin in range(0, len(self), size):
            yield self.take(slice(begin, begin + size))

    @staticmethod
    def sums(elements: IndexArray, values: FloatArray) -> FloatArray:
        """Return for each row of ``added`` or ``dropped`` the sum of a value of length n over it."""
        return np.append(values, 0.0)[elements].sum(axis=1)  # padding is -1 and finds the 0

    def are_swaps(self) -> bool:
        """Return whether every move adds at most one element and drops at most one."""
        return self.added.shape[1] <= 1 and self.dropped.shape[1] <= 1

    def swap_columns(self) -> tuple[IndexArray, IndexArray]:
        """Return what each swap adds and what it drops, -1 for nothing."""
        nothing = np.full(len(self), NOTHING, dtype=np.intp)
        added, dropped = (
            elements[:, 0] if elements.shape[1] else nothing for elements in (self.added, self.dropped)
        )
        return added, dropped


@dataclass(frozen=True, eq=False)
class SwapGrid(MoveBatch):
    """All moves that add one element and drop at most one.

    ``feasible[j, i]`` is whether adding element ``j`` and dropping ``drops[i]`` is feasible, and
    the last column, ``feasible[j, -1]``, whether ``j`` can be added with nothing dropped. Rows of
    elements that are already in the set are False.

    See Also
    --------
    MoveList : moves of any size.
    Move : one of them.

    Examples
    --------
    >>> grid = SwapGrid(drops=np.array([0]), feasible=np.array([[0, 0], [1, 0], [1, 1]], dtype=bool))
    >>> list(grid.to_list().moves())
    [Move(added=(1,), dropped=(0,)), Move(added=(2,), dropped=())]
    """

    drops: IndexArray
    feasible: BoolArray

    @property
    @override
    def shape(self) -> tuple[int, ...]:
        return self.feasible.shape

    @property
    def free(self) -> BoolArray:
        """Which elements can be added with nothing dropped."""
        return self.feasible[:, -1]

    @property
    def useful(self) -> BoolArray:
        """The feasible moves that no other beats: f is monotone, so a needless drop never pays."""
        useful = self.feasible & ~self.free[:, None]
        useful[:, -1] = self.free
        return useful

    @override
    def move(self, index: int) -> Move:
        added, column = divmod(index, self.shape[1])
        dropped = () if column == len(self.drops) else (int(self.drops[column]),)
        return Move((added,), dropped)

    @override
    def to_list(self) -> MoveList:
        added, column = np.nonzero(self.useful)
        dropped = np.append(self.drops, NOTHING)[column]
        return MoveList(added[:, None], dropped[:, None])

    @override
    def spread(self, scores: FloatArray) -> FloatArray:
        spread = np.full(self.shape, -np.inf)
        spread[self.useful] = scores
        return spread

    @override
    def cheapest(self, cost: FloatArray) -> MoveList:
        price = np.where(self.feasible, np.append(cost[self.drops], -1.0), np.inf)
        column = price.argmin(axis=1)
        added = np.flatnonzero(np.isfinite(price[np.arange(len(price)), column]))
        dropped = np.append(self.drops, NOTHING)[column[added]]
        return MoveList(added[:, None], dropped[:, None])


def first_of_each(rows: IndexArray) -> BoolArray:
    """Return which rows differ from the one before."""
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return first


def padded(rows: Sequence[IndexArray]) -> IndexArray:
    """Return rows of elements as a table, each sorted and padded with -1 at its end."""
    table = np.full((len(rows), max(map(len, rows), default=1)), NOTHING, dtype=np.intp)
    for number, row in enumerate(rows):
        table[number, : len(row)] = np.sort(row)
    return table


def _stacked(parts: list[IndexArray], width: int) -> IndexArray:
    """Return all rows below each other, padded to the widest and to ``width``."""
    width = max([width, *(part.shape[1] for part in parts)])
    stacked = np.full((sum(map(len, parts)), width), NOTHING, dtype=np.intp)
    begin = 0
    for part in parts:
        stacked[begin : begin + len(part), : part.shape[1]] = part
        begin += len(part)
    return stacked
