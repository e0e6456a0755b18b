"""The graph of binary, Gaussian and count variables, learnt from samples, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from swapwise.checks import FloatArray, IndexArray
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import GraphSample, GraphWithinLimits
from swapwise.graphs.estimators.column_families import MixedCoding
from swapwise.graphs.estimators.pairwise import PairwiseGraph, fitted_numbers
from swapwise.graphs.estimators.two_values import read_values
from swapwise.graphs.estimators.vertices import warn_of_constants, warn_of_lost_names
from swapwise.graphs.estimators.warnings import warn_of_twins
from swapwise.graphs.ising.open import read_weight
from swapwise.graphs.mixed import MixedPseudoLikelihood
from swapwise.override import override

# Conditional variances and the graph are found in turns, until variances change by less than this.
SETTLED, MOST_ROUNDS = 0.05, 4


@with_parameters
class BaseMixedGraph(PairwiseGraph):
    """All of :class:`MixedGraph` and :class:`MixedGraphCV` but the choice of the edges."""

    _: KW_ONLY
    families: Any = parameter(
        None,
        "mapping from column to str, sequence of str, or str, optional",
        """
        The family of each column given the others: ``"binary"``, ``"gaussian"`` or ``"counts"``. Columns that
        are not named are binary if they have two values, and Gaussian if they have others. Columns of whole
        numbers from 0 must be named, as they may be counts or a scale.""",
    )

    coupling_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        """
        The couplings: partial correlations among Gaussian columns, couplings of an Ising model among binary
        ones; zeros where there is no edge. Gaussian columns are in units of their conditional deviations, and
        counts of their deviations.""",
    )
    variance_: FloatArray = attribute(
        "array of shape (n_features,)",
        """
        Conditional variances of Gaussian columns, relative to their variances; 1 for others. They come from
        regressions on all other columns or, with fewer than five samples per column, take turns with the
        graph.""",
    )
    families_: list[str] = attribute("list of str", "The family of each column.")
    graph_: nx.Graph = attribute(
        "networkx.Graph",
        """
        Its nodes are the names of the columns, or else their positions, with the attributes ``family`` and
        ``field``; its edges have the attribute ``weight``.""",
    )

    weight_is = "standardised coupling"

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of ``Σ_v log p(x_v | neighbours)`` over the rows of X, at the fitted numbers.

        Densities of Gaussian columns are in units of the data. Terms of missing values are left out, and
        rows without any value do not count; higher is better.
        """
        check_is_fitted(self)
        sample = self._read_data(X, sample_weight, reset=False)
        return self._conditionals.mean_log_likelihood(
            sample.values, self.coupling_, self.field_, sample.weight
        )

    @override
    def _read_data(self, X: Any, sample_weight: Any, *, reset: bool) -> GraphSample:
        values = read_values(self, X, reset=reset)
        weight = read_weight(sample_weight, len(values))
        vertices = self._vertices()
        if reset:
            warn_of_lost_names(X)
            self._coding = MixedCoding.read(values, vertices, self.families, X)
            self.families_ = list(self._coding.families)
        sample = GraphSample.read(self._coding.to_numbers(values, vertices.nodes), weight)
        if reset:
            warn_of_constants(sample.values, vertices)
            warn_of_twins(sample.values, vertices.nodes)
        return sample

    @override
    def _objective(self, sample: Any) -> MixedPseudoLikelihood:
        return self._objective_at(sample, self._variances)

    def _objective_at(self, sample: Any, variances: FloatArray | None) -> MixedPseudoLikelihood:
        return MixedPseudoLikelihood(
            sample.values,
            self.families_,
            self.ridge,
            self._candidate_edges(),
            sample.weight,
            variances,
            sample.completed,
        )

    @override
    def _local_fields(self) -> tuple[FloatArray, FloatArray]:
        return self._conditionals.in_units_of_data(self.coupling_, self.field_)

    @override
    def _draw(self, vertex: int, local: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self._conditionals.draw(vertex, local, rng)

    def _in_turns(self, sample: GraphSample, search: Callable[[GraphSample], Any]) -> None:
        """Search with conditional variances that agree with the graph.

        Those of regressions on all other columns do, and do not change; with few samples, they begin at 1.
        """
        found = self._objective_at(sample, None).variances
        for _ in range(MOST_ROUNDS):
            #: The conditional variances that the last search was made with
            self._variances = found
            search(sample)
            found = self._agreeing_variances(sample)
            if np.allclose(found, self._variances, rtol=SETTLED):
                return

    @override
    def _refit(self, sample: GraphSample) -> None:
        self._variances = self._agreeing_variances(sample)
        super()._refit(sample)

    def _agreeing_variances(self, sample: GraphSample) -> FloatArray:
        """Return conditional variances on the graph that was found, or on all columns of many samples."""
        first = self._objective_at(sample, None)
        if first.samples.are_regressed:
            return first.variances
        return self._objective(sample).residual_variances(self.result_.support)

    @override
    def _install_fit(self, objective: MixedPseudoLikelihood, support: IndexArray) -> None:
        self.coupling_, self.field_ = fitted_numbers(objective, support)
        self.adjacency_ = self.coupling_
        self.variance_, self.n_observed_ = objective.variances, objective.n_observed
        self._conditionals = objective.samples.conditionals

    @override
    def _attributes(self, vertex: int) -> dict[str, Any]:
        return {"family": self.families_[vertex], "field": float(self.field_[vertex])}


@with_parameters
class MixedGraph(GraphWithinLimits, BaseMixedGraph):
    """Learn which of binary, Gaussian and count variables depend on each other, with a limit on neighbours.

    The pairwise model in which each variable is predicted from its neighbours by a generalised linear model,
    with one coupling for both directions of an edge; see :class:`MixedPseudoLikelihood`.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    MixedGraphCV : chooses the number of edges.
    IsingGraph, GaussianGraph : variables of one kind.

    Notes
    -----
    Values may be missing (NaN, None, pandas.NA): a variable is fitted to the samples in which it was
    observed, and drawn from the fitted model where it is a neighbour, as in :class:`IsingGraph`. Categories
    of more than two values are refused: an edge has one coupling.

    References
    ----------
    - Lee and Hastie (2015), Learning the structure of mixed graphical models.
    - Yang, Ravikumar, Allen and Liu (2012), Graphical models via generalized linear models.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from swapwise import MixedGraph
    >>> rng = np.random.default_rng(0)
    >>> ill = rng.random(300) < 0.4
    >>> X = pd.DataFrame({"ill": np.where(ill, "yes", "no"), "fever": 37 + ill + rng.normal(size=300) / 2})
    >>> X["visits"] = rng.poisson(np.where(ill, 4, 1))
    >>> model = MixedGraph(max_edges=2, families={"visits": "counts"}).fit(X)
    >>> model.to_frame().round(2)
      source  target  weight
    0    ill  visits    1.27
    1    ill   fever    1.01
    """

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn graph, couplings and fields from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data, of which some may be missing.
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        MixedGraph
            Itself.
        """
        sample = self._read_data(X, sample_weight, reset=True)
        self._search_completed(sample, lambda sample: self._in_turns(sample, self._search))
        return self
