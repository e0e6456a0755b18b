"""Newton's method for a likelihood that is known by sums over data that are stored elsewhere.

The rules are those of ``refit`` in ``kernels/glm.hpp``, which has the data in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray
from swapwise.kernels import glm
from swapwise.objectives.coefficient_bounds import CoefficientBounds, moved_within
from swapwise.objectives.glm.likelihood import Fit

# Largest last step, in units of the largest parameter. Near a maximum it is far smaller.
LONGEST_LAST_STEP = 0.01


class Sums(NamedTuple):
    """A log-likelihood at some parameters, and the sums that Newton's method needs there."""

    value: float
    gradient: FloatArray
    #: Minus the Hessian
    hessian: FloatArray
    #: The largest change of a sample's linear predictor by the step
    reach: float
    #: The largest curvature of a sample
    steepest: float
    #: ``Σ slope² / curvature``; 0 unless curvatures have a floor
    misfit: float

    def plus(self, other: Sums) -> Sums:
        return Sums(
            self.value + other.value,
            self.gradient + other.gradient,
            self.hessian + other.hessian,
            max(self.reach, other.reach),
            max(self.steepest, other.steepest),
            self.misfit + other.misfit,
        )


class EvaluationPoint(NamedTuple):
    """Parameters at which sums are needed, and the step that leads there."""

    theta: FloatArray
    step: FloatArray


NewtonSteps = Generator[EvaluationPoint, Sums, Fit]


def newton_steps(
    theta: FloatArray,
    fallback: FloatArray,
    ridge: FloatArray,
    least: float,
    tol: float,
    max_steps: int,
    bounds: CoefficientBounds | None = None,
) -> NewtonSteps:
    """Yield the points at which sums are needed until the maximum is reached, and return it.

    ``ridge`` is the penalty of each parameter. ``tol`` is the rise at which the steps end. If the value at
    ``theta`` is below ``least``, the steps begin at ``fallback`` instead. ``bounds`` are those of all
    parameters, and θ is within them.
    """
    sums = yield EvaluationPoint(theta, np.zeros_like(theta))
    value = sums.value - _penalty(ridge, theta)
    if not value >= least:
        theta = fallback
        sums = yield EvaluationPoint(theta, np.zeros_like(theta))
        value = sums.value - _penalty(ridge, theta)
    late = 0.0
    for _ in range(max_steps):
        slope = sums.gradient - ridge * theta
        step, missed = _step(sums.hessian + np.diag(ridge), slope, theta, bounds)
        decrement = float(step @ slope)
        if not decrement > 0:
            steep = slope if bounds is None else bounds.projected(slope, theta)
            return _fit(value, theta, not steep.any(), late)  # a slope without curvature leads nowhere
        if decrement < tol:
            # The last step changes coefficients, but values only by rounding: they need no further sums.
            # Where only the penalty curves, it leads far back, and is not taken.
            is_short = np.abs(step).max() <= LONGEST_LAST_STEP * np.abs(theta).max()
            ahead_of = moved_within(bounds, theta, step) if is_short else theta
            return _fit(value, ahead_of, missed < glm.UNCONVERGED * tol, late)
        length = 1.0
        for _ in range(glm.HALVINGS):
            trial = moved_within(bounds, theta, step, length)
            ahead = yield EvaluationPoint(trial, step)
            reached = ahead.value - _penalty(ridge, trial)
            if reached >= value + glm.ARMIJO * length * decrement:
                break
            length /= 2
        if not reached > value:  # only rounding is left
            return _fit(value, theta, max(decrement, missed) < glm.UNCONVERGED * tol, late)
        if decrement < glm.LATE * tol:
            late = max(late, length * ahead.reach)
        theta, value, sums = trial, reached, ahead
    return _fit(value, theta, False, late)


def newton_together(
    steps: list[NewtonSteps], evaluate: Callable[[dict[int, EvaluationPoint]], list[Sums]]
) -> list[Fit]:
    """Run several Newton methods side by side; ``evaluate`` gets a point from each that still runs."""
    fits: dict[int, Fit] = {}
    points = {number: next(each) for number, each in enumerate(steps)}
    while points:
        found = zip(list(points), evaluate(points), strict=True)
        points = {}
        for number, sums in found:
            try:
                points[number] = steps[number].send(sums)
            except StopIteration as end:
                fits[number] = end.value
    return [fits[number] for number in range(len(steps))]


def _step(
    hessian: FloatArray, slope: FloatArray, theta: FloatArray, bounds: CoefficientBounds | None
) -> tuple[FloatArray, float]:
    if bounds is None:
        return glm.definite_solution(hessian, slope)
    return glm.box_maximum(hessian, slope, bounds.lower - theta, bounds.upper - theta)


def _fit(value: float, theta: FloatArray, converged: bool, late_step: float) -> Fit:
    return Fit(value, theta[:, None], bool(converged), late_step)


def _penalty(ridge: FloatArray, theta: FloatArray) -> float:
    # Squares of parameters without a penalty may overflow.
    return float((ridge * theta) @ theta) / 2
