"""The circuits that keep elements out of a set, and the moves that add one and hit its circuits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from swapwise.checks import BoolArray, IndexArray
from swapwise.constraints.algorithms.exchanges import LARGEST_BATCH, pieces_of
from swapwise.kernels import exchanges
from swapwise.moves import NOTHING, MoveBatch, MoveList
from swapwise.override import override

# Kernels keep the circuits of an element as the bits of one number.
MOST_CIRCUITS = 64


class Circuits(NamedTuple):
    """The circuits that elements close with a set, as plain arrays for kernels.

    In each of p matroids, an element that cannot simply be added closes a circuit with chosen elements, of
    which one has to go. Chosen elements are denoted by their places in the set, in rising order.
    """

    of: IndexArray  #: the circuits that each element closes, one per matroid; -1 where it closes none
    begin: IndexArray  #: circuit c is ``members[begin[c] : begin[c + 1]]``
    members: IndexArray  #: places, in rising order on each circuit; a circuit without any cannot be opened
    open: BoolArray  #: which elements may be added: none that is chosen

    @classmethod
    def of_masks(cls, masks: Sequence[BoolArray], open_: BoolArray) -> Circuits:
        """Read circuits off the masks of feasible swaps of each matroid (see :class:`SwapGrid`)."""
        of = np.full((len(open_), len(masks)), -1, dtype=np.intp)
        sizes, members, count = [np.zeros(1, dtype=np.intp)], [], 0
        for m, feasible in enumerate(masks):
            closed = np.flatnonzero(open_ & ~feasible[:, -1])
            of[closed, m] = np.arange(count, count + len(closed))
            row, column = np.nonzero(feasible[closed, :-1])
            sizes.append(np.bincount(row, minlength=len(closed)))
            members.append(column)
            count += len(closed)
        return cls(of, np.cumsum(np.concatenate(sizes)), np.concatenate(members), open_)


class ListedLater(MoveList):
    """Moves that are listed when they are first read: some objectives score them without."""

    @property
    @override
    def added(self) -> IndexArray:
        return self.to_list().added

    @property
    @override
    def dropped(self) -> IndexArray:
        return self.to_list().dropped

    def _hold(self, **what: object) -> None:
        self.__dict__.update(what)  # lists are frozen: their moves do not change


class Exchanges(ListedLater):
    """All moves that add one element and drop the least that must go: a member of each of its circuits.

    ``widths`` are the numbers of columns of the list, for what is added and for what is dropped.

    >>> no, a, b = -1, 0, 1  # element 1 closes two circuits: with 0 alone, and with both chosen elements
    >>> of, begin, members = np.array([[no, no], [a, b], [no, no]]), np.array([0, 1, 3]), np.array([0, 0, 1])
    >>> circuits = Circuits(of, begin, members, np.array([False, True, False]))
    >>> list(Exchanges(np.array([0, 2]), circuits, (1, 2)).moves())
    [Move(added=(1,), dropped=(0,))]
    """

    drops: IndexArray
    circuits: Circuits
    widths: tuple[int, int]
    n_added = 1

    def __init__(self, drops: IndexArray, circuits: Circuits, widths: tuple[int, int]) -> None:
        self._hold(drops=drops, circuits=circuits, widths=widths)

    @override
    def to_list(self) -> MoveList:
        return self._listed

    @cached_property
    def _listed(self) -> MoveList:
        added, columns = exchanges.spelled_out(tuple(self.circuits), len(self.drops))
        dropped = np.append(self.drops, NOTHING)[columns]
        return MoveList.joined([MoveList(added[:, None], dropped)], *self.widths)

    @override
    def parts(self) -> Iterator[MoveBatch]:
        elements, sizes = np.flatnonzero(self.circuits.open), np.append(np.diff(self.circuits.begin), 1)
        ways = np.maximum(sizes[self.circuits.of[elements]], 1.0).prod(axis=1)
        for piece in pieces_of(ways, LARGEST_BATCH):
            some = np.zeros(len(self.circuits.open), dtype=bool)
            some[elements[piece]] = True
            yield Exchanges(self.drops, self.circuits._replace(open=some), self.widths)


class LargerExchanges(ListedLater):
    """The moves that add ``size`` elements at once, and drop the least that must go for all of them.

    There are very many: ``batches`` lists them, a batch at a time. Least squares find the best of those that
    add two without the list, from ``alone``, the moves that add one of the elements (any drop has to hit its
    circuits), and ``is_independent``, which tests the sets that result.
    """

    alone: Exchanges
    is_independent: Callable[[IndexArray], bool]
    _size: int
    _batches: Callable[[], Iterator[MoveList]]

    def __init__(
        self,
        alone: Exchanges,
        size: int,
        is_independent: Callable[[IndexArray], bool],
        batches: Callable[[], Iterator[MoveList]],
    ) -> None:
        self._hold(alone=alone, is_independent=is_independent, _size=size, _batches=batches)

    @property
    @override
    def n_added(self) -> int:  # type: ignore[override]
        return self._size

    @override
    def to_list(self) -> MoveList:
        return self._listed

    @cached_property
    def _listed(self) -> MoveList:
        return MoveList.joined(self._batches())

    @override
    def parts(self) -> Iterator[MoveBatch]:
        return self._batches()
