"""The best fractional set under nested limits: proximal steps on a model of the objective.

The model is the second-order one on a working set of elements, which for least squares is exact. All that is
asked of the data is the gradient at the coefficients that come out, which proves the bound and says which
elements the working set lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from swapwise.certify.region import Region
from swapwise.certify.relaxation import Relaxation, by_element, in_rows, used_rows
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.kernels import perspective
from swapwise.objectives.base import SampleCurvature, SparseObjective, rows_of
from swapwise.objectives.quadratic import Quadratic

# Up to this many elements are all in the working set. Larger problems begin with about as many as the second,
# and start again with few when there are more than the third.
ALL_UP_TO, FIRST_ELEMENTS, MOST_ELEMENTS = 500, 200, 5000

# Up to this many samples, curvature is multiplied by as columns of the data, in single precision: values are
# then as close to their bounds as it gets when they are this much farther apart than in double precision.
COLUMNS_UP_TO, SINGLE_PRECISION = 5000, 1e3

# Steps begin with a little less curvature than the last ones needed: less may do.
EASED = 0.9

# Steps of one round: no more numbers than these are multiplied, a few tenths of a second.
MOST_PRODUCTS = 500_000_000
FEWEST_STEPS, MOST_STEPS = 20, 1000

# Value and bound are never closer than this share of the value.
FINEST = 1e-9

# How far to go where the model leads, and how much of a rise has to agree with it.
STEPS, LEAST_AGREEMENT = (1.0, 0.3, 0.1, 0.02), 0.4


class WorkingSet:
    """The elements that models are made of, and minus the Hessian on them; one for all parts of a problem.

    It is a matrix, or, for data of few samples, columns whose inner products it is: these are in single
    precision, which is enough to find coefficients by. The curvature of a quadratic objective is the same
    everywhere. That of others is taken at some coefficients, and a matrix kept until a step of it fails.
    """

    def __init__(self, objective: SparseObjective) -> None:
        self.objective = objective
        self.elements = np.empty(0, dtype=np.intp)
        #: The rows of coefficients of the elements, and whose each row of the Hessian is
        self.rows, self.owner = self.elements, self.elements
        #: What coefficients are multiplied by, so that elements curve alike; and the curvature of each then
        self.scale, self._curved = np.empty((0, 1)), np.empty(0)
        self._H = np.empty((0, 0))
        self._columns: npt.NDArray[np.float32] = np.empty((0, 0), dtype=np.float32)
        self._samples: SampleCurvature
        self._by_columns = False
        #: The curvature that steps were made with
        self._steepest = 1.0
        if isinstance(objective, Quadratic):
            self.elements = np.arange(objective.n)
            self.rows, self.owner = used_rows(objective, self.elements)
            self._H, self._curved = objective.H, np.diag(objective.H)
            self.scale = np.ones((len(objective.H), 1))

    def grow(self, elements: IndexArray, coef: FloatArray) -> None:
        """Have some elements among the others, or with those of the coefficients if that is too many."""
        if np.isin(elements, self.elements).all():
            return
        before = self.elements
        if len(before) + len(elements) > MOST_ELEMENTS:
            before = np.flatnonzero(by_element(self.objective, coef**2))
        self.elements = np.union1d(before, elements)
        known = self.rows
        self.rows, self.owner = used_rows(self.objective, self.elements)
        samples = self.objective.sample_curvature(coef)
        self._by_columns = samples is not None and len(samples.weight) <= COLUMNS_UP_TO
        if samples is not None and self._by_columns:
            self._read_columns(samples, known)
        self.renew(coef)

    def _read_columns(self, samples: SampleCurvature, known: IndexArray) -> None:
        """Read the columns of rows that are not known yet."""
        columns = np.empty((len(self.rows), len(samples.weight)), dtype=np.float32)
        _, here, there = np.intersect1d(self.rows, known, return_indices=True)
        if len(there):
            columns[here] = self._columns[there]
        new = np.delete(np.arange(len(self.rows)), here)
        columns[new] = samples.columns(self.rows[new])
        self._columns = columns
        # Once is enough: the scale is to be about right, wherever the coefficients go from here.
        self._scale_by(np.square(columns) @ samples.weight + samples.penalty[self.rows])

    def renew(self, coef: FloatArray) -> None:
        """Take the curvature at some coefficients from now on."""
        if self._by_columns:
            curvature = self.objective.sample_curvature(coef)
            assert curvature is not None
            self._samples = curvature
            return
        H = self.objective.hessian_at(coef, self.elements)
        _, owner = used_rows(self.objective, self.elements)
        self.owner = np.repeat(owner, len(H) // max(1, len(owner)))
        self._scale_by(np.diag(H))
        self._H = H / self.scale
        self._H /= self.scale.T

    def follow(self, coef: FloatArray) -> None:
        """Take the curvature at some coefficients, where that costs little."""
        if self._by_columns and self.objective.curvature_is != "hessian":
            self.renew(coef)

    def _scale_by(self, curved: FloatArray) -> None:
        self.scale = curvature_lengths(curved, self.owner)[self.owner][:, None]
        self._curved = curved / self.scale[:, 0] ** 2

    def scaled(self, values: FloatArray, power: int) -> FloatArray:
        """Return coefficients (power 1) or their slopes (−1) as the scaled model has them, row by row."""
        scaled: FloatArray = in_rows(values[self.rows], len(self.scale)) * self.scale**power
        return np.ascontiguousarray(scaled)

    def bent(self, coef: FloatArray) -> FloatArray:
        """Return minus the Hessian times scaled coefficients."""
        if not self._by_columns:
            return self._H @ coef
        weight, penalty = self._samples.weight, self._samples.penalty[self.rows]
        sums = (coef / self.scale)[:, 0].astype(np.float32) @ self._columns
        if self._samples.centred:
            sums = sums - weight @ sums / max(float(weight.sum()), np.finfo(float).tiny)
        bent = self._columns @ (weight * sums).astype(np.float32) + penalty * (coef / self.scale)[:, 0]
        return bent[:, None] / self.scale

    def solve(
        self,
        linear: FloatArray,
        diagonal: FloatArray,
        held: BoolArray,
        allowed: BoolArray,
        limits: tuple[Any, ...],
        prices: FloatArray | None,
        start: FloatArray,
        target: float,
        precision: float,
        finest: float,
    ) -> tuple[FloatArray, FloatArray, float, FloatArray | None]:
        """Return scaled coefficients, a fractional set and its value, of about the best for the model.

        ``limits`` are on nested sets, or have ``prices`` if sets overlap; what sets cost then comes last.
        """
        lengths = np.ones(len(self.elements))
        lengths[self.owner] = self.scale[:, 0]
        diagonal = diagonal[self.elements] / lengths**2
        size, nested, overlapping = self._H.size, perspective.by_products, perspective.overlapping_by_products
        curvature: tuple[Any, ...] = (self._H,)
        if self._by_columns:
            nested, overlapping = perspective.by_columns, perspective.overlapping_by_columns
            size, scale = self._columns.size, self.scale[:, 0].copy()
            samples, penalty = self._samples, self._samples.penalty[self.rows] / scale**2
            curvature = ((self._columns, scale, samples.weight, samples.centred, penalty),)
            finest *= SINGLE_PRECISION
        most = int(np.clip(MOST_PRODUCTS / max(1, size), FEWEST_STEPS, MOST_STEPS))
        model = (*curvature, linear, diagonal, self.owner, held, allowed, limits)
        steps = (start, self._steepest, target, precision, finest, most)
        if prices is None:
            relaxed = nested(*model, *steps)
        else:
            relaxed, prices = overlapping(*model, prices, *steps)
        coef, point, value, _, steepest, _ = relaxed
        self._steepest = EASED * steepest
        return coef, point, value, prices

    def steepness(self, coef: FloatArray) -> FloatArray:
        """Return the root of minus the second derivative in each coefficient that is not zero."""
        steepness, shape = np.zeros_like(coef), coef[self.rows].shape
        curved = np.sqrt(np.maximum(self._curved, 0.0)) * self.scale[:, 0]
        levels = coef[:1].size // max(1, len(curved) // max(1, len(self.rows)))  # that curve alike
        steepness[self.rows] = np.repeat(curved, levels).reshape(shape)
        return steepness[coef != 0]


def curvature_lengths(curved: FloatArray, owner: IndexArray) -> FloatArray:
    """Return the root of the mean curvature of each element's coefficients, 1 where there is none."""
    lengths = np.sqrt(np.bincount(owner, np.maximum(curved, 0.0)) / np.bincount(owner))
    return np.where(lengths > 0, lengths, 1.0)


