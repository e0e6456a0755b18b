"""Moves between sets that are independent in several matroids, with minimal drops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.algorithms.exchanges import (
    LARGEST_BATCH,
    batched,
    in_order,
    left_aligned,
    minimal_hitting_sets,
    pieces_of,
    runs_of,
    without_supersets,
)
from swapwise.constraints.circuits import MOST_CIRCUITS, Circuits, Exchanges, LargerExchanges
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move, MoveBatch, MoveList


class CommonMoves:
    """The moves from a common independent set of matroids that add and drop up to ``widths`` elements."""

    def __init__(
        self,
        matroids: Sequence[Matroid],
        support: IndexArray,
        outside: IndexArray,
        widths: tuple[int, int],
    ) -> None:
        self._matroids, self._support, self._outside = matroids, support, outside
        self._widths = widths

    def batches(self) -> Iterator[MoveBatch]:
        sizes = range(1, self._widths[0] + 1)
        if len(self._matroids) > MOST_CIRCUITS:
            for size in sizes:
                yield from self._listed(size)
            return
        alone = self._adding_one()
        yield alone
        for size in sizes[1:]:
            yield LargerExchanges(alone, size, self._is_independent, partial(self._listed, size))

    def _listed(self, size: int) -> Iterator[MoveList]:
        return batched(self.adding(size), *self._widths)

    def _is_independent(self, support: IndexArray) -> bool:
        return all(matroid._is_independent(support) for matroid in self._matroids)

    def _adding_one(self) -> Exchanges:
        is_open = np.zeros(self._matroids[0].n, dtype=bool)
        is_open[self._outside] = True
        masks = [matroid._swap_mask(self._support) for matroid in self._matroids]
        return Exchanges(self._support, Circuits.of_masks(masks, is_open), self._widths)

    def adding(self, size: int) -> Iterator[MoveList]:
        """Yield all moves that add ``size`` elements, in lists, and drop nothing needlessly.

        Any drop for A + b suffices for A, so that it is a minimal drop for A and then a minimal one to add b.
        The last element can be any, all at once: the circuits that it closes come from the matroids' masks.
        """
        most = self._widths[1]
        if size == 0:
            yield MoveList(np.empty((1, 0), dtype=np.intp), np.full((1, most), -1, dtype=np.intp))
            return
        for shorter in self.adding(size - 1):
            for run in runs_of(shorter.added):
                ways = list(shorter.take(run).moves())
                longer = (part for move in ways for part in self._one_more(move))
                if len(ways) == 1:
                    yield from longer  # with one way to begin, what is minimal at the end is minimal
                else:
                    yield without_supersets(_in_order(MoveList.joined(longer, size, most)))

    def _one_more(self, move: Move) -> Iterator[MoveList]:
        """Yield the moves that add one later element as well, with minimal drops to add that one."""
        most = self._widths[1]
        after = move.result(self._support)
        later = self._outside[self._outside > max(move.added, default=-1)]
        droppable = np.isin(after, self._support)
        circuits = []
        for matroid in self._matroids:
            feasible = matroid._swap_mask(after)[later]
            closed = ~feasible[:, -1]
            circuit = feasible[:, :-1] & droppable & closed[:, None]
            hopeless = closed & ~circuit.any(axis=1)
            circuits.append((circuit, hopeless))
        possible = ~np.logical_or.reduce([hopeless for _, hopeless in circuits])
        later, masks = later[possible], [circuit[possible] for circuit, _ in circuits]
        ways = np.prod([np.maximum(mask.sum(axis=1), 1.0) for mask in masks], axis=0)
        for piece in pieces_of(ways, LARGEST_BATCH):
            row, columns = minimal_hitting_sets([mask[piece] for mask in masks])
            goes = np.where(columns < 0, -1, np.append(after, -1)[columns])
            goes = np.hstack([goes, np.tile(np.array(move.dropped, dtype=np.intp), (len(row), 1))])
            few = (goes >= 0).sum(axis=1) <= most
            added = np.tile(np.array(move.added, dtype=np.intp), (few.sum(), 1))
            added = np.column_stack([added, later[piece][row[few]]])
            yield _in_order(MoveList(added, left_aligned(goes[few], most)))


def _in_order(moves: MoveList) -> MoveList:
    """Return moves that differ only in the last element added, each once and in order."""
    return moves.take(in_order(moves.added[:, -1], moves.dropped))
