"""Limits on how many elements nested or disjoint sets may give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count, as_elements
from swapwise.clock import Clock
from swapwise.constraints.base import MaxWeight, as_order, names_of
from swapwise.constraints.kinds import LaminarTree
from swapwise.constraints.matroid import Matroid, require_single_swaps
from swapwise.kernels import nested
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override

# Weights sampled to estimate how large the largest are.
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

    See Also
    --------
    Partition : groups that do not nest.
    Intersection : groups that overlap.

    References
    ----------
    - Schrijver (2003), Combinatorial Optimization: Polyhedra and Efficiency.

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
            at_least=np.zeros(len(by_number), dtype=np.intp),
        )
        self._levels = _levels_of(self._tree.parent)

    @classmethod
    def of_tree(cls, tree: LaminarTree) -> Laminar:
        """Return the limits that a tree of sets states."""
        laminar = object.__new__(Laminar)
        laminar.n, laminar._tree, laminar._levels = len(tree.leaf), tree, _levels_of(tree.parent)
        return laminar

    @override
    def laminar_tree(self) -> LaminarTree:
        return self._tree

    @override
    def induced(self, elements: IndexArray) -> Laminar:
        part = object.__new__(Laminar)
        part.n, part.names = len(elements), names_of(self, elements)
        part._tree = self._tree._replace(leaf=self._tree.leaf[elements])
        part._levels = self._levels
        return part

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, {len(self._tree.capacity) - 1} sets)"

    @override
    def shortfall(self, support: IndexArray) -> str:
        missed = np.flatnonzero(self._sums(support) < self._tree.at_least)
        if not len(missed):
            return ""
        chosen = int(np.count_nonzero(self._holds(missed[0], self._tree.leaf[support])))
        least = self._tree.at_least[missed[0]]
        return f"{chosen} of {self._called(missed[0])}, of which at least {least} must be chosen"

    def _called(self, node: int) -> str:
        return f"set number {node - 1}" if node else "the elements"

    @override
    def completed(self, support: IndexArray, weights: FloatArray) -> IndexArray:
        # With no more places than are in demand, only elements that lower limits need fit.
        limited = self._with_places(self.demand(support))
        return limited.extend(support, np.argsort(-weights, kind="stable"))

    def demand(self, support: IndexArray) -> int:
        """Return how many elements a complete set that holds the support has at least.

        >>> from swapwise import Partition
        >>> Partition(["a", "a", "a", "b"], 3, at_least={"a": 2}).demand(np.array([3]))
        3
        """
        return int(max(self._sums(support)[0], self._tree.at_least[0]))

    def _with_places(self, size: int) -> Laminar:
        return self.of_tree(self._tree._replace(capacity=np.append(size, self._tree.capacity[1:])))

    @override
    def _truncated(self, size: int) -> Laminar:
        shorter = self._with_places(min(size, int(self._tree.capacity[0])))
        shorter.names = self.names
        return shorter

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        demands = np.maximum(self._sums(support), self._tree.at_least)
        return bool((demands <= self._tree.capacity).all())

    @cached_property
    def has_lower_limits(self) -> bool:
        """Whether some elements must be chosen, of one set or another."""
        return bool(self._tree.at_least.any())

    def _sums(self, support: IndexArray) -> IndexArray:
        """Return how many places the elements of each set and the sets within it demand."""
        sums = np.bincount(self._tree.leaf[support], minlength=len(self._tree.end))
        if self.has_lower_limits:
            for nodes in reversed(self._levels[1:]):
                demands = np.maximum(sums[nodes], self._tree.at_least[nodes])
                np.add.at(sums, self._tree.parent[nodes], demands)
            return sums
        below = np.zeros(len(sums) + 1, dtype=np.intp)
        np.cumsum(sums, out=below[1:])
        return below[self._tree.end] - below[:-1]

    def _blockers(self, support: IndexArray) -> tuple[IndexArray, IndexArray]:
        """Return two nodes for every node, -1 for none: the blocker of newcomers, and the keeper of places.

        The blocker is the smallest full set around, unless a smaller one has places kept for newcomers. The
        keeper is the smallest set around whose demand is no lower when an element is dropped.
        """
        sums, least = self._sums(support), self._tree.at_least
        if not self.has_lower_limits:
            return self._next_up(sums >= self._tree.capacity), np.full(len(sums), -1)
        has_places = sums < least
        blocker = self._next_up(has_places | (sums >= self._tree.capacity))
        blocker[has_places[blocker]] = -1
        return blocker, self._next_up((least > 0) & (sums <= least))

    def _next_up(self, marked: BoolArray) -> IndexArray:
        """Return for every node the first marked one on its way up, itself included, or -1."""
        found = np.where(marked, np.arange(len(marked)), -1)
        for nodes in self._levels[1:]:
            found[nodes] = np.where(marked[nodes], nodes, found[self._tree.parent[nodes]])
        return found

    def _holds(self, nodes: IndexArray, others: IndexArray) -> BoolArray:
        return (others >= nodes) & (others < self._tree.end[nodes])

    def _making_room(
        self, nodes: IndexArray, support: IndexArray, blocker: IndexArray, keeper: IndexArray
    ) -> BoolArray:
        """Return which elements of the support make room in which nodes, as (nodes, support).

        They are in the set that blocks newcomers, and no smaller set without the newcomer keeps the place.
        """
        leaving, blocking = self._tree.leaf[support], np.maximum(blocker[nodes], 0)[:, None]
        makes_room = self._holds(blocking, leaving)
        if self.has_lower_limits:
            kept, is_free = np.maximum(keeper[leaving], 0), (blocker[nodes] < 0)[:, None]
            makes_room &= is_free | (kept <= blocking) | self._holds(kept, nodes[:, None])
        return makes_room

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        blocker, keeper = self._blockers(support)
        leaf = self._tree.leaf
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        feasible[:, :-1] = self._making_room(leaf, support, blocker, keeper)
        feasible[:, -1] = blocker[leaf] < 0
        return feasible

    @override
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        require_single_swaps(q)
        blocker, keeper = self._blockers(support)
        # Newcomers of two nodes find the same places if the next node up that is full or keeps places is one.
        every = np.arange(len(blocker))
        place = np.where(blocker < 0, -1, self._next_up((blocker == every) | (keeper == every)))
        nodes = np.unique(place[place >= 0])
        price = np.where(self._making_room(nodes, support, blocker, keeper), cost[support], np.inf)
        cheapest = np.full(len(blocker) + 1, NOTHING, dtype=np.intp)
        is_open = np.isfinite(price.min(axis=1, initial=np.inf))
        if is_open.any():
            cheapest[nodes[is_open]] = support[price[is_open].argmin(axis=1)]
        feasible = np.append(np.isin(every, nodes[is_open]), True)
        of_element = place[self._tree.leaf]
        candidate = feasible[of_element]
        candidate[support] = False
        added = np.flatnonzero(candidate)
        yield MoveList(added[:, None], cheapest[of_element[added]][:, None])

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = True
        tree = self._tree
        nested.first_base(chosen, as_order(order), tree.leaf, tree.parent, tree.capacity, tree.at_least)
        return np.flatnonzero(chosen)

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return self._max_weight_holding(np.empty(0, dtype=np.intp), weights, clock)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        # The greedy algorithm, in rounds: mostly the heaviest elements suffice.
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

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        support, (blocker, keeper) = answer.support, self._blockers(answer.support)
        droppable = support[~np.isin(support, held)]
        price = self._prices(droppable, weights, blocker, keeper)
        with_it = answer.weight + (weights - price[self._tree.leaf])
        with_it[support] = answer.weight
        incoming = weights.copy()
        incoming[support] = 0.0
        without = np.full(self.n, answer.weight)
        kept_out = self._kept_out(incoming, blocker, keeper)[self._tree.leaf[support]]
        without[support] += kept_out - weights[support]
        return with_it, without

    def _prices(
        self, droppable: IndexArray, weights: FloatArray, blocker: IndexArray, keeper: IndexArray
    ) -> FloatArray:
        """Return the weight of the cheapest element that makes room in each node; 0 if there is room."""
        parent, nodes = self._tree.parent, np.arange(len(blocker))
        cheapest = np.full(len(nodes), np.inf)
        np.minimum.at(cheapest, self._tree.leaf[droppable], weights[droppable])
        for some in reversed(self._levels[1:]):  # a place that is kept gets no further up
            rising = some[keeper[some] != some]
            np.minimum.at(cheapest, parent[rising], cheapest[rising])
        price = np.where(blocker == nodes, cheapest, 0.0)
        for some in self._levels[1:]:
            below = some[(blocker[some] >= 0) & (blocker[some] != some)]
            price[below] = np.minimum(cheapest[below], price[parent[below]])
        return price

    def _kept_out(self, incoming: FloatArray, blocker: IndexArray, keeper: IndexArray) -> FloatArray:
        """Return the weight of the heaviest element that could be added if one of each node were dropped."""
        parent, nodes = self._tree.parent, np.arange(len(blocker))
        heaviest, own = np.zeros((2, len(nodes)))
        np.maximum.at(heaviest, self._tree.leaf, incoming)
        full = blocker >= 0
        np.maximum.at(own, blocker[full], heaviest[full])
        kept_out = own
        if self.has_lower_limits:
            for some in reversed(self._levels[1:]):  # what a node keeps out is not kept out by those above
                rising = some[full[some] & (blocker[some] != some)]
                np.maximum.at(heaviest, parent[rising], heaviest[rising])
            kept_out = np.where(keeper == nodes, np.maximum(own, heaviest), own)
        for some in self._levels[1:]:
            passing = some[keeper[some] != some]
            kept_out[passing] = np.maximum(kept_out[passing], kept_out[parent[passing]])
        return kept_out

    @cached_property
    def _rank(self) -> int:
        return self.max_size()

    @override
    def max_size(self) -> int:
        return len(self.extend(np.empty(0, dtype=np.intp), np.arange(self.n)))

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = self._blockers(support)[0][self._tree.leaf] < 0
        addable[support] = False
        return addable


def _about(count: int, weights: FloatArray) -> float:
    """Return a number that about ``count`` of the weights, or more, are not below, from a sample."""
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
    depth, above = np.zeros(len(parent), dtype=np.intp), np.arange(len(parent))
    while above.any():
        depth += above > 0
        above = parent[above]
    return [np.flatnonzero(depth == d) for d in range(depth.max() + 1)]
