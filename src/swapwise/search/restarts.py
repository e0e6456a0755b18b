"""Restarts: further searches from other sets, as jobs for joblib, of which the best answer is kept."""

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

# The share of the best answer so far that searches from a part of it begin with
KEPT_OF_BEST = 0.5

# No further search is made after one with such a status.
ENDS_ALL = (Status.TIME_LIMIT, Status.INTERRUPTED)

# Searches of one batch begin from the same best answer. The size does not depend on the number of workers, so
# neither does the answer.
BATCH = 8

# The size of a problem for dask's ``sizeof``: so large that joblib sends it once, and not with every job.
SENT_ONCE = 2**20


def restart(
    problem: RestartProblem,
    first: SearchResult,
    n_restarts: int,
    rng: np.random.Generator,
    clock: Clock,
    observers: Iterable[Observer] = (),
) -> tuple[SearchResult, FloatArray]:
    """Search ``n_restarts`` times more; return the best result, and how often each element was chosen.

    Local searches begin again at random maximal sets, every other one with a part of the best answer so far;
    methods that draw at random draw again. joblib runs the searches here, one after the other, unless a
    context such as ``joblib.parallel_config(backend="dask")`` sends them elsewhere.
    """
    objective, constraint = problem.objective, problem.constraint
    restarts = Restarts(problem, first, n_restarts, rng)
    if first.status not in ENDS_ALL:
        budget, since = Budget(clock), (observers, first.history, problem.plan.tol)
        with unwarned():  # the first search has warned already
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
    if as_count(n_restarts, "n_restarts") and plan.other is not None and not plan.other.draws:
        raise ValueError(
            f"n_restarts must be 0 for {plan.method}, which would find the same again, got {n_restarts}"
        )


@dataclass(frozen=True, eq=False)
class RestartProblem:
    """The search to repeat; ``known`` is the working set at the end of the first one, where others begin."""

    objective: SetFunction
    constraint: Constraint
    plan: Plan
    known: IndexArray | None = None

    @property
    def is_chunked(self) -> bool:
        """Whether the data are read in chunks, possibly by a cluster that must not wait for itself."""
        if is_by_column(self.objective):
            return self.objective.design.sequential
        return self.objective.scoring == "pass"

    def __sizeof__(self) -> int:
        return SENT_ONCE


class Restarts(Strategy):
    name = "restart"

    def __init__(
        self, problem: RestartProblem, first: SearchResult, n_restarts: int, rng: np.random.Generator
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

        # One job per worker at a time, so that the time left is that when the job begins.
        here = self._problem.is_chunked
        for result in results_of(jobs(), here=here, pre_dispatch="n_jobs", batch_size=1):
            results.append(result)
            self._left -= 1
            self.supports.append(result.support)
            self.n_evaluations += result.n_evaluations
            if result.value > state.value:  # so that an interrupt does not lose it
                budget.keep(self._steps(state, result), result.value)
        return results

    def _begins(self, best: IndexArray, count: int) -> list[tuple[IndexArray, int]]:
        # Every other search begins with a part of the best answer.
        begins = []
        for number in range(len(self.supports), len(self.supports) + count):
            kept = self._problem.constraint.forced
            if number % 2 == 0:
                dropped = best[self._rng.random(len(best)) >= KEPT_OF_BEST]
                kept = self._problem.constraint.without(best, np.setdiff1d(dropped, kept))
            begins.append((kept, int(self._rng.integers(2**32))))
        return begins

    def _steps(self, state: State, result: SearchResult) -> list[Step]:
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


def search_again(
    problem: RestartProblem, kept: IndexArray, seed: int, time_limit: float | None
) -> SearchResult:
    """Search once more; the answer depends on the arguments only, so any process may compute it."""
    objective, constraint, plan = problem.objective, problem.constraint, problem.plan
    clock, rng = Clock(time_limit), np.random.default_rng(seed)
    with unwarned():  # the first search has warned already
        if plan.rule is None:
            return plan.search(objective, constraint, rng, clock)
        models = plan.models(objective, constraint, problem.known, perturbs=False)
        again = replace(plan, begin=constraint.random_set(kept, rng), start="empty", explores=False)
        return again.search(objective, constraint, rng, clock, models=models)


def results_of(
    jobs: Iterable[Any], *, here: bool, n_jobs: int | None = None, **options: Any
) -> Iterator[Any]:
    """Yield the results of delayed calls, in their order.

    Jobs on chunked data are run ``here``: each uses the whole cluster, which a job must not wait for.
    """
    if here:
        return (function(*args, **kwargs) for function, args, kwargs in jobs)
    # Some backends, such as multiprocessing, do not yield results as they come.
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
    """Return the results of the delayed calls that ended before an interrupt, and whether there was one.

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
