"""The perspective relaxation of choosing elements: fractional sets, and the upper bounds they prove.

With a strong-concavity margin, a diagonal D such that ``u(w) + wᵀDw/2`` is still concave, write
``u = −L − wᵀDw/2``. A fractional set z has the value ``φ(z) = max_w −L(w) − Σ D_i w_i² / 2z_i``: f on sets,
and concave. At any w, with g = ∇L(w),

    f(S)  ≤  −L(w) + ⟨g, w⟩ + max over independent S of Σ_{i∈S} g_i² / 2D_i

which at the w of the best z is φ(z) itself. Where an element has several coefficients, squares are those of
their lengths. Where coefficients have bounds, those of a share z are within z times these, and the weights of
elements are the :mod:`~swapwise.objectives.conjugates` of their bounds instead of ``g_i² / 2D_i``.

There are three ways to the best z: ``proximal`` steps under nested limits; the same under ``overlapping``
ones, for packings, matroids and their intersections; and ``frank_wolfe`` steps under any constraint, and
where elements have a diagonal of 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SparseObjective, by_element, rows_of
from swapwise.objectives.conjugates import conjugate
from swapwise.theory.bounds import cancellation

# Differences of values larger than this, in units of the objective, are rounding.
FARTHEST = 1e6


@dataclass(frozen=True, eq=False)
class DualBound:
    """A proven upper bound on f over a region, the weights that prove it, and a set of the largest weight."""

    bound: float
    #: The part of the bound that is the same for every set
    base: float
    #: The summand of each chosen element in the bound
    weights: FloatArray
    support: IndexArray

    def bound_on(self, region: Region) -> float:
        return self.base + region.max_weight(self.weights)[1]


class RelaxationStart(Protocol):
    """A fractional set in the form that a relaxation has it in."""

    def among(self, kept: IndexArray) -> RelaxationStart | None:
        """Restrict to some elements, renumbered by their positions among these."""


class Relaxation(ABC):
    """A fractional set on its way to the largest φ over a region, and the bound at its coefficients."""

    objective: SparseObjective
    region: Region
    #: For which ``u(w) + wᵀDw/2`` is concave, one number per element
    diagonal: FloatArray
    coef: FloatArray
    #: The fractional set
    point: FloatArray
    #: φ, or a lower bound on it
    value: float
    #: Minus ∇L at the coefficients
    slope: FloatArray
    #: The best coefficients of chosen elements, by that slope and D alone
    top: FloatArray
    dual: DualBound

    @property
    @abstractmethod
    def start(self) -> RelaxationStart:
        """What another relaxation may start from."""

    @abstractmethod
    def improve(self, target: float, precision: float) -> bool:
        """Move to a better fractional set; return whether more steps may improve it further.

        It may stop once the bound is at most ``target``, or within ``precision`` of the best, relative to the
        distance of the bound to the target.
        """

    @abstractmethod
    def set_diagonal(self, diagonal: FloatArray) -> None:
        """Use another diagonal for which ``u(w) + wᵀDw/2`` is concave."""

    def _dual_at(
        self, value: float, gradient: FloatArray, steepness: FloatArray, extra: float = 0.0
    ) -> DualBound:
        """Return the bound at the coefficients, where u and its gradient are known.

        ``steepness`` is the root of minus the second derivative in each coefficient that is not zero; the
        bound is raised by ``extra``.
        """
        coef, D = self.coef, by_row(self.objective, self.diagonal, self.coef)
        with np.errstate(over="ignore", invalid="ignore"):
            self.slope = gradient + D * coef
            shift = 0.5 * float((D * coef**2).sum())
            paired = float((self.slope * coef).sum())
            worth, self.top = conjugate(self.slope, D, self.objective.bounds)
            if self.objective.bounds is not None:
                # Where D is 0, only a bound stops a coefficient from following its slope.
                worth += np.where(D > 0, 0.0, np.maximum(self.slope * coef, 0.0))
            weights = by_element(self.objective, worth)
            size = abs(value) + shift + abs(paired)
            extra += self.objective.doubt_at(coef)
            is_known = bool(np.isfinite(size + extra + weights.sum()))
        is_far = self.objective.scale > 0 and size > FARTHEST * self.objective.scale
        if is_far or not is_known:  # nothing is proven so far out
            return DualBound(np.inf, np.inf, np.zeros(len(weights)), self.region.held)
        support, largest = self.region.max_weight(weights)
        rounding = ROUNDING * (size + largest)
        rounding += cancellation(coef[coef != 0], steepness)
        base = value + shift - paired + rounding + extra
        return DualBound(base + largest, base, weights, support)


def by_row(objective: SparseObjective, values: FloatArray, coef: FloatArray) -> FloatArray:
    """Repeat the values of elements for each of their coefficients, in a shape to multiply these by."""
    if objective.groups is None:
        return values
    rows = np.empty(objective.groups.n_rows)
    rows[objective.groups.rows] = np.repeat(values, np.diff(objective.groups.begin))
    return rows.reshape(-1, *(1,) * (coef.ndim - 1))


def used_rows(objective: SparseObjective, elements: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return the rows of coefficients of some elements, and the position of the element of each row."""
    rows = rows_of(objective, elements)
    if objective.groups is None:
        return rows, np.arange(len(elements))
    sizes = np.diff(objective.groups.begin)[elements]
    return rows, np.repeat(np.arange(len(elements)), sizes)


def in_rows(values: FloatArray, count: int) -> FloatArray:
    """Reshape numbers to ``count`` rows, which may be 0."""
    return values.reshape(count, values.size // max(1, count))