@dataclass(frozen=True, eq=False)
class WorkingPoint:
    """A fractional set and its coefficients, from which another relaxation may start."""

    elements: IndexArray
    #: Their shares in the fractional set
    point: FloatArray
    coef: FloatArray
    #: How many rows of coefficients each element has
    sizes: IndexArray

    def among(self, kept: IndexArray) -> Self:
        """Return the same with elements numbered by their places among some, without all others."""
        found = self._only(np.isin(self.elements, kept))
        return replace(found, elements=np.searchsorted(kept, found.elements))

    def without(self, outside: BoolArray) -> Self:
        """Return the same without some elements."""
        return self._only(~outside[self.elements])

    def _only(self, stays: BoolArray) -> Self:
        coef = self.coef[np.repeat(stays, self.sizes)]
        return replace(
            self, elements=self.elements[stays], point=self.point[stays], coef=coef, sizes=self.sizes[stays]
        )


class Proximal(Relaxation):
    """A fractional set and its coefficients, improved round by round on a working set."""

    def __init__(
        self,
        objective: SparseObjective,
        region: Region,
        diagonal: FloatArray,
        working_set: WorkingSet,
        start: WorkingPoint | None = None,
    ) -> None:
        self.objective, self.region, self.diagonal = objective, region, diagonal
        self._working_set = working_set
        self.coef, self.point = np.zeros_like(objective.coef([])), np.zeros(objective.n)
        if start is not None:
            start = start.without(region.outside)
            self.coef[rows_of(objective, start.elements)] = start.coef
            self.point[start.elements] = start.point
        self.point[region.inside] = 1.0
        working_set.grow(np.union1d(region.held, np.flatnonzero(self.point)), self.coef)
        self._settle()
        if start is None:
            working_set.grow(self._first_elements(), self.coef)
        else:
            self.value = -np.inf  # what the fractional set holds may be too much here

    @property
    def start(self) -> WorkingPoint:
        """What another relaxation may start from."""
        elements = np.flatnonzero(self.point)
        rows, owner = used_rows(self.objective, elements)
        sizes = np.bincount(owner, minlength=len(elements))
        return WorkingPoint(elements, self.point[elements], self.coef[rows], sizes)

    def set_diagonal(self, diagonal: FloatArray) -> None:
        """Use another diagonal for which ``u(w) + wᵀDw/2`` is concave."""
        self.diagonal = diagonal
        self._settle()

    # -- the working set ----------------------------------------------------------------------------

    def _first_elements(self) -> IndexArray:
        """Return the elements to begin with: all, or those of the largest weights that fit together."""
        allowed = np.flatnonzero(~self.region.outside)
        if len(allowed) <= ALL_UP_TO:
            return allowed
        weights, found = self.dual.weights.copy(), [self.region.held]
        weights[self.region.held] = 0.0
        while sum(map(len, found)) < FIRST_ELEMENTS and weights.any():
            found.append(self.region.max_weight(weights)[0])
            weights[found[-1]] = 0.0
        return np.unique(np.concatenate(found))

    def _lacking(self) -> IndexArray:
        """Return elements beside the working set whose weights would make room for them.

        If there are few, others that come closest to that come with them: to grow takes a while.
        """
        known = self._working_set.elements
        if len(known) == self.objective.n:
            return known[:0]
        gains = self._gains_beside(known)
        gains[known] = 0.0
        if not (gains > self._finest).any():
            return known[:0]
        gains[known] = gains[self.region.outside] = -np.inf
        few, many = max(FIRST_ELEMENTS // 4, len(known) // 20), max(FIRST_ELEMENTS, len(known) // 5)
        most = int(np.clip(np.count_nonzero(gains > 0), few, many))
        best = np.argpartition(-gains, most - 1)[:most] if most < len(gains) else np.arange(len(gains))
        return np.sort(best[gains[best] > -np.inf])

    def _gains_beside(self, known: IndexArray) -> FloatArray:
        """Return what each element would add to the largest weight of some elements, in the place of one."""
        inner = np.zeros(len(self.diagonal))
        inner[known] = self.dual.weights[known]
        return self.region.gains_of_additions(self.dual.weights, self.region.heaviest(inner))

    # -- rounds -------------------------------------------------------------------------------------

    def improve(self, target: float, precision: float) -> bool:
        """Improve the fractional set on the working set, and enlarge that; return whether that may go on."""
        before, lowest = self.value, self.dual.bound
        self._solve(target, precision)
        bound = self.dual.bound
        if bound <= target or bound - self.value <= max(self._finest, precision * (bound - target)):
            return False
        lacking = self._lacking()
        self._working_set.grow(lacking, self.coef)
        return len(lacking) > 0 or self.value > before or bound < lowest

    @property
    def _finest(self) -> float:
        return FINEST * max(abs(self._at), self.objective.scale)

    def _solve(self, target: float, precision: float) -> None:
        """Go to the best fractional set of the model, or on towards it."""
        self.region.clock.check()
        among = self._working_set
        among.follow(self.coef)
        elements, here = among.elements, among.scaled(self.coef, 1)
        bent = among.bent(here)
        linear = among.scaled(self._gradient, -1) + bent
        base = self._at - float((here * (linear - 0.5 * bent)).sum())
        coef, point, value, self._prices = among.solve(
            linear,
            self.diagonal,
            self.region.inside[elements],
            ~self.region.outside[elements],
            *self._limits_on(elements),
            here,
            target - base,
            precision,
            self._finest,
        )
        ahead, fractional = np.zeros_like(self.coef), np.zeros(len(self.diagonal))
        ahead[among.rows] = (coef / among.scale).reshape(self.coef[among.rows].shape)
        fractional[elements] = point
        self._go_towards(ahead, fractional, base + value)

    def _limits_on(self, elements: IndexArray) -> tuple[tuple[Any, ...], FloatArray | None]:
        """Return the limits on some elements as plain arrays, and the prices of sets if these overlap."""
        tree = self.region.constraint.laminar_tree()
        assert tree is not None
        return (tree.leaf[elements], tree.end, tree.parent, tree.capacity), None

    def _go_towards(self, ahead: FloatArray, fractional: FloatArray, expected: float) -> None:
        """Go to other coefficients and their fractional set, or so far that value or bound get better.

        If the value is not about what the model expected, its curvature is out of date.
        """
        coef, point, value, bound = self.coef, self.point, self.value, self.dual.bound
        for share in STEPS:
            self.coef = coef + share * (ahead - coef)
            self.point = point + share * (fractional - point)
            self._settle()
            if self.objective.curvature_is == "hessian":
                return
            if self.value > value or self.dual.bound < bound:
                break
        else:
            self.coef, self.point = coef, point
            self._settle()
        risen = max(self.value - value, 0.0)
        if value > -np.inf and not LEAST_AGREEMENT * risen <= expected - value <= risen / LEAST_AGREEMENT:
            self._working_set.renew(self.coef)

    # -- values and the bound -----------------------------------------------------------------------

    def _settle(self) -> None:
        """Compute φ and the bound at the coefficients."""
        self._at, self._gradient = self.objective.value_and_gradient_at(self.coef)
        self.value = self._at + self._penalty()
        steepness = self._working_set.steepness(self.coef) if self.coef.any() else np.empty(0)
        self.dual = self._dual_at(self._at, self._gradient, steepness)

    def _penalty(self) -> float:
        """Return ``Σ D w² (1 − 1/z) / 2``."""
        squares = self.diagonal * by_element(self.objective, self.coef**2)
        used = squares > 0
        if (self.point[used] <= 0).any():
            return -np.inf
        return 0.5 * float(squares[used] @ (1.0 - 1.0 / self.point[used]))
