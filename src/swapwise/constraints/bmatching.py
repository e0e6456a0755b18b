"""At most b edges at each vertex."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import IndexArray, as_count, as_elements, as_vector, warn
from swapwise.constraints.base import forced_among, names_of
from swapwise.constraints.graphic import Edge, is_graph, number_vertices, read_edges
from swapwise.constraints.packing import PackingSystem
from swapwise.override import override


class BMatching(PackingSystem):
    """Edges of a graph such that no vertex has more than ``b`` of them.

    Element ``e`` is the e-th edge; it can be chosen once. With b = 1 the independent sets are
    the matchings. It is a 2-exchange system.

    Parameters
    ----------
    edges : iterable of (hashable, hashable), or a networkx graph
        The edges as pairs of two different vertices; the same pair may come several times. Of a
        graph, its edges in its own order; directions and weights are ignored.
    b : int, mapping from vertex to int, or sequence of int
        How many edges a vertex may have: a number for all, a dict or a pandas Series, or a sequence in
        the order of ``vertices``.

    Attributes
    ----------
    edges : list of (hashable, hashable)
        The edge of each element.
    vertices : list of hashable
        The vertices in the order in which the edges name them, or that of the graph.
    b : dict from vertex to int
        The limit of each vertex.

    See Also
    --------
    SetPacking : elements that use up more than two things.
    Graphic : no cycles.
    IsingGraph, GaussianGraph : estimators with such a limit.

    References
    ----------
    - Feldman, Naor, Schwartz and Ward (2011), Improved approximations for k-exchange systems.

    Examples
    --------
    >>> from swapwise import BMatching
    >>> pairs = BMatching([("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")], 1)
    >>> pairs.is_independent([0, 2]), pairs.is_independent([0, 1])
    (True, False)
    >>> pairs.extend([], [3, 0, 1, 2])
    array([1, 3])

    A limit of its own for each vertex, in the order of ``vertices``:

    >>> hub = BMatching([("a", "b"), ("a", "c"), ("b", "c")], [2, 1, 1])
    >>> hub.b
    {'a': 2, 'b': 1, 'c': 1}
    >>> hub.is_independent([0, 1]), hub.is_independent([0, 2])
    (True, False)
    """

    edges: list[Edge]
    vertices: list[Hashable]
    b: dict[Hashable, int]

    def __init__(self, edges: Iterable[Edge] | Any, b: int | Mapping[Hashable, int] | Iterable[int]) -> None:
        named: Iterable[Hashable] = getattr(edges, "nodes", ()) if is_graph(edges) else ()
        self._set_edges(read_edges(edges), named, b)

    def _set_edges(self, edges: list[Edge], vertices: Iterable[Hashable], b: Any) -> None:
        self.edges = edges
        self.vertices, self._tail, self._head = number_vertices(edges, vertices)
        loops = np.flatnonzero(self._tail == self._head)
        if len(loops):
            raise ValueError(
                f"an edge must join two different vertices, got {edges[loops[0]]!r} as number {loops[0]}"
            )
        self.b = _read_b(b, self.vertices)
        super().__init__(np.column_stack([self._tail, self._head]), list(self.b.values()))

    @classmethod
    def complete(cls, n_vertices: int, b: int | Mapping[Hashable, int] | Iterable[int]) -> BMatching:
        """Return the b-matchings of a complete graph: edges (i, j) with i < j, in lexicographic order.

        >>> BMatching.complete(4, 1).edges
        [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        """
        n_vertices = as_count(n_vertices, "n_vertices")
        tail, head = np.triu_indices(n_vertices, 1)
        complete = cls.__new__(cls)
        complete._set_edges(list(zip(tail.tolist(), head.tolist(), strict=True)), range(n_vertices), b)
        return complete

    @override
    def __repr__(self) -> str:
        limits = set(self.b.values())
        b = limits.pop() if len(limits) == 1 else self.b
        return f"BMatching(n={self.n}, {len(self.vertices)} vertices, b={b})"

    @override
    def induced(self, elements: IndexArray) -> BMatching:
        part = object.__new__(BMatching)
        part._hold(len(elements), self._places.among(elements))
        part.names, part.forced = names_of(self, elements), forced_among(self, elements)
        part.edges, part.vertices, part.b = [self.edges[e] for e in elements], self.vertices, self.b
        part._tail, part._head = self._tail[elements], self._head[elements]
        return part

    @override
    def random_set(self, support: IndexArray, rng: np.random.Generator) -> IndexArray:
        capacity = self._room(self.forced)[:-1]
        if len(support) or len(capacity) > len(self.vertices):  # some edges are forced out
            return super().random_set(support, rng)
        from swapwise.constraints.algorithms.random_graph import random_subgraph

        return random_subgraph(self._tail, self._head, capacity, rng)

    def to_graph(self, support: Iterable[int], weights: ArrayLike | None = None) -> Any:
        """Return the chosen edges as a networkx graph on all vertices.

        ``weights`` has length n, as ``coef`` of a result has; it becomes the attribute ``weight``.
        With parallel edges the graph is a ``MultiGraph``.

        >>> pairs = BMatching([("a", "b"), ("b", "c"), ("c", "d")], 1)
        >>> pairs.to_graph([0, 2], weights=[0.5, 0.0, -1.0]).edges(data="weight")
        EdgeDataView([('a', 'b', 0.5), ('c', 'd', -1.0)])
        """
        import networkx as nx

        chosen = as_elements(support, self.n, "the set")
        values = None if weights is None else as_vector(weights, self.n, "weights")
        several = len({frozenset(edge) for edge in self.edges}) < self.n
        graph = nx.MultiGraph() if several else nx.Graph()
        graph.add_nodes_from(self.vertices)
        for e in chosen.tolist():
            graph.add_edge(*self.edges[e], **({} if values is None else {"weight": float(values[e])}))
        return graph


def _read_b(b: Any, vertices: list[Hashable]) -> dict[Hashable, int]:
    if hasattr(b, "keys"):
        return _read_named(b, vertices)
    if isinstance(b, (int, np.integer)):
        return dict.fromkeys(vertices, as_count(b, "b"))
    if not isinstance(b, Iterable) or isinstance(b, (str, Set)):
        raise TypeError(
            "b must be a non-negative integer, a mapping from vertex to one, or a sequence of one for each "
            f"vertex, got {b!r}"
        )
    limits = list(b)
    if len(limits) != len(vertices):
        raise ValueError(
            f"b must have one number for each of the {len(vertices)} vertices, got {len(limits)} numbers"
        )
    return {v: as_count(limit, f"b of {v!r}") for v, limit in zip(vertices, limits, strict=True)}


def _read_named(b: Any, vertices: list[Hashable]) -> dict[Hashable, int]:
    named = set(b.keys())
    missing = [vertex for vertex in vertices if vertex not in named]
    if missing:
        raise ValueError(f"b must name every vertex, but has no number for {missing[0]!r}")
    unused = named - set(vertices)
    if unused:
        warn(f"no edge has the vertex {unused.pop()!r} that b names")
    return {vertex: as_count(b[vertex], f"b of {vertex!r}") for vertex in vertices}
