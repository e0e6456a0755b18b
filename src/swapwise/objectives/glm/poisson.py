"""Counts: Poisson regression on the chosen columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import families
from swapwise.objectives.glm.family import Family, equal_sums, exponential
from swapwise.objectives.glm.objective import GeneralizedLinear


def read_counts(y: Any, n_samples: int | None) -> FloatArray:
    return as_vector(y, n_samples, "y", non_negative=True)


def _deviances(y: FloatArray, eta: FloatArray) -> FloatArray:
    mean = exponential(eta)
    deviances: FloatArray = 2.0 * (scipy.special.xlogy(y, y / mean) - y + mean)
    return deviances


def _perfect(y: FloatArray) -> FloatArray:
    perfect: FloatArray = scipy.special.xlogy(y, y) - y
    return perfect


POISSON_FAMILY = Family(
    name="poisson",
    title="Poisson regression",
    number=families.POISSON,
    read_target=read_counts,
    mean=np.exp,
    deviances=_deviances,
    perfect=_perfect,
    first_intercept=equal_sums,
    divergence_cause="some counts are zero wherever a chosen feature has a value of its own",
    deviance_name="Poisson deviance",
    outcome="count",
    offset="the logarithm of the exposure",
)


class Poisson(GeneralizedLinear):
    r"""Mean log-likelihood of a Poisson regression with log link, relative to the intercept alone.

    .. math::
        u(w) = \max_b \sum_s ω_s \left[ y_s η_s - e^{η_s} \right] - \tfrac{λ}{2} ‖w‖^2,
        \quad η = Xw + b + \text{offset},

    with weights ω that sum to one, and λ the ``ridge``. The ridge is the ``alpha`` of scikit-learn's
    ``PoissonRegressor``. Its curvature is unbounded, so the non-oblivious rule needs a smoothness of your
    own.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        See :class:`Logistic`.
    y : array-like of shape (n_samples,)
        Counts, or other numbers that are not negative.
    ridge : float
        Weight of the penalty ``‖w‖²/2``; the intercept is free.
    sample_weight : array-like of shape (n_samples,), optional
    offset : array-like of shape (n_samples,), optional
        Added to the linear predictor: the logarithm of the exposure.
    fit_intercept : bool
    groups : iterable of hashable, optional
        One label per column: elements of the ground set are then whole groups, in order of appearance.
    bounds : pair, sequence of pairs or mapping, optional
        Limits of the coefficients; see :class:`Logistic`.
    positive : bool
        Whether no coefficient may be negative, in addition to ``bounds``.

    See Also
    --------
    NegativeBinomial : counts that vary more.
    SparseGLMRegressor : the estimator.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

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

    family = POISSON_FAMILY
