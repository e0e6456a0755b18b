"""Newton's method for sets: rounds of second-order models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.events import notify
from swapwise.moves import Step, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.search.loop import Strategy
from swapwise.search.subproblems import Subproblem, disjoint_bases, go, support_after

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# Models look at this many elements, and at this many per element that can be chosen; this many disjoint bases
# are among them, so that every part of the constraint has a choice.
CANDIDATES, CANDIDATES_PER_CHOICE, BASES = 100, 4, 6

# Elements of several coefficients cost more, so there are no more candidates of them than these per choice.
BASES_OF_BLOCKS = 3


class ModelRounds(Strategy):
    """Newton's method for sets: search the second-order model around the fit, refit on what it finds, repeat.

    Each round is one move. The rounds end when a model finds nothing, or leads to a set that is no better.
    """

    name = "model rounds"

    @classmethod
    def require(cls, objective: SetFunction, constraint: IndependenceSystem) -> None:
        """Ask for second-order models."""
        if not has_model(objective):
            raise TypeError(
                "start='model' needs second-order models, as least squares and likelihoods have; "
                f"{type(objective).__name__} has none. start='greedy' works here"
            )

    def __init__(self, constraint: IndependenceSystem, tol: float) -> None:
        self._constraint, self._tol, self._rounds = constraint, tol, 0

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go where the model around the state leads."""
        assert isinstance(state, SparseState)
        if self._rounds == MOST_MODELS:
            return []
        self._rounds += 1
        passes = state.objective.n_passes
        if passes is not None:
            notify(rounds=self._rounds, passes=passes, value=state.value)
        elements = self._candidates(state)
        model = state.model(elements) if len(elements) else None
        if model is None:
            return []
        subproblem = Subproblem(model, self._constraint, elements, self._tol)
        target = support_after(subproblem.search(state.support, Budget(budget.clock)), state.support)
        step = Step(move_between(state.support, target), np.inf)
        if not step.move.added:
            return []
        budget.keep([step], np.inf)
        return go([step], state)

    def _candidates(self, state: SparseState) -> IndexArray:
        """Return the chosen elements, a few disjoint bases of large screening scores, and single ones."""
        scores = state.screening_scores().copy()
        wanted, bases = CANDIDATES_PER_CHOICE * self._constraint.max_size(), BASES_OF_BLOCKS
        if state.objective.groups is None:
            wanted, bases = max(CANDIDATES, wanted), BASES
        found = np.union1d(disjoint_bases(scores, state.support, self._constraint, bases), state.support)
        scores[found] = 0.0
        best = np.argsort(-scores, kind="stable")[: max(0, wanted - len(found))]
        return np.union1d(found, best[scores[best] > 0])


def has_model(objective: SetFunction) -> bool:
    """Return whether the objective has second-order models."""
    return isinstance(objective, SparseObjective) and objective.second_order


