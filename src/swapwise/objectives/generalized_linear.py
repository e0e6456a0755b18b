"""What the generalised linear models share: columns, weights, offsets, groups, a free intercept, refits."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import (
    FloatArray,
    IndexArray,
    as_elements,
    as_matrix,
    as_real,
    as_vector,
    require_scale,
    warn,
)
from swapwise.clock import Clock
from swapwise.data.matrix import Matrix
from swapwise.data.open import is_chunked
from swapwise.data.streamed import StreamedDesign
from swapwise.kernels import GAUSSIAN
from swapwise.numerics import FLOAT32_PRECISION, FLOAT64_PRECISION
from swapwise.objectives.active_set import dependencies_among, rounding_of
from swapwise.objectives.base import Groups, SparseObjective, rows_of
from swapwise.objectives.fit_bounds import QUICK_FIT, fit_bound
from swapwise.threads import few_threads

if TYPE_CHECKING:
    from swapwise.objectives.generalized_linear_state import GeneralizedLinearState
    from swapwise.objectives.grouped_likelihood import ElementColumns

MAX_STEPS = 200

# What a fit may miss of its maximum, relative to the value of a perfect one.
FIT_TOLERANCE = 1e-14

# Where a likelihood has no maximum, steps of Newton's method lead on by about 1 for ever, in the linear
# predictor of some samples. Elsewhere the late ones are smaller by orders of magnitude.
RUNAWAY_STEP = 0.1

# The least curvature of a sample, relative to the largest, in a second-order model: with
# less, the response that Newton's step would fit knows no bounds.
LEAST_MODEL_WEIGHT = 1e-8


# A column whose mean is this small, relative to its largest entry, is centred but for rounding.
CENTRED = 1e-12

# What a fit takes, as measured on one core of a common computer: steps; products of columns (by a library of
# linear algebra) and of entries of the matrix (in a loop of our own) per second.
GLM_NEWTON_STEPS, GLM_PRODUCTS_PER_SECOND, GLM_PIVOTS_PER_SECOND = 12, 1e10, 1e10


# Eigenvalues of larger matrices than this are bounded by traces.
EIGENVALUES_UP_TO = 2000


class GeneralizedLinear(SparseObjective):
    """A log-likelihood of ``y`` given ``Xw + intercept``, with whole columns or groups of them as elements.

    A subclass names its ``family`` and reads its target. Weights of samples are normalised to sum to one, so
    values are means; they are relative to the fit of the intercept alone.
    """

    #: Number of the family in ``swapwise.kernels.glm``
    family: int
    #: What the second derivative of the log-likelihood in η does not exceed; None if nothing
    steepest: float | None = None
    #: One per row, centred if there is an intercept
    columns: FloatArray
    #: How the warning about coefficients without a maximum begins
    runaway: str = "the likelihood has no maximum"
    #: Scores of classes from the numbers that are fitted; one number is its own score
    basis: FloatArray = np.ones((1, 1))
    second_order = True

    def __new__(cls, X: Any = None, *arguments: Any, **options: Any) -> Self:
        """Return an objective of the kind that reads X as it is stored; nothing is read yet."""
        kind: type[Self] = cls
        if is_chunked(X) or isinstance(X, (Matrix, StreamedDesign)):
            from swapwise.objectives.streamed_models import streamed_kind

            kind = streamed_kind(cls)
        return object.__new__(kind)

    def __init__(
        self,
        X: Any,
        target: FloatArray,
        ridge: float,
        weight: FloatArray,
        offset: ArrayLike | None,
        fit_intercept: bool,
        groups: Iterable[Hashable] | None,
    ) -> None:
        self.n_samples = len(target)
        self.target, self.weight, self.ridge = target, weight, as_real(ridge, "ridge")
        if not isinstance(fit_intercept, (bool, np.bool_)):
            raise TypeError(f"fit_intercept must be True or False, got {fit_intercept!r}")
        self.fit_intercept = bool(fit_intercept)
        self._read_columns(X)
        self._begin, self._members, self.group_labels = read_groups(groups, self.n_features)
        self.n = len(self._begin) - 1
        if self.n < self.n_features or self.n_levels > 1:
            self.groups = Groups(self._begin, self._members)
        self.offset = np.zeros((self.basis.shape[1], self.n_samples))
        if offset is not None:
            self.offset[:] = as_vector(offset, self.n_samples, "offset")
        self._warned = self._warned_of_doubt = False
        require_scale(np.abs(target).max(keepdims=True), "y")
        self._perfect = perfect = self._perfect_value()
        self.scale = abs(perfect) + float(weight @ np.abs(target)) or 1.0
        self._null, self._intercept_alone = self._intercept_on(self.offset)
        if perfect - self._null <= 1e-12 * self.scale:
            self._warned = warn("y is explained without any feature: every set has the value 0")
        else:
            self.scale = perfect - self._null
        self._ceiling = max(0.0, perfect - self._null)

    @staticmethod
    def _open(X: Any, groups: Iterable[Hashable] | None) -> tuple[Any, int]:
        """Return access to X, and the number of samples."""
        return X, len(as_matrix(X, "X", finite=False))

    def _read_columns(self, X: Any) -> None:
        """Set ``n_features``, the columns, and what is taken off them."""
        columns = read_columns(X)
        is_float32 = getattr(X, "dtype", None) == np.float32
        self.precision = FLOAT32_PRECISION if is_float32 else FLOAT64_PRECISION
        self.n_features = len(columns)
        # With an intercept, a shift of columns changes nothing else, and centred they are best for numerics.
        shifted = (
            centred(columns, self.weight) if self.fit_intercept else (columns, np.zeros(self.n_features))
        )
        self.columns, self._means = shifted

    def _perfect_value(self) -> float:
        """Return the log-likelihood of a perfect fit."""
        return 0.0

    def __repr__(self) -> str:
        """Return a short description."""
        columns = f"{self.n_features} features"
        if self.n != self.n_features:
            columns += f" in {self.n} groups"
        return f"{type(self).__name__}({self.n_samples} samples, {columns}, ridge={self.ridge:g})"

    @property
    def n_levels(self) -> int:
        """How many numbers are fitted per column."""
        return self.basis.shape[1]

    # -- fits ---------------------------------------------------------------------------------------

    @cached_property
    def problem(self) -> tuple[Any, ...]:
        """What the kernels need to know."""
        return (
            self.family,
            self.columns,
            self._begin,
            self._members,
            self.offset,
            self.target,
            self.weight,
            self.basis,
            self._ridges,
            self.fit_intercept,
        )

    @cached_property
    def _ridges(self) -> FloatArray:
        """The penalty of every column in a fit: the ridge, and one for the precision of its numbers."""
        squares = self._squared_lengths()
        return self.ridge + self.precision**2 * np.where(squares > 0, squares, 1.0)

    def _squared_lengths(self) -> FloatArray:
        """Return the weighted sum of squares of every column."""
        from swapwise.kernels import glm

        return glm.weighted_squares(self.columns, self.weight)

    def _penalties(self, support: IndexArray) -> FloatArray:
        """Return the penalties of a fit: of its columns, and none of the intercept."""
        return np.append(self._ridges[rows_of(self, support)], np.zeros(int(self.fit_intercept)))

    def start(self, support: Iterable[int] = ()) -> GeneralizedLinearState:
        """Return a state at ``support``, whose refits begin where the last one ended."""
        from swapwise.objectives.generalized_linear_state import GeneralizedLinearState

        return GeneralizedLinearState(self, as_elements(support, self.n, "the start"))

    def no_coefficients(self, support: IndexArray) -> FloatArray:
        """Return parameters to begin a refit with: all coefficients zero."""
        rows = len(rows_of(self, support))
        theta = np.zeros((rows + self.fit_intercept, self.n_levels))
        if self.fit_intercept:
            theta[-1] = self._intercept_alone
        return theta

    def fit_from(self, support: IndexArray, theta: FloatArray) -> tuple[float, FloatArray]:
        """Refit from given parameters (columns first, then the intercept); return value and parameters."""
        from swapwise.kernels import glm

        if not len(support):
            return 0.0, self.no_coefficients(support)
        chosen = glm.gather(self.columns, self._begin, self._members, support, self.fit_intercept)
        fitted = theta.copy()
        value, converged, late_step = self._refit(
            chosen, self._penalties(support), self.offset, fitted, self._intercept_alone, self._null
        )
        self._warn_of_trouble(support, converged, late_step)
        return value - self._null, fitted

    def _refit(
        self,
        chosen: FloatArray,
        ridge: FloatArray,
        offset: FloatArray,
        theta: FloatArray,
        alone: FloatArray,
        least: float,
    ) -> tuple[float, bool, float]:
        """Refit in place; return the value, whether it is the maximum, and the longest of the late steps."""
        from swapwise.kernels import glm

        tol = FIT_TOLERANCE * self.scale
        target, weight, basis = self.target, self.weight, self.basis
        # A large fit is made step by step: signals are heard in between.
        steps = MAX_STEPS if self._newton_seconds(theta.size) <= QUICK_FIT else 1
        before, longest = -np.inf, 0.0
        with few_threads(theta.size):
            for _ in range(MAX_STEPS // steps):
                value, converged, late_step = glm.refit(
                    self.family, chosen, offset, target, weight, basis, ridge, theta, alone, least, tol, steps
                )
                longest = max(longest, late_step)
                if converged or not value > before:
                    break
                before = value
            if not converged:
                value, theta[:], converged = self._refit_carefully(chosen, offset, ridge, value, theta, alone)
        return value, converged, longest

    def _refit_carefully(
        self,
        chosen: FloatArray,
        offset: FloatArray,
        ridge: FloatArray,
        value: float,
        theta: FloatArray,
        alone: FloatArray,
    ) -> tuple[float, FloatArray, bool]:
        """Go on where plain Newton steps ended; return value, parameters, and whether they are the best."""
        from swapwise.objectives.careful_refit import UNCONVERGED, RefitProblem, careful_refit

        tol = FIT_TOLERANCE * self.scale
        if self._perfect - value <= UNCONVERGED * tol:
            return value, theta, True
        problem = RefitProblem(self.derivatives, chosen, offset, self.weight, ridge, tol)
        fits = [(value, theta, False)]
        nothing = np.zeros_like(theta)
        nothing[len(theta) - self.fit_intercept :] = alone
        for start in (theta, nothing):
            fits.append(careful_refit(problem, start))
            if fits[-1][-1]:
                return fits[-1]
        return max(fits, key=lambda fit: fit[0])

    def _warn_of_trouble(self, support: IndexArray, converged: bool, late_step: float) -> None:
        """Say once that coefficients run away, and once that a refit did not come to its end."""
        if not converged and not self._warned_of_doubt:
            self._warned_of_doubt = warn(
                f"the fit on the set {support.tolist()} did not converge: its value may be too low, so a "
                "search may pass it over, and a local optimum may not be one; standardised columns or a "
                "larger ridge help"
            )
        if self._warned or not (self.ridge == 0 and late_step > RUNAWAY_STEP and self.family != GAUSSIAN):
            return
        self._warned = warn(
            f"{self.runaway}: the best coefficients are not finite, and were stopped where nothing more "
            "is gained; a ridge (for instance ridge=0.001) makes them finite"
        )

    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        value, theta = self.fit_from(support, self.no_coefficients(support))
        return value, self.scores_of(theta[: len(theta) - self.fit_intercept])

    def scores_of(self, theta: FloatArray) -> FloatArray:
        """Return coefficients as users know them: one a column, or one a column and class."""
        return theta[:, 0] if self.n_levels == 1 else theta @ self.basis.T

    def _levels_of(self, coef: FloatArray) -> FloatArray:
        """Return the coefficients as they are fitted, one row a column."""
        return coef[:, None] if self.n_levels == 1 else coef @ self.basis

    def intercept(self, support: Iterable[int]) -> Any:
        """Return the intercept of the fit on ``support``: a number, or one a class."""
        elements = as_elements(support, self.n, "the support")
        if not self.fit_intercept:
            return 0.0 if self.n_levels == 1 else np.zeros(len(self.basis))
        _, theta = self.fit_from(elements, self.no_coefficients(elements))
        shift = self._means[rows_of(self, elements)] @ theta[:-1]
        scores = self.scores_of(theta[-1:] - shift)[0]
        return float(scores) if self.n_levels == 1 else scores

    # -- u at any coefficients ----------------------------------------------------------------------

    def _intercept_on(self, eta: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood with the best intercept on top of ``eta``, and that intercept."""
        rows = int(self.fit_intercept)
        theta = np.tile(self._first_intercept(eta), (rows, 1))
        ones = np.ones((rows, self.n_samples))
        value, converged, late_step = self._refit(
            ones, np.zeros(rows), eta, theta, np.zeros(self.n_levels), -np.inf
        )
        if late_step <= RUNAWAY_STEP:
            self._warn_of_trouble(np.empty(0, dtype=np.intp), converged, late_step)
        return float(value), theta[0] if rows else np.zeros(self.n_levels)

    def _first_intercept(self, eta: FloatArray) -> FloatArray:
        """Return an intercept to begin with: the linear predictor is to be about zero."""
        return -(eta @ self.weight) / self.weight.sum()

    def predictor(self, coef: FloatArray) -> FloatArray:
        """Return η at coefficients, with the best intercept for them; one row a level."""
        eta = self._without_intercept(coef)
        return eta + self._intercept_on(eta)[1][:, None]

    def _without_intercept(self, coef: FloatArray) -> FloatArray:
        levels = self._levels_of(coef)
        used = np.flatnonzero(levels.any(axis=1))  # few, mostly: no need to read the other columns
        if len(used) == len(levels):  # nor to copy all of them
            return self.offset + levels.T @ self.columns
        return self.offset + levels[used].T @ self.columns[used]

    def derivatives(self, eta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the log-likelihood at η, its slope, and minus its curvature (upper half, by levels)."""
        from swapwise.kernels import glm

        slope, curve = np.empty_like(eta), np.zeros((self.n_levels, *eta.shape))
        value = glm.derivatives(self.family, eta, self.target, self.weight, self.basis, slope, curve)
        return value, slope, curve

    def value_at(self, coef: FloatArray) -> float:
        """Return the mean log-likelihood at ``w`` with the best intercept, less the penalty."""
        return self._intercept_on(self._without_intercept(coef))[0] - self._penalty_at(coef) - self._null

    def _penalty_at(self, coef: FloatArray) -> float:
        return float(self._ridges @ (coef**2).reshape(len(coef), -1).sum(axis=1)) / 2

    def gradient_at(self, coef: FloatArray) -> FloatArray:
        """Return the gradient at ``w``, in the shape of ``w``."""
        _, slope, _ = self.derivatives(self.predictor(coef))
        return self._gradient(slope, coef)

    def _gradient(self, slope: FloatArray, coef: FloatArray) -> FloatArray:
        penalty = self._ridges if coef.ndim == 1 else self._ridges[:, None]
        return self.scores_of(self.columns @ slope.T) - penalty * coef

    def _value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient at ``w``, with one fit of the intercept."""
        eta = self._without_intercept(coef)
        likelihood, intercept = self._intercept_on(eta)
        _, slope, _ = self.derivatives(eta + intercept[:, None])
        return likelihood - self._penalty_at(coef) - self._null, self._gradient(slope, coef)

    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        """Return what f(support) does not exceed; without a set, the value of a perfect fit."""
        if support is None:
            return self._ceiling
        return fit_bound(
            self,
            support,
            clock,
            seconds=self._fit_seconds(support),
            value_and_gradient=self._value_and_gradient,
            slope_and_curvature=None if self.groups is None else self._slope_and_curvature,
            dependencies=self.dependencies,
        )

    def _fit_seconds(self, support: IndexArray) -> float:
        """Return about how many seconds a fit takes: Newton steps that factor a matrix each."""
        return self._newton_seconds(len(rows_of(self, support)) * self.n_levels)

    def _newton_seconds(self, size: int) -> float:
        products = self.n_samples * size**2 / GLM_PRODUCTS_PER_SECOND
        return GLM_NEWTON_STEPS * (products + size**3 / GLM_PIVOTS_PER_SECOND)

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian at ``w`` for some elements; the intercept moves along."""
        if self.groups is not None:
            raise NotImplementedError("the Hessian is for elements that are single columns")
        curve = self.derivatives(self.predictor(coef))[2][0, 0]
        chosen = self.columns[elements]
        if self.fit_intercept:
            chosen = chosen - (chosen @ curve / max(curve.sum(), np.finfo(float).tiny))[:, None]
        return (chosen * curve) @ chosen.T + np.diag(self._ridges[elements])

    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        """Return how many linear dependencies there are among columns, by level; None if not certain."""
        if self.ridge > 0 or self.scoring == "pass":
            return None
        rows = rows_of(self, elements)
        found = dependencies_among(self.columns[rows] * np.sqrt(self.weight), least, self._rounding_of(rows))
        return None if found is None else found * self.n_levels

    def _rounding_of(self, rows: IndexArray) -> float:
        lengths = np.sqrt(np.maximum(self._squared_lengths()[rows], np.finfo(float).tiny))
        return rounding_of(len(rows), float((np.abs(self._means[rows]) / lengths).max(initial=0.0)))

    def _slope_and_curvature(self, support: IndexArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient in the coefficients of grouped elements, and minus the Hessian, by level."""
        rows, levels = rows_of(self, support), self.n_levels
        _, slopes, curve = self.derivatives(self.predictor(coef))
        curve = curve + curve.swapaxes(0, 1)  # which has its upper half only
        curve[np.diag_indices(levels)] /= 2
        slope = self._levels_of(self._gradient(slopes, coef))[rows]
        chosen = self.columns[rows]
        if self.fit_intercept:
            chosen = np.vstack([chosen, np.ones(self.n_samples)])
        blocks = np.einsum("is,kls,js->ikjl", chosen, curve, chosen, optimize=True)
        whole = blocks.reshape(len(chosen) * levels, len(chosen) * levels)
        whole[np.diag_indices(len(whole))] += np.repeat(self._penalties(support), levels)
        if self.fit_intercept:  # which moves along
            across, own = whole[:-levels, -levels:], whole[-levels:, -levels:]
            whole = whole[:-levels, :-levels] - across @ np.linalg.pinv(own, hermitian=True) @ across.T
        return slope.ravel(), whole

    @cached_property
    def element_columns(self) -> ElementColumns:
        """The columns of elements that have several coefficients."""
        from swapwise.objectives.grouped_likelihood import ElementColumns

        return ElementColumns(self)

    @cached_property
    def largest_entries(self) -> FloatArray:
        """The largest absolute value in every column."""
        return largest_entries(self.columns)

    # -- constants ---------------------------------------------------------------------------------

    def curvature(self, columns: IndexArray) -> FloatArray | None:
        """Return columns of ``steepest · Σ_s ω_s (x_s − x̄)(x_s − x̄)ᵀ + ridge``, where that is known.

        The mean x̄ is zero without an intercept, which only takes curvature away: the more, the better it
        follows; the mean is one choice of it.
        """
        if self.steepest is None or self.groups is not None:
            return None
        block = self.steepest * self.columns @ (self.columns[columns] * self.weight).T
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    @cached_property
    def _squares(self) -> FloatArray:
        """For every element, a bound of what its columns curve the likelihood by."""
        squares = np.einsum("js,js,s->j", self.columns, self.columns, self.weight)
        by_element = squares if self.groups is None else self.groups.sums(squares)
        return (self.steepest or 0.0) * by_element

    @cached_property
    def _largest_eigenvalue(self) -> float:
        if min(self.columns.shape) > EIGENVALUES_UP_TO:
            return np.inf
        rows = self.columns * np.sqrt(self.weight)
        small = rows @ rows.T if len(rows) <= rows.shape[1] else rows.T @ rows
        return (self.steepest or 0.0) * float(np.linalg.eigvalsh(small)[-1]) * (1 + 1e-12)

    def smoothness(self, t: int) -> float:
        """Return a valid M_{s,t}, where the likelihood has one: from the t longest columns."""
        if self.steepest is None:
            return super().smoothness(t)
        longest = np.sort(self._squares)[::-1][: max(t, 1)]
        return min(float(longest.sum()), self._largest_eigenvalue) + self.ridge

    def strong_concavity(self, t: int) -> float:
        """Return the ridge: the likelihood itself may be flat far out."""
        return self.ridge


def read_columns(X: ArrayLike) -> FloatArray:
    """Return the columns of a matrix, one per row."""
    matrix = as_matrix(X, "X")
    if 0 in matrix.shape:
        raise ValueError(f"X must have at least one sample and one feature, got shape {matrix.shape}")
    columns = np.ascontiguousarray(matrix.T)
    require_scale(largest_entries(columns), "column {} of X")
    return columns


def largest_entries(columns: FloatArray) -> FloatArray:
    """Return the largest absolute value in every column, given one per row."""
    return np.maximum(columns.max(axis=1), -columns.min(axis=1))


def centred(columns: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the columns less their weighted means, and these; what is centred already stays as it is."""
    means = columns @ (weight / weight.sum())
    if (np.abs(means) <= CENTRED * largest_entries(columns)).all():
        return columns, np.zeros_like(means)
    return columns - means[:, None], means


def read_weight(sample_weight: ArrayLike | None, n_samples: int) -> FloatArray:
    """Return weights of the samples that sum to one."""
    if sample_weight is None:
        return np.full(n_samples, 1.0 / n_samples)
    weight = as_vector(sample_weight, n_samples, "sample_weight", non_negative=True)
    if not weight.any():
        raise ValueError("sample_weight must have a positive entry, got zeros only")
    return weight / weight.sum()


def read_groups(
    groups: Iterable[Hashable] | None, n_features: int
) -> tuple[IndexArray, IndexArray, list[Hashable] | None]:
    """Return where each group begins, the columns group by group, and the labels in order of appearance."""
    if groups is None:
        return np.arange(n_features + 1), np.arange(n_features), None
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(f"groups must hold one label for each column, got {groups!r}")
    number: dict[Hashable, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in groups], dtype=np.intp)
    if len(codes) != n_features:
        raise ValueError(f"groups must hold one label for each of the {n_features} columns, got {len(codes)}")
    sizes = np.bincount(codes, minlength=len(number))
    return np.append(0, np.cumsum(sizes)).astype(np.intp), np.argsort(codes, kind="stable"), list(number)
