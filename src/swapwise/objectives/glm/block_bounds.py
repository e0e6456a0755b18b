"""The second-order model of a likelihood where elements have several coefficients, and its error.

An element has one column or more, and a column has a coefficient per level: one, or one less than there are
classes. Parameters of the fit are ordered level by level, those of an element column by column. Everything is
computed from arrays: the chosen columns, those of the elements to be added, slope and curvature.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import blocks, families
from swapwise.objectives.block_columns import chunks_of, diagonals, offsets_of
from swapwise.objectives.glm.element_columns import ElementColumns
from swapwise.objectives.glm.likelihood import Likelihood
from swapwise.objectives.glm.second_order import LEAST_LEFT, inverted

# Bounds are rounded by the share that others leave of a column, squared. Of columns with less than this
# nothing is proven: 1e-16 / 0.001² is 1e-10, what bounds may be off by.
PROVEN_SHARE = 1e-3

# The share by which an outcome may fall in the first tries to keep it positive; the last try may take the
# rest.
STEP_LIMITS = (0.5, 0.7, 0.9)

# An outcome may rise by this many times as much. Values from 2 to 8 leave about the same moves to refit.
MOST_RISE = 4.0

# The least mean curvature of a combination of levels, relative to the largest, in a screening score.
LEAST_CURVATURE = 1e-8


@dataclass(frozen=True)
class FitPoint:
    """A fit in the space of samples: ``η = offset + θᵀ chosen``, with slope and curvature there."""

    likelihood: Likelihood
    #: Columns of the fit, one per row, the intercept last; and their coefficients, one level per column
    chosen: FloatArray
    theta: FloatArray
    #: Linear predictor and slope (levels by samples), minus the curvature (upper half, by levels)
    eta: FloatArray
    slope: FloatArray
    curve: FloatArray
    ridge: float
    #: Number of chosen columns with a ridge
    n_penalised: int

    @property
    def levels(self) -> int:
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
        gradient = self.chosen @ self.slope.T
        gradient[: self.n_penalised] -= self.ridge * self.theta[: self.n_penalised]
        return np.ascontiguousarray(gradient.T).ravel()

    @cached_property
    def inverse(self) -> tuple[FloatArray, float]:
        """The inverse of minus the Hessian in the parameters, and their distance from collinearity."""
        pair, m = self.pairs[1], len(self.chosen)
        products = self.weighted @ self.chosen.T
        hessian = products[pair].transpose(0, 2, 1, 3).reshape(self.levels * m, self.levels * m)
        penalty = np.append(np.full(self.n_penalised, self.ridge), np.zeros(m - self.n_penalised))
        hessian[np.diag_indices(len(hessian))] += np.tile(penalty, self.levels)
        return inverted(hessian)

    def largest_change(self, step: FloatArray) -> float:
        """The largest relative change of an outcome."""
        if self.likelihood.family.scores is not None:
            scores = self.likelihood.basis @ step
            return float((scores.max(axis=0) - scores.min(axis=0)).max(initial=0.0))
        return float(np.abs(step).max(initial=0.0))

    @cached_property
    def outcomes(self) -> FloatArray | None:
        basis = self.likelihood.class_basis
        if basis is None:
            return None
        scores = basis @ self.eta
        odds = np.exp(scores - scores.max(axis=0))
        return np.ascontiguousarray(odds / odds.sum(axis=0))

    def divergences(self, steps: FloatArray) -> FloatArray:
        likelihood = self.likelihood
        if self.outcomes is not None:
            return families.class_divergences(self.outcomes, likelihood.weight, likelihood.class_basis, steps)
        kernel, single = likelihood.family.kernel, np.ascontiguousarray(steps[:, 0])
        return families.divergences(kernel, self.eta[0], likelihood.target, likelihood.weight, single)


class _ElementChunk(NamedTuple):
    elements: IndexArray
    columns: FloatArray
    #: The e-th element has the columns ``begin[e] : begin[e + 1]``
    begin: IndexArray
    #: Positions of the coefficients of these columns among those of all
    rows: IndexArray


class BlockBounds:
    """Predicted gains, and bounds on gains, of adding each of some elements to a fit.

    ``predicted`` and ``bound`` are relative to the value of the fit; where the model is not reliable, they
    are the gain that the fit itself has left, and infinity. The proof is that of
    :class:`swapwise.objectives.glm.second_order.AdditionBounds`, with a step z of several levels per sample:
    the outcome of Newton's step is ``q_k = p_k (1 + d_k)`` with d the step in scores of the classes less its
    mean under p, and for ``ζ = max |d_k| < 1``

        D(q, p) = Σ_k p_k (1 + d_k) log(1 + d_k)  ≤  ½ zᵀVz / (1 − ζ) .

    Scores are an orthonormal image of levels, so no d exceeds √2 times the length of z. D is bounded by a
    polynomial in d, which takes less time than logarithms. ``support`` are the elements of the fit,
    ``elements`` those that may be added.
    """

    #: Whether ``bound`` is proven, and not just predicted
    proves = True

    def __init__(
        self, fit: FitPoint, source: ElementColumns, support: IndexArray, elements: IndexArray
    ) -> None:
        self.fit, self._source, self._support, self._elements = fit, source, support, elements
        places, self._begin = source.places(elements)
        n = len(elements)
        inverse, share = fit.inverse
        #: Whether anything is proven
        self.is_known = share >= PROVEN_SHARE
        self.predicted, self.bound = np.zeros(n), np.full(n, np.inf)
        if n:
            self._expand(inverse)
        if self.is_known and n:
            chosen = source.heights[source.places(support)[0]]
            self._bound(source.heights[places], np.append(chosen, np.ones(len(fit.chosen) - len(chosen))))

    def _expand(self, inverse: FloatArray) -> None:
        """Project the chosen columns out of those of the elements, in the metric of the curvature."""
        fit, levels = self.fit, self.fit.levels
        pair = fit.pairs[1]
        vectors = np.vstack([fit.weighted.reshape(-1, fit.chosen.shape[1]), fit.slope])
        found = self._source.products(self._elements, vectors)
        count = len(found)
        products = found[:, :-levels].reshape(count, len(fit.pairs[0]), len(fit.chosen))[:, pair]
        products = products.reshape(count * levels, levels * len(fit.chosen))
        self.coupling = products @ inverse
        rows, at = self._begin * levels, offsets_of((np.diff(self._begin) * levels) ** 2)
        own = self._own_blocks(pair)
        self._left = blocks.remaining_blocks(own, rows, at, self.coupling, products)
        # A projection may be much longer than the column itself, and rounds by its own length.
        taken_out = np.abs(products * self.coupling).sum(axis=1)
        self._floor = LEAST_LEFT * np.maximum(own[diagonals(rows, at)], taken_out)
        self.slope = found[:, -levels:].ravel() - self.coupling @ fit.gradient
        step = inverse @ fit.gradient
        self._parameter_step = step.reshape(levels, len(fit.chosen))
        missing = float(fit.gradient @ step)
        self._coef, gains = blocks.block_solutions(rows, at, self.slope, self._left, self._floor)
        self.predicted = (missing + np.nan_to_num(gains)) / 2
        strict = np.maximum(1.0, PROVEN_SHARE / LEAST_LEFT) * self._floor
        self._clear = ~np.isnan(blocks.block_solutions(rows, at, self.slope, self._left, strict)[1])
        self._places = rows, at

    def _own_blocks(self, pair: IndexArray) -> FloatArray:
        levels, sizes = self.fit.levels, np.diff(self._begin)
        by_pair = self._source.own_products_of(self._elements, self.fit.pairs[0])
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
        """The change of the chosen parameters along each element: elements by levels by parameters."""
        if self._changed is None:
            moved = np.add.reduceat(self._coef[:, None] * self.coupling, self._places[0][:-1], axis=0)
            self._changed = -moved.reshape(len(self.predicted), *self._parameter_step.shape)
        return self._changed

    _changed: FloatArray | None = None

    def _bound(self, heights: FloatArray, chosen_heights: FloatArray) -> None:
        fit = self.fit
        lengths = np.linalg.norm(self._changes(), axis=1)  # one per chosen column
        longest = np.sqrt((fit.chosen**2).sum(axis=0).max(initial=0.0))
        explained = np.minimum(lengths @ chosen_heights, np.linalg.norm(lengths, axis=1) * longest)
        own = heights * np.linalg.norm(self._coef.reshape(-1, fit.levels), axis=1)
        farthest = np.add.reduceat(own, self._begin[:-1]) + explained
        reach = fit.largest_change(self._parameter_step @ fit.chosen)
        zeta = reach + (np.sqrt(2.0) if fit.likelihood.family.scores is not None else 1.0) * farthest
        bounded = self._clear & (zeta < 1)
        self.bound[bounded] = self.predicted[bounded] / (1.0 - zeta[bounded])

    def tighten(self, floor: float) -> None:
        if not self.is_known or not len(self.predicted):
            return
        unclear = np.flatnonzero((self.bound >= floor) & (self.predicted < floor) & self._clear)
        numbers_of_one = np.maximum(self.fit.levels, np.diff(self._begin)[unclear])
        for first, last in chunks_of(offsets_of(numbers_of_one), self.fit.chosen.shape[1]):
            part = self._part(unclear[first:last])
            step = self._changes()[part.elements] + self._parameter_step
            every, own = np.arange(len(part.elements)), self._coef[part.rows]
            steps = self._steps(part, every, step, own)
            self._lower(part, every, step, own, steps)
            if self.fit.outcomes is not None:
                self._shorten(part, step, own, steps, floor)

    def _part(self, elements: IndexArray) -> _ElementChunk:
        sizes = np.diff(self._begin)[elements]
        columns = self._source.of(self._elements[elements])
        rows, first = self._places[0], offsets_of(sizes * self.fit.levels)
        places = np.arange(first[-1]) + np.repeat(rows[elements] - first[:-1], np.diff(first))
        return _ElementChunk(elements, columns, offsets_of(sizes), places)

    def _lower(
        self, part: _ElementChunk, those: IndexArray, chosen: FloatArray, own: FloatArray, steps: FloatArray
    ) -> None:
        """Lower bounds to the divergence of outcomes from the prediction, plus the part of the ridge."""
        fit, elements = self.fit, part.elements[those]
        rise = fit.divergences(steps)
        if fit.ridge > 0:
            penalty = (chosen[:, :, : fit.n_penalised] ** 2).sum(axis=(1, 2))
            squares = (own.reshape(-1, fit.levels) ** 2).sum(axis=1)
            penalty += np.add.reduceat(squares, part.begin[:-1])[those]
            rise = rise + fit.ridge * penalty / 2
        self.bound[elements] = np.fmin(self.bound[elements], rise)

    def _shorten(
        self, part: _ElementChunk, chosen: FloatArray, own: FloatArray, steps: FloatArray, floor: float
    ) -> None:
        """Lower bounds by other outcomes, where Newton's step leads to negative ones or nearly so.

        The step is shortened there and corrected elsewhere: any outcome with the same products with the
        columns is a dual point.
        """
        fit, those = self.fit, np.arange(len(part.elements))
        for limit in STEP_LIMITS:
            still = self.bound[part.elements[those]] >= floor
            if not still.any():
                return
            those, chosen, steps = those[still], chosen[still], steps[still]
            given = fit.outcomes, fit.likelihood.class_basis, fit.curve, fit.chosen, part.columns, part.begin
            lost, lost_own, is_shorter = families.shorten_steps(*given, those, steps, limit, MOST_RISE)
            if not is_shorter:
                return
            more_chosen, more_own = self._solved(part, those, lost, lost_own.ravel())
            chosen, own = chosen + more_chosen, own + more_own
            steps += self._steps(part, those, more_chosen, more_own)
            self._lower(part, those, chosen, own, steps)

    def _steps(
        self, part: _ElementChunk, those: IndexArray, chosen: FloatArray, own: FloatArray
    ) -> FloatArray:
        levels, samples = self.fit.eta.shape
        flat = chosen.reshape(len(those) * levels, len(self.fit.chosen)) @ self.fit.chosen
        steps: FloatArray = flat.reshape(len(those), levels, samples)
        blocks.add_combinations(steps, those, part.begin, own, part.columns)
        return steps

    def _solved(
        self, part: _ElementChunk, those: IndexArray, along_chosen: FloatArray, along_own: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        rows, at = self._places
        shape, elements = along_chosen.shape, part.elements[those]
        sizes = np.diff(rows)[elements]
        first, within = offsets_of(sizes), part.begin[those] * self.fit.levels
        local = np.arange(first[-1]) + np.repeat(within - first[:-1], sizes)
        places = part.rows[local]
        along_chosen = along_chosen.reshape(len(those), self._parameter_step.size)
        explained = self.coupling[places] * np.repeat(along_chosen, sizes, axis=0)
        right = along_own[local] - explained.sum(axis=1)
        begin = offsets_of(sizes**2)
        entries = np.arange(begin[-1]) + np.repeat(at[elements] - begin[:-1], sizes**2)
        own = np.zeros(len(part.rows))
        own[local] = blocks.block_solutions(first, begin, right, self._left[entries], self._floor[places])[0]
        moved = np.add.reduceat(own[local, None] * self.coupling[places], first[:-1], axis=0)
        chosen = along_chosen @ self.fit.inverse[0] - moved
        return chosen.reshape(shape), own

    def predicted_swaps(self, rows: IndexArray, places: IndexArray) -> FloatArray:
        fit, m = self.fit, len(self.fit.chosen)
        if not len(rows):
            return np.zeros(0)
        drops, column = np.unique(places, return_inverse=True)
        first, slots = self._columns_of_drops(drops)
        first, slots = first * fit.levels, (slots[:, None] + m * np.arange(fit.levels)).ravel()
        coef = np.ascontiguousarray(fit.theta.T).ravel()
        factors = first, slots, *blocks.drop_factors(first, slots, fit.inverse[0], coef)
        quantities = (*self._places, self.coupling, self.slope, self._left, self._floor)
        gains: FloatArray = blocks.pair_gains(rows, column, quantities, factors, False)
        return gains / 2

    def _columns_of_drops(self, drops: IndexArray) -> tuple[IndexArray, IndexArray]:
        sizes = np.diff(self._source.begin)[self._support]
        chosen, first = offsets_of(sizes), offsets_of(sizes[drops])
        return first, np.arange(first[-1]) + np.repeat(chosen[drops] - first[:-1], sizes[drops])


def block_screening_scores(fit: FitPoint, source: ElementColumns) -> FloatArray:
    """The gain of each element by a Newton step with the mean curvature of all samples."""
    levels, every = fit.levels, np.arange(len(source.begin) - 1)
    a, b = np.triu_indices(levels)
    mean = np.empty((levels, levels))
    mean[a, b] = mean[b, a] = fit.pairs[0].sum(axis=1) / fit.likelihood.weight.sum()
    sizes, directions = np.linalg.eigh(mean)
    sizes = np.maximum(sizes, max(LEAST_CURVATURE * float(sizes[-1]), np.finfo(float).tiny))
    slopes = source.products(every, fit.slope) @ (directions / np.sqrt(sizes))
    at = offsets_of(np.diff(source.begin) ** 2)
    floor, scores = np.zeros(len(slopes)), np.zeros(len(every))
    for slope in slopes.T:
        gains = blocks.block_solutions(source.begin, at, slope, source.own, floor)[1]
        scores += np.nan_to_num(gains)
    return scores / 2
