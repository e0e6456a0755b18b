"""Logistic regression on a number of features that the data choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from swapwise.checks import FloatArray
from swapwise.constraints.matroid import Matroid
from swapwise.estimators.classifier import SparseClassifier
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.sample import Sample
from swapwise.override import override
from swapwise.search.rules import Pivot


class SparseClassifierCV(CrossValidated, SparseClassifier):
    """Logistic regression on few features, whose number is chosen by cross-validation or a criterion.

    Folds are stratified if ``cv`` is a number; every training part must hold all classes.

    Parameters
    ----------
    constraint, sizes, along, criterion, cv, one_standard_error, gamma, n_features_original, weights_are, \
    n_jobs, method, start, q, fit_intercept, standardize, groups, forced, bounds, positive, n_restarts, \
    max_iter, tol, time_limit, random_state, progress :
        See :class:`SparseRegressorCV`. The held-out loss is the log-loss. With K > 2 classes, a feature
        counts as K - 1 coefficients, and so does the intercept.
    ridge, class_weight :
        See :class:`SparseClassifier`. Class weights are those of all data, and weigh held-out samples too.
        To information criteria they are importance, whatever ``weights_are`` says of sample weights.

    Attributes
    ----------
    criterion_, n_folds_, size_, path_, path_supports_, path_coefs_, n_iter_ :
        See :class:`SparseRegressorCV`; the deviance is minus twice the log-likelihood.
    classes_, coef_, intercept_, support_, selection_frequency_, result_, constraint_, n_features_in_, \
    feature_names_in_, feature_std_, n_samples_fit_ :
        See :class:`SparseClassifier`, for the chosen size.

    See Also
    --------
    SparseClassifier : with a size that is given.
    plot_path : the score over the sizes.
    sklearn.linear_model.LogisticRegressionCV : the convex relative.

    References
    ----------
    - Chen and Chen (2008), Extended Bayesian information criteria for model selection with large model
      spaces.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = np.where(2 * X[:, 1] - 3 * X[:, 4] + rng.logistic(size=200) > 0, "yes", "no")
    >>> model = sw.SparseClassifierCV().fit(X, y)
    >>> model.size_, model.support_, model.predict(X[:2])
    (2, array([1, 4]), array(['yes', 'yes'], dtype='<U3'))
    """

    def __init__(
        self,
        constraint: int | Matroid | Callable[[int], Any] | None = None,
        *,
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
        class_weight: str | Mapping[Any, float] | None = None,
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
        self.class_weight = class_weight

    @override
    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        if len(self.classes_) == 2:
            predictor = predictor[:, 0] if sample.offset is None else predictor[:, 0] + sample.offset
        return self.family_.deviances(sample.y, predictor) / 2

    @override
    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        return 2 * loss

    @override
    def _n_levels(self) -> int:
        return len(self.classes_) - 1

    @override
    def _check_training(self, sample: Sample, whole: Sample) -> None:
        missing = np.setdiff1d(whole.y, sample.y).astype(np.intp)
        if len(missing):
            raise ValueError(
                "the training part of every fold of cv must hold all classes, but one has no sample of class "
                f"{self.classes_.tolist()[missing[0]]!r}; stratified folds, or fewer of them, may help"
            )
