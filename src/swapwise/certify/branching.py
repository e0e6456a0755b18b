"""Branch and bound: split the independent sets, bound f over each part, and prune what cannot be best."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from itertools import count

import numpy as np

from swapwise.certify.certificate import relative_gap
from swapwise.certify.leaf import enumerate_leaf, is_nearly_leaf
from swapwise.certify.nodes import Node
from swapwise.checks import IndexArray, unwarned
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.constraints.region import Region
from swapwise.objectives.base import SetFunction
from swapwise.search.loop import require_independent
from swapwise.search.plan import search_by_default
from swapwise.search.result import Status
from swapwise.theory.bounds import ceiling

# The memory of all open parts, and of one beside the flags of its region
MOST_BYTES, BYTES_PER_PART = 500_000_000, 20_000


class BranchAndBound:
    """The best set so far, the parts that are still open, and a proven bound on all of them.

    It may be interrupted at any time, by the clock or otherwise: the bound holds.
    """

    def __init__(
        self, objective: SetFunction, constraint: Constraint, support: IndexArray, value: float
    ) -> None:
        self.objective, self.constraint = objective, constraint
        self.support = support
        self.value = value
        #: Elements of the best set that only meet a lower limit, if it was found here
        self.filled = support[:0]
        #: Called after each part and each better set
        self.notify: Callable[[], None] = lambda: None
        #: The number of parts bounded so far
        self.n_nodes = 0
        self.ceiling = ceiling(objective)
        self._numbers = count()
        self._open: list[tuple[float, int, Node]] = []
        self._current: Node | None = None
        self._has_root = False
        self._leaf_bound = -np.inf
        self._doubt = ""

    def set_root(self, root: Node) -> None:
        self._put(root)
        self._has_root = True  # after the part is there: without parts, the proof would be complete

    @property
    def upper_bound(self) -> float:
        """A bound on all independent sets; pruned parts are bounded by the cutoff."""
        if not self._has_root:
            return np.inf
        bounds = [-self._open[0][0]] if self._open else []
        bounds += [] if self._current is None else [self._current.bound]
        return max(self.cutoff, self._leaf_bound, *bounds)

    @property
    def cutoff(self) -> float:
        return self.value + self.objective.resolution(self.value)

    @property
    def gap(self) -> float:
        return relative_gap(self.value, self.upper_bound, self.ceiling, self.cutoff - self.value)

    @property
    def n_open(self) -> int:
        return len(self._open) + (self._current is not None)

    @property
    def is_open(self) -> bool:
        return bool(self._open) or self._current is not None or not self._has_root

    @property
    def doubt(self) -> str:
        """In words, the set that keeps the bound up as its value is known only within bounds, or ''."""
        return self._doubt if self.cutoff < self._leaf_bound == self.upper_bound else ""

    def run(self, clock: Clock, gap: float = 0.0, max_nodes: int | None = None) -> Status:
        while self.is_open and (not self.n_nodes or self.gap > gap):
            if max_nodes is not None and self.n_nodes >= max_nodes:
                return Status.ITERATION_LIMIT
            self.step(clock)
            self.notify()
        return Status.COMPLETE

    def step(self, clock: Clock) -> None:
        clock.check()
        if self._current is not None:  # the last step was cut short
            self._put(self._current)
        # When too many are open, it is one of the smallest bounds, which take the fewest parts to close.
        at = -1 if self._is_full else 0
        self._current = node = self._open[at][-1]  # so that the bound counts it if this is interrupted
        if at:
            self._open.pop()
        else:
            heapq.heappop(self._open)
        for part in self._split(node, clock):
            self._put(part)
        self._current = None

    @property
    def _is_full(self) -> bool:
        return len(self._open) * (BYTES_PER_PART + 2 * self.constraint.n) > MOST_BYTES

    def _split(self, node: Node, clock: Clock) -> list[Node]:
        if node.bound > self.cutoff:
            self.n_nodes += 1
            parts = self._enumerated(node, clock, quick=True)
            if parts is not None:
                return parts
            if self.n_nodes == 1 or not is_nearly_leaf(node.objective, node.region):
                node.tighten(self.cutoff, clock)
                self._improve(*self._try(node), clock)
            parts = self._enumerated(node, clock, quick=False) if node.bound > self.cutoff else None
            if parts is not None:
                return parts
        if node.bound <= self.cutoff:
            return []
        if not len(node.region.open):
            if node.region.constraint._is_answer(node.region.held):
                self._evaluate(node.whole(node.region.held), clock)
            return []
        element = node.split()
        return self._parts(node, (node.region.with_inside(element), node.region.with_outside(element)))

    def _enumerated(self, node: Node, clock: Clock, *, quick: bool) -> list[Node] | None:
        """Enumerate the sets of a node, but for those with columns set aside; None if they are not few.

        Sets of collinear columns are each as good as many others, so too many are good for enumeration.
        """
        aside = node.aside
        region = node.region.with_outside(aside) if len(aside) else node.region
        found = enumerate_leaf(node.objective, region, self.cutoff, quick=quick and not len(aside))
        if found is None:
            return None
        for support in found:
            clock.check()
            self._evaluate(node.whole(support), clock)
        regions = (
            node.region.with_outside(aside[:place]).with_inside(element)
            for place, element in enumerate(aside.tolist())
        )
        return self._parts(node, regions)

    def _parts(self, node: Node, regions: Iterable[Region]) -> list[Node]:
        return [part for part in map(node.part, regions) if part.bound > self.cutoff]

    def _evaluate(self, support: IndexArray, clock: Clock) -> None:
        with unwarned():
            value = self.objective._value(support)
            bound = max(value, self.objective.upper_bound(support, clock))
        clock.check()  # a bound that was cut short may be poor, and would stay
        self._improve(support, value, clock)
        if bound > max(self._leaf_bound, self.cutoff):
            known = f"between {value:.8g} and {bound:.8g}" if bound < np.inf else f"at {value:.8g} or above"
            self._leaf_bound = bound
            self._doubt = (
                f"the value of {support.tolist()} is only known to lie {known}: a fit did not converge, or "
                "columns are nearly collinear, and what they explain rests on the last digits of the data"
            )

    def _try(self, node: Node) -> tuple[IndexArray, float]:
        support = node.whole(node.region.constraint.extend(node.candidate(), node.region.open))
        if not self.constraint._is_answer(support):  # the region may have no set at all
            return self.support, self.value
        with unwarned():  # the set is not the user's choice
            return support, self.objective._value(support)

    def _improve(self, support: IndexArray, value: float, clock: Clock) -> None:
        if value <= self.cutoff:
            return
        require_independent(self.constraint, support)
        if self.constraint.is_complete(support):
            self.support, self.value, self.filled = support, value, support[:0]
        polished = search_by_default(self.objective, self.constraint, clock, start=support)
        if polished.value > self.value:
            self.support, self.value, self.filled = polished.support, polished.value, polished.filled
        if polished.status == Status.INTERRUPTED:
            raise KeyboardInterrupt  # meant for the proof, not only for the search
        self.notify()

    def _put(self, node: Node) -> None:
        heapq.heappush(self._open, (-node.bound, next(self._numbers), node))
