"""Constraints that are made of limits of a few kinds."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np

from swapwise.checks import BoolArray, IndexArray, as_count
from swapwise.constraints.base import Constraint, as_order, forced_among, names_of
from swapwise.constraints.kinds import Inequalities, Kind, MixedLimits, Size
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override


class Limits(Constraint):
    """The sets that all limits allow, together with what is forced in.

    A family of limits is a constructor: it reads what users say, and holds ``kinds``.
    """

    kinds: tuple[Kind, ...]

    def _hold(self, n: int, *kinds: Kind) -> None:
        self.n, self.kinds = n, kinds
        self.hereditary = all(kind.hereditary for kind in kinds)

    def _with_kinds(self, kinds: Iterable[Kind]) -> Self:
        """Return a copy with other limits, and nothing that was computed from these."""
        other = copy(self)
        for name in self.__dict__:
            if isinstance(getattr(type(self), name, None), cached_property):
                del other.__dict__[name]
        other._hold(self.n, *kinds)
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
        return self._with_kinds([*others, Size(self.n, min(size, places[0].size))])

    # -- sets ---------------------------------------------------------------------------------------

    def _mask(self, support: IndexArray) -> BoolArray:
        """Return what is chosen, with all that is forced in."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = chosen[self.forced] = True
        return chosen

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        chosen = self._mask(support)
        return all(kind.allows(chosen) for kind in self.kinds)

    def _additions(self, chosen: BoolArray) -> BoolArray:
        return np.logical_and.reduce([kind.additions(chosen) for kind in self.kinds]) & ~chosen

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        addable = self._additions(self._mask(support))
        addable[self.forced] = True
        addable[support] = False
        return addable

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        chosen, rest, step = self._mask(np.asarray(support, dtype=np.intp)), as_order(order), 1
        listed = np.zeros(self.n, dtype=bool)
        listed[support] = listed[rest] = True
        while True:
            rest = rest[self._additions(chosen)[rest]]
            if not len(rest):
                return np.flatnonzero(chosen & listed)
            # Where the next ones fit together, each fits in its turn: several are added at once.
            larger = chosen.copy()
            larger[rest[:step]] = True
            if step == 1 or all(kind.allows(larger) for kind in self.kinds):
                chosen, rest, step = larger, rest[step:], 2 * step
            else:
                step //= 2

    @override
    def max_size(self) -> int:
        forced = self._mask(self.forced)
        return len(self.forced) + min(kind.most(forced) for kind in self.kinds)

    # -- moves --------------------------------------------------------------------------------------

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        chosen, feasible = self._mask(support), np.ones((self.n, len(support) + 1), dtype=bool)
        for kind in self.kinds:
            feasible[:, :-1] &= kind.swaps(chosen, support)
            feasible[:, -1] &= kind.additions(chosen)
        feasible[self.forced] = True
        feasible[:, :-1][:, self._are_forced(support)] = False
        return feasible

    @override
    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        if len(self.forced):  # these count whether they are chosen or not
            stays = np.append(self._mask(self.forced), False)
            added, dropped = (np.where(stays[some], NOTHING, some) for some in (moves.added, moves.dropped))
            moves = MoveList(added, dropped)
        chosen = self._mask(support)
        return np.logical_and.reduce([kind.fits(chosen, moves) for kind in self.kinds])

    @override
    def _excludes(self, elements: IndexArray, others: IndexArray) -> BoolArray:
        excludes, forced = np.zeros((len(elements), len(others)), dtype=bool), self._mask(self.forced)
        for kind in self.kinds if self.hereditary else ():
            excludes |= kind.excludes(forced, elements, others)
        return excludes

    # -- for programs and kernels -------------------------------------------------------------------

    @override
    def inequalities(self) -> Inequalities:
        return Inequalities.stacked([kind.rows() for kind in self.kinds], self.n)

    @override
    def mixed_limits(self) -> MixedLimits | None:
        limits: MixedLimits | None = MixedLimits.none(self.n)
        for kind in self.kinds:
            limits = limits and kind.joined(limits)
        return limits
