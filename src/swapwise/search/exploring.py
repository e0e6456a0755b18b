"""Exploration for least squares in memory: compiled search of few columns, and perturbations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.events import notify
from swapwise.moves import Step, move_between
from swapwise.objectives.base import State
from swapwise.objectives.least_squares.exploration import Exploration
from swapwise.override import override
from swapwise.search.loop import Strategy
from swapwise.search.subproblems import go

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.state import LeastSquaresState

# Perturbations end after this many failures in a row. For each entry of the data they may cost as much as
# this many updates of a number: before the first better set is found, between better sets, and in all.
MOST_FAILURES, FIRST_WORK, MOST_WORK, MOST_WORK_IN_ALL = 96, 10.0, 15.0, 50.0

# The number of entries is clipped to this range: perturbations of small data take no time at all, and in
# large data they rarely find anything better.
FEWEST_ENTRIES, MOST_ENTRIES = 10_000, 4_000_000

# Values in single precision that differ by no more than this count as equal.
TIE = 2e-7

# The number of perturbations between checks of the clock
AT_ONCE = 48


class Exploring(Strategy):
    """Search few columns, scan all for elements that would improve the answer, and perturb local optima.

    Compiled, in single precision; the state moves to each better local optimum. ``first`` are the candidates
    that an earlier search of the same objective ended with: this one begins with them, and does not perturb.
    """

    name = "exploration"

    def __init__(self, constraint: Constraint, tol: float, first: IndexArray | None = None) -> None:
        self._constraint, self._tol, self._first = constraint, tol, first
        self._explored: Exploration | None = None
        self._failures, self._rounds, self._succeeded = 0, 0, False

    @property
    def elements(self) -> IndexArray:
        return np.empty(0, dtype=np.intp) if self._explored is None else self._explored.candidates

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        columns = cast("LeastSquaresState", state)
        if self._explored is None:
            explored = self._explored = Exploration(columns.objective, self._constraint, self._first)
            steps = self._go(self._settled(explored, columns, budget), None, columns, budget)
            design = columns.objective.design
            entries = design.n_samples * design.n_features
            self._entries = min(MOST_ENTRIES, max(FEWEST_ENTRIES, entries))
            self._most_in_all = explored.work + MOST_WORK_IN_ALL * self._entries
            self._allow_more(explored)
            if steps:
                return steps
        return [] if self._first is not None else self._perturb(self._explored, columns, budget)

    def _settled(
        self, explored: Exploration, state: LeastSquaresState, budget: Budget
    ) -> tuple[IndexArray, float]:
        support = state.support
        while True:
            support, value, is_settled = explored.search_once(support)
            if is_settled:
                return support, value
            budget.keep([Step(move_between(state.support, support), value)], value)
            budget.check()

    def _perturb(self, explored: Exploration, state: LeastSquaresState, budget: Budget) -> Sequence[Step]:
        while self._failures < MOST_FAILURES and explored.work < self._most_work:
            budget.check()
            found = explored.better(state.support, state.value, AT_ONCE, self._most_work)
            self._failures += AT_ONCE
            steps = [] if found is None else self._go(found, "perturbation", state, budget)
            if steps:
                self._failures, self._succeeded = 0, True
                self._allow_more(explored)
                return steps
        return []

    def _allow_more(self, explored: Exploration) -> None:
        most = MOST_WORK if self._succeeded else FIRST_WORK
        self._most_work = min(self._most_in_all, explored.work + most * self._entries)

    def _go(
        self, found: tuple[IndexArray, float], made_by: str | None, state: LeastSquaresState, budget: Budget
    ) -> Sequence[Step]:
        target, value = found
        if value <= state.value + TIE and len(state.support):
            return []
        # The search in single precision drops forced elements that others span.
        if not set(self._constraint.forced.tolist()) <= set(target.tolist()):
            return []
        self._rounds += 1
        notify(rounds=self._rounds, passes=state.objective.n_passes, value=state.value)
        steps = [Step(move_between(state.support, target), value, made_by)]
        budget.keep(steps, value)
        return go(steps, state, state.resolution(self._tol) if len(state.support) else 0.0)
