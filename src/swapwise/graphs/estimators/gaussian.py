"""The graph of a Gaussian distribution, learnt from samples, as a scikit-learn estimator."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import combinations
from typing import Any, Self

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from swapwise.checks import FloatArray, IndexArray, as_count, as_generator, as_real, unwarned, warn
from swapwise.constraints.base import Constraint
from swapwise.estimators.base import planned, searched
from swapwise.estimators.frames import require_numbers
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import BaseGraph, GraphSample, GraphWithinLimits
from swapwise.graphs.estimators.correlation import Correlations, correlations
from swapwise.graphs.estimators.vertices import warn_of_lost_names
from swapwise.graphs.estimators.warnings import warn_of_codes, warn_of_twins
from swapwise.graphs.gaussian import GaussianPseudoLikelihood
from swapwise.graphs.gaussian.likelihood import GaussianFit, NoMaximum, fit_correlations
from swapwise.graphs.ising.open import read_weight
from swapwise.override import override
from swapwise.search.loop import CUT_SHORT
from swapwise.search.result import SearchResult

# The diagonal of the precision matrix is improved until the graph repeats, but no more often than this.
MOST_ROUNDS = 5

# The ridge where the likelihood has no maximum without.
LAST_RESORT = 0.01

# What to do about text.
ORDERED = (
    "ordered categories, as made by pd.Categorical(..., ordered=True), are taken with "
    "correlation='polychoric' or 'spearman'"
)


class SampleLikelihood(GaussianPseudoLikelihood):
    """The pseudo-likelihood of samples, with their moments."""

    moments: Correlations

    @property
    def scale_of_data(self) -> FloatArray:
        """The deviations of the variables; 1 of constant ones."""
        return np.where(self.moments.varies, self.moments.deviations, 1.0)


@with_parameters
class BaseGaussianGraph(BaseGraph):
    """All of :class:`GaussianGraph` and :class:`GaussianGraphCV` but the choice of the edges."""

    weight_is = "partial correlation"

    _: KW_ONLY
    correlation: str = parameter(
        "pearson",
        '"pearson", "spearman", "kendall" or "polychoric"',
        """
        The correlations that the fit is computed from. Those of ranks are for variables that are monotone
        functions of normal ones, polychoric ones for ordered categories, such as answers from 1 to 5.""",
    )
    ridge: float = parameter(0.0, "float", "Correlations are divided by 1 + ridge.")
    time_limit: float | None = parameter(
        None,
        "float, optional",
        "Seconds after which the best graph so far is taken; for each of at most five rounds.",
    )
    random_state: Any = parameter(
        None,
        "int or numpy Generator, optional",
        "For the random graphs. None is 0: the same call gives the same answer.",
    )

    partial_correlation_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The partial correlations: symmetric, with zeros where there is no edge, and on the diagonal.",
    )
    adjacency_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The weights of the edges, which are ``partial_correlation_``.",
    )
    precision_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The precision matrix of the fitted distribution, in the units of the data.",
    )
    covariance_: FloatArray = attribute(
        "array of shape (n_features, n_features)", "Its covariance matrix, the inverse of ``precision_``."
    )
    location_: FloatArray = attribute("array of shape (n_features,)", "The means.")
    log_likelihood_: float = attribute("float", "The mean over the training samples.")
    diagonal_: FloatArray = attribute(
        "array of shape (n_features,)",
        """
        The diagonal of the precision matrix, of variables of variance 1, that the last search was made
        with.""",
    )
    ridge_: float = attribute(
        "float", "The ridge of the last fit: larger than ``ridge`` if the likelihood had no maximum."
    )

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean log-likelihood of samples under the fitted distribution: higher is better.

        Of a sample with missing entries it is the likelihood of the others. Columns that never varied in fit
        count as if their variance were 1.
        """
        check_is_fitted(self)
        sample = self._read_data(X, sample_weight, reset=False)
        return mean_log_likelihood(sample, self.location_, self.covariance_)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> FloatArray | pd.DataFrame:
        """Draw samples of the fitted distribution.

        Parameters
        ----------
        n_samples : int
        random_state : int or numpy Generator, optional
            None is 0: the same call gives the same samples.

        Returns
        -------
        array of shape (n_samples, n_features_in_), or pandas.DataFrame
            A frame if the columns of the training data had names.
        """
        check_is_fitted(self)
        rng, n_samples = as_generator(random_state), as_count(n_samples, "n_samples")
        normal = rng.standard_normal((n_samples, self.n_features_in_))
        drawn = self.location_ + normal @ np.linalg.cholesky(self.covariance_).T
        return self._framed(drawn, []) if hasattr(self, "feature_names_in_") else drawn

    # -- the contract of BaseGraph ------------------------------------------------------------------

    @override
    def _read_data(self, X: Any, sample_weight: Any, *, reset: bool) -> GraphSample:
        if reset:
            warn_of_lost_names(X)
        values = validate_data(
            self,
            as_ordered_numbers(X, self.correlation),
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=1 + reset,
            reset=reset,
        )
        sample = GraphSample.read(values, read_weight(sample_weight, len(values)))
        if reset:
            warn_of_codes(sample.values, self._vertices().nodes)
            warn_of_twins(sample.values, self._vertices().nodes)
        return sample

    @override
    def _objective(self, sample: GraphSample) -> SampleLikelihood:
        moments = self._correlations(sample)
        return self._objective_at(moments, first_diagonal(sample, moments))

    @override
    def _fitted_objective(self, sample: GraphSample) -> SampleLikelihood:
        return self._objective_at(self._correlations(sample), self.diagonal_)

    @override
    def _install_fit(self, objective: SampleLikelihood, support: IndexArray) -> None:
        fit = self._fit_on(objective, support, warns=True)
        if not fit.converged:
            warn(
                "the maximum of the likelihood on this graph was not quite reached, as variables are nearly "
                "linear combinations of each other; a ridge such as 0.01 helps",
                ConvergenceWarning,
            )
        scales = np.outer(objective.scale_of_data, objective.scale_of_data)
        roots = np.sqrt(np.diag(fit.precision))
        self.location_, self.diagonal_ = objective.moments.means, objective.diagonal
        self.n_observed_ = objective.moments.n_observed
        self.covariance_, self.precision_ = fit.covariance * scales, fit.precision / scales
        self.partial_correlation_ = 0.0 - fit.precision / np.outer(roots, roots)  # no zero is negative
        np.fill_diagonal(self.partial_correlation_, 0.0)
        self.adjacency_ = self.partial_correlation_
        self.log_likelihood_ = fit.log_likelihood - float(np.log(objective.scale_of_data).sum())

    # -- data, objective and fits -------------------------------------------------------------------

    def _correlations(self, sample: GraphSample) -> Correlations:
        return correlations(sample.values, self.correlation, sample.weight, self._vertices().nodes)

    def _objective_at(self, moments: Correlations, diagonal: FloatArray) -> SampleLikelihood:
        shrunk = moments.matrix / (1.0 + as_real(self.ridge, "ridge"))
        np.fill_diagonal(shrunk, 1.0)
        edges = known_pairs(self._candidate_edges(), moments)
        objective = SampleLikelihood.from_covariance(shrunk, edges=edges, diagonal=diagonal)
        objective.moments = moments
        return objective

    def _fit_on(
        self, objective: SampleLikelihood, support: IndexArray, *, warns: bool = False
    ) -> GaussianFit:
        """Return the maximum-likelihood fit on a graph, with a ridge where there is no maximum without."""
        graph = objective.moments.matrix, objective.tail[support], objective.head[support]
        self.ridge_ = float(self.ridge)
        try:
            return fit_correlations(*graph, self.ridge_)
        except NoMaximum as no_maximum:
            self.ridge_ = max(LAST_RESORT, 2.0 * self.ridge_)
            if warns:
                vertex = no_maximum.vertex
                such = "" if vertex is None else f", such as {self._vertices().nodes[vertex]!r}"
                warn(
                    "the likelihood has no maximum on this graph, since some variables are, or nearly are, "
                    f"linear combinations of their neighbours{such}: "
                    f"fitted with ridge={self.ridge_:g}"
                )
            return fit_correlations(*graph, self.ridge_)


