"""The contract of constraints: which sets are independent, and which moves lead from one to another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import (
    BoolArray,
    FloatArray,
    IndexArray,
    as_count,
    as_elements,
    as_time_limit,
    as_vector,
)
from swapwise.clock import Clock
from swapwise.constraints.axioms import assumptions_of, grown, note_extended, note_swaps
from swapwise.constraints.kinds import Inequalities, LaminarTree, MixedLimits
from swapwise.moves import MoveBatch, MoveList, SwapGrid, padded
from swapwise.numerics import SUM

if TYPE_CHECKING:
    from swapwise.constraints.algorithms.integer_program import IntegerProgram

# Proofs need max-weight sets again and again, and branch themselves: the bound of the linear program will do.
NODES_FOR_A_BOUND = 0

System = TypeVar("System", bound="Constraint")


class GroupLimits(NamedTuple):
    """Groups with a limited number of places, as plain arrays for kernels."""

    groups: IndexArray  #: the groups of each element, one per column, padded with -1
    capacity: IndexArray  #: of each group, how many of its elements may be chosen


class Prices(NamedTuple):
    """Prices of places in groups, which prove that no set S weighs more than ``base + Σ_S reduced``."""

    groups: FloatArray  #: the price of a place in each group, or of each inequality; not negative
    base: float  #: the total price of all places, and the weight of elements that are held
    reduced: FloatArray  #: the weight of each element less the prices of the places that it takes


@dataclass(frozen=True, eq=False)
class MaxWeight:
    """An independent set of large weight, and how large the weight of any other can be.

    ``weight`` is at least ``factor`` times the largest weight of any independent set; a factor of 1
    means that the set is a max-weight one. ``bound`` is an upper bound that was proven on the way, if any.
    ``prices`` prove that or one nearly as good, where groups have a limited number of places.

    See Also
    --------
    swapwise.Constraint.max_weight : what returns it.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> found = Uniform(3, 2).max_weight([1.0, -1.0, 5.0])
    >>> found.support, found.weight, found.exact
    (array([0, 2]), 6.0, True)
    """

    support: IndexArray
    weight: float
    factor: float = 1.0
    bound: float | None = None
    prices: Prices | None = field(default=None, repr=False)

    @classmethod
    def below(cls, bound: float, support: IndexArray, weights: FloatArray) -> MaxWeight:
        """Return a set with a bound on the weight of all sets, such as a search that ran out of time has.

        >>> MaxWeight.below(8.0, np.array([1]), np.array([3.0, 4.0, 1.0]))
        MaxWeight(support=array([1]), weight=4.0, factor=0.5, bound=8.0)
        """
        weight = float(weights[support].sum())
        if weight >= bound:
            return cls(support, weight, bound=weight)
        return cls(support, weight, max(0.0, weight / bound) if bound > 0 else 0.0, bound)

    @property
    def exact(self) -> bool:
        """Whether no independent set is heavier."""
        return self.factor == 1.0

    @property
    def upper_bound(self) -> float:
        """A weight that no independent set exceeds."""
        return self.weight / self.factor if self.bound is None else self.bound


class Queries:
    """The methods of a constraint for users: they check arguments and read answers off :class:`Constraint`.

    A family never overrides these.
    """

    #: What the elements are called, if the constraint was given with their names.
    names: list[str] | None = None

    @property
    def assumptions(self: Any) -> tuple[str, ...]:
        """The unverified assumptions of proofs, a sentence each; built-in families have none.

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
        return assumptions_of(self)

    def aligned_to(self: Any, names: Iterable[str]) -> Constraint:
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
        return self.induced(places_of(wanted, self.names, "the constraint"))

    def is_independent(self: Any, support: Iterable[int]) -> bool:
        """Return whether ``support`` is an independent set."""
        return bool(self._is_independent(as_elements(support, self.n, "the set")))

    def max_weight(self: Any, weights: ArrayLike, time_limit: float | None = None) -> MaxWeight:
        """Return an independent set of largest (or nearly largest) total weight.

        ``time_limit`` is in seconds. Where it is too short for a max-weight set, the best one so far is
        returned; ``exact`` is then False, ``upper_bound`` is what was proven by then, and ``factor`` the
        share of the largest weight that the set is proven to have. Elements of negative weight are chosen
        where others need them, or a lower limit does.

        >>> from swapwise import SetPacking
        >>> SetPacking([{1, 2}, {2, 3}, {3, 4}]).max_weight([2.0, 3.0, 2.0], time_limit=10.0)
        MaxWeight(support=array([0, 2]), weight=4.0, factor=1.0, bound=4.0)
        """
        clock, given = Clock(as_time_limit(time_limit)), as_vector(weights, self.n, "weights")
        if (given < 0).any():
            return self._max_weight_of_any_sign(given, clock)
        found = self._max_weight(given, clock)
        if not found.exact or self.is_complete(found.support):
            return found
        # What a lower limit needs beside the elements of positive weight weighs nothing.
        return replace(found, support=self.completed(found.support, given))

    def loops(self: Any) -> IndexArray:
        """Return the elements that are in no independent set."""
        joinable = self.joinable(self.forced)
        joinable[self.forced] = True
        return np.flatnonzero(~joinable)


