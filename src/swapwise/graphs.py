"""Whether an objective and a constraint on edges speak of the same graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

Edge = tuple[Hashable, Hashable]


def require_same_edges(first: Sequence[Edge], second: Sequence[Edge]) -> None:
    """Refuse two lists of edges that do not describe one graph, edge by edge.

    Ends may be swapped, and vertices may have other names in the second list (the names of columns, say,
    in place of their numbers), as long as edges that meet in the first meet in the second.

    >>> require_same_edges([(0, 1), (1, 2)], [("b", "a"), ("b", "c")])
    >>> require_same_edges([(0, 1), (1, 2)], [(1, 2), (0, 1)])
    Traceback (most recent call last):
    ValueError: objective and constraint must list the same edges in the same order, but edge number 0 is \
(0, 1) in one and (1, 2) in the other
    """
    one, other = [frozenset(edge) for edge in first], [frozenset(edge) for edge in second]
    if one == other:
        return
    same_names = set().union(*one) == set().union(*other)
    if same_names or not _meet_alike(one, other):
        e = next(e for e in range(len(one)) if one[e] != other[e])
        raise ValueError(
            f"objective and constraint must list the same edges in the same order, but edge number {e} is "
            f"{first[e]} in one and {second[e]} in the other"
        )


def _meet_alike(one: list[frozenset[Hashable]], other: list[frozenset[Hashable]]) -> bool:
    """Tell whether all edges at a vertex of the first graph have a vertex of the second in common."""
    common: dict[Hashable, frozenset[Hashable]] = defaultdict(frozenset)
    for edge, renamed in zip(one, other, strict=True):
        for vertex in edge:
            common[vertex] = common[vertex] & renamed if vertex in common else renamed
            if not common[vertex]:
                return False
    return True
