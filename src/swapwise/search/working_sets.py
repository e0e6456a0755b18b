"""Working sets: search few columns of least squares, scan all, and add those that would improve the set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.events import notify
from swapwise.moves import Step, move_between
from swapwise.objectives.base import State
from swapwise.override import override
from swapwise.search.exploring import Exploring
from swapwise.search.loop import Strategy
from swapwise.search.rules import OneAtATime
from swapwise.search.subproblems import Subproblem, disjoint_bases, go

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.group_state import GroupLeastSquaresState
    from swapwise.objectives.least_squares.state import LeastSquaresState

    ExactState = LeastSquaresState | GroupLeastSquaresState

# The number of disjoint bases that a working set begins with, the most elements of these, and the number of
# bases that it grows by per round
FIRST_BASES, MOST_AT_FIRST, NEW_BASES = 4, 3000, 1

# After a round that changed more than this share of the set, the working set grows by screening scores.
LARGE_CHANGE = 0.25

# Screening scores below this share of the least loss of a chosen column are left to the exact scan.
FAR_LESS = 0.5

# Perturbations are made in batches of AT_ONCE. They end after MOST_FAILURES in a row, or when all of them
# have cost as much as MOST_WORK updates of a number for each entry of the data.
AT_ONCE, MOST_FAILURES, MOST_WORK = 8, 16, 10.0

# Among at most FEW_ELEMENTS elements, FAILURES_OF_FEW are allowed in a row if a call of compiled code makes
# many moves. Data count as at least FEWEST_ENTRIES entries.
FEW_ELEMENTS, FAILURES_OF_FEW, FEWEST_ENTRIES = 200, 64, 10_000


class WorkingSets(Strategy):
    """Search a working set, scan all elements exactly, enlarge it, repeat; then perturb the local optimum.

    ``first`` is the working set that an earlier search of the same objective ended with: this one begins with
    it, and does not perturb.
    """

    name = "working sets"

    def __init__(self, constraint: Constraint, tol: float, first: IndexArray | None = None) -> None:
        self._constraint, self._tol = constraint, tol
        self._rng = np.random.default_rng(0)
        self._failures, self._explores, self._work = 0, first is None, 0.0
        #: The working set
        self.elements = np.empty(0, dtype=np.intp) if first is None else first
        self._subproblem: Subproblem | None = None
        self._changed, self._rounds = False, 0

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        columns = cast("ExactState", state)
        if self._rounds == 0:
            self.elements = self._first(columns)
        while len(self.elements):
            if self._subproblem is None:
                steps = self._solve(columns, budget)
                if steps:
                    return steps
            grown = self._grown(columns, budget)
            if len(grown) == len(self.elements):
                return self._perturb(columns, budget)
            self.elements, self._subproblem = grown, None
        return []

    def _first(self, state: ExactState) -> IndexArray:
        first = self.elements
        if not len(first):
            most = max(1, min(FIRST_BASES, MOST_AT_FIRST // max(1, self._constraint.max_size())))
            scores = state.screening_scores()
            first = disjoint_bases(scores, state.support, self._constraint, most)
        return self._constraint.companions(np.union1d(first, state.support))

    def _solve(self, state: ExactState, budget: Budget) -> Sequence[Step]:
        budget.check()
        self._rounds += 1
        notify(rounds=self._rounds, passes=state.objective.n_passes, value=state.value)
        model = state.model(self.elements)
        self._subproblem = Subproblem(model, self._constraint, self.elements, self._tol)
        before = state.support
        steps = go(self._subproblem.search(before, budget), state)
        self._changed = len(np.setdiff1d(state.support, before)) > LARGE_CHANGE * len(state.support)
        return steps

    def _grown(self, state: ExactState, budget: Budget) -> IndexArray:
        # By screening after large changes, else by an exact scan
        grown = self.elements
        if self._changed:
            scores = state.screening_scores()
            scores[scores < FAR_LESS * state.least_loss] = 0.0
            grown = self._with(scores, state)
        if len(grown) == len(self.elements):
            gains = gains_by_addition(state, self._constraint, budget)
            gains[gains <= state.resolution(self._tol)] = 0.0
            grown = self._with(gains, state)
        return grown

    def _with(self, weights: FloatArray, state: State) -> IndexArray:
        return np.union1d(self.elements, disjoint_bases(weights, state.support, self._constraint, NEW_BASES))

    def _perturb(self, state: ExactState, budget: Budget) -> Sequence[Step]:
        assert self._subproblem is not None
        self._changed, design = False, state.objective.design
        most_work = MOST_WORK * max(FEWEST_ENTRIES, design.n_samples * design.n_features)
        has_few = self._constraint.n <= FEW_ELEMENTS and self._subproblem.makes_runs
        most = FAILURES_OF_FEW if has_few else MOST_FAILURES
        if not self._explores or not self._subproblem.is_quick:
            return []
        while self._failures < most and self._work < most_work:
            budget.check()
            found = self._subproblem.local_optima([state.support], AT_ONCE, self._rng, budget.clock)
            self._work += found.work
            self._failures += AT_ONCE
            place = int(np.argmax(found.values))
            value = float(found.values[place])
            if value > state.value + state.resolution(self._tol):
                self._failures = 0
                steps = [Step(move_between(state.support, found.sets[place]), value, "perturbation")]
                budget.keep(steps, value)
                return go(steps, state, state.resolution(self._tol))
        return []


def gains_by_addition(state: ExactState, constraint: Constraint, budget: Budget) -> FloatArray:
    gains = np.zeros(constraint.n)
    for batch in OneAtATime().batches(state, constraint, 1):
        budget.check()
        np.maximum(gains, state.gains_by_element(batch), out=gains)
    return gains


def working_set(strategies: Sequence[Strategy]) -> IndexArray | None:
    ran = (each.elements for each in strategies if isinstance(each, (WorkingSets, Exploring)))
    return next((elements for elements in ran if len(elements)), None)
