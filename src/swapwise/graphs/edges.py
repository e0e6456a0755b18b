"""The pairs of vertices that the elements of a graph objective stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from swapwise.checks import IndexArray, as_elements


def read_edges(edges: Sequence[tuple[int, int]] | None, n_vertices: int) -> tuple[IndexArray, IndexArray]:
    """Return the smaller and the larger end of every edge; all pairs if none are given.

    >>> read_edges([(2, 0)], 3)
    (array([0]), array([2]))
    """
    if edges is None:
        tail, head = np.triu_indices(n_vertices, k=1)
        return tail.astype(np.intp), head.astype(np.intp)
    edges = list(edges.edges() if hasattr(edges, "edges") else edges)
    seen = set()
    for e, edge in enumerate(edges):
        if not isinstance(edge, Iterable) or isinstance(edge, str) or len(set(edge)) != 2:
            raise ValueError(f"an edge must join two different vertices, got {edge!r} as number {e}")
        ends = as_elements(edge, n_vertices, f"edge number {e}")
        if tuple(ends) in seen:
            raise ValueError(f"every edge must be there once, but {tuple(ends.tolist())} is repeated")
        seen.add(tuple(ends))
    pairs = np.array([sorted(edge) for edge in edges], dtype=np.intp).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()
