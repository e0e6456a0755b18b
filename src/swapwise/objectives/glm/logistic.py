"""Classes of two kinds: logistic regression on the chosen columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from swapwise.checks import FloatArray, as_vector
from swapwise.kernels import families
from swapwise.objectives.glm.family import Family, about_zero
from swapwise.objectives.glm.objective import GeneralizedLinear


def _read_classes(y: Any, n_samples: int | None) -> FloatArray:
    target = as_vector(y, n_samples, "y")
    other = target[(target != 0) & (target != 1)]
    if other.size:
        raise ValueError(
            f"y must hold zeros and ones, got {other[0]:g}; for more than two classes there is sw.Multinomial"
        )
    return target


def _probabilities(eta: FloatArray) -> FloatArray:
    probabilities: FloatArray = scipy.special.expit(eta)
    return probabilities


def _deviances(y: FloatArray, eta: FloatArray) -> FloatArray:
    return -2.0 * np.where(y == 1, scipy.special.log_expit(eta), scipy.special.log_expit(-eta))


def _most_curvature(target: FloatArray) -> FloatArray:
    return np.full(len(target), 0.25)


LOGISTIC_FAMILY = Family(
    name="logistic",
    title="logistic regression",
    number=families.LOGISTIC,
    read_target=_read_classes,
    mean=_probabilities,
    deviances=_deviances,
    perfect=np.zeros_like,
    first_intercept=about_zero,
    divergence_cause="the classes are separable, or nearly so",
    deviance_name="log-loss",
    outcome="class",
    most_curvature=_most_curvature,
    offset="added to the log-odds",
)


class Logistic(GeneralizedLinear):
    r"""Mean log-likelihood of a logistic regression on the chosen columns, relative to the intercept alone.

    .. math::
        u(w) = \max_b \sum_s ω_s \left[ y_s η_s - \log(1 + e^{η_s}) \right] - \tfrac{λ}{2} ‖w‖^2,
        \quad η = Xw + b + \text{offset},

    with weights ω that sum to one, and λ the ``ridge``. With ``C = 1 / (ridge · n_samples)`` it is what
    scikit-learn's ``LogisticRegression`` fits. The best exchange is found exactly, without refitting each:
    bounds by duality rule out nearly all.

    Parameters
    ----------
    X : array-like, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        Not copied: leave it as it is while the objective is in use. Sparse matrices (CSR, CSC) stay sparse.
        Data in chunks are a memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask
        frame: they are read chunk by chunk, in few passes. The last round of a search is then a check by the
        second-order model and not a proof; see
        :class:`swapwise.objectives.glm.chunked_fitter.ChunkedFitter`.
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
        One label per column: elements of the ground set are then whole groups, in order of appearance.
    bounds : pair, sequence of pairs or mapping, optional
        Bounds on coefficients: ``(lower, upper)`` for all of them (None for no bound), a pair per column
        (also of groups), or a mapping from position to pair, or from name if X is a frame. All must
        include 0, the coefficient of features that are not chosen. The value of a set is that of the best
        coefficients within the bounds; the intercept has none.
    positive : bool
        Whether no coefficient may be negative, in addition to ``bounds``.

    See Also
    --------
    Multinomial : more than two classes.
    SparseClassifier : the estimator.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

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

    With odds that may only rise with a feature, and by a factor of e² at most:

    >>> result = maximize(Logistic(X, y, bounds=(0, 2)), Uniform(6, 2))
    >>> result.support, result.coef[result.support].round(1)
    (array([3, 4]), array([0.2, 2. ]))
    """

    family = LOGISTIC_FAMILY
