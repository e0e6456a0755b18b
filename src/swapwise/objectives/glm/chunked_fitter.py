"""Fits of likelihoods on data that are read chunk by chunk, of which only sums over the samples are kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import SMALLEST, BoolArray, FloatArray, IndexArray
from swapwise.data.columns import ColumnArray
from swapwise.data.design import Design
from swapwise.data.reductions import Reduction, Scaled
from swapwise.kernels import families
from swapwise.moves import MoveList
from swapwise.objectives.base import Groups
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.glm.block_model import LEAST_MODEL_WEIGHT
from swapwise.objectives.glm.fitter import Fitter, Penalties, gains_of_steps
from swapwise.objectives.glm.likelihood import MAX_STEPS, Fit, Likelihood
from swapwise.objectives.glm.newton import EvaluationPoint, NewtonSteps, Sums, newton_steps, newton_together
from swapwise.objectives.glm.second_order import SecondOrderModel, WeightedCrossProducts, projected_slopes
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override

# No more numbers than these are read into memory for a refit that did not converge chunk by chunk: half a
# gigabyte, with the temporary arrays.
MOST_GATHERED = 1 << 24

# Eigenvalues of larger matrices than this are not computed: they take the inner products of all columns.
EIGENVALUES_UP_TO = 500

# At most this many refits share a pass over the data.
REFITS_PER_PASS = 256

# Columns are copied this many entries at a time.
ENTRIES_AT_ONCE = 1 << 20

# Curvatures and slopes of samples are alike if they differ by no more than rounding, of the intercept too.
ALIKE = 1e-10

_ONE = np.ones(1)


class _Point(NamedTuple):
    support: IndexArray
    theta: FloatArray
    step: FloatArray
    floor: float = 0.0


class ChunkedFitter(Fitter):
    """Fits on a design whose data come in chunks of rows; target, weights and offset are in memory.

    Newton's method needs a value, a gradient and a Hessian of few numbers: sums over the samples, computed
    chunk by chunk, wherever the chunks are. Refits of several sets share passes over the data, and read only
    columns that are kept apart from all others.

    The last round of a search differs from data in memory. In memory, bounds by duality rule out moves that
    cannot be the best, and the best is found for certain. Here the second-order model around the fit predicts
    the gains of moves; the best are refitted, and more as long as others are predicted to gain more than the
    best of them gains. So the last round of a search is a check and not a proof.
    """

    scoring = "pass"
    #: Refits of several moves cost little more than one
    first_refits = 16
    columns: Design

    def __init__(
        self,
        likelihood: Likelihood,
        columns: Design,
        groups: Groups,
        penalties: Penalties,
        bounds: CoefficientBounds | None = None,
    ) -> None:
        super().__init__(likelihood, columns, groups, penalties, bounds)
        self._rows = likelihood.target, likelihood.weight, likelihood.offset[0]
        self._last: tuple[IndexArray, Fit] | None = None  # searches end where their result begins
        self._last_expansion: tuple[IndexArray, FloatArray, SecondOrderModel] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_last_expansion": None}

    @property
    @override
    def n_passes(self) -> float:
        return self.columns.passes

    # -- fits ---------------------------------------------------------------------------------------

    @override
    def refit(self, support: IndexArray, theta: FloatArray) -> Fit:
        last = self._last
        if last is None or not np.array_equal(last[0], support):
            (fit,) = self.refit_together([(support, theta)])
            last = self._last = support.copy(), fit
        return last[1]._replace(theta=last[1].theta.copy())

    def refit_together(self, starts: list[tuple[IndexArray, FloatArray]]) -> list[Fit]:
        """Refit on several sets of at least one element, in as many passes as the slowest refit takes."""
        needed = np.unique(np.concatenate([support for support, _ in starts]))

        def evaluate(points: dict[int, EvaluationPoint]) -> list[Sums]:
            return self._sums(needed, [_Point(starts[number][0], *at) for number, at in points.items()])

        fits = newton_together([self._steps(*start) for start in starts], evaluate)
        return [
            fit if fit.converged else self._refit_carefully(support, fit)
            for (support, _), fit in zip(starts, fits, strict=True)
        ]

    def _steps(self, support: IndexArray, theta: FloatArray) -> NewtonSteps:
        likelihood = self.likelihood
        fallback = likelihood.nothing_on(len(support))[:, 0]
        penalty, bounds, begin = self.penalties_on(support), self.bounds_on(support), theta[:, 0]
        if bounds is not None:
            begin = bounds.clip(begin)
        return newton_steps(begin, fallback, penalty, likelihood.null, likelihood.tol, MAX_STEPS, bounds)

    def _refit_carefully(self, support: IndexArray, fit: Fit) -> Fit:
        likelihood = self.likelihood
        if (len(support) + 1) * likelihood.n_samples > MOST_GATHERED:
            return fit
        columns = self.columns.columns(support)
        if likelihood.fit_intercept:
            columns = np.vstack([columns, np.ones(likelihood.n_samples)])
        return likelihood.refit_carefully(columns, self.penalties_on(support), fit, self.bounds_on(support))

    @override
    def values_after(
        self, support: IndexArray, theta: FloatArray, moves: MoveList, wanted: float = -np.inf
    ) -> tuple[FloatArray, BoolArray]:
        values, converged = np.full(len(moves), self.likelihood.null), np.ones(len(moves), dtype=bool)
        by_column = np.zeros(self.columns.n_features)
        by_column[support] = theta[: len(support), 0]
        supports = [move.result(support) for move in moves.moves()]
        filled = [row for row, after in enumerate(supports) if len(after)]
        for begin in range(0, len(filled), REFITS_PER_PASS):
            part = filled[begin : begin + REFITS_PER_PASS]
            starts = [
                (supports[row], np.append(by_column[supports[row]], theta[len(support) :])[:, None])
                for row in part
            ]
            for row, fit in zip(part, self.refit_together(starts), strict=True):
                values[row], converged[row] = fit.value, fit.converged
        return values, converged

    def _sums(self, needed: IndexArray, points: list[_Point]) -> list[Sums]:
        def reduction(held: IndexArray) -> NewtonSums:
            trials = [
                TrialPoint(self.columns.scaled(point.support, held), point.theta, point.step, point.floor)
                for point in points
            ]
            return NewtonSums(self.likelihood.family.kernel, trials)

        found: list[Sums] = self.columns.reduce_some(needed, reduction, *self._rows)
        return found

    def _sums_at(self, support: IndexArray, theta: FloatArray, floor: float = 0.0) -> Sums:
        return self._sums(support, [_Point(support, theta, np.zeros_like(theta), floor)])[0]

    # -- around a fit -------------------------------------------------------------------------------

    @override
    def slopes(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        return self._expansion(support, theta).slopes[:, None]

    @override
    def screening_scores(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        model = self._expansion(support, theta)
        return gains_of_steps(model.slopes, model.squares, self.bounds)

    @override
    def expansion(self, support: IndexArray, theta: FloatArray, elements: IndexArray) -> SecondOrderModel:
        return self._expansion(support, theta).along(elements)

    def _expansion(self, support: IndexArray, theta: FloatArray) -> SecondOrderModel:
        """The expansion along all columns: one pass over the data, unless it was made for the last fit."""
        last = self._last_expansion
        if last is None or not (np.array_equal(last[0], support) and np.array_equal(last[1], theta)):
            last = self._last_expansion = support.copy(), theta.copy(), self._new_expansion(support, theta)
        return last[2]

    def _new_expansion(self, support: IndexArray, theta: FloatArray) -> SecondOrderModel:
        design, likelihood, parameters = self.columns, self.likelihood, theta[:, 0]
        if not len(support) and self._are_alike:
            return self._first_expansion()
        size, shift = len(support), design.shift
        trial = TrialPoint(design.scaled(support), parameters, np.zeros_like(parameters))
        products, squares, totals = design.reduce(ExpansionSums(likelihood.family.kernel, trial), *self._rows)
        if likelihood.fit_intercept:
            squares = squares - 2 * shift * products[size] + shift**2 * totals[size]
        products = (products - totals[:, None] * shift) * design.factor
        hessian = products[:-1, support]
        if likelihood.fit_intercept:
            hessian = np.column_stack([hessian, totals[:-1]])
        hessian = hessian + np.diag(self.penalties_on(support))
        squares = squares * design.factor**2 + self.penalties.ridge
        slopes = projected_slopes(products[-1], self.bounds)
        return SecondOrderModel(slopes, squares, products[:-1].T, hessian, parameters)

    @cached_property
    def _alone(self) -> tuple[FloatArray, FloatArray]:
        likelihood = self.likelihood
        eta = likelihood.offset + likelihood.intercept_alone[:, None]
        _, slope, curve = likelihood.derivatives(eta)
        return slope[0], curve[0, 0]

    @cached_property
    def _are_alike(self) -> bool:
        """Whether all samples curve alike at the intercept alone, according to the first pass over the data.

        Then the slopes are the deviations of the target from its mean, and the mean does not matter for
        centred columns.
        """
        likelihood, (slope, curve) = self.likelihood, self._alone
        if not likelihood.fit_intercept or np.ptp(likelihood.offset):
            return False
        rest = likelihood.weight * (likelihood.target - likelihood.weight @ likelihood.target)
        return bool(
            np.allclose(curve, curve.sum() * likelihood.weight, rtol=ALIKE, atol=0.0)
            and np.allclose(slope, rest, rtol=0.0, atol=ALIKE * np.abs(rest).max())
        )

    def _first_expansion(self) -> SecondOrderModel:
        design, curve = self.columns, float(self._alone[1].sum())
        squares = curve * design.squared_norms + self.penalties.ridge
        alone, products = self.likelihood.intercept_alone, np.zeros((design.n_features, 1))
        slopes = projected_slopes(design.with_target, self.bounds)
        return SecondOrderModel(slopes, squares, products, np.full((1, 1), curve), alone)

    @override
    def quadratic(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray, damping: float = 0.0
    ) -> LeastSquares | None:
        # Columns in coordinates with the right inner products. Damping would take more passes over the data.
        fitted, fit_intercept = theta[:, 0], self.likelihood.fit_intercept
        used = np.union1d(elements, support)
        parameters = np.zeros(len(used) + fit_intercept)
        parameters[np.searchsorted(used, support)] = fitted[: len(support)]
        parameters[len(used) :] = fitted[len(support) :]
        steepest = self._steepest(support, fitted)
        if steepest < SMALLEST:
            return None
        sums = self._sums_at(used, parameters, LEAST_MODEL_WEIGHT * steepest)
        moved = sums.hessian @ parameters
        square = float(parameters @ (moved + 2 * sums.gradient)) + sums.misfit
        products = WeightedCrossProducts(sums.hessian, moved + sums.gradient, square)
        if fit_intercept:
            products = products.without_last()
        columns, response = products.of(np.searchsorted(used, elements), steepest).columns()
        ridge = self.penalties.ridge / steepest
        bounds = None if self.bounds is None else self.bounds.restricted(elements)
        return LeastSquares(ColumnArray(np.ascontiguousarray(columns.T)), response, ridge, bounds=bounds)

    def _steepest(self, support: IndexArray, parameters: FloatArray) -> float:
        if not len(support):
            return float(self._alone[1].max())
        return self._sums_at(support, parameters).steepest

    @override
    def hessian(self, levels: FloatArray, intercept: FloatArray, rows: IndexArray) -> FloatArray:
        kept = self.columns.kept_columns(rows)
        if kept is not None:
            return self._hessian_of(levels, intercept, kept)
        coef = levels[:, 0]
        used = np.union1d(np.flatnonzero(coef), rows)
        parameters = np.append(coef[used], intercept[: int(self.likelihood.fit_intercept)])
        sums = self._sums_at(used, parameters)
        products = WeightedCrossProducts(sums.hessian, sums.gradient, 0.0)
        if self.likelihood.fit_intercept:
            products = products.without_last()
        return products.of(np.searchsorted(used, rows), 1.0).gram

    @override
    def weighted_products(self, rows: IndexArray, weight: FloatArray) -> FloatArray:
        return self.columns.cross(rows, weight)

    @override
    def largest_eigenvalue(self, weight: FloatArray) -> float:
        if self.columns.n_features > EIGENVALUES_UP_TO:
            return np.inf
        share = np.divide(weight, self.likelihood.weight, out=np.zeros_like(weight), where=weight > 0)
        return float(share.max()) * self.columns.extreme_eigenvalues()[1]

    @override
    def dependencies(self, rows: IndexArray, least: float, rounding: float) -> int | None:
        return None


@dataclass(frozen=True)
class TrialPoint:
    """Parameters at which sums are computed: one per column and, if there is one more, an intercept."""

    columns: Scaled
    theta: FloatArray
    #: The step that leads there, whose largest change of a linear predictor is computed
    step: FloatArray
    #: The least curvature of a sample
    floor: float = 0.0

    def columns_of(self, chunk: FloatArray) -> FloatArray:
        columns = self.columns.of(chunk, _ONE)
        if len(self.theta) == len(columns):
            return columns
        return np.vstack([columns, np.ones((1, len(chunk)))])


@dataclass(frozen=True)
class NewtonSums(Reduction):
    """Sums at several points; rows are target, weight and offset."""

    family: tuple[int, float]
    trials: list[TrialPoint]

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        return [reduce(Sums.plus, self._by_pieces(trial, chunk, rows)) for trial in self.trials]

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return [one.plus(other) for one, other in zip(first, second, strict=True)]

    def _by_pieces(
        self, trial: TrialPoint, chunk: FloatArray, rows: tuple[NDArray[Any], ...]
    ) -> Iterator[Sums]:
        step = max(1, ENTRIES_AT_ONCE // max(1, len(trial.theta)))
        for begin in range(0, len(chunk), step):
            part = slice(begin, begin + step)
            yield self._sums(trial, chunk[part], *(values[part] for values in rows))

    def _sums(
        self, trial: TrialPoint, chunk: FloatArray, target: FloatArray, weight: FloatArray, offset: FloatArray
    ) -> Sums:
        columns = trial.columns_of(chunk)
        value, slope, curve = _derivatives(self.family, trial.theta @ columns + offset, target, weight)
        steepest, misfit = float(curve.max()), 0.0
        if trial.floor > 0:
            curve = np.maximum(curve, trial.floor)
            misfit = float(slope @ (slope / curve))
        return Sums(
            value,
            columns @ slope,
            (columns * curve) @ columns.T,
            float(np.abs(trial.step @ columns).max()),
            steepest,
            misfit,
        )


@dataclass(frozen=True)
class ExpansionSums(Reduction):
    """Products of all columns with those of a trial, weighted by the curvature there, and with the slope.

    The answer is these products (the slope's last), the weighted squares of all columns, and the sums of the
    factors. Rows are target, weight and offset.
    """

    family: tuple[int, float]
    trial: TrialPoint

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        target, weight, offset = rows
        columns = self.trial.columns_of(chunk)
        _, slope, curve = _derivatives(self.family, self.trial.theta @ columns + offset, target, weight)
        factors = np.vstack([columns * curve, slope])
        squares = np.einsum("s,sj,sj->j", curve, chunk, chunk)
        return factors @ chunk, squares, factors.sum(axis=1)


def _derivatives(
    family: tuple[int, float], eta: FloatArray, target: FloatArray, weight: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    slope, curve = np.empty((1, len(eta))), np.empty((1, 1, len(eta)))
    value = families.derivatives(family, eta[None], target, weight, _ONE[None], slope, curve)
    return float(value), slope[0], curve[0, 0]
