"""The contract between an Ising model and its samples, however these are stored."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.graphs.ising.model import IsingModel
from swapwise.moves import MoveList
from swapwise.objectives.base import Scoring

if TYPE_CHECKING:
    from swapwise.graphs.ising.samples import Samples

# A refit stops this far below the maximum; what it leaves out after its last step is smaller by orders of
# magnitude.
REFIT_TOLERANCE = 1e-13

# Newton steps of a refit, which takes some ten unless the data are separable.
MAX_STEPS = 500

# The longest step of a refit, for data of -1 and +1: it changes a margin by 16, which is from even odds to
# near certainty.
LONGEST_STEP = 8.0

# Weights that are larger are no counts of samples.
MOST_COUNTED_ONCE = 1e12

# A margin beyond which a sample has one sign for good.
SURE = 20.0


class SpinData(ABC):
    """The samples of a pairwise model, however they are stored; every mean over them is weighted.

    Parameters of a fit are the couplings in the order of the support, then, in a model with fields, the bias
    of every vertex. ``fields=None`` stands for the best ones given the couplings. A new kind of storage is
    one class with the eight abstract methods, and one line in ``open_spins``.
    """

    model: IsingModel
    n_samples: int
    #: What it costs to score a move
    scoring: Scoring = "refit"
    #: How many times all of the data were read so far, where that matters
    n_passes: float | None = None
    #: The samples themselves, where they are in memory
    samples: Samples | None = None
    #: The value of a perfect prediction: entries that are missing, or 0, add log σ(0)
    perfect: float = 0.0
    #: The part of the log-likelihood beside the terms, which cancels those of missing entries
    offset: float = 0.0
    #: The value of each vertex for its neighbours where it is missing: its mean, or 0 without fields
    imputed: FloatArray
    #: The number of samples: the sum of the weights if all of them are whole numbers
    n_counted: int

    @abstractmethod
    def refit(self, support: IndexArray, parameters: FloatArray) -> tuple[float, bool]:
        """Maximise from given parameters, in place; return the value and whether it is the maximum."""

    @abstractmethod
    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        """Return the value after each move from a fit, and whether its refit converged."""

    @abstractmethod
    def value(self, coef: FloatArray, fields: FloatArray | None) -> float:
        """Return the log-likelihood less the ridge's penalty."""

    @abstractmethod
    def best_fields(self, coef: FloatArray) -> FloatArray:
        """Return the best bias of every vertex, given the couplings; zeros without fields."""

    @abstractmethod
    def vertex_gradients(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the gradient of each vertex's log-likelihood, a row, by its coupling to each vertex."""

    @abstractmethod
    def hessian(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        """Return minus the Hessian of the log-likelihood for some edges; the best fields move along."""

    @abstractmethod
    def patterns(self, support: IndexArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return patterns of every vertex and its neighbours, a column each, and their shares of samples.

        Rows are in the order of :meth:`IsingModel.neighbourhoods`: the first is predicted by the others.
        """

    @abstractmethod
    def mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        """Return the mean of ``x_v² z_a z_b`` for v shared, a the other, and b each of the thirds."""

    def gradient(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        """Return the gradient of the log-likelihood over all pairs: each coupling is one of both its ends."""
        by_vertex = self.vertex_gradients(coef, fields)
        tail, head = self.model.tail, self.model.head
        return by_vertex[tail, head] + by_vertex[head, tail]

    @cached_property
    def edge_curvature(self) -> FloatArray:
        """The larger mean of ``x_v² z_u²`` and ``x_u² z_v²`` for every edge: 1 for data of -1 and +1."""
        return np.ones(self.model.n)

    @cached_property
    def vertex_sizes(self) -> FloatArray:
        """The root mean square of what was observed of every vertex: 1 for data of -1 and +1."""
        return np.ones(self.model.n_vertices)

    @cached_property
    def n_observed(self) -> IndexArray:
        return np.full((self.model.n_vertices,) * 2, self.n_counted)


def if_unequal(weight: FloatArray | None) -> FloatArray | None:
    """Return the weights, or None if all are the same."""
    return None if weight is None or (weight == weight[0]).all() else weight


def counts_of(weight: FloatArray | None, n_samples: int) -> IndexArray:
    """Return how often each sample was seen: its weight if all are whole numbers, else once if it counts."""
    if weight is None:
        return np.ones(n_samples, dtype=np.intp)
    are_counts = not (weight % 1).any() and weight.max() <= MOST_COUNTED_ONCE
    return (weight if are_counts else weight > 0).astype(np.intp)


def best_biases(
    slopes: Callable[[FloatArray], tuple[FloatArray, FloatArray]], widest: FloatArray
) -> FloatArray:
    """Return where slopes are zero, by Newton steps for all vertices at once, in a bracket each.

    ``slopes`` returns slopes and curvatures at biases. A vertex that never varies stops at ``widest``.
    """
    bias, low, high = np.zeros(len(widest)), -widest, widest
    for _ in range(MAX_STEPS):
        slope, curve = slopes(bias)
        low, high = np.where(slope > 0, bias, low), np.where(slope < 0, bias, high)
        newton = bias + slope / np.maximum(curve, 1e-300)
        inside = (newton > low) & (newton < high)
        ahead = np.where(inside, newton, (low + high) / 2)
        done = np.abs(ahead - bias) <= 1e-13 * (np.abs(bias) + 1e-3 * widest)
        bias = ahead
        if done.all():
            break
    return bias


def sigmoid(margin: FloatArray) -> FloatArray:
    return 0.5 * (1.0 + np.tanh(0.5 * margin))


def drawn_spins(local: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.where(rng.random(len(local)) < sigmoid(2.0 * local), 1.0, -1.0)


def slopes_of(spins: FloatArray, local: FloatArray) -> FloatArray:
    """Return the derivative of each term ``log σ(2 x_v h_v)`` in its local field."""
    return 2.0 * spins * sigmoid(-2.0 * spins * local)


def gradients_of(spins: FloatArray, local: FloatArray, others: FloatArray) -> FloatArray:
    """Return ``Σ ∂ log σ(2 x_v h_v)/∂h_v · z_u`` over the samples: one row for each v, one column for each u.

    ``others`` are the z, the values that neighbours see, times the weights of their samples.
    """
    return slopes_of(spins, local) @ others.T


def curvatures_of(spins: FloatArray, local: FloatArray) -> FloatArray:
    """Return minus the second derivative of each term in its local field."""
    wrong = sigmoid(-2.0 * spins * local)
    return 4.0 * wrong * (1.0 - wrong) * spins**2


def hessian_of(
    others: FloatArray, curve: FloatArray, tail: IndexArray, head: IndexArray, *, fields: bool
) -> FloatArray:
    """Return minus the Hessian in the couplings of edges and, with ``fields``, the biases of all vertices.

    ``curve`` is the weighted curvature of every term, ``others`` are the values that neighbours see.
    """
    size, (n_vertices, n_samples) = len(tail), others.shape
    block = np.zeros((size + fields * n_vertices,) * 2)
    for vertex in range(n_vertices):
        meet = np.flatnonzero((tail == vertex) | (head == vertex))
        columns = others[np.where(tail[meet] == vertex, head[meet], tail[meet])]
        if fields:
            meet, columns = np.append(meet, size + vertex), np.vstack([columns, np.ones(n_samples)])
        block[np.ix_(meet, meet)] += (columns * curve[vertex]) @ columns.T
    return block


def without_fields(whole: FloatArray, size: int) -> FloatArray:
    """Return the Hessian of the first ``size`` parameters where the others, the fields, move along."""
    across, own = whole[:size, size:], np.diag(whole)[size:]  # fields of two vertices do not meet
    share = np.divide(across, own, out=np.zeros_like(across), where=own > 0)
    return whole[:size, :size] - share @ across.T
