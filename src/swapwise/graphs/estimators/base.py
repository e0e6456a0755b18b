"""What the estimators of graphs share: vertices, limits on edges, search, threshold, certificate, words."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from swapwise.certify.certificate import Certificate
from swapwise.certify.certify import certify
from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count, as_real
from swapwise.constraints.base import Constraint
from swapwise.estimators.base import planned, searched, warn_if_cut_short
from swapwise.estimators.kept_data import without_large_data
from swapwise.estimators.parameters import KW_ONLY, BaseEstimator, attribute, parameter, with_parameters
from swapwise.files import write_atomically
from swapwise.graphs.estimators.vertices import Vertices, degree_limits, symmetric_matrix
from swapwise.graphs.pictures.words import counted
from swapwise.search.result import SearchResult
from swapwise.search.rules import Pivot

#: The limit on neighbours, of graphs within limits and of those whose number of edges is chosen
DEGREES = "int, mapping from vertex to int, sequence of int, or None"
MOST_NEIGHBOURS = """
    How many neighbours a variable may have: a number for all, by name (or position), or in the order of the
    columns; None for any number."""


class GraphSample(NamedTuple):
    """Rows that count, their weights if these differ, and the completed rows, if known."""

    values: Any
    weight: Any
    completed: Any = None
    #: Where these rows were among those that were given
    rows: Any = None

    @classmethod
    def read(cls, values: FloatArray, weight: FloatArray | None) -> Self:
        """Return the rows of positive weight in which something was observed."""
        counts = ~np.isnan(values).all(axis=1)
        if weight is not None:
            counts &= weight > 0
        if not counts.any():
            raise ValueError(
                "X must have a value in a row of positive weight, got nothing but missing values"
            )
        rows = np.flatnonzero(counts)
        return cls(values[rows], None if weight is None else weight[rows], None, rows)

    def weighted(self, weight: FloatArray) -> Self:
        """Return the rows of positive weight, given new weights of all rows."""
        rows = np.flatnonzero(weight)
        completed = None if self.completed is None else self.completed[rows]
        return type(self)(self.values[rows], weight[rows], completed, self.rows[rows])

    @property
    def weights_are_counts(self) -> bool:
        """Whether weights say how often each row was seen: whole numbers, not all of them 0 and 1."""
        weight = self.weight
        return weight is not None and not (weight % 1).any() and bool((weight > 1).any())

    @property
    def size(self) -> float:
        """The number of samples: the sum of counts; of other weights, Kish's ``(Σw)²/Σw²``."""
        if self.weight is None:
            return float(len(self.values))
        if self.weights_are_counts:
            return float(self.weight.sum())
        relative = self.weight / self.weight.max()
        return round(float(relative.sum() ** 2 / (relative**2).sum()), 9)


