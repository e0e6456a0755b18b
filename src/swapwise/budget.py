"""What a search may still spend: time and moves; and what it has found in a round that is not over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from swapwise.clock import Clock
from swapwise.moves import MoveBatch, Step

# Moves that take a refit each are scored in pieces, so that a search can stop between them. A piece should
# take about this many seconds.
PIECE_SECONDS = 0.02


class Budget:
    """A clock, the number of moves left, and the best that an unfinished round has found.

    >>> budget = Budget(Clock(), moves=3)
    >>> budget.keep([Step(Move(added=(2,)), 0.5)], 0.1)
    >>> budget.keep([Step(Move(added=(7,)), 0.4)], 0.05)
    >>> budget.kept[0].move
    Move(added=(2,), dropped=())
    """

    def __init__(self, clock: Clock | None = None, moves: int | None = None) -> None:
        self.clock = clock or Clock()
        self.moves = moves
        self.kept: list[Step] = []
        self._gain = -np.inf

    def check(self) -> None:
        """Raise :class:`OutOfTime` when the time limit is reached."""
        self.clock.check()

    def most(self, moves: int) -> int:
        """Return how many of some moves may still be made."""
        return moves if self.moves is None else min(moves, self.moves)

    def spend(self, moves: int) -> None:
        """Count moves that were made."""
        if self.moves is not None:
            self.moves -= moves
        self.forget()

    def keep(self, steps: Sequence[Step], gain: float) -> None:
        """Keep steps that lead to a better set, for a search that is cut short; the best are kept."""
        if gain > self._gain:
            self.kept, self._gain = list(steps), gain

    def forget(self) -> None:
        """Forget what was kept: the round is over."""
        self.kept, self._gain = [], -np.inf

    def pieces(self, batches: Iterable[MoveBatch], are_cheap: bool) -> Iterator[MoveBatch]:
        """Yield batches, cut small unless they are cheap to score, with a look at the clock before each."""
        for batch in batches:
            if are_cheap:
                self.check()
                yield batch
                continue
            listed, begin, size = batch.to_list(), 0, 1
            while begin < len(listed):
                self.check()
                since = self.clock.seconds()
                yield listed.take(slice(begin, begin + size))
                begin += size
                size = 2 * size if self.clock.seconds() - since < PIECE_SECONDS else max(1, size // 2)
