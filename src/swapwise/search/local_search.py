"""Local search: moves to neighbouring sets while the rules find one that is good enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.checks import IndexArray, warn
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, Step
from swapwise.objectives.base import State
from swapwise.override import override
from swapwise.search.loop import Strategy, ending_at
from swapwise.search.result import Status
from swapwise.search.rules import Acceptance, BestImprovement, Oblivious, Pivot


class LocalSearch(Strategy):
    def __init__(self, constraint: Constraint, rule: Pivot, acceptance: Acceptance, q: int = 1) -> None:
        self._constraint, self._rule, self._acceptance, self._q = constraint, rule, acceptance, q
        self.name, self.finished = rule.name, rule.finished
        # The compiled run is for the rule itself: a subclass may leave moves out or score them otherwise.
        self._may_run = type(rule) is Oblivious and isinstance(acceptance, BestImprovement) and q == 1
        self._optimum: IndexArray | None = None

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        if self._may_run:
            self._may_run = False  # errors of updates add up in a run, so later moves are scored exactly
            steps, is_optimal = state.best_run(self._constraint, self._acceptance.tol, budget)
            self._optimum = state.support if is_optimal else None
            if steps:
                return ending_at(steps, state.value)
        if self._optimum is not None and np.array_equal(self._optimum, state.support):
            return []  # the state is still at the local optimum of the compiled run
        found = self._acceptance.pick(self._rule, state, self._constraint, self._q, budget)
        self._optimum = state.support if found is None else None
        return [] if found is None else self._make(found.move, state)

    def _make(self, move: Move, state: State) -> Sequence[Step]:
        before = state.level
        state.apply(move)
        if state.level > before:
            return [Step(move, state.value)]
        state.apply(move.undone)
        warn(f"{move} did not raise the value {state.value:.6g} as predicted: {self._rule.failure_hint}")
        self.finished = Status.INTERRUPTED
        return []
