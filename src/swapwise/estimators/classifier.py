"""Logistic regression on few features, for two classes or more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, log_softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from swapwise.checks import FloatArray, IndexArray, as_vector
from swapwise.data.design import Design
from swapwise.estimators.offsets import OffsetEstimator
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.estimators.sample import Sample
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.glm.logistic import Logistic
from swapwise.objectives.glm.multinomial import Multinomial
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.override import override
from swapwise.search.result import SearchResult


@with_parameters
class SparseClassifier(ClassifierMixin, OffsetEstimator):
    """Logistic regression on few features, chosen by local search under a constraint.

    With more than two classes it is multinomial, and a feature is chosen for all classes or for none.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseClassifierCV : chooses the number of features.
    Logistic, Multinomial : the objectives.
    sklearn.linear_model.LogisticRegression : with an l1 penalty, the convex relative.

    References
    ----------
    - McCullagh and Nelder (1989), Generalized Linear Models, 2nd edition.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 6))
    >>> y = np.where(2 * X[:, 1] - 3 * X[:, 4] + rng.logistic(size=200) > 0, "yes", "no")
    >>> model = sw.SparseClassifier(constraint=2).fit(X, y)
    >>> model.support_, model.predict(X[:3]), round(model.score(X, y), 2)
    (array([1, 4]), array(['yes', 'yes', 'yes'], dtype='<U3'), 0.86)
    """

    _: KW_ONLY
    ridge: float | None = parameter(
        None,
        "float, optional",
        """
        Weight of the penalty ``ridge · ‖coef‖² / 2`` (of standardised columns, with ``standardize``) on the
        mean log-likelihood: scikit-learn's ``LogisticRegression`` has ``C = 1 / (ridge · n_samples)``. None
        is 1e-4, which keeps coefficients finite if the classes are separable and hardly shrinks them
        otherwise.
        """,
    )
    class_weight: str | Mapping[Any, float] | None = parameter(
        None,
        '"balanced" or dict from class to weight, optional',
        """
        As in scikit-learn's ``LogisticRegression``: a factor of the weight of every sample of a class; 1 for
        classes that are not named. ``"balanced"`` gives all classes the same weight in total.
        """,
    )

    classes_: NDArray[Any] = attribute(
        "array of shape (n_classes,)",
        "The classes, sorted. A class whose samples all have weight zero is none.",
    )
    coef_: FloatArray = attribute(
        "array of shape (1, n_features), or (n_classes, n_features) for more than two classes",
        "Coefficients, zero for features that were not chosen.",
    )
    intercept_: FloatArray = attribute(
        "array of shape (1,) or (n_classes,)", "The intercepts of the linear predictors."
    )

    def decision_function(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the scores of the classes; for two classes that of the second, as log-odds.

        A model that was fitted with an offset warns if none is given; ``offset=0`` says that none is meant.
        """
        scores = self._shifted_predictor(X, offset)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_log_proba(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the logarithms of the probabilities of the classes."""
        scores = self.decision_function(X, offset)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        logarithms: FloatArray = log_softmax(scores, axis=1)
        return logarithms

    def predict_proba(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the probabilities of the classes, in the order of ``classes_``."""
        return np.exp(self.predict_log_proba(X, offset))

    def predict(self, X: ArrayLike, offset: ArrayLike | None = None) -> NDArray[Any]:
        """Return the most likely class of each sample."""
        scores = self.decision_function(X, offset)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[codes]
        return predicted

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> float:
        """Return the share of the samples whose class is predicted right."""
        return float(accuracy_score(y, self.predict(X, offset), sample_weight=sample_weight))

    @property
    def _kind(self) -> type[GeneralizedLinear]:
        return Logistic if len(self.classes_) == 2 else Multinomial

    @override
    def _weights(self, y: Any, sample_weight: Any) -> FloatArray | None:
        weight = super()._weights(y, sample_weight)
        if self.class_weight is None:
            return weight
        own = np.ones(len(y)) if weight is None else weight
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            return _balanced(y, own)
        if not isinstance(self.class_weight, Mapping):
            raise TypeError(
                "class_weight must be None, 'balanced' or a dict from class to weight, got "
                f"{self.class_weight!r}"
            )
        factor = as_vector(compute_sample_weight(dict(self.class_weight), y), len(y), "class_weight")
        if (factor <= 0).any():
            raise ValueError(f"class_weight must be positive for every class, got {self.class_weight!r}")
        return own * factor

    @override
    def _target(self, y: Any, reset: bool) -> FloatArray:
        check_classification_targets(y)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y must hold at least two classes, got one class only: {classes.tolist()[0]!r} "
                "(samples of weight zero do not count)"
            )
        if reset:
            self.classes_ = classes
            self.family_ = self._kind.family
        elif classes.tolist() != self.classes_.tolist():
            raise ValueError(
                f"y must hold the classes of the training data, {self.classes_.tolist()}, "
                f"got {classes.tolist()}"
            )
        return codes.astype(np.float64)

    @override
    def _needs_memory(self, y: Any) -> str | None:
        many = type_of_target(np.asarray(y)) == "multiclass"
        return super()._needs_memory(y) or ("more than two classes" if many else None)

    @override
    def _objective(self, X: Design, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        # The objective of several classes takes no offset.
        options: dict[str, Any] = {} if sample.offset is None else {"offset": sample.offset}
        bounds = self._bounds(X)
        if bounds is not None:
            if len(self.classes_) > 2:
                raise ValueError(
                    f"bounds and positive are for two classes, got {len(self.classes_)}: of several, each "
                    "feature has a coefficient for every class, and only their differences matter. Classify "
                    "one class against the others, or leave out bounds and positive"
                )
            options["bounds"] = bounds
        return self._kind(
            X,
            sample.y,
            self._penalty(),
            sample_weight=sample.weight,
            fit_intercept=self.fit_intercept,
            groups=groups,
            **options,
        )

    @override
    def _coefficients(
        self, objective: SparseObjective, sample: Sample, result: SearchResult
    ) -> tuple[FloatArray, FloatArray]:
        assert result.coef is not None
        assert isinstance(objective, GeneralizedLinear)
        intercept = np.atleast_1d(objective.intercept(result.support))
        return objective.design.original(np.atleast_2d(result.coef.T), intercept)


def _balanced(y: Any, weight: FloatArray) -> FloatArray:
    """Return weights that sum to 1 for every class; only their ratios matter."""
    # By weight, not by number as scikit-learn's helper counts: 2 stays as good as the same sample twice.
    _, codes = np.unique(y, return_inverse=True)
    total = np.bincount(codes, weight)
    return np.divide(weight, total[codes], out=np.zeros(len(weight)), where=weight > 0)
