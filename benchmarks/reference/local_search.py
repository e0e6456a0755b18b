"""Local search under a matroid: Algorithm 3 (best improvement) and Algorithm 5 (geometric rule)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swapwise.paper.plain.search import TIE, IsIndependent, Outcome, arbitrary_start, value_of

Pair = tuple[int, int | None]  # the element to add, the element to drop (None: nothing)


def local_search(
    f: Any,
    is_independent: IsIndependent,
    n: int,
    variant: str,
    start: Iterable[int],
    T: int,
    M: float | Callable[[int | None, int], float] | None = None,
    epsilon: float | None = None,
    tol: float = 0.0,
    needless_drops: bool = True,
) -> Outcome:
    """Improve ``start`` by additions and swaps, at most ``T`` times.

    Parameters
    ----------
    f
        An object with ``value(S)``, ``coef(S)`` and ``gradient(w)``. A plain callable is enough for
        the oblivious variant.
    is_independent
        Tells whether a sorted list of elements is allowed.
    n
        The ground set is 0 .. n-1.
    variant
        ``"oblivious"``, ``"semi-oblivious"`` or ``"non-oblivious"``.
    start
        Any independent set. From a maximal one only swaps are possible, as in the paper.
    T
        The largest number of moves.
    M
        For the non-oblivious variant: one number, or a function of (dropped or None, added).
    epsilon
        None for Algorithm 3: take the best pair. A number for Algorithm 5: take the first pair whose
        score is at least δ f(X) with δ = epsilon / rank.
    tol
        A move must score more than this. With 0, as in the paper, a "gain" of 1e-16 that is only
        rounding counts as an improvement, and the search may wander among equally good sets until
        ``T`` stops it.
    needless_drops
        Whether pairs that drop an element although nothing needs to be dropped are tried too. They
        cannot win, since f is monotone; without them the search refits less often.
    """
    X = set(start)
    fx = value_of(f, X)
    trace: list[tuple[int, int | None, float]] = []
    delta = None if epsilon is None else epsilon / len(arbitrary_start(is_independent, n))
    for _ in range(T):
        pairs = neighbourhood(X, is_independent, n, needless_drops)
        if variant == "oblivious":
            scored = _oblivious(f, X, fx, pairs)
        elif variant == "semi-oblivious":
            scored = _semi_oblivious(f, X, fx, pairs)
        elif variant == "non-oblivious":
            scored = _non_oblivious(f, X, pairs, M)
        else:
            raise ValueError(f"unknown variant {variant!r}")

        pair = _best(scored, tol) if delta is None else _first(scored, delta * fx, tol)
        if pair is None:
            break
        X = after(X, pair)
        fx = value_of(f, X)
        trace.append((*pair, fx))
    return Outcome(X, fx, trace)


def neighbourhood(
    X: set[int], is_independent: IsIndependent, n: int, needless_drops: bool = True
) -> list[Pair]:
    """Return all pairs (added, dropped) that lead to an independent set, in order; None comes first."""
    pairs: list[Pair] = []
    for added in range(n):
        if added in X:
            continue
        free = is_independent(sorted(X | {added}))
        if free:
            pairs.append((added, None))
        if free and not needless_drops:
            continue
        for dropped in sorted(X):
            if is_independent(sorted(X - {dropped} | {added})):
                pairs.append((added, dropped))
    return pairs


def after(X: set[int], pair: Pair) -> set[int]:
    """Return X − dropped + added."""
    added, dropped = pair
    return X - {dropped} | {added}  # X − {None} is X


def best_singleton_start(f: Any, is_independent: IsIndependent, n: int) -> set[int]:
    """Complete the best independent singleton to a maximal independent set, in index order."""
    singletons = [x for x in range(n) if is_independent([x])]
    if not singletons:
        return set()
    best = max(singletons, key=lambda x: value_of(f, {x}))  # max keeps the first of equals
    return arbitrary_start(is_independent, n, {best})


def _oblivious(f: Any, X: set[int], fx: float, pairs: list[Pair]) -> list[tuple[Pair, float]]:
    """Score every pair by f(X − x + x') − f(X)."""
    return [(pair, value_of(f, after(X, pair)) - fx) for pair in pairs]


def _semi_oblivious(f: Any, X: set[int], fx: float, pairs: list[Pair]) -> list[tuple[Pair, float]]:
    """Score, for every x', only the pair (x', φ(x')) whose dropped weight w_x² is the smallest."""
    w = f.coef(X)
    phi: dict[int, Pair] = {}
    for added, dropped in pairs:
        if added not in phi or _cost(w, dropped) < _cost(w, phi[added][1]):
            phi[added] = (added, dropped)
    return _oblivious(f, X, fx, list(phi.values()))


def _non_oblivious(f: Any, X: set[int], pairs: list[Pair], M: Any) -> list[tuple[Pair, float]]:
    """Score every pair by (∇u(w))²_x' / 2M − M w_x² / 2."""
    if M is None:
        raise ValueError("the non-oblivious variant needs M")
    w = f.coef(X)
    g = f.gradient(w)
    scored = []
    for added, dropped in pairs:
        m = M(dropped, added) if callable(M) else M
        scored.append(((added, dropped), g[added] ** 2 / (2 * m) - m / 2 * _cost(w, dropped)))
    return scored


def _cost(w: Any, dropped: int | None) -> float:
    return 0.0 if dropped is None else w[dropped] ** 2


def _best(scored: list[tuple[Pair, float]], tol: float) -> Pair | None:
    """Return the pair with the highest score, if that is more than ``tol``."""
    if not scored:
        return None
    highest = max(score for _, score in scored)
    if not highest > tol:
        return None
    return next(pair for pair, score in scored if score > tol and score >= highest - TIE)


def _first(scored: list[tuple[Pair, float]], threshold: float, tol: float) -> Pair | None:
    """Return the first pair whose score reaches the threshold, and is more than ``tol``."""
    return next((pair for pair, score in scored if score >= threshold and score > tol), None)
