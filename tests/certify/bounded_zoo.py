"""Least squares with bounds on coefficients, as plainly as that can be written: an oracle."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear

import swapwise as sw
from swapwise.objectives.coefficient_bounds import CoefficientBounds


class BoundedLeastSquares(sw.SparseObjective):
    """``R²`` of the best fit within bounds; all but the fit is that of the objective without bounds."""

    curvature_is = "hessian"
    scale = 1.0

    def __init__(self, X, y, ridge, lower, upper):
        self.X, self.y, self.ridge, self.n = X, y, ridge, X.shape[1]
        self.free = sw.LeastSquares(X, y, ridge)
        self.bounds = CoefficientBounds(np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def _fit(self, support):
        lower, upper = self.bounds.lower[support], self.bounds.upper[support]
        coef, moves = np.zeros(len(support)), lower < upper
        if moves.any():
            A = np.vstack([self.X[:, support], np.sqrt(self.ridge) * np.eye(len(support))])[:, moves]
            target = np.append(self.y, np.zeros(len(support)))
            found = lsq_linear(A, target, (lower[moves], upper[moves]), "bvls", tol=1e-14)
            coef[moves] = np.clip(found.x, lower[moves], upper[moves])
        whole = np.zeros(self.n)
        whole[support] = coef
        return self.value_at(whole), coef

    def value_at(self, coef):
        return self.free.value_at(coef)

    def gradient_at(self, coef):
        return self.free.gradient_at(coef)

    def hessian_at(self, coef, elements):
        return self.free.hessian_at(coef, elements)

    def curvature(self, columns):
        return self.free.curvature(columns)

    def sample_curvature(self, coef):
        return self.free.sample_curvature(coef)

    def strong_concavity(self, t):
        return self.free.strong_concavity(t)

    def smoothness(self, t):
        return self.free.smoothness(t)

    def dependencies(self, elements, least):
        return self.free.dependencies(elements, least)
