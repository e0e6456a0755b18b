"""Working sets of relaxations: the elements of a model of the objective, and its curvature in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from swapwise.certify.relaxation import in_rows, used_rows
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.kernels import perspective
from swapwise.objectives.base import SampleCurvature, SparseObjective, by_element
from swapwise.objectives.quadratic import Quadratic

# A working set that would have more elements than this is reduced to those with coefficients.
MOST_ELEMENTS = 5000

# Up to COLUMNS_UP_TO samples, products with the curvature are computed from columns of the data, in single
# precision: the finest difference of value and bound is then SINGLE_PRECISION times that in double precision.
COLUMNS_UP_TO, SINGLE_PRECISION = 5000, 1e3

# Steps begin with this share of the curvature that the last ones needed, as less may be enough.
EASED = 0.9

# The most products in the steps of one round, a few tenths of a second, and the range of the number of steps
MOST_PRODUCTS = 500_000_000
FEWEST_STEPS, MOST_STEPS = 20, 1000


class WorkingSet:
    """The elements of models, and minus the Hessian on them; one for all parts of a problem.

    It is a matrix, or, for data of few samples, columns whose inner products it is: these are in single
    precision, which is enough to find coefficients by. The curvature of a quadratic objective is the same
    everywhere. That of others is taken at some coefficients, and a matrix kept until a step of it fails.
    """

    def __init__(self, objective: SparseObjective) -> None:
        self.objective = objective
        self.elements = np.empty(0, dtype=np.intp)
        #: The rows of coefficients of the elements, and the element of each row of the Hessian
        self.rows, self.owner = self.elements, self.elements
        #: Factors of coefficients for which elements curve alike, and the curvature of each then
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
        columns = np.empty((len(self.rows), len(samples.weight)), dtype=np.float32)
        _, here, there = np.intersect1d(self.rows, known, return_indices=True)
        if len(there):
            columns[here] = self._columns[there]
        new = np.delete(np.arange(len(self.rows)), here)
        columns[new] = samples.columns(self.rows[new])
        self._columns = columns
        # The scale need only be about right, so it is not renewed as coefficients move.
        self._scale_by(np.square(columns) @ samples.weight + samples.penalty[self.rows])

    def renew(self, coef: FloatArray) -> None:
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
        """Return nearly optimal scaled coefficients, their fractional set and value, and new ``prices``."""
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
        steps = (self._bounds_like(linear), start, self._steepest, target, precision, finest, most)
        if prices is None:
            relaxed = nested(*model, *steps)
        else:
            relaxed, prices = overlapping(*model, prices, *steps)
        coef, point, value, _, steepest, _ = relaxed
        self._steepest = EASED * steepest
        return coef, point, value, prices

    def _bounds_like(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of scaled coefficients, in their shape; empty arrays if there are no bounds."""
        bounds, per_row = self.objective.bounds, coef.size // max(1, len(self.rows))
        if bounds is None:
            return np.empty((0, 0)), np.empty((0, 0))
        lower, upper = (
            np.repeat(ends[self.rows], per_row).reshape(coef.shape) * self.scale
            for ends in (bounds.lower, bounds.upper)
        )
        return lower, upper

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
