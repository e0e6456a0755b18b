"""The names of the methods, and the steps that each stands for."""

from __future__ import annotations

import numpy as np

from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.exhaustive import Exhaustive
from swapwise.search.local_search import Acceptance, BestImprovement, GeometricImprovement, LocalSearch
from swapwise.search.modular import Modular
from swapwise.search.pivots import Additions, NonOblivious, Oblivious, Pivot, SemiOblivious
from swapwise.search.random_residual_greedy import RandomResidualGreedy
from swapwise.search.random_set import RandomSet
from swapwise.search.steps import Steps

PIVOTS: dict[str, type[Pivot]] = {rule.name: rule for rule in (Oblivious, SemiOblivious, NonOblivious)}
OTHERS = ("greedy", "random-residual-greedy", "modular", "random", "exhaustive")
METHODS = ("auto", *PIVOTS, *OTHERS)


def resolve(method: str | Pivot, objective: SetFunction) -> tuple[str, Pivot | None]:
    """Return the name of the method, and its pivot rule if it is a local search."""
    if isinstance(method, str):
        if method not in METHODS:
            hint = "; that is sw.exact(objective, constraint)" if method == "exact" else ""
            raise ValueError(
                f"method must be a pivot rule or one of {', '.join(METHODS)}; got {method!r}{hint}"
            )
        if method == "auto":
            method = _automatic(objective)
        if method in OTHERS:
            return method, None
        method = PIVOTS[method]()
    if not isinstance(method, Pivot):
        hint = f"; call it: {method.__name__}()" if isinstance(method, type) else ""
        raise TypeError(f"method must be a name or a pivot rule such as sw.Oblivious(), got {method!r}{hint}")
    lacks = method.missing(objective)
    if lacks is not None:
        fitting = [name for name, rule in PIVOTS.items() if rule().missing(objective) is None]
        raise TypeError(
            f"the {method.name} rule needs what {type(objective).__name__} lacks: {lacks}. "
            f"Methods that work here: {', '.join([*fitting, *OTHERS])}"
        )
    return method.name, method


def _automatic(objective: SetFunction) -> str:
    if objective.closed_form_gains or not isinstance(objective, SparseObjective):
        return Oblivious.name
    return SemiOblivious.name


def _acceptance(constraint: IndependenceSystem, epsilon: float | None, tol: float) -> Acceptance:
    if epsilon is None:
        return BestImprovement(tol)
    # The paper divides by n; its proof needs only as many terms as a base has elements.
    return GeometricImprovement(epsilon / max(1, constraint.max_size()), tol)


def make_steps(
    name: str,
    pivot: Pivot | None,
    objective: SetFunction,
    constraint: IndependenceSystem,
    q: int,
    epsilon: float | None,
    tol: float,
    rng: np.random.Generator,
    clock: Clock,
) -> Steps:
    """Return the steps of the named method: a local search if there is a pivot rule."""
    if pivot is not None:
        return LocalSearch(constraint, pivot, _acceptance(constraint, epsilon, tol), q, clock)
    if name == "greedy":
        return LocalSearch(constraint, Additions(), BestImprovement(tol), q, clock)
    if name == "modular":
        return Modular(constraint, clock)
    if name == "random":
        return RandomSet(constraint, rng)
    if name == "exhaustive":
        return Exhaustive(objective, constraint, clock)
    if not isinstance(constraint, Matroid):
        raise TypeError(f"random-residual-greedy is for a matroid, got {constraint!r}; greedy works here")
    return RandomResidualGreedy(constraint, rng, clock)
