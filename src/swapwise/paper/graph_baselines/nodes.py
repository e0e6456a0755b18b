"""One convex problem per vertex, all solved together: a smooth loss of margins, and an L1 penalty or ball.

Vertex u is predicted from the others by ``h_iu = Σ_v θ_uv x_iv``; its margins are ``z_iu = x_iu h_iu``. Row u
of the matrix θ holds the coefficients of u, with zero on the diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_matrix, warn

# A solution is one when no entry of its gradient, the penalty's included, is further from zero than this.
TOLERANCE = 1e-7
MOST_STEPS = 20_000

#: Takes a point and the step per row, and returns where the penalty or the ball moves the point.
Prox = Callable[[FloatArray, FloatArray], FloatArray]


class Loss(NamedTuple):
    """A convex loss per vertex, by its derivatives by the margins, of shape (n_samples, n_vertices).

    ``curvature`` bounds n times its second derivatives, if there is a bound: then no step is tried out.
    """

    slopes: Callable[[FloatArray], FloatArray]
    curvature: float | None = None


def logistic_values(margins: FloatArray) -> FloatArray:
    """Return ``mean over i of log(1 + exp(−2 z_iu))``: minus the log-likelihood of u given the others."""
    losses = np.log1p(np.exp(-2.0 * np.abs(margins))) + np.maximum(-2.0 * margins, 0.0)
    return np.asarray(losses.mean(axis=0))


#: The loss of :func:`logistic_values`
LOGISTIC = Loss(lambda margins: (np.tanh(margins) - 1.0) / len(margins), curvature=1.0)


def as_spins(spins: ArrayLike) -> FloatArray:
    samples = as_matrix(spins, "spins", "rows are samples, columns are vertices")
    if samples.shape[0] == 0 or samples.shape[1] == 0:
        raise ValueError(f"spins must have at least one sample and one vertex, got shape {samples.shape}")
    other = samples[np.abs(samples) != 1]
    if len(other):
        raise ValueError(f"spins must be -1 and +1, got {other[0]:g}; try np.where(X > 0, 1, -1)")
    return samples


def margins_of(spins: FloatArray, theta: FloatArray) -> FloatArray:
    return np.asarray(spins * (spins @ theta.T))


def gradients_of(spins: FloatArray, loss: Loss, theta: FloatArray) -> FloatArray:
    """Return the gradient of each vertex's loss by its own coefficients, one row per vertex."""
    gradient = (loss.slopes(margins_of(spins, theta)) * spins).T @ spins
    np.fill_diagonal(gradient, 0.0)
    return np.asarray(gradient)


def soft_threshold(penalty: FloatArray, strongest: float = np.inf) -> Prox:
    """Return the step of ``Σ_u penalty_u ‖θ_u‖₁``: every entry moves to zero by ``step × penalty``.

    Entries are held within ``± strongest``.
    """

    def prox(point: FloatArray, step: FloatArray) -> FloatArray:
        shrink = (step * penalty)[:, None]
        return np.clip(point - np.clip(point, -shrink, shrink), -strongest, strongest)

    return prox


def solve_nodes(spins: FloatArray, loss: Loss, prox: Prox, start: FloatArray) -> FloatArray:
    """Return the θ whose row u minimises the loss of u plus the penalty (or within the ball) of ``prox``.

    Accelerated proximal gradients (Beck and Teboulle 2009) with one step size and one momentum per vertex; a
    vertex restarts its momentum where that leads uphill (O'Donoghue and Candès 2015). If ``start`` is a
    solution, it is returned, but for rounding.
    """
    theta, point = start, start
    momentum = np.ones(len(start))
    curvature = _first_curvature(spins, loss)
    for _ in range(MOST_STEPS):
        new, curvature = _proximal_step(spins, loss, prox, point, curvature)
        if (curvature * np.abs(new - point).max(axis=1) <= TOLERANCE).all():
            return new
        uphill = ((point - new) * (new - theta)).sum(axis=1) > 0
        momentum[uphill] = 1.0
        following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        point = new + ((momentum - 1.0) / following)[:, None] * (new - theta)
        theta, momentum = new, following
    warn(f"the coefficients of some vertex are not those of a minimum after {MOST_STEPS} steps")
    return theta


def _first_curvature(spins: FloatArray, loss: Loss) -> FloatArray:
    """Return a bound on the curvature of the losses, or else a guess that may be too small."""
    largest = np.linalg.eigvalsh(spins.T @ spins / len(spins))[-1]
    return np.full(spins.shape[1], largest * (0.25 if loss.curvature is None else loss.curvature))


def _proximal_step(
    spins: FloatArray, loss: Loss, prox: Prox, point: FloatArray, curvature: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return where a step leads, and curvatures that bound the losses from here to there.

    ``f(new) − f(point) − ⟨∇f(point), step⟩ ≤ ⟨∇f(new) − ∇f(point), step⟩`` as f is convex, so that it is
    enough to bound the right side by ``curvature ‖step‖² / 2``; unlike values, gradients tell of short steps.
    """
    gradient = gradients_of(spins, loss, point)
    while True:
        new = prox(point - gradient / curvature[:, None], 1.0 / curvature)
        if loss.curvature is not None:
            return new, curvature
        step = new - point
        with np.errstate(over="ignore", invalid="ignore"):  # of a step that goes much too far
            change = ((gradients_of(spins, loss, new) - gradient) * step).sum(axis=1)
        bounded = change <= curvature * (step**2).sum(axis=1) / 2
        if bounded.all():
            return new, curvature
        curvature = np.where(bounded, curvature, 2.0 * curvature)
