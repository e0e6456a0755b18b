"""Nodes bounded by the perspective relaxation: tighten, fix elements, drop those ruled out, tighten again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from swapwise.certify.frank_wolfe import ConvexCombination, FrankWolfeRelaxation
from swapwise.certify.limits import parts_of
from swapwise.certify.nodes import Node
from swapwise.certify.overlapping import LimitedPoint, OverlappingRelaxation
from swapwise.certify.problem import RestrictedProblem
from swapwise.certify.proximal import ProximalRelaxation, WorkingPoint
from swapwise.certify.relaxation import DualBound, Relaxation, RelaxationStart
from swapwise.certify.ties import SetAside, Ties
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.quadratic import Quadratic
from swapwise.override import override
from swapwise.theory.bounds import ceiling
from swapwise.theory.diagonal import raised_diagonal

# A node is split when IDLE_ROUNDS in a row take less than this share off the distance to the target.
STALLED = 0.02
IDLE_ROUNDS, ROUNDS_AT_ROOT, ROUNDS_BELOW, IMPROVEMENTS = 4, 60, 3, 12

# The precision of fractional sets, relative to the distance of the bound to the target
PRECISION_AT_ROOT, PRECISION_BELOW = 0.02, 0.1

# Diagonals move by shares of the way to the best one for the last fractional set that fall down to this.
LEAST_STEP = 0.2

# Below the root, another diagonal is chosen when there are fewer elements than this share of those that the
# last one was chosen for: it takes dozens of factorisations.
WORTH_CHOOSING = 0.7

# A problem is restricted to the elements that are not ruled out when they are at most this share.
WORTH_SHRINKING = 0.8


class RelaxedNode(Node):
    kind = "relaxation"

    def __init__(self, problem: RestrictedProblem, region: Region, parent: RelaxedNode | None = None) -> None:
        self.problem = problem
        self.objective: SparseObjective = problem.objective
        self.region = region
        self.diagonal: FloatArray = problem.diagonal if parent is None else parent.diagonal
        self.bound = ceiling(problem.objective)
        self.dual: DualBound | None = None
        self._is_root = parent is None
        self._rounds: int = 0 if parent is None else parent._rounds
        #: The number of elements when the diagonal was chosen
        self._chosen_for: float = np.inf if parent is None else parent._chosen_for
        self._start: RelaxationStart | None = None if parent is None else parent._last_start
        self._fixed_below, self._own_bound = -np.inf, np.inf
        self._relaxation: Relaxation | None = None
        self._fractional: FloatArray | None = None
        self._aside: SetAside | None = None
        self._ties: Ties | None = problem.ties if parent is None else parent._ties
        self._may_be_tied = True
        if parent is not None:
            self.bound = parent.bound
            if parent.dual is not None:
                self.bound = min(self.bound, parent.dual.bound_on(region))

    @override
    def whole(self, support: IndexArray) -> IndexArray:
        return self.problem.whole(support)

    # -- linear dependencies ------------------------------------------------------------------------

    @property
    @override
    def aside(self) -> IndexArray:
        aside = self._open_aside
        if self._aside is None or not len(aside):
            return aside
        room = self.region.constraint.max_size() - len(self.region.held)
        return np.intersect1d(aside, self._aside.within(room))

    @property
    def has_basis(self) -> bool:
        """Whether some columns are set aside, so that the others can have a positive diagonal."""
        return len(self._open_aside) > 0

    @property
    def _open_aside(self) -> IndexArray:
        self._find_ties()
        elements = super().aside if self._aside is None else self._aside.elements
        return elements[~self.region.inside[elements]]

    def _find_ties(self) -> None:
        if self._ties is None or not self._may_be_tied:
            return
        self._may_be_tied = False
        self._aside = self._ties.set_aside(self.region)
        if self._aside is None:
            return
        self._ties = replace(self._ties, tied=self._aside.tied)
        needless = self._aside.needless(self.region)
        if len(needless):
            self.region = self.region.with_outside(needless)
            self._aside = self._aside.without(needless)

    def _shift_the_basis(self) -> None:
        self._find_ties()
        basis = ~self.region.outside
        if self._aside is not None:
            basis[self._aside.elements] = False
        if self._ties is None or (self.diagonal[basis] > 0).all():
            return
        diagonal = self.problem.shift_of_some(np.flatnonzero(basis), self.region.clock)
        if (diagonal[basis] > 0).all():
            self.diagonal, self._chosen_for = diagonal, np.inf
        else:
            self._aside = None

    def _whole_dual(self, dual: DualBound, relaxation: Relaxation) -> DualBound:
        if self._aside is None or not np.isfinite(dual.base):
            return dual
        weights = dual.weights.copy()
        weights[self._aside.elements] = self._aside.weights(relaxation.slope, relaxation.diagonal)
        support, largest = self.region.max_weight(weights)
        base = dual.base + ROUNDING * largest
        return DualBound(base + largest, base, weights, support)

    # -- tightening ---------------------------------------------------------------------------------

    @override
    def tighten(self, target: float, clock: Clock) -> None:
        idle = 0
        for _ in range(ROUNDS_AT_ROOT if self._is_root else ROUNDS_BELOW):
            before, elements = self.bound, len(self.region.open)
            more = self._improve(target, clock)
            if self.bound > target:
                self._fix(target)
            if self.bound <= target or not len(self.region.open) or self._is_up_to_what_is_aside(target):
                return
            progress = before - self.bound >= STALLED * (self.bound - target)
            progress |= len(self.region.open) < (1 - STALLED) * elements
            idle = 0 if progress or more else idle + 1
            if idle == IDLE_ROUNDS or not (self._raise_diagonal(clock) or more):
                return

    def _is_up_to_what_is_aside(self, target: float) -> bool:
        """Return whether only sets with elements set aside may exceed the target."""
        return len(self._open_aside) > 0 and self._relax().dual.bound <= target

    def _improve(self, target: float, clock: Clock) -> bool:
        relaxation = self._relax()
        precision = PRECISION_AT_ROOT if self._is_root else PRECISION_BELOW
        for _ in range(IMPROVEMENTS):
            clock.check()
            more = relaxation.improve(target, precision)
            self._note(relaxation)
            self._fractional = self.problem.spread(relaxation.point)
            if self.bound <= target or not more:
                return False
            if relaxation.dual.bound - relaxation.value < precision * (self.bound - target):
                return False
        return True

    def _relax(self) -> Relaxation:
        if self._relaxation is None:
            self._relaxation = self._begin()
            self._note(self._relaxation)
        return self._relaxation

    @property
    def _last_start(self) -> RelaxationStart | None:
        return self._start if self._relaxation is None else self._relaxation.start

    def _begin(self) -> Relaxation:
        self._shift_the_basis()
        objective, region, start = self.objective, self.region, self._start
        if len(self._open_aside):
            region = region.with_outside(self._open_aside)
        if (self.diagonal[~region.outside] > 0).all():
            working_set = self.problem.working_set
            if region.constraint.laminar_tree() is not None:
                near = start if isinstance(start, WorkingPoint) else None
                return ProximalRelaxation(objective, region, self.diagonal, working_set, near)
            parts = parts_of(region.constraint)
            if parts is not None:
                limited = start if isinstance(start, LimitedPoint) else None
                return OverlappingRelaxation(objective, region, self.diagonal, working_set, parts, limited)
        combination = start if isinstance(start, ConvexCombination) else None
        return FrankWolfeRelaxation(objective, region, self.diagonal, combination)

    def _note(self, relaxation: Relaxation) -> None:
        dual = self._whole_dual(relaxation.dual, relaxation)
        if self.dual is None or dual.bound < self._own_bound:
            self.dual, self._own_bound = dual, dual.bound
        if dual.bound < self.bound:
            self.bound = max(dual.bound, self._fixed_below)
            if self._is_root:
                self.observe(self.kind, self.bound)

    @property
    @override
    def own_bound(self) -> float | None:
        return None if self.dual is None else max(self._own_bound, self._fixed_below)

    @property
    @override
    def fractional(self) -> FloatArray | None:
        return self._fractional

    # -- a better diagonal --------------------------------------------------------------------------

    def _raise_diagonal(self, clock: Clock) -> bool:
        relaxation = self._relax()
        kept = np.flatnonzero(~relaxation.region.outside)
        if not isinstance(self.objective, Quadratic) or self.objective.groups is not None:
            return False
        if not self._is_root and len(kept) > WORTH_CHOOSING * self._chosen_for:
            return False
        self._rounds, self._chosen_for = self._rounds + 1, len(kept)
        raised = raised_diagonal(
            self.objective.hessian_at(relaxation.coef, kept),
            self.diagonal[kept],
            (self.diagonal * relaxation.top)[kept],  # the slope, cut to the bounds on coefficients
            np.where(relaxation.region.inside, 1.0, relaxation.point)[kept],
            relaxation.region.prices(relaxation.dual.weights)[kept],
            max(2 / (self._rounds + 1), LEAST_STEP),
            clock,
        )
        if raised is None:
            return False
        self.diagonal = self.diagonal.copy()
        self.diagonal[kept] = raised
        relaxation.set_diagonal(self.diagonal)
        self._note(relaxation)
        return True

    # -- elements that are fixed --------------------------------------------------------------------

    def _fix(self, target: float) -> None:
        assert self.dual is not None
        if not np.isfinite(self.dual.base):  # the bound is that of the part before
            return
        region = self.region.above(self.dual.weights, self.dual.base, target)
        if region is self.region:
            return
        self._fixed_below = max(self._fixed_below, target)
        if region is None:
            self.bound = target
            return
        self._start = self._relax().start
        self.region, self._relaxation, self.dual = region, None, None
        self._shrink()
        self._may_be_tied = True
        self._relax()

    def _shrink(self) -> None:
        kept = np.flatnonzero(~self.region.outside)
        if len(kept) > WORTH_SHRINKING * self.objective.n:
            return
        self.problem = self.problem.among(kept, self.region.clock, self.diagonal)
        self.objective, self.diagonal = self.problem.objective, self.problem.diagonal
        self.region = self.region.among(kept)
        self._ties = None if self._ties is None else self._ties.among(kept)
        assert self._start is not None
        self._start = self._start.among(kept)

    # -- branching ----------------------------------------------------------------------------------

    @override
    def candidate(self) -> IndexArray:
        assert self.dual is not None
        return np.union1d(self.region.max_weight(self.dual.weights)[0], self.region.held)

    @override
    def split(self) -> int:
        relaxation = self._relax()
        if len(self._open_aside):
            assert self.dual is not None
            return int(self._open_aside[np.argmax(self.dual.weights[self._open_aside])])
        z = relaxation.point
        loose = relaxation.dual.weights * (z * (1 - z) + 1e-9)
        return int(self.region.open[np.argmax(loose[self.region.open])])

    @override
    def part(self, region: Region) -> RelaxedNode:
        return RelaxedNode(self.problem, region, self)
