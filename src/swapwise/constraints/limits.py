"""Constraints that are made of limits of a few kinds."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cached_property, reduce
from itertools import chain
from typing import Self

import numpy as np

from swapwise.checks import BoolArray, IndexArray, as_count, as_elements, some_of
from swapwise.constraints.base import Constraint, as_order, forced_among, names_of
from swapwise.constraints.kinds import Inequalities, Kind, MixedLimits, Size
from swapwise.constraints.needs import Needs
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override


class Limits(Constraint):
    """The sets that all limits allow, together with what is forced in.

    A family of limits is a constructor: it reads what users say, and holds ``kinds``.
    """

    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, n: int, kinds: Iterable[Kind], forced: IndexArray) -> Limits:
        """Return the sets that limits of some kinds allow together with what is forced in."""
        limits = object.__new__(Limits)
        limits._hold(n, *kinds)
        limits.forced = forced
        return limits

    def _hold(self, n: int, *kinds: Kind) -> None:
        needs = [kind for kind in kinds if isinstance(kind, Needs)]
        if len(needs) > 1:
            kinds = (reduce(Needs.with_others, needs), *(kind for kind in kinds if kind not in needs))
        self.n, self.kinds = n, kinds or (Size(n, n),)
        self.__dict__.pop("_needs", None)
        self.hereditary = all(kind.hereditary for kind in kinds)

    @cached_property
    def _needs(self) -> Needs | None:
        return next((kind for kind in self.kinds if isinstance(kind, Needs)), None)

    @property
    def _needs_alone(self) -> bool:
        """Whether needs are all that can keep an element from being dropped by itself."""
        return all(kind.hereditary or kind is self._needs for kind in self.kinds)

    def _with_kinds(self, kinds: Iterable[Kind]) -> Self:
        """Return a copy with other limits, and nothing that was computed from these."""
        other = copy(self)
        for name in self.__dict__:
            if isinstance(getattr(type(self), name, None), cached_property):
                del other.__dict__[name]
        other._hold(self.n, *kinds)
        return other

    @override
    def _forcing(self, forced: IndexArray) -> Self:
        other = self._with_kinds(self.kinds)
        other.forced = forced
        return other

    @override
    def induced(self, elements: IndexArray) -> Self:
        part = self._with_kinds(kind.among(elements) for kind in self.kinds)
        part.n, part.names = len(elements), names_of(self, elements)
        part.forced = forced_among(self, elements)
        return part

    @override
    def truncate(self, size: int) -> Constraint:
        places = [kind for kind in self.kinds if isinstance(kind, Size)]
        if not places:
            return super().truncate(size)
        if as_count(size, "size") < len(self.forced):
            raise ValueError(
                f"size must leave room for the {len(self.forced)} elements that are forced in, got {size}"
            )
        others = (kind for kind in self.kinds if kind not in places)
        return self._with_kinds([*others, Size(self.n, min(size, *(kind.size for kind in places)))])

    # -- sets ---------------------------------------------------------------------------------------

    def _mask(self, support: IndexArray) -> BoolArray:
        """Return what is chosen, with all that is forced in."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = chosen[self.forced] = True
        return chosen

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return self._allows(self._with_forced(support))

    def _allows(self, chosen: IndexArray) -> bool:
        return all(kind.allows(chosen) for kind in self.kinds)

    def _additions(self, chosen: IndexArray) -> BoolArray:
        additions = self.kinds[0].additions(chosen)
        for kind in self.kinds[1:]:
            additions &= kind.additions(chosen)
        additions[chosen] = False
        return additions

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = self._additions(self._with_forced(support))
        if len(self.forced):
            addable[self.forced] = True
            addable[support] = False
        return addable

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        given, rest = np.asarray(support, dtype=np.intp), as_order(order)
        listed = np.zeros(self.n, dtype=bool)
        listed[given] = listed[rest] = True
        if self._needs is not None:
            chosen = self._extended_with_needs(self._needs, given, rest, listed)
            return np.flatnonzero(chosen & listed)
        if not self.hereditary:
            return super().extend(given, rest)
        whole, step = self._with_forced(given), 1
        rest = rest[~np.isin(rest, whole)]
        while len(rest):
            larger = np.append(whole, rest[:step])
            if self._allows(larger):  # where several fit together, each fits in its turn
                whole, rest, step = larger, rest[step:], 2 * step
            elif step > 1:
                step //= 2
            else:  # what does not fit now will not fit later
                rest = rest[1:][self._additions(whole)[rest[1:]]]
        return np.sort(whole[listed[whole]])

    def _extended_with_needs(
        self, needs: Needs, support: IndexArray, order: IndexArray, listed: BoolArray
    ) -> BoolArray:
        """Add elements in turn, each with what it lacks, for as long as any fits."""
        others = [kind for kind in self.kinds if kind is not needs]
        chosen, waiting = self._mask(support), order.tolist()
        allowed = (listed | chosen) & needs.possible(np.zeros(self.n, dtype=bool))
        there = set(np.flatnonzero(chosen).tolist())
        for element in support.tolist():
            there |= next((way for way in needs.ways(there, element) if allowed[[*way]].all()), set())
        chosen[[*there]] = True
        is_open, grows = self._open_beside(np.array([*there], dtype=np.intp)) & allowed, True
        while waiting and grows:
            later, grows = [], False
            for element in waiting:
                if chosen[element] or not is_open[element]:
                    continue
                for way in needs.ways({*there, element}, element):
                    larger = there | way | {element}
                    whole = np.array([*larger], dtype=np.intp)
                    if allowed[whole].all() and all(kind.allows(whole) for kind in others):
                        there, grows, chosen[whole] = larger, True, True
                        is_open &= self._open_beside(whole)
                        break
                else:
                    later.append(element)
            waiting = later
        return chosen

    def _open_beside(self, chosen: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        """Return what all limits allow beside some elements, with whatever it needs."""
        return np.logical_and.reduce([kind.joinable(chosen, outside) for kind in self.kinds])

    @override
    def max_size(self) -> int:
        most = min(kind.most(self.forced) for kind in self.kinds)
        if not self.hereditary:
            most = min(most, int(np.count_nonzero(self.joinable(self.forced))))
        return len(self.forced) + most

    # -- what elements need -------------------------------------------------------------------------

    @override
    def joinable(self, held: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        if self.hereditary:
            return super().joinable(held, outside)
        whole, chosen = self._with_forced(held), self._mask(held)
        # Elements that other limits rule out cannot be parents, either.
        ruled_out = ~(self._open_beside(whole, outside) | chosen)
        if outside is not None:
            ruled_out |= outside
        possible = ~ruled_out
        if self._needs is not None:
            possible = self._needs.possible(ruled_out)
            chosen[self._needs.required(whole)] = True
            for kind in self.kinds:
                if isinstance(kind, Size):
                    possible &= np.count_nonzero(chosen) + self._needs.n_missing(chosen) <= kind.size
        possible[held] = False
        return possible

    @override
    def without(self, support: IndexArray, dropped: IndexArray) -> IndexArray:
        if self._needs is None:
            return super().without(support, dropped)
        left = np.zeros(self.n, dtype=bool)
        left[support] = True
        left[dropped] = False
        rest = self._needs.without(left)
        return (
            rest
            if self._needs_alone or self._allows(self._with_forced(rest))
            else super().without(support, dropped)
        )

    @override
    def droppable(self, support: IndexArray) -> IndexArray:
        if self._needs is None or not self._needs_alone:
            return super().droppable(support)
        stays = self._are_forced(support) | self._needs.needed(self._mask(support))[support]
        return support[~stays]

    @override
    def companions(self, elements: IndexArray) -> IndexArray:
        return super().companions(elements) if self._needs is None else self._needs.companions(elements)

    @override
    def required(self, elements: IndexArray) -> IndexArray:
        return super().required(elements) if self._needs is None else self._needs.required(elements)

    @override
    def _units(self, support: IndexArray) -> list[IndexArray]:
        units: dict[bytes, IndexArray] = {}
        for unit in [*super()._units(support), *chain(*(kind.units(support) for kind in self.kinds))]:
            whole = unit if self.hereditary else np.setdiff1d(support, self.without(support, unit))
            if not self._are_forced(whole).any():
                units[whole.tobytes()] = whole
        return list(units.values())

    @override
    def _lacking(self, support: IndexArray, element: int) -> list[IndexArray]:
        if self._needs is None:
            return super()._lacking(support, element)
        chosen = {*support.tolist(), *self.forced.tolist(), element}
        return [np.array(sorted(way), dtype=np.intp) for way in self._needs.ways(chosen, element)]

    @override
    def _bundles(self, support: IndexArray, elements: IndexArray) -> IndexArray:
        if self._needs is None:
            return super()._bundles(support, elements)
        return self._needs.bundles(self._mask(support), elements)

    @override
    def _substitutes(self, support: IndexArray) -> dict[int, IndexArray]:
        if self._needs is None:
            return super()._substitutes(support)
        found, forced = self._needs.substitutes(self._mask(support)), set(self.forced.tolist())
        return {element: others for element, others in found.items() if element not in forced}

    @override
    def contract(self, elements: Iterable[int]) -> Constraint:
        if self._needs is None:
            return super().contract(elements)
        wanted = as_elements(elements, self.n, "the elements to force in")
        forced = np.union1d(wanted, self.required(wanted))
        lacking = [e for e in forced.tolist() if len(ways := self._lacking(forced, e)) != 1 or len(ways[0])]
        if lacking and not self._needs.lost[forced].any():
            others = some_of([self._called(o) for o in chain(*self._needs.by_element[lacking[0]])])
            raise ValueError(
                f"{self._called(lacking[0])} is forced in, but none of its parents is: force in one of them, "
                f"{others}"
            )
        return super().contract(forced)

    def _called(self, element: int) -> str:
        return str(element) if self.names is None else repr(self.names[element])

    # -- moves --------------------------------------------------------------------------------------

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        whole = self._with_forced(support)
        feasible = self.kinds[0].swaps(whole, support)
        for kind in self.kinds[1:]:
            feasible &= kind.swaps(whole, support)
        if len(self.forced):
            feasible[self.forced] = True
            feasible[:, :-1][:, self._are_forced(support)] = False
        return feasible

    @override
    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        if len(self.forced):  # these count whether they are chosen or not
            stays = np.append(self._mask(self.forced), False)
            added, dropped = (np.where(stays[some], NOTHING, some) for some in (moves.added, moves.dropped))
            moves = MoveList(added, dropped)
        whole = self._with_forced(support)
        return np.logical_and.reduce([kind.fits(whole, moves) for kind in self.kinds])

    @override
    def _excludes(self, elements: IndexArray, others: IndexArray) -> BoolArray:
        excludes = np.zeros((len(elements), len(others)), dtype=bool)
        for kind in self.kinds:
            excludes |= kind.excludes(self.forced, elements, others)
        return excludes

    # -- for programs and kernels -------------------------------------------------------------------

    @override
    def inequalities(self) -> Inequalities | None:
        rows = [kind.rows() for kind in self.kinds]
        known = [each for each in rows if each is not None]
        return Inequalities.stacked(known, self.n) if len(known) == len(rows) else None

    @override
    def mixed_limits(self) -> MixedLimits | None:
        limits: MixedLimits | None = MixedLimits.none(self.n)
        for kind in self.kinds:
            limits = limits and kind.joined(limits)
        return limits
