"""The max-weight elements of few groups: exact, by a price per element and a dynamic program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.numerics import ROUNDING


@dataclass(frozen=True, eq=False)
class FewGroupsProblem:
    """Elements that may be chosen, and the limits on groups, on each of them and on all elements.

    With a price λ per element, a group is worth Σ max(0, w_e − λ) over its heaviest elements, and no set
    weighs more than ``λ size`` and the worth of the best groups. The best λ is one of the weights, or 0.

    >>> weights, group = np.array([3.0, 2.0, 4.0, 2.5, 2.0]), np.array([0, 0, 1, 2, 2])
    >>> nothing, plenty = np.zeros(3, dtype=bool), np.array([9, 9, 9])
    >>> problem = FewGroupsProblem(weights, group, plenty, nothing, n_groups=2, size=3)
    >>> problem.heaviest()
    array([0, 1, 2])
    >>> [bound.tolist() for bound in problem.bounds()]  # with each of them, and without
    [[9.0, 9.0, 9.0, 8.5, 8.5], [8.5, 9.0, 7.5, 9.0, 9.0]]
    """

    weights: FloatArray  #: of each element, none negative
    group: IndexArray  #: of each element
    capacity: IndexArray  #: of each group, how many of it may be chosen
    touched: BoolArray  #: which groups are touched already
    n_groups: int  #: how many others may be touched
    size: int  #: how many elements may be chosen in all

    @cached_property
    def _order(self) -> IndexArray:
        return np.lexsort((-self.weights, self.group))

    @cached_property
    def _place(self) -> IndexArray:
        """The number of elements of the same group before each in the order."""
        own = self.group[self._order]
        count = np.bincount(own, minlength=len(self.capacity))
        place = np.empty(len(own), dtype=np.intp)
        place[self._order] = np.arange(len(own)) - (np.cumsum(count) - count)[own]
        return place

    @cached_property
    def _fits(self) -> BoolArray:
        """Whether each element fits beside the heavier ones of its group."""
        return self._place < self.capacity[self.group]

    def _worth(self, price: float) -> FloatArray:
        gains = np.where(self._fits, np.maximum(self.weights - price, 0.0), 0.0)
        return np.bincount(self.group, gains, len(self.capacity)).astype(np.float64)

    def _bound(self, price: float) -> float:
        worth = self._worth(price)
        rest = np.sort(worth[~self.touched])[::-1][: self.n_groups]
        return price * self.size + float(worth[self.touched].sum() + rest.sum())

    @cached_property
    def _price(self) -> float:
        """The price with the least bound, which is convex in it: by bisection."""
        levels = np.unique(np.append(self.weights[self._fits], 0.0))
        low, high = 0, len(levels) - 1
        while low < high:
            middle = (low + high) // 2
            if self._bound(levels[middle]) <= self._bound(levels[middle + 1]):
                high = middle
            else:
                low = middle + 1
        return float(levels[low])

    @cached_property
    def _best(self) -> BoolArray:
        """The touched groups and the most worthy of the others, all of positive worth."""
        rest = np.where(self.touched, 0.0, self._worth(self._price))
        order = np.argsort(-rest, kind="stable")[: self.n_groups]
        best = self.touched.copy()
        best[order[rest[order] > 0]] = True
        return best

    @property
    def _least(self) -> float:
        """The worth that another group needs to be among the best: 0, if there is room for one more."""
        inside = self._worth(self._price)[self._best & ~self.touched]
        return float(inside.min()) if 0 < self.n_groups == len(inside) else 0.0

    def heaviest(self) -> IndexArray:
        some = np.flatnonzero(self._fits & self._best[self.group])
        chosen = some[np.argsort(-self.weights[some], kind="stable")[: self.size]]
        bound = self._bound(self._price)
        gap = bound - float(self.weights[chosen].sum())
        if gap > ROUNDING * bound:
            chosen = self._by_groups_and_sizes(gap)
        return np.sort(chosen)

    def _by_groups_and_sizes(self, gap: float) -> IndexArray:
        """Return the max-weight set by a dynamic program over numbers of groups and of elements.

        Groups that are worth so much less than the best ones that no set with them comes close are left out.
        """
        worth = self._worth(self._price)
        plausible = self._best | (worth >= self._least - gap)
        table = np.full((self.n_groups + 1, self.size + 1), -np.inf)
        table[0, 0] = 0.0
        nothing = np.full((1, self.size + 1), -np.inf)
        taken: list[tuple[int, IndexArray, IndexArray]] = []
        for group in np.flatnonzero(plausible).tolist():
            members = self._order[(self.group == group)[self._order] & self._fits[self._order]]
            grown, count = table.copy(), np.zeros(table.shape, dtype=np.intp)
            before = table if self.touched[group] else np.vstack([nothing, table[:-1]])
            sums = np.cumsum(self.weights[members])[: self.size]
            for more, weight in enumerate(sums.tolist(), start=1):
                reached = before[:, : self.size + 1 - more] + weight
                is_better = reached > grown[:, more:]
                grown[:, more:][is_better] = reached[is_better]
                count[:, more:][is_better] = more
            table = grown
            taken.append((group, members, count))
        row, column = np.unravel_index(int(np.argmax(table)), table.shape)
        chosen = [self._order[:0]]
        for group, members, count in reversed(taken):
            more = int(count[row, column])
            chosen.append(members[:more])
            row, column = row - (more > 0 and not self.touched[group]), column - more
        return np.concatenate(chosen)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on the weight of the sets with each element, and of the sets without it.

        With a light element, a heavier one is dropped or its price is lost; with one of another group, one of
        the best groups is dropped. Without a chosen one, the next of its group is added, or another group.
        """
        price, worth, bound = self._price, self._worth(self._price), self._bound(self._price)
        last, following = np.full((2, len(self.capacity)), price)
        at_last = self._place + 1 == self.capacity[self.group]
        last[self.group[at_last]] = np.maximum(self.weights[at_last], price)
        at_next = self._place == self.capacity[self.group]
        following[self.group[at_next]] = np.maximum(self.weights[at_next], price)
        losses = np.where(self._fits & (self.weights > price), 0.0, last[self.group] - self.weights)
        losses += np.where(self._best[self.group], 0.0, np.maximum(self._least - worth[self.group], 0.0))
        losses[self.capacity[self.group] == 0] = np.inf
        others = worth[~self._best].max(initial=0.0)
        replaced = np.where(self.touched, np.inf, worth - others)[self.group]
        missed = np.minimum(np.maximum(self.weights - following[self.group], 0.0), replaced)
        missed = np.where(self._fits & self._best[self.group], np.maximum(missed, 0.0), 0.0)
        return bound - losses, bound - missed
