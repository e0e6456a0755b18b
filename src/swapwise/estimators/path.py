"""Answers under growing constraints, each found from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_time_limit
from swapwise.clock import Clock, OutOfTime, plain_interrupts
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import NOTHING, Move, MoveList
from swapwise.objectives.base import SparseObjective, SparseState, State, embed
from swapwise.search.loop import Trace, climb, take_pending
from swapwise.search.methods import make_steps
from swapwise.search.model_start import model_set, prefers_model
from swapwise.search.result import Event, SearchResult, Status
from swapwise.search.run import Plan
from swapwise.search.starts import begin
from swapwise.search.steps import move_to
from swapwise.theory.roots import relaxation_start

# So often the path is gone down and up again; what changes after that is very little.
SWEEPS = 2

# A fresh start is tried at every so many-th place: where it is better, the neighbours learn of it. One from
# models costs as much as a fit.
FRESH_EVERY, MODEL_EVERY = 3, 8


def warm_path(
    objective: SparseObjective,
    constraints: Sequence[IndependenceSystem],
    plan: Plan,
    *,
    seed: int = 0,
    time_limit: float | None = None,
    all_or_nothing: bool = False,
) -> list[SearchResult]:
    """Return an answer for each of some constraints, of which every one allows what those before it do.

    Going up, a local search begins at the answer before; going down, at the answer behind, less what it can
    spare best. The better answer stays, until nothing changes. As these alone may stay in a region that was
    good for small sets, some searches begin afresh: with the first elements that a search from nothing under
    the last constraint took, or, where the objective has second-order models, at a set that these suggest.

    Other methods than local search cannot begin at a given set: they answer each constraint by itself.

    After a keyboard interrupt, all answers are what they are by then, with status INTERRUPTED.

    Parameters
    ----------
    objective : SparseObjective
    constraints : sequence of IndependenceSystem
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
    >>> from swapwise.search.methods import resolve
    >>> objective = LeastSquares(np.eye(3), [1.0, 3.0, 2.0])
    >>> constraints = [Uniform(3, size) for size in (1, 2, 3)]
    >>> path = warm_path(objective, constraints, Plan(*resolve("auto", objective)))
    >>> [result.support.tolist() for result in path]
    [[1], [1, 2], [0, 1, 2]]
    """
    walk = _Walk(objective, constraints, plan, Clock(as_time_limit(time_limit)), seed)
    try:
        with plain_interrupts():
            walk.go()
            return walk.results()
    except KeyboardInterrupt:
        if all_or_nothing:
            raise
        walk.give_up()
    return walk.results()


@dataclass
class _Answer:
    """The best set so far under one constraint, and all sets where a search has been."""

    support: IndexArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    value: float = -np.inf
    status: Status = Status.COMPLETE
    history: list[Event] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)


class _Walk:
    """The answers of a path, and the one state that goes from set to set: to build another is dear."""

    _state: State

    def __init__(
        self,
        objective: SparseObjective,
        constraints: Sequence[IndependenceSystem],
        plan: Plan,
        clock: Clock,
        seed: int,
    ) -> None:
        self._objective, self._constraints, self._plan = objective, constraints, plan
        self._clock, self._seed = clock, seed
        self._answers = [_Answer() for _ in constraints]
        self._state = objective.start(constraints[0].forced)
        self._under_way = 0, Trace(constraints[0].forced, [])
        self._out_of_time = False
        self._by_models = prefers_model(objective, constraints[0])

    def go(self) -> None:
        """Find all answers."""
        if self._plan.pivot is None:
            for place in range(len(self._constraints)):
                self._search_from_nothing(place)
            return
        self._search_from_start()
        self._forward(self._fresh_starts())
        for _ in range(SWEEPS):
            if not self._backward() or not self._forward({}):
                break

    def give_up(self) -> None:
        """Keep what the search under way had found, and nowhere less than under the constraint before."""
        place, trace = self._under_way
        value = self._objective._value(trace.support)  # an interrupt may have come in the middle of a move
        if value > self._answers[place].value:
            self._answers[place] = _Answer(trace.support, value, history=trace.history)
        for before, after in pairwise(self._answers):
            if before.value > after.value:
                after.support, after.value, after.history = before.support, before.value, []
        for answer in self._answers:
            answer.status = Status.INTERRUPTED

    def _search_from_start(self) -> None:
        """Search under the first constraint from where the plan says."""
        constraint, start = self._constraints[0], self._plan.start
        if isinstance(start, str) and start == "relaxation":
            start = partial(relaxation_start, self._objective, constraint, self._clock)
        try:
            _, trace = self._under_way
            self._state = begin(start, self._objective, constraint, trace, self._plan.tol, self._clock)
        except OutOfTime:
            self._out_of_time = True
        self._climb(0)

    def _search_from_nothing(self, place: int) -> list[Event]:
        """Search under a constraint from its forced elements; return the moves."""
        self._go_to(self._constraints[place].forced)
        return self._climb(place)

    def _fresh_starts(self) -> dict[int, IndexArray]:
        """Return sets to begin with that owe nothing to smaller answers, for some places."""
        every = MODEL_EVERY if self._by_models else FRESH_EVERY
        places = range(len(self._constraints) - 1, 0, -every)
        if not places:
            return {}
        if self._by_models:
            return {place: self._modelled(place) for place in places}
        grown = [event.support for event in self._search_from_nothing(places[0]) if not event.dropped]
        starts = {}
        for place in places:
            allowed = [support for support in grown if self._constraints[place]._is_independent(support)]
            if allowed:
                starts[place] = allowed[-1]
        return starts

    def _forward(self, fresh_starts: dict[int, IndexArray]) -> bool:
        """Search from every answer under the next constraint; tell whether any answer got better."""
        better = False
        for place in range(1, len(self._constraints)):
            better |= self._attempt(place, self._answers[place - 1].support)
            if place in fresh_starts:
                better |= self._attempt(place, fresh_starts[place])
        return better

    def _backward(self) -> bool:
        """Search from answers made smaller under the constraint before; tell whether any got better."""
        better = False
        for place in reversed(range(len(self._constraints) - 1)):
            if not self._out_of_time:
                better |= self._attempt(place, self._reduced(self._answers[place + 1].support, place))
        return better

    def results(self) -> list[SearchResult]:
        """Return the answers, with values and coefficients computed anew."""
        return [self._result(answer) for answer in self._answers]

    def _modelled(self, place: int) -> IndexArray:
        constraint = self._constraints[place]
        try:
            return model_set(self._objective.start(constraint.forced), constraint, self._clock)
        except OutOfTime:
            return constraint.forced

    def _attempt(self, place: int, start: IndexArray) -> bool:
        """Search from a set where no search has been; tell whether that gave a better answer."""
        answer = self._answers[place]
        if start.tobytes() in answer.seen:
            return False
        before = answer.value
        self._go_to(start)
        self._climb(place)
        return answer.value > before

    def _climb(self, place: int) -> list[Event]:
        """Search from where the state is, up to where a search has been before; keep what is better."""
        answer, constraint = self._answers[place], self._constraints[place]
        answer.seen.add(self._state.support.tobytes())

        def is_known(event: Event) -> bool:
            key = event.support.tobytes()
            known = key in answer.seen
            answer.seen.add(key)
            return known

        trace = Trace(self._state.support, [is_known])
        trace.recording, self._under_way = True, (place, trace)
        plan, rng = self._plan, np.random.default_rng(self._seed)
        steps = make_steps(
            plan.name,
            plan.pivot,
            self._objective,
            constraint,
            plan.q,
            plan.epsilon,
            plan.tol,
            rng,
            self._clock,
        )
        try:
            status = climb(self._state, steps, trace, self._clock, plan.max_iter)
        except OutOfTime:
            status, self._out_of_time = Status.TIME_LIMIT, True
            take_pending(self._state, steps, trace, self._clock)
        value = self._state.value
        if value > answer.value + plan.tol * self._state.magnitude:
            answer.support, answer.value, answer.status = self._state.support, value, status
            answer.history = trace.history
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
        if self._by_models and not self._objective.closed_form_gains:
            assert isinstance(self._state, SparseState)
            model = self._state.model(chosen)
            if model is not None:
                chosen = np.arange(len(chosen))
                scored = model.start(chosen)
        return scored.gains(MoveList(np.full((len(chosen), 1), NOTHING), chosen[:, None]))

    def _go_to(self, target: IndexArray) -> None:
        if not np.array_equal(self._state.support, target):
            self._state.apply(move_to(self._state.support, target))

    def _result(self, answer: _Answer) -> SearchResult:
        value, coef = self._objective._fit(answer.support)
        return SearchResult(
            support=answer.support,
            value=float(value),
            coef=embed(self._objective, answer.support, coef),
            status=answer.status,
            n_iter=len(answer.history),
            n_evaluations=self._state.n_evaluations,
            seconds=self._clock.seconds(),
            history=answer.history,
            method=self._plan.name,
        )
