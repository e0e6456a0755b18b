"""Answers of every size, up to where a criterion is no longer improved by more elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_time_limit
from swapwise.clock import Budget, Clock, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.objectives.base import SparseObjective, SparseState
from swapwise.override import override
from swapwise.search.loop import Strategy, Trace, run, take_kept
from swapwise.search.methods import Greedy, OrthogonalMatchingPursuit
from swapwise.search.path import PathPoint, PathSearch
from swapwise.search.plan import Plan
from swapwise.search.result import Event, SearchResult, Status

# Growth ends at least this many elements beyond the best size: criteria rise steadily there.
FEWEST_BEYOND = 5

# Local searches are made up to this many sizes from the best: swaps seldom move the best size further.
AROUND = 2


@dataclass(frozen=True, eq=False)
class SizePath:
    """The best set found of each size, from the forced elements upwards, and the size that was chosen."""

    supports: list[IndexArray]
    #: Of each, such as its log-likelihood
    measures: FloatArray
    #: The index of the best
    best: int
    result: SearchResult


def size_path(
    objective: SparseObjective,
    constraint: Constraint,
    plan: Plan,
    measure: Callable[[SparseState], float],
    loss: Callable[[float, int], float],
    *,
    largest: int | None = None,
    beyond: float = 0.25,
    seed: int = 0,
    time_limit: float | None = None,
    all_or_nothing: bool = False,
) -> SizePath:
    """Return a set of every size and the one with the least ``loss(measure(state), size)``.

    A set is grown element by element, by exact gains where they are in closed form and else by gradients,
    until the loss has long been rising: by ``beyond`` times the best size, or five elements. Around the size
    of the least loss, local searches then swap elements, from their own set and from those of the sizes next
    to it; if that makes another size the best, they go on around that one. Sizes further away keep the grown
    sets. Other methods than local search answer each size by themselves.
    """
    most = constraint.max_size() if largest is None else min(largest, constraint.max_size())
    searches = _SizePathSearch(
        objective, _Truncations(constraint, most), plan, Clock(as_time_limit(time_limit)), seed
    )
    searches.judge_by(measure, loss, beyond)
    searches.run(all_or_nothing=all_or_nothing)
    return searches.path()


class _Truncations(Sequence[Constraint]):
    """A constraint with a limit on the size, from that of the forced elements upwards, made on demand."""

    def __init__(self, constraint: Constraint, largest: int) -> None:
        self._constraint = constraint
        self._sizes = range(len(constraint.forced), max(largest, len(constraint.forced)) + 1)
        self._made: dict[int, Constraint] = {}

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, place: int) -> Constraint: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Constraint]: ...
    def __getitem__(self, place: int | slice) -> Constraint | Sequence[Constraint]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        size = self._sizes[place]
        if size not in self._made:
            self._made[size] = self._constraint.truncate(size)
        return self._made[size]


class _SizePathSearch(PathSearch):
    def judge_by(
        self, measure: Callable[[SparseState], float], loss: Callable[[float, int], float], beyond: float
    ) -> None:
        self._measure, self._loss, self._beyond = measure, loss, beyond
        self._first = len(self._constraints[0].forced)
        self._measures = [np.nan] * len(self._answers)
        self._losses_of = [np.inf] * len(self._answers)

    @override
    def search(self) -> None:
        if self._plan.rule is None:
            self._answer_each()
            return
        self._grow()
        while not self._out_of_time and self._search_around(self._best()):
            pass

    def path(self) -> SizePath:
        best, reached = self._best(), self._reached()
        answers = self._answers[:reached]
        result = self._result(self._answers[best], self._constraints[best])
        return SizePath(
            [answer.support for answer in answers], np.array(self._measures[:reached]), best, result
        )

    @override
    def stop(self) -> None:
        for answer in self._answers:
            answer.status = Status.INTERRUPTED

    def _best(self) -> int:
        return int(np.argmin(self._losses_of))

    def _reached(self) -> int:
        return max(1, int(np.isfinite(self._losses_of).sum()))

    def _is_enough(self) -> bool:
        best = self._best()
        return self._reached() > best + max(FEWEST_BEYOND, self._beyond * (self._first + best))

    def _answer_each(self) -> None:
        for place in range(len(self._constraints)):
            self._search_from_nothing(place)
            if self._is_enough():
                return

    def _grow(self) -> None:
        self._go_to(self._constraints[0].forced)
        self._install(0, self._state.support, self._state.value, [])
        kind = Greedy if self._objective.scoring == "closed form" else OrthogonalMatchingPursuit
        growth = kind().bound(self._objective, self._constraints[-1], self._plan.tol, None)

        def is_enough(event: Event) -> bool:
            self._install(len(event.support) - self._first, event.support, event.value, list(trace.history))
            return self._is_enough()

        trace, budget = Trace(self._state.support, [is_enough]), Budget(self._clock)
        self._under_way = 0, trace
        try:
            run([growth], self._state, trace, budget)
        except OutOfTime:
            self._out_of_time = True
            take_kept(self._objective, trace, budget)
            for answer in self._answers:
                answer.status = Status.TIME_LIMIT

    def _search_around(self, best: int) -> bool:
        low, high = max(0, best - AROUND), min(self._reached() - 1, best + AROUND)
        better = False
        for place in range(low, high + 1):
            for at in (place, place - 1)[: 1 + (place > low)]:
                better |= self._attempt(place, self._answers[at].support, self._answers[at].history)
        for place in range(high - 1, low - 1, -1):
            if not self._out_of_time:
                after = self._answers[place + 1]
                better |= self._attempt(place, self._reduced(after.support, place), after.history)
        return better

    def _install(self, place: int, support: IndexArray, value: float, history: list[Event]) -> None:
        self._answers[place] = PathPoint(support, value, history=history)
        self._judge(place)

    def _judge(self, place: int) -> None:
        assert isinstance(self._state, SparseState)
        self._measures[place] = self._measure(self._state)
        self._losses_of[place] = self._loss(self._measures[place], len(self._state.support))

    @override
    def _search(self, place: int, history: list[Event], starts: Sequence[Strategy] = ()) -> list[Event]:
        before = self._answers[place].support
        made = super()._search(place, history, starts)
        if self._answers[place].support is not before:
            self._judge(place)
        return made
