"""Nodes of branch and bound that know f by its values only."""

from __future__ import annotations

import numpy as np

from swapwise.certify.bounds import bound_from_gains, bound_of_all
from swapwise.certify.branching import Node
from swapwise.certify.region import Region
from swapwise.checks import IndexArray
from swapwise.clock import Clock
from swapwise.objectives.base import SetFunction
from swapwise.search.steps import gains_of_additions


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
    def own_bound(self) -> float | None:
        """None: what values say of the whole is said before any node is made."""
        return None

    def tighten(self, target: float, clock: Clock) -> None:
        """Find a candidate by single gains; for a submodular f, bound by those at held and candidate."""
        held = self.region.held
        if self.objective.submodular:
            self._note(*bound_from_gains(self.objective, self.region, held, clock))
            if self.bound > target:
                self._note(*bound_from_gains(self.objective, self.region, self._candidate, clock))
            return
        may_join = np.zeros(self.objective.n, dtype=bool)
        may_join[self.region.open] = True
        gains = gains_of_additions(self.objective.start(held), may_join, clock)
        self._gains = np.maximum(gains, 0.0)
        self._candidate = np.union1d(self.region.heaviest(self._gains)[0], held)

    def _note(self, bound: float, chosen: IndexArray) -> None:
        self.bound = min(self.bound, bound)
        self._candidate = np.union1d(chosen, self.region.held)
        self._gains[chosen] += 1.0

    def candidate(self) -> IndexArray:
        """Return the set of the largest single gains."""
        return self._candidate

    def split(self) -> int:
        """Return the open element of the largest gain."""
        return int(self.region.open[np.argmax(self._gains[self.region.open])])

    def part(self, region: Region) -> SetNode:
        """Return a part, bounded by the value of its elements."""
        return SetNode(self.objective, region, self.bound)
