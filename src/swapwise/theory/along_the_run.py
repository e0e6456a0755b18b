"""Guarantees from the set that was found, for any method and any constraint.

Theorems are for the worst data with the same constants. At the set S that a search ended at, only the
constants around S enter, and the gradients and gains there. An upper bound on f over all independent sets is
the least of

- ``f(S) − Σ_S z + max_weight(z)`` with ``z_j = ‖g_j‖²/2D_j`` off S and ``D_i ‖w_i‖²/2`` on it, for every
  diagonal D that u bends by between sets S ∪ T, T independent: ``bound_from_concavity``;
- ``f(S) + max_weight(gains of additions at S)`` if f is submodular, or the same at the set F of forced
  elements, which is most often empty: ``bound_from_gains``;
- the value of all elements together, which is trivial.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, unwarned
from swapwise.clock import Clock
from swapwise.constraints.base import Constraint
from swapwise.constraints.region import Region
from swapwise.numerics import ROUNDING
from swapwise.objectives.base import SetFunction, SparseObjective, element_norms2, rows_of
from swapwise.theory.bounds import (
    Tangent,
    bound_from_concavity,
    bound_from_gains,
    bound_of_all,
    ceiling,
    is_trivial,
    tangent_at,
)
from swapwise.theory.constants import WHOLE_UP_TO, RestrictedConstants, smallest_sparse_eigenvalue
from swapwise.theory.diagonal import is_valid_shift, proportional_diagonal, schur_complement
from swapwise.theory.statement import ALONG_THE_RUN, Guarantee, on_trust

# The limit in seconds on searches for sets of largest weight, which then end with a valid upper bound
MOST_SECONDS = 2.0

# The shares of their largest shift that chosen elements get; the others get a shift of the Schur complement.
SHARES = (0.0, 0.25, 0.5, 0.75)

# Chosen elements nearly span each other if the shift of one is below this share of its curvature.
LEAST_SPARE = 1e-4

# The relative precision of Schur complements, below which they are not used, and the rounding of a product
PRECISION, EPSILON = 1e-6, 1e-15

# The limit on elements that are tested one by one for whether the chosen ones span them
MOST_SPANNED = 100

FORMULAS = {
    "all": "f(S)/f(all elements)",
    "gains": "f(S)/(f(S) + max Σ_T f(j | S))",
    "forced gains": "f(S)/(f(F) + max Σ_T f(j | F))",
    "single gains": "f(S)/(f(∅) + max Σ_T f(j | ∅))",
    "concavity": "f(S)/(f(S) − Σ_S z + max Σ_T z)",
}


def guarantee_at(
    objective: SetFunction,
    constraint: Constraint,
    support: IndexArray,
    value: float,
    constants: RestrictedConstants | None = None,
    tangent: Tangent | None = None,
) -> list[Guarantee]:
    """Return guarantees for a set, whatever found it: the trivial one, and the best beyond it."""
    region = replace(Region.of(constraint), clock=Clock(MOST_SECONDS))
    bounds: dict[str, float] = {}
    with unwarned():  # the search has warned already
        if objective.monotone:
            bounds["all"] = _bound_of_all(objective, region)
        if objective.monotone and objective.submodular:
            first = "forced gains" if len(constraint.forced) else "single gains"
            at = {"gains": support, first: constraint.forced}
            found = {kind: bound_from_gains(objective, region, X, region.clock)[0] for kind, X in at.items()}
            best = min(found, key=found.__getitem__)
            bounds[best] = found[best]
        if isinstance(objective, SparseObjective):
            bounds["concavity"] = _bound_at(objective, region, support, constants, tangent)
    return [
        on_trust(_of_bound(kind, value, bound, bounds.get("all", np.inf), objective), constraint)
        for kind, bound in bounds.items()
        if np.isfinite(bound)
    ]


def _of_bound(kind: str, value: float, bound: float, of_all: float, objective: SetFunction) -> Guarantee:
    ratio = value / bound if bound > 0 else 1.0
    if bound <= value + objective.resolution(value) or bound <= 2 * ROUNDING * objective.scale:
        ratio = 1.0
    ratio = min(1.0, max(0.0, ratio))
    # A bound above that of all elements is weaker, but not trivial: it is of another kind.
    trivial = ratio < 1 and bound <= of_all and is_trivial(value, bound, of_all)
    numbers = {"f(S)": value, "bound": bound}
    reason = "the value is 0, and others may be larger"
    return Guarantee(ratio, ALONG_THE_RUN, FORMULAS[kind], numbers, reason=reason, trivial=trivial)


def _bound_of_all(objective: SetFunction, region: Region) -> float:
    is_small = not isinstance(objective, SparseObjective) or _n_rows(objective) <= WHOLE_UP_TO
    return bound_of_all(objective, region) if is_small else ceiling(objective)


def _bound_at(
    objective: SparseObjective,
    region: Region,
    support: IndexArray,
    constants: RestrictedConstants | None,
    tangent: Tangent | None,
) -> float:
    tangent = tangent or tangent_at(objective, support)
    diagonals: list[float | FloatArray] = []
    if constants is not None:
        m = constants.m_2s - ROUNDING * objective.n * constants.M_1 if np.isfinite(constants.M_1) else 0.0
        diagonals += [m] if m > 0 else []
    if not diagonals and (m := objective.strong_concavity(objective.n)) > 0:
        diagonals.append(m)
    if objective.curvature_is == "hessian" and 0 < _n_rows(objective) <= WHOLE_UP_TO:
        diagonals += _diagonals_at(objective, region, support, tangent)
    return bound_from_concavity(objective, region, tangent, *diagonals)


def _n_rows(objective: SparseObjective) -> int:
    return objective.n if objective.groups is None else objective.groups.n_rows


def _diagonals_at(
    objective: SparseObjective, region: Region, support: IndexArray, tangent: Tangent
) -> Iterator[FloatArray]:
    """Yield diagonals D with ``H − D ⪰ 0`` on every S ∪ T, one number per row.

    H is minus the Hessian of a quadratic u. With a share of the largest shift of H_S on S, the other rows get
    a shift of the Schur complement R of S in ``H − D_S``: a diagonal below R for all elements together, or γ
    diag(R) with γ the smallest sparse eigenvalue of R at a unit diagonal, which is enough for sets of the
    size of T. With no share, dropping elements of S counts as no loss, and elements that S spans add nothing:
    both are infinite in D.
    """
    every, rows = np.arange(objective.n), rows_of(objective, support)
    order = rows_of(objective, every)
    H = np.empty((len(order), len(order)))
    H[np.ix_(order, order)] = objective.hessian_at(tangent.coef, every)
    chosen = np.zeros(len(H), dtype=bool)
    chosen[rows] = True
    lengths = np.diag(H)
    spare = proportional_diagonal(H[np.ix_(chosen, chosen)])
    least = float((spare / np.where(lengths[chosen] > 0, lengths[chosen], 1.0)).min(initial=1.0))
    if least <= LEAST_SPARE or chosen.all():  # the chosen elements nearly span each other
        return
    size = region.constraint.max_size() if objective.groups is None else len(H)
    for share in SHARES:
        D = np.zeros(len(H))
        D[chosen] = share * spare
        rest = schur_complement(H - np.diag(D), chosen) if chosen.any() else H.copy()
        left = np.diag(rest) / np.where(lengths[~chosen] > 0, lengths[~chosen], 1.0)
        noise = EPSILON * len(H) / ((1 - share) * least)
        spanned = left <= 10 * noise
        if (left[~spanned] <= noise / PRECISION).any() or (spanned.any() and share > 0):
            return
        if spanned.any() and objective.bounds is not None:  # they may add what bounds on S stop
            return
        if spanned.any() and not _are_spanned(objective, support, np.flatnonzero(~chosen)[spanned], noise):
            return
        rest[spanned] = rest[:, spanned] = 0.0
        shifts = list(_shifts(rest, spanned, size))
        if not shifts:  # larger shares leave smaller shifts
            return
        for shift, is_for_all in shifts:
            D[~chosen] = shift
            if not is_for_all or is_valid_shift(H, D):
                marked = np.where(chosen & (share == 0), np.inf, D)
                marked[np.flatnonzero(~chosen)[spanned]] = np.inf
                yield marked


def _are_spanned(objective: SparseObjective, support: IndexArray, others: IndexArray, noise: float) -> bool:
    if objective.groups is not None or len(others) > MOST_SPANNED:
        return False
    sets = (np.sort(np.append(support, other)) for other in others)
    return all(objective.dependencies(each, 10 * noise) == 1 for each in sets)


def _shifts(rest: FloatArray, spanned: BoolArray, size: int) -> Iterator[tuple[FloatArray, bool]]:
    """Yield diagonals below a matrix, for all of its elements together (True), and for few at a time."""
    together = proportional_diagonal(rest)
    if (together[~spanned] > 0).all():
        yield together, True
    lengths = np.sqrt(np.where(spanned, 1.0, np.diag(rest)))
    unit = rest / np.outer(lengths, lengths)
    unit[spanned, spanned] = 1.0
    gamma = smallest_sparse_eigenvalue(unit, size) - 2 * PRECISION
    if gamma > 0:
        yield np.where(spanned, 0.0, gamma * lengths**2), False


def head_of(
    objective: SparseObjective,
    constraint: Constraint,
    support: IndexArray,
    tangent: Tangent,
    step: float,
) -> float:
    """Return the share h for which a set is fixed for a step of hard thresholding.

    ``Σ_S ‖w_i‖² ≥ h max_T Σ_T ‖w_i + η g_i‖²`` over all independent sets T.
    """
    slope = tangent.slope.copy()
    slope[rows_of(objective, support)] = 0.0
    weights = element_norms2(objective, tangent.coef + step * slope)
    weights = weights.reshape(objective.n, -1).sum(axis=1)
    region = replace(Region.of(constraint), clock=Clock(MOST_SECONDS))
    largest = region.max_weight(weights)[1] * (1 + ROUNDING)
    return min(1.0, float(weights[support].sum()) / largest) if largest > 0 else 0.0
