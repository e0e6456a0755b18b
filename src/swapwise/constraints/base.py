"""The contract of constraints: which sets are allowed, and which moves lead from one to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_elements, as_time_limit, as_vector
from swapwise.clock import Clock
from swapwise.constraints.axioms import Axioms
from swapwise.moves import MoveBatch, MoveList

System = TypeVar("System", bound="IndependenceSystem")


@dataclass(frozen=True, eq=False)
class MaxWeight:
    """A heavy allowed set, and how heavy any other can be.

    ``weight`` is at least ``factor`` times the largest weight of any allowed set; a factor of 1
    means that the set is a heaviest one. ``bound`` is an upper bound that was proven on the way, if any.

    >>> from swapwise import Uniform
    >>> heaviest = Uniform(3, 2).max_weight([1.0, -1.0, 5.0])
    >>> heaviest.support, heaviest.weight, heaviest.exact
    (array([0, 2]), 6.0, True)
    """

    support: IndexArray
    weight: float
    factor: float = 1.0
    bound: float | None = None

    @property
    def exact(self) -> bool:
        """Whether no allowed set is heavier."""
        return self.factor == 1.0

    @property
    def upper_bound(self) -> float:
        """A weight that no allowed set exceeds."""
        return self.weight / self.factor if self.bound is None else self.bound

    def or_heavier(self, other: MaxWeight) -> MaxWeight:
        """Return the heavier of two sets, with the lower of their bounds: both hold.

        >>> MaxWeight(np.array([0]), 3.0, bound=8.0).or_heavier(MaxWeight(np.array([1]), 4.0, bound=10.0))
        MaxWeight(support=array([1]), weight=4.0, factor=0.5, bound=8.0)
        """
        heavier = max(self, other, key=lambda found: found.weight)
        bound = max(heavier.weight, min(self.upper_bound, other.upper_bound))
        factor = heavier.weight / bound if bound > 0 else 1.0
        return MaxWeight(heavier.support, heavier.weight, factor, bound)


class IndependenceSystem(ABC):
    """A family of allowed sets that holds ∅ and every subset of each of its sets.

    >>> from swapwise import Partition
    >>> constraint = Partition(["a", "a", "b"], 1)
    >>> isinstance(constraint, IndependenceSystem)
    True
    >>> constraint.is_independent([0, 2]), constraint.is_independent([0, 1])
    (True, False)
    """

    n: int
    #: The p of "p-matroid intersection" or "p-exchange system"; a matroid has p = 1. None for a family that
    #: is not known to be either: then no theorem holds.
    p: int | None = None
    #: What the elements are called, if the constraint was given with their names.
    names: list[str] | None = None
    _forced: IndexArray = np.empty(0, dtype=np.intp)

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{type(self).__name__}(n={self.n})"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What proofs under this constraint take on trust, a sentence each; nothing for built-in families.

        >>> from swapwise import OracleMatroid, Uniform
        >>> Uniform(40, 2).assumptions
        ()
        >>> def few(support):
        ...     return len(support) <= 2
        >>> OracleMatroid(12, few).assumptions
        ()
        >>> OracleMatroid(40, few).assumptions
        ('that OracleMatroid(n=40, few) is a matroid: ... exchanges were verified, not all',)
        """
        of_parts = [sentence for part in self._parts for sentence in part.assumptions]
        own = [] if self._axioms is None else [self._axioms.assumption, *_claims(self)]
        return tuple(dict.fromkeys(sentence for sentence in [*of_parts, *own] if sentence))

    @property
    def _parts(self) -> tuple[IndependenceSystem, ...]:
        """The constraints that this one is made of, if it is."""
        return ()

    @cached_property
    def _axioms(self) -> Axioms | None:
        """What was verified of a class that is not one of the library's own, when it is first asked for."""
        return None if is_own(type(self)) else Axioms(self, exchange=self.p == 1)

    def verify(self) -> None:
        """Verify that a class of the user's is what it says, as far as that is cheap, or show why it is not.

        All sets of at most 12 elements, else random ones. Searches and proofs do it before they begin, once.

        >>> from swapwise import Partition
        >>> Partition(["a", "a", "b"], 1).verify()  # a family of the library's own: nothing to do
        """
        for part in self._parts:
            part.verify()
        if self._axioms is not None and self.p == 1 and not self._axioms.exchange:
            self._axioms = Axioms(self, exchange=True)  # p was set, to say that this is a matroid

    @property
    def forced(self) -> IndexArray:
        """The elements that every answer is to hold (see ``Matroid.contract``)."""
        return self._forced

    def aligned_to(self, names: Iterable[str]) -> Self:
        """Return the same constraint on elements in the order of ``names``, such as the columns of a frame.

        A constraint that knows no names only has to have as many elements.

        >>> from swapwise import Partition
        >>> one_each = Partition({"height": "size", "width": "size", "age": "time"}, 1)
        >>> one_each.aligned_to(["age", "width", "height"]).is_independent([1, 2])
        False
        >>> one_each.aligned_to(["age", "width", "depth"])
        Traceback (most recent call last):
        ...
        ValueError: the constraint names 'height', which the data do not have
        """
        wanted = list(names)
        if self.names is None:
            if len(wanted) != self.n:
                raise ValueError(
                    f"the constraint has n = {self.n} elements, but the data have {len(wanted)} names"
                )
            return self
        if self.names == wanted:
            return self
        return self._reordered(places_of(wanted, self.names, "the constraint"))

    def _reordered(self, order: IndexArray) -> Self:
        """Return the same constraint with element ``order[i]`` in place i."""
        raise ValueError(
            f"{self!r} cannot be put into the order of the data: reorder the columns to be as the constraint "
            "names them"
        )

    @abstractmethod
    def _is_independent(self, support: IndexArray) -> bool:
        """Tell whether a sorted integer array is an allowed set."""

    def is_independent(self, support: Iterable[int]) -> bool:
        """Tell whether ``support`` is an allowed set."""
        return bool(self._is_independent(as_elements(support, self.n, "the set")))

    @abstractmethod
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveBatch]:
        """Yield the moves from an allowed set that exchange up to ``q`` elements, in batches.

        ``candidates`` are the elements that may be added, in rising order; None means all.
        """

    @abstractmethod
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> MoveList:
        """Return, for all that can be added, the move whose drop has the least total cost.

        ``cost`` has length n and is not negative. Ties go to the smallest index.
        """

    def cheapest_in_batches(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield the moves of :meth:`cheapest_drops` in batches, where they are too many to list at once."""
        yield self.cheapest_drops(support, cost, q)

    def exchange_size(self, q: int = 1) -> int:
        """Return t: how many elements a move adds and drops in all, at the most."""
        return self.n if self.p is None else self.p * q + 1

    def best_exchange(
        self,
        support: IndexArray,
        gain: FloatArray,
        cost: FloatArray,
        q: int = 1,
        clock: Clock | None = None,
    ) -> MoveList:
        """Return the one move with the largest sum of gains added less costs dropped, if there is any.

        ``gain`` and ``cost`` have length n and are not negative. Here by enumeration; the list has the
        width of :meth:`moves`, and no row if no move is feasible. Ties go to the first move. When the clock
        runs out before all moves are seen, it raises :class:`OutOfTime`.
        """
        best, chosen = -np.inf, None
        clock = clock or Clock()
        for batch in self.moves(support, q):
            clock.check()
            listed = batch.to_list()
            scores = listed.sums(listed.added, gain) - listed.sums(listed.dropped, cost)
            index, score = listed.best(scores)
            if chosen is None or score > best:
                best, chosen = score, listed.take(slice(index, index + 1) if index >= 0 else slice(0))
        assert chosen is not None
        return chosen

    def random_set(self, support: IndexArray, rng: np.random.Generator) -> IndexArray:
        """Return a random maximal set that holds ``support``: elements in random order, each if it fits."""
        return self.extend(support, rng.permutation(self.n))

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which elements can be added to an allowed set with nothing dropped."""
        addable = np.zeros(self.n, dtype=bool)
        for element in np.setdiff1d(np.arange(self.n), support):
            addable[element] = self._is_independent(np.sort(np.append(support, element)))
        return addable

    def max_weight(self, weights: ArrayLike, time_limit: float | None = None) -> MaxWeight:
        """Return an allowed set of largest (or nearly largest) total weight.

        ``time_limit`` is in seconds. Where it is too short for the heaviest set, the best one so far is
        returned; ``exact`` is then False, ``upper_bound`` is what was proven by then, and ``factor`` the
        share of the largest weight that the set has for certain.

        >>> from swapwise import SetPacking
        >>> SetPacking([{1, 2}, {2, 3}, {3, 4}]).max_weight([2.0, 3.0, 2.0], time_limit=10.0)
        MaxWeight(support=array([0, 2]), weight=4.0, factor=1.0, bound=4.0)
        """
        limit = as_time_limit(time_limit)
        return self._max_weight_within(as_vector(weights, self.n, "weights"), Clock(limit))

    def _max_weight_within(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Answer :meth:`max_weight` in the time that is left; here it takes none worth speaking of."""
        return self._max_weight(weights)

    @abstractmethod
    def _max_weight(self, weights: FloatArray) -> MaxWeight:
        """Answer :meth:`max_weight` for a checked weight vector."""

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add to an allowed set each element of ``order`` in turn that keeps it allowed.

        ``order`` names an element at most once.
        """
        chosen = np.asarray(support, dtype=np.intp)
        for element in order:
            if element not in chosen:
                larger = np.sort(np.append(chosen, element))
                if self._is_independent(larger):
                    chosen = larger
        return chosen

    def nested_limits(self) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray] | None:
        """Return limits on nested sets that say the same, for kernels, or None if there are none that do.

        See :class:`Laminar` for the four arrays. Elements that are forced in need not be told of: they count
        towards the limits, and are never dropped.
        """
        return None

    def loops(self) -> IndexArray:
        """Return the elements that are in no allowed set."""
        return np.flatnonzero(~self.addable(np.empty(0, dtype=np.intp)))

    def max_size(self) -> int:
        """Return a bound on the size of allowed sets; for a matroid it is the rank."""
        return self.n

    def count_bound(self, maximal: bool = True) -> int:
        """Return a bound on the number of maximal allowed sets, or of all allowed sets."""
        forced = len(self.forced)
        candidates, size = self.n - len(self.loops()) - forced, self.max_size() - forced
        if not maximal:
            return sum(comb(candidates, k) for k in range(size + 1))
        return comb(candidates, min(size, (candidates + 1) // 2))


# What proofs ask of a constraint, and theorems, which need a p: where a class of the user's answers itself,
# it is taken at its word.
ASKED_BY_THEOREMS = ("moves", "cheapest_drops", "best_exchange", "exchange_size")
ASKED_BY_PROOFS = (
    "_max_weight",
    "max_weight",
    "max_size",
    "extend",
    "addable",
    "loops",
    "_exchanges",
    "rank",
)


def is_own(kind: type) -> bool:
    """Return whether a class is one of this library's, which are tested against their definitions.

    >>> from swapwise import Uniform
    >>> is_own(Uniform), is_own(type("Mine", (Uniform,), {"__module__": "mine"}))
    (True, False)
    """
    return kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _claims(system: IndependenceSystem) -> list[str]:
    """Return what a class of the user's says of itself and nothing verifies."""
    strange = [kind for kind in type(system).__mro__ if not is_own(kind)]
    asked = ASKED_BY_PROOFS if system.p is None else (*ASKED_BY_PROOFS, *ASKED_BY_THEOREMS)
    written = [name for name in asked if any(name in vars(kind) for kind in strange)]
    claims = [f"that {name} of {system!r} is right" for name in written]
    if system.p is not None and system.p > 1:
        claims.append(
            f"that {system!r} is an intersection of matroids or an exchange system with p = {system.p}"
        )
    return claims


def as_order(order: Iterable[int]) -> IndexArray:
    """Return elements in their order as an array."""
    return order.astype(np.intp, copy=False) if isinstance(order, np.ndarray) else np.fromiter(order, np.intp)


def places_of(wanted: list[str], names: list[str], holder: str) -> IndexArray:
    """Return where each wanted name stands among ``names``; both must hold the same, each name once.

    ``holder`` is what gave the names, for the message.
    """
    if unknown := sorted(set(names) - set(wanted)):
        raise ValueError(f"{holder} names {_listed(unknown)}, which the data do not have")
    if unnamed := sorted(set(wanted) - set(names)):
        raise ValueError(f"the data have {_listed(unnamed)}, which {holder} does not name")
    if len(wanted) != len(names):
        repeated = next(name for name in wanted if wanted.count(name) > 1)
        raise ValueError(
            f"names must differ to be matched with {holder}, but the data have {repeated!r} twice"
        )
    place = {name: position for position, name in enumerate(names)}
    return np.array([place[name] for name in wanted], dtype=np.intp)


def in_one_order(systems: tuple[System, ...]) -> tuple[tuple[System, ...], list[str] | None]:
    """Return the systems with their elements in the order of the first that names them, and those names.

    Systems without names are left as they are.
    """
    names = next((system.names for system in systems if system.names is not None), None)
    if names is None:
        return systems, None
    for number, system in enumerate(systems):
        if strange := sorted(set(names) ^ set(system.names or names)):
            raise ValueError(
                f"all matroids must name the same elements, but number {number} and those before differ in "
                f"{_listed(strange)}"
            )
    return tuple(system.aligned_to(names) for system in systems), names


def _listed(names: list[str], most: int = 3) -> str:
    """Return the first few names and how many more there are."""
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
