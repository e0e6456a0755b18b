"""The columns of data as vertices of a graph: by name or position, with limits on their edges."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from swapwise.checks import FloatArray, as_count, some_of, warn
from swapwise.constraints.bmatching import BMatching
from swapwise.constraints.graphic import is_graph, read_edges
from swapwise.search.result import SearchResult


class Vertices:
    """The columns of the data as vertices of a graph: by name, or by position."""

    def __init__(self, n: int, names: Iterable[str] | None = None) -> None:
        self.n = n
        self.nodes: list[Hashable] = list(range(n)) if names is None else [str(name) for name in names]
        self._position = {node: position for position, node in enumerate(self.nodes)}

    def position(self, vertex: Any, what: str) -> int:
        if vertex in self._position:
            return self._position[vertex]
        if isinstance(vertex, (int, np.integer)) and 0 <= vertex < self.n:
            return int(vertex)
        raise ValueError(
            f"{what} must name columns of X, or give their positions from 0 to {self.n - 1}; got {vertex!r}"
        )

    def pairs(self, edges: Any, what: str = "edges") -> list[tuple[int, int]]:
        """Return pairs of vertices as pairs of columns, each once, the smaller first."""
        ends = [(self.position(u, what), self.position(v, what)) for u, v in read_edges(edges, what)]
        for u, v in ends:
            if u == v:
                raise ValueError(f"{what} must join two different columns, got {self.nodes[u]!r} and itself")
        return list(dict.fromkeys((min(edge), max(edge)) for edge in ends))

    def elements(self, given: Any, edges: list[tuple[int, int]], what: str = "start") -> list[int]:
        """Return the elements of edges that are given by number or by their vertices."""
        given = given.support if isinstance(given, SearchResult) else given
        if not is_graph(given) and isinstance(given, Iterable):
            given = list(given)
            if all(isinstance(item, (int, np.integer)) for item in given):
                return given
        element_of = {edge: element for element, edge in enumerate(edges)}
        pairs = self.pairs(given, what)
        for pair in pairs:
            if pair not in element_of:
                names = tuple(self.nodes[v] for v in pair)
                raise ValueError(f"{what} must be made of edges that may be chosen; {names} is none of them")
        return [element_of[pair] for pair in pairs]

    def limits(self, max_degree: Any) -> list[int]:
        """Return the largest degree of every column, from a number, a mapping, a sequence or None."""
        what = "max_degree"
        if max_degree is None:
            return [max(0, self.n - 1)] * self.n
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


def warn_of_lost_names(X: Any) -> None:
    """Warn of a frame with names that are no strings, which scikit-learn ignores."""
    if not isinstance(X, pd.DataFrame) or X.columns.equals(pd.RangeIndex(X.shape[1])):
        return
    if not all(isinstance(name, str) for name in X.columns):
        warn(
            f"columns go by their positions, from 0 to {X.shape[1] - 1}, since not all of their names are "
            f"strings, such as {X.columns.tolist()[0]!r}; X.columns = X.columns.map(str) keeps them"
        )


def degree_limits(objective: Any, limits: list[int]) -> BMatching:
    at_ends = {v: limits[v] for v in np.union1d(objective.tail, objective.head).tolist()}
    return BMatching(objective.edges, at_ends)


def symmetric_matrix(objective: Any, of_edges: FloatArray) -> FloatArray:
    matrix = np.zeros((objective.n_vertices, objective.n_vertices))
    matrix[objective.tail, objective.head] = matrix[objective.head, objective.tail] = of_edges
    return matrix


def warn_of_constants(values: FloatArray, vertices: Vertices) -> None:
    is_constant = np.fmin.reduce(values) == np.fmax.reduce(values)  # among what is not missing
    constant = [repr(vertices.nodes[v]) for v in np.flatnonzero(is_constant)]
    if constant:
        warn(f"constant columns, from which nothing can be learnt: {some_of(constant)}")
