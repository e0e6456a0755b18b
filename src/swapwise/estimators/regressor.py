"""Linear regression on few features."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import assert_all_finite

from swapwise.checks import FloatArray, IndexArray, as_vector, unwarned, warn
from swapwise.data.design import Design
from swapwise.data.matrix import Matrix
from swapwise.data.open import open_design
from swapwise.estimators.base import SparseEstimator, design_of, validated
from swapwise.estimators.frames import require_numeric_target
from swapwise.estimators.parameters import KW_ONLY, parameter, with_parameters
from swapwise.estimators.sample import Sample
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override
from swapwise.search.result import SearchResult


@with_parameters
class SparseRegressor(RegressorMixin, SparseEstimator):
    """Least squares on few features, chosen by local search under a constraint.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseRegressorCV : chooses the number of features.
    SparseClassifier, SparseGLMRegressor : other targets.
    SparseSelector : only selects, for the start of a pipeline.
    sklearn.linear_model.Lasso : the convex relative, which shrinks what it keeps.

    References
    ----------
    - Bertsimas, King and Mazumder (2016), Best subset selection via a modern optimization lens.
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> import numpy as np
    >>> import swapwise as sw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 6)) + 5
    >>> y = 3 + 2 * X[:, 1] - X[:, 4]
    >>> model = sw.SparseRegressor(constraint=2).fit(X, y)
    >>> model.support_, model.coef_[model.support_].round(6), round(model.intercept_, 6)
    (array([1, 4]), array([ 2., -1.]), 3.0)
    >>> model.certify(X, y).optimal
    True

    Coefficients that may not be negative:

    >>> sw.SparseRegressor(constraint=2, positive=True).fit(X, y).coef_.min() >= 0
    np.True_
    """

    _: KW_ONLY
    ridge: float | None = parameter(
        None,
        "float, optional",
        """
        Weight of the penalty on the squared coefficients (of standardised columns, with ``standardize``): the
        ``alpha`` of scikit-learn's ``Ridge``. None is 0.
        """,
    )

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the predicted targets."""
        return self._linear_predictor(X)

    @override
    def _target(self, y: object, reset: bool) -> FloatArray:
        require_numeric_target(y, "SparseClassifier is for classes")
        return as_vector(np.asarray(y), None, "y")

    def _level(self, sample: Sample) -> float:
        """Return the prediction at the mean of all features."""
        return sample.mean_target if self.fit_intercept else 0.0

    @override
    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        # Entries that are not finite show when the columns are first summed: that saves a pass over them.
        types = np.float64, np.float32
        return validated(self, X, y, dtype=types, reset=reset, ensure_all_finite=False)

    @override
    def _build(self, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        self._check_flags()
        try:
            design = open_design(
                sample.X, self._response(sample), sample.weight, self.fit_intercept, self.standardize
            )
        except ValueError as where:
            if isinstance(sample.X, Matrix):
                raise
            try:
                assert_all_finite(sample.X, estimator_name=type(self).__name__, input_name="X")
            except ValueError as known_words:
                raise ValueError(f"{where}. {known_words}") from None
            raise
        return self._objective(design, sample, groups)

    def _response(self, sample: Sample) -> FloatArray:
        return sample.y - self._level(sample)

    @override
    def _objective(self, X: Design, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        constant = self.fit_intercept and sample.y.min() == sample.y.max()
        if constant:
            warn("y is constant: no feature adds anything to the intercept")
        with unwarned() if constant else nullcontext():
            bounds = self._bounds(X)
            if groups is None:
                return LeastSquares.of_design(X, self._penalty(), bounds)
            return LeastSquares(X, self._response(sample), self._penalty(), groups=groups, bounds=bounds)

    @override
    def _coefficients(
        self, objective: SparseObjective, sample: Sample, result: SearchResult
    ) -> tuple[FloatArray, float]:
        assert result.coef is not None
        coef, intercept = design_of(objective).original(result.coef, self._level(sample))
        return coef, float(intercept)
