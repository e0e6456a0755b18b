"""One search from its start to its result, once all that was asked for is checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from swapwise.checks import warn
from swapwise.clock import Clock, OutOfTime, plain_interrupts
from swapwise.constraints.base import IndependenceSystem
from swapwise.objectives.base import SetFunction, SparseObjective, State, embed
from swapwise.search.head_start import take_head_start
from swapwise.search.loop import Observer, Trace, climb, take_pending
from swapwise.search.methods import make_steps, resolve
from swapwise.search.pivots import Pivot
from swapwise.search.problem import require_allowed
from swapwise.search.result import SearchResult, Status
from swapwise.search.starts import Start, begin


@dataclass(frozen=True)
class Plan:
    """How to search; the words are those of ``maximize``."""

    name: str
    pivot: Pivot | None
    q: int = 1
    start: Start = "empty"
    max_iter: int | None = None
    epsilon: float | None = None
    tol: float = 1e-10


def search(
    objective: SetFunction, constraint: IndependenceSystem, clock: Clock, start: Start = "empty"
) -> SearchResult:
    """Run the default method."""
    plan = Plan(*resolve("auto", objective), start=start)
    return run(objective, constraint, plan, np.random.default_rng(0), clock, ())


def run(
    objective: SetFunction,
    constraint: IndependenceSystem,
    plan: Plan,
    rng: np.random.Generator,
    clock: Clock,
    observers: Sequence[Observer],
) -> SearchResult:
    """Search as planned; out of time or interrupted, the best set so far is the result."""
    steps = make_steps(
        plan.name, plan.pivot, objective, constraint, plan.q, plan.epsilon, plan.tol, rng, clock
    )
    # What is kept if nothing comes of it: a start that was given is good already.
    trace = Trace(plan.start if isinstance(plan.start, np.ndarray) else constraint.forced, list(observers))
    state: State | None = None
    try:
        with plain_interrupts():
            state = begin(plan.start, objective, constraint, trace, plan.tol, clock)
            trace.support, trace.recording = state.support, True
            if plan.pivot is not None and plan.epsilon is None and plan.q == 1:
                state = take_head_start(state, constraint, plan.pivot, trace, plan.tol, plan.max_iter, clock)
            status = climb(state, steps, trace, clock, plan.max_iter)
    except (OutOfTime, KeyboardInterrupt) as stop:
        status = Status.TIME_LIMIT if isinstance(stop, OutOfTime) else Status.INTERRUPTED
        if state is not None:
            take_pending(state, steps, trace, clock)
    if constraint.n and not len(trace.support) and len(constraint.loops()) == constraint.n:
        warn(f"{constraint!r} allows only the empty set: every element is a loop")
    n_evaluations = 0 if state is None else state.n_evaluations
    return _result(objective, constraint, trace, status, n_evaluations, clock, plan.name)


def _result(
    objective: SetFunction,
    constraint: IndependenceSystem,
    trace: Trace,
    status: Status,
    n_evaluations: int,
    clock: Clock,
    method: str,
) -> SearchResult:
    require_allowed(constraint, trace.support)
    coef = None
    if isinstance(objective, SparseObjective):
        value, values = objective._fit(trace.support)
        coef = embed(objective, trace.support, values)
    else:
        value = objective._value(trace.support)
    return SearchResult(
        support=trace.support,
        value=float(value),
        coef=coef,
        status=status,
        n_iter=len(trace.history),
        n_evaluations=n_evaluations,
        seconds=clock.seconds(),
        history=trace.history,
        method=method,
        start_path=trace.start_path,
        n_passes=passes_of(objective),
    )


def passes_of(objective: SetFunction) -> float | None:
    """Return how many times all of the data were read so far, for people; None if nobody counts.

    >>> from swapwise import Linear
    >>> passes_of(Linear([1.0]))
    """
    return None if objective.n_passes is None else round(objective.n_passes, 3)
