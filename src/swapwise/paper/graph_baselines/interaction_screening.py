"""Interaction screening: RISE and logRISE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.graphs.ising.objective import STRONGEST_COUPLING
from swapwise.paper.graph_baselines.nodes import Loss, as_spins, soft_threshold, solve_nodes

# The δ of the penalty, as the authors' program has it.
FAILURE = 0.05


def _log_screening_slopes(margins: FloatArray) -> FloatArray:
    shares = np.exp(margins.min(axis=0) - margins)
    return np.asarray(-shares / shares.sum(axis=0))


#: ``mean over i of exp(−z_iu)``, and its logarithm: at the true couplings ``exp(−z_iu)`` cancels the law of u
#: given the others, so that the gradient is zero in expectation.
SCREENING = Loss(lambda margins: -np.exp(-margins) / len(margins))
LOG_SCREENING = Loss(_log_screening_slopes)


def rise(spins: ArrayLike, regularizer: float = 0.4) -> FloatArray:
    """Minimise the interaction screening objective of every vertex with an L1 penalty (RISE).

    ``θ_u`` (row u of the answer) minimises ``mean exp(−x_u Σ_v θ_uv x_v) + λ ‖θ_u‖₁`` with
    ``λ = regularizer · sqrt(log(p² / 0.05) / n)``: Vuffray, Misra, Lokhov and Chertkov (2016), Interaction
    screening: efficient and sample-optimal learning of Ising models. 0.4 is the constant of the authors'
    GraphicalModelLearning.jl.
    """
    return _screened(spins, SCREENING, regularizer, np.inf)


def log_rise(spins: ArrayLike, regularizer: float = 0.8) -> FloatArray:
    """Minimise the logarithm of the interaction screening objective of every vertex with an L1 penalty.

    ``θ_u`` (row u of the answer) minimises ``log mean exp(−x_u Σ_v θ_uv x_v) + λ ‖θ_u‖₁`` with λ as in
    :func:`rise`: Lokhov, Vuffray, Misra and Chertkov (2018), Optimal structure and parameter learning of
    Ising models. 0.8 is the authors' constant.

    With separable data there may be no minimum: along a direction θ of length ``‖θ‖₁ = 1`` whose smallest
    margin is m, the objective at tθ is at most ``t (λ − m)``, unbounded below if m > λ, as in the paper's
    second setting (20 vertices, 100 samples). Couplings are therefore held within ±6, as in the library's own
    fits. :func:`rise` has a minimum for any data: its loss is never negative.
    """
    return _screened(spins, LOG_SCREENING, regularizer, STRONGEST_COUPLING)


def screening_penalty(n_samples: int, n_vertices: int, regularizer: float) -> float:
    return float(regularizer * np.sqrt(np.log(n_vertices**2 / FAILURE) / n_samples))


def _screened(spins: ArrayLike, loss: Loss, regularizer: float, strongest: float) -> FloatArray:
    samples, constant = as_spins(spins), as_real(regularizer, "regularizer", positive=True)
    n_samples, n_vertices = samples.shape
    penalty = np.full(n_vertices, screening_penalty(n_samples, n_vertices, constant))
    start = np.zeros((n_vertices, n_vertices))
    return solve_nodes(samples, loss, soft_threshold(penalty, strongest), start)
