"""Leaves of branch and bound: small regions, enumerated; those of a quadratic objective in closed form."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb
from typing import TypeGuard

import numpy as np
import scipy

from swapwise.certify.left_out import sets_left_out
from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.region import Region
from swapwise.kernels import completions
from swapwise.objectives.base import SetFunction, SparseObjective, embed
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.quadratic import Quadratic

# A set takes a few nanoseconds. QUICK of them take no more time than a bound. Where at most FEW elements can
# be added, or are left out, bounds are hardly ever tight.
MOST_SETS, QUICK, FEW = 30_000_000, 1_000_000, 6

# Up to this many elements, inner products take less time than bounds.
PRODUCTS_UP_TO = 3000

# Up to this many sets of other objectives are fitted one by one, which takes as long as a few bounds.
FEW_FITS = 500

# Regions with at most this many times as many sets are split at once: better bounds would not pay.
NEARLY_LEAF = 30

# The most sets to evaluate, which takes about as long as some bounds. If more may be as good as the target,
# the target is too low, or too many columns are nearly collinear, for the region to be enumerated.
MOST_FOUND = 256

# Where maximal independent sets differ in size, all subsets of those found are tried: 2 to the power of at
# most this many.
LARGEST_WITH_PARTS = 8

# Held columns are nearly collinear if less than this share of a square is orthogonal to the others: products
# would be off by too much.
SAFE = 1e-6

# The error of products of columns of length 1, also after a few sweeps of them
NOISE = 1e-13


def is_nearly_leaf(objective: SetFunction, region: Region) -> bool:
    if not _is_quadratic(objective) or objective.bounds is not None:  # not in closed form
        return False
    room, candidates = _room(region), len(region.open)
    if room > FEW or candidates > PRODUCTS_UP_TO:
        return False
    return comb(candidates, min(room, candidates)) <= NEARLY_LEAF * MOST_SETS


def enumerate_leaf(
    objective: SetFunction, region: Region, target: float, *, quick: bool = False
) -> list[IndexArray] | None:
    """Return the sets of the region that may exceed the target, if the region is small; else None.

    Sets of the right size are enumerated first, and the constraint is checked only for those that may exceed
    the target. With ``quick``, sets are enumerated only if that takes less time than a bound. Of bounds on
    coefficients, the closed form uses only the signs: with other bounds it returns some sets too many, but
    misses none.
    """
    candidates = region.open
    room = min(_room(region), len(candidates))
    if not isinstance(objective, SparseObjective):
        return None
    if not _is_quadratic(objective):
        return _few_sets(region, room)
    is_late = quick and (min(room, len(candidates) - room) > FEW or objective.bounds is not None)
    most = min(MOST_SETS, QUICK) if is_late else MOST_SETS
    if len(candidates) > PRODUCTS_UP_TO or comb(len(candidates), room) > most:
        return None
    if not isinstance(region.constraint, Matroid) and room > LARGEST_WITH_PARTS:
        return None
    if room <= 0:
        return _independent_parts(region, candidates[:0])
    found = _nearly_all(objective, region, room, target) if room > FEW else None
    if found is None:
        found = _candidates(objective, region, room, target)
    if found is None:
        return None
    parts = [support for chosen in found for support in _independent_parts(region, chosen)]
    return list({support.tobytes(): support for support in parts}.values())


def _fit_without_bounds(objective: SparseObjective, held: IndexArray) -> tuple[float, FloatArray]:
    if objective.bounds is None:
        return objective._fit(held)
    nothing = np.zeros(objective.n)
    H, slope = objective.hessian_at(nothing, held), objective.gradient_at(nothing)[held]
    return Quadratic(H, slope)._fit(np.arange(len(held)))


def _few_sets(region: Region, room: int) -> list[IndexArray] | None:
    few = (
        comb(len(region.open), room) * (1 if isinstance(region.constraint, Matroid) else 2**room) <= FEW_FITS
    )
    if not few:
        return None
    if room <= 0:
        return _independent_parts(region, region.open[:0])
    parts = [
        support
        for chosen in combinations(region.open.tolist(), room)
        for support in _independent_parts(region, np.array(chosen, dtype=np.intp))
    ]
    return list({support.tobytes(): support for support in parts}.values())


def _is_quadratic(objective: SetFunction) -> TypeGuard[SparseObjective]:
    """Return whether u is a quadratic function of one coefficient per element."""
    return (
        isinstance(objective, SparseObjective)
        and objective.curvature_is == "hessian"
        and objective.groups is None
    )


def _room(region: Region) -> int:
    """Return how many elements can be added to those held; 0 where no set holds even these."""
    if isinstance(region.constraint, Matroid):
        return len(region.constraint.extend(region.held, region.open)) - len(region.held)
    return max(0, region.constraint.max_size() - len(region.held))


def _candidates(
    objective: SparseObjective, region: Region, room: int, target: float
) -> list[IndexArray] | None:
    """Return the sets of ``room`` open elements that may exceed the target, independent or not."""
    elements = np.flatnonzero(~region.outside)
    inside = region.inside[elements]
    base, held = _fit_without_bounds(objective, region.held)
    coef, floor = embed(objective, region.held, held), target - base
    gram = objective.hessian_at(coef, elements)
    lengths = np.sqrt(np.diag(gram))
    lengths[lengths == 0] = 1.0
    gram = gram / np.outer(lengths, lengths)
    left = _without_held(gram, inside)
    if left is None:
        return None
    rest, noise = left
    # f(S) = sᵀ H⁻¹ s / 2, where ``find`` has no factor 1/2 and no units.
    size = max(objective.scale, abs(floor)) or 1.0
    units = lengths * np.sqrt(2 * size)
    slope = objective.gradient_at(coef)[elements[~inside]] / units[~inside]
    number = objective.copies if isinstance(objective, Quadratic) else np.arange(objective.n)
    copies, how = number[region.open], (room, floor / size, MOST_FOUND, noise)
    if objective.bounds is None:
        found = completions.find(rest, slope, copies, *how)
    else:
        turned, positive = _turned(objective.bounds, elements)
        places = np.flatnonzero(inside), np.flatnonzero(~inside)
        with_y = turned * objective.gradient_at(np.zeros(objective.n))[elements] / units
        gram = gram * np.outer(turned, turned)
        np.fill_diagonal(gram, 1.0)  # also where the factor is 0
        signs = (gram, with_y, positive, *places, target / size)
        turns = turned[places[1]]
        rest, slope = rest * np.outer(turns, turns), slope * turns
        found = completions.find_signed(rest, slope, copies, *how, signs)
    return None if found is None else [region.open[chosen] for chosen in found]


def _nearly_all(
    objective: SparseObjective, region: Region, room: int, target: float
) -> list[IndexArray] | None:
    """Return the same by the elements left out, if these are few and no columns nearly collinear."""
    n_left_out = len(region.open) - room
    if n_left_out > FEW or objective.bounds is not None:
        return None
    elements, nothing = np.flatnonzero(~region.outside), np.zeros(objective.n)
    gram = objective.hessian_at(nothing, elements)
    lengths = np.sqrt(np.diag(gram))
    lengths[lengths == 0] = 1.0
    size = max(objective.scale, abs(target)) or 1.0
    slope = objective.gradient_at(nothing)[elements] / (lengths * np.sqrt(2 * size))
    gram, may_leave = gram / np.outer(lengths, lengths), ~region.inside[elements]
    found = sets_left_out(gram, slope, may_leave, n_left_out, target / size, NOISE, region.clock.check)
    some = None if found is None else list(islice(found, MOST_FOUND + 1))
    if some is None or len(some) > MOST_FOUND:
        return None
    return [np.setdiff1d(region.open, elements[left_out]) for left_out in some]


def _turned(bounds: CoefficientBounds, elements: IndexArray) -> tuple[FloatArray, BoolArray]:
    """Return factors that turn all sign limits into w ≥ 0, and which columns have one.

    Columns that may have no coefficient have the factor 0. The size of bounds is ignored.
    """
    lower, upper = bounds.lower[elements], bounds.upper[elements]
    turned = np.where(upper > 0, 1.0, np.where(lower < 0, -1.0, 0.0))
    return turned, (lower >= 0) | (upper <= 0)


def _without_held(gram: FloatArray, held: BoolArray) -> tuple[FloatArray, float] | None:
    """Project out the held columns; return the products and their error, None if nearly collinear."""
    if not held.any():
        return gram, NOISE
    try:
        factor = scipy.linalg.cholesky(gram[np.ix_(held, held)], lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    least = float((np.diag(factor) ** 2).min())
    if least < SAFE:
        return None
    across = scipy.linalg.solve_triangular(factor, gram[np.ix_(held, ~held)], lower=True, check_finite=False)
    return gram[np.ix_(~held, ~held)] - across.T @ across, NOISE / least


def _independent_parts(region: Region, chosen: IndexArray) -> list[IndexArray]:
    region.clock.check()
    whole = np.union1d(region.held, chosen)
    if region.constraint._is_answer(whole):
        return [whole]
    if isinstance(region.constraint, Matroid):
        return []  # all maximal sets have this size, and are enumerated themselves
    maximal: list[set[int]] = []
    for size in range(len(chosen) - 1, -1, -1):
        for part in map(set, combinations(chosen.tolist(), size)):
            if any(part <= larger for larger in maximal):
                continue
            if region.constraint._is_answer(np.union1d(region.held, sorted(part)).astype(np.intp)):
                maximal.append(part)
    return [np.union1d(region.held, sorted(part)).astype(np.intp) for part in maximal]
