"""Searches on few elements at a time: working sets, and rounds of second-order models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.events import notify
from swapwise.moves import Move, Step, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.objectives.least_squares.system_search import compiled_search
from swapwise.search.loop import Strategy, Trace, ending_at, run
from swapwise.search.result import Event, Status
from swapwise.search.rules import Additions, BestImprovement, OneAtATime
from swapwise.search.strategies import LocalSearch

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.group_state import GroupLeastSquaresState
    from swapwise.objectives.least_squares.state import LeastSquaresState

    ExactState = LeastSquaresState | GroupLeastSquaresState

# How many disjoint bases a working set begins with, of at most how many elements in all, and by how many
# bases it grows per round.
FIRST_BASES, MOST_AT_FIRST, NEW_BASES = 4, 3000, 1

# As long as a round changes more than this share of the set, screening scores are good enough to grow by.
LARGE_CHANGE = 0.25

# A column that adds less than this share of what the weakest chosen one does has to wait for the exact scan.
FAR_LESS = 0.5

# A perturbation keeps this share of the local optimum, or of a random set, by turns. The search ends when
# this many in a row have led to nothing better.
KEPT, DRAWN, MOST_FAILURES = 0.4, 0.2, 8

# The cost of one tableau entry per perturbation, in multiplications of a product with all of the data.
WORK_PER_PERTURBATION = 16

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# Models look at this many elements, and at this many per element that can be chosen; this many disjoint bases
# are among them, so that every part of the constraint has a choice.
CANDIDATES, CANDIDATES_PER_CHOICE, BASES = 100, 4, 6

# Elements of several coefficients cost more, so there are no more candidates of them than these per choice.
BASES_OF_BLOCKS = 3


class Subproblem:
    """A model on some elements, searched by best improvement: in compiled code where there is some.

    Sets and steps are in the numbers of the whole ground set.
    """

    #: The model's value where the last search began and ended
    value_at_start: float
    value: float

    def __init__(
        self, model: SparseObjective, constraint: IndependenceSystem, elements: IndexArray, tol: float
    ) -> None:
        self.model, self.elements = model, elements
        self.system = constraint.induced(elements)
        self._tol = tol
        self._compiled = compiled_search(model, self.system, tol, elements)

    @property
    def is_compiled(self) -> bool:
        """Whether a search takes next to no time."""
        return self._compiled is not None and self._compiled.is_quick

    def search(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        """Return the best moves from a set of the elements to a local optimum of the model."""
        places = np.searchsorted(self.elements, start)
        if self._compiled is not None:
            steps = self._compiled.steps(places, budget)
            if steps is not None:
                self.value_at_start, self.value = self._compiled.value_at_start, self._compiled.value
                return steps
        return self._search_by_loop(places, budget)

    def _search_by_loop(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        trace, best = Trace(start), BestImprovement(self._tol)
        # Additions first: there are far fewer of them than exchanges, and most moves of a growing set are.
        strategies = [LocalSearch(self.system, rule, best) for rule in (Additions(), OneAtATime())]
        with unwarned():  # that columns are collinear matters once they are chosen
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


class WorkingSets(Strategy):
    """Least squares among many columns: search a working set, scan all columns exactly, enlarge it, repeat.

    It ends when the exact scan finds nothing, and no perturbation leads to a better set. ``first`` is the
    working set that a search of the same objective ended with: this one begins with it, and perturbations are
    left to that search.
    """

    name = "working sets"

    def __init__(self, constraint: IndependenceSystem, tol: float, first: IndexArray | None = None) -> None:
        self._constraint, self._tol = constraint, tol
        self._perturbation = Perturbation(MOST_FAILURES if first is None else 0)
        #: The working set
        self.elements = np.empty(0, dtype=np.intp) if first is None else first
        self._subproblem: Subproblem | None = None
        self._changed, self._rounds = False, 0

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go to the local optimum of the next working set, or to a better one after a perturbation."""
        columns = cast("ExactState", state)
        if self._rounds == 0:
            self.elements = self._first(columns)
        while len(self.elements):
            if self._subproblem is None:
                steps = self._solve(columns, budget)
                if steps:
                    return steps
            grown = self._grown(columns, budget)
            if len(grown) == len(self.elements):
                return self._perturb(columns, budget)
            self.elements, self._subproblem = grown, None
        return []

    def _first(self, state: ExactState) -> IndexArray:
        first = self.elements
        if not len(first):
            most = max(1, min(FIRST_BASES, MOST_AT_FIRST // max(1, self._constraint.max_size())))
            scores = state.screening_scores()
            first = disjoint_bases(scores, state.support, self._constraint, most)
        return np.union1d(first, state.support)

    def _solve(self, state: ExactState, budget: Budget) -> Sequence[Step]:
        budget.check()
        self._rounds += 1
        notify(rounds=self._rounds, passes=state.objective.n_passes, value=state.value)
        model = state.model(self.elements)
        self._subproblem = Subproblem(model, self._constraint, self.elements, self._tol)
        before = state.support
        steps = go(self._subproblem.search(before, budget), state)
        self._changed = len(np.setdiff1d(state.support, before)) > LARGE_CHANGE * len(state.support)
        return steps

    def _grown(self, state: ExactState, budget: Budget) -> IndexArray:
        """Return the working set and what may improve the set: by screening, else by an exact scan."""
        grown = self.elements
        if self._changed:
            scores = state.screening_scores()
            scores[scores < FAR_LESS * state.least_loss] = 0.0
            grown = self._with(scores, state)
        if len(grown) == len(self.elements):
            gains = gains_by_addition(state, self._constraint, budget)
            gains[gains <= state.resolution(self._tol)] = 0.0
            grown = self._with(gains, state)
        return grown

    def _with(self, weights: FloatArray, state: State) -> IndexArray:
        return np.union1d(self.elements, disjoint_bases(weights, state.support, self._constraint, NEW_BASES))

    def _perturb(self, state: ExactState, budget: Budget) -> Sequence[Step]:
        assert self._subproblem is not None
        self._changed = False
        design = state.objective.design
        least = state.value + state.resolution(self._tol)
        entries = design.n_samples * design.n_features
        steps = self._perturbation.steps(self._subproblem, state.support, least, entries, budget.clock)
        if budget.most(len(steps)) < len(steps):
            self.finished = Status.ITERATION_LIMIT
            return []
        budget.keep(steps, state.value)
        return go(steps, state)


def working_set(strategies: Sequence[Strategy]) -> IndexArray | None:
    """Return the last working set of the strategies that ran, if one has any."""
    ran = (each.elements for each in strategies if isinstance(each, WorkingSets))
    return next((elements for elements in ran if len(elements)), None)


class Perturbation:
    """Leaves a local optimum of a subproblem and searches again: most take about a millisecond."""

    name = "perturbation"

    def __init__(self, most_failures: int) -> None:
        self._rng = np.random.default_rng(0)
        self._failures, self._most = 0, most_failures

    def steps(
        self, subproblem: Subproblem, support: IndexArray, value: float, entries: int, clock: Clock
    ) -> Sequence[Step]:
        """Return the way to a set of more than this value, or nothing if the last few have found none.

        Perturbations are to cost no more than a product of the chosen columns with the ``entries`` of the
        data.
        """
        numbers = max(1, len(subproblem.elements) * len(support))
        most = min(self._most, entries // (WORK_PER_PERTURBATION * numbers))
        while subproblem.is_compiled and self._failures < most:
            begin = self._part(subproblem, support)
            steps = subproblem.search(begin, Budget(clock))
            self._failures += 1
            if subproblem.value > value:
                self._failures = 0
                jump = Step(move_between(support, begin), subproblem.value_at_start, self.name)
                return [jump, *steps]
        return []

    def _part(self, subproblem: Subproblem, support: IndexArray) -> IndexArray:
        system, elements = subproblem.system, subproblem.elements
        if self._failures % 2 == 0:
            part = support[self._rng.random(len(support)) < KEPT]
        else:
            drawn = system.random_set(system.forced, self._rng)
            part = elements[drawn[self._rng.random(len(drawn)) < DRAWN]]
        return np.union1d(part, elements[system.forced])


class ModelRounds(Strategy):
    """Newton's method for sets: search the second-order model around the fit, refit on what it finds, repeat.

    Each round is one move. The rounds end when a model finds nothing, or leads to a set that is no better.
    """

    name = "model rounds"

    @classmethod
    def require(cls, objective: SetFunction, constraint: IndependenceSystem) -> None:
        """Ask for second-order models."""
        if not has_model(objective):
            raise TypeError(
                "start='model' needs second-order models, as least squares and likelihoods have; "
                f"{type(objective).__name__} has none. start='greedy' works here"
            )

    def __init__(self, constraint: IndependenceSystem, tol: float) -> None:
        self._constraint, self._tol, self._rounds = constraint, tol, 0

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go where the model around the state leads."""
        assert isinstance(state, SparseState)
        if self._rounds == MOST_MODELS:
            return []
        self._rounds += 1
        passes = state.objective.n_passes
        if passes is not None:
            notify(rounds=self._rounds, passes=passes, value=state.value)
        elements = self._candidates(state)
        model = state.model(elements) if len(elements) else None
        if model is None:
            return []
        subproblem = Subproblem(model, self._constraint, elements, self._tol)
        target = support_after(subproblem.search(state.support, Budget(budget.clock)), state.support)
        step = Step(move_between(state.support, target), np.inf)
        if not step.move.added:
            return []
        budget.keep([step], np.inf)
        return go([step], state)

    def _candidates(self, state: SparseState) -> IndexArray:
        """Return the chosen elements, a few disjoint bases of large screening scores, and single ones."""
        scores = state.screening_scores().copy()
        wanted, bases = CANDIDATES_PER_CHOICE * self._constraint.max_size(), BASES_OF_BLOCKS
        if state.objective.groups is None:
            wanted, bases = max(CANDIDATES, wanted), BASES
        found = np.union1d(disjoint_bases(scores, state.support, self._constraint, bases), state.support)
        scores[found] = 0.0
        best = np.argsort(-scores, kind="stable")[: max(0, wanted - len(found))]
        return np.union1d(found, best[scores[best] > 0])


def has_model(objective: SetFunction) -> bool:
    """Return whether the objective has second-order models."""
    return isinstance(objective, SparseObjective) and objective.second_order


def go(steps: Sequence[Step], state: State) -> Sequence[Step]:
    """Go where steps of a model lead, and back if the value of the objective did not rise."""
    before, value = state.support, state.value
    target = support_after(steps, before)
    if np.array_equal(before, target):
        return []
    state.apply(move_between(before, target))
    if state.value > value:
        return ending_at(steps, state.value)
    state.apply(move_between(target, before))
    return []


def support_after(steps: Sequence[Step], support: IndexArray) -> IndexArray:
    """Return the set that steps lead to."""
    for step in steps:
        support = step.move.result(support)
    return support


def gains_by_addition(state: ExactState, constraint: IndependenceSystem, budget: Budget) -> FloatArray:
    """Return what the best move that adds each element, and no other, gains; 0 if none improves."""
    gains = np.zeros(constraint.n)
    for batch in OneAtATime().batches(state, constraint, 1):
        budget.check()
        np.maximum(gains, state.gains_by_element(batch), out=gains)
    return gains


def disjoint_bases(
    weights: FloatArray, chosen: IndexArray, constraint: IndependenceSystem, count: int
) -> IndexArray:
    """Return the forced elements, and disjoint maximal sets of the largest weights among those not chosen."""
    is_left = weights > 0
    is_left[chosen] = False
    is_left[constraint.forced] = False
    best_first = np.argsort(-weights, kind="stable")
    found = [constraint.forced]
    for _ in range(count):
        best_first = best_first[is_left[best_first]]
        found.append(constraint.extend(np.empty(0, dtype=np.intp), best_first))
        is_left[found[-1]] = False
    return np.concatenate(found)
