"""Regression by any family of likelihoods on a number of features that the data choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swapwise.constraints.matroid import Matroid
from swapwise.estimators.family_regressor import FamilyRegressorCV
from swapwise.estimators.glm import SparseGLMRegressor
from swapwise.objectives.glm.family import Family
from swapwise.override import override
from swapwise.search.rules import Pivot


class SparseGLMRegressorCV(FamilyRegressorCV, SparseGLMRegressor):
    """A generalised linear model on few features, whose number is chosen by cross-validation or a criterion.

    Parameters
    ----------
    constraint, sizes, along, criterion, cv, one_standard_error, gamma, n_features_original, weights_are, \
    n_jobs, method, start, q, fit_intercept, standardize, groups, forced, bounds, positive, n_restarts, \
    max_iter, tol, time_limit, random_state, progress :
        See :class:`SparseRegressorCV`. The held-out loss is the mean deviance of the family.
    family, ridge :
        See :class:`SparseGLMRegressor`.
    alpha : float, optional
        The dispersion of the negative binomial family; None is estimated in alternation with the whole path:
        alpha is that of maximum likelihood for the means of the chosen size, then there is another path, and
        so on until alpha changes by less than 1 %, or for 10 rounds. All sizes and folds have the same alpha.

    Attributes
    ----------
    criterion_, n_folds_, size_, path_, path_supports_, path_coefs_, n_iter_ :
        See :class:`SparseRegressorCV`. The deviance of the gamma family is minus twice the log-likelihood
        at the best shape for each size, but for a constant: like that of least squares, it knows no scale.
    coef_, intercept_, family_, alpha_, support_, selection_frequency_, result_, constraint_, \
    n_features_in_, feature_names_in_, feature_std_, n_samples_fit_ :
        See :class:`SparseGLMRegressor`, for the chosen size.

    See Also
    --------
    SparseGLMRegressor : with a size that is given.
    plot_path : the score over the sizes.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 6))
    >>> y = rng.gamma(2.0, np.exp(0.5 * X[:, 1] - 0.8 * X[:, 4]) / 2.0)
    >>> model = sw.SparseGLMRegressorCV(family="gamma", criterion="bic").fit(X, y)
    >>> model.size_, model.support_
    (2, array([1, 4]))
    """

    def __init__(
        self,
        constraint: int | Matroid | Callable[[int], Any] | None = None,
        *,
        family: str | Family = "poisson",
        alpha: float | None = None,
        sizes: Iterable[int] | None = None,
        along: str = "size",
        criterion: str = "cv",
        cv: Any = 5,
        one_standard_error: bool = False,
        gamma: float = 0.5,
        n_features_original: int | None = None,
        weights_are: str = "importance",
        n_jobs: int | None = None,
        method: str | Pivot = "auto",
        start: Any = "auto",
        q: int = 1,
        ridge: float | None = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        groups: Any = None,
        forced: Any = None,
        bounds: Any = None,
        positive: bool = False,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        super().__init__(
            constraint,
            sizes=sizes,
            along=along,
            criterion=criterion,
            cv=cv,
            one_standard_error=one_standard_error,
            gamma=gamma,
            n_features_original=n_features_original,
            weights_are=weights_are,
            n_jobs=n_jobs,
            method=method,
            start=start,
            q=q,
            ridge=ridge,
            fit_intercept=fit_intercept,
            standardize=standardize,
            groups=groups,
            forced=forced,
            bounds=bounds,
            positive=positive,
            n_restarts=n_restarts,
            max_iter=max_iter,
            tol=tol,
            time_limit=time_limit,
            random_state=random_state,
            progress=progress,
        )
        self.family = family
        self.alpha = alpha

    @override
    def _next_start(self) -> None:
        """Return None: a path begins with its smallest size, in which the choice has no room."""
