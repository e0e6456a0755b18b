"""The contract of constraints: which sets are allowed, and which moves lead from one to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_vector
from swapwise.moves import MoveBatch, MoveList


@dataclass(frozen=True)
class MaxWeight:
    """A heavy allowed set, and how heavy any other can be.

    ``weight`` is at least ``factor`` times the largest weight of any allowed set; a factor of 1
    means that the set is a heaviest one.
    """

    support: IndexArray
    weight: float
    factor: float = 1.0

    @property
    def exact(self) -> bool:
        """Whether no allowed set is heavier."""
        return self.factor == 1.0

    @property
    def upper_bound(self) -> float:
        """A weight that no allowed set exceeds."""
        return self.weight / self.factor


class IndependenceSystem(ABC):
    """A family of allowed sets that holds ∅ and every subset of each of its sets."""

    n: int
    #: The p of "p-matroid intersection" or "p-exchange system"; a matroid has p = 1.
    p: int = 1
    #: Elements that every answer is to hold (see ``Matroid.contract``).
    forced: IndexArray = np.empty(0, dtype=np.intp)

    @abstractmethod
    def _is_independent(self, support: IndexArray) -> bool:
        """Tell whether a sorted integer array is an allowed set."""

    def is_independent(self, support: Iterable[int]) -> bool:
        """Tell whether ``support`` is an allowed set."""
        return bool(self._is_independent(as_elements(support, self.n, "the set")))

    @abstractmethod
    def moves(self, support: IndexArray, q: int = 1) -> Iterator[MoveBatch]:
        """Yield the moves from an allowed set that exchange up to ``q`` elements, in batches."""

    @abstractmethod
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> MoveList:
        """Return, for all that can be added, the move whose drop has the least total cost.

        ``cost`` has length n and is not negative. Ties go to the smallest index.
        """

    def max_weight(self, weights: ArrayLike) -> MaxWeight:
        """Return an allowed set of largest (or nearly largest) total weight."""
        return self._max_weight(as_vector(weights, self.n, "weights"))

    @abstractmethod
    def _max_weight(self, weights: FloatArray) -> MaxWeight:
        """Answer :meth:`max_weight` for a checked weight vector."""

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add to an allowed set each element of ``order`` in turn that keeps it allowed."""
        chosen = np.asarray(support, dtype=np.intp)
        for element in order:
            if element not in chosen:
                larger = np.sort(np.append(chosen, element))
                if self._is_independent(larger):
                    chosen = larger
        return chosen

    def loops(self) -> IndexArray:
        """Return the elements that are in no allowed set."""
        singles = (np.array([element]) for element in range(self.n))
        return np.flatnonzero([not self._is_independent(single) for single in singles])
