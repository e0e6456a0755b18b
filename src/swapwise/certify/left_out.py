"""Leaves where nearly all elements are chosen: the few left out are enumerated, in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray, IndexArray

# Rounding may take this share off what is computed from the inverse, no more; costs are off by a few times as
# much.
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
    T, so that no set is looked at of which a part costs too much. None if the columns are nearly collinear.

    >>> gram, slope = np.eye(4), np.array([0.8, 0.1, 0.5, 0.2])
    >>> found = sets_left_out(gram, slope, np.ones(4, dtype=bool), 2, 0.8, 0.0, lambda: None)
    >>> [left_out.tolist() for left_out in found]
    [[1, 3]]
    """
    try:
        factor = scipy.linalg.cho_factor(gram, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(gram)), check_finite=False)
    coef = inverse @ slope
    explained = float(slope @ coef)
    # What a set explains changes by vᵀ E v if all products change by E, where v is w, and 1 for the response.
    # Without columns that cost no more than the most, w changes in length by no more than the root of the
    # most times the norm of the inverse.
    length, spread = float(np.hypot(1.0, np.linalg.norm(coef))), float(np.linalg.norm(inverse))
    # What is left of the inverse without some columns is 1 or more on the diagonal, a difference of numbers
    # that may be as large as its norm.
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
    """Yield the sets of some columns that cost no more than the most; ``inverse`` and ``coef`` are of all."""
    check()
    # A number on the diagonal is one over what is left of a column of length 1: rounding makes none smaller.
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
    """Return the pairs of columns that cost no more than the most, one per row."""
    diagonal = np.maximum(np.diag(inverse), 1.0)
    ratio = inverse / diagonal[:, None]
    costs = (coef - ratio * coef[:, None]) ** 2 / np.maximum(diagonal - ratio * inverse, 1.0)
    costs += (coef**2 / diagonal)[:, None]
    return np.argwhere(np.triu(costs <= most, 1))