@with_parameters
class GaussianGraph(GraphWithinLimits, BaseGaussianGraph):
    """Learn which pairs of variables depend on each other given all others, with few neighbours for each.

    The edges are the entries of the precision matrix of a Gaussian distribution that are not zero. They
    maximise the pseudo-likelihood of the samples among all graphs within the limits, see
    :class:`GaussianPseudoLikelihood`; the numbers on them are those of maximum likelihood on the graph.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GaussianGraphCV : with the number of edges chosen by a criterion.
    sklearn.covariance.GraphicalLasso : the convex relative.

    Notes
    -----
    The pseudo-likelihood is searched at a given diagonal of the precision matrix: first that of the inverse
    of a covariance matrix shrunk by Ledoit and Wolf's recipe, then the best one for the graph found, until
    the graph repeats.

    Missing entries are NaN. A correlation is that of the samples in which both variables were observed;
    where all correlations together are not positive semidefinite, the nearest correlation matrix is taken,
    with a warning.

    References
    ----------
    - Lauritzen (1996), Graphical Models.

    Examples
    --------
    A chain, in which each variable depends on the one before:

    >>> import numpy as np
    >>> from swapwise import GaussianGraph
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.standard_normal((500, 4)), axis=1)
    >>> model = GaussianGraph(max_degree=2, max_edges=3).fit(X)
    >>> model.support_
    array([[0, 1],
           [1, 2],
           [2, 3]])
    >>> model.partial_correlation_.round(2)
    array([[0.  , 0.52, 0.  , 0.  ],
           [0.52, 0.  , 0.49, 0.  ],
           [0.  , 0.49, 0.  , 0.71],
           [0.  , 0.  , 0.71, 0.  ]])
    >>> round(model.score(X), 3), model.sample(2).shape
    (-5.664, (2, 4))
    """

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the graph and the distribution on it from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN where one is missing. In a frame also ordered categories, unless the correlations
            are Pearson's.
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, such as how often it was seen; for Pearson's correlations only.

        Returns
        -------
        GaussianGraph
            Itself.
        """
        objective = self._objective(self._read_data(X, sample_weight, reset=True))
        constraint = self._constraint(objective)
        self._install(*self._rounds(objective, constraint))
        return self

    def _rounds(
        self, objective: SampleLikelihood, constraint: Constraint
    ) -> tuple[SampleLikelihood, Constraint, SearchResult, FloatArray]:
        """Search, and search again from the graph found at the best diagonal for it, until it repeats."""
        start, before = self._start(objective), None
        for rounds_left in reversed(range(MOST_ROUNDS)):
            with nullcontext() if before is None else unwarned():  # the first round has given all warnings
                plan = planned(self, objective, constraint, start)
                result, frequency = searched(self, objective, constraint, plan, progress=self.progress)
            support, coef = result.support, result.coef
            repeats = before is not None and np.array_equal(support, before)
            if repeats or not rounds_left or result.status in CUT_SHORT:
                break
            assert coef is not None
            before, start = support, start if plan.rule is None else support
            objective = self._objective_at(objective.moments, objective.best_diagonal(coef))
        return objective, constraint, result, frequency


def as_ordered_numbers(X: Any, correlation: str) -> Any:
    """Return a frame with the codes of ordered categories, or raise if columns hold no numbers."""
    numbers = {}
    for place, (_, column) in enumerate(X.items() if isinstance(X, pd.DataFrame) else ()):
        if isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered and correlation != "pearson":
            numbers[place] = column.cat.codes.astype(np.float64).where(column.notna())
    if numbers:
        columns = [numbers.get(place, X.iloc[:, place]) for place in range(X.shape[1])]
        X = pd.concat(columns, axis=1).set_axis(X.columns, axis=1)
    require_numbers(X, ORDERED)
    return X


def known_pairs(edges: list[tuple[int, int]] | None, moments: Correlations) -> list[tuple[int, int]] | None:
    """Return the pairs of columns that may have an edge: not those that were never observed together."""
    unknown = np.triu(moments.n_observed < 2, 1) & np.outer(moments.varies, moments.varies)
    if not unknown.any():
        return edges
    pairs = list(combinations(range(len(unknown)), 2)) if edges is None else edges
    return [(u, v) for u, v in pairs if not unknown[min(u, v), max(u, v)]]


def first_diagonal(sample: GraphSample, moments: Correlations) -> FloatArray:
    """Return the diagonal of the inverse of a correlation matrix that is shrunk towards the identity.

    O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional covariance matrices", 2004: by the
    share of the squared distance to the target that is due to chance. Missing entries count as means.
    """
    scale = np.where(moments.varies, moments.deviations, 1.0)
    values = np.nan_to_num((sample.values - moments.means) / scale)
    n, matrix = len(moments.matrix), moments.matrix
    fourth = np.average((values**2).sum(axis=1) ** 2, weights=sample.weight)
    distance = float((matrix**2).sum()) - n
    chance = max(0.0, float(fourth) - float((matrix**2).sum())) / sample.size
    share = 1.0 if distance <= 0 else min(1.0, chance / distance)
    # Of a matrix that is singular something has to be added, however far it is from the target.
    shrunk = (1.0 - max(share, LAST_RESORT)) * matrix
    np.fill_diagonal(shrunk, 1.0)
    return np.diag(np.linalg.inv(shrunk)).copy()


def mean_log_likelihood(sample: GraphSample, location: FloatArray, covariance: FloatArray) -> float:
    """Return the mean log-density of what was observed of samples under a normal distribution."""
    known = ~np.isnan(sample.values)
    densities = np.zeros(len(known))
    patterns, which = known[:1], np.zeros(len(known), dtype=np.intp)
    if not known.all():
        patterns, which = np.unique(known, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == number)
        factor = np.linalg.cholesky(covariance[np.ix_(pattern, pattern)])
        left = (sample.values[np.ix_(rows, np.flatnonzero(pattern))] - location[pattern]).T
        standard = scipy.linalg.solve_triangular(factor, left, lower=True) if len(factor) else left
        constant = np.log(np.diag(factor)).sum() + 0.5 * len(factor) * np.log(2.0 * np.pi)
        densities[rows] = -0.5 * (standard**2).sum(axis=0) - constant
    return float(np.average(densities, weights=sample.weight))
