"""What is run for a problem: here "auto" is decided, and methods are refused that do not fit the problem."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import IndexArray, as_count, as_elements, as_real
from swapwise.clock import Budget, Clock
from swapwise.constraints.axioms import verify
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.objectives.least_squares.objective import LeastSquares, is_by_column
from swapwise.objectives.least_squares.system_search import is_quick
from swapwise.search.exploring import Exploring
from swapwise.search.local_search import LocalSearch
from swapwise.search.loop import Observer, Strategy, search
from swapwise.search.methods import METHODS, Methods
from swapwise.search.methods.base import Method
from swapwise.search.methods.greedy import CostBenefit
from swapwise.search.methods.jumps import BestSingleton, ComputedSet, MaximalSet
from swapwise.search.model_rounds import ModelRounds, PerturbedSearch, has_model
from swapwise.search.result import SearchResult
from swapwise.search.rules import (
    Acceptance,
    BestImprovement,
    GeometricImprovement,
    NonOblivious,
    Oblivious,
    Pivot,
    SemiOblivious,
    SmallestImprovement,
    adds_one,
)
from swapwise.search.working_sets import WorkingSets

PIVOTS: dict[str, type[Pivot]] = {rule.name: rule for rule in (Oblivious, SemiOblivious, NonOblivious)}
OTHERS = tuple(METHODS)
NAMES = ("auto", *PIVOTS, *OTHERS)
#: Jumps that are starts only, by name
JUMPS: dict[str, type[Method]] = {jump.name: jump for jump in (MaximalSet, BestSingleton)}
#: The class of each rule, method and jump by name
CLASSES = Methods({**PIVOTS, **JUMPS, **METHODS.data})
#: The starts: jumps, the relaxation, models, and the answers of all other methods but exhaustive search
STARTS = ("auto", "empty", *JUMPS, "relaxation", "model", *(name for name in OTHERS if name != "exhaustive"))

# Up to this many columns, every round scans all of them: working sets would save nothing. The second number
# is for problems without a quick search of a working set.
SMALL, SMALL_UNLESS_QUICK = 200, 2000

# A ``tol`` above this is there to end searches early: local optima are not perturbed.
COARSE = 1e-6

# A graph of more pairs than this is searched by gradients: exact gains take a refit per pair. That is
# hundreds of times faster, and usually ends within a percent of what the semi-oblivious rule finds. Along a
# path, where every search begins near its answer, both found the same graphs around the best number of edges.
MOST_PAIRS_TO_REFIT = 300


class TheoryHooks(NamedTuple):
    """Functions of ``theory`` and ``certify``, which import this package, for searches to call."""

    #: Finds the set of ``start="relaxation"``.
    relaxation: Callable[[SetFunction, Constraint, Clock], IndexArray]
    #: Computes the guarantee of a result.
    guarantee: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Plan:
    """A method and where it starts, in the terms of ``maximize``, with every "auto" decided."""

    method: str
    #: The rule of a local search, or else the method
    rule: Pivot | None
    other: Method | None
    start: str
    begin: IndexArray
    q: int = 1
    max_iter: int | None = None
    epsilon: float | None = None
    tol: float = 1e-10
    hooks: TheoryHooks | None = None
    #: Whether the start was given by name: its moves do not count towards ``max_iter``
    start_is_given: bool = False
    #: The method that leads to the start, if it was given as an object
    first: Method | None = None
    #: Whether the local optimum is perturbed
    explores: bool = False

    def search(
        self,
        objective: SetFunction,
        constraint: Constraint,
        rng: np.random.Generator | None,
        clock: Clock,
        observers: Iterable[Observer] = (),
        *,
        models: Sequence[Strategy] | None = None,
    ) -> SearchResult:
        """Search as planned, with other ``models`` if given, and seed 0 without ``rng``."""
        if models is None:
            models = self.models(objective, constraint)
        starts = [*self.starts(objective, constraint, rng), *models]
        main = self.main(objective, constraint, rng)
        rounds = [each for each in models if isinstance(each, ModelRounds) and each.perturbs]
        strategies = [PerturbedSearch(main, rounds[0]) if rounds else main]
        if self.explores:
            strategies += [*self.explorers(objective, constraint), *strategies]
        if not self.start_is_given:
            starts, strategies = [], [*starts, *strategies]
        result = search(
            objective,
            constraint,
            starts,
            strategies,
            self.begin,
            Budget(clock, self.max_iter),
            observers,
            tol=self.tol,
        )
        return self.with_guarantee(result, objective, constraint)

    def with_guarantee(
        self, result: SearchResult, objective: SetFunction, constraint: Constraint
    ) -> SearchResult:
        """Let a result compute its guarantee, from its set and a few numbers only."""
        if self.hooks is None:
            return result
        runs = [run for run in result.strategies if run.name == self.method]
        scores_all_moves = self.start_is_given or self.epsilon is not None or adds_one(constraint, self.q)
        find = partial(
            self.hooks.guarantee,
            objective,
            constraint,
            self.rule or self.method,
            status=result.status,
            n_iter=runs[-1].n_moves if runs and scores_all_moves else 0,
            value=result.value,
            support=result.support,
            details=runs[-1].details if runs else {},
            options={} if self.other is None else self.other.options,
            q=self.q,
            epsilon=self.epsilon,
            tol=self.tol,
        )
        return replace(result, _guarantee=find)

    def starts(
        self, objective: SetFunction, constraint: Constraint, rng: np.random.Generator | None = None
    ) -> list[Strategy]:
        if self.start == "relaxation":
            assert self.hooks is not None
            find = self.hooks.relaxation
            jump = ComputedSet("relaxation", lambda budget: find(objective, constraint, budget.clock))
            return [jump.bound(objective, constraint)]
        if self.start == "model" and not self.start_is_given and _has_cheap_budget(objective, constraint):
            return [CostBenefit().bound(objective, constraint, self.tol, rng)]
        if self.first is None and self.start not in CLASSES:
            return []
        first = self.first or CLASSES[self.start]()
        return [first.bound(objective, constraint, self.tol, rng)]

    def models(
        self,
        objective: SetFunction,
        constraint: Constraint,
        first: IndexArray | None = None,
        *,
        perturbs: bool = True,
    ) -> list[Strategy]:
        if self.start != "model":
            return []
        if isinstance(objective, LeastSquares):
            return self.explorers(objective, constraint, first)
        # Perturbations would take many passes over the data.
        return [ModelRounds(constraint, self.tol, perturbs=perturbs and objective.scoring != "pass")]

    def explorers(
        self, objective: SetFunction, constraint: Constraint, first: IndexArray | None = None
    ) -> list[Strategy]:
        working_sets = WorkingSets(constraint, self.tol, first)
        if self.tol > COARSE or not is_by_column(objective) or constraint.laminar_tree() is None:
            return [working_sets]
        if objective.bounds is not None:  # compiled exploration is for coefficients without bounds
            return [working_sets]
        if objective.design.sequential and not objective.is_small:
            return [working_sets]
        exploring = Exploring(constraint, self.tol, first)
        # With max_iter, moves are made one at a time, as far as possible, so that they can be counted.
        return [exploring] if self.max_iter is None else [working_sets, exploring]

    def main(
        self, objective: SetFunction, constraint: Constraint, rng: np.random.Generator | None
    ) -> Strategy:
        if self.rule is not None:
            return LocalSearch(constraint, self.rule, self._acceptance(constraint), self.q)
        assert self.other is not None
        return self.other.bound(objective, constraint, self.tol, rng)

    def _acceptance(self, constraint: Constraint) -> Acceptance:
        if self.epsilon is None:
            # A start given by name runs the algorithms of the paper to the letter.
            return BestImprovement(self.tol) if self.start_is_given else SmallestImprovement(self.tol)
        # The paper divides by n; its proof needs only as many terms as a base has elements.
        return GeometricImprovement(self.epsilon / max(1, constraint.max_size()), self.tol)


def resolve(
    objective: SetFunction,
    constraint: Constraint,
    method: str | Pivot | Method = "auto",
    *,
    start: Any = "auto",
    q: int = 1,
    max_iter: int | None = None,
    epsilon: float | None = None,
    tol: float = 1e-10,
    hooks: TheoryHooks | None = None,
    of_path: bool = False,
) -> Plan:
    """Check all options and decide each "auto"; ``of_path`` is for searches that begin near their answers."""
    check_problem(objective, constraint)
    found = resolve_method(method, objective, constraint, of_path=of_path)
    rule, other = (found, None) if isinstance(found, Pivot) else (None, found)
    tol = as_real(tol, "tol")
    max_iter = None if max_iter is None else as_count(max_iter, "max_iter")
    epsilon = None if epsilon is None else as_real(epsilon, "epsilon", positive=True)
    if as_count(q, "q") == 0:
        raise ValueError("q must be at least 1, got 0")
    if other is not None:
        _refuse_options_of_local_search(other.name, q, start, epsilon)
    begin, where = constraint.forced, "empty"
    first = start if isinstance(start, Method) else None
    if isinstance(start, type):
        raise TypeError(
            f"start must be a name, a method or a set, got {start!r}; call it: {start.__name__}()"
        )
    wanted = check_start(start, constraint) if first is None else first.name
    if isinstance(wanted, str):
        if first is not None or wanted in METHODS:
            resolve_method(first or wanted, objective, constraint)
        where = _start_of(wanted, rule, objective, constraint, epsilon)
    else:
        begin = wanted
    given = first is not None or (isinstance(start, str) and start != "auto")
    plan = Plan(found.name, rule, other, where, begin, q, max_iter, epsilon, tol, hooks, given, first)
    # Where working sets are not needed, a method given by name ends in its first local optimum.
    is_auto = isinstance(method, str) and isinstance(start, str) and (method, start) == ("auto", "auto")
    explores = where in ("empty", CostBenefit.name) and is_auto and tol <= COARSE
    return replace(plan, explores=explores and _can_explore(objective, constraint))


def search_by_default(
    objective: SetFunction,
    constraint: Constraint,
    clock: Clock,
    start: Any = "auto",
    observers: Iterable[Observer] = (),
) -> SearchResult:
    plan = resolve(objective, constraint, start=start)
    return plan.search(objective, constraint, None, clock, observers)


def resolve_method(
    method: str | Pivot | Method, objective: SetFunction, constraint: Constraint, *, of_path: bool = False
) -> Pivot | Method:
    if isinstance(method, str):
        if method not in NAMES:
            near = get_close_matches(method, NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            hint = "; that is sw.exact(objective, constraint)" if method == "exact" else hint
            raise ValueError(
                f"method must be a pivot rule or one of {', '.join(NAMES)}; got {method!r}{hint}"
            )
        method = CLASSES[_method_for(objective, of_path) if method == "auto" else method]()
    if not isinstance(method, (Pivot, Method)):
        hint = f"; call it: {method.__name__}()" if isinstance(method, type) else ""
        raise TypeError(
            f"method must be a name, a pivot rule such as sw.Oblivious() or a method such as "
            f"sw.methods.Greedy(), got {method!r}{hint}"
        )
    lacks = _missing(method, objective, constraint)
    if lacks is not None:
        kinds = [CLASSES[name] for name in (*PIVOTS, *OTHERS) if name != "exhaustive"]
        works = ", ".join(kind.name for kind in kinds if _missing(kind(), objective, constraint) is None)
        what = f"the {method.name} rule" if isinstance(method, Pivot) else method.name
        raise TypeError(f"{what} needs {lacks}. Methods that work here: {works}")
    return method


def _missing(method: Pivot | Method, objective: SetFunction, constraint: Constraint) -> str | None:
    if isinstance(method, Method):
        return method.missing(objective, constraint)
    lacks = method.missing(objective)
    return None if lacks is None else f"what {type(objective).__name__} lacks: {lacks}"


def _method_for(objective: SetFunction, of_path: bool) -> str:
    if objective.scoring == "closed form" or not isinstance(objective, SparseObjective):
        return Oblivious.name
    by_gradients = of_path or objective.n > MOST_PAIRS_TO_REFIT
    ranks = objective.ranks_by_gradient and NonOblivious().missing(objective) is None
    if ranks and by_gradients:
        return NonOblivious.name
    return SemiOblivious.name


def _start_of(
    start: str,
    rule: Pivot | None,
    objective: SetFunction,
    constraint: Constraint,
    epsilon: float | None,
) -> str:
    if rule is None:
        return "empty"
    if epsilon is not None and start in ("auto", "empty"):
        return "best-singleton"  # at the value 0, the geometric rule accepts any gain
    if start == "model":
        ModelRounds.require(objective, constraint)
    if start != "auto":
        return start
    if not _is_small(objective, constraint) and has_model(objective):
        return "model"
    if _has_cheap_budget(objective, constraint):
        return CostBenefit.name
    # Under other constraints than matroids each round has very many moves: too many to grow a set by them.
    is_wide = objective.n > SMALL and not isinstance(constraint, Matroid)
    return "greedy" if is_wide and objective.scoring == "closed form" else "empty"


def _has_cheap_budget(objective: SetFunction, constraint: Constraint) -> bool:
    return constraint.shares is not None and (objective.scoring == "closed form" or objective.n <= SMALL)


def _can_explore(objective: SetFunction, constraint: Constraint) -> bool:
    """Return whether perturbations cost little: they are compiled, and need no pass over the data."""
    if not isinstance(objective, LeastSquares):
        return False
    if objective.design.sequential and not (is_by_column(objective) and objective.is_small):
        return False
    return is_quick(objective, constraint)


def _is_small(objective: SetFunction, constraint: Constraint) -> bool:
    if not isinstance(objective, LeastSquares):
        return False
    most = SMALL if is_quick(objective, constraint) else SMALL_UNLESS_QUICK
    return objective.design.n_features <= most


def _refuse_options_of_local_search(name: str, q: int, start: object, epsilon: float | None) -> None:
    if q != 1:
        raise ValueError(f"q is an option of local search; {name} does not use it")
    if epsilon is not None:
        raise ValueError(f"epsilon is an option of local search; {name} does not use it")
    if not (isinstance(start, str) and start in ("auto", "empty")):
        raise ValueError(
            f"start is an option of local search; {name} begins at the empty set, or at what is forced in"
        )


def check_start(start: Any, constraint: Constraint, name: str = "start") -> str | IndexArray:
    if isinstance(start, SearchResult):
        start = start.support
    if isinstance(start, str):
        if start not in STARTS:
            raise ValueError(
                f"{name} must be an independent set or one of {', '.join(STARTS)}; got {start!r}"
            )
        return start
    if start is None:
        raise TypeError(f"{name} must be an independent set or one of {', '.join(STARTS)}; got None")
    support = as_elements(start, constraint.n, name)
    loops = np.intersect1d(support, constraint.loops()) if len(support) else support
    if len(loops):
        raise ValueError(
            f"{name} must be independent, but element {loops[0]} is a loop: it can never be chosen"
        )
    support = np.union1d(support, constraint.forced)
    if not constraint._is_independent(support):
        raise ValueError(
            f"{name} must be independent, but {support.tolist()} is not allowed by {constraint!r}"
        )
    return support


def check_problem(objective: SetFunction, constraint: Constraint) -> None:
    if not isinstance(objective, SetFunction):
        hint = "; wrap a function in sw.CustomSetFunction(function, n)" if callable(objective) else ""
        kind = type(objective).__name__
        raise TypeError(f"objective must be a SetFunction such as sw.LeastSquares, got a {kind}{hint}")
    require_constraint(constraint, objective.n)
    if objective.n != constraint.n:
        raise ValueError(
            f"objective and constraint must have the same ground set, but the objective has "
            f"n = {objective.n} elements and the constraint n = {constraint.n}"
        )
    if hasattr(objective, "edges"):
        for part in getattr(constraint, "parts", (constraint,)):
            if hasattr(part, "edges"):
                require_same_edges(objective.edges, part.edges)
    verify(constraint)


def require_constraint(constraint: object, n: int | None = None) -> None:
    if isinstance(constraint, Constraint):
        return
    hint = ""
    if isinstance(constraint, int):
        hint = f"; did you mean sw.Uniform({'n' if n is None else n}, {constraint})?"
    elif isinstance(constraint, (list, tuple)):
        hint = "; several are combined by sw.Intersection(first, second)"
    raise TypeError(f"constraint must be one such as sw.Uniform or sw.Partition, got {constraint!r}{hint}")


Edge = tuple[Hashable, Hashable]


def require_same_edges(first: Sequence[Edge], second: Sequence[Edge]) -> None:
    """Refuse two lists of edges that do not describe one graph, edge by edge.

    Ends may be swapped, and vertices may have other names in the second list (those of columns, say, in place
    of their numbers), as long as edges that meet in the first meet in the second.
    """
    one, other = [frozenset(edge) for edge in first], [frozenset(edge) for edge in second]
    if one == other:
        return
    same_names = set().union(*one) == set().union(*other)
    if same_names or not _meet_alike(one, other):
        e = next(e for e in range(len(one)) if one[e] != other[e])
        raise ValueError(
            f"objective and constraint must list the same edges in the same order, but edge number {e} is "
            f"{first[e]} in one and {second[e]} in the other"
        )


def _meet_alike(one: list[frozenset[Hashable]], other: list[frozenset[Hashable]]) -> bool:
    """Return whether all edges at a vertex of the first graph have a vertex of the second in common."""
    common: dict[Hashable, frozenset[Hashable]] = defaultdict(frozenset)
    for edge, renamed in zip(one, other, strict=True):
        for vertex in edge:
            common[vertex] = common[vertex] & renamed if vertex in common else renamed
            if not common[vertex]:
                return False
    return True
