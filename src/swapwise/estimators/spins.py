"""Parts of the graph estimators: vertices by name, degree limits, likelihoods, Gibbs samples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, as_count, warn
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.graphic import is_graph, read_edges
from swapwise.estimators.two_values import first_few
from swapwise.kernels import gibbs
from swapwise.objectives.ising import IsingPseudoLikelihood
from swapwise.search.result import SearchResult

# At this field a spin that is its own neighbour never turns: 1 + e⁻⁸⁰ is 1 in double precision.
FROZEN = 40.0

# Sweeps of a chain whose random numbers are drawn together; those of a long one may not fit in memory.
SWEEPS_AT_ONCE = 1000


def warn_of_constants(spins: FloatArray, vertices: Vertices) -> None:
    """Warn of constant columns: the data do not tell what they depend on."""
    is_constant = np.fmin.reduce(spins) == np.fmax.reduce(spins)  # among what is not missing
    constant = [repr(vertices.nodes[v]) for v in np.flatnonzero(is_constant)]
    if constant:
        warn(f"X has columns that never vary, of which nothing can be learnt: {first_few(constant)}")


class Vertices:
    """The columns of the data as vertices of a graph: by name, or by position.

    >>> vertices = Vertices(3, ["a", "b", "c"])
    >>> vertices.pairs([("c", "a"), (1, 2)])
    [(0, 2), (1, 2)]
    >>> vertices.limits({"a": 1, "b": 2, "c": 2})
    [1, 2, 2]
    """

    def __init__(self, n: int, names: Iterable[str] | None = None) -> None:
        self.n = n
        self.nodes: list[Hashable] = list(range(n)) if names is None else [str(name) for name in names]
        self._position = {node: position for position, node in enumerate(self.nodes)}

    def position(self, vertex: Any, what: str) -> int:
        """Return the column that a name or position stands for."""
        if vertex in self._position:
            return self._position[vertex]
        if isinstance(vertex, (int, np.integer)) and 0 <= vertex < self.n:
            return int(vertex)
        raise ValueError(
            f"{what} must name columns of X, or give their positions from 0 to {self.n - 1}; got {vertex!r}"
        )

    def pairs(self, edges: Any, what: str = "edges") -> list[tuple[int, int]]:
        """Return pairs of vertices as pairs of columns, the smaller first."""
        ends = [(self.position(u, what), self.position(v, what)) for u, v in read_edges(edges)]
        return [(min(edge), max(edge)) for edge in ends]

    def elements(self, start: Any, edges: list[tuple[int, int]]) -> list[int]:
        """Return the elements of a start among the edges that may be coupled: by number or by vertices."""
        given = start.support if isinstance(start, SearchResult) else start
        if not is_graph(given) and isinstance(given, Iterable):
            given = list(given)
            if all(isinstance(item, (int, np.integer)) for item in given):
                return given
        element_of = {edge: element for element, edge in enumerate(edges)}
        pairs = self.pairs(given, "start")
        for pair in pairs:
            if pair not in element_of:
                raise ValueError(f"start must be made of edges that may be coupled; {pair} is none of them")
        return [element_of[pair] for pair in pairs]

    def limits(self, max_degree: Any) -> list[int]:
        """Return the largest degree of every column, from a number, a mapping or a sequence."""
        what = "max_degree"
        if hasattr(max_degree, "keys"):
            return self._named_limits(max_degree)
        if isinstance(max_degree, str) or not isinstance(max_degree, Iterable):
            return [as_count(max_degree, what)] * self.n
        given = [as_count(limit, f"{what} of {position}") for position, limit in enumerate(max_degree)]
        if len(given) != self.n:
            raise ValueError(f"{what} must have a number for each of {self.n} columns, got {len(given)}")
        return given

    def _named_limits(self, max_degree: Mapping[Any, Any]) -> list[int]:
        limit_of = {
            self.position(vertex, "max_degree"): as_count(max_degree[vertex], f"max_degree of {vertex!r}")
            for vertex in max_degree.keys()  # noqa: SIM118 -- iterating over a pandas Series gives its values
        }
        missing = [self.nodes[v] for v in range(self.n) if v not in limit_of]
        if missing:
            raise ValueError(f"max_degree must name every column of X, but has no number for {missing[0]!r}")
        return [limit_of[v] for v in range(self.n)]


def degree_limits(objective: IsingPseudoLikelihood, limits: list[int]) -> BMatching:
    """Return the graphs made of the objective's edges in which no vertex has more than its limit."""
    at_ends = {v: limits[v] for v in np.union1d(objective.tail, objective.head).tolist()}
    return BMatching(objective.edges, at_ends)


