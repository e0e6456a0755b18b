"""A set on its way through a generalised linear model: few moves are refitted, and the best is among them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swapwise.checks import SMALLEST, FloatArray, IndexArray
from swapwise.data.design import ColumnArray
from swapwise.kernels import glm
from swapwise.moves import NOTHING, Move, MoveBatch, MoveList
from swapwise.objectives.base import SparseState, embed, gradient_norms2, rows_of
from swapwise.objectives.generalized_linear import (
    FIT_TOLERANCE,
    LEAST_MODEL_WEIGHT,
    MAX_STEPS,
    GeneralizedLinear,
)
from swapwise.objectives.least_squares import LeastSquares
from swapwise.objectives.second_order import AdditionBounds, SecondOrderModel
from swapwise.threads import few_threads

# Bounds and refits are right to about 1e-12 of the values at play. What is below the floor by less than this
# is not left out.
ROOM = 1e-10

# How many of the most promising moves are refitted first; then twice as many, and so on.
FIRST_REFITS = 4


class GeneralizedLinearState(SparseState):
    """The parameters of a fit, from which moves are refitted by a few Newton steps each."""

    objective: GeneralizedLinear
    _theta: FloatArray  # a row for each chosen column, then the intercept
    _scored: dict[tuple[int, int], float]  # gains of swaps from this set

    def __init__(self, objective: GeneralizedLinear, support: IndexArray) -> None:
        self._theta = objective.no_coefficients(support)
        self.finds_floor = objective.groups is None
        super().__init__(objective, support)

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, self._theta = self.objective.fit_from(support, self._theta)
        chosen = len(self._theta) - self.objective.fit_intercept
        self._coef = embed(self.objective, support, self.objective.scores_of(self._theta[:chosen]))
        self._gradient = None
        self._scored = {}
        self.n_evaluations += 1

    def apply(self, move: Move) -> None:
        """Take a move: refit from the coefficients that stay."""
        support = move.result(self.support)
        self._theta = self._parameters_on(support)
        self._settle(support)

    def _parameters_on(self, support: IndexArray) -> FloatArray:
        """Return the parameters of another set to begin with: those that both sets have, else zeros."""
        objective = self.objective
        before, after = rows_of(objective, self.support), rows_of(objective, support)
        rows = np.zeros((objective.n_features, objective.n_levels))
        rows[before] = self._theta[: len(before)]
        return np.vstack([rows[after], self._theta[len(before) :]])

    def screening_scores(self) -> FloatArray:
        """Return what a Newton step in each element's own coefficient is predicted to gain."""
        objective = self.objective
        if objective.groups is not None:
            return super().screening_scores()
        curve = objective.derivatives(objective.predictor(self.coef))[2][0, 0]
        squares = glm.weighted_squares(objective.columns, curve) + objective.ridge
        return np.divide(gradient_norms2(self), 2 * squares, out=np.zeros(objective.n), where=squares > 0)

    def model(self, elements: IndexArray) -> LeastSquares | None:
        """Return the second-order model around the fit as least squares on some columns.

        The weights are the curvature there, the response is the one that Newton's step would fit.
        """
        objective = self.objective
        if objective.groups is not None:
            return None
        eta = objective.predictor(self.coef)
        _, slope, curve = objective.derivatives(eta)
        steepest = float(curve.max())
        if steepest < SMALLEST:
            return None
        weight = np.maximum(curve[0, 0], LEAST_MODEL_WEIGHT * steepest)
        response = eta[0] - objective.offset[0] + slope[0] / weight
        columns = objective.columns[elements]
        if objective.fit_intercept:
            share = weight / weight.sum()
            columns = columns - (columns @ share)[:, None]
            response = response - response @ share
        root = np.sqrt(weight / steepest)
        return LeastSquares(ColumnArray(columns * root), response * root, objective.ridge / steepest)

    def gains(self, moves: MoveBatch) -> FloatArray:
        """Return exact gains: one warm-started refit a move, unless it was scored from this set before."""
        listed = moves.to_list()
        if not listed.are_swaps():
            return moves.spread(self._refits(listed))
        keys = list(zip(*(column.tolist() for column in listed.swap_columns()), strict=True))
        fresh = [row for row, key in enumerate(keys) if key not in self._scored]
        gains = self._refits(listed.take(np.array(fresh, dtype=np.intp)))
        self._scored.update(zip([keys[row] for row in fresh], gains.tolist(), strict=True))
        return moves.spread(np.array([self._scored[key] for key in keys], dtype=np.float64))

    def _refits(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        objective = self.objective
        tol = FIT_TOLERANCE * objective.scale
        with few_threads(self._theta.size):
            values, converged = glm.values_after(
                objective.problem,
                self.support,
                self._theta,
                objective._intercept_alone,
                objective._null,
                moves.added,
                moves.dropped,
                tol,
                MAX_STEPS,
            )
        gains: FloatArray = values - objective._null - self.value
        for row in np.flatnonzero(~converged):  # exactly as it is refitted if the move is taken
            support = moves.move(int(row)).result(self.support)
            gains[row] = objective.fit_from(support, self._parameters_on(support))[0] - self.value
        return gains

    def narrowed(self, moves: MoveBatch, floor: float, score: Callable[[MoveBatch], object]) -> MoveBatch:
        """Return the moves that duality does not keep below the floor, all of them refitted.

        No swap gains more than its addition alone. What that leaves is bounded drop by drop, from the fit
        without the dropped element; see :class:`AdditionBounds`. The most promising are refitted first and
        raise the floor.
        """
        listed = moves.to_list()
        added, dropped = listed.swap_columns() if listed.are_swaps() else (listed.added[:, :0], None)
        if dropped is None or not len(listed) or (added == NOTHING).any():
            return moves
        contest = Contest(self, listed, floor, score)
        elements, row = np.unique(added, return_inverse=True)
        additions = AdditionBounds(self.objective, self.support, self._theta[:, 0], elements)
        loses = dropped != NOTHING
        expected = additions.promise[row]
        expected[loses] = self._expected(additions, row[loses], dropped[loses])
        best_first = np.argsort(-expected, kind="stable")[:FIRST_REFITS]
        contest.refit(best_first[expected[best_first] > floor])
        additions.tighten(contest.least)
        hopeful = additions.most[row] >= contest.least
        free = np.flatnonzero(hopeful & ~loses)
        contest.run(free, additions.promise[row[free]], additions.most[row[free]])
        for gone in np.unique(dropped[hopeful & loses]):
            rows = np.flatnonzero(hopeful & (dropped == gone) & (additions.most[row] >= contest.least))
            self._contend_without(int(gone), rows, added[rows], contest)
        return listed.take(np.array(sorted(contest.scored), dtype=np.intp))

    def _expected(
        self, additions: AdditionBounds | SecondOrderModel, row: IndexArray, dropped: IndexArray
    ) -> FloatArray:
        """Return what the second-order model expects of swaps: the formula of least squares, halved."""
        if additions.inverse is None:
            return np.zeros(len(row))
        place = np.searchsorted(self.support, dropped)
        spread = 1.0 / np.diag(additions.inverse)[place]
        weight, tied = self._theta[place, 0], additions.coupling[row, place]
        slope = additions.slope[row] + tied * weight * spread
        return (slope**2 / (additions.left[row] + tied**2 * spread) - weight**2 * spread) / 2

    def _contend_without(self, gone: int, rows: IndexArray, added: IndexArray, contest: Contest) -> None:
        """Refit those swaps that drop one element and may yet be the best."""
        if not len(rows):
            return
        rest = self.support[self.support != gone]
        value, theta = self.objective.fit_from(rest, self._parameters_on(rest))
        self.n_evaluations += 1
        lost = value - self.value
        additions = AdditionBounds(self.objective, rest, theta[:, 0], added)
        additions.tighten(contest.least - lost)
        contest.run(rows, additions.promise + lost, additions.most + lost)


class Contest:
    """The search for the best of some moves: what is below the best so far drops out."""

    def __init__(
        self,
        state: GeneralizedLinearState,
        listed: MoveList,
        floor: float,
        score: Callable[[MoveBatch], object],
    ) -> None:
        self._state, self.listed, self._floor, self._score = state, listed, floor, score
        self.scored: set[int] = set()

    @property
    def least(self) -> float:
        """What a bound must reach for its move to be refitted."""
        return self._floor - ROOM * self._state.magnitude

    def refit(self, rows: IndexArray) -> None:
        """Refit moves and raise the floor to the best of them."""
        batch = self.listed.take(rows)
        self._score(batch)
        self._floor = max(self._floor, float(self._state.gains(batch).max(initial=-np.inf)))
        self.scored.update(rows.tolist())

    def run(self, rows: IndexArray, promise: FloatArray, most: FloatArray, size: int = FIRST_REFITS) -> None:
        """Refit moves, the most promising first, until what is left cannot be the best."""
        best_first = np.argsort(-promise, kind="stable")
        rows, most = rows[best_first], most[best_first]
        while True:
            hopeful = most >= self.least
            rows, most = rows[hopeful], most[hopeful]
            if not len(rows):
                return
            self.refit(rows[:size])
            rows, most, size = rows[size:], most[size:], 2 * size
