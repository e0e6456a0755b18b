"""Modular approximation: Algorithm 6 of the paper."""

from __future__ import annotations

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Move
from swapwise.objectives.base import State
from swapwise.search.steps import Steps, gains_of_additions, move_to


class Modular(Steps):
    """Ignore all interaction: the heaviest allowed set by the gains of single elements."""

    def __init__(self, constraint: IndependenceSystem, clock: Clock) -> None:
        self._constraint, self._clock = constraint, clock
        self._done = False

    def propose(self, state: State) -> Move | None:
        """Return the one move that leads to the heaviest set."""
        if self._done:
            return None
        self._done = True
        move = move_to(state.support, heaviest_set(state, self._constraint, self._clock, self))
        return move if move.added else None


def heaviest_set(
    state: State, constraint: IndependenceSystem, clock: Clock, steps: Steps | None = None
) -> IndexArray:
    """Return the allowed set with the largest sum of single gains, with what the state holds."""
    gains = gains_of_additions(state, constraint.addable(state.support), clock, steps)
    heaviest = constraint._max_weight(np.maximum(gains, 0.0), clock).support
    return np.union1d(heaviest, state.support)
