"""Local search: a pivot rule scores the moves, an acceptance rule takes one or stops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Move, MoveBatch
from swapwise.numerics import TIE
from swapwise.objectives.base import State
from swapwise.search.pivots import NonOblivious, Pivot
from swapwise.search.steps import Steps, pieces


class Acceptance(ABC):
    """Picks a move from scored batches, or none."""

    #: Whether nothing but the best move matters.
    only_best: bool = False

    def __init__(self, tol: float) -> None:
        self._tol = tol

    def least_gain(self, state: State) -> float:
        """Return what a score must exceed for a move to count as an improvement."""
        return max(self._tol, state.rounding) * state.magnitude

    @abstractmethod
    def pick(self, pivot: Pivot, state: State, batches: Iterable[MoveBatch], steps: Steps) -> Move | None:
        """Return the move to take, or None; ``steps.pending`` keeps the best one on the way."""


class BestImprovement(Acceptance):
    """Take the best move if it improves at all: Algorithms 1 and 3 of the paper."""

    only_best = True

    def pick(self, pivot: Pivot, state: State, batches: Iterable[MoveBatch], steps: Steps) -> Move | None:
        """Return the best improving move; ties go to the one that comes first."""
        best, found = self.least_gain(state), None
        for moves in batches:
            index, score = pivot.best(state, moves)
            ties = found is not None and score <= best + TIE * (abs(best) + state.magnitude)
            if index >= 0 and score > best and not ties:
                best, found = score, moves.move(index)
                steps.keep(found, best)
        return found


class GeometricImprovement(Acceptance):
    """Take the first move whose score is at least ``delta · f(X)``: Algorithm 5 of the paper."""

    def __init__(self, delta: float, tol: float) -> None:
        super().__init__(tol)
        self.delta = delta

    def pick(self, pivot: Pivot, state: State, batches: Iterable[MoveBatch], steps: Steps) -> Move | None:
        """Return the first move that is good enough."""
        least = self.least_gain(state)
        for moves in batches:
            scores = pivot.scores(state, moves)
            good = (scores >= self.delta * state.value) & (scores > least)
            if good.any():
                return moves.move(int(np.argmax(good)))
        return None


class LocalSearch(Steps):
    """Moves to a neighbouring set for as long as the rules find a good enough one."""

    must_rise = True

    def __init__(
        self, constraint: IndependenceSystem, pivot: Pivot, acceptance: Acceptance, q: int, clock: Clock
    ) -> None:
        self._constraint, self._pivot, self._acceptance = constraint, pivot, acceptance
        self._q, self._clock = q, clock
        self.finished, self.why_not = pivot.finished, pivot.why_not

    def propose(self, state: State) -> Move | None:
        """Return the move that the rules choose."""
        self.pending = None
        only_best = self._acceptance.only_best
        batches = self._batches(state, only_best)
        scouts = self._pivot.scouts(state, self._constraint) if only_best else None
        if scouts is not None:
            batches = self._narrowed(state, batches, scouts)
        move = self._acceptance.pick(self._pivot, state, self._cut(state, batches), self)
        self.pending = None
        return move

    def _batches(self, state: State, only_best: bool) -> Iterable[MoveBatch]:
        if type(self._pivot) is NonOblivious:  # its best move may come from an integer program
            return self._pivot.batches(state, self._constraint, self._q, only_best, self._clock)
        return self._pivot.batches(state, self._constraint, self._q, only_best)

    def _cut(self, state: State, batches: Iterable[MoveBatch]) -> Iterator[MoveBatch]:
        return pieces(batches, partial(self._pivot.is_cheap, state), self._clock)

    def _narrowed(self, state: State, batches: Iterable[MoveBatch], scouts: MoveBatch) -> Iterator[MoveBatch]:
        """Yield the batches without moves that are worse than the best scout, or no improvement.

        Scouts say what the best move gains at least, not which one it is: of moves that tie, the first in
        order is to be found, and scouts are in none. The floor stays the same for a whole round, so that what
        is scored does not depend on where the clock cuts the pieces.
        """
        floor = self._acceptance.least_gain(state)
        for piece in self._cut(state, [scouts]):
            index, gain = state.best(piece)
            if index >= 0 and gain > floor:
                floor = gain
                self.keep(piece.move(index), gain)

        def score(moves: MoveBatch) -> None:
            for piece in self._cut(state, [moves]):
                state.gains(piece)

        for batch in batches:
            yield state.narrowed(batch, floor, score)
