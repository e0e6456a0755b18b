"""A set on its way through a generalised linear model on data in chunks: refits look at the data together."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.moves import NOTHING, MoveBatch, MoveList
from swapwise.objectives.base import gradient_norms2
from swapwise.objectives.generalized_linear_state import BoundedRefits, GeneralizedLinearState
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.objectives.second_order import SecondOrderModel
from swapwise.objectives.streamed_likelihood import Start, StreamedLikelihood

# This many of the moves with the largest predicted gains are refitted in any case: together they cost little
# more than one.
FIRST_REFITS = 16

# At most this many refits share a pass over the data.
AT_ONCE = 256


class StreamedLikelihoodState(GeneralizedLinearState):
    """The parameters of a fit, from which moves are refitted together."""

    objective: StreamedLikelihood
    _expansion: SecondOrderModel | None

    def _settle(self, support: IndexArray) -> None:
        super()._settle(support)
        self._expansion = None

    @property
    def theta(self) -> FloatArray:
        """The parameters: one a chosen column, then the intercept if there is one."""
        return self._theta[:, 0]

    @property
    def expansion(self) -> SecondOrderModel:
        """What the second-order model expects of every element: one pass over the data, if it is new."""
        if self._expansion is None:
            self._expansion = self.objective.expansion(self.support, self.theta)
        return self._expansion

    @property
    def gradient(self) -> FloatArray:
        """The gradient of ``u`` at the coefficients; zero on the support."""
        gradient = self.expansion.gradient.copy()
        gradient[self.support] = 0.0
        return gradient

    def screening_scores(self) -> FloatArray:
        """Return what a Newton step in each element's own coefficient is predicted to gain."""
        squares = self.expansion.squares
        return np.divide(gradient_norms2(self), 2 * squares, out=np.zeros(len(squares)), where=squares > 0)

    def model(self, elements: IndexArray) -> LeastSquares | None:
        """Return the second-order model around the fit as least squares on some columns."""
        return self.objective.model_at(self.support, self.theta, elements)

    def _refits(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        gains = np.empty(len(moves))
        for begin in range(0, len(moves), AT_ONCE):
            supports = [
                move.result(self.support) for move in moves.take(slice(begin, begin + AT_ONCE)).moves()
            ]
            gains[begin : begin + AT_ONCE] = self._values(supports) - self.value
        return gains

    def _values(self, supports: list[IndexArray]) -> FloatArray:
        """Return f of some sets, refitted from the coefficients that stay."""
        objective, values = self.objective, np.zeros(len(supports))
        rows = [row for row, support in enumerate(supports) if len(support)]
        if not rows:
            return values
        starts = [Start(supports[row], self._parameters_on(supports[row])[:, 0]) for row in rows]
        for row, fit in zip(rows, objective.fits(starts), strict=True):
            values[row] = fit.value - objective._null
            objective._warn_of_trouble(supports[row], fit.converged, 0.0)
        return values

    def unpruned(self, moves: MoveBatch, least: float, budget: Budget) -> MoveBatch:
        """Return the moves with the largest predicted gains, all refitted; see :class:`StreamedLikelihood`.

        The first few are refitted in any case, others as long as the second-order model predicts more of them
        than the best so far gains.
        """
        listed = moves.to_list()
        added, dropped = listed.swap_columns() if listed.are_swaps() else (listed.added[:, :0], None)
        if dropped is None or len(listed) <= FIRST_REFITS or (added == NOTHING).any():
            return moves
        loses = dropped != NOTHING
        expected = self.expansion.predicted[added]
        expected[loses] = self._expected(self.expansion, added[loses], dropped[loses])
        refits = BoundedRefits(self, listed, least, budget)
        best_first = np.argsort(-expected, kind="stable")
        refits.refit(best_first[:FIRST_REFITS])
        others = best_first[FIRST_REFITS:]
        refits.run(others, expected[others], expected[others], 2 * FIRST_REFITS)
        return listed.take(np.array(sorted(refits.done), dtype=np.intp))
