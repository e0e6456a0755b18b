"""One search or several, from different starts, of which the best is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from sklearn.exceptions import ConvergenceWarning

from swapwise.checks import FloatArray, IndexArray, as_count, as_time_limit, unwarned, warn
from swapwise.clock import Clock, OutOfTime, plain_interrupts
from swapwise.constraints.base import IndependenceSystem
from swapwise.estimators.jobs import results_of
from swapwise.maximize import maximize
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.methods import resolve
from swapwise.search.model_start import model_set
from swapwise.search.result import SearchResult, Status
from swapwise.search.run import passes_of

# Searches that begin with a part of the best answer so far begin with this share of it.
KEPT_OF_BEST = 0.5

# A search that ends like this is the last one.
CUT_SHORT = (Status.TIME_LIMIT, Status.INTERRUPTED)

DRAWN_AT_RANDOM = ("random", "random-residual-greedy")

# So many searches begin from what is known before the first of them ends. However many workers there are, it
# is the same number: so is the answer.
BATCH = 8

# What dask's ``sizeof`` says of a problem: more than joblib sends along with every job.
SENT_ONCE = 2**20


@dataclass(frozen=True, eq=False)
class Searches:
    """The best of some searches, and the share of them whose answer holds each element."""

    best: SearchResult
    frequency: FloatArray


def best_of_searches(
    objective: SetFunction,
    constraint: IndependenceSystem,
    method: Any = "auto",
    *,
    start: Any = "empty",
    n_restarts: int = 0,
    tol: float = 1e-10,
    time_limit: float | None = None,
    random_state: Any = None,
    **options: Any,
) -> Searches:
    """Search as asked for, then ``n_restarts`` times more, and keep the best.

    Local searches begin anew at random maximal sets, every other one with a part of the best answer so far;
    methods that draw at random draw again. What is known of the data from one search serves the next. The
    limit on time is for all searches together: those that it leaves no time for are not made.

    The first search is made here. The others are jobs for joblib, which makes them here too, one after the
    other, unless a context such as ``joblib.parallel_config(backend="dask")`` says where else.

    >>> from swapwise import Linear, Uniform
    >>> found = best_of_searches(Linear([1, 3, 2]), Uniform(3, 2), n_restarts=3)
    >>> found.best.support, found.frequency
    (array([1, 2]), array([0., 1., 1.]))
    """
    n_restarts = as_count(n_restarts, "n_restarts")
    name, pivot = resolve(method, objective)
    if n_restarts and pivot is None and name not in DRAWN_AT_RANDOM:
        raise ValueError(
            f"n_restarts must be 0 for {name}, which would find the same again, got {n_restarts}"
        )
    rng = as_generator(random_state)
    limit, clock = as_time_limit(time_limit), Clock()

    def left() -> float | None:
        return None if limit is None else max(0.0, limit - clock.seconds())

    results = [
        maximize(
            objective,
            constraint,
            method,
            start=start,
            tol=tol,
            time_limit=left(),
            random_state=rng,
            **options,
        )
    ]
    problem = _Problem(objective, constraint, method, pivot is not None, start, tol, options)
    last = _restart(problem, results, n_restarts, left, rng)
    chosen = np.concatenate([result.support for result in results])
    frequency = np.bincount(chosen, minlength=objective.n) / len(results)
    best = _with_promise(_best(results), results[0])
    best = replace(best, n_passes=passes_of(objective))  # of all searches that were made here
    return Searches(best if last is None else replace(best, status=last), frequency)


def _restart(
    problem: _Problem,
    results: list[SearchResult],
    n_restarts: int,
    left: Callable[[], float | None],
    rng: np.random.Generator,
) -> Status | None:
    """Add further results to that of the first search; return how one that was cut short ended, if any."""
    # Not that of later searches: what other processes have looked at is not known here.
    pool = problem.last_pool()

    def jobs(begins: list[tuple[IndexArray, int]]) -> Iterator[Any]:
        for kept, seed in begins:
            if results[-1].status not in CUT_SHORT:
                yield delayed(_search_elsewhere)(problem, pool, kept, seed, left())

    last = _cut_short(results)
    try:
        with plain_interrupts():
            while len(results) <= n_restarts and last is None:
                numbers = range(len(results), min(len(results) + BATCH, n_restarts + 1))
                begins = _begins(numbers, _best(results).support, problem.constraint, rng)
                here = problem.objective.streamed
                # One job a worker at a time: what is left of the time is what is left when it begins.
                for result in results_of(jobs(begins), here=here, pre_dispatch="n_jobs", batch_size=1):
                    results.append(result)  # at once: an interrupt is to lose none, and jobs look at the last
                last = _cut_short(results[numbers.start :])
    except KeyboardInterrupt:
        last = Status.INTERRUPTED
    return last


@dataclass(frozen=True, eq=False)
class _Problem:
    """What the restarts of a search have in common."""

    objective: SetFunction
    constraint: IndependenceSystem
    method: Any
    is_local: bool
    start: Any
    tol: float
    options: dict[str, Any]

    def __sizeof__(self) -> int:
        return SENT_ONCE

    @property
    def _is_modelled(self) -> bool:
        return isinstance(self.start, str) and self.start == "model" and self.is_local

    def last_pool(self) -> IndexArray | None:
        """Return the working set that searches are to begin with, or None if they have none."""
        if self._is_modelled and isinstance(self.objective, LeastSquares):
            return self.objective.last_pool
        return None

    def start_from(
        self, kept: IndexArray, pool: IndexArray | None, clock: Clock, rng: np.random.Generator
    ) -> Any:
        """Return where to begin: at a random set that holds what is kept, or where models lead from there."""
        if not self.is_local:
            return self.start
        drawn = self.constraint.random_set(kept, rng)
        if not (self._is_modelled and isinstance(self.objective, SparseObjective)):
            return drawn
        state = self.objective.start(drawn)
        try:
            return model_set(state, self.constraint, clock, self.tol, first=pool)
        except OutOfTime:
            return state.support


def _search_elsewhere(
    problem: _Problem, pool: IndexArray | None, kept: IndexArray, seed: int, time_limit: float | None
) -> SearchResult:
    """Search once more; the answer depends on nothing but the arguments, so any process may do it."""
    clock, rng = Clock(time_limit), np.random.default_rng(seed)
    with unwarned():  # the first search has said what there is to say
        start = problem.start_from(kept, pool, clock, rng)
        return maximize(
            problem.objective,
            problem.constraint,
            problem.method,
            start=start,
            tol=problem.tol,
            time_limit=None if time_limit is None else max(0.0, time_limit - clock.seconds()),
            random_state=rng,
            **problem.options,
        )


def _cut_short(results: list[SearchResult]) -> Status | None:
    """Return how the first search that was cut short ended, or None if there is none."""
    return next((result.status for result in results if result.status in CUT_SHORT), None)


def _best(results: list[SearchResult]) -> SearchResult:
    return max(results, key=lambda result: result.value)


def _begins(
    numbers: range, best: IndexArray, constraint: IndependenceSystem, rng: np.random.Generator
) -> list[tuple[IndexArray, int]]:
    """Return what searches begin with, and their seeds.

    All begin with what is forced, every other one with a part of the best answer too.
    """
    begins = []
    for number in numbers:
        kept = constraint.forced
        if number % 2 == 0:
            kept = np.union1d(best[rng.random(len(best)) < KEPT_OF_BEST], kept)
        begins.append((kept, int(rng.integers(2**32))))
    return begins


def _with_promise(result: SearchResult, first: SearchResult) -> SearchResult:
    """Return a result that can work out its guarantee: on the way from another process it lost the data."""
    if first._promise is None or result._promise is not None:
        return result
    figures = {"status": result.status, "n_iter": result.n_iter, "value": result.value}
    return replace(result, _promise=partial(first._promise, **figures))


def warn_if_cut_short(
    statuses: Iterable[Status],
    time_limit: float | None,
    max_iter: int | None,
    told_by: str,
    *,
    is_empty: bool = False,
) -> None:
    """Warn if a search of ``fit`` ended at a limit; ``told_by`` is where users find which.

    >>> warn_if_cut_short([Status.LOCAL_OPTIMUM], None, 5, "result_.status")
    """
    limits = {
        Status.TIME_LIMIT: f"cut short by {time_limit=}",
        Status.ITERATION_LIMIT: f"cut short by {max_iter=}",
        Status.INTERRUPTED: "interrupted",
    }
    seen = set(statuses)
    reached = [limit for status, limit in limits.items() if status in seen]
    if reached:
        answer = "it had found nothing yet" if is_empty else "the answer is the best so far"
        warn(f"the search was {' and '.join(reached)}: {answer}; {told_by} tells", ConvergenceWarning)


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a source of randomness; None is 0, so that the same call gives the same answer."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(np.iinfo(np.int32).max)
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"random_state must be a non-negative integer, a Generator or a RandomState, got {random_state!r}"
        ) from error
