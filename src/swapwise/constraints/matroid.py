"""The base class of matroids: ranks, the grid of swaps, and minors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count, as_elements
from swapwise.clock import Clock
from swapwise.constraints.base import (
    IndependenceSystem,
    MaxWeight,
    greedy_weight,
    heaviest_first,
)
from swapwise.constraints.kinds import Inequalities
from swapwise.moves import SwapGrid
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.constraints.laminar import Laminar

# Swaps whose weights are compared at a time, eight bytes each.
LARGEST_GRID = 1_000_000


class Matroid(IndependenceSystem):
    """An independence system in which all maximal subsets of any set have the same size.

    A new family only has to write ``_is_independent``. Swaps are then found by testing each; override
    ``_swap_mask`` where there is a faster way for all pairs at once, and ``extend`` where a base can be grown
    faster than by one test per element.

    See Also
    --------
    OracleMatroid : from a callable.
    IndependenceSystem : the family above.

    References
    ----------
    - Oxley (2011), Matroid Theory, 2nd edition.

    Examples
    --------
    >>> class NotAllThree(Matroid):
    ...     n = 3
    ...     def _is_independent(self, support):
    ...         return len(support) < 3
    >>> matroid = NotAllThree()
    >>> matroid.rank(), matroid.max_weight([3, 1, 2]).support
    (2, array([0, 2]))
    >>> (grid,) = matroid.moves(np.array([0, 2]))
    >>> grid.feasible[1]  # drop 0, drop 2, drop nothing
    array([ True,  True, False])

    That such a class is a matroid is verified before the first search, in full up to 12 elements; where it
    was not in full, certificates list it among their ``assumptions``.
    """

    p = 1

    @override
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[SwapGrid]:
        require_single_swaps(q)
        feasible = self._swap_mask(support)
        feasible[support] = False
        if candidates is not None:
            feasible[np.setdiff1d(np.arange(self.n), candidates)] = False
        yield SwapGrid(support, feasible)

    @override
    def inequalities(self) -> Inequalities | None:
        tree = self.laminar_tree()
        return None if tree is None else tree.rows()

    @override
    def _is_answer(self, support: IndexArray) -> bool:
        return self._is_independent(support)  # all bases meet the lower limits

    @override
    def _keeps_limits(self, support: IndexArray) -> BoolArray:
        tree, keeps = self.laminar_tree(), super()._keeps_limits(support)
        if tree is None:
            return keeps
        for node in np.flatnonzero(tree.at_least):
            inside = (tree.leaf >= node) & (tree.leaf < tree.end[node])
            if np.count_nonzero(inside[np.union1d(support, self.forced)]) <= tree.at_least[node]:
                keeps[np.ix_(~inside, np.append(inside[support], False))] = False
        return keeps

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        return greedy_weight(self, weights)

    @cached_property
    def _nested(self) -> Laminar | None:
        """The equivalent limits on nested sets, if there are any."""
        from swapwise.constraints.laminar import Laminar

        tree = self.laminar_tree()
        return None if tree is None else Laminar.of_tree(tree)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        if self._nested is not None:
            return self._nested._max_weight_holding(held, weights, clock)
        rest = weights.copy()
        rest[held] = 0.0
        support = self.extend(held, heaviest_first(rest))
        return MaxWeight(support, float(weights[support].sum()))

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        if self._nested is not None:
            return self._nested._bounds_with_and_without(held, weights, answer)
        # From a max-weight set one swap leads to the heaviest set with an element, and one to the heaviest
        # without: the bounds are exact.
        support = answer.support
        price = np.append(np.where(np.isin(support, held), np.inf, weights[support]), 0.0)
        incoming = weights.copy()
        incoming[support] = 0.0
        with_it = np.empty(self.n)
        replacement = np.zeros(len(support))
        feasible, rows = self._swap_mask(support), max(1, LARGEST_GRID // len(price))
        for begin in range(0, self.n, rows):
            some = slice(begin, begin + rows)
            with_it[some] = weights[some] - np.where(feasible[some], price, np.inf).min(axis=1)
            gains = np.where(feasible[some, :-1], incoming[some, None], 0.0)
            np.maximum(replacement, gains.max(axis=0, initial=0.0), out=replacement)
        with_it[support] = 0.0
        without = np.zeros(self.n)
        without[support] = replacement - weights[support]
        return answer.weight + with_it, answer.weight + without

    def rank(self, elements: Iterable[int] | None = None) -> int:
        """Return the size of a largest independent subset of ``elements`` (default: of all)."""
        order = np.arange(self.n) if elements is None else as_elements(elements, self.n, "the set")
        return len(self.extend(np.empty(0, dtype=np.intp), order))

    @override
    def truncate(self, size: int) -> Matroid:
        """Return the matroid of the independent sets with at most ``size`` elements.

        Elements that are forced in count, whether they are chosen yet or not. So do the places that lower
        limits keep.

        >>> from swapwise import Partition
        >>> Partition(["a", "a", "b", "b"], 1).truncate(1).rank()
        1
        """
        from swapwise.constraints.minors import Truncation

        size, limits = as_count(size, "size"), self._nested
        if limits is None or not limits.has_lower_limits:
            return Truncation(self, size)
        needed = limits.demand(self.forced)
        if size < needed:
            what = "the lower limits" if not len(self.forced) else "what is forced in and the lower limits"
            raise ValueError(f"size must be at least {needed}, as {what} need that many places, got {size}")
        return self._truncated(size)

    def _truncated(self, size: int) -> Matroid:
        """Return the sets that meet all lower limits with at most ``size`` elements, and their subsets.

        Called with lower limits only: not all sets of at most ``size`` elements could be completed then.
        """
        raise NotImplementedError

    @override
    def restrict(self, elements: Iterable[int]) -> Matroid:
        """Return the matroid in which only ``elements`` can be chosen: all others are forced out.

        Elements keep their numbers; those forced out become loops.

        >>> from swapwise import Uniform
        >>> Uniform(4, 2).restrict([1, 3]).loops()
        array([0, 2])
        """
        from swapwise.constraints.minors import Restriction

        kept = Restriction(self, as_elements(elements, self.n, "the elements to keep"))
        lacks = kept.shortfall(kept.completed(kept.forced, np.zeros(self.n)))
        if lacks:
            raise ValueError(f"the elements to keep have only {lacks}")
        return kept

    @override
    def contract(self, elements: Iterable[int]) -> Matroid:
        """Return the matroid in which ``elements`` are forced in: S is independent if S ∪ elements is.

        Elements keep their numbers. Those forced in are part of every base, block no other element
        and are never dropped, so ``maximize`` returns the best set that holds them. (The textbook's
        contraction removes them from the ground set; here they stay, as coloops.)

        >>> from swapwise import Linear, Partition, maximize
        >>> teams = Partition(["a", "a", "b", "b"], 1)
        >>> maximize(Linear([4, 1, 3, 2]), teams.contract([1])).support
        array([1, 2])
        """
        from swapwise.constraints.minors import Contraction

        return Contraction(self, as_elements(elements, self.n, "the elements to force in"))


def require_single_swaps(q: int) -> None:
    if q != 1:
        raise ValueError(f"a single matroid is searched by one-for-one swaps, q = 1; got q = {q}")
