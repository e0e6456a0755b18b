"""Newton steps for the logistic problems of all vertices with an L1 penalty: the fast part of a path."""

from __future__ import annotations

import numpy as np

from swapwise.checks import BoolArray, FloatArray
from swapwise.paper.graph_baselines.nodes import LOGISTIC, TOLERANCE, logistic_values, margins_of

# Steps, and halvings of a step, after which descent ends.
MOST_NEWTON_STEPS, MOST_HALVINGS = 50, 20

# Added to the diagonal of Hessians, of which some are singular; it changes steps, not where they end.
JITTER = 1e-10


def curvatures(margins: FloatArray) -> FloatArray:
    """Return the second derivatives of the logistic loss by the margins."""
    return (1.0 - np.tanh(margins) ** 2) / len(margins)


class NewtonSteps:
    """Descent on ``mean log(1 + exp(−2 z_u)) + λ_u ‖θ_u‖₁`` for all vertices u of one data set.

    A step minimises the second-order model of the loss among the θ_u of one orthant: that of θ_u, where a
    coefficient of zero may leave towards the side to which the gradient pushes it; a coefficient that would
    cross zero stops there (Andrew and Gao 2007, Scalable training of L1-regularized log-linear models). Steps
    that do not lower the objective are halved and then given up.
    """

    def __init__(self, spins: FloatArray) -> None:
        self._spins = spins
        self._products = (spins[:, :, None] * spins[:, None, :]).reshape(len(spins), -1)
        self._others = ~np.eye(spins.shape[1], dtype=bool)

    def descend(self, penalty: FloatArray, theta: FloatArray) -> FloatArray:
        """Return θ after Newton steps from ``theta``: solved, or as far as they lead."""
        for _ in range(MOST_NEWTON_STEPS):
            margins = margins_of(self._spins, theta)
            gradient = (LOGISTIC.slopes(margins) * self._spins).T @ self._spins * self._others
            sides = np.where(
                theta != 0, np.sign(theta), -np.sign(gradient) * (np.abs(gradient) > penalty[:, None])
            )
            slope = np.where(sides != 0, gradient + penalty[:, None] * sides, 0.0)
            if np.abs(slope).max() <= TOLERANCE / 2:
                break
            step = self._step(margins, slope, theta, sides)
            lower = self._line_search(penalty, theta, step, sides, self._objective(penalty, theta, margins))
            if lower is None:
                break
            theta = lower
        return theta

    def _objective(self, penalty: FloatArray, theta: FloatArray, margins: FloatArray) -> FloatArray:
        return np.asarray(logistic_values(margins) + penalty * np.abs(theta).sum(axis=1))

    def _step(
        self, margins: FloatArray, slope: FloatArray, theta: FloatArray, sides: FloatArray
    ) -> FloatArray:
        """Return the Newton step on what may move, without zeros that it would move to the wrong side."""
        n_vertices = len(theta)
        hessian = (curvatures(margins).T @ self._products).reshape(-1, n_vertices, n_vertices)
        free = sides != 0
        while True:
            step = _solved(hessian, slope, free)
            wrong = (theta == 0) & (step * sides < 0)
            if not wrong.any():
                return step
            free &= ~wrong

    def _line_search(
        self, penalty: FloatArray, theta: FloatArray, step: FloatArray, sides: FloatArray, here: FloatArray
    ) -> FloatArray | None:
        """Return θ with the rows whose objective falls moved; None if there is no such row."""
        length, lower = np.ones((len(theta), 1)), np.zeros(len(theta), dtype=bool)
        for _ in range(MOST_HALVINGS):
            new = theta + length * step
            new[new * sides <= 0] = 0.0
            lower = self._objective(penalty, new, margins_of(self._spins, new)) < here
            if lower.all():
                break
            length[~lower] /= 2
        return np.where(lower[:, None], new, theta) if lower.any() else None


def _solved(hessian: FloatArray, slope: FloatArray, free: BoolArray) -> FloatArray:
    """Return ``−H⁻¹ slope`` per vertex, on the coefficients that are free."""
    both = free[:, :, None] & free[:, None, :]
    diagonal = np.eye(free.shape[1]) * np.where(free, JITTER, 1.0)[:, :, None]
    system = np.where(both, hessian, 0.0) + diagonal
    return np.asarray(-np.linalg.solve(system, (slope * free)[:, :, None])[:, :, 0])
