"""A state of a generalised linear model: bounds leave few moves to refit, the best among them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import PIECE_SECONDS, Budget
from swapwise.moves import NOTHING, Found, Move, MoveBatch, MoveList, Step
from swapwise.objectives.base import SparseState, best_of_batches, embed, rows_of
from swapwise.objectives.glm.block_bounds import BlockBounds
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.objectives.glm.second_order import SecondOrderModel
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override

# Bounds and refits are right to about 1e-12 of the values. Moves below the incumbent by less than this are
# not pruned.
ROOM = 1e-10


class GeneralizedLinearState(SparseState):
    objective: GeneralizedLinear
    _theta: FloatArray  # a row for each chosen column, then the intercept
    _scored: dict[tuple[int, int], float]  # gains of swaps from this set

    def __init__(self, objective: GeneralizedLinear, support: IndexArray) -> None:
        self._theta = objective.no_coefficients(support)
        super().__init__(objective, support)

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, self._theta = self.objective.fit_from(support, self._theta)
        chosen = len(self._theta) - self.objective.fit_intercept
        self._coef = embed(self.objective, support, self.objective.scores_of(self._theta[:chosen]))
        self._gradient = None
        self._scored = {}
        self.n_evaluations += 1

    @override
    def apply(self, move: Move) -> None:
        support = move.result(self.support)
        self._theta = self._parameters_on(support)
        self._settle(support)

    def _parameters_on(self, support: IndexArray) -> FloatArray:
        objective = self.objective
        before, after = rows_of(objective, self.support), rows_of(objective, support)
        rows = np.zeros((objective.n_features, objective.n_levels))
        rows[before] = self._theta[: len(before)]
        return np.vstack([rows[after], self._theta[len(before) :]])

    @property
    @override
    def gradient(self) -> FloatArray:
        if self._gradient is None:
            slopes = self.objective.fitter.slopes(self.support, self._theta)
            self._gradient = self.objective.scores_of(slopes)
            self._gradient[rows_of(self.objective, self.support)] = 0.0
            if self.objective.bounds is not None:
                self._gradient = self.objective.bounds.projected(self._gradient, self._coef)
        return self._gradient

    @override
    def screening_scores(self) -> FloatArray:
        scores = self.objective.fitter.screening_scores(self.support, self._theta)
        scores[self.support] = 0.0
        return scores

    @override
    def exchange_scores(self) -> FloatArray:
        scores = self.objective.fitter.exchange_scores(self.support, self._theta)
        scores[self.support] = 0.0
        return scores

    @override
    def model(self, elements: IndexArray, damping: float = 0.0) -> LeastSquares | None:
        return self.objective.fitter.quadratic(self.support, self._theta, elements, damping)

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        return self.gains_above(-np.inf, moves)

    def gains_above(self, least: float, moves: MoveBatch) -> FloatArray:
        """Return exact gains, or minus infinity for moves that are proven to gain less."""
        listed = moves.to_list()
        if not listed.are_swaps():
            return moves.spread(self._refits(listed, least))
        keys = list(zip(*(column.tolist() for column in listed.swap_columns()), strict=True))
        fresh = [row for row, key in enumerate(keys) if key not in self._scored]
        gains = self._refits(listed.take(np.array(fresh, dtype=np.intp)), least)
        exact = ((keys[row], gain) for row, gain in zip(fresh, gains.tolist(), strict=True) if gain > -np.inf)
        self._scored.update(exact)
        return moves.spread(np.array([self._scored.get(key, -np.inf) for key in keys], dtype=np.float64))

    def _refits(self, moves: MoveList, least: float) -> FloatArray:
        if not len(moves):
            return np.empty(0)
        self.n_evaluations += len(moves)
        objective, theta = self.objective, self._theta
        before = objective.likelihood.null + self.value
        values, converged = objective.fitter.values_after(self.support, theta, moves, before + least)
        gains: FloatArray = values - before
        for row in np.flatnonzero(~converged):  # exactly as it is refitted if the move is taken
            support = moves.move(int(row)).result(self.support)
            gains[row] = objective.fit_from(support, self._parameters_on(support))[0] - self.value
        return gains

    @override
    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        prune = partial(self.unpruned, budget=budget)
        return best_of_batches(self, batches, incumbent, budget, prune=prune)

    def unpruned(self, moves: MoveBatch, least: float, budget: Budget) -> MoveBatch:
        """Return the moves that cannot be ruled out, all of them refitted.

        Those with the largest predicted gains are refitted first and raise the incumbent. No swap gains more
        than its addition alone: where bounds are proven, the remaining swaps are bounded drop by drop, from
        the fit without the dropped element; see :class:`AdditionBounds`. Where they are not, moves are
        refitted as long as their predicted gain is above that of the best so far.
        """
        listed = moves.to_list()
        added, dropped = listed.swap_columns() if listed.are_swaps() else (listed.added[:, :0], None)
        if dropped is None or not len(listed) or (added == NOTHING).any():
            return moves
        refits = BoundedRefits(self, listed, least, budget)
        share_one_drop = dropped[0] != NOTHING and (dropped == dropped[0]).all()
        if share_one_drop and self.objective.scoring != "pass":
            # The fit without the dropped element bounds its swaps better than this one, and costs little.
            self._refit_without(int(dropped[0]), np.arange(len(listed)), added, refits)
            return refits.refitted()
        elements, row = np.unique(added, return_inverse=True)
        additions = self.objective.fitter.expansion(self.support, self._theta, elements)
        predicted = self._predicted(additions, row, dropped)
        if not additions.proves:
            refits.run_all(predicted)
            return refits.refitted()
        best_first = np.argsort(-predicted, kind="stable")[: refits.first]
        refits.refit(best_first[predicted[best_first] > least])
        additions.tighten(refits.least)
        loses, unpruned = dropped != NOTHING, additions.bound[row] >= refits.least
        free = np.flatnonzero(unpruned & ~loses)
        refits.run(free, additions.predicted[row[free]], additions.bound[row[free]])
        for gone in np.unique(dropped[unpruned & loses]):
            rows = np.flatnonzero(unpruned & (dropped == gone) & (additions.bound[row] >= refits.least))
            self._refit_without(int(gone), rows, added[rows], refits)
        return refits.refitted()

    def _predicted(
        self, additions: SecondOrderModel | BlockBounds, row: IndexArray, dropped: IndexArray
    ) -> FloatArray:
        predicted, loses = additions.predicted[row], dropped != NOTHING
        places = np.searchsorted(self.support, dropped[loses])
        predicted[loses] = additions.predicted_swaps(row[loses], places)
        return predicted

    def _refit_without(self, gone: int, rows: IndexArray, added: IndexArray, refits: BoundedRefits) -> None:
        if not len(rows):
            return
        rest = self.support[self.support != gone]
        value, theta = self.objective.fit_from(rest, self._parameters_on(rest))
        self.n_evaluations += 1
        lost = value - self.value
        additions = self.objective.fitter.expansion(rest, theta, added)
        additions.tighten(refits.least - lost)
        refits.run(rows, additions.predicted + lost, additions.bound + lost)


class BoundedRefits:
    """Refits of moves in the order of their predicted gains, until bounds rule out the rest."""

    def __init__(
        self, state: GeneralizedLinearState, listed: MoveList, incumbent: float, budget: Budget
    ) -> None:
        self._state, self._listed, self._incumbent, self._budget = state, listed, incumbent, budget
        #: Number of moves refitted first; then twice as many, and so on
        self.first = state.objective.fitter.first_refits
        self._done: set[int] = set()

    @property
    def least(self) -> float:
        return self._incumbent - ROOM * self._state.magnitude

    def refit(self, rows: IndexArray) -> None:
        state, moves, known = self._state, self._listed.take(rows), list[FloatArray]()
        for piece in self._budget.pieces([moves], self._are_quick(len(rows))) if len(rows) else ():
            gains = state.gains_above(self.least, piece)
            index, gain = piece.best(gains)
            if gain > self._incumbent:
                self._incumbent = gain
                self._budget.keep([Step(piece.move(index), state.value + gain)], gain)
            known.append(gains)
        if known:
            self._done.update(rows[np.concatenate(known) > -np.inf].tolist())

    def _are_quick(self, count: int) -> bool:
        objective = self._state.objective
        seconds = objective.likelihood.newton_seconds(self._state._theta.size)
        return objective.scoring == "pass" or count * seconds < PIECE_SECONDS

    def refitted(self) -> MoveList:
        return self._listed.take(np.array(sorted(self._done), dtype=np.intp))

    def run_all(self, predicted: FloatArray) -> None:
        best_first = np.argsort(-predicted, kind="stable")
        self.refit(best_first[: self.first])
        others = best_first[self.first :]
        self.run(others, predicted[others], predicted[others], 2 * self.first)

    def run(
        self, rows: IndexArray, predicted: FloatArray, bound: FloatArray, size: int | None = None
    ) -> None:
        size = self.first if size is None else size
        best_first = np.argsort(-predicted, kind="stable")
        rows, bound = rows[best_first], bound[best_first]
        while True:
            unpruned = bound >= self.least
            rows, bound = rows[unpruned], bound[unpruned]
            if not len(rows):
                return
            self.refit(rows[:size])
            rows, bound, size = rows[size:], bound[size:], 2 * size