def symmetric_matrix(objective: IsingPseudoLikelihood, of_edges: FloatArray) -> FloatArray:
    """Return the symmetric matrix that holds a number for every edge, such as its coupling."""
    matrix = np.zeros((objective.n_vertices, objective.n_vertices))
    matrix[objective.tail, objective.head] = matrix[objective.head, objective.tail] = of_edges
    return matrix


def fitted_parameters(
    objective: IsingPseudoLikelihood, result: SearchResult
) -> tuple[FloatArray, FloatArray]:
    """Return the matrix of couplings and the fields of the graph that a search found."""
    assert result.coef is not None
    return symmetric_matrix(objective, result.coef), objective.biases(result.support)


def pseudo_log_likelihood(
    spins: FloatArray, coupling: FloatArray, field: FloatArray, filling: FloatArray | None = None
) -> FloatArray:
    """Return ``Σ_v log σ(2 x_v (Σ_u w_uv x_u + b_v))`` for every sample, a row of ``spins``.

    Terms of spins that are missing (NaN) are left out, and to their neighbours these are the ``filling``, as
    an objective has it; without one, none may be missing.

    >>> pseudo_log_likelihood(np.array([[1.0, -1.0]]), np.zeros((2, 2)), np.zeros(2)) / np.log(2)
    array([-2.])
    >>> spins, coupling = np.array([[1.0, np.nan]]), np.array([[0.0, 9.0], [9.0, 0.0]])
    >>> pseudo_log_likelihood(spins, coupling, np.zeros(2), np.array([0.0, -1.0])).round(6)
    array([-18.])
    """
    if filling is None:
        return -np.logaddexp(0.0, -2.0 * spins * (spins @ coupling + field)).sum(axis=1)
    missing = np.isnan(spins)
    own, seen = np.where(missing, 0.0, spins), np.where(missing, filling, spins)
    terms = -np.logaddexp(0.0, -2.0 * own * (seen @ coupling + field))
    return terms.sum(axis=1, where=~missing)


def mean_likelihood(
    spins: FloatArray,
    weight: FloatArray | None,
    coupling: FloatArray,
    field: FloatArray,
    filling: FloatArray | None = None,
) -> float:
    """Return the weighted mean of :func:`pseudo_log_likelihood` over the samples.

    Those of which everything is missing do not count.

    >>> spins, coupling = np.array([[1.0, 1.0], [1.0, -1.0]]), np.array([[0.0, 9.0], [9.0, 0.0]])
    >>> round(mean_likelihood(spins, np.array([3.0, 1.0]), coupling, np.zeros(2)), 6)
    -9.0
    """
    answered = ~np.isnan(spins).all(axis=1)
    if not answered.any() or (weight is not None and not weight[answered].any()):
        raise ValueError("X must have a value in a row of positive weight, got nothing but missing values")
    terms = pseudo_log_likelihood(spins[answered], coupling, field, filling)
    return float(np.average(terms, weights=None if weight is None else weight[answered]))


def gibbs_samples(
    coupling: FloatArray, field: FloatArray, n_samples: int, burn_in: int, rng: np.random.Generator
) -> FloatArray:
    """Return independent samples of ``P(x) ∝ exp(Σ w_uv x_u x_v + Σ b_v x_v)``, each from a chain of its own.

    A chain begins at random spins and makes ``burn_in`` sweeps, each of which draws every spin once.
    """
    neighbours, strengths = _neighbours(coupling, field)
    n_vertices = len(field)
    samples = np.empty((n_samples, n_vertices))
    for row in samples:
        state = np.append(rng.choice([-1.0, 1.0], size=n_vertices), 1.0)
        for begin in range(0, burn_in, SWEEPS_AT_ONCE):
            turns = min(SWEEPS_AT_ONCE, burn_in - begin)
            gibbs.sweep(state, neighbours, strengths, rng.random((turns, n_vertices + 1)))
        row[:] = state[:-1]
    return samples


def _neighbours(coupling: FloatArray, field: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the neighbours of every vertex and their couplings, filled up with couplings of zero.

    Fields are couplings to one more vertex, the last, which holds itself at +1.
    """
    n = len(field)
    extended = np.zeros((n + 1, n + 1))
    extended[:n, :n] = coupling
    extended[:n, n] = field
    extended[n, n] = FROZEN
    width = int((extended != 0).sum(axis=1).max())
    neighbours = np.argsort(extended == 0, axis=1, kind="stable")[:, :width].astype(np.intp)
    return np.ascontiguousarray(neighbours), np.take_along_axis(extended, neighbours, axis=1)
