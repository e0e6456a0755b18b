"""The best set of a small region of a quadratic objective, by going through its sets in closed form."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.matroid import Matroid
from swapwise.objectives.base import SetFunction, SparseObjective
from swapwise.theory.diagonal import schur_complement
from swapwise.theory.region import Region

# A set takes a few nanoseconds.
MOST_SETS = 30_000_000

# If more sets than this are as good as the target, the target is too low to end with this region.
MOST_FOUND = 256

# Where allowed sets differ in size, all parts of a set found are tried: not more than 2 to this power.
LARGEST_WITH_PARTS = 8

# Sets whose value, computed from products of columns, is this close to the target are looked at again.
MARGIN = 1e-7


def finish(objective: SetFunction, region: Region, target: float) -> tuple[IndexArray, float] | None:
    """Return the best set of the region and its value, if the region is small; else None.

    If no set exceeds the target, the set that all others hold is returned with the target as its value.
    The sizes of sets are minded first, the constraint only for those that exceed the target.
    """
    if not isinstance(objective, SparseObjective) or not objective.quadratic:
        return None
    held, candidates = region.held, region.open
    room = min(_room(region), len(candidates))
    if comb(len(candidates), room) > MOST_SETS:
        return None
    if not isinstance(region.constraint, Matroid) and room > LARGEST_WITH_PARTS:
        return None
    base, coef = objective._fit(held)
    best, value = held, max(target, base)
    if room == 0:
        return best, value
    found = _promising(objective, region, room, objective._embed(held, coef), target - base)
    if found is None:
        return None
    for chosen in found:
        for support in _allowed_parts(region, chosen):
            exact = objective._value(support)
            if exact > value:
                best, value = support, exact
    return best, value


def _room(region: Region) -> int:
    """Return how many elements a set of the region can have besides those that all of them hold."""
    if isinstance(region.constraint, Matroid):
        return len(region.constraint.extend(region.held, region.open)) - len(region.held)
    return region.constraint.max_size() - len(region.held)


def _promising(
    objective: SparseObjective, region: Region, room: int, coef: FloatArray, floor: float
) -> list[IndexArray] | None:
    """Return the sets of ``room`` open elements that may add more than ``floor``, allowed or not."""
    from swapwise.kernels.completions import completions

    elements = np.flatnonzero(~region.outside)
    inside = region.inside[elements]
    gram = objective.hessian_at(coef, elements)
    if inside.any():
        gram = schur_complement(gram, inside)
    slope = objective.gradient_at(coef)[elements[~inside]]
    # f(S) = sᵀ H⁻¹ s / 2, and completions has no half.
    margin = MARGIN * max(objective.scale, abs(floor))
    found = completions(gram, slope, room, 2 * (floor - margin), MOST_FOUND)
    return None if found is None else [region.open[chosen] for chosen in found]


def _allowed_parts(region: Region, chosen: IndexArray) -> list[IndexArray]:
    """Return the maximal allowed sets among the elements chosen and those held."""
    whole = np.union1d(region.held, chosen)
    if region.constraint._is_independent(whole):
        return [whole]
    if isinstance(region.constraint, Matroid):
        return []  # all maximal sets are of this size, and found by themselves
    maximal: list[set[int]] = []
    for size in range(len(chosen) - 1, -1, -1):
        for part in map(set, combinations(chosen.tolist(), size)):
            if any(part <= larger for larger in maximal):
                continue
            if region.constraint._is_independent(np.union1d(region.held, sorted(part)).astype(np.intp)):
                maximal.append(part)
    return [np.union1d(region.held, sorted(part)).astype(np.intp) for part in maximal]
