"""Paths: answers under growing constraints, each found from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_time_limit
from swapwise.clock import Budget, Clock, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.moves import NOTHING, Move, MoveList, move_between
from swapwise.objectives.base import SparseObjective, SparseState, State
from swapwise.search.loop import Strategy, Trace, result_of, run, search, take_kept
from swapwise.search.plan import Plan, resolve
from swapwise.search.result import Event, SearchResult, Status, StrategyRun

# The path is searched down and up again this many times; further sweeps change very little.
SWEEPS = 2

# A search begins afresh at every third place, or every eighth if it is by models, which cost as much as a
# fit. Where its answer is better, the neighbours' searches begin there.
FRESH_EVERY, MODEL_EVERY = 3, 8


def warm_path(
    objective: SparseObjective,
    constraints: Sequence[Constraint],
    plan: Plan,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    all_or_nothing: bool = False,
) -> list[SearchResult]:
    """Return an answer for each of a sequence of growing constraints with the same forced elements.

    Going up, a local search begins at the answer before; going down, at the answer after, less the elements
    whose loss costs least. The better answer stays, until nothing changes. As these searches may all stay in
    a region that was good for small sets, some begin afresh: with the first elements that a search from
    nothing under the last constraint took, or, where the objective has second-order models, by strategies on
    these. Methods other than local search answer each constraint by itself.

    The history of an answer is the whole way to it, over the answers under other constraints; a step to the
    next one that drops elements is a "perturbation". ``plan.max_iter`` holds for every search. Out of time
    or, unless ``all_or_nothing``, after a keyboard interrupt, all answers are the best by then.
    """
    searches = PathSearch(objective, constraints, plan, Clock(as_time_limit(time_limit)), seed)
    searches.run(all_or_nothing=all_or_nothing)
    return searches.results()


@dataclass
class PathPoint:
    """The best set so far under one constraint, the moves to it, and all sets that a search has visited."""

    support: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    value: float = -np.inf
    status: Status = Status.COMPLETE
    history: list[Event] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)


class PathSearch:
    """The answers of a path, and the one state that moves from set to set: to build another is expensive."""

    def __init__(
        self,
        objective: SparseObjective,
        constraints: Sequence[Constraint],
        plan: Plan,
        clock: Clock,
        seed: int,
    ) -> None:
        self._objective, self._constraints, self._plan = objective, constraints, plan
        self._clock, self._seed = clock, seed
        self._answers = [PathPoint() for _ in range(len(constraints))]
        self._state: State = objective.start(plan.begin)
        self._under_way = 0, Trace(plan.begin)
        self._out_of_time = False
        self._by_models = resolve(objective, constraints[0]).start == "model"

    def run(self, *, all_or_nothing: bool = False) -> None:
        try:
            self.search()
        except KeyboardInterrupt:
            if all_or_nothing:
                raise
            self.stop()

    def search(self) -> None:
        if self._plan.rule is None:
            for place in range(len(self._constraints)):
                self._search_from_nothing(place)
            return
        self._search_from_start()
        self._forward(self._fresh_starts())
        for _ in range(SWEEPS):
            if not self._backward() or not self._forward({}):
                break
        if self._plan.explores:
            self._explore()

    def stop(self) -> None:
        """Keep the best of the search under way, and give no constraint less than the one before it."""
        place, trace = self._under_way
        value = self._objective._value(trace.support)  # an interrupt may have come in the middle of a move
        if value > self._answers[place].value:
            self._answers[place] = PathPoint(trace.support, value, history=trace.history)
        for before, after in pairwise(self._answers):
            if before.value > after.value:
                after.support, after.value, after.history = before.support, before.value, before.history
        for answer in self._answers:
            answer.status = Status.INTERRUPTED

    def _search_from_start(self) -> None:
        plan, constraint = self._plan, self._constraints[0]
        starts = [*plan.starts(self._objective, constraint), *plan.models(self._objective, constraint)]
        self._search(0, [], starts)

    def _search_from_nothing(self, place: int) -> list[Event]:
        self._go_to(self._constraints[place].forced)
        return self._search(place, [])

    def _fresh_starts(self) -> dict[int, list[Event]]:
        every = MODEL_EVERY if self._by_models else FRESH_EVERY
        places = range(len(self._constraints) - 1, 0, -every)
        if not places:
            return {}
        if self._by_models:
            return {place: self._modelled(place) for place in places}
        history = self._search_from_nothing(places[0])
        starts = {}
        for place in places:
            fits = self._constraints[place]._is_independent
            grown = [event.n_iter for event in history if not event.dropped and fits(event.support)]
            if grown:
                starts[place] = history[: grown[-1]]
        return starts

    def _forward(self, fresh_starts: dict[int, list[Event]]) -> bool:
        better = False
        for place in range(1, len(self._constraints)):
            before = self._answers[place - 1]
            better |= self._attempt(place, before.support, before.history)
            if fresh := fresh_starts.get(place):
                better |= self._attempt(place, fresh[-1].support, fresh)
        return better

    def _backward(self) -> bool:
        better = False
        for place in reversed(range(len(self._constraints) - 1)):
            if not self._out_of_time:
                after = self._answers[place + 1]
                better |= self._attempt(place, self._reduced(after.support, place), after.history)
        return better

    def _explore(self) -> None:
        for place, constraint in enumerate(self._constraints):
            answer = self._answers[place]
            if self._out_of_time or answer.status is not Status.LOCAL_OPTIMUM:
                return
            self._go_to(answer.support)
            explorers = self._plan.explorers(self._objective, constraint)
            answer.seen.clear()  # this search begins at a visited set
            self._search(place, answer.history, explorers)

    def results(self) -> list[SearchResult]:
        return [
            self._result(answer, constraint)
            for answer, constraint in zip(self._answers, self._constraints, strict=True)
        ]

    def _modelled(self, place: int) -> list[Event]:
        constraint = self._constraints[place]
        trace = Trace(constraint.forced)
        by_models = replace(self._plan, start="model", explores=False)
        models = by_models.models(self._objective, constraint, perturbs=False)
        budget = Budget(self._clock, self._plan.max_iter)
        try:
            run(models, self._objective.start(constraint.forced), trace, budget)
        except OutOfTime:
            take_kept(self._objective, trace, budget)
        return trace.history

    def _attempt(self, place: int, start: IndexArray, history: list[Event]) -> bool:
        """Search from a set, unless a search has visited it; return whether that gave a better answer.

        ``history`` leads to the set, or to one that it is a part of.
        """
        answer = self._answers[place]
        if start.tobytes() in answer.seen:
            return False
        before = answer.value
        self._go_to(start)
        self._search(place, self._extended(history, start))
        return answer.value > before

    def _extended(self, history: list[Event], start: IndexArray) -> list[Event]:
        last = history[-1].support if history else self._constraints[0].forced
        step = move_between(last, start)
        if not (step.added or step.dropped):
            return history
        seconds, value = self._clock.seconds(), self._state.value
        event = Event(
            len(history) + 1, step.added, step.dropped, start.copy(), value, seconds, "perturbation"
        )
        return [*history, event]

    def _search(self, place: int, history: list[Event], starts: Sequence[Strategy] = ()) -> list[Event]:
        answer, constraint = self._answers[place], self._constraints[place]
        answer.seen.add(self._state.support.tobytes())

        def is_known(event: Event) -> bool:
            key = event.support.tobytes()
            known = key in answer.seen
            answer.seen.add(key)
            return known

        plan, rng = self._plan, np.random.default_rng(self._seed)
        trace = Trace(self._state.support, [is_known], history)
        self._under_way = place, trace
        budget = Budget(self._clock)
        try:
            main = plan.main(self._objective, constraint, rng)
            if plan.start_is_given:  # its moves do not count towards max_iter
                run(starts, self._state, trace, budget)
                starts = ()
            budget.moves = plan.max_iter
            status = run([*starts, main], self._state, trace, budget)
        except OutOfTime:
            status, self._out_of_time = Status.TIME_LIMIT, True
            take_kept(self._objective, trace, budget)
            self._go_to(trace.support)
        value = self._state.value
        if value > answer.value + plan.tol * self._state.magnitude:
            answer.support, answer.value, answer.status = self._state.support, value, status
            answer.history = trace.history
        elif status is Status.LOCAL_OPTIMUM and np.array_equal(self._state.support, answer.support):
            answer.status = status
        return trace.history

    def _reduced(self, support: IndexArray, place: int) -> IndexArray:
        constraint = self._constraints[place]
        self._go_to(support)
        while not constraint._is_independent(self._state.support):
            losses = self._losses()
            most_missed_first = self._state.support[np.argsort(losses, kind="stable")]
            kept = constraint.extend(constraint.forced, most_missed_first)
            spared = most_missed_first[~np.isin(most_missed_first, kept)][-1]
            self._state.apply(Move(dropped=(int(spared),)))
        return self._state.support

    def _losses(self) -> FloatArray:
        """Return the change of value when each chosen element is dropped, to second order by a model."""
        scored, chosen = self._state, self._state.support
        if isinstance(self._state, SparseState) and self._objective.scoring != "closed form":
            model = self._state.model(chosen)
            if model is not None:
                chosen = np.arange(len(chosen))
                scored = model.start(chosen)
        return scored.gains(MoveList(np.full((len(chosen), 1), NOTHING), chosen[:, None]))

    def _go_to(self, target: IndexArray) -> None:
        if not np.array_equal(self._state.support, target):
            self._state.apply(move_between(self._state.support, target))

    def _result(self, answer: PathPoint, constraint: Constraint) -> SearchResult:
        if not constraint.is_complete(answer.support):
            self._complete(answer, constraint)
        trace, tol = Trace(answer.support, history=answer.history), self._plan.tol
        seconds, evaluated = self._clock.seconds(), self._state.n_evaluations
        method = "path" if self._plan.rule is not None else self._plan.method
        trace.strategies.append(StrategyRun(method, len(trace.history), answer.value, seconds))
        return result_of(self._objective, constraint, trace, answer.status, method, evaluated, seconds, tol)

    def _complete(self, answer: PathPoint, constraint: Constraint) -> None:
        onward = [self._plan.main(self._objective, constraint, None)]
        strategies = onward if answer.status is Status.LOCAL_OPTIMUM else []
        budget, history = Budget(self._clock), answer.history
        found = search(self._objective, constraint, [], strategies, answer.support, budget, (), history)
        answer.support, answer.value, answer.history = found.support, found.value, found.history
        answer.status = found.status if strategies else answer.status
