"""Objectives with bounds on coefficients, as plainly as they can be written: oracles."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

import swapwise as sw
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.fit_bounds import fit_bound
from tests.certify.problem_zoo import RidgeLogistic


def fit_in_box(A, target, lower, upper):
    """Return the least-squares fit within bounds on columns of length 1, by active sets from no coefficients.

    Unlike SciPy's, it copes with columns that are copies of each other.
    """
    if not A.shape[1]:
        return np.empty(0)
    free, at = np.zeros(A.shape[1], dtype=bool), np.zeros(A.shape[1])
    for _ in range(200):
        # The fit of what is free, from where it is, or as far as a bound allows.
        way = np.linalg.lstsq(A[:, free], target - A @ at, rcond=1e-11)[0]
        ahead = at[free] + way
        over = np.where(ahead > upper[free], upper[free], np.where(ahead < lower[free], lower[free], np.nan))
        if not np.isnan(over).all():
            steps = np.where(np.isnan(over), np.inf, (over - at[free]) / way)
            first = int(np.argmin(steps))
            at[free] += min(1.0, max(0.0, steps[first])) * way
            at[np.flatnonzero(free)[first]] = over[first]
            free[np.flatnonzero(free)[first]] = False
            continue
        at[free] = ahead
        slope = A.T @ (target - A @ at)
        gain = np.where(at >= upper, 0.0, np.maximum(slope, 0.0)) - np.where(
            at <= lower, 0.0, np.minimum(slope, 0.0)
        )
        gain[free] = 0.0
        if gain.max() <= 1e-13 * np.linalg.norm(target):
            break
        free[int(np.argmax(gain))] = True
    return np.clip(at, lower, upper)


class BoundedLeastSquares(sw.SparseObjective):
    """``R²`` of the best fit within bounds; all but the fit is that of the objective without bounds."""

    curvature_is = "hessian"
    scale = 1.0

    def __init__(self, X, y, ridge, lower, upper):
        self.X, self.y, self.ridge, self.n = X, y, ridge, X.shape[1]
        self.free = sw.LeastSquares(X, y, ridge)
        self.bounds = CoefficientBounds(np.asarray(lower, dtype=float), np.asarray(upper, dtype=float))

    def _fit(self, support):
        A = np.vstack([self.X[:, support], np.sqrt(self.ridge) * np.eye(len(support))])
        lengths = np.linalg.norm(A, axis=0)
        lower, upper = self.bounds.lower[support], self.bounds.upper[support]
        moves = (lower < upper) & (lengths > 0)
        A, lengths, target = (
            A[:, moves] / lengths[moves],
            lengths[moves],
            np.append(self.y, np.zeros(len(support))),
        )
        box = lower[moves] * lengths, upper[moves] * lengths
        coef = np.zeros(len(support))
        coef[moves] = np.clip(fit_in_box(A, target, *box) / lengths, lower[moves], upper[moves])
        whole = np.zeros(self.n)
        whole[support] = coef
        return self.value_at(whole), coef

    def upper_bound(self, support=None, clock=None):
        if support is None:
            return 1.0
        return fit_bound(self, support, clock)

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


class BoundedLogistic(RidgeLogistic):
    """Logistic regression with a ridge and bounds on coefficients."""

    def __init__(self, X, signs, ridge, bounds):
        super().__init__(X, signs, ridge)
        self.bounds = bounds

    def _fit(self, support):
        lower, upper = self.bounds.lower[support], self.bounds.upper[support]

        def loss(values):
            coef = np.zeros(self.n)
            coef[support] = values
            return -self.value_at(coef), -self.gradient_at(coef)[support]

        if not len(support):
            return 0.0, np.empty(0)
        box = np.stack([lower, upper], axis=1)
        found = minimize(loss, np.zeros(len(support)), jac=True, method="L-BFGS-B", bounds=box)
        at = found.x
        for _ in range(30):  # to the last digits, by Newton steps of what is free
            slope = -loss(at)[1]
            free = ~(((at <= lower) & (slope <= 0)) | ((at >= upper) & (slope >= 0)))
            coef = np.zeros(self.n)
            coef[support] = at
            curve = self.ridge * np.eye(len(support)) + self._curve(coef, support)
            step = np.zeros(len(support))
            step[free] = np.linalg.solve(curve[np.ix_(free, free)], slope[free])
            ahead = np.clip(at + step, lower, upper)
            if loss(ahead)[0] >= loss(at)[0]:
                break
            at = ahead
        return -loss(at)[0], at
