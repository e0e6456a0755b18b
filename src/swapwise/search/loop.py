"""The one loop of all searches, and its record of moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from time import perf_counter
from types import MappingProxyType

import numpy as np

from swapwise.checks import IndexArray, warn
from swapwise.clock import Budget, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.moves import Step, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, State, elements_at_bound, embed
from swapwise.search.completion import COMPLETION, complete, filled_in
from swapwise.search.result import Event, SearchResult, Status, StrategyRun

Observer = Callable[[Event], object]

#: Statuses after which no further strategy is run
CUT_SHORT = (Status.ITERATION_LIMIT, Status.TIME_LIMIT, Status.INTERRUPTED)


class Strategy(ABC):
    """Proposes and makes moves: local search, working sets, greedy, restarts, and so on."""

    name: str
    #: Why the search stops when the strategy is at its end.
    finished: Status = Status.COMPLETE
    #: Numbers about the run for the record, such as the step that it ended with
    details: dict[str, float] = MappingProxyType({})  # type: ignore[assignment]

    @abstractmethod
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Move the state on and return the steps, at most ``budget.moves``; none at the end.

        Values only rise, except for a step with a ``strategy`` of its own: a perturbation leaves a local
        optimum, a backward step takes an element back, and the last step of its advance is better than where
        it began. Steps that are found before the state moves go to ``budget.keep``: they are made if time
        runs out during the advance.
        """


class Trace:
    """The current set, the moves that led there, and the observers of moves."""

    def __init__(
        self, support: IndexArray, observers: Iterable[Observer] = (), history: Sequence[Event] = ()
    ) -> None:
        self.support = support
        self.history: list[Event] = list(history)
        self.strategies: list[StrategyRun] = []
        self._observers = list(observers)

    def record(self, steps: Sequence[Step], strategy: str, seconds: float, before: float) -> bool:
        """Record steps from a set of value ``before``; return True if an observer stops the search.

        The record then ends where the observer stopped, or before the steps if the value is lower there, as
        it may be in the middle of a perturbation.
        """
        n_before, begin = len(self.history), self.support
        for step in steps:
            support = step.move.result(self.support)
            event = Event(
                len(self.history) + 1,
                step.move.added,
                step.move.dropped,
                support.copy(),  # observers may change it
                step.value,
                seconds,
                step.strategy or strategy,
                len(steps),
            )
            self.support = support
            self.history.append(event)
            stops = True  # so does an observer that raises
            try:
                stops = any([_wants_to_stop(observer, event) for observer in self._observers])  # noqa: C419
            finally:
                if stops and step.value < before:
                    del self.history[n_before:]
                    self.support = begin
            if stops:
                return True
        return False


def run(strategies: Iterable[Strategy], state: State, trace: Trace, budget: Budget) -> Status:
    """Run strategies one after the other to their ends, or until a limit or an observer stops them."""
    status = Status.COMPLETE
    for strategy in strategies:
        begin, n_before = perf_counter(), len(trace.history)
        try:
            status = _run(strategy, state, trace, budget)
        finally:
            n_moves, seconds = len(trace.history) - n_before, perf_counter() - begin
            trace.strategies.append(
                StrategyRun(strategy.name, n_moves, state.value, seconds, dict(strategy.details))
            )
        if status in CUT_SHORT:
            break
    return status


def _run(strategy: Strategy, state: State, trace: Trace, budget: Budget) -> Status:
    while budget.moves is None or budget.moves > 0:
        budget.check()
        before = state.value
        steps = strategy.advance(state, budget)
        budget.spend(len(steps))
        if not steps:
            return strategy.finished
        if trace.record(steps, strategy.name, budget.clock.seconds(), before):
            if not np.array_equal(trace.support, state.support):  # in the middle of a compiled run
                state.apply(move_between(state.support, trace.support))
            return Status.INTERRUPTED
    return Status.ITERATION_LIMIT


