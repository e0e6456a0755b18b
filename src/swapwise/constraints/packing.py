"""Elements that use up places in groups: matchings, set packings, intersections of partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_elements
from swapwise.clock import Clock
from swapwise.constraints.algorithms.exchanges import (
    LARGEST_BATCH,
    added_sets,
    batched,
    cheapest_in_each,
    in_order,
    left_aligned,
    pieces_of,
    spell_out,
)
from swapwise.constraints.algorithms.packing_exchange import ExchangeProgram
from swapwise.constraints.base import (
    GroupLimits,
    IndependenceSystem,
    MaxWeight,
    as_order,
    best_so_far,
    forced_among,
    names_of,
)
from swapwise.constraints.circuits import MOST_CIRCUITS, Circuits, Exchanges
from swapwise.constraints.kinds import Kind, Places
from swapwise.constraints.limits import Limits
from swapwise.kernels import exchanges
from swapwise.moves import NOTHING, MoveList, first_of_each
from swapwise.override import override


class PackingSystem(Limits, IndependenceSystem):
    """Each element takes a place in at most p groups, and a group has a limited number of places.

    It is a p-exchange system: an element of one independent set stands in the way of at most p of
    another, one in each of its groups. So q-reachability is the paper's for p-exchange systems: a
    move adds up to q elements and drops up to ``pq − q + 1``.

    Parameters
    ----------
    groups : array of shape (n, p)
        The groups of each element, as numbers from 0; padded with -1 for elements in fewer than p.
    capacity : array of length n_groups
        How many elements of each group may be chosen.

    Examples
    --------
    Three elements, two groups: element 1 is in both of them.

    >>> from swapwise.constraints.packing import PackingSystem
    >>> system = PackingSystem([[0, -1], [0, 1], [1, -1]], [1, 1])
    >>> system.is_independent([0, 2]), system.is_independent([0, 1])
    (True, False)
    >>> (batch,) = system.moves(np.array([0, 2]))
    >>> list(batch.moves())
    [Move(added=(1,), dropped=(0, 2))]
    """

    p: int

    def __init__(self, groups: ArrayLike, capacity: ArrayLike) -> None:
        places = Places(np.asarray(groups, dtype=np.intp), np.asarray(capacity, dtype=np.intp))
        _require_groups(places.groups, places.capacity)
        self._hold(len(places.groups), places)

    @override
    def _hold(self, n: int, *kinds: Kind) -> None:
        super()._hold(n, *kinds)
        self.p = self._places.groups.shape[1]

    @property
    def _places(self) -> Places:
        return cast(Places, self.kinds[0])

    @cached_property
    def _groups(self) -> IndexArray:
        """The groups of each element: of forced ones none, as these take up places in any case."""
        groups = self._places.groups.copy()
        groups[self.forced] = -1
        return groups

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, {len(self._places.capacity)} groups, p={self.p})"

    @classmethod
    def of_places(cls, places: Places, forced: IndexArray) -> PackingSystem:
        """Return limits on groups that have been checked."""
        system = object.__new__(PackingSystem)
        system._hold(len(places.groups), places)
        system.forced = forced
        return system

    @override
    def induced(self, elements: IndexArray) -> PackingSystem:
        part = self.of_places(self._places.among(elements), forced_among(self, elements))
        part.names = names_of(self, elements)
        return part

    @override
    def restrict(self, elements: Iterable[int]) -> PackingSystem:
        """Return the same groups, of which only ``elements`` can be chosen: all others are forced out.

        >>> PackingSystem([[0], [0], [1]], [1, 1]).restrict([0, 2]).loops()
        array([1])
        """
        kept = as_elements(elements, self.n, "the elements to keep")
        excluded = np.setdiff1d(self.forced, kept)
        if len(excluded):
            raise ValueError(f"element {excluded[0]} is forced in, so it must be among the elements to keep")
        # Elements that are forced out go to a group without a place.
        places = self._places
        groups = places.groups.copy()
        groups[np.setdiff1d(np.arange(self.n), kept), 0] = len(places.capacity)
        return self._with_kinds([Places(groups, np.append(places.capacity, 0))])

    def _room(self, support: IndexArray) -> IndexArray:
        return self._places.room(self._with_forced(support))

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        given, chosen = np.asarray(support, dtype=np.intp), np.zeros(self.n, dtype=bool)
        chosen[given] = True
        exchanges.extend(chosen, as_order(order), self._groups, self._room(given))
        return np.flatnonzero(chosen)

    @override
    def group_limits(self) -> GroupLimits | None:
        return GroupLimits(self._groups, self._room(self.forced)[:-1]) if self.p <= MOST_CIRCUITS else None

    def _widths(self, q: int) -> tuple[int, int]:
        return q, self.p * q - q + 1

    def _candidates(self, support: IndexArray) -> IndexArray:
        candidate = self.addable(np.empty(0, dtype=np.intp))
        candidate[support] = False
        return np.flatnonzero(candidate)

    @override
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveList]:
        """Return the moves that add 1 to q elements and drop up to ``pq − q + 1``, none needlessly.

        Moves that add fewer elements come first; those that add as many are in lexicographic order
        of what they add, and then of what they drop. Only drops are listed of which no part would do.
        """
        possible = self._candidates(support)
        if candidates is not None:
            possible = np.intersect1d(possible, candidates)
        if q == 1 and self.p <= MOST_CIRCUITS:
            yield Exchanges(support, self._circuits(support, possible), self._widths(1))
            return
        # Batches do not mix sizes: where moves that add less improve, larger ones are never listed.
        for size in range(1, q + 1):
            yield from batched(self._adding(support, size, q, possible), *self._widths(q))

    def _circuits(self, support: IndexArray, candidates: IndexArray) -> Circuits:
        """Return the circuits of candidates: the groups that are full."""
        places = Members.of(np.arange(len(support)), self._groups[support], self._room(support))
        is_open = np.zeros(self.n, dtype=bool)
        is_open[candidates] = True
        full = np.where(places.room[self._groups] > 0, NOTHING, self._groups)
        return Circuits(full, places.start, places.members, is_open)

    def _adding(self, support: IndexArray, size: int, q: int, candidates: IndexArray) -> Iterator[MoveList]:
        """Yield the moves that add ``size`` elements in order, those that add the same in one batch."""
        chosen = Members.of(support, self._groups[support], self._room(support))
        places = self._room(self.forced)
        for added in added_sets(candidates, size):
            slots = self._groups[added].reshape(len(added), size * self.p)
            newcomers = (slots[:, :, None] == slots[:, None, :]).sum(axis=2)
            # Sets that are dependent by themselves would find no drop; to leave them out is cheaper.
            fits = ((newcomers <= places[slots]) | (slots < 0)).all(axis=1)
            added, slots = added[fits], slots[fits]
            excess = newcomers[fits] - chosen.room[slots]
            ways = np.where(excess > 0, chosen.count(slots), 1.0).prod(axis=1)
            for piece in pieces_of(ways, LARGEST_BATCH):
                row, dropped = self._drops(chosen, slots[piece], excess[piece], q)
                yield MoveList(left_aligned(added[piece][row], q), dropped)

    def _drops(
        self, chosen: Members, slots: IndexArray, excess: IndexArray, q: int
    ) -> tuple[IndexArray, IndexArray]:
        """Return all minimal drops as (row of ``slots``, elements dropped), in order.

        A slot is one group of one added element, and ``excess`` the number of elements too many in that
        group. From slot to slot, each row with an excess branches over the members that may be dropped for
        it: every sufficient drop is reached, since it holds a member of each group that is over full.
        """
        most = self._widths(q)[1]
        row = np.arange(len(slots))
        dropped = np.full(slots.shape, NOTHING, dtype=np.intp)
        for slot in range(slots.shape[1]):
            over = excess[:, slot] > 0
            over_and_spent = over & ((dropped >= 0).sum(axis=1) == most)
            branches = np.where(over, chosen.count(slots[row, slot]), 1)
            branches[over_and_spent] = 0
            branch, place = spell_out(branches)
            goes = np.where(over[branch], chosen.member(slots[row[branch], slot], place), NOTHING)
            fresh = (goes < 0) | (dropped[branch] != goes[:, None]).all(axis=1)
            branch, goes = branch[fresh], goes[fresh]
            row, dropped, excess = row[branch], dropped[branch], excess[branch]
            dropped[:, slot] = goes
            excess -= self._is_in(goes, slots[row])
        # A drop is needed if a group is just full without it. Only groups of added elements can be.
        needed = np.ones(len(row), dtype=bool)
        for goes in dropped.T:
            needed &= (goes < 0) | (self._is_in(goes, slots[row]) & (excess == 0)).any(axis=1)
        row, dropped = row[needed], left_aligned(dropped[needed], most)
        order = in_order(row, dropped)
        return row[order], dropped[order]

    def _is_in(self, elements: IndexArray, groups: IndexArray) -> BoolArray:
        """Return for each element (or padding) which of its row of groups it is in."""
        return np.logical_or.reduce(
            self._places.with_padding[elements][:, :, None] == groups[:, None, :], axis=1
        )

    @override
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        candidates = self._candidates(support)
        if q == 1 and len(candidates):
            yield MoveList(candidates[:, None], self._cheapest_for_each(support, candidates, cost))
            return
        lists = (m for size in range(1, q + 1) for m in self._adding(support, size, q, candidates))
        yield from cheapest_in_each(lists, cost, *self._widths(q))

    def _cheapest_for_each(self, support: IndexArray, candidates: IndexArray, cost: FloatArray) -> IndexArray:
        """Return the cheapest drop for each single candidate, which depends on its full groups only.

        If no chosen element is in two of these groups, it is the cheapest member of each.
        """
        chosen = Members.of(support, self._groups[support], self._room(support))
        full = np.sort(
            np.where(chosen.room[self._groups[candidates]] > 0, -1, self._groups[candidates]), axis=1
        )
        dropped = left_aligned(chosen.cheapest(cost)[full], self.p)
        entangled = np.flatnonzero(self._share_a_member(support, full))
        if len(entangled):
            _, first, same = np.unique(full[entangled], axis=0, return_index=True, return_inverse=True)
            some = np.sort(candidates[entangled[first]])
            tried = MoveList.joined(moves.cheapest(cost) for moves in self._adding(support, 1, 1, some))
            place = np.searchsorted(tried.added[:, 0], candidates[entangled[first]])
            dropped[entangled] = tried.dropped[place[same.ravel()]]
        return dropped

    def _share_a_member(self, support: IndexArray, full: IndexArray) -> BoolArray:
        """Return for which rows of groups a chosen element is in two of them."""
        pairs = _pairs_in_rows(self._groups[support], len(self._places.capacity))
        in_full = _pairs_in_rows(full, len(self._places.capacity))
        return np.logical_or.reduce(np.isin(in_full, pairs[pairs >= 0]), axis=1)

    @override
    def best_exchange(
        self, support: IndexArray, gain: FloatArray, cost: FloatArray, q: int = 1, clock: Clock | None = None
    ) -> MoveList:
        """Return the move with the largest sum of gains added less costs dropped, if there is any.

        For q > 1 by a small integer program, to a billionth of the largest gain or cost; where several
        moves are best, one that adds a single element comes first, and else the solver chooses.
        """
        best = super().best_exchange(support, gain, cost)
        widths = self._widths(q)
        if q > 1 and len(best):
            least = float(best.sums(best.added, gain)[0] - best.sums(best.dropped, cost)[0])
            program = ExchangeProgram(self._groups, self._room(support), support, gain, cost)
            added, dropped = program.solve(self._candidates(support), *widths, least, clock)
            proposed = self._without_needless_drops(support, added, dropped, cost)
            both = MoveList.joined([best, proposed])
            index, _ = both.best(both.sums(both.added, gain) - both.sums(both.dropped, cost))
            best = both.take(slice(index, index + 1))
        return MoveList.joined([best], *widths)

    def _without_needless_drops(
        self, support: IndexArray, added: IndexArray, dropped: IndexArray, cost: FloatArray
    ) -> MoveList:
        after = np.union1d(np.setdiff1d(support, dropped), added)
        if not self._is_independent(after):
            raise RuntimeError("the integer program for the best exchange returned a set that is not allowed")
        costly_first = dropped[np.argsort(-cost[dropped], kind="stable")]
        needed = np.setdiff1d(support, self.extend(after, costly_first))
        return MoveList(added[None, :], needed[None, :])

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return self._max_weight_holding(np.empty(0, dtype=np.intp), weights, clock)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        from swapwise.constraints.algorithms.max_weight_packing import packing_within

        rest, room = weights.copy(), self._room(held)[:-1]
        rest[held] = -1.0
        found = packing_within(rest, self._groups, room, clock)
        support, certain = np.union1d(found.support, held), float(weights[held].sum())
        prices = found.prices._replace(base=found.prices.base + certain)
        bound = found.bound + certain
        if found.finished:
            weight = float(weights[support].sum())
            return MaxWeight(support, weight, bound=max(bound, weight), prices=prices)
        return replace(best_so_far(self, held, weights, support, bound), prices=prices)

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        from swapwise.constraints.algorithms.packing_bounds import losses_with_and_without

        assert answer.prices is not None
        price, base, reduced = answer.prices
        room = self._room(held)
        allowed = (weights >= 0) & np.logical_and.reduce(room[self._groups] > 0, axis=1)
        allowed[held] = False
        rest = np.setdiff1d(answer.support, held)
        bound = base + float(reduced.sum(where=allowed & (reduced > 0)))
        with_it, without = losses_with_and_without(self._groups, room[:-1], price, reduced, allowed, rest)
        with_it[held] = 0.0
        return bound - with_it, bound - without


@dataclass(frozen=True)
class Members:
    """The chosen elements, group by group, and the places that are left."""

    room: IndexArray  # the places that each group has left; one more entry for padding
    start: IndexArray  # where the members of each group begin
    members: IndexArray  # group after group, in rising order in each

    @classmethod
    def of(cls, support: IndexArray, groups: IndexArray, room: IndexArray) -> Members:
        """Sort the support by its groups, given one row per element and padded with -1."""
        flat = groups.ravel()
        order = np.argsort(flat, kind="stable")[(flat < 0).sum() :]
        start = np.searchsorted(flat[order], np.arange(len(room) + 1))
        return cls(room, start, np.repeat(support, groups.shape[1])[order])

    def count(self, groups: IndexArray) -> IndexArray:
        return np.append(np.diff(self.start), 0)[groups]

    def member(self, groups: IndexArray, place: IndexArray) -> IndexArray:
        """Return the member at a place of its group, where the place exists."""
        where = np.append(self.start, 0)[groups] + place
        return np.append(self.members, NOTHING)[np.minimum(where, len(self.members))]

    def cheapest(self, cost: FloatArray) -> IndexArray:
        """Return the cheapest member of each group, -1 for padding; ties go to the smallest."""
        group = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        order = np.lexsort([self.members, cost[self.members], group])
        cheapest = np.full(len(self.room), NOTHING, dtype=np.intp)
        first = first_of_each(group[:, None])  # the order keeps groups where they are
        cheapest[group[first]] = self.members[order][first]
        return cheapest


def _pairs_in_rows(groups: IndexArray, n_groups: int) -> IndexArray:
    """Return a number for each pair of groups in a row, -1 where there are not two."""
    groups = np.sort(groups, axis=1)
    left, right = np.triu_indices(groups.shape[1], 1)
    return np.where(groups[:, left] < 0, -1, groups[:, left] * n_groups + groups[:, right])


def _require_groups(groups: IndexArray, capacity: IndexArray) -> None:
    if groups.ndim != 2 or not groups.shape[1] or capacity.ndim != 1:
        raise ValueError(
            "groups must have a row for each element and at least one column, and capacity an entry for "
            f"each group; got shapes {groups.shape} and {capacity.shape}"
        )
    if (capacity < 0).any():
        raise ValueError(f"capacities must not be negative, got {capacity.min()}")
    outside = groups[(groups < -1) | (groups >= len(capacity))]
    if len(outside):
        raise ValueError(f"groups must be numbers from 0 to {len(capacity) - 1}, or -1, got {outside[0]}")
    ordered = np.sort(groups, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    if twice.any():
        raise ValueError(f"an element must be in a group only once, but element {np.argmax(twice)} is not")
