"""What all matroids share: ranks, greedy bases, the grid of swaps, and their minors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count, as_elements
from swapwise.constraints.axioms import Axioms
from swapwise.constraints.base import IndependenceSystem, MaxWeight, as_order
from swapwise.moves import MoveList, SwapGrid


class Matroid(IndependenceSystem):
    """An independence system in which all maximal subsets of any set have the same size.

    A new family only has to write ``_is_independent``. Swaps are then found by asking it;
    override ``_exchanges`` where they can be had for all pairs at once, and ``extend`` where a
    base can be grown faster than by one question an element.

    >>> class NotAllThree(Matroid):
    ...     n = 3
    ...     def _is_independent(self, support):
    ...         return len(support) < 3
    >>> matroid = NotAllThree()
    >>> matroid.rank(), matroid.max_weight([3, 1, 2]).support
    (2, array([0, 2]))
    >>> matroid.swap_grid([0, 2]).feasible[1]  # drop 0, drop 2, drop nothing
    array([ True,  True, False])

    That such a class is a matroid is verified before the first search, in full up to 12 elements; where it
    was not in full, certificates list it among their ``assumptions``.
    """

    p = 1

    @property
    def _verified(self) -> Axioms | None:
        """What was verified so far, to go on with the sets that a search meets."""
        return self.__dict__.get("_axioms")

    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[SwapGrid]:
        """Yield the grid of all additions and one-for-one swaps."""
        require_single_swaps(q)
        grid = self._grid(support)
        if candidates is not None:
            grid.feasible[np.setdiff1d(np.arange(self.n), candidates)] = False
        yield grid

    def swap_grid(self, support: Iterable[int]) -> SwapGrid:
        """Return the feasibility of every addition and of every swap at an independent set."""
        return self._grid(as_elements(support, self.n, "the set"))

    def _grid(self, support: IndexArray) -> SwapGrid:
        feasible = self._exchanges(support)
        feasible[support] = False
        return SwapGrid(support, feasible)

    def _exchanges(self, support: IndexArray) -> BoolArray:
        """Return the (n, k + 1) mask of :class:`SwapGrid`; rows in the support do not matter."""
        feasible = np.zeros((self.n, len(support) + 1), dtype=bool)
        for element in np.setdiff1d(np.arange(self.n), support):
            larger = np.sort(np.append(support, element))
            if self._is_independent(larger):
                feasible[element] = True
                continue
            for column, dropped in enumerate(support):
                feasible[element, column] = self._is_independent(larger[larger != dropped])
        if self._verified is not None:
            self._verified.note_grid(support, feasible)
        return feasible

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add to an independent set each element of ``order`` in turn that keeps it independent."""
        rest = as_order(order)
        grown = super().extend(support, rest)
        if self._verified is not None:
            self._verified.note(grown, maximal=len(np.union1d(support, rest)) == self.n)
        return grown

    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> MoveList:
        """Return the cheapest feasible drop (or none) for every element that can be added."""
        (grid,) = self.moves(support, q)
        return grid.cheapest(cost)

    def _max_weight(self, weights: FloatArray) -> MaxWeight:
        # The greedy algorithm is exact on matroids; elements without positive weight add nothing.
        heaviest_first = np.argsort(-weights, kind="stable")
        positive = heaviest_first[weights[heaviest_first] > 0]
        support = self.extend(np.empty(0, dtype=np.intp), positive)
        return MaxWeight(support, float(weights[support].sum()))

    def rank(self, elements: Iterable[int] | None = None) -> int:
        """Return the size of a largest independent subset of ``elements`` (default: of all)."""
        order = np.arange(self.n) if elements is None else as_elements(elements, self.n, "the set")
        return len(self.extend(np.empty(0, dtype=np.intp), order))

    def max_size(self) -> int:
        """Return the rank: every maximal set has this size."""
        return self.rank()

    def truncate(self, size: int) -> Matroid:
        """Return the matroid of the independent sets with at most ``size`` elements.

        Elements that are forced in count, whether they are chosen yet or not.

        >>> from swapwise import Partition
        >>> Partition(["a", "a", "b", "b"], 1).truncate(1).rank()
        1
        """
        from swapwise.constraints.minors import Truncation

        return Truncation(self, as_count(size, "size"))

    def restrict(self, elements: Iterable[int]) -> Matroid:
        """Return the matroid in which only ``elements`` can be chosen: all others are forced out.

        Elements keep their numbers; those forced out become loops.

        >>> from swapwise import Uniform
        >>> Uniform(4, 2).restrict([1, 3]).loops()
        array([0, 2])
        """
        from swapwise.constraints.minors import Restriction

        return Restriction(self, as_elements(elements, self.n, "the elements to keep"))

    def contract(self, elements: Iterable[int]) -> Matroid:
        """Return the matroid in which ``elements`` are forced in: S is allowed if S ∪ elements is.

        Elements keep their numbers. Those forced in are part of every base, stand in nobody's way
        and are never dropped, so ``maximize`` returns the best set that holds them. (The textbook's
        contraction removes them from the ground set; here they stay, as coloops.)

        >>> from swapwise import Linear, Partition, maximize
        >>> teams = Partition(["a", "a", "b", "b"], 1)
        >>> maximize(Linear([4, 1, 3, 2]), teams.contract([1])).support
        array([1, 2])
        """
        from swapwise.constraints.minors import Contraction

        return Contraction(self, as_elements(elements, self.n, "the elements to force in"))

    def induced(self, elements: IndexArray) -> Matroid:
        """Return the matroid on some of its elements, which get new numbers: their places in ``elements``."""
        from swapwise.constraints.minors import Induced

        return Induced(self, elements)


def require_single_swaps(q: int) -> None:
    """Refuse any q but 1: under one matroid, one-for-one swaps are the neighbourhood."""
    if q != 1:
        raise ValueError(f"a single matroid is searched by one-for-one swaps, q = 1; got q = {q}")
