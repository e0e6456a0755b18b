"""Regression by any family of likelihoods on a number of features that the data choose."""

from __future__ import annotations

from swapwise.checks import FloatArray
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.glm import SparseGLMRegressor
from swapwise.estimators.parameters import KW_ONLY, parameter, with_parameters
from swapwise.estimators.sample import Sample
from swapwise.override import override


@with_parameters
class SparseGLMRegressorCV(CrossValidated, SparseGLMRegressor):
    """A generalised linear model on few features, whose number is chosen by cross-validation or a criterion.

    The held-out loss is the mean deviance of the family. The deviance of the gamma family in ``path_`` is
    minus twice the log-likelihood at the best shape for each size, but for a constant: like that of least
    squares, it knows no scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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

    _: KW_ONLY
    alpha: float | None = parameter(
        None,
        "float, optional",
        """
        The dispersion of the negative binomial family, whose variance is ``μ + alpha μ²``; other families
        take no notice of it. None is estimated in alternation with the whole path: alpha is that of maximum
        likelihood for the means of the chosen size, then there is another path, and so on until alpha changes
        by less than 1 %, or for 10 rounds. All sizes and folds have the same alpha.
        """,
    )

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

    @override
    def _next_start(self) -> None:
        pass  # a path begins with its smallest size, in which the choice of the round before has no room
