"""The constraints of the lines: all are made from public names, so that older versions make the same."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np

import swapwise as sw

PAPER_CATEGORIES = {200: 5, 1000: 10}


def constraint_of(name: str, features: int, size: int) -> sw.Constraint:
    """Return a constraint on so many elements.

    Those of the table of constraints have bases of 15 to 45 among 1000 elements. Graphs have as few vertices
    as they need for their edges.

    >>> [constraint_of(name, 1000, 10).max_size() for name in ("uniform", "partition", "laminar", "graphic")]
    [10, 20, 15, 45]
    """
    places = np.arange(features)
    blocks = places * 10 // features
    if name == "uniform":
        return sw.Uniform(features, size)
    if name == "paper":
        return sw.Partition(places * PAPER_CATEGORIES[features] // features, size)
    if name == "partition":
        return sw.Partition(blocks, 2)
    if name == "laminar":
        halves = [(np.flatnonzero(blocks // 5 == half), 8) for half in range(2)]
        tenths = [(np.flatnonzero(blocks == block), 3) for block in range(10)]
        return sw.Laminar(features, [(places, 15), *halves, *tenths])
    if name == "two partitions":
        return sw.Intersection(sw.Partition(blocks, 2), sw.Partition(places % 10, 2))
    edges = list(islice(combinations(range(_vertices(features)), 2), features))
    if name == "b-matching":
        return sw.BMatching(edges, 1)
    if name == "graphic":
        return sw.Graphic(edges)
    raise ValueError(f"no constraint is called {name!r}")


def _vertices(edges: int) -> int:
    """Return how many vertices a graph with so many edges needs."""
    return int(np.ceil((1 + np.sqrt(1 + 8 * edges)) / 2))