class Constraint(Queries, ABC):
    """A family of independent sets, the sets that may be chosen, as searches and proofs use it.

    It holds ∅, and every other set of it has an element without which it is still in the family, so that each
    can be built one element at a time. Most families hold all subsets of their sets: these are an
    :class:`IndependenceSystem`.

    A new family has to write ``_is_independent``, and to set ``n``. Everything else has a default that is
    right in every family, if slow; override it where it pays.

    See Also
    --------
    IndependenceSystem : every subset of an independent set is independent.
    Matroid : all maximal ones have the same size.

    Examples
    --------
    >>> from swapwise import Partition
    >>> constraint = Partition(["a", "a", "b"], 1)
    >>> isinstance(constraint, Constraint)
    True
    >>> constraint.is_independent([0, 2]), constraint.is_independent([0, 1])
    (True, False)
    """

    n: int
    #: The p of "p-matroid intersection" or "p-exchange system"; a matroid has p = 1. None for a family that
    #: is not known to be either: then no theorem holds.
    p: int | None = None
    #: The elements that every answer is to hold (see :meth:`contract`): an independent set.
    forced: IndexArray = np.empty(0, dtype=np.intp)
    #: Whether every subset of an independent set is independent
    hereditary: bool = False
    #: How many units a move drops at most, or as many as it adds elements (see ``LargerMoves``)
    most_units: int = 2

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n})"

    def induced(self, elements: IndexArray) -> Constraint:
        """Return the constraint on some of its elements, which get new numbers: their places in ``elements``.

        A set is independent if the corresponding original elements are. ``elements`` may come in any order,
        each once: all of them, in another order, make the same constraint on a reordered ground set. Names
        and forced elements follow; it is an error to leave a forced element out.

        >>> from swapwise import SetPacking
        >>> crews = SetPacking([{"ann", "bob"}, {"bob", "eve"}, {"eve"}])
        >>> crews.induced(np.array([2, 1])).is_independent([0, 1])
        False
        """
        from swapwise.constraints.induced import wrapped

        return wrapped(self, elements)

    @abstractmethod
    def _is_independent(self, support: IndexArray) -> bool:
        """Return whether a sorted integer array is an independent set."""

    # -- moves --------------------------------------------------------------------------------------

    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveBatch]:
        """Yield the moves from an independent set that exchange up to ``q`` elements, in batches.

        Moves that add the same follow each other. ``candidates`` are the elements that may be added, in
        rising order; None means all. Here they are the paper's for a p-exchange system if there is a p (see
        :class:`~swapwise.constraints.reachable.Reachable`); otherwise all additions and one-for-one swaps,
        and then those of :class:`~swapwise.constraints.larger_moves.LargerMoves`.
        """
        from swapwise.constraints.larger_moves import LargerMoves
        from swapwise.constraints.reachable import Reachable

        if self.p is None or self.p == 1:
            require_single_elements(q, self)
        if self.p is not None:
            yield from Reachable(self, support, q, candidates).batches()
            return
        feasible = self._swap_mask(support)
        feasible[support] = False
        if candidates is not None:
            feasible[np.setdiff1d(np.arange(self.n), candidates)] = False
        yield SwapGrid(support, feasible)
        yield LargerMoves(self, support, candidates)

    def _swap_mask(self, support: IndexArray) -> BoolArray:
        """Return the (n, k + 1) mask of :class:`SwapGrid`; rows in the support do not matter.

        Entry (j, i) is whether the set with j for its i-th element is independent, and the last column
        whether it is with j added. Forced elements are never dropped.
        """
        feasible = np.zeros((self.n, len(support) + 1), dtype=bool)
        droppable = ~self._are_forced(support)
        for element in np.setdiff1d(np.arange(self.n), support):
            larger = np.sort(np.append(support, element))
            if self._is_independent(larger):
                feasible[element, -1] = True
                if self.hereditary:
                    feasible[element, :-1] = droppable
                    continue
            for column in np.flatnonzero(droppable):
                feasible[element, column] = self._is_independent(larger[larger != support[column]])
        note_swaps(self, support, feasible)
        return feasible

    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        """Return which moves lead from an independent set to another."""
        return np.array([self._is_independent(move.result(support)) for move in moves.moves()], dtype=bool)

    def _excludes(self, elements: IndexArray, others: IndexArray) -> BoolArray:
        """Return which of some elements (rows) are in no independent set with which of others (columns)."""
        pairs = np.column_stack([np.repeat(elements, len(others)), np.tile(others, len(elements))])
        if not self.hereditary or not len(pairs):
            return np.zeros((len(elements), len(others)), dtype=bool)
        moves = MoveList(np.sort(pairs, axis=1), np.empty((len(pairs), 0), dtype=np.intp))
        return ~self._feasible(self.forced, moves).reshape(len(elements), len(others))

    def _substitutes(self, support: IndexArray) -> dict[int, IndexArray]:
        """Return what may replace chosen elements that others need, for those that can be replaced."""
        return {}

    def _units(self, support: IndexArray) -> list[IndexArray]:
        """Return sets of several chosen elements that moves drop together, beside single elements.

        By default these are the elements that others need, each with all elements that depend on it.
        """
        if self.hereditary:
            return []
        needed = np.setdiff1d(support, np.append(self.forced, self.droppable(support)))
        units = (support[~np.isin(support, self.without(support, element))] for element in needed[:, None])
        return [unit for unit in units if not self._are_forced(unit).any()]

    def _bundles(self, support: IndexArray, elements: IndexArray) -> IndexArray:
        """Return what moves add: each element with its missing predecessors, padded with -1.

        There is a row for each way to supply all that the element needs.
        """
        if self.hereditary:
            return elements[:, None]
        ways = [np.append(way, e) for e in elements.tolist() for way in self._lacking(support, e)]
        return padded(ways)

    def _lacking(self, support: IndexArray, element: int) -> list[IndexArray]:
        """Return the missing predecessors of an element: one array per way to supply all that it needs."""
        return [np.empty(0, dtype=np.intp)]

    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        """Yield, for all that can be added, the move whose drop has the least total cost, in batches.

        ``cost`` has length n and is not negative. Ties go to the smallest index. There is at least one
        batch, if an empty one.
        """
        if self.p is not None:
            yield from (batch.cheapest(cost) for batch in self.moves(support, q))
            return
        batches = list(self.moves(support, q))
        whole = batches[0] if len(batches) == 1 else MoveList.joined(batch.to_list() for batch in batches)
        yield whole.cheapest(cost)

    def exchange_size(self, q: int = 1) -> int:
        """Return t: how many elements a move adds and drops in all, at most."""
        return self.n if self.p is None else self.p * q + 1

    def best_exchange(
        self, support: IndexArray, gain: FloatArray, cost: FloatArray, q: int = 1, clock: Clock | None = None
    ) -> MoveList:
        """Return the one move with the largest sum of gains added less costs dropped, if there is any.

        ``gain`` and ``cost`` have length n and are not negative. The list has the width of :meth:`moves`, and
        no row if no move is feasible. Ties go to the first move. When the clock runs out before all moves are
        seen, it raises :class:`OutOfTime`.
        """
        clock = clock or Clock()
        best, chosen = -np.inf, None
        for moves in self.cheapest_drops(support, cost, q):
            clock.check()
            index, score = moves.best(moves.sums(moves.added, gain) - moves.sums(moves.dropped, cost))
            if chosen is None or score > best:
                best, chosen = score, moves.take(slice(index, index + 1) if index >= 0 else slice(0))
        assert chosen is not None
        return chosen

    # -- sets ---------------------------------------------------------------------------------------

    def random_set(self, support: IndexArray, rng: np.random.Generator) -> IndexArray:
        """Return a random maximal set that holds ``support``: elements in random order, each if it fits."""
        return self.extend(support, rng.permutation(self.n))

    def addable(self, support: IndexArray) -> BoolArray:
        """Return which elements can be added to an independent set with nothing dropped."""
        addable = np.zeros(self.n, dtype=bool)
        for element in np.setdiff1d(np.arange(self.n), support):
            addable[element] = self._is_independent(np.sort(np.append(support, element)))
        return addable

    def joinable(self, held: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        """Return which others may be in an independent set with all of ``held``, and with none ``outside``.

        Proofs leave out all others: where the answer is not known, it is yes.
        """
        if self.hereditary:
            return self.addable(held)
        joinable = np.ones(self.n, dtype=bool) if outside is None else ~outside
        joinable[held] = False
        return joinable

    def without(self, support: IndexArray, dropped: IndexArray) -> IndexArray:
        """Return the rest of an independent set once some elements, and all that depend on them, are dropped.

        >>> from swapwise import Uniform
        >>> Uniform(5, 3).without(np.array([0, 2, 3]), np.array([2]))
        array([0, 3])
        """
        is_kept = np.ones(self.n, dtype=bool)
        is_kept[dropped] = False
        kept = support[is_kept[support]]
        return kept if self.hereditary else self.extend(np.empty(0, dtype=np.intp), kept)

    def droppable(self, support: IndexArray) -> IndexArray:
        """Return the elements of an independent set that can be dropped alone; none is forced in."""
        free = support[~self._are_forced(support)]
        if self.hereditary:
            return free
        left = [len(self.without(support, element)) for element in free[:, None]]
        return free[np.array(left, dtype=np.intp) == len(support) - 1]

    def companions(self, elements: IndexArray) -> IndexArray:
        """Return the closure of some elements: with all that they may need, sorted."""
        return np.unique(elements)

    def required(self, elements: IndexArray) -> IndexArray:
        """Return some elements and those that every independent set with them has, as far as is known."""
        return np.unique(elements)

    # -- weights ------------------------------------------------------------------------------------

    @property
    def shares(self) -> FloatArray | None:
        """What each element takes of a budget, of several that of which it takes most; None without any."""
        return None

    def inequalities(self) -> Inequalities | None:
        """Return equivalent linear inequalities, for linear and integer programs, or None."""
        return None

    @cached_property
    def _program(self) -> IntegerProgram | None:
        from swapwise.constraints.algorithms.integer_program import IntegerProgram

        rows = self.inequalities()
        return None if rows is None else IntegerProgram(self, rows)

    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Answer :meth:`max_weight` for a checked weight vector, in the time that is left.

        Elements of negative weight are never chosen. By default an integer program finds the set, if the
        family has inequalities; else the greedy algorithm, :func:`greedy_weight`.
        """
        found = self._by_program(weights, clock)
        return greedy_weight(self, weights) if found is None else found

    def _by_program(
        self, weights: FloatArray, clock: Clock, *, with_negative: bool = False
    ) -> MaxWeight | None:
        """Return a max-weight set by the integer program, without forced elements of negative weight."""
        if self._program is None:
            return None
        free, idle = weights.copy(), self.forced[weights[self.forced] < 0]
        free[idle] = 0.0
        found = self._program.heaviest(self.forced, free, clock, with_negative=with_negative)
        return replace(found, support=np.setdiff1d(found.support, idle))

    def _max_weight_of_any_sign(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Answer :meth:`max_weight` with negative weights: a set may need such elements for others.

        :meth:`_max_weight` never chooses them.
        """
        positive, costs = np.maximum(weights, 0.0), weights < 0
        needs_none = self.hereditary and self.is_complete(self.forced)
        by_program = None if needs_none else self._by_program(weights, clock, with_negative=True)
        if by_program is not None and by_program.upper_bound > -np.inf:
            return by_program
        found = self._max_weight(positive, clock)
        if self.hereditary:  # nothing is needed, or some lower limit cannot be met
            return replace(found, support=found.support[~costs[found.support]])
        greedy = self.extend(np.empty(0, dtype=np.intp), heaviest_first(weights))
        return MaxWeight.below(found.upper_bound, greedy, weights)

    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Return a set of large weight among those that hold all of ``held``, a part of an independent set.

        ``held`` includes the forced elements. Elements of negative weight are never chosen; none of ``held``
        has one. Out of time, the bound is valid, but larger than need be. If there is no set at all, the
        bound may be minus infinity.
        """
        if self._program is not None:
            return self._program.heaviest(held, weights, clock, NODES_FOR_A_BOUND)
        if not len(held):
            return self._max_weight(weights, clock)
        # With weights this large, every set of largest weight holds all of them.
        wanted, heavy = weights.copy(), 2.0 * float(weights.sum(where=weights > 0)) or 1.0
        wanted[held] = heavy
        answer = self._max_weight(wanted, clock)
        if answer.exact and np.isin(held, answer.support).all():
            weight = float(weights[answer.support].sum())
            beyond = max(0.0, answer.upper_bound - float(wanted[answer.support].sum()))
            return MaxWeight(answer.support, weight, bound=weight + beyond + SUM * heavy * len(held))
        wanted[held] = 0.0
        rest = self._max_weight(wanted, clock).upper_bound
        greedy = self.extend(held, heaviest_first(wanted))
        return MaxWeight.below(float(weights[held].sum()) + rest, greedy, weights)

    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds on the weight of the sets with each element, and of the sets without it.

        ``answer`` is that of :meth:`_max_weight_holding`, for the same sets. Bounds are right up to rounding.
        For an element of negative weight, or without one that is held, there is no set, and any number will
        do. By default the bounds follow from prices; without prices, all are the bound on all sets.
        """
        bound = np.full(self.n, answer.upper_bound)
        if answer.prices is None:
            return bound, bound.copy()
        allowed, reduced = weights >= 0, answer.prices.reduced
        by_prices = answer.prices.base + float(reduced.sum(where=allowed & (reduced > 0)))
        return by_prices + np.minimum(reduced, 0.0), by_prices - np.maximum(reduced, 0.0)

    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        """Add to an independent set each element of ``order`` in turn that keeps it independent.

        ``order`` names an element at most once. Where an element needs others, these come with it if they are
        in ``order`` as well, and first of all what ``support`` itself lacks.
        """
        rest = as_order(order)
        if not self.hereditary:
            return _extended_with_companions(self, np.asarray(support, dtype=np.intp), rest)
        in_turn = grown(lambda some: self._is_independent(np.sort(np.array(some))), support, rest)
        extended = np.sort(np.array(in_turn, dtype=np.intp))
        note_extended(self, support, rest, extended)
        return extended

    def _is_answer(self, support: IndexArray) -> bool:
        """Return whether a sorted integer array is an independent set that meets all lower limits.

        A set that misses one is accepted where it can always be completed, as under a matroid.
        """
        return self._is_independent(support) and self.is_complete(support)

    def _keeps_limits(self, support: IndexArray) -> BoolArray:
        """Return which swaps keep all lower limits that a set meets, like ``_swap_mask``."""
        return np.ones((self.n, len(support) + 1), dtype=bool)

    def is_complete(self, support: IndexArray) -> bool:
        """Return whether an independent set meets all lower limits, if there are any; answers must.

        >>> from swapwise import Uniform
        >>> Uniform(4, 3, at_least=2).is_complete(np.array([1]))
        False
        """
        return not self.shortfall(support)

    def shortfall(self, support: IndexArray) -> str:
        """Return which lower limit an independent set misses, in words; '' if it meets all.

        >>> from swapwise import Partition
        >>> Partition(["roof", "roof", "cellar"], 2, at_least={"roof": 2}).shortfall(np.array([0]))
        "1 of 'roof', of which at least 2 must be chosen"
        """
        return ""

    def completed(self, support: IndexArray, weights: FloatArray) -> IndexArray:
        """Return an independent set with as few more elements as meet all lower limits.

        Among these, heavy ones are preferred, and then the first; weights may be negative. Where no superset
        meets the limits, the set has what there is.

        >>> from swapwise import Partition
        >>> sites = Partition(["roof", "roof", "cellar"], 2, at_least={"roof": 1})
        >>> sites.completed(np.array([2]), np.array([1.0, 4.0, 9.0]))
        array([1, 2])
        """
        return support

    def laminar_tree(self) -> LaminarTree | None:
        """Return equivalent limits on nested sets, for kernels, or None if there are none.

        Forced elements are not marked: they count towards the limits, and are never dropped.
        """
        return None

    def group_limits(self) -> GroupLimits | None:
        """Return equivalent limits on groups, for kernels, or None if there are none.

        Moves that exchange one element are then to add one and drop a member of each of its full groups.
        Forced elements are in no group, and take up no place.
        """
        return None

    def mixed_limits(self) -> MixedLimits | None:
        """Return equivalent limits on groups, labels and costs, for kernels, or None if there are none.

        Every set that they are applied to holds the forced elements.
        """
        return None

    def max_size(self) -> int:
        """Return a bound on the size of independent sets; for a matroid it is the rank.

        In a system with a p, no set is larger than p times any maximal one.
        """
        if self.p is None:
            return self.n
        return min(self.n, self.p * len(self.extend(np.empty(0, dtype=np.intp), np.arange(self.n))))

    # -- other constraints --------------------------------------------------------------------------

    def truncate(self, size: int) -> Constraint:
        """Return the constraint that allows the independent sets with at most ``size`` elements.

        Elements that are forced in count.

        >>> from swapwise import BMatching
        >>> BMatching([("a", "b"), ("c", "d")], 1).truncate(1).is_independent([0, 1])
        False
        """
        from swapwise.constraints.intersection import Intersection
        from swapwise.constraints.uniform import Uniform

        return Intersection(self, Uniform(self.n, as_count(size, "size")))

    def restrict(self, elements: Iterable[int]) -> Constraint:
        """Return the constraint under which only ``elements`` can be chosen: all others are forced out.

        Elements keep their numbers; those forced out become loops.

        >>> from swapwise import Knapsack
        >>> Knapsack([3.0, 2.0, 1.0], 4.0).restrict([0, 2]).loops()
        array([1])
        """
        from swapwise.constraints.intersection import Intersection
        from swapwise.constraints.uniform import Uniform

        return Intersection(self, Uniform(self.n, self.n).restrict(elements))

    def contract(self, elements: Iterable[int]) -> Constraint:
        """Return the constraint under which ``elements`` are forced in: S is independent if S ∪ elements is.

        Elements keep their numbers. Those forced in, and the elements that they require, are part of every
        answer, count towards all limits and are never dropped.

        >>> from swapwise import Knapsack, Linear, maximize
        >>> affordable = Knapsack([3.0, 2.0, 1.0], 4.0)
        >>> maximize(Linear([1.0, 2.0, 3.0]), affordable.contract([0])).support
        array([0, 2])
        """
        wanted = as_elements(elements, self.n, "the elements to force in")
        forced = self.required(np.union1d(self.forced, wanted))
        require_together(self, forced)
        return self._forcing(forced)

    def _forcing(self, forced: IndexArray) -> Self:
        """Return a copy with other forced elements, which are independent."""
        other = copy(self)
        other.__dict__.pop("_program", None)
        other.forced = forced
        return other

    def _are_forced(self, elements: IndexArray) -> BoolArray:
        # Called often, and mostly there are none.
        return np.isin(elements, self.forced) if len(self.forced) else np.zeros(len(elements), dtype=bool)

    def _with_forced(self, support: IndexArray) -> IndexArray:
        return np.union1d(support, self.forced) if len(self.forced) else support


class IndependenceSystem(Constraint):
    """A family of independent sets that holds ∅ and every subset of each of its sets.

    A subclass sets ``n``, the size of the ground set, and defines ``_is_independent``, which gets a sorted
    array of elements. If the family is a p-exchange system, it can set ``p``: moves are then the paper's, and
    its theorems hold.

    Attributes
    ----------
    p : int or None
        The p of a p-exchange system (:func:`smallest_p`), 1 for a matroid; None, as it is by default, if
        it is unknown. Up to 12 elements it is verified; beyond that, ``assumptions`` name it.

    See Also
    --------
    Constraint : the family above.
    Matroid : all maximal subsets of a set have the same size.
    OracleSystem : from a callable.

    Examples
    --------
    Nights of which no two follow each other, a 2-exchange system:

    >>> from swapwise import Linear, maximize
    >>> class Apart(IndependenceSystem):
    ...     p = 2
    ...     def __init__(self, n):
    ...         self.n = n
    ...     def _is_independent(self, support):
    ...         return bool((np.diff(support) > 1).all())
    >>> found = maximize(Linear([3.0, 4.0, 3.0, 3.0, 4.0, 3.0]), Apart(6), "oblivious", q=2)
    >>> found.support, round(found.guarantee.by_theorem.ratio, 4)
    (array([0, 2, 4]), 0.6667)
    """

    hereditary = True


def require_together(constraint: Constraint, forced: IndexArray) -> None:
    for element in forced:
        if not constraint.joinable(np.empty(0, dtype=np.intp))[element]:
            raise ValueError(f"element {element} is a loop: it can never be chosen")
    if not constraint._is_independent(forced):
        raise ValueError(
            f"the elements to force in must be allowed together, got {forced.tolist()}, which are not"
        )


def require_single_elements(q: int, constraint: Constraint) -> None:
    if q != 1:
        raise ValueError(
            f"{type(constraint).__name__} is searched by adding one element at a time, q = 1; got q = {q}"
        )


def _extended_with_companions(constraint: Constraint, support: IndexArray, order: IndexArray) -> IndexArray:
    """Add elements in turn, each with its missing predecessors, for as long as any fits."""
    allowed = np.zeros(constraint.n, dtype=bool)
    allowed[order] = allowed[support] = True
    chosen, waiting = support, order.tolist()
    for element in support.tolist():
        ways = constraint._lacking(chosen, element)
        chosen = np.union1d(chosen, next((way for way in ways if allowed[way].all()), ways[0][:0]))
    while waiting:
        later, before = [], len(chosen)
        for element in waiting:
            bundles = (np.append(lacking, element) for lacking in constraint._lacking(chosen, element))
            larger = (np.union1d(chosen, bundle) for bundle in bundles if allowed[bundle].all())
            found = next((some for some in larger if constraint._is_independent(some)), None)
            if found is None:
                later.append(element)
            else:
                chosen = found
        waiting = later if len(chosen) > before else []
    return chosen


def heaviest_first(weights: FloatArray) -> IndexArray:
    """Return the elements of positive weight, the heaviest first; among equal ones the first."""
    return np.argsort(-weights, kind="stable")[: np.count_nonzero(weights > 0)]


def greedy_weight(constraint: Constraint, weights: FloatArray) -> MaxWeight:
    """Return the set that takes the largest weights first; elements without positive weight are left out.

    It has at least 1/p of the largest weight in intersections of p matroids and in p-exchange systems
    (Jenkyns 1976), so that it is a max-weight set under a matroid. Without a p, the bound is the total of the
    ``max_size()`` largest weights.
    """
    largest_first = heaviest_first(weights)
    support = constraint.extend(np.empty(0, dtype=np.intp), largest_first)
    if constraint.p is None:
        bound = float(weights[largest_first[: constraint.max_size()]].sum())
        return MaxWeight.below(bound, support, weights)
    return MaxWeight(support, float(weights[support].sum()), factor=1 / constraint.p)


def best_so_far(
    constraint: Constraint, held: IndexArray, weights: FloatArray, support: IndexArray, bound: float
) -> MaxWeight:
    """Return the heavier of a set and the greedy one, both with all of ``held``, and the lower of two bounds.

    The constraint has a p: see :func:`greedy_weight`.
    """
    assert constraint.p is not None
    rest = weights.copy()
    rest[held] = 0.0
    greedy = constraint.extend(held, heaviest_first(rest))
    heavier = max(support, greedy, key=lambda some: weights[some].sum())
    by_greedy = float(weights[held].sum() + constraint.p * rest[greedy].sum())
    return MaxWeight.below(min(bound, by_greedy), heavier, weights)


def as_order(order: Iterable[int]) -> IndexArray:
    return order.astype(np.intp, copy=False) if isinstance(order, np.ndarray) else np.fromiter(order, np.intp)


def names_of(constraint: Constraint, elements: IndexArray) -> list[str] | None:
    return None if constraint.names is None else [constraint.names[element] for element in elements]


def forced_among(constraint: Constraint, elements: IndexArray) -> IndexArray:
    """Return the places in ``elements`` of all forced elements; a missing one is an error."""
    missing = np.setdiff1d(constraint.forced, elements)
    if len(missing):
        raise ValueError(f"element {missing[0]} is forced in, so it must be among the elements")
    return np.flatnonzero(np.isin(elements, constraint.forced))


def places_of(wanted: list[str], names: list[str], holder: str) -> IndexArray:
    """Return where each wanted name stands among ``names``; both must hold the same, each name once.

    ``holder`` describes the source of the names in messages.
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
                f"all constraints must name the same elements, but number {number} and those before differ "
                f"in {_listed(strange)}"
            )
    return tuple(cast(System, system.aligned_to(names)) for system in systems), names


def _listed(names: list[str], most: int = 3) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
