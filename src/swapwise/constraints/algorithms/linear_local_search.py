"""Large weights under constraints for which no exact method is known: local search on the total weight."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.base import IndependenceSystem, greedy_weight
from swapwise.numerics import TIE


def local_search_weight(
    constraint: IndependenceSystem, weights: FloatArray, q: int = 1, clock: Clock | None = None
) -> IndexArray:
    """Return a set whose weight no move of ``constraint.moves(support, q)`` raises.

    Its weight is at least 1 / (p − 1 + 1/q) times that of any independent set, for intersections of p ≥ 2
    matroids (Lee, Sviridenko and Vondrák 2010) as for p-exchange systems (Feldman, Naor, Schwartz and
    Ward 2011): linear functions are (1, 1, 0)-localizable, for which the guarantee of local search
    comes to this. Under one matroid, p = 1, it is a max-weight set.

    The search starts at the greedy set and takes the best move each time, as long as the weight rises
    by more than rounding. Elements without positive weight are never chosen. Out of time, the best set so far
    is returned: never lighter than the greedy set, which has at least 1/p of the largest weight itself.

    >>> from swapwise import Partition
    >>> local_search_weight(Partition(["a", "a", "b"], 1), np.array([1.0, 2.0, -3.0]))
    array([1])
    """
    value, clock = np.maximum(weights, 0.0), clock or Clock()
    support = greedy_weight(constraint, weights).support
    while True:
        try:
            best = constraint.best_exchange(support, value, value, q, clock)
        except OutOfTime:
            return support
        gain = best.sums(best.added, value) - best.sums(best.dropped, value)
        if not (gain > TIE * value[support].sum()).any():
            return support
        support = best.move(0).result(support)
        # A move may add what weighs nothing; every subset of an independent set is independent.
        support = support[value[support] > 0]
