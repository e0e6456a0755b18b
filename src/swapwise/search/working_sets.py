"""Least squares among many elements: search few of them, look at all, and leave local optima."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.events import notify
from swapwise.moves import Step, move_between
from swapwise.objectives.base import State
from swapwise.objectives.least_squares.local_optima import LocalOptima
from swapwise.search.candidates import Candidates, candidates_for
from swapwise.search.loop import Strategy
from swapwise.search.subproblems import go

if TYPE_CHECKING:
    from swapwise.search.candidates import ExactState

# How many disjoint bases a working set begins with, of at most how many elements in all, and by how many
# bases it grows per round. It begins with all elements if there are no more than these.
FIRST_BASES, MOST_AT_FIRST, NEW_BASES, FEW = 4, 3000, 1, 100

# As long as a round changes more than this share of the set, screening scores are good enough to grow by.
LARGE_CHANGE = 0.25

# A column that adds less than this share of what the weakest chosen one does has to wait for the scan of all.
FAR_LESS = 0.5

# This many perturbations are made at once. Then the next best local optima, this many, are looked at for what
# would improve them.
AT_ONCE, NEXT_BEST = 8, 2

# Perturbations end when this many in a row have led to nothing better, or when all of them have cost this much
# for each entry of the data.
MOST_FAILURES, MOST_WORK = 96, 30.0


class WorkingSets(Strategy):
    """Search a working set, look at all elements for what would improve the answer, enlarge it, repeat.

    At a local optimum of all elements, the search begins again from parts of it. What would improve the next
    best local optima joins the working set, too. ``first`` is the working set that a search of the same
    objective ended with: this one begins with it, and perturbations are left to that search.
    """

    name = "working sets"

    def __init__(self, constraint: IndependenceSystem, tol: float, first: IndexArray | None = None) -> None:
        self._constraint, self._tol, self._first = constraint, tol, first
        self._rng = np.random.default_rng(0)
        self._candidates: Candidates | None = None
        self._is_searched, self._changed, self._rounds, self._failures = False, False, 0, 0

    @property
    def elements(self) -> IndexArray:
        """The working set."""
        return np.empty(0, dtype=np.intp) if self._candidates is None else np.sort(self._candidates.elements)

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go to the local optimum of the next working set, or to a better one after a perturbation."""
        columns = cast("ExactState", state)
        if self._candidates is None:
            self._candidates = self._begin(columns, move_by_move=budget.moves is not None)
        while len(self._candidates.elements):
            budget.check()
            if not self._is_searched:
                steps = self._search(self._candidates, columns, budget)
                if steps:
                    return steps
            if not self._grows(self._candidates, columns, budget):
                return self._perturb(self._candidates, columns, budget)
        return []

    def _begin(self, state: ExactState, *, move_by_move: bool) -> Candidates:
        constraint, first = self._constraint, self._first
        found = candidates_for(state.objective, constraint, self._tol, move_by_move=move_by_move)
        rank = max(1, constraint.max_size())
        bases = max(1, min(FIRST_BASES, MOST_AT_FIRST // rank))
        if first is None and constraint.n <= max(FEW, 2 * bases * rank):
            first = np.arange(constraint.n)
        elif first is None:
            first = found.best(state.screening_scores(), bases, state)
        first = np.union1d(np.union1d(first, state.support), constraint.forced)
        if len(first):
            found.join(first, state)
        return found

    def _search(self, candidates: Candidates, state: ExactState, budget: Budget) -> Sequence[Step]:
        self._rounds += 1
        notify(rounds=self._rounds, passes=state.objective.n_passes, value=state.value)
        before = state.support
        steps = go(candidates.steps_from(before, budget), state)
        self._is_searched = True
        self._changed = len(np.setdiff1d(state.support, before)) > LARGE_CHANGE * len(state.support)
        return steps

    def _grows(self, candidates: Candidates, state: ExactState, budget: Budget) -> bool:
        """Let join what may improve the set: by screening, else by a scan of all elements."""
        if len(candidates.elements) == self._constraint.n:
            return False
        if self._changed:
            scores = state.screening_scores()
            scores[scores < FAR_LESS * state.least_loss] = 0.0
            if self._join(scores, candidates, state):
                return True
        gains = candidates.gains([state.support], state, budget)
        gains[gains <= max(state.resolution(self._tol), candidates.tie)] = 0.0
        return self._join(gains, candidates, state)

    def _join(self, weights: FloatArray, candidates: Candidates, state: ExactState) -> bool:
        new = candidates.best(weights, NEW_BASES, state)
        if len(new):
            candidates.join(new, state)
            self._is_searched = False
        return len(new) > 0

    def _perturb(self, candidates: Candidates, state: ExactState, budget: Budget) -> Sequence[Step]:
        """Go to a better local optimum, if one of several perturbations leads to one."""
        self._changed = False
        if self._first is not None or not len(state.support):
            return []
        design, others = state.objective.design, []
        most_work = MOST_WORK * design.n_samples * design.n_features
        while self._failures < MOST_FAILURES and candidates.work < most_work:
            budget.check()
            starts = [state.support, *others]
            found = candidates.local_optima(starts, AT_ONCE, self._rng, budget.clock)
            self._failures += AT_ONCE
            steps = self._jump(found, candidates.tie, state, budget)
            if steps:
                self._failures = 0
                return steps
            others = _next_best(found, state.support)
            grows = False
            if others and len(candidates.elements) < self._constraint.n:
                gains = candidates.gains(others, state, budget)
                gains[gains <= candidates.tie] = 0.0
                grows = self._join(gains, candidates, state)
                self._is_searched = True
            if not grows:
                others = []
        return []

    def _jump(self, found: LocalOptima, tie: float, state: ExactState, budget: Budget) -> Sequence[Step]:
        """Go to the best of some local optima, if it is better."""
        place = int(np.argmax(found.values))
        if found.values[place] <= state.value + max(tie, state.resolution(self._tol)):
            return []
        jump = move_between(state.support, found.sets[place])
        steps = [Step(jump, float(found.values[place]), "perturbation")]
        budget.keep(steps, found.values[place])
        return go(steps, state)


def _next_best(found: LocalOptima, support: IndexArray) -> list[IndexArray]:
    """Return the best sets, each once, other than the one at hand."""
    best: dict[bytes, IndexArray] = {}
    for place in np.argsort(-found.values, kind="stable"):
        best.setdefault(found.sets[place].tobytes(), found.sets[place])
    best.pop(support.tobytes(), None)
    return list(best.values())[:NEXT_BEST]


def working_set(strategies: Sequence[Strategy]) -> IndexArray | None:
    """Return the last working set of the strategies that ran, if one has any."""
    ran = (each.elements for each in strategies if isinstance(each, WorkingSets))
    return next((elements for elements in ran if len(elements)), None)
