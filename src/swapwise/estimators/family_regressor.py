"""What the regressions share that are made of the record of a family."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from swapwise.checks import FloatArray, IndexArray
from swapwise.estimators.base import Task
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.frames import require_numeric_target
from swapwise.estimators.offsets import OffsetEstimator
from swapwise.estimators.sample import Sample, read_offset
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.glm import FAMILIES
from swapwise.objectives.glm.family import Family
from swapwise.objectives.glm.likelihood import Likelihood, read_weight
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.override import override
from swapwise.search.result import SearchResult


class FamilyRegressor(RegressorMixin, OffsetEstimator):
    """A regression whose loss, deviance, mean and target are those of a family's record.

    A subclass says which family (``_named_family``).
    """

    _default_ridge = 1e-4

    @abstractmethod
    def _named_family(self) -> Family:
        """Return the record of the family that was asked for."""

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
            See :meth:`SparseRegressor.fit`.
        y : array-like of shape (n_samples,)
            What the family has a likelihood for: counts, or other numbers that are not negative; for the
            gamma family, positive numbers.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is as good as the same sample twice, and one of 0 as none.
        offset : array-like of shape (n_samples,) or float, optional
            Added to the linear predictor: the logarithm of the exposure. A number is that of all samples.

        Returns
        -------
        self
        """
        self.family_ = self._named_family()
        return super().fit(X, y, sample_weight, offset)

    def predict(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the expected targets, for an exposure of 1 if no offset is given.

        A model that was fitted with an offset warns if none is given; ``offset=0`` says that none is meant.
        """
        predictor = self._shifted_predictor(X, offset)  # first of all: it checks that there is a fit
        return self.family_.mean(predictor)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """Return D², the share of the deviance that is explained.

        The deviance is compared with that of one rate for all samples, which is the mean of ``y`` without an
        offset, as for scikit-learn's ``PoissonRegressor``.
        """
        predictor = self._shifted_predictor(X, offset)
        n = len(predictor)
        target = self.family_.read_target(np.asarray(y), n)
        shift = None if offset is None else read_offset(offset, n)
        weight = read_weight(sample_weight, n)
        alone = Likelihood(self.family_, target, weight, shift)
        one_rate = alone.offset[0] + alone.intercept_alone[0]
        left = float(weight @ self.family_.deviances(target, predictor))
        total = float(weight @ self.family_.deviances(target, one_rate))
        return 1 - left / total if total > 0 else float(left == 0)

    @override
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        family = getattr(self, "family", None)
        tags.target_tags.positive_only = family.non_negative if isinstance(family, Family) else True
        return tags

    @override
    def _target(self, y: Any, reset: bool) -> FloatArray:
        require_numeric_target(y, "SparseClassifier is for classes")
        target = self.family_.read_target(np.asarray(y), None)
        if self.family_.non_negative and not target.any():
            raise ValueError("y must have a positive entry, got zeros only: no rate is likelier than zero")
        return target

    @override
    def _objective(self, X: Any, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        return objective_of(
            self.family_,
            X,
            sample.y,
            self._penalty(),
            sample_weight=sample.weight,
            offset=sample.offset,
            fit_intercept=self.fit_intercept,
            groups=groups,
            bounds=self._bounds(X),
        )

    @override
    def _coefficients(self, task: Task, result: SearchResult) -> tuple[FloatArray, float]:
        assert result.coef is not None
        assert isinstance(task.objective, GeneralizedLinear)
        level = task.objective.intercept(result.support)
        coef, intercept = task.design.original(result.coef, level)
        return coef, float(intercept)


class FamilyRegressorCV(CrossValidated, FamilyRegressor):
    """A regression by a family's record, with a path over sizes of which one is chosen."""

    @override
    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        shifted = predictor if sample.offset is None else predictor + sample.offset
        return self.family_.deviances(sample.y, shifted)

    @override
    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        at_best = self.family_.at_best_dispersion
        return loss if at_best is None else at_best(loss)

    @override
    def _check_training(self, sample: Sample, whole: Sample) -> None:
        if self.family_.non_negative and not sample.y.any():
            raise ValueError(
                f"the training part of every fold of cv must have a positive {self.family_.outcome}, but one "
                "has zeros only; shuffled folds, or fewer of them, may help"
            )


class FamilyLikelihood(GeneralizedLinear):
    """The log-likelihood of a family that is given by its record."""

    def __init__(self, family: Family, *data: Any, **options: Any) -> None:
        self.family = family
        super().__init__(*data, **options)


def objective_of(family: Family, *data: Any, **options: Any) -> GeneralizedLinear:
    """Return the log-likelihood of a family, by its own class if the record is that of one."""
    known = FAMILIES.get(family.name)
    if known is not None and known.family is family:
        return known(*data, **options)
    return FamilyLikelihood(family, *data, **options)
