"""Nodewise logistic regression with an L1 penalty that the extended BIC chooses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.paper.graph_baselines.newton import NewtonSteps
from swapwise.paper.graph_baselines.nodes import (
    LogisticLoss,
    as_spins,
    gradients_of,
    margins_of,
    soft_threshold,
    solve_nodes,
)

# Penalties per vertex, from the one that leaves no neighbour down to a share of it that depends on whether
# there are more samples than variables; or to the one that leaves this share of the deviance unexplained. All
# as glmnet has it, and hence IsingFit.
N_PENALTIES, SMALLEST_SHARE, SMALLEST_SHARE_OF_FEW, UNEXPLAINED = 100, 1e-4, 1e-2, 1e-3


def l1_logistic(spins: ArrayLike, gamma: float = 0.25) -> FloatArray:
    """Regress every vertex on the others with an L1 penalty, and choose the penalty by the extended BIC.

    For vertex u and a penalty λ, ``θ_u(λ)`` minimises ``mean log(1 + exp(−2 x_u Σ_v θ_uv x_v)) + λ ‖θ_u‖₁``
    (Ravikumar, Wainwright and Lafferty, 2010). Of 100 penalties the one with the least
    ``EBIC = −2 ℓ + J log n + 2 γ J log(p − 1)`` is taken, where ℓ is the log-likelihood of u given the others
    at θ_u(λ), and J the number of its nonzero coefficients (van Borkulo et al., 2014, "IsingFit").

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Values -1 and +1.
    gamma : float
        The γ of the extended BIC; 0 is the BIC, IsingFit's default is 0.25.

    Returns
    -------
    array of shape (n_vertices, n_vertices)
        Row u is the θ_u chosen: couplings, not yet symmetric.

    Notes
    -----
    IsingFit fits a field per vertex too. The paper's models have none, and neither have these.

    Examples
    --------
    The first two spins agree in four of five samples, the third knows nothing of them:

    >>> agree = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1]]
    >>> differ = [[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]]
    >>> l1_logistic(40 * agree + 10 * differ).round(2)
    array([[0.  , 0.69, 0.  ],
           [0.69, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])

    References
    ----------
    Ravikumar, Wainwright and Lafferty (2010), High-dimensional Ising model selection using l1-regularized
    logistic regression.
    van Borkulo et al. (2014), A new method for constructing networks from binary data.
    """
    samples, gamma = as_spins(spins), as_real(gamma, "gamma")
    loss = LogisticLoss()
    theta = np.zeros((samples.shape[1], samples.shape[1]))
    # At this penalty, and any larger one, all coefficients of a vertex are zero.
    largest = np.abs(gradients_of(samples, loss, theta)).max(axis=1)
    penalty, best, chosen = largest, ebic(samples, theta, gamma), theta
    newton = NewtonSteps(samples)
    smallest = SMALLEST_SHARE if len(samples) >= len(theta) else SMALLEST_SHARE_OF_FEW
    for share in np.geomspace(1.0, smallest, N_PENALTIES)[1:]:
        explained = loss.values(margins_of(samples, theta)) <= UNEXPLAINED * np.log(2.0)
        penalty = np.where(explained, penalty, share * largest)
        # Newton steps are fast, and the solver sees to it that nothing is left to be done.
        theta = solve_nodes(samples, loss, soft_threshold(penalty), newton.descend(penalty, theta))
        criterion = ebic(samples, theta, gamma)
        better = criterion < best
        best = np.where(better, criterion, best)
        chosen = np.where(better[:, None], theta, chosen)
    return chosen


def ebic(spins: FloatArray, theta: FloatArray, gamma: float) -> FloatArray:
    """Return the extended BIC of each vertex's coefficients.

    >>> ebic(np.array([[1.0, -1.0]]), np.zeros((2, 2)), 0.25).round(3)
    array([1.386, 1.386])
    """
    n_samples, n_vertices = spins.shape
    deviance = 2 * n_samples * LogisticLoss().values(margins_of(spins, theta))
    per_neighbour = np.log(n_samples) + 2 * gamma * np.log(max(n_vertices - 1, 1))
    return np.asarray(deviance + per_neighbour * np.count_nonzero(theta, axis=1))
