"""Gibbs sampling of an Ising model."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def sweep(spins, neighbours, couplings, uniforms):
    """Draw every spin anew given its neighbours, in index order, once for each row of ``uniforms``.

    Vertex v has the neighbours ``neighbours[v]`` with couplings ``couplings[v]``. With weights
    ``exp(Σ w_uv x_u x_v)`` a spin is +1 with probability ``σ(2 Σ_u w_uv x_u)``. ``spins`` is changed in
    place. Randomness comes from outside, so that one seed governs the whole of an instance.
    """
    for turn in range(uniforms.shape[0]):
        for v in range(len(spins)):
            pull = 0.0
            for k in range(neighbours.shape[1]):
                pull += couplings[v, k] * spins[neighbours[v, k]]
            spins[v] = 1.0 if uniforms[turn, v] * (1.0 + np.exp(-2.0 * pull)) < 1.0 else -1.0
