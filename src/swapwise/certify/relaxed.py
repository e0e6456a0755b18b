"""Nodes bounded by the perspective relaxation: tighten, fix what cannot matter, drop it, and tighten again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from swapwise.certify.bounds import ceiling
from swapwise.certify.diagonal import proportional_diagonal, raised_diagonal
from swapwise.certify.frank_wolfe import FrankWolfe
from swapwise.certify.nodes import Node
from swapwise.certify.proximal import Proximal, WorkingCurvature
from swapwise.certify.region import Region
from swapwise.certify.relaxation import Dual, Relaxation
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.quadratic import Quadratic

# A node is left when a round takes less than this share off the distance to the target.
STALLED = 0.02
ROUNDS_AT_ROOT, ROUNDS_BELOW, IMPROVEMENTS = 60, 3, 12

# Diagonals move by less and less of the way to the best one for the last fractional set, but never by less.
LEAST_STEP = 0.2

# A problem is cut down to the elements that are left when they are fewer than this share.
WORTH_SHRINKING = 0.8


class RelaxedNode(Node):
    """A region whose bound is the best that dual points have proven so far."""

    kind = "relaxation"

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        elements: IndexArray | None = None,
        *,
        parent: RelaxedNode | None = None,
        bound: float | None = None,
    ) -> None:
        self.objective: SparseObjective = objective
        self.region = region
        self.diagonal = diagonal
        self.elements = elements
        self.bound = ceiling(objective) if bound is None else bound
        self.dual: Dual | None = None
        #: Called by the root when its bound falls
        self.observe: Callable[[str, float], None] = lambda kind, bound: None
        self._is_root = parent is None
        self._curvature = WorkingCurvature(objective) if parent is None else parent._curvature
        self._start = None if parent is None else parent._relax().start
        self._rounds = 0 if parent is None else parent._rounds
        self._fixed_below = -np.inf
        self._own_bound = np.inf
        self._relaxation: Relaxation | None = None

    # -- tightening ---------------------------------------------------------------------------------

    def tighten(self, target: float, clock: Clock) -> None:
        """Alternate between better fractional sets, fewer elements and better diagonals."""
        for _ in range(ROUNDS_AT_ROOT if self._is_root else ROUNDS_BELOW):
            before, elements = self.bound, len(self.region.open)
            more = self._improve(target, clock)
            if self.bound <= target:
                return
            self._fix(target)
            little = STALLED * (self.bound - target)
            stalled = before - self.bound < little and len(self.region.open) > 0.9 * elements
            if self.bound <= target or not len(self.region.open) or (stalled and not more):
                return
            if not self._raise_diagonal(clock) and not more and stalled:
                return

    def _improve(self, target: float, clock: Clock) -> bool:
        """Improve the fractional set a few times; return whether there may be more to it."""
        relaxation = self._relax()
        for _ in range(IMPROVEMENTS):
            clock.check()
            more = relaxation.improve(target)
            self._note(relaxation.dual)
            if self.bound <= target or not more:
                return False
            if relaxation.dual.bound - relaxation.value < STALLED * (self.bound - target):
                return True
        return True

    def _relax(self) -> Relaxation:
        if self._relaxation is None:
            self._relaxation = self._begin()
            self._note(self._relaxation.dual)
        return self._relaxation

    def _begin(self) -> Relaxation:
        """Return the relaxation from where the last one was."""
        allowed = ~self.region.outside
        if self.region.constraint.laminar_tree() is not None and (self.diagonal[allowed] > 0).all():
            return Proximal(self.objective, self.region, self.diagonal, self._curvature, self._start)
        return FrankWolfe(self.objective, self.region, self.diagonal, self._start)

    def _note(self, dual: Dual) -> None:
        if self.dual is None or dual.bound < self._own_bound:
            self.dual, self._own_bound = dual, dual.bound
            if dual.bound < self.bound:
                self.bound = dual.bound
                if self._is_root:
                    self.observe(self.kind, max(self.bound, self._fixed_below))

    @property
    def own_bound(self) -> float | None:
        """The best bound of a dual point; sets that fixing ruled out are below the target of that time."""
        return None if self.dual is None else max(self._own_bound, self._fixed_below)

    @property
    def fractional(self) -> FloatArray:
        """The fractional set of the relaxation."""
        return self._relax().point

    # -- a better diagonal --------------------------------------------------------------------------

    def _raise_diagonal(self, clock: Clock) -> bool:
        """Move the diagonal to one that lowers the bound, if there is one."""
        relaxation = self._relax()
        if not isinstance(self.objective, Quadratic) or self.objective.groups is not None:
            return False
        kept, dual = np.flatnonzero(~self.region.outside), relaxation.dual
        self._rounds += 1
        raised = raised_diagonal(
            self.objective.hessian_at(relaxation.coef, kept),
            self.diagonal[kept],
            relaxation.slope[kept],
            np.where(self.region.inside, 1.0, relaxation.point)[kept],
            self.region.prices(dual.weights)[kept],
            max(2 / (self._rounds + 1), LEAST_STEP),
            clock,
        )
        if raised is None:
            return False
        self.diagonal = self.diagonal.copy()
        self.diagonal[kept] = raised
        relaxation.set_diagonal(self.diagonal)
        self._note(relaxation.dual)
        return True

    # -- elements that are fixed --------------------------------------------------------------------

    def _fix(self, target: float) -> None:
        """Fix by reduced cost the elements without which, or with which, no set can exceed the target."""
        assert self.dual is not None
        region = self.region.above(self.dual.weights, self.dual.base, target)
        if region is self.region:
            return
        self._fixed_below = max(self._fixed_below, target)
        if region is None:
            self.bound = target
            return
        self._start = self._relax().start
        self.region, self._relaxation = region, None
        self._shrink()
        self.dual, self._own_bound = None, np.inf
        self._relax()

    def _shrink(self) -> None:
        """Drop the elements that are outside for good, if they are many."""
        kept = np.flatnonzero(~self.region.outside)
        if len(kept) > WORTH_SHRINKING * self.objective.n:
            return
        was_quadratic = isinstance(self.objective, Quadratic)
        self.objective = shrunk_objective(self.objective, kept)
        self._curvature = WorkingCurvature(self.objective)
        self._start = _among(self._start, kept)
        self.elements = kept if self.elements is None else self.elements[kept]
        self.region = shrunk_region(self.region, kept)
        self.diagonal = self.diagonal[kept]
        if isinstance(self.objective, Quadratic) and not was_quadratic:
            self.diagonal = diagonal_of(self.objective, self.diagonal, self.region.clock)

    # -- branching ----------------------------------------------------------------------------------

    def candidate(self) -> IndexArray:
        """Return the set of the largest weight at the dual point."""
        assert self.dual is not None
        return np.union1d(self.region.max_weight(self.dual.weights)[0], self.region.held)

    def split(self) -> int:
        """Return the element whose fractionality loosens the bound most."""
        relaxation = self._relax()
        z = relaxation.point
        loose = relaxation.dual.weights * (z * (1 - z) + 1e-9)
        return int(self.region.open[np.argmax(loose[self.region.open])])

    def part(self, region: Region) -> RelaxedNode:
        """Return a part that starts from what was found out here."""
        assert self.dual is not None
        bound = min(self.bound, self.dual.bound_on(region))
        return RelaxedNode(
            self.objective, region, self.diagonal, self.elements, parent=self, bound=bound
        )


def shrunk_region(region: Region, kept: IndexArray) -> Region:
    """Return a region in the numbers of the elements kept, all others being outside."""
    return replace(
        region,
        constraint=region.constraint.induced(kept),
        inside=region.inside[kept],
        outside=region.outside[kept],
    )
