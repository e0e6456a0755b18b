"""The smallest p for which an independence system is a p-exchange system."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swapwise.checks import BoolArray, IndexArray
from swapwise.clock import Clock

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint

# Up to this many elements every set is tested: 4096 questions, about as many as one search needs.
FULL_UP_TO = 12


@dataclass(frozen=True)
class SmallestP:
    """The smallest p for which a family is a p-exchange system, and two sets that p − 1 is too small for.

    ``S`` and ``T`` are independent, and no map from ``T∖S`` to subsets of ``S∖T`` is as :func:`smallest_p`
    has it for p − 1; without any of their elements there is one. They are None if p is 1.

    See Also
    --------
    smallest_p : what returns it.

    Examples
    --------
    >>> from swapwise import SetPacking
    >>> smallest_p(SetPacking([{1}, {2}, {1, 2}]))
    SmallestP(p=2, S=(0, 1), T=(2,))
    """

    p: int
    S: tuple[int, ...] | None = None
    T: tuple[int, ...] | None = None


def smallest_p(constraint: Constraint) -> SmallestP:
    r"""Return the smallest p for which a constraint is a p-exchange system, by looking at all sets.

    For any two independent sets S and T there has to be a map φ from ``T∖S`` to the subsets of ``S∖T`` such
    that

    - (a) ``|φ(v)| ≤ p`` for each v in ``T∖S``,
    - (b) each u in ``S∖T`` is in at most p of the φ(v), and
    - (c) ``(S ∖ ∪_{v ∈ X} φ(v)) ∪ X`` is independent for each ``X ⊆ T∖S``.

    There is always such a p: the size of the largest set will do. A matroid may have a p of more than 1: the
    theorems on matroids do not need this property.

    Parameters
    ----------
    constraint : Constraint
        Of at most 12 elements. All subsets of its sets have to be independent.

    See Also
    --------
    OracleSystem : takes such a p for a family that is given by a function.
    IndependenceSystem : the class to subclass, with ``p``.

    References
    ----------
    - Feldman, Naor, Schwartz and Ward (2011), Improved approximations for k-exchange systems.
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML. Definition 3.

    Examples
    --------
    Edges of which no two share a vertex, and a budget that one large element uses up:

    >>> from swapwise import BMatching, Knapsack
    >>> smallest_p(BMatching([("a", "b"), ("b", "c"), ("c", "d")], 1))
    SmallestP(p=2, S=(1,), T=(0, 2))
    >>> smallest_p(Knapsack([1.0, 1.0, 1.0, 1.0, 4.0], 4.0))
    SmallestP(p=4, S=(0, 1, 2, 3), T=(4,))
    """
    from swapwise.constraints.base import Constraint

    if not isinstance(constraint, Constraint):
        raise TypeError(f"expected a constraint, got {constraint!r}")
    if constraint.n > FULL_UP_TO:
        raise ValueError(
            f"smallest_p looks at all sets, which is feasible up to {FULL_UP_TO} elements; got "
            f"{constraint!r}. On some of them, constraint.induced(elements), the smallest p is at most that "
            "on all"
        )
    if not constraint.hereditary:
        raise ValueError(
            f"there is a p only if every subset of an allowed set is allowed; got {constraint!r}"
        )
    independent = table_of(constraint, Clock())
    p, broken = 1, None
    while (pair := pair_without_map(independent, p, Clock())) is not None:
        p, broken = p + 1, pair
    return SmallestP(p) if broken is None else SmallestP(p, *broken)


def table_of(constraint: Constraint, clock: Clock) -> BoolArray:
    """Return which sets are independent; the bits of a set's number are its elements."""
    independent = np.zeros(2**constraint.n, dtype=bool)
    for number in range(len(independent)):
        clock.check()
        independent[number] = constraint._is_independent(_elements(number))
    return independent


def _elements(number: int) -> IndexArray:
    return np.array([bit for bit in range(number.bit_length()) if number >> bit & 1], dtype=np.intp)


