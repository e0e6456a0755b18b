"""The perspective relaxation of choosing elements: fractional sets, and the upper bounds they prove.

With a diagonal D that ``u`` can spare (``u(w) + wᵀDw/2`` is still concave), write ``u = −L − wᵀDw/2``.
A fractional set z has the value ``φ(z) = max_w −L(w) − Σ D_i w_i² / 2z_i``: f on sets, and concave. At any w,
with g = ∇L(w),

    f(S)  ≤  −L(w) + ⟨g, w⟩ + max over allowed S of Σ_{i∈S} g_i² / 2D_i

which at the w of the best z is φ(z) itself. Elements whose D is 0 are free: they are used at no charge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from swapwise.checks import FloatArray, IndexArray
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SparseObjective, embed
from swapwise.theory.atoms import Mixture, Oracle, climb_quadratic
from swapwise.theory.bounds import cancellation
from swapwise.theory.region import Region

NEWTON_STEPS = 50

# If free elements are farther than this from their best, relative to the value, nothing is proven.
SETTLED = 1e-7


@dataclass(frozen=True, eq=False)
class Dual:
    """A proven upper bound on f over a region, the point that proves it, and the set it would like."""

    bound: float
    #: The part of the bound that is the same for every set
    base: float
    #: What each element adds to the bound if it is chosen
    weights: FloatArray
    support: IndexArray

    def bound_on(self, region: Region) -> float:
        """Return the upper bound that the same point proves on a part of the region."""
        return self.base + region.heaviest(self.weights)[1]


class Perspective:
    """A fractional set on its way to the largest φ over a region."""

    def __init__(
        self, objective: SparseObjective, region: Region, diagonal: FloatArray, mixture: Mixture | None = None
    ) -> None:
        self.objective = objective
        self.region = region
        if mixture is None:
            slope = objective.gradient_at(np.zeros(objective.n)) ** 2
            mixture = Mixture([region.heaviest(slope)[0]], [1.0])
        self.mixture = mixture
        self.coef = np.zeros(objective.n)
        self.charge_by(diagonal)

    def charge_by(self, diagonal: FloatArray) -> None:
        """Use another diagonal that ``u`` can spare."""
        self.diagonal = diagonal
        self._charged = diagonal > 0
        self._free = ~self._charged & ~self.region.outside
        self._move_to(self.mixture)

    # -- the best coefficients of a fractional set --------------------------------------------------

    def _move_to(self, mixture: Mixture) -> None:
        self.mixture = mixture
        self.point = mixture.point(self.objective.n)
        self.point[self._free] = 1.0
        self._fit()
        self.dual = self._dual()

    def _fit(self) -> None:
        """Find w by Newton steps on r, where ``w = √z r``: that is well behaved when z goes to 0."""
        used = np.flatnonzero(self.point > 0)
        root, D = np.sqrt(self.point[used]), self.diagonal[used]
        r = self.coef[used] / root
        coef = embed(self.objective, used, root * r)
        self.used, self.value = used, self._penalised(coef, r, D)
        factor = None
        for _ in range(NEWTON_STEPS):
            self.region.clock.check()
            if factor is None or self.objective.curvature_is != "hessian":
                factor = Factor.of(self._curvature(coef, used, root, D))
            slope = root * (self.objective.gradient_at(coef)[used] + D * coef[used]) - D * r
            step = factor.solve(slope)
            rise = float(slope @ step)
            if rise <= 1e-15 * max(abs(self.value), self.objective.scale, 1e-300):
                break
            length, value = 1.0, -np.inf
            while length > 1e-8:
                ahead = embed(self.objective, used, root * (r + length * step))
                value = self._penalised(ahead, r + length * step, D)
                if value >= self.value + 1e-4 * length * rise:
                    break
                length /= 2
            if not value > self.value:
                break
            coef, r, self.value = ahead, r + length * step, value
        assert factor is not None
        self.coef, self._factor = coef, factor

    def _penalised(self, coef: FloatArray, r: FloatArray, D: FloatArray) -> float:
        """Return ``−L(w) − Σ D r² / 2``."""
        return self.objective.value_at(coef) + 0.5 * float(self.diagonal @ coef**2) - 0.5 * float(D @ r**2)

    def _curvature(self, coef: FloatArray, used: IndexArray, root: FloatArray, D: FloatArray) -> FloatArray:
        """Return minus the second derivatives in r."""
        rest = self.objective.hessian_at(coef, used)
        self._steepness = np.sqrt(np.diag(rest))
        rest[np.diag_indices(len(used))] -= D
        matrix = root[:, None] * rest * root
        matrix[np.diag_indices(len(used))] += D
        return matrix

    # -- the bound ----------------------------------------------------------------------------------

    def _dual(self) -> Dual:
        objective, coef, D = self.objective, self.coef, self.diagonal
        value = objective.value_at(coef)
        self.slope = objective.gradient_at(coef) + D * coef
        spared = 0.5 * float(D @ coef**2)
        paired = float(self.slope @ coef)
        weights = np.zeros(objective.n)
        weights[self._charged] = self.slope[self._charged] ** 2 / (2 * D[self._charged])
        support, heaviest = self.region.heaviest(weights)
        rounding = ROUNDING * (abs(value) + spared + abs(paired) + heaviest)
        rounding += cancellation(coef[self.used], self._steepness)
        base = value + spared - paired + rounding + self._left_over(value)
        return Dual(base + heaviest, base, weights, support)

    def _left_over(self, value: float) -> float:
        """Return what the slope of the free elements may still be worth; it is zero up to rounding.

        By how far they can be from their best: in units of their curvature, no farther than values reach.
        """
        free = np.flatnonzero(self._free)
        if not len(free):
            return 0.0
        size = max(abs(value), self.objective.scale)
        curvature = np.sqrt(np.diag(self.objective.hessian_at(self.coef, free)))
        slope, reach = np.abs(self.slope[free]), 2 * curvature * np.abs(self.coef[free]) + 2 * np.sqrt(size)
        flat = curvature == 0
        if (slope[flat] > 0).any():
            return np.inf
        worth = float((slope[~flat] / curvature[~flat]) @ reach[~flat])
        return worth if worth <= SETTLED * size else np.inf

    # -- towards the best fractional set ------------------------------------------------------------

    def improve(self, steps: int = 60) -> bool:
        """Take one Newton step of φ over the mixtures; return whether φ rose.

        The second-order model of φ is maximised by pairwise Frank–Wolfe steps, which need no more
        factorisations; only the true φ at its end does.
        """
        elements = np.unique(np.concatenate([*self.mixture.sets, self.dual.support]))
        gap = self.dual.bound - self.value
        before, value, dual, start = self.mixture, self.value, self.dual, self.point
        ahead = climb_quadratic(
            before,
            elements,
            dual.weights[elements],
            self._curve(elements),
            self._oracle(elements),
            steps,
            gap / 20,
        )
        share = 1.0
        while share > 0.01:
            self._move_to(before.blend(ahead, share))
            if self.value >= value + 1e-3 * float(dual.weights @ (self.point - start)):
                return self.value > value
            share /= 4
        self._move_to(before)
        return False

    def _curve(self, elements: IndexArray) -> FloatArray:
        """Return minus the second derivatives of φ in z: ``(g/D) (K⁻¹ + Z/D)⁻¹ (g/D)``, with K that of L."""
        both = np.union1d(elements, self.used)
        rest = self.objective.hessian_at(self.coef, both)
        rest[np.diag_indices(len(both))] -= self.diagonal[both]
        here, there = np.searchsorted(both, elements), np.searchsorted(both, self.used)
        across = np.sqrt(self.point[self.used])[:, None] * rest[np.ix_(there, here)]
        inverse = rest[np.ix_(here, here)] - across.T @ self._factor.solve(across)
        D = self.diagonal[elements]
        ratio = np.divide(self.slope[elements], D, out=np.zeros(len(D)), where=D > 0)
        curve: FloatArray = ratio[:, None] * inverse * ratio
        return curve

    def _oracle(self, elements: IndexArray) -> Oracle:
        """Return what finds heavy sets of the region among ``elements``.

        Where heaviest sets are expensive, those of the true φ have to do; here the heaviest elements first.
        """
        weights = np.full(self.objective.n, -1.0)

        def heavy(slope: FloatArray) -> IndexArray:
            weights[elements] = slope
            return self.region.heavy(weights)

        return heavy


@dataclass(frozen=True, eq=False)
class Factor:
    """A Cholesky factor of a matrix that is scaled to a unit diagonal first."""

    factor: tuple[FloatArray, bool]
    scale: FloatArray

    @classmethod
    def of(cls, matrix: FloatArray) -> Factor:
        """Factor a positive semidefinite matrix; one that is singular is raised a little."""
        scale = np.sqrt(np.maximum(np.diag(matrix), 0.0))
        scale[scale == 0] = 1.0
        matrix = matrix / np.outer(scale, scale)
        raised = 1e-14
        while True:
            try:
                return cls(cho_factor(matrix, check_finite=False), scale)
            except LinAlgError:  # free elements may be linear combinations of others
                matrix[np.diag_indices(len(matrix))] += raised
                raised *= 10

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the matrix's inverse times a vector or matrix."""
        shape = (-1,) + (1,) * (right.ndim - 1)
        scale = self.scale.reshape(shape)
        solution: FloatArray = cho_solve(self.factor, right / scale, check_finite=False) / scale
        return solution
