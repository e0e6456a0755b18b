"""The first moves of a small search in one call: the same moves, without a look at Python in between."""

from __future__ import annotations

import numpy as np

from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import NOTHING, Move
from swapwise.objectives.base import SetFunction, SparseState, State
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.few_columns import FewColumns
from swapwise.search.loop import Trace
from swapwise.search.pivots import Oblivious, Pivot
from swapwise.search.result import Event

# Inner products of all columns are worth their while if there are so few, and if they take so few products.
MOST_ELEMENTS, MOST_PRODUCTS = 400, 10**7

# After so many the loop goes on, whose factors are rebuilt now and then.
MOST_MOVES = 1000


def take_head_start(
    state: State,
    constraint: IndependenceSystem,
    pivot: Pivot,
    trace: Trace,
    tol: float,
    max_iter: int | None,
    clock: Clock,
) -> State:
    """Take the first best moves, if the problem is small and plain; return the state where they lead.

    Whoever watches the search wants to see it move by move, so there is none if it is watched.
    """
    objective = state.objective
    if trace.is_watched or type(pivot) is not Oblivious or not _is_small(objective):
        return state
    if constraint.nested_limits() is None:
        return state
    clock.check()
    assert isinstance(objective, LeastSquares)
    assert isinstance(state, SparseState)
    model = objective.restricted(np.arange(objective.n))
    few = FewColumns(model, constraint, clock, tol)
    most = MOST_MOVES if max_iter is None else min(max_iter, MOST_MOVES)
    before = clock.seconds()
    evaluated, moves, gains = few.plain_moves(state.support, most)
    if not len(moves):
        return state
    values = state.value + np.cumsum(gains)
    pace = (clock.seconds() - before) / len(moves)
    for number, ((added, dropped), value) in enumerate(zip(moves.tolist(), values.tolist(), strict=True), 1):
        move = Move((added,), () if dropped == NOTHING else (dropped,))
        support = move.result(trace.support)
        trace.add(Event(number, move.added, move.dropped, support, value, before + number * pace))
    ahead = objective.start(trace.support)
    ahead.n_evaluations += state.n_evaluations + evaluated
    return ahead


def _is_small(objective: SetFunction) -> bool:
    return (
        isinstance(objective, LeastSquares)
        and not objective.design.is_float32
        and objective.n <= MOST_ELEMENTS
        and objective.n**2 * objective.design.n_samples <= MOST_PRODUCTS
    )
