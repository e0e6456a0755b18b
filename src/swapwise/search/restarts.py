"""Further searches from other sets, of which the best is kept; joblib may make them elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

from swapwise.checks import FloatArray, IndexArray, as_count, unwarned
from swapwise.clock import Budget, Clock, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, Step, move_between
from swapwise.objectives.base import SetFunction, State
from swapwise.objectives.least_squares.objective import is_by_column
from swapwise.override import override
from swapwise.search.loop import Observer, Strategy, search
from swapwise.search.plan import Plan
from swapwise.search.result import SearchResult, Status

# Searches that begin with a part of the best answer so far begin with this share of it.
KEPT_OF_BEST = 0.5

# A search that ends like this is the last one.
ENDS_ALL = (Status.TIME_LIMIT, Status.INTERRUPTED)

# This many searches begin from what is known before the first of them ends. The number does not depend on how
# many workers there are, so neither does the answer.
BATCH = 8

# What dask's ``sizeof`` is told of a problem: more than joblib sends along with every job.
SENT_ONCE = 2**20


def restart(
    problem: Problem,
    first: SearchResult,
    n_restarts: int,
    rng: np.random.Generator,
    clock: Clock,
    observers: Iterable[Observer] = (),
) -> tuple[SearchResult, FloatArray]:
    """Search ``n_restarts`` times more; return the best result, and how often each element was chosen.

    Local searches begin again at random maximal sets, every other one with a part of the best answer so far;
    methods that draw at random draw again. Searches that the clock leaves no time for are not made.

    The searches are jobs for joblib, which makes them here, one after the other, unless a context such as
    ``joblib.parallel_config(backend="dask")`` says where else.

    >>> from swapwise import Linear, Uniform
    >>> from swapwise.search.plan import resolve
    >>> f, constraint, rng = Linear([1, 3, 2]), Uniform(3, 2), np.random.default_rng(0)
    >>> plan = resolve(f, constraint)
    >>> first = plan.search(f, constraint, rng, Clock())
    >>> best, frequency = restart(Problem(f, constraint, plan), first, 3, rng, Clock())
    >>> best.support, frequency
    (array([1, 2]), array([0., 1., 1.]))
    """
    objective, constraint = problem.objective, problem.constraint
    restarts = Restarts(problem, first, n_restarts, rng)
    if first.status not in ENDS_ALL:
        budget, since = Budget(clock), (observers, first.history, problem.plan.tol)
        with unwarned():  # the first search has said what there is to say
            best = search(objective, constraint, [], [restarts], first.support, budget, *since)
        together = replace(
            best,
            method=f"{first.method}, {restarts.name}",
            strategies=[*first.strategies, *best.strategies],
            n_evaluations=first.n_evaluations + restarts.n_evaluations,
        )
        first = problem.plan.with_guarantee(together, objective, constraint)
    chosen = np.concatenate(restarts.supports)
    return first, np.bincount(chosen, minlength=objective.n) / len(restarts.supports)


def require_restarts(n_restarts: Any, plan: Plan) -> None:
    """Refuse restarts of a method that would find the same again."""
    if as_count(n_restarts, "n_restarts") and plan.other is not None and not plan.other.draws:
        raise ValueError(
            f"n_restarts must be 0 for {plan.method}, which would find the same again, got {n_restarts}"
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """What the restarts of a search have in common.

    ``known`` is the working set that the first search ended with: the others begin with it.
    """

    objective: SetFunction
    constraint: Constraint
    plan: Plan
    known: IndexArray | None = None

    @property
    def is_chunked(self) -> bool:
        """Whether the data are read in chunks, maybe by a cluster that should not wait for itself."""
        if is_by_column(self.objective):
            return self.objective.design.sequential
        return self.objective.scoring == "pass"

    def __sizeof__(self) -> int:
        return SENT_ONCE


class Restarts(Strategy):
    """A batch of searches from other sets, and a jump to the best answer if it is better."""

    name = "restart"

    def __init__(
        self, problem: Problem, first: SearchResult, n_restarts: int, rng: np.random.Generator
    ) -> None:
        self._problem, self._left, self._rng = problem, n_restarts, rng
        self.finished = first.status
        #: The answers of all searches, the first included
        self.supports = [first.support]
        self.n_evaluations = 0

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        while self._left:
            results = self._batch(state, budget)
            best = max(results, key=lambda result: result.value)
            better = best.value > state.value + state.resolution(self._problem.plan.tol)
            steps = self._steps(state, best) if better else []
            if better:
                self.finished = best.status if best.status not in ENDS_ALL else self.finished
                budget.keep(steps, best.value)
            _stop_if_cut_short(results)
            if better:
                state.apply(move_between(state.support, best.support))
                return steps
        return []

    def _batch(self, state: State, budget: Budget) -> list[SearchResult]:
        results: list[SearchResult] = []
        begins = self._begins(state.support, min(BATCH, self._left))

        def jobs() -> Iterator[Any]:
            for kept, seed in begins:
                if not results or results[-1].status not in ENDS_ALL:
                    left = budget.clock.left()
                    yield delayed(search_again)(self._problem, kept, seed, None if left == np.inf else left)

        # One job per worker at a time: the time that is left is what is left when it begins.
        here = self._problem.is_chunked
        for result in results_of(jobs(), here=here, pre_dispatch="n_jobs", batch_size=1):
            results.append(result)
            self._left -= 1
            self.supports.append(result.support)
            self.n_evaluations += result.n_evaluations
            if result.value > state.value:  # an interrupt is to lose none
                budget.keep(self._steps(state, result), result.value)
        return results

    def _begins(self, best: IndexArray, count: int) -> list[tuple[IndexArray, int]]:
        """Return what searches begin with, and their seeds.

        All begin with what is forced, every other one with a part of the best answer too.
        """
        begins = []
        for number in range(len(self.supports), len(self.supports) + count):
            kept = self._problem.constraint.forced
            if number % 2 == 0:
                dropped = best[self._rng.random(len(best)) >= KEPT_OF_BEST]
                kept = self._problem.constraint.without(best, np.setdiff1d(dropped, kept))
            begins.append((kept, int(self._rng.integers(2**32))))
        return begins

    def _steps(self, state: State, result: SearchResult) -> list[Step]:
        """Return the jump to where a search began, and its moves."""
        begin = result.support
        for event in reversed(result.history):
            begin = Move(event.added, event.dropped).undone.result(begin)
        jump = move_between(state.support, begin)
        value = float(self._problem.objective._value(begin))
        steps = [Step(jump, value, self.name)] if jump.added or jump.dropped else []
        for event in result.history:
            steps.append(Step(Move(event.added, event.dropped), event.value, event.strategy))
        return steps


def _stop_if_cut_short(results: list[SearchResult]) -> None:
    statuses = {result.status for result in results}
    if Status.INTERRUPTED in statuses:
        raise KeyboardInterrupt
    if Status.TIME_LIMIT in statuses:
        raise OutOfTime


def search_again(problem: Problem, kept: IndexArray, seed: int, time_limit: float | None) -> SearchResult:
    """Search once more; the answer depends on nothing but the arguments, so any process may do it."""
    objective, constraint, plan = problem.objective, problem.constraint, problem.plan
    clock, rng = Clock(time_limit), np.random.default_rng(seed)
    with unwarned():  # the first search has said what there is to say
        if plan.rule is None:
            return plan.search(objective, constraint, rng, clock)
        models = plan.models(objective, constraint, problem.known, perturbs=False)
        again = replace(plan, begin=constraint.random_set(kept, rng), start="empty", explores=False)
        return again.search(objective, constraint, rng, clock, models=models)


def results_of(
    jobs: Iterable[Any], *, here: bool, n_jobs: int | None = None, **options: Any
) -> Iterator[Any]:
    """Yield what delayed calls return, in their order.

    Jobs on chunked data are made ``here``: each has the whole cluster work for it, and a job that waits for
    other jobs on the same cluster may wait for ever.

    >>> list(results_of([delayed(abs)(-1), delayed(abs)(2)], here=True))
    [1, 2]
    """
    if here:
        return (function(*args, **kwargs) for function, args, kwargs in jobs)
    # The backend that users choose may not yield results as they come, as that of multiprocessing does not.
    backend, _ = get_active_backend()
    kind = "generator" if backend.supports_return_generator else "list"
    return iter(Parallel(n_jobs=n_jobs, return_as=kind, **options)(jobs))


def results_so_far(
    jobs: Sequence[Any],
    *,
    here: bool,
    n_jobs: int | None,
    progress: bool,
    what: str = "cross-validation",
) -> tuple[list[Any], bool]:
    """Return what delayed calls return, of those that ended before an interrupt, and whether there was one.

    ``what`` is the word before the bar.

    >>> results_so_far([delayed(abs)(-1), delayed(abs)(2)], here=True, n_jobs=None, progress=False)
    ([1, 2], False)
    """
    found: Iterable[Any] = results_of(jobs, here=here, n_jobs=n_jobs)
    if progress and jobs:
        from rich.console import Console
        from rich.progress import track

        found = track(found, what, total=len(jobs), console=Console(stderr=True))
    results: list[Any] = []
    try:
        for result in found:
            results.append(result)
    except KeyboardInterrupt:
        return results, True
    return results, False
