"""Graphs of variables that are each predicted from their neighbours, with draws for missing values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_generator, warn
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import BaseGraph, GraphSample
from swapwise.graphs.estimators.vertices import symmetric_matrix
from swapwise.graphs.ising import PairwisePseudoLikelihood
from swapwise.override import override
from swapwise.search.loop import CUT_SHORT
from swapwise.search.rules import Pivot

# Draws of missing values and fits take turns. In each, a false edge keeps only about as much of its weight
# as is missing of the data, so that a few suffice; sweeps of Gibbs sampling go on from turn to turn.
TURNS, SWEEPS = 10, 3

# A row that counts more often is completed too seldom: once.
MOST_AT_ONCE = 10


@with_parameters
class PairwiseGraph(BaseGraph):
    """A graph of variables with a known distribution given their neighbours: an Ising or mixed model.

    A search takes means for missing values. The variables on both sides of a missing one then look dependent;
    so missing values are drawn from the fitted model, given what was observed, in turns with the fit, and
    there is a second search. Terms of missing values stay left out: draws tell about their neighbours, not
    about themselves.
    """

    _: KW_ONLY
    ridge: float = parameter(
        0.01,
        "float",
        "Weight of the penalty ``‖w‖²/2`` on the couplings, next to the mean over the samples.",
    )
    method: str | Pivot = parameter(
        "auto",
        "str, pivot rule or method",
        """
        How to search: by any rule or method that :func:`swapwise.maximize` lists. ``"auto"`` is
        semi-oblivious up to 300 pairs (25 variables) and non-oblivious beyond: that is hundreds of times
        faster there, and usually ends within a percent or so of what the semi-oblivious rule finds.""",
    )

    coupling_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The couplings: symmetric, with zeros where there is no edge.",
    )
    adjacency_: FloatArray = attribute(
        "array of shape (n_features, n_features)", "The weights of the edges, which are ``coupling_``."
    )
    field_: FloatArray = attribute("array of shape (n_features,)", "The biases.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _can_draw(self) -> bool:
        """Whether missing values can be drawn: not if the data are none that the model describes."""
        return True

    @abstractmethod
    def _local_fields(self) -> tuple[FloatArray, FloatArray]:
        """Return slopes, a row per vertex, and intercepts of the local fields."""

    @abstractmethod
    def _draw(self, vertex: int, local: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return a value of a vertex for each local field."""

    def _search_completed(self, sample: GraphSample, search: Callable[[GraphSample], Any]) -> None:
        """Search, and again with draws for missing values, unless the first search was cut short."""
        #: Draws for missing values of the training data, in their order
        self._drawn: FloatArray | None = None
        search(sample)
        missing = np.isnan(sample.values)
        if not missing.any() or not self._can_draw or self.result_.status in CUT_SHORT:
            return
        _warn_of_counts(sample, missing)
        rng = as_generator(self.random_state)
        completed = _from_their_columns(sample.values, rng)
        for _ in range(TURNS):
            self._redraw(completed, missing, rng)
            self._refit(sample._replace(completed=completed))
        self._drawn = completed[missing]
        search(sample._replace(completed=completed))

    def _refit(self, sample: GraphSample) -> None:
        self._install_fit(self._objective(sample), self.result_.support)

    def _redraw(self, values: FloatArray, missing: BoolArray, rng: np.random.Generator) -> None:
        """Draw missing values in place, each once per sweep, given all others in its row."""
        slopes, intercepts = self._local_fields()
        vertices = np.flatnonzero(missing.any(axis=0)).tolist()
        rows_of = {vertex: np.flatnonzero(missing[:, vertex]) for vertex in vertices}
        for _ in range(SWEEPS):
            for vertex, rows in rows_of.items():
                near = np.flatnonzero(slopes[vertex])
                local = values[np.ix_(rows, near)] @ slopes[vertex, near] + intercepts[vertex]
                values[rows, vertex] = self._draw(vertex, local, rng)

    @override
    def _fitted_objective(self, sample: GraphSample) -> Any:
        missing = np.isnan(sample.values)
        drawn = getattr(self, "_drawn", None)  # none of data in chunks
        if drawn is None or len(drawn) != missing.sum():
            return self._objective(sample)
        completed = sample.values.copy()
        completed[missing] = drawn
        return self._objective(sample._replace(completed=completed))


def _warn_of_counts(sample: GraphSample, missing: BoolArray) -> None:
    if not sample.weights_are_counts:
        return
    most = sample.weight[missing.any(axis=1)].max()
    if most > MOST_AT_ONCE:
        warn(
            "each row with missing values is completed once, however often it counts, and one of them counts "
            f"{most:.0f} times; repeat such rows instead, so that each is completed by itself"
        )


def _from_their_columns(values: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Fill missing values with those of other rows; 0 if there are none."""
    completed = values.copy()
    for column in completed.T:
        missing = np.isnan(column)
        column[missing] = rng.choice(column[~missing], missing.sum()) if not missing.all() else 0.0
    return completed


def fitted_numbers(objective: PairwisePseudoLikelihood, support: IndexArray) -> tuple[FloatArray, FloatArray]:
    """Return the matrix of couplings and the fields of the fit on a graph."""
    _, parameters = objective.fit_from(support, objective.no_couplings(len(support)))
    of_edges = np.zeros(objective.n)
    of_edges[support] = parameters[: len(support)]
    fields = parameters[len(support) :] if objective.fields else np.zeros(objective.n_vertices)
    return symmetric_matrix(objective, of_edges), fields
