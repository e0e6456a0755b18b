"""What the estimators share whose linear predictor has a part that is known: an offset."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from swapwise.certify.certificate import Certificate
from swapwise.checks import FloatArray, warn
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.sample import Sample, read_offset
from swapwise.objectives.glm.family import Family
from swapwise.override import override


class OffsetEstimator(SparseEstimator):
    """A sparse estimator that takes offsets, if its family does; see :class:`SparseGLMRegressor`."""

    #: The record of the family
    family_: Family

    @override
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
        X, y, sample_weight :
            See :meth:`SparseRegressor.fit`, with targets that the model has a likelihood for.
        offset : array-like of shape (n_samples,) or float, optional
            Added to the linear predictor, with a coefficient of 1: with a log link, the logarithm of the
            exposure. A number is that of all samples.

        Returns
        -------
        self
        """
        sample = self._read(X, y, sample_weight, offset)
        self._has_offset = offset is not None
        return self._fit_sample(sample)

    @override
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

        The data are the training data, with their offset; see :meth:`SparseRegressor.certify`.
        """
        check_is_fitted(self)
        return self._certify(self._read(X, y, sample_weight, offset, reset=False), time_limit, options)

    @override
    def _read(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, reset: bool = True
    ) -> Sample:
        sample = super()._read(X, y, sample_weight, offset, reset=reset)
        self._require_use_of(offset)
        return sample

    def _require_use_of(self, offset: Any) -> None:
        """Refuse an offset where the family has no use for one."""
        if offset is not None and self.family_.offset is None:
            raise ValueError(f"leave offset at None: {self.family_.title} takes none")

    def _fit_sample(self, sample: Sample) -> Self:
        """Fit to checked data."""
        return self._fit(sample)

    def _shifted_predictor(self, X: Any, offset: Any) -> FloatArray:
        """Return the linear predictor with its offset; warn if one is missing."""
        predictor = self._linear_predictor(X)
        self._require_use_of(offset)
        if offset is not None:
            shift = read_offset(offset, len(predictor))
            return predictor + shift.reshape(-1, *(1,) * (predictor.ndim - 1))
        if self._has_offset:
            warn(
                "fitted with an offset; predictions are for offset 0 (scikit-learn's pipelines and "
                "cross-validation pass an offset on only by metadata routing)"
            )
        return predictor
