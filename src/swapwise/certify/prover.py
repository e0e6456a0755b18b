"""The prover: upper bounds on the optimum, from the cheapest to branch and bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from swapwise.certify.branching import BranchAndBound
from swapwise.certify.certificate import Certificate, relative_gap
from swapwise.certify.history import ProofEvent, ProofHistory
from swapwise.certify.nodes import Node, SetNode
from swapwise.certify.root import root_node
from swapwise.checks import IndexArray, warn
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.base import Constraint
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.progress import ProofState
from swapwise.search.result import Event, Status
from swapwise.theory.bounds import (
    bound_from_concavity,
    bound_from_gains,
    bound_of_all,
    is_trivial,
    tangent_at,
)
from swapwise.theory.constants import restricted_constants

# The share of the time left that each of the simple bounds may take, which are seldom the best ones
SHARE_OF_TIME = 0.3

# For a sparse objective on more elements than this, the relaxation is cheaper than these bounds, and better.
FEW_ELEMENTS = 200


class Prover:
    """Proves upper bounds on the optimum one after the other, and can be stopped at any time."""

    def __init__(
        self,
        objective: SetFunction,
        constraint: Constraint,
        support: IndexArray,
        value: float,
        clock: Clock,
        moves: Iterable[Event] = (),
        show: Callable[[ProofState], None] = lambda state: None,
    ) -> None:
        self._clock, self._show = clock, show
        self._passes_before = objective.n_passes
        self.history = ProofHistory(moves, value)
        self.objective = objective
        self.region = Region.of(constraint)
        self.answer, self.value = support, value
        self.bounds: dict[str, float] = {}
        self.status = Status.COMPLETE
        self.root: Node | None = None
        self.tree = BranchAndBound(objective, constraint, support, value)
        self.tree.notify = self._notify

    def run(self, clock: Clock, gap: float, max_nodes: int | None = None) -> Status:
        self.status = Status.COMPLETE
        self.region = replace(self.region, clock=clock)
        try:
            self._simple_bounds(clock, thorough=max_nodes == 0)
            if not self._is_enough(gap):
                self.status = self._branch(clock, gap, max_nodes)
        except OutOfTime:
            self.status = Status.TIME_LIMIT
        except KeyboardInterrupt:
            self.status = Status.INTERRUPTED
        finally:
            self._notify()
        return self.status

    def observe_bound(self, kind: str, bound: float) -> None:
        self.bounds[kind] = min(self.bounds.get(kind, np.inf), float(bound))
        self._notify()

    def _branch(self, clock: Clock, gap: float, max_nodes: int | None) -> Status:
        if max_nodes == 0:  # before the root is made, which may take long
            return Status.ITERATION_LIMIT
        self.root = root_node(self.objective, self.region, self.answer, clock, self.observe_bound)
        self.root.observe = self.observe_bound
        if self.by_values_only:  # with many elements, it is the first to compute the value of all
            self.observe_bound("all", self.root.bound)
        self.tree.set_root(self.root)
        return self.tree.run(clock, gap, max_nodes)

    def _notify(self) -> None:
        self._collect()
        value, n_nodes = self.tree.value, self.tree.n_nodes
        kind = self._best_kind()
        bound = self.bounds.get(kind, np.inf)
        self.history.note(ProofEvent(self._clock.seconds(), value, bound, kind, n_nodes))
        self._show(ProofState(value, bound, self.gap, n_nodes, self.tree.n_open, self.objective.n_passes))

    @property
    def gap(self) -> float:
        bound = min(self.bounds.values(), default=np.inf)
        return relative_gap(self.tree.value, bound, self.tree.ceiling, self._resolution)

    def _best_kind(self) -> str:
        kind = min(self.bounds, key=lambda name: self.bounds[name], default="")
        return kind if self.bounds.get(kind, np.inf) < np.inf else ""

    def certificate(self, seconds: float, *, of_best: bool = False) -> Certificate:
        support, value = (self.tree.support, self.tree.value) if of_best else (self.answer, self.value)
        kind = self._best_kind() or "all"
        doubt = self.tree.doubt
        if self.bounds.get(kind, np.inf) < self.tree.value - self._resolution:
            warn(
                f"the upper bound {self.bounds[kind]:.6g} ({kind}) is below the value {self.tree.value:.6g} "
                f"of {self.tree.support.tolist()}: the objective lacks a property that it declares "
                "(monotone, submodular, strongly concave), and nothing is proven"
            )
            self.bounds = {"all": np.inf}
            kind, doubt = "all", "values of the objective contradict the properties that it declares"
        improved = self.tree.value > value + self._resolution
        upper_bound = float(self.bounds.get(kind, np.inf))
        return Certificate(
            upper_bound=upper_bound,
            value=value,
            kind=kind,
            bounds={name: float(bound) for name, bound in self.bounds.items()},
            support=support,
            better=self.tree.support if improved else None,
            better_value=self.tree.value if improved else None,
            fractional=self.root.fractional if self.root and "relaxation" in self.bounds else None,
            n_nodes=self.tree.n_nodes,
            seconds=seconds,
            status=self.status,
            resolution=self._resolution,
            assumptions=self.region.constraint.assumptions,
            doubt=doubt if upper_bound > value + self._resolution else "",  # else it is optimal
            history=self.history.down_to(upper_bound),
            n_passes=self._n_passes(),
            ceiling=self.tree.ceiling,
        )

    def _n_passes(self) -> float | None:
        after = self.objective.n_passes
        if after is None or self._passes_before is None:
            return None
        return round(after - self._passes_before, 3)

    @property
    def _resolution(self) -> float:
        return 2 * (self.tree.cutoff - self.tree.value)

    @property
    def by_values_only(self) -> bool:
        return isinstance(self.root, SetNode)

    def _simple_bounds(self, clock: Clock, *, thorough: bool) -> None:
        objective, region, support = self.objective, self.region, self.answer
        is_sparse = isinstance(objective, SparseObjective)
        thorough |= not is_sparse or objective.n <= FEW_ELEMENTS
        if objective.monotone:
            self.observe_bound("all", self.tree.ceiling)
            known = np.isfinite(self.bounds["all"])
            if thorough or not known:
                # Without a bound known beforehand, any bound is worth all of the time.
                part_of_time = clock.share(SHARE_OF_TIME) if known else clock
                self.observe_bound("all", bound_of_all(objective, region, part_of_time))
        clock.check()
        if objective.submodular:
            for at in (region.held, support):
                part = replace(region, clock=clock.share(SHARE_OF_TIME))
                bound, _ = bound_from_gains(objective, part, at, clock)
                self.observe_bound("gains", bound)
        if thorough and isinstance(objective, SparseObjective) and objective.groups is None:
            s = max(1, min(region.constraint.max_size(), objective.n))
            constants = restricted_constants(objective, s, 1)
            clock.check()
            m = constants.m_2s - ROUNDING * objective.n * constants.M_1
            if m > 0:
                at_answer = tangent_at(objective, support)
                self.observe_bound("concavity", bound_from_concavity(objective, region, at_answer, m))

    def _is_enough(self, gap: float) -> bool:
        """Return whether simple bounds suffice: the trivial one only if it proves that the answer is optimal.

        However close to the value it is, it compares the answer with no other set, and the first node often
        proves more in no time.
        """
        bound, of_all = min(self.bounds.values(), default=np.inf), self.bounds.get("all", np.inf)
        return self.gap <= gap and (self.gap == 0.0 or not is_trivial(self.tree.value, bound, of_all))

    def _collect(self) -> None:
        if self.root is not None and self.root.own_bound is not None:
            before = self.bounds.get(self.root.kind, np.inf)
            self.bounds[self.root.kind] = min(before, self.root.own_bound)
        if self.tree.n_nodes > 1 or not self.tree.is_open:
            self.bounds["branching"] = self.tree.upper_bound
