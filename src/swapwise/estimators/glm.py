"""Regression on few features by any family of likelihoods: counts, amounts, or a record of one's own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from swapwise.checks import FloatArray, IndexArray, as_real, warn
from swapwise.constraints.base import Constraint
from swapwise.data.design import Design
from swapwise.estimators.base import planned
from swapwise.estimators.frames import require_numeric_target
from swapwise.estimators.offsets import OffsetEstimator
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.estimators.sample import Sample, linear_predictors, read_offset
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.glm import FAMILIES
from swapwise.objectives.glm.family import Family
from swapwise.objectives.glm.likelihood import Likelihood, read_weight
from swapwise.objectives.glm.negative_binomial import SMALLEST_ALPHA
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.override import override
from swapwise.search.plan import Plan
from swapwise.search.result import SearchResult

# When a parameter of the family is estimated: the relative change that ends it, far below its standard error,
# and the rounds in which that is nearly always reached; two to four are common.
PARAMETER_CHANGE, MOST_ROUNDS = 0.01, 10

# A dispersion that no data can tell from none is not above this.
NEXT_TO_NONE = 2 * SMALLEST_ALPHA

# Families whose targets are numbers; classes have an estimator of their own.
REGRESSIONS = [name for name, objective in FAMILIES.items() if objective.family.outcome != "class"]


@with_parameters
class SparseGLMRegressor(RegressorMixin, OffsetEstimator):
    """A generalised linear model on few features, chosen by local search under a constraint.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    SparseGLMRegressorCV : chooses the number of features.
    Poisson, Gamma, NegativeBinomial : the objectives.
    sklearn.linear_model.PoissonRegressor, sklearn.linear_model.GammaRegressor : all features, with a ridge.

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

    Counts that vary as Poisson's, per hour:

    >>> hours = rng.uniform(1, 5, 300)
    >>> visits = rng.poisson(hours * np.exp(0.5 * X[:, 1] - 0.8 * X[:, 4]))
    >>> model = sw.SparseGLMRegressor(constraint=2).fit(X, visits, offset=np.log(hours))
    >>> model.support_, model.coef_[model.support_].round(1)
    (array([1, 4]), array([ 0.5, -0.8]))
    """

    _: KW_ONLY
    family: str | Family = parameter(
        "poisson",
        '"poisson", "gamma", "negative-binomial", or a Family',
        """
        The distribution of the target: counts; amounts, which are positive, with a constant coefficient of
        variation; counts that vary more than Poisson's. All have a log link. A record of one's own is a
        ``swapwise.objectives.glm.family.Family``.
        """,
    )
    alpha: float | None = parameter(
        None,
        "float, optional",
        """
        The dispersion of the negative binomial family, whose variance is ``μ + alpha μ²``; other families
        take no notice of it. None is estimated in alternation with the fit: alpha is that of maximum
        likelihood for the fitted means, then a search begins at the last choice, and so on until alpha
        changes by less than 1 %, or for 10 rounds. Limits such as ``time_limit`` are per round.
        """,
    )
    ridge: float | None = parameter(
        None,
        "float, optional",
        """
        Weight of the penalty ``ridge · ‖coef‖² / 2`` (of standardised columns, with ``standardize``) on the
        mean log-likelihood: the ``alpha`` of scikit-learn's ``PoissonRegressor`` and ``GammaRegressor``. None
        is 1e-4, which keeps coefficients finite if counts are zero wherever a feature is not, and hardly
        shrinks them otherwise.
        """,
    )

    alpha_: float = attribute(
        "float", "The dispersion that the fit was made with, of the negative binomial family only."
    )

    def predict(self, X: ArrayLike, offset: ArrayLike | None = None) -> FloatArray:
        """Return the expected targets, for an exposure of 1 if no offset is given.

        A model that was fitted with an offset warns if none is given; ``offset=0`` says that none is meant.
        """
        predictor = self._shifted_predictor(X, offset)  # which checks that there is a fit
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
    def _objective(self, X: Design, sample: Sample, groups: IndexArray | None) -> SparseObjective:
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
    def _read(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, *, reset: bool = True
    ) -> Sample:
        if reset:
            self.family_ = self._named_family()
        return super()._read(X, y, sample_weight, offset, reset=reset)

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
    def _coefficients(
        self, objective: SparseObjective, sample: Sample, result: SearchResult
    ) -> tuple[FloatArray, float]:
        assert result.coef is not None
        assert isinstance(objective, GeneralizedLinear)
        coef, intercept = objective.design.original(result.coef, objective.intercept(result.support))
        return coef, float(intercept)

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
        """Fit, and estimate the parameter of the family for the fitted means, in alternation."""
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
