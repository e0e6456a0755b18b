"""Elements that may only be chosen with others: interactions after main effects, powers in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy

from swapwise.checks import BoolArray, IndexArray, as_count, as_elements, some_of, warn
from swapwise.constraints.base import Constraint, Inequalities, as_order, forced_among, names_of, padded
from swapwise.constraints.conflicts import read_names
from swapwise.constraints.terms import parents_of_powers, parents_of_terms, sign_between
from swapwise.moves import NOTHING, MoveList
from swapwise.override import override

Kind = Literal["strong", "weak"]


class Needs(NamedTuple):
    """Precedences as plain arrays: need number c is that of ``element[c]`` for one of some others.

    These are ``others[begin[c] : begin[c + 1]]``, at least one.
    """

    element: IndexArray
    begin: IndexArray
    others: IndexArray

    @classmethod
    def of(cls, needs: Iterable[tuple[int, Iterable[int]]]) -> Needs:
        listed = [(element, sorted(set(others))) for element, others in needs]
        return cls(
            np.array([element for element, _ in listed], dtype=np.intp),
            np.cumsum([0, *(len(others) for _, others in listed)], dtype=np.intp),
            np.array([other for _, others in listed for other in others], dtype=np.intp),
        )

    def counts(self, chosen: BoolArray) -> IndexArray:
        """Return for each need how many of its alternatives are chosen."""
        if not len(self.element):
            return np.empty(0, dtype=np.intp)
        return np.add.reduceat(chosen[self.others].astype(np.intp), self.begin[:-1])

    def listed(self, some: IndexArray | None = None) -> list[tuple[int, IndexArray]]:
        numbers = range(len(self.element)) if some is None else some.tolist()
        begin = self.begin.tolist()
        return [(int(self.element[c]), self.others[begin[c] : begin[c + 1]]) for c in numbers]


class Hierarchy(Constraint):
    """An element only with its parents, or with one of them: a product only with its factors.

    With ``kind="strong"`` an element needs all of its parents, with ``"weak"`` at least one of them; the
    literature speaks of strong and weak heredity, or of marginality. Subsets of independent sets need not be
    independent. A move adds an element with the parents that it lacks, and drops elements to make room: each
    with all that depend on it, or alone where the added elements replace it for all of these. There is no
    theorem on such a search; ``certify`` and ``exact`` prove how good its answer is.

    Parameters
    ----------
    n : int, or iterable of str
        Size of the ground set, or the names of its elements, which estimators match with the columns of their
        data.
    parents : mapping from element to elements
        The parents of each element that has any, by position, or by name if there are names. A parent may
        have parents in turn, but not itself among these.
    size : int, optional
        How many elements may be chosen, parents included; no limit by default.
    kind : "strong" or "weak"

    Attributes
    ----------
    parents : dict from int to list of int
    size : int
    kind : str
    names : list of str, or None

    See Also
    --------
    Intersection : a hierarchy beside limits of other kinds.
    sklearn.preprocessing.PolynomialFeatures : makes the products.

    References
    ----------
    - Nelder (1977), A reformulation of linear models.
    - Bien, Taylor and Tibshirani (2013), A lasso for hierarchical interactions.

    Examples
    --------
    >>> from swapwise import Hierarchy
    >>> terms = Hierarchy(4, {2: [0, 1], 3: [0]}, size=3)  # 2 is the product of 0 and 1, 3 the square of 0
    >>> terms.is_independent([0, 1, 2]), terms.is_independent([0, 2]), terms.is_independent([3])
    (True, False, False)
    >>> Hierarchy(4, {2: [0, 1], 3: [0]}, kind="weak").is_independent([0, 2])
    True

    From the names of terms, or from a fitted ``PolynomialFeatures`` (:meth:`from_polynomial`):

    >>> Hierarchy.from_names(["a", "b", "a:b", "a^2"]).parents
    {2: [0, 1], 3: [0]}
    """

    def __init__(
        self,
        n: int | Iterable[str],
        parents: Mapping[Any, Any],
        size: int | None = None,
        *,
        kind: Kind = "strong",
    ) -> None:
        self.names = None if isinstance(n, (int, np.integer)) else read_names(n)
        self.n = as_count(n, "n") if self.names is None else len(self.names)
        if kind not in ("strong", "weak"):
            raise ValueError(f"kind must be 'strong' or 'weak', got {kind!r}")
        self.kind, known = kind, _read_parents(parents, self.n, self.names)
        self.size = self.n if size is None else min(self.n, as_count(size, "size"))
        single = ((element, [parent]) for element, own in known.items() for parent in own)
        self._hold(Needs.of(single if kind == "strong" else known.items()), lost=np.zeros(self.n, dtype=bool))
        self._require_no_circle()

    def _hold(self, needs: Needs, lost: BoolArray) -> None:
        self._needs, self._lost = needs, lost  # what lost elements need is not in the ground set

    @classmethod
    def from_names(
        cls,
        names: Iterable[str],
        size: int | None = None,
        *,
        kind: Kind = "strong",
        sep: str | None = None,
        power: str = "^",
    ) -> Hierarchy:
        """Return the hierarchy of terms by name: ``a:b`` needs ``a`` and ``b``, and ``a^2`` needs ``a``.

        The parents of a term are the largest terms that divide it and are there. ``sep`` is what stands
        between factors; by default ``:``, or a blank if that makes products of more names, as it does of
        those that scikit-learn makes. ``power`` is what comes before an exponent.

        >>> Hierarchy.from_names(["x0", "x1", "x0^2", "x0 x1", "x0^2 x1"]).parents
        {2: [0], 3: [0, 1], 4: [2, 3]}
        >>> Hierarchy.from_names(["a", "a:b"])
        Traceback (most recent call last):
        ...
        ValueError: 'a:b' needs 'b', which is not among the names
        """
        found = read_names(names)
        parents = parents_of_terms(found, sign_between(found, power) if sep is None else sep, power)
        if not parents:
            warn("no name is a product or a power of others, so that no element needs any other")
        return cls(found, parents, size, kind=kind)

    @classmethod
    def from_polynomial(cls, features: Any, size: int | None = None, *, kind: Kind = "strong") -> Hierarchy:
        """Return the hierarchy of the terms of a fitted ``sklearn.preprocessing.PolynomialFeatures``.

        >>> import numpy as np
        >>> from sklearn.preprocessing import PolynomialFeatures
        >>> products = PolynomialFeatures(interaction_only=True, include_bias=False).fit(np.ones((1, 3)))
        >>> Hierarchy.from_polynomial(products).parents
        {3: [0, 1], 4: [0, 2], 5: [1, 2]}
        """
        powers = getattr(features, "powers_", None)
        if powers is None:
            raise TypeError(f"features must be a PolynomialFeatures that has been fitted, got {features!r}")
        names = list(map(str, features.get_feature_names_out()))
        parents = parents_of_powers(np.asarray(powers))
        named = {names[term]: [names[parent] for parent in own] for term, own in parents.items()}
        return cls(names, named, size, kind=kind)

    @override
    def __repr__(self) -> str:
        size = "" if self.size == self.n else f", size={self.size}"
        return f"Hierarchy(n={self.n}, {self.kind}{size})"

    def _require_no_circle(self) -> None:
        left = dict(self._needs_by_element)
        while left:
            settled = [e for e, needs in left.items() if not any(o in left for need in needs for o in need)]
            if not settled:
                circle = some_of([self._called(element) for element in sorted(left)])
                raise ValueError(f"no element may need itself, but these need each other: {circle}")
            for element in settled:
                del left[element]

    @cached_property
    def parents(self) -> dict[int, list[int]]:
        """The parents of each element that has any, by position."""
        needs = sorted(self._needs_by_element.items())
        return {element: sorted({other for need in own for other in need}) for element, own in needs}

    @cached_property
    def _needs_by_element(self) -> dict[int, list[list[int]]]:
        found: dict[int, list[list[int]]] = {}
        for element, others in self._needs.listed():
            found.setdefault(element, []).append(others.tolist())
        return found

    def _called(self, element: int) -> str:
        return str(element) if self.names is None else repr(self.names[element])

    def together_with(self, other: Hierarchy) -> Hierarchy:
        """Return the hierarchy that has the needs of both, on the same elements."""
        both = object.__new__(Hierarchy)
        both.n, both.names, both.kind = self.n, self.names or other.names, self.kind
        both.size = min(self.size, other.size)
        needs = Needs.of([*self._needs.listed(), *other._needs.listed()])
        both._hold(needs, self._lost | other._lost)
        both._require_no_circle()
        both.forced = np.union1d(self.forced, other.forced)
        return both

    @override
    def induced(self, elements: IndexArray) -> Hierarchy:
        part = object.__new__(Hierarchy)
        part.n, part.names = len(elements), names_of(self, elements)
        part.size, part.kind = min(self.size, len(elements)), self.kind
        part.forced = forced_among(self, elements)
        place = np.full(self.n, -1, dtype=np.intp)
        place[elements] = np.arange(len(elements))
        needs, lost = self._needs, self._lost[elements]
        own, stays = np.repeat(np.arange(len(needs.element)), np.diff(needs.begin)), place[needs.element] >= 0
        entries = stays[own] & (place[needs.others] >= 0)
        count = np.bincount(own[entries], minlength=len(stays))
        lost[place[needs.element[stays & (count == 0)]]] = True
        kept = stays & (count > 0)
        begin = np.append(0, np.cumsum(count[kept])).astype(np.intp)
        part._hold(Needs(place[needs.element[kept]], begin, place[needs.others[entries]]), lost)
        return part

    @override
    def truncate(self, size: int) -> Hierarchy:
        if as_count(size, "size") < len(self.forced):
            raise ValueError(
                f"size must leave room for the {len(self.forced)} elements that are forced in, got {size}"
            )
        other = self._forcing(self.forced)
        other.size = min(self.size, size)
        return other

    @override
    def contract(self, elements: Iterable[int]) -> Constraint:
        """Return the hierarchy with elements forced in, and with them all that they cannot do without.

        >>> Hierarchy(3, {2: [0, 1]}).contract([2]).forced
        array([0, 1, 2])
        """
        wanted = as_elements(elements, self.n, "the elements to force in")
        forced = np.union1d(wanted, self.required(wanted))
        lacking = [e for e in forced.tolist() if len(ways := self._lacking(forced, e)) != 1 or len(ways[0])]
        if lacking and not self._lost[forced].any():
            others = some_of([self._called(o) for o in chain(*self._needs_by_element[lacking[0]])])
            raise ValueError(
                f"{self._called(lacking[0])} is forced in, but none of its parents is: force in one of them, "
                f"{others}"
            )
        return super().contract(forced)

    # -- sets ---------------------------------------------------------------------------------------

    def _mask(self, support: IndexArray) -> BoolArray:
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = chosen[self.forced] = True
        return chosen

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        chosen = self._mask(support)
        if np.count_nonzero(chosen) > self.size or self._lost[chosen].any():
            return False
        return bool((self._needs.counts(chosen)[chosen[self._needs.element]] > 0).all())

    def _satisfied(self, chosen: BoolArray) -> BoolArray:
        """Return which elements have all that they need among the chosen."""
        satisfied = ~self._lost
        satisfied[self._needs.element[self._needs.counts(chosen) == 0]] = False
        return satisfied

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        chosen = self._mask(support)
        addable = self._satisfied(chosen) & ~chosen & (np.count_nonzero(chosen) < self.size)
        addable[np.setdiff1d(self.forced, support)] = True
        return addable

    @override
    def joinable(self, held: IndexArray, outside: BoolArray | None = None) -> BoolArray:
        possible = ~self._lost if outside is None else ~(self._lost | outside)
        while True:
            hopeless = self._needs.element[self._needs.counts(possible) == 0]
            if not possible[hopeless].any():
                break
            possible[hopeless] = False
        chosen = self._mask(held)
        chosen[self.required(np.flatnonzero(chosen))] = True
        more = np.add.reduceat((~chosen)[self._ancestors.others].astype(np.intp), self._ancestors.begin[:-1])
        possible &= np.count_nonzero(chosen) + more <= self.size
        possible[held] = False
        return possible

    @cached_property
    def _ancestors(self) -> Needs:
        """Each element with all others that it requires, directly or indirectly."""
        known: dict[int, set[int]] = {}
        for element in range(self.n):
            path = [element]
            while path:
                now = path[-1]
                sole = [need[0] for need in self._needs_by_element.get(now, ()) if len(need) == 1]
                unknown = [other for other in sole if other not in known]
                if unknown:
                    path.append(unknown[0])
                    continue
                known[now] = {now}.union(*(known[other] for other in sole))
                path.pop()
        return Needs.of((element, known[element]) for element in range(self.n))

    @override
    def required(self, elements: IndexArray) -> IndexArray:
        begin, others = self._ancestors.begin, self._ancestors.others
        parts = [others[begin[e] : begin[e + 1]] for e in elements]
        return np.unique(np.concatenate(parts)) if parts else elements

    @override
    def without(self, support: IndexArray, dropped: IndexArray) -> IndexArray:
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = True
        chosen[dropped] = False
        while True:
            unmet = chosen & ~self._satisfied(chosen)
            if not unmet.any():
                return np.flatnonzero(chosen)
            chosen[unmet] = False

    @override
    def droppable(self, support: IndexArray) -> IndexArray:
        chosen = self._mask(support)
        sole = (self._needs.counts(chosen) == 1) & chosen[self._needs.element]
        is_needed = np.zeros(self.n, dtype=bool)
        is_needed[self._needs.others[np.repeat(sole, np.diff(self._needs.begin))]] = True
        return support[~(is_needed[support] | self._are_forced(support))]

    @override
    def companions(self, elements: IndexArray) -> IndexArray:
        there = np.zeros(self.n, dtype=bool)
        there[elements] = True
        while True:
            needed = there[self._needs.element]
            others = self._needs.others[np.repeat(needed, np.diff(self._needs.begin))]
            if there[others].all():
                return np.flatnonzero(there)
            there[others] = True

    @override
    def _lacking(self, support: IndexArray, element: int) -> list[IndexArray]:
        chosen = {*support.tolist(), *self.forced.tolist(), element}
        return [np.array(sorted(way), dtype=np.intp) for way in self._ways(chosen, element)]

    def _ways(self, chosen: set[int], element: int) -> list[set[int]]:
        """Return sets of others that supply all that a chosen element needs."""
        needs, depth = self._needs_by_element, self._depth
        unmet = [need for need in needs.get(element, ()) if chosen.isdisjoint(need)]
        choice = next((need for need in unmet if len(need) > 1), None)
        ways = []
        for first in [[]] if choice is None else [[other] for other in choice]:
            more, waiting = set(first), [element, *first]
            while waiting:
                for need in needs.get(waiting.pop(), ()):
                    if chosen.isdisjoint(need) and more.isdisjoint(need):
                        other = min(need, key=lambda o: (depth[o], o))  # with the fewest others
                        more.add(other)
                        waiting.append(other)
            ways.append(more)
        return ways

    @override
    def _bundles(self, support: IndexArray, elements: IndexArray) -> IndexArray:
        chosen = self._mask(support)
        satisfied, wanted = self._satisfied(chosen), np.zeros(self.n, dtype=bool)
        wanted[elements] = True
        tables = [np.flatnonzero(wanted & satisfied)[:, None]]
        wanted &= ~satisfied
        table, done = self._with_all(chosen, wanted)
        tables.append(table)
        wanted[done] = False
        table, done = self._with_one(chosen, satisfied, wanted)
        tables.append(table)
        wanted[done] = False
        ways = [np.append(way, e) for e in np.flatnonzero(wanted) for way in self._lacking(support, int(e))]
        tables.append(padded(ways))
        return MoveList.joined(MoveList(table, table[:, :0]) for table in tables).added

    def _with_all(self, chosen: BoolArray, wanted: BoolArray) -> tuple[IndexArray, IndexArray]:
        """Return the elements that lack nothing but required ones, and all of these in a table."""
        unmet = self._needs.counts(chosen) == 0
        has_choice = np.zeros(self.n, dtype=bool)
        has_choice[self._needs.element[unmet & (np.diff(self._needs.begin) > 1)]] = True
        others, begin = self._ancestors.others, self._ancestors.begin
        owner = np.repeat(np.arange(self.n), np.diff(begin))
        simple = wanted & ~self._lost
        simple[owner[has_choice[others] & ~chosen[others]]] = False
        entries = simple[owner] & ~chosen[others]
        owner, others = owner[entries], others[entries]
        count = np.bincount(owner, minlength=self.n)
        place = np.arange(len(owner)) - np.repeat(np.cumsum(count) - count, count)
        elements = np.flatnonzero(simple)
        table = np.full((self.n, max(1, int(count.max(initial=1)))), NOTHING, dtype=np.intp)
        table[owner, place] = others
        return table[elements], elements

    def _with_one(
        self, chosen: BoolArray, satisfied: BoolArray, wanted: BoolArray
    ) -> tuple[IndexArray, IndexArray]:
        """Return pairs of an element that lacks one thing and an addable alternative; and these elements."""
        unmet = self._needs.counts(chosen) == 0
        lacks = np.bincount(self._needs.element[unmet], minlength=self.n)
        own = self._needs.element[np.repeat(np.arange(len(unmet)), np.diff(self._needs.begin))]
        simple = wanted & (lacks == 1) & ~self._lost
        simple[own[~satisfied[self._needs.others]]] = False
        entries = simple[own] & np.repeat(unmet, np.diff(self._needs.begin))
        table = np.column_stack([own[entries], self._needs.others[entries]])
        return np.sort(table, axis=1), np.flatnonzero(simple)

    @cached_property
    def _depth(self) -> IndexArray:
        """The least number of others that come with an element."""
        depth = np.zeros(self.n, dtype=np.intp)
        for _ in range(self.n):
            before = depth.copy()
            for element, needs in self._needs_by_element.items():
                depth[element] = 1 + max(min(depth[o] for o in need) for need in needs)
            if (depth == before).all():
                break
        return depth

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        start, waiting = np.asarray(support, dtype=np.intp).tolist(), as_order(order).tolist()
        chosen, lost = {*start, *self.forced.tolist()}, self._lost
        listed = {*start, *waiting}
        allowed = listed | chosen
        for element in start:
            chosen |= next((way for way in self._ways(chosen, element) if way <= allowed), set())
        while waiting and len(chosen) < self.size:
            later = []
            for element in waiting:
                if len(chosen) >= self.size:
                    break
                if element in chosen or lost[element]:
                    continue
                ways = (way for way in self._ways({*chosen, element}, element) if way <= allowed)
                more = next((way for way in ways if len(way) < self.size - len(chosen)), None)
                if more is None:
                    later.append(element)
                else:
                    chosen |= {element, *more}
            waiting = later if len(later) < len(waiting) else []
        return np.array(sorted(chosen & listed), dtype=np.intp)

    @override
    def max_size(self) -> int:
        return min(self.size, len(self.forced) + int(np.count_nonzero(self.joinable(self.forced))))

    # -- moves --------------------------------------------------------------------------------------

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        chosen, place = self._mask(support), np.full(self.n, -1, dtype=np.intp)
        place[support] = np.arange(len(support))
        place[self.forced] = -1  # they stay in any case
        feasible = np.zeros((self.n, len(support) + 1), dtype=bool)
        feasible[self._satisfied(chosen)] = np.append(
            ~self._are_forced(support), np.count_nonzero(chosen) < self.size
        )
        # The only chosen alternative must stay: for a newcomer, and for a chosen element unless the newcomer
        # is an alternative as well.
        sole = np.flatnonzero(self._needs.counts(chosen) == 1)
        only, element = self._only_chosen(chosen, place)[sole], self._needs.element[sole]
        new = ~chosen[element] & (only >= 0)
        feasible[element[new], only[new]] = False
        for at in np.flatnonzero(chosen[element] & (only >= 0)):
            will_do = np.zeros(self.n, dtype=bool)
            will_do[self._needs.others[slice(*self._needs.begin[sole[at] : sole[at] + 2])]] = True
            feasible[~will_do, only[at]] = False
        feasible[self.forced] = True
        return feasible

    @override
    def _feasible(self, support: IndexArray, moves: MoveList) -> BoolArray:
        chosen, dropped = self._mask(support), moves.dropped
        change = (moves.added >= 0).sum(axis=1) - (dropped >= 0).sum(axis=1)
        feasible = np.count_nonzero(chosen) + change <= self.size
        feasible &= ~np.append(self._lost, False)[moves.added].any(axis=1)
        of_chosen = np.flatnonzero(chosen[self._needs.element] & self._touched(dropped))
        counts = self._needs.counts(chosen)[of_chosen]
        for count, (element, others) in zip(counts, self._needs.listed(of_chosen), strict=True):
            will_do = np.zeros(self.n + 1, dtype=np.intp)  # one more for padding to find
            will_do[others] = 1
            left = count - will_do[dropped].sum(axis=1) + will_do[moves.added].sum(axis=1)
            feasible &= (left > 0) | (dropped == element).any(axis=1)
        return feasible & self._are_met(chosen, moves)

    def _touched(self, dropped: IndexArray) -> BoolArray:
        goes = np.zeros(self.n + 1, dtype=bool)  # one more for padding to find
        goes[dropped] = True
        return self._needs.counts(goes[:-1]) > 0

    def _are_met(self, chosen: BoolArray, moves: MoveList) -> BoolArray:
        """Return for which moves all added elements have what they need in the end."""
        met, own = np.ones(len(moves), dtype=bool), self._own_needs
        for column in moves.added.T:
            for needs in np.append(own, np.full((1, own.shape[1]), NOTHING), axis=0)[column].T:
                rows = np.flatnonzero(met & (needs >= 0))
                others = self._padded_others[needs[rows]]
                stays = np.append(chosen, False)[others]
                stays &= ~(others[:, :, None] == moves.dropped[rows][:, None, :]).any(axis=2)
                comes = (others[:, :, None] == moves.added[rows][:, None, :]).any(axis=2) & (others >= 0)
                met[rows] = (stays | comes).any(axis=1)
        return met

    @cached_property
    def _own_needs(self) -> IndexArray:
        """The numbers of the needs of each element, padded."""
        own: list[list[int]] = [[] for _ in range(self.n)]
        for need, element in enumerate(self._needs.element.tolist()):
            own[element].append(need)
        return padded([np.array(needs, dtype=np.intp) for needs in own])

    @cached_property
    def _padded_others(self) -> IndexArray:
        return padded([others for _, others in self._needs.listed()])

    @override
    def _substitutes(self, support: IndexArray) -> dict[int, IndexArray]:
        chosen = self._mask(support)
        sole = np.flatnonzero((self._needs.counts(chosen) == 1) & chosen[self._needs.element])
        found: dict[int, list[IndexArray]] = {}
        for _, others in self._needs.listed(sole):
            is_chosen = chosen[others]
            found.setdefault(int(others[is_chosen][0]), []).append(others[~is_chosen])
        forced = set(self.forced.tolist())
        return {
            element: np.unique(np.concatenate(others))
            for element, others in found.items()
            if element not in forced and all(map(len, others))
        }

    def _only_chosen(self, chosen: BoolArray, place: IndexArray) -> IndexArray:
        """Return the place of the only chosen alternative, for needs that have just one."""
        if not len(self._needs.element):
            return self._needs.element
        places = np.where(chosen[self._needs.others], place[self._needs.others], 0)
        return np.add.reduceat(places, self._needs.begin[:-1])

    # -- weights ------------------------------------------------------------------------------------

    @override
    def inequalities(self) -> Inequalities:
        count = len(self._needs.element)
        rows = np.append(np.arange(count), np.repeat(np.arange(count), np.diff(self._needs.begin)))
        columns = np.append(self._needs.element, self._needs.others)
        entries = np.append(np.ones(count), -np.ones(len(self._needs.others)))
        needs = scipy.sparse.csr_array((entries, (rows, columns)), shape=(count, self.n))
        others = scipy.sparse.csr_array(np.vstack([np.ones(self.n), self._lost]).astype(np.float64))
        limit = np.append(np.zeros(count), [self.size, 0.0])
        return Inequalities(scipy.sparse.vstack([needs, others], format="csr"), limit)


def _read_parents(parents: Any, n: int, names: list[str] | None) -> dict[int, list[int]]:
    if not isinstance(parents, Mapping):
        raise TypeError(f"parents must be a mapping from element to its parents, got {parents!r}")
    place = None if names is None else {name: at for at, name in enumerate(names)}
    found: dict[int, list[int]] = {}
    for element, own in parents.items():
        child = _position(element, n, place)
        given = [own] if isinstance(own, (str, int, np.integer)) else own
        if not isinstance(given, Iterable):
            raise TypeError(f"the parents of {element!r} must be elements, got {own!r}")
        given = list(given)
        if given:
            found[child] = [_position(parent, n, place) for parent in given]
    return found


def _position(element: Any, n: int, place: dict[str, int] | None) -> int:
    if isinstance(element, str) and place is not None:
        if element not in place:
            raise ValueError(f"parents names {element!r}, which is not an element")
        return place[element]
    if isinstance(element, (bool, np.bool_)) or not isinstance(element, (int, np.integer)):
        hint = "; give the names in place of n" if isinstance(element, str) else ""
        raise TypeError(f"parents must name elements by position, or by name, got {element!r}{hint}")
    if not 0 <= element < n:
        raise ValueError(f"parents must hold positions from 0 to {n - 1}, got {element}")
    return int(element)
