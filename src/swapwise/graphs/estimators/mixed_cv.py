"""The graph of mixed variables whose number of edges is chosen by EBIC, BIC or cross-validation."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from swapwise.checks import IndexArray
from swapwise.estimators.parameters import KW_ONLY, parameter, with_parameters
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.cross_validated import BaseGraphCV
from swapwise.graphs.estimators.mixed import BaseMixedGraph
from swapwise.graphs.estimators.pairwise import fitted_numbers
from swapwise.graphs.mixed import MixedPseudoLikelihood
from swapwise.override import override
from swapwise.search.rules import Pivot


@with_parameters
class MixedGraphCV(BaseGraphCV, BaseMixedGraph):
    """Learn the graph of binary, Gaussian and count variables, with as many edges as a criterion wants.

    One path of local searches goes over the number of edges, within the limits on the neighbours of each
    variable; the criterion chooses a graph on it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MixedGraph : with limits in place of a criterion.
    bootstrap_graph : how sure the edges are.

    Notes
    -----
    EBIC is the sum of the EBICs of all variables given their neighbours:
    ``-2 ℓ + 2 E (log N + 2 γ log(V - 1))``, as each of E edges is a parameter of two of them.

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

    _: KW_ONLY
    method: str | Pivot = parameter(
        "auto",
        "str, pivot rule or method",
        """
        How to search: by any rule or method that :func:`swapwise.maximize` lists. ``"auto"`` is
        non-oblivious: around the best size it found the same sparse graphs as the semi-oblivious rule does,
        in a tenth of the time; where variables have many neighbours, ``n_restarts`` may find better ones.
        With counts, ``"auto"`` is semi-oblivious, which takes longer.""",
    )

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
        coupling, fields = fitted_numbers(objective, support)
        return objective.samples.conditionals.mean_log_likelihood(
            sample.values, coupling, fields, sample.weight, sample.completed
        )
