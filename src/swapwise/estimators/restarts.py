"""One search or several, from different starts, of which the best is kept."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from swapwise.checks import FloatArray, IndexArray, as_count, as_time_limit, unwarned, warn
from swapwise.constraints.base import IndependenceSystem
from swapwise.maximize import maximize
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState
from swapwise.search.clock import Clock, OutOfTime
from swapwise.search.methods import resolve
from swapwise.search.model_start import model_set
from swapwise.search.result import SearchResult, Status

# Searches that begin with a part of the best answer so far begin with this share of it.
KEPT_OF_BEST = 0.5

# A search that ends like this is the last one.
CUT_SHORT = (Status.TIME_LIMIT, Status.INTERRUPTED)

DRAWN_AT_RANDOM = ("random", "random-residual-greedy")


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

    def search(start: Any) -> SearchResult:
        return maximize(
            objective,
            constraint,
            method,
            start=start,
            tol=tol,
            time_limit=left(),
            random_state=rng,
            **options,
        )

    def elsewhere() -> Any:
        if pivot is None:
            return start
        drawn = constraint.random_set(_kept(results, constraint, rng), rng)
        if not (isinstance(start, str) and start == "model" and isinstance(objective, SparseObjective)):
            return drawn
        return _modelled(objective.start(drawn), constraint, Clock(left()), tol)

    results = [search(start)]
    last = results[0].status
    while len(results) <= n_restarts and last not in CUT_SHORT:
        try:
            with unwarned():  # the first search has said what there is to say
                results.append(search(elsewhere()))
            last = results[-1].status
        except KeyboardInterrupt:
            last = Status.INTERRUPTED
    chosen = np.concatenate([result.support for result in results])
    frequency = np.bincount(chosen, minlength=objective.n) / len(results)
    best = max(results, key=lambda result: result.value)
    return Searches(replace(best, status=last) if last in CUT_SHORT else best, frequency)


def _modelled(state: SparseState, constraint: IndependenceSystem, clock: Clock, tol: float) -> IndexArray:
    """Return where models lead from a set, or have led when time is up."""
    try:
        return model_set(state, constraint, clock, tol, again=True)
    except OutOfTime:
        return state.support


def _kept(
    results: list[SearchResult], constraint: IndependenceSystem, rng: np.random.Generator
) -> IndexArray:
    """Return what a search begins with: what is forced, every other time a part of the best answer too."""
    if len(results) % 2:
        return constraint.forced
    best = max(results, key=lambda result: result.value).support
    return np.union1d(best[rng.random(len(best)) < KEPT_OF_BEST], constraint.forced)


def warn_if_cut_short(
    statuses: Iterable[Status], time_limit: float | None, max_iter: int | None, told_by: str
) -> None:
    """Warn if a search of ``fit`` ended at a limit; ``told_by`` is where users find which.

    >>> warn_if_cut_short([Status.LOCAL_OPTIMUM], None, 5, "result_.status")
    """
    limits = {Status.TIME_LIMIT: f"{time_limit=}", Status.ITERATION_LIMIT: f"{max_iter=}"}
    reached = [limit for status, limit in limits.items() if status in set(statuses)]
    if Status.INTERRUPTED in set(statuses):
        warn(
            f"the search was interrupted: the answer is the best so far; {told_by} tells", ConvergenceWarning
        )
    if reached:
        warn(
            f"the search was cut short by {' and '.join(reached)}: the answer is the best so far; "
            f"{told_by} tells",
            ConvergenceWarning,
        )


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
