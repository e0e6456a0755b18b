"""Inequalities that every packing meets and fractions of packings do not (Edmonds 1965).

For a set U of groups, let E hold the elements with two groups in U or more, and F some with one. Half the
sum of the limits of U and of x_j ≤ 1 on F, rounded down, gives Σ_{E ∪ F} x_j ≤ ⌊(capacity(U) + |F|) / 2⌋.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.csgraph import connected_components

from swapwise.checks import BoolArray, FloatArray, IndexArray

LEAST_VIOLATION = 1e-6  # of an inequality that is worth adding


def violated_blossoms(
    groups: csc_array, capacity: IndexArray, values: FloatArray
) -> Iterator[tuple[BoolArray, int]]:
    """Yield inequalities that the values violate, as members and how many of them a packing holds.

    ``groups`` has a row for each group and a column for each element, as ``capacity`` and ``values`` do.

    The sets U tried are those that hang together by fractional elements, by elements with a value above
    0, and by any elements at all. In the first relaxation of a matching the fractional elements are odd
    cycles, each of which is cut off; the last set is for an odd total capacity.
    """
    fractional = np.abs(values - 0.5) < 0.5 - LEAST_VIOLATION
    mixed = groups[:, fractional].sum(axis=1) > 0
    tried = set()
    for linking in (fractional, values > LEAST_VIOLATION, np.ones(len(values), dtype=bool)):
        for inside in _components(groups[:, linking]):
            # Whole values are a packing, which violates nothing.
            if (inside & mixed).any() and inside.tobytes() not in tried:
                tried.add(inside.tobytes())
                members, most = _blossom(groups, capacity, inside, values)
                if values[members].sum() > most + LEAST_VIOLATION:
                    yield members, most


def _components(incidence: csc_array) -> list[BoolArray]:
    """Return the sets of two groups or more that the columns link, as masks."""
    _, label = connected_components(incidence @ incidence.T, directed=False)
    return [label == c for c in np.flatnonzero(np.bincount(label) > 1)]


def _blossom(
    groups: csc_array, capacity: IndexArray, inside: BoolArray, values: FloatArray
) -> tuple[BoolArray, int]:
    """Return the inequality for the groups ``inside``, with the F that violates it most."""
    count = inside.astype(np.float64) @ groups
    border = np.flatnonzero(count == 1)
    special = values[border] > 0.5
    total = int(capacity[inside].sum())
    if (total + special.sum()) % 2 == 0 and len(border):  # only an odd sum loses a half by rounding
        nearest = np.abs(values[border] - 0.5).argmin()
        special[nearest] = not special[nearest]
    members = count >= 2
    members[border[special]] = True
    return members, (total + int(special.sum())) // 2
