"""The end of a search under lower limits: elements that add nothing, but that a limit asks for."""

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
    """Move a state to a set that meets all lower limits, and return the steps, one for each element.

    Those that look best come in, or the first if there is nothing to tell them apart. The budget only limits
    how long that is looked into.

    >>> from swapwise import Linear, Uniform
    >>> state = Linear([0.0, 2.0, 0.0]).start(np.array([1]))
    >>> complete(state, Uniform(3, 2, at_least=2), Budget())
    [Step(move=Move(added=(0,), dropped=()), value=2.0, strategy='completion')]
    """
    if constraint.is_complete(state.support):
        return []
    with unwarned():  # that columns are collinear is said of the answer
        target = constraint.completed(state.support, _scores(state, constraint, budget))
        whole = move_between(state.support, target)
        one_by_one = [Move(added=(element,)) for element in whole.added]
        steps = []
        for move in [whole] if whole.dropped else one_by_one:
            state.apply(move)
            steps.append(Step(move, state.value, COMPLETION))
    return steps


def _scores(state: State, constraint: Constraint, budget: Budget) -> FloatArray:
    """Return about what each element would add; nothing is known of those that others must make room for."""
    if isinstance(state, SparseState):
        return state.screening_scores()
    try:
        return np.maximum(gains_of_additions(state, constraint.addable(state.support), budget), 0.0)
    except OutOfTime:
        return np.zeros(constraint.n)


def filled_in(
    objective: SetFunction, support: IndexArray, history: Sequence[Event], tol: float
) -> IndexArray:
    """Return the elements that completed a set, and without which it is worth as much.

    What a search that was cut short left to be completed may well be worth something.

    >>> from swapwise import Linear, Uniform, maximize
    >>> f = Linear([0.0, 2.0, 5.0, 0.0])
    >>> result = maximize(f, Uniform(4, 3, at_least=3), start="empty", max_iter=1)
    >>> result.support, filled_in(f, result.support, result.history, tol=1e-10)
    (array([0, 1, 2]), array([0]))
    """
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
