"""Elements that may only be chosen with others: which they need, and what follows for sets and moves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from swapwise.checks import BoolArray, IndexArray
from swapwise.constraints.kinds import Inequalities, Kind, MixedLimits
from swapwise.moves import NOTHING, MoveList, padded
from swapwise.override import override


@dataclass(frozen=True, eq=False)
class Needs(Kind):
    """Precedences as plain arrays: need number c is that of ``element[c]`` for one of some others.

    These are ``others[begin[c] : begin[c + 1]]``, at least one. What ``lost`` elements need is not in the
    ground set: they are never chosen.
    """

    element: IndexArray
    begin: IndexArray
    others: IndexArray
    lost: BoolArray

    hereditary = False

    @classmethod
    def of(cls, needs: Iterable[tuple[int, Iterable[int]]], lost: BoolArray) -> Needs:
        listed = [(element, sorted(set(others))) for element, others in needs]
        return cls(
            np.array([element for element, _ in listed], dtype=np.intp),
            np.cumsum([0, *(len(others) for _, others in listed)], dtype=np.intp),
            np.array([other for _, others in listed for other in others], dtype=np.intp),
            lost,
        )

    def with_others(self, more: Needs) -> Needs:
        return Needs.of([*self.listed(), *more.listed()], self.lost | more.lost)

    def counts(self, chosen: BoolArray) -> IndexArray:
        """Return for each need how many of its alternatives are chosen."""
        if not len(self.element):
            return np.empty(0, dtype=np.intp)
        return np.add.reduceat(chosen[self.others].astype(np.intp), self.begin[:-1])

    def listed(self, some: IndexArray | None = None) -> list[tuple[int, IndexArray]]:
        numbers = range(len(self.element)) if some is None else some.tolist()
        begin = self.begin.tolist()
        return [(int(self.element[c]), self.others[begin[c] : begin[c + 1]]) for c in numbers]

    @cached_property
    def by_element(self) -> dict[int, list[list[int]]]:
        found: dict[int, list[list[int]]] = {}
        for element, others in self.listed():
            found.setdefault(element, []).append(others.tolist())
        return found

    def circle(self) -> list[int]:
        """Return elements that need each other, sorted; none if there is an order in which all can come."""
        left = dict(self.by_element)
        while left:
            settled = [e for e, needs in left.items() if not any(o in left for need in needs for o in need)]
            if not settled:
                break
            for element in settled:
                del left[element]
        return sorted(left)

    # -- sets ---------------------------------------------------------------------------------------

    @override
    def allows(self, chosen: IndexArray) -> bool:
        if self.lost[chosen].any():
            return False
        there = self._mask(chosen)
        return bool((self.counts(there)[there[self.element]] > 0).all())

    def _mask(self, chosen: IndexArray) -> BoolArray:
        there = np.zeros(len(self.lost), dtype=bool)
        there[chosen] = True
        return there

    def satisfied(self, chosen: BoolArray) -> BoolArray:
        """Return which elements have all that they need among the chosen."""
        satisfied = ~self.lost
        satisfied[self.element[self.counts(chosen) == 0]] = False
        return satisfied

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        return self.satisfied(self._mask(chosen))

    @override
    def joinable(self, chosen: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        return ~self.lost

    def possible(self, outside: BoolArray) -> BoolArray:
        """Return which elements may be chosen where none ``outside`` is."""
        possible = ~(self.lost | outside)
        while True:
            hopeless = self.element[self.counts(possible) == 0]
            if not possible[hopeless].any():
                return possible
            possible[hopeless] = False

    def n_missing(self, chosen: BoolArray) -> IndexArray:
        """Return how many elements more there are with each, counting itself and all that it requires."""
        begin, others = self._ancestors
        return np.add.reduceat((~chosen)[others].astype(np.intp), begin[:-1]) if len(chosen) else begin[:0]

    @cached_property
    def _ancestors(self) -> tuple[IndexArray, IndexArray]:
        """Each element with all others that it requires, directly or indirectly: those of ``e`` are
        ``others[begin[e] : begin[e + 1]]``."""
        known: dict[int, set[int]] = {}
        for element in range(len(self.lost)):
            path = [element]
            while path:
                now = path[-1]
                sole = [need[0] for need in self.by_element.get(now, ()) if len(need) == 1]
                unknown = [other for other in sole if other not in known]
                if unknown:
                    path.append(unknown[0])
                    continue
                known[now] = {now}.union(*(known[other] for other in sole))
                path.pop()
        begin = np.cumsum([0, *(len(known[element]) for element in range(len(self.lost)))], dtype=np.intp)
        others = [other for element in range(len(self.lost)) for other in sorted(known[element])]
        return begin, np.array(others, dtype=np.intp)

    def required(self, elements: IndexArray) -> IndexArray:
        """Return some elements and those that every independent set with them has."""
        begin, others = self._ancestors
        parts = [others[begin[e] : begin[e + 1]] for e in elements]
        return np.unique(np.concatenate(parts)) if parts else elements

    def without(self, chosen: BoolArray) -> IndexArray:
        """Return what is left of a set when all go that lack something."""
        left = chosen.copy()
        while True:
            unmet = left & ~self.satisfied(left)
            if not unmet.any():
                return np.flatnonzero(left)
            left[unmet] = False

    def needed(self, chosen: BoolArray) -> BoolArray:
        """Return which elements a chosen one has as its only alternative."""
        sole = (self.counts(chosen) == 1) & chosen[self.element]
        is_needed = np.zeros(len(chosen), dtype=bool)
        is_needed[self.others[np.repeat(sole, np.diff(self.begin))]] = True
        return is_needed

    def companions(self, elements: IndexArray) -> IndexArray:
        """Return the closure of some elements: with all that they may need, sorted."""
        there = np.zeros(len(self.lost), dtype=bool)
        there[elements] = True
        while True:
            others = self.others[np.repeat(there[self.element], np.diff(self.begin))]
            if there[others].all():
                return np.flatnonzero(there)
            there[others] = True

    def ways(self, chosen: set[int], element: int) -> list[set[int]]:
        """Return sets of others that supply all that a chosen element needs."""
        needs, depth = self.by_element, self._depth
        unmet = [need for need in needs.get(element, ()) if chosen.isdisjoint(need)]
        choice = next((need for need in unmet if len(need) > 1), None)
        ways = []
        for first in [[]] if choice is None else [[other] for other in choice]:
            more, waiting = set(first), [element, *first]
            while waiting:
                for need in needs.get(waiting.pop(), ()):
                    if chosen.isdisjoint(need) and more.isdisjoint(need):
                        other = min(need, key=lambda o: (depth[o], o))  # with the fewest others
                        more.add(other)
                        waiting.append(other)
            ways.append(more)
        return ways

    def bundles(self, chosen: BoolArray, elements: IndexArray) -> IndexArray:
        """Return elements with what they lack, one row per way to supply it, padded with -1."""
        satisfied, wanted = self.satisfied(chosen), np.zeros(len(chosen), dtype=bool)
        wanted[elements] = True
        tables = [np.flatnonzero(wanted & satisfied)[:, None]]
        wanted &= ~satisfied
        table, done = self._with_all(chosen, wanted)
        tables.append(table)
        wanted[done] = False
        table, done = self._with_one(chosen, satisfied, wanted)
        tables.append(table)
        wanted[done] = False
        there = set(np.flatnonzero(chosen).tolist())
        ways = [
            [*sorted(way), e] for e in np.flatnonzero(wanted).tolist() for way in self.ways({*there, e}, e)
        ]
        tables.append(padded([np.array(way, dtype=np.intp) for way in ways]))
        return MoveList.joined(MoveList(table, table[:, :0]) for table in tables).added

    def _with_all(self, chosen: BoolArray, wanted: BoolArray) -> tuple[IndexArray, IndexArray]:
        """Return the elements that lack nothing but required ones, and all of these in a table."""
        unmet = self.counts(chosen) == 0
        has_choice = np.zeros(len(self.lost), dtype=bool)
        has_choice[self.element[unmet & (np.diff(self.begin) > 1)]] = True
        begin, others = self._ancestors
        owner = np.repeat(np.arange(len(self.lost)), np.diff(begin))
        simple = wanted & ~self.lost
        simple[owner[has_choice[others] & ~chosen[others]]] = False
        entries = simple[owner] & ~chosen[others]
        owner, others = owner[entries], others[entries]
        count = np.bincount(owner, minlength=len(self.lost))
        place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        elements = np.flatnonzero(simple)
        table = np.full((len(self.lost), max(1, int(count.max(initial=1)))), NOTHING, dtype=np.intp)
        table[owner, place] = others
        return table[elements], elements

    def _with_one(
        self, chosen: BoolArray, satisfied: BoolArray, wanted: BoolArray
    ) -> tuple[IndexArray, IndexArray]:
        """Return pairs of an element that lacks one thing and an addable alternative; and these elements."""
        unmet = self.counts(chosen) == 0
        lacks = np.bincount(self.element[unmet], minlength=len(self.lost))
        own = self.element[np.repeat(np.arange(len(unmet)), np.diff(self.begin))]
        simple = wanted & (lacks == 1) & ~self.lost
        simple[own[~satisfied[self.others]]] = False
        entries = simple[own] & np.repeat(unmet, np.diff(self.begin))
        table = np.column_stack([own[entries], self.others[entries]])
        return np.sort(table, axis=1), np.flatnonzero(simple)

    @cached_property
    def _depth(self) -> IndexArray:
        """The least number of others that come with an element."""
        depth = np.zeros(len(self.lost), dtype=np.intp)
        for _ in range(len(self.lost)):
            before = depth.copy()
            for element, needs in self.by_element.items():
                depth[element] = 1 + max(min(depth[o] for o in need) for need in needs)
            if (depth == before).all():
                break
        return depth

    # -- moves --------------------------------------------------------------------------------------

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        there = self._mask(chosen)
        feasible = np.repeat(self.satisfied(there)[:, None], len(drops) + 1, axis=1)
        place = np.full(len(there), -1, dtype=np.intp)
        place[drops] = np.arange(len(drops))
        # The only chosen alternative must stay: for a newcomer, and for a chosen element unless the newcomer
        # is an alternative as well.
        sole = np.flatnonzero(self.counts(there) == 1)
        only, element = self._only_chosen(there, place)[sole], self.element[sole]
        new = ~there[element] & (only >= 0)
        feasible[element[new], only[new]] = False
        for at in np.flatnonzero(there[element] & (only >= 0)):
            will_do = np.zeros(len(there), dtype=bool)
            will_do[self.others[slice(*self.begin[sole[at] : sole[at] + 2])]] = True
            feasible[~will_do, only[at]] = False
        return feasible

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        dropped, there = moves.dropped, self._mask(chosen)
        feasible = ~np.append(self.lost, False)[moves.added].any(axis=1)
        of_chosen = np.flatnonzero(there[self.element] & self._touched(dropped))
        counts = self.counts(there)[of_chosen]
        for count, (element, others) in zip(counts, self.listed(of_chosen), strict=True):
            will_do = np.zeros(len(there) + 1, dtype=np.intp)  # one more for padding to find
            will_do[others] = 1
            left = count - will_do[dropped].sum(axis=1) + will_do[moves.added].sum(axis=1)
            feasible &= (left > 0) | (dropped == element).any(axis=1)
        return feasible & self._are_met(there, moves)

    def _touched(self, dropped: IndexArray) -> BoolArray:
        goes = np.zeros(len(self.lost) + 1, dtype=bool)  # one more for padding to find
        goes[dropped] = True
        return self.counts(goes[:-1]) > 0

    def _are_met(self, chosen: BoolArray, moves: MoveList) -> BoolArray:
        """Return for which moves all added elements have what they need in the end."""
        met, own = np.ones(len(moves), dtype=bool), self._own_needs
        for column in moves.added.T:
            for needs in np.append(own, np.full((1, own.shape[1]), NOTHING), axis=0)[column].T:
                rows = np.flatnonzero(met & (needs >= 0))
                others = self._padded_others[needs[rows]]
                stays = np.append(chosen, False)[others]
                stays &= ~(others[:, :, None] == moves.dropped[rows][:, None, :]).any(axis=2)
                comes = (others[:, :, None] == moves.added[rows][:, None, :]).any(axis=2) & (others >= 0)
                met[rows] = (stays | comes).any(axis=1)
        return met

    @cached_property
    def _own_needs(self) -> IndexArray:
        """The numbers of the needs of each element, padded."""
        own: list[list[int]] = [[] for _ in range(len(self.lost))]
        for need, element in enumerate(self.element.tolist()):
            own[element].append(need)
        return padded([np.array(needs, dtype=np.intp) for needs in own])

    @cached_property
    def _padded_others(self) -> IndexArray:
        return padded([others for _, others in self.listed()])

    def substitutes(self, chosen: BoolArray) -> dict[int, IndexArray]:
        """Return what may replace chosen elements that others need, for those that can be replaced."""
        sole = np.flatnonzero((self.counts(chosen) == 1) & chosen[self.element])
        found: dict[int, list[IndexArray]] = {}
        for _, others in self.listed(sole):
            is_chosen = chosen[others]
            found.setdefault(int(others[is_chosen][0]), []).append(others[~is_chosen])
        return {
            element: np.unique(np.concatenate(others))
            for element, others in found.items()
            if all(map(len, others))
        }

    def _only_chosen(self, chosen: BoolArray, place: IndexArray) -> IndexArray:
        """Return the place of the only chosen alternative, for needs that have just one."""
        if not len(self.element):
            return self.element
        places = np.where(chosen[self.others], place[self.others], 0)
        return np.add.reduceat(places, self.begin[:-1])

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        return np.zeros((len(elements), len(others)), dtype=bool)

    # -- for programs and kernels -------------------------------------------------------------------

    @override
    def among(self, elements: IndexArray) -> Needs:
        place = np.full(len(self.lost), -1, dtype=np.intp)
        place[elements] = np.arange(len(elements))
        lost = self.lost[elements]
        own, stays = np.repeat(np.arange(len(self.element)), np.diff(self.begin)), place[self.element] >= 0
        entries = stays[own] & (place[self.others] >= 0)
        count = np.bincount(own[entries], minlength=len(stays))
        lost[place[self.element[stays & (count == 0)]]] = True
        kept = stays & (count > 0)
        begin = np.append(0, np.cumsum(count[kept])).astype(np.intp)
        return Needs(place[self.element[kept]], begin, place[self.others[entries]], lost)

    @override
    def rows(self) -> Inequalities:
        count, n = len(self.element), len(self.lost)
        rows = np.append(np.arange(count), np.repeat(np.arange(count), np.diff(self.begin)))
        entries = np.append(np.ones(count), -np.ones(len(self.others)))
        columns = np.append(self.element, self.others)
        needs = scipy.sparse.csr_array((entries, (rows, columns)), shape=(count, n))
        lost = scipy.sparse.csr_array(self.lost[None, :].astype(np.float64))
        return Inequalities(scipy.sparse.vstack([needs, lost], format="csr"), np.zeros(count + 1))

    @override
    def joined(self, limits: MixedLimits) -> None:
        return None

    @override
    def most(self, chosen: IndexArray) -> int:
        return int(np.count_nonzero(self.possible(np.zeros(len(self.lost), dtype=bool)))) - len(chosen)
