"""Regression on few features by any family of likelihoods: counts, amounts, or a record of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from sklearn.exceptions import ConvergenceWarning

from swapwise.checks import FloatArray, IndexArray, as_real, warn
from swapwise.constraints.base import Constraint
from swapwise.estimators.base import planned
from swapwise.estimators.family_regressor import FamilyRegressor
from swapwise.estimators.sample import Sample, linear_predictors
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.glm import FAMILIES
from swapwise.objectives.glm.family import Family
from swapwise.objectives.glm.likelihood import Likelihood, read_weight
from swapwise.objectives.glm.negative_binomial import SMALLEST_ALPHA
from swapwise.override import override
from swapwise.search.plan import Plan
from swapwise.search.rules import Pivot

# When a parameter of the family is estimated: the relative change that ends it, far below its standard error,
# and the rounds in which that is nearly always reached; two to four are common.
PARAMETER_CHANGE, MOST_ROUNDS = 0.01, 10

# A dispersion that no data can tell from none is not above this.
NEXT_TO_NONE = 2 * SMALLEST_ALPHA

# Families whose targets are numbers; classes have an estimator of their own.
REGRESSIONS = [name for name, objective in FAMILIES.items() if objective.family.outcome != "class"]


class SparseGLMRegressor(FamilyRegressor):
    """A generalised linear model on few features, chosen by local search under a constraint.

    Parameters
    ----------
    constraint, method, start, q, fit_intercept, standardize, groups, forced, bounds, positive, n_restarts, \
    max_iter, tol, time_limit, random_state, progress :
        See :class:`SparseRegressor`.
    family : "poisson", "gamma", "negative-binomial", or a Family
        What the target is: counts; amounts, which are positive, with a constant coefficient of variation;
        counts that vary more than Poisson's. All have a log link. A record of one's own is a
        ``swapwise.objectives.glm.family.Family``.
    alpha : float, optional
        The dispersion of the negative binomial family, whose variance is ``μ + alpha μ²``; other families
        take no notice of it. None is estimated in alternation with the fit: alpha is that of maximum
        likelihood for the fitted means, then a search begins at the last choice, and so on until alpha
        changes by less than 1 %, or for 10 rounds. Limits such as ``time_limit`` are per round.
    ridge : float, optional
        Weight of the penalty ``ridge · ‖coef‖² / 2`` (of standardised columns, with ``standardize``) on the
        mean log-likelihood: the ``alpha`` of scikit-learn's ``PoissonRegressor`` and ``GammaRegressor``. None
        is 1e-4, which keeps coefficients finite if counts are zero wherever a feature is not, and hardly
        shrinks them otherwise.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    family_ : Family
        The record of the family.
    alpha_ : float
        The dispersion that the fit was made with, of the negative binomial family only.
    support_, selection_frequency_, result_, constraint_, n_iter_, n_features_in_, feature_names_in_, \
    feature_std_, n_samples_fit_ :
        See :class:`SparseRegressor`.

    See Also
    --------
    SparseGLMRegressorCV : chooses the number of features.
    Poisson, Gamma, NegativeBinomial : the objectives.
    sklearn.linear_model.GammaRegressor : all features, with a ridge.

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
    >>> model = sw.SparseGLMRegressor(constraint=2, family="gamma").fit(X, y)
    >>> model.support_, model.coef_[model.support_].round(1)
    (array([1, 4]), array([ 0.5, -0.8]))

    Counts of claims, which vary more than Poisson's, per year of a contract:

    >>> years = rng.uniform(0.5, 3.0, 300)
    >>> claims = rng.poisson(2 * y * years)
    >>> model = sw.SparseGLMRegressor(constraint=2, family="negative-binomial")
    >>> model = model.fit(X, claims, offset=np.log(years))
    >>> model.support_, round(model.alpha_, 1)
    (array([1, 4]), 0.5)
    """

    def __init__(
        self,
        constraint: int | Constraint | Callable[[int], Any] = 10,
        *,
        family: str | Family = "poisson",
        alpha: float | None = None,
        method: str | Pivot = "auto",
        start: Any = "auto",
        q: int = 1,
        ridge: float | None = None,
        fit_intercept: bool = True,
        standardize: bool = True,
        groups: Any = None,
        forced: Any = None,
        bounds: Any = None,
        positive: bool = False,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        super().__init__(
            constraint,
            method=method,
            start=start,
            q=q,
            ridge=ridge,
            fit_intercept=fit_intercept,
            standardize=standardize,
            groups=groups,
            forced=forced,
            bounds=bounds,
            positive=positive,
            n_restarts=n_restarts,
            max_iter=max_iter,
            tol=tol,
            time_limit=time_limit,
            random_state=random_state,
            progress=progress,
        )
        self.family = family
        self.alpha = alpha

    @override
    def _named_family(self) -> Family:
        alpha = None if self.alpha is None else as_real(self.alpha, "alpha", positive=True)
        family = self.family
        if isinstance(family, str) and family in REGRESSIONS:
            family = FAMILIES[family].family
        if not isinstance(family, Family):
            others = "; SparseRegressor is for numbers with normal errors, SparseClassifier for classes"
            raise ValueError(
                f"family must be one of {', '.join(REGRESSIONS)}, or a Family{others}; got {family!r}"
            )
        if alpha is None:
            return family
        if family.with_parameter is None:
            warn(f"alpha is the dispersion of the negative binomial family; {family.name} has none: not used")
            return family
        return family.with_parameter(alpha)

    @override
    def _fit_sample(self, sample: Sample) -> Self:
        family = self.family_
        if self.alpha is None and family.with_parameter is not None:
            self._alternate(sample)
        else:
            self._fit(sample)
        if family.with_parameter is not None:
            self.alpha_ = self.family_.parameter
            if self.alpha is None and self.alpha_ <= NEXT_TO_NONE:
                warn("the counts are not overdispersed: family='poisson' gives the same fit")
        return self

    def _alternate(self, sample: Sample) -> None:
        """Fit, and estimate the parameter of the family for the fitted means, by turns."""
        with_parameter, best_parameter = self.family_.with_parameter, self.family_.best_parameter
        assert with_parameter is not None
        assert best_parameter is not None
        self._begin: IndexArray | None = None
        parameter = best_parameter(sample.y, self._mean_alone(sample), sample.weight)
        try:
            for _ in range(MOST_ROUNDS):
                self.family_ = with_parameter(parameter)
                self._fit(sample)
                before, means = parameter, self._fitted_mean(sample)
                parameter = best_parameter(sample.y, means, sample.weight)
                if abs(parameter - before) <= PARAMETER_CHANGE * before:
                    return
                self._begin = self._next_start()
        finally:
            self._begin = None
        warn(
            f"alpha was {before:.4g} in the last of {MOST_ROUNDS} rounds and would be {parameter:.4g} in "
            "the next: give alpha, or a stronger constraint",
            ConvergenceWarning,
        )

    def _next_start(self) -> IndexArray | None:
        """Return where the search of the next round begins; None for where the first one did."""
        return self.result_.support

    def _mean_alone(self, sample: Sample) -> FloatArray:
        """Return the means that the intercept alone leads to."""
        weight = read_weight(sample.weight, len(sample.y))
        alone = Likelihood(self.family_, sample.y, weight, sample.offset)
        return self.family_.mean(alone.offset[0] + alone.intercept_alone[0])

    def _fitted_mean(self, sample: Sample) -> FloatArray:
        (predictor,) = linear_predictors(sample.X, [(self.coef_, self.intercept_)])
        return self.family_.mean(predictor if sample.offset is None else predictor + sample.offset)

    @override
    def _plan(self, objective: SparseObjective, constraint: Constraint) -> Plan:
        plan = super()._plan(objective, constraint)
        if getattr(self, "_begin", None) is None or plan.rule is None:
            return plan
        return planned(self, objective, constraint, self._begin)  # the choice of the round before
