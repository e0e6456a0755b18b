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

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import blocks
from swapwise.objectives.block_columns import chunks_of, diagonals, offsets_of
from swapwise.objectives.glm.element_columns import ElementColumns
from swapwise.objectives.glm.likelihood import Likelihood
from swapwise.objectives.glm.second_order import LEAST_LEFT, inverted

# The least mean curvature of a combination of levels, relative to the largest, in a screening score.
LEAST_CURVATURE = 1e-8


@dataclass(frozen=True)
class FitPoint:
    """A fit, as far as samples see it: ``η = offset + θᵀ chosen``, with slope and curvature there."""

    likelihood: Likelihood
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
    def inverse(self) -> tuple[FloatArray, bool]:
        """The inverse of minus the Hessian in the parameters, and whether these are far from collinear."""
        pair, m = self.pairs[1], len(self.chosen)
        products = self.weighted @ self.chosen.T
        hessian = products[pair].transpose(0, 2, 1, 3).reshape(self.levels * m, self.levels * m)
        penalty = np.append(np.full(self.n_penalised, self.ridge), np.zeros(m - self.n_penalised))
        hessian[np.diag_indices(len(hessian))] += np.tile(penalty, self.levels)
        return inverted(hessian)

    def largest_change(self, step: FloatArray) -> float:
        """Return how much a step of η, levels by samples, changes any outcome at most, relative to it."""
        if self.levels > 1:
            scores = self.likelihood.basis @ step
            return float((scores.max(axis=0) - scores.min(axis=0)).max(initial=0.0))
        return float(np.abs(step).max(initial=0.0))

    def divergences(self, steps: FloatArray) -> FloatArray:
        """Return how far the outcomes after steps of η are from the prediction."""
        from swapwise.kernels import families

        likelihood = self.likelihood
        if likelihood.family.scores is not None:
            return families.class_divergences(self.eta, likelihood.weight, likelihood.basis, steps)
        kernel, single = likelihood.family.kernel, np.ascontiguousarray(steps[:, 0])
        return families.divergences(kernel, self.eta[0], likelihood.target, likelihood.weight, single)


