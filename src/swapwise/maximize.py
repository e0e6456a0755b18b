"""The one entry point: checks that everything fits, picks the method, has it run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from swapwise.certify.root import relaxation_start
from swapwise.checks import as_count, as_real, as_time_limit
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.objectives.base import SetFunction
from swapwise.search.loop import Observer
from swapwise.search.methods import resolve
from swapwise.search.model_start import has_model
from swapwise.search.pivots import Pivot
from swapwise.search.problem import check_problem
from swapwise.search.progress import progress_bar
from swapwise.search.result import Event, SearchResult
from swapwise.search.run import Plan, run
from swapwise.search.starts import Start, check_start
from swapwise.theory.guarantees import Guarantee, guarantee_of


def maximize(
    objective: SetFunction,
    constraint: IndependenceSystem,
    method: str | Pivot = "auto",
    *,
    q: int = 1,
    start: str | Iterable[int] = "empty",
    max_iter: int | None = None,
    epsilon: float | None = None,
    tol: float = 1e-10,
    time_limit: float | None = None,
    random_state: Any = None,
    callback: Callable[[Event], object] | None = None,
    progress: bool = False,
) -> SearchResult:
    """Find a set of large value among those that the constraint allows.

    f is taken to be monotone, so no move drops an element unless that makes room for another.

    Parameters
    ----------
    objective : SetFunction
        What is maximised, for instance ``LeastSquares(X, y)``.
    constraint : IndependenceSystem
        Where the answer lies, for instance ``Partition(labels, 3)``.
    method : str or pivot rule
        ``"oblivious"``, ``"semi-oblivious"``, ``"non-oblivious"`` (local search; also as rule objects
        such as ``NonOblivious(smoothness="global")``), ``"greedy"``, ``"random-residual-greedy"``,
        ``"modular"``, ``"random"``, ``"exhaustive"`` (up to a million sets); random residual greedy is for
        matroids. ``"auto"`` is oblivious where gains are in
        closed form or nothing else works, and semi-oblivious otherwise. The semi- and non-oblivious
        rules compare coefficients, so they want columns of similar scale; the oblivious does not mind.
    q : int
        How many elements a move may exchange; 1 under a single matroid. Moves grow in number as n to the
        power of q (2q for intersections of general matroids): begin with ``start="greedy"``, so that
        they are not spent on what q = 1 does as well. For local search.
    start : str or independent set
        ``"empty"``, ``"arbitrary"`` (a maximal set in index order), ``"greedy"``, ``"modular"``,
        ``"best-singleton"`` (completed to a maximal set), ``"relaxation"`` (near the best fractional set,
        for strongly concave objectives), ``"model"`` (a set that second-order models do not improve,
        for ``LeastSquares``, ``Logistic`` and ``Poisson``: by far the fastest with many elements; ``history``
        begins there), or any independent set, such as the result of another search. The moves of
        ``"greedy"``, forward selection, are in ``start_path``. For local search.
    max_iter : int, optional
        Largest number of moves, the paper's T; each new best set of an exhaustive search counts as one.
    epsilon : float, optional
        Switches local search to the geometric rule (Algorithm 5): take the first move that gains
        ``epsilon / rank · f(X)``. The rule says nothing at f = 0, so ``start="empty"`` then means
        ``"best-singleton"``, as in the paper.
    tol : float
        A move improves if it gains more than ``tol`` times the value (for R², ``tol`` itself).
    time_limit : float, optional
        Seconds after which the best set so far is returned.
    random_state : int or numpy Generator, optional
        For the methods that draw at random. None is 0: the same call gives the same answer.
    callback : callable, optional
        Called with an :class:`Event` after every move; the search stops when it returns True or raises
        StopIteration.
    progress : bool
        Show a bar on the terminal.

    Returns
    -------
    SearchResult
        After a keyboard interrupt too, with the best set so far and status INTERRUPTED. Its ``guarantee``
        is what the theorems promise of this run.

    Examples
    --------
    At most one feature of each kind:

    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 6))
    >>> y = X[:, 1] + 2 * X[:, 4]
    >>> result = sw.maximize(sw.LeastSquares(X, y), sw.Partition(list("aabbcc"), 1))
    >>> result.support[np.abs(result.coef[result.support]) > 1e-6]
    array([1, 4])
    >>> round(result.value, 6), result.status
    (1.0, <Status.LOCAL_OPTIMUM: 'LOCAL_OPTIMUM'>)
    """
    check_problem(objective, constraint)
    name, pivot = resolve(method, objective)
    tol = as_real(tol, "tol")
    limit = as_time_limit(time_limit)
    max_iter = None if max_iter is None else as_count(max_iter, "max_iter")
    epsilon = None if epsilon is None else as_real(epsilon, "epsilon", positive=True)
    if as_count(q, "q") == 0:
        raise ValueError("q must be at least 1, got 0")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    if pivot is None:
        _refuse_options_of_local_search(name, q, start, epsilon)
    begins_at: Start = check_start(start, constraint)
    if epsilon is not None and isinstance(begins_at, str) and begins_at == "empty":
        begins_at = "best-singleton"

    if isinstance(begins_at, str) and begins_at == "model" and not has_model(objective):
        raise TypeError(
            f"start='model' needs second-order models, as sw.LeastSquares and sw.Logistic have, and "
            f"{type(objective).__name__} has none; start='greedy' works here"
        )

    clock = Clock(limit)
    if isinstance(begins_at, str) and begins_at == "relaxation":
        begins_at = partial(relaxation_start, objective, constraint, clock)
    plan = Plan(name, pivot, q, begins_at, max_iter, epsilon, tol)
    with ExitStack() as stack:
        observers: list[Observer] = [callback] if callback is not None else []
        show = stack.enter_context(progress_bar(name, max_iter)) if progress else None
        if show is not None:
            observers.append(show)
        result = run(objective, constraint, plan, _generator(random_state), clock, observers)
        if show is not None:  # a good start may leave nothing to do for moves
            show(result)
    return replace(result, _promise=_promise(objective, constraint, plan, result))


def _promise(
    objective: SetFunction, constraint: IndependenceSystem, plan: Plan, result: SearchResult
) -> Callable[[], Guarantee | None]:
    """Return what works out the guarantee; it holds no more of the result than it needs."""
    return partial(
        guarantee_of,
        objective,
        constraint,
        plan.pivot or plan.name,
        status=result.status,
        n_iter=result.n_iter,
        value=result.value,
        q=plan.q,
        epsilon=plan.epsilon,
        tol=plan.tol,
    )


def _refuse_options_of_local_search(name: str, q: int, start: object, epsilon: float | None) -> None:
    if q != 1:
        raise ValueError(f"q is an option of local search; {name} does not use it")
    if epsilon is not None:
        raise ValueError(f"epsilon is an option of local search; {name} does not use it")
    if not (isinstance(start, str) and start == "empty"):
        raise ValueError(f"start is an option of local search; {name} begins where it must")


def _generator(random_state: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"random_state must be a non-negative integer or a numpy Generator, got {random_state!r}"
        ) from error
