"""The best fractional set under any constraint: steps over convex combinations of independent sets.

Elements whose diagonal is 0 are free: they are used without penalty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from swapwise.certify.relaxation import Relaxation, by_row, in_rows, used_rows
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.region import Region
from swapwise.objectives.base import SparseObjective, by_element, embed, rows_of
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.conjugates import along_rows, room
from swapwise.override import override

#: Returns a set of large weight, if not the largest, for weights
Oracle = Callable[[FloatArray], IndexArray]

# Weights below this are rounding: the set is dropped from the combination.
SMALLEST_WEIGHT = 1e-12

NEWTON_STEPS, PAIRWISE_STEPS = 50, 60

# A column counts as a combination of others if less than this share of its square is orthogonal to them.
SPANNED = 1e-12

# Nothing is proven if free elements may add more than this to the value, as a share of it.
FREE_TOLERANCE = 1e-7


class FrankWolfeRelaxation(Relaxation):
    """A fractional set as a combination of independent sets, improved by pairwise steps."""

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        start: ConvexCombination | None = None,
    ) -> None:
        self.objective = objective
        self.region = region
        nothing = np.zeros_like(objective.coef([]))
        combination = None if start is None else start.within(region)
        if combination is None:
            slope = objective.gradient_at(nothing)
            moves = room(slope, nothing, objective.bounds) > 0
            slopes = by_element(objective, np.where(moves, slope**2, 0.0))
            combination = ConvexCombination([region.max_weight(slopes)[0]], [1.0])
        self.combination = combination
        self.coef = nothing
        self.set_diagonal(diagonal)

    @property
    @override
    def start(self) -> ConvexCombination:
        return self.combination

    @override
    def set_diagonal(self, diagonal: FloatArray) -> None:
        self.diagonal = diagonal
        self._shifted = diagonal > 0
        self._free = ~self._shifted & ~self.region.outside
        self._move_to(self.combination)

    # -- the best coefficients of a fractional set --------------------------------------------------

    def _move_to(self, combination: ConvexCombination) -> None:
        self.combination = combination
        self.point = combination.point(self.objective.n)
        self.point[self._free] = 1.0
        # Along collinear columns, steps may lead so far that nothing is proven.
        with np.errstate(over="ignore", invalid="ignore"):
            self._fit()
            value, gradient = self.objective.value_at(self.coef), self.objective.gradient_at(self.coef)
        steepness = self._steepness[self.coef[rows_of(self.objective, self.used)] != 0]
        self.dual = self._dual_at(value, gradient, steepness, self._left_over(value, gradient))

    def _fit(self) -> None:
        """Find w by Newton steps on r, where ``w = √z r``: that is well behaved when z goes to 0."""
        used = np.flatnonzero(self.point > 0)
        rows, owner = used_rows(self.objective, used)
        per_row = (len(rows), *(1,) * (self.coef.ndim - 1))
        root, D = (values[used[owner]].reshape(per_row) for values in (np.sqrt(self.point), self.diagonal))
        box = self._bounds_of(rows, root)
        r = self.coef[rows] / root
        r = r if box is None else box.clip(r)
        coef = embed(self.objective, used, root * r)
        self.used, self.value = used, self._penalised(coef, r, D)
        if not self.value >= 0:  # the last coefficients are a poor start for this combination
            r, coef = np.zeros_like(r), np.zeros_like(coef)
            self.value = self._penalised(coef, r, D)
        factor = None
        for _ in range(NEWTON_STEPS):
            self.region.clock.check()
            if factor is None or self.objective.curvature_is != "hessian":
                matrix = self._curvature(coef, rows, root.ravel(), D.ravel())
                factor = ScaledCholesky.of(matrix)
            slope = root * (self.objective.gradient_at(coef)[rows] + D * coef[rows]) - D * r
            if box is not None:  # coefficients that a bound stops do not move
                slope = box.projected(slope, r)
                factor = ScaledCholesky.of(matrix, ((slope != 0) | ~box.at_bound(r)).ravel())
            step = factor.solve(slope)
            if float((slope * step).sum()) <= 1e-15 * max(abs(self.value), self.objective.scale, 1e-300):
                break
            length, value = 1.0, -np.inf
            while length > 1e-8:
                there = r + length * step if box is None else box.clip(r + length * step)
                ahead = embed(self.objective, used, root * there)
                value = self._penalised(ahead, there, D)
                if value >= self.value + 1e-4 * float((slope * (there - r)).sum()):
                    break
                length /= 2
            if not value > self.value:
                break
            coef, r, self.value = ahead, there, value
        assert factor is not None
        self.coef, self._factor = coef, factor

    def _bounds_of(self, rows: IndexArray, root: FloatArray) -> CoefficientBounds | None:
        bounds = self.objective.bounds
        if bounds is None:
            return None
        shape = self.coef[rows].shape
        lower, upper = (
            np.broadcast_to(along_rows(ends[rows], root) * root, shape)
            for ends in (bounds.lower, bounds.upper)
        )
        return CoefficientBounds(lower, upper)

    def _penalised(self, coef: FloatArray, r: FloatArray, D: FloatArray) -> float:
        """Return ``−L(w) − Σ D r² / 2``."""
        shift = by_row(self.objective, self.diagonal, coef) * coef**2
        return self.objective.value_at(coef) + 0.5 * float(shift.sum()) - 0.5 * float((D * r**2).sum())

    def _curvature(self, coef: FloatArray, rows: IndexArray, root: FloatArray, D: FloatArray) -> FloatArray:
        matrix = self._hessian(self.used, coef)
        by_level = max(1, len(matrix) // max(1, len(rows)))  # 1 also where levels curve alike
        shape = (len(rows), *(by_level,) * (coef.ndim - 1))
        self._steepness = np.broadcast_to(np.sqrt(np.diag(matrix)).reshape(shape), coef[rows].shape)
        root, D = np.repeat(root, by_level), np.repeat(D, by_level)
        matrix[np.diag_indices(len(matrix))] -= D
        matrix *= np.outer(root, root)
        matrix[np.diag_indices(len(matrix))] += D
        return matrix

    def _hessian(self, elements: IndexArray, coef: FloatArray) -> FloatArray:
        """Return minus the Hessian; of all numbers of a coefficient, if bounds may stop some of them."""
        matrix = self.objective.hessian_at(coef, elements)
        alike = coef[rows_of(self.objective, elements)].size // max(1, len(matrix))
        if self.objective.bounds is None or alike <= 1:
            return matrix
        whole: FloatArray = np.kron(matrix, np.eye(alike)).astype(np.float64)
        return whole

    # -- the bound ----------------------------------------------------------------------------------

    def _left_over(self, value: float, gradient: FloatArray) -> float:
        """Bound what moving the free coefficients to their optimum would add; zero up to rounding.

        Bounds may stop them while the slope is not zero. They move no farther than their bounds allow, nor,
        in units of their curvature, than values reach.
        """
        free = np.flatnonzero(self._free)
        if not len(free):
            return 0.0
        size = max(abs(value), self.objective.scale)
        rows = rows_of(self.objective, free)
        curvature = np.sqrt(np.diag(self._hessian(free, self.coef)))
        within = room(gradient, self.coef, self.objective.bounds)
        slope, coef, within = (
            in_rows(np.abs(values[rows]), len(curvature)) for values in (gradient, self.coef, within)
        )
        with np.errstate(divide="ignore"):
            farthest = np.minimum(2 * coef + 2 * np.sqrt(size) / curvature[:, None], within)
        worth = float((slope[slope > 0] * farthest[slope > 0]).sum())
        return worth if worth <= FREE_TOLERANCE * size else np.inf

    # -- towards the best fractional set ------------------------------------------------------------

    @override
    def improve(self, target: float, precision: float) -> bool:
        # One Newton step of φ over the convex combinations: the second-order model is maximised by pairwise
        # Frank–Wolfe steps, which need no more factorisations; only the true φ at its end does.
        elements = np.unique(np.concatenate([*self.combination.sets, self.dual.support]))
        gap = self.dual.bound - self.value
        before, value, dual, start = self.combination, self.value, self.dual, self.point
        ahead = pairwise_frank_wolfe(
            before,
            elements,
            np.where(self._free, 0.0, dual.weights)[elements],
            self._curve(elements),
            self._oracle(elements),
            PAIRWISE_STEPS,
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
        """Return minus the second derivatives of φ in z: ``(g/D) (K⁻¹ + Z/D)⁻¹ (g/D)``, with K that of L.

        Of coefficients that bounds stop, g/D is their bound, and Z/D is 0: they do not move with the slope.
        """
        both = np.union1d(elements, self.used)
        rows, owner = used_rows(self.objective, both)
        rest = self._hessian(both, self.coef)
        owner = np.repeat(both[owner], len(rest) // max(1, len(rows)))
        D = self.diagonal[owner]
        rest[np.diag_indices(len(rest))] -= D
        here, there = (np.flatnonzero(np.isin(owner, some)) for some in (elements, self.used))
        across = np.sqrt(self.point[owner[there]])[:, None] * rest[np.ix_(there, here)]
        inverse = rest[np.ix_(here, here)] - across.T @ self._factor.solve(across)
        top = in_rows(self.top[rows], len(rest))[here]
        curve: FloatArray = inverse * (top @ top.T)
        if len(curve) > len(elements):
            begin = np.searchsorted(owner[here], elements)
            curve = np.add.reduceat(np.add.reduceat(curve, begin, axis=0), begin, axis=1)
        return curve

    def _oracle(self, elements: IndexArray) -> Oracle:
        """Return a greedy oracle for sets among ``elements``; exact max-weight sets may be expensive."""
        weights = np.full(self.objective.n, -1.0)

        def greedy(slope: FloatArray) -> IndexArray:
            weights[elements] = slope
            return self.region.greedy_set(weights)

        return greedy


@dataclass(frozen=True, eq=False)
class ScaledCholesky:
    """A Cholesky factor of a matrix that is scaled to a unit diagonal first, or of a part of it."""

    factor: tuple[FloatArray, bool]
    scale: FloatArray
    #: The rows and columns that were factored, without linear combinations of others
    part: IndexArray
    size: int

    @classmethod
    def of(cls, matrix: FloatArray, part: BoolArray | None = None) -> ScaledCholesky:
        """Factor a positive semidefinite matrix, or a part of it, as far as it is not singular.

        Free elements may be linear combinations of others. Such directions are of no use, and along nearly
        singular ones, coefficients would overflow.
        """
        rows = np.arange(len(matrix)) if part is None else np.flatnonzero(part)
        scale = np.sqrt(np.maximum(np.diag(matrix)[rows], 0.0))
        scale[scale == 0] = 1.0
        units = matrix[np.ix_(rows, rows)] / np.outer(scale, scale)
        upper, order, rank, _ = scipy.linalg.lapack.dpstrf(units, tol=SPANNED)
        kept = order[:rank] - 1
        return cls((upper[:rank, :rank], False), scale[kept], rows[kept], len(matrix))

    def solve(self, right: FloatArray) -> FloatArray:
        """Return the inverse times ``right``, in the shape of ``right``; 0 in rows that were left out."""
        given = in_rows(right, self.size)
        solved = np.zeros_like(given)
        scaled = given[self.part] / self.scale[:, None]
        if len(scaled):
            inner = scipy.linalg.cho_solve(self.factor, scaled, check_finite=False)
            solved[self.part] = inner / self.scale[:, None]
        solution: FloatArray = solved.reshape(right.shape)
        return solution


class ConvexCombination:
    """A fractional set: independent sets and their weights, which sum to 1."""

    def __init__(self, sets: Iterable[IndexArray], weights: Iterable[float]) -> None:
        merged: dict[bytes, tuple[IndexArray, float]] = {}
        for support, weight in zip(sets, weights, strict=True):
            if weight > SMALLEST_WEIGHT:
                key = support.tobytes()
                merged[key] = (support, weight + merged[key][1] if key in merged else weight)
        self.sets = [support for support, _ in merged.values()]
        self.weights = np.array([weight for _, weight in merged.values()])
        self.weights /= self.weights.sum()

    def point(self, n: int) -> FloatArray:
        point = np.zeros(n)
        for support, weight in zip(self.sets, self.weights, strict=True):
            point[support] += weight
        return np.minimum(point, 1.0)

    def blend(self, other: ConvexCombination, share: float) -> ConvexCombination:
        weights = np.append((1.0 - share) * self.weights, share * other.weights)
        return ConvexCombination([*self.sets, *other.sets], weights)

    def among(self, elements: IndexArray) -> ConvexCombination | None:
        pairs = zip(self.sets, self.weights, strict=True)
        kept = [
            (np.searchsorted(elements, support), weight)
            for support, weight in pairs
            if np.isin(support, elements).all()
        ]
        return ConvexCombination(*zip(*kept, strict=True)) if kept else None

    def within(self, region: Region) -> ConvexCombination | None:
        pairs = zip(self.sets, self.weights, strict=True)
        kept = [(support, weight) for support, weight in pairs if region.has(support)]
        return ConvexCombination(*zip(*kept, strict=True)) if kept else None


def pairwise_frank_wolfe(
    combination: ConvexCombination,
    elements: IndexArray,
    slope: FloatArray,
    curve: FloatArray,
    oracle: Oracle,
    steps: int,
    gap: float,
) -> ConvexCombination:
    """Move weight between sets to raise ``slope·d − dᵀ curve d / 2``, where d is how far the point moves.

    ``slope`` and ``curve`` are those of ``elements``, which hold all sets. The oracle is called only when the
    gap between the known sets is less than half of the Frank–Wolfe gap that its last answer left.
    """
    position = np.full(elements.max(initial=-1) + 1, -1)
    position[elements] = np.arange(len(elements))
    sets, count = list(combination.sets), len(combination.sets)
    rows = np.zeros((count + steps, len(elements)))
    weights = np.zeros(count + steps)
    weights[:count] = combination.weights
    for number, support in enumerate(sets):
        rows[number, position[support]] = 1.0
    slope = slope.copy()
    last_gap = np.inf
    for _ in range(steps):
        slopes = rows[:count] @ slope
        worst = int(np.argmin(np.where(weights[:count] > SMALLEST_WEIGHT, slopes, np.inf)))
        best = int(np.argmax(slopes))
        local = float(slopes[best] - slopes[worst])
        if local < last_gap / 2:
            here = float(weights[:count] @ slopes)
            support = oracle(slope)
            last_gap = float(slope[position[support]].sum()) - here
            if last_gap > max(gap, slopes[best] - here):
                sets.append(support)
                best, count = count, count + 1
                rows[best, position[support]] = 1.0
            elif local > gap:
                last_gap = local  # no new set for now: go on with the known ones
            else:
                break
        way = rows[best] - rows[worst]
        moved = np.flatnonzero(way)
        bend = curve[:, moved] @ way[moved]
        rise, curvature = float(slope @ way), float(way @ bend)
        if rise <= 0:
            break
        step = float(weights[worst])
        if curvature * step > rise:
            step = rise / curvature
        slope -= step * bend
        weights[best] += step
        weights[worst] -= step
    return ConvexCombination(sets, weights[:count])
