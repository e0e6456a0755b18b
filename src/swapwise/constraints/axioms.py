"""Verification that a family known by a test of its sets is a matroid, or downward closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from swapwise.checks import BoolArray, IndexArray, as_count
from swapwise.clock import Clock, OutOfTime
from swapwise.constraints.exchange_property import FULL_UP_TO, pair_without_map, table_of

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint

# Questions about families too large to verify in full: all pairs of up to 64 elements (2016), the rest at
# random. Which families that are not matroids they find: benchmarks/oracles.py.
MOST_QUESTIONS, MOST_PAIRED = 4096, 64

# Limit on the time for a slow oracle, once for all sets and once at random.
SECONDS = 1.0

FINDS_P = "sw.theory.smallest_p finds the p that the family has"

# The methods that theorems (which need a p) and proofs rely on: assumptions where a class from outside this
# library defines them.
USED_BY_THEOREMS = ("moves", "cheapest_drops", "best_exchange", "exchange_size")
USED_BY_PROOFS = (
    "_max_weight",
    "_max_weight_holding",
    "_bounds_with_and_without",
    "max_weight",
    "max_size",
    "extend",
    "addable",
    "loops",
    "_swap_mask",
    "rank",
)


def verify(constraint: Constraint) -> None:
    """Verify the axioms that a constraint from outside this library claims, as far as that is cheap.

    All sets of at most 12 elements, else random ones; an axiom that is broken is an error that shows the
    sets. Searches and proofs do it before they begin, once per constraint.
    """
    for part in _parts_of(constraint):
        verify(part)
    if constraint.p is not None and not constraint.hereditary:
        raise ValueError(
            f"{constraint!r} has p = {constraint.p}, but is not hereditary: in matroids and p-exchange "
            "systems every subset of an independent set is independent. Subclass sw.IndependenceSystem, or "
            "leave p as None"
        )
    axioms_of(constraint)


def assumptions_of(constraint: Constraint) -> tuple[str, ...]:
    sentences = [sentence for part in _parts_of(constraint) for sentence in part.assumptions]
    axioms = axioms_of(constraint)
    if axioms is not None:
        sentences += [*axioms.assumptions, *_claims(constraint)]
    elif not is_own(type(constraint)):
        sentences += [f"that all sets of {constraint!r} can be built one by one", *_claims(constraint)]
    return tuple(dict.fromkeys(sentence for sentence in sentences if sentence))


def axioms_of(constraint: Constraint) -> Axioms | None:
    """Return what was verified of a constraint, which keeps it.

    None for the library's own families, and for those that are not hereditary: there is nothing to verify.
    """
    known: Axioms | None = vars(constraint).get("_axioms")
    if known is None and (is_own(type(constraint)) or not constraint.hereditary):
        return None
    as_p(constraint.p)
    # Moves of a class from outside may be those for an intersection of p matroids, which need not be a
    # p-exchange system.
    p = constraint.p if constraint.p == 1 or not _is_foreign(constraint, "moves") else None
    # A copy has what was verified of another constraint, and p may have been set since.
    if known is None or known.system is not constraint or known.p != p:
        known = vars(constraint)["_axioms"] = Axioms(constraint, p)
    return known


def as_p(p: int | None) -> int | None:
    if p is None:
        return None
    count = as_count(p, "p")
    if count == 0:
        raise ValueError("p must be at least 1, got 0")
    return count


def note_extended(
    constraint: Constraint, support: IndexArray, order: IndexArray, extended: IndexArray
) -> None:
    known: Axioms | None = vars(constraint).get("_axioms")
    if known is not None:
        known.note(extended, maximal=len(np.union1d(support, order)) == constraint.n)


def note_swaps(constraint: Constraint, support: IndexArray, feasible: BoolArray) -> None:
    known: Axioms | None = vars(constraint).get("_axioms")
    if known is not None:
        known.note_swaps(support, feasible)


def is_own(kind: type) -> bool:
    """Return whether a class is one of this library's, which are tested against their definitions."""
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _parts_of(constraint: Constraint) -> tuple[Constraint, ...]:
    parts: tuple[Constraint, ...] = vars(constraint).get("_made_of", ())
    return parts


