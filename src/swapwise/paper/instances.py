"""Random instances, made as the paper's experiments make them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count, as_real
from swapwise.kernels import gibbs

# Random numbers of a Gibbs chain are drawn for this many sweeps at a time: all of them may not fit in memory.
SWEEPS_AT_ONCE = 1000


@dataclass(frozen=True)
class RegressionInstance:
    """A regression problem whose true features are known.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        The features, each with mean 0 and standard deviation 1.
    y : array of shape (n_samples,)
        The response.
    labels : array of shape (n_features,)
        The category of each feature.
    support : sorted integer array
        The true features.
    coef : array of shape (n_features,)
        The true weights; zero outside the support.

    See Also
    --------
    paper_regression : an instance as in the paper.

    Examples
    --------
    >>> instance = paper_regression(n_features=20, n_categories=4, n_true=2, random_state=0)
    >>> instance.coef[instance.support].shape
    (8,)
    """

    X: FloatArray
    y: FloatArray
    labels: IndexArray
    support: IndexArray
    coef: FloatArray


def paper_regression(
    n_features: int = 200,
    n_samples: int = 50,
    n_categories: int = 5,
    n_true: int = 5,
    noise: float = 0.2,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
) -> RegressionInstance:
    """Make an instance of the paper's "Experiments on Sparse Regression".

    Entries are uniform on [0, 1], then every feature is centred and scaled to unit standard
    deviation. The features form categories of equal size, contiguous in index order; ``n_true`` true
    features are drawn from each, their weights are standard normal, and ``y = X w + noise``.

    Parameters
    ----------
    n_features, n_samples : int
        The shape of the problem; the paper's two settings are (200, 50) and (1000, 100).
    n_categories : int
        The number of categories; it has to divide ``n_features``. The paper has 5 and 10.
    n_true : int
        The number of true features in each category. The paper has 5 and 10.
    noise : float
        The standard deviation of the Gaussian noise. The paper's N(0, 0.2) is taken to mean that.
    random_state : int, numpy.random.SeedSequence, numpy.random.Generator or None
        The source of randomness; the same number gives the same instance.

    Returns
    -------
    RegressionInstance

    See Also
    --------
    paper_ising : the paper's other experiment.
    RegressionSetting : its problems.

    Examples
    --------
    >>> instance = paper_regression(n_features=20, n_categories=4, n_true=2, random_state=0)
    >>> instance.X.shape, instance.y.shape
    ((50, 20), (50,))
    >>> instance.labels
    array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3])
    >>> instance.labels[instance.support]
    array([0, 0, 1, 1, 2, 2, 3, 3])
    """
    n_features, n_samples = as_count(n_features, "n_features"), as_count(n_samples, "n_samples")
    n_categories, n_true = as_count(n_categories, "n_categories"), as_count(n_true, "n_true")
    noise = as_real(noise, "noise")
    size = _category_size(n_features, n_categories)
    if n_true > size:
        raise ValueError(f"n_true must be at most the size of a category, {size}; got {n_true}")
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, or no feature varies; got {n_samples}")

    rng = np.random.default_rng(random_state)
    X = _standardised(rng.uniform(size=(n_samples, n_features)))
    labels = np.repeat(np.arange(n_categories), size)
    drawn = [category * size + rng.choice(size, n_true, replace=False) for category in range(n_categories)]
    support = np.sort(np.concatenate(drawn)).astype(np.intp)
    coef = np.zeros(n_features)
    coef[support] = rng.standard_normal(support.size)
    y = X @ coef + noise * rng.standard_normal(n_samples)
    return RegressionInstance(X, y, labels, support, coef)


def _category_size(n_features: int, n_categories: int) -> int:
    if n_features < 1 or n_categories < 1:
        raise ValueError(
            f"n_features and n_categories must be at least 1, got {n_features} and {n_categories}"
        )
    if n_features % n_categories:
        raise ValueError(
            f"n_features must be divisible by n_categories, so that all categories have the same size; "
            f"got {n_features} features and {n_categories} categories"
        )
    return n_features // n_categories


def _standardised(X: FloatArray) -> FloatArray:
    centred = X - X.mean(axis=0)
    return centred / centred.std(axis=0)


@dataclass(frozen=True)
class IsingInstance:
    """Samples of an Ising model whose graph is known.

    Attributes
    ----------
    spins : array of shape (n_samples, n_vertices)
        The samples, every entry -1.0 or +1.0.
    edges : sorted integer array
        The true edges, as numbers of vertex pairs in the order of :func:`pairs`.
    couplings : array of shape (n_vertices * (n_vertices - 1) / 2,)
        The true coupling of every pair; zero where there is no edge.

    See Also
    --------
    paper_ising : an instance as in the paper.

    Examples
    --------
    >>> instance = paper_ising(n_vertices=6, degree=3, random_state=0)
    >>> instance.couplings[instance.edges].shape
    (9,)
    """

    spins: FloatArray
    edges: IndexArray
    couplings: FloatArray


def pairs(n_vertices: int) -> tuple[IndexArray, IndexArray]:
    """Return the ends of all vertex pairs i < j, in lexicographic order.

    See Also
    --------
    IsingInstance : its edges are numbers of pairs.

    Examples
    --------
    >>> pairs(4)
    (array([0, 0, 0, 1, 1, 2]), array([1, 2, 3, 2, 3, 3]))
    """
    tail, head = np.triu_indices(as_count(n_vertices, "n_vertices"), 1)
    return tail.astype(np.intp), head.astype(np.intp)


def paper_ising(
    n_vertices: int = 10,
    degree: int = 5,
    coupling: float = 0.5,
    n_samples: int = 100,
    random_state: int | np.random.SeedSequence | np.random.Generator | None = None,
    burn_in: int = 10_000,
    thin: int = 1000,
) -> IsingInstance:
    """Make an instance of the paper's "Experiments on Structure Learning of Graphical Models".

    The graph is a random one in which every vertex has ``degree`` edges, the couplings are +coupling
    or -coupling with equal chance, and samples of the law ``P(x) ∝ exp(Σ w_uv x_u x_v)`` come from one
    Gibbs chain, which starts at random spins.

    Parameters
    ----------
    n_vertices, degree : int
        The shape of the graph; the paper's two settings are (10, 5) and (20, 7). It exists if degree is
        below n_vertices and the product of the two is even.
    coupling : float
        The size of all couplings.
    n_samples : int
        The number of samples.
    random_state : int, numpy.random.SeedSequence, numpy.random.Generator or None
        The source of randomness; the same number gives the same instance.
    burn_in : int
        How many sweeps (every spin drawn again once) the chain makes before the first sample.
    thin : int
        How many sweeps lie between two samples, counting the one that makes the sample: 1 keeps every
        state of the chain. Products along an edge forget the past within 50 sweeps in the paper's
        settings; the sign of the state as a whole, to which the pseudo-likelihood is blind, takes 500
        with 20 vertices of degree 7. Large sparse graphs do well with 100.

    Returns
    -------
    IsingInstance

    See Also
    --------
    paper_regression : the paper's other experiment.
    IsingSetting : its problems.

    Notes
    -----
    The paper's graphs are those of the configuration model; burn-in and thinning are not stated. Here
    graphs are drawn by pairing stubs and starting over when that gets stuck (Steger and Wormald, 1999, as
    networkx has it), never with loops or double edges. That is nearly, not exactly, uniform over the
    simple graphs of this degree.

    Examples
    --------
    >>> instance = paper_ising(n_vertices=6, degree=3, random_state=0)
    >>> instance.spins.shape, len(instance.edges)
    ((100, 6), 9)
    >>> tail, head = pairs(6)
    >>> np.bincount(np.concatenate([tail[instance.edges], head[instance.edges]]))
    array([3, 3, 3, 3, 3, 3])
    """
    n_vertices, degree = as_count(n_vertices, "n_vertices"), as_count(degree, "degree")
    n_samples, coupling = as_count(n_samples, "n_samples"), as_real(coupling, "coupling")
    burn_in, thin = as_count(burn_in, "burn_in"), as_count(thin, "thin")
    _check_regular(n_vertices, degree)
    if thin < 1:
        raise ValueError(f"thin must be at least 1, or all samples are the same; got {thin}")

    rng = np.random.default_rng(random_state)
    edges = _regular_edges(n_vertices, degree, rng)
    couplings = np.zeros(n_vertices * (n_vertices - 1) // 2)
    couplings[edges] = rng.choice([-coupling, coupling], size=len(edges))
    spins = _gibbs_samples(n_vertices, degree, couplings, edges, n_samples, burn_in, thin, rng)
    return IsingInstance(spins, edges, couplings)


def _check_regular(n_vertices: int, degree: int) -> None:
    if degree >= n_vertices:
        raise ValueError(f"degree must be below n_vertices; got degree {degree} and {n_vertices} vertices")
    if degree * n_vertices % 2:
        raise ValueError(
            f"degree times n_vertices must be even, since every edge has two ends; "
            f"got degree {degree} and {n_vertices} vertices"
        )


def _regular_edges(n_vertices: int, degree: int, rng: np.random.Generator) -> IndexArray:
    import networkx as nx

    graph = nx.random_regular_graph(degree, n_vertices, seed=int(rng.integers(2**31)))
    ends = np.sort(np.array(list(graph.edges), dtype=np.intp).reshape(-1, 2), axis=1)
    i, j = ends[:, 0], ends[:, 1]
    # Row i of the triangle begins after the rows of 0 .. i-1, with n-1, n-2, ... pairs each.
    return np.sort(i * (2 * n_vertices - i - 1) // 2 + j - i - 1)


def _gibbs_samples(
    n_vertices: int,
    degree: int,
    couplings: FloatArray,
    edges: IndexArray,
    n_samples: int,
    burn_in: int,
    thin: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Return every ``thin``-th state of one Gibbs chain, one per row."""
    tail, head = pairs(n_vertices)
    ends = np.concatenate([tail[edges], head[edges]])
    order = np.argsort(ends, kind="stable")  # the graph is regular: each vertex has the same number of ends
    neighbours = np.concatenate([head[edges], tail[edges]])[order].reshape(n_vertices, degree)
    strengths = np.tile(couplings[edges], 2)[order].reshape(n_vertices, degree)

    state = rng.choice([-1.0, 1.0], size=n_vertices)
    spins = np.empty((n_samples, n_vertices))

    def advance(turns: int) -> None:
        for begin in range(0, turns, SWEEPS_AT_ONCE):
            uniforms = rng.random((min(SWEEPS_AT_ONCE, turns - begin), n_vertices))
            gibbs.sweep(state, neighbours, strengths, uniforms)

    advance(burn_in)
    for row in spins:
        advance(thin)
        row[:] = state
    return spins
