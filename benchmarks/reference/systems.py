"""Local search beyond one matroid: Algorithm 4 of the paper (appendix), and its geometric form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Any

from swapwise.paper.plain.search import Elements, Exchange, IsIndependent, Outcome, after, exchange_search

KINDS = ("matroid intersection", "exchange system")


def limits(p: int, q: int, kind: str) -> tuple[int, int]:
    """Return how many elements a q-reachable set may add, and how many it may drop.

    >>> limits(2, 1, "matroid intersection"), limits(2, 1, "exchange system")
    ((2, 4), (1, 2))
    """
    if kind == "matroid intersection":
        return 2 * q, 2 * p * q
    if kind == "exchange system":
        return q, p * q - q + 1
    raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}")


def reachable(
    X: set[int],
    is_independent: IsIndependent,
    n: int,
    p: int,
    q: int,
    kind: str,
    dominated: bool = True,
) -> list[Exchange]:
    """Return all pairs (A, D) for which (X ∪ A) − D is q-reachable from X, except X itself.

    The order is that of (len(A), A, D): few additions before many, and otherwise as tuples are ordered,
    first by what is added and then by what is dropped. With ``dominated=False`` a drop is left out if
    a part of it is enough to make room for the same A: f is monotone, so it cannot do better than that
    part.

    >>> reachable({0}, lambda S: len(S) <= 1, 3, 1, 1, "exchange system", dominated=False)
    [((1,), (0,)), ((2,), (0,))]
    """
    most_added, most_dropped = limits(p, q, kind)
    outside = [x for x in range(n) if x not in X]
    found = []
    for A in _subsets(outside, most_added):
        for D in sorted(_subsets(sorted(X), most_dropped)):
            if not (A or D) or not is_independent(sorted(after(X, (A, D)))):
                continue
            if dominated or not _has_needless(X, A, D, is_independent):
                found.append((A, D))
    return found


def _subsets(elements: list[int], most: int) -> Iterator[Elements]:
    """Yield all subsets of at most that many elements, small ones first, then in index order."""
    for size in range(min(most, len(elements)) + 1):
        yield from combinations(elements, size)


def _has_needless(X: set[int], A: Elements, D: Elements, is_independent: IsIndependent) -> bool:
    """Return whether a proper part of D is enough: if any is, so is D without one element."""
    return any(is_independent(sorted(after(X, (A, tuple(set(D) - {x}))))) for x in D)


def system_search(
    f: Any,
    is_independent: IsIndependent,
    n: int,
    p: int,
    q: int,
    kind: str,
    variant: str,
    start: Iterable[int],
    T: int,
    M: float | Callable[[Elements, Elements], float] | None = None,
    epsilon: float | None = None,
    s: int | None = None,
    tol: float = 0.0,
    dominated: bool = True,
) -> Outcome:
    """Go from ``start`` to better q-reachable sets, at most ``T`` times.

    Parameters
    ----------
    f
        An object with ``value(S)``, ``coef(S)`` and ``gradient(w)``. A plain callable is enough for
        the oblivious variant.
    is_independent
        Tells whether a sorted list of elements is allowed.
    n
        The ground set is 0 .. n-1.
    p, q, kind
        Which sets are in reach, see :func:`limits`.
    variant
        ``"oblivious"``, ``"semi-oblivious"`` or ``"non-oblivious"``.
    start
        Any independent set: ∅ as in the text, or a maximal one as in the appendix.
    T
        The largest number of moves.
    M
        For the non-oblivious variant: one number, or a function of (dropped, added), both tuples.
    epsilon
        None: take the best move. A number: take the first move, in the order of :func:`reachable`,
        whose score is at least δ f(X) with δ = epsilon / s.
    s
        For the geometric rule: the size of the largest independent set, or a bound on it.
    tol
        A move must score more than this, or else rounding counts as an improvement.
    dominated
        Whether drops of more than is needed are tried too. They cannot win under the oblivious
        variant, nor under the others, whose price of a drop rises with every element.
    """

    def exchanges(X: set[int]) -> list[Exchange]:
        return reachable(X, is_independent, n, p, q, kind, dominated)

    delta = None if epsilon is None else _least(epsilon, s)
    return exchange_search(f, exchanges, variant, start, M, T, delta, tol)


def _least(epsilon: float, s: int | None) -> float:
    if s is None:
        raise ValueError("the geometric rule needs s, the size of the largest independent set")
    return epsilon / s
