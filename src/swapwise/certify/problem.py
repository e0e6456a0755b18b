"""Restricted problems: an objective on the elements that are not ruled out."""

from __future__ import annotations

from functools import partial

import numpy as np

from swapwise.certify.relaxation import used_rows
from swapwise.certify.ties import Ties
from swapwise.certify.working_set import WorkingSet, curvature_lengths
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.objectives.base import SparseObjective, rows_of
from swapwise.objectives.least_squares.objective import is_by_column
from swapwise.objectives.quadratic import Quadratic
from swapwise.theory.diagonal import proportional_diagonal

# Up to this many coefficients a quadratic objective is replaced by its inner products.
PRODUCTS_UP_TO = 3000

# The same where there are more coefficients than samples.
WIDE_PRODUCTS_UP_TO = 500


class RestrictedProblem:
    """A sparse objective on some elements of a ground set, with a shift of its curvature."""

    def __init__(
        self,
        objective: SparseObjective,
        diagonal: FloatArray | None = None,
        elements: IndexArray | None = None,
        n_whole: int | None = None,
        ties: Ties | None = None,
    ) -> None:
        self.objective = objective
        self.elements = np.arange(objective.n) if elements is None else elements
        self.n_whole = objective.n if n_whole is None else n_whole
        self._diagonal = diagonal
        #: Its columns if some of them are known to be combinations of others
        self.ties = ties
        self.working_set = WorkingSet(objective)

    @property
    def diagonal(self) -> FloatArray:
        """A D such that ``u(w) + wᵀDw/2`` is concave."""
        if self._diagonal is None:
            self._diagonal = np.full(self.objective.n, self.objective.strong_concavity(self.objective.n))
        return self._diagonal

    def among(self, kept: IndexArray, clock: Clock, diagonal: FloatArray | None = None) -> RestrictedProblem:
        """Return the problem on some of the elements, by inner products once they are few enough."""
        objective, elements = self.objective, self.elements[kept]
        if isinstance(objective, Quadratic) or not self._is_worth_products(kept):
            part = objective if len(kept) == objective.n else objective.restricted(kept)
            known = self.diagonal if diagonal is None else diagonal
            return RestrictedProblem(part, known[kept], elements, self.n_whole)
        nothing = np.zeros_like(objective.coef([]))
        rows, owner = used_rows(objective, kept)
        H, slope = objective.hessian_at(nothing, kept), objective.gradient_at(nothing)[rows]
        # In units in which all elements have the same curvature, the fewest steps are needed.
        scale = curvature_lengths(np.diag(H), owner)[owner]
        bounds = None if objective.bounds is None else objective.bounds.restricted(rows)
        products = Quadratic(
            H / np.outer(scale, scale),
            slope / scale.reshape(-1, *(1,) * (slope.ndim - 1)),
            objective.scale,
            objective.copies()[kept] if is_by_column(objective) else None,
            None if objective.groups is None else objective.groups.restricted(kept),
            None if bounds is None else bounds.scaled(scale),
        )
        diagonal = shift_of(products, partial(objective.dependencies, kept), clock)
        ties = None
        if is_by_column(objective) and not diagonal.all():
            ties = Ties.of(objective, kept, scale)
        return RestrictedProblem(products, diagonal, elements, self.n_whole, ties)

    def shift_of_some(self, elements: IndexArray, clock: Clock) -> FloatArray:
        part, shift = self.objective.restricted(elements), np.zeros(self.objective.n)
        assert isinstance(part, Quadratic)
        shift[elements] = proportional_diagonal(part.H, clock=clock)
        return shift

    def _is_worth_products(self, kept: IndexArray) -> bool:
        """Return whether inner products prove more than the data do, for their cost.

        With more columns than samples, the diagonal is hardly more than a ridge, or 0.
        """
        objective, size = self.objective, len(rows_of(self.objective, kept))
        if objective.curvature_is != "hessian" or size > PRODUCTS_UP_TO:
            return False
        samples = objective.sample_curvature(np.zeros_like(objective.coef([])))
        return samples is None or size <= max(len(samples.weight), WIDE_PRODUCTS_UP_TO)

    def whole(self, support: IndexArray) -> IndexArray:
        return self.elements[support]

    def spread(self, values: FloatArray) -> FloatArray:
        everywhere = np.zeros(self.n_whole)
        everywhere[self.elements] = values
        return everywhere


def shift_of(objective: Quadratic, dependencies: partial[int | None], clock: Clock) -> FloatArray:
    by_row = proportional_diagonal(objective.H, dependencies, clock)
    if objective.groups is None:
        return by_row
    least: FloatArray = np.minimum.reduceat(by_row[objective.groups.rows], objective.groups.begin[:-1])
    return least
