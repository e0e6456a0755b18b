"""The graph of a Gaussian distribution whose number of edges is chosen by EBIC, BIC or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.cross_validated import BaseGraphCV, EdgePenalty
from swapwise.graphs.estimators.gaussian import BaseGaussianGraph, SampleLikelihood, mean_log_likelihood
from swapwise.objectives.base import SparseState
from swapwise.override import override
from swapwise.search.plan import Plan
from swapwise.search.rules import Pivot
from swapwise.search.size_path import SizePath


class GaussianGraphCV(BaseGraphCV, BaseGaussianGraph):
    """Learn the graph of a Gaussian distribution, with as many edges as a criterion finds worth it.

    One path of local searches goes over the number of edges, within the limits on the neighbours of each
    variable; the criterion, by the maximum likelihood on each graph, chooses a graph on it.

    Parameters
    ----------
    max_degree : int, mapping from vertex to int, sequence of int, or None
        How many neighbours a variable may have, as in :class:`GaussianGraph`; None for any number.
    criterion : "ebic", "bic" or "cv"
        What chooses the number of edges: the extended Bayesian information criterion, the Bayesian one (which
        takes far too many edges where there are fewer samples than variables), or the likelihood of samples
        that were left out.
    gamma : float
        The γ of EBIC: the larger, the fewer edges; 0 is BIC.
    max_edges : int, optional
        How many edges there may be at most.
    edges, forced_edges, threshold, correlation, ridge
        As in :class:`GaussianGraph`.
    cv, one_standard_error, n_jobs
        As in :class:`IsingGraphCV`.
    method, n_restarts, q, max_iter, tol, time_limit, random_state, progress
        As in :class:`GaussianGraph`; restarts are made with the number of edges that was chosen.

    Attributes
    ----------
    path_ : pandas.DataFrame
        One row for every number of edges: ``n_edges``, ``log_likelihood`` (of all samples, at its maximum on
        the graph), ``bic``, ``ebic`` (lower is better), and with ``criterion="cv"`` ``score_mean`` and
        ``score_se`` (the held-out score's mean over the folds and its standard error; higher is better).
    n_edges_ : int
        How many edges were chosen; ``threshold`` may have left some of them out.
    partial_correlation_, adjacency_, precision_, covariance_, location_, graph_, support_, ...
        As in :class:`GaussianGraph`, of the fit to all data.

    See Also
    --------
    GaussianGraph : with limits in place of a criterion.
    bootstrap_graph : how sure the edges are.
    sklearn.covariance.GraphicalLassoCV : the convex relative.

    Notes
    -----
    EBIC is ``−2 ℓ + E log N + 4 γ E log V`` with the log-likelihood ℓ of N samples, E edges and V variables.
    Where entries are missing, ℓ is that of as many samples as two variables were observed in, on average:
    correlations of fewer samples vary more, and would make for false edges.

    Around the chosen number of edges, graphs are local optima; further away they are what adding the best
    edge one by one leads to. All are searched at the first of the diagonals that :class:`GaussianGraph` goes
    through: in simulations, EBIC at later ones was the same to four digits.

    References
    ----------
    - Foygel and Drton (2010), Extended Bayesian information criteria for Gaussian graphical models.

    Examples
    --------
    Seven variables in a chain, each of which depends on the one before: six edges.

    >>> import numpy as np
    >>> from swapwise import GaussianGraphCV
    >>> rng = np.random.default_rng(0)
    >>> X = np.cumsum(rng.standard_normal((300, 7)), axis=1)
    >>> model = GaussianGraphCV().fit(X)
    >>> model.support_.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]
    >>> print(model.summary())
    7 variables, 6 edges, chosen by EBIC (γ = 0.5) among all graphs; 1 component
    """

    def __init__(
        self,
        max_degree: int | Mapping[Any, int] | Iterable[int] | None = None,
        *,
        criterion: str = "ebic",
        gamma: float = 0.5,
        max_edges: int | None = None,
        edges: Any = None,
        forced_edges: Any = None,
        threshold: float = 0.0,
        correlation: str = "pearson",
        ridge: float = 0.0,
        cv: Any = 5,
        one_standard_error: bool = False,
        n_jobs: int | None = None,
        method: str | Pivot = "auto",
        q: int = 1,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.max_degree = max_degree
        self.criterion = criterion
        self.gamma = gamma
        self.max_edges = max_edges
        self.edges = edges
        self.forced_edges = forced_edges
        self.threshold = threshold
        self.correlation = correlation
        self.ridge = ridge
        self.cv = cv
        self.one_standard_error = one_standard_error
        self.n_jobs = n_jobs
        self.method = method
        self.q = q
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the number of edges, and learn the graph and the distribution on it from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers; NaN where one is missing.
        y : object
            For the splitter of ``cv`` alone.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, as in :class:`IsingGraphCV`; for Pearson's correlations only.

        Returns
        -------
        GaussianGraphCV
            Itself.
        """
        self._choose_graph(self._read_samples(X, sample_weight), y)
        return self

    @override
    def _path(
        self,
        objective: SampleLikelihood,
        constraint: Constraint,
        plan: Plan,
        sample: GraphSample,
        loss: Callable[[float, int], float],
        measure: Callable[[SparseState], float] | None = None,
        **options: Any,
    ) -> SizePath:
        n = self.n_features_in_
        most = int(n * sample.size / (2.0 * np.log(max(n, 2))))
        options.setdefault("largest", max(most, len(constraint.forced)))
        return super()._path(objective, constraint, plan, sample, loss, measure, **options)

    @override
    def _log_likelihood(self, objective: SampleLikelihood, sample: GraphSample, state: SparseState) -> float:
        fit = self._fit_on(objective, state.support)
        mean = fit.log_likelihood - float(np.log(objective.scale_of_data).sum())
        return self._n_samples(objective, sample) * mean

    @override
    def _n_samples(self, objective: SampleLikelihood, sample: GraphSample) -> float:
        return sample.size * objective.moments.information

    @override
    def _edge_penalty(self, n_samples: float, n_vertices: int, gamma: float) -> EdgePenalty:
        log_n = float(np.log(n_samples))
        return EdgePenalty(bic=log_n, ebic=log_n + 4.0 * gamma * float(np.log(n_vertices)))

    @override
    def _held_out(self, objective: SampleLikelihood, support: IndexArray, sample: GraphSample) -> float:
        scale = objective.scale_of_data
        covariance: FloatArray = self._fit_on(objective, support).covariance * np.outer(scale, scale)
        return mean_log_likelihood(sample, objective.moments.means, covariance)
