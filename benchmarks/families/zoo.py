"""Small random constraints of each family, and of pairs of families, each with its definition written out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Literal

import numpy as np

import swapwise as sw

Set = frozenset[int]
Random = np.random.Generator
Allows = Callable[[Set], bool]


@dataclass(frozen=True)
class Member:
    """A constraint, which sets it should allow, and what a move may bring and drop, as plainly as can be."""

    constraint: sw.Constraint
    allows: Allows
    #: What an element needs one of, need by need
    needs: dict[int, list[Set]]
    #: Sets of elements of which all that is chosen may be dropped at once
    wholes: tuple[Set, ...] = ()
    #: Whether the theorems of the paper hold, whose neighbourhood is larger
    has_theorem: bool = False
    #: Whether a set meets all lower limits
    meets: Allows = lambda chosen: True

    def sets(self) -> list[Set]:
        """Return all sets that are allowed."""
        elements = range(self.constraint.n)
        every = chain.from_iterable(combinations(elements, size) for size in range(self.constraint.n + 1))
        return [chosen for chosen in map(frozenset, every) if self.allows(chosen)]

    def answers(self) -> list[Set]:
        """Return those that meet all lower limits."""
        return [chosen for chosen in self.sets() if self.meets(chosen)]


def _labels(random: Random, n: int, groups: int) -> list[int]:
    return random.integers(0, groups, n).tolist()


def _counts(labels: list[int], chosen: Set) -> dict[int, int]:
    found: dict[int, int] = {}
    for element in chosen:
        found[labels[element]] = found.get(labels[element], 0) + 1
    return found


def uniform(random: Random, n: int) -> Member:
    """Return a limit on the number of elements."""
    k = int(random.integers(1, n))
    return Member(sw.Uniform(n, k), lambda chosen: len(chosen) <= k, {}, has_theorem=True)


def partition(random: Random, n: int) -> Member:
    """Return a limit for each group."""
    labels, most = _labels(random, n, 4), int(random.integers(1, 3))
    return Member(
        sw.Partition(labels, most),
        lambda chosen: all(count <= most for count in _counts(labels, chosen).values()),
        {},
        has_theorem=True,
    )


def between(random: Random, n: int) -> Member:
    """Return lower and upper limits for each group, and one for all."""
    labels = [*range(3), *_labels(random, n - 3, 3)]
    sizes = [labels.count(label) for label in range(3)]
    most = {label: int(random.integers(1, 1 + sizes[label])) for label in range(3)}
    least = {label: int(random.integers(0, 1 + min(2, most[label]))) for label in range(3)}
    size = int(random.integers(max(1, sum(least.values())), 1 + sum(most.values())))

    def allows(chosen: Set) -> bool:
        counts = _counts(labels, chosen)
        places = sum(max(counts.get(label, 0), least[label]) for label in range(3))
        return places <= size and all(counts.get(label, 0) <= most[label] for label in range(3))

    def meets(chosen: Set) -> bool:
        return all(_counts(labels, chosen).get(label, 0) >= least[label] for label in range(3))

    constraint = sw.Partition(labels, most, at_least=least, size=size)
    return Member(constraint, allows, {}, has_theorem=True, meets=meets)


def exactly(random: Random, n: int) -> Member:
    """Return a number of elements, no more and no less."""
    k = int(random.integers(1, n - 2))
    return Member(
        sw.Uniform(n, k, at_least=k),
        lambda chosen: len(chosen) <= k,
        {},
        has_theorem=True,
        meets=lambda chosen: len(chosen) == k,
    )


def conflicts(random: Random, n: int) -> Member:
    """Return pairs that exclude each other."""
    pairs = [(i, j) for i in range(n) for j in range(i) if random.random() < 0.3] or [(0, 1)]
    return Member(
        sw.Conflicts(n, pairs),
        lambda chosen: not any({i, j} <= chosen for i, j in pairs),
        {},
        has_theorem=True,
    )


def bmatching(random: Random, n: int) -> Member:
    """Return edges with limited degrees."""
    edges = [tuple(random.choice(5, 2, replace=False).tolist()) for _ in range(n)]

    def allows(chosen: Set) -> bool:
        ends = [vertex for element in chosen for vertex in edges[element]]
        return all(ends.count(vertex) <= 1 for vertex in ends)

    return Member(sw.BMatching(edges, 1), allows, {}, has_theorem=True)


def few_groups(random: Random, n: int) -> Member:
    """Return elements of few groups."""
    labels, most = _labels(random, n, 4), int(random.integers(1, 4))
    capacity = None if random.random() < 0.5 else int(random.integers(1, 4))
    size = None if random.random() < 0.5 else int(random.integers(1, n + 1))

    def allows(chosen: Set) -> bool:
        counts = _counts(labels, chosen)
        fits = all(count <= (n if capacity is None else capacity) for count in counts.values())
        return fits and len(counts) <= most and len(chosen) <= (n if size is None else size)

    wholes = tuple(frozenset(e for e in range(n) if labels[e] == label) for label in set(labels))
    return Member(sw.FewGroups(labels, most, capacity, size), allows, {}, wholes)


def knapsack(random: Random, n: int) -> Member:
    """Return a budget."""
    costs, budget = random.integers(1, 9, n).astype(float), float(random.integers(4, 20))
    return Member(sw.Knapsack(costs, budget), lambda chosen: sum(costs[e] for e in chosen) <= budget, {})


def two_budgets(random: Random, n: int) -> Member:
    """Return two budgets."""
    costs, budget = random.integers(0, 5, (2, n)).astype(float), random.integers(3, 10, 2).astype(float)
    return Member(
        sw.Knapsack(costs, budget),
        lambda chosen: bool((costs[:, sorted(chosen)].sum(axis=1) <= budget).all()),
        {},
    )


def _hierarchy(random: Random, n: int, kind: Literal["strong", "weak"]) -> Member:
    order = np.random.default_rng(n).permutation(n).tolist()  # the same for two hierarchies: no circles
    parents = {
        order[place]: sorted(
            {order[p] for p in random.integers(0, place, int(random.integers(1, 3))).tolist()}
        )
        for place in range(2, n)
        if random.random() < 0.7
    }
    size = int(random.integers(2, n + 1))
    needs = {
        e: [frozenset([p]) for p in own] if kind == "strong" else [frozenset(own)]
        for e, own in parents.items()
    }

    def allows(chosen: Set) -> bool:
        return len(chosen) <= size and all(need & chosen for e in chosen for need in needs.get(e, ()))

    return Member(sw.Hierarchy(n, parents, size, kind=kind), allows, needs)


def strong(random: Random, n: int) -> Member:
    """Return elements that need all of their parents."""
    return _hierarchy(random, n, "strong")


def weak(random: Random, n: int) -> Member:
    """Return elements that need one of their parents."""
    return _hierarchy(random, n, "weak")


FAMILIES: dict[str, Callable[[Random, int], Member]] = {
    "size": uniform,
    "groups": partition,
    "between": between,
    "exactly": exactly,
    "conflicts": conflicts,
    "degrees": bmatching,
    "few groups": few_groups,
    "budget": knapsack,
    "two budgets": two_budgets,
    "strong hierarchy": strong,
    "weak hierarchy": weak,
}
NEW = (
    "between",
    "exactly",
    "conflicts",
    "few groups",
    "budget",
    "two budgets",
    "strong hierarchy",
    "weak hierarchy",
)


def member_of(names: tuple[str, ...], random: Random, n: int) -> Member:
    """Return a random constraint of a family, or an intersection of one of each, which allows some set."""
    while True:
        parts = [FAMILIES[name](random, n) for name in names]
        if len(parts) == 1:
            return parts[0]
        try:
            return _intersection(parts)
        except ValueError as error:
            if "meets all lower limits" not in str(error):
                raise


def _intersection(parts: list[Member]) -> Member:
    needs: dict[int, list[Set]] = {}
    for part in parts:
        for element, own in part.needs.items():
            needs.setdefault(element, []).extend(own)
    return Member(
        sw.Intersection(*(part.constraint for part in parts)),
        lambda chosen: all(part.allows(chosen) for part in parts),
        needs,
        tuple(whole for part in parts for whole in part.wholes),
        all(part.has_theorem for part in parts),
        lambda chosen: all(part.meets(chosen) for part in parts),
    )


def families_and_pairs() -> Iterator[tuple[str, ...]]:
    """Yield each new family by itself, and with itself and each other family."""
    for name in NEW:
        yield (name,)
    names = list(FAMILIES)
    for first, second in combinations(names, 2):
        if first in NEW or second in NEW or (first, second) == ("size", "degrees"):
            yield first, second
    for name in NEW:
        yield name, name


def neighbours(member: Member, chosen: Set, allowed: set[Set]) -> Iterator[Set]:
    """Yield the sets that are one move away, by the definition in the docs."""
    for target in allowed:
        added, dropped = target - chosen, chosen - target
        if added and _is_bundle(member, chosen, added) and _is_drop(member, chosen, added, dropped):
            yield target


def _is_bundle(member: Member, chosen: Set, added: Set) -> bool:
    """Return whether a set is one element with what it lacks, and no more than that."""
    for element in added:
        if len(added) == 1:
            return True
        smaller = [added - {other} for other in added - {element}]
        if _is_closed(member, chosen, added) and not any(_is_closed(member, chosen, s) for s in smaller):
            return True
    return False


def _is_closed(member: Member, chosen: Set, added: Set) -> bool:
    return all(need & (chosen | added) for e in added for need in member.needs.get(e, ()))


def _is_drop(member: Member, chosen: Set, added: Set, dropped: Set) -> bool:
    """Return whether no more is dropped than what excludes the new ones, and two or as many as are added."""
    most = max(2, len(added))
    if len(member.wholes) and not isinstance(member.constraint, sw.Intersection):
        most = max(1, len(added))
    excluded = (
        {e for e in dropped if any(not member.allows(frozenset({e, a})) for a in added)}
        if not member.needs
        else set()
    )
    rest = dropped - excluded
    if len(rest) <= most:
        return True
    return any(rest == whole & chosen for whole in member.wholes)
