"""Counts that vary more than Poisson's: negative binomial regression on the chosen columns."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real, as_vector
from swapwise.kernels import families
from swapwise.objectives.coefficient_bounds import Bounds
from swapwise.objectives.glm.family import Family, equal_sums, exponential
from swapwise.objectives.glm.likelihood import read_weight
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.objectives.glm.poisson import read_counts

# Beyond these, terms in 1/alpha overflow or underflow.
GIVEN_ALPHAS = (1e-12, 1e12)

# Dispersions are estimated between these: below, no data can distinguish the counts from Poisson's, and
# above, the likelihood depends only on which counts are zero.
SMALLEST_ALPHA, LARGEST_ALPHA = 1e-6, 1e6


def _deviances(y: FloatArray, eta: FloatArray, *, alpha: float) -> FloatArray:
    mean = exponential(eta)
    # As a difference of logarithms that are near each other where y is near its mean.
    excess = (y + 1.0 / alpha) * np.log1p(alpha * (y - mean) / (1.0 + alpha * mean))
    deviances: FloatArray = 2.0 * (scipy.special.xlogy(y, y / mean) - excess)
    return deviances


def _perfect(y: FloatArray, *, alpha: float) -> FloatArray:
    perfect: FloatArray = scipy.special.xlogy(y, y) - (y + 1.0 / alpha) * np.log1p(alpha * y)
    return perfect


def _most_curvature(y: FloatArray, *, alpha: float) -> FloatArray:
    return (y + 1.0 / alpha) / 4.0


def negative_binomial(alpha: float) -> Family:
    return Family(
        name="negative-binomial",
        title="negative binomial regression",
        number=families.NEGATIVE_BINOMIAL,
        read_target=read_counts,
        mean=np.exp,
        deviances=partial(_deviances, alpha=alpha),
        perfect=partial(_perfect, alpha=alpha),
        first_intercept=equal_sums,
        divergence_cause="some counts are zero wherever a chosen feature has a value of its own",
        deviance_name="negative binomial deviance",
        outcome="count",
        with_parameter=negative_binomial,
        best_parameter=estimated_alpha,
        most_curvature=partial(_most_curvature, alpha=alpha),
        offset="the logarithm of the exposure",
        parameter=alpha,
    )


def estimated_alpha(y: FloatArray, mean: FloatArray, weight: FloatArray | None = None) -> float:
    """Return the maximum-likelihood dispersion of counts with given means."""

    def negated(log_alpha: float) -> float:
        size = np.exp(-log_alpha)
        likelihood = (
            scipy.special.gammaln(y + size)
            - scipy.special.gammaln(size)
            - (y + size) * np.log1p(mean / size)
            + scipy.special.xlogy(y, mean / size)
        )
        return -float(np.average(likelihood, weights=weight))

    bounds = float(np.log(SMALLEST_ALPHA)), float(np.log(LARGEST_ALPHA))
    found = scipy.optimize.minimize_scalar(negated, bounds=bounds, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(found.x))


class NegativeBinomial(GeneralizedLinear):
    r"""Mean log-likelihood of a negative binomial regression with log link, relative to the intercept alone.

    .. math::
        u(w) = \max_b \sum_s ω_s \left[ y_s η_s - (y_s + 1/α) \log(1 + α e^{η_s}) \right] - \tfrac{λ}{2}
        ‖w‖^2, \quad η = Xw + b + \text{offset},

    with weights ω that sum to one, and λ the ``ridge``. Counts have variance ``μ + alpha μ²`` (NB2): alpha
    near 0 is :class:`Poisson`. For a given alpha it is concave and its curvature is bounded, as for
    :class:`Logistic`.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        See :class:`Logistic`.
    y : array-like of shape (n_samples,)
        Counts, or other numbers that are not negative.
    ridge : float
        Weight of the penalty ``‖w‖²/2``; the intercept is free.
    alpha : float, optional
        The dispersion. None estimates it once, from the counts without any feature (with offset and weights):
        an upper end, since features explain some of the spread. :class:`SparseGLMRegressor` estimates it in
        alternation with the fit.
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

    Attributes
    ----------
    alpha : float
        The dispersion.

    See Also
    --------
    Poisson : counts whose variance is their mean.
    SparseGLMRegressor : the estimator.

    References
    ----------
    - J. M. Hilbe, *Negative Binomial Regression*, 2nd edition, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import NegativeBinomial, Uniform, maximize
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 6))
    >>> y = rng.poisson(rng.gamma(2.0, 0.5, 300) * np.exp(1 + 0.5 * X[:, 1] - 0.8 * X[:, 4]))
    >>> maximize(NegativeBinomial(X, y, alpha=0.5), Uniform(6, 2)).support
    array([1, 4])
    """

    family = negative_binomial(1.0)

    def __init__(
        self,
        X: Any,
        y: ArrayLike,
        ridge: float = 0.0,
        *,
        alpha: float | None = None,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        fit_intercept: bool = True,
        groups: Iterable[Hashable] | None = None,
        bounds: Bounds | None = None,
        positive: bool = False,
    ) -> None:
        self.alpha = _without_features(y, sample_weight, offset) if alpha is None else _read_alpha(alpha)
        self.family = negative_binomial(self.alpha)
        super().__init__(
            X,
            y,
            ridge,
            sample_weight=sample_weight,
            offset=offset,
            fit_intercept=fit_intercept,
            groups=groups,
            bounds=bounds,
            positive=positive,
        )


def _read_alpha(alpha: Any) -> float:
    number = as_real(alpha, "alpha", positive=True)
    least, most = GIVEN_ALPHAS
    if not least <= number <= most:
        raise ValueError(
            f"alpha must be between {least:g} and {most:g}, got {number:g}; near 0 is sw.Poisson"
        )
    return number


def _without_features(y: Any, sample_weight: Any, offset: Any) -> float:
    counts = read_counts(y, None)
    weight = read_weight(sample_weight, len(counts))
    eta = np.zeros(len(counts)) if offset is None else as_vector(offset, len(counts), "offset")
    if not weight @ counts:
        return SMALLEST_ALPHA
    return estimated_alpha(counts, exponential(eta + equal_sums(counts, weight, eta)), weight)
