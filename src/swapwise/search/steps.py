"""What the loop asks of every method: the next move."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.moves import Move, MoveBatch, SwapGrid
from swapwise.objectives.base import State
from swapwise.search.result import Status

# Moves that take a refit each are scored in pieces, so that a search can stop between them; a piece
# should take about this many seconds.
PIECE_SECONDS = 0.02


class Steps(ABC):
    """A method, seen from the loop: it proposes moves until it has none."""

    #: Why the search stops when no move is left.
    finished: Status = Status.COMPLETE
    #: Whether a move that does not raise the value is to be taken back, and what that means.
    must_rise: bool = False
    why_not: str = ""
    #: The best move of a round that was cut short.
    pending: Move | None = None
    _pending_score: float = -np.inf

    def keep(self, move: Move, score: float) -> None:
        """Make a move the pending one, unless that is better."""
        if self.pending is None or score > self._pending_score:
            self.pending, self._pending_score = move, score

    @abstractmethod
    def propose(self, state: State) -> Move | None:
        """Return the next move, or None at the end."""


def pieces(
    batches: Iterable[MoveBatch], is_cheap: Callable[[MoveBatch], bool], clock: Clock
) -> Iterator[MoveBatch]:
    """Go through batches, cut small unless they are cheap, with a look at the clock before each."""
    for batch in batches:
        if is_cheap(batch):
            clock.check()
            yield batch
            continue
        listed, begin, size = batch.to_list(), 0, 1
        while begin < len(listed):
            clock.check()
            since = clock.seconds()
            yield listed.take(slice(begin, begin + size))
            begin += size
            size = 2 * size if clock.seconds() - since < PIECE_SECONDS else max(1, size // 2)


def additions(addable: BoolArray) -> SwapGrid:
    """Return the moves that add one element and drop nothing."""
    return SwapGrid(np.empty(0, dtype=np.intp), addable[:, None])


def gains_of_additions(
    state: State, addable: BoolArray, clock: Clock, steps: Steps | None = None
) -> FloatArray:
    """Return the gain of adding each element, minus infinity where that is not allowed.

    Until all are known, the best of those that are is the pending move of ``steps``.
    """
    gains, best = np.full(len(addable), -np.inf), 0.0
    for piece in pieces([additions(addable)], state.is_cheap, clock):
        scores, listed = state.gains(piece), piece.to_list()
        gains[listed.added[:, 0]] = scores[np.isfinite(scores)]
        index, top = piece.best(scores)
        if steps is not None and top > best:
            best, steps.pending = top, piece.move(index)
    if steps is not None:
        steps.pending = None
    return gains


def move_to(support: IndexArray, target: IndexArray) -> Move:
    """Return the move that leads from one set to another."""
    added, dropped = np.setdiff1d(target, support), np.setdiff1d(support, target)
    return Move(tuple(added.tolist()), tuple(dropped.tolist()))
