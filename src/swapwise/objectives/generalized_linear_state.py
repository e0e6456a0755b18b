"""A set on its way through a generalised linear model: few moves are refitted, and the best is among them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from swapwise.checks import SMALLEST, FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.data.design import ColumnArray
from swapwise.kernels import MULTINOMIAL, glm
from swapwise.moves import NOTHING, Found, Move, MoveBatch, MoveList, Step
from swapwise.objectives import grouped_likelihood
from swapwise.objectives.base import SparseState, best_of_batches, embed, gradient_norms2, magnitude, rows_of
from swapwise.objectives.block_bounds import FitPoint
from swapwise.objectives.generalized_linear import (
    FIT_TOLERANCE,
    LEAST_MODEL_WEIGHT,
    MAX_STEPS,
    GeneralizedLinear,
)
from swapwise.objectives.group_least_squares import GroupLeastSquares
from swapwise.objectives.least_squares import LeastSquares
from swapwise.objectives.second_order import AdditionBounds, SecondOrderModel
from swapwise.threads import few_threads

# Bounds and refits are right to about 1e-12 of the values. What is below the incumbent by less than this is
# not pruned.
ROOM = 1e-10

# How many of the most promising moves are refitted first; then twice as many, and so on.
FIRST_REFITS = 4


class GeneralizedLinearState(SparseState):
    """The parameters of a fit, from which moves are refitted by a few Newton steps each."""

    objective: GeneralizedLinear
    _theta: FloatArray  # a row for each chosen column, then the intercept
    _point: FitPoint | None
    _scored: dict[tuple[int, int], float]  # gains of swaps from this set

    def __init__(self, objective: GeneralizedLinear, support: IndexArray) -> None:
        self._theta = objective.no_coefficients(support)
        super().__init__(objective, support)

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, self._theta = self.objective.fit_from(support, self._theta)
        chosen = len(self._theta) - self.objective.fit_intercept
        self._coef = embed(self.objective, support, self.objective.scores_of(self._theta[:chosen]))
        self._gradient, self._point = None, None
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

    @property
    def _has_blocks(self) -> bool:
        """Whether elements have several coefficients, or classes scores that are not the linear predictor."""
        return self.objective.groups is not None or self.objective.family == MULTINOMIAL

    @property
    def point(self) -> FitPoint:
        """The fit as samples see it, where elements have several coefficients."""
        if self._point is None:
            self._point = grouped_likelihood.fit_point(self.objective, self.support, self._theta)
        return self._point

    def screening_scores(self) -> FloatArray:
        """Return what a Newton step in each element's own coefficient is predicted to gain."""
        objective = self.objective
        if self._has_blocks:
            return grouped_likelihood.screening_scores(objective, self.support, self.point)
        curve = objective.derivatives(objective.predictor(self.coef))[2][0, 0]
        squares = glm.weighted_squares(objective.columns, curve) + objective.ridge
        return np.divide(gradient_norms2(self), 2 * squares, out=np.zeros(objective.n), where=squares > 0)

    def model(self, elements: IndexArray) -> LeastSquares | GroupLeastSquares | None:
        """Return the second-order model around the fit as least squares on some columns.

        The weights are the curvature there, the response is the one that Newton's step would fit.
        """
        objective = self.objective
        if self._has_blocks:
            return grouped_likelihood.model_of(objective, self.point, elements)
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

    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        """Return the best move that gains more than ``incumbent``; most moves are left out by bounds."""
        prune = partial(self.unpruned, budget=budget)
        return best_of_batches(self, batches, incumbent, budget, prune=prune)

    def unpruned(self, moves: MoveBatch, least: float, budget: Budget) -> MoveBatch:
        """Return the moves that duality does not prove to gain less than the best, all of them refitted.

        No swap gains more than its addition alone. What that leaves is bounded drop by drop, from the fit
        without the dropped element; see :class:`AdditionBounds`. Those with the largest predicted gains are
        refitted first and raise the incumbent.
        """
        listed = moves.to_list()
        added, dropped = listed.swap_columns() if listed.are_swaps() else (listed.added[:, :0], None)
        if dropped is None or not len(listed) or (added == NOTHING).any():
            return moves
        refits = BoundedRefits(self, listed, least, budget)
        if self._has_blocks:
            return grouped_likelihood.unpruned_moves(self, refits)
        elements, row = np.unique(added, return_inverse=True)
        additions = AdditionBounds(self.objective, self.support, self._theta[:, 0], elements)
        loses = dropped != NOTHING
        expected = additions.predicted[row]
        expected[loses] = self._expected(additions, row[loses], dropped[loses])
        best_first = np.argsort(-expected, kind="stable")[:FIRST_REFITS]
        refits.refit(best_first[expected[best_first] > least])
        additions.tighten(refits.least)
        unpruned = additions.bound[row] >= refits.least
        free = np.flatnonzero(unpruned & ~loses)
        refits.run(free, additions.predicted[row[free]], additions.bound[row[free]])
        for gone in np.unique(dropped[unpruned & loses]):
            rows = np.flatnonzero(unpruned & (dropped == gone) & (additions.bound[row] >= refits.least))
            self._refit_without(int(gone), rows, added[rows], refits)
        return listed.take(np.array(sorted(refits.done), dtype=np.intp))

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

    def _refit_without(self, gone: int, rows: IndexArray, added: IndexArray, refits: BoundedRefits) -> None:
        """Refit those swaps that drop one element and may yet be the best."""
        if not len(rows):
            return
        rest = self.support[self.support != gone]
        value, theta = self.objective.fit_from(rest, self._parameters_on(rest))
        self.n_evaluations += 1
        lost = value - self.value
        additions = AdditionBounds(self.objective, rest, theta[:, 0], added)
        additions.tighten(refits.least - lost)
        refits.run(rows, additions.predicted + lost, additions.bound + lost)


class BoundedRefits:
    """Refits of moves in the order of their predicted gains, until bounds rule out the rest."""

    def __init__(
        self, state: GeneralizedLinearState, listed: MoveList, incumbent: float, budget: Budget
    ) -> None:
        self._state, self.listed, self._incumbent, self._budget = state, listed, incumbent, budget
        self.done: set[int] = set()

    @property
    def least(self) -> float:
        """What a bound must reach for its move to be refitted."""
        return self._incumbent - ROOM * magnitude(self._state)

    def refit(self, rows: IndexArray) -> None:
        """Refit moves and raise the incumbent to the best of them."""
        state, moves = self._state, self.listed.take(rows)
        for piece in self._budget.pieces([moves], state.objective.scoring == "pass") if len(rows) else ():
            index, gain = piece.best(state.gains(piece))
            if gain > self._incumbent:
                self._incumbent = gain
                self._budget.keep([Step(piece.move(index), state.value + gain)], gain)
        self.done.update(rows.tolist())

    def run(
        self, rows: IndexArray, predicted: FloatArray, bound: FloatArray, size: int = FIRST_REFITS
    ) -> None:
        """Refit moves, largest predicted gain first, until none that is left can be the best."""
        best_first = np.argsort(-predicted, kind="stable")
        rows, bound = rows[best_first], bound[best_first]
        while True:
            unpruned = bound >= self.least
            rows, bound = rows[unpruned], bound[unpruned]
            if not len(rows):
                return
            self.refit(rows[:size])
            rows, bound, size = rows[size:], bound[size:], 2 * size
