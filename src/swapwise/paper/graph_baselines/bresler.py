"""Bresler's greedy algorithm: neighbours by their influence, given those found before."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_count, as_real
from swapwise.paper.graph_baselines.nodes import as_spins


def bresler(spins: ArrayLike, max_neighbours: int, threshold: float | None = None) -> FloatArray:
    """Add to every vertex the most influential of the others while influences are large, then prune.

    The influence of v on u given a set S is ``ν(u, v | S) = ½ E |Cov(x_u, x_v | x_S)|`` by the law of the
    samples. S grows by the v of largest influence while that is at least τ (the threshold), and then loses
    every v with ``ν(u, v | S − v) < τ``. These are the weights returned, never negative and no couplings.

    Two things are simplified: S stops at ``max_neighbours``, and τ is by default ``sqrt(log p / (2 n))``,
    roughly the largest influence that p independent spins show by chance. In the theorem (Bresler 2015,
    Efficiently learning Ising models on arbitrary graphs), τ is a constant of the model, S may grow far
    beyond the degree, and each of the ``2^|S|`` values of x_S is seen often; with 100 samples most are alone
    in their cell once S has seven vertices, and one sample has no covariance.
    """
    samples, most = as_spins(spins), as_count(max_neighbours, "max_neighbours")
    n_samples, n_vertices = samples.shape
    chance = float(np.sqrt(np.log(n_vertices) / (2 * n_samples)))
    tau = chance if threshold is None else as_real(threshold, "threshold")
    weights = np.zeros((n_vertices, n_vertices))
    for u in range(n_vertices):
        chosen = _grown(samples, u, most, tau)
        kept = [influences(samples, u, [w for w in chosen if w != v])[v] for v in chosen]
        weights[u, chosen] = np.where(np.array(kept) >= tau, kept, 0.0)
    return weights


def _grown(spins: FloatArray, vertex: int, most: int, tau: float) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < min(most, spins.shape[1] - 1):
        influence = influences(spins, vertex, chosen)
        influence[[vertex, *chosen]] = -1.0
        best = int(influence.argmax())  # the first of the best
        if influence[best] < tau:
            break
        chosen.append(best)
    return chosen


def influences(spins: FloatArray, vertex: int, given: list[int]) -> FloatArray:
    """Return ``½ E |Cov(x_u, x_v | x_S)|`` for a vertex u and every v, over the samples."""
    order, first, counts = _cells(spins[:, given])
    ordered = spins[order]
    target = ordered[:, [vertex]]

    def means(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, first, axis=0) / counts[:, None]

    covariance = means(target * ordered) - means(target) * means(ordered)
    return np.asarray(counts @ np.abs(covariance) / (2 * len(spins)))


def _cells(given: FloatArray) -> tuple[IndexArray, IndexArray, IndexArray]:
    """Return an order in which samples that agree stand together, where such cells begin, and their sizes."""
    if given.shape[1] == 0:
        return np.arange(len(given)), np.zeros(1, dtype=np.intp), np.array([len(given)])
    order = np.lexsort(given.T)
    differs = (np.diff(given[order], axis=0) != 0).any(axis=1)
    first = np.concatenate([[0], np.flatnonzero(differs) + 1])
    return order, first, np.diff(np.append(first, len(given)))
