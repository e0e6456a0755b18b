"""The best fractional set under nested limits: proximal steps on a model of the objective.

The model is the second-order one on a working set of elements, which for least squares is exact. All that is
asked of the data is the gradient at the coefficients that come out, which proves the bound and says which
elements the working set lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swapwise.certify.region import Region
from swapwise.certify.relaxation import Relaxation, by_element, used_rows
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.kernels import perspective
from swapwise.objectives.base import SparseObjective, rows_of
from swapwise.objectives.quadratic import Quadratic

# Up to this many elements are all in the working set. Of more, it begins with about so many, grows by no less
# than these at a time, and begins anew when there are too many.
ALL_UP_TO, FIRST_ELEMENTS, MOST_ELEMENTS = 500, 200, 4000

# Steps of one round: no more numbers than these are multiplied, a few tenths of a second.
MOST_PRODUCTS = 500_000_000
FEWEST_STEPS, MOST_STEPS = 20, 1000

# Value and bound are never closer than this share of the value.
FINEST = 1e-9

# How far to go where the model leads, and how much of a rise has to agree with it.
STEPS, LEAST_AGREEMENT = (1.0, 0.3, 0.1, 0.02), 0.4


class WorkingSet:
    """The elements that models are made of, and minus the Hessian on them; one for all parts of a problem.

    That of a quadratic objective is the same everywhere. That of others is taken at some coefficients, and
    kept until a step of the model fails.
    """

    elements: IndexArray
    #: The rows of coefficients of the elements, and whose each row of the Hessian is
    rows: IndexArray
    owner: IndexArray
    #: Minus the Hessian for coefficients that are multiplied by a scale, so that elements curve alike
    H: FloatArray
    scale: FloatArray

    def __init__(self, objective: SparseObjective) -> None:
        self.objective = objective
        self.elements = np.empty(0, dtype=np.intp)
        if isinstance(objective, Quadratic):
            self.elements = np.arange(objective.n)
            self.rows, self.owner = used_rows(objective, self.elements)
            self.H, self.scale = objective.H, np.ones((len(objective.H), 1))

    def grow(self, elements: IndexArray, coef: FloatArray) -> None:
        """Have some elements among the others, or with those of the coefficients alone if they are too many."""
        if np.isin(elements, self.elements).all():
            return
        if len(self.elements) + len(elements) > MOST_ELEMENTS:
            self.elements = np.flatnonzero(by_element(self.objective, coef**2))
        self.elements = np.union1d(self.elements, elements)
        self.renew(coef)

    def renew(self, coef: FloatArray) -> None:
        """Take the curvature at some coefficients from now on."""
        H = self.objective.hessian_at(coef, self.elements)
        self.rows, owner = used_rows(self.objective, self.elements)
        self.owner = np.repeat(owner, len(H) // max(1, len(owner)))
        self.scale = curvature_lengths(H, self.owner)[self.owner][:, None]
        self.H = H / (self.scale * self.scale.T)

    def scaled(self, values: FloatArray, power: int) -> FloatArray:
        """Return coefficients (power 1) or their slopes (−1) as the scaled model has them, row by row."""
        scaled: FloatArray = values[self.rows].reshape(len(self.H), -1) * self.scale**power
        return np.ascontiguousarray(scaled)

    def steepness(self, coef: FloatArray) -> FloatArray:
        """Return the root of minus the second derivative in each coefficient that is not zero."""
        everywhere, curved = np.zeros_like(coef), np.sqrt(np.maximum(np.diag(self.H), 0.0)) * self.scale[:, 0]
        shape = coef[self.rows].shape
        everywhere[self.rows] = np.broadcast_to(curved.reshape(len(self.rows), -1), (len(self.rows), coef[:1].size)).reshape(shape)
        return everywhere[coef != 0]


def curvature_lengths(H: FloatArray, owner: IndexArray) -> FloatArray:
    """Return the root of the mean curvature of each element's coefficients, 1 where there is none."""
    lengths = np.sqrt(np.bincount(owner, np.maximum(np.diag(H), 0.0)) / np.bincount(owner))
    return np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class WorkingPoint:
    """A fractional set and its coefficients, from which another relaxation may start."""

    elements: IndexArray
    #: Their shares in the fractional set
    point: FloatArray
    coef: FloatArray
    #: How many rows of coefficients each element has
    sizes: IndexArray

    def among(self, kept: IndexArray) -> WorkingPoint:
        """Return the same with elements numbered by their places among some, without all others."""
        found = self._only(np.isin(self.elements, kept))
        return replace(found, elements=np.searchsorted(kept, found.elements))

    def without(self, outside: BoolArray) -> WorkingPoint:
        """Return the same without some elements."""
        return self._only(~outside[self.elements])

    def _only(self, stays: BoolArray) -> WorkingPoint:
        coef = self.coef[np.repeat(stays, self.sizes)]
        return replace(
            self, elements=self.elements[stays], point=self.point[stays], coef=coef, sizes=self.sizes[stays]
        )


