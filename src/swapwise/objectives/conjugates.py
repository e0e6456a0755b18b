"""What a quadratic in one coefficient reaches within the bounds of that coefficient: the weights of dual bounds.

Wherever ``u(v) ≤ constant + Σ_i (s_i v_i − D_i v_i² / 2)``, a set S is worth no more than the constant and the
conjugates ``max { s_i v − D_i v² / 2 : v within bounds }`` of its elements. Without bounds that is
``s_i² / 2D_i``; of coefficients that may not be negative, ``max(0, s_i)² / 2D_i``; of one that its bounds stop
on the way up, less than that.
"""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.objectives.coefficient_bounds import CoefficientBounds


def conjugate(
    slope: FloatArray, curvature: FloatArray, bounds: CoefficientBounds | None
) -> tuple[FloatArray, FloatArray]:
    """Return ``max { s v − D v² / 2 }`` over v within the bounds, and the v; 0 for both where D is 0.

    ``slope`` is in the shape of the coefficients, and ``curvature`` one number for each row of them, or more.

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
    return top * (slope - 0.5 * curvature * top), top


def along_rows(values: FloatArray, coef: FloatArray) -> FloatArray:
    """Return what rows of coefficients have, one number each, to be used with all numbers of a row.

    >>> along_rows(np.array([1.0, 2.0]), np.zeros((2, 3))).shape
    (2, 1)
    """
    return values.reshape(*values.shape, *(1,) * (coef.ndim - values.ndim))


def followed(
    gradient: FloatArray, coef: FloatArray, bounds: CoefficientBounds | None
) -> FloatArray:
    """Return the part of a gradient of u that counts against coefficients w within bounds.

    Where a bound stops a coefficient, ``g_i (v_i − w_i)`` is at most 0 for every v within the bounds: with 0 in
    place of such g_i, tangents of u still lie above it. At the best coefficients nothing is left.

    >>> signs = CoefficientBounds(np.zeros(2), np.full(2, np.inf))
    >>> followed(np.array([-1.0, 1.0]), np.zeros(2), signs)
    array([0., 1.])
    """
    if bounds is None:
        return gradient
    lower, upper = along_rows(bounds.lower, coef), along_rows(bounds.upper, coef)
    return CoefficientBounds(lower, upper).projected(gradient, coef)
