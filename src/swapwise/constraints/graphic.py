"""Edges without a cycle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, IndexArray
from swapwise.constraints.base import as_order
from swapwise.constraints.edges import Edge, number_vertices, read_edges
from swapwise.constraints.matroid import Matroid


class Graphic(Matroid):
    """Edges of a graph that close no cycle: forests, and so spanning trees.

    Element ``e`` is the e-th edge. An edge from a vertex to itself can never be chosen; of parallel
    edges at most one can.

    Parameters
    ----------
    edges : iterable of (hashable, hashable), or a networkx graph
        The edges as pairs of vertices. Of a graph, its edges in its own order; directions and
        weights are not looked at.

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

    def __repr__(self) -> str:
        """Return a short description."""
        return f"Graphic(n={self.n}, {self._n_vertices} vertices)"

    def _is_independent(self, support: IndexArray) -> bool:
        trees = _Trees(self._n_vertices)
        return all(trees.join(*ends) for ends in self._ends(support))

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which edges join two trees."""
        return self._grid(support).free

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add edges in the given order that close no cycle (Kruskal's algorithm)."""
        trees = _Trees(self._n_vertices)
        candidates = np.concatenate([np.asarray(support, dtype=np.intp), as_order(order)])
        joins = [trees.join(*ends) for ends in self._ends(candidates)]
        return np.sort(candidates[np.array(joins, dtype=bool)])

    def _ends(self, elements: IndexArray) -> Iterable[tuple[int, int]]:
        return zip(self._tail[elements].tolist(), self._head[elements].tolist(), strict=True)

    def _exchanges(self, support: IndexArray) -> BoolArray:
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
        """Join the trees of two vertices; False if they are in the same one already."""
        root_u, root_v = self._root(u), self._root(v)
        self._parent[root_u] = root_v
        return root_u != root_v

    def _root(self, vertex: int) -> int:
        parent = self._parent
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]  # halving the path keeps the trees flat
            vertex = parent[vertex]
        return vertex
