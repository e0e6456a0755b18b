"""The pseudo-likelihood of an Ising model as a sum over vertices, each with couplings of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.graphs.ising.many_neighbours import ManyNeighbours
from swapwise.graphs.ising.samples import Samples
from swapwise.kernels import neighbourhoods
from swapwise.objectives.base import Summand
from swapwise.override import override

SUMMAND_NEWTON_STEPS = 50

# The longest step of a fit changes no margin by more than this.
LONGEST_STEP = 4.0

# A relaxation is left when none of a few steps lowers its bound by more than this.
STALLED, IDLE_STEPS = 1e-5, 4

# Signals sum to nothing up to 1e-12. Probabilities that may be nothing but that count as zero, for their
# entropies would be far larger.
LEAST_WRONG = 1e-11

# Fits of small sets are made together, as many as have about this many numbers.
NUMBERS_AT_ONCE = 2_000_000


def vertex_summands(samples: Samples, coef: FloatArray) -> Iterator[VertexSummand]:
    """Yield one part per vertex, priced so that both ends of an edge would keep ``coef``."""
    model = samples.model
    alone = samples.log_likelihoods(samples.local_fields(np.zeros(model.n)))
    for vertex, (elements, others, prices) in enumerate(priced_edges(samples, coef)):
        spin = samples.own[vertex]
        yield VertexSummand(
            elements,
            samples.seen[others] * spin,
            spin if model.fields else None,
            samples.weight,
            model.ridge,
            prices,
            float(alone[vertex]),
        )


def priced_edges(samples: Samples, coef: FloatArray) -> Iterator[tuple[IndexArray, IndexArray, FloatArray]]:
    """Yield the edges of every vertex, their other ends, and the prices at which both would keep ``coef``."""
    tail, head = samples.model.tail, samples.model.head
    gradients = samples.vertex_gradients(coef, None)
    # What the head would gain more from the coupling than the tail; without ridge, prices know no bounds.
    price = (gradients[head, tail] - gradients[tail, head]) / 2 * (samples.model.ridge > 0)
    for vertex in range(samples.model.n_vertices):
        elements = np.flatnonzero((tail == vertex) | (head == vertex))
        is_tail = tail[elements] == vertex
        others = np.where(is_tail, head[elements], tail[elements])
        yield elements, others, np.where(is_tail, price[elements], -price[elements])


class VertexSummand(Summand):
    """How well one vertex is predicted from its neighbours, with prices on the couplings.

    ``mean log σ(2 h) − ridge ‖β‖²/4 + ⟨prices, β⟩`` with margins ``h = Σ_u β_u x_v z_u``, plus ``bias · x_v``
    if there are fields: half of the ridge is for the other end of an edge, and the prices cancel when both
    ends have the same couplings. Values are relative to ``at_zero``. The weights of the samples have mean 1.
    """

    def __init__(
        self,
        elements: IndexArray,
        signals: FloatArray,
        field: FloatArray | None,
        weight: FloatArray | float,
        ridge: float,
        prices: FloatArray,
        at_zero: float,
    ) -> None:
        self.elements = elements
        self.cost = signals.shape[1]
        self._signals = signals  # x_v z_u, one row per neighbour u
        self._field = field  # x_v, or None
        self._weight = weight
        self._ridge = ridge
        self._prices = prices
        self._at_zero = at_zero

    @override
    def bounds(self, subsets: IndexArray) -> FloatArray:
        n_signals = subsets.shape[1] + (self._field is not None)
        if self._negative is not None and subsets.size and n_signals <= neighbourhoods.MOST_SIGNALS:
            return self._bounds_by_patterns(subsets)
        step = max(1, NUMBERS_AT_ONCE // ((1 + subsets.shape[1]) * self.cost))
        pieces = [self._bounds(subsets[at : at + step]) for at in range(0, len(subsets), step)]
        return np.concatenate(pieces) if pieces else np.zeros(0)

    @cached_property
    def _negative(self) -> BoolArray | None:
        """Where signals are -1, the field's in the last row; None of other data than -1 and +1."""
        signals = self._signals if self._field is None else np.vstack([self._signals, self._field])
        return signals < 0 if (np.abs(signals) == 1).all() else None

    def _bounds_by_patterns(self, subsets: IndexArray) -> FloatArray:
        """Fit all sets to how often each pattern of signs was seen: as :meth:`_bounds` does, but faster."""
        weight = self._weight if isinstance(self._weight, np.ndarray) else np.empty(0)
        field = self._field is not None
        bounds: FloatArray = neighbourhoods.bounds(
            self._negative, field, weight, self._prices, self._ridge, subsets
        )
        return bounds - self._at_zero

    def _bounds(self, subsets: IndexArray) -> FloatArray:
        """Fit all sets by Newton steps; whatever they come to, the dual point of it proves a bound."""
        signals, prices, ridge = self._design(subsets)
        beta = np.zeros(prices.shape)
        wrong = np.full((len(subsets), self.cost), 0.5)
        for _ in range(SUMMAND_NEWTON_STEPS if prices.shape[1] else 0):
            wrong = 0.5 * (1.0 - np.tanh((beta[:, None, :] @ signals)[:, 0]))
            slope = self._slope(signals, wrong) - ridge / 2 * beta + prices
            weighted = signals * (4.0 / self.cost * self._weight * wrong * (1.0 - wrong))[:, None, :]
            curve = weighted @ np.swapaxes(signals, 1, 2)
            diagonal = np.einsum("bii->bi", curve)
            diagonal += ridge / 2 + 1e-12 * diagonal.max(axis=1, keepdims=True) + 1e-300
            step = np.linalg.solve(curve, slope[..., None])[..., 0]
            longest = np.abs(step[:, None, :] @ signals).max(axis=(1, 2))
            if longest.max() < 1e-9:
                break
            beta += step * np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))[:, None]
        bound, scores = self._dual(signals, prices, ridge, wrong)
        return bound + scores.sum(axis=1) - self._at_zero

    @override
    def bound_among(
        self,
        held: IndexArray,
        candidates: IndexArray,
        sizes: tuple[int, int],
        prices: FloatArray,
        target: float = -np.inf,
    ) -> tuple[float, FloatArray]:
        # Every step of the relaxation gives a dual point, and the best of them is the bound.
        signals, own_prices, ridge = self._design(np.append(held, candidates)[None])
        always = held if self._field is None else np.append(held, len(self.elements))
        bound, idle, worth = np.inf, 0, np.zeros(len(candidates))
        for wrong, worth in self._many.course(always, candidates, sizes[1]):  # noqa: B007, the last is returned
            base, scores = self._dual(signals, own_prices, ridge, wrong[None])
            added = np.sort(scores[0, len(held) : len(held) + len(candidates)] + prices)[::-1]
            added[sizes[0] :] = np.maximum(added[sizes[0] :], 0.0)
            dual = float(base[0] + scores[0, : len(held)].sum() + added[: sizes[1]].sum()) - self._at_zero
            idle = 0 if dual < bound - STALLED else idle + 1
            bound = min(bound, dual)
            if idle == IDLE_STEPS or bound < target:
                break
        return bound, worth

    @cached_property
    def _many(self) -> ManyNeighbours:
        signals, prices, ridge = self._design(np.arange(len(self.elements))[None])
        return ManyNeighbours(signals[0], self._weight, prices[0], ridge)

    def _slope(self, signals: FloatArray, wrong: FloatArray) -> FloatArray:
        slope: FloatArray = 2.0 / self.cost * (signals @ (self._weight * wrong)[..., None])[..., 0]
        return slope

    def _design(self, subsets: IndexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return signals, prices and ridge of the coefficients of each set; a field has only signals."""
        signals, prices = self._signals[subsets], self._prices[subsets]
        ridge = np.full(subsets.shape[1], self._ridge)
        if self._field is not None:
            field = np.broadcast_to(self._field, (len(subsets), 1, self.cost))
            signals = np.concatenate([signals, field], axis=1)
            prices = np.concatenate([prices, np.zeros((len(subsets), 1))], axis=1)
            ridge = np.append(ridge, 0.0)
        return signals, prices, ridge

    def _dual(
        self, signals: FloatArray, prices: FloatArray, ridge: FloatArray, wrong: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return an upper bound from any probabilities q of being wrong, and the terms of coefficients in it.

        ``log σ(m) ≤ q m − H(q)`` with the entropy H, for all q. Where a coefficient has a ridge, the best of
        it follows; where it has none, q must make its slope vanish, and is moved until it does. If that is
        not possible, all that is known is log σ ≤ 0.
        """
        free = ridge == 0
        if free.any() and prices.shape[1]:
            wrong = _balanced(signals[:, free], self._weight, wrong)
        inside: BoolArray = np.logical_and.reduce((wrong >= 0) & (wrong <= 1), axis=1)
        wrong = np.where(wrong > LEAST_WRONG, np.minimum(wrong, 1.0), 1e-300)
        right = np.maximum(1.0 - wrong, 1e-300)
        bound: FloatArray = (self._weight * (wrong * np.log(wrong) + right * np.log(right))).mean(axis=1)
        slope = np.where(inside[:, None], self._slope(signals, wrong), 0.0) + prices
        scores = np.where(free, 0.0, slope**2 / np.where(free, 1.0, ridge))
        return np.where(inside, bound, 0.0), scores


def _balanced(signals: FloatArray, weight: FloatArray | float, wrong: FloatArray) -> FloatArray:
    """Return the nearest probabilities at which the signals sum to nothing, or NaN where there are none.

    Near is meant by weighted squares, and so a sample of weight 2 is moved as the same sample twice.
    """
    weighted = signals * weight
    left = weighted @ wrong[..., None]
    gram = weighted @ np.swapaxes(signals, 1, 2)
    moved = np.linalg.pinv(gram, rcond=1e-12, hermitian=True) @ left
    # What has to leave the range from 0 to 1 by more than rounding is then no longer balanced.
    balanced: FloatArray = np.clip(wrong - (np.swapaxes(signals, 1, 2) @ moved)[..., 0], 0.0, 1.0)
    still = np.abs((weighted @ balanced[..., None])[..., 0]).max(axis=1)
    balanced[still > 1e-12 * np.abs(weighted).sum(axis=(1, 2))] = np.nan
    return balanced
