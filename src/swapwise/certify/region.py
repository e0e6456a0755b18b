"""Part of the independent sets: those that hold certain elements and do without others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.numerics import SUM


@dataclass(frozen=True, eq=False)
class Region:
    """The independent sets that hold all of ``inside`` and none of ``outside``.

    This is a contraction and a restriction of the constraint, for constraints of every kind: weights do it.

    >>> from swapwise import Uniform
    >>> whole = Region.of(Uniform(4, 2))
    >>> part = whole.with_inside(0).with_outside(3)
    >>> part.max_weight(np.array([1.0, 2.0, 3.0, 4.0]))
    (array([0, 2]), 4.0...)
    """

    constraint: IndependenceSystem
    inside: BoolArray
    outside: BoolArray
    #: How long the search for sets of largest weight may take
    clock: Clock = field(default_factory=Clock)

    @classmethod
    def of(cls, constraint: IndependenceSystem) -> Region:
        """Return the region of all independent sets that hold the forced elements."""
        inside, outside = np.zeros((2, constraint.n), dtype=bool)
        inside[constraint.forced] = True
        outside[constraint.loops()] = True
        return cls(constraint, inside, outside)

    def with_inside(self, element: int) -> Region:
        """Return the part whose sets hold ``element``; what no longer fits is outside."""
        inside, outside = self.inside.copy(), self.outside.copy()
        inside[element] = True
        held = np.flatnonzero(inside)
        outside |= ~self.constraint.addable(held) & ~inside
        return replace(self, inside=inside, outside=outside)

    def with_outside(self, elements: int | IndexArray) -> Region:
        """Return the part whose sets do without ``elements``."""
        outside = self.outside.copy()
        outside[elements] = True
        return replace(self, outside=outside)

    @property
    def held(self) -> IndexArray:
        """The elements that every set of the region holds."""
        return np.flatnonzero(self.inside)

    @property
    def open(self) -> IndexArray:
        """The elements that some sets of the region may hold and others not."""
        return np.flatnonzero(~(self.inside | self.outside))

    def greedy_set(self, weights: FloatArray) -> IndexArray:
        """Return the greedy set, heaviest elements first; under a matroid its weight is the largest."""
        wanted = np.where(self.outside | self.inside, 0.0, weights)
        order = np.argsort(-wanted, kind="stable")
        return self.constraint.extend(self.held, order[: np.count_nonzero(wanted > 0)])

    def max_weight(self, weights: FloatArray) -> tuple[IndexArray, float]:
        """Return a set of large weight, and a weight that no set of the region exceeds.

        ``weights`` are not negative. Out of time, the weight holds all the same, but is larger than need be.
        """
        held = self.held
        wanted = np.where(self.outside, -1.0, weights)
        if not len(held):
            answer = self.constraint._max_weight(wanted, self.clock)
            return answer.support, answer.upper_bound
        # With weights this large, every set of largest weight holds all of them.
        heavy = 2.0 * float(wanted.sum(where=wanted > 0)) or 1.0
        wanted[held] = heavy
        answer = self.constraint._max_weight(wanted, self.clock)
        if answer.exact and np.isin(held, answer.support).all():
            weight = float(weights[answer.support].sum())
            beyond = answer.upper_bound - float(wanted[answer.support].sum())
            return answer.support, weight + max(0.0, beyond) + SUM * heavy * len(held)
        wanted[held] = 0.0
        rest = self.constraint._max_weight(wanted, self.clock).upper_bound
        return self.greedy_set(weights), float(weights[held].sum()) + rest
