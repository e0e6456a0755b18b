"""Linear regression on few features."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import assert_all_finite

from swapwise.checks import FloatArray, IndexArray, as_vector, unwarned, warn
from swapwise.data.matrix import Matrix
from swapwise.data.open import open_design
from swapwise.estimators.base import SparseEstimator, Task, validated
from swapwise.estimators.constraint_of import Elements
from swapwise.estimators.frames import require_numeric_target
from swapwise.estimators.sample import Sample
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override
from swapwise.search.result import SearchResult


class SparseRegressor(RegressorMixin, SparseEstimator):
    """Least squares on few features, chosen by local search under a constraint.

    Parameters
    ----------
    constraint : int, constraint, or callable
        How many features may be chosen, or which sets of them: an int for the largest number (10 by default;
        more than there are means no limit), an object such as ``Partition`` or ``Intersection``, or a
        function of the number of features that returns either. If both the constraint and the columns have
        names (``Partition.from_columns(df.columns)``), they are matched by name, and must be the same.
    method, start, q, max_iter, tol, time_limit, progress :
        How to search; see :func:`swapwise.maximize`. ``max_iter`` is for each search, ``time_limit`` for all
        of them together.
    ridge : float, optional
        Weight of the penalty on the squared coefficients (of standardised columns, with ``standardize``): the
        ``alpha`` of scikit-learn's ``Ridge``. None is 0.
    fit_intercept : bool
        Whether to fit an intercept, which is free: never chosen, counted or penalised.
    standardize : bool
        Whether columns are divided by their standard deviation for the search, so that a ridge treats all
        alike. ``coef_`` is in the units of the data in any case.
    groups : list, mapping from feature name or position to label, or function, optional
        One label per feature; groups are then chosen as a whole, and the constraint is one on groups in the
        order in which they first appear, with an int for how many groups. A function is called with the name
        of each feature (its position, if there are no names): ``lambda name: name.split("_")[0]`` puts the
        dummies of a factor together, also where an encoder has made none for a level that is not there.
    forced : list, optional
        Features that are always chosen, by name or position (with ``groups``: groups by label). They count
        towards the limits of the constraint, and bring with them what they need under a ``Hierarchy``.
    bounds : pair, one pair per feature, or mapping from name or position to pair, optional
        What coefficients may be, in the units of the data: ``(0, 1)`` for all, ``{"price": (None, 0)}`` for
        some; None is no bound. 0 has to be within them. The search takes bounds into account from the
        beginning: features are chosen for how well they fit within their bounds. ``result_.at_bound`` says
        which chosen ones are at a bound. Features have to be chosen one by one, without ``groups``.
    positive : bool
        Whether no coefficient may be negative, which may be said along with ``bounds``.
    n_restarts : int
        How many more searches begin at random independent sets, every other one with half of the best
        answer so far (or, for random methods, draw again); the best answer of all is kept. Ten cost about
        as much as four or five fits, since they share what was read of the data.
    random_state : int, Generator or RandomState, optional
        For restarts and random methods. None is 0: the same call gives the same answer.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients, zero for features that were not chosen.
    intercept_ : float
    support_ : sorted integer array
        The features chosen.
    selection_frequency_ : array of shape (n_features,)
        The share of restarts, the first search included, whose answer holds each feature: all on the same
        data, so it says how sure the search is, not how stable the choice is under resampling.
    result_ : SearchResult
        The search behind the answer, on centred and scaled columns; its elements are features or groups.
    constraint_ : Constraint
        The constraint that was searched, with what was forced in.
    n_iter_ : int
        The number of moves on the record of that search, at least 1.
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns have names
    feature_std_ : array of shape (n_features,)
        The (weighted) standard deviations of the features in the training data.
    n_samples_fit_ : int
        The number of samples that had a weight.

    See Also
    --------
    SparseRegressorCV : chooses the number of features.
    SparseClassifier, SparsePoissonRegressor, SparseGLMRegressor : other targets.
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

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the predicted targets."""
        return self._linear_predictor(X)

    @override
    def _target(self, y: object, reset: bool) -> FloatArray:
        require_numeric_target(y, "SparseClassifier is for classes")
        return as_vector(np.asarray(y), None, "y")

    def _level(self, sample: Sample) -> float:
        """Return what is predicted at the mean of all features."""
        return sample.mean_target if self.fit_intercept else 0.0

    @override
    def _checked(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        # Whether all entries are finite shows when the columns are first summed: that saves a look at them.
        types = np.float64, np.float32
        return validated(self, X, y, dtype=types, reset=reset, ensure_all_finite=False)

    @override
    def _build(self, sample: Sample, elements: Elements) -> Task:
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
        return Task(self._objective(design, sample, elements.groups), design, sample)

    def _response(self, sample: Sample) -> FloatArray:
        return sample.y - self._level(sample)

    @override
    def _objective(self, X: Any, sample: Sample, groups: IndexArray | None) -> SparseObjective:
        constant = self.fit_intercept and sample.y.min() == sample.y.max()
        if constant:
            warn("y is constant: no feature adds anything to the intercept")
        with unwarned() if constant else nullcontext():
            bounds = self._bounds(X)
            if groups is None:
                return LeastSquares.of_design(X, self._penalty(), bounds)
            return LeastSquares(X, self._response(sample), self._penalty(), groups=groups, bounds=bounds)

    @override
    def _coefficients(self, task: Task, result: SearchResult) -> tuple[FloatArray, float]:
        assert result.coef is not None
        coef, intercept = task.design.original(result.coef, self._level(task.sample))
        return coef, float(intercept)
