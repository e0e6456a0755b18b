"""Greedy: add the best element for as long as one improves."""

from __future__ import annotations

import numpy as np

from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import TIE, Move
from swapwise.objectives.base import State
from swapwise.search.clock import Clock
from swapwise.search.steps import Steps, gains_of_additions


class Greedy(Steps):
    """In each round the allowed addition with the largest gain; ties go to the smallest index."""

    def __init__(self, constraint: IndependenceSystem, tol: float, clock: Clock) -> None:
        self._constraint, self._tol, self._clock = constraint, tol, clock

    def propose(self, state: State) -> Move | None:
        """Return the best addition, or None when nothing improves or fits."""
        gains = gains_of_additions(state, self._constraint.addable(state.support), self._clock)
        scale = max(abs(state.value), state.objective.scale)
        top = gains.max(initial=-np.inf)
        if not top > self._tol * scale:
            return None
        return Move(added=(int(np.argmax(gains >= top - TIE * (top + scale))),))
