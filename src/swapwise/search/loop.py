"""The one loop that every method runs through, and the record it keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swapwise.checks import IndexArray, warn
from swapwise.clock import Clock
from swapwise.moves import Move
from swapwise.objectives.base import State
from swapwise.search.result import Event, Status
from swapwise.search.steps import Steps

Observer = Callable[[Event], object]


class Trace:
    """What is known so far: the best set, the accepted moves, and who wants to hear of them."""

    def __init__(self, support: IndexArray, observers: list[Observer]) -> None:
        self.support = support
        self.history: list[Event] = []
        self.start_path: list[Event] = []  # the moves of a greedy start are none of the search's own
        self.recording = False
        self._observers = observers

    @property
    def is_watched(self) -> bool:
        """Whether somebody wants to hear of every move."""
        return bool(self._observers)

    def add(self, event: Event) -> None:
        """Note a move that was taken elsewhere."""
        self.support = event.support.copy()  # whoever reads the history may do with it what they like
        self.history.append(event)

    def record(self, move: Move, state: State, seconds: float) -> bool:
        """Note a move; return True if an observer wants the search to stop."""
        self.support = state.support
        moves = self.history if self.recording else self.start_path
        support = state.support.copy()  # observers may do with it what they like
        event = Event(len(moves) + 1, move.added, move.dropped, support, state.value, seconds)
        moves.append(event)
        if not self.recording:
            return False
        answers = [_wants_to_stop(observer, event) for observer in self._observers]  # all get to hear it
        return any(answers)


def climb(state: State, steps: Steps, trace: Trace, clock: Clock, max_iter: int | None = None) -> Status:
    """Take the moves that ``steps`` proposes until it has none, or a limit or an observer says stop."""
    while max_iter is None or len(trace.history) < max_iter:
        clock.check()
        move = steps.propose(state)
        if move is None:
            return steps.finished
        before = state.value
        state.apply(move)
        if steps.must_rise and not state.value > before:
            state.apply(Move(added=move.dropped, dropped=move.added))
            warn(f"{move} did not raise the value {before:.6g} as it promised: {steps.why_not}")
            return Status.INTERRUPTED
        if trace.record(move, state, clock.seconds()):
            return Status.INTERRUPTED
    return Status.ITERATION_LIMIT


def take_pending(state: State, steps: Steps, trace: Trace, clock: Clock) -> None:
    """Take the best move that a round had found before it was cut short."""
    if steps.pending is not None:
        state.apply(steps.pending)
        trace.record(steps.pending, state, clock.seconds())


def _wants_to_stop(observer: Observer, event: Event) -> bool:
    try:
        answer = observer(event)
    except StopIteration:
        return True
    # Only a true truth value: a callback that happens to return a number or a list means nothing by it.
    return isinstance(answer, (bool, np.bool_)) and bool(answer)