def search(
    objective: SetFunction,
    constraint: Constraint,
    starts: Sequence[Strategy],
    strategies: Sequence[Strategy],
    begin: IndexArray,
    budget: Budget,
    observers: Iterable[Observer] = (),
    history: Sequence[Event] = (),
    tol: float = 1e-10,
) -> SearchResult:
    """Search from a set; out of time or interrupted, the best set so far is the result.

    Only moves of ``strategies`` count towards the limit on moves. ``history`` led to ``begin``. An answer
    that misses a lower limit is completed, however the search ended. Gains up to ``tol`` times the value are
    nothing.
    """
    trace = Trace(begin, observers, history)
    state: State | None = None
    try:
        state = objective.start(begin)
        most, budget.moves = budget.moves, None
        status = run(starts, state, trace, budget)
        budget.moves = most
        if status is not Status.INTERRUPTED:
            status = run(strategies, state, trace, budget)
        for _ in range(constraint.n):  # swaps may improve a completed set
            if status is not Status.LOCAL_OPTIMUM or not _complete(state, constraint, trace, budget):
                break
            status = run(strategies[-1:], state, trace, budget)
        reached = state
    except (OutOfTime, KeyboardInterrupt) as stop:
        status = Status.TIME_LIMIT if isinstance(stop, OutOfTime) else Status.INTERRUPTED
        if state is not None:
            take_kept(objective, trace, budget)
        reached = None  # it may have been in the middle of a move
    if not constraint.is_complete(trace.support):
        _complete(reached or objective.start(trace.support), constraint, trace, budget)
    if constraint.n and not len(trace.support) and len(constraint.loops()) == constraint.n:
        warn(f"{constraint!r} allows only the empty set: every element is a loop")
    n_evaluations = 0 if state is None else state.n_evaluations
    planned = [strategy.name for strategy in (*starts, *strategies)]
    method = ", ".join(dict.fromkeys([ran.name for ran in trace.strategies] or planned))
    seconds = budget.clock.seconds()
    return result_of(objective, constraint, trace, status, method, n_evaluations, seconds, tol)


def _complete(state: State, constraint: Constraint, trace: Trace, budget: Budget) -> bool:
    """Meet the lower limits, on the record; return whether one was missed."""
    begin = perf_counter()
    steps = complete(state, constraint, budget)
    for step in steps:
        with suppress(KeyboardInterrupt):  # of a callback, too: the search is over anyway
            trace.record([step], COMPLETION, budget.clock.seconds(), -np.inf)
    if steps:
        trace.strategies.append(StrategyRun(COMPLETION, len(steps), state.value, perf_counter() - begin))
    return bool(steps)


def take_kept(objective: SetFunction, trace: Trace, budget: Budget) -> None:
    """Make the steps kept by a round that was cut short, if they lead to a better set."""
    steps = budget.kept
    if not steps:
        return
    # Values are computed afresh: the state may have been left in the middle of a move.
    target = trace.support
    for step in steps:
        target = step.move.result(target)
    value, before = float(objective._value(target)), float(objective._value(trace.support))
    if value > before:
        name = trace.strategies[-1].name
        trace.record(ending_at(steps, value), name, budget.clock.seconds(), before)
        trace.strategies[-1] = trace.strategies[-1]._replace(
            n_moves=trace.strategies[-1].n_moves + len(steps), value=value
        )
    budget.forget()


def ending_at(steps: Sequence[Step], value: float) -> list[Step]:
    """Replace the last value of a compiled run, a sum of gains, by the exact one, which bounds the others."""
    rising = [Step(step.move, min(step.value, value), step.strategy) for step in steps]
    rising[-1] = Step(steps[-1].move, value, steps[-1].strategy)
    return rising


def result_of(
    objective: SetFunction,
    constraint: Constraint,
    trace: Trace,
    status: Status,
    method: str,
    n_evaluations: int,
    seconds: float,
    tol: float,
) -> SearchResult:
    require_independent(constraint, trace.support)
    coef, at_bound = None, trace.support[:0]
    if isinstance(objective, SparseObjective):
        value, values = objective._fit(trace.support)
        coef = embed(objective, trace.support, values)
        at_bound = elements_at_bound(objective, trace.support, coef)
    else:
        value = objective._value(trace.support)
    return SearchResult(
        support=trace.support,
        value=float(value),
        coef=coef,
        status=status,
        n_iter=len(trace.history),
        n_evaluations=n_evaluations,
        seconds=seconds,
        history=trace.history,
        method=method,
        strategies=trace.strategies,
        filled=filled_in(objective, trace.support, trace.history, tol),
        at_bound=at_bound,
        n_passes=passes_of(objective),
    )


def require_independent(constraint: Constraint, support: IndexArray) -> None:
    """Refuse a set that the constraint's own moves led to but that it does not allow."""
    if not constraint._is_independent(support):
        raise ValueError(
            f"{constraint!r} has led to {support.tolist()}, which its _is_independent does not allow: its "
            "moves, extend or _max_weight contradict it"
        )


def passes_of(objective: SetFunction) -> float | None:
    return None if objective.n_passes is None else round(objective.n_passes, 3)


def _wants_to_stop(observer: Observer, event: Event) -> bool:
    try:
        answer = observer(event)
    except StopIteration:
        return True
    # Only a bool stops: a callback may happen to return a number or a list.
    return isinstance(answer, (bool, np.bool_)) and bool(answer)
