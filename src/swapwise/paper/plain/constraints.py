"""The constraints of the paper's experiments: membership, the moves from a set, a heaviest set.

Moves are listed, not tried one by one: tests of membership would take longer than the rules to be compared. A
set drops no more than has to make room, since f is monotone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations

from swapwise.paper.plain.search import Exchange, heaviest_base


class PlainPartition:
    """At most ``capacity`` elements of each label."""

    def __init__(self, labels: Sequence[int], capacity: int) -> None:
        self.labels = list(labels)
        self.capacity = capacity

    def __call__(self, S: Iterable[int]) -> bool:
        return all(count <= self.capacity for count in Counter(self.labels[x] for x in S).values())

    def exchanges(self, X: set[int]) -> list[Exchange]:
        """Return all additions, each with what may be dropped for it, in order."""
        members: dict[int, list[int]] = {label: [] for label in self.labels}
        for x in sorted(X):
            members[self.labels[x]].append(x)
        found: list[Exchange] = []
        for x, label in enumerate(self.labels):
            if x not in X:
                is_full = len(members[label]) >= self.capacity
                found += [((x,), drop) for drop in _one_of(members[label] if is_full else None)]
        return found

    def heaviest(self, weight: dict[int, float]) -> set[int]:
        return heaviest_base(weight, self, set())


class PlainMatching:
    """At most ``b`` edges at each vertex of the complete graph, whose edges are in lexicographic order."""

    def __init__(self, n_vertices: int, b: int) -> None:
        self.n_vertices = n_vertices
        self.b = b
        self.edges = list(combinations(range(n_vertices), 2))

    def __call__(self, S: Iterable[int]) -> bool:
        return all(count <= self.b for count in Counter(v for e in S for v in self.edges[e]).values())

    def exchanges(self, X: set[int]) -> list[Exchange]:
        """Return all additions, each with what may be dropped for it: an edge at each end that is full."""
        at: list[list[int]] = [[] for _ in range(self.n_vertices)]
        for e in sorted(X):
            for v in self.edges[e]:
                at[v].append(e)
        found: list[Exchange] = []
        for e, ends in enumerate(self.edges):
            if e not in X:
                first, second = (_one_of(at[v] if len(at[v]) >= self.b else None) for v in ends)
                drops = sorted(tuple(sorted((*one, *other))) for one in first for other in second)
                found += [((e,), drop) for drop in drops]
        return found

    def heaviest(self, weight: dict[int, float]) -> set[int]:
        """Return a heaviest set, by the reduction to matching (Schrijver, 2003) that the paper has.

        Each vertex has b copies, and each edge two vertices of its own, joined to each other and each to all
        copies of one end. A matching either joins the two, or uses the edge by joining both to copies.
        """
        import networkx as nx

        graph = nx.Graph()
        for e, ends in enumerate(self.edges):
            graph.add_edge((e, 0), (e, 1), weight=weight[e])
            for side, v in enumerate(ends):
                graph.add_edges_from((((e, side), ("copy", v, k)) for k in range(self.b)), weight=weight[e])
        mate = {}
        for one, other in nx.max_weight_matching(graph):
            mate[one], mate[other] = other, one
        copies = [
            all(mate.get((e, side), ("",))[0] == "copy" for side in (0, 1)) for e in range(len(self.edges))
        ]
        return {e for e, is_used in enumerate(copies) if is_used}


def _one_of(full: list[int] | None) -> list[tuple[int, ...]]:
    return [()] if full is None else [(x,) for x in full]