class BlockBounds:
    """What the addition of any of some elements to a fit is predicted to gain, and what none exceeds.

    ``predicted`` and ``bound`` are relative to the value of the fit; where the model says nothing, they are
    what is missing of the fit, and infinity. The proof is that of
    :class:`swapwise.objectives.second_order.AdditionBounds`, with a step z of several levels per sample:
    the outcome of Newton's step is ``q_k = p_k (1 + d_k)`` with d the step in scores of the classes less its
    mean under p, and for ``ζ = max |d_k| < 1``

        D(q, p) = Σ_k p_k (1 + d_k) log(1 + d_k)  ≤  ½ zᵀVz / (1 − ζ) .

    Scores are an orthonormal image of levels, so no d exceeds √2 times the length of z.

    Parameters
    ----------
    fit : FitPoint
    source : ElementColumns
    support : array
        The elements of the fit.
    elements : array
        The elements that may be added.
    """

    #: Whether ``bound`` is proven, and not just predicted
    proves = True

    def __init__(
        self, fit: FitPoint, source: ElementColumns, support: IndexArray, elements: IndexArray
    ) -> None:
        self.fit, self._source, self._support, self._elements = fit, source, support, elements
        places, self._begin = source.places(elements)
        n = len(elements)
        inverse, self.is_known = fit.inverse
        self.predicted, self.bound = np.zeros(n), np.full(n, np.inf)
        if self.is_known and n:
            self._expand(inverse)
            chosen = source.heights[source.places(support)[0]]
            self._bound(source.heights[places], np.append(chosen, np.ones(len(fit.chosen) - len(chosen))))

    def _expand(self, inverse: FloatArray) -> None:
        """Take the chosen columns out of those of the elements, as the curvature sees them."""
        fit, levels = self.fit, self.fit.levels
        pair = fit.pairs[1]
        vectors = np.vstack([fit.weighted.reshape(-1, fit.chosen.shape[1]), fit.slope])
        found = self._source.products(self._elements, vectors)
        count = len(found)
        products = found[:, : -levels or None].reshape(count, -1, len(fit.chosen))[:, pair]
        products = products.reshape(count * levels, levels * len(fit.chosen))
        self.coupling = products @ inverse
        rows, at = self._begin * levels, offsets_of((np.diff(self._begin) * levels) ** 2)
        own = self._own_blocks(pair)
        self._left = blocks.remaining_blocks(own, rows, at, self.coupling, products)
        # What is taken out may be much longer than the column itself, and rounds by its own length.
        taken_out = np.abs(products * self.coupling).sum(axis=1)
        self._floor = LEAST_LEFT * np.maximum(own[diagonals(rows, at)], taken_out)
        self.slope = found[:, -levels:].ravel() - self.coupling @ fit.gradient
        self._step = inverse @ fit.gradient
        missing = float(fit.gradient @ self._step)
        self._coef, gains = blocks.block_solutions(rows, at, self.slope, self._left, self._floor)
        self._clear = ~np.isnan(gains)
        self.predicted = np.where(self._clear, missing + gains, missing) / 2
        self._places = rows, at

    def _own_blocks(self, pair: IndexArray) -> FloatArray:
        """Return the curvature in the coefficients of every element, with the ridge, block by block."""
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
        """Return the step of the chosen parameters that goes with each element: elements by levels by them.

        What is missing of the fit is not part of it.
        """
        if self._changed is None:
            moved = np.add.reduceat(self._coef[:, None] * self.coupling, self._places[0][:-1], axis=0)
            self._changed = -moved.reshape(len(self.predicted), self.fit.levels, -1)
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
        reach = fit.largest_change(self._step.reshape(fit.levels, -1) @ fit.chosen)
        zeta = reach + (np.sqrt(2.0) if fit.levels > 1 else 1.0) * farthest
        bounded = self._clear & (zeta < 1)
        self.bound[bounded] = self.predicted[bounded] / (1.0 - zeta[bounded])

    def tighten(self, floor: float) -> None:
        """Look closer at those that only a crude bound keeps above the floor."""
        if not self.is_known or not len(self.predicted):
            return
        unclear = np.flatnonzero((self.bound >= floor) & (self.predicted < floor) & self._clear)
        sizes = np.diff(self._begin)[unclear] + len(self.fit.chosen)
        for first, last in chunks_of(offsets_of(sizes * self.fit.levels), self.fit.chosen.shape[1]):
            part = unclear[first:last]
            self.bound[part] = np.minimum(self.bound[part], self._rises(part))

    def _rises(self, elements: IndexArray) -> FloatArray:
        """Return the divergence of Newton's outcome from the prediction, and the ridge's share."""
        fit, begin = self.fit, self._begin
        parameters = self._changes()[elements] + self._step.reshape(fit.levels, -1)
        steps = parameters @ fit.chosen
        penalty = (parameters[:, :, : fit.n_penalised] ** 2).sum(axis=(1, 2))
        columns, within = self._source.of(self._elements[elements]), offsets_of(np.diff(begin)[elements])
        for place, e in enumerate(elements):
            coef = self._coef[begin[e] * fit.levels : begin[e + 1] * fit.levels].reshape(-1, fit.levels)
            steps[place] += coef.T @ columns[within[place] : within[place + 1]]
            penalty[place] += (coef**2).sum()
        return fit.divergences(steps) + fit.ridge * penalty / 2

    def predicted_swaps(self, rows: IndexArray, places: IndexArray) -> FloatArray:
        """Return what swaps are predicted to gain: the closed form of least squares, halved.

        ``rows`` are the elements that come, ``places`` those of the fit that go.
        """
        fit, m = self.fit, len(self.fit.chosen)
        if not self.is_known or not len(rows):
            return np.zeros(len(rows))
        drops, column = np.unique(places, return_inverse=True)
        first, slots = self._columns_of_drops(drops)
        slots = (slots[:, None] + m * np.arange(fit.levels)).ravel()
        coef = np.ascontiguousarray(fit.theta.T).ravel()
        factors: Any = blocks.drop_factors(first * fit.levels, slots, fit.inverse[0], coef)
        quantities = (*self._places, self.coupling, self.slope, self._left, self._floor)
        gains: FloatArray = blocks.pair_gains(rows, column, quantities, factors, False)
        return gains / 2

    def _columns_of_drops(self, drops: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Return where the chosen columns of drops begin, one drop after the other, and which they are."""
        sizes = np.diff(self._source.begin)[self._support]
        chosen, first = offsets_of(sizes), offsets_of(sizes[drops])
        return first, np.arange(first[-1]) + np.repeat(chosen[drops] - first[:-1], sizes[drops])


def block_screening_scores(fit: FitPoint, source: ElementColumns) -> FloatArray:
    """Return roughly what each element would add: a Newton step with the mean curvature of all samples."""
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
