"""Diagonal shifts of a matrix: D ≥ 0 such that H − D is still positive semidefinite."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
import scipy.sparse.linalg

from swapwise.checks import BoolArray, FloatArray
from swapwise.clock import Clock

# Eigenvalues of a matrix with unit diagonal are certainly positive above this times the number of rows, and
# have relative errors below 1e-6 then.
SINGULAR = 1e-10

# Diagonals are reduced by this share, so that H − D is positive definite beyond all rounding.
KEPT_BACK = 1e-4

# Elements whose weight is above NEARLY_CHOSEN times their price count as fractional. The others get a
# diagonal that keeps their weight below the price by the margin, and at least LEAST_KEPT times the largest
# diagonal.
NEARLY_CHOSEN, MARGIN, LEAST_KEPT = 0.98, 2.0, 1e-4

# The worth that every element has in the choice of a diagonal, relative to the mean
SPREAD = 1e-2

# Matrices up to this size are decomposed into eigenvalues; larger ones only if they are singular.
EIGENVALUES_UP_TO = 200

# The seconds that an eigendecomposition takes, per size of the matrix to the third power
EIGENVALUES_SECONDS = 1e-9

# The limit on Newton steps for one μ: the next μ can be begun a little off the central path.
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
    """
    diagonal, clock = np.zeros(len(H)), clock or Clock()
    lengths = np.sqrt(np.diag(H))
    usable = lengths > 0
    if not usable.any():
        return diagonal
    scaled = H[np.ix_(usable, usable)] / np.outer(lengths[usable], lengths[usable])
    if len(scaled) > EIGENVALUES_UP_TO:
        shift = _shift_by_inverse(scaled, clock)
        if shift is not None:
            diagonal[usable] = shift * lengths[usable] ** 2
            return diagonal
        if EIGENVALUES_SECONDS * len(scaled) ** 3 > 0.3 * clock.left():
            return diagonal
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


def _shift_by_inverse(H: FloatArray, clock: Clock) -> FloatArray | None:
    try:
        scipy.linalg.cholesky(H - SINGULAR * len(H) * np.eye(len(H)), check_finite=False)
        factor = scipy.linalg.cholesky(H, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    clock.check()
    inverse = _inverse(factor)
    alone = 1.0 / np.diag(inverse)
    root = np.sqrt(alone)
    clock.check()
    together = scipy.sparse.linalg.LinearOperator(H.shape, lambda v: root * (inverse @ (root * v.ravel())))
    start = np.random.default_rng(0).standard_normal(len(H))
    most = scipy.sparse.linalg.eigsh(together, 1, which="LA", tol=1e-3, v0=start, return_eigenvectors=False)[
        0
    ]
    for slack in (1.002, 1.02, 1.2):
        clock.check()
        shift = (1.0 - KEPT_BACK) * alone / (slack * float(most))
        if is_valid_shift(H, shift):
            return shift
    return None


def raised_diagonal(
    H: FloatArray,
    D: FloatArray,
    slope: FloatArray,
    z: FloatArray,
    prices: FloatArray,
    share: float,
    clock: Clock,
) -> FloatArray | None:
    """Return a shift that is larger where that lowers the relaxation at a fractional set z; None if none is.

    φ falls with D_i by ``(g_i/D_i)² z_i (1 − z_i) / 2``, so only fractional elements profit from a larger
    one. The others need only so much that their weight ``g_i²/2D_i`` stays well below the price of their
    place, and elements that are chosen for certain need none. The Schur complement of these two is left for
    the fractional ones. As the fractional set changes in turn, the step goes only a ``share`` of the way.
    """
    shifted = D > 0
    weights = np.divide(slope**2, 2 * D, out=np.zeros(len(D)), where=shifted)
    worth = np.divide(slope, D, out=np.zeros(len(D)), where=shifted) ** 2 * z * (1 - z)
    active = shifted & (z < 1) & ((z > 0) | (weights > NEARLY_CHOSEN * prices))
    if not worth[active].sum() > 0:
        return None
    goal = D.copy()
    needed = np.divide(slope**2 * MARGIN, 2 * prices, out=np.zeros(len(D)), where=prices > 0)
    needed[z >= 1] = 0.0
    goal[~active] = np.clip(needed, np.minimum(LEAST_KEPT * D.max(), D), D)[~active]
    clock.check()
    left = schur_complement(H - np.diag(np.where(active, 0.0, goal)), ~active) if not active.all() else H
    clock.check()
    # Every element gets a little, which may be of use at other fractional sets.
    worth, mean = worth[active], float(worth[active] @ D[active]) / np.count_nonzero(active)
    goal[active] = best_diagonal(left, worth + SPREAD * mean / D[active], D[active], clock=clock)
    raised = D + share * (goal - D)
    return raised if is_valid_shift(H, raised) else None


def schur_complement(H: FloatArray, free: BoolArray) -> FloatArray:
    lengths = np.sqrt(np.diag(H)[free])
    lengths[lengths == 0] = 1.0
    across = H[np.ix_(free, ~free)] / lengths[:, None]
    inner = H[np.ix_(free, free)] / np.outer(lengths, lengths)
    try:
        factor = scipy.linalg.cholesky(inner - SINGULAR * np.eye(len(inner)), lower=True, check_finite=False)
        half = scipy.linalg.solve_triangular(factor, across, lower=True, check_finite=False)
        taken = half.T @ half
    except np.linalg.LinAlgError:
        taken = across.T @ np.linalg.pinv(inner, rcond=SINGULAR, hermitian=True) @ across
    rest = H[np.ix_(~free, ~free)] - taken
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


def _inverse(factor: FloatArray) -> FloatArray:
    inverse, info = scipy.linalg.lapack.dpotri(factor, lower=True)
    assert info == 0
    lower = np.tril(inverse, -1)
    return lower + lower.T + np.diag(np.diag(inverse))


def _newton_step(H: FloatArray, weights: FloatArray, D: FloatArray, mu: float) -> FloatArray | None:
    factor, barrier = _barrier(H, D)
    inverse = _inverse(factor)
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


def _barrier(H: FloatArray, D: FloatArray) -> tuple[FloatArray, float]:
    """Return the lower factor of H − D, and ``log det(H − D) + Σ log D``: minus infinity outside."""
    if (D > 0).all():
        try:
            factor = scipy.linalg.cholesky(H - np.diag(D), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return H, -np.inf
        return factor, 2 * float(np.log(np.diag(factor)).sum()) + float(np.log(D).sum())
    return H, -np.inf


def is_valid_shift(H: FloatArray, D: FloatArray) -> bool:
    """Return whether H − D is positive semidefinite, up to rounding of eigenvalues."""
    lengths = np.sqrt(np.diag(H))
    lengths[lengths == 0] = 1.0
    rest = (H - np.diag(D)) / np.outer(lengths, lengths)
    rest[np.diag_indices(len(H))] += 8 * np.finfo(float).eps * len(H)
    try:
        scipy.linalg.cholesky(rest, check_finite=False)
    except np.linalg.LinAlgError:
        return False
    return True
