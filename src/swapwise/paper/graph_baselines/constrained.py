"""Nodewise logistic regression within an L1 ball."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.paper.graph_baselines.nodes import LogisticLoss, as_spins, onto_l1_ball, solve_nodes


def l1_constrained_logistic(spins: ArrayLike, width: float) -> FloatArray:
    """Regress every vertex on the others within an L1 ball of the model's width.

    ``θ_u`` minimises ``mean log(1 + exp(−2 x_u Σ_v θ_uv x_v))`` over ``‖θ_u‖₁ ≤ width``. Wu, Sanghavi and
    Dimakis (2019) write w = 2θ and have the ball ``‖w‖₁ ≤ 2 λ`` with λ the width of the model.

    Parameters
    ----------
    spins : array-like of shape (n_samples, n_vertices)
        Values -1 and +1.
    width : float
        The largest ``Σ_v |θ_uv|`` of any vertex; that of the truth, if it is known.

    Returns
    -------
    array of shape (n_vertices, n_vertices)
        Row u is θ_u.

    Notes
    -----
    The paper solves these problems by mirror descent; here they are solved to seven digits, whatever the
    way. It then keeps pairs whose weight is at least half of the smallest true coupling, which is not needed
    where degrees are limited.

    Examples
    --------
    The first two spins agree in four of five samples, the third knows nothing of them:

    >>> agree = [[1, 1, 1], [1, 1, -1], [-1, -1, 1], [-1, -1, -1]]
    >>> differ = [[1, -1, 1], [1, -1, -1], [-1, 1, 1], [-1, 1, -1]]
    >>> l1_constrained_logistic(4 * agree + differ, width=0.5).round(2)
    array([[0. , 0.5, 0. ],
           [0.5, 0. , 0. ],
           [0. , 0. , 0. ]])

    References
    ----------
    Wu, Sanghavi and Dimakis (2019), Sparse logistic regression learns all discrete pairwise graphical models.
    """
    samples, radius = as_spins(spins), as_real(width, "width")
    start = np.zeros((samples.shape[1], samples.shape[1]))
    return solve_nodes(samples, LogisticLoss(), onto_l1_ball(radius), start)
