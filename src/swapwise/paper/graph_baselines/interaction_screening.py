"""Interaction screening: RISE and logRISE."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.graphs.ising.objective import STRONGEST_COUPLING
from swapwise.paper.graph_baselines.nodes import Loss, as_spins, soft_threshold, solve_nodes

# The δ of the penalty, as the authors' program has it.
FAILURE = 0.05


class ScreeningLoss:
    """``mean over i of exp(−z_iu)``, the interaction screening objective.

    At the true couplings ``exp(−z_iu)`` takes away all that the law of a sample says of u, so that the
    gradient is zero in expectation.

    >>> ScreeningLoss().slopes(np.zeros((2, 1))).ravel()
    array([-0.5, -0.5])
    """

    curvature: float | None = None

    def slopes(self, margins: FloatArray) -> FloatArray:
        """Return ``−exp(−z) / n``."""
        return -np.exp(-margins) / len(margins)


class LogScreeningLoss:
    """``log of the mean over i of exp(−z_iu)``.

    >>> LogScreeningLoss().slopes(np.zeros((2, 1))).ravel()
    array([-0.5, -0.5])
    """

    curvature: float | None = None

    def slopes(self, margins: FloatArray) -> FloatArray:
        """Return minus the share of each sample in the sum."""
        shares = np.exp(margins.min(axis=0) - margins)
        return np.asarray(-shares / shares.sum(axis=0))


def rise(spins: ArrayLike, regularizer: float = 0.4) -> FloatArray:
    """Minimise the interaction screening objective of every vertex with an L1 penalty.

    ``θ_u`` minimises ``mean exp(−x_u Σ_v θ_uv x_v) + λ ‖θ_u‖₁`` with
    ``λ = regularizer · sqrt(log(p² / 0.05) / n)``.

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Values -1 and +1.
    regularizer : float
        The constant of the penalty; positive. 0.4 is that of the authors' GraphicalModelLearning.jl.

    Returns
    -------
    array of shape (n_vertices, n_vertices)
        Row u is θ_u.

    Examples
    --------
    The first two spins agree in four of five samples, the third knows nothing of them:

    >>> agree = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1]]
    >>> differ = [[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]]
    >>> rise(40 * agree + 10 * differ).round(2)
    array([[0.  , 0.61, 0.  ],
           [0.61, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])

    References
    ----------
    Vuffray, Misra, Lokhov and Chertkov (2016), Interaction screening: efficient and sample-optimal learning
    of Ising models.
    """
    return _screened(spins, ScreeningLoss(), regularizer, np.inf)


def log_rise(spins: ArrayLike, regularizer: float = 0.8) -> FloatArray:
    """Minimise the logarithm of the interaction screening objective of every vertex with an L1 penalty.

    ``θ_u`` minimises ``log mean exp(−x_u Σ_v θ_uv x_v) + λ ‖θ_u‖₁`` with
    ``λ = regularizer · sqrt(log(p² / 0.05) / n)``.

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Values -1 and +1.
    regularizer : float
        The constant of the penalty; positive. 0.8 is that of the authors' GraphicalModelLearning.jl.

    Returns
    -------
    array of shape (n_vertices, n_vertices)
        Row u is θ_u.

    Notes
    -----
    With separable data there may be no minimum. Along a direction θ of length ``‖θ‖₁ = 1`` whose smallest
    margin is m, the objective at tθ is at most ``t (λ − m)``; if m > λ that has no bound below. It was seen
    in the paper's second setting (20 vertices, 100 samples). Couplings are therefore held within ±6, as they
    are in the library's own fits. :func:`rise` has a minimum for any data: its loss is never negative.

    Examples
    --------
    The first two spins agree in four of five samples, the third knows nothing of them:

    >>> agree = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1]]
    >>> differ = [[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]]
    >>> log_rise(40 * agree + 10 * differ).round(2)
    array([[0.  , 0.56, 0.  ],
           [0.56, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])

    References
    ----------
    Lokhov, Vuffray, Misra and Chertkov (2018), Optimal structure and parameter learning of Ising models.
    """
    return _screened(spins, LogScreeningLoss(), regularizer, STRONGEST_COUPLING)


def screening_penalty(n_samples: int, n_vertices: int, regularizer: float) -> float:
    """Return the λ of the authors' programs.

    >>> round(screening_penalty(100, 20, 0.4), 4)
    0.1199
    """
    return float(regularizer * np.sqrt(np.log(n_vertices**2 / FAILURE) / n_samples))


def _screened(spins: ArrayLike, loss: Loss, regularizer: float, strongest: float) -> FloatArray:
    samples, constant = as_spins(spins), as_real(regularizer, "regularizer", positive=True)
    n_samples, n_vertices = samples.shape
    penalty = np.full(n_vertices, screening_penalty(n_samples, n_vertices, constant))
    start = np.zeros((n_vertices, n_vertices))
    return solve_nodes(samples, loss, soft_threshold(penalty, strongest), start)
