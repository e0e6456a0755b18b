"""The graph of an Ising model, learnt from samples, as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, Self

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from swapwise.checks import FloatArray, IndexArray, as_count, as_generator
from swapwise.data.open import opened
from swapwise.estimators.chunked_input import open_chunks
from swapwise.estimators.parameters import KW_ONLY, attribute, parameter, with_parameters
from swapwise.graphs.estimators.base import GraphSample, GraphWithinLimits
from swapwise.graphs.estimators.pairwise import PairwiseGraph, fitted_numbers
from swapwise.graphs.estimators.spin_chunks import coding_of_chunks, mean_over_chunks, require_memory
from swapwise.graphs.estimators.spins import gibbs_samples, mean_likelihood
from swapwise.graphs.estimators.two_values import coding_of, read_values
from swapwise.graphs.estimators.vertices import warn_of_constants, warn_of_lost_names
from swapwise.graphs.estimators.warnings import warn_of_twins
from swapwise.graphs.ising import IsingPseudoLikelihood
from swapwise.graphs.ising.open import are_chunks, read_weight
from swapwise.graphs.ising.spin_data import drawn_spins
from swapwise.override import override


@with_parameters
class BaseIsingGraph(PairwiseGraph):
    """All of :class:`IsingGraph` and :class:`IsingGraphCV` but the choice of the edges."""

    weight_is = "coupling"

    _: KW_ONLY
    fields: bool = parameter(True, "bool", "Fit a bias for every variable.")

    field_: FloatArray = attribute("array of shape (n_features,)", "The biases; zeros without ``fields``.")
    graph_: nx.Graph = attribute(
        "networkx.Graph",
        """
        Its nodes are the names of the columns, or else their positions, with the attribute ``field``;
        its edges have the attribute ``weight``.""",
    )
    ridge_: float = attribute("float", "The ridge that was used.")

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
        sample = self._read_data(X, sample_weight, reset=False)
        return mean_likelihood(sample.values, sample.weight, self.coupling_, self.field_, self._imputed)

    def sample(
        self, n_samples: int = 1, random_state: Any = None, burn_in: int = 1000
    ) -> NDArray[Any] | pd.DataFrame:
        """Draw samples of the fitted model, of the values that the training data had.

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
            A frame if the columns of the training data had names.
        """
        check_is_fitted(self)
        n_samples, burn_in = as_count(n_samples, "n_samples"), as_count(burn_in, "burn_in")
        if self._coding is None:
            raise ValueError(
                "sample needs a model of variables of two values, but fit was given real numbers"
            )
        rng = as_generator(random_state)
        drawn = self._coding.from_spins(gibbs_samples(self.coupling_, self.field_, n_samples, burn_in, rng))
        return self._framed(drawn, self._dtypes) if hasattr(self, "feature_names_in_") else drawn

    @override
    def _read_data(self, X: Any, sample_weight: Any, *, reset: bool) -> GraphSample:
        X = opened(X)
        require_memory(X, type(self).__name__ if reset else "certify")
        values = read_values(self, X, reset=reset)
        weight = read_weight(sample_weight, len(values))
        names = self._vertices().nodes
        if reset:
            warn_of_lost_names(X)
            self._coding = coding_of(values, names, X)
            self._dtypes = list(X.dtypes) if isinstance(X, pd.DataFrame) else []
        spins = values.astype(np.float64) if self._coding is None else self._coding.to_spins(values, names)
        sample = GraphSample.read(spins, weight)
        if reset:
            warn_of_constants(sample.values, self._vertices())
            warn_of_twins(sample.values, names)
        return sample

    @override
    def _objective(self, sample: Any) -> IsingPseudoLikelihood:
        return IsingPseudoLikelihood(
            sample.values, self.ridge, self.fields, self._candidate_edges(), sample.weight, sample.completed
        )

    @property
    @override
    def _can_draw(self) -> bool:
        return self._coding is not None

    @override
    def _local_fields(self) -> tuple[FloatArray, FloatArray]:
        return self.coupling_, self.field_

    @override
    def _draw(self, vertex: int, local: FloatArray, rng: np.random.Generator) -> FloatArray:
        return drawn_spins(local, rng)

    @override
    def _install_fit(self, objective: IsingPseudoLikelihood, support: IndexArray) -> None:
        self.coupling_, self.field_ = fitted_numbers(objective, support)
        self.adjacency_, self.ridge_ = self.coupling_, objective.ridge
        self.n_observed_, self._imputed = objective.n_observed, objective.imputed

    @override
    def _attributes(self, vertex: int) -> dict[str, float]:
        return {"field": float(self.field_[vertex])}


@with_parameters
class IsingGraph(GraphWithinLimits, BaseIsingGraph):
    """Learn which pairs of binary variables depend on each other, with a limit on the neighbours of each.

    The couplings and fields of an Ising model, ``P(x) ∝ exp(Σ w_uv x_u x_v + Σ b_v x_v)`` with x of -1 and
    +1, that maximise the pseudo-log-likelihood of the samples among all graphs within the degrees. Edges are
    added while they gain anything: :class:`IsingGraphCV` chooses how many are worth it.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    IsingGraphCV : chooses the number of edges.
    MixedGraph : binary variables beside others.
    bootstrap_graph : how sure the edges are.
    plot_graph : a picture.

    Notes
    -----
    Each column has two values, of any kind: 0 and 1, booleans, "no" and "yes", categories. In their order,
    the second stands for +1: 1, True, "yes"; of ordered categories, the later one. A column that has but one
    value takes it as other columns do, or as one of 0 and 1 or of -1 and +1, and else as +1. Numbers of more
    than two values in all columns, or beside columns of -1 and +1, are taken as they are, with a warning.
    Sparse matrices are made dense.

    Answers may be missing (NaN, None) at random: each variable is predicted where it was observed, no row is
    left out, and ``n_observed_`` tells how many samples have both ends of an edge. Neighbours that were not
    observed are drawn from the fitted model, given what was, in turns with the fit (a stochastic EM
    algorithm, for which ``random_state`` is the seed); real numbers count with their means instead. Data in
    chunks must be complete.

    Data in chunks (a memory-mapped file, the name of a ``.npy`` file, a Dask array or frame) are 0 and 1,
    booleans, or -1 and +1, the same for all columns. No more than some chunks of them are in memory at a
    time, and a pass over them serves several rounds of the search; ``result_.n_passes`` tells how many there
    were. ``IsingGraphCV`` and ``certify`` need data in memory (or a file, which is then read as a whole).

    References
    ----------
    - Besag (1975), Statistical analysis of non-lattice data.
    - Ravikumar, Wainwright and Lafferty (2010), High-dimensional Ising model selection using l1-regularized
      logistic regression.

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
            self._search_completed(self._read_data(X, sample_weight, reset=True), self._search)
            return self
        objective = self._search(GraphSample(open_chunks(self, X, reset=True), sample_weight))
        self._coding, self._dtypes = coding_of_chunks(X, objective, self._vertices()), []
        return self
