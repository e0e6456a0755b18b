"""Maximisation of a user's function in some of its coefficients."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.kernels import glm
from swapwise.numerics import SUM
from swapwise.objectives.base import embed
from swapwise.objectives.coefficient_bounds import moved_within

if TYPE_CHECKING:
    from swapwise.objectives.custom.objective import CustomObjective

# Number of times that L-BFGS restarts, without memory, after it stopped early.
MOST_NEWTON_STEPS, LBFGS_STEPS, LBFGS_STARTS = 100, 500, 3

# A Newton step predicted to gain less than this, relative to the value, is the last one: what is left
# after it is smaller by orders of magnitude.
LAST_RISE = 1e-15

# Largest length of a Newton step, in units of the largest coefficient (or 1): where the function is almost
# linear, the step to the top of its second-order model is arbitrarily long.
LONGEST_STEP = 100.0

# If only a smaller share of a Newton step raises the value, the second-order model is poor (as in the tails
# of a Huber loss), and L-BFGS is faster.
SHORTEST_SHARE = 1 / 64

# A fit whose slope predicts a larger gain than this, relative to the value, did not converge.
CONVERGED_SLOPE = 1e-5

# Coefficients beyond this are taken to diverge.
LARGEST_COEFFICIENT = 1e8


class NoMaximumError(ValueError):
    """The function has no maximum on a set."""


class Ascent:
    """A maximisation of u on a set, within bounds: the coefficients so far, u and its slope at them."""

    def __init__(
        self,
        objective: CustomObjective,
        support: IndexArray,
        start: FloatArray,
        clock: Clock | None = None,
    ) -> None:
        self.objective, self.support, self.clock = objective, support, clock or Clock()
        self.point, self.value = np.zeros(len(support)), objective._at_zero
        self.slope = objective._slope_at_zero[support]
        self.bounds = None if objective.bounds is None else objective.bounds.restricted(support)
        if self.bounds is not None:
            start = self.bounds.clip(start)
        if start.any():
            self._keep_if_better(start, *self._evaluate(start))

    @property
    def size(self) -> float:
        return max(abs(self.value), self.objective.scale)

    @property
    def free_slope(self) -> FloatArray:
        return self.slope if self.bounds is None else self.bounds.projected(self.slope, self.point)

    @property
    def converged(self) -> bool:
        """Whether the slope predicts next to no gain, or is rounding of the slope at zero."""
        slope, reach = np.abs(self.free_slope), max(1.0, float(np.abs(self.point).max()))
        steepest = float(np.abs(self.objective._slope_at_zero).max())
        return bool(slope.sum() * reach <= CONVERGED_SLOPE * self.size or slope.max() <= SUM * steepest)

    def run(self) -> None:
        if self.objective._hessian_block is None:
            self._by_lbfgs()
        elif not self._by_newton():
            self._by_lbfgs()
            self._by_newton()

    def _by_newton(self) -> bool:
        """Return whether the steps ended at the maximum, none cut too short."""
        for _ in range(MOST_NEWTON_STEPS):
            coef = embed(self.objective, self.support, self.point)
            step = self._newton_step(self.objective.hessian_at(coef, self.support))
            longest = LONGEST_STEP * max(1.0, float(np.abs(self.point).max()))
            step *= min(1.0, longest / max(float(np.abs(step).max()), longest))
            rise = float(self.slope @ step)
            is_last = rise <= LAST_RISE * self.size
            if not self._ascend(step, rise):
                return is_last
            if is_last:
                return True
        return False

    def _newton_step(self, curvature: FloatArray) -> FloatArray:
        if self.bounds is None:
            return _newton_step(curvature, self.slope)
        raised, lengths, _ = _definite(curvature)
        lower, upper = self.bounds.lower - self.point, self.bounds.upper - self.point
        step: FloatArray = glm.box_maximum(raised * np.outer(lengths, lengths), self.slope, lower, upper)[0]
        return step

    def _ascend(self, step: FloatArray, rise: float) -> bool:
        length = 1.0
        while length >= SHORTEST_SHARE:
            ahead = moved_within(self.bounds, self.point, step, length)
            value, slope = self._evaluate(ahead)
            if value >= self.value + 1e-4 * length * rise - SUM * self.size:
                self.point, self.value, self.slope = ahead, value, slope
                return True
            length /= 2
        return False

    def _by_lbfgs(self) -> None:
        # Its tolerances are for values of about 1.
        from scipy.optimize import minimize  # slow to import, and seldom used

        unit = self.size or float(np.abs(self.slope).max()) or 1.0
        base = self.value

        def fall(point: FloatArray) -> tuple[float, FloatArray]:
            value, slope = self._evaluate(point)
            if value == -np.inf:  # somewhat worse than where it began, and downhill from the best point
                return 1.0, (point - self.point) / np.linalg.norm(point - self.point)
            self._keep_if_better(point.copy(), value, slope)
            return (base - value) / unit, -slope / unit

        # Until values change no more; a long memory saves evaluations, which take most of the time.
        options = {"maxiter": LBFGS_STEPS, "maxcor": 50, "ftol": 0.0, "gtol": 1e-10}
        box = self.bounds
        within = None if box is None else list(zip(box.lower, box.upper, strict=True))
        for _ in range(LBFGS_STARTS):
            minimize(fall, self.point, jac=True, method="L-BFGS-B", options=options, bounds=within)
            if self.converged:
                return

    def _keep_if_better(self, point: FloatArray, value: float, slope: FloatArray) -> None:
        if value >= self.value:
            self.point, self.value, self.slope = point, value, slope

    def _evaluate(self, point: FloatArray) -> tuple[float, FloatArray]:
        self.clock.check()
        value, slope = self.objective._call(embed(self.objective, self.support, point))
        far = np.abs(point).max() > LARGEST_COEFFICIENT  # a trial that leads down is no sign of anything
        if value == np.inf or (far and value > self.value):
            raise NoMaximumError(
                f"the function seems to have no maximum on the set {self.support.tolist()}: "
                "is it concave? a ridge helps"
            )
        return (value, slope[self.support]) if np.isfinite(value) else (-np.inf, np.zeros(len(point)))


def _newton_step(curvature: FloatArray, slope: FloatArray) -> FloatArray:
    _, lengths, factor = _definite(curvature)
    step: FloatArray = scipy.linalg.cho_solve(factor, slope / lengths, check_finite=False) / lengths
    return step


def _definite(curvature: FloatArray) -> tuple[FloatArray, FloatArray, tuple[FloatArray, bool]]:
    """Return a matrix at a unit diagonal, raised until it is definite, the units, and its factors."""
    lengths = np.sqrt(np.maximum(np.diag(curvature), 0.0))
    lengths[lengths == 0] = 1.0
    scaled, raised = curvature / np.outer(lengths, lengths), 1e-14
    while True:
        try:
            factor = scipy.linalg.cho_factor(scaled, check_finite=False)
        except np.linalg.LinAlgError:  # collinear elements, or a function that is flat here
            scaled[np.diag_indices(len(scaled))] += raised
            raised *= 10
        else:
            return scaled, lengths, factor
