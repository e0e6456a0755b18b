"""Random residual greedy (Chen, Feldman and Karbasi 2018), for any matroid."""

from __future__ import annotations

import numpy as np

from swapwise.clock import Clock
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move
from swapwise.objectives.base import State
from swapwise.search.steps import Steps, gains_of_additions


class RandomResidualGreedy(Steps):
    """In each of rank rounds, add a random element of what would be the heaviest rest.

    The heaviest rest is the base of the contracted matroid with the largest sum of marginal gains;
    one of its elements, each as likely as the others, is added.
    """

    def __init__(self, matroid: Matroid, rng: np.random.Generator, clock: Clock) -> None:
        self._matroid, self._rng, self._clock = matroid, rng, clock

    def propose(self, state: State) -> Move | None:
        """Return the random addition of this round, or None at a base."""
        gains = gains_of_additions(state, self._matroid.addable(state.support), self._clock, self)
        heaviest_first = np.argsort(-gains, kind="stable")
        fitting = heaviest_first[np.isfinite(gains[heaviest_first])]
        rest = np.setdiff1d(self._matroid.extend(state.support, fitting), state.support)
        return Move(added=(int(self._rng.choice(rest)),)) if len(rest) else None
