"""Exhaustive search: every maximal allowed set, for small problems and for tests."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import TIE, Move
from swapwise.objectives.base import State
from swapwise.search.clock import Clock
from swapwise.search.steps import Steps, move_to

LARGEST_FAMILY = 1_000_000


class Exhaustive(Steps):
    """Evaluates all maximal allowed sets (f is monotone) and moves to each new best one."""

    def __init__(self, constraint: IndependenceSystem, clock: Clock) -> None:
        count = constraint.count_bound()
        if count > LARGEST_FAMILY:
            raise ValueError(
                f"exhaustive search is for at most {LARGEST_FAMILY:,} maximal sets; this constraint may "
                f"have {count:.3g}. A local search (method='auto') has no such limit"
            )
        self._sets = maximal_sets(constraint)
        self._clock = clock

    def propose(self, state: State) -> Move | None:
        """Return the move to the next set that beats the present one, or None when all were seen."""
        for candidate in self._sets:
            self._clock.check()
            state.n_evaluations += 1
            value = state.objective._value(candidate)
            if value > state.value + TIE * max(abs(value), state.objective.scale):
                return move_to(state.support, candidate)
        return None


def maximal_sets(constraint: IndependenceSystem) -> Iterator[IndexArray]:
    """Yield every maximal allowed set once, in lexicographic order."""
    largest = constraint.max_size()
    stack = [constraint.forced]
    while stack:
        chosen = stack.pop()
        addable = np.flatnonzero(constraint.addable(chosen))
        if not len(addable):
            yield chosen
            continue
        # Elements come in rising order (after the forced ones), so every set is built in one way.
        free = np.setdiff1d(chosen, constraint.forced)
        later = addable[addable > free.max(initial=-1)]
        for element in later[::-1]:
            if constraint.p > 1 or len(chosen) + (later >= element).sum() >= largest:
                stack.append(np.sort(np.append(chosen, element)))
