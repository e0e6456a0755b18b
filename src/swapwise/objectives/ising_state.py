"""A graph on its way: every refit begins where the last one ended."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import ising
from swapwise.moves import NOTHING, Move, MoveBatch
from swapwise.objectives.base import SparseState
from swapwise.objectives.ising import MAX_STEPS, IsingPseudoLikelihood

# A refit that scores a move may stop this far below the maximum; what it leaves out after its last step
# is smaller by orders of magnitude.
GAIN_TOLERANCE = 1e-13

ROWS_WORTH_THREADS = 64


class IsingState(SparseState):
    """The parameters of a fit, from which moves are refitted by a few Newton steps each."""

    objective: IsingPseudoLikelihood
    _parameters: FloatArray  # couplings in the order of the support, then fields

    def __init__(self, objective: IsingPseudoLikelihood, support: IndexArray) -> None:
        self._parameters = objective.no_couplings(len(support))
        super().__init__(objective, support)

    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value, self._parameters = self.objective.fit_from(support, self._parameters)
        self._coef = self.objective._embed(support, self._parameters[: len(support)])
        self._gradient = None
        self.n_evaluations += 1

    def apply(self, move: Move) -> None:
        """Take a move: refit from the couplings that stay."""
        support = move.result(self.support)
        fields = self._parameters[len(self.support) :]
        self._parameters = np.append(self._coef[support], fields)
        self._settle(support)

    @property
    def gradient(self) -> FloatArray:
        """The gradient over all pairs at the fitted couplings and fields; zero on the support."""
        if self._gradient is None:
            local = self.objective.local_fields(self._coef, self._parameters[len(self.support) :])
            self._gradient = self.objective.gradient_of(local, self._coef)
            self._gradient[self.support] = 0.0
        return self._gradient

    def gains(self, moves: MoveBatch) -> FloatArray:
        """Return exact gains: one warm-started refit a move, in compiled code on all threads."""
        listed = moves.to_list()
        self.n_evaluations += len(listed)
        objective = self.objective
        # Waking the threads costs more than a few refits.
        many = len(listed) > ROWS_WORTH_THREADS
        values_after = ising.values_after_on_all_threads if many else ising.values_after
        values = values_after(
            objective.problem,
            self.support,
            self._parameters,
            listed.added,
            listed.dropped,
            GAIN_TOLERANCE,
            MAX_STEPS,
        )
        return moves.spread(values - objective._at_zero - self.value)

    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        """Return for every move its own M: edges that share no vertex do not add up.

        By the argument of :meth:`IsingPseudoLikelihood.smoothness`, it is the largest
        ``curvature · (deg_u + deg_v)`` over the edges of the move, with degrees within the move.
        """
        listed = moves.to_list()
        touched = np.concatenate([listed.added, listed.dropped], axis=1)
        there = touched != NOTHING
        ends = np.stack([self.objective.tail[touched], self.objective.head[touched]])
        degrees = np.zeros(touched.shape)
        for column in range(touched.shape[1]):
            for end in ends:
                shared = (ends[0] == end[:, [column]]) | (ends[1] == end[:, [column]])
                degrees[:, column] += (shared & there).sum(axis=1)
        curvature = np.where(there, self.objective.edge_curvature[touched], 0.0)
        largest = (curvature * degrees).max(axis=1, initial=0.0) + self.objective.ridge
        return moves.spread(largest)
