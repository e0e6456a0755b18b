"""Least squares given by inner products alone: second-order models of likelihoods."""

from __future__ import annotations

import numpy as np
import scipy

from swapwise.checks import SMALLEST, FloatArray
from swapwise.data.columns import ColumnArray
from swapwise.objectives.least_squares.objective import LeastSquares

# Directions shorter than this, columns at unit length, are rounding.
ROUNDED_PIVOT = 1e-12


def least_squares_of(
    gram: FloatArray, target: FloatArray, ridge: float, taken_out: int = 0
) -> LeastSquares | None:
    """Return least squares from inner products of columns with each other and with the response.

    The last ``taken_out`` columns are in every set, without a ridge: they are projected out of the others
    and of the response. None if no column has any length.

    >>> model = least_squares_of(np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([3.0, 1.0]), 0.0, taken_out=1)
    >>> model.n, model.coef([0])
    (1, array([2.]))
    """
    if taken_out:
        across, own = gram[:-taken_out, -taken_out:], gram[-taken_out:, -taken_out:]
        share = across @ np.linalg.pinv(own, hermitian=True)
        gram = gram[:-taken_out, :-taken_out] - share @ across.T
        target = target[:-taken_out] - share @ target[-taken_out:]
    unit = float(np.diag(gram).max(initial=0.0))
    if unit < SMALLEST:
        return None
    return _in_coordinates(gram / unit, target / unit, ridge / unit)


def _in_coordinates(gram: FloatArray, target: FloatArray, ridge: float) -> LeastSquares:
    """Find coordinates by a pivoted Cholesky factor, as columns may be dependent."""
    lengths = np.sqrt(np.maximum(np.diag(gram), 0.0))
    unit = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    triangle, order, rank, _ = scipy.linalg.lapack.dpstrf(
        gram * np.outer(unit, unit), tol=ROUNDED_PIVOT, lower=1
    )
    order = order - 1
    triangle = np.tril(triangle)[:, :rank]
    columns = np.empty_like(triangle)
    columns[order] = triangle
    response = scipy.linalg.solve_triangular(triangle[:rank], (target * unit)[order[:rank]], lower=True)
    model = LeastSquares(ColumnArray(columns * lengths[:, None], gram), response, ridge)
    model.products_with_y = target
    return model
