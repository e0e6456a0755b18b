"""Upper bounds on f over a region that need no relaxation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Budget, Clock
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SetFunction, SparseObjective, by_element, rows_of
from swapwise.objectives.conjugates import conjugate
from swapwise.search.rules import gains_of_additions

# A bound that closes less than this share of the distance from a value to that of all elements is trivial,
# too: the ratio would rise by a quarter of a percentage point at most (r (1 − r) / 100 for a ratio of r).
WORTH = 0.01


def is_trivial(value: float, upper_bound: float, of_all: float) -> bool:
    """Return whether a bound hardly improves on ``of_all``, the value of all elements, or infinity."""
    return not upper_bound - value < (1.0 - WORTH) * (of_all - value)


def bound_of_all(objective: SetFunction, region: Region, clock: Clock | None = None) -> float:
    """Return the value of all elements that may be chosen, an upper bound as f is monotone.

    If that takes long, it is bounded in the time left of the clock, by default that of the region.
    """
    with unwarned():  # users did not choose all elements, which may well be collinear or separable
        bound = objective.upper_bound(np.flatnonzero(~region.outside), clock or region.clock)
    return _rounded_up(objective, min(bound, objective.upper_bound()))


def ceiling(objective: SetFunction) -> float:
    return _rounded_up(objective, objective.upper_bound())


def _rounded_up(objective: SetFunction, bound: float) -> float:
    return bound + ROUNDING * max(abs(bound), objective.scale)


def bound_from_gains(
    objective: SetFunction, region: Region, support: IndexArray, clock: Clock
) -> tuple[float, IndexArray]:
    r"""Return ``f(X) + max over S of Σ_{j∈S\X} f(j | X)``, a bound if f is submodular, and its S."""
    state = objective.start(support)
    others = ~region.outside
    others[support] = False
    gains = np.maximum(gains_of_additions(state, others, Budget(clock)), 0.0)
    chosen, largest = region.max_weight(gains)
    return state.value + largest + ROUNDING * (abs(state.value) + largest), chosen


class Tangent(NamedTuple):
    """The fit on a set, and the plane that ``u`` lies below: ``u(v) ≤ value + ⟨slope, v − coef⟩ + extra``.

    With bounds on coefficients, it holds for all v within them, and the slope is projected: where a bound is
    in the way of it, its part of the sum is at most 0.
    """

    coef: FloatArray
    value: float
    slope: FloatArray
    #: An upper bound on rounding, and on the error of parameters that are fitted along
    extra: float


def tangent_at(objective: SparseObjective, support: IndexArray) -> Tangent:
    """Return the tangent at the fit on a set, which need not be quite the best one."""
    coef = objective.coef(support)
    value, slope = objective.value_and_gradient_at(coef)
    if objective.bounds is not None:
        slope = objective.bounds.projected(slope, coef)
    used = coef[rows_of(objective, support)]
    curvature = np.maximum(np.diag(objective.hessian_at(coef, support)), 0.0)
    steepness = np.repeat(np.sqrt(curvature), used.size // max(1, len(curvature)))
    extra = objective.doubt_at(coef) + cancellation(used.ravel(), steepness)
    return Tangent(coef, float(value), slope, extra)


def bound_from_concavity(
    objective: SparseObjective,
    region: Region,
    tangent: Tangent,
    *diagonals: float | FloatArray,
) -> float:
    """Return the bound of the paper's concavity lemma at a set X, for all sets S of the region at once.

    ``u(v) ≤ u(w) + ⟨g, v − w⟩ − Σ D_j (v_j − w_j)² / 2`` between the fit w on X and all v on sets of the
    region. At the best v on S this is a constant, and a weight ``(g_j + D_j w_j)² / 2D_j`` for each element
    that S holds, or less where v has bounds. A diagonal is the same number m for all coefficients, as in the
    paper, or one for each row of ``coef``, infinite where it is known that the coefficients add nothing. The
    bound is the least of all diagonals, and infinite if there are none.
    """
    weighed = [_weighed(objective, tangent, D) for D in diagonals]
    known = [
        (base, weights) for base, weights in weighed if np.isfinite(base + weights[~region.outside].sum())
    ]
    # The max-weight set is not needed where the weight of the greedy set is too large already.
    in_order = sorted((base + float(w[region.greedy_set(w)].sum()), i) for i, (base, w) in enumerate(known))
    best = np.inf
    for at_least, place in in_order:
        if at_least < best:
            base, weights = known[place]
            largest = region.max_weight(np.where(region.outside, 0.0, weights))[1]
            best = min(best, base + largest * (1 + ROUNDING))
    return best


def _weighed(
    objective: SparseObjective, tangent: Tangent, diagonal: float | FloatArray
) -> tuple[float, FloatArray]:
    coef, value, slope, extra = tangent
    bounds = objective.bounds
    D = np.broadcast_to(np.asarray(diagonal, dtype=np.float64), len(coef))
    D = D.reshape(-1, *(1,) * (coef.ndim - 1))
    counts = np.isfinite(D)
    bent = np.where(counts, D, 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        worth = np.where(counts, conjugate(slope + bent * coef, bent, bounds)[0], 0.0)
        weights = by_element(objective, worth)
        if bounds is not None:
            # Rows with infinite D are fitted without bounds, so their projected slopes count as 0.
            slope = np.where(counts, slope, 0.0)
        paired, curved = float((slope * coef).sum()), float((np.where(counts, D, 0.0) * coef**2).sum()) / 2
        rounding = ROUNDING * (abs(value) + abs(paired) + curved)
        return value - paired - curved + rounding + extra, weights


def cancellation(coef: FloatArray, steepness: FloatArray) -> float:
    """Bound the rounding of a slope paired with its coefficients, where large ones cancel each other.

    ``steepness`` is the root of minus the second derivative in every coefficient.
    """
    size = float(np.abs(coef) @ steepness)
    return 8 * float(np.finfo(float).eps) * (size * size)  # size**2 would raise where it overflows
