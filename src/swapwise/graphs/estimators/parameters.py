"""The parameters of graph estimators, each declared once.

Where several of these mix-ins declare a parameter, the first base counts, as for any attribute: declarations
of :class:`ChoiceParameters` hold for all graphs whose number of edges is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from swapwise.estimators.parameters import KW_ONLY, BaseEstimator, parameter, with_parameters
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
    method: str | Pivot = parameter("auto", "str or pivot rule", "As in :func:`swapwise.maximize`.")
    q: int = parameter(1, "int", "As in :func:`swapwise.maximize`.")
    n_restarts: int = parameter(
        0, "int", "This many further searches begin at random graphs, and the best answer is kept."
    )
    max_iter: int | None = parameter(None, "int, optional", "As in :func:`swapwise.maximize`.")
    tol: float = parameter(1e-10, "float", "As in :func:`swapwise.maximize`.")
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


@with_parameters
class StartParameters:
    """Where the search within given limits begins."""

    _: KW_ONLY
    start: Any = parameter(
        "auto",
        "str, edges, SearchResult, or numbers of elements",
        """
        As in :func:`swapwise.maximize` (a ``result_``, or the ``better`` of a certificate), or the edges of a
        graph to begin with, such as the ``support_`` or ``graph_`` of another fit.""",
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


@with_parameters
class PairwiseParameters:
    """Those of likelihoods of each variable given its neighbours."""

    _: KW_ONLY
    ridge: float = parameter(
        0.01,
        "float",
        "Weight of the penalty ``‖w‖²/2`` on the couplings, next to the mean over the samples.",
    )
    method: str | Pivot = parameter(
        "auto",
        "str or pivot rule",
        """
        As in :func:`swapwise.maximize`, but ``"auto"`` is non-oblivious beyond 300 pairs (25 variables). It
        is hundreds of times faster there, and usually ends within a percent or so of what the
        semi-oblivious rule finds.""",
    )


@with_parameters
class IsingParameters:
    """Those of Ising models."""

    _: KW_ONLY
    fields: bool = parameter(True, "bool", "Fit a bias for every variable.")


@with_parameters
class MixedParameters:
    """Those of mixed models."""

    _: KW_ONLY
    families: Any = parameter(
        None,
        "mapping from column to str, sequence of str, or str, optional",
        """
        The family of each column given the others: ``"binary"``, ``"gaussian"`` or ``"counts"``. Columns that
        are not named are binary if they have two values, and Gaussian if they have others. Columns of whole
        numbers from 0 must be named, as they may be counts or a scale.""",
    )


@with_parameters
class GaussianParameters:
    """Those of Gaussian distributions."""

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
