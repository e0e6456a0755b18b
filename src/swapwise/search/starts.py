"""Where a search begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, as_elements
from swapwise.clock import Clock, OutOfTime, plain_interrupts
from swapwise.constraints.base import IndependenceSystem
from swapwise.objectives.base import SetFunction, SparseState, State
from swapwise.search.local_search import BestImprovement, LocalSearch
from swapwise.search.loop import Trace, climb
from swapwise.search.model_start import model_set
from swapwise.search.modular import heaviest_set
from swapwise.search.pivots import Additions
from swapwise.search.result import SearchResult
from swapwise.search.steps import gains_of_additions

#: A name, an independent set, or what will find one when the search begins
Start = str | IndexArray | Callable[[], IndexArray]

STARTS = ("empty", "arbitrary", "greedy", "modular", "best-singleton", "relaxation", "model")


def check_start(start: Any, constraint: IndependenceSystem, name: str = "start") -> str | IndexArray:
    """Return the name of a start, or an independent set, or say what is wrong with it."""
    if isinstance(start, SearchResult):
        start = start.support
    if isinstance(start, str):
        if start not in STARTS:
            raise ValueError(
                f"{name} must be an independent set or one of {', '.join(STARTS)}; got {start!r}"
            )
        return start
    support = as_elements(start, constraint.n, name)
    loops = np.intersect1d(support, constraint.loops()) if len(support) else support
    if len(loops):
        raise ValueError(
            f"{name} must be independent, but element {loops[0]} is a loop: it can never be chosen"
        )
    support = np.union1d(support, constraint.forced)
    if not constraint._is_independent(support):
        raise ValueError(
            f"{name} must be independent, but {support.tolist()} is not allowed by {constraint!r}"
        )
    return support


def begin(
    start: Start,
    objective: SetFunction,
    constraint: IndependenceSystem,
    trace: Trace,
    tol: float,
    clock: Clock,
) -> State:
    """Return a state at the start that was asked for."""
    if not isinstance(start, str):
        return objective.start(start() if callable(start) else start)
    state = objective.start(constraint.forced)
    if start == "greedy":
        greedy = LocalSearch(constraint, Additions(), BestImprovement(tol), 1, clock)
        climb(state, greedy, trace, clock)
    elif start != "empty":
        try:
            with plain_interrupts():
                target = _target(start, state, constraint, clock, tol)
        except (OutOfTime, KeyboardInterrupt):
            trace.support = state.support  # what models have led to so far
            raise
        if not np.array_equal(state.support, target):
            evaluated = state.n_evaluations
            state = objective.start(target)
            state.n_evaluations += evaluated
    return state


def _target(start: str, state: State, constraint: IndependenceSystem, clock: Clock, tol: float) -> IndexArray:
    if start == "model":
        assert isinstance(state, SparseState)
        return model_set(state, constraint, clock, tol)
    if start == "modular":
        return heaviest_set(state, constraint, clock)
    first = state.support
    if start == "best-singleton":
        gains = gains_of_additions(state, constraint.addable(first), clock)
        if gains.max(initial=-np.inf) > -np.inf:
            first = np.union1d(first, [int(np.argmax(gains))])
    return constraint.extend(first, np.arange(constraint.n))
