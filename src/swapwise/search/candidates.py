"""The elements that a working set holds, and searches among them: exact, or quick in single precision."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget, Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Step, move_between
from swapwise.objectives.least_squares.local_optima import LocalOptima, SinglePrecision
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.search.subproblems import Subproblem, disjoint_bases

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.group_state import GroupLeastSquaresState
    from swapwise.objectives.least_squares.state import LeastSquaresState

    ExactState = LeastSquaresState | GroupLeastSquaresState

# A product of two numbers in a matrix product costs this share of an update of a tableau.
WORK_PER_PRODUCT = 0.2


class Candidates(ABC):
    """Some elements of a least-squares problem, and searches among them.

    Values count as equal up to ``tie``, and ``work`` is how often a number of a tableau was updated so far.
    """

    tie: float
    elements: IndexArray
    work: float = 0.0

    @abstractmethod
    def join(self, elements: IndexArray, state: ExactState) -> None:
        """Let more elements be candidates; they must not be among them already."""

    @abstractmethod
    def steps_from(self, support: IndexArray, budget: Budget) -> Sequence[Step]:
        """Return the way from a set of candidates to a local optimum among them."""

    @abstractmethod
    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator, clock: Clock
    ) -> LocalOptima:
        """Return where searches from some sets lead, and those from ``count`` perturbations of the best."""

    @abstractmethod
    def gains(self, sets: Sequence[IndexArray], state: ExactState, budget: Budget) -> FloatArray:
        """Return what the best move that adds each element to one of the sets gains, 0 if none improves.

        Sets for which that would take long may be left out, but not the one that the state is at.
        """

    @abstractmethod
    def best(self, weights: FloatArray, bases: int, state: ExactState) -> IndexArray:
        """Return disjoint bases of the largest positive weights among those who are no candidates yet."""


def candidates_for(
    objective: object, constraint: IndependenceSystem, tol: float, *, move_by_move: bool
) -> Candidates:
    """Return quick candidates of least squares in memory under laminar limits, else exact ones."""
    quick = isinstance(objective, LeastSquares) and not objective.design.sequential and not move_by_move
    if quick and constraint.laminar_tree() is not None:
        return QuickCandidates(objective, constraint)
    return ExactCandidates(constraint, tol)


class ExactCandidates(Candidates):
    """Candidates of any problem: moves are scored exactly."""

    def __init__(self, constraint: IndependenceSystem, tol: float) -> None:
        self._constraint, self._tol, self.tie = constraint, tol, 0.0
        self.elements = np.empty(0, dtype=np.intp)

    def join(self, elements: IndexArray, state: ExactState) -> None:
        """Make a model on more elements."""
        self.elements = np.union1d(self.elements, elements)
        model = state.model(self.elements)
        self._subproblem = Subproblem(model, self._constraint, self.elements, self._tol)

    def steps_from(self, support: IndexArray, budget: Budget) -> Sequence[Step]:
        """Return moves, one by one."""
        return self._subproblem.search(support, budget)

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator, clock: Clock
    ) -> LocalOptima:
        """Search the model again and again, if that takes next to no time."""
        if not self._subproblem.is_compiled:
            self.work = np.inf
            return LocalOptima(list(starts), np.full(len(starts), -np.inf), 0)
        found = self._subproblem.local_optima(starts, count, rng, clock)
        self.work += found.work
        return found

    def gains(self, sets: Sequence[IndexArray], state: ExactState, budget: Budget) -> FloatArray:
        """Scan all elements for what improves the set that the state is at."""
        gains = np.zeros(self._constraint.n)
        if not any(np.array_equal(some, state.support) for some in sets):
            return gains
        batches = self._constraint.moves(state.support, 1)
        for batch in takewhile(lambda batch: batch.n_added <= 1, batches):
            budget.check()
            np.maximum(gains, state.gains_by_element(batch), out=gains)
        return gains

    def best(self, weights: FloatArray, bases: int, state: ExactState) -> IndexArray:
        """Ask the constraint for bases."""
        found = disjoint_bases(weights, state.support, self._constraint, bases)
        return np.setdiff1d(found, self.elements)


class QuickCandidates(Candidates):
    """Candidates of least squares in memory, under laminar limits: searches are compiled as a whole."""

    def __init__(self, objective: LeastSquares, constraint: IndependenceSystem) -> None:
        self._objective, self._searches = objective, SinglePrecision(objective, constraint)
        self._forced, self.tie = constraint.forced, 2e-7
        self._rng = np.random.default_rng(0)

    @property
    def elements(self) -> IndexArray:  # type: ignore[override]
        """The candidates, in the order in which they joined."""
        return self._searches.elements

    def join(self, elements: IndexArray, state: ExactState) -> None:
        """Compute inner products with more elements."""
        self._searches.join(elements)

    def steps_from(self, support: IndexArray, budget: Budget) -> Sequence[Step]:
        """Return one step to the local optimum."""
        found = self.local_optima([support], 0, self._rng, budget.clock)
        steps = [Step(move_between(support, found.sets[0]), float(found.values[0]))]
        budget.keep(steps, found.values[0])
        return steps

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator, clock: Clock
    ) -> LocalOptima:
        """Search in single precision."""
        found = self._searches.local_optima(starts, count, rng)
        self.work += found.work
        return found

    def gains(self, sets: Sequence[IndexArray], state: ExactState, budget: Budget) -> FloatArray:
        """Scan all elements in single precision."""
        before, size = self._objective.n_passes, len(state.support)
        gains = self._searches.gains_by_column(sets)
        entries = self._objective.design.n_samples * self._objective.n
        self.work += (self._objective.n_passes - before) * entries * WORK_PER_PRODUCT
        self.work += len(sets) * size * (size + 4) * self._objective.n / 2
        return gains

    def best(self, weights: FloatArray, bases: int, state: ExactState) -> IndexArray:
        """Ask the kernels for bases."""
        return self._searches.heaviest(weights, bases)
