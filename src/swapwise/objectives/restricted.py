"""A sparse objective on some of its elements, for objectives without a shorter form of their own."""

from __future__ import annotations

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.objectives.base import SparseObjective, embed, rows_of
from swapwise.override import override


class RestrictedObjective(SparseObjective):
    def __init__(self, whole: SparseObjective, elements: IndexArray) -> None:
        self.whole, self.elements, self.n = whole, elements, len(elements)
        self._rows = rows_of(whole, elements)
        if whole.groups is not None:
            self.groups = whole.groups.restricted(elements)
        self.scoring, self.scale = whole.scoring, whole.scale
        self.monotone, self.submodular = whole.monotone, whole.submodular
        self.curvature_is = whole.curvature_is
        if whole.bounds is not None:
            self.bounds = whole.bounds.restricted(self._rows)

    @property
    @override
    def n_passes(self) -> float | None:
        return self.whole.n_passes

    def _embedded(self, coef: FloatArray) -> FloatArray:
        return embed(self.whole, self.elements, coef)

    @override
    def _fit(self, support: IndexArray) -> tuple[float, FloatArray]:
        return self.whole._fit(self.elements[support])

    @override
    def value_at(self, coef: FloatArray) -> float:
        return self.whole.value_at(self._embedded(coef))

    @override
    def gradient_at(self, coef: FloatArray) -> FloatArray:
        return self.whole.gradient_at(self._embedded(coef))[self._rows]

    @override
    def value_and_gradient_at(self, coef: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = self.whole.value_and_gradient_at(self._embedded(coef))
        return value, gradient[self._rows]

    @override
    def doubt_at(self, coef: FloatArray) -> float:
        return self.whole.doubt_at(self._embedded(coef))

    @override
    def hessian_at(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        return self.whole.hessian_at(self._embedded(coef), self.elements[elements])

    @override
    def curvature(self, columns: IndexArray) -> FloatArray | None:
        known = self.whole.curvature(self.elements[columns])
        return None if known is None else known[self.elements]

    @override
    def smoothness(self, t: int) -> float:
        return self.whole.smoothness(t)

    @override
    def strong_concavity(self, t: int) -> float:
        return self.whole.strong_concavity(t)

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        return self.whole.upper_bound(None if support is None else self.elements[support], clock)

    @override
    def restricted(self, elements: IndexArray) -> SparseObjective:
        return self.whole.restricted(self.elements[elements])
