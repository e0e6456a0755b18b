"""Part of the independent sets: those that hold certain elements and do without others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint, MaxWeight, heaviest_first
from swapwise.numerics import SUM


@dataclass(frozen=True, eq=False)
class Region:
    """The independent sets that hold all of ``inside`` and none of ``outside``.

    This is a contraction and a restriction of a constraint of any kind, by way of weights.
    """

    constraint: Constraint
    inside: BoolArray  #: elements that every set holds
    outside: BoolArray  #: elements that no set holds; all others are open
    #: Time limit of the search for max-weight sets
    clock: Clock = field(default_factory=Clock)

    @classmethod
    def of(cls, constraint: Constraint) -> Region:
        inside, outside = np.zeros((2, constraint.n), dtype=bool)
        inside[constraint.forced] = True
        outside[constraint.loops()] = True
        return cls(constraint, inside, outside)

    def with_inside(self, elements: int | IndexArray) -> Region:
        inside = self.inside.copy()
        inside[self.constraint.required(np.atleast_1d(elements))] = True
        return replace(self, inside=inside)._without_hopeless()

    def with_outside(self, elements: int | IndexArray) -> Region:
        outside = self.outside.copy()
        outside[elements] = True
        part = replace(self, outside=outside)
        return part if self.constraint.hereditary else part._without_hopeless()

    def _without_hopeless(self) -> Region:
        """Return the same sets, with all elements outside that none of them can hold."""
        fits = self.constraint.joinable(self.held, self.outside)
        return replace(self, outside=self.outside | ~(fits | self.inside))

    @property
    def held(self) -> IndexArray:
        return np.flatnonzero(self.inside)

    @property
    def open(self) -> IndexArray:
        return np.flatnonzero(~(self.inside | self.outside))

    def greedy_set(self, weights: FloatArray) -> IndexArray:
        """Return the greedy set, heaviest elements first; under a matroid its weight is the largest."""
        wanted = np.where(self.outside | self.inside, 0.0, weights)
        order = heaviest_first(wanted)
        if not self.constraint.hereditary:  # others may need elements without weight
            order = np.append(order, self.open[weights[self.open] == 0])
        return self.constraint.extend(self.held, order)

    def max_weight(self, weights: FloatArray) -> tuple[IndexArray, float]:
        """Return a set of large weight, and a weight that no set of the region exceeds.

        ``weights`` are not negative. Out of time, the bound is valid, but larger than need be.
        """
        answer = self.heaviest(weights)
        return answer.support, answer.upper_bound

    def heaviest(self, weights: FloatArray) -> MaxWeight:
        """Return the set of :meth:`max_weight` with all that is known of it."""
        wanted = np.where(self.outside, -1.0, weights)
        return self.constraint._max_weight_holding(self.held, wanted, self.clock)

    def bounds_with_and_without(
        self, weights: FloatArray, answer: MaxWeight | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on the weight of the sets with each element, and of the sets without it.

        Rounding is accounted for. Under a matroid the bounds are met; where no set has the element, or none
        does without it, the bound is -inf. ``answer`` is that of :meth:`heaviest`, if it is known.
        """
        answer = answer or self.heaviest(weights)
        wanted = np.where(self.outside, -1.0, weights)
        bounds = self.constraint._bounds_with_and_without(self.held, wanted, answer)
        rounding = SUM * answer.upper_bound
        with_it, without = (np.minimum(bound, answer.upper_bound) + rounding for bound in bounds)
        with_it[self.outside] = -np.inf
        without[self.inside] = -np.inf
        return with_it, without

    def gains_of_additions(self, weights: FloatArray, answer: MaxWeight) -> FloatArray:
        """Return the gain in weight of adding each element, with the best drop, to the set of ``answer``.

        This set is one of largest weight for other weights.
        """
        wanted = np.where(self.outside, -1.0, weights)
        gains = self.constraint._bounds_with_and_without(self.held, wanted, answer)[0] - answer.weight
        gains[self.outside | self.inside] = 0.0
        return gains

    def prices(self, weights: FloatArray) -> FloatArray:
        """Return how heavy each element must at least be to be in a set of the largest weight.

        >>> from swapwise import Uniform
        >>> Region.of(Uniform(3, 1)).prices(np.array([1.0, 3.0, 2.0]))
        array([3., 3., 3.])
        """
        answer = self.heaviest(weights)
        return np.maximum(weights - self.gains_of_additions(weights, answer), 0.0)

    def has(self, support: IndexArray) -> bool:
        chosen = np.zeros(len(self.inside), dtype=bool)
        chosen[support] = True
        return bool(chosen[self.inside].all()) and not chosen[self.outside].any()

    def among(self, kept: IndexArray) -> Region:
        """Return the region of ``constraint.induced(kept)``: all other elements are outside."""
        inside, outside = self.inside[kept], self.outside[kept]
        return replace(self, constraint=self.constraint.induced(kept), inside=inside, outside=outside)

    def fixed_by(
        self, weights: FloatArray, base: float, target: float, answer: MaxWeight | None = None
    ) -> tuple[IndexArray, IndexArray]:
        """Return the open elements that every set above the target has, and those that none has.

        No set S of the region has a value of more than ``base + Σ_{i∈S} weights_i``; ``weights`` are not
        negative, and ``answer`` is that of :meth:`heaviest` for them, if it is known. This is fixing by
        reduced cost. If no set at all is above the target, an element may be among both.
        """
        with_it, without = self.bounds_with_and_without(weights, answer)
        is_open = ~(self.inside | self.outside)
        return (
            np.flatnonzero(is_open & (base + without <= target)),
            np.flatnonzero(is_open & (base + with_it <= target)),
        )

    def above(
        self, weights: FloatArray, base: float, target: float, answer: MaxWeight | None = None
    ) -> Region | None:
        """Return the part that has all sets above the target, with elements fixed by :meth:`fixed_by`.

        None if there is no such set; the region itself if nothing is fixed.
        """
        answer = answer or self.heaviest(weights)
        if base + answer.upper_bound <= target:
            return None
        every, none = self.fixed_by(weights, base, target, answer)
        if not len(every) and not len(none):
            return self
        region = self.with_outside(none)
        if not len(every):
            return region
        if region.outside[every].any():
            return None
        if self.constraint.hereditary and not self.constraint._is_independent(np.union1d(self.held, every)):
            return None
        return region.with_inside(every)
