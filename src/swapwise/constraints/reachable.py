"""The q-reachable sets of a p-exchange system that is known only by a test of its sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.base import padded
from swapwise.moves import MoveList

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint

# Sets tested for one batch of moves: searches look at the clock between batches.
TESTED_PER_BATCH = 10_000

Elements = frozenset[int]


class Reachable:
    """All moves that add up to q elements and drop up to ``pq − q + 1``, none of them needlessly.

    These are the q-reachable sets of a p-exchange system (Definition 11 of the paper), without those that
    drop more than another that adds the same. No move is left out: the theorems on local search hold.

    Drops are the minimal hitting sets of the circuits that the newcomers close, found by branching over the
    elements of one circuit after the other (Reiter 1987).
    """

    def __init__(
        self, system: Constraint, support: IndexArray, q: int, candidates: IndexArray | None = None
    ) -> None:
        assert system.p is not None
        self._system, self._q, self._most = system, q, system.p * q - q + 1
        self._forced = frozenset(system.forced.tolist())
        self._support = frozenset(support.tolist())
        outside = np.setdiff1d(np.arange(system.n) if candidates is None else candidates, support)
        self._n_tested = 0
        self._candidates = [e for e in outside.tolist() if self._allows(self._forced | {e})]

    def batches(self) -> Iterator[MoveList]:
        """Yield the moves in lexicographic order of what they add and drop, those that add fewer first."""
        for size in range(1, self._q + 1):
            listed = list[tuple[IndexArray, IndexArray]]()
            for added in combinations(self._candidates, size):
                if self._allows(self._forced.union(added)):
                    drops = sorted(map(sorted, self._drops(frozenset(added))))
                    listed += [(np.array(added), np.array(drop, dtype=np.intp)) for drop in drops]
                if self._n_tested >= TESTED_PER_BATCH:
                    yield self._as_list(listed)
                    listed, self._n_tested = [], 0
            yield self._as_list(listed)

    def _as_list(self, moves: list[tuple[IndexArray, IndexArray]]) -> MoveList:
        added, dropped = (padded([move[part] for move in moves]) for part in (0, 1))
        return MoveList.joined([MoveList(added, dropped)], self._q, self._most)

    def _drops(self, added: Elements) -> list[Elements]:
        """Return the minimal sets of chosen elements that make room for others and are not too large."""
        circuits, found = list[Elements](), list[Elements]()
        level: Iterable[Elements] = [frozenset()]
        for size in range(self._most + 1):
            larger = dict[Elements, None]()
            for drop in level:
                if any(smaller <= drop for smaller in found):
                    continue
                circuit = next((known for known in circuits if known.isdisjoint(drop)), None)
                rest = self._support - drop
                if circuit is None and self._allows(rest | added):
                    found.append(drop)
                    continue
                if size == self._most:
                    continue
                if circuit is None:
                    circuit = self._circuit(rest - self._forced, added | self._forced)
                    circuits.append(circuit)
                larger.update((drop | {element}, None) for element in sorted(circuit))
            level = larger
        return found

    def _circuit(self, chosen: Elements, others: Elements) -> Elements:
        """Return a minimal part of some chosen elements that is dependent together with others."""
        for element in sorted(chosen):
            if not self._allows((chosen - {element}) | others):
                chosen -= {element}
        return chosen

    def _allows(self, elements: Elements) -> bool:
        self._n_tested += 1
        return self._system._is_independent(np.array(sorted(elements), dtype=np.intp))
