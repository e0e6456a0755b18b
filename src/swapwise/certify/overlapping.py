"""The best fractional set under limits on overlapping sets: proximal steps, and more limits where they lack.

Fractional sets within the limits need not be combinations of independent sets, but the bound that their
coefficients prove is that of the constraint itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from swapwise.certify.limits import Limits, Parts, violated_spans
from swapwise.certify.proximal import Proximal, WorkingPoint, WorkingSet
from swapwise.certify.region import Region
from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import perspective
from swapwise.objectives.base import SparseObjective

# Limits with more room than this that cost nothing are dropped when others are added.
LOOSE = 0.1


@dataclass(frozen=True, eq=False)
class LimitedPoint(WorkingPoint):
    """A fractional set and its coefficients, and the limits that have mattered so far, with their prices."""

    limits: Limits
    prices: FloatArray

    def among(self, kept: IndexArray) -> LimitedPoint:
        """Return the same with elements numbered by their places among some, without all others."""
        return replace(super().among(kept), limits=self.limits.among(kept))


class Overlapping(Proximal):
    """A fractional set within some limits, improved round by round, and the limits with it."""

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        working_set: WorkingSet,
        parts: Parts,
        start: LimitedPoint | None = None,
    ) -> None:
        self._matroids = parts.matroids
        self._limits = parts.limits if start is None else start.limits
        self._prices = np.zeros(len(self._limits.capacity)) if start is None else start.prices
        super().__init__(objective, region, diagonal, working_set, start)

    @property
    def start(self) -> LimitedPoint:
        """What another relaxation may start from."""
        here = super().start
        return LimitedPoint(here.elements, here.point, here.coef, here.sizes, self._limits, self._prices)

    def improve(self, target: float, precision: float) -> bool:
        """Improve the fractional set within the limits, and add those that it violates."""
        more = super().improve(target, precision)
        return self.dual.bound > target and (self._cut() or more)

    def _maximise(self, model: tuple[Any, ...], steps: tuple[Any, ...]) -> tuple[Any, ...]:
        region, elements = self.region, self._working_set.elements
        rooms = self._limits.capacity - self._limits.loads(region.inside.astype(float))
        limits = self._limits.having(~(region.inside | region.outside)).among(elements)
        # What has room for all its elements is no limit.
        useful = limits.loads(np.ones(len(elements))) > rooms
        limits = limits.only(useful)
        begin = np.searchsorted(limits.sets, np.arange(len(limits.capacity) + 1))
        arrays = begin, limits.members, rooms[useful].astype(float)
        relaxed, prices = perspective.solve_overlapping(*model, arrays, self._prices[useful], *steps)
        self._prices = np.zeros(len(useful))
        self._prices[useful] = prices
        return relaxed

    def _cut(self) -> bool:
        """Add limits that the fractional set violates and drop those that cost nothing; return whether."""
        if not self._matroids:
            return False
        limits, n = self._limits, len(self.point)
        weights, found = self.dual.weights, Limits.of([])
        for part, matroid in self._matroids.items():
            others = np.where(limits.part == part, 0.0, self._prices)
            rest = np.maximum(weights - limits.costs(others, n), 0.0)
            rest[self.region.outside] = 0.0
            found = found.with_others(violated_spans(matroid, self.region.held, rest, self.point, part))
        if not len(found.capacity):
            return False
        stays = (self._prices > 0) | (limits.loads(self.point) > limits.capacity - LOOSE)
        self._limits = limits.only(stays).with_others(found)
        self._prices = np.append(self._prices[stays], np.zeros(len(found.capacity)))
        self.value = -np.inf  # what the fractional set holds is too much
        return True
