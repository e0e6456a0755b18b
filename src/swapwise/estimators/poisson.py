"""Poisson regression on few features, with offsets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.metrics import mean_poisson_deviance
from sklearn.utils.validation import check_is_fitted

from swapwise.certify.certificate import Certificate
from swapwise.checks import FloatArray, IndexArray, as_vector, warn
from swapwise.estimators.base import SparseEstimator, Task
from swapwise.estimators.sample import Sample, read_offset
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.objectives.glm.poisson import Poisson
from swapwise.search.result import SearchResult

# Means beyond these would round to zero or infinity in a deviance.
SMALLEST, LARGEST = 1e-300, 1e300


class SparsePoissonRegressor(RegressorMixin, SparseEstimator):
    """Poisson regression with log link on few features, chosen by local search under a constraint.

    Parameters
    ----------
    constraint, method, start, q, fit_intercept, standardize, groups, forced, n_restarts, max_iter, tol, \
time_limit, random_state, progress :
        As of :class:`SparseRegressor`.
    ridge : float, optional
        Weight of the penalty ``ridge · ‖coef‖² / 2`` (of standardised columns, with ``standardize``) on the
        mean log-likelihood: the ``alpha`` of scikit-learn's ``PoissonRegressor``. None is 1e-4, which keeps
        coefficients finite if counts are zero wherever a feature is not, and hardly shrinks them otherwise.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    support_, selection_frequency_, result_, constraint_, n_iter_, n_features_in_, feature_names_in_ :
        As of :class:`SparseRegressor`.

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

    _default_ridge = 1e-4

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Choose features and fit their coefficients.

        Parameters
        ----------
        X : array-like, frame, sparse matrix, or data in chunks, of shape (n_samples, n_features)
            As of :meth:`SparseRegressor.fit`; a sparse matrix is made dense.
        y : array-like of shape (n_samples,)
            Counts, or other numbers that are not negative.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is as good as the same sample twice, and one of 0 as none.
        offset : array-like of shape (n_samples,) or float, optional
            Added to the linear predictor: the logarithm of the exposure. A number is that of all samples.

        Returns
        -------
        self
        """
        sample = self._read(X, y, sample_weight, offset)
        self._has_offset = offset is not None
        return self._fit(sample)

    def predict(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the expected counts, for an exposure of 1 if no offset is given.

        A model that was fitted with an offset warns if none is given; ``offset=0`` says that none is meant.
        """
        predictor = self._linear_predictor(X)
        if offset is not None:
            predictor = predictor + read_offset(offset, len(predictor))
        elif self._has_offset:
            warn("fitted with an offset; predictions are for offset 0")
        return np.exp(predictor)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """Return D², the share of the Poisson deviance that is explained.

        The deviance is compared with that of one rate for all samples, which is the mean of ``y`` without an
        offset, as for scikit-learn's ``PoissonRegressor``.
        """
        mean = np.clip(self.predict(X, offset), SMALLEST, LARGEST)
        n = len(mean)
        counts = as_vector(y, n, "y", non_negative=True)
        exposure = np.ones(n) if offset is None else np.exp(read_offset(offset, n))
        weight = np.ones(n) if sample_weight is None else as_vector(sample_weight, n, "sample_weight")
        one_rate = np.clip(exposure * (weight @ counts) / (weight @ exposure), SMALLEST, LARGEST)
        left = mean_poisson_deviance(counts, mean, sample_weight=weight)
        total = mean_poisson_deviance(counts, one_rate, sample_weight=weight)
        return float(1 - left / total) if total > 0 else float(left == 0)

    def certify(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
        *,
        time_limit: float | None = 10.0,
        **options: Any,
    ) -> Certificate:
        """Prove how far from the best feasible choice the fitted one can be.

        The data are those of fit, with their offset; see :meth:`SparseRegressor.certify`.
        """
        check_is_fitted(self)
        return self._certify(self._read(X, y, sample_weight, offset, reset=False), time_limit, options)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks about the estimator."""
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _target(self, y: Any, reset: bool) -> FloatArray:
        counts = as_vector(np.asarray(y), None, "y", non_negative=True)
        if not counts.any():
            raise ValueError("y must have a positive entry, got zeros only: no rate is likelier than zero")
        return counts

    def _objective(self, X: Any, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        return Poisson(
            X,
            sample.y,
            self._penalty(),
            sample_weight=sample.weight,
            offset=sample.offset,
            fit_intercept=self.fit_intercept,
            groups=groups,
        )

    def _coefficients(self, task: Task, result: SearchResult) -> tuple[FloatArray, float]:
        assert result.coef is not None
        assert isinstance(task.objective, GeneralizedLinear)
        level = task.objective.intercept(result.support)
        coef, intercept = task.design.original(result.coef, level)
        return coef, float(intercept)
