"""A state whose gains of swaps are sums of three parts: addition, loss and overlap."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.moves import NOTHING, MoveBatch, MoveList, SwapGrid
from swapwise.objectives.base import State
from swapwise.override import override


class SwapState(State):
    """A state whose gains of swaps are sums of three parts, each cheap to compute for all moves at once.

    ``f(S − i + j) − f(S) = addition(j) − loss(i) + overlap(j, i)``, where ``addition(j)`` is
    ``f(S + j) − f(S)``, ``loss(i)`` is ``f(S) − f(S − i)`` and ``overlap(j, i)`` is the part of that
    loss for which ``j`` makes up. Write the three; grids and lists of swaps follow. Larger moves are
    refitted. Where the sum of the three may lose its digits, override ``_swaps`` instead of the last.
    """

    @abstractmethod
    def _additions(self, added: IndexArray) -> FloatArray:
        """Return ``f(S + j) − f(S)`` for every ``j`` of ``added``."""

    @abstractmethod
    def _losses(self, drops: IndexArray) -> FloatArray:
        """Return ``f(S) − f(S − i)`` for every ``i`` of ``drops``."""

    def _overlaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        """Return how much of the loss of ``i`` each ``j`` makes up for: one row per ``j``."""
        raise NotImplementedError(f"{type(self).__name__} has neither _overlaps nor _swaps")

    def _swaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        """Return ``f(S − i + j) − f(S)``, one row per ``j``."""
        return self._additions(added)[:, None] - self._losses(drops) + self._overlaps(added, drops)

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        if isinstance(moves, SwapGrid):
            return self._grid_gains(moves)
        if isinstance(moves, MoveList) and moves.are_swaps():
            return self._list_gains(moves)
        return super().gains(moves)

    def _grid_gains(self, grid: SwapGrid) -> FloatArray:
        useful = grid.useful
        self.n_evaluations += int(np.count_nonzero(useful))
        gains = np.full(grid.shape, -np.inf)
        free = np.flatnonzero(grid.free)
        gains[free, -1] = self._additions(free)
        # Swaps are the expensive part: none is needed for an element that can be added with no drop.
        bound = np.flatnonzero(useful[:, :-1].any(axis=1))
        if bound.size:
            gains[bound, :-1] = np.where(useful[bound, :-1], self._swaps(bound, grid.drops), -np.inf)
        return gains

    def _list_gains(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        added, dropped = moves.swap_columns()
        adds, drops = added != NOTHING, dropped != NOTHING
        gains = np.zeros(len(moves))
        swaps = adds & drops
        for alone, part in ((adds & ~drops, self._additions), (drops & ~adds, self._losses)):
            if alone.any():
                unique, where = np.unique(np.where(adds, added, dropped)[alone], return_inverse=True)
                gains[alone] = part(unique)[where]
        gains[drops] *= -1.0
        if swaps.any():
            rows, row = np.unique(added[swaps], return_inverse=True)
            columns, column = np.unique(dropped[swaps], return_inverse=True)
            gains[swaps] = self._swaps(rows, columns)[row, column]
        return gains
