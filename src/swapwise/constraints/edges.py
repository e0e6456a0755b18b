"""Graphs as constraints read them: pairs of vertices, or a networkx graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, is_missing

Edge = tuple[Hashable, Hashable]


def read_edges(edges: Any) -> list[Edge]:
    """Return the edges as pairs; those of a networkx graph come in its own order."""
    if not is_graph(edges) and (isinstance(edges, str) or not isinstance(edges, Iterable)):
        raise TypeError(f"edges must be pairs of vertices or a networkx graph, got {edges!r}")
    # Called, the edges of a multigraph are pairs; iterated over, they come with their keys.
    pairs = []
    for e, edge in enumerate(edges.edges() if is_graph(edges) else edges):
        try:
            if isinstance(edge, str):
                raise TypeError("a string is one name, not two")
            u, v = edge
        except (TypeError, ValueError):
            raise TypeError(f"edges must be pairs of vertices, got {edge!r} as number {e}") from None
        _require_vertex(u, e)
        _require_vertex(v, e)
        pairs.append((u, v))
    return pairs


def is_graph(edges: Any) -> bool:
    """Tell whether edges were given as a networkx graph."""
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
