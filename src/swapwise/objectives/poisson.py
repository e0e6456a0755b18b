"""Counts: Poisson regression on the chosen columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp, xlogy

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import POISSON
from swapwise.objectives.generalized_linear import GeneralizedLinear, read_weight


class Poisson(GeneralizedLinear):
    """Mean log-likelihood of a Poisson regression with log link, relative to the intercept alone.

    ``u(w) = max over b of Σ_s ω_s [y_s η_s − exp η_s] − ridge ‖w‖²/2`` with ``η = Xw + b + offset`` and
    weights ω that sum to one; the ridge is the ``alpha`` of scikit-learn's ``PoissonRegressor``. Its
    curvature knows no bounds, so the non-oblivious rule needs a smoothness of your own.

    Parameters
    ----------
    X : array-like, or data in chunks, of shape (n_samples, n_features)
        Data in chunks are a memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask
        frame: they are read block by block, in few passes. The last round of a search is then a check by the
        second-order model and not a proof; see :class:`StreamedLikelihood`.
    y : array-like of shape (n_samples,)
        Counts, or other numbers that are not negative.
    ridge : float
        Weight of the penalty ``‖w‖²/2``; the intercept is free.
    sample_weight : array-like of shape (n_samples,), optional
    offset : array-like of shape (n_samples,), optional
        Added to the linear predictor: the logarithm of the exposure.
    fit_intercept : bool
    groups : iterable of hashable, optional
        One label a column: elements of the ground set are then whole groups, in order of appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import Poisson, Uniform, maximize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = rng.poisson(np.exp(0.5 * X[:, 1] - 0.8 * X[:, 4]))
    >>> maximize(Poisson(X, y), Uniform(6, 2)).support
    array([1, 4])
    """

    family = POISSON
    runaway = "some counts are zero wherever a chosen feature has a value of its own"

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float = 0.0,
        *,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        fit_intercept: bool = True,
        groups: Iterable[Hashable] | None = None,
    ) -> None:
        X, n_samples = self._open(X, groups)
        target = as_vector(y, n_samples, "y", non_negative=True)
        super().__init__(
            X, target, ridge, read_weight(sample_weight, n_samples), offset, fit_intercept, groups
        )

    def _first_intercept(self, eta: FloatArray) -> FloatArray:
        """Return the best intercept: means and counts are to have the same sum."""
        total = float(self.weight @ self.target)
        if total == 0:
            return super()._first_intercept(eta)
        return np.array([np.log(total) - logsumexp(eta[0], b=self.weight)])

    def _perfect_value(self) -> float:
        return float(self.weight @ (xlogy(self.target, self.target) - self.target))
