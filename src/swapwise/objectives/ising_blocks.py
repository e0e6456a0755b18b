"""The pseudo-likelihood of an Ising model as a sum over vertices, each with couplings of its own."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.objectives.base import Block

NEWTON_STEPS = 50
LONGEST_STEP = 2.0

# Without ridge, a slope that promises less than this has come to its end.
CONVERGED = 1e-6

# Fits of small sets are made together, as many as have about this many numbers.
NUMBERS_AT_ONCE = 2_000_000


class VertexBlock(Block):
    """How well one vertex is predicted from its neighbours, with prices on the couplings.

    ``mean log σ(2 x_v h_v) + log 2 − ridge ‖β‖²/4 + ⟨prices, β⟩``: half of the ridge is for the other end of
    an edge, and the prices cancel when both ends have the same couplings.
    """

    def __init__(self, elements: IndexArray, signals: FloatArray, ridge: float, prices: FloatArray) -> None:
        self.elements = elements
        self.cost = signals.shape[1]
        self._signals = signals  # x_v x_u, one row a neighbour u
        self._ridge = ridge
        self._prices = prices

    def bounds(self, subsets: IndexArray) -> FloatArray:
        """Return what the block does not exceed on each of some sets of equal size, a row each."""
        size = max(1, subsets.shape[1])
        step = max(1, NUMBERS_AT_ONCE // (size * self.cost))
        pieces = [self._bounds(subsets[at : at + step]) for at in range(0, len(subsets), step)]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    def _bounds(self, subsets: IndexArray) -> FloatArray:
        if not subsets.shape[1]:
            return np.zeros(len(subsets))
        signals, prices = self._signals[subsets], self._prices[subsets]
        beta = np.zeros(subsets.shape)
        identity = np.eye(subsets.shape[1])
        for _ in range(NEWTON_STEPS):
            slope, wrong = self._slope(signals, prices, beta)
            weighted = signals * (wrong * (1.0 - wrong))[:, None, :]
            curve = 4.0 / self.cost * weighted @ np.swapaxes(signals, 1, 2)
            curve += (self._ridge / 2 + 1e-12) * identity
            step = np.linalg.solve(curve, slope[..., None])[..., 0]
            longest = np.abs(step).max(axis=1, keepdims=True)
            if longest.max() < 1e-9:
                break
            beta += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        slope, _ = self._slope(signals, prices, beta)
        return self._value(signals, prices, beta) + self._missed(slope, beta)

    def _slope(
        self, signals: FloatArray, prices: FloatArray, beta: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        margins = (beta[:, None, :] @ signals)[:, 0]
        wrong = 0.5 * (1.0 - np.tanh(margins))
        slope = 2.0 / self.cost * (signals @ wrong[..., None])[..., 0] - self._ridge / 2 * beta + prices
        return slope, wrong

    def _value(self, signals: FloatArray, prices: FloatArray, beta: FloatArray) -> FloatArray:
        margins = (beta[:, None, :] @ signals)[:, 0]
        fit = np.log(2.0) - np.logaddexp(0.0, -2.0 * margins).mean(axis=1)
        value: FloatArray = fit - self._ridge / 4 * (beta**2).sum(axis=1) + (prices * beta).sum(axis=1)
        return value

    def _missed(self, slope: FloatArray, beta: FloatArray) -> FloatArray:
        """Return how far above the fits the maxima can be: log 2 is all there is to gain without prices."""
        if self._ridge > 0:
            missed: FloatArray = (slope**2).sum(axis=1) / self._ridge
            return missed
        distance = 2 * np.maximum(1.0, np.abs(beta).max(axis=1))
        promised = np.abs(slope).sum(axis=1) * distance
        return np.where(promised < CONVERGED, promised, np.log(2.0))
