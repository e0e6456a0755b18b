"""The paper's neighbours: matching pursuit, forward-backward selection, thresholding, CoSaMP and GraSP.

``f`` is an object with ``value(S)``, ``coef(S)``, ``u(w)`` and ``gradient(w)``, where ``w`` has one number or
row per element. Projections go through all independent sets, so that the ground set must be small.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.paper.plain.search import TIE, IsIndependent

FloatArray = NDArray[np.float64]
Elements = tuple[int, ...]  # in rising order

#: A gain must be larger than this to count as one.
LEAST = 1e-10


class Family:
    """All independent sets that hold the forced elements."""

    def __init__(self, is_independent: IsIndependent, n: int, forced: Iterable[int] = ()) -> None:
        """List them: small ones first, then in index order."""
        self.n, self.forced = n, tuple(sorted(forced))
        subsets = (S for size in range(n + 1) for S in combinations(range(n), size))
        self.sets = [S for S in subsets if set(self.forced) <= set(S) and is_independent(list(S))]
        self._known = set(self.sets)
        self._members = np.array([[x in S for x in range(n)] for S in self.sets]).reshape(-1, n)
        self._optional = self._members & ~np.isin(np.arange(n), self.forced)

    def additions(self, S: Elements) -> list[int]:
        """Return what can be added to a set."""
        return [x for x in range(self.n) if x not in S and tuple(sorted((*S, x))) in self._known]

    def heaviest(self, weights: FloatArray) -> Elements:
        """Return the first set of largest weight, without needless elements of weight 0.

        >>> Family(lambda S: len(S) <= 2, 4).heaviest(np.array([1.0, 0.0, 3.0, 1.0]))
        (0, 2)
        """
        totals = (self._members * weights).sum(axis=1)
        totals[self._optional[:, weights <= 0].any(axis=1)] = -1.0
        return self.sets[int(np.argmax(totals >= totals.max() * (1 - TIE)))]


def squares(w: FloatArray) -> FloatArray:
    """Return the squared length of each element's coefficients."""
    return w**2 if w.ndim == 1 else (w**2).sum(axis=1)


def kept(w: FloatArray, S: Elements) -> FloatArray:
    """Return coefficients with zeros outside of a set."""
    restricted = np.zeros_like(w)
    restricted[list(S)] = w[list(S)]
    return restricted


def first_best(candidates: list[int], scores: list[float]) -> int:
    """Return the candidate with the largest score; ties go to the first."""
    top = max(scores)
    return next(x for x, score in zip(candidates, scores, strict=True) if score >= top - TIE * (1 + abs(top)))


def omp(f: Any, family: Family) -> Elements:
    """Add the element with the longest gradient until none gains anything."""
    S = family.forced
    while addable := family.additions(S):
        lengths = squares(f.gradient(f.coef(S)))
        longer = tuple(sorted((*S, first_best(addable, [lengths[x] for x in addable]))))
        if f.value(longer) <= f.value(S) + LEAST:
            break
        S = longer
    return S


def foba(f: Any, family: Family, nu: float = 0.5, forward: str = "gain") -> Elements:
    """Add the best element; drop elements that lose at most nu times the last gain at this size."""
    S = best = family.forced
    gains: list[float] = []
    while addable := family.additions(S):
        lengths = squares(f.gradient(f.coef(S)))
        added = [tuple(sorted((*S, x))) for x in addable]
        by_gain = [f.value(T) - f.value(S) for T in added]
        x = first_best(addable, by_gain if forward == "gain" else [lengths[x] for x in addable])
        gain = by_gain[addable.index(x)]
        if gain <= LEAST:
            break
        S = added[addable.index(x)]
        gains.append(gain)
        best = better(f, S, best)
        while gains:
            free = [x for x in S if x not in family.forced]
            lost = [f.value(S) - f.value(without(S, x)) for x in free]
            x = first_best(free, [-loss for loss in lost])
            if lost[free.index(x)] > nu * gains[-1]:
                break
            S = without(S, x)
            gains.pop()
    return best


def without(S: Elements, x: int) -> Elements:
    """Return a set without an element."""
    return tuple(y for y in S if y != x)


def better(f: Any, S: Elements, best: Elements) -> Elements:
    """Return S if it is better than the best so far, else that."""
    return S if f.value(S) > f.value(best) + LEAST else best


def htp(f: Any, family: Family, step: float) -> Elements:
    """Step, project, refit, until a set comes back; return the best set."""
    S = best = family.forced
    seen = {S}
    while True:
        w = f.coef(S)
        S = family.heaviest(squares(w + step * f.gradient(w)))
        if S in seen:
            return best
        seen.add(S)
        best = better(f, S, best)


def iht(f: Any, family: Family, step: float, rounds: int = 1000) -> Elements:
    """Step and project; refit when the set stays, until a set that was refitted stays again."""
    S = best = family.forced
    w, seen = f.coef(S), {S}
    for _ in range(rounds):
        ahead = w + step * f.gradient(w)
        T = family.heaviest(squares(ahead))
        if T != S:
            S, w = T, kept(ahead, T)
        elif S in seen:
            break
        else:
            seen.add(S)
            best, w = better(f, S, best), f.coef(S)
    return best


def plain_iht(f: Any, family: Family, step: float, rounds: int = 1000) -> Elements:
    """Step and project, until the iterates stop moving."""
    S = family.forced
    w = f.coef(S)
    for _ in range(rounds):
        ahead = w + step * f.gradient(w)
        T = family.heaviest(squares(ahead))
        before, S, w = (S, w), T, kept(ahead, T)
        if before[0] == S and np.linalg.norm(w - before[1]) <= 1e-8 * np.linalg.norm(w):
            break
    return better(f, S, family.forced)


def cosamp(f: Any, family: Family, debias: bool = False) -> Elements:
    """Merge with two disjoint sets of long gradients, fit, prune, until a set comes back or none is better.

    With ``debias`` gradients are those of refits: GraSP.
    """
    S = best = family.forced
    w, seen, fruitless = f.coef(S), {S}, 0
    while fruitless < 10:
        lengths = squares(f.gradient(w))
        first = family.heaviest(lengths)
        second = family.heaviest(np.where(np.isin(np.arange(family.n), first), 0.0, lengths))
        fitted = f.coef(sorted({*S, *first, *second}))
        S = family.heaviest(squares(fitted))
        if S in seen:
            break
        seen.add(S)
        best = better(f, S, best)
        fruitless = 0 if best == S else fruitless + 1
        w = f.coef(S) if debias else kept(fitted, S)
    return best


def longest_fixed_step(f: Any, family: Family, S: Elements) -> float:
    """Return the longest step for which no set is heavier than S after it."""
    w = f.coef(S)
    chosen, steep = squares(w), squares(f.gradient(w))
    limits = [np.inf]
    for T in family.sets:
        gained = sum(steep[x] for x in T if x not in S)
        lost = sum(chosen[x] for x in S if x not in T)
        if gained > 0:
            limits.append(np.sqrt(lost / gained))
    return float(min(limits))
