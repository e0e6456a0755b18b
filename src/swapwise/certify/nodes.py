"""Nodes of branch and bound: parts of the independent sets, and how each bounds f over its part."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from swapwise.certify.bounds import bound_from_gains, bound_of_all, ceiling
from swapwise.certify.diagonal import best_diagonal, is_valid_shift, schur_complement
from swapwise.certify.region import Region
from swapwise.certify.relaxation import ConvexCombination, Dual, Perspective
from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget, Clock
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.strategies import gains_of_additions

# Matrices up to this size have their diagonal chosen with care: each choice takes dozens of factorisations.
CHOOSE_DIAGONAL_UP_TO = 500

# A node is left when a round takes less than this share off the distance to the target.
STALLED = 0.05
ROUNDS_AT_ROOT, ROUNDS_BELOW, IMPROVEMENTS = 40, 4, 3


class Node(ABC):
    """A part of the independent sets, with a proven upper bound on f over it."""

    #: The kind of bound, a key of ``Certificate.bounds``
    kind: str
    region: Region
    bound: float

    @property
    def own_bound(self) -> float | None:
        """The best bound of this kind, if there is one yet."""
        return self.bound

    @property
    def fractional(self) -> FloatArray | None:
        """The fractional set that the bound comes from, if it does."""
        return None

    @abstractmethod
    def tighten(self, target: float, clock: Clock) -> None:
        """Lower the bound until it is at most ``target``, or hardly falls any more."""

    @abstractmethod
    def candidate(self) -> IndexArray:
        """Return a set of the region that might be good."""

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
        gains = gains_of_additions(self.objective.start(held), may_join, Budget(clock))
        self._gains = np.maximum(gains, 0.0)
        self._candidate = np.union1d(self.region.max_weight(self._gains)[0], held)

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


class PerspectiveNode(Node):
    """A region whose bound is the best that dual points have proven so far."""

    kind = "relaxation"

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        dual: Dual | None = None,
        combination: ConvexCombination | None = None,
        rounds: int = 0,
    ) -> None:
        self.objective = objective
        self.region = region
        self.diagonal = diagonal
        self.dual = dual
        self.bound = ceiling(objective) if dual is None else dual.bound_on(region)
        self._dual_bound = np.inf if dual is None else self.bound
        self._fixed_below = -np.inf
        #: How often another diagonal was chosen, here and above
        self.rounds = rounds
        self._combination = combination
        self.relaxation: Perspective | None = None

    # -- tightening ---------------------------------------------------------------------------------

    def tighten(self, target: float, clock: Clock) -> None:
        """Alternate between better fractional sets and better diagonals."""
        for _ in range(ROUNDS_AT_ROOT if self.rounds == 0 else ROUNDS_BELOW):
            before = self.bound
            rose = self._improve(target, clock)
            self._fix(target)
            relaxation, little = self._relax(), STALLED * (self.bound - target)
            converged = relaxation.dual.bound - relaxation.value < little
            if self.bound <= target or (converged and before - self.bound < little):
                return
            if not self._choose_diagonal() and (converged or not rose):
                return

    def _improve(self, target: float, clock: Clock) -> bool:
        """Improve the fractional set a few times; return whether there may be more to it."""
        relaxation = self._relax()
        for _ in range(IMPROVEMENTS):
            clock.check()
            rose = relaxation.improve()
            self._note(relaxation.dual)
            if self.bound <= target or not rose:
                return False
        return True

    def _relax(self) -> Perspective:
        if self.relaxation is None:
            combination = None if self._combination is None else self._combination.within(self._allows)
            self.relaxation = Perspective(self.objective, self.region, self.diagonal, combination)
            self._note(self.relaxation.dual)
        return self.relaxation

    def _allows(self, support: IndexArray) -> bool:
        chosen = np.zeros(self.objective.n, dtype=bool)
        chosen[support] = True
        return bool(chosen[self.region.inside].all()) and not chosen[self.region.outside].any()

    def _note(self, dual: Dual) -> None:
        if self.dual is None or dual.bound < self._dual_bound:
            self.dual, self._dual_bound = dual, dual.bound
            self.bound = min(self.bound, dual.bound)

    @property
    def own_bound(self) -> float | None:
        """The best bound of a dual point; sets that fixing ruled out are below the target of that time."""
        return None if self.dual is None else max(self._dual_bound, self._fixed_below)

    @property
    def fractional(self) -> FloatArray:
        """The fractional set of the relaxation."""
        return self._relax().point

    # -- a better diagonal --------------------------------------------------------------------------

    def _choose_diagonal(self) -> bool:
        """Move the diagonal towards the one that lowers φ most at the fractional set, if there is one.

        φ falls with D_i by ``(g_i/D_i)² z_i (1 − z_i) / 2``. As the fractional set changes in turn, the steps
        get ever shorter, as those of Frank–Wolfe in games.
        """
        relaxation = self._relax()
        if self.objective.curvature_is != "hessian" or self.objective.n > CHOOSE_DIAGONAL_UP_TO:
            return False
        kept = ~self.region.outside & (self.diagonal > 0)
        z, D = relaxation.point[kept], self.diagonal[kept]
        worth = (relaxation.slope[kept] / D) ** 2 * z * (1 - z)
        if not worth.sum() > 0:
            return False
        free = ~self.region.outside & ~kept
        elements = np.flatnonzero(kept | free)
        whole = self.objective.hessian_at(np.zeros(self.objective.n), elements)
        matrix = schur_complement(whole, free[elements]) if free.any() else whole
        # A little for every element: what is of no use here may be elsewhere.
        worth = worth + 1e-3 * float(worth @ D) / (len(D) * D)
        chosen = best_diagonal(matrix, worth, D, clock=self.region.clock)
        self.rounds += 1
        diagonal = self.diagonal.copy()
        diagonal[kept] += (chosen - D) * 2 / (self.rounds + 2)
        if not is_valid_shift(whole, diagonal[elements]):
            return False
        self.diagonal = diagonal
        relaxation.set_diagonal(diagonal)
        self._note(relaxation.dual)
        return True

    # -- elements that are fixed --------------------------------------------------------------------

    def _fix(self, target: float) -> None:
        """Fix by reduced cost the elements without which, or with which, no set can exceed the target."""
        if self.bound <= target or self.dual is None:
            return
        region = self.region.above(self.dual.weights, self.dual.base, target)
        if region is self.region:
            return
        self._fixed_below = max(self._fixed_below, target)
        if region is None:
            self.bound = target
        else:
            self._restrict(region)

    def _restrict(self, region: Region) -> None:
        relaxation = self._relax()
        self.region = region
        combination = relaxation.combination.within(self._allows)
        self.relaxation = Perspective(self.objective, region, self.diagonal, combination)
        self._note(self.relaxation.dual)

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

    def part(self, region: Region) -> PerspectiveNode:
        """Return a part that starts from what was found out here."""
        combination = self._relax().combination
        part = PerspectiveNode(
            self.objective, region, self.diagonal, self.dual, combination, min(self.rounds, 4)
        )
        part.bound = min(part.bound, self.bound)
        return part