class Proximal(Relaxation):
    """A fractional set and its coefficients, improved round by round on a working set."""

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        working_set: WorkingSet,
        start: WorkingPoint | None = None,
    ) -> None:
        self.objective, self.region, self.diagonal = objective, region, diagonal
        self._working_set, self._step_curvature = working_set, 1.0
        self.coef, self.point = np.zeros_like(objective.coef([])), np.zeros(objective.n)
        if start is not None:
            start = start.without(region.outside)
            self.coef[rows_of(objective, start.elements)] = start.coef
            self.point[start.elements] = start.point
        self.point[region.inside] = 1.0
        working_set.grow(np.union1d(region.held, np.flatnonzero(self.point)), self.coef)
        self._settle()
        if start is None:
            working_set.grow(self._first_elements(), self.coef)
        else:
            self.value = -np.inf  # what the fractional set holds may be too much here

    @property
    def start(self) -> WorkingPoint:
        """What another relaxation may start from."""
        elements = np.flatnonzero(self.point)
        rows, owner = used_rows(self.objective, elements)
        sizes = np.bincount(owner, minlength=len(elements))
        return WorkingPoint(elements, self.point[elements], self.coef[rows], sizes)

    def set_diagonal(self, diagonal: FloatArray) -> None:
        """Use another diagonal for which ``u(w) + wᵀDw/2`` is concave."""
        self.diagonal = diagonal
        self._settle()

    # -- the working set ----------------------------------------------------------------------------

    def _first_elements(self) -> IndexArray:
        """Return the elements to begin with: all, or those of the largest weights that fit together."""
        allowed = np.flatnonzero(~self.region.outside)
        if len(allowed) <= ALL_UP_TO:
            return allowed
        weights, found = self.dual.weights.copy(), [self.region.held]
        weights[self.region.held] = 0.0
        while sum(map(len, found)) < FIRST_ELEMENTS and weights.any():
            found.append(self.region.max_weight(weights)[0])
            weights[found[-1]] = 0.0
        return np.unique(np.concatenate(found))

    def _lacking(self) -> IndexArray:
        """Return elements beside the working set whose weights would make room for them.

        If there are few, others that come closest to that come with them: to grow takes a while.
        """
        known = self._working_set.elements
        if len(known) == self.objective.n:
            return known[:0]
        inner = np.zeros(len(self.diagonal))
        inner[known] = self.dual.weights[known]
        answer = self.region.heaviest(inner)
        gains = self.region.gains_of_additions(self.dual.weights, answer)
        gains[known] = 0.0
        if not (gains > 1e-9 * answer.weight).any():
            return known[:0]
        gains[known] = gains[self.region.outside] = -np.inf
        most = min(max(FIRST_ELEMENTS, np.count_nonzero(gains > 0)), max(FIRST_ELEMENTS, len(known) // 2))
        best = np.argpartition(-gains, most - 1)[:most] if most < len(gains) else np.arange(len(gains))
        return np.sort(best[gains[best] > -np.inf])

    # -- rounds -------------------------------------------------------------------------------------

    def improve(self, target: float, precision: float) -> bool:
        """Improve the fractional set on the working set, and enlarge that; return whether that may go on."""
        before, lowest = self.value, self.dual.bound
        self._solve(target, precision)
        if self.dual.bound <= target:
            return False
        lacking = self._lacking()
        if len(lacking):
            self._working_set.grow(lacking, self.coef)
            return True
        close = self.dual.bound - self.value <= max(self._finest, precision * (self.dual.bound - target))
        return not close and (self.value > before or self.dual.bound < lowest)

    @property
    def _finest(self) -> float:
        return FINEST * max(abs(self._at), self.objective.scale)

    def _solve(self, target: float, precision: float) -> None:
        """Go to the best fractional set of the model, or on towards it."""
        self.region.clock.check()
        among = self._working_set
        elements, H = among.elements, among.H
        here = among.scaled(self.coef, 1)
        bent = H @ here
        linear = among.scaled(self._gradient, -1) + bent
        base = self._at - float((here * (linear - 0.5 * bent)).sum())
        lengths = np.ones(len(elements))
        lengths[among.owner] = among.scale[:, 0]
        model = (
            H,
            linear,
            self.diagonal[elements] / lengths**2,
            among.owner,
            self.region.inside[elements],
            ~self.region.outside[elements],
        )
        most = int(np.clip(MOST_PRODUCTS / max(1, H.size), FEWEST_STEPS, MOST_STEPS))
        steps = here, self._step_curvature, target - base, precision, self._finest, most
        coef, point, value, _, self._step_curvature, _ = self._maximise(model, steps)
        ahead, fractional = np.zeros_like(self.coef), np.zeros(len(self.diagonal))
        ahead[among.rows] = (coef / among.scale).reshape(self.coef[among.rows].shape)
        fractional[elements] = point
        self._go_towards(ahead, fractional, base + value)

    def _maximise(self, model: tuple[Any, ...], steps: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what the kernel finds within the limits, given all but these."""
        tree, elements = self.region.constraint.laminar_tree(), self._working_set.elements
        assert tree is not None
        limits = (tree.leaf[elements], tree.end, tree.parent, tree.capacity)
        return perspective.solve(*model, limits, *steps)

    def _go_towards(self, ahead: FloatArray, fractional: FloatArray, expected: float) -> None:
        """Go to other coefficients and their fractional set, or so far that value or bound get better.

        If the value is not about what the model expected, its curvature is out of date.
        """
        coef, point, value, bound = self.coef, self.point, self.value, self.dual.bound
        for share in STEPS:
            self.coef = coef + share * (ahead - coef)
            self.point = point + share * (fractional - point)
            self._settle()
            if self.objective.curvature_is == "hessian":
                return
            if self.value > value or self.dual.bound < bound:
                break
        else:
            self.coef, self.point = coef, point
            self._settle()
        risen = max(self.value - value, 0.0)
        if value > -np.inf and not LEAST_AGREEMENT * risen <= expected - value <= risen / LEAST_AGREEMENT:
            self._working_set.renew(self.coef)

    # -- values and the bound -----------------------------------------------------------------------

    def _settle(self) -> None:
        """Compute φ and the bound at the coefficients."""
        self._at, self._gradient = self.objective.value_and_gradient_at(self.coef)
        self.value = self._at + self._penalty()
        steepness = self._working_set.steepness(self.coef) if self.coef.any() else np.empty(0)
        self.dual = self._dual_at(self._at, self._gradient, steepness)

    def _penalty(self) -> float:
        """Return ``Σ D w² (1 − 1/z) / 2``."""
        squares = self.diagonal * by_element(self.objective, self.coef**2)
        used = squares > 0
        if (self.point[used] <= 0).any():
            return -np.inf
        return 0.5 * float(squares[used] @ (1.0 - 1.0 / self.point[used]))
