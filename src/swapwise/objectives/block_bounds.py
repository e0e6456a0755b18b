"""The second-order model of a likelihood where elements have several coefficients, and how far it is off.

An element has one column or more, and a column has a coefficient per level: one, or one less than there are
classes. Parameters of the fit are ordered level by level, those of an element column by column. All that is
computed with are arrays: the columns that are chosen, those that are asked for, slope and curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import LOGISTIC, MULTINOMIAL, blocks, glm
from swapwise.objectives.block_columns import chunks_of, diagonals, offsets_of, own_products
from swapwise.objectives.second_order import LEAST_LEFT, WORST_CONDITION

# By what share an outcome may fall on the first tries to keep it positive; the rest is left to the last.
STEP_LIMITS = (0.5, 0.7, 0.9)

# An outcome may rise by this many times as much. Values from 2 to 8 leave about the same moves to refit.
MOST_RISE = 4.0


@dataclass(frozen=True)
class FitPoint:
    """A fit, as far as samples see it: ``η = offset + θᵀ chosen``, with slope and curvature there."""

    family: int
    #: Scores of classes from levels, and the weights of the samples
    basis: FloatArray
    weight: FloatArray
    #: Columns of the fit, one per row, the intercept last; and their coefficients, one level per column
    chosen: FloatArray
    theta: FloatArray
    #: Linear predictor and slope (levels by samples), minus the curvature (upper half, by levels)
    eta: FloatArray
    slope: FloatArray
    curve: FloatArray
    ridge: float
    #: How many of the chosen columns pay the ridge
    n_penalised: int

    @property
    def levels(self) -> int:
        """How many coefficients a column has."""
        return len(self.eta)

    @cached_property
    def pairs(self) -> tuple[FloatArray, IndexArray]:
        """The curvature of every pair of levels, one per row, and the row of each pair."""
        a, b = np.triu_indices(self.levels)
        row = np.empty((self.levels, self.levels), dtype=np.intp)
        row[a, b] = row[b, a] = np.arange(len(a))
        return np.ascontiguousarray(self.curve[a, b]), row

    @cached_property
    def weighted(self) -> FloatArray:
        """The chosen columns times the curvature: pairs of levels by columns by samples."""
        return self.pairs[0][:, None] * self.chosen

    @cached_property
    def gradient(self) -> FloatArray:
        """The slope in the parameters: what is missing of the fit."""
        gradient = self.chosen @ self.slope.T
        gradient[: self.n_penalised] -= self.ridge * self.theta[: self.n_penalised]
        return np.ascontiguousarray(gradient.T).ravel()

    @cached_property
    def inverse(self) -> FloatArray | None:
        """The inverse of minus the Hessian in the parameters; None if they are nearly collinear."""
        pair, m = self.pairs[1], len(self.chosen)
        products = self.weighted @ self.chosen.T
        hessian = products[pair].transpose(0, 2, 1, 3).reshape(self.levels * m, self.levels * m)
        penalty = np.append(np.full(self.n_penalised, self.ridge), np.zeros(m - self.n_penalised))
        hessian[np.diag_indices(len(hessian))] += np.tile(penalty, self.levels)
        lengths = np.sqrt(np.maximum(np.diag(hessian), 0.0))
        if not lengths.all():
            return None
        try:
            factor = cho_factor(hessian / np.outer(lengths, lengths), check_finite=False)
        except (LinAlgError, ValueError):
            return None
        if len(lengths) and np.diag(factor[0]).min() ** 2 < WORST_CONDITION:
            return None
        return cho_solve(factor, np.eye(len(lengths)), check_finite=False) / np.outer(lengths, lengths)

    def largest_change(self, step: FloatArray) -> float:
        """Return how much a step of η, levels by samples, changes any outcome at most, relative to it."""
        if self.family == MULTINOMIAL:
            scores = self.basis @ step
            return float((scores.max(axis=0) - scores.min(axis=0)).max(initial=0.0))
        return float(np.abs(step).max(initial=0.0))

    @cached_property
    def outcomes(self) -> FloatArray | None:
        """The probability of every class, classes by samples; None where outcomes are not classes."""
        if self.class_basis is None:
            return None
        scores = self.class_basis @ self.eta
        odds = np.exp(scores - scores.max(axis=0))
        return np.ascontiguousarray(odds / odds.sum(axis=0))

    @property
    def class_basis(self) -> FloatArray | None:
        """Scores of classes from levels: of two classes, one has the linear predictor and one zero."""
        if self.family == LOGISTIC:
            return np.array([[1.0], [0.0]])
        return self.basis if self.family == MULTINOMIAL else None

    def divergences(self, steps: FloatArray) -> FloatArray:
        """Return how far the outcomes after steps of η are from the prediction."""
        if self.outcomes is not None:
            return glm.class_divergences(self.outcomes, self.weight, self.class_basis, steps)
        return glm.divergences(self.family, self.eta[0], self.weight, np.ascontiguousarray(steps[:, 0]))


class BlockBounds:
    """What the addition of any of some elements to a fit is predicted to gain, and what none exceeds.

    ``predicted`` and ``bound`` are relative to the value of the fit; where the model says nothing, they are
    what is missing of the fit, and infinity. The proof is that of
    :class:`swapwise.objectives.second_order.AdditionBounds`, with a step z of several levels per sample:
    the outcome of Newton's step is ``q_k = p_k (1 + d_k)`` with d the step in scores of the classes less its
    mean under p, and for ``ζ = max |d_k| < 1``

        D(q, p) = Σ_k p_k (1 + d_k) log(1 + d_k)  ≤  ½ zᵀVz / (1 − ζ) .

    Scores are an orthonormal image of levels, so no d exceeds √2 times the length of z. D is bounded by a
    polynomial in d, which takes less time than logarithms.

    Parameters
    ----------
    fit : FitPoint
    columns : array of shape (number of columns, samples)
        Those of the elements, one element after the other.
    begin : array
        Element e has the columns ``begin[e] : begin[e + 1]``.
    heights, chosen_heights : arrays
        The largest absolute value in every column, and in every chosen one.
    """

    def __init__(
        self,
        fit: FitPoint,
        columns: FloatArray,
        begin: IndexArray,
        heights: FloatArray,
        chosen_heights: FloatArray,
    ) -> None:
        self.fit, self._columns, self._begin = fit, columns, begin
        n = len(begin) - 1
        #: Whether anything is predicted
        self.is_known = fit.inverse is not None
        self.predicted, self.bound = np.zeros(n), np.full(n, np.inf)
        if fit.inverse is not None and n:
            self._expand(fit.inverse)
            self._bound(heights, chosen_heights)

    def _expand(self, inverse: FloatArray) -> None:
        """Take the chosen columns out of those of the elements, as the curvature sees them."""
        fit, columns = self.fit, self._columns
        levels, samples = fit.levels, columns.shape[1]
        pair = fit.pairs[1]
        products = columns @ fit.weighted.reshape(-1, samples).T
        products = products.reshape(len(columns), len(fit.pairs[0]), len(fit.chosen))[:, pair]
        products = products.reshape(len(columns) * levels, levels * len(fit.chosen))
        self.coupling = products @ inverse
        rows, at = self._begin * levels, offsets_of((np.diff(self._begin) * levels) ** 2)
        own = self._own_blocks(pair)
        self._left = blocks.remaining_blocks(own, rows, at, self.coupling, products)
        # What is taken out may be much longer than the column itself, and rounds by its own length.
        taken_out = np.abs(products * self.coupling).sum(axis=1)
        self._floor = LEAST_LEFT * np.maximum(own[diagonals(rows, at)], taken_out)
        self.slope = (columns @ fit.slope.T).ravel() - self.coupling @ fit.gradient
        step = inverse @ fit.gradient
        self._parameter_step = step.reshape(levels, len(fit.chosen))
        missing = float(fit.gradient @ step)
        self._coef, gains = blocks.block_solutions(rows, at, self.slope, self._left, self._floor)
        self._clear = ~np.isnan(gains)
        self.predicted = np.where(self._clear, missing + gains, missing) / 2
        self._places = rows, at

    def _own_blocks(self, pair: IndexArray) -> FloatArray:
        """Return the curvature in the coefficients of every element, with the ridge, block by block."""
        columns, levels, sizes = self._columns, self.fit.levels, np.diff(self._begin)
        by_pair = own_products(lambda a, b: columns[a:b], self._begin, columns.shape[1], self.fit.pairs[0])
        at = len(self.fit.pairs[0]) * offsets_of(sizes**2)
        if (sizes == 1).all():
            own = by_pair.reshape(len(sizes), -1)[:, pair].ravel()
        else:
            parts = [
                by_pair[at[e] : at[e + 1]].reshape(-1, size, size)[pair].transpose(2, 0, 3, 1).ravel()
                for e, size in enumerate(sizes)
            ]
            own = np.concatenate(parts)
        own[diagonals(self._begin * levels, offsets_of((sizes * levels) ** 2))] += self.fit.ridge
        return own

    def _changes(self) -> FloatArray:
        """Return the step of the chosen parameters that goes with each element: elements by levels by them.

        What is missing of the fit is not part of it.
        """
        if self._changed is None:
            moved = np.add.reduceat(self._coef[:, None] * self.coupling, self._places[0][:-1], axis=0)
            self._changed = -moved.reshape(len(self.predicted), *self._parameter_step.shape)
        return self._changed

    _changed: FloatArray | None = None

    def _bound(self, heights: FloatArray, chosen_heights: FloatArray) -> None:
        """Bound every gain by the largest entries of columns."""
        fit = self.fit
        lengths = np.linalg.norm(self._changes(), axis=1)  # one per chosen column
        longest = np.sqrt((fit.chosen**2).sum(axis=0).max(initial=0.0))
        explained = np.minimum(lengths @ chosen_heights, np.linalg.norm(lengths, axis=1) * longest)
        own = heights * np.linalg.norm(self._coef.reshape(-1, fit.levels), axis=1)
        farthest = np.add.reduceat(own, self._begin[:-1]) + explained
        reach = fit.largest_change(self._parameter_step @ fit.chosen)
        zeta = reach + (np.sqrt(2.0) if fit.family == MULTINOMIAL else 1.0) * farthest
        bounded = self._clear & (zeta < 1)
        self.bound[bounded] = self.predicted[bounded] / (1.0 - zeta[bounded])

    def tighten(self, floor: float) -> None:
        """Look closer at those that only a crude bound keeps above the floor."""
        if not self.is_known or not len(self.predicted):
            return
        unclear = np.flatnonzero((self.bound >= floor) & (self.predicted < floor) & self._clear)
        steps_of_one = np.full(len(unclear), self.fit.levels)
        for first, last in chunks_of(offsets_of(steps_of_one), self._columns.shape[1]):
            part = unclear[first:last]
            step = self._changes()[part] + self._parameter_step
            steps = self._steps(part, step, self._coef)
            self._lower(part, step, self._coef, steps)
            if self.fit.outcomes is not None:
                self._shorten(part, step, steps, floor)

    def _lower(self, elements: IndexArray, chosen: FloatArray, own: FloatArray, steps: FloatArray) -> None:
        """Lower bounds to the divergence of outcomes from the prediction, and the ridge's share."""
        fit = self.fit
        rise = fit.divergences(steps)
        if fit.ridge > 0:
            penalty = (chosen[:, :, : fit.n_penalised] ** 2).sum(axis=(1, 2))
            squares = (own.reshape(-1, fit.levels) ** 2).sum(axis=1)
            penalty += np.add.reduceat(squares, self._begin[:-1])[elements]
            rise = rise + fit.ridge * penalty / 2
        self.bound[elements] = np.minimum(self.bound[elements], rise)

    def _shorten(self, elements: IndexArray, chosen: FloatArray, steps: FloatArray, floor: float) -> None:
        """Lower bounds by other outcomes, where Newton's step leads to negative ones or nearly so.

        It is shortened there, and what is lost of it is made up for elsewhere: any outcome will do that has
        the same products with the columns.
        """
        fit, own = self.fit, self._coef
        for limit in STEP_LIMITS:
            still = self.bound[elements] >= floor
            if not still.any():
                return
            elements, chosen, steps = elements[still], chosen[still], steps[still]
            lost, lost_own, is_shorter = glm.shorten_steps(
                fit.outcomes,
                fit.class_basis,
                fit.curve,
                fit.chosen,
                self._columns,
                self._begin,
                elements,
                steps,
                limit,
                MOST_RISE,
            )
            if not is_shorter:
                return
            more_chosen, more_own = self._solved(elements, lost, lost_own)
            chosen, own = chosen + more_chosen, own + more_own
            steps += self._steps(elements, more_chosen, more_own)
            self._lower(elements, chosen, own, steps)

    def _steps(self, elements: IndexArray, chosen: FloatArray, own: FloatArray) -> FloatArray:
        """Return the steps of η by steps of parameters: elements by levels by samples."""
        levels, samples = self.fit.levels, self._columns.shape[1]
        flat = chosen.reshape(len(elements) * levels, len(self.fit.chosen)) @ self.fit.chosen
        steps: FloatArray = flat.reshape(len(elements), levels, samples)
        blocks.add_combinations(steps, elements, self._begin, own, self._columns)
        return steps

    def _solved(
        self, elements: IndexArray, along_chosen: FloatArray, along_own: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return the steps of parameters that have given products with the columns."""
        assert self.fit.inverse is not None
        rows, at = self._places
        sizes = np.diff(rows)[elements]
        first = offsets_of(sizes)
        those = np.arange(first[-1]) + np.repeat(rows[elements] - first[:-1], sizes)
        shape = along_chosen.shape
        along_chosen = along_chosen.reshape(len(elements), self._parameter_step.size)
        right = np.zeros(len(self._coef))
        explained = self.coupling[those] * np.repeat(along_chosen, sizes, axis=0)
        right[those] = along_own.ravel()[those] - explained.sum(axis=1)
        own = blocks.block_solutions(rows, at, right, self._left, self._floor)[0]
        moved = np.add.reduceat(own[those, None] * self.coupling[those], first[:-1], axis=0)
        chosen = along_chosen @ self.fit.inverse - moved
        return chosen.reshape(shape), own

    def predicted_swaps(
        self, elements: IndexArray, column: IndexArray, first: IndexArray, places: IndexArray
    ) -> FloatArray:
        """Return what swaps are predicted to gain: the closed form of least squares, halved.

        ``elements`` are added; ``column`` says which drop goes with each. The columns of drop i are the
        chosen ones at ``places[first[i] : first[i + 1]]``.
        """
        fit, m = self.fit, len(self.fit.chosen)
        assert fit.inverse is not None
        slots = (places[:, None] + m * np.arange(fit.levels)).ravel()
        coef = np.ascontiguousarray(fit.theta.T).ravel()
        drops: Any = blocks.drop_factors(first * fit.levels, slots, fit.inverse, coef)
        quantities = (*self._places, self.coupling, self.slope, self._left, self._floor)
        gains: FloatArray = blocks.pair_gains(elements, column, quantities, drops, False)
        return gains / 2
