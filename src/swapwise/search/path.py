"""Answers under growing constraints, each found from its neighbours."""

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

# The path is searched down and up again this many times; what changes after that is very little.
SWEEPS = 2

# Every so often along the path a search begins afresh: where it is better, the neighbours learn of it. One by
# models costs as much as a fit.
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
    """Return an answer for each of some constraints; what one allows, those after it allow too.

    Going up, a local search begins at the answer before; going down, at the answer after, less what it can
    spare best. The better answer stays, until nothing changes. As these alone may stay in a region that was
    good for small sets, some searches begin afresh: with the first elements that a search from nothing under
    the last constraint took, or, where the objective has second-order models, by strategies on these.

    Other methods than local search cannot begin at a given set: they answer each constraint by itself.

    The history of an answer is the whole way to it, over the answers under other constraints: a step from one
    to the next that drops elements is a "perturbation". After a keyboard interrupt, all answers are what they
    are by then, with status INTERRUPTED.

    Parameters
    ----------
    objective : SparseObjective
    constraints : sequence of Constraint
        Growing, and all with the same forced elements.
    plan : Plan
        How to search; ``start`` is where the search under the first constraint begins, and ``max_iter`` holds
        for every search.
    seed : int
        For methods that draw at random.
    time_limit : float, optional
        Seconds after which all answers are what they are by then: at worst that of the constraint before.
    all_or_nothing : bool
        Let a keyboard interrupt through.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import LeastSquares, Uniform
    >>> from swapwise.search.plan import resolve
    >>> objective = LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
    >>> constraints = [Uniform(3, size) for size in (1, 2, 3)]
    >>> path = warm_path(objective, constraints, resolve(objective, constraints[0]))
    >>> [result.support.tolist() for result in path]
    [[1], [1, 2], [0, 1, 2]]
    """
    walk = Walk(objective, constraints, plan, Clock(as_time_limit(time_limit)), seed)
    walk.run(all_or_nothing=all_or_nothing)
    return walk.results()


@dataclass
class Answer:
    """The best set so far under one constraint, how it was reached, and all sets where a search has been."""

    support: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    value: float = -np.inf
    status: Status = Status.COMPLETE
    history: list[Event] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)


class Walk:
    """The answers of a path, and the one state that goes from set to set: to build another is expensive."""

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
        self._answers = [Answer() for _ in range(len(constraints))]
        self._state: State = objective.start(plan.begin)
        self._under_way = 0, Trace(plan.begin)
        self._out_of_time = False
        self._by_models = resolve(objective, constraints[0]).start == "model"

    def run(self, *, all_or_nothing: bool = False) -> None:
        """Find all answers; after a keyboard interrupt, unless it is let through, they are what they are."""
        try:
            self.search()
        except KeyboardInterrupt:
            if all_or_nothing:
                raise
            self.stop()

    def search(self) -> None:
        """Find all answers."""
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
        """Keep what the search under way had found, and nowhere less than under the constraint before."""
        place, trace = self._under_way
        value = self._objective._value(trace.support)  # an interrupt may have come in the middle of a move
        if value > self._answers[place].value:
            self._answers[place] = Answer(trace.support, value, history=trace.history)
        for before, after in pairwise(self._answers):
            if before.value > after.value:
                after.support, after.value, after.history = before.support, before.value, before.history
        for answer in self._answers:
            answer.status = Status.INTERRUPTED

    def _search_from_start(self) -> None:
        """Search under the first constraint from where the plan says."""
        plan, constraint = self._plan, self._constraints[0]
        starts = [*plan.starts(self._objective, constraint), *plan.models(self._objective, constraint)]
        self._search(0, [], starts)

    def _search_from_nothing(self, place: int) -> list[Event]:
        """Search under a constraint from its forced elements; return the moves."""
        self._go_to(self._constraints[place].forced)
        return self._search(place, [])

    def _fresh_starts(self) -> dict[int, list[Event]]:
        """Return ways to sets that owe nothing to smaller answers, for some places."""
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
        """Search from every answer under the next constraint; return whether any answer got better."""
        better = False
        for place in range(1, len(self._constraints)):
            before = self._answers[place - 1]
            better |= self._attempt(place, before.support, before.history)
            if fresh := fresh_starts.get(place):
                better |= self._attempt(place, fresh[-1].support, fresh)
        return better

    def _backward(self) -> bool:
        """Search from answers made smaller under the constraint before; return whether any got better."""
        better = False
        for place in reversed(range(len(self._constraints) - 1)):
            if not self._out_of_time:
                after = self._answers[place + 1]
                better |= self._attempt(place, self._reduced(after.support, place), after.history)
        return better

    def _explore(self) -> None:
        """Leave the local optima of all answers for better ones, as a search of one constraint does."""
        for place, constraint in enumerate(self._constraints):
            answer = self._answers[place]
            if self._out_of_time or answer.status is not Status.LOCAL_OPTIMUM:
                return
            self._go_to(answer.support)
            explorers = self._plan.explorers(self._objective, constraint)
            answer.seen.clear()  # where a search has been is where this one begins
            self._search(place, answer.history, explorers)

    def results(self) -> list[SearchResult]:
        """Return the answers, with values and coefficients computed afresh."""
        return [
            self._result(answer, constraint)
            for answer, constraint in zip(self._answers, self._constraints, strict=True)
        ]

    def _modelled(self, place: int) -> list[Event]:
        """Return the moves that strategies on few elements make from the forced elements."""
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
        """Search from a set where no search has been; return whether that gave a better answer.

        ``history`` is the way to the set, or to one that it is a part of.
        """
        answer = self._answers[place]
        if start.tobytes() in answer.seen:
            return False
        before = answer.value
        self._go_to(start)
        self._search(place, self._extended(history, start))
        return answer.value > before

    def _extended(self, history: list[Event], start: IndexArray) -> list[Event]:
        """Return a way to a set with the step from where it ends to the set, if it does not end there."""
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
        """Search from where the state is, up to where a search has been before; keep what is better."""
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
            if plan.start_is_given:  # its moves do not count
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
        """Return a subset that the constraint allows: drop what is missed least, one at a time."""
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
        """Return what dropping each of the chosen changes the value by, to second order if it has models."""
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

    def _result(self, answer: Answer, constraint: Constraint) -> SearchResult:
        if not constraint.is_complete(answer.support):
            self._complete(answer, constraint)
        trace, tol = Trace(answer.support, history=answer.history), self._plan.tol
        seconds, evaluated = self._clock.seconds(), self._state.n_evaluations
        method = "path" if self._plan.rule is not None else self._plan.method
        trace.strategies.append(StrategyRun(method, len(trace.history), answer.value, seconds))
        return result_of(self._objective, constraint, trace, answer.status, method, evaluated, seconds, tol)

    def _complete(self, answer: Answer, constraint: Constraint) -> None:
        """Go on from an answer to one that meets all lower limits."""
        onward = [self._plan.main(self._objective, constraint, None)]
        strategies = onward if answer.status is Status.LOCAL_OPTIMUM else []
        budget, history = Budget(self._clock), answer.history
        found = search(self._objective, constraint, [], strategies, answer.support, budget, (), history)
        answer.support, answer.value, answer.history = found.support, found.value, found.history
        answer.status = found.status if strategies else answer.status
