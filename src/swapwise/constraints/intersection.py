"""Sets that are independent in several matroids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.algorithms.exchanges import (
    LARGEST_BATCH,
    batched,
    cheapest_in_each,
    in_order,
    left_aligned,
    minimal_hitting_sets,
    pieces_of,
    runs_of,
    without_supersets,
)
from swapwise.constraints.base import (
    GroupLimits,
    IndependenceSystem,
    MaxWeight,
    as_order,
    best_so_far,
    forced_among,
    in_one_order,
    names_of,
)
from swapwise.constraints.circuits import MOST_CIRCUITS, Circuits, Exchanges, LargerExchanges
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.minors import Contraction, Restriction
from swapwise.constraints.packing import PackingSystem
from swapwise.moves import Move, MoveBatch, MoveList


class Intersection(IndependenceSystem):
    """The sets that are independent in each of p matroids.

    Parameters
    ----------
    *matroids : Matroid
        At least one; all on the same ground set. What one of them forces in, all do. Those that name
        their elements must name the same; the first gives the order.
    neighbourhood : "auto", "exchange" or "matroid"
        Which moves lead from one set to another, for a given q. ``"matroid"``: add up to 2q elements
        and drop up to 2pq, the paper's q-reachability for p-matroid intersections. ``"exchange"``: add
        up to q and drop up to ``pq − q + 1``, that for p-exchange systems; these moves are far fewer,
        but the guarantee holds only if every matroid limits how many elements of disjoint groups are
        chosen, as ``Uniform`` and ``Partition`` do. ``"auto"`` takes ``"exchange"`` where it may.

    Examples
    --------
    At most one sensor per site and at most one per kind:

    >>> from swapwise import Intersection, Partition
    >>> site, kind = Partition([0, 0, 1, 1], 1), Partition(["x", "y", "x", "y"], 1)
    >>> both = Intersection(site, kind)
    >>> both.is_independent([0, 3]), both.is_independent([0, 2])
    (True, False)
    >>> both.neighbourhood, both.exchange_size(q=1)
    ('exchange', 3)

    A forest with at most two edges of each colour:

    >>> from swapwise import Graphic
    >>> forest = Graphic([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    >>> coloured = Intersection(forest, Partition(["red", "red", "blue", "red"], 2))
    >>> coloured.neighbourhood, coloured.exchange_size(q=1)
    ('matroid', 6)
    >>> coloured.extend([], [0, 1, 2, 3])
    array([0, 1])
    """

    def __init__(self, *parts: Matroid | Intersection, neighbourhood: str = "auto") -> None:
        matroids = _flattened(parts)
        _require_matroids(matroids)
        matroids, self.names = in_one_order(matroids)
        self.n = matroids[0].n
        self.p: int = len(matroids)
        self.forced = _forced_by(matroids)
        self.matroids: tuple[Matroid, ...] = tuple(
            matroid if len(matroid.forced) == len(self.forced) else matroid.contract(self.forced)
            for matroid in matroids
        )
        self._made_of = self.matroids
        self._packing = _as_packing(self.matroids)
        self.neighbourhood = self._read_neighbourhood(neighbourhood)

    def _read_neighbourhood(self, neighbourhood: str) -> str:
        if neighbourhood not in ("auto", "exchange", "matroid"):
            raise ValueError(f"neighbourhood must be 'auto', 'exchange' or 'matroid', got {neighbourhood!r}")
        if neighbourhood == "exchange" and self._packing is None:
            other = next(matroid for matroid in self.matroids if _groups_of(matroid) is None)
            raise ValueError(
                "the neighbourhood 'exchange' comes with a guarantee only for p-exchange systems, such as "
                "intersections of Uniform and Partition matroids; use 'matroid' (or 'auto') for an "
                f"intersection with {other!r}"
            )
        if neighbourhood == "auto":
            return "matroid" if self._packing is None else "exchange"
        return neighbourhood

    def __repr__(self) -> str:
        """Return a short description."""
        inner = ", ".join(map(repr, self.matroids))
        return f"Intersection({inner}, neighbourhood={self.neighbourhood!r})"

    def induced(self, elements: IndexArray) -> Intersection:
        """Return the intersection of the matroids on some of the elements."""
        part = object.__new__(Intersection)  # all has been checked
        part.n, part.p, part.names = len(elements), self.p, names_of(self, elements)
        part.forced, part.neighbourhood = forced_among(self, elements), self.neighbourhood
        part.matroids = tuple(cast(Matroid, matroid.induced(elements)) for matroid in self.matroids)
        part._made_of = part.matroids
        part._packing = None if self._packing is None else self._packing.induced(elements)
        return part

    def _is_independent(self, support: IndexArray) -> bool:
        return all(matroid._is_independent(support) for matroid in self.matroids)

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which elements every matroid can add."""
        return np.logical_and.reduce([matroid.addable(support) for matroid in self.matroids])

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add to an independent set each element of ``order`` in turn that keeps it independent."""
        if self._packing is not None:
            return self._packing.extend(support, order)
        # What does not fit now will not fit later, so all that is left is sorted out when one does not.
        rest, chosen = as_order(order), np.asarray(support, dtype=np.intp)
        rest = rest[~np.isin(rest, chosen)]
        while len(rest):
            larger = np.sort(np.append(chosen, rest[0]))
            if self._is_independent(larger):
                chosen, rest = larger, rest[1:]
            else:
                rest = rest[self.addable(chosen)[rest]]
        return np.sort(chosen)

    def group_limits(self) -> GroupLimits | None:
        """Return the groups and capacities of all matroids, if these are all there is to them."""
        if self._packing is None or self.neighbourhood != "exchange":
            return None
        return self._packing.group_limits()

    def max_size(self) -> int:
        """Return the smallest rank: no independent set is larger."""
        return min(matroid.rank() for matroid in self.matroids)

    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        if self.p == 1:
            return self.matroids[0]._max_weight(weights, clock)
        return self._max_weight_holding(np.empty(0, dtype=np.intp), weights, clock)

    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        from swapwise.constraints.algorithms.matroid_intersection import common_set_within

        if self.p == 1:
            return self.matroids[0]._max_weight_holding(held, weights, clock)
        if self._packing is not None:
            return self._packing._max_weight_holding(held, weights, clock)
        if self.p > 2:
            return self._nearly_heaviest(held, weights, clock)
        rest = weights.copy()
        rest[held] = 0.0
        first, second = (matroid.contract(held) if len(held) else matroid for matroid in self.matroids)
        found = common_set_within(first, second, rest, clock)
        support = np.union1d(found.support, held)
        if found.exact:
            return MaxWeight(support, float(weights[support].sum()))
        bound = float(weights[held].sum()) + found.upper_bound
        return best_so_far(self, held, weights, support, bound)

    def _nearly_heaviest(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Return a set by local search, with the lowest of the bounds that there are."""
        from swapwise.constraints.algorithms.matroid_intersection import local_search_weight

        whole = Intersection(*(m.contract(held) for m in self.matroids)) if len(held) else self
        rest = weights.copy()
        rest[held] = 0.0
        support = np.union1d(local_search_weight(whole, rest, clock=clock), held)
        # A local optimum of a linear function has at least 1 / (p − 1 + 1/q) of the largest weight.
        bounds = [float(weights[held].sum() + self.p * rest[support].sum())]
        for matroid in self.matroids:
            bounds.append(matroid._max_weight_holding(held, weights, clock).upper_bound)
        found = MaxWeight.below(min(bounds), support, weights)
        # Without any weight the set is a largest one, but the factor is to be one for weights in general.
        return found if found.weight > 0 else replace(found, factor=1.0 / self.p)

    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        if self._packing is not None and self.p > 1:
            return self._packing._bounds_with_and_without(held, weights, answer)
        if self.p == 2 and answer.exact:
            from swapwise.constraints.algorithms.matroid_intersection import losses_with_and_without

            first, second = self.matroids
            losses = losses_with_and_without(first, second, held, weights, answer.support)
            return answer.weight - losses[0], answer.weight - losses[1]
        # Every common set is a set of each matroid.
        with_it, without = np.full((2, self.n), answer.upper_bound)
        for matroid in self.matroids:
            alone = matroid._max_weight_holding(held, weights, Clock())
            of_one = matroid._bounds_with_and_without(held, weights, alone)
            np.minimum(with_it, of_one[0], out=with_it)
            np.minimum(without, of_one[1], out=without)
        return with_it, without

    def exchange_size(self, q: int = 1) -> int:
        """Return t: how many elements a move adds and drops in all, at most."""
        return sum(self._widths(q))

    def _widths(self, q: int) -> tuple[int, int]:
        """Return how many elements a move adds and drops at most."""
        return (q, self.p * q - q + 1) if self.neighbourhood == "exchange" else (2 * q, 2 * self.p * q)

    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveBatch]:
        """Return the moves of the neighbourhood that drop nothing needlessly, in batches.

        Moves that add fewer elements come first; those that add as many are in lexicographic order
        of what they add, and then of what they drop. Only drops are listed of which no part would do.
        """
        if self.neighbourhood == "exchange":
            assert self._packing is not None
            yield from self._packing.moves(support, q, candidates)
            return
        widths = self._widths(q)
        outside = np.setdiff1d(np.arange(self.n) if candidates is None else candidates, support)
        if self.p > MOST_CIRCUITS:
            for size in range(1, widths[0] + 1):
                yield from self._batches(support, outside, size, widths)
            return
        alone = self._adding_one(support, outside, widths)
        yield alone
        for size in range(2, widths[0] + 1):
            batches = partial(self._batches, support, outside, size, widths)
            yield LargerExchanges(alone, size, self._is_independent, batches)

    def _batches(
        self, support: IndexArray, outside: IndexArray, size: int, widths: tuple[int, int]
    ) -> Iterator[MoveList]:
        return batched(self._adding(support, outside, size, widths[1]), *widths)

    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield the cheapest drop for every set that can be added."""
        if self.neighbourhood == "exchange":
            assert self._packing is not None
            return self._packing.cheapest_drops(support, cost, q)
        outside, widths = np.setdiff1d(np.arange(self.n), support), self._widths(q)
        sizes = range(1, widths[0] + 1)
        lists = (moves for size in sizes for moves in self._adding(support, outside, size, widths[1]))
        return cheapest_in_each(lists, cost, *widths)

    def best_exchange(
        self, support: IndexArray, gain: FloatArray, cost: FloatArray, q: int = 1, clock: Clock | None = None
    ) -> MoveList:
        """Return the one move with the largest sum of gains added less costs dropped, if there is any."""
        if self.neighbourhood == "exchange":
            assert self._packing is not None
            return self._packing.best_exchange(support, gain, cost, q, clock)
        return super().best_exchange(support, gain, cost, q, clock)

    def _adding_one(self, support: IndexArray, outside: IndexArray, widths: tuple[int, int]) -> Exchanges:
        """Return the moves that add one element."""
        is_open = np.zeros(self.n, dtype=bool)
        is_open[outside] = True
        masks = [matroid._swap_mask(support) for matroid in self.matroids]
        return Exchanges(support, Circuits.of_masks(masks, is_open), widths)

    def _adding(self, support: IndexArray, outside: IndexArray, size: int, most: int) -> Iterator[MoveList]:
        """Yield all moves that add ``size`` elements and drop up to ``most``, none needlessly.

        Whatever is dropped to add A + b suffices to add A, so that it is a minimal drop for A and a
        minimal one to add b to what that leads to. The last element can then be any, all at once: the
        circuits that it closes come from the matroids' masks.
        """
        if size == 0:
            yield MoveList(np.empty((1, 0), dtype=np.intp), np.full((1, most), -1, dtype=np.intp))
            return
        for shorter in self._adding(support, outside, size - 1, most):
            for run in runs_of(shorter.added):
                ways = list(shorter.take(run).moves())
                longer = (part for move in ways for part in self._one_more(support, outside, move, most))
                if len(ways) == 1:
                    yield from longer  # with one way to begin, what is minimal at the end is minimal
                else:
                    yield without_supersets(_in_order(MoveList.joined(longer, size, most)))

    def _one_more(
        self, support: IndexArray, outside: IndexArray, move: Move, most: int
    ) -> Iterator[MoveList]:
        """Yield the moves that add one later element as well, with minimal drops to add that one."""
        after = move.result(support)
        later = outside[outside > max(move.added, default=-1)]
        droppable = np.isin(after, support)
        circuits = []
        for matroid in self.matroids:
            feasible = matroid._swap_mask(after)[later]
            closed = ~feasible[:, -1]
            circuit = feasible[:, :-1] & droppable & closed[:, None]
            hopeless = closed & ~circuit.any(axis=1)
            circuits.append((circuit, hopeless))
        possible = ~np.logical_or.reduce([hopeless for _, hopeless in circuits])
        later, masks = later[possible], [circuit[possible] for circuit, _ in circuits]
        ways = np.prod([np.maximum(mask.sum(axis=1), 1.0) for mask in masks], axis=0)
        for piece in pieces_of(ways, LARGEST_BATCH):
            row, columns = minimal_hitting_sets([mask[piece] for mask in masks])
            goes = np.where(columns < 0, -1, np.append(after, -1)[columns])
            goes = np.hstack([goes, np.tile(np.array(move.dropped, dtype=np.intp), (len(row), 1))])
            few = (goes >= 0).sum(axis=1) <= most
            added = np.tile(np.array(move.added, dtype=np.intp), (few.sum(), 1))
            added = np.column_stack([added, later[piece][row[few]]])
            yield _in_order(MoveList(added, left_aligned(goes[few], most)))


def _in_order(moves: MoveList) -> MoveList:
    """Return moves that differ only in the last element added, each once and in order."""
    return moves.take(in_order(moves.added[:, -1], moves.dropped))


def _flattened(parts: tuple[Any, ...]) -> tuple[Matroid, ...]:
    """Return the parts with the matroids of an intersection in its place."""
    return tuple(m for part in parts for m in (part.matroids if isinstance(part, Intersection) else (part,)))


def _require_matroids(matroids: tuple[Matroid, ...]) -> None:
    if not matroids:
        raise ValueError("an intersection needs at least one matroid, got none")
    for number, matroid in enumerate(matroids):
        if not isinstance(matroid, Matroid):
            hint = ""
            if isinstance(matroid, list | tuple):
                hint = "; give them one by one, Intersection(*matroids)"
            elif isinstance(matroid, IndependenceSystem):
                hint = "; one function that asks for both is an OracleSystem"
            raise TypeError(f"an intersection is made of matroids, got {matroid!r} as number {number}{hint}")
        if matroid.n != matroids[0].n:
            raise ValueError(
                f"all matroids must have the same ground set, got n = {matroids[0].n} for number 0 and "
                f"n = {matroid.n} for number {number}"
            )


def _forced_by(matroids: tuple[Matroid, ...]) -> IndexArray:
    forced = np.unique(np.concatenate([matroid.forced for matroid in matroids])).astype(np.intp)
    for number, matroid in enumerate(matroids):
        if not matroid._is_independent(forced):
            raise ValueError(
                f"what the matroids force in must be allowed by all of them, but matroid number {number} "
                f"does not allow {forced.tolist()}"
            )
    return forced


def _as_packing(matroids: tuple[Matroid, ...]) -> PackingSystem | None:
    """Return the intersection as a packing, one group for each label of each matroid, if it is one."""
    columns, capacities, n_groups = [], [], 0
    for matroid in matroids:
        known = _groups_of(matroid)
        if known is None:
            return None
        group, capacity = known
        columns.append(np.where(group < 0, -1, group + n_groups))
        capacities.append(capacity)
        n_groups += len(capacity)
    return PackingSystem(np.column_stack(columns), np.concatenate(capacities))


def _groups_of(matroid: Matroid) -> tuple[IndexArray, IndexArray] | None:
    """Return the group of each element (-1: none) and the capacities, if disjoint groups are all there is."""
    if isinstance(matroid, Laminar):
        tree, depth = matroid.laminar_tree(), len(matroid._levels)
        nested = depth > 2 or (depth == 2 and tree.capacity[0] < matroid.n)
        return None if nested else (tree.leaf, tree.capacity)
    if not isinstance(matroid, (Contraction, Restriction)):
        return None
    known = _groups_of(matroid.matroid)
    if known is None:
        return None
    group, capacity = known
    if isinstance(matroid, Restriction):  # what is forced out goes to a group without a place
        return np.where(matroid._kept, group, len(capacity)), np.append(capacity, 0)
    taken = group[matroid.forced]
    group = group.copy()
    group[matroid.forced] = -1
    return group, capacity - np.bincount(taken[taken >= 0], minlength=len(capacity))
