"""Poisson regression on a number of features that the data choose."""

from __future__ import annotations

from swapwise.estimators.family_regressor import FamilyRegressorCV
from swapwise.estimators.poisson import SparsePoissonRegressor


class SparsePoissonRegressorCV(FamilyRegressorCV, SparsePoissonRegressor):
    """Poisson regression on few features, whose number is chosen by cross-validation or a criterion.

    Parameters
    ----------
    constraint, sizes, along, criterion, cv, one_standard_error, gamma, n_features_original, weights_are, \
    n_jobs, method, start, q, fit_intercept, standardize, groups, forced, bounds, positive, n_restarts, \
    max_iter, tol, time_limit, random_state, progress :
        See :class:`SparseRegressorCV`. The held-out loss is the mean Poisson deviance.
    ridge : float, optional
        See :class:`SparsePoissonRegressor`.

    Attributes
    ----------
    criterion_, n_folds_, size_, path_, path_supports_, path_coefs_, n_iter_ :
        See :class:`SparseRegressorCV`.
    coef_, intercept_, family_, support_, selection_frequency_, result_, constraint_, n_features_in_, \
    feature_names_in_, feature_std_, n_samples_fit_ :
        See :class:`SparsePoissonRegressor`, for the chosen size.

    See Also
    --------
    SparsePoissonRegressor : with a size that is given.
    plot_path : the score over the sizes.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

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
