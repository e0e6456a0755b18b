"""Edges without a cycle, and how constraints read graphs: pairs of vertices, or a networkx graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, IndexArray, is_missing
from swapwise.constraints.base import as_order, names_of
from swapwise.constraints.matroid import Matroid
from swapwise.override import override

Edge = tuple[Hashable, Hashable]


class Graphic(Matroid):
    """Edges of a graph that close no cycle: forests, and so spanning trees.

    Element ``e`` is the e-th edge. An edge from a vertex to itself can never be chosen; of parallel
    edges at most one can.

    Parameters
    ----------
    edges : iterable of (hashable, hashable), or a networkx graph
        The edges as pairs of vertices. Of a graph, its edges in its own order; directions and
        weights are ignored.

    See Also
    --------
    BMatching : a limit on the edges of each vertex.
    LinearMatroid : columns in place of edges.

    References
    ----------
    - Schrijver (2003), Combinatorial Optimization: Polyhedra and Efficiency.

    Examples
    --------
    A triangle with a tail:

    >>> from swapwise import Graphic
    >>> roads = Graphic([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    >>> roads.is_independent([0, 1, 3]), roads.is_independent([0, 1, 2])
    (True, False)
    >>> roads.max_weight([1, 2, 3, 1]).support
    array([1, 2, 3])
    >>> roads.edges[3]
    ('c', 'd')
    """

    edges: list[Edge]

    def __init__(self, edges: Iterable[Edge] | Any) -> None:
        self.edges = read_edges(edges)
        self.n = len(self.edges)
        vertices, self._tail, self._head = number_vertices(self.edges)
        self._n_vertices = len(vertices)

    @override
    def __repr__(self) -> str:
        return f"Graphic(n={self.n}, {self._n_vertices} vertices)"

    @override
    def induced(self, elements: IndexArray) -> Graphic:
        part = object.__new__(Graphic)
        part.n, part.names = len(elements), names_of(self, elements)
        part.edges = [self.edges[e] for e in elements]
        part._tail, part._head = self._tail[elements], self._head[elements]
        part._n_vertices = self._n_vertices
        return part

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        trees = _Trees(self._n_vertices)
        return all(trees.join(*ends) for ends in self._ends(support))

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        trees = _Trees(self._n_vertices)
        for ends in self._ends(support):
            trees.join(*ends)
        root = trees.roots()
        return root[self._tail] != root[self._head]

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        trees = _Trees(self._n_vertices)
        candidates = np.concatenate([np.asarray(support, dtype=np.intp), as_order(order)])
        joins = [trees.join(*ends) for ends in self._ends(candidates)]
        return np.sort(candidates[np.array(joins, dtype=bool)])

    def _ends(self, elements: IndexArray) -> Iterable[tuple[int, int]]:
        return zip(self._tail[elements].tolist(), self._head[elements].tolist(), strict=True)

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        # The circuit of a candidate is the path between its ends: what their ways to the root do
        # not share. Between two trees there is no circuit, and anything may be dropped.
        path, root = self._root_paths(support)
        free = root[self._tail] != root[self._head]
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        feasible[:, :-1] = path[self._tail] ^ path[self._head]
        feasible[:, -1] = False
        feasible[free] = True
        return feasible

    def _root_paths(self, support: IndexArray) -> tuple[BoolArray, IndexArray]:
        """Return which chosen edges lead from each vertex to the root of its tree, and that root."""
        neighbours: list[list[tuple[int, int]]] = [[] for _ in range(self._n_vertices)]
        for column, (tail, head) in enumerate(self._ends(support)):
            neighbours[tail].append((head, column))
            neighbours[head].append((tail, column))
        path = np.zeros((self._n_vertices, len(support)), dtype=bool)
        root = np.full(self._n_vertices, -1, dtype=np.intp)
        for start in range(self._n_vertices):
            if root[start] >= 0:
                continue
            root[start] = start
            waiting = [start]
            while waiting:
                vertex = waiting.pop()
                for neighbour, column in neighbours[vertex]:
                    if root[neighbour] < 0:
                        root[neighbour] = start
                        path[neighbour] = path[vertex]
                        path[neighbour, column] = True
                        waiting.append(neighbour)
        return path, root


class _Trees:
    """The trees of a growing forest, as union-find."""

    def __init__(self, n_vertices: int) -> None:
        self._parent = list(range(n_vertices))

    def join(self, u: int, v: int) -> bool:
        """Join the trees of two vertices; False if they are the same tree already."""
        root_u, root_v = self._root(u), self._root(v)
        self._parent[root_u] = root_v
        return root_u != root_v

    def roots(self) -> IndexArray:
        """Return one vertex per tree, for each of its vertices."""
        return np.array([self._root(vertex) for vertex in range(len(self._parent))], dtype=np.intp)

    def _root(self, vertex: int) -> int:
        parent = self._parent
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]  # halving the path keeps the trees flat
            vertex = parent[vertex]
        return vertex


def read_edges(edges: Any, what: str = "edges") -> list[Edge]:
    if not is_graph(edges) and (isinstance(edges, str) or not isinstance(edges, Iterable)):
        raise TypeError(f"{what} must be pairs of vertices or a networkx graph, got {edges!r}")
    # Called, the edges of a multigraph are pairs; iterated over, they come with their keys.
    pairs = []
    for e, edge in enumerate(edges.edges() if is_graph(edges) else edges):
        try:
            if isinstance(edge, str):
                raise TypeError("a string is one name, not two")
            u, v = edge
        except (TypeError, ValueError):
            raise TypeError(f"{what} must be pairs of vertices, got {edge!r} as number {e}") from None
        _require_vertex(u, e)
        _require_vertex(v, e)
        pairs.append((u, v))
    return pairs


def is_graph(edges: Any) -> bool:
    return hasattr(edges, "edges")


def number_vertices(
    edges: list[Edge], vertices: Iterable[Hashable] = ()
) -> tuple[list[Hashable], IndexArray, IndexArray]:
    """Return the vertices and the numbers of the two ends of each edge.

    ``vertices`` come first, then those that only the edges name, in the order in which they do.
    """
    number: dict[Hashable, int] = {}
    for vertex in vertices:
        number.setdefault(vertex, len(number))
    ends = [number.setdefault(vertex, len(number)) for edge in edges for vertex in edge]
    return list(number), np.array(ends[0::2], dtype=np.intp), np.array(ends[1::2], dtype=np.intp)


def _require_vertex(vertex: Any, e: int) -> None:
    if not isinstance(vertex, Hashable):
        raise TypeError(f"vertices must be hashable, got {vertex!r} in edge number {e}")
    if is_missing(vertex):
        raise ValueError(f"every edge needs two vertices, got {vertex!r} in edge number {e}")
