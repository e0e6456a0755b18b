"""A chosen set of columns, factored from the data, and its best coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular, svdvals

from swapwise.checks import FloatArray
from swapwise.data.design import SAFE_SHARE
from swapwise.numerics import COLLINEAR, ROUNDING


class Frame(NamedTuple):
    """``[A; √penalty] = QR``: columns with a row below them for the penalty of each coefficient."""

    #: Q, one vector per row; the first numbers of each are those of the samples
    vectors: FloatArray
    #: The inverse of R
    to_coefficients: FloatArray

    def left_of(self, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the frame leaves of columns, one per row, and their coefficients on its columns."""
        rest = np.zeros((len(columns), self.vectors.shape[1]))
        rest[:, : columns.shape[1]] = columns
        along = np.zeros((len(columns), len(self.vectors)))
        for _ in range(2):  # once more for what rounding has left
            more = rest @ self.vectors.T
            rest -= more @ self.vectors
            along += more
        return rest, along @ self.to_coefficients.T


class Factor(NamedTuple):
    """The columns of a set, and the fit on them."""

    columns: FloatArray  # one per row
    inverse: FloatArray  # C, of their Gram matrix plus the penalty
    weights: FloatArray
    #: What is left of y, with a number for the penalty of each coefficient behind it
    rest: FloatArray
    #: None where inner products say all there is to know
    frame: Frame | None
    #: How many of the columns are linearly independent
    rank: int

    @property
    def residual(self) -> FloatArray:
        """What is left of y."""
        return self.rest[: self.columns.shape[1]]


def factor(
    columns: FloatArray, y: FloatArray, squares: FloatArray, penalty: FloatArray, precision: float
) -> Factor:
    """Factor columns, one per row, and fit ``y``.

    ``squares`` are their squared lengths plus the penalty, which is paid for the square of each coefficient;
    ``precision`` is how far columns are known, relative to their length.
    """
    lengths = np.where(squares == 0, 1.0, np.sqrt(squares))
    inverse = _inverse_of_products(columns, lengths, penalty)
    if inverse is None:
        return _by_frame(columns, y, lengths, penalty, precision)
    weights = inverse @ (columns @ y)
    residual = y - weights @ columns
    # One step of refinement makes up for the squared condition of the Gram matrix.
    weights += inverse @ (columns @ residual - penalty * weights)
    rest = np.append(y - weights @ columns, -np.sqrt(penalty) * weights)
    return Factor(columns, inverse, weights, rest, None, len(columns))


def _inverse_of_products(columns: FloatArray, lengths: FloatArray, penalty: FloatArray) -> FloatArray | None:
    """Return the inverse Gram matrix, or None if rounding would spoil it."""
    gram = columns @ columns.T
    gram[np.diag_indices_from(gram)] += penalty
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


def frame_of(columns: FloatArray, lengths: FloatArray, penalty: FloatArray) -> tuple[Frame, FloatArray]:
    """Return the frame of columns, one per row, and the R of it, of columns of unit length."""
    lengths = np.where(lengths == 0, 1.0, lengths)
    below = np.sqrt(penalty) / lengths
    below[(penalty == 0) & ~columns.any(axis=1)] = 1.0  # a column of zeros: its coefficient is zero
    scaled = np.vstack([(columns / lengths[:, None]).T, np.diag(below)])
    Q, R = qr(scaled, mode="economic", check_finite=False)
    inverse_R = solve_triangular(R, np.eye(len(R)), check_finite=False)
    return Frame(np.ascontiguousarray(Q.T), inverse_R / lengths[:, None]), R


def _by_frame(
    columns: FloatArray, y: FloatArray, lengths: FloatArray, penalty: FloatArray, precision: float
) -> Factor:
    frame, R = frame_of(columns, lengths, penalty)
    rank = int((svdvals(R, check_finite=False) > COLLINEAR * precision).sum())
    rank -= int((~columns.any(axis=1)).sum())  # columns of zeros have but a row for their penalty
    rest, weights = frame.left_of(y[None, :])
    inverse = frame.to_coefficients @ frame.to_coefficients.T
    return Factor(columns, inverse, weights[0], rest[0], frame, rank)


def explained_in_full(
    columns: FloatArray, y: FloatArray, ridge: float, precision: float, rounding: float
) -> float:
    """Return what columns, one per row, explain of the squared length of y at most: a bound, not a value.

    By singular values, each moved up by ``rounding``, which is relative to the largest. Without a ridge,
    directions that are more than rounding count in full, however short they are.
    """
    if ridge == 0:  # then lengths do not matter, and equal ones are best for the numerics
        columns = columns / np.maximum(np.linalg.norm(columns, axis=1), np.finfo(float).tiny)[:, None]
    directions, sizes, _ = np.linalg.svd(columns.T, full_matrices=False)
    moved = (sizes + rounding * sizes[0]) ** 2
    if ridge > 0:
        shares = moved / (moved + ridge)
    else:
        shares = np.where(sizes > rounding * sizes[0], 1.0, np.minimum(1.0, (sizes / precision) ** 2))
    return float(shares @ (directions.T @ y) ** 2) * (1.0 + ROUNDING)


def dependencies_among(columns: FloatArray, least: float, rounding: float) -> int | None:
    """Return how many linear dependencies there are among columns, one per row; None if that is not certain.

    It is if singular values at unit lengths, squared, are above ``least``, or no more than ``rounding``.
    """
    lengths = np.linalg.norm(columns, axis=1)
    units = columns[lengths > 0] / lengths[lengths > 0, None]
    if not len(units):
        return len(columns)
    sizes = np.linalg.svd(units, compute_uv=False)
    independent = int((sizes > rounding * sizes[0]).sum())
    return len(columns) - independent if (sizes[:independent] ** 2 > least).all() else None


def rounding_of(count: int, digits_lost: float = 0.0) -> float:
    """Return what singular values of ``count`` columns of length 1 may be off by, relative to the largest.

    ``digits_lost`` is how many deviations a mean was that was taken off.
    """
    return 4 * float(np.finfo(float).eps * (1.0 + digits_lost) * np.sqrt(count))
