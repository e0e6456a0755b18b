"""A chosen set of columns, factored from the data: what of it is a basis, and its best coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.columns import SAFE_SHARE

# A column counts as spanned by others if they leave no more than this share of its squared length: it
# is then within 1e-7 of their span, and what is left of it is mostly rounding.
RANK_TOLERANCE = 1e-14


class Factor(NamedTuple):
    """The columns of a set that are linearly independent."""

    basis: IndexArray  # positions within the set
    columns: FloatArray  # one basis column a row
    inverse: FloatArray  # C, of their Gram matrix plus the ridge
    weights: FloatArray
    residual: FloatArray
    #: An orthonormal basis, one vector a row, and what leads from it to B; None where columns are far apart
    frame: FloatArray | None
    to_coefficients: FloatArray | None


def factor(columns: FloatArray, y: FloatArray, squares: FloatArray, ridge: float) -> Factor:
    """Factor columns, one a row, and fit ``y``; ``squares`` are their squared lengths plus the ridge."""
    lengths = np.sqrt(squares)
    lengths[lengths == 0] = 1.0
    inverse = _inverse_of_products(columns, lengths, ridge)
    if inverse is None:
        return _by_columns(columns, y, lengths, ridge)
    weights = inverse @ (columns @ y)
    residual = y - weights @ columns
    # One step of refinement makes up for the squared condition of the Gram matrix.
    weights += inverse @ (columns @ residual - ridge * weights)
    return Factor(np.arange(len(columns)), columns, inverse, weights, y - weights @ columns, None, None)


def _inverse_of_products(columns: FloatArray, lengths: FloatArray, ridge: float) -> FloatArray | None:
    """Return the inverse Gram matrix, or None if rounding would spoil it."""
    gram = columns @ columns.T
    gram[np.diag_indices_from(gram)] += ridge
    if not len(gram):
        return gram
    scaled = gram / lengths / lengths[:, None]
    triangle, info = lapack.dpotrf(scaled, lower=1)
    if info != 0:
        return None
    inverse, _ = lapack.dpotri(triangle, lower=1)
    if not np.diag(inverse).max() * SAFE_SHARE <= 1.0:
        return None
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    return np.asarray(inverse / lengths / lengths[:, None])


def _by_columns(columns: FloatArray, y: FloatArray, lengths: FloatArray, ridge: float) -> Factor:
    scaled = np.vstack([(columns / lengths[:, None]).T, np.diag(np.sqrt(ridge) / lengths)])
    Q, R, order = qr(scaled, mode="economic", pivoting=True, check_finite=False)
    rank = int((np.diag(R) ** 2 > RANK_TOLERANCE).sum())
    basis = order[:rank].astype(np.intp)
    Q, R = Q[: len(y), :rank], R[:rank, :rank] * lengths[basis]
    inverse_R = solve_triangular(R, np.eye(rank), check_finite=False) if rank else R
    weights = inverse_R @ (Q.T @ y)
    residual = y - weights @ columns[basis]
    return Factor(
        basis,
        columns[basis],
        inverse_R @ inverse_R.T,
        weights,
        residual,
        np.ascontiguousarray(Q.T),
        inverse_R,
    )
