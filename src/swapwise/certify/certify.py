"""Certificates for answers, and exact search: the best answer with a proof that it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial

import numpy as np

from swapwise.certify.branching import BranchAndBound
from swapwise.certify.certificate import Certificate
from swapwise.certify.prover import Prover
from swapwise.checks import IndexArray, as_count, as_real, as_time_limit, warn
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.moves import move_between
from swapwise.objectives.base import SetFunction, SparseObjective, elements_at_bound
from swapwise.search.completion import COMPLETION
from swapwise.search.loop import passes_of
from swapwise.search.plan import check_problem, check_start, search_by_default
from swapwise.search.progress import ProofState, proof_bar
from swapwise.search.result import Event, SearchResult, Status, StrategyRun
from swapwise.theory.statement import Guarantee
from swapwise.threads import few_threads


def certify(
    objective: SetFunction,
    constraint: Constraint,
    result: SearchResult | Iterable[int] | None = None,
    *,
    time_limit: float | None = 10.0,
    gap: float = 1e-4,
    max_nodes: int | None = None,
    progress: bool = False,
) -> Certificate:
    """Prove how far from the best independent set an answer can be.

    The best set is the one with the largest objective on the data that the objective was made from: the
    proof says nothing about new data. It is computed in double precision, whatever the precision of the data.
    Lower limits are met by the best set, and have to be by the answer.

    The best of all bounds that hold here: the value of all elements together; the paper's concavity lemma
    at the answer; marginal gains, if f is submodular; the best that each block could have by itself, at
    prices that make blocks agree, if the objective is a sum over blocks (the vertices of an Ising model),
    else the dual bound of the perspective relaxation, if it is strongly concave (a ridge, or columns that are
    not collinear); and branch and bound on top of these, for as long as there is time. Whenever it stops,
    what it returns is proven.

    Parameters
    ----------
    objective : SetFunction
    constraint : Constraint
    result : SearchResult or independent set, optional
        The answer to judge. Without it, the answer of ``maximize(objective, constraint)``.
    time_limit : float, optional
        Seconds after which the best bound so far is returned; None for no limit.
    gap : float
        Stop as soon as the best set that is known has a gap this small: how much better an optimum can be,
        as a share of the bound, or of what is left to explain if that is less. If the answer is that set, it
        is the ``gap`` of the :class:`Certificate`, and the answer has at least ``1 − gap`` of the optimum; if
        a better set was found, it is the gap of ``better``, and that of the answer is larger.
    max_nodes : int, optional
        The most parts that branch and bound explores, the whole being the first; 0 for simple bounds only.
        Where no limit on time cuts in, the bound is then the same on every run.
    progress : bool
        Show value, bound and gap on the terminal (stderr) as they change.

    Returns
    -------
    Certificate
        After a keyboard interrupt too, with the best bound so far. Its ``status`` is COMPLETE (the proof is
        as good as ``gap`` requires, or every part was explored), TIME_LIMIT, ITERATION_LIMIT (of
        ``max_nodes``) or INTERRUPTED (by the keyboard). Where nothing better than the value of all elements
        together could be proven, it is ``trivial`` and says so.

    See Also
    --------
    exact : goes on until the best set is found.
    guarantee : theorems, before a search.
    Certificate : what is returned.
    plot_proof : a picture of it.

    References
    ----------
    - Bertsimas and Van Parys (2020), Sparse high-dimensional regression: exact scalable algorithms and phase
      transitions.
    - Hazimeh, Mazumder and Saab (2022), Sparse regression at scale: branch-and-bound rooted in first-order
      optimization.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 12))
    >>> y = X[:, :4].sum(axis=1) + rng.standard_normal(100)
    >>> objective, constraint = sw.LeastSquares(X, y), sw.Partition(np.arange(12) % 3, 1)
    >>> result = sw.maximize(objective, constraint)
    >>> sw.certify(objective, constraint, result)
    Certificate(proven optimal: value 0.678318, by branching)
    """
    check_problem(objective, constraint)
    _require_bounds(objective)
    gap = _as_gap(gap)
    most = _as_max_nodes(max_nodes)
    clock = Clock(as_time_limit(time_limit))
    with _bar("certify", progress) as show:
        support, value, status, moves = _answer(objective, constraint, result, clock, show)
        with few_threads(objective.n):
            prover = Prover(objective, constraint, support, value, clock, moves, show)
            if prover.run(_proof_clock(clock, status), gap, most) != Status.COMPLETE:
                prover.status = _unproven_status(status, prover.status)
    certificate = prover.certificate(clock.seconds())
    if isinstance(objective, SparseObjective) and prover.by_values_only and prover.gap > gap:
        has_some = objective.strong_concavity(1) > 0
        known, ridge = ("helps with", "a larger ridge") if has_some else ("is known for", "a ridge")
        warn(
            f"no strong-concavity bound {known} {objective!r}, so only values bound it; {ridge} would "
            "help, or for an objective of your own, strong_concavity(t)"
        )
    return certificate


def exact(
    objective: SetFunction,
    constraint: Constraint,
    time_limit: float | None = None,
    *,
    gap: float = 0.0,
    max_nodes: int | None = None,
    progress: bool = False,
) -> SearchResult:
    """Find the best independent set, with the proof that it is; it meets all lower limits.

    Branch and bound: the independent sets are split by an element that is forced in or out, every part is
    bounded as in :func:`certify`, and parts that cannot hold a better set than the incumbent are pruned.
    Parts of a least-squares problem that have at most some ten million sets are enumerated in closed form.

    Parameters
    ----------
    objective : SetFunction
    constraint : Constraint
    time_limit : float, optional
        Seconds after which the best set so far is returned, with what is proven of it.
    gap : float
        Stop as soon as the ``gap`` of the :class:`Certificate` is this small: how much better an optimum can
        be, as a share of the bound, or of what is left to explain if that is less. The best set so far then
        has at least ``1 − gap`` of the optimum.
    max_nodes : int, optional
        The most parts that branch and bound explores, the whole being the first; 0 for simple bounds only.
        Where no limit on time cuts in, the bound is then the same on every run.
    progress : bool
        Show value, bound and gap on the terminal (stderr) as they change.

    Returns
    -------
    SearchResult
        Its ``certificate`` has the bound, the ratio proven and the number of parts explored. Its status is
        one of

        - OPTIMAL: no independent set is better, and that is proven;
        - TIME_LIMIT: the time was up before that was proven;
        - ITERATION_LIMIT: ``max_nodes`` parts were explored before that was proven;
        - INTERRUPTED: by the keyboard, or because values contradict each other and no search could go on;
        - COMPLETE: the answer is proven to be as good as ``gap`` requires; or every part was explored, but
          some value is only known within bounds, so that the answer could not be called optimal, and
          ``certificate.doubt`` says why.

    See Also
    --------
    certify : a bound for an answer that is there already.
    maximize : fast, without a proof.

    References
    ----------
    - Furnival and Wilson (1974), Regressions by leaps and bounds.
    - Hazimeh, Mazumder and Saab (2022), Sparse regression at scale: branch-and-bound rooted in first-order
      optimization.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 12))
    >>> y = X[:, :4].sum(axis=1) + rng.standard_normal(100)
    >>> best = sw.exact(sw.LeastSquares(X, y), sw.Partition(np.arange(12) % 3, 1))
    >>> best.status, best.certificate.optimal
    (<Status.OPTIMAL: 'OPTIMAL'>, True)

    Half of the optimum is soon proven:

    >>> enough = sw.exact(sw.LeastSquares(X, y), sw.Partition(np.arange(12) % 3, 1), gap=0.5)
    >>> enough.status, enough.certificate.ratio >= 0.5
    (<Status.COMPLETE: 'COMPLETE'>, True)
    """
    check_problem(objective, constraint)
    _require_bounds(objective)
    gap = _as_gap(gap)
    most = _as_max_nodes(max_nodes)
    clock = Clock(as_time_limit(time_limit))
    with _bar("exact", progress) as show:
        first = _first_search(objective, constraint, clock, show)
        with few_threads(objective.n):
            prover = Prover(objective, constraint, first.support, first.value, clock, first.history, show)
            status = prover.run(_proof_clock(clock, first.status), gap, most)
    tree = prover.tree
    certificate = prover.certificate(clock.seconds(), of_best=True)
    history = _extended(first, tree, clock.seconds())
    n_moves, seconds = len(history) - first.n_iter, clock.seconds() - first.seconds
    coef, at_bound = None, tree.support[:0]
    if isinstance(objective, SparseObjective):
        coef = objective.coef(tree.support)
        at_bound = elements_at_bound(objective, tree.support, coef)
    result = SearchResult(
        support=tree.support,
        value=tree.value,
        coef=coef,
        status=Status.OPTIMAL if certificate.optimal else _unproven_status(first.status, status),
        n_iter=len(history),
        n_evaluations=first.n_evaluations,
        seconds=clock.seconds(),
        history=history,
        method=f"{first.method}, exact",
        strategies=[*first.strategies, StrategyRun("exact", n_moves, tree.value, seconds)],
        filled=tree.filled if n_moves else first.filled,
        at_bound=at_bound,
        certificate=certificate,
        n_passes=passes_of(objective),
        _guarantee=partial(Guarantee, 1.0, "proven", certificate.kind) if certificate.optimal else None,
    )
    _ = result.guarantee  # computed now, so that a pickled result has it
    return result


def _extended(first: SearchResult, tree: BranchAndBound, seconds: float) -> list[Event]:
    history, place = list(first.history), first.support
    if np.array_equal(place, tree.support):
        return history
    found = np.setdiff1d(tree.support, tree.filled)
    for target, strategy in ((found, "exact"), (tree.support, COMPLETION)):
        move = move_between(place, target)
        if move.added or move.dropped:
            number, place = len(history) + 1, target
            event = Event(number, move.added, move.dropped, target.copy(), tree.value, seconds, strategy)
            history.append(event)
    return history


def _as_gap(gap: float) -> float:
    gap = as_real(gap, "gap")
    if gap >= 1:
        raise ValueError(f"gap must be at least 0 and below 1, got {gap:g}")
    return gap


def _as_max_nodes(max_nodes: int | None) -> int | None:
    return None if max_nodes is None else as_count(max_nodes, "max_nodes")


def _proof_clock(clock: Clock, status: Status) -> Clock:
    return Clock(0.0) if status == Status.INTERRUPTED else clock


def _unproven_status(of_search: Status, of_proof: Status) -> Status:
    return Status.INTERRUPTED if of_search == Status.INTERRUPTED else of_proof


def _bar(what: str, progress: bool) -> AbstractContextManager[Callable[[ProofState], None]]:
    return proof_bar(what) if progress else nullcontext(lambda state: None)


def _first_search(
    objective: SetFunction, constraint: Constraint, clock: Clock, show: Callable[[ProofState], None]
) -> SearchResult:
    def observe(move: Event) -> None:
        show(ProofState(move.value, n_passes=objective.n_passes))

    return search_by_default(objective, constraint, clock, observers=[observe])


def _answer(
    objective: SetFunction,
    constraint: Constraint,
    result: SearchResult | Iterable[int] | None,
    clock: Clock,
    show: Callable[[ProofState], None],
) -> tuple[IndexArray, float, Status, list[Event]]:
    if result is None:
        found = _first_search(objective, constraint, clock, show)
        return found.support, found.value, found.status, found.history
    if isinstance(result, str):
        raise TypeError(f"result must be a SearchResult or an independent set, got {result!r}")
    support = check_start(result, constraint, "result")
    assert isinstance(support, np.ndarray)
    lacks = constraint.shortfall(support)
    if lacks:
        raise ValueError(
            f"result must meet all lower limits, but {support.tolist()} has only {lacks}; searches that "
            "begin with it, maximize(..., start=result), complete it"
        )
    return support, float(objective._value(support)), Status.COMPLETE, []


def _require_bounds(objective: SetFunction) -> None:
    if not objective.monotone:
        raise TypeError(
            f"no upper bound is known for a {type(objective).__name__} that is not known to be monotone; if "
            "it is, say so (monotone=True), else maximize(..., 'exhaustive') tries all sets of small problems"
        )
