"""A step of a pipeline that keeps few features."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from swapwise.certify.certificate import Certificate
from swapwise.checks import BoolArray
from swapwise.data.open import is_chunked, opened
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.chunked_input import check_features, read_target, some_columns
from swapwise.estimators.classifier import SparseClassifier
from swapwise.estimators.glm import REGRESSIONS, SparseGLMRegressor
from swapwise.estimators.linear_parameters import LinearParameters
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.estimators.regressor import SparseRegressor

# Losses that have an estimator of their own; SparseGLMRegressor takes the others as its family.
ESTIMATORS: dict[str, type[SparseEstimator]] = {"squared": SparseRegressor, "logistic": SparseClassifier}
LOSSES = [*ESTIMATORS, *REGRESSIONS]

# Whole numbers of more different values than this are hardly classes.
MOST_CLASSES = 20


@with_parameters
class SparseSelector(SelectorMixin, LinearParameters):
    """Keep the few features that predict a target best under a constraint.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseRegressor, SparseClassifier, SparseGLMRegressor : models of their own.
    sklearn.feature_selection.SelectFromModel : the same step with another model.

    References
    ----------
    - Bertsimas, King and Mazumder (2016), Best subset selection via a modern optimization lens.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 6))
    >>> y = 2 * X[:, 1] - X[:, 4] + rng.standard_normal(100)
    >>> selector = sw.SparseSelector(constraint=2)
    >>> selector.fit_transform(X, y).shape, selector.get_feature_names_out()
    ((100, 2), array(['x1', 'x4'], dtype=object))
    """

    _: KW_ONLY
    loss: str = parameter(
        "auto",
        '"auto", "squared", "logistic", "poisson", "gamma" or "negative-binomial"',
        """
        What "best" means: the fit of :class:`SparseRegressor`, of :class:`SparseClassifier`, or of
        :class:`SparseGLMRegressor` with a family. ``"auto"`` is squared for floats with more than two
        different values, and logistic for classes: two values, strings, booleans, whole numbers. Whole
        numbers that differ more than classes do are refused, since they may be counts or measurements.
        """,
    )

    estimator_: SparseEstimator = attribute(
        "SparseRegressor, SparseClassifier or SparseGLMRegressor", "The fitted model behind the choice."
    )

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the features to keep.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, or data in chunks, of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is as good as the same sample twice, and one of 0 as none.

        Returns
        -------
        self
        """
        X = opened(X)
        if is_chunked(X):
            check_features(self, X, reset=True)
            y = read_target(y)
        else:
            validate_data(self, X, y, skip_check_array=True)
        parameters = self.get_params(deep=False)
        loss = _loss_for(parameters.pop("loss"), y)
        kind = ESTIMATORS.get(loss) or partial(SparseGLMRegressor, family=loss)
        self.estimator_ = kind(**parameters).fit(X, y, sample_weight)
        self.support_ = self.estimator_.support_
        self.result_ = self.estimator_.result_
        self.selection_frequency_ = self.estimator_.selection_frequency_
        self.n_iter_ = self.estimator_.n_iter_
        return self

    def certify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 10.0,
        **options: Any,
    ) -> Certificate:
        """Prove how far from the best choice this one can be.

        The arguments are those of :meth:`SparseRegressor.certify`.
        """
        check_is_fitted(self)
        return self.estimator_.certify(X, y, sample_weight, time_limit=time_limit, **options)

    def to_frame(self) -> pd.DataFrame:
        """Return the chosen features with their coefficients; see :meth:`SparseRegressor.to_frame`."""
        check_is_fitted(self)
        return self.estimator_.to_frame()

    def report(
        self,
        path: str | os.PathLike[str],
        X: ArrayLike | pd.DataFrame | None = None,
        y: ArrayLike | None = None,
        **options: Any,
    ) -> None:
        """Write an HTML page about the answer; see :meth:`SparseRegressor.report`, also for options."""
        check_is_fitted(self)
        self.estimator_.report(path, X, y, **options)

    def transform(self, X: Any) -> Any:
        """Return the features that are kept; of Dask arrays and frames as lazily as they come."""
        X = opened(X)
        if not is_chunked(X):
            return super().transform(X)
        check_is_fitted(self)
        check_features(self, X, reset=False)
        return some_columns(X, self.support_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.positive_only = self.loss in REGRESSIONS
        return tags

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return np.isin(np.arange(self.n_features_in_), self.support_)


def _loss_for(loss: Any, y: Any) -> str:
    """Return the loss by name; ``"auto"`` is that which suits the target."""
    if loss != "auto":
        if loss not in LOSSES:
            raise ValueError(f"loss must be one of auto, {', '.join(LOSSES)}; got {loss!r}")
        return str(loss)
    target = column_or_1d(y)
    kind = type_of_target(target, input_name="y")
    if kind == "continuous" or (kind == "multiclass" and target.dtype.kind == "f"):
        return "squared"
    n_values = len(np.unique(target))
    if target.dtype.kind in "iu" and n_values > MOST_CLASSES:
        raise ValueError(
            f"y holds {n_values} different whole numbers, which may be measurements, counts or classes: say "
            "which by loss='squared', 'poisson' or 'logistic'"
        )
    return "logistic"
