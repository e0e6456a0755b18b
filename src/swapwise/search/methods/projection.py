"""The projection onto an independence system: keep the coefficients of a max-weight set of their squares."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.numerics import SUM
from swapwise.objectives.base import SparseObjective, element_norms2, rows_of

# Mantissas of weights are rounded to multiples of one over this.
DIGITS = 2.0**40


class Projection:
    """The nearest coefficients whose elements are an independent set with the forced elements.

    The nearest keeps a set S of largest ``Σ_S ‖z_i‖²``, which is ``max_weight`` of the squares. Where that is
    inexact, two numbers bound the error, over all projections so far (Hegde, Indyk and Schmidt 2015):

    - ``head``: the squares that are kept are at least this share of the most that could be;
    - ``tail``: the squares that are lost are at most this many times the least that could be.

    Both are 1 for an exact projection; ``tail`` is infinite where none may have to be lost.
    """

    def __init__(self, objective: SparseObjective, constraint: Constraint) -> None:
        self._objective, self._constraint = objective, constraint
        self.head, self.tail = 1.0, 1.0

    def support(self, coef: FloatArray, clock: Clock) -> IndexArray:
        return self.heaviest(element_norms2(self._objective, coef), clock)

    def heaviest(self, weights: FloatArray, clock: Clock) -> IndexArray:
        top = float(weights.max(initial=0.0))
        if top == np.inf:  # an exponential may have left the floats: such elements are longer than all others
            weights = np.isinf(weights).astype(np.float64)
        elif top > 0:  # squares may be too small or too large for the weights to be compared
            weights = without_rounding(weights / top)
        found = self._constraint._max_weight_holding(self._constraint.forced, weights, clock)
        if not found.exact:
            self._note(float(weights.sum()), float(weights[found.support].sum()), found.upper_bound)
        return found.support

    def __call__(self, coef: FloatArray, clock: Clock) -> FloatArray:
        return self.restrict(coef, self.support(coef, clock))

    def restrict(self, coef: FloatArray, support: IndexArray) -> FloatArray:
        kept = np.zeros_like(coef)
        rows = rows_of(self._objective, support)
        kept[rows] = coef[rows]
        return kept

    def _note(self, whole: float, kept: float, bound: float) -> None:
        self.head = min(self.head, kept / bound if bound > 0 else 1.0)
        least_lost = whole - bound
        lost = whole - kept
        if lost > SUM * whole:
            self.tail = max(self.tail, lost / least_lost if least_lost > SUM * whole else np.inf)


def without_rounding(weights: FloatArray) -> FloatArray:
    """Return weights to about twelve digits, so that those that differ by rounding are ties.

    >>> bool(np.diff(without_rounding(np.array([0.3, 0.1 + 0.2])))[0])
    False
    """
    mantissa, exponent = np.frexp(weights)
    rounded: FloatArray = np.ldexp(np.round(mantissa * DIGITS) / DIGITS, exponent)
    return rounded
