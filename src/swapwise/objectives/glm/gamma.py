"""Positive amounts whose spread grows with their mean: Gamma regression on the chosen columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import families
from swapwise.objectives.glm.family import Family, exponential
from swapwise.objectives.glm.objective import GeneralizedLinear

# Beyond this shape, logarithms of Γ and their slopes are taken from Stirling's series: differences of them
# would lose more digits than the rest of the series has.
LARGE_SHAPE = 1e3

# A mean deviance below this is rounding: its logarithm means nothing.
SMALLEST_DEVIANCE = 1e-24


def _read_amounts(y: Any, n_samples: int | None) -> FloatArray:
    target = as_vector(y, n_samples, "y")
    if (target <= 0).any():
        place = int(np.argmax(target <= 0))
        raise ValueError(
            f"y must hold positive numbers, got {target[place]:g} at position {place}; "
            "for counts there are sw.Poisson and sw.NegativeBinomial"
        )
    return target


def _deviances(y: FloatArray, eta: FloatArray) -> FloatArray:
    ratio = y / exponential(eta)
    return 2.0 * (ratio - 1.0 - np.log(ratio))


def _perfect(y: FloatArray) -> FloatArray:
    return -1.0 - np.log(y)


def _mean_ratio_of_one(target: FloatArray, weight: FloatArray, eta: FloatArray) -> float:
    """The best intercept: the ratios of targets to means are 1 on average."""
    return float(scipy.special.logsumexp(-eta, b=weight * target) - np.log(weight.sum()))


def _at_best_shape(mean_deviance: float) -> float:
    """Return minus twice the mean log-likelihood at the best shape k, up to the mean of ``log y``.

    The log-likelihood of a sample of deviance d is ``k log k − log Γ(k) − k (1 + d/2) − log y``, so at the
    best shape ``log k − ψ(k)`` is half of the mean deviance.

    >>> round(_at_best_shape(0.1), 3), round(_at_best_shape(1e-6), 3)
    (0.552, -10.978)
    """
    half = max(mean_deviance, SMALLEST_DEVIANCE) / 2.0
    # Minka's approximation, which is off by 1.5 % at most.
    about = (3.0 - half + np.sqrt((half - 3.0) ** 2 + 24.0 * half)) / (12.0 * half)
    log_shape = scipy.optimize.brentq(
        lambda at: _excess_of_log(np.exp(at)) - half, np.log(about / 2), np.log(about * 2)
    )
    shape = float(np.exp(log_shape))
    if shape > LARGE_SHAPE:
        at_mean = 0.5 * np.log(shape / (2.0 * np.pi)) - 1.0 / (12.0 * shape)
    else:
        at_mean = shape * np.log(shape) - scipy.special.gammaln(shape) - shape
    return float(-2.0 * (at_mean - shape * half))


def _excess_of_log(shape: float) -> float:
    """``log k − ψ(k)``, with few digits lost for a large shape k."""
    if shape > LARGE_SHAPE:
        return 0.5 / shape + 1.0 / (12.0 * shape**2)
    return float(np.log(shape) - scipy.special.digamma(shape))


GAMMA_FAMILY = Family(
    name="gamma",
    title="Gamma regression",
    number=families.GAMMA,
    read_target=_read_amounts,
    mean=np.exp,
    deviances=_deviances,
    perfect=_perfect,
    first_intercept=_mean_ratio_of_one,
    divergence_cause="the likelihood has no maximum",
    deviance_name="Gamma deviance",
    outcome="amount",
    sizes=np.ones_like,  # whatever the unit of the amounts
    positive=True,
    at_best_dispersion=_at_best_shape,
    offset="the logarithm of the exposure",
)


class Gamma(GeneralizedLinear):
    r"""Mean log-likelihood of a Gamma regression with log link, relative to the intercept alone.

    .. math::
        u(w) = \max_b \sum_s ω_s \left[ -y_s e^{-η_s} - η_s \right] - \tfrac{λ}{2} ‖w‖^2,
        \quad η = Xw + b + \text{offset},

    with weights ω that sum to one, and λ the ``ridge``: the log-likelihood in units of the shape parameter,
    which changes no coefficient. The ridge is the ``alpha`` of scikit-learn's ``GammaRegressor``. Its
    curvature is unbounded, so the non-oblivious rule needs a smoothness of your own.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        See :class:`Logistic`.
    y : array-like of shape (n_samples,)
        Positive numbers: amounts, durations, costs.
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
    Poisson : counts.
    SparseGLMRegressor : the estimator.

    References
    ----------
    - P. McCullagh and J. A. Nelder, *Generalized Linear Models*, 2nd edition, chapter 8, 1989.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import Gamma, Uniform, maximize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = rng.gamma(5.0, np.exp(0.5 * X[:, 1] - 0.8 * X[:, 4]) / 5.0)
    >>> result = maximize(Gamma(X, y), Uniform(6, 2))
    >>> result.support, result.coef[result.support].round(1)
    (array([1, 4]), array([ 0.5, -0.8]))
    """

    family = GAMMA_FAMILY
