"""Sparsitron: multiplicative weights for the neighbours of every vertex."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.paper.graph_baselines.nodes import as_spins

# The least base of the updates: with very few samples the paper's would not be positive.
SMALLEST_BASE = 0.5

# Predictors whose errors are computed together: there are as many as samples.
PREDICTORS_AT_ONCE = 256


def sparsitron(spins: ArrayLike, width: float) -> FloatArray:
    """Learn every vertex's couplings by Hedge, in one pass over the samples.

    The experts of vertex u are the other spins, their negatives and zero, with weights p on the simplex; the
    prediction of ``P(x_u = 1)`` is ``σ(2 width · p · x)``, where width is the largest ``Σ_v |θ_uv|``. Sample
    t gives expert j the loss ``½ (1 + (σ(2 width · p · x) − [x_u = 1]) x_j)`` and multiplies its weight by β
    to that power, with ``β = 1 − sqrt(log(number of experts) / n)``, at least ½. Of the n predictors on the
    way, the one with the least squared error is taken: row u of the answer is width times the difference of
    p of the spins and p of their negatives. The answer depends on the order of the samples.

    The weights of a spin and of its negative are inverse to each other, so that one matrix of logarithms is
    updated. Klivans and Meka (2017), Learning graphical models using multiplicative weights, measure the
    squared error on samples set aside; with as few samples as 100, all samples serve for both. They keep
    pairs whose weight is at least half of the smallest true coupling; here the degrees decide.
    """
    samples, width = as_spins(spins), as_real(width, "width")
    predictors = width * hedge(samples, width)
    # The first of the best:
    best = [squared_errors(samples, u, predictors[:, u]).argmin() for u in range(samples.shape[1])]
    return predictors[best, np.arange(samples.shape[1])]


def hedge(spins: FloatArray, width: float) -> FloatArray:
    """Return the weights before each sample, of the spins minus of their negatives: one row per vertex.

    The shape is (n_samples, n_vertices, n_vertices).
    """
    n_samples, n_vertices = spins.shape
    others = 1.0 - np.eye(n_vertices)
    rate = -np.log(_base(n_samples, 2 * n_vertices - 1)) / 2
    differences = np.empty((n_samples, n_vertices, n_vertices))
    logs = np.zeros((n_vertices, n_vertices))  # of a spin's weight; its negative has minus that
    for before, sample in zip(differences, spins, strict=True):
        up = np.exp(logs)
        down = 1.0 / up
        total = 1.0 + ((up + down) * others).sum(axis=1)  # zero has the weight 1
        before[:] = (up - down) / total[:, None]
        error = (np.tanh(width * (before @ sample)) - sample) / 2
        logs -= rate * np.outer(error, sample) * others
    return differences


def squared_errors(spins: FloatArray, vertex: int, predictors: FloatArray) -> FloatArray:
    """Return the mean of ``(σ(2 θ · x) − [x_u = 1])²`` for each row of predictors."""
    errors = np.empty(len(predictors))
    for begin in range(0, len(predictors), PREDICTORS_AT_ONCE):
        some = slice(begin, begin + PREDICTORS_AT_ONCE)
        errors[some] = ((np.tanh(predictors[some] @ spins.T) - spins[:, vertex]) ** 2).mean(axis=1) / 4
    return errors


def _base(n_samples: int, n_experts: int) -> float:
    return max(SMALLEST_BASE, 1.0 - float(np.sqrt(np.log(n_experts) / n_samples)))
