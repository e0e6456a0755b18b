"""Refits of generalised linear models where plain Newton steps lose their digits.

Newton's method on the columns as they are solves with their inner products, which squares the condition
number: columns that differ in the seventh digit (a mean of 1e6 and no intercept is enough) leave it no digit.
Here the columns are replaced by an orthonormal basis of their span, and steps are damped (Levenberg, 1944):
neither nearly collinear columns nor a likelihood that is flat where the fit begins end it early. It takes
several times as long, and is used where the plain method reports that it did not converge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import SMALLEST, FloatArray
from swapwise.kernels import glm
from swapwise.numerics import SUM

# A basis is orthonormal with respect to weights; where the curvature has become very different from them, it
# is replaced by one for the curvature. Two or three are enough, except for likelihoods without a maximum.
MOST_BASES = 8

# Far out, where the likelihood is all but linear, steps keep their length until one leads too far, and are
# then shortened by the factor below: some ten steps for each power of ten in length.
STEPS_PER_BASIS = 200

# Eigenvalues are off by this share of the largest. Gains left along smaller ones are computed as if these
# were as small as that.
EIGENVALUE_ROUNDING, LEAST_EIGENVALUE = 1e-15, 1e-10

# Values are means of terms of about 1, and rounded like them.
VALUE_ROUNDING = 1e-15

# Samples count at least this much in a basis, relative to the largest curvature per weight: flatter ones add
# nothing to the value but rounding.
LEAST_CURVATURE = 1e-14

# Damping begins with this, in units of the largest eigenvalue (or 1), and changes by this factor.
FIRST_DAMPING, DAMPING_FACTOR = 1e-14, 10.0

# A step that is damped by 1e16 times the curvature leads up unless only rounding is left.
MOST_DAMPINGS = 31

LongArray = NDArray[np.longdouble]

#: Log-likelihood, its slope in η, and minus its curvature (upper half, by levels), at η
Derivatives = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]


@dataclass(frozen=True)
class RefitProblem:
    """Maximise ``u(θ) = ℓ(offset + θᵀ columns) − Σ_k ρ_k ‖θ_k‖²/2``, one column per row."""

    derivatives: Derivatives
    columns: FloatArray
    offset: FloatArray
    weight: FloatArray
    ridge: FloatArray
    #: The rise at which a refit ends
    tol: float


def careful_refit(problem: RefitProblem, theta: FloatArray) -> tuple[float, FloatArray, bool]:
    """Return the maximum of ``u``, its θ, and whether it was reached, starting from ``theta``.

    Columns that others span need a penalty ρ > 0, however small; see ``FLOAT64_PRECISION``.
    """
    weight, value, converged = problem.weight, -np.inf, False
    for number in range(MOST_BASES):
        ascent = _DampedNewton(problem, OrthonormalBasis(problem, weight), theta)
        converged = ascent.run(is_fresh=number > 0)
        value, theta = ascent.value, ascent.basis.parameters(ascent.point)
        steepness = np.divide(
            np.einsum("aas->s", ascent.curve),
            problem.weight,
            out=np.zeros_like(weight),
            where=problem.weight > 0,
        )
        if converged or not steepness.any():
            break
        weight = problem.weight * np.maximum(steepness, LEAST_CURVATURE * steepness.max())
    return value, theta, converged


class OrthonormalBasis:
    """Columns as combinations of vectors that are orthonormal with respect to weights and penalties.

    The rows ``√weight · columns`` and ``√ridge`` are factored as Q R. Rotated by the singular vectors of the
    part that belongs to the penalties, Q has a diagonal penalty again. Long double precision (where the
    machine has it) keeps the difference of columns that agree in ten digits.
    """

    def __init__(self, problem: RefitProblem, weight: FloatArray) -> None:
        columns, ridge = problem.columns, problem.ridge
        lengths = np.sqrt(np.einsum("ks,ks,s->k", columns, columns, problem.weight))
        self._lengths = np.where(lengths > 0, lengths, 1.0)
        root = np.sqrt(weight)
        scaled = columns.astype(np.longdouble) / self._lengths[:, None] * root
        rows = np.hstack([scaled, np.diag(np.sqrt(ridge) / self._lengths)])
        self._triangle = _orthonormalised(rows)
        samples = columns.shape[1]
        _, sizes, self._rotation = np.linalg.svd(rows[:, samples:].T.astype(np.float64))
        #: The penalty of each coordinate
        self.penalty = sizes**2
        rotated = self._rotation.astype(np.longdouble) @ rows[:, :samples]
        self.columns = np.divide(rotated, root, out=np.zeros_like(rotated), where=root > 0).astype(np.float64)

    def coordinates(self, theta: FloatArray) -> FloatArray:
        moved: FloatArray = self._rotation @ (self._triangle @ (theta * self._lengths[:, None]))
        return moved.astype(np.float64)

    def parameters(self, point: FloatArray) -> FloatArray:
        left = (self._rotation.T @ point).astype(np.longdouble)
        for i in range(len(left) - 1, -1, -1):
            left[i] = (left[i] - self._triangle[i, i + 1 :] @ left[i + 1 :]) / self._triangle[i, i]
        return (left / self._lengths[:, None]).astype(np.float64)


def _orthonormalised(rows: LongArray) -> LongArray:
    """Make the rows orthonormal in place; return the triangle R that maps them back.

    By Gram and Schmidt, each time twice, after which no more is lost (Giraud et al., 2005).
    """
    triangle = np.zeros((len(rows), len(rows)), dtype=np.longdouble)
    for j, row in enumerate(rows):
        for _ in range(2):
            part = rows[:j] @ row
            row -= part @ rows[:j]
            triangle[:j, j] += part
        triangle[j, j] = np.sqrt(row @ row)
        row /= triangle[j, j]
    return triangle


class _DampedNewton:
    def __init__(self, problem: RefitProblem, basis: OrthonormalBasis, theta: FloatArray) -> None:
        self.problem, self.basis = problem, basis
        self.point = basis.coordinates(theta)
        self.value, self.slope, self.curve = self._evaluate(self.point)
        self._damping = 0.0

    def run(self, is_fresh: bool) -> bool:
        """Take steps; return whether the maximum was certainly reached.

        ``is_fresh``: the basis was made at the start of this fit. With one level, the Hessian is then the
        identity except for samples too flat to matter, whatever its computed eigenvalues are.
        """
        enough = max(glm.UNCONVERGED * self.problem.tol, VALUE_ROUNDING)
        is_white = is_fresh and self.point.shape[1] == 1
        for number in range(STEPS_PER_BASIS):
            sizes, directions, slope = self._second_order()
            largest = max(float(sizes[-1]), SMALLEST)  # all is flat far out, where the slope leads back
            is_clear = sizes[0] >= LEAST_EIGENVALUE * largest or (is_white and not number)
            left = slope**2 @ (1.0 / np.maximum(sizes, LEAST_EIGENVALUE * largest))
            at_most = (
                left if is_clear else slope**2 @ (1.0 / np.maximum(sizes, EIGENVALUE_ROUNDING * largest))
            )
            if not self._ascend(sizes, directions, slope) or left <= self.problem.tol:
                return bool(at_most <= enough)
        return False

    def _second_order(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Eigenvalues and eigenvectors of minus the Hessian, and the slope along these."""
        columns, penalty, levels = self.basis.columns, self.basis.penalty, self.point.shape[1]
        m = len(columns)
        gradient = (columns @ self.slope.T - penalty[:, None] * self.point).T.ravel()
        hessian = np.zeros((m * levels, m * levels))
        for a in range(levels):
            for b in range(a, levels):
                block = (columns * self.curve[a, b]) @ columns.T
                hessian[a * m : (a + 1) * m, b * m : (b + 1) * m] = block
                hessian[b * m : (b + 1) * m, a * m : (a + 1) * m] = block
        hessian[np.diag_indices(len(hessian))] += np.tile(penalty, levels)
        sizes, directions = np.linalg.eigh(hessian)
        return sizes, directions, gradient @ directions

    def _ascend(self, sizes: FloatArray, directions: FloatArray, slope: FloatArray) -> bool:
        unit = max(1.0, float(sizes[-1]))
        least = LEAST_EIGENVALUE**2 * unit  # a divisor that is not zero
        for _ in range(MOST_DAMPINGS):
            along = slope / (np.maximum(sizes, least) + self._damping)
            ahead = self.point + (directions @ along).reshape(self.point.shape[::-1]).T
            value, *rest = self._evaluate(ahead)
            # The error of a value: a rise below it is judged by the slope alone.
            noise = SUM * abs(self.value) if slope @ along < SUM * abs(self.value) else 0.0
            if value >= self.value + glm.ARMIJO * float(slope @ along) - noise:
                self.point, self.value, (self.slope, self.curve) = ahead, value, rest
                self._damping /= DAMPING_FACTOR
                if self._damping < FIRST_DAMPING * unit:
                    self._damping = 0.0
                return True
            self._damping = max(DAMPING_FACTOR * self._damping, FIRST_DAMPING * unit)
        return False

    def _evaluate(self, point: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        with np.errstate(all="ignore"):  # a step that leads too far shows in its value
            value, slope, curve = self.problem.derivatives(self.problem.offset + point.T @ self.basis.columns)
            return value - float(self.basis.penalty @ (point**2).sum(axis=1)) / 2, slope, curve
