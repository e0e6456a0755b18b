"""How much the likelihoods of generalised linear models curve, at the most and at the least."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.objectives.base import SparseObjective

# Eigenvalues of larger matrices than this are bounded by traces.
EIGENVALUES_UP_TO = 2000


class LikelihoodCurvature(SparseObjective):
    """Constants of ``Σ_s ω_s ℓ(y_s, (Xw)_s) − ridge ‖w‖²/2``, from a bound of the second derivative of ℓ."""

    #: What the second derivative of the log-likelihood in η does not exceed; None if nothing
    steepest: float | None = None
    #: One a row, centred if there is an intercept
    columns: FloatArray
    weight: FloatArray
    ridge: float

    def curvature(self, columns: IndexArray) -> FloatArray | None:
        """Return columns of ``steepest · Σ_s ω_s (x_s − x̄)(x_s − x̄)ᵀ + ridge``, where that is known.

        The mean x̄ is zero without an intercept, which only takes curvature away: the more, the better it
        follows; the mean is one choice of it.
        """
        if self.steepest is None or not self.single:
            return None
        block = self.steepest * self.columns @ (self.columns[columns] * self.weight).T
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    @cached_property
    def _squares(self) -> FloatArray:
        """For every element, a bound of what its columns curve the likelihood by."""
        squares = np.einsum("js,js,s->j", self.columns, self.columns, self.weight)
        return (self.steepest or 0.0) * self.sums_by_element(squares)

    @cached_property
    def _largest_eigenvalue(self) -> float:
        if min(self.columns.shape) > EIGENVALUES_UP_TO:
            return np.inf
        rows = self.columns * np.sqrt(self.weight)
        small = rows @ rows.T if len(rows) <= rows.shape[1] else rows.T @ rows
        return (self.steepest or 0.0) * float(np.linalg.eigvalsh(small)[-1]) * (1 + 1e-12)

    def smoothness(self, t: int) -> float:
        """Return a valid M_{s,t}, where the likelihood has one: from the t longest columns."""
        if self.steepest is None:
            return super().smoothness(t)
        longest = np.sort(self._squares)[::-1][: max(t, 1)]
        return min(float(longest.sum()), self._largest_eigenvalue) + self.ridge

    def strong_concavity(self, t: int) -> float:
        """Return the ridge: the likelihood itself may be flat far out."""
        return self.ridge
