"""The q-reachable sets of a p-exchange system of which only a test for its sets is known."""

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

# Sets that are asked about for one batch of moves: searches look at the clock between batches.
ASKED_PER_BATCH = 10_000

Elements = frozenset[int]


class Reachable:
    """All moves that add up to q elements and drop up to ``pq − q + 1``, none of them needlessly.

    These are the q-reachable sets of a p-exchange system (Definition 11 of the paper), without those that
    drop more than another that adds the same. No move is left out: the theorems on local search hold.

    What is dropped hits every circuit that the newcomers close, so that drops branch over the elements of
    one circuit after the other (Reiter 1987).

    >>> from swapwise import OracleSystem
    >>> def apart(support):
    ...     return 6 not in support or {0, 2, 4}.isdisjoint(support.tolist())
    >>> system = OracleSystem(7, apart, p=3)
    >>> [list(batch.moves()) for batch in Reachable(system, np.array([0, 1, 2, 3, 4, 5]), q=1).batches()]
    [[Move(added=(6,), dropped=(0, 2, 4))]]
    """

    def __init__(
        self, system: Constraint, support: IndexArray, q: int, candidates: IndexArray | None = None
    ) -> None:
        assert system.p is not None
        self._system, self._q, self._most = system, q, system.p * q - q + 1
        self._forced = frozenset(system.forced.tolist())
        self._support = frozenset(support.tolist())
        outside = np.setdiff1d(np.arange(system.n) if candidates is None else candidates, support)
        self._asked = 0
        self._candidates = [e for e in outside.tolist() if self._allows(self._forced | {e})]

    def batches(self) -> Iterator[MoveList]:
        """Yield the moves in lexicographic order of what they add and drop, those that add fewer first."""
        for size in range(1, self._q + 1):
            listed = list[tuple[IndexArray, IndexArray]]()
            for added in combinations(self._candidates, size):
                if self._allows(self._forced.union(added)):
                    drops = sorted(map(sorted, self._drops(frozenset(added))))
                    listed += [(np.array(added), np.array(drop, dtype=np.intp)) for drop in drops]
                if self._asked >= ASKED_PER_BATCH:
                    yield self._as_list(listed)
                    listed, self._asked = [], 0
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
        """Return a minimal part of some chosen elements that is not independent together with others."""
        for element in sorted(chosen):
            if not self._allows((chosen - {element}) | others):
                chosen -= {element}
        return chosen

    def _allows(self, elements: Elements) -> bool:
        self._asked += 1
        return self._system._is_independent(np.array(sorted(elements), dtype=np.intp))
