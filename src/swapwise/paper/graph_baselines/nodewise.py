"""Nodewise logistic regression with an L1 penalty that the extended BIC chooses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.paper.graph_baselines.newton import NewtonSteps
from swapwise.paper.graph_baselines.nodes import (
    LOGISTIC,
    as_spins,
    gradients_of,
    logistic_values,
    margins_of,
    soft_threshold,
    solve_nodes,
)
from swapwise.paper.methods.clash import onto_l1_ball

# Penalties per vertex, from the one that leaves no neighbour down to a share of it that depends on whether
# there are more samples than variables; or to the one that leaves this share of the deviance unexplained. All
# as glmnet has it, and hence IsingFit.
N_PENALTIES, SMALLEST_SHARE, SMALLEST_SHARE_OF_FEW, UNEXPLAINED = 100, 1e-4, 1e-2, 1e-3


def l1_logistic(spins: ArrayLike, gamma: float = 0.25) -> FloatArray:
    """Regress every vertex on the others with an L1 penalty, and choose the penalty by the extended BIC.

    For vertex u and a penalty λ, ``θ_u(λ)`` minimises ``mean log(1 + exp(−2 x_u Σ_v θ_uv x_v)) + λ ‖θ_u‖₁``
    (Ravikumar, Wainwright and Lafferty 2010, High-dimensional Ising model selection). Of 100 penalties the
    one with the least ``EBIC = −2 ℓ + J log n + 2 γ J log(p − 1)`` is taken, where ℓ is the log-likelihood of
    u given the others at θ_u(λ), and J the number of its nonzero coefficients (van Borkulo et al. 2014,
    "IsingFit", whose default γ is 0.25 and which fits a field per vertex too). Row u of the answer is θ_u,
    not yet symmetric.
    """
    samples, gamma = as_spins(spins), as_real(gamma, "gamma")
    theta = np.zeros((samples.shape[1], samples.shape[1]))
    # At this penalty, and any larger one, all coefficients of a vertex are zero.
    largest = np.abs(gradients_of(samples, LOGISTIC, theta)).max(axis=1)
    penalty, best, chosen = largest, ebic(samples, theta, gamma), theta
    newton = NewtonSteps(samples)
    smallest = SMALLEST_SHARE if len(samples) >= len(theta) else SMALLEST_SHARE_OF_FEW
    for share in np.geomspace(1.0, smallest, N_PENALTIES)[1:]:
        explained = logistic_values(margins_of(samples, theta)) <= UNEXPLAINED * np.log(2.0)
        penalty = np.where(explained, penalty, share * largest)
        # Newton steps are fast, and the solver sees to it that nothing is left to be done.
        theta = solve_nodes(samples, LOGISTIC, soft_threshold(penalty), newton.descend(penalty, theta))
        criterion = ebic(samples, theta, gamma)
        better = criterion < best
        best = np.where(better, criterion, best)
        chosen = np.where(better[:, None], theta, chosen)
    return chosen


def ebic(spins: FloatArray, theta: FloatArray, gamma: float) -> FloatArray:
    n_samples, n_vertices = spins.shape
    deviance = 2 * n_samples * logistic_values(margins_of(spins, theta))
    per_neighbour = np.log(n_samples) + 2 * gamma * np.log(max(n_vertices - 1, 1))
    return np.asarray(deviance + per_neighbour * np.count_nonzero(theta, axis=1))


def l1_constrained_logistic(spins: ArrayLike, width: float) -> FloatArray:
    """Regress every vertex on the others within an L1 ball of the model's width, the largest ``Σ_v |θ_uv|``.

    ``θ_u``, row u of the answer, minimises ``mean log(1 + exp(−2 x_u Σ_v θ_uv x_v))`` over θ_u with
    ``‖θ_u‖₁ ≤ width``: Wu, Sanghavi and Dimakis (2019), Sparse logistic regression learns all discrete
    pairwise graphical models, who write w = 2θ. They use mirror descent; here the minimum is found to seven
    digits. They then keep pairs whose weight is at least half of the smallest true coupling, for which there
    is no need where degrees are limited.
    """
    samples, radius = as_spins(spins), as_real(width, "width")
    start = np.zeros((samples.shape[1], samples.shape[1]))
    return solve_nodes(samples, LOGISTIC, lambda point, step: onto_l1_ball(point, radius, axis=1), start)
