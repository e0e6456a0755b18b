"""The one entry point: it checks, plans and runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

from swapwise.certify.root import relaxation_start
from swapwise.checks import as_generator, as_time_limit
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.objectives.base import SetFunction
from swapwise.search.loop import Observer
from swapwise.search.methods import Method
from swapwise.search.plan import TheoryHooks, resolve
from swapwise.search.progress import progress_bar
from swapwise.search.result import Event, SearchResult
from swapwise.search.rules import Pivot
from swapwise.theory.runs import guarantee_of

#: The start of the relaxation, and the guarantees of results
THEORY = TheoryHooks(relaxation_start, guarantee_of)


def maximize(
    objective: SetFunction,
    constraint: Constraint,
    method: str | Pivot | Method = "auto",
    *,
    q: int = 1,
    start: str | Method | Iterable[int] = "auto",
    max_iter: int | None = None,
    epsilon: float | None = None,
    tol: float = 1e-10,
    time_limit: float | None = None,
    random_state: Any = None,
    callback: Callable[[Event], object] | None = None,
    progress: bool = False,
) -> SearchResult:
    """Find an independent set of large value.

    f is taken to be monotone, so no move drops an element unless that makes room for another.

    Parameters
    ----------
    objective : SetFunction
        The function to maximise, for instance ``LeastSquares(X, y)``.
    constraint : Constraint
        The family of allowed sets, for instance ``Partition(labels, 3)``.
    method : str, pivot rule or method
        Local search by ``"oblivious"``, ``"semi-oblivious"`` or ``"non-oblivious"``, also as rule objects,
        such as ``NonOblivious(smoothness="global")``. Or another method: ``"greedy"``,
        ``"random-residual-greedy"``, ``"modular"``, ``"random"``, ``"exhaustive"`` (up to a million sets);
        ``"omp"``, ``"foba"``, ``"iht"``, ``"htp"``, ``"cosamp"``, ``"grasp"``, ``"clash"``, ``"arht"``,
        ``"frank-wolfe"``; ``"sieve"``, ``"streak"``, ``"streaming"`` (one pass over the elements);
        ``"filmus-ward"``, ``"distorted"``, ``"ordered"``. Those with options are objects of
        ``swapwise.methods``, such as ``methods.ForwardBackward(nu=0.3)``.
        ``"auto"`` is oblivious where gains are in closed form or nothing else works, non-oblivious
        for graphs of more than 300 pairs, and semi-oblivious otherwise. The semi- and non-oblivious
        rules compare coefficients, so they want columns of similar scale; the oblivious does not mind.
    q : int
        How many elements a move may exchange; 1 under a single matroid. Moves grow in number as n to the
        power of q (2q for intersections of general matroids): begin with ``start="greedy"``, so that
        they are not spent on what q = 1 does as well. For local search.
    start : str, method or independent set
        ``"auto"`` is what works best for the kind of problem: working sets for ``LeastSquares``
        with many columns, rounds of second-order models for the other likelihoods with one coefficient per
        element, else a greedy or an empty start. ``"empty"`` is the start of the paper's Algorithm 2, and
        ``"arbitrary"`` (a maximal set in index order) of Algorithms 1, 3 and 4. Further ``"greedy"``,
        ``"modular"``, ``"best-singleton"`` (completed to a maximal set), ``"relaxation"`` (near the best
        fractional set, for objectives with a strong-concavity margin), ``"model"`` (working sets or
        second-order models in any case), the answer of any other method (its name, or an object with
        options), or any independent set, such as the result of another search. For local search; other
        methods begin at the empty set, or at the elements that are forced in.
    max_iter : int, optional
        Largest number of moves, the paper's T, after a start that was given by name; each new best set of an
        exhaustive search counts as one.
    epsilon : float, optional
        Switches local search to the geometric rule (Algorithm 5): take the first move that gains
        ``epsilon / rank · f(X)`` (as printed, ε/n: give ``ε · rank / n``). The rule says nothing at f = 0, so
        ``"auto"`` and ``"empty"`` then mean ``"best-singleton"``, as in the paper.
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
        is what the theorems guarantee for this run.

    See Also
    --------
    exact : the best set, with a proof.
    certify : how far from the best an answer can be.
    SearchResult : what is returned.
    SparseRegressor : the same behind the interface of scikit-learn.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

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
    plan = resolve(
        objective,
        constraint,
        method,
        start=start,
        q=q,
        max_iter=max_iter,
        epsilon=epsilon,
        tol=tol,
        hooks=THEORY,
    )
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be callable, got {callback!r}")
    rng = None if random_state is None else as_generator(random_state)
    clock = Clock(as_time_limit(time_limit))
    with ExitStack() as stack:
        observers: list[Observer] = [callback] if callback is not None else []
        show = stack.enter_context(progress_bar(plan.method, max_iter)) if progress else None
        if show is not None:
            observers.append(show)
        result = plan.search(objective, constraint, rng, clock, observers)
        if show is not None:  # with the passes over the data
            show(result)
    return result
