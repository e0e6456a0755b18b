"""The searches of the experiments and what they are compared with, from any function that lists the moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

Elements = tuple[int, ...]  # in rising order
Exchange = tuple[Elements, Elements]  # added, dropped
IsIndependent = Callable[[list[int]], bool]

# Two refits of the same value differ by rounding. Scores this close to the best are ties, and the
# first exchange in order wins.
TIE = 1e-12


class Outcome(NamedTuple):
    """What a search returns; the trace has one (added, dropped, value) for every accepted move."""

    support: set[int]
    value: float
    trace: list[tuple[Any, Any, float]]


def value_of(f: Any, S: Iterable[int]) -> float:
    """Return f(S), of an object with ``value`` or of a plain function."""
    chosen = sorted(S)
    return float(f.value(chosen) if hasattr(f, "value") else f(chosen))


def arbitrary_start(is_independent: IsIndependent, n: int, X: Iterable[int] = ()) -> set[int]:
    """Complete ``X`` to a maximal independent set, trying elements in index order."""
    grown = set(X)
    for x in range(n):
        if x not in grown and is_independent(sorted(grown | {x})):
            grown.add(x)
    return grown


def exchange_search(
    f: Any,
    exchanges: Callable[[set[int]], list[Exchange]],
    variant: str,
    start: Iterable[int],
    M: float | Callable[[Elements, Elements], float] | None = None,
    T: int | None = None,
    delta: float | None = None,
    tol: float = 0.0,
) -> Outcome:
    """Go from ``start`` to better sets until there are none, or ``T`` times; ``exchanges`` are the moves.

    ``f`` has ``value(S)``, ``coef(S)`` and ``gradient(w)``; a plain function is enough for the oblivious
    variant. ``M`` of the non-oblivious one is a number, or a function of (dropped, added). The best move is
    taken, or with ``delta`` the first whose score is at least delta f(X); in either case it must score more
    than ``tol``, or else rounding counts as an improvement.
    """
    X = set(start)
    fx = value_of(f, X)
    trace: list[tuple[Elements, Elements, float]] = []
    while T is None or len(trace) < T:
        scored = _scored(f, X, fx, exchanges(X), variant, M)
        chosen = _best(scored, tol) if delta is None else _first(scored, delta * fx, tol)
        if chosen is None:
            break
        X = after(X, chosen)
        fx = value_of(f, X)
        trace.append((*chosen, fx))
    return Outcome(X, fx, trace)


def after(X: set[int], exchange: Exchange) -> set[int]:
    added, dropped = exchange
    return X - set(dropped) | set(added)


def _scored(
    f: Any, X: set[int], fx: float, exchanges: list[Exchange], variant: str, M: Any
) -> list[tuple[Exchange, float]]:
    if variant == "oblivious":
        return _oblivious(f, X, fx, exchanges)
    if variant == "semi-oblivious":
        return _oblivious(f, X, fx, _cheapest(f.coef(X), exchanges))
    if variant == "non-oblivious":
        return _non_oblivious(f, X, exchanges, M)
    raise ValueError(f"unknown variant {variant!r}")


def _oblivious(f: Any, X: set[int], fx: float, exchanges: list[Exchange]) -> list[tuple[Exchange, float]]:
    """Score every exchange by f(X') − f(X)."""
    return [(exchange, value_of(f, after(X, exchange)) - fx) for exchange in exchanges]


def _cheapest(w: Any, exchanges: list[Exchange]) -> list[Exchange]:
    """Keep, for every A, only the exchange (A, φ(A)) whose dropped ‖w_D‖² is the smallest."""
    phi: dict[Elements, Exchange] = {}
    for added, dropped in exchanges:
        if added not in phi or _norm(w, dropped) < _norm(w, phi[added][1]):
            phi[added] = (added, dropped)
    return list(phi.values())


def _non_oblivious(f: Any, X: set[int], exchanges: list[Exchange], M: Any) -> list[tuple[Exchange, float]]:
    """Score every exchange by ‖∇u(w)_A‖² / 2M − M ‖w_D‖² / 2."""
    if M is None:
        raise ValueError("the non-oblivious variant needs M")
    w = f.coef(X)
    g = f.gradient(w)
    scored = []
    for added, dropped in exchanges:
        m = M(dropped, added) if callable(M) else M
        scored.append(((added, dropped), _norm(g, added) / (2 * m) - m / 2 * _norm(w, dropped)))
    return scored


def _norm(v: Any, elements: Elements) -> float:
    return float(sum(v[x] ** 2 for x in elements))


def _best(scored: list[tuple[Exchange, float]], tol: float) -> Exchange | None:
    """Return the exchange with the highest score, if that is more than ``tol``; the first of equals."""
    highest = max((score for _, score in scored), default=tol)
    if not highest > tol:
        return None
    return next(exchange for exchange, score in scored if score > tol and score >= highest - TIE)


def _first(scored: list[tuple[Exchange, float]], threshold: float, tol: float) -> Exchange | None:
    """Return the first exchange whose score reaches the threshold, and is more than ``tol``."""
    return next((exchange for exchange, score in scored if score >= threshold and score > tol), None)


def modular(
    f: Any,
    is_independent: IsIndependent,
    n: int,
    heaviest: Callable[[dict[int, float]], set[int]] | None = None,
) -> Outcome:
    """Algorithm 6: maximise Σ f({x}) over a matroid, which the greedy algorithm does, or by ``heaviest``."""
    weight = {x: value_of(f, {x}) for x in range(n)}
    X = heaviest_base(weight, is_independent, set()) if heaviest is None else heaviest(weight)
    return Outcome(X, value_of(f, X), [])


def random_residual_greedy(
    f: Any, is_independent: IsIndependent, n: int, rng: np.random.Generator
) -> Outcome:
    """Add a random element of a heaviest base of what is left (Chen, Feldman and Karbasi, 2018).

    In each round the weights are the marginal gains, and the matroid is the one contracted by X.
    """
    X: set[int] = set()
    trace: list[tuple[int, int | None, float]] = []
    while True:
        fx = value_of(f, X)
        gain = {x: value_of(f, X | {x}) - fx for x in range(n) if x not in X}
        base = sorted(heaviest_base(gain, is_independent, X))
        if not base:
            return Outcome(X, fx, trace)
        chosen = base[rng.integers(len(base))]
        X = X | {chosen}
        trace.append((chosen, None, value_of(f, X)))


def heaviest_base(weight: dict[int, float], is_independent: IsIndependent, X: set[int]) -> set[int]:
    """Return a heaviest set B, disjoint from X, with X ∪ B a base: heaviest elements first."""
    B: set[int] = set()
    for x in sorted(weight, key=lambda x: (-weight[x], x)):
        if is_independent(sorted(X | B | {x})):
            B.add(x)
    return B
