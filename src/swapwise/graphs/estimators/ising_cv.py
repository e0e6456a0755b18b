"""The graph of an Ising model whose number of edges is chosen by EBIC, BIC or cross-validation."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from swapwise.checks import IndexArray
from swapwise.estimators.parameters import KW_ONLY, parameter, with_parameters
from swapwise.graphs.estimators.base import GraphSample
from swapwise.graphs.estimators.cross_validated import BaseGraphCV
from swapwise.graphs.estimators.ising import BaseIsingGraph
from swapwise.graphs.estimators.pairwise import fitted_numbers
from swapwise.graphs.estimators.spins import mean_likelihood
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.override import override
from swapwise.search.rules import Pivot


@with_parameters
class IsingGraphCV(BaseGraphCV, BaseIsingGraph):
    """Learn the graph of an Ising model, with as many edges as a criterion finds worth it.

    One path of local searches goes over the number of edges, within the limits on the neighbours of each
    variable; the criterion chooses a graph on it. So weak edges go because they do not pay, not because of a
    threshold on their weight.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    IsingGraph : with limits in place of a criterion.
    bootstrap_graph : how sure the edges are.
    plot_path : the criterion over the number of edges.

    Notes
    -----
    The criteria are the sums of those of the variables, each of which is predicted from its neighbours:
    ``−2 ℓ + 2 E (log N + 2 γ log(V − 1))`` with the pseudo-log-likelihood ℓ of N samples, E edges and V
    variables. An edge counts twice because it is a parameter of two predictions. That is right for a
    pseudo-likelihood, too: twice what an edge gains that is not there is about twice a χ² variable.

    Around the chosen number of edges, graphs are local optima; further away they are what adding the
    steepest edge one by one leads to.

    References
    ----------
    - Chen and Chen (2008), Extended Bayesian information criteria for model selection with large model
      spaces.
    - van Borkulo et al. (2014), A new method for constructing networks from binary data (IsingFit).
    - Barber and Drton (2015), High-dimensional Ising model selection with Bayesian information criteria.
    - Gao and Song (2010), Composite likelihood Bayesian information criteria for model selection.

    Examples
    --------
    Seven variables in a chain, each of which mostly repeats the one before: six edges.

    >>> import numpy as np
    >>> from swapwise import IsingGraphCV
    >>> rng = np.random.default_rng(0)
    >>> turns = np.where(rng.random((400, 7)) < 0.2, -1, 1)
    >>> model = IsingGraphCV().fit(np.cumprod(turns, axis=1))
    >>> model.support_.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]
    >>> print(model.summary())
    7 variables, 6 edges, chosen by EBIC (γ = 0.25) among all graphs; 1 component
    >>> model.path_.round(1).iloc[4:8]
       n_edges  log_likelihood     bic    ebic
    4        4         -1292.7  2633.4  2640.6
    5        5         -1212.1  2484.2  2493.1
    6        6         -1133.8  2339.4  2350.2
    7        7         -1131.9  2347.7  2360.3
    """

    _: KW_ONLY
    method: str | Pivot = parameter(
        "auto",
        "str, pivot rule or method",
        """
        How to search: by any rule or method that :func:`swapwise.maximize` lists. ``"auto"`` is
        non-oblivious: around the best size it found the same sparse graphs as the semi-oblivious rule does,
        in a tenth of the time; where variables have many neighbours, ``n_restarts`` may find better ones.""",
    )

    def fit(self, X: ArrayLike, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the number of edges and learn graph, couplings and fields from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of two values each, as for :class:`IsingGraph`, in memory.
        y : object
            For the splitter of ``cv`` alone.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts. Whole numbers are counts: N is their sum, and if ``cv`` is a number,
            each sample is in a random fold, as if rows were repeated. With other weights, N is the number of
            equally weighted rows that would tell as much, Kish's ``(Σw)²/Σw²``; they go with their rows, in
            the fit and in the score of a fold. So divide survey weights that are whole numbers by their
            mean, or too many edges are found.

        Returns
        -------
        IsingGraphCV
            Itself.
        """
        sample = self._read_samples(X, sample_weight)
        self._search_completed(sample, lambda sample: self._choose_graph(sample, y))
        return self

    @override
    def _held_out(self, objective: IsingPseudoLikelihood, support: IndexArray, sample: GraphSample) -> float:
        numbers = fitted_numbers(objective, support)
        seen = objective.imputed if sample.completed is None else sample.completed
        return mean_likelihood(sample.values, sample.weight, *numbers, seen)
