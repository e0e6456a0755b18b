"""Upper bounds on the value of a set: from a fit and the gain that its derivatives still allow."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.objectives.base import SparseObjective, embed, rows_of
from swapwise.objectives.conjugates import room
from swapwise.objectives.suprema import supremum

# A fit from which a Newton step gains less than this, relative to its value, has converged.
CONVERGED = 1e-9

# Eigenvalues of second derivatives, at a unit diagonal, that are below this may be nothing but rounding: some
# are computed by differences of gradients.
FLAT_DIRECTION = 1e-8

# Seconds. Fits that take longer delay the clock and Ctrl-C, and are not made where a bound will do.
QUICK_FIT = 0.3

# L-BFGS ends when its bound is this close to a value attained, relative to the values themselves.
TIGHT = 1e-6

# A long memory saves passes over the data, which take most of the time.
BOUND_STEPS, BOUND_MEMORY = 2000, 30

#: Maps a set and coefficients on it to the gradient in these, and minus the Hessian if it is known
SlopeAndCurvature = Callable[[IndexArray, FloatArray], tuple[FloatArray, FloatArray | None]]


def fit_bound(
    objective: SparseObjective,
    support: IndexArray,
    clock: Clock | None = None,
    *,
    seconds: float = 0.0,
    slope_and_curvature: SlopeAndCurvature | None = None,
) -> float:
    """Return an upper bound on f(support): the value of a fit plus the gain that its gradient allows.

    A fit that would take long (``seconds``, during which signals are not handled) is replaced by cheap steps
    until the clock runs out. These prove nothing without strong concavity: then the fit is made if there is
    time, or else the ceiling of the objective is returned. Where classes are separable, no fit is the best,
    and the bound is that of :func:`swapwise.objectives.suprema.supremum`.
    """
    if not len(support):
        return 0.0
    clock = clock or Clock()
    if seconds > QUICK_FIT and objective.strong_concavity(objective.n) > 0:
        return lbfgs_bound(objective, support, clock)
    if seconds > max(QUICK_FIT, clock.left()):
        return objective.upper_bound()
    value, values = objective._fit(support)
    coef, rows = embed(objective, support, values), rows_of(objective, support)
    if slope_and_curvature is None:
        slope = objective.gradient_at(coef)[rows].ravel()
        curvature: FloatArray | None = objective.hessian_at(coef, support)
    else:
        slope, curvature = slope_and_curvature(support, coef)
    slope, lost = _within_bounds(objective, rows, slope, values, value)
    missed = missed_at_most(objective, slope)
    if curvature is not None:
        stopped = None if objective.bounds is None else values.ravel()
        by_model = missed_by_model(objective, support, value, slope, curvature, stopped)
        missed = min(missed, by_model)
    bound, ceiling = value + missed + lost, objective.upper_bound()
    if bound == np.inf and value < ceiling:
        margins = objective.margins(support)
        bound = np.inf if margins is None else max(value, supremum(margins, clock))
    return min(bound, ceiling)


def _within_bounds(
    objective: SparseObjective, rows: IndexArray, slope: FloatArray, coef: FloatArray, value: float
) -> tuple[FloatArray, float]:
    """Return the slope in some rows where coefficients can follow it, and a bound on what the rest gains.

    Where a bound is all but reached, ``g_i (v_i − w_i)`` is next to nothing for every v within the bounds.
    """
    if objective.bounds is None or slope.size != coef.size:  # slopes of other parameters have no bounds
        return slope, 0.0
    farthest = room(slope.reshape(coef.shape), coef, objective.bounds.restricted(rows)).ravel()
    worth = np.abs(slope) * np.where(slope == 0, 0.0, farthest)
    stopped = worth <= CONVERGED * max(abs(value), objective.scale) / max(1, 2 * len(worth))
    return np.where(stopped, 0.0, slope), float(worth[stopped].sum())


def missed_at_most(objective: SparseObjective, slope: FloatArray) -> float:
    """Return ``‖slope‖² / 2m``, a bound on the gain left by a slope in the free coefficients."""
    m = objective.strong_concavity(objective.n)
    with np.errstate(over="ignore"):  # far out, where squares are infinite
        return float(slope @ slope) / (2 * m) if m > 0 else np.inf


def missed_by_model(
    objective: SparseObjective,
    support: IndexArray,
    value: float,
    slope: FloatArray,
    curvature: FloatArray,
    stopped: FloatArray | None = None,
) -> float:
    """Return twice what a step to the top of the second-order model gains, if that is next to nothing.

    Then the fit has converged, and the model is accurate around it. Infinity if it has not, or if a
    direction is flat up to rounding but not known to be flat: it may lead anywhere. ``stopped`` are the
    coefficients if bounds stop some of them, and the slope is that of the others. Along flat directions
    this part of it is zero only up to rounding; none leads farther than values reach.
    """
    lengths = np.sqrt(np.maximum(np.diag(curvature), 0.0))
    lengths[lengths == 0] = 1.0
    sizes, directions = np.linalg.eigh(curvature / np.outer(lengths, lengths))
    flat = sizes <= FLAT_DIRECTION
    if flat.any() and flat.sum() != objective.dependencies(support, FLAT_DIRECTION):
        return np.inf
    along = directions.T @ (slope / lengths)
    gain = float((along[~flat] ** 2 / sizes[~flat]).sum())
    if stopped is not None:
        farthest = 2 * float(np.abs(stopped * lengths).sum() + np.sqrt(max(abs(value), objective.scale)))
        gain += farthest * float(np.abs(along[flat]).sum())
    return gain if gain <= CONVERGED * max(abs(value), objective.scale) else np.inf


class _BoundIsTight(Exception):
    """There is nothing left to be gained."""


def lbfgs_bound(objective: SparseObjective, support: IndexArray, clock: Clock) -> float:
    """Return an upper bound on f(support), the better the more time there is.

    Newton's method takes the cube of the number of elements in operations, without a break. L-BFGS needs
    values and gradients only, and every iterate w proves a bound: with strong concavity m,
    ``f(support) ≤ u(w) + ‖∇u(w)‖² / 2m``, the gradient taken on ``support``, without the entries that bounds
    block. The ceiling of the objective holds from the start.
    """
    from scipy.optimize import minimize  # slow to import, and seldom used

    rows = rows_of(objective, support)
    whole = objective.coef(())
    first = whole[rows].ravel()
    bound = objective.upper_bound()

    def negated(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal bound
        clock.check()
        coef = whole.copy()
        coef[rows] = point.reshape(whole[rows].shape)
        value, gradient = objective.value_and_gradient_at(coef)
        slope = gradient[rows].ravel()
        free, lost = _within_bounds(objective, rows, slope, coef[rows], value)
        bound = min(bound, value + missed_at_most(objective, free) + lost)
        if bound - value <= TIGHT * max(abs(value), objective.scale):
            raise _BoundIsTight
        return -value, -slope

    options = {
        "maxiter": BOUND_STEPS,
        "maxfun": 2 * BOUND_STEPS,
        "maxcor": BOUND_MEMORY,
        "ftol": 0.0,
        "gtol": 0.0,
    }
    box = None
    if objective.bounds is not None:
        ends = objective.bounds.lower[rows], objective.bounds.upper[rows]
        box = np.repeat(np.stack(ends, axis=1), first.size // max(1, len(rows)), axis=0)
    with suppress(OutOfTime, _BoundIsTight):
        minimize(negated, first, jac=True, method="L-BFGS-B", bounds=box, options=options)
    return float(bound)
