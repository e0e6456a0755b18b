"""Generalised linear models: a likelihood, the columns of a design, and elements made of columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_real, warn
from swapwise.clock import Clock
from swapwise.data.columns import Columns
from swapwise.data.design import Design
from swapwise.data.open import open_design, open_matrix
from swapwise.objectives.base import (
    Groups,
    SampleCurvature,
    Scoring,
    SparseObjective,
    read_groups,
    rows_of,
    single_groups,
)
from swapwise.objectives.coefficient_bounds import Bounds, CoefficientBounds, as_bounds
from swapwise.objectives.fit_bounds import fit_bound
from swapwise.objectives.glm.family import Family
from swapwise.objectives.glm.likelihood import Fit, Likelihood, read_weight
from swapwise.objectives.least_squares.active_set import rounding_of
from swapwise.objectives.suprema import Margins
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.objectives.glm.fitter import Fitter
    from swapwise.objectives.glm.state import GeneralizedLinearState

# Where a likelihood has no maximum, every step of Newton's method changes the linear predictor of some
# samples by about 1. Elsewhere the late ones are smaller by orders of magnitude.
DIVERGING_STEP = 0.1

# Eigenvalues of larger matrices than this are bounded by traces.
EIGENVALUES_UP_TO = 2000

# A fit on very many columns, of data that are read as a whole, would take hundreds of passes: its upper bound
# is then the value of a perfect fit.
MOST_FITTED_BY_PASSES = 500

# Intercepts of other fits are assumed to differ by no more than this, times one plus their size.
FARTHEST_INTERCEPT = 100.0


class _LastPoint(NamedTuple):
    """The last coefficients evaluated, the curvature of every sample there, and the error of the tangent."""

    coef: FloatArray
    curvature: FloatArray
    tangent_error: float


class GeneralizedLinear(SparseObjective):
    """A log-likelihood of ``y`` given ``Xw + intercept``, with whole columns or groups of them as elements.

    A subclass names its ``family``. Weights of samples are normalised to sum to one, so values are means;
    they are relative to the fit of the intercept alone. X is not copied: leave it as it is while the
    objective is in use. It may be a :class:`Design`, which has centred and scaled its columns; without one,
    columns are centred if there is an intercept: that changes nothing else, and is best for numerics. Bounds
    are those of the coefficients of the design's columns.
    """

    family: Family
    second_order = True

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float = 0.0,
        *,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        fit_intercept: bool = True,
        groups: Iterable[Hashable] | None = None,
        bounds: Bounds | CoefficientBounds | None = None,
        positive: bool = False,
    ) -> None:
        self.ridge = as_real(ridge, "ridge")
        if not isinstance(fit_intercept, (bool, np.bool_)):
            raise TypeError(f"fit_intercept must be True or False, got {fit_intercept!r}")
        self.design, self.likelihood = self._read(X, y, sample_weight, offset, bool(fit_intercept))
        self.n_samples, self.n_features = self.design.shape
        self.bounds = as_bounds(bounds, positive, self.n_features, X)
        rows, self.group_labels = read_groups(groups, self.n_features)
        self.n = len(rows.begin) - 1
        if self.n < self.n_features or self.likelihood.n_levels > 1:
            self.groups = rows
        self.scale = self.likelihood.scale
        self._last_point: _LastPoint | None = None
        self._warned = self._warned_of_convergence = False
        if self.likelihood.is_explained:
            self._warned = warn("y is explained without any feature: every set has the value 0")
        self._warn_of_null_model()
        self.fitter = self._fitter(rows)
        self.scoring: Scoring = self.fitter.scoring

    def _read(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, offset: Any, fit_intercept: bool
    ) -> tuple[Design, Likelihood]:
        data = X if isinstance(X, Design) else open_matrix(X)
        target = self.family.read_target(y, data.n_samples)
        weight = read_weight(sample_weight, data.n_samples)
        likelihood = Likelihood(self.family, target, weight, offset, fit_intercept)
        #: The shift of each column as it was given; a design holds that itself
        self._shift = np.zeros(data.n_features)
        if isinstance(data, Design):
            data.require_rows_as_they_are(weight, centred=fit_intercept)
            return data.aimed_at(target), likelihood
        design = open_design(data, target, weight, fit_intercept, scale_rows=False, by_rows=True)
        self._shift = design.origin + design.shift
        return design, likelihood

    def _fitter(self, rows: Groups) -> Fitter:
        from swapwise.objectives.glm.fitter import fitter_for

        return fitter_for(self.likelihood, self.design, rows, self.ridge, self.bounds)

    @property
    @override
    def n_passes(self) -> float | None:
        return self.fitter.n_passes

    @property
    def fit_intercept(self) -> bool:
        return self.likelihood.fit_intercept

    @property
    def n_levels(self) -> int:
        return self.likelihood.n_levels

    @property
    def columns(self) -> Columns:
        return self.fitter.columns

    @override
    def __repr__(self) -> str:
        columns = f"{self.n_features} features"
        if self.n != self.n_features:
            columns += f" in {self.n} groups"
        return f"{type(self).__name__}({self.n_samples} samples, {columns}, ridge={self.ridge:g})"

    # -- fits ---------------------------------------------------------------------------------------

    @override
    def start(self, support: Iterable[int] = ()) -> GeneralizedLinearState:
        from swapwise.objectives.glm.state import GeneralizedLinearState

        return GeneralizedLinearState(self, as_elements(support, self.n, "the start"))

    def no_coefficients(self, support: IndexArray) -> FloatArray:
        """Return parameters to begin a refit with: all coefficients zero."""
        return self.likelihood.nothing_on(len(rows_of(self, support)))

    def fit_from(self, support: IndexArray, theta: FloatArray) -> tuple[float, FloatArray]:
        """Refit from given parameters (columns first, then the intercept); return value and parameters."""
        if not len(support):
            return 0.0, self.no_coefficients(support)
        fit = self.fitter.refit(support, theta)
        self.warn_of_trouble(support, fit)
        return fit.value - self.likelihood.null, fit.theta

    def warn_of_trouble(self, support: IndexArray, fit: Fit) -> None:
        """Warn once of coefficients that diverge, and once of a refit that did not converge."""
        if not fit.converged and not self._warned_of_convergence:
            self._warned_of_convergence = warn(
                f"the fit on the set {support.tolist()} did not converge: its value may be too low, so a "
                "search may pass it over, and a local optimum may not be one; standardised columns or a "
                "larger ridge help"
            )
        if self._warned or self.ridge > 0 or not fit.late_step > DIVERGING_STEP:
            return
        self._warned = warn(
            f"{self.family.divergence_cause}: the best coefficients are not finite, and were stopped where "
            "nothing more is gained; a ridge (for instance ridge=0.001) makes them finite"
        )

    def _warn_of_null_model(self) -> None:
        alone = self.likelihood.of_intercept
        if alone.late_step <= DIVERGING_STEP:
            self.warn_of_trouble(np.empty(0, dtype=np.intp), alone)

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        value, theta = self.fit_from(support, self.no_coefficients(support))
        return value, self.scores_of(theta[: len(theta) - self.fit_intercept])

    def scores_of(self, theta: FloatArray) -> FloatArray:
        """Return coefficients in the shape of ``coef``: one per column, or one per column and class."""
        return theta[:, 0] if self.n_levels == 1 else theta @ self.likelihood.basis.T

    def _levels_of(self, coef: FloatArray) -> FloatArray:
        return coef[:, None] if self.n_levels == 1 else coef @ self.likelihood.basis

    def intercept(self, support: Iterable[int]) -> Any:
        """Return the intercept of the fit on ``support``, for X as it was given: a number, or one per class.

        If X is a design, that is for its columns; see ``Design.original``.
        """
        elements = as_elements(support, self.n, "the support")
        if not self.fit_intercept:
            return 0.0 if self.n_levels == 1 else np.zeros(len(self.likelihood.basis))
        _, theta = self.fit_from(elements, self.no_coefficients(elements))
        shift = self._shift[rows_of(self, elements)] @ theta[:-1]
        scores = self.scores_of(theta[-1:] - shift)[0]
        return float(scores) if self.n_levels == 1 else scores

    # -- u at any coefficients ----------------------------------------------------------------------

    def _without_intercept(self, coef: FloatArray) -> FloatArray:
        levels = self._levels_of(coef)
        if not levels.any():
            return self.likelihood.offset
        return self.likelihood.offset + np.array([self.columns.combine(level) for level in levels.T])

    @override
    def value_at(self, coef: FloatArray) -> float:
        fit = self.likelihood.with_intercept(self._without_intercept(coef))
        return fit.value - self._penalty_at(coef) - self.likelihood.null

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self.value_and_gradient_at(coef)[1]

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        eta, likelihood = self._without_intercept(coef), self.likelihood
        fit = likelihood.with_intercept(eta)
        eta = eta + fit.theta.sum(axis=0)[:, None]
        _, slope, curve = likelihood.derivatives(eta)
        error = 0.0
        if self.fit_intercept:
            if self.n_levels == 1 and curve.sum() > 0:
                # A last step of the intercept, so that the tangent is accurate.
                eta = eta + slope.sum() / curve.sum()
                _, slope, curve = likelihood.derivatives(eta)
            reach = FARTHEST_INTERCEPT * (1.0 + float(np.abs(fit.theta).max(initial=0.0)))
            error = reach * float(np.abs(slope.sum(axis=1)).sum()) if fit.converged else np.inf
        self._last_point = _LastPoint(coef.copy(), curve, error)  # proofs use these next
        return fit.value - self._penalty_at(coef) - likelihood.null, self._gradient(slope, coef)

    def _penalty_at(self, coef: FloatArray) -> float:
        penalties = self.fitter.penalties.by_column
        with np.errstate(over="ignore"):  # line searches may step far
            return float(penalties @ (coef**2).reshape(len(coef), -1).sum(axis=1)) / 2

    def _gradient(self, slope: FloatArray, coef: FloatArray) -> FloatArray:
        penalty = self.fitter.penalties.by_column.reshape(-1, *(1,) * (coef.ndim - 1))
        return self.scores_of(self.columns.dots(slope, exact=True).T) - penalty * coef

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        rows = rows_of(self, elements)
        hessian = self._hessian_by_level(coef, rows)
        if self.n_levels > 1:
            basis, size = self.likelihood.basis, len(rows) * len(self.likelihood.basis)
            blocks = basis @ hessian.reshape(len(rows), self.n_levels, len(hessian))
            hessian = (blocks.reshape(size, len(rows), self.n_levels) @ basis.T).reshape(size, size)
        hessian[np.diag_indices(len(hessian))] += self._penalties_of(rows, len(hessian))
        return hessian

    def _hessian_by_level(self, coef: FloatArray, rows: IndexArray) -> FloatArray:
        intercept = self.likelihood.intercept_on(self._without_intercept(coef))
        return self.fitter.hessian(self._levels_of(coef), intercept, rows)

    def _penalties_of(self, rows: IndexArray, size: int) -> FloatArray:
        return np.repeat(self.fitter.penalties.by_column[rows], size // max(1, len(rows)))

    @override
    def restricted(self, elements: IndexArray) -> SparseObjective:
        if not len(elements):
            return super().restricted(elements)
        rows, some = rows_of(self, elements), copy(self)
        for name in ("_squares", "_largest_eigenvalue"):
            some.__dict__.pop(name, None)
        some.design, some._shift = self.design.restricted(rows), self._shift[rows]
        some._last_point = None
        some.n, some.n_features = len(elements), len(rows)
        if self.bounds is not None:
            some.bounds = self.bounds.restricted(rows)
        if self.groups is not None:
            some.groups = self.groups.restricted(elements)
        if self.group_labels is not None:
            some.group_labels = [self.group_labels[e] for e in elements]
        some.fitter = some._fitter(single_groups(len(rows)) if some.groups is None else some.groups)
        return some

    @override
    def doubt_at(self, coef: FloatArray) -> float:
        return self._point_at(coef).tangent_error

    def _point_at(self, coef: FloatArray) -> _LastPoint:
        if self._last_point is None or not np.array_equal(self._last_point.coef, coef):
            self.value_and_gradient_at(coef)
        assert self._last_point is not None
        return self._last_point

    @override
    def sample_curvature(self, coef: FloatArray) -> SampleCurvature | None:
        if self.n_levels > 1:
            return None
        weight = self._point_at(coef).curvature[0, 0]
        penalty = self.fitter.penalties.by_column
        return SampleCurvature(self.columns.columns, weight, penalty, self.fit_intercept)

    # -- bounds -------------------------------------------------------------------------------------

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        if support is None:
            return max(0.0, self.likelihood.perfect - self.likelihood.null)
        if self.scoring == "pass" and len(support) > MOST_FITTED_BY_PASSES:
            return self.upper_bound()
        return fit_bound(
            self,
            support,
            clock,
            seconds=self.likelihood.newton_seconds(len(rows_of(self, support)) * self.n_levels),
            slope_and_curvature=None if self.groups is None else self._slope_and_curvature,
        )

    @override
    def margins(self, support: IndexArray) -> Margins | None:
        # Without the bounds on coefficients: its supremum is no lower.
        return self.fitter.margins(support) if self.ridge == 0 else None

    @override
    def dependencies(self, elements: IndexArray, least: float) -> int | None:
        if self.ridge > 0:
            return None
        rows = rows_of(self, elements)
        found = self.fitter.dependencies(rows, least, self._rounding_of(rows))
        return None if found is None else found * self.n_levels

    def _rounding_of(self, rows: IndexArray) -> float:
        return rounding_of(len(rows), float(self.columns.offsets[rows].max(initial=0.0)))

    def _slope_and_curvature(self, support: IndexArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        rows = rows_of(self, support)
        slope, hessian = self._levels_of(self.gradient_at(coef))[rows], self._hessian_by_level(coef, rows)
        hessian[np.diag_indices(len(hessian))] += self._penalties_of(rows, len(hessian))
        return slope.ravel(), hessian

    # -- constants ----------------------------------------------------------------------------------

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        # Σ_s v_s (x_s − x̄)(x_s − x̄)ᵀ + ridge, with v the largest curvature of a sample. With an intercept,
        # the mean x̄ is one choice of how it follows; the best one curves less.
        most = self.likelihood.most_curvature()
        if most is None or self.groups is not None:
            return None
        block = self.fitter.weighted_products(columns, most).T
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    @cached_property
    def _squares(self) -> FloatArray:
        """For every element, a bound on the curvature of the likelihood along its columns."""
        squares = self.columns.weighted_squares(self._most_curvature)
        return squares if self.groups is None else self.groups.sums(squares)

    @property
    def _most_curvature(self) -> FloatArray:
        most = self.likelihood.most_curvature()
        assert most is not None
        return most

    @cached_property
    def _largest_eigenvalue(self) -> float:
        if min(self.design.shape) > EIGENVALUES_UP_TO:
            return np.inf
        return self.fitter.largest_eigenvalue(self._most_curvature) * (1 + 1e-12)

    @override
    def smoothness(self, t: int) -> float:
        if self.family.most_curvature is None:
            return super().smoothness(t)
        longest = np.sort(self._squares)[::-1][: max(t, 1)]
        return min(float(longest.sum()), self._largest_eigenvalue) + self.ridge

    @override
    def strong_concavity(self, t: int) -> float:
        return self.ridge