def _claims(constraint: Constraint) -> list[str]:
    used = USED_BY_PROOFS if constraint.p is None else (*USED_BY_PROOFS, *USED_BY_THEOREMS)
    claims = {name: f"that {name} of {constraint!r} is right" for name in used}
    if constraint.p is not None and constraint.p > 1:
        claims["moves"] = (
            f"that {constraint!r} is an intersection of matroids or an exchange system with p = "
            f"{constraint.p}, and that its moves lead to all q-reachable sets, as the paper defines them "
            "for it"
        )
    return [claim for name, claim in claims.items() if _is_foreign(constraint, name)]


def _is_foreign(constraint: Constraint, name: str) -> bool:
    return any(name in vars(kind) for kind in type(constraint).__mro__ if not is_own(kind))


def grown(
    is_independent: Callable[[list[int]], bool], chosen: Iterable[int], order: Iterable[int]
) -> list[int]:
    """Add to an independent set each element of the order in turn that keeps it independent."""
    elements = [int(element) for element in chosen]
    for element in map(int, order):
        if element not in elements and is_independent([*elements, element]):
            elements.append(element)
    return elements


class Axioms:
    """What was verified of a family: all sets if they are few, else random ones and those of searches.

    Subsets of independent sets have to be independent. With p = 1 it has to be a matroid, with a larger p a
    p-exchange system. An axiom that is broken is an error that shows the sets.
    """

    def __init__(self, system: Constraint, p: int | None) -> None:
        self.system, self.p = system, p
        #: Whether it has to be a matroid
        self.exchange = p == 1
        #: How many pairs of maximal sets (of a matroid) or subsets of independent sets were verified
        self.verified = 0
        #: The maximal sets, one per row, if all sets were tested
        self.maximal: BoolArray | None = None
        self._questions = 0
        self._independent: BoolArray | None = None
        self._smallest_maximal: IndexArray | None = None
        self._largest = np.empty(0, dtype=np.intp)
        if not self._allows([]):
            raise ValueError(
                f"is_independent must allow the empty set, but returned False for it: {system!r}"
            )
        ways = (self._verify_all, self._verify_some) if system.n <= FULL_UP_TO else (self._verify_some,)
        for verify in ways:
            try:
                verify(Clock(SECONDS))
            except OutOfTime:
                continue
            break
        self._is_exchange_system = p is None or p == 1
        if self._independent is not None and not self._is_exchange_system:
            with suppress(OutOfTime):
                self._verify_exchange_system(self._independent, Clock(SECONDS))

    @property
    def complete(self) -> bool:
        return self.maximal is not None

    @property
    def assumptions(self) -> tuple[str, ...]:
        what, how = ("a matroid", "exchanges") if self.exchange else ("downward closed", "subsets")
        found = []
        if not self.complete:
            found.append(f"that {self.system!r} is {what}: {self.verified:,} {how} were verified, not all")
        if not self._is_exchange_system:
            found.append(f"that {self.system!r} is a {self.p}-exchange system")
        return tuple(found)

    # -- sets that a search meets -------------------------------------------------------------------

    def note_swaps(self, support: IndexArray, feasible: BoolArray) -> None:
        """Verify the swaps that were found at an independent set; ``feasible`` is as in ``SwapGrid``."""
        if self.complete:
            return
        outside = np.ones(len(feasible), dtype=bool)
        outside[support] = False
        free = np.flatnonzero(feasible[:, -1] & outside)
        self.note(support, maximal=not len(free))
        if len(free):
            self._note_large(np.sort(np.append(support, free[0])))
        for element in np.flatnonzero(outside & ~feasible.any(axis=1)):
            # Under a matroid it closes one circuit, of which any other element can go: unless it is a loop.
            if self._allows([int(element)]):
                self._refuse_exchange(grown(self._allows, [int(element)], support), support.tolist())

    def note(self, support: IndexArray, *, maximal: bool = False) -> None:
        """Verify an independent set that was found; ``maximal`` means that nothing can be added to it."""
        if self.complete:
            return
        for dropped in support:
            self._require_subset(support, support[support != dropped])
        if self.exchange:
            self._note_large(support)
            if maximal and (self._smallest_maximal is None or len(support) < len(self._smallest_maximal)):
                self._smallest_maximal = support
                self._note_large(self._largest)

    def _note_large(self, support: IndexArray) -> None:
        if len(support) > len(self._largest):
            self._largest = support
        smallest = self._smallest_maximal
        if smallest is not None and len(smallest) < len(self._largest):
            self._refuse_exchange(smallest.tolist(), self._largest.tolist())

    # -- questions ----------------------------------------------------------------------------------

    def _allows(self, elements: Iterable[int]) -> bool:
        self._questions += 1
        return bool(self.system._is_independent(np.sort(np.fromiter(elements, np.intp))))

    # -- in full ------------------------------------------------------------------------------------

    def _verify_all(self, clock: Clock) -> None:
        n = self.system.n
        numbers = np.arange(2**n)  # a set is the number whose bits are its elements
        members = (numbers[:, None] >> np.arange(n)) & 1 > 0
        independent = table_of(self.system, clock)
        maximal = independent.copy()
        for element in range(n):
            larger = numbers[members[:, element]]
            smaller = larger ^ (1 << element)
            if (broken := independent[larger] & ~independent[smaller]).any():
                first = int(np.argmax(broken))
                self._refuse_closure(*(np.flatnonzero(members[sets[first]]) for sets in (larger, smaller)))
            maximal[smaller] &= ~independent[larger]
        if self.exchange:
            self._verify_ranks(independent, members)
        self.maximal, self._independent = members[maximal], independent

    def _verify_ranks(self, independent: BoolArray, members: BoolArray) -> None:
        """Verify that two elements of which neither raises the rank do not raise it together.

        A downward-closed family is a matroid if and only if its rank does so (Welsh 1976, section 1.2).
        """
        numbers, size = np.arange(len(independent)), members.sum(axis=1)
        rank = np.where(independent, size, 0)
        for element in range(self.system.n):
            larger = numbers[members[:, element]]
            rank[larger] = np.maximum(rank[larger], rank[larger ^ (1 << element)])
        for first in range(self.system.n):
            for second in range(first):
                base = numbers[~members[:, first] & ~members[:, second]]
                whole = base | (1 << first) | (1 << second)
                alone = np.maximum(rank[base | (1 << first)], rank[base | (1 << second)])
                broken = (alone == rank[base]) & (rank[whole] > alone)
                if broken.any():
                    at = int(np.argmin(np.where(broken, size[base], len(size))))
                    within = (independent & (numbers & ~sets[at] == 0) for sets in (base, whole))
                    largest = (int(np.argmax(np.where(subsets, size, -1))) for subsets in within)
                    self._refuse_exchange(*(np.flatnonzero(members[at]).tolist() for at in largest))

    def _verify_exchange_system(self, independent: BoolArray, clock: Clock) -> None:
        assert self.p is not None
        pair = pair_without_map(independent, self.p, clock)
        if pair is not None:
            S, T = map(list, pair)
            raise ValueError(
                f"{self.system!r} is not a {self.p}-exchange system: for S = {S} and T = {T}, no map φ from "
                f"T∖S to sets of at most {self.p} elements of S∖T, each in at most {self.p} of these sets, "
                f"leaves S without φ(X) independent together with X for every part X of T∖S. {FINDS_P}"
            )
        self._is_exchange_system = True

    # -- at random ----------------------------------------------------------------------------------

    def _verify_some(self, clock: Clock) -> None:
        n, rng = self.system.n, np.random.default_rng(0)
        with suppress(OutOfTime):
            self._verify_pairs(np.sort(rng.permutation(n)[:MOST_PAIRED]), Clock(SECONDS / 2))
        while self._questions < MOST_QUESTIONS:
            clock.check()
            # Sizes of all orders: some rules bind among few elements, some among many.
            size = int(np.exp(rng.uniform(0.0, np.log(n + 1))))
            ground = rng.permutation(n)[:size]
            first = grown(self._allows, [], ground)
            self._verify_subsets(first, rng)
            drawn = rng.permutation(ground)[: rng.integers(1, size + 1)]
            if self._allows(drawn):  # a set that cannot be grown from nothing may be independent, too
                self._verify_subsets(drawn, rng)
            if self.exchange:
                second = grown(self._allows, [], rng.permutation(ground))
                self.verified += 1
                if len(first) != len(second):
                    self._refuse_exchange(*sorted((first, second), key=len))

    def _verify_subsets(self, whole: Iterable[int], rng: np.random.Generator) -> None:
        shuffled = rng.permutation(np.array(whole, dtype=np.intp))
        for part in (shuffled[1:], shuffled[: rng.integers(len(shuffled) + 1)]):
            self._require_subset(shuffled, part)
            self.verified += not self.exchange

    def _verify_pairs(self, elements: IndexArray, clock: Clock) -> None:
        """Verify that no loop is in an independent pair, and that being parallel is transitive."""
        alone = np.array([self._allows([element]) for element in elements], dtype=bool)
        together = np.zeros((len(elements), len(elements)), dtype=bool)
        for column in range(len(elements)):
            clock.check()
            for row in range(column):
                pair = elements[[row, column]]
                self.verified += 1
                together[row, column] = together[column, row] = self._allows(pair)
                if together[row, column] and not (alone[row] and alone[column]):
                    self._refuse_closure(pair, pair[1:] if alone[row] else pair[:1])
        if self.exchange:
            parallel = ~together & alone & alone[:, None]
            linked = parallel.astype(np.intp) @ parallel.astype(np.intp) > 0
            for first, second in np.argwhere(linked & together)[:1]:
                middle = int(np.argmax(parallel[first] & parallel[second]))
                self._refuse_exchange([int(elements[middle])], elements[[first, second]].tolist())

    # -- refusals -----------------------------------------------------------------------------------

    def _require_subset(self, whole: IndexArray, part: IndexArray) -> None:
        if not self._allows(part):
            self._refuse_closure(whole, part)

    def _refuse_closure(self, whole: IndexArray, part: IndexArray) -> NoReturn:
        raise ValueError(
            f"{self.system!r} is not downward closed: it allows {np.sort(whole).tolist()}, but not its "
            f"subset {np.sort(part).tolist()}. Every subset of an independent set must be independent; for "
            "elements that need others there is sw.Hierarchy, and sw.Constraint for families of other kinds"
        )

    def _refuse_exchange(self, small: list[int], large: list[int]) -> NoReturn:
        from swapwise.constraints.matroid import Matroid  # which imports this module

        # Of the larger set, one element more than the smaller has is enough: first those that both have.
        whole, large = large, sorted(large, key=lambda element: element not in small)[: len(small) + 1]
        self._require_subset(np.array(whole), np.array(large))
        rest = np.setdiff1d(large, small).tolist()
        smaller, larger = np.sort(small).tolist(), np.sort(large).tolist()
        instead = f"p = 1 is too small. {FINDS_P}"
        if isinstance(self.system, Matroid):
            instead = (
                "Use sw.OracleSystem(n, is_independent), which takes any family that has the subsets of its "
                "sets, such as a budget"
            )
        raise ValueError(
            f"{self.system!r} is not a matroid: it allows {smaller} and {larger}, but none of {rest} can be "
            f"added to {smaller}, the smaller of the two. {instead}"
        )
