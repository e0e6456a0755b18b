"""The graph of a Gaussian distribution whose number of edges is chosen by EBIC, BIC or cross-validation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.cross_validated import BaseGraphCV, EdgePenalty
from swapwise.graphs.estimators.gaussian import BaseGaussianGraph, SampleLikelihood, mean_log_likelihood
from swapwise.objectives.base import SparseState
from swapwise.override import override


@with_parameters
class GaussianGraphCV(BaseGraphCV, BaseGaussianGraph):
    """Learn the graph of a Gaussian distribution, with as many edges as a criterion finds worth it.

    One path of local searches goes over the number of edges, within the limits on the neighbours of each
    variable; the criterion, by the maximum likelihood on each graph, chooses a graph on it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    GaussianGraph : with limits in place of a criterion.
    bootstrap_graph : how sure the edges are.
    sklearn.covariance.GraphicalLassoCV : the convex relative.

    Notes
    -----
    EBIC is ``−2 ℓ + E log N + 4 γ E log V`` with the log-likelihood ℓ of N samples, E edges and V variables.
    BIC takes far too many edges where there are fewer samples than variables.
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

    _: KW_ONLY
    gamma: float = parameter(0.5, "float", "The γ of EBIC: the larger, the fewer edges; 0 is BIC.")

    path_: pd.DataFrame = attribute(
        "pandas.DataFrame",
        """
        One row for every number of edges: ``n_edges``, ``log_likelihood`` (of all samples, at its maximum on
        the graph), ``bic``, ``ebic`` (lower is better), and with ``criterion="cv"`` ``score_mean`` and
        ``score_se`` (the held-out score's mean over the folds and its standard error; higher is better).""",
    )

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
    def _most_edges(self, sample: GraphSample) -> int:
        n = self.n_features_in_
        return int(n * sample.size / (2.0 * np.log(max(n, 2))))

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