@with_parameters
class BaseGraph(BaseEstimator, ABC):
    """An estimator of a graph whose vertices are the columns of the data.

    A subclass reads data (``_read_data``), has an objective over sets of edges (``_objective``), and sets the
    attributes of the fit on a graph (``_install_fit``), among them ``adjacency_``.
    """

    max_degree: int | Mapping[Any, int] | Iterable[int] | None = parameter(3, DEGREES, MOST_NEIGHBOURS)
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

    #: What the weight of an edge is called
    weight_is: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _read_data(self, X: Any, sample_weight: Any, *, reset: bool) -> GraphSample:
        """Return checked data; ``reset`` is True in fit."""

    @abstractmethod
    def _objective(self, sample: Any) -> Any:
        """Return the objective, whose elements are edges."""

    @abstractmethod
    def _install_fit(self, objective: Any, support: IndexArray) -> None:
        """Set ``adjacency_`` and the other attributes of the fit on a graph."""

    def to_frame(self) -> pd.DataFrame:
        """Return the edges, strongest first: ``source``, ``target``, ``weight``."""
        check_is_fitted(self)
        nodes = self._vertices().nodes
        rows = [(nodes[u], nodes[v], float(self.adjacency_[u, v])) for u, v in self.support_]
        frame = pd.DataFrame(rows, columns=["source", "target", "weight"])
        strongest = frame["weight"].abs().sort_values(ascending=False, kind="stable").index
        return frame.loc[strongest].reset_index(drop=True)

    def report(
        self, path: str | os.PathLike[str], X: ArrayLike | pd.DataFrame | None = None, **options: Any
    ) -> None:
        """Write an HTML page about the graph: drawn first, then why it is that, how sure, and how good.

        Parameters
        ----------
        path : path of the file
            One file that opens without a network; it is written in whole or not at all.
        X : frame or array-like of shape (n_samples, n_features), optional
            The training data, for the score and the notes on missing answers.
        **options :
            ``sample_weight`` (as given to fit), ``bootstrap`` (from :func:`swapwise.graphs.bootstrap_graph`),
            ``case_dropping`` (from :func:`swapwise.graphs.case_dropping`), ``certificate`` (from
            :meth:`certify`), ``asked`` (a mapping of words, shown among the settings) and ``seconds``.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> from swapwise import IsingGraph
        >>> model = IsingGraph(1).fit([[0, 0, 1], [1, 1, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.report(Path(folder) / "graph.html")
        ...     "3 variables" in (Path(folder) / "graph.html").read_text(encoding="utf-8")
        True
        """
        check_is_fitted(self)
        # Pages are a layer above, and loaded on demand.
        page: str = import_module("swapwise.app.report.graph_page").graph_report(self, X, **options)
        write_atomically(Path(os.path.realpath(path)), page.encode())

    def summary(self) -> str:
        """Return in a sentence how many edges were chosen, by which criterion, among which graphs."""
        check_is_fitted(self)
        return f"{self.answer_in_words()}, {self.choice_in_words()}; {self.parts_in_words()}"

    def answer_in_words(self) -> str:
        """Return how many variables and edges there are."""
        return f"{counted(self.n_features_in_, 'variable')}, {counted(len(self.support_), 'edge')}"

    def choice_in_words(self) -> str:
        """Return how the edges were chosen, and among which graphs."""
        return f"the best of {self._family_in_words()}"

    def _family_in_words(self) -> str:
        limits = sorted(set(self.limits_.tolist()))
        words = []
        if len(self.constraint_.forced):
            words.append(f"the {counted(len(self.constraint_.forced), 'forced edge')}")
        if limits and limits[0] < self.n_features_in_ - 1:
            most = str(limits[0]) if len(limits) == 1 else f"{limits[0]} to {limits[-1]}"
            words.append(f"at most {most} neighbour{'s' * (limits != [1])} per variable")
        if self.max_edges is not None:
            words.append(f"at most {self.max_edges} edges")
        graphs = "graphs" if self.edges is None else f"graphs among {len(self.pairs_)} pairs"
        found = f"the {graphs} with {' and '.join(words)}" if words else f"all {graphs}"
        return found + (f", edges weaker than {self.threshold:g} left out" if self.threshold else "")

    def weaker_in_words(self) -> str:
        """Return how many edges the threshold has left out; nothing if none."""
        n_weaker = len(self.result_.support) - len(self.support_)
        return f"{counted(n_weaker, 'edge')} that the threshold left out" if n_weaker else ""

    def parts_in_words(self) -> str:
        """Return how many components the kept edges make, and how many variables have none."""
        parts = sum(len(part) > 1 for part in nx.connected_components(self.graph_))
        alone = nx.number_of_isolates(self.graph_)
        components = counted(parts, "component") if parts or not alone else ""
        isolated = f"{counted(alone, 'variable')} without an edge" if alone else ""
        return ", ".join(filter(None, [components, isolated]))

    def certify(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 10.0,
        **options: Any,
    ) -> Certificate:
        """Prove how far from the best graph within the limits the fitted one can be.

        The best graph is the one with the largest likelihood of these data among all with as many edges and
        neighbours as are allowed (and no more edges than were chosen, if their number was); the proof says
        nothing about new data. Edges that ``threshold`` left out are still in it.

        Of a Gaussian graph, it is the one with the largest pseudo-likelihood at the diagonal that the last
        search was made with, ``diagonal_``: a quadratic function of the other entries of the precision
        matrix. The proof says nothing about other diagonals, or about the likelihood itself.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training data, which must be in memory.
        sample_weight : array-like of shape (n_samples,), optional
            The weights given to fit.
        time_limit : float, optional
            Seconds after which the best bound so far is returned; None for no limit.
        **options :
            Those of :func:`swapwise.certify`: ``gap``, ``max_nodes``, ``progress``.

        Returns
        -------
        Certificate
            See :func:`swapwise.certify`.
        """
        check_is_fitted(self)
        objective = self._fitted_objective(self._read_data(X, sample_weight, reset=False))
        value = objective(self.result_.support)
        if not np.isclose(value, self.result_.value, rtol=1e-6, atol=1e-6):
            raise ValueError(
                "X must be the training data (with the weights and parameters given to fit): the fitted "
                f"graph has value {value:.6g} on X and had {self.result_.value:.6g} in fit"
            )
        return certify(objective, self.constraint_, self.result_, time_limit=time_limit, **options)

    def _fitted_objective(self, sample: Any) -> Any:
        """Return the objective of the last search in fit, from the same data."""
        return self._objective(sample)

    def _vertices(self) -> Vertices:
        return Vertices(self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _candidate_edges(self) -> list[tuple[int, int]] | None:
        """Return the edges that may be chosen, as pairs of columns; None for all pairs."""
        return None if self.edges is None else self._vertices().pairs(self.edges)

    def _constraint(self, objective: Any) -> Constraint:
        vertices = self._vertices()
        self._threshold = as_real(self.threshold, "threshold")
        self.limits_ = np.array(vertices.limits(self.max_degree), dtype=np.intp)
        constraint: Constraint = degree_limits(objective, self.limits_.tolist())
        forced = self._forced(objective)
        if len(forced):
            constraint = constraint.contract(forced)
        if self.max_edges is not None:
            most = as_count(self.max_edges, "max_edges")
            if most < len(forced):
                raise ValueError(f"max_edges must leave room for {len(forced)} forced_edges, got {most}")
            constraint = constraint.truncate(most)
        return constraint

    def _forced(self, objective: Any) -> IndexArray:
        if self.forced_edges is None:
            return np.empty(0, dtype=np.intp)
        vertices = self._vertices()
        pairs = vertices.pairs(self.forced_edges, "forced_edges")
        forced = np.unique(np.array(vertices.elements(pairs, objective.edges, "forced_edges"), dtype=np.intp))
        ends = np.concatenate([objective.tail[forced], objective.head[forced]])
        degrees = np.bincount(ends, minlength=vertices.n)
        over = np.flatnonzero(degrees > self.limits_)
        if len(over):
            v = int(over[0])
            raise ValueError(
                f"forced_edges must be within max_degree, but {vertices.nodes[v]!r} has {degrees[v]} of "
                f"them and may have {self.limits_[v]} neighbour{'s' * int(self.limits_[v] != 1)}"
            )
        return forced

    def _install(
        self, objective: Any, constraint: Constraint, result: SearchResult, frequency: FloatArray
    ) -> None:
        self.constraint_, self.result_ = constraint, without_large_data(result)
        self.n_iter_ = max(1, result.n_iter)
        warn_if_cut_short([result.status], self.time_limit, self.max_iter, "result_.status")
        self.selection_frequency_ = symmetric_matrix(objective, frequency)
        kept = self._install_above_threshold(objective)
        self.pairs_ = np.column_stack([objective.tail, objective.head])
        self.support_ = np.column_stack([objective.tail[kept], objective.head[kept]])
        self.graph_ = self._graph()

    def _install_above_threshold(self, objective: Any) -> IndexArray:
        """Refit without edges weaker than the threshold until there are none; return the others."""
        kept = self.result_.support
        forced = np.isin(kept, self.constraint_.forced)
        while True:
            self._install_fit(objective, kept)
            weights = self.adjacency_[objective.tail[kept], objective.head[kept]]
            stays: BoolArray = forced | (np.abs(weights) > self._threshold) | (self._threshold == 0)
            if stays.all():
                return kept
            kept, forced = kept[stays], forced[stays]

    def _graph(self) -> nx.Graph[Any]:
        nodes, graph = self._vertices().nodes, nx.Graph()
        for number, node in enumerate(nodes):
            graph.add_node(node, **self._attributes(number))
        for u, v in self.support_:
            graph.add_edge(nodes[u], nodes[v], weight=float(self.adjacency_[u, v]))
        return graph

    def _attributes(self, vertex: int) -> dict[str, float]:
        return {}

    def _framed(self, drawn: NDArray[Any], dtypes: list[Any]) -> pd.DataFrame:
        columns = [
            pd.Series(column, dtype=dtype)
            for column, dtype in zip(drawn.T, dtypes or [drawn.dtype] * drawn.shape[1], strict=True)
        ]
        return pd.concat(columns, axis=1).set_axis(self.feature_names_in_, axis=1)


@with_parameters
class GraphWithinLimits(BaseGraph):
    """The best graph within given limits, found by a search from ``start``."""

    _: KW_ONLY
    start: Any = parameter(
        "auto",
        "str, edges, SearchResult, or numbers of elements",
        """
        Where local search begins: ``"auto"``, ``"empty"``, ``"greedy"`` or another name that
        :func:`swapwise.maximize` lists, a result (such as a ``result_``, or the ``better`` of a certificate),
        or the edges of a graph, such as the ``support_`` or ``graph_`` of another fit.""",
    )

    def _start(self, objective: Any) -> Any:
        named = isinstance(self.start, str)
        return self.start if named else self._vertices().elements(self.start, objective.edges)

    def _search(self, sample: GraphSample) -> Any:
        objective = self._objective(sample)
        constraint = self._constraint(objective)
        plan = planned(self, objective, constraint, self._start(objective))
        found = searched(self, objective, constraint, plan, progress=self.progress)
        self._install(objective, constraint, *found)
        return objective
