"""A quadratic function of coefficients, known by its slope and its curvature."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import glm
from swapwise.objectives.base import Groups, SparseObjective, rows_of
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.override import override


class Quadratic(SparseObjective):
    """``u(w) = ⟨b, w⟩ − wᵀHw / 2``: all that proofs about least squares need, whatever the data."""

    curvature_is = "hessian"

    def __init__(
        self,
        H: FloatArray,
        slope: FloatArray,
        scale: float = 0.0,
        copies: IndexArray | None = None,
        groups: Groups | None = None,
        bounds: CoefficientBounds | None = None,
    ) -> None:
        """``copies`` has the same number for elements that are multiples of each other."""
        self.H, self.slope, self.scale, self.groups, self.bounds = H, slope, scale, groups, bounds
        self.n = len(H) if groups is None else len(groups.begin) - 1
        self.copies = np.arange(self.n) if copies is None else copies

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        rows = rows_of(self, support)
        H, slope = self.H[np.ix_(rows, rows)], self.slope[rows]
        bounds = None if self.bounds is None or not len(rows) else self.bounds.restricted(rows)
        if bounds is not None:
            columns = [glm.box_maximum(H, own, *bounds.ends)[0] for own in slope.reshape(len(H), -1).T]
            coef = np.stack(columns, axis=1).reshape(slope.shape)
            return float((coef * (slope - 0.5 * (H @ coef))).sum()), coef
        coef = np.linalg.lstsq(H, slope)[0].astype(np.float64)
        return 0.5 * float((slope * coef).sum()), coef

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self.value_and_gradient_at(coef)[0]

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self.value_and_gradient_at(coef)[1]

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        used = np.flatnonzero(coef.reshape(len(coef), -1).any(axis=1))
        gradient: FloatArray = self.slope - self.H[used].T @ coef[used]
        return 0.5 * float((coef * (self.slope + gradient)).sum()), gradient

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        rows = rows_of(self, elements)
        return self.H[np.ix_(rows, rows)]

    @override
    def restricted(self, elements: IndexArray) -> Quadratic:
        rows = rows_of(self, elements)
        groups = None if self.groups is None else self.groups.restricted(elements)
        H, slope = self.H[np.ix_(rows, rows)], self.slope[rows]
        bounds = None if self.bounds is None else self.bounds.restricted(rows)
        return Quadratic(H, slope, self.scale, self.copies[elements], groups, bounds)
