"""The greedy algorithm, and trying everything."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from swapwise.paper.plain.search import IsIndependent, Outcome, value_of


def greedy(f: Any, is_independent: IsIndependent, n: int) -> Outcome:
    """Add the feasible element of largest gain until the set is maximal; ties to the smallest index."""
    X: set[int] = set()
    trace: list[tuple[int, int | None, float]] = []
    while True:
        feasible = [x for x in range(n) if x not in X and is_independent(sorted(X | {x}))]
        if not feasible:
            return Outcome(X, value_of(f, X), trace)
        best = max(feasible, key=lambda x: value_of(f, X | {x}))
        X = X | {best}
        trace.append((best, None, value_of(f, X)))


def exhaustive(f: Any, is_independent: IsIndependent, n: int) -> Outcome:
    """Try all independent sets, small ones first; the first of equally good ones wins."""
    if n > 20:
        raise ValueError(f"all subsets of {n} elements are too many to try; at most 20 are allowed")
    sets = (S for size in range(n + 1) for S in combinations(range(n), size) if is_independent(list(S)))
    best = max(sets, key=lambda S: value_of(f, S))
    return Outcome(set(best), value_of(f, best), [])
