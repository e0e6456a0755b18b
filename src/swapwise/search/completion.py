"""Completion: at the end of a search, add elements that lower limits need, though they may gain nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, Step, move_between
from swapwise.objectives.base import SetFunction, SparseState, State
from swapwise.search.result import Event
from swapwise.search.rules import gains_of_additions

#: What the record calls such steps
COMPLETION = "completion"


def complete(state: State, constraint: Constraint, budget: Budget) -> list[Step]:
    """Move the state to a set that meets all lower limits, the elements with the best scores first."""
    if constraint.is_complete(state.support):
        return []
    with unwarned():  # the refit of the answer warns of collinear columns
        target = constraint.completed(state.support, _scores(state, constraint, budget))
        whole = move_between(state.support, target)
        one_by_one = [Move(added=(element,)) for element in whole.added]
        steps = []
        for move in [whole] if whole.dropped else one_by_one:
            state.apply(move)
            steps.append(Step(move, state.value, COMPLETION))
    return steps


def _scores(state: State, constraint: Constraint, budget: Budget) -> FloatArray:
    """Estimate the gain of each element, with 0 for those that are not addable or when time runs out."""
    if isinstance(state, SparseState):
        return state.screening_scores()
    try:
        return np.maximum(gains_of_additions(state, constraint.addable(state.support), budget), 0.0)
    except OutOfTime:
        return np.zeros(constraint.n)


def filled_in(
    objective: SetFunction, support: IndexArray, history: Sequence[Event], tol: float
) -> IndexArray:
    made_by = {element: event.strategy for event in history for element in event.added}
    candidates = [element for element in support.tolist() if made_by.get(element) == COMPLETION]
    filled: list[int] = []
    if candidates:
        with unwarned():
            value = objective._value(support)
            least = value - tol * max(abs(value), objective.scale)
            for element in reversed(candidates):
                rest = np.setdiff1d(support, [*filled, element])
                if objective._value(rest) >= least:
                    filled.append(element)
    return np.array(sorted(filled), dtype=np.intp)
