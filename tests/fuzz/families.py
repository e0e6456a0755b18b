"""Constraints of every family on a given number of elements, each with its definition written out again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations

import networkx as nx
import numpy as np

import swapwise as sw

Random = np.random.Generator
Set = frozenset[int]
Edges = list[tuple[int, int]]


@dataclass(frozen=True)
class Family:
    """How to make a constraint, what it should allow, what it forces in, and whether it is what it says.

    ``honest`` is False of oracles that are not matroids, which may be refused; ``closed`` is whether every
    subset of an allowed set is allowed; ``meets`` says which sets meet the lower limits, if there are any.
    """

    name: str
    make: Callable[[], sw.IndependenceSystem]
    allows: Callable[[Set], bool]
    forced: Set = frozenset()
    honest: bool = True
    closed: bool = True
    meets: Callable[[Set], bool] | None = None

    def answers(self, n: int) -> list[Set]:
        """Return the sets that may be chosen in the end."""
        every = (frozenset(s) for size in range(n + 1) for s in combinations(range(n), size))
        meets = self.meets or (lambda s: True)
        return [s for s in every if self.forced <= s and self.allows(s) and meets(s)]


def uniform(random: Random, n: int, edges: Edges) -> Family:
    k = int(random.choice([0, 1, 2, 3, 4], p=[0.04, 0.16, 0.4, 0.3, 0.1]))
    return Family("uniform", lambda: sw.Uniform(n, k), lambda s: len(s) <= k)


def partition(random: Random, n: int, edges: Edges) -> Family:
    labels = random.integers(0, random.integers(2, 5), n).tolist()
    capacity = {label: int(random.choice([0, 1, 1, 2])) for label in set(labels)}
    return Family(
        "partition",
        lambda: sw.Partition(labels, capacity),
        lambda s: all(sum(labels[e] == label for e in s) <= limit for label, limit in capacity.items()),
    )


def laminar(random: Random, n: int, edges: Edges) -> Family:
    half = int(random.integers(2, n - 1))
    inner = list(range(int(random.integers(1, half + 1))))
    limits = [(inner, 1), (list(range(half)), 2), (list(range(half, n)), 1), (list(range(n)), 3)]
    limits = [limits[index] for index in random.permutation(4)[: random.integers(2, 5)]]
    limits.append((list(range(n)), 4))
    return Family(
        "laminar",
        lambda: sw.Laminar(n, limits),
        lambda s: all(len(s.intersection(members)) <= limit for members, limit in limits),
    )


def graphic(random: Random, n: int, edges: Edges) -> Family:
    def is_forest(s: Set) -> bool:
        return not s or nx.is_forest(nx.MultiGraph([edges[e] for e in s]))

    return Family("graphic", lambda: sw.Graphic(edges), is_forest)


def transversal(random: Random, n: int, edges: Edges) -> Family:
    slots = [np.flatnonzero(random.random(n) < 0.4).tolist() for _ in range(random.integers(1, 4))]

    def can_be_filled(s: Set) -> bool:
        return any(
            all(element in slot for element, slot in zip(s, chosen, strict=True))
            for chosen in permutations(slots, len(s))
        )

    return Family("transversal", lambda: sw.Transversal(n, slots), can_be_filled)


def linear(random: Random, n: int, edges: Edges) -> Family:
    matrix = random.choice([-1, 0, 0, 1, 2], size=(int(random.integers(1, 4)), n)).astype(float)

    def has_full_rank(s: Set) -> bool:
        return not s or bool(np.linalg.matrix_rank(matrix[:, sorted(s)]) == len(s))

    return Family("linear matroid", lambda: sw.LinearMatroid(matrix), has_full_rank)


MATROIDS = [uniform, uniform, partition, laminar, graphic, transversal, linear]


def between(random: Random, n: int, edges: Edges) -> Family:
    """Return lower and upper limits on labels: allowed is what is part of a set that meets all of them."""
    labels = random.integers(0, random.integers(1, 4), n).tolist()
    capacity = {label: int(random.integers(1, 4)) for label in set(labels)}
    room = {label: min(labels.count(label), most) for label, most in capacity.items()}
    at_least = {label: int(random.integers(0, min(room[label], 2) + 1)) for label in room}
    needed = sum(at_least.values())
    size = int(random.integers(needed, needed + 3))

    def demand(s: Set) -> int:
        return sum(max(least, sum(labels[e] == c for e in s)) for c, least in at_least.items())

    def meets(s: Set) -> bool:
        return all(sum(labels[e] == label for e in s) >= least for label, least in at_least.items())

    return Family(
        "lower limits",
        lambda: sw.Partition(labels, capacity, at_least, size),
        lambda s: (
            demand(s) <= size
            and all(sum(labels[e] == label for e in s) <= most for label, most in capacity.items())
        ),
        meets=meets,
    )


def exactly(random: Random, n: int, edges: Edges) -> Family:
    k = int(random.integers(1, 4))
    constraint, meets = (lambda: sw.Uniform(n, k, k)), (lambda s: len(s) == k)
    return Family("exactly k", constraint, lambda s: len(s) <= k, meets=meets)


def any_matroid(random: Random, n: int, edges: Edges) -> Family:
    return MATROIDS[random.integers(len(MATROIDS))](random, n, edges)


def oracle(random: Random, n: int, edges: Edges) -> Family:
    inner = any_matroid(random, n, edges)
    return Family("oracle of a matroid", _oracle(n, inner.allows), inner.allows)


class OwnMatroid(sw.Matroid):
    """A matroid as a user would write it: one method."""

    def __init__(self, n: int, allows: Callable[[Set], bool]) -> None:
        self.n, self._allows = n, allows

    def _is_independent(self, support):
        return self._allows(frozenset(support.tolist()))


def own_matroid(random: Random, n: int, edges: Edges) -> Family:
    inner = any_matroid(random, n, edges)
    return Family("own matroid class", lambda: OwnMatroid(n, inner.allows), inner.allows)


def minor(random: Random, n: int, edges: Edges) -> Family:
    """Truncate, restrict or contract a matroid, up to three times."""
    family = [any_matroid, oracle, between][random.integers(3)](random, n, edges)
    for step in random.integers(3, size=random.integers(1, 4)):
        family = [_truncated, _restricted, _contracted][step](random, n, family)
    return family


def _truncated(random: Random, n: int, inner: Family) -> Family:
    answers = inner.answers(n)
    size = max(min(map(len, answers)), int(random.integers(1, 4)))
    short = {s for s in answers if len(s) <= size}
    return Family(
        "minor",
        lambda: inner.make().truncate(size),
        lambda s: any(s <= other for other in short),
        inner.forced,
        meets=inner.meets,
    )


def _restricted(random: Random, n: int, inner: Family) -> Family:
    answers = inner.answers(n)  # one of them is kept, so that lower limits can be met
    kept = frozenset(random.permutation(n)[: random.integers(2, n + 1)].tolist())
    kept |= answers[random.integers(len(answers))] if inner.meets else inner.forced
    return Family(
        "minor",
        lambda: inner.make().restrict(kept),
        lambda s: s <= kept and inner.allows(s),
        inner.forced,
        meets=inner.meets,
    )


def _contracted(random: Random, n: int, inner: Family) -> Family:
    forced = inner.forced
    for element in random.permutation(n)[: random.integers(1, 3)].tolist():
        if inner.allows(forced | {element}):
            forced = forced | {element}
    return Family(
        "forced elements",
        lambda: inner.make().contract(forced),
        lambda s: inner.allows(s | forced),
        forced,
        meets=inner.meets,
    )


def intersection(random: Random, n: int, edges: Edges) -> Family:
    """Return two or three matroids; sometimes one of them forces an element in."""
    builders = [[uniform, partition], MATROIDS][random.integers(2)]
    parts = [builders[random.integers(len(builders))](random, n, edges) for _ in range(random.integers(2, 4))]
    forced: Set = frozenset()
    element = frozenset({int(random.integers(n))})
    if random.random() < 0.2 and all(part.allows(element) for part in parts):
        forced, parts[0] = element, _forcing(parts[0], element)
    rule = "matroid" if len(parts) == 2 and random.random() < 0.3 else "auto"
    return Family(
        f"intersection of {len(parts)}",
        lambda: sw.Intersection(*(part.make() for part in parts), neighbourhood=rule),
        lambda s: all(part.allows(s | forced) for part in parts),
        forced,
    )


def _forcing(inner: Family, forced: Set) -> Family:
    return Family(
        inner.name, lambda: inner.make().contract(forced), lambda s: inner.allows(s | forced), forced
    )


def bmatching(random: Random, n: int, edges: Edges) -> Family:
    # An edge from a vertex to itself leads to one more vertex here: matchings have no loops.
    pairs = [(u, v) if u != v else (u, 9) for u, v in edges]
    b = {v: int(random.choice([0, 1, 1, 2])) for pair in pairs for v in pair}
    return Family(
        "b-matching",
        lambda: sw.BMatching(pairs, b),
        lambda s: all(sum(v in pairs[e] for e in s) <= limit for v, limit in b.items()),
    )


def set_packing(random: Random, n: int, edges: Edges) -> Family:
    sets = [random.permutation(7)[: random.integers(1, 4)].tolist() for _ in range(n)]
    return Family(
        "set packing",
        lambda: sw.SetPacking(sets),
        lambda s: all(set(sets[i]).isdisjoint(sets[j]) for i, j in combinations(s, 2)),
    )


class Knapsack(sw.IndependenceSystem):
    """A budget as a user would write it, who says nothing of p."""

    def __init__(self, costs: np.ndarray, budget: float) -> None:
        self.n, self.costs, self.budget = len(costs), costs, budget

    def _is_independent(self, support):
        return bool(self.costs[support].sum() <= self.budget)

    def moves(self, support, q=1, candidates=None) -> Iterator[sw.extending.MoveList]:
        yield self._listed(support, lambda drops: drops)

    def cheapest_drops(self, support, cost, q=1) -> Iterator[sw.extending.MoveList]:
        yield self._listed(support, lambda drops: [min(drops, key=lambda d: cost[list(d)].sum())])

    def _listed(self, support, pick: Callable[[list[tuple[int, ...]]], Iterable[tuple[int, ...]]]):
        """Return for every element that fits the drops of fewest elements that make room, as picked."""
        rows = []
        for element in np.setdiff1d(np.arange(self.n), support):
            for size in range(len(support) + 1):
                room = self.budget - self.costs[element] - self.costs[support].sum()
                drops = [d for d in combinations(support, size) if room + self.costs[list(d)].sum() >= 0]
                if drops:
                    rows += [(element, drop) for drop in pick(drops)]
                    break
        width = max((len(drop) for _, drop in rows), default=0)
        dropped = np.array([[*drop, *[-1] * (width - len(drop))] for _, drop in rows], dtype=np.intp)
        added = np.array([[element] for element, _ in rows], dtype=np.intp)
        return sw.extending.MoveList(added.reshape(-1, 1), dropped.reshape(len(rows), width))

    def _max_weight(self, weights, clock):
        sets = (np.array(s, dtype=np.intp) for k in range(self.n + 1) for s in combinations(range(self.n), k))
        best = max((s for s in sets if self._is_independent(s)), key=lambda s: weights[s].sum())
        return sw.extending.MaxWeight(best, float(weights[best].sum()))


def own_knapsack(random: Random, n: int, edges: Edges) -> Family:
    costs = random.choice([1.0, 2.0, 3.0, 5.0], n)
    budget = float(random.integers(3, 9))
    return Family(
        "own knapsack class",
        lambda: Knapsack(costs, budget),
        lambda s: sum(costs[e] for e in s) <= budget,
    )


def _families_of_sets(random: Random, n: int) -> tuple[str, Callable[[Set], bool], bool]:
    """Return a family of sets that need not be a matroid, its name, and whether it is downward closed."""
    kind = random.integers(5)
    if kind == 0:
        costs, budget = random.integers(1, 5, n), int(random.integers(3, 8))
        return "budget", lambda s: sum(costs[e] for e in s) <= budget, True
    if kind == 1:
        labels = random.integers(0, 3, n)
        return "one group touched", lambda s: len({int(labels[e]) for e in s}) <= 1 and len(s) <= 4, True
    if kind == 2:
        half = n // 2
        parents = {e: int(random.integers(half)) for e in range(half, n)}
        return "hierarchy", lambda s: len(s) <= 4 and all(parents.get(e, e) in s for e in s), False
    if kind == 3:
        pairs = [frozenset(random.permutation(n)[:2].tolist()) for _ in range(n)]
        return "conflicts", lambda s: len(s) <= 4 and not any(pair <= s for pair in pairs), True
    bases = [frozenset(random.permutation(n)[: random.integers(1, 5)].tolist()) for _ in range(4)]
    return "subsets of a few sets", lambda s: any(s <= base for base in bases), True


def _oracle(n: int, allows: Callable[[Set], bool]) -> Callable[[], sw.IndependenceSystem]:
    return lambda: sw.OracleMatroid(n, lambda support: bool(allows(frozenset(support.tolist()))))


def false_oracle(random: Random, n: int, edges: Edges) -> Family:
    name, allows, closed = _families_of_sets(random, n)
    return Family(f"false oracle: {name}", _oracle(n, allows), allows, honest=False, closed=closed)


def oracle_system(random: Random, n: int, edges: Edges) -> Family:
    """Return a downward closed family that says no more of itself, where the library serves those."""
    name, allows, closed = _families_of_sets(random, n)
    maker = getattr(sw, "OracleSystem", None)
    if maker is None:
        return false_oracle(random, n, edges)
    return Family(
        f"oracle system: {name}",
        lambda: maker(n, lambda support: bool(allows(frozenset(support.tolist())))),
        allows,
        honest=closed,
        closed=closed,
    )


FAMILIES = [
    uniform,
    uniform,
    uniform,
    partition,
    partition,
    laminar,
    graphic,
    transversal,
    linear,
    between,
    between,
    exactly,
    oracle,
    own_matroid,
    minor,
    minor,
    intersection,
    intersection,
    bmatching,
    set_packing,
    own_knapsack,
    false_oracle,
    oracle_system,
]


def some_family(random: Random, n: int, edges: Edges) -> Family:
    return FAMILIES[random.integers(len(FAMILIES))](random, n, edges)
