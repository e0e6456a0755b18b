"""The best fractional set under limits on overlapping sets: proximal steps, and cuts for violated limits.

Fractional sets within the limits need not be combinations of independent sets, but the bound that their
coefficients prove is that of the constraint itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from swapwise.certify.limits import ConstraintParts, SetLimits
from swapwise.certify.proximal import ProximalRelaxation, WorkingPoint
from swapwise.certify.working_set import WorkingSet
from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.algorithms.spans import violated_spans
from swapwise.constraints.region import Region
from swapwise.objectives.base import SparseObjective
from swapwise.override import override

# Limits with price 0 and more slack than this are dropped when others are added.
LOOSE = 0.1


@dataclass(frozen=True, eq=False)
class LimitedPoint(WorkingPoint):
    """A fractional set and its coefficients, and the limits used so far, with their prices."""

    limits: SetLimits
    prices: FloatArray

    @override
    def among(self, kept: IndexArray) -> Self:
        return replace(super().among(kept), limits=self.limits.among(kept))


class OverlappingRelaxation(ProximalRelaxation):
    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        working_set: WorkingSet,
        parts: ConstraintParts,
        start: LimitedPoint | None = None,
    ) -> None:
        self._matroids = parts.matroids
        self._limits = parts.limits if start is None else start.limits
        self._costs = np.zeros(len(self._limits.capacity)) if start is None else start.prices
        super().__init__(objective, region, diagonal, working_set, start)

    @property
    @override
    def start(self) -> LimitedPoint:
        here = super().start
        return LimitedPoint(here.elements, here.point, here.coef, here.sizes, self._limits, self._costs)

    @override
    def improve(self, target: float, precision: float) -> bool:
        more = super().improve(target, precision)
        return self.dual.bound > target and (self._cut() or more)

    @override
    def _solve(self, target: float, precision: float) -> None:
        super()._solve(target, precision)
        assert self._prices is not None
        self._costs = np.zeros(len(self._useful))
        self._costs[self._useful] = self._prices

    @override
    def _limits_on(self, elements: IndexArray) -> tuple[tuple[Any, ...], FloatArray | None]:
        region = self.region
        rooms = self._limits.capacity - self._limits.loads(region.inside.astype(float))
        limits = self._limits.having(~(region.inside | region.outside)).among(elements)
        # A set with a capacity for all its elements is no limit.
        self._useful = limits.loads(np.ones(len(elements))) > rooms
        limits = limits.only(self._useful)
        begin = np.searchsorted(limits.sets, np.arange(len(limits.capacity) + 1))
        arrays = begin, limits.members, limits.shares, np.maximum(rooms[self._useful], 0.0)
        return arrays, self._costs[self._useful]

    @override
    def _gains_beside(self, known: IndexArray) -> FloatArray:
        gains = self.dual.weights - self._limits.costs(self._costs, len(self.point))
        gains[self.region.inside | self.region.outside] = 0.0
        return gains

    def _cut(self) -> bool:
        if not self._matroids:
            return False
        limits, n = self._limits, len(self.point)
        weights, found = self.dual.weights, SetLimits.of([])
        for part, matroid in self._matroids.items():
            others = np.where(limits.part == part, 0.0, self._costs)
            rest = np.maximum(weights - limits.costs(others, n), 0.0)
            rest[self.region.outside] = 0.0
            spans = violated_spans(matroid, self.region.held, rest, self.point)
            found = found.with_others(SetLimits.of(spans, part))
        if not len(found.capacity):
            return False
        stays = (self._costs > 0) | (limits.loads(self.point) > limits.capacity - LOOSE)
        self._limits = limits.only(stays).with_others(found)
        self._costs = np.append(self._costs[stays], np.zeros(len(found.capacity)))
        self.value = -np.inf  # the fractional set violates the new limits
        return True
