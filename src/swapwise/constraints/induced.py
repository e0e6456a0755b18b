"""A constraint on some of its elements, which get new numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Clock
from swapwise.constraints.algorithms.exchanges import in_order, left_aligned
from swapwise.constraints.base import (
    Constraint,
    LaminarTree,
    MaxWeight,
    as_order,
    forced_among,
    names_of,
)
from swapwise.constraints.matroid import Matroid
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override


def wrapped(system: Constraint, elements: IndexArray) -> Constraint:
    return InducedMatroid(system, elements) if isinstance(system, Matroid) else Induced(system, elements)


class _Renumbered(Constraint):
    """Passes every question on to the whole constraint, with the original numbers of the elements."""

    def __init__(self, system: Constraint, elements: IndexArray) -> None:
        self.n, self.names = len(elements), names_of(system, elements)
        self.forced, self.hereditary = forced_among(system, elements), system.hereditary
        self._made_of, self._elements = (system,), np.asarray(elements, dtype=np.intp)

    @property
    def system(self) -> Constraint:
        return self._made_of[0]

    @override
    def __repr__(self) -> str:
        return f"{self.system!r} on {self.n} elements"

    def _in_whole(self, support: IndexArray) -> IndexArray:
        return np.sort(self._elements[support])

    def _places(self, elements: IndexArray) -> IndexArray:
        """Return the new numbers of elements of the whole; -1 for padding, and for those left out."""
        place = np.full(self.system.n + 1, NOTHING, dtype=np.intp)  # one more for padding to find
        place[self._elements] = np.arange(self.n)
        return place[elements]

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return self.system._is_independent(self._in_whole(support))

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        return self.system.addable(self._in_whole(support))[self._elements]

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        extended = self.system.extend(self._in_whole(support), self._elements[as_order(order)])
        return np.sort(self._places(extended))

    @override
    def laminar_tree(self) -> LaminarTree | None:
        tree = self.system.laminar_tree()
        return None if tree is None else tree._replace(leaf=tree.leaf[self._elements])


class Induced(_Renumbered):
    """The result of :meth:`Constraint.induced` for families that have nothing faster."""

    def __init__(self, system: Constraint, elements: IndexArray) -> None:
        super().__init__(system, elements)
        self.p = system.p

    @override
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveList]:
        some = np.arange(self.n) if candidates is None else candidates
        batches = self.system.moves(self._in_whole(support), q, self._in_whole(some))
        moves = MoveList.joined(batch.to_list() for batch in batches)
        # A family may ignore the candidates.
        known = np.isin(moves.added, np.append(self._elements[some], NOTHING))
        moves = moves.take(np.flatnonzero(np.logical_and.reduce(known, axis=1)))
        added, dropped = (
            left_aligned(self._places(elements), elements.shape[1])
            for elements in (moves.added, moves.dropped)
        )
        n_added = (added >= 0).sum(axis=1)
        yield MoveList(added, dropped).take(in_order(n_added, np.hstack([added, dropped])))

    @override
    def _forcing(self, forced: IndexArray) -> Induced:
        return Induced(self.system.contract(self._in_whole(forced)), self._elements)

    @override
    def exchange_size(self, q: int = 1) -> int:
        return self.system.exchange_size(q)

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return self._renumbered(self.system._max_weight(self._everywhere(weights), clock), weights)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        in_whole = self._in_whole(held), self._everywhere(weights)
        return self._renumbered(self.system._max_weight_holding(*in_whole, clock), weights)

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        of_whole = replace(answer, support=self._in_whole(answer.support))
        with_it, without = self.system._bounds_with_and_without(
            self._in_whole(held), self._everywhere(weights), of_whole
        )
        return with_it[self._elements], without[self._elements]

    def _everywhere(self, weights: FloatArray) -> FloatArray:
        """Return weights for the whole constraint, with which nothing else is chosen."""
        everywhere = np.full(self.system.n, -1.0)
        everywhere[self._elements] = weights
        return everywhere

    def _renumbered(self, found: MaxWeight, weights: FloatArray) -> MaxWeight:
        places = self._places(found.support)
        support = np.sort(places[places >= 0])
        return replace(found, support=support, weight=float(weights[support].sum()))

    @override
    def max_size(self) -> int:
        return min(self.system.max_size(), super().max_size())


class InducedMatroid(_Renumbered, Matroid):
    """The result of :meth:`Matroid.induced` for families that have nothing faster."""

    _made_of: tuple[Matroid]

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        whole = self._in_whole(support)
        columns = np.append(np.searchsorted(whole, self._elements[support]), len(support))
        return self._made_of[0]._swap_mask(whole)[np.ix_(self._elements, columns)]
