"""Newton's method for sets: rounds of second-order models, and perturbations of their local optima."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import Constraint
from swapwise.events import notify
from swapwise.moves import MoveList, Step, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState, State
from swapwise.objectives.least_squares.local_optima import LocalOptima
from swapwise.override import override
from swapwise.search.loop import Strategy
from swapwise.search.result import Status
from swapwise.search.subproblems import Subproblem, disjoint_bases, go, part_of, support_after

# The limit on models per search; few searches need as many.
MOST_MODELS = 40

# A model has this many candidates, and this many per element that can be chosen; this many disjoint bases are
# among them, so that every part of the constraint has a choice. Of no more elements than FEW, all are
# candidates.
CANDIDATES, CANDIDATES_PER_CHOICE, BASES, FEW = 100, 4, 6, 200

# Elements of several coefficients cost more: their candidates are no more than this many disjoint bases.
BASES_OF_BLOCKS = 3

# Dampings are tried in this order until one leads to a better set. An undamped model is best for a few steps,
# and predicts far too much for sets that have little in common with the fit.
DAMPINGS = 0.3, 0.6, 0.0

# Where all elements are candidates, this many more models are around parts of the set, with this damping.
PARTS, DAMPING_OF_PARTS = 9, 0.3

# A model is searched from at most this many perturbations, of at most about this much work in all. The best
# few sets are refitted.
MOST_AT_ONCE, WORK_AT_ONCE, REFITTED = 16, 10**8, 3


class ModelRounds(Strategy):
    """Newton's method for sets: search the second-order model around the fit, refit on the set found, repeat.

    Each round is one move. From a set that is not empty, models are damped and searched from perturbations of
    it, too. Exact refits of the best few sets decide. Without ``perturbs``, rounds follow the undamped model.
    """

    name = "model rounds"

    @classmethod
    def require(cls, objective: SetFunction, constraint: Constraint) -> None:
        if not has_model(objective):
            raise TypeError(
                "start='model' needs second-order models, as least squares and likelihoods have; "
                f"{type(objective).__name__} has none. start='greedy' works here"
            )

    def __init__(self, constraint: Constraint, tol: float, *, perturbs: bool = True) -> None:
        self._constraint, self._tol, self.perturbs = constraint, tol, perturbs
        self._rounds, self._failures, self._rng = 0, 0, np.random.default_rng(0)
        self._candidates = np.empty(0, dtype=np.intp)
        #: The set after the last round
        self._left_at = np.empty(0, dtype=np.intp)
        #: Sets whose value is known
        self._known: set[bytes] = set()

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        assert isinstance(state, SparseState)
        perturbs = self.perturbs and len(state.support) > 0
        if not np.array_equal(state.support, self._left_at):
            self._failures = 0
        self._left_at = state.support
        while self._failures < self._most_failures(perturbs) and self._rounds < MOST_MODELS:
            budget.check()
            self._rounds += 1
            steps = self._perturb(state, budget) if perturbs else self._follow(state, budget)
            if steps:
                return steps
            self._failures += 1
        return []

    def _most_failures(self, perturbs: bool) -> int:
        has_all = len(self._candidates) == self._constraint.n
        return len(DAMPINGS) + PARTS * has_all if perturbs else 1

    def _follow(self, state: SparseState, budget: Budget) -> Sequence[Step]:
        passes = state.objective.n_passes
        if passes is not None:
            notify(rounds=self._rounds, passes=passes, value=state.value)
        subproblem = self._subproblem(state, state.screening_scores)
        if subproblem is None:
            return []
        target = support_after(subproblem.search(state.support, Budget(budget.clock)), state.support)
        step = Step(move_between(state.support, target), np.inf)
        if not step.move.added:
            return []
        budget.keep([step], np.inf)
        return go([step], state)

    def _perturb(self, state: SparseState, budget: Budget) -> Sequence[Step]:
        self._known.add(state.support.tobytes())
        new: dict[bytes, IndexArray] = {}
        for some in self._candidate_sets(state, budget.clock):
            if some.tobytes() not in self._known and len(new) < REFITTED:
                new[some.tobytes()] = some
        self._known.update(new)
        if not new:
            return []
        budget.check()
        moves = [move_between(state.support, some) for some in new.values()]
        with unwarned():  # most of these sets are not chosen
            gains = state.gains(MoveList.of(moves))
        best = int(np.argmax(gains))
        if gains[best] <= state.resolution(self._tol):
            return []
        step = Step(moves[best], state.value + float(gains[best]), "perturbation")
        budget.keep([step], gains[best])
        return go([step], state)

    def _candidate_sets(self, state: SparseState, clock: Clock) -> Iterable[IndexArray]:
        """Return local optima of the model, the best predicted value first."""
        around, damping = state, DAMPING_OF_PARTS
        if self._failures < len(DAMPINGS):
            damping = DAMPINGS[self._failures]
        else:
            part = part_of(state.support, self._constraint, self._rng)
            with unwarned():
                around = state.objective.start(part)
        subproblem = self._subproblem(around, around.exchange_scores, damping)
        if subproblem is None:
            return []
        if damping == 0:
            steps = subproblem.search(state.support, Budget(clock, REFITTED))
            return accumulate(steps, lambda support, step: step.move.result(support), initial=state.support)
        found = _local_optima(subproblem, around.support, self._rng, clock)
        return [found.sets[place] for place in np.argsort(-found.values, kind="stable")]

    def _subproblem(
        self, state: SparseState, scores: Callable[[], FloatArray], damping: float = 0.0
    ) -> Subproblem | None:
        if not self._failures:  # else the state has not moved
            self._candidates = self._best_candidates(state, scores)
        elements = self._candidates
        model = state.model(elements, damping) if len(elements) else None
        return None if model is None else Subproblem(model, self._constraint, elements, self._tol)

    def _best_candidates(self, state: SparseState, find_scores: Callable[[], FloatArray]) -> IndexArray:
        wanted, bases = CANDIDATES_PER_CHOICE * self._constraint.max_size(), BASES_OF_BLOCKS
        if state.objective.groups is None:
            wanted, bases = max(CANDIDATES, wanted), BASES
            if self._constraint.n <= max(FEW, wanted):
                return np.arange(self._constraint.n)
        scores = find_scores()
        found = np.union1d(disjoint_bases(scores, state.support, self._constraint, bases), state.support)
        scores[found] = 0.0
        best = np.argsort(-scores, kind="stable")[: max(0, wanted - len(found))]
        return self._constraint.companions(np.union1d(found, best[scores[best] > 0]))


class PerturbedSearch(Strategy):
    """A local search whose local optimum is perturbed by model rounds, until that leads to nothing better.

    The local search comes last: no move of its rule improves the answer.
    """

    def __init__(self, main: Strategy, rounds: ModelRounds) -> None:
        self._main, self._rounds = main, rounds
        self.name = main.name

    @property
    @override
    def finished(self) -> Status:  # type: ignore[override]
        return self._main.finished

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        steps = self._main.advance(state, budget)
        if steps or self.finished is Status.INTERRUPTED:
            return steps
        return self._rounds.advance(state, budget)


def _local_optima(
    subproblem: Subproblem, support: IndexArray, rng: np.random.Generator, clock: Clock
) -> LocalOptima:
    work = len(subproblem.elements) * max(1, subproblem.system.max_size()) ** 2
    count = max(1, min(MOST_AT_ONCE, WORK_AT_ONCE // work))
    return subproblem.local_optima([support], count if subproblem.is_quick else 0, rng, clock)


def has_model(objective: SetFunction) -> bool:
    return isinstance(objective, SparseObjective) and objective.second_order
