"""Parts of the estimators of Ising graphs: likelihoods, Gibbs samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.kernels import gibbs

# At this field a spin that is its own neighbour never turns: 1 + e⁻⁸⁰ is 1 in double precision.
FROZEN = 40.0

# Sweeps of a chain whose random numbers are drawn together; those of a long one may not fit in memory.
SWEEPS_AT_ONCE = 1000


def pseudo_log_likelihood(
    spins: FloatArray, coupling: FloatArray, field: FloatArray, imputed: FloatArray | None = None
) -> FloatArray:
    """Return ``Σ_v log σ(2 x_v (Σ_u w_uv x_u + b_v))`` for every sample, a row of ``spins``.

    Terms of missing spins (NaN) are left out, and their neighbours see ``imputed`` instead: one number for
    each vertex, or for each spin; without it, none may be missing.
    """
    if imputed is None:
        return -np.logaddexp(0.0, -2.0 * spins * (spins @ coupling + field)).sum(axis=1)
    missing = np.isnan(spins)
    own, seen = np.where(missing, 0.0, spins), np.where(missing, imputed, spins)
    terms = -np.logaddexp(0.0, -2.0 * own * (seen @ coupling + field))
    return terms.sum(axis=1, where=~missing)


def mean_likelihood(
    spins: FloatArray,
    weight: FloatArray | None,
    coupling: FloatArray,
    field: FloatArray,
    imputed: FloatArray | None = None,
) -> float:
    return float(np.average(pseudo_log_likelihood(spins, coupling, field, imputed), weights=weight))


def gibbs_samples(
    coupling: FloatArray, field: FloatArray, n_samples: int, burn_in: int, rng: np.random.Generator
) -> FloatArray:
    """Return independent samples of ``P(x) ∝ exp(Σ w_uv x_u x_v + Σ b_v x_v)``, each from a chain of its own.

    A chain begins at random spins and makes ``burn_in`` sweeps, each of which draws every spin once.
    """
    neighbours, strengths = _neighbours(coupling, field)
    n_vertices = len(field)
    samples = np.empty((n_samples, n_vertices))
    for row in samples:
        state = np.append(rng.choice([-1.0, 1.0], size=n_vertices), 1.0)
        for begin in range(0, burn_in, SWEEPS_AT_ONCE):
            turns = min(SWEEPS_AT_ONCE, burn_in - begin)
            gibbs.sweep(state, neighbours, strengths, rng.random((turns, n_vertices + 1)))
        row[:] = state[:-1]
    return samples


def _neighbours(coupling: FloatArray, field: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the neighbours of every vertex and their couplings, filled up with couplings of zero.

    Fields are couplings to one more vertex, the last, which stays at +1.
    """
    n = len(field)
    extended = np.zeros((n + 1, n + 1))
    extended[:n, :n] = coupling
    extended[:n, n] = field
    extended[n, n] = FROZEN
    width = int((extended != 0).sum(axis=1).max())
    neighbours = np.argsort(extended == 0, axis=1, kind="stable")[:, :width].astype(np.intp)
    return np.ascontiguousarray(neighbours), np.take_along_axis(extended, neighbours, axis=1)
