"""Classes of two kinds: logistic regression on the chosen columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import LOGISTIC
from swapwise.objectives.generalized_linear import GeneralizedLinear, read_weight


class Logistic(GeneralizedLinear):
    """Mean log-likelihood of a logistic regression on the chosen columns, relative to the intercept alone.

    ``u(w) = max over b of Σ_s ω_s [y_s η_s − log(1 + exp η_s)] − ridge ‖w‖²/2`` with ``η = Xw + b + offset``
    and weights ω that sum to one. With ``C = 1 / (ridge · n_samples)`` it is what scikit-learn's
    ``LogisticRegression`` fits. The best exchange is found exactly, without refitting each: bounds by
    duality rule out nearly all.

    Parameters
    ----------
    X : array-like, or data in chunks, of shape (n_samples, n_features)
        Data in chunks are a memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask
        frame: they are read block by block, in few passes. The last round of a search is then a check by the
        second-order model and not a proof; see :class:`StreamedLikelihood`.
    y : array-like of shape (n_samples,)
        Zeros and ones, or booleans.
    ridge : float
        Weight of the penalty ``‖w‖²/2``; the intercept is free. With a ridge, coefficients are finite even if
        the classes are separable.
    sample_weight : array-like of shape (n_samples,), optional
    offset : array-like of shape (n_samples,), optional
        Added to the linear predictor.
    fit_intercept : bool
    groups : iterable of hashable, optional
        One label a column: elements of the ground set are then whole groups, in order of appearance.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import Logistic, Uniform, maximize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = rng.random(200) < 1 / (1 + np.exp(2 * X[:, 1] - 3 * X[:, 4]))
    >>> f = Logistic(X, y)
    >>> result = maximize(f, Uniform(6, 2))
    >>> result.support, result.coef[result.support].round(1)
    (array([1, 4]), array([-2.,  3.]))
    """

    family = LOGISTIC
    steepest = 0.25
    runaway = "the classes are separable, or nearly so"

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
        target = _read_classes(y, n_samples)
        super().__init__(
            X, target, ridge, read_weight(sample_weight, n_samples), offset, fit_intercept, groups
        )


def _read_classes(y: ArrayLike, n_samples: int) -> FloatArray:
    target = as_vector(y, n_samples, "y")
    other = target[(target != 0) & (target != 1)]
    if other.size:
        raise ValueError(
            f"y must hold zeros and ones, got {other[0]:g}; for more than two classes there is sw.Multinomial"
        )
    return target
