"""The graph of mixed variables whose number of edges is chosen by EBIC, BIC or cross-validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import IndexArray
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.cross_validated import BaseGraphCV
from swapwise.graphs.estimators.mixed import BaseMixedGraph
from swapwise.graphs.mixed import MixedPseudoLikelihood
from swapwise.override import override
from swapwise.search.rules import Pivot


class MixedGraphCV(BaseGraphCV, BaseMixedGraph):
    """Learn the graph of binary, Gaussian and count variables, with as many edges as a criterion wants.

    One path of local searches goes over the number of edges, within the limits on the neighbours of each
    variable; the criterion chooses a graph on it.

    Parameters
    ----------
    max_degree : int, mapping from vertex to int, sequence of int, or None
        How many neighbours a variable may have, as in :class:`MixedGraph`; None for any number.
    families
        As in :class:`MixedGraph`.
    criterion : "ebic", "bic" or "cv"
        What chooses the number of edges. EBIC is the sum of the EBICs of all variables given their
        neighbours: ``-2 ℓ + 2 E (log N + 2 γ log(V - 1))``, as each of E edges is a parameter of two of them.
    gamma : float
        The γ of EBIC: the larger, the fewer edges; 0 is BIC.
    max_edges, edges, forced_edges, threshold, ridge
        As in :class:`MixedGraph`.
    cv, one_standard_error, n_jobs, method, n_restarts, q, max_iter, tol, time_limit, random_state, progress
        As in :class:`IsingGraphCV`; with counts, ``method="auto"`` is semi-oblivious, which takes longer.

    Attributes
    ----------
    path_, n_edges_
        As in :class:`IsingGraphCV`.
    adjacency_, coupling_, field_, variance_, families_, n_observed_, graph_, support_, result_, constraint_
        As in :class:`MixedGraph`.

    See Also
    --------
    MixedGraph : with limits in place of a criterion.
    bootstrap_graph : how sure the edges are.

    References
    ----------
    - Haslbeck and Waldorp (2020), mgm: estimating time-varying mixed graphical models in high-dimensional
      data.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import MixedGraphCV
    >>> rng = np.random.default_rng(0)
    >>> spin = rng.choice([0, 1], 300)
    >>> X = np.column_stack([spin, spin + rng.normal(size=300), rng.normal(size=300)])
    >>> model = MixedGraphCV().fit(X)
    >>> print(model.summary())
    3 variables, 1 edge, chosen by EBIC (γ = 0.25) among all graphs; 1 component, 1 variable without an edge
    """

    def __init__(
        self,
        max_degree: int | Mapping[Any, int] | Iterable[int] | None = None,
        *,
        families: Any = None,
        criterion: str = "ebic",
        gamma: float = 0.25,
        max_edges: int | None = None,
        edges: Any = None,
        forced_edges: Any = None,
        threshold: float = 0.0,
        ridge: float = 0.01,
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
        self.families = families
        self.criterion = criterion
        self.gamma = gamma
        self.max_edges = max_edges
        self.edges = edges
        self.forced_edges = forced_edges
        self.threshold = threshold
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
        """Choose the number of edges and learn graph, couplings and fields from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data, of which some may be missing.
        y : object
            For the splitter of ``cv`` alone.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, as in :class:`IsingGraphCV`.

        Returns
        -------
        MixedGraphCV
            Itself.
        """
        sample = self._read_samples(X, sample_weight)
        self._search_completed(
            sample, lambda sample: self._in_turns(sample, lambda sample: self._choose_graph(sample, y))
        )
        return self

    @override
    def _held_out(self, objective: MixedPseudoLikelihood, support: IndexArray, sample: GraphSample) -> float:
        _, parameters = objective.fit_from(support, objective.no_couplings(len(support)))
        coef = np.zeros(objective.n)
        coef[support] = parameters[: len(support)]
        coupling, fields = objective.samples.model.coupling_matrix(coef), parameters[len(support) :]
        return objective.samples.conditionals.mean_log_likelihood(
            sample.values, coupling, fields, sample.weight, sample.completed
        )
