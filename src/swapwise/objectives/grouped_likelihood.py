"""What searches ask of a likelihood whose elements have several coefficients: scores, models, best moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import blocks
from swapwise.moves import NOTHING, MoveList
from swapwise.objectives.block_bounds import BlockBounds, FitPoint
from swapwise.objectives.block_columns import (
    COPY_UP_TO,
    SHORT,
    components,
    offsets_of,
    own_products,
    shortest_directions,
)
from swapwise.objectives.block_model import quadratic_model
from swapwise.objectives.group_least_squares import GroupLeastSquares

if TYPE_CHECKING:
    from swapwise.objectives.generalized_linear import GeneralizedLinear
    from swapwise.objectives.generalized_linear_state import BoundedRefits, GeneralizedLinearState

# The least mean curvature of a combination of levels, relative to the largest, in a screening score.
LEAST_CURVATURE = 1e-8

# An expansion has a number per coefficient of an element and parameter of the fit. Elements are expanded in
# parts of this many: 32 MB.
MOST_NUMBERS = 1 << 22

# How many of the moves with the largest predicted gains are refitted first.
FIRST_REFITS = 4


class ElementColumns:
    """The columns of elements, one element after the other, without those that others of it span."""

    def __init__(self, objective: GeneralizedLinear) -> None:
        self._objective = objective
        self.columns, self.begin = objective.columns, objective._begin
        members = objective._members
        self._maps: dict[int, FloatArray] = {}
        if (np.diff(members) != 1).any():
            self.columns = self.columns[members]
        samples = objective.n_samples
        self.own = self._own()
        too_short = np.flatnonzero(shortest_directions(self.own, self.begin) < SHORT)
        if len(too_short) and samples * objective.n_features <= COPY_UP_TO:
            self._reduce(too_short)
            self.own = self._own()
        #: The largest absolute value in every column
        self.heights = np.maximum(self.columns.max(axis=1), -self.columns.min(axis=1))

    def _own(self) -> FloatArray:
        """Return the inner products of the columns within every element, as samples are weighted."""
        weight = self._objective.weight
        return own_products(lambda a, b: self.columns[a:b], self.begin, len(weight), weight[None])

    def _reduce(self, elements: IndexArray) -> None:
        """Replace columns of elements by components of them; those with short ones stay as they are."""
        parts = [self.columns[a:b] for a, b in zip(self.begin[:-1], self.begin[1:], strict=True)]
        root = np.sqrt(self._objective.weight)
        for e in elements.tolist():
            found = components(parts[e] * root, self._objective.ridge)
            if found is None:
                continue
            self._maps[e] = found.from_coefficients
            parts[e] = found.from_columns @ parts[e]
        self.columns = np.vstack(parts)
        self.begin = offsets_of(np.array([len(part) for part in parts]))

    def of(self, elements: IndexArray) -> tuple[FloatArray, IndexArray, FloatArray]:
        """Return the columns of elements, where those of each begin, and their largest entries."""
        if len(elements) == len(self.begin) - 1:
            return self.columns, self.begin, self.heights
        sizes = np.diff(self.begin)[elements]
        begin = offsets_of(sizes)
        rows = np.arange(begin[-1]) + np.repeat(self.begin[elements] - begin[:-1], sizes)
        return self.columns[rows], begin, self.heights[rows]

    def dots(self, vectors: FloatArray) -> FloatArray:
        """Return the products of all columns with vectors of one number per sample, one vector per row."""
        products: FloatArray = self.columns @ vectors.T
        return products

    def coefficients(self, elements: IndexArray, theta: FloatArray) -> FloatArray:
        """Return parameters on elements, and the intercept behind them, for these columns."""
        if not self._maps:
            return theta
        begin, parts = offsets_of(np.diff(self._objective._begin)[elements]), []
        for place, e in enumerate(elements.tolist()):
            part = theta[begin[place] : begin[place + 1]]
            parts.append(self._maps[e] @ part if e in self._maps else part)
        return np.vstack([*parts, theta[begin[-1] :]])


def fit_point(objective: GeneralizedLinear, support: IndexArray, theta: FloatArray) -> FitPoint:
    """Return a fit as samples see it."""
    elements = objective.element_columns
    chosen = elements.of(support)[0] if len(support) else np.empty((0, objective.n_samples))
    n_penalised = len(chosen)
    if objective.fit_intercept:
        chosen = np.vstack([chosen, np.ones(objective.n_samples)])
    theta = elements.coefficients(support, theta)
    eta = objective.offset + theta.T @ chosen
    _, slope, curve = objective.derivatives(eta)
    return FitPoint(
        objective.family,
        objective.basis,
        objective.weight,
        chosen,
        theta,
        eta,
        slope,
        curve,
        objective.ridge,
        n_penalised,
    )


class Expansion(NamedTuple):
    """Bounds of some elements, and the row of each."""

    bounds: BlockBounds
    row: IndexArray


def expansion(
    objective: GeneralizedLinear, support: IndexArray, fit: FitPoint, elements: IndexArray
) -> Expansion:
    """Return the second-order model of adding elements to a fit."""
    whole = objective.element_columns
    row = np.arange(len(elements))
    if 2 * len(elements) > objective.n:  # to gather most columns costs more than to compute with all
        elements, row = np.arange(objective.n), elements
    heights = np.append(whole.of(support)[2], np.ones(len(fit.chosen) - fit.n_penalised))
    return Expansion(BlockBounds(fit, *whole.of(elements), heights), row)


def screening_scores(objective: GeneralizedLinear, support: IndexArray, fit: FitPoint) -> FloatArray:
    """Return roughly what each element would add: a Newton step with the mean curvature of all samples."""
    whole, levels = objective.element_columns, fit.levels
    a, b = np.triu_indices(levels)
    mean = np.empty((levels, levels))
    mean[a, b] = mean[b, a] = fit.pairs[0].sum(axis=1) / objective.weight.sum()
    sizes, directions = np.linalg.eigh(mean)
    sizes = np.maximum(sizes, max(LEAST_CURVATURE * float(sizes[-1]), np.finfo(float).tiny))
    slopes = whole.dots(fit.slope) @ (directions / np.sqrt(sizes))
    at = offsets_of(np.diff(whole.begin) ** 2)
    floor = np.zeros(len(slopes))
    scores = np.zeros(objective.n)
    for slope in slopes.T:
        gains = blocks.block_solutions(whole.begin, at, slope, whole.own, floor)[1]
        scores += np.nan_to_num(gains)
    scores[support] = 0.0
    return scores / 2


def model_of(objective: GeneralizedLinear, fit: FitPoint, elements: IndexArray) -> GroupLeastSquares | None:
    """Return the second-order model around a fit as least squares on the columns of some elements."""
    columns, begin, _ = objective.element_columns.of(elements)
    return quadratic_model(fit, fit.eta - objective.offset, columns, begin)


def unpruned_moves(state: GeneralizedLinearState, refits: BoundedRefits) -> MoveList:
    """Return the moves that duality does not prove to gain less than the best, all of them refitted.

    Where every element comes with one drop only, it is bounded from the fit without that. Else all additions
    are bounded first: no swap gains more than its addition alone.
    """
    added, dropped = refits.listed.swap_columns()
    loses = dropped != NOTHING
    bound = np.full(len(added), np.inf)
    if len(np.unique(added)) < len(added) or not loses.all():
        bound = _refit_additions(state, refits, added, dropped)
    for gone in np.unique(dropped[loses & (bound >= refits.least)]):
        rows = np.flatnonzero((dropped == gone) & (bound >= refits.least))
        if len(rows):
            _refit_without(state, int(gone), rows, added[rows], refits)
    return refits.listed.take(np.array(sorted(refits.done), dtype=np.intp))


def _refit_additions(
    state: GeneralizedLinearState, refits: BoundedRefits, added: IndexArray, dropped: IndexArray
) -> FloatArray:
    """Refit the moves with the largest predicted gains, and additions; return a bound for every move."""
    elements, place = np.unique(added, return_inverse=True)
    bound = np.empty(len(added))
    for part in _parts(state.objective, state.point, elements):
        moves = np.flatnonzero((place >= part[0]) & (place <= part[-1]))
        bounds, row = expansion(state.objective, state.support, state.point, elements[part])
        row = row[place[moves] - part[0]]
        expected = _expected(state, bounds, row, dropped[moves])
        best_first = np.argsort(-expected, kind="stable")[:FIRST_REFITS]
        refits.refit(moves[best_first[expected[best_first] > refits.least]])
        bounds.tighten(refits.least)
        bound[moves] = bounds.bound[row]
        free = np.flatnonzero((dropped[moves] == NOTHING) & (bound[moves] >= refits.least))
        refits.run(moves[free], bounds.predicted[row[free]], bound[moves[free]])
    return bound


def _expected(
    state: GeneralizedLinearState, bounds: BlockBounds, row: IndexArray, dropped: IndexArray
) -> FloatArray:
    """Return what moves are predicted to gain that add the elements of some rows."""
    expected, loses = bounds.predicted[row], dropped != NOTHING
    if bounds.is_known and loses.any():
        drops, column = np.unique(dropped[loses], return_inverse=True)
        expected[loses] = bounds.predicted_swaps(row[loses], column, *_slots(state, drops))
    return expected


def _parts(objective: GeneralizedLinear, fit: FitPoint, elements: IndexArray) -> list[IndexArray]:
    """Return positions in ``elements``, in parts whose expansions are of moderate size."""
    columns = int(np.diff(objective.element_columns.begin)[elements].sum())
    numbers = columns * fit.levels**2 * len(fit.chosen)
    parts = np.array_split(np.arange(len(elements)), numbers // MOST_NUMBERS + 1)
    return [part for part in parts if len(part)]


def _slots(state: GeneralizedLinearState, drops: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return where the chosen columns of drops begin, one drop after the other, and which they are."""
    sizes = np.diff(state.objective.element_columns.begin)
    chosen, place = offsets_of(sizes[state.support]), np.searchsorted(state.support, drops)
    first = offsets_of(sizes[drops])
    return first, np.arange(first[-1]) + np.repeat(chosen[place] - first[:-1], sizes[drops])


def _refit_without(
    state: GeneralizedLinearState, gone: int, rows: IndexArray, added: IndexArray, refits: BoundedRefits
) -> None:
    """Refit those swaps that drop one element and may yet be the best."""
    rest = state.support[state.support != gone]
    value, theta = state.objective.fit_from(rest, state._parameters_on(rest))
    state.n_evaluations += 1
    lost = value - state.value
    fit = fit_point(state.objective, rest, theta)
    predicted, bound = np.empty(len(added)), np.empty(len(added))
    for part in _parts(state.objective, fit, added):
        bounds, row = expansion(state.objective, rest, fit, added[part])
        bounds.tighten(refits.least - lost)
        predicted[part], bound[part] = bounds.predicted[row] + lost, bounds.bound[row] + lost
    refits.run(rows, predicted, bound)
