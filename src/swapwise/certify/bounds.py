"""Upper bounds on f over a region that need no relaxation."""

from __future__ import annotations

import numpy as np

from swapwise.certify.region import Region
from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.search.methods.greedy import gains_of_additions


def bound_of_all(objective: SetFunction, region: Region, clock: Clock | None = None) -> float:
    """Return f of all elements that may be chosen: no set has more, for f is monotone.

    Where that takes long, it is bounded in the time that the clock has left, by default that of the region.

    >>> from swapwise import Linear, Uniform
    >>> bound_of_all(Linear([1.0, 2.0, 4.0]), Region.of(Uniform(3, 1)))
    7.0...
    """
    with unwarned():  # users did not choose all elements, which may well be collinear or separable
        bound = objective.upper_bound(np.flatnonzero(~region.outside), clock or region.clock)
    return _rounded_up(objective, min(bound, objective.upper_bound()))


def ceiling(objective: SetFunction) -> float:
    """Return what no set exceeds, as the objective knows beforehand.

    >>> from swapwise import LeastSquares
    >>> ceiling(LeastSquares(np.eye(2), [1.0, 2.0]))
    1.0...
    """
    return _rounded_up(objective, objective.upper_bound())


def _rounded_up(objective: SetFunction, bound: float) -> float:
    return bound + ROUNDING * max(abs(bound), objective.scale)


def bound_from_gains(
    objective: SetFunction, region: Region, support: IndexArray, clock: Clock
) -> tuple[float, IndexArray]:
    """Return ``f(X) + max over S of Σ_{j∈S\\X} f(j | X)``, a bound if f is submodular, and the S of it.

    >>> from swapwise import Coverage, Uniform
    >>> f = Coverage([{1, 2}, {2, 3}, {3}])
    >>> bound_from_gains(f, Region.of(Uniform(3, 1)), np.array([0]), Clock())
    (3.0..., array([1]))
    """
    state = objective.start(support)
    others = ~region.outside
    others[support] = False
    gains = np.maximum(gains_of_additions(state, others, Budget(clock)), 0.0)
    chosen, largest = region.max_weight(gains)
    return state.value + largest + ROUNDING * (abs(state.value) + largest), chosen


def bound_from_concavity(objective: SparseObjective, region: Region, support: IndexArray, m: float) -> float:
    """Return the bound of the paper's concavity lemma at a set X, for all sets S of the region at once.

    ``u(v) ≤ u(w) + ⟨g, v − w⟩ − m ‖v − w‖² / 2`` between sparse points, at the best v on S: a constant, and a
    weight ``(g_j + m w_j)² / 2m`` for each element that S holds. w is the fit on X, as good as it is.

    >>> from swapwise import LeastSquares, Uniform
    >>> f = LeastSquares(np.eye(3), [3.0, 2.0, 1.0])
    >>> round(bound_from_concavity(f, Region.of(Uniform(3, 1)), np.array([0]), f.strong_concavity(2)) * 14, 6)
    9.0
    """
    coef = objective.coef(support)
    value, slope = objective.value_at(coef), objective.gradient_at(coef)
    paired, curved = float(slope @ coef), m * float(coef @ coef) / 2
    largest = region.max_weight((slope + m * coef) ** 2 / (2 * m))[1]
    steepness = np.sqrt(np.diag(objective.hessian_at(coef, support)))
    rounding = ROUNDING * (abs(value) + abs(paired) + curved + largest)
    rounding += cancellation(coef[support], steepness)
    return value - paired - curved + largest + rounding


def cancellation(coef: FloatArray, steepness: FloatArray) -> float:
    """Return what a slope, paired with its coefficients, may be off by where large ones cancel each other.

    ``steepness`` is the root of minus the second derivative in every coefficient.

    >>> cancellation(np.array([1e6, -1e6]), np.ones(2))
    0.007...
    """
    size = float(np.abs(coef) @ steepness)
    return 8 * float(np.finfo(float).eps) * (size * size)  # a power would raise where a product is infinite
