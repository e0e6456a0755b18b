"""The pseudo-likelihood of a mixed graph as a sum over vertices, each with couplings of its own."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.graphs.ising.summands import VertexSummand, priced_edges
from swapwise.graphs.mixed.families import Binary
from swapwise.graphs.mixed.samples import MixedSamples
from swapwise.objectives.base import Summand
from swapwise.override import override

# What rounding may take from a bound that is computed in closed form, relative to it.
BOUND_ROUNDING = 1e-9


def vertex_summands(samples: MixedSamples, coef: FloatArray) -> Iterator[Summand]:
    """Yield one part per vertex, binary or Gaussian, priced so that both ends of an edge keep ``coef``."""
    families, model = samples.columns.families, samples.model
    alone = samples.log_likelihoods(samples.local_fields(np.zeros(model.n))).tolist()
    for vertex, (elements, others, prices) in enumerate(priced_edges(samples, coef)):
        spin, seen = samples.own[vertex], samples.seen[others]
        if isinstance(families[vertex], Binary):
            yield VertexSummand(
                elements, seen * spin, spin, samples.weight, model.ridge, prices, alone[vertex]
            )
        else:
            share = np.where(np.isnan(spin), 0.0, samples.weight) / samples.n_samples
            own = np.nan_to_num(spin)
            yield GaussianSummand(elements, seen, own, share, model.ridge, prices, alone[vertex])


class GaussianSummand(Summand):
    """How well a Gaussian vertex is predicted from its neighbours, with prices on the couplings.

    ``mean (x h − h²/2) − ridge ‖β‖²/4 + ⟨prices, β⟩`` is quadratic: its maximum is known in closed form.
    """

    def __init__(
        self,
        elements: IndexArray,
        seen: FloatArray,
        own: FloatArray,
        share: FloatArray,
        ridge: float,
        prices: FloatArray,
        at_zero: float,
    ) -> None:
        self.elements = elements
        self.cost = len(elements) ** 2
        total = max(float(share.sum()), np.finfo(float).tiny)  # 0 if nothing was observed
        # The best bias, given the couplings, leaves what varies around the means of the observed samples.
        around = seen - (seen @ share / total)[:, None]
        self._slope = around @ (share * own) + prices
        self._curve = (around * share) @ around.T + ridge / 2 * np.eye(len(elements))
        self._at_best_bias = float(own @ share) ** 2 / (2 * total) - at_zero

    @override
    def bounds(self, subsets: IndexArray) -> FloatArray:
        if not subsets.shape[1]:
            return np.full(len(subsets), self._at_best_bias)
        slope = self._slope[subsets]
        curve = self._curve[subsets[:, :, None], subsets[:, None, :]]
        best = np.linalg.solve(curve, slope[..., None])[..., 0]
        gains: FloatArray = 0.5 * (slope * best).sum(axis=1)
        return gains * (1.0 + BOUND_ROUNDING) + self._at_best_bias
