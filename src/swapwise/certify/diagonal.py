"""Diagonal shifts of a matrix: D ≥ 0 such that H − D is still positive semidefinite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from swapwise.checks import BoolArray, FloatArray
from swapwise.clock import Clock

# An eigenvalue of a matrix with unit diagonal is positive for certain above this, for every row. Its relative
# error is then below 1e-6.
SINGULAR = 1e-10

# This fraction of a diagonal is kept back, so that H − D is positive definite beyond all rounding.
KEPT_BACK = 1e-4

# No more Newton steps than this for one μ: the next one is as well begun a little off the path.
NEWTON_STEPS = 8


def proportional_diagonal(
    H: FloatArray,
    dependencies: Callable[[float], int | None] = lambda least: 0,
    clock: Clock | None = None,
) -> FloatArray:
    """Return a valid shift in proportion to the largest that each element could have alone.

    Alone, that of element i is ``1 / (H⁻¹)_ii``, the Schur complement of all others. It is 0 for elements
    that are linear combinations of others (duplicate columns, more features than samples); these are left
    free, and the rest is a shift of their Schur complement. ``dependencies(least)`` is None if eigenvalues
    below ``least``, at a unit diagonal, are not zero for certain; then the shift is 0. The clock is checked
    between factorisations.

    >>> proportional_diagonal(np.array([[2.0, 1.0], [1.0, 2.0]])).round(3)
    array([1., 1.])
    >>> proportional_diagonal(np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])).round(3)
    array([0., 0., 3.])
    """
    diagonal, clock = np.zeros(len(H)), clock or Clock()
    lengths = np.sqrt(np.diag(H))
    usable = lengths > 0
    if not usable.any():
        return diagonal
    scaled = H[np.ix_(usable, usable)] / np.outer(lengths[usable], lengths[usable])
    eigenvalues, vectors = np.linalg.eigh(scaled)
    singular = eigenvalues <= SINGULAR * len(scaled)
    tied = (np.abs(vectors[:, singular]) > 1e-7).any(axis=1)
    if tied.all() or (singular.any() and dependencies(SINGULAR * len(scaled)) is None):
        return diagonal
    clock.check()
    if tied.any():
        eigenvalues, vectors = np.linalg.eigh(schur_complement(scaled, tied))
        if eigenvalues[0] <= SINGULAR * len(scaled):
            return diagonal
    alone = 1.0 / ((vectors**2) / eigenvalues).sum(axis=1)
    # H − D ⪰ 0 exactly if no eigenvalue of √D H⁻¹ √D is above 1.
    together = np.sqrt(alone)[:, None] * vectors / np.sqrt(eigenvalues)
    clock.check()
    most = float(np.linalg.eigvalsh(together.T @ together)[-1])
    shift = np.zeros(len(scaled))
    shift[~tied] = (1.0 - KEPT_BACK) * alone / most
    diagonal[usable] = shift * lengths[usable] ** 2
    return diagonal if is_valid_shift(H, diagonal) else np.zeros(len(H))


def schur_complement(H: FloatArray, free: BoolArray) -> FloatArray:
    """Return the Schur complement of the ``free`` elements in H."""
    lengths = np.sqrt(np.diag(H)[free])
    lengths[lengths == 0] = 1.0
    across = H[np.ix_(free, ~free)] / lengths[:, None]
    inner = H[np.ix_(free, free)] / np.outer(lengths, lengths)
    rest = H[np.ix_(~free, ~free)] - across.T @ np.linalg.pinv(inner, rcond=SINGULAR, hermitian=True) @ across
    return (rest + rest.T) / 2


def best_diagonal(
    H: FloatArray,
    weights: FloatArray,
    start: FloatArray,
    precision: float = 0.1,
    clock: Clock | None = None,
) -> FloatArray:
    """Return a nearly best shift: the largest ``weights·D`` with H − D ⪰ 0 and D ≥ 0.

    A barrier method: Newton steps on ``weights·D + μ log det(H − D) + μ Σ log D``, with μ falling until the
    value is within ``precision`` of the best. ``start`` is a valid shift, and positive.

    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> best_diagonal(H, np.array([1.0, 0.0]), np.ones(2), precision=0.001).round(1)
    array([1.5, 0. ])
    """
    n = len(H)
    D = 0.5 * start
    weights = weights / float(weights @ D)
    mu = 1.0 / n
    while True:
        for _ in range(NEWTON_STEPS):
            if clock is not None:
                clock.check()
            ahead = _newton_step(H, weights, D, mu)
            if ahead is None:
                break
            D = ahead
        if 2 * n * mu <= precision * float(weights @ D):
            return (1.0 - KEPT_BACK) * D
        mu *= 0.1


def _newton_step(H: FloatArray, weights: FloatArray, D: FloatArray, mu: float) -> FloatArray | None:
    """Return a diagonal of larger ``weights·D + μ log det(H − D) + μ Σ log D``, or None at its maximum."""
    factor, barrier = _barrier(H, D)
    inverse = scipy.linalg.cho_solve(factor, np.eye(len(H)), check_finite=False)
    slope = weights - mu * np.diag(inverse) + mu / D
    curve = mu * inverse * inverse
    curve[np.diag_indices(len(H))] += mu / D**2
    try:
        step = scipy.linalg.cho_solve(
            scipy.linalg.cho_factor(curve, check_finite=False), slope, check_finite=False
        )
    except np.linalg.LinAlgError:  # at the limits of floating point
        return None
    rise = float(slope @ step)
    # A step of 1 / (1 + √(rise/μ)) is always inside; a longer one often is.
    length = min(1.0, 3.0 / (1.0 + np.sqrt(max(rise, 0.0) / mu)))
    while rise > 0.1 * mu and length > 1e-6:
        ahead = D + length * step
        gain = length * float(weights @ step) + mu * (_barrier(H, ahead)[1] - barrier)
        if gain >= 0.01 * length * rise:
            return ahead
        length /= 2
    return None


def _barrier(H: FloatArray, D: FloatArray) -> tuple[tuple[FloatArray, bool], float]:
    """Return a factor of H − D, and ``log det(H − D) + Σ log D``: minus infinity outside."""
    if (D > 0).all():
        try:
            factor = scipy.linalg.cho_factor(H - np.diag(D), check_finite=False)
        except np.linalg.LinAlgError:
            return (H, False), -np.inf
        return factor, 2 * float(np.log(np.diag(factor[0])).sum()) + float(np.log(D).sum())
    return (H, False), -np.inf


def is_valid_shift(H: FloatArray, D: FloatArray) -> bool:
    """Tell whether H − D is positive semidefinite, up to rounding of eigenvalues.

    >>> H = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> is_valid_shift(H, np.array([1.0, 1.0])), is_valid_shift(H, np.array([1.1, 1.0]))
    (True, False)
    """
    lengths = np.sqrt(np.diag(H))
    lengths[lengths == 0] = 1.0
    rest = (H - np.diag(D)) / np.outer(lengths, lengths)
    rest[np.diag_indices(len(H))] += 8 * np.finfo(float).eps * len(H)
    try:
        scipy.linalg.cholesky(rest, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True
