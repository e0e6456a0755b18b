"""Limits on how many elements nested or disjoint sets may give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count, as_elements
from swapwise.clock import Clock
from swapwise.constraints.base import LaminarTree, MaxWeight, as_order, names_of
from swapwise.constraints.matroid import Matroid, require_single_swaps
from swapwise.kernels import nested
from swapwise.moves import NOTHING, MoveList

# Weights that are looked at to find about how large the largest are.
SAMPLE = 4000


class Laminar(Matroid):
    """Upper limits on nested or disjoint sets: at most 2 per site, at most 5 per region, 9 in all.

    ``limits`` is a list of pairs ``(elements, capacity)``. Any two of the sets must be disjoint, or
    one must hold the other. Elements in none of them are free.

    Parameters
    ----------
    n : int
        Size of the ground set.
    limits : iterable of (iterable of int, int)
        The sets and how many elements of each may be chosen.

    Examples
    --------
    Two sites with at most one sensor each, in a region with at most two:

    >>> from swapwise import Laminar
    >>> sensors = Laminar(5, [([0, 1], 1), ([2, 3], 1), ([0, 1, 2, 3, 4], 2)])
    >>> sensors.is_independent([0, 2]), sensors.is_independent([0, 1]), sensors.is_independent([0, 2, 4])
    (True, False, False)
    >>> sensors.rank()
    2
    >>> sensors.max_weight([5, 4, 3, 2, 1]).support
    array([0, 2])
    """

    _tree: LaminarTree
    _levels: list[IndexArray]  # the nodes of the tree by their depth

    def __init__(self, n: int, limits: Iterable[tuple[Iterable[int], int]]) -> None:
        self.n = as_count(n, "n")
        sets, capacities = _read_limits(self.n, limits)
        largest_first = sorted(range(len(sets)), key=lambda s: -len(sets[s]))
        owner = np.full(self.n, -1, dtype=np.intp)
        parents = dict.fromkeys(range(len(sets)), -1)
        for s in largest_first:
            owners = np.unique(owner[sets[s]])
            if len(owners) > 1:
                # The smallest of the sets around cannot hold s: one around it has elements of s as well.
                other = min((int(o) for o in owners if o >= 0), key=lambda o: len(sets[o]))
                raise ValueError(
                    f"the sets of a laminar family must be nested or disjoint, but sets number {other} "
                    f"and {s} overlap without one holding the other"
                )
            parents[s] = int(owners[0]) if len(owners) else -1
            owner[sets[s]] = s
        self._build_tree(owner, parents, capacities)

    def _build_tree(self, owner: IndexArray, parents: dict[int, int], capacities: list[int]) -> None:
        children: dict[int, list[int]] = {-1: []}
        for s, parent in parents.items():
            children.setdefault(parent, []).append(s)
        number: dict[int, int] = {}
        end = np.empty(len(parents) + 1, dtype=np.intp)
        path: list[tuple[int, bool]] = [(-1, False)]
        while path:
            node, done = path.pop()
            if done:
                end[number[node]] = len(number)
                continue
            number[node] = len(number)
            path.append((node, True))
            path.extend((child, False) for child in reversed(children.get(node, [])))
        by_number = sorted(number, key=number.__getitem__)
        self._tree = LaminarTree(
            leaf=np.array([number[int(s)] for s in owner], dtype=np.intp),
            end=end,
            parent=np.array([number[parents[s]] if s >= 0 else 0 for s in by_number], dtype=np.intp),
            capacity=np.array([capacities[s] if s >= 0 else self.n for s in by_number], dtype=np.intp),
        )
        self._levels = _levels_of(self._tree.parent)

    @classmethod
    def of_tree(cls, tree: LaminarTree) -> Laminar:
        """Return the limits that a tree of sets states.

        >>> from swapwise import Uniform
        >>> Laminar.of_tree(Uniform(4, 3).truncate(2).laminar_tree()).rank()
        2
        """
        laminar = object.__new__(Laminar)
        laminar.n, laminar._tree, laminar._levels = len(tree.leaf), tree, _levels_of(tree.parent)
        return laminar

    def laminar_tree(self) -> LaminarTree:
        """Return the tree of the sets."""
        return self._tree

    def induced(self, elements: IndexArray) -> Laminar:
        """Return the same limits on some of the elements, numbered by their places in ``elements``."""
        part = object.__new__(Laminar)
        part.n, part.names = len(elements), names_of(self, elements)
        part._tree = self._tree._replace(leaf=self._tree.leaf[elements])
        part._levels = self._levels
        return part

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{type(self).__name__}(n={self.n}, {len(self._tree.capacity) - 1} sets)"

    def _is_independent(self, support: IndexArray) -> bool:
        return bool((self._counts(support) <= self._tree.capacity).all())

    def _counts(self, support: IndexArray) -> IndexArray:
        """Return how many elements of the support each set holds."""
        own = np.bincount(self._tree.leaf[support], minlength=len(self._tree.end))
        below = np.zeros(len(own) + 1, dtype=np.intp)
        np.cumsum(own, out=below[1:])
        return below[self._tree.end] - below[:-1]

    def _blockers(self, support: IndexArray) -> IndexArray:
        """Return for every node the smallest full set around it, or -1: what a newcomer must free."""
        full = self._counts(support) >= self._tree.capacity
        blocker = np.full(len(full), -1, dtype=np.intp)
        blocker[0] = 0 if full[0] else -1
        for nodes in self._levels[1:]:
            blocker[nodes] = np.where(full[nodes], nodes, blocker[self._tree.parent[nodes]])
        return blocker

    def _inside(self, nodes: IndexArray, support: IndexArray) -> BoolArray:
        """Return which elements of the support are in which of the sets, as (nodes, support)."""
        leaf = self._tree.leaf[support]
        return (leaf >= nodes[:, None]) & (leaf < self._tree.end[nodes][:, None])

    def _swap_mask(self, support: IndexArray) -> BoolArray:
        blocker = self._blockers(support)[self._tree.leaf]
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        feasible[:, :-1] = self._inside(np.maximum(blocker, 0), support)
        feasible[:, -1] = blocker < 0
        return feasible

    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield the cheapest drop for every candidate: one look at each full set, not each pair."""
        require_single_swaps(q)
        blocker = self._blockers(support)
        nodes = np.unique(blocker[blocker >= 0])
        price = np.where(self._inside(nodes, support), cost[support], np.inf)
        cheapest = np.full(len(blocker) + 1, NOTHING, dtype=np.intp)
        open_nodes = nodes[np.isfinite(price.min(axis=1, initial=np.inf))]
        if len(open_nodes):
            cheapest[open_nodes] = support[price[np.isin(nodes, open_nodes)].argmin(axis=1)]
        feasible = np.append(np.isin(np.arange(len(blocker)), open_nodes), True)
        of_element = blocker[self._tree.leaf]
        candidate = feasible[of_element]
        candidate[support] = False
        added = np.flatnonzero(candidate)
        yield MoveList(added[:, None], cheapest[of_element[added]][:, None])

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add elements in the given order while the limits allow."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = True
        nested.first_base(chosen, as_order(order), self._tree.leaf, self._tree.parent, self._tree.capacity)
        return np.flatnonzero(chosen)

    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return self._max_weight_holding(np.empty(0, dtype=np.intp), weights, clock)

    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        # The greedy algorithm, by turns: it is seldom that any but the heaviest elements are looked at.
        rest = np.where(self.addable(held), weights, 0.0)
        support, turn = held, 2 * self._rank + 32
        while True:
            heaviest = rest >= max(_about(turn, rest), np.finfo(float).tiny)
            some = np.flatnonzero(heaviest)
            support = self.extend(support, some[np.argsort(-rest[some], kind="stable")])
            rest[heaviest | ~self.addable(support)] = 0.0
            if not (rest > 0).any():
                return MaxWeight(support, float(weights[support].sum()))
            turn *= 4

    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        # Who is added takes the place of any chosen element of the smallest full set around; who is dropped
        # makes room for whom one of the sets around kept out. So the sets are all there is to look at.
        leaf, parent = self._tree.leaf, self._tree.parent
        support, blocker = answer.support, self._blockers(answer.support)
        droppable = support[~np.isin(support, held)]
        cheapest = np.full(len(parent), np.inf)
        np.minimum.at(cheapest, leaf[droppable], weights[droppable])
        for nodes in reversed(self._levels[1:]):
            np.minimum.at(cheapest, parent[nodes], cheapest[nodes])
        price = np.append(cheapest, 0.0)[blocker]  # nothing where no set is full, and the blocker is -1
        with_it = answer.weight + (weights - price[leaf])
        with_it[support] = answer.weight
        incoming = weights.copy()
        incoming[support] = 0.0
        heaviest, kept_out = np.zeros((2, len(parent)))
        np.maximum.at(heaviest, leaf, incoming)
        full = blocker >= 0
        np.maximum.at(kept_out, blocker[full], heaviest[full])
        for nodes in self._levels[1:]:
            kept_out[nodes] = np.maximum(kept_out[nodes], kept_out[parent[nodes]])
        without = np.full(self.n, answer.weight)
        without[support] += kept_out[leaf[support]] - weights[support]
        return with_it, without

    @cached_property
    def _rank(self) -> int:
        return self.max_size()

    def max_size(self) -> int:
        """Return the rank: from the leaves up, no set gives more than its limit."""
        given = np.bincount(self._tree.leaf, minlength=len(self._tree.end))
        for nodes in reversed(self._levels):
            given[nodes] = np.minimum(given[nodes], self._tree.capacity[nodes])
            if nodes[0]:
                np.add.at(given, self._tree.parent[nodes], given[nodes])
        return int(given[0])

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which elements are in no full set."""
        addable = self._blockers(support)[self._tree.leaf] < 0
        addable[support] = False
        return addable


def _about(count: int, weights: FloatArray) -> float:
    """Return a number that about ``count`` of the weights, or more, are not below: a sample tells."""
    sample = weights[:: max(1, len(weights) // SAMPLE)]
    place = len(sample) * count // max(1, len(weights)) + 2
    return float(np.partition(sample, -place)[-place]) if place <= len(sample) else -np.inf


def _read_limits(n: int, limits: Iterable[tuple[Iterable[int], int]]) -> tuple[list[IndexArray], list[int]]:
    sets, capacities = [], []
    if not isinstance(limits, Iterable):
        raise TypeError(f"limits must be pairs (elements, capacity), got {limits!r}")
    for s, limit in enumerate(limits):
        if not isinstance(limit, Sequence) or len(limit) != 2:
            raise TypeError(f"limits must be pairs (elements, capacity), got {limit!r} as number {s}")
        sets.append(as_elements(limit[0], n, f"set number {s}"))
        capacities.append(as_count(limit[1], f"the capacity of set number {s}"))
    return sets, capacities


def _levels_of(parent: IndexArray) -> list[IndexArray]:
    """Return the nodes of a tree by their depth, the root first."""
    depth, above = np.zeros(len(parent), dtype=np.intp), np.arange(len(parent))
    while above.any():
        depth += above > 0
        above = parent[above]
    return [np.flatnonzero(depth == d) for d in range(depth.max() + 1)]
