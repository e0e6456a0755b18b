"""Parameters and attributes that graph estimators share.

Where several of these mix-ins declare one, the first base counts, as for any attribute: declarations of
:class:`ChoiceParameters` hold for all graphs whose number of edges is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import networkx as nx
import pandas as pd
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.estimators.parameters import KW_ONLY, BaseEstimator, attribute, parameter, with_parameters
from swapwise.search.result import SearchResult
from swapwise.search.rules import Pivot

_DEGREES = "int, mapping from vertex to int, sequence of int, or None"
_MOST_NEIGHBOURS = """
    How many neighbours a variable may have: a number for all, by name (or position), or in the order of the
    columns; None for any number."""


@with_parameters
class GraphParameters(BaseEstimator):
    """Those of all graphs: limits on edges, and the search."""

    max_degree: int | Mapping[Any, int] | Iterable[int] | None = parameter(3, _DEGREES, _MOST_NEIGHBOURS)
    _: KW_ONLY
    max_edges: int | None = parameter(
        None, "int, optional", "How many edges there may be in all; by default as many as degrees allow."
    )
    edges: Any = parameter(
        None,
        "sequence of pairs, or networkx graph, optional",
        "The pairs that may have an edge, by names or positions of the columns; by default all.",
    )
    forced_edges: Any = parameter(
        None,
        "sequence of pairs, or networkx graph, optional",
        "Edges that are in every graph, and count towards all limits.",
    )
    threshold: float = parameter(
        0.0,
        "float",
        """
        Leave out edges whose weight in ``adjacency_`` is at most this large, and fit the others again; not
        those that are forced.""",
    )
    method: str | Pivot = parameter(
        "auto",
        "str, pivot rule or method",
        """
        How to search: ``"auto"``, local search by ``"oblivious"``, ``"semi-oblivious"`` or
        ``"non-oblivious"`` (or a rule object), or another method, such as ``"greedy"`` (or an object of
        ``swapwise.methods``). :func:`swapwise.maximize` lists them.""",
    )
    q: int = parameter(1, "int", "How many edges a move may exchange in local search.")
    n_restarts: int = parameter(
        0, "int", "This many further searches begin at random graphs, and the best answer is kept."
    )
    max_iter: int | None = parameter(
        None, "int, optional", "Largest number of moves of each search, after a start that is given by name."
    )
    tol: float = parameter(
        1e-10,
        "float",
        "A move improves if it gains more than ``tol`` times the value of a perfect prediction.",
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        """
        Seconds after which the best graph so far is taken, for a search with all its restarts. Where values
        are missing there are two searches.""",
    )
    random_state: Any = parameter(
        None,
        "int or numpy Generator, optional",
        """
        For the random graphs, and for draws of missing values. None is 0: the same call gives the
        same answer.""",
    )
    progress: bool = parameter(False, "bool", "Show a bar on the terminal.")

    adjacency_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The weights of the edges: symmetric, with zeros where there is no edge.",
    )
    graph_: nx.Graph = attribute(
        "networkx.Graph",
        """
        Its nodes are the names of the columns, or else their positions; its edges have the attribute
        ``weight``.""",
    )
    support_: IndexArray = attribute("array of shape (n_edges, 2)", "The edges, as pairs of columns.")
    pairs_: IndexArray = attribute(
        "array of shape (n_pairs, 2)", "The pairs of columns that may have an edge."
    )
    selection_frequency_: FloatArray = attribute(
        "array of shape (n_features, n_features)",
        "The share of restarts, the first search included, whose answer has the edge: all on the same data.",
    )
    result_: SearchResult = attribute(
        "SearchResult", "The search behind the graph; its elements are the rows of ``pairs_``."
    )
    constraint_: Constraint = attribute(
        "Constraint", "The limits of the search on these elements, with the forced edges in them."
    )
    limits_: IndexArray = attribute(
        "array of shape (n_features,)", "How many neighbours each variable may have."
    )
    n_iter_: int = attribute("int", "The number of moves on the record of ``result_``, at least 1.")
    n_observed_: IndexArray = attribute(
        "array of shape (n_features, n_features)",
        """
        In how many samples both of two variables were observed; on the diagonal, in how many one was.""",
    )
    n_features_in_: int = attribute("int", "The number of columns of the training data.")
    feature_names_in_: NDArray[Any] = attribute(
        "array of str, if the columns have names", "The names of the columns of the training data."
    )


@with_parameters
class StartParameters:
    """Where the search within given limits begins."""

    _: KW_ONLY
    start: Any = parameter(
        "auto",
        "str, edges, SearchResult, or numbers of elements",
        """
        Where local search begins: ``"auto"``, ``"empty"``, ``"greedy"`` or another name that
        :func:`swapwise.maximize` lists, a result (such as a ``result_``, or the ``better`` of a certificate),
        or the edges of a graph, such as the ``support_`` or ``graph_`` of another fit.""",
    )


@with_parameters
class ChoiceParameters:
    """What chooses the number of edges."""

    max_degree: int | Mapping[Any, int] | Iterable[int] | None = parameter(None, _DEGREES, _MOST_NEIGHBOURS)
    _: KW_ONLY
    criterion: str = parameter(
        "ebic",
        '"ebic", "bic" or "cv"',
        """
        What chooses the number of edges: the extended Bayesian information criterion, the Bayesian one, or
        the likelihood of samples that were left out.""",
    )
    gamma: float = parameter(
        0.25,
        "float",
        """
        The γ of EBIC: the larger, the fewer edges; 0 is BIC. 0.25 is common for binary data, 0.5 is
        stricter.""",
    )
    cv: Any = parameter(
        5,
        "int, splitter of scikit-learn, or iterable of (train, test)",
        """
        The folds of ``criterion="cv"``; an int is the number of consecutive folds, or of random ones if
        weights are counts.""",
    )
    one_standard_error: bool = parameter(
        False,
        "bool",
        """
        With ``criterion="cv"``, choose the fewest edges whose score is within one standard error of the
        best.""",
    )
    n_jobs: int | None = parameter(
        None,
        "int, optional",
        """
        How many folds run at a time; -1 for all processors. Within a context such as
        ``joblib.parallel_config(backend="dask")`` the workers of that cluster run them.""",
    )
    n_restarts: int = parameter(
        0,
        "int",
        """
        This many further searches, with the number of edges that was chosen, begin at random graphs, and the
        best answer is kept.""",
    )
    time_limit: float | None = parameter(
        None,
        "float, optional",
        """
        Seconds after which the best graph so far is taken, for each path over numbers of edges, of which a
        fold has its own.""",
    )

    path_: pd.DataFrame = attribute(
        "pandas.DataFrame",
        """
        One row for every number of edges: ``n_edges``, ``log_likelihood`` (of all samples, by the
        pseudo-likelihood), ``bic``, ``ebic`` (lower is better), and with ``criterion="cv"`` ``score_mean``
        and ``score_se`` (the held-out score's mean over the folds and its standard error; higher is
        better).""",
    )
    n_edges_: int = attribute(
        "int", "How many edges were chosen; ``threshold`` may have left some of them out."
    )
