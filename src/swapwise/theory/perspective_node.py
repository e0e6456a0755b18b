"""Nodes of branch and bound that are bounded by the perspective relaxation."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.matroid import Matroid
from swapwise.objectives.base import SparseObjective
from swapwise.theory.atoms import Mixture
from swapwise.theory.bounds import ceiling
from swapwise.theory.branching import Node
from swapwise.theory.diagonal import best_diagonal, is_spared, schur_complement
from swapwise.theory.perspective import Dual, Perspective
from swapwise.theory.region import Region

# Matrices up to this size have their diagonal chosen with care: each choice takes dozens of factorisations.
CHOOSE_DIAGONAL_UP_TO = 500

# A node is left when a round takes less than this share off the distance to the target.
STALLED = 0.05
ROUNDS_AT_ROOT, ROUNDS_BELOW, IMPROVEMENTS = 40, 4, 3


class PerspectiveNode(Node):
    """A region whose bound is the best that dual points have proven so far."""

    kind = "relaxation"

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        dual: Dual | None = None,
        mixture: Mixture | None = None,
        rounds: int = 0,
    ) -> None:
        self.objective = objective
        self.region = region
        self.diagonal = diagonal
        self.dual = dual
        self.bound = ceiling(objective) if dual is None else dual.bound_on(region)
        self._dual_bound = np.inf if dual is None else self.bound
        self._settled_below = -np.inf
        #: How often the diagonal was chosen anew, here and above
        self.rounds = rounds
        self._mixture = mixture
        self.relaxation: Perspective | None = None

    # -- tightening ---------------------------------------------------------------------------------

    def tighten(self, target: float, clock: Clock) -> None:
        """Alternate between better fractional sets and better diagonals."""
        for _ in range(ROUNDS_AT_ROOT if self.rounds == 0 else ROUNDS_BELOW):
            before = self.bound
            rose = self._improve(target, clock)
            self._fix(target)
            relaxation, little = self._relax(), STALLED * (self.bound - target)
            settled = relaxation.dual.bound - relaxation.value < little
            if self.bound <= target or (settled and before - self.bound < little):
                return
            if not self._choose_diagonal() and (settled or not rose):
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
            mixture = None if self._mixture is None else self._mixture.within(self._allows)
            self.relaxation = Perspective(self.objective, self.region, self.diagonal, mixture)
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
        """The best bound of a dual point; sets that were settled away are below the target of that time."""
        return None if self.dual is None else max(self._dual_bound, self._settled_below)

    @property
    def fractional(self) -> FloatArray:
        """The fractional set of the relaxation."""
        return self._relax().point

    # -- a better diagonal --------------------------------------------------------------------------

    def _choose_diagonal(self) -> bool:
        """Move the diagonal towards the one that is worth most to the fractional set, if that can be had.

        φ falls with D_i by ``(g_i/D_i)² z_i (1 − z_i) / 2``. As the fractional set answers, the way is gone
        in ever shorter steps, as Frank–Wolfe does in games.
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
        if not is_spared(whole, diagonal[elements]):
            return False
        self.diagonal = diagonal
        relaxation.charge_by(diagonal)
        self._note(relaxation.dual)
        return True

    # -- elements that are settled ------------------------------------------------------------------

    def _fix(self, target: float) -> None:
        """Settle the elements without which, or with which, no set of the region can exceed the target."""
        constraint = self.region.constraint
        if self.bound <= target or not isinstance(constraint, Matroid) or self.dual is None:
            return
        weights, support = self.dual.weights, self.dual.support
        grid = constraint._grid(support).feasible
        grid[self.region.outside] = False
        cost = np.append(np.where(self.region.inside[support], np.inf, weights[support]), 0.0)
        with_it = self.dual.bound + weights - np.where(grid, cost, np.inf).min(axis=1)
        settled = np.setdiff1d(self.region.open, support)
        settled = settled[with_it[settled] <= target]
        region = self.region.with_outside(settled) if len(settled) else self.region
        replaced = np.where(grid[:, :-1], weights[:, None], 0.0).max(axis=0, initial=0.0)
        without = self.dual.bound - weights[support] + replaced
        for element in support[(without <= target) & ~self.region.inside[support]]:
            region = region.with_inside(int(element))
        if region is not self.region:
            self._settled_below = max(self._settled_below, target)
            self._narrow(region)

    def _narrow(self, region: Region) -> None:
        relaxation = self._relax()
        self.region = region
        mixture = relaxation.mixture.within(self._allows)
        self.relaxation = Perspective(self.objective, region, self.diagonal, mixture)
        self._note(self.relaxation.dual)

    # -- branching ----------------------------------------------------------------------------------

    def candidate(self) -> IndexArray:
        """Return the set that the dual point likes best."""
        assert self.dual is not None
        return np.union1d(self.region.heaviest(self.dual.weights)[0], self.region.held)

    def split(self) -> int:
        """Return the element whose fraction costs the bound most."""
        relaxation = self._relax()
        z = relaxation.point
        loose = relaxation.dual.weights * (z * (1 - z) + 1e-9)
        return int(self.region.open[np.argmax(loose[self.region.open])])

    def part(self, region: Region) -> PerspectiveNode:
        """Return a part that starts from what was found out here."""
        mixture = self._relax().mixture
        part = PerspectiveNode(self.objective, region, self.diagonal, self.dual, mixture, min(self.rounds, 4))
        part.bound = min(part.bound, self.bound)
        return part
