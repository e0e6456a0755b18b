"""What the second-order model around a fit expects of every element, from sums over the samples."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.objectives.addition_bounds import LEAST_LEFT, WORST_CONDITION


class Outlook:
    """The slope and the curvature of a likelihood at a fit, along every column of the data.

    Parameters
    ----------
    gradient, squares : arrays of length n
        Slope and curvature (with the ridge) in each element's own coefficient.
    products : array of shape (number of parameters, n)
        The mixed second derivatives, one row a parameter of the fit.
    hessian : square array
        The same of the parameters of the fit with each other, with the ridge.

    >>> outlook = Outlook(np.array([0.0, 2.0]), np.ones(2), np.array([[1.0, 0.6]]), np.eye(1))
    >>> outlook.left.round(6), outlook.promise.round(6)  # 0.8² is left of the other column
    (array([1.0e-06, 6.4e-01]), array([0.   , 3.125]))
    """

    def __init__(
        self, gradient: FloatArray, squares: FloatArray, products: FloatArray, hessian: FloatArray
    ) -> None:
        self.gradient, self.squares = gradient, squares
        lengths = np.sqrt(np.diag(hessian))
        lengths[lengths == 0] = 1.0
        scaled = hessian / np.outer(lengths, lengths)
        self.inverse = np.linalg.pinv(scaled, WORST_CONDITION, hermitian=True) / np.outer(lengths, lengths)
        self.coupling = products.T @ self.inverse
        taken_out = products.T * self.coupling
        # Less than this may be rounding, and nothing is divided by it.
        least = LEAST_LEFT * np.maximum(squares, np.abs(taken_out).sum(axis=1))
        self.left = np.maximum(squares - taken_out.sum(axis=1), np.maximum(least, np.finfo(float).tiny))
        #: The fit is at its maximum: its own slopes are zero, and change nothing here
        self.slope = gradient
        #: What the addition of each element gains, with all other coefficients free to follow
        self.promise = gradient**2 / self.left / 2
