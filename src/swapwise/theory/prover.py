"""All ways to an upper bound on the optimum, from the cheapest to branch and bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.base import IndependenceSystem
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.clock import Clock, OutOfTime
from swapwise.search.result import Status
from swapwise.theory.bounds import bound_from_concavity, bound_from_gains, bound_of_all
from swapwise.theory.branching import BranchAndBound, Node
from swapwise.theory.certificate import Certificate
from swapwise.theory.constants import restricted_constants
from swapwise.theory.region import Region
from swapwise.theory.roots import WHOLE_CURVATURE_UP_TO, root_node
from swapwise.theory.set_node import SetNode

# Branching by values alone is hopeless beyond this many sets.
FEW_SETS = 1_000_000


class Prover:
    """Proves upper bounds on the optimum one after the other, and can be stopped at any time."""

    def __init__(
        self,
        objective: SetFunction,
        constraint: IndependenceSystem,
        support: IndexArray,
        value: float,
        observe: Callable[[int, float, float], None],
    ) -> None:
        self._observe = observe
        self.objective = objective
        self.region = Region.of(constraint)
        self.answer, self.value = support, value
        self.bounds: dict[str, float] = {}
        self.root: Node | None = None
        self.tree = BranchAndBound(objective, support, value)

    def run(self, clock: Clock, gap: float, *, branch: bool) -> Status:
        """Go on until the answer has at least ``1 − gap`` of the bound; return why it stopped."""
        try:
            self._simple_bounds(clock)
            if self._is_enough(gap):
                return Status.COMPLETE
            self.root = root_node(self.objective, self.region, self.answer, clock)
            self.tree.plant(self.root)
            self.tree.step(clock)
            if branch or self._can_branch():
                self.tree.run(clock, gap, self._tell)
        except OutOfTime:
            return Status.TIME_LIMIT
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        finally:
            self._collect()
        return Status.COMPLETE

    def _tell(self) -> None:
        bound = min([self.tree.upper_bound, *self.bounds.values()])
        self._observe(self.tree.n_nodes, self.tree.value, bound)

    def certificate(self, seconds: float) -> Certificate:
        """Return what is proven so far."""
        kind = min(self.bounds, key=lambda name: self.bounds[name], default="all")
        improved = self.tree.value > self.value + self._resolution
        return Certificate(
            upper_bound=float(self.bounds.get(kind, np.inf)),
            value=self.value,
            kind=kind,
            bounds={name: float(bound) for name, bound in self.bounds.items()},
            support=self.answer,
            better=self.tree.support if improved else None,
            better_value=self.tree.value if improved else None,
            fractional=self.root.fractional if self.root and "relaxation" in self.bounds else None,
            n_nodes=self.tree.n_nodes,
            seconds=seconds,
            resolution=self._resolution,
        )

    @property
    def _resolution(self) -> float:
        return 2 * (self.tree.cutoff - self.tree.value)

    def _simple_bounds(self, clock: Clock) -> None:
        objective, region, support = self.objective, self.region, self.answer
        if objective.submodular:
            self.bounds["gains"] = min(
                bound_from_gains(objective, region, at, clock)[0] for at in (region.held, support)
            )
        if objective.monotone:
            self.bounds["all"] = bound_of_all(objective, region)
        if isinstance(objective, SparseObjective) and objective.n <= WHOLE_CURVATURE_UP_TO:
            s = max(1, min(region.constraint.max_size(), objective.n))
            m = restricted_constants(objective, s, 1).m_2s
            if m > 0:
                self.bounds["concavity"] = bound_from_concavity(objective, region, support, m)

    def _is_enough(self, gap: float) -> bool:
        return self.tree.cutoff >= (1.0 - gap) * min(self.bounds.values(), default=np.inf)

    def _can_branch(self) -> bool:
        if not isinstance(self.root, SetNode) or self.objective.submodular:
            return True
        return self.region.constraint.count_bound() <= FEW_SETS

    def _collect(self) -> None:
        if self.root is not None and self.root.own_bound is not None:
            before = self.bounds.get(self.root.kind, np.inf)
            self.bounds[self.root.kind] = min(before, self.root.own_bound)
        if self.tree.n_nodes > 1 or not self.tree.is_open:
            self.bounds["branching"] = self.tree.upper_bound
