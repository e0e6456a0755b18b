"""The fit of one vertex on a few out of many neighbours, relaxed: neighbours may be chosen in part."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Steps of a fit, and those that begin with a new curvature: it takes far longer than a step.
MOST_STEPS, NEW_CURVATURES = 20, (0, 1, 3, 7)

# The longest step changes no margin by more than this.
LONGEST_STEP = 4.0

# No neighbour is chosen less than this: its ridge would be too large to compute with.
LEAST_SHARE = 1e-4


class ManyNeighbours:
    """Couplings of a vertex to many others, of which only some may be chosen: the perspective relaxation.

    ``mean log σ(2 h) − ⟨ridge, β²/z⟩/4 + ⟨prices, β⟩`` with margins ``h = Σ_u β_u signals_u``, as in
    ``VertexSummand``, and shares ``0 ≤ z ≤ 1`` whose sum is limited. Newton steps for the couplings take
    turns with the best shares for these couplings. Fits begin where the last one ended.
    """

    def __init__(
        self, signals: FloatArray, weight: FloatArray | float, prices: FloatArray, ridge: FloatArray
    ) -> None:
        self._signals, self._prices, self._ridge = signals, prices, ridge
        self._weight = np.broadcast_to(weight, signals.shape[1:]) / signals.shape[1]
        self._beta = np.zeros(len(signals))
        self._curve = np.zeros((len(signals), len(signals)))

    def course(self, held: IndexArray, candidates: IndexArray, room: int) -> Iterator[tuple[FloatArray, ...]]:
        """Yield per step the probabilities of wrong predictions, and about what each candidate adds.

        ``held`` is chosen as a whole, and ``room`` of the candidates in all.
        """
        rows = np.concatenate([held, candidates])
        signals, prices, share = self._signals[rows], self._prices[rows], np.ones(len(rows))
        for turn in range(MOST_STEPS):
            beta = self._beta[rows]
            share[len(held) :] = best_shares(np.abs(beta[len(held) :]), room)
            wrong = 0.5 * (1.0 - np.tanh(beta @ signals))
            if turn in NEW_CURVATURES:
                weighted = signals * (4.0 * self._weight * wrong * (1.0 - wrong))
                curve = weighted @ signals.T
            inverse = _inverse(curve, self._ridge[rows] / share / 2)
            yield wrong, (beta**2 / np.diag(inverse) / 2)[len(held) :]
            slope = 2.0 * signals @ (self._weight * wrong) - self._ridge[rows] / share / 2 * beta + prices
            step = inverse @ slope
            if not np.isfinite(step).all():
                return
            longest = float(np.abs(step @ signals).max(initial=1e-300))
            self._beta[rows] += step * min(1.0, LONGEST_STEP / longest)


def _inverse(curve: FloatArray, ridge: FloatArray) -> FloatArray:
    """Return the inverse of a curvature with a ridge, and a little more: columns may be collinear."""
    largest = float(np.diag(curve).max(initial=0.0)) or 1.0
    regular: FloatArray = curve + np.diag(ridge + 1e-10 * largest)
    return np.linalg.inv(regular).astype(np.float64)


def best_shares(sizes: FloatArray, total: int) -> FloatArray:
    """Return the shares from 0 to 1 with this sum that minimise ``Σ sizes² / share``."""
    if total >= len(sizes):
        return np.ones(len(sizes))
    if not total or not sizes.any():
        return np.full(len(sizes), max(total / len(sizes), LEAST_SHARE))
    largest = np.sort(sizes)[::-1][:total]
    # The first few are chosen as a whole, and the rest by their sizes: as few as leave no share above 1.
    level = (sizes.sum() - np.append(0.0, np.cumsum(largest[:-1]))) / (total - np.arange(total))
    fits = np.flatnonzero(largest <= level)
    lowest = level[fits[0]] if len(fits) else largest[-1]
    return np.clip(sizes / max(lowest, LEAST_SHARE * largest[0]), LEAST_SHARE, 1.0)
