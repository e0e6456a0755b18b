"""Logistic regression on a number of features that the data choose."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.estimators.classifier import SparseClassifier
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.parameters import with_parameters
from swapwise.estimators.sample import Sample
from swapwise.override import override


@with_parameters
class SparseClassifierCV(CrossValidated, SparseClassifier):
    """Logistic regression on few features, whose number is chosen by cross-validation or a criterion.

    Folds are stratified if ``cv`` is a number; every training part must hold all classes. The held-out loss
    is the log-loss, and the deviance is minus twice the log-likelihood. With K > 2 classes, a feature counts
    as K - 1 coefficients, and so does the intercept. Class weights are those of all data, and weigh held-out
    samples too. To information criteria they are importance, for any ``weights_are``, which is about sample
    weights.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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
