"""Sets that several constraints allow at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_count
from swapwise.clock import Clock
from swapwise.constraints.algorithms.common_moves import CommonMoves
from swapwise.constraints.algorithms.exchanges import cheapest_in_each
from swapwise.constraints.base import (
    Constraint,
    GroupLimits,
    MaxWeight,
    best_so_far,
    forced_among,
    in_one_order,
    names_of,
)
from swapwise.constraints.hierarchy import Hierarchy
from swapwise.constraints.kinds import Inequalities, Kind, MixedLimits, Places
from swapwise.constraints.laminar import Laminar
from swapwise.constraints.limits import Limits
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.minors import Minor
from swapwise.constraints.packing import PackingSystem
from swapwise.constraints.uniform import Uniform
from swapwise.moves import MoveBatch, MoveList
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.constraints.algorithms.integer_program import IntegerProgram

# How long it may take to find a set that meets all lower limits.
COMPLETION_SECONDS = 5.0


class Intersection(Limits):
    """The sets that each of several constraints allows.

    Of p matroids it is a p-matroid intersection, and of families of groups with limited places (``Uniform``,
    ``Partition``, ``BMatching``, ``SetPacking``, ``Conflicts``) a p-exchange system: these keep the theorems
    of the paper. Any other intersection is searched by moves that add one element and drop those that
    exclude it and up to two more (:class:`~swapwise.constraints.larger_moves.LargerMoves`), and its answers
    can be proven, but no theorem is known. With lower limits among them, moves lead from sets that meet these
    to others that do.

    Parameters
    ----------
    *constraints : Constraint
        At least one; all on the same ground set. What one of them forces in, all do. Those that name
        their elements must name the same; the first gives the order.
    neighbourhood : "auto", "exchange" or "matroid"
        Which moves lead from one set to another, for a given q, if there are matroids or groups only.
        ``"matroid"``: add up to 2q elements and drop up to 2pq, the paper's q-reachability for p-matroid
        intersections. ``"exchange"``: add up to q and drop up to ``pq − q + 1``, that for p-exchange systems;
        these moves are far fewer, but the guarantee holds only if every constraint limits how many elements
        of groups are chosen. ``"auto"`` takes ``"exchange"`` where it may.

    Attributes
    ----------
    parts : tuple of Constraint
        The constraints, with those of an intersection in its place, and hierarchies as one.
    p : int or None
    neighbourhood : "exchange", "matroid" or "general"

    See Also
    --------
    Partition, Knapsack, Conflicts, Hierarchy : often combined.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.
    - Feldman, Naor, Schwartz and Ward (2011), Improved approximations for k-exchange systems.

    Examples
    --------
    At most one sensor per site and at most one per kind:

    >>> from swapwise import Intersection, Partition
    >>> site, kind = Partition([0, 0, 1, 1], 1), Partition(["x", "y", "x", "y"], 1)
    >>> both = Intersection(site, kind)
    >>> both.is_independent([0, 3]), both.is_independent([0, 2])
    (True, False)
    >>> both.neighbourhood, both.exchange_size(q=1)
    ('exchange', 3)

    A forest with at most two edges of each colour:

    >>> from swapwise import Graphic
    >>> forest = Graphic([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
    >>> coloured = Intersection(forest, Partition(["red", "red", "blue", "red"], 2))
    >>> coloured.neighbourhood, coloured.exchange_size(q=1)
    ('matroid', 6)
    >>> coloured.extend([], [0, 1, 2, 3])
    array([0, 1])

    One sensor per site, within a budget:

    >>> from swapwise import Knapsack
    >>> affordable = Intersection(site, Knapsack([3.0, 1.0, 2.0, 2.0], budget=4.0))
    >>> affordable.max_weight([5.0, 1.0, 3.0, 2.0]).support, affordable.neighbourhood
    (array([0]), 'general')
    """

    #: A set that meets all lower limits, for when there is no time to find a better one
    _known_answer: IndexArray | None
    _has_lower_limits: bool

    def __init__(self, *constraints: Constraint, neighbourhood: str = "auto") -> None:
        parts = _merged(_flattened(constraints))
        _require_constraints(parts)
        parts, self.names = in_one_order(parts)
        self.n = parts[0].n
        self.forced = _forced_by(parts)
        self._set_parts(
            tuple(
                part if len(part.forced) == len(self.forced) else part.contract(self.forced) for part in parts
            )
        )
        self.neighbourhood = self._read_neighbourhood(neighbourhood)
        self._require_complete_set()

    def _require_complete_set(self) -> None:
        """Refuse lower limits that no common independent set meets, and name them.

        Where it takes long to find out, the limits are accepted.
        """
        if not self._has_lower_limits:
            return
        nearest = self._nearest_complete(self.forced, np.zeros(self.n))
        if self.is_complete(nearest.support):
            self._known_answer = nearest.support
        if self._known_answer is not None or nearest.upper_bound > -np.inf:
            return
        whole = "no set that all constraints allow meets all lower limits"
        limits = [limit for part in self.matroids for limit in _lower_limits(part)]
        allowed = Intersection(*map(_without_lower_limits, self.parts))
        for limit in limits:
            most = allowed.max_weight(limit.members.astype(np.float64))
            if most.exact and most.weight < limit.least:
                raise ValueError(f"{whole}: {limit} must be chosen, but they allow only {most.weight:g}")
        raise ValueError(f"{whole}: {' and '.join(map(str, limits))} exclude each other")

    def _set_parts(self, parts: tuple[Constraint, ...]) -> None:
        self.parts = self._made_of = parts
        self._hold(self.n, *chain.from_iterable(map(_kinds_of, parts)))
        self._packing = _as_packing(parts, self.forced)
        self.p: int | None = None
        self._known_answer = None
        self._has_lower_limits = not all(part.is_complete(self.forced) for part in parts)
        if self._has_lower_limits:
            return
        if self._packing is not None:
            self.p = self._packing.p
        elif len(self.matroids) == len(parts):
            self.p = len(parts)

    @property
    def matroids(self) -> tuple[Matroid, ...]:
        return tuple(part for part in self.parts if isinstance(part, Matroid))

    def _read_neighbourhood(self, neighbourhood: str) -> str:
        if neighbourhood not in ("auto", "exchange", "matroid"):
            raise ValueError(f"neighbourhood must be 'auto', 'exchange' or 'matroid', got {neighbourhood!r}")
        if neighbourhood == "exchange" and self._packing is None:
            other = next(part for part in self.parts if not _is_grouped(part))
            raise ValueError(
                "the neighbourhood 'exchange' comes with a guarantee only for p-exchange systems, such as "
                "intersections of Uniform and Partition matroids; use 'auto' for an intersection with "
                f"{other!r}"
            )
        if neighbourhood == "matroid" and (self.p is None or len(self.matroids) < len(self.parts)):
            raise ValueError(
                "the neighbourhood 'matroid' is for matroids without lower limits; use 'auto' for "
                f"{', '.join(map(repr, self.parts))}"
            )
        if neighbourhood != "auto":
            return neighbourhood
        if self.p is None:
            return "general"
        return "matroid" if self._packing is None else "exchange"

    @override
    def __repr__(self) -> str:
        inner = ", ".join(map(repr, self.parts))
        return f"Intersection({inner}, neighbourhood={self.neighbourhood!r})"

    @override
    def induced(self, elements: IndexArray) -> Intersection:
        part = object.__new__(Intersection)  # all has been checked
        part.n, part.names = len(elements), names_of(self, elements)
        part.forced, part.neighbourhood = forced_among(self, elements), self.neighbourhood
        part._set_parts(tuple(each.induced(elements) for each in self.parts))
        return part

    @override
    def _forcing(self, forced: IndexArray) -> Self:
        other = super()._forcing(forced)
        other._set_parts(tuple(part.contract(forced) for part in self.parts))
        other._require_complete_set()
        return other

    @override
    def truncate(self, size: int) -> Constraint:
        return Intersection(self, Uniform(self.n, as_count(size, "size")))

    # -- sets ---------------------------------------------------------------------------------------

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        return (
            super().extend(support, order) if self._packing is None else self._packing.extend(support, order)
        )

    @override
    def shortfall(self, support: IndexArray) -> str:
        return next((lacks for part in self.parts if (lacks := part.shortfall(support))), "")

    @override
    def completed(self, support: IndexArray, weights: FloatArray) -> IndexArray:
        """Return a set that meets all lower limits and has as much of another as can be, and few more.

        To meet a limit of one constraint, elements may have to go that stand in the way of another.
        """
        if self.is_complete(support):
            return support
        found = self._nearest_complete(support, weights).support
        if not self.is_complete(found):
            return found if self._known_answer is None else self._known_answer
        for element in sorted(np.setdiff1d(found, support).tolist(), key=lambda e: weights[e]):
            rest = self.without(found, np.array([element]))
            if len(rest) == len(found) - 1 and self._is_answer(rest):
                found = rest
        return found

    def _nearest_complete(self, support: IndexArray, weights: FloatArray) -> MaxWeight:
        """Return a complete set with as much of another as can be found in a few seconds."""
        assert self._program is not None
        size = float(np.abs(weights).max(initial=0.0)) or 1.0
        wanted = (1.0 + weights / size) / (4.0 * max(1, self.n))  # less than one chosen element, all together
        wanted[support] = 1.0
        return self._program.heaviest(self.forced, wanted, Clock(COMPLETION_SECONDS))

    @override
    def group_limits(self) -> GroupLimits | None:
        if self._packing is None or self.neighbourhood != "exchange":
            return None
        return self._packing.group_limits()

    @override
    def max_size(self) -> int:
        return min(part.max_size() for part in self.parts)

    # -- weights ------------------------------------------------------------------------------------

    @property
    @override
    def shares(self) -> FloatArray | None:
        known = [part.shares for part in self.parts if part.shares is not None]
        return np.maximum.reduce(known) if known else None

    @cached_property
    @override
    def _program(self) -> IntegerProgram | None:
        from swapwise.constraints.algorithms.integer_program import IntegerProgram

        rows = [part.inequalities() for part in self.parts]
        others = [part for part, own in zip(self.parts, rows, strict=True) if own is None]
        return IntegerProgram(
            self, Inequalities.stacked((own for own in rows if own is not None), self.n), others
        )

    @override
    def _max_weight(self, weights: FloatArray, clock: Clock) -> MaxWeight:
        if len(self.parts) == 1:
            return self.parts[0]._max_weight(weights, clock)
        if self.p is None:
            return super()._max_weight(weights, clock)
        return self._max_weight_holding(np.empty(0, dtype=np.intp), weights, clock)

    @override
    def _max_weight_holding(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        from swapwise.constraints.algorithms.matroid_intersection import common_set_within

        if len(self.parts) == 1:
            return self.parts[0]._max_weight_holding(held, weights, clock)
        if self._packing is not None:
            return self._packing._max_weight_holding(held, weights, clock)
        if self.p is None:
            return super()._max_weight_holding(held, weights, clock)
        if len(self.parts) > 2:
            return self._nearly_heaviest(held, weights, clock)
        rest = weights.copy()
        rest[held] = 0.0
        first, second = (matroid.contract(held) if len(held) else matroid for matroid in self.matroids)
        found = common_set_within(first, second, rest, clock)
        support = np.union1d(found.support, held)
        if found.exact:
            return MaxWeight(support, float(weights[support].sum()))
        bound = float(weights[held].sum()) + found.upper_bound
        return best_so_far(self, held, weights, support, bound)

    def _nearly_heaviest(self, held: IndexArray, weights: FloatArray, clock: Clock) -> MaxWeight:
        """Return a common set of matroids by local search, with the lowest of several bounds."""
        from swapwise.constraints.algorithms.matroid_intersection import local_search_weight

        assert self.p is not None
        whole = Intersection(*(m.contract(held) for m in self.matroids)) if len(held) else self
        rest = weights.copy()
        rest[held] = 0.0
        support = np.union1d(local_search_weight(whole, rest, clock=clock), held)
        # A local optimum of a linear function has at least 1 / (p − 1 + 1/q) of the largest weight.
        bounds = [float(weights[held].sum() + self.p * rest[support].sum())]
        for matroid in self.matroids:
            bounds.append(matroid._max_weight_holding(held, weights, clock).upper_bound)
        found = MaxWeight.below(min(bounds), support, weights)
        # Without any weight the set is a largest one, but the factor is to be one for weights in general.
        return found if found.weight > 0 else replace(found, factor=1.0 / self.p)

    @override
    def _bounds_with_and_without(
        self, held: IndexArray, weights: FloatArray, answer: MaxWeight
    ) -> tuple[FloatArray, FloatArray]:
        if self._packing is not None and len(self.parts) > 1:
            return self._packing._bounds_with_and_without(held, weights, answer)
        if self.neighbourhood == "matroid" and len(self.parts) == 2 and answer.exact:
            from swapwise.constraints.algorithms.matroid_intersection import losses_with_and_without

            first, second = self.matroids
            losses = losses_with_and_without(first, second, held, weights, answer.support)
            return answer.weight - losses[0], answer.weight - losses[1]
        with_it, without = super()._bounds_with_and_without(held, weights, answer)
        if answer.prices is not None:
            return with_it, without
        # Every set is one of each constraint.
        for part in self.parts:
            alone = part._max_weight_holding(held, weights, Clock())
            of_one = part._bounds_with_and_without(held, weights, alone)
            np.minimum(with_it, of_one[0], out=with_it)
            np.minimum(without, of_one[1], out=without)
        return with_it, without

    # -- moves --------------------------------------------------------------------------------------

    @override
    def exchange_size(self, q: int = 1) -> int:
        return super().exchange_size(q) if self.p is None else sum(self._widths(q))

    def _widths(self, q: int) -> tuple[int, int]:
        assert self.p is not None
        return (q, self.p * q - q + 1) if self.neighbourhood == "exchange" else (2 * q, 2 * self.p * q)

    @override
    def moves(
        self, support: IndexArray, q: int = 1, candidates: IndexArray | None = None
    ) -> Iterator[MoveBatch]:
        """Return the moves of the neighbourhood that drop nothing needlessly, in batches.

        Moves that add fewer elements come first; those that add as many are in lexicographic order
        of what they add, and then of what they drop. Only drops are listed of which no part would do.
        """
        if self.neighbourhood == "general":
            yield from super().moves(support, q, candidates)
        elif self.neighbourhood == "exchange":
            assert self._packing is not None
            yield from self._packing.moves(support, q, candidates)
        else:
            yield from self._common_moves(support, q, candidates).batches()

    def _common_moves(self, support: IndexArray, q: int, candidates: IndexArray | None = None) -> CommonMoves:
        outside = np.setdiff1d(np.arange(self.n) if candidates is None else candidates, support)
        return CommonMoves(self.matroids, support, outside, self._widths(q))

    @override
    def cheapest_drops(self, support: IndexArray, cost: FloatArray, q: int = 1) -> Iterator[MoveList]:
        if self.neighbourhood == "general":
            return super().cheapest_drops(support, cost, q)
        if self.neighbourhood == "exchange":
            assert self._packing is not None
            return self._packing.cheapest_drops(support, cost, q)
        common, widths = self._common_moves(support, q), self._widths(q)
        lists = (moves for size in range(1, widths[0] + 1) for moves in common.adding(size))
        return cheapest_in_each(lists, cost, *widths)

    @override
    def best_exchange(
        self, support: IndexArray, gain: FloatArray, cost: FloatArray, q: int = 1, clock: Clock | None = None
    ) -> MoveList:
        if self.neighbourhood == "exchange":
            assert self._packing is not None
            return self._packing.best_exchange(support, gain, cost, q, clock)
        return super().best_exchange(support, gain, cost, q, clock)

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        feasible = super()._swap_mask(support)
        if self._has_lower_limits and self.is_complete(support):
            feasible &= self._keeps_limits(support)
        return feasible

    @override
    def _keeps_limits(self, support: IndexArray) -> BoolArray:
        return np.logical_and.reduce([part._keeps_limits(support) for part in self.parts])

    @override
    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        feasible = super()._feasible(support, moves)
        if self._has_lower_limits and self.is_complete(support):
            for row in np.flatnonzero(feasible):
                feasible[row] = self.is_complete(moves.move(int(row)).result(support))
        return feasible


@dataclass(frozen=True, eq=False)
class Part(Kind):
    """A constraint that is not made of known kinds, as one of them: a matroid by its rank, lower limits."""

    constraint: Constraint

    @property
    @override
    def hereditary(self) -> bool:  # type: ignore[override]
        return self.constraint.hereditary

    @override
    def allows(self, chosen: IndexArray) -> bool:
        return self.constraint._is_independent(np.sort(chosen))

    @override
    def additions(self, chosen: IndexArray) -> BoolArray:
        return self.constraint.addable(np.sort(chosen))

    @override
    def joinable(self, chosen: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        return self.constraint.joinable(np.sort(chosen), outside)

    @override
    def swaps(self, chosen: IndexArray, drops: IndexArray) -> BoolArray:
        mask = self.constraint._swap_mask(chosen)
        columns = np.append(np.searchsorted(chosen, drops), len(chosen))
        return mask if len(drops) == len(chosen) else mask[:, columns]

    @override
    def fits(self, chosen: IndexArray, moves: MoveList) -> BoolArray:
        return self.constraint._feasible(chosen, moves)

    @override
    def excludes(self, held: IndexArray, elements: IndexArray, others: IndexArray) -> BoolArray:
        return self.constraint._excludes(elements, others)

    @override
    def units(self, chosen: IndexArray) -> list[IndexArray]:
        return self.constraint._units(chosen)

    @override
    def among(self, elements: IndexArray) -> Part:
        return Part(self.constraint.induced(elements))

    @override
    def rows(self) -> Inequalities | None:
        return self.constraint.inequalities()

    @override
    def joined(self, limits: MixedLimits) -> None:
        return None

    @override
    def most(self, chosen: IndexArray) -> int:
        return self.constraint.max_size() - len(chosen)


class _LowerLimit(NamedTuple):
    called: str
    members: BoolArray
    least: int

    def __str__(self) -> str:
        return f"at least {self.least} of {self.called}"


def _lower_limits(part: Matroid) -> Iterator[_LowerLimit]:
    tree, named = part.laminar_tree(), part
    while isinstance(named, Minor):  # sets keep their numbers
        named = named.matroid
    if tree is not None and isinstance(named, Laminar):
        for node in np.flatnonzero(tree.at_least).tolist():
            inside = (tree.leaf >= node) & (tree.leaf < tree.end[node])
            yield _LowerLimit(named._called(node), inside, int(tree.at_least[node]))


def _without_lower_limits(part: Constraint) -> Constraint:
    tree = part.laminar_tree()
    if tree is None or not tree.at_least.any():
        return part
    free = Laminar.of_tree(tree._replace(at_least=np.zeros_like(tree.at_least)))
    return free.contract(part.forced) if len(part.forced) else free


def _flattened(constraints: tuple[Any, ...]) -> tuple[Constraint, ...]:
    return tuple(
        part for each in constraints for part in (each.parts if isinstance(each, Intersection) else (each,))
    )


def _merged(parts: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """Return the parts, with all hierarchies as one at the end."""
    hierarchies = [part for part in parts if isinstance(part, Hierarchy)]
    if len(hierarchies) < 2:
        return parts
    _require_constraints(parts)
    in_order, _ = in_one_order(tuple(hierarchies))
    others = (part for part in parts if not isinstance(part, Hierarchy))
    return (*others, reduce(Hierarchy.together_with, in_order))


def _require_constraints(parts: tuple[Constraint, ...]) -> None:
    if not parts:
        raise ValueError("an intersection needs at least one constraint, got none")
    for number, part in enumerate(parts):
        if not isinstance(part, Constraint):
            hint = ""
            if isinstance(part, list | tuple):
                hint = "; give them one by one, Intersection(*constraints)"
            elif isinstance(part, int):
                hint = f"; did you mean Uniform(n, {part})?"
            raise TypeError(f"an intersection is made of constraints, got {part!r} as number {number}{hint}")
        if part.n != parts[0].n:
            raise ValueError(
                f"all constraints must have the same ground set, got n = {parts[0].n} for number 0 and "
                f"n = {part.n} for number {number}"
            )


def _forced_by(parts: tuple[Constraint, ...]) -> IndexArray:
    forced = np.unique(np.concatenate([part.forced for part in parts])).astype(np.intp)
    for part in parts:  # elements that need others bring these with them
        forced = part.required(forced)
    for number, part in enumerate(parts):
        if not part._is_independent(forced):
            raise ValueError(
                f"what the constraints force in must be allowed by all of them, but number {number} "
                f"does not allow {forced.tolist()}"
            )
    return forced


def _as_packing(parts: tuple[Constraint, ...], forced: IndexArray) -> PackingSystem | None:
    places = [_places_of(part) for part in parts if _is_grouped(part)]
    return (
        PackingSystem.of_places(reduce(Places.beside, places), forced) if len(places) == len(parts) else None
    )


def _is_grouped(part: Constraint) -> bool:
    """Return whether limits on groups are all there is, none of them within another."""
    tree = part.laminar_tree()
    if tree is None:
        return isinstance(part, PackingSystem) and type(part)._is_independent is Limits._is_independent
    return tree.is_flat and not tree.at_least.any()


def _places_of(part: Constraint) -> Places:
    tree = part.laminar_tree()
    return cast(PackingSystem, part)._places if tree is None else tree.places()


def _kinds_of(part: Constraint) -> tuple[Kind, ...]:
    # A class of a user's may allow fewer sets than its kinds.
    if isinstance(part, Limits) and type(part)._is_independent is Limits._is_independent:
        return part.kinds
    tree = part.laminar_tree()
    return (Part(part) if tree is None or tree.at_least.any() else tree.places(),)
