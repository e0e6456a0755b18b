"""Limits on time and moves, and Ctrl-C during calls of other libraries."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Event, Thread
from time import perf_counter
from typing import Any

import numpy as np

from swapwise.moves import MoveBatch, Step

# Moves that take a refit each are scored in pieces, so that a search can stop between them. A piece should
# take about this many seconds.
PIECE_SECONDS = 0.02


class OutOfTime(Exception):
    """The time limit is reached; the search returns the best so far."""


class Clock:
    def __init__(self, time_limit: float | None = None) -> None:
        self._begin = perf_counter()
        self._limit = time_limit

    def seconds(self) -> float:
        return perf_counter() - self._begin

    def left(self) -> float:
        """The seconds until the limit, 0 beyond it; infinity if there is none."""
        return float("inf") if self._limit is None else max(0.0, self._limit - self.seconds())

    @property
    def is_over(self) -> bool:
        return self._limit is not None and self.seconds() >= self._limit

    def check(self) -> None:
        if self.is_over:
            raise OutOfTime

    def after(self, seconds: float) -> Clock:
        """A clock with as much time left, on which this many seconds have passed already."""
        later = Clock(None if self._limit is None else self.left() + seconds)
        later._begin -= seconds
        return later

    def share(self, part: float) -> Clock:
        return Clock(None if self._limit is None else part * self.left())


class Budget:
    """A clock, the number of moves left, and the best steps of an unfinished round.

    >>> from swapwise.moves import Move
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
        self.clock.check()

    def most(self, moves: int) -> int:
        return moves if self.moves is None else min(moves, self.moves)

    def spend(self, moves: int) -> None:
        if self.moves is not None:
            self.moves -= moves
        self.forget()

    def keep(self, steps: Sequence[Step], gain: float) -> None:
        """Keep steps that gain the most so far, for a search that is interrupted."""
        if gain > self._gain:
            self.kept, self._gain = list(steps), gain

    def forget(self) -> None:
        self.kept, self._gain = [], -np.inf

    def pieces(self, batches: Iterable[MoveBatch], are_cheap: bool) -> Iterator[MoveBatch]:
        """Yield batches, in small pieces unless they are cheap to score, and check the clock before each."""
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


# Set when a thread has computed: of threads that are waited for, and of those that an interrupt left behind.
# (After an interrupted `join`, Python 3.11 takes a thread that is running for one that has ended.)
_computing: list[Event] = []

# Seconds to wait for each when Python exits: as many as a program has in its first turn in a thread. HiGHS
# handles the signal, too, and most often stops at once; on a busy machine it may take a few seconds.
GRACE = 10.0


@atexit.register
def _wait_for_threads() -> None:
    # A thread that returns from C++ while Python shuts down would abort the process.
    for done in _computing:
        done.wait(GRACE)


def while_listening(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a thread, while this one handles Ctrl-C, and return its answer.

    For long calls of compiled libraries that ignore signals but let other threads run, such as HiGHS and
    LAPACK. After an interrupt they run on to their end, and nothing waits for them.
    """
    answers: list[Any] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    done = Event()
    _computing.append(done)
    Thread(target=run, daemon=True).start()
    while not done.wait(0.1):  # with a timeout: on some systems an endless wait blocks signals
        pass
    _computing.remove(done)  # an interrupt leaves it in the list
    if errors:
        raise errors[0]
    return answers[0]
