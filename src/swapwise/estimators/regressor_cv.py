"""Linear regression on a number of features that the data choose."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray
from swapwise.estimators.cross_validated import CrossValidated
from swapwise.estimators.regressor import SparseRegressor
from swapwise.estimators.sample import Sample
from swapwise.numerics import ROUNDING
from swapwise.override import override


class SparseRegressorCV(CrossValidated, SparseRegressor):
    """Least squares on few features, whose number is chosen by cross-validation or an information criterion.

    For growing sizes the best features are searched, each size from the answers of its neighbours: on all
    data, and for ``criterion="cv"`` on each training part as well. The chosen size has the attributes of
    :class:`SparseRegressor`.

    Parameters
    ----------
    constraint : int, constraint, or callable, optional
        What all answers keep to beside their size, as for :class:`SparseRegressor`; None for no more than
        the size.
    sizes : iterable of int, optional
        The sizes to try; by default 1, 2, … up to 20, half the samples (for ``criterion="cv"``, weights that
        are whole numbers count them), n / (log p · log log n) for n samples of p features, or what the
        constraint allows, whichever is least. Capacities: up to 20, to where all labels together would hold
        half the samples, or to the largest label. Larger sizes than the constraint allows are cut to the
        largest that it does. Include 0 to try the model without features.
    along : "size" or "capacity"
        What a size is: the number of features (with ``groups``: of groups), or the number of features of each
        label of a ``Partition``, whose own capacities are then not used.
    criterion : "cv", "aic", "bic", "ebic" or "gic"
        What the chosen size minimises: the mean over the folds of the held-out loss (mean squared error,
        log-loss, deviance of the family), or the deviance on all data plus a penalty, see ``path_``.
    cv : int, splitter of scikit-learn, or iterable of (train, test)
        The folds, over the samples as given. A column of ``groups`` that is constant in a training part, as
        the dummy of a level that does not occur in it, has a coefficient of 0 there; a warning names it.
    one_standard_error : bool
        Choose the smallest size whose held-out loss is within one standard error of the least.
    gamma : float
        How much EBIC minds the number of features to choose from: 0 is BIC, 1 suits very many.
    n_features_original : int, optional
        How many features (with ``groups``: groups) there were, if they have been screened before; for EBIC
        and GIC.
    weights_are : "importance", "precision" or "counts"
        What ``sample_weight`` means to information criteria; fits are the same for all three.
        ``"importance"``: how much a row matters, such as survey weights; N is the number of rows of positive
        weight, and penalties are multiplied by Kish's design effect ``N Σw² / (Σw)²``, which is 1 if all
        weights are equal: noise fits unequal weights as many times better. ``"precision"``: the inverse of
        each row's variance; N is the number of rows. ``"counts"``: whole numbers, how often each row was
        seen; N is their sum, and criteria are those of the rows repeated.
    n_jobs : int, optional
        How many folds run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them. Folds of data in
        chunks run one after the other.
    start : str or set of features
        Where the search for the smallest size begins; see :func:`swapwise.maximize`.
    n_restarts : int
        How many more searches are made for the chosen size, on all data.
    max_iter, time_limit :
        For each search, and for each path: the one on all data, and one for each fold.
    bounds, positive :
        What coefficients may be; see :class:`SparseRegressor`.
    forced : list, optional
        As for :class:`SparseRegressor`; they count towards the size, so smaller sizes are left out.
    method, q, ridge, fit_intercept, standardize, groups, tol, random_state, progress :
        As for :class:`SparseRegressor`. Methods that are no local search search each size by itself.

    Attributes
    ----------
    criterion_ : str
        What chose the size: ``criterion``, or BIC if it was cross-validation and interrupted before any fold
        was done.
    n_folds_ : int
        How many folds chose it: fewer than were asked for if it was interrupted, none for a criterion.
    size_ : int
        The size chosen.
    path_ : pandas.DataFrame
        One row per size, on all data: ``size``, ``n_features`` (chosen), ``n_parameters`` (k below),
        ``value`` (of the objective), ``deviance``, ``aic``, ``bic``, ``ebic``, ``gic`` (small is good; the
        deviance of least squares is ``N log(RSS / N)``), ``status`` (why the search stopped), ``cv_mean`` and
        ``cv_se`` (mean over the folds of the held-out loss and its standard error, if there were folds).
        The deviance is N times the weighted mean of the rows'. The penalties of k free coefficients on s of p
        features or groups are ``2k``, ``k log N``, ``k log N + 2 gamma log C(p, s)`` and ``k log p log log
        N``. A feature has one coefficient, a group as many as its columns have rank beside the intercept:
        constant columns cost nothing, and the dummies of a factor one less than it has levels, whether the
        first is left out or not. The intercept has one.
    path_supports_ : list of sorted integer arrays
        The features of each size.
    path_coefs_ : array of shape (n_sizes, ...)
        The ``coef_`` of each size.
    coef_, intercept_, support_, selection_frequency_, result_, constraint_, n_features_in_, \
    feature_names_in_, feature_std_, n_samples_fit_ :
        See :class:`SparseRegressor`, for the chosen size. Restarts may make them better than the path.
    n_iter_ : int
        The number of moves on the record of ``result_``, at least 1.

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
        # A residual that is but rounding: its logarithm says nothing.
        least = ROUNDING**2 * float(sample.mean(sample.y**2)) or np.finfo(float).tiny
        return float(np.log(max(loss, least)))
