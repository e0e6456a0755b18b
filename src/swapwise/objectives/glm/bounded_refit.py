"""Refits within bounds where steps in a box lose their digits: an active set of refits without bounds.

Coefficients at a bound are fixed there while the others are refitted without bounds, as carefully as that
takes. If one of them leaves its bounds, all go as far towards the refit as the bounds allow, and the first at
its bound is fixed, too. Otherwise the fixed coefficient with the largest predicted gain is freed (Lawson and
Hanson, 1974, for least squares). The likelihood is concave, so every turn raises it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import FloatArray
from swapwise.kernels import glm
from swapwise.numerics import SUM
from swapwise.objectives.coefficient_bounds import CoefficientBounds

if TYPE_CHECKING:
    from swapwise.objectives.glm.likelihood import Fit, Likelihood

# Each coefficient is fixed and freed a few times at most, except for rounding.
TURNS_PER_COEFFICIENT = 10


def refit_within(
    likelihood: Likelihood, columns: FloatArray, penalty: FloatArray, bounds: CoefficientBounds, fit: Fit
) -> Fit:
    """Return the best parameters within bounds, one per column, starting from an unfinished fit."""
    faces = _Faces(likelihood, columns, penalty, bounds, fit)
    for _ in range(TURNS_PER_COEFFICIENT * (len(columns) + 1)):
        if faces.refit_free() and not faces.free_best():
            return faces.best
    return faces.best._replace(converged=False)


class _Faces:
    def __init__(
        self,
        likelihood: Likelihood,
        columns: FloatArray,
        penalty: FloatArray,
        bounds: CoefficientBounds,
        fit: Fit,
    ) -> None:
        self._likelihood, self._columns, self._penalty, self._bounds = likelihood, columns, penalty, bounds
        self.best, self._late_step = fit, fit.late_step
        self._point = bounds.clip(fit.theta[:, 0])
        slope, _ = self._derivatives()
        self._free = bounds.projected(slope, self._point) == slope
        self._tried = np.zeros(len(columns), dtype=bool)  # freed since the value last rose

    def _derivatives(self) -> tuple[FloatArray, FloatArray]:
        eta = self._likelihood.offset + self._point @ self._columns
        with np.errstate(all="ignore"):
            _, slope, curve = self._likelihood.derivatives(eta)
        paid = self._penalty * self._point
        own, sizes = self._columns @ slope[0] - paid, np.abs(self._columns) @ np.abs(slope[0]) + np.abs(paid)
        own = np.where(np.abs(own) > SUM * sizes, own, 0.0)  # else it is rounding
        return own, self._columns**2 @ curve[0, 0] + self._penalty

    def refit_free(self) -> bool:
        """Refit the parameters that are free; return whether they stay within the bounds."""
        free, bounds = self._free, self._bounds
        held = np.where(free, 0.0, self._point)
        fit = self._likelihood.refit_beside(
            self._columns[free], self._penalty[free], held @ self._columns, self._point[free]
        )
        target = self._point.copy()
        target[free] = fit.theta[:, 0]
        way = target - self._point
        room = np.where(way > 0, bounds.upper, bounds.lower) - self._point
        with np.errstate(invalid="ignore"):
            shares = np.divide(room, way, out=np.full(len(way), np.inf), where=free & (way != 0))
        first = int(np.argmin(shares))
        if shares[first] < 1:
            self._point = bounds.clip(self._point + max(0.0, float(shares[first])) * way)
            self._point[first] = bounds.upper[first] if way[first] > 0 else bounds.lower[first]
            self._free[first] = False
            return False
        self._point = target
        value = fit.value - float((self._penalty * held) @ held) / 2
        if value > self.best.value + self._likelihood.tol:
            self._tried[:] = False
        if value >= self.best.value - self._likelihood.tol:
            theta = target[:, None].copy()
            self.best = fit._replace(value=value, theta=theta, late_step=max(fit.late_step, self._late_step))
        return True

    def free_best(self) -> bool:
        """Free the fixed coefficient with the largest predicted gain; return whether there is one."""
        slope, curve = self._derivatives()
        fixed_slope = np.where(self._free, 0.0, self._bounds.projected(slope, self._point))
        gains = np.divide(fixed_slope**2, 2 * curve, out=np.zeros(len(slope)), where=curve > 0)
        gains[self._bounds.lower == self._bounds.upper] = 0.0
        if (gains * self._tried > glm.UNCONVERGED * self._likelihood.tol).any():
            self.best = self.best._replace(converged=False)
        gains[self._tried] = 0.0
        place = int(np.argmax(gains))
        if not gains[place] > 0:
            return False
        self._free[place] = self._tried[place] = True
        return True
