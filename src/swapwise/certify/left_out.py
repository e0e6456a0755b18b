"""Leaves where nearly all elements are chosen: the few left out are enumerated, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray

# The largest relative rounding of numbers computed from the inverse, and the margin for costs, whose rounding
# is a few times as large
LOST, LEEWAY = 1e-3, 1.05


def sets_left_out(
    gram: FloatArray,
    slope: FloatArray,
    may_leave: BoolArray,
    size: int,
    floor: float,
    noise: float,
    check: Callable[[], None],
) -> Iterator[IndexArray] | None:
    """Return the sets of ``size`` columns without which the others may explain more than the floor.

    ``gram`` and ``slope`` are the products of columns with each other and with a response, all of length 1,
    and are known within ``noise``: a set S explains ``slope_Sᵀ gram_SS⁻¹ slope_S``. With A the inverse and w
    the coefficients of all columns, the others explain less by ``w_Tᵀ A_TT⁻¹ w_T`` without T. That grows with
    T, so sets with a part that costs too much are pruned. None if the columns are nearly collinear.
    """
    try:
        factor = scipy.linalg.cho_factor(gram, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(gram)), check_finite=False)
    coef = inverse @ slope
    explained = float(slope @ coef)
    # If all products change by E, what a set explains changes by vᵀ E v, where v is w, and 1 for the
    # response. Leaving out columns that cost at most ``most`` changes w by at most √(most · norm of the
    # inverse).
    length, spread = float(np.hypot(1.0, np.linalg.norm(coef))), float(np.linalg.norm(inverse))
    # Without some columns, the diagonal of the inverse is 1 or more, a difference of numbers that may be as
    # large as its norm.
    if np.finfo(float).eps * len(gram) * spread**2 > LOST:
        return None
    off = noise * (len(gram) + 1)
    most = LEEWAY * max(0.0, explained - floor) + off * length**2
    most += 2 * off * (length + float(np.sqrt(most * spread))) ** 2
    return _walk(inverse, coef, np.flatnonzero(may_leave), size, most, check)


def _walk(
    inverse: FloatArray,
    coef: FloatArray,
    columns: IndexArray,
    size: int,
    most: float,
    check: Callable[[], None],
) -> Iterator[IndexArray]:
    """Yield the sets of some columns that cost at most ``most``; ``inverse`` and ``coef`` are of all."""
    check()
    # A diagonal entry is 1 over the squared residual of a column of length 1, so at least 1 but for rounding.
    alone = coef**2 / np.maximum(np.diag(inverse), 1.0)
    columns = columns[alone[columns] <= most]
    if size <= 1:
        yield from columns[:, None] if size else [columns[:0]]
    elif size == 2:
        yield from columns[_pairs(inverse[np.ix_(columns, columns)], coef[columns], most)]
    else:
        for place, column in enumerate(columns):
            behind = columns[place + 1 :]
            ratio = inverse[behind, column] / max(inverse[column, column], 1.0)
            rest = inverse[np.ix_(behind, behind)] - np.outer(ratio, inverse[column, behind])
            left, every = coef[behind] - ratio * coef[column], np.arange(len(behind))
            for found in _walk(rest, left, every, size - 1, most - alone[column], check):
                yield np.append(column, behind[found])


def _pairs(inverse: FloatArray, coef: FloatArray, most: float) -> IndexArray:
    diagonal = np.maximum(np.diag(inverse), 1.0)
    ratio = inverse / diagonal[:, None]
    costs = (coef - ratio * coef[:, None]) ** 2 / np.maximum(diagonal - ratio * inverse, 1.0)
    costs += (coef**2 / diagonal)[:, None]
    return np.argwhere(np.triu(costs <= most, 1))
