"""Searches on few elements at a time: working sets, and rounds of second-order models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.events import notify
from swapwise.moves import Move, MoveBatch, Step, SwapGrid, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.objectives.least_squares.gram_search import BlockSearch, GramSearch
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.local_optima import SHARES, LocalOptima, SinglePrecision
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.search.loop import Strategy, Trace, ending_at, run
from swapwise.search.result import Event, Status
from swapwise.search.rules import Additions, BestImprovement, Oblivious
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

# This many perturbations are made at once. Then the next best local optima, this many, are looked at for what
# would improve them.
AT_ONCE, NEXT_BEST = 8, 2

# Perturbations end when this many in a row have led to nothing better, or when all of them have cost this much
# for each entry of the data; a product of two numbers in a matrix product costs this share of an update.
MOST_FAILURES, MOST_WORK, WORK_PER_PRODUCT = 96, 30.0, 0.2

# Values in single precision that differ by no more than this count as equal.
SINGLE_TIE = 2e-7

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# Models look at this many elements, and at this many per element that can be chosen; this many disjoint bases
# are among them, so that every part of the constraint has a choice.
CANDIDATES, CANDIDATES_PER_CHOICE, BASES = 100, 4, 6

# Elements of several coefficients cost more, so there are no more candidates of them than these per choice.
BASES_OF_BLOCKS = 3


class Subproblem:
    """A model on some elements, searched by best improvement: in compiled code under laminar limits.

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
        self._compiled: GramSearch | None = None
        if self.system.laminar_tree() is None:
            return
        if isinstance(model, LeastSquares):
            self._compiled = GramSearch(model, self.system, tol, elements)
        elif isinstance(model, GroupLeastSquares):
            self._compiled = BlockSearch(model, self.system, tol, elements)

    @property
    def is_compiled(self) -> bool:
        """Whether a search takes next to no time."""
        return self._compiled is not None

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator, clock: Clock
    ) -> LocalOptima:
        """Return where searches from some sets lead, and those from ``count`` perturbations of the best."""
        if type(self._compiled) is GramSearch:
            places = [np.searchsorted(self.elements, start) for start in starts]
            found = self._compiled.in_single_precision.local_optima(places, count, rng)
            return found._replace(sets=[self.elements[some] for some in found.sets])
        best, most = starts[0], -np.inf
        sets, values = [], []
        for number in range(len(starts) + count):
            begin = starts[number] if number < len(starts) else self._part_of(best, rng)
            sets.append(support_after(self.search(begin, Budget(clock)), begin))
            values.append(self.value)
            if self.value > most:
                best, most = sets[-1], self.value
        work = len(sets) * len(self.elements) * max(1, len(best)) ** 2
        return LocalOptima(sets, np.array(values), work)

    def _part_of(self, support: IndexArray, rng: np.random.Generator) -> IndexArray:
        """Return what is left of a set when a random share is dropped."""
        kept = support[rng.random(len(support)) >= rng.uniform(*SHARES)]
        return np.union1d(kept, self.elements[self.system.forced])

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
        strategies = [LocalSearch(self.system, rule, best) for rule in (Additions(), Oblivious())]
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
        self._perturbations = Perturbations(MOST_FAILURES if first is None else 0)
        self._whole: SinglePrecision | None = None
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
        self._subproblem = self._on(state)
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
        """Go to a better local optimum; on the way, what would improve others joins the working set."""
        assert self._subproblem is not None
        self._changed, others = False, []
        while not self._perturbations.are_over(self._subproblem, state):
            budget.check()
            found = self._perturbations.around([state.support, *others], self._subproblem, budget.clock)
            steps = self._jump(found, state, budget)
            if steps or self.finished is Status.ITERATION_LIMIT:
                return steps
            others = [some for some in found.sets if not np.array_equal(some, state.support)][:NEXT_BEST]
            grown = self._with(self._gains_elsewhere(others, state), state)
            if len(grown) > len(self.elements):
                self.elements = grown
                self._subproblem = self._on(state)
            else:
                others = []
        return []

    def _jump(self, found: LocalOptima, state: ExactState, budget: Budget) -> Sequence[Step]:
        """Go to the best of some local optima if it is better, and on from there."""
        assert self._subproblem is not None
        begin = found.sets[0]
        if found.values[0] <= state.value + SINGLE_TIE or np.array_equal(begin, state.support):
            return []
        steps = self._subproblem.search(begin, Budget(budget.clock))
        if self._subproblem.value <= state.value + state.resolution(self._tol):
            return []
        jump = Step(
            move_between(state.support, begin), self._subproblem.value_at_start, self._perturbations.name
        )
        steps = [jump, *steps]
        if budget.most(len(steps)) < len(steps):
            self.finished = Status.ITERATION_LIMIT
            return []
        budget.keep(steps, state.value)
        self._perturbations.note_success()
        return go(steps, state)

    def _gains_elsewhere(self, sets: Sequence[IndexArray], state: ExactState) -> FloatArray:
        """Return what each column would add to one of the sets; nothing where that takes another pass."""
        objective, chosen = state.objective, np.unique(np.concatenate([state.support, *sets]))
        if (
            not isinstance(objective, LeastSquares)
            or objective.design.sequential
            or self._constraint.laminar_tree() is None
            or len(self.elements) == objective.n
            or not sets
        ):
            return np.zeros(self._constraint.n)
        if self._whole is None:
            with_y, total = objective.products_with_y, objective.total
            self._whole = SinglePrecision(objective.squares, with_y, total, self._constraint)
        before = objective.n_passes
        self._whole.know(chosen, objective.design.products(chosen))
        self._perturbations.note_scans(len(sets), objective.n_passes - before, state)
        gains = self._whole.gains_by_column(sets)
        gains[gains <= SINGLE_TIE] = 0.0
        return gains

    def _on(self, state: ExactState) -> Subproblem:
        return Subproblem(state.model(self.elements), self._constraint, self.elements, self._tol)


