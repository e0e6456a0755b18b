"""Least squares in memory: go to the best of many local optima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.events import notify
from swapwise.moves import Step, move_between
from swapwise.objectives.base import State
from swapwise.objectives.least_squares.exploration import Exploration
from swapwise.search.loop import Strategy
from swapwise.search.subproblems import go

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.objective import LeastSquares
    from swapwise.objectives.least_squares.state import LeastSquaresState

# Perturbations end when this many in a row have led to nothing better, or when all of them have cost as much as
# this many updates for each entry of the data. This many are made between looks at the clock.
MOST_FAILURES, MOST_WORK, AT_ONCE = 96, 40.0, 32


def can_be_explored(objective: LeastSquares, constraint: IndependenceSystem) -> bool:
    """Return whether data are in memory, and limits laminar."""
    return not objective.design.sequential and constraint.laminar_tree() is not None


class Exploring(Strategy):
    """Search few columns, look at all for what would improve the answer, and leave local optima.

    All of that is compiled, in single precision; the state moves to each better local optimum. ``first`` are
    the candidates that a search of the same objective ended with: this one begins with them, and
    perturbations are left to that search.
    """

    name = "exploration"

    def __init__(self, constraint: IndependenceSystem, first: IndexArray | None = None) -> None:
        self._constraint, self._first = constraint, first
        self._explored: Exploration | None = None
        self._failures, self._most_work, self._rounds = 0, np.inf, 0

    @property
    def elements(self) -> IndexArray:
        """The candidates."""
        return np.empty(0, dtype=np.intp) if self._explored is None else self._explored.candidates

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go to the next better local optimum."""
        columns = cast("LeastSquaresState", state)
        if self._explored is None:
            explored = self._explored = Exploration(columns.objective, self._constraint, self._first)
            set_, value = explored.settle(columns.support)
            design = columns.objective.design
            self._most_work = explored.work + MOST_WORK * design.n_samples * design.n_features
            steps = self._go(set_, value, None, columns, budget)
            if steps:
                return steps
        while self._first is None and self._failures < MOST_FAILURES and self._explored.work < self._most_work:
            budget.check()
            most = min(AT_ONCE, MOST_FAILURES - self._failures)
            found = self._explored.better(columns.support, columns.value, most, self._most_work)
            self._failures += most
            if found is not None:
                self._failures = 0
                steps = self._go(*found, "perturbation", columns, budget)
                if steps:
                    return steps
        return []

    def _go(
        self, target: IndexArray, value: float, who: str | None, state: LeastSquaresState, budget: Budget
    ) -> Sequence[Step]:
        self._rounds += 1
        notify(rounds=self._rounds, passes=state.objective.n_passes, value=state.value)
        steps = [Step(move_between(state.support, target), value, who)]
        budget.keep(steps, value)
        return go(steps, state)
