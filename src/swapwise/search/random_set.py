"""A random maximal set: the baseline of the paper's second experiment."""

from __future__ import annotations

import numpy as np

from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Move
from swapwise.objectives.base import State
from swapwise.search.steps import Steps, move_to


class RandomSet(Steps):
    """One draw of the constraint's ``random_set``."""

    def __init__(self, constraint: IndependenceSystem, rng: np.random.Generator) -> None:
        self._constraint, self._rng = constraint, rng

    def propose(self, state: State) -> Move | None:
        """Return the one move to a random maximal set."""
        move = move_to(state.support, self._constraint.random_set(state.support, self._rng))
        return move if move.added else None
