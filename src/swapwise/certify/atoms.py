"""A fractional set as a mixture of allowed sets, and the mixture that a quadratic function likes best."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from swapwise.checks import FloatArray, IndexArray

#: Finds a set that the slope likes, if not the one it likes most
Oracle = Callable[[FloatArray], IndexArray]

# Shares below this are rounding: the set is dropped from the mixture.
SMALLEST_SHARE = 1e-12


class Mixture:
    """Allowed sets and their shares, which sum to 1.

    >>> mixture = Mixture([np.array([0, 1]), np.array([1, 2])], [0.5, 0.5])
    >>> mixture.point(3)
    array([0.5, 1. , 0.5])
    """

    def __init__(self, sets: Iterable[IndexArray], shares: Iterable[float]) -> None:
        merged: dict[bytes, tuple[IndexArray, float]] = {}
        for support, share in zip(sets, shares, strict=True):
            if share > SMALLEST_SHARE:
                key = support.tobytes()
                merged[key] = (support, share + merged[key][1] if key in merged else share)
        self.sets = [support for support, _ in merged.values()]
        self.shares = np.array([share for _, share in merged.values()])
        self.shares /= self.shares.sum()

    def point(self, n: int) -> FloatArray:
        """Return the share of the sets that hold each element."""
        point = np.zeros(n)
        for support, share in zip(self.sets, self.shares, strict=True):
            point[support] += share
        return np.minimum(point, 1.0)

    def blend(self, other: Mixture, share: float) -> Mixture:
        """Return the mixture of this one and ``share`` of another."""
        shares = np.append((1.0 - share) * self.shares, share * other.shares)
        return Mixture([*self.sets, *other.sets], shares)

    def within(self, keep: Callable[[IndexArray], bool]) -> Mixture | None:
        """Return the mixture of those sets that may stay, or None if none may."""
        kept = [
            (support, share) for support, share in zip(self.sets, self.shares, strict=True) if keep(support)
        ]
        return Mixture(*zip(*kept, strict=True)) if kept else None


def climb_quadratic(
    mixture: Mixture,
    elements: IndexArray,
    slope: FloatArray,
    curve: FloatArray,
    oracle: Oracle,
    steps: int,
    gap: float,
) -> Mixture:
    """Move shares between sets to raise ``slope·d − dᵀ curve d / 2``, where d is how far the point moves.

    ``slope`` and ``curve`` are those of ``elements``, which no set goes beyond. Frank–Wolfe with
    pairwise steps: shares go from the set that the slope likes least to the one that it likes best. Only
    when the sets at hand promise less than half of what the last new set did is the oracle asked for
    another.
    """
    position = np.full(elements.max(initial=-1) + 1, -1)
    position[elements] = np.arange(len(elements))
    sets, count = list(mixture.sets), len(mixture.sets)
    rows = np.zeros((count + steps, len(elements)))
    shares = np.zeros(count + steps)
    shares[:count] = mixture.shares
    for number, support in enumerate(sets):
        rows[number, position[support]] = 1.0
    slope = slope.copy()
    promise = np.inf
    for _ in range(steps):
        liked = rows[:count] @ slope
        worst = int(np.argmin(np.where(shares[:count] > SMALLEST_SHARE, liked, np.inf)))
        best = int(np.argmax(liked))
        local = float(liked[best] - liked[worst])
        if local < promise / 2:
            here = float(shares[:count] @ liked)
            support = oracle(slope)
            promise = float(slope[position[support]].sum()) - here
            if promise > max(gap, liked[best] - here):
                sets.append(support)
                best, count = count, count + 1
                rows[best, position[support]] = 1.0
            elif local > gap:
                promise = local  # nothing new for now: make the best of the sets at hand
            else:
                break
        way = rows[best] - rows[worst]
        moved = np.flatnonzero(way)
        bend = curve[:, moved] @ way[moved]
        rise, curvature = float(slope @ way), float(way @ bend)
        if rise <= 0:
            break
        step = float(shares[worst])
        if curvature * step > rise:
            step = rise / curvature
        slope -= step * bend
        shares[best] += step
        shares[worst] -= step
    return Mixture(sets, shares[:count])