def pair_without_map(
    independent: BoolArray, p: int, clock: Clock
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """Return two sets S and T that have no map as :func:`smallest_p` defines it, or None if all have one.

    Where S and T have one, so have their subsets: it suffices to test pairs of maximal sets, and a pair that
    has none is made as small as possible. Sets are numbers, as in :func:`table_of`.
    """
    family = _SetFamily.of(independent)
    has_map = cache(partial(_has_map, p=p, clock=clock))
    for S in family.maximal:
        for T in family.maximal:
            if max((S & ~T).bit_count(), (T & ~S).bit_count()) <= p:
                continue  # the map to all of S∖T
            if has_map(family.conflicts(S, T)):
                continue
            for bit in _elements(S).tolist():
                S = S if has_map(family.conflicts(S & ~(1 << bit), T)) else S & ~(1 << bit)
            for bit in _elements(T).tolist():
                T = T if has_map(family.conflicts(S, T & ~(1 << bit))) else T & ~(1 << bit)
            return tuple(_elements(S).tolist()), tuple(_elements(T).tolist())
    return None


CircuitParts = tuple[tuple[int, int], ...]


class _SetFamily(NamedTuple):
    """The maximal independent sets and the circuits, as numbers."""

    maximal: list[int]
    circuits: IndexArray

    @classmethod
    def of(cls, independent: BoolArray) -> _SetFamily:
        numbers = np.arange(len(independent))
        maximal, minimal = independent.copy(), ~independent
        for bit in range(len(independent).bit_length() - 1):
            larger = numbers[(numbers >> bit) & 1 > 0]
            smaller = larger ^ (1 << bit)
            maximal[smaller] &= ~independent[larger]
            minimal[larger] &= independent[smaller]
        return cls(np.flatnonzero(maximal).tolist(), np.flatnonzero(minimal))

    def conflicts(self, S: int, T: int) -> CircuitParts:
        """Return the parts of each circuit within S ∪ T in T∖S and in S∖T, their elements numbered from 0.

        Many pairs of sets have the same.
        """
        inside = self.circuits[self.circuits & ~(S | T) == 0]
        parts = (_renumbered(inside, T & ~S), _renumbered(inside, S & ~T))
        return tuple(sorted(set(zip(*(part.tolist() for part in parts), strict=True))))


def _renumbered(sets: IndexArray, within: int) -> IndexArray:
    """Return the intersections of sets with another, whose elements are numbered from 0."""
    parts = np.zeros_like(sets)
    for place, bit in enumerate(_elements(within).tolist()):
        parts |= (sets >> bit & 1) << place
    return parts


def _has_map(conflicts: CircuitParts, p: int, clock: Clock) -> bool:
    """Return whether some pairs (v, u) hit all conflicts, with no element in more than p of the pairs.

    φ has u in φ(v) for a pair (v, u). Condition (c) is that φ of the newcomers on a circuit holds an element
    of it, and so that of each circuit there is a pair.
    """
    width = max((u.bit_length() for _, u in conflicts), default=0)
    height = max((v.bit_length() for v, _ in conflicts), default=0)
    # A pair is a bit, and a conflict the set of pairs that hit it.
    rows = [(1 << width) - 1 << v * width for v in range(height)]
    columns = [sum(1 << v * width + u for v in range(height)) for u in range(width)]
    hits = [sum(u << v * width for v in range(height) if new >> v & 1) for new, u in conflicts]

    def found(chosen: int, allowed: int) -> bool:
        clock.check()
        left = [hit & allowed for hit in hits if not hit & chosen]
        if not left:
            return True
        pairs = min(left, key=int.bit_count)
        while pairs:
            pair = pairs & -pairs
            pairs ^= pair
            allowed ^= pair
            both, rest = chosen | pair, allowed
            for line in (*rows, *columns):
                if line & pair and (both & line).bit_count() == p:
                    rest &= ~line
            if found(both, rest):
                return True
        return False

    return found(0, (1 << width * height) - 1)
