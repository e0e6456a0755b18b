"""Bayesian A-optimal design: choose the experiments after which the parameters vary the least."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_matrix, as_real, warn
from swapwise.clock import Clock
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SetFunction
from swapwise.objectives.swap_state import SwapState
from swapwise.override import override

# An experiment of a larger leverage than this is dropped by computing the covariance afresh: the update
# divides by one minus the leverage, which has lost its digits.
LARGEST_LEVERAGE = 0.999

EPSILON = float(np.finfo(float).eps)

# A warning is given if values are not exact to this share of the variance that all experiments leave.
COARSE = 1e-3


class AOptimal(SetFunction):
    r"""By how much experiments reduce the total variance of the parameters of a linear model.

    .. math::
        f(S) = \operatorname{tr} Λ^{-1} - \operatorname{tr} \left( Λ + σ^{-2} \sum_{i∈S} x_i x_i^⊤
        \right)^{-1}

    The parameters have the precision Λ before the experiments, and experiment i measures their inner product
    with x_i up to noise of variance σ². No further experiment raises a variance, so f is monotone. It is not
    submodular: an experiment may be worth more after another.

    Parameters
    ----------
    X : array of shape (n, d)
        The experiments that can be chosen: one row each, one column per parameter.
    prior : positive number, or positive definite array of shape (d, d)
        The precision Λ of the parameters; a number stands for that multiple of the identity. With a small
        one, designs are those of classical A-optimality, which has no prior. Most digits of a value
        are then those of the variance before any experiment; what is left of it, ``covariance(S).trace()``,
        has its own digits, and searches go by these. Proofs go by values, and take designs for equally good
        if what they leave differs by less than 1e-15 of ``tr Λ⁻¹``. With 1e-8 of the precision of a
        parameter after the experiments, that is a ten-millionth of what is left; with 1e-14, a tenth. Above
        a thousandth, a warning says so.
    noise : positive number
        The standard deviation σ of a measurement.

    See Also
    --------
    LeastSquares : the fit to data that have been measured.

    References
    ----------
    - Chaloner and Verdinelli (1995), Bayesian experimental design: a review.
    - Bian, Buhmann, Krause and Tschiatschek (2017), Guarantees for greedy maximization of non-submodular
      functions with applications.
    - Thiery and Ward (2022), Two-sided weak submodularity for matroid constrained optimization and
      regression.

    Examples
    --------
    Two sites with three experiments each; every site has time for one.

    >>> from swapwise import Partition, maximize
    >>> X = [[1, 0], [2, 0], [0, 1], [0, 1], [3, 0], [1, 1]]
    >>> sites = Partition(["north"] * 3 + ["south"] * 3, 1)
    >>> result = maximize(AOptimal(X), sites, "distorted")
    >>> result.support, round(result.value, 4)  # of the variance 2 that there was
    (array([2, 4]), 1.4)
    """

    scoring = "closed form"

    def __init__(self, X: ArrayLike, prior: ArrayLike = 1.0, noise: float = 1.0) -> None:
        experiments = as_matrix(X, "X", "rows are experiments, columns are parameters")
        self.n, self.n_parameters = experiments.shape
        self.prior, self.noise = _precision(prior, self.n_parameters), as_real(noise, "noise", positive=True)
        self._rows = experiments / self.noise
        #: The root R of the covariance before any experiment: ``R Rᵀ = Λ⁻¹``
        self._root = np.linalg.inv(np.linalg.cholesky(self.prior)).T
        self.scale = float((self._root**2).sum())
        self._warn_of_weak_prior()

    def _warn_of_weak_prior(self) -> None:
        left, unknown = float((self._factor(np.arange(self.n)) ** 2).sum()), 4 * EPSILON * self.scale
        if unknown > COARSE * left:
            warn(
                f"the prior is so weak that values of designs are known to ±{unknown:.2g} only, where all "
                f"experiments leave a variance of {left:.2g}: searches go by what is left, but proofs take "
                "designs for equally good that differ by less. A larger prior makes proofs precise"
            )

    @override
    def _value(self, support: IndexArray) -> float:
        # With the singular values s of the rows that a standard normal prior would have, no digits cancel.
        _, singular, axes = np.linalg.svd(self._rows[support] @ self._root, full_matrices=False)
        lengths = ((self._root @ axes.T) ** 2).sum(axis=0)
        return float((singular**2 / (1.0 + singular**2)) @ lengths)

    @override
    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        return self.scale if support is None else self._value(support)

    @override
    def resolution(self, value: float) -> float:
        # Relative to the variance that is left: with a weak prior, that is a small part of the value.
        return EQUAL * min(abs(value), self.scale - value) + 4 * EPSILON * self.scale

    def covariance(self, support: Iterable[int]) -> FloatArray:
        """Return the covariance of the parameters after some experiments.

        >>> AOptimal([[1.0, 0.0]]).covariance([0])
        array([[0.5, 0. ],
               [0. , 1. ]])
        """
        factor = self._factor(as_elements(support, self.n, "the set"))
        return factor @ factor.T

    def _factor(self, support: IndexArray) -> FloatArray:
        """Return an F with ``F Fᵀ`` the covariance after some experiments."""
        _, singular, axes = np.linalg.svd(self._rows[support] @ self._root)
        deviations = np.ones(self.n_parameters)
        deviations[: len(singular)] = 1.0 / np.hypot(1.0, singular)
        factor: FloatArray = self._root @ (axes.T * deviations)
        return factor

    @override
    def start(self, support: Iterable[int] = ()) -> AOptimalState:
        return AOptimalState(self, as_elements(support, self.n, "the start"))


class AOptimalState(SwapState):
    """A state of :class:`AOptimal` with the covariance M of the parameters after its experiments.

    With ``a = zᵀMz`` and ``c = |Mz|²`` for ``z = x/σ``, an addition gains ``c / (1 + a)`` and a drop loses
    ``c / (1 − a)`` (Sherman and Morrison). A swap adds first: the dropped experiment then has the leverage
    ``a_i − s² / (1 + a_j)`` and the vector ``Mz_i − Mz_j s / (1 + a_j)``, where ``s = z_iᵀMz_j``. So no
    digits cancel where a drop by itself would leave parameters to a weak prior, but the added experiment
    measures them. All products are with a factor of M: entries of M itself may lose small variances in the
    rounding of large ones.
    """

    objective: AOptimal

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self._factor = self.objective._factor(support)
        self.value = self.objective._value(support)
        self.n_evaluations += 1

    @property
    @override
    def magnitude(self) -> float:
        return float((self._factor**2).sum())

    @property
    @override
    def level(self) -> float:
        return -self.magnitude

    @override
    def _additions(self, added: IndexArray) -> FloatArray:
        return _gains(self.objective._rows[added] @ self._factor, self._factor)

    @override
    def _losses(self, drops: IndexArray) -> FloatArray:
        leaving = self.objective._rows[drops] @ self._factor
        leverage = (leaving**2).sum(axis=1)
        gone = leaving @ self._factor.T
        losses: FloatArray = (gone**2).sum(axis=1) / (1.0 - np.minimum(leverage, LARGEST_LEVERAGE))
        for place in np.flatnonzero(leverage > LARGEST_LEVERAGE):
            losses[place] = self._gains_without(drops[place], drops[[place]])[0]
        return losses

    @override
    def _swaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        coming, leaving = (self.objective._rows[elements] @ self._factor for elements in (added, drops))
        reduced, gone = coming @ self._factor.T, leaving @ self._factor.T
        grown = 1.0 + (coming**2).sum(axis=1)[:, None]
        across = coming @ leaving.T  # zᵀ M z_i
        share = across / grown
        lengths = (reduced**2).sum(axis=1)[:, None]
        rest = 1.0 - (leaving**2).sum(axis=1) + share * across
        lost = (gone**2).sum(axis=1) - share * (2 * (reduced @ gone.T) - share * lengths)
        gains = lengths / grown - lost / np.maximum(rest, 1.0 - LARGEST_LEVERAGE)
        lacking = rest < 1.0 - LARGEST_LEVERAGE
        for column in np.flatnonzero(lacking.any(axis=0)):
            rows = lacking[:, column]
            after = self._gains_without(drops[column], np.append(added[rows], drops[column]))
            gains[rows, column] = after[:-1] - after[-1]
        return gains

    def _gains_without(self, element: int, added: IndexArray) -> FloatArray:
        """What experiments would add after ``element`` is dropped, by a factor that is computed afresh."""
        factor = self.objective._factor(self.support[self.support != element])
        return _gains(self.objective._rows[added] @ factor, factor)


def _gains(products: FloatArray, factor: FloatArray) -> FloatArray:
    gains: FloatArray = ((products @ factor.T) ** 2).sum(axis=1) / (1.0 + (products**2).sum(axis=1))
    return gains


def _precision(prior: ArrayLike, n_parameters: int) -> FloatArray:
    if np.ndim(prior) == 0:
        return as_real(prior, "prior", positive=True) * np.eye(n_parameters)
    precision = as_matrix(prior, "prior", "a number, or a precision with a row and a column per parameter")
    if precision.shape != (n_parameters, n_parameters):
        raise ValueError(
            f"prior must be a number or of shape {(n_parameters, n_parameters)}, one row and one column per "
            f"column of X; got shape {precision.shape}"
        )
    if not np.allclose(precision, precision.T, rtol=1e-10, atol=0) or np.linalg.eigvalsh(precision)[0] <= 0:
        raise ValueError("prior must be symmetric and positive definite, so that variances are finite")
    return precision.copy()
