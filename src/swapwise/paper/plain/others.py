"""The methods that the paper compares with, and trying everything."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from swapwise.paper.plain.local_search import IsIndependent, Outcome, _value


def greedy(f: Any, is_independent: IsIndependent, n: int) -> Outcome:
    """Add the feasible element of largest gain until the set is maximal; ties to the smallest index."""
    X: set[int] = set()
    trace: list[tuple[int, int | None, float]] = []
    while True:
        feasible = [x for x in range(n) if x not in X and is_independent(sorted(X | {x}))]
        if not feasible:
            return Outcome(X, _value(f, X), trace)
        best = max(feasible, key=lambda x: _value(f, X | {x}))
        X = X | {best}
        trace.append((best, None, _value(f, X)))


def modular(
    f: Any,
    is_independent: IsIndependent,
    n: int,
    heaviest: Callable[[dict[int, float]], set[int]] | None = None,
) -> Outcome:
    """Algorithm 6: maximise Σ f({x}) over a matroid, which the greedy algorithm does, or by ``heaviest``."""
    weight = {x: _value(f, {x}) for x in range(n)}
    X = heaviest_base(weight, is_independent, set()) if heaviest is None else heaviest(weight)
    return Outcome(X, _value(f, X), [])


def random_residual_greedy(
    f: Any, is_independent: IsIndependent, n: int, rng: np.random.Generator
) -> Outcome:
    """Add a random element of a heaviest base of what is left (Chen, Feldman and Karbasi, 2018).

    In each round the weights are the marginal gains, and the matroid is the one contracted by X.
    """
    X: set[int] = set()
    trace: list[tuple[int, int | None, float]] = []
    while True:
        fx = _value(f, X)
        gain = {x: _value(f, X | {x}) - fx for x in range(n) if x not in X}
        base = sorted(heaviest_base(gain, is_independent, X))
        if not base:
            return Outcome(X, fx, trace)
        chosen = base[rng.integers(len(base))]
        X = X | {chosen}
        trace.append((chosen, None, _value(f, X)))


def exhaustive(f: Any, is_independent: IsIndependent, n: int) -> Outcome:
    """Try all independent sets, small ones first; the first of equally good ones wins."""
    if n > 20:
        raise ValueError(f"all subsets of {n} elements are too many to try; at most 20 are allowed")
    sets = (S for size in range(n + 1) for S in combinations(range(n), size) if is_independent(list(S)))
    best = max(sets, key=lambda S: _value(f, S))
    return Outcome(set(best), _value(f, best), [])


def heaviest_base(weight: dict[int, float], is_independent: IsIndependent, X: set[int]) -> set[int]:
    """Return a heaviest set B, disjoint from X, with X ∪ B a base: heaviest elements first."""
    B: set[int] = set()
    for x in sorted(weight, key=lambda x: (-weight[x], x)):
        if is_independent(sorted(X | B | {x})):
            B.add(x)
    return B
