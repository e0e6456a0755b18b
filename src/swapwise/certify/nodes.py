"""Nodes of branch and bound: parts of the independent sets, and how each bounds f over its part."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget, Clock
from swapwise.constraints.region import Region
from swapwise.objectives.base import SetFunction
from swapwise.override import override
from swapwise.search.rules import gains_of_additions
from swapwise.theory.bounds import bound_from_gains, bound_of_all

#: Called with the kind of a bound and its value
Observer = Callable[[str, float], None]


class Node(ABC):
    """A part of the independent sets, with a proven upper bound on f over it."""

    #: The kind of bound, a key of ``Certificate.bounds``
    kind: str
    objective: SetFunction
    region: Region
    bound: float
    #: Called by the root with its kind and its bound, whenever that falls
    observe: Observer = staticmethod(lambda kind, bound: None)

    def whole(self, support: IndexArray) -> IndexArray:
        """Return a set of the region in the numbers of the whole ground set."""
        return support

    @property
    def aside(self) -> IndexArray:
        """Open elements that branching decides on first: columns that are linear combinations of others."""
        return np.empty(0, dtype=np.intp)

    @property
    def own_bound(self) -> float | None:
        """The best bound of this kind, or None before the first."""
        return self.bound

    @property
    def fractional(self) -> FloatArray | None:
        """The fractional set that proves the bound, or None."""
        return None

    @abstractmethod
    def tighten(self, target: float, clock: Clock) -> None:
        """Lower the bound until it is at most ``target``, or hardly falls any more."""

    @abstractmethod
    def candidate(self) -> IndexArray:
        """Return a set of the region that may have a large value."""

    @abstractmethod
    def split(self) -> int:
        """Return the open element by which to split the region."""

    @abstractmethod
    def part(self, region: Region) -> Node:
        """Return the node of a part of the region, with a bound that costs little."""


class SetNode(Node):
    """A region bounded by the value of all its elements, and by marginal gains if f is submodular."""

    kind = "all"

    def __init__(self, objective: SetFunction, region: Region, bound: float = np.inf) -> None:
        self.objective = objective
        self.region = region
        self.bound = min(bound, bound_of_all(objective, region))
        self._candidate = region.held
        self._gains = np.zeros(objective.n)

    @property
    @override
    def own_bound(self) -> float | None:
        return None

    @override
    def tighten(self, target: float, clock: Clock) -> None:
        held = self.region.held
        if self.objective.submodular:
            self._note(*bound_from_gains(self.objective, self.region, held, clock))
            if self.bound > target:
                self._note(*bound_from_gains(self.objective, self.region, self._candidate, clock))
            return
        may_join = np.zeros(self.objective.n, dtype=bool)
        may_join[self.region.open] = True
        gains = gains_of_additions(self.objective.start(held), may_join, Budget(clock))
        self._gains = np.maximum(gains, 0.0)
        self._candidate = np.union1d(self.region.max_weight(self._gains)[0], held)

    def _note(self, bound: float, chosen: IndexArray) -> None:
        self.bound = min(self.bound, bound)
        self._candidate = np.union1d(chosen, self.region.held)
        self._gains[chosen] += 1.0

    @override
    def candidate(self) -> IndexArray:
        return self._candidate

    @override
    def split(self) -> int:
        return int(self.region.open[np.argmax(self._gains[self.region.open])])

    @override
    def part(self, region: Region) -> SetNode:
        return SetNode(self.objective, region, self.bound)
