"""The graph of an Ising model, learnt from samples, as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from swapwise.certify.certificate import Certificate
from swapwise.certify.certify import certify
from swapwise.checks import FloatArray, IndexArray, as_count, as_generator
from swapwise.data.open import opened
from swapwise.estimators.base import planned, searched, warn_if_cut_short
from swapwise.estimators.chunked_input import open_chunks
from swapwise.estimators.spin_chunks import coding_of_chunks, mean_over_chunks, require_memory
from swapwise.estimators.spins import (
    Vertices,
    degree_limits,
    fitted_parameters,
    gibbs_samples,
    mean_likelihood,
    symmetric_matrix,
    warn_of_constants,
)
from swapwise.estimators.two_values import as_real_numbers, coding_of, read_values
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.objectives.ising.open import are_chunks, read_weight
from swapwise.search.rules import Pivot


class BaseIsingGraph(BaseEstimator):
    """What :class:`IsingGraph` and :class:`IsingGraphCV` share: all but how degree and ridge are chosen."""

    fields: bool
    edges: Any
    method: str | Pivot
    start: Any
    q: int
    n_restarts: int
    max_iter: int | None
    tol: float
    time_limit: float | None
    random_state: Any
    progress: bool

    def score(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean pseudo-log-likelihood of a sample at the fitted couplings and fields.

        ``Σ_v log σ(2 x_v (Σ_u w_uv x_u + b_v))``, averaged over the rows of X (by ``sample_weight``, if it is
        given), without the ridge's penalty: at most 0, and higher is better. It is ``-n_features * log(2)``
        where nothing is known. Data in chunks take one pass.
        """
        check_is_fitted(self)
        X = opened(X)
        if are_chunks(X):
            matrix = open_chunks(self, X, reset=False)
            return mean_over_chunks(matrix, self._coding, self.coupling_, self.field_, sample_weight)
        spins = self._spins(X)
        return mean_likelihood(spins, read_weight(sample_weight, len(spins)), self.coupling_, self.field_)

    def sample(
        self, n_samples: int = 1, random_state: Any = None, burn_in: int = 1000
    ) -> NDArray[Any] | pd.DataFrame:
        """Draw samples of the fitted model, of the values that the data of fit had.

        Parameters
        ----------
        n_samples : int
        random_state : int or numpy Generator, optional
            None is 0: the same call gives the same samples.
        burn_in : int
            How many sweeps of Gibbs sampling, in which every variable is drawn once, lead from random
            values to a sample. Samples are independent of each other; strong couplings need more sweeps.

        Returns
        -------
        array of shape (n_samples, n_features_in_), or pandas.DataFrame
            A frame if the columns of the data of fit had names.
        """
        check_is_fitted(self)
        n_samples, burn_in = as_count(n_samples, "n_samples"), as_count(burn_in, "burn_in")
        if self._coding is None:
            raise ValueError(
                "sample needs a model of variables of two values, but fit was given real numbers"
            )
        rng = as_generator(random_state)
        drawn = self._coding.from_spins(gibbs_samples(self.coupling_, self.field_, n_samples, burn_in, rng))
        return self._framed(drawn) if hasattr(self, "feature_names_in_") else drawn

    def certify(
        self,
        X: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        time_limit: float | None = 10.0,
        **options: Any,
    ) -> Certificate:
        """Prove how far from the best graph within the degrees the fitted one can be.

        The best graph is the one with the largest likelihood of these data; the proof says nothing about new
        data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The data of fit, which must be in memory.
        sample_weight : array-like of shape (n_samples,), optional
            The weights of fit.
        time_limit : float, optional
            Seconds after which the best bound so far is returned; None for no limit.
        **options :
            Those of :func:`swapwise.certify`: ``gap``, ``max_nodes``, ``progress``.

        Returns
        -------
        Certificate
            As of :func:`swapwise.certify`.
        """
        X = opened(X)
        require_memory(X, "certify")
        objective = self._objective(self._spins(X), self.ridge_, sample_weight)
        value = objective(self.result_.support)
        if not np.isclose(value, self.result_.value, rtol=1e-6, atol=1e-6):
            raise ValueError(
                "X must be the data of fit (and weights and parameters those of fit): the fitted graph has "
                f"value {value:.6g} on X and had {self.result_.value:.6g} in fit"
            )
        return certify(objective, self.constraint_, self.result_, time_limit=time_limit, **options)

    def __sklearn_tags__(self) -> Any:
        """Return what scikit-learn asks about the estimator."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read_data(self, X: ArrayLike, sample_weight: Any) -> tuple[FloatArray, FloatArray | None]:
        """Check the data of fit, remember their coding and return them as spins, with their weights."""
        X = opened(X)
        require_memory(X, type(self).__name__)
        values = read_values(self, X, reset=True)
        weight = read_weight(sample_weight, len(values))
        names = self._vertices().nodes
        self._coding = coding_of(values, names, X)
        self._dtypes = list(X.dtypes) if isinstance(X, pd.DataFrame) else []
        spins = as_real_numbers(values) if self._coding is None else self._coding.to_spins(values, names)
        warn_of_constants(spins if weight is None else spins[weight > 0], self._vertices())
        return spins, weight

    def _spins(self, X: ArrayLike) -> FloatArray:
        """Return other data as spins, read as the data of fit were."""
        check_is_fitted(self)
        values = read_values(self, X, reset=False)
        if self._coding is None:
            return as_real_numbers(values)
        return self._coding.to_spins(values, self._vertices().nodes)

    def _framed(self, drawn: NDArray[Any]) -> pd.DataFrame:
        """Return samples as a frame with the names, and the types, of the columns of fit."""
        dtypes = self._dtypes or [drawn.dtype] * drawn.shape[1]
        columns = [pd.Series(column, dtype=dtype) for column, dtype in zip(drawn.T, dtypes, strict=True)]
        return pd.concat(columns, axis=1).set_axis(self.feature_names_in_, axis=1)

    def _vertices(self) -> Vertices:
        return Vertices(self.n_features_in_, getattr(self, "feature_names_in_", None))

    def _objective(self, spins: Any, ridge: float, weight: Any) -> IsingPseudoLikelihood:
        edges = None if self.edges is None else self._vertices().pairs(self.edges)
        return IsingPseudoLikelihood(spins, ridge, self.fields, edges, weight)

    def _start(self, objective: IsingPseudoLikelihood) -> Any:
        """Return the name of the start, or the elements that its edges stand for."""
        named = isinstance(self.start, str)
        return self.start if named else self._vertices().elements(self.start, objective.edges)

    def _fit_graph(self, spins: Any, weight: Any, max_degree: Any, ridge: float) -> IsingPseudoLikelihood:
        """Search the best graph on all data, keep what describes it, and return what was maximised."""
        limits = self._vertices().limits(max_degree)
        objective = self._objective(spins, ridge, weight)
        self.constraint_ = degree_limits(objective, limits)
        self.ridge_ = objective.ridge
        plan = planned(self, objective, self.constraint_, self._start(objective))
        searches = searched(self, objective, self.constraint_, plan, progress=self.progress)
        self.result_ = searches.best
        self.n_iter_ = max(1, searches.best.n_iter)
        warn_if_cut_short([self.result_.status], self.time_limit, self.max_iter, "result_.status")
        chosen = self.result_.support
        self.support_: IndexArray = np.column_stack([objective.tail[chosen], objective.head[chosen]])
        self.coupling_, self.field_ = fitted_parameters(objective, self.result_)
        self.selection_frequency_ = symmetric_matrix(objective, searches.frequency)
        self.graph_ = self._graph()
        return objective

    def _graph(self) -> Any:
        nodes, graph = self._vertices().nodes, nx.Graph()
        for node, field in zip(nodes, self.field_, strict=True):
            graph.add_node(node, field=float(field))
        for i, j in self.support_:
            graph.add_edge(nodes[i], nodes[j], weight=float(self.coupling_[i, j]))
        return graph


class IsingGraph(BaseIsingGraph):
    """Learn which pairs of binary variables depend on each other, with a limit on the neighbours of each.

    The couplings and fields of an Ising model, ``P(x) ∝ exp(Σ w_uv x_u x_v + Σ b_v x_v)`` with x of -1 and
    +1, that maximise the pseudo-log-likelihood of the samples among all graphs within the degrees.

    Parameters
    ----------
    max_degree : int, mapping from vertex to int, or sequence of int
        How many neighbours a variable may have: a number for all, by name (or position), or in the order
        of the columns.
    fields : bool
        Fit a bias for every variable.
    ridge : float
        Weight of the penalty ``‖w‖²/2`` on the couplings, next to the mean over the samples.
    method : str or pivot rule
        As in :func:`swapwise.maximize`, but ``"auto"`` is non-oblivious beyond 300 pairs (25 variables). It
        is hundreds of times faster there, and usually ends within a percent or so of what the
        semi-oblivious rule finds.
    q, max_iter, tol
        As in :func:`swapwise.maximize`.
    start : str, edges, SearchResult, or numbers of elements
        As in :func:`swapwise.maximize` (a ``result_``, or the ``better`` of a certificate), or the edges of a
        graph to begin with, such as the ``support_`` or ``graph_`` of another fit.
    edges : sequence of pairs, or networkx graph, optional
        The pairs that may be coupled, by names or positions of the columns; by default all.
    n_restarts : int
        This many further searches begin at random graphs, and the best answer is kept.
    time_limit : float, optional
        Seconds after which the best graph so far is taken; for all searches together.
    random_state : int or numpy Generator, optional
        For the random graphs. None is 0: the same call gives the same answer.
    progress : bool
        Show a bar on the terminal.

    Attributes
    ----------
    coupling_ : array of shape (n_features, n_features)
        The couplings: symmetric, with zeros where there is no edge.
    field_ : array of shape (n_features,)
        The biases; zeros without ``fields``.
    graph_ : networkx.Graph
        Its nodes are the names of the columns, or else their positions, with the attribute ``field``; its
        edges have the attribute ``weight``.
    support_ : array of shape (n_edges, 2)
        The edges, as pairs of columns.
    n_iter_ : int
        The number of moves on the record of ``result_``, at least 1.
    selection_frequency_ : array of shape (n_features, n_features)
        The share of restarts, the first search included, whose answer has the edge: all on the same data.
    result_ : SearchResult
    constraint_ : BMatching
    ridge_ : float
        The ridge that was used.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    Each column has two values, of any kind: 0 and 1, booleans, "no" and "yes", categories. In their order,
    the second stands for +1: 1, True, "yes"; of ordered categories, the later one. A column that has but one
    value takes it as other columns do, or as one of 0 and 1 or of -1 and +1, and else as +1. Numbers of more
    than two values in all columns, or beside columns of -1 and +1, are taken as they are, with a warning.
    Sparse matrices are made dense.

    Data in chunks (a memory-mapped file, the name of a ``.npy`` file, a Dask array or frame) are 0 and 1,
    booleans, or -1 and +1, the same for all columns. No more than some chunks of them are in memory at a
    time, and a pass over them serves several rounds of the search; ``result_.n_passes`` tells how many there
    were. ``IsingGraphCV`` and ``certify`` need data in memory (or a file, which is then read as a whole).

    Examples
    --------
    The second variable mostly repeats the first, the third knows nothing of them:

    >>> import numpy as np
    >>> from swapwise import IsingGraph
    >>> rng = np.random.default_rng(0)
    >>> first, third = rng.integers(2, size=(2, 300))
    >>> second = np.where(rng.random(300) < 0.9, first, 1 - first)
    >>> model = IsingGraph(max_degree=1).fit(np.column_stack([first, second, third]))
    >>> model.support_
    array([[0, 1]])
    >>> model.coupling_.round(2)
    array([[0.  , 1.26, 0.  ],
           [1.26, 0.  , 0.  ],
           [0.  , 0.  , 0.  ]])
    >>> model.sample(2)
    array([[1, 1, 0],
           [1, 1, 0]])

    A table of patterns, each with the number of times that it was seen:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"ill": ["no", "no", "yes", "yes"], "sex": ["f", "m", "f", "m"]})
    >>> model = IsingGraph(max_degree=1).fit(table, sample_weight=[40, 10, 5, 45])
    >>> round(float(model.coupling_[0, 1]), 2)
    0.89
    >>> model.sample(2, random_state=2)
       ill sex
    0   no   f
    1  yes   m
    """

    def __init__(
        self,
        max_degree: int | Mapping[Any, int] | Iterable[int] = 3,
        *,
        fields: bool = True,
        ridge: float = 0.01,
        method: str | Pivot = "auto",
        start: Any = "auto",
        q: int = 1,
        edges: Any = None,
        n_restarts: int = 0,
        max_iter: int | None = None,
        tol: float = 1e-10,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.max_degree = max_degree
        self.fields = fields
        self.ridge = ridge
        self.method = method
        self.start = start
        self.q = q
        self.edges = edges
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn graph, couplings and fields from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Columns of two values each, see the notes.
        y : object
            Ignored.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts, such as how often it was seen: a weight of 2 is the same row twice, a
            weight of 0 none. In memory, also beside data in chunks.

        Returns
        -------
        IsingGraph
            Itself.
        """
        X = opened(X)
        if not are_chunks(X):
            self._fit_graph(*self._read_data(X, sample_weight), self.max_degree, self.ridge)
            return self
        matrix = open_chunks(self, X, reset=True)
        objective = self._fit_graph(matrix, sample_weight, self.max_degree, self.ridge)
        self._coding, self._dtypes = coding_of_chunks(X, objective, self._vertices()), []
        return self