def working_set(strategies: Sequence[Strategy]) -> IndexArray | None:
    """Return the last working set of the strategies that ran, if one has any."""
    ran = (each.elements for each in strategies if isinstance(each, WorkingSets))
    return next((elements for elements in ran if len(elements)), None)


class Perturbations:
    """How often a local optimum is left, and searched for a better one from a part of it."""

    name = "perturbation"

    def __init__(self, most_failures: int) -> None:
        self._rng = np.random.default_rng(0)
        self._failures, self._most, self._work = 0, most_failures, 0.0

    def are_over(self, subproblem: Subproblem, state: ExactState) -> bool:
        """Return whether enough have failed in a row, or they have cost as much as they may."""
        if not subproblem.is_compiled or not len(state.support):
            return True
        design = state.objective.design
        most = MOST_WORK * design.n_samples * design.n_features
        return self._failures >= self._most or self._work > most

    def around(self, starts: Sequence[IndexArray], subproblem: Subproblem, clock: Clock) -> LocalOptima:
        """Return different local optima, the best first, of some sets and perturbations of the best."""
        found = subproblem.local_optima(starts, AT_ONCE, self._rng, clock)
        self._work += found.work
        self._failures += AT_ONCE
        order = np.argsort(-found.values, kind="stable")
        _, first = np.unique([found.sets[place].tobytes() for place in order], return_index=True)
        order = order[np.sort(first)]
        return LocalOptima([found.sets[place] for place in order], found.values[order], found.work)

    def note_success(self) -> None:
        """Begin to count failures again."""
        self._failures = 0

    def note_scans(self, sets: int, passes: float, state: ExactState) -> None:
        """Count the cost of looking at all columns for what would improve some sets."""
        design, size = state.objective.design, len(state.support)
        entries = design.n_samples * design.n_features
        self._work += passes * entries * WORK_PER_PRODUCT + sets * size * (size + 4) * design.n_features / 2


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
    """Return what the best move that adds each element gains, 0 if none improves."""
    gains = np.zeros(constraint.n)
    for batch in constraint.moves(state.support, 1):
        budget.check()
        if isinstance(batch, SwapGrid):
            np.maximum(gains, state.gains_by_element(batch), out=gains)
        else:
            _note_best(gains, batch, state.gains(batch))
    return gains


def _note_best(gains: FloatArray, batch: MoveBatch, scores: FloatArray) -> None:
    for added in batch.to_list().added.T:
        there = added >= 0
        np.maximum.at(gains, added[there], scores[there])


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
