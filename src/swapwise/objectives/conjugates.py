"""Conjugates of quadratics within bounds on coefficients, as weights of elements in upper bounds.

Wherever ``u(v) ≤ constant + Σ_i (s_i v_i − D_i v_i² / 2)``, a set S is worth no more than the constant plus
the conjugates ``max { s_i v − D_i v² / 2 : v within bounds }`` of its elements. Without bounds that is
``s_i² / 2D_i``; for coefficients that may not be negative, ``max(0, s_i)² / 2D_i``; less where an upper bound
stops the coefficient before that.
"""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.objectives.coefficient_bounds import CoefficientBounds


def conjugate(
    slope: FloatArray, curvature: FloatArray, bounds: CoefficientBounds | None
) -> tuple[FloatArray, FloatArray]:
    """Return ``max { s v − D v² / 2 }`` over v within the bounds, and the v; 0 for both where D is 0.

    ``slope`` is in the shape of the coefficients, and ``curvature`` one number per row of them, or more.

    >>> signs = CoefficientBounds(np.zeros(3), np.array([np.inf, np.inf, 1.0]))
    >>> conjugate(np.array([-2.0, 2.0, 2.0]), np.ones(3), None)[0]
    array([2., 2., 2.])
    >>> conjugate(np.array([-2.0, 2.0, 2.0]), np.ones(3), signs)
    (array([0. , 2. , 1.5]), array([0., 2., 1.]))
    """
    curvature = np.broadcast_to(along_rows(curvature, slope), slope.shape)
    top = np.divide(slope, curvature, out=np.zeros(slope.shape), where=curvature > 0)
    if bounds is None:
        values = np.divide(slope**2, 2 * curvature, out=np.zeros(slope.shape), where=curvature > 0)
        return values, top
    top = np.clip(top, along_rows(bounds.lower, slope), along_rows(bounds.upper, slope))
    return top * (slope - 0.5 * curvature * top) + 0.0, top  # no minus zero


def along_rows(values: FloatArray, coef: FloatArray) -> FloatArray:
    """Reshape one number per row of coefficients so that it broadcasts over the row."""
    return values.reshape(*values.shape, *(1,) * (coef.ndim - values.ndim))


def room(slope: FloatArray, coef: FloatArray, bounds: CoefficientBounds | None) -> FloatArray:
    """Return how far each coefficient may follow its slope; infinity without bounds.

    ``slope · room`` bounds the gain of a function below its tangent by any one coefficient. At the best
    coefficients within bounds it is 0, although slopes are not where a bound stops a coefficient.
    """
    if bounds is None:
        return np.full(coef.shape, np.inf)
    above, below = along_rows(bounds.upper, coef) - coef, coef - along_rows(bounds.lower, coef)
    return np.maximum(np.where(slope < 0, below, above), 0.0)
