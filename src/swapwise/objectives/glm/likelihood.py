"""The log-likelihood of a sample as a function of its linear predictors, and its maximum over few columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_vector, require_scale
from swapwise.kernels import families, glm
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.glm.family import Family
from swapwise.objectives.suprema import MOST_NUMBERS, Margins
from swapwise.threads import few_threads

MAX_STEPS = 200

# The gap of a fit to its maximum, relative to the value of a perfect fit.
FIT_TOLERANCE = 1e-14

# Means of the curvature on the way to a fit are taken over this many places.
PLACES_OF_MEAN = 5

# The cost of a fit, as measured on one core of a common computer: steps; products of columns (by BLAS) and of
# entries of the matrix (in a compiled loop) per second.
GLM_NEWTON_STEPS, GLM_PRODUCTS_PER_SECOND, GLM_PIVOTS_PER_SECOND = 12, 1e10, 1e10

#: The scores of two classes, 1 and 0: the linear predictor, and zero
TWO_CLASSES = np.array([[1.0], [0.0]])

# A target is explained without any feature if a perfect fit has this much more value, relative to its terms.
EXPLAINED = 1e-12


class Fit(NamedTuple):
    """The end of a refit: value, parameters, whether it converged, and the longest of the late steps.

    Parameters have one row per column and, behind them, the intercept's; one number per level.
    """

    value: float
    theta: FloatArray
    converged: bool
    late_step: float


class Likelihood:
    """``ℓ(η) = Σ_s ω_s ℓ(y_s, η_s)`` with weights ω that sum to one, and a free intercept if there is one.

    Linear predictors are arrays of shape (levels, samples): one level, or one fewer than there are classes.
    """

    def __init__(
        self,
        family: Family,
        target: FloatArray,
        weight: FloatArray | None = None,
        offset: ArrayLike | None = None,
        fit_intercept: bool = True,
    ) -> None:
        # A copy, as of weights and offset: they are small, and quantities derived from them are kept.
        self.family, self.target, self.fit_intercept = family, target.copy(), fit_intercept
        self.n_samples = len(target)
        self.weight = np.full(self.n_samples, 1.0 / self.n_samples) if weight is None else weight
        #: Scores of classes, one row each, per level; with one level, that is the score
        self.basis = np.ones((1, 1)) if family.scores is None else family.scores(target)
        self.offset = np.zeros((self.n_levels, self.n_samples))
        if offset is not None:
            self.offset[:] = as_vector(offset, self.n_samples, "offset")
        require_scale(np.abs(target).max(keepdims=True), "y")
        #: The log-likelihood of a perfect fit
        self.perfect = float(self.weight @ family.perfect(target))
        self.scale = abs(self.perfect) + float(self.weight @ family.sizes(target)) or 1.0
        self.of_intercept = self.with_intercept(self.offset)
        #: The log-likelihood of the intercept alone, and the intercept
        self.null, self.intercept_alone = self.of_intercept.value, self._intercept_of(self.of_intercept)
        #: Whether features have nothing to explain
        self.is_explained = self.perfect - self.null <= EXPLAINED * self.scale
        if not self.is_explained:
            self.scale = self.perfect - self.null

    @property
    def n_levels(self) -> int:
        return self.basis.shape[1]

    @property
    def class_basis(self) -> FloatArray | None:
        """Scores of classes from levels; None where outcomes are not classes."""
        if self.family.scores is not None:
            return self.basis
        return TWO_CLASSES if self.family.outcome == "class" else None

    @property
    def tol(self) -> float:
        return FIT_TOLERANCE * self.scale

    def derivatives(self, eta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log-likelihood at η, its slope, and minus its curvature (upper half, by levels)."""
        slope, curve = np.empty_like(eta), np.zeros((self.n_levels, *eta.shape))
        kernel, target, weight = self.family.kernel, self.target, self.weight
        value = families.derivatives(kernel, eta, target, weight, self.basis, slope, curve)
        return value, slope, curve

    def mean_curvature(self, eta: FloatArray, share: float) -> FloatArray:
        """Return minus the curvature, averaged over the last ``share`` of the way from the intercept to η.

        >>> from swapwise.objectives.glm.logistic import LOGISTIC_FAMILY
        >>> likelihood = Likelihood(LOGISTIC_FAMILY, np.array([0.0, 1.0]))
        >>> likelihood.mean_curvature(np.array([[4.0, 0.0]]), 1.0).round(2)  # 0.01 at 4, 0.12 at 0
        array([[[0.06, 0.12]]])
        """
        alone = self.offset + self.intercept_alone[:, None]
        ways = share * (np.arange(PLACES_OF_MEAN) + 0.5) / PLACES_OF_MEAN
        curves = [self.derivatives(eta + way * (alone - eta))[2] for way in ways]
        mean: FloatArray = np.mean(curves, axis=0)
        return mean

    def margins(self, columns: FloatArray) -> Margins | None:
        """Return the likelihood as a function of the lead of the observed class over each of the others.

        ``columns`` has one row per column, and the intercept's ones last. None where outcomes are not
        classes, or there are too many numbers.
        """
        basis = self.class_basis
        if basis is None or columns.size * (len(basis) - 1) * self.n_levels > MOST_NUMBERS:
            return None
        every, observed = np.arange(len(basis)), self.target.astype(np.intp)
        if self.family.scores is None:  # of two classes, 1 comes first
            observed = 1 - observed
        others = np.array([np.delete(every, c) for c in every])[observed]
        lead = basis[observed][:, None] - basis[others]  # samples by other classes by levels
        rows = np.einsum("skl,js->skjl", lead, columns).reshape(others.size, -1)
        offset = np.einsum("skl,ls->sk", lead, self.offset).ravel() + 0.0
        term = np.repeat(np.arange(self.n_samples), len(basis) - 1)
        return Margins(rows, offset, term, self.weight, -self.null)

    def most_curvature(self) -> FloatArray | None:
        bound = self.family.most_curvature
        return None if bound is None else self.weight * bound(self.target)

    def nothing_on(self, n_columns: int) -> FloatArray:
        theta = np.zeros((n_columns + self.fit_intercept, self.n_levels))
        if self.fit_intercept:
            theta[-1] = self.intercept_alone
        return theta

    def with_intercept(self, eta: FloatArray) -> Fit:
        """The best intercept on top of ``eta``; no parameters if there is none."""
        rows = int(self.fit_intercept)
        first = [self.family.first_intercept(self.target, self.weight, level) for level in eta]
        theta = np.tile(np.array(first), (rows, 1))
        ones = np.ones((rows, self.n_samples))
        return self._refit(ones, np.zeros(rows), eta, theta, np.zeros(self.n_levels), -np.inf)

    def intercept_on(self, eta: FloatArray) -> FloatArray:
        return self._intercept_of(self.with_intercept(eta))

    def _intercept_of(self, fit: Fit) -> FloatArray:
        return fit.theta[0] if len(fit.theta) else np.zeros(self.n_levels)

    def refit(
        self,
        columns: FloatArray,
        penalty: FloatArray,
        theta: FloatArray,
        bounds: CoefficientBounds | None = None,
    ) -> Fit:
        """Maximise over the parameters of columns, one per row and the intercept's ones last, from θ on.

        ``bounds`` are those of all parameters, with one level.
        """
        if bounds is not None:
            return self._refit_within(columns, penalty, bounds.clip(theta[:, 0])[:, None], bounds)
        return self._refit(columns, penalty, self.offset, theta.copy(), self.intercept_alone, self.null)

    def refit_beside(
        self, columns: FloatArray, penalty: FloatArray, others: FloatArray, theta: FloatArray
    ) -> Fit:
        """Maximise over the parameters of columns, with ``others`` added to the linear predictor."""
        alone = np.zeros(self.n_levels)
        return self._refit(columns, penalty, self.offset + others, theta[:, None].copy(), alone, -np.inf)

    def _refit_within(
        self, columns: FloatArray, penalty: FloatArray, theta: FloatArray, bounds: CoefficientBounds
    ) -> Fit:
        target, weight, basis, tol = self.target, self.weight, self.basis, self.tol
        with few_threads(theta.size):
            value, converged, late_step = glm.refit_within(
                self.family.kernel, columns, self.offset, target, weight, basis, penalty, theta,
                self.intercept_alone, self.null, tol, MAX_STEPS, (bounds.lower, bounds.upper),
            )  # fmt: skip
            fit = Fit(value, theta, converged, late_step)
            return fit if converged else self.refit_carefully(columns, penalty, fit, bounds)

    def _refit(
        self,
        columns: FloatArray,
        penalty: FloatArray,
        offset: FloatArray,
        theta: FloatArray,
        alone: FloatArray,
        least: float,
    ) -> Fit:
        target, weight, basis, tol = self.target, self.weight, self.basis, self.tol
        with few_threads(theta.size):
            value, converged, late_step = glm.refit(
                self.family.kernel, columns, offset, target, weight, basis, penalty, theta, alone, least,
                tol, MAX_STEPS,
            )  # fmt: skip
            fit = Fit(value, theta, converged, late_step)
            return fit if converged else self._refit_carefully(columns, offset, penalty, fit, alone)

    def refit_carefully(
        self,
        columns: FloatArray,
        penalty: FloatArray,
        fit: Fit,
        bounds: CoefficientBounds | None = None,
    ) -> Fit:
        if bounds is not None:
            from swapwise.objectives.glm.bounded_refit import refit_within

            return refit_within(self, columns, penalty, bounds, fit)
        return self._refit_carefully(columns, self.offset, penalty, fit, self.intercept_alone)

    def _refit_carefully(
        self, columns: FloatArray, offset: FloatArray, penalty: FloatArray, fit: Fit, alone: FloatArray
    ) -> Fit:
        from swapwise.objectives.glm.careful_refit import RefitProblem, careful_refit

        if self.perfect - fit.value <= glm.UNCONVERGED * self.tol:
            return fit._replace(converged=True)
        problem = RefitProblem(self.derivatives, columns, offset, self.weight, penalty, self.tol)
        fits = [fit]
        nothing = np.zeros_like(fit.theta)
        nothing[len(nothing) - self.fit_intercept :] = alone
        for start in (fit.theta, nothing):
            with np.errstate(over="ignore", invalid="ignore"):  # line searches may step far
                careful = Fit(*careful_refit(problem, start), fit.late_step)
            if np.isnan(careful.value):  # rounding has cancelled all differences between samples
                continue
            fits.append(careful)
            if careful.converged:
                return careful
        return max(fits, key=lambda each: each.value)

    def newton_seconds(self, size: int) -> float:
        products = self.n_samples * size**2 / GLM_PRODUCTS_PER_SECOND
        return GLM_NEWTON_STEPS * (products + size**3 / GLM_PIVOTS_PER_SECOND)


def read_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return weights of the samples that sum to one."""
    if not n_samples:
        raise ValueError("y must have at least one entry, got none")
    if sample_weight is None:
        return np.full(n_samples, 1.0 / n_samples)
    weight = as_vector(sample_weight, n_samples, "sample_weight", non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry, got zeros only")
    weight = weight / weight.max()  # sums of very large weights are infinite
    return weight / weight.sum()
