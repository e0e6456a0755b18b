"""Refits and second-order models of a likelihood, wherever its columns are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import SMALLEST, BoolArray, FloatArray, IndexArray
from swapwise.data.cache import VectorCache
from swapwise.data.columns import ColumnArray, Columns
from swapwise.data.design import Design
from swapwise.kernels import glm
from swapwise.moves import MoveList
from swapwise.objectives.base import Groups, Scoring
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.glm.block_bounds import BlockBounds, FitPoint, block_screening_scores
from swapwise.objectives.glm.block_model import LEAST_MODEL_WEIGHT, quadratic_model
from swapwise.objectives.glm.element_columns import ElementColumns
from swapwise.objectives.glm.likelihood import MAX_STEPS, Fit, Likelihood
from swapwise.objectives.glm.second_order import AdditionBounds, SecondOrderModel, projected_slopes
from swapwise.objectives.least_squares.active_set import dependencies_among
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.objectives.suprema import Margins
from swapwise.override import override
from swapwise.threads import few_threads

# This many numbers of the columns read last are kept: 32 MB, or as many columns.
ENTRIES_KEPT, FEWEST_KEPT = 1 << 22, 32

# Columns that are not held in memory as a whole are gathered for moves up to this many numbers: 64 MB.
MOST_GATHERED = 1 << 23


class Penalties(NamedTuple):
    ridge: float
    #: The ridge of each column, plus the penalty for the precision of its numbers
    by_column: FloatArray


class Fitter(ABC):
    """Refits of a likelihood on sets of elements, and second-order models around a fit.

    Two implementations: columns in memory (dense or sparse), and data that come in chunks of rows. Parameters
    are arrays with one row per column of a set, then the intercept's, and one number per level.
    """

    #: The cost of scoring a move; see :class:`swapwise.objectives.base.SetFunction`
    scoring: Scoring
    #: Number of moves, best predicted gains first, that are refitted first
    first_refits: int

    def __init__(
        self,
        likelihood: Likelihood,
        columns: Columns,
        groups: Groups,
        penalties: Penalties,
        bounds: CoefficientBounds | None = None,
    ) -> None:
        self.likelihood, self.columns, self.groups, self.penalties = likelihood, columns, groups, penalties
        #: Bounds on the coefficient of each column; None if there are none
        self.bounds = bounds

    @property
    def n_passes(self) -> float | None:
        return None

    def penalties_on(self, support: IndexArray) -> FloatArray:
        own = self.penalties.by_column[self.groups.members(support)]
        return np.append(own, np.zeros(int(self.likelihood.fit_intercept)))

    def bounds_on(self, support: IndexArray) -> CoefficientBounds | None:
        own = None if self.bounds is None else self.bounds.restricted(self.groups.members(support))
        if own is None:
            return None
        free = np.full(int(self.likelihood.fit_intercept), np.inf)
        return CoefficientBounds(np.append(own.lower, -free), np.append(own.upper, free))

    @abstractmethod
    def refit(self, support: IndexArray, theta: FloatArray) -> Fit:
        """Return the best parameters on a non-empty set, starting from ``theta``."""

    @abstractmethod
    def values_after(
        self, support: IndexArray, theta: FloatArray, moves: MoveList, wanted: float = -np.inf
    ) -> tuple[FloatArray, BoolArray]:
        """Return the log-likelihood after each move, refitted from the parameters that stay, and convergence.

        It may be minus infinity where it is proven to be below ``wanted``.
        """

    @abstractmethod
    def slopes(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        """Return the slope in every coefficient at a fit: one row per column, one number per level."""

    @abstractmethod
    def screening_scores(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        """Return the predicted gain of a Newton step in each element's own coefficients."""

    def exchange_scores(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        """Return the predicted gain of each element in place of the best chosen one to drop.

        It is relative to the loss of the chosen one that matters least, so it is never negative.
        """
        return self.screening_scores(support, theta)

    @abstractmethod
    def expansion(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray
    ) -> SecondOrderModel | BlockBounds:
        """Return the second-order model around a fit along some columns."""

    @abstractmethod
    def quadratic(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray, damping: float = 0.0
    ) -> LeastSquares | None:
        """Return the second-order model around a fit as least squares on the columns of some elements.

        The weights are the curvature there, the response is the one that Newton's step would fit. With
        ``damping``, the curvature is a mean: see :meth:`swapwise.objectives.base.SparseState.model`. None if
        nothing curves, or nothing beside the ridge.
        """

    @abstractmethod
    def hessian(self, levels: FloatArray, intercept: FloatArray, rows: IndexArray) -> FloatArray:
        """Return minus the Hessian for some columns, without penalty and with the intercept maximised over.

        ``levels`` are the coefficients of all columns, one row each. The answer has all levels of the first
        column, then those of the next.
        """

    def _hessian_of(self, levels: FloatArray, intercept: FloatArray, chosen: FloatArray) -> FloatArray:
        likelihood, n_levels = self.likelihood, self.likelihood.n_levels
        fit = np.array([self.columns.combine(level) for level in levels.T])
        curve = likelihood.derivatives(likelihood.offset + fit + intercept[:, None])[2]
        if n_levels == 1:
            root = np.sqrt(curve[0, 0])
            chosen = chosen * root
            if likelihood.fit_intercept:
                share = chosen @ root / max(curve.sum(), np.finfo(float).tiny)
                chosen -= share[:, None] * root
            return chosen @ chosen.T  # a product of an array with itself takes half the time
        blocks = np.empty((len(chosen), n_levels, len(chosen), n_levels))
        across, own = np.empty((len(chosen), n_levels, n_levels)), np.empty((n_levels, n_levels))
        for k in range(n_levels):
            for m in range(k, n_levels):  # curvatures have their upper half only
                weighted = chosen * curve[k, m]
                blocks[:, k, :, m] = blocks[:, m, :, k] = weighted @ chosen.T
                across[:, k, m] = across[:, m, k] = weighted.sum(axis=1)
                own[k, m] = own[m, k] = curve[k, m].sum()
        size = len(chosen) * n_levels
        whole, of_intercept = blocks.reshape(size, size), across.reshape(size, n_levels)
        if likelihood.fit_intercept:
            whole -= of_intercept @ np.linalg.pinv(own, hermitian=True) @ of_intercept.T
        return whole

    @abstractmethod
    def weighted_products(self, rows: IndexArray, weight: FloatArray) -> FloatArray:
        """Return ``a_jᵀ diag(weight) A`` for some columns, one per row."""

    @abstractmethod
    def largest_eigenvalue(self, weight: FloatArray) -> float:
        """Return an upper bound, up to rounding, on the eigenvalues of ``Aᵀ diag(weight) A``."""

    @abstractmethod
    def dependencies(self, rows: IndexArray, least: float, rounding: float) -> int | None:
        """Return the number of linear dependencies among columns; None if it is not certain."""

    def margins(self, support: IndexArray) -> Margins | None:
        """Return a likelihood of classes on a set as a function of margins; None if it is not available."""
        return None


class MemoryFitter(Fitter):
    """Fits on columns that can be read one by one: refits are compiled, and bounds are proven."""

    scoring = "refit"
    first_refits = 4

    def __init__(
        self,
        likelihood: Likelihood,
        columns: Columns,
        groups: Groups,
        penalties: Penalties,
        bounds: CoefficientBounds | None = None,
    ) -> None:
        super().__init__(likelihood, columns, groups, penalties, bounds)
        self._room = room = max(FEWEST_KEPT, min(columns.n_features, ENTRIES_KEPT // likelihood.n_samples))
        self._last_point: tuple[IndexArray, FloatArray, FitPoint] | None = None
        self._kept = VectorCache(likelihood.n_samples, room, room)

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name != "_elements"}
        return {**kept, "_last_point": None}

    def chosen(self, support: IndexArray) -> FloatArray:
        columns = self._columns(self.groups.members(support))
        if not self.likelihood.fit_intercept:
            return np.ascontiguousarray(columns)
        return np.vstack([columns, np.ones(self.likelihood.n_samples)])

    def _columns(self, rows: IndexArray) -> FloatArray:
        few, read = 2 * len(rows) <= self._room, self.columns.columns
        return self._kept.of(rows, read) if few else read(rows)

    @override
    def refit(self, support: IndexArray, theta: FloatArray) -> Fit:
        return self.likelihood.refit(
            self.chosen(support), self.penalties_on(support), theta, self.bounds_on(support)
        )

    @override
    def values_after(
        self, support: IndexArray, theta: FloatArray, moves: MoveList, wanted: float = -np.inf
    ) -> tuple[FloatArray, BoolArray]:
        values, converged = np.empty(len(moves)), np.empty(len(moves), dtype=bool)
        for part in self._parts(support, moves):
            values[part], converged[part] = self._values_of(support, theta, moves.take(part), wanted)
        return values, converged

    def _parts(self, support: IndexArray, moves: MoveList) -> list[slice]:
        widest = self.groups.largest * max(1, moves.added.shape[1])
        step = max(1, MOST_GATHERED // (self.likelihood.n_samples * widest) - len(support))
        return [slice(begin, begin + step) for begin in range(0, len(moves), step)]

    def _values_of(
        self, support: IndexArray, theta: FloatArray, moves: MoveList, wanted: float
    ) -> tuple[FloatArray, BoolArray]:
        likelihood = self.likelihood
        # Only the elements of the moves, numbered by their positions
        needed = np.union1d(support, moves.added[moves.added >= 0])
        rows, groups = self.groups.members(needed), self.groups.restricted(needed)
        data = self._columns(rows), groups.begin, groups.rows, self.penalties.by_column[rows]
        support = np.searchsorted(needed, support)
        added, dropped = (
            np.where(part >= 0, np.searchsorted(needed, part), part) for part in (moves.added, moves.dropped)
        )
        sample = likelihood.offset, likelihood.target, likelihood.weight, likelihood.basis
        family, intercept = likelihood.family.kernel, likelihood.fit_intercept
        start = support, theta, likelihood.intercept_alone, likelihood.null
        bounds = None if self.bounds is None else self.bounds.restricted(rows)
        within = (np.empty(0), np.empty(0)) if bounds is None else (bounds.lower, bounds.upper)
        limits = likelihood.tol, MAX_STEPS, wanted, within
        with few_threads(theta.size):
            return glm.values_within(family, data, sample, intercept, *start, added, dropped, *limits)

    def _derivatives(self, support: IndexArray, theta: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return self.likelihood.derivatives(self.likelihood.offset + theta.T @ self.chosen(support))

    @override
    def slopes(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        return self.columns.dots(self._derivatives(support, theta)[1], exact=True).T

    @override
    def screening_scores(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        if self._has_blocks:
            return block_screening_scores(self._point(support, theta), self._elements)
        _, slope, curve = self._derivatives(support, theta)
        squares = self.columns.weighted_squares(curve[0, 0]) + self.penalties.ridge
        slopes = projected_slopes(self.columns.dots(slope, exact=True)[0], self.bounds)
        return gains_of_steps(slopes, squares, self.bounds)

    @override
    def exchange_scores(self, support: IndexArray, theta: FloatArray) -> FloatArray:
        if self._has_blocks or not len(support):
            return self.screening_scores(support, theta)
        model = self.expansion(support, theta, np.arange(self.columns.n_features))
        assert isinstance(model, SecondOrderModel)
        return model.best_exchanges(len(support))

    @cached_property
    def _has_blocks(self) -> bool:
        has_scores = self.likelihood.family.scores is not None
        return has_scores or self.groups.n_rows >= len(self.groups.begin)

    @property
    def _has_classes(self) -> bool:
        return self.likelihood.family.outcome == "class"

    @cached_property
    def _elements(self) -> ElementColumns:
        weight, ridge = self.likelihood.weight, self.penalties.ridge
        return ElementColumns(self.columns, self.groups, weight, ridge, self._columns, copy=self._has_blocks)

    def _point(self, support: IndexArray, theta: FloatArray) -> FitPoint:
        last = self._last_point
        if last is None or not (np.array_equal(last[0], support) and np.array_equal(last[1], theta)):
            last = self._last_point = support.copy(), theta.copy(), self._new_point(support, theta)
        return last[2]

    def _new_point(self, support: IndexArray, theta: FloatArray) -> FitPoint:
        likelihood, chosen = self.likelihood, self._elements.of(support)
        n_penalised = len(chosen)
        if likelihood.fit_intercept:
            chosen = np.vstack([chosen, np.ones(likelihood.n_samples)])
        theta = self._elements.coefficients(support, theta)
        eta = likelihood.offset + theta.T @ chosen
        _, slope, curve = likelihood.derivatives(eta)
        return FitPoint(likelihood, chosen, theta, eta, slope, curve, self.penalties.ridge, n_penalised)

    @override
    def expansion(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray
    ) -> SecondOrderModel | BlockBounds:
        if self._has_blocks:
            return BlockBounds(self._point(support, theta), self._elements, support, elements)
        sharper = self._has_classes and self.bounds is None  # sharper bounds ignore bounds on coefficients
        return AdditionBounds(
            self.likelihood,
            self.columns,
            self.chosen(support),
            support,
            theta,
            self.penalties.ridge,
            elements,
            self._columns,
            partial(self._class_bounds, support, theta) if sharper else None,
            self.bounds,
        )

    def _class_bounds(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray, least: float
    ) -> FloatArray:
        bounds = BlockBounds(self._point(support, theta), self._elements, support, elements)
        bounds.tighten(least)
        return bounds.bound

    @override
    def quadratic(
        self, support: IndexArray, theta: FloatArray, elements: IndexArray, damping: float = 0.0
    ) -> LeastSquares | None:
        likelihood = self.likelihood
        if self._has_blocks:
            if self.bounds is not None:  # its columns are combinations of those that have bounds
                return None
            point, (_, begin) = self._point(support, theta), self._elements.places(elements)
            if damping > 0:
                point = replace(point, curve=likelihood.mean_curvature(point.eta, damping))
            return quadratic_model(point, point.eta - likelihood.offset, self._elements.of(elements), begin)
        eta = likelihood.offset + theta.T @ self.chosen(support)
        _, slope, curve = likelihood.derivatives(eta)
        if damping > 0:
            curve = likelihood.mean_curvature(eta, damping)
        steepest = float(curve.max())
        if steepest < SMALLEST:
            return None
        weight = np.maximum(curve[0, 0], LEAST_MODEL_WEIGHT * steepest)
        response = eta[0] - likelihood.offset[0] + slope[0] / weight
        columns = self._columns(elements)
        if likelihood.fit_intercept:
            share = weight / weight.sum()
            columns = columns - (columns @ share)[:, None]
            response = response - response @ share
        root = np.sqrt(weight / steepest)
        ridge = self.penalties.ridge / steepest
        if not np.isfinite(ridge):
            return None
        bounds = None if self.bounds is None else self.bounds.restricted(elements)
        return LeastSquares(ColumnArray(columns * root), response * root, ridge, bounds=bounds)

    @override
    def hessian(self, levels: FloatArray, intercept: FloatArray, rows: IndexArray) -> FloatArray:
        return self._hessian_of(levels, intercept, self._columns(rows))

    @override
    def weighted_products(self, rows: IndexArray, weight: FloatArray) -> FloatArray:
        return self.columns.dots(self.columns.columns(rows) * weight, exact=True)

    @override
    def largest_eigenvalue(self, weight: FloatArray) -> float:
        samples, features = self.columns.shape
        parts = np.array_split(np.arange(features), max(1, features * samples // MOST_GATHERED))
        if features <= samples:
            small = np.vstack([self.weighted_products(part, weight) for part in parts])
        else:
            small = np.zeros((samples, samples))
            for part in parts:
                columns = self.columns.columns(part) * np.sqrt(weight)
                small += columns.T @ columns
        return float(np.linalg.eigvalsh(small)[-1])

    @override
    def dependencies(self, rows: IndexArray, least: float, rounding: float) -> int | None:
        columns = self.columns.columns(rows) * np.sqrt(self.likelihood.weight)
        return dependencies_among(columns, least, rounding)

    @override
    def margins(self, support: IndexArray) -> Margins | None:
        return self.likelihood.margins(self.chosen(support))


def gains_of_steps(
    slopes: FloatArray, squares: FloatArray, bounds: CoefficientBounds | None = None
) -> FloatArray:
    """Return the gains of Newton steps from zero, one by one, within bounds; 0 where nothing curves."""
    steps = np.divide(slopes, squares, out=np.zeros(len(squares)), where=squares > 0)
    if bounds is not None:
        steps = bounds.clip(steps)
    gains: FloatArray = steps * (slopes - squares * steps / 2)
    return gains


def fitter_for(
    likelihood: Likelihood,
    design: Design,
    groups: Groups,
    ridge: float,
    bounds: CoefficientBounds | None = None,
) -> Fitter:
    if design.sequential:
        from swapwise.objectives.glm.chunked_fitter import ChunkedFitter

        if likelihood.family.scores is not None:
            raise TypeError(
                f"{likelihood.family.name.capitalize()} needs data in memory, got data in chunks: "
                "give X as an array"
            )
        if len(groups.begin) - 1 < groups.n_rows:
            raise TypeError(
                "groups need data in memory, got data in chunks: leave groups out, or give X as an array"
            )
        return ChunkedFitter(likelihood, design, groups, penalties_of(design, ridge), bounds)
    return MemoryFitter(likelihood, design, groups, penalties_of(design, ridge), bounds)


def penalties_of(columns: Columns, ridge: float) -> Penalties:
    """The ridge, plus the penalty for the precision of the numbers in each column."""
    squares = columns.squared_norms
    return Penalties(ridge, ridge + columns.precision**2 * np.where(squares > 0, squares, 1.0))
