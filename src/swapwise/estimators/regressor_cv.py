"""Linear regression on a number of features that the data choose."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.parameters import with_parameters
from swapwise.estimators.regressor import SparseRegressor
from swapwise.estimators.sample import Sample
from swapwise.numerics import ROUNDING
from swapwise.override import override


@with_parameters
class SparseRegressorCV(CrossValidated, SparseRegressor):
    """Least squares on few features, whose number is chosen by cross-validation or an information criterion.

    For growing sizes the best features are searched, each size from the answers of its neighbours: on all
    data, and for ``criterion="cv"`` on each training part as well. The held-out loss is the mean squared
    error.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseRegressor : with a size that is given.
    plot_path : the score over the sizes.
    sklearn.linear_model.LassoCV : the convex relative.

    References
    ----------
    - Chen and Chen (2008), Extended Bayesian information criteria for model selection with large model
      spaces.
    - Fan and Tang (2013), Tuning parameter selection in high dimensional penalized likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 8))
    >>> y = 3 + 2 * X[:, 1] - X[:, 4] + X[:, 6] + rng.standard_normal(100)
    >>> model = sw.SparseRegressorCV(criterion="bic").fit(X, y)
    >>> model.size_, model.support_
    (3, array([1, 4, 6]))
    >>> sw.SparseRegressorCV(sizes=range(1, 6), one_standard_error=True).fit(X, y).size_
    3
    """

    @override
    def _losses(self, sample: Sample, predictor: FloatArray) -> FloatArray:
        squares: FloatArray = (sample.y - predictor) ** 2
        return squares

    @override
    def _mean_deviance(self, sample: Sample, loss: float) -> float:
        # Where the residual is rounding alone, its logarithm means nothing.
        least = ROUNDING**2 * float(sample.mean(sample.y**2)) or np.finfo(float).tiny
        return float(np.log(max(loss, least)))
