"""Generalised linear models on data that are read block by block: sums over the samples are all they keep."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swapwise.checks import SMALLEST, FloatArray, IndexArray, as_elements
from swapwise.clock import Clock
from swapwise.data.columns import ColumnArray
from swapwise.data.design import Design
from swapwise.data.likelihood_works import NewtonSums, Sums, Surroundings, Trial
from swapwise.data.open import by_rows, open_design
from swapwise.data.reductions import Scaled
from swapwise.objectives.generalized_linear import (
    FIT_TOLERANCE,
    LEAST_MODEL_WEIGHT,
    MAX_STEPS,
    GeneralizedLinear,
)
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.objectives.newton import Ask, Climb, Fit, climb, climb_together
from swapwise.objectives.second_order import SecondOrderModel, WeightedCrossProducts

if TYPE_CHECKING:
    from swapwise.objectives.streamed_likelihood_state import StreamedLikelihoodState

# Eigenvalues of larger matrices than this are not asked for: they take the inner products of all columns.
EIGENVALUES_UP_TO = 500

# Proofs begin with a fit on all columns, and look at the data hundreds of times.
MOST_FITTED = 500

# No more numbers than these are read into memory for a refit that did not converge block by block: half a
# gigabyte, while it works with them.
MOST_GATHERED = 1 << 24


class Start(NamedTuple):
    """A set, and the parameters that a refit on it begins with."""

    support: IndexArray
    theta: FloatArray


class _Point(NamedTuple):
    """Where sums are asked for: a set, and what :class:`Trial` says of parameters."""

    support: IndexArray
    theta: FloatArray
    step: FloatArray
    floor: float = 0.0


class StreamedLikelihood(GeneralizedLinear):
    """A generalised linear model on data in chunks of rows; target, weights and offset are in memory.

    Newton's method asks for a value, a gradient and a Hessian of few numbers: sums over the samples, which
    are worked out block by block, wherever the blocks are. Refits of several sets look at the data together,
    and only at columns that are held apart from all others; see :class:`ColumnCache`. ``n_passes`` counts
    how often all of the data were read.

    What differs from data in memory is the last word of a search. In memory, bounds by duality say which
    moves cannot be the best, and the best is found for certain. Here the second-order model around the fit
    predicts what moves gain; the best are refitted, and more for as long as others are predicted to gain more
    than the best of them gains. So the last round of a search is a check and not a proof.

    >>> import dask.array as da
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = rng.random(200) < 1 / (1 + np.exp(2 * X[:, 1] - 3 * X[:, 4]))
    >>> f = sw.Logistic(da.from_array(X, chunks=(50, 6)), y)
    >>> isinstance(f, StreamedLikelihood), f([1, 4]) - sw.Logistic(X, y)([1, 4]) < 1e-12
    (True, True)
    """

    scoring = "pass"
    design: Design
    _last_fit: tuple[IndexArray, Fit] | None = None  # searches end where their result begins

    @staticmethod
    def _open(X: Any, groups: Iterable[Hashable] | None) -> tuple[Any, int]:
        if groups is not None:
            raise TypeError(
                "groups need data in memory, got data in chunks: leave groups out, or give X as an array"
            )
        opened = X if isinstance(X, Design) else by_rows(X)
        return opened, opened.n_samples

    def _read_columns(self, X: Any) -> None:
        is_design = isinstance(X, Design)
        self.design = (
            X if is_design else open_design(X, self.target, self.weight, self.fit_intercept, scale_rows=False)
        )
        self.precision = self.design.precision
        self.n_features = self.design.n_features
        design, nothing = self.design, np.zeros(self.n_features)
        # Whoever made the design knows what it takes off.
        self._means = nothing if is_design else design.origin + design.shift

    @property
    def n_passes(self) -> float:
        """How many times all of the data were read so far; a few columns count as their share."""
        return self.design.passes

    def start(self, support: Iterable[int] = ()) -> StreamedLikelihoodState:
        """Return a state at ``support``, whose refits begin where the last one ended."""
        from swapwise.objectives.streamed_likelihood_state import StreamedLikelihoodState

        return StreamedLikelihoodState(self, as_elements(support, self.n, "the start"))

    # -- fits ---------------------------------------------------------------------------------------

    def fit_from(self, support: IndexArray, theta: FloatArray) -> tuple[float, FloatArray]:
        """Refit from given parameters (columns first, then the intercept); return value and parameters."""
        if not len(support):
            return 0.0, self.no_coefficients(support)
        last = self._last_fit
        if last is None or not np.array_equal(last[0], support):
            (fit,) = self.fits([Start(support, theta[:, 0])])
            last = self._last_fit = support.copy(), fit
        fit = last[1]
        self._warn_of_trouble(support, fit.converged, fit.late_step)
        return fit.value - self._null, fit.theta[:, None].copy()

    def fits(self, starts: list[Start]) -> list[Fit]:
        """Refit on several sets, at least one element each: it takes as many looks as the slowest does."""
        needed = np.unique(np.concatenate([start.support for start in starts]))

        def look(asked: dict[int, Ask]) -> list[Sums]:
            return self._sums(needed, [_Point(starts[number].support, *ask) for number, ask in asked.items()])

        fits = climb_together([self._climb(start) for start in starts], look)
        return [
            fit if fit.converged else self._go_on_carefully(start.support, fit)
            for start, fit in zip(starts, fits, strict=True)
        ]

    def _go_on_carefully(self, support: IndexArray, fit: Fit) -> Fit:
        """Go on where plain Newton steps ended, on columns in memory: one pass over the data."""
        if (len(support) + 1) * self.n_samples > MOST_GATHERED:
            return fit
        columns = self.design.columns(support)
        if self.fit_intercept:
            columns = np.vstack([columns, np.ones(self.n_samples)])
        value, theta, converged = self._refit_carefully(
            columns,
            self.offset,
            self._penalties(support),
            fit.value,
            fit.theta[:, None],
            self._intercept_alone,
        )
        return Fit(value, theta[:, 0], converged, fit.late_step)

    def _climb(self, start: Start) -> Climb:
        fallback = self.no_coefficients(start.support)[:, 0]
        tol = FIT_TOLERANCE * self.scale
        return climb(start.theta, fallback, self._penalties(start.support), self._null, tol, MAX_STEPS)

    def _squared_lengths(self) -> FloatArray:
        return self.design.squared_norms

    def _sums(self, needed: IndexArray, points: list[_Point]) -> list[Sums]:
        """Return the sums for sets among the needed columns."""

        def work(held: IndexArray) -> NewtonSums:
            trials = [
                Trial(self._scaled(point.support, held), point.theta, point.step, point.floor)
                for point in points
            ]
            return NewtonSums(self.family, trials)

        found: list[Sums] = self.design.reduce_some(needed, work, self.target, self.weight, self.offset[0])
        return found

    def _sums_at(self, support: IndexArray, theta: FloatArray, floor: float = 0.0) -> Sums:
        return self._sums(support, [_Point(support, theta, np.zeros_like(theta), floor)])[0]

    def _scaled(self, elements: IndexArray, held: IndexArray) -> Scaled:
        """Return columns of the model, as they come from a matrix that holds these."""
        return self.design.scaled(elements, held)

    # -- u at any coefficients ----------------------------------------------------------------------

    def _without_intercept(self, coef: FloatArray) -> FloatArray:
        if not coef.any():
            return self.offset
        return self.offset + self.design.combine(coef)

    def gradient_at(self, coef: FloatArray) -> FloatArray:
        """Return the gradient at ``w``: two passes over the data."""
        _, slope, _ = self.derivatives(self.predictor(coef))
        return self.design.dots(slope)[0] - self._ridges * coef

    def _value_and_gradient(self, coef: FloatArray) -> tuple[float, FloatArray]:
        return self.value_at(coef), self.gradient_at(coef)

    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian at ``w`` for some elements; the intercept moves along."""
        eta = self._without_intercept(coef)
        used = np.union1d(np.flatnonzero(coef), elements)
        theta = np.append(coef[used], self._intercept_on(eta)[1][: int(self.fit_intercept)])
        sums = self._sums_at(used, theta)
        products = WeightedCrossProducts(sums.hessian, sums.gradient, 0.0)
        if self.fit_intercept:
            products = products.without_last()
        gram = products.of(np.searchsorted(used, elements), 1.0).gram
        return gram + np.diag(self._ridges[elements])

    def expansion(self, support: IndexArray, theta: FloatArray) -> SecondOrderModel:
        """Return slope and curvature at a fit along all columns: one pass over the data."""
        if not len(support) and self.fit_intercept and not np.ptp(self.offset):
            return self._first_expansion()
        every, size = np.arange(self.n), len(support)
        trial = Trial(self._scaled(support, every), theta, np.zeros_like(theta))
        products, squares, totals = self.design.reduce(
            Surroundings(self.family, trial), self.target, self.weight, self.offset[0]
        )
        shift = self.design.shift
        if self.fit_intercept:
            squares = squares - 2 * shift * products[size] + shift**2 * totals[size]
        products = (products - totals[:, None] * shift) * self.design.factor
        hessian = products[:-1, support]
        if self.fit_intercept:
            hessian = np.column_stack([hessian, totals[:-1]])
        hessian = hessian + np.diag(self._penalties(support))
        return SecondOrderModel(
            products[-1], squares * self.design.factor**2 + self.ridge, products[:-1], hessian
        )

    def _first_expansion(self) -> SecondOrderModel:
        """Return slope and curvature at the intercept alone, from the first look at the data.

        All samples are predicted alike there: what they curve by is one number for all, and what is left of
        the target is but for its mean the target itself, which says nothing of centred columns.
        """
        curve = float(self.derivatives(self.offset + self._intercept_alone[:, None])[2].sum())
        squares = curve * self.design.squared_norms + self.ridge
        return SecondOrderModel(
            self.design.with_target, squares, np.zeros((1, self.n)), np.full((1, 1), curve)
        )

    def model_at(self, support: IndexArray, fitted: FloatArray, elements: IndexArray) -> LeastSquares | None:
        """Return the second-order model around a fit as least squares on some columns.

        The weights are the curvature there, the response is the one that Newton's step would fit. Inner
        products are all that is known of them, so columns are shown in coordinates that have these.
        """
        used = np.union1d(elements, support)
        theta = np.zeros(len(used) + self.fit_intercept)
        theta[np.searchsorted(used, support)] = fitted[: len(support)]
        theta[len(used) :] = fitted[len(support) :]
        steepest = self._steepest(support, fitted)
        if steepest < SMALLEST:
            return None
        sums = self._sums_at(used, theta, LEAST_MODEL_WEIGHT * steepest)
        moved = sums.hessian @ theta
        square = float(theta @ (moved + 2 * sums.gradient)) + sums.misfit
        products = WeightedCrossProducts(sums.hessian, moved + sums.gradient, square)
        if self.fit_intercept:
            products = products.without_last()
        columns, response = products.of(np.searchsorted(used, elements), steepest).columns()
        return LeastSquares(ColumnArray(np.ascontiguousarray(columns.T)), response, self.ridge / steepest)

    def _steepest(self, support: IndexArray, theta: FloatArray) -> float:
        """Return the largest curvature of a sample at a fit."""
        if not len(support):
            return float(self.derivatives(self.offset + self._intercept_alone[:, None])[2].max())
        return self._sums_at(support, theta).steepest

    # -- constants ----------------------------------------------------------------------------------

    def curvature(self, columns: IndexArray) -> FloatArray | None:
        """Return columns of ``steepest · Σ_s ω_s (x_s − x̄)(x_s − x̄)ᵀ + ridge``: one pass over the data."""
        if self.steepest is None:
            return None
        block = self.steepest * self.design.cross(columns).T
        block[columns, np.arange(len(columns))] += self.ridge
        return block

    @property
    def _squares(self) -> FloatArray:
        return (self.steepest or 0.0) * self.design.squared_norms

    @cached_property
    def _largest_eigenvalue(self) -> float:
        if self.n > EIGENVALUES_UP_TO:
            return np.inf
        return (self.steepest or 0.0) * self.design.extreme_eigenvalues()[1]

    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        """Return what f(support) does not exceed, for certificates; refuse it for very many columns."""
        if support is not None and len(support) > MOST_FITTED:
            raise TypeError(
                f"proofs for more than {MOST_FITTED} features need data in memory, got data in chunks and "
                f"{len(support)} features: read the columns that matter, and give X as an array"
            )
        return super().upper_bound(support, clock)
