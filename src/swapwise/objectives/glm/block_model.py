"""The second-order model of a likelihood on some elements, as least squares on groups of columns."""

from __future__ import annotations

import numpy as np
import scipy

from swapwise.checks import SMALLEST, FloatArray, IndexArray
from swapwise.data.columns import GramColumns
from swapwise.objectives.glm.block_bounds import FitPoint
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.objective import LeastSquares

# The least curvature of a sample, relative to the largest, in a second-order model: with less, the response
# that Newton's step would fit knows no bounds.
LEAST_MODEL_WEIGHT = 1e-8

# Directions of which less than this is left, columns at unit length, are rounding.
ROUNDED_PIVOT = 1e-12


def quadratic_model(
    fit: FitPoint, predictor: FloatArray, columns: FloatArray, begin: IndexArray
) -> GroupLeastSquares | None:
    """Return least squares whose values rise and fall as the second-order model of a likelihood does.

    Coefficients of a column, one per level, follow each other. ``predictor`` is η without the offset; the
    intercept, if the fit has one, is taken out of all columns. None where nothing curves.
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
    if len(rows) > len(columns):
        gram, target = _without_last(gram, target, levels)
    unit = float(np.diag(gram).max(initial=0.0))
    if unit < SMALLEST:
        return None
    return GroupLeastSquares.of_columns(
        _least_squares(gram / unit, target / unit, fit.ridge / unit), begin * levels
    )


def _without_last(gram: FloatArray, target: FloatArray, count: int) -> tuple[FloatArray, FloatArray]:
    """Return inner products once the last few columns are taken out of the others and of the response."""
    across, own = gram[:-count, -count:], gram[-count:, -count:]
    share = across @ np.linalg.pinv(own, hermitian=True)
    return gram[:-count, :-count] - share @ across.T, target[:-count] - share @ target[-count:]


class FactoredGram(GramColumns):
    """Columns that are known by their inner products, with a few coordinates that have the same.

    >>> columns = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> FactoredGram(columns @ columns.T, columns).gram(np.array([1]), np.array([0, 1]))
    array([[2., 2.]])
    """

    def __init__(self, gram: FloatArray, columns: FloatArray) -> None:
        super().__init__(gram)
        self._columns = columns
        self.n_samples = columns.shape[1]
        self.squared_norms, self.offsets = np.maximum(np.diag(gram), 0.0), np.zeros(len(gram))

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return a copy of some columns."""
        return self._columns[elements]


def _least_squares(gram: FloatArray, target: FloatArray, ridge: float) -> LeastSquares:
    """Return least squares by inner products of columns with each other and with the response.

    The coordinates come from a Cholesky factor with pivots, which bears dependent columns.
    """
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
    model = LeastSquares(FactoredGram(gram, columns * lengths[:, None]), response, ridge)
    model.products_with_y = target
    return model
