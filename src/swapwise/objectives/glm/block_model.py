"""The second-order model of a likelihood on some elements, as least squares on groups of columns."""

from __future__ import annotations

import numpy as np

from swapwise.checks import SMALLEST, FloatArray, IndexArray
from swapwise.objectives.glm.block_bounds import FitPoint
from swapwise.objectives.least_squares.by_products import least_squares_of
from swapwise.objectives.least_squares.groups import GroupLeastSquares

# The least curvature of a sample, relative to the largest, in a second-order model: with less, the response
# that Newton's step would fit is unbounded.
LEAST_MODEL_WEIGHT = 1e-8


def quadratic_model(
    fit: FitPoint, predictor: FloatArray, columns: FloatArray, begin: IndexArray
) -> GroupLeastSquares | None:
    """Return least squares whose values change as the second-order model of a likelihood does.

    Coefficients of a column, one per level, follow each other. ``predictor`` is η without the offset; the
    intercept, if the fit has one, is projected out of all columns. None where nothing curves.
    """
    levels, samples = fit.eta.shape
    pair, rows = fit.pairs[1], columns
    curve = fit.pairs[0].copy()
    steepest = float(curve.max(initial=0.0))
    if steepest < SMALLEST:
        return None
    curve[np.diag(pair)] += LEAST_MODEL_WEIGHT * steepest
    if fit.n_penalised < len(fit.chosen):
        rows = np.vstack([columns, np.ones(samples)])
    response = fit.slope + (curve[pair] * predictor).sum(axis=1)
    weighted = (curve[:, None] * rows).reshape(-1, samples)
    by_pair = (weighted @ rows.T).reshape(len(curve), len(rows), len(rows))
    gram: FloatArray = by_pair[pair].transpose(2, 0, 3, 1).reshape(len(rows) * levels, len(rows) * levels)
    target = (rows @ response.T).ravel()
    model = least_squares_of(gram, target, fit.ridge, (len(rows) - len(columns)) * levels)
    return None if model is None else GroupLeastSquares.of_columns(model, begin * levels)
