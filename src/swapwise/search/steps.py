"""What the loop asks of every method: the next move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.moves import Move, MoveBatch, SwapGrid
from swapwise.objectives.base import State
from swapwise.search.clock import Clock
from swapwise.search.result import Status

# Moves that take a refit each are scored in pieces of this size, so that a search can stop
# between them.
PIECE = 16


class Steps(ABC):
    """A method, seen from the loop: it proposes moves until it has none."""

    #: Why the search stops when no move is left.
    finished: Status = Status.COMPLETE
    #: Whether a move that does not raise the value is to be taken back.
    must_rise: bool = False

    @abstractmethod
    def propose(self, state: State) -> Move | None:
        """Return the next move, or None at the end."""


def pieces(batches: Iterable[MoveBatch], small: bool, clock: Clock) -> Iterator[MoveBatch]:
    """Go through batches, cut small if asked, with a look at the clock before each."""
    for batch in batches:
        for piece in batch.to_list().chunks(PIECE) if small else (batch,):
            clock.check()
            yield piece


def gains_of_additions(state: State, addable: BoolArray, clock: Clock) -> FloatArray:
    """Return the gain of adding each element, minus infinity where that is not allowed."""
    grid = SwapGrid(np.empty(0, dtype=np.intp), addable[:, None])
    if state.objective.closed_form_gains:
        clock.check()
        return state.gains(grid)[:, 0]
    parts = [state.gains(piece) for piece in pieces([grid], True, clock)]
    return grid.spread(np.concatenate([*parts, []]))[:, 0]


def move_to(support: IndexArray, target: IndexArray) -> Move:
    """Return the move that leads from one set to another."""
    added, dropped = np.setdiff1d(target, support), np.setdiff1d(support, target)
    return Move(tuple(added.tolist()), tuple(dropped.tolist()))
