"""Offsets: a part of the linear predictor that is known."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from swapwise.certify.certificate import Certificate
from swapwise.checks import FloatArray, warn
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.parameters import attribute, with_parameters
from swapwise.estimators.sample import Sample, read_offset
from swapwise.objectives.glm.family import Family
from swapwise.override import override


@with_parameters
class OffsetEstimator(SparseEstimator):
    """A sparse estimator with a likelihood, which takes offsets if its family does."""

    _default_ridge = 1e-4

    family_: Family = attribute("Family", "The record of the family, such as its link and its deviance.")

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
        X : array-like, frame, sparse matrix, or data in chunks, of shape (n_samples, n_features)
            Data in chunks are a memory-mapped file (or the name of a ``.npy`` file), a Dask array or a Dask
            frame: they are read chunk by chunk, in few passes, and no more than a few chunks are in memory
            at a time. Sparse matrices (CSR, CSC) stay sparse. Only data of up to 1 MB are kept, for
            ``result_.guarantee``: leave them as they are while you ask for it.
        y : array-like of shape (n_samples,)
            Targets that the model has a likelihood for: classes; counts, or other numbers that are not
            negative; for the gamma family, positive numbers.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is as good as the same sample twice, and one of 0 as none.
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
        """Prove how far from the best allowed choice the fitted one can be.

        The best choice is the one with the best fit to these data; the proof says nothing about new data.

        Parameters
        ----------
        X, y, sample_weight, offset :
            The training data.
        time_limit : float, optional
            Seconds after which the best bound so far is returned; None for no limit.
        **options :
            Those of :func:`swapwise.certify`: ``gap``, ``max_nodes``, ``progress``.

        Returns
        -------
        Certificate
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
        if offset is not None and self.family_.offset is None:
            raise ValueError(f"leave offset at None: {self.family_.title} takes none")

    def _fit_sample(self, sample: Sample) -> Self:
        """Fit to checked data; a family may have more to estimate than coefficients."""
        return self._fit(sample)

    def _shifted_predictor(self, X: Any, offset: Any) -> FloatArray:
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
