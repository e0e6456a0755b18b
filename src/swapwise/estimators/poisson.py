"""Poisson regression on few features, with offsets."""

from __future__ import annotations

from swapwise.estimators.family_regressor import FamilyRegressor
from swapwise.objectives.glm.family import Family
from swapwise.objectives.glm.poisson import POISSON_FAMILY
from swapwise.override import override


class SparsePoissonRegressor(FamilyRegressor):
    """Poisson regression with log link on few features, chosen by local search under a constraint.

    It is :class:`SparseGLMRegressor` with ``family="poisson"``.

    Parameters
    ----------
    constraint, method, start, q, fit_intercept, standardize, groups, forced, bounds, positive, n_restarts, \
    max_iter, tol, time_limit, random_state, progress :
        See :class:`SparseRegressor`.
    ridge : float, optional
        Weight of the penalty ``ridge · ‖coef‖² / 2`` (of standardised columns, with ``standardize``) on the
        mean log-likelihood: the ``alpha`` of scikit-learn's ``PoissonRegressor``. None is 1e-4, which keeps
        coefficients finite if counts are zero wherever a feature is not, and hardly shrinks them otherwise.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    family_ : Family
        The record of the Poisson family.
    support_, selection_frequency_, result_, constraint_, n_iter_, n_features_in_, feature_names_in_, \
    feature_std_, n_samples_fit_ :
        See :class:`SparseRegressor`.

    See Also
    --------
    SparsePoissonRegressorCV : chooses the number of features.
    SparseGLMRegressor : other families, for counts that vary more.
    sklearn.linear_model.PoissonRegressor : all features, with a ridge.

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
    >>> model = sw.SparsePoissonRegressor(constraint=2).fit(X, y, offset=np.log(hours))
    >>> model.support_, model.coef_[model.support_].round(1)
    (array([1, 4]), array([ 0.5, -0.8]))
    """

    @override
    def _named_family(self) -> Family:
        return POISSON_FAMILY
