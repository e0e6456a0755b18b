"""Local search on a model of some elements, and the sets around which models are made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, Step, move_between
from swapwise.objectives.base import SparseObjective, State
from swapwise.objectives.least_squares.local_optima import SHARES, LocalOptima, SinglePrecision
from swapwise.objectives.least_squares.objective import is_by_column
from swapwise.objectives.least_squares.system_search import compiled_search, is_quick
from swapwise.search.local_search import LocalSearch
from swapwise.search.loop import Trace, ending_at, run
from swapwise.search.result import Event
from swapwise.search.rules import Additions, BestImprovement, OneAtATime

# The share of perturbations that drop a whole unit, where elements can be dropped in units
DROPPED_WHOLE = 0.5


class Subproblem:
    """A model on some elements, searched by best improvement; sets are in numbers of the whole ground set."""

    #: The model's value where the last search began and ended
    value_at_start: float
    value: float

    def __init__(
        self, model: SparseObjective, constraint: Constraint, elements: IndexArray, tol: float
    ) -> None:
        self.model, self.elements = model, elements
        self.system = constraint.induced(elements)
        self._tol = tol
        self._compiled = compiled_search(model, self.system, tol, elements)

    @property
    def is_quick(self) -> bool:
        """Whether a search takes next to no time, or little where coefficients have bounds."""
        if self._compiled is None:
            return self.model.bounds is not None and is_quick(self.model, self.system)
        return self._compiled.is_quick

    @property
    def makes_runs(self) -> bool:
        return self._compiled is not None and self._compiled.makes_runs

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator, clock: Clock
    ) -> LocalOptima:
        """Search from some sets, and from ``count`` perturbations of the best.

        Only quick searches are made; under laminar limits without bounds they are in single precision. Sets
        of nearly collinear columns stay as they are, with the value −∞.
        """
        is_laminar = self.system.laminar_tree() is not None
        if is_by_column(self.model) and self.model.bounds is None and is_laminar:
            places = [np.searchsorted(self.elements, start) for start in starts]
            found = SinglePrecision(self.model, self.system).local_optima(places, count, rng)
            return found._replace(sets=[self.elements[some] for some in found.sets])
        sets: list[IndexArray] = []
        values: list[float] = []
        for number in range(len(starts) + count):
            if number < len(starts):
                begin = starts[number]
            else:
                begin = self._perturbed(sets[int(np.argmax(values))], rng)
            steps = self._quick_steps(begin, Budget(clock))
            sets.append(begin if steps is None else support_after(steps, begin))
            values.append(-np.inf if steps is None else self.value)
        work = len(sets) * len(self.elements) * max(1, self.system.max_size()) ** 2
        return LocalOptima(sets, np.array(values), work)

    def _perturbed(self, best: IndexArray, rng: np.random.Generator) -> IndexArray:
        places = np.searchsorted(self.elements, best)
        part = part_of(places, self.system, rng)
        if self._compiled is not None:
            part = self._compiled.grown(part, places[~np.isin(places, part)])
        return self.elements[part]

    def _quick_steps(self, start: IndexArray, budget: Budget) -> Sequence[Step] | None:
        if self._compiled is not None:
            return self._compiled_steps(start, budget, thorough=False)
        return self._search_by_loop(np.searchsorted(self.elements, start), budget)

    def search(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        steps = self._compiled_steps(start, budget)
        if steps is not None:
            return steps
        return self._search_by_loop(np.searchsorted(self.elements, start), budget)

    def _compiled_steps(
        self, start: IndexArray, budget: Budget, *, thorough: bool = True
    ) -> Sequence[Step] | None:
        """Return the moves of the compiled search, or None if it cannot start at the set."""
        if self._compiled is None:
            return None
        self._compiled.tries_larger = thorough
        steps = self._compiled.steps(np.searchsorted(self.elements, start), budget)
        if steps is not None:
            self.value_at_start, self.value = self._compiled.value_at_start, self._compiled.value
        return steps

    def _search_by_loop(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        trace, best = Trace(start), BestImprovement(self._tol)
        # Additions first: there are far fewer of them than exchanges, and most moves of a growing set are.
        strategies = [LocalSearch(self.system, rule, best) for rule in (Additions(), OneAtATime())]
        with unwarned():  # collinear columns matter only in the answer
            state = self.model.start(start)
            self.value_at_start = state.value
            try:
                run(strategies, state, trace, Budget(budget.clock, budget.moves))
            finally:
                self.value = state.value
                steps = [self._step(event) for event in trace.history]
                if steps:
                    budget.keep(steps, steps[-1].value)
        return steps

    def _step(self, event: Event) -> Step:
        added, dropped = (
            tuple(self.elements[list(places)].tolist()) for places in (event.added, event.dropped)
        )
        return Step(Move(added, dropped), event.value)


def go(steps: Sequence[Step], state: State, least: float = 0.0) -> Sequence[Step]:
    """Make the steps of a model, and go back if the objective rose by no more than ``least``."""
    before, value = state.support, state.value
    target = support_after(steps, before)
    if np.array_equal(before, target):
        return []
    state.apply(move_between(before, target))
    if state.value > value + least:
        return ending_at(steps, state.value)
    state.apply(move_between(target, before))
    return []


def support_after(steps: Sequence[Step], support: IndexArray) -> IndexArray:
    for step in steps:
        support = step.move.result(support)
    return support


def part_of(support: IndexArray, constraint: Constraint, rng: np.random.Generator) -> IndexArray:
    """Drop a random share of an independent set, or one of its units as a whole.

    Forced elements stay, and elements that need dropped ones are dropped, too.
    """
    dropped = support[rng.random(len(support)) < rng.uniform(*SHARES)]
    units = constraint._units(support) if constraint.hereditary else []
    if units and rng.random() < DROPPED_WHOLE:
        dropped = units[rng.integers(len(units))]
    return constraint.without(support, dropped[~constraint._are_forced(dropped)])


def disjoint_bases(weights: FloatArray, chosen: IndexArray, constraint: Constraint, count: int) -> IndexArray:
    """Return the forced elements, disjoint maximal sets of the largest other weights, and what these need."""
    is_left = weights > 0
    is_left[chosen] = False
    is_left[constraint.forced] = False
    best_first = np.argsort(-weights, kind="stable")
    found = [constraint.forced]
    for _ in range(count):
        order = left = best_first[is_left[best_first]]
        if not constraint.hereditary:  # other elements may be needed
            order = np.append(left, np.setdiff1d(best_first, left))
        found.append(constraint.extend(np.empty(0, dtype=np.intp), order))
        is_left[found[-1]] = False
    return constraint.companions(np.concatenate(found))
