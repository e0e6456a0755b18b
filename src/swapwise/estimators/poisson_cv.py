"""Poisson regression on a number of features that the data choose."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from swapwise.checks import FloatArray
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.poisson import LARGEST, SMALLEST, SparsePoissonRegressor
from swapwise.estimators.sample import Sample


class SparsePoissonRegressorCV(CrossValidated, SparsePoissonRegressor):
    """Poisson regression on few features, whose number is chosen by cross-validation or a criterion.

    Parameters
    ----------
    constraint, sizes, along, criterion, cv, one_standard_error, gamma, n_features_original, weights_are, \
n_jobs, method, start, q, fit_intercept, standardize, groups, forced, n_restarts, max_iter, tol, time_limit, \
random_state, progress :
        As of :class:`SparseRegressorCV`. The held-out loss is the mean Poisson deviance.
    ridge : float, optional
        As of :class:`SparsePoissonRegressor`.

    Attributes
    ----------
    criterion_, n_folds_, size_, path_, path_supports_, path_coefs_, n_iter_ :
        As of :class:`SparseRegressorCV`.
    coef_, intercept_, support_, selection_frequency_, result_, constraint_, n_features_in_, \
feature_names_in_ :
        As of :class:`SparsePoissonRegressor`, for the chosen size.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X, hours = rng.standard_normal((300, 6)), rng.uniform(1, 5, 300)
    >>> y = rng.poisson(hours * np.exp(0.5 * X[:, 1] - 0.8 * X[:, 4]))
    >>> model = sw.SparsePoissonRegressorCV(criterion="ebic").fit(X, y, offset=np.log(hours))
    >>> model.size_, model.support_
    (2, array([1, 4]))
    """

    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        shifted = predictor if sample.offset is None else predictor + sample.offset
        mean = np.exp(np.clip(shifted, np.log(SMALLEST), np.log(LARGEST)))
        deviances: FloatArray = 2 * (xlogy(sample.y, sample.y / mean) - sample.y + mean)
        return deviances

    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        return loss

    def _check_training(self, sample: Sample, whole: Sample) -> None:
        if not sample.y.any():
            raise ValueError(
                "the training part of every fold of cv must have a positive count, but one has zeros only; "
                "shuffled folds, or fewer of them, may help"
            )
