"""The best fractional set under nested limits: proximal steps on a model of the objective.

The model is the second-order one on a working set of elements, which for least squares is exact. The data are
read only for the gradient at the new coefficients, which proves the bound and shows which elements the
working set lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from swapwise.certify.relaxation import Relaxation, used_rows
from swapwise.certify.working_set import WorkingSet
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.region import Region
from swapwise.objectives.base import SparseObjective, by_element, rows_of
from swapwise.override import override

# Up to ALL_UP_TO elements are all in the working set. Larger problems begin with about FIRST_ELEMENTS.
ALL_UP_TO, FIRST_ELEMENTS = 500, 200

# The precision of value and bound, as a share of the value
FINEST = 1e-9

# The step lengths towards the optimum of the model, and the least agreement of the rise with the model
STEPS, LEAST_AGREEMENT = (1.0, 0.3, 0.1, 0.02), 0.4


@dataclass(frozen=True, eq=False)
class WorkingPoint:
    """A fractional set and its coefficients, from which another relaxation may start."""

    elements: IndexArray
    #: Their shares in the fractional set
    point: FloatArray
    coef: FloatArray
    #: The number of rows of coefficients of each element
    sizes: IndexArray

    def among(self, kept: IndexArray) -> Self:
        """Restrict to some elements, renumbered by their positions among these."""
        found = self._only(np.isin(self.elements, kept))
        return replace(found, elements=np.searchsorted(kept, found.elements))

    def without(self, outside: BoolArray) -> Self:
        return self._only(~outside[self.elements])

    def _only(self, stays: BoolArray) -> Self:
        coef = self.coef[np.repeat(stays, self.sizes)]
        return replace(
            self, elements=self.elements[stays], point=self.point[stays], coef=coef, sizes=self.sizes[stays]
        )


class ProximalRelaxation(Relaxation):
    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        working_set: WorkingSet,
        start: WorkingPoint | None = None,
    ) -> None:
        self.objective, self.region, self.diagonal = objective, region, diagonal
        self._working_set = working_set
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
            self.value = -np.inf  # the fractional set may violate limits here

    @property
    @override
    def start(self) -> WorkingPoint:
        elements = np.flatnonzero(self.point)
        rows, owner = used_rows(self.objective, elements)
        sizes = np.bincount(owner, minlength=len(elements))
        return WorkingPoint(elements, self.point[elements], self.coef[rows], sizes)

    @override
    def set_diagonal(self, diagonal: FloatArray) -> None:
        self.diagonal = diagonal
        self._settle()

    # -- the working set ----------------------------------------------------------------------------

    def _first_elements(self) -> IndexArray:
        allowed = np.flatnonzero(~self.region.outside)
        if len(allowed) <= ALL_UP_TO:
            return allowed
        weights, found = self.dual.weights.copy(), [self.region.held]
        weights[self.region.held] = 0.0
        while sum(map(len, found)) < FIRST_ELEMENTS and weights.any():
            best = self.region.max_weight(weights)[0]
            if not weights[best].any():  # time ran out
                break
            found.append(best)
            weights[best] = 0.0
        return np.unique(np.concatenate(found))

    def _lacking(self) -> IndexArray:
        """Return elements whose weights exceed their prices, and if these are few, others close to that."""
        known = self._working_set.elements
        if len(known) == self.objective.n:
            return known[:0]
        gains = self._gains_beside(known)
        gains[known] = 0.0
        if not (gains > self._finest).any():
            return known[:0]
        gains[known] = gains[self.region.outside] = -np.inf
        few, many = max(FIRST_ELEMENTS // 4, len(known) // 20), max(FIRST_ELEMENTS, len(known) // 5)
        most = int(np.clip(np.count_nonzero(gains > 0), few, many))
        best = np.argpartition(-gains, most - 1)[:most] if most < len(gains) else np.arange(len(gains))
        return np.sort(best[gains[best] > -np.inf])

    def _gains_beside(self, known: IndexArray) -> FloatArray:
        inner = np.zeros(len(self.diagonal))
        inner[known] = self.dual.weights[known]
        return self.region.gains_of_additions(self.dual.weights, self.region.heaviest(inner))

    # -- rounds -------------------------------------------------------------------------------------

    @override
    def improve(self, target: float, precision: float) -> bool:
        before, lowest = self.value, self.dual.bound
        self._solve(target, precision)
        bound = self.dual.bound
        if bound <= target or bound - self.value <= max(self._finest, precision * (bound - target)):
            return False
        lacking = self._lacking()
        self._working_set.grow(lacking, self.coef)
        return len(lacking) > 0 or self.value > before or bound < lowest

    @property
    def _finest(self) -> float:
        return FINEST * max(abs(self._at), self.objective.scale)

    def _solve(self, target: float, precision: float) -> None:
        self.region.clock.check()
        among = self._working_set
        among.follow(self.coef)
        elements, here = among.elements, among.scaled(self.coef, 1)
        with np.errstate(over="ignore", invalid="ignore"):  # single precision overflows far out
            bent = among.bent(here)
            linear = among.scaled(self._gradient, -1) + bent
            base = self._at - float((here * (linear - 0.5 * bent)).sum())
        coef, point, value, self._prices = among.solve(
            linear,
            self.diagonal,
            self.region.inside[elements],
            ~self.region.outside[elements],
            *self._limits_on(elements),
            here,
            target - base,
            precision,
            self._finest,
        )
        ahead, fractional = np.zeros_like(self.coef), np.zeros(len(self.diagonal))
        ahead[among.rows] = (coef / among.scale).reshape(self.coef[among.rows].shape)
        fractional[elements] = point
        self._go_towards(ahead, fractional, base + value)

    def _limits_on(self, elements: IndexArray) -> tuple[tuple[Any, ...], FloatArray | None]:
        tree = self.region.constraint.laminar_tree()
        assert tree is not None
        return tuple(tree._replace(leaf=tree.leaf[elements])), None

    def _go_towards(self, ahead: FloatArray, fractional: FloatArray, expected: float) -> None:
        """Move the coefficients and the fractional set so far that value or bound get better.

        If the value differs much from that of the model, its curvature is renewed.
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
