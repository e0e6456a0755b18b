"""Small random matroids and other systems of every family, each with its definition written out again.

A :class:`Specimen` is a matroid and a plain function that says which sets it should allow, as slow
and as close to the textbook as can be. ``FAMILIES`` maps a name to a strategy that draws specimens,
degenerate ones included: no elements, loops only, no limits at all, parallel elements, capacity 0.
``SYSTEMS`` does the same for constraints that are no matroids.

Hypothesis draws no more than the seed of a specimen. Drawn piece by piece, most of them are too
poor to tell right from wrong: nine in ten have no swap that is possible for some drops and not for
others. With six elements at most, what fails is small enough without shrinking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from hypothesis import strategies as st

from swapwise import (
    BMatching,
    Graphic,
    IndependenceSystem,
    Intersection,
    Laminar,
    LinearMatroid,
    OracleMatroid,
    OracleSystem,
    Partition,
    SetPacking,
    Transversal,
    Uniform,
)
from swapwise.constraints import oracle_system as oracles
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.packing import PackingSystem
from swapwise.moves import MoveList, SwapGrid
from swapwise.theory import smallest_p

LARGEST = 6  # elements: 64 subsets, so that all of them can be looked at

Set = frozenset[int]
Random = np.random.Generator


@dataclass(frozen=True)
class Specimen:
    """A matroid, the definition of what it should allow, and the call that makes it.

    ``meets`` says which sets meet its lower limits, if it has any.
    """

    matroid: Matroid
    allows: Callable[[Set], bool]
    recipe: str
    meets: Callable[[Set], bool] | None = None

    def __repr__(self) -> str:
        return self.recipe

    def independent_sets(self) -> set[Set]:
        return {subset for subset in subsets(range(self.matroid.n)) if self.allows(subset)}

    def complete_sets(self) -> set[Set]:
        return {s for s in self.independent_sets() if self.meets is None or self.meets(s)}


def parts_of(answers: set[Set]) -> set[Set]:
    """Return all subsets of some sets: the definition of what lower limits allow."""
    return {part for answer in answers for part in subsets(answer)}


def subsets(elements) -> list[Set]:
    elements = list(elements)
    return [frozenset(s) for size in range(len(elements) + 1) for s in combinations(elements, size)]


def as_array(subset) -> np.ndarray:
    return np.array(sorted(subset), dtype=np.intp)


def swap_grid(matroid: Matroid, support) -> SwapGrid:
    (grid,) = matroid.moves(np.sort(np.array(support, dtype=np.intp)))
    return grid


def cheapest_drops(system: IndependenceSystem, support: np.ndarray, cost: np.ndarray, q: int = 1) -> MoveList:
    batches = list(system.cheapest_drops(support, cost, q))
    assert batches  # there is at least one, if an empty one
    return MoveList.joined(batches)


def some_n(random: Random) -> int:
    return int(random.choice([0, 1, 2, 3, 4, 5, 6], p=[0.03, 0.04, 0.06, 0.12, 0.2, 0.25, 0.3]))


def some_of(random: Random, n: int) -> list[int]:
    """Return a random set of elements; its size, too, is random."""
    return sorted(random.permutation(n)[: random.integers(0, n + 1)].tolist())


def some_order(random: Random, n: int) -> list[int]:
    """Return some of the elements in any order, and every second time all of them."""
    order = random.permutation(n).tolist()
    return order if random.random() < 0.5 else order[: random.integers(0, n + 1)]


def some_allowed_set(random: Random, n: int, allows: Callable[[Set], bool]) -> Set:
    chosen: Set = frozenset()
    for element in some_order(random, n):
        if allows(chosen | {element}):
            chosen |= {element}
    return chosen


def some_independent_set(random: Random, specimen: Specimen) -> Set:
    return some_allowed_set(random, specimen.matroid.n, specimen.allows)


def uniform(random: Random) -> Specimen:
    n, k = some_n(random), int(random.integers(0, LARGEST + 2))
    return Specimen(Uniform(n, k), lambda s: len(s) <= k, f"Uniform({n}, {k})")


def partition(random: Random) -> Specimen:
    names = ["a", "b", 3, (4, 5)]
    labels = [names[i] for i in random.integers(0, len(names), some_n(random))]
    capacity = {label: int(random.integers(0, 4)) for label in dict.fromkeys(labels)}

    def within_limits(s: Set) -> bool:
        return all(sum(labels[e] == label for e in s) <= limit for label, limit in capacity.items())

    return Specimen(Partition(labels, capacity), within_limits, f"Partition({labels}, {capacity})")


def laminar(random: Random) -> Specimen:
    n = some_n(random)
    limits: list[tuple[list[int], int]] = []
    for _ in range(random.integers(0, 12)):
        proposed = some_of(random, n)
        if all(set(proposed) & set(other) in (set(), set(proposed), set(other)) for other, _ in limits):
            limits.append((proposed, int(random.integers(0, max(1, len(proposed)) + 1))))
    return Specimen(
        Laminar(n, limits),
        lambda s: all(len(s.intersection(members)) <= limit for members, limit in limits),
        f"Laminar({n}, {limits})",
    )


def between(random: Random) -> Specimen:
    """Return lower and upper limits on nested sets: independent is what is part of a set that meets all."""
    inner = [uniform, partition, laminar, laminar][random.integers(4)](random)
    tree, n = inner.matroid.laminar_tree(), inner.matroid.n
    members = [frozenset(np.flatnonzero((tree.leaf >= t) & (tree.leaf < e))) for t, e in enumerate(tree.end)]
    size, least = int(random.integers(0, n + 2)), np.zeros(len(members), dtype=np.intp)

    def meets(s: Set) -> bool:
        return all(len(s & some) >= low for some, low in zip(members, least, strict=True))

    known = [s for s in inner.independent_sets() if len(s) <= size]

    for node in random.permutation(len(members)):
        if random.random() < 0.7 and (node or not isinstance(inner.matroid, Partition)):
            least[node] = random.integers(0, 4)
            while not any(map(meets, known)):  # as many as a set can have
                least[node] -= 1
    found = parts_of({s for s in known if meets(s)})
    return Specimen(
        _with_lower_limits(inner.matroid, least, size),
        lambda s: s in found,
        f"{inner}, of each of {[sorted(map(int, some)) for some in members]} at least {least}, {size} in all",
        meets,
    )


def _with_lower_limits(matroid: Matroid, least: np.ndarray, size: int) -> Matroid:
    if isinstance(matroid, Uniform):
        return Uniform(matroid.n, min(matroid.k, size), int(least[0]))
    if isinstance(matroid, Partition):
        at_least = dict(zip(matroid.labels, least[1:].tolist(), strict=True))
        return Partition(matroid.element_labels, matroid.capacity, at_least, size)
    tree = matroid.laminar_tree()
    capacity = np.append(min(size, tree.capacity[0]), tree.capacity[1:])
    return Laminar.of_tree(tree._replace(capacity=capacity, at_least=least))


def graphic(random: Random) -> Specimen:
    vertices = int(random.integers(1, 6))
    edges = [(int(u), int(v)) for u, v in random.integers(0, vertices, (some_n(random), 2))]
    as_graph = random.random() < 0.3
    matroid = Graphic(nx.MultiGraph(edges) if as_graph else edges)

    def is_forest(s: Set) -> bool:
        return not s or nx.is_forest(nx.MultiGraph([matroid.edges[e] for e in s]))

    return Specimen(matroid, is_forest, f"Graphic({f'nx.MultiGraph({edges})' if as_graph else edges})")


def transversal(random: Random) -> Specimen:
    n, n_slots = some_n(random), int(random.integers(0, 5))
    fits = random.random((n_slots, n)) < random.choice([0.2, 0.4, 0.7])
    slots = [np.flatnonzero(row).tolist() for row in fits]

    def can_be_filled(s: Set) -> bool:
        return any(
            all(element in slot for element, slot in zip(s, chosen, strict=True))
            for chosen in permutations(slots, len(s))
        )

    return Specimen(Transversal(n, slots), can_be_filled, f"Transversal({n}, {slots})")


def linear(random: Random) -> Specimen:
    n, rows = some_n(random), int(random.integers(0, 5))
    matrix = random.choice([-2, -1, 0, 0, 0, 1, 2], size=(rows, n)).astype(float)
    # The lengths of the columns are of no account, however far apart they are.
    scale = 10.0 ** random.integers(-9, 10, n)

    def has_full_rank(s: Set) -> bool:
        return not s or (rows > 0 and np.linalg.matrix_rank(matrix[:, sorted(s)]) == len(s))

    recipe = f"LinearMatroid(np.array({matrix.tolist()}) * {scale.tolist()})"
    return Specimen(LinearMatroid(matrix * scale), has_full_rank, recipe)


def oracle(random: Random) -> Specimen:
    inner = [uniform, partition, graphic, transversal][random.integers(4)](random)
    matroid = OracleMatroid(inner.matroid.n, lambda s: inner.allows(frozenset(s.tolist())))
    if random.random() < 0.5:
        matroid._axioms.maximal = None  # as if there were too many sets to verify: each one met is looked at
    return Specimen(matroid, inner.allows, f"OracleMatroid of {inner}")


WITHOUT_LOWER_LIMITS = [uniform, partition, laminar, graphic, transversal, linear, oracle]
BASIC_BUILDERS = [*WITHOUT_LOWER_LIMITS, between]


def truncated(random: Random, inner: Specimen) -> Specimen:
    forced = frozenset(inner.matroid.forced.tolist())
    if inner.meets is not None:
        return truncated_between(random, inner, forced)
    size = int(random.integers(len(forced), inner.matroid.rank() + 2))
    return Specimen(
        inner.matroid.truncate(size),
        lambda s: len(s | forced) <= size and inner.allows(s),
        f"{inner}.truncate({size})",
    )


def truncated_between(random: Random, inner: Specimen, forced: Set) -> Specimen:
    found = {s for s in inner.complete_sets() if forced <= s}
    size = int(random.integers(min(map(len, found)), inner.matroid.rank() + 2))
    short = parts_of({s for s in found if len(s) <= size})
    matroid = inner.matroid.truncate(size)
    return Specimen(matroid, lambda s: s in short, f"{inner}.truncate({size})", inner.meets)


def restricted(random: Random, inner: Specimen) -> Specimen:
    forced = frozenset(inner.matroid.forced.tolist())
    kept = frozenset(some_of(random, inner.matroid.n)) | forced
    if inner.meets is not None:  # enough for all lower limits
        found = sorted(map(sorted, (s for s in inner.complete_sets() if forced <= s)))
        kept |= frozenset(found[random.integers(len(found))])
    return Specimen(
        inner.matroid.restrict(kept),
        lambda s: s <= kept and inner.allows(s),
        f"{inner}.restrict({sorted(kept)})",
        inner.meets,
    )


def contracted(random: Random, inner: Specimen) -> Specimen:
    independent = sorted(some_independent_set(random, inner))
    forced = frozenset(independent[: random.integers(0, 3)])
    return Specimen(
        inner.matroid.contract(forced),
        lambda s: inner.allows(s | forced),
        f"{inner}.contract({sorted(forced)})",
        None if inner.meets is None else lambda s: inner.meets(s | forced),
    )


MINOR_BUILDERS = [truncated, restricted, contracted]


def basic(random: Random) -> Specimen:
    return BASIC_BUILDERS[random.integers(len(BASIC_BUILDERS))](random)


def nested(random: Random) -> Specimen:
    specimen = basic(random)
    for step in random.integers(len(MINOR_BUILDERS), size=random.integers(2, 5)):
        specimen = MINOR_BUILDERS[step](random, specimen)
    return specimen


randoms = st.integers(0, 2**32 - 1).map(np.random.default_rng)
basics = randoms.map(basic)

MINORS = {
    "truncation": randoms.map(lambda random: truncated(random, basic(random))),
    "restriction": randoms.map(lambda random: restricted(random, basic(random))),
    "contraction": randoms.map(lambda random: contracted(random, basic(random))),
    "truncated contraction": randoms.map(lambda random: truncated(random, contracted(random, basic(random)))),
    "nested minors": randoms.map(nested),
}

FAMILIES = {builder.__name__: randoms.map(builder) for builder in BASIC_BUILDERS} | MINORS


def independent_sets(specimen: Specimen) -> st.SearchStrategy[np.ndarray]:
    return randoms.map(lambda random: as_array(some_independent_set(random, specimen)))


def orders(n: int) -> st.SearchStrategy[list[int]]:
    return randoms.map(lambda random: some_order(random, n))


@dataclass(frozen=True)
class System:
    """A constraint that need not be a matroid, what it should allow, and the call that makes it.

    ``exchange`` tells which of the two definitions of q-reachability it is to follow.
    """

    system: IndependenceSystem
    allows: Callable[[Set], bool]
    recipe: str
    exchange: bool = True

    def __repr__(self) -> str:
        return self.recipe

    def independent_sets(self) -> set[Set]:
        return {subset for subset in subsets(range(self.system.n)) if self.allows(subset)}

    def widths(self, q: int) -> tuple[int, int]:
        """Return how many elements the definition of q-reachability lets a move add and drop."""
        p = self.system.p
        if p is None:  # one is added, and whatever must go is dropped
            return 1, self.system.n
        return (q, p * q - q + 1) if self.exchange else (2 * q, 2 * p * q)


def packing(random: Random) -> System:
    p, n_groups = int(random.integers(1, 4)), int(random.integers(3, 6))
    groups = [random.permutation(n_groups)[:p] for _ in range(some_n(random))]
    groups = [[int(g) if random.random() < 0.8 else -1 for g in row] for row in groups]
    capacity = random.integers(0, 4, n_groups).tolist()

    def within_limits(s: Set) -> bool:
        return all(sum(g in groups[e] for e in s) <= limit for g, limit in enumerate(capacity))

    system = PackingSystem(np.reshape(np.array(groups, dtype=int), (-1, p)), capacity)
    return System(system, within_limits, f"PackingSystem({groups}, {capacity})")


def bmatching(random: Random) -> System:
    vertices = int(random.integers(2, 6))
    edges = [tuple(random.permutation(vertices)[:2].tolist()) for _ in range(some_n(random))]
    b = {v: int(random.integers(0, 4)) for v in range(vertices)}

    def within_limits(s: Set) -> bool:
        return all(sum(v in edges[e] for e in s) <= limit for v, limit in b.items())

    graph = nx.MultiGraph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(edges)
    system = BMatching(graph, b)
    edges = system.edges
    return System(system, within_limits, f"BMatching({edges}, {b})")


def set_packing(random: Random) -> System:
    items = ["a", "b", 3, (4, 5), 6.5]
    sets = [[items[i] for i in random.integers(0, 5, random.integers(0, 4))] for _ in range(some_n(random))]

    def disjoint(s: Set) -> bool:
        return all(set(sets[i]).isdisjoint(sets[j]) for i, j in combinations(s, 2))

    return System(SetPacking(sets), disjoint, f"SetPacking({sets})")


def affordable(random: Random, n: int) -> Callable[[Set], bool]:
    price, budget = random.integers(0, 6, n), int(random.integers(0, 12))
    return lambda s: sum(price[e] for e in s) <= budget


def of_one_group(random: Random, n: int) -> Callable[[Set], bool]:
    label, most = random.integers(0, 3, n), int(random.integers(1, 4))
    return lambda s: len({label[e] for e in s}) <= 1 and len(s) <= most


def part_of_some(random: Random, n: int) -> Callable[[Set], bool]:
    largest = [frozenset(some_of(random, n)) for _ in range(random.integers(1, 6))]
    return lambda s: not s or any(s <= other for other in largest)


def oracle_system(random: Random, verified: bool = True) -> System:
    """Return a budget, at most one group touched, or the subsets of a few sets; verified in full or not."""
    n = some_n(random)
    rule = [affordable, of_one_group, part_of_some][random.integers(3)]
    allows = rule(random, n)
    size = int(random.integers(0, n + 1)) if random.random() < 0.3 else n
    system = OracleSystem(n, lambda s: allows(frozenset(s.tolist())), size if size < n else None)
    if not verified:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(oracles, "BLOCK", 3)
            system._axioms.maximal = None
            _ = system._blocks
    return System(system, lambda s: len(s) <= size and allows(s), f"{rule.__name__} of {n}, {size}")


def exchange_system(random: Random) -> System:
    """Return a packing or a few random sets with all of their subsets, of which only a test is known."""
    if random.random() < 0.5:
        inner = packing(random)
        n, p, allows = inner.system.n, inner.system.p, inner.allows
    else:
        n = some_n(random)
        allows = part_of_some(random, n)
        p = smallest_p(OracleSystem(n, lambda s: allows(frozenset(s.tolist())))).p
    system = OracleSystem(n, lambda s: allows(frozenset(s.tolist())), p=max(2, p))
    return System(system, allows, f"exchange system of {n} elements, p={max(2, p)}")


Builder = Callable[[Random, int], Specimen]


def with_ground_set(random: Random, n: int, builders: list[Callable[[Random], Specimen]]) -> Specimen:
    while True:
        specimen = builders[random.integers(len(builders))](random)
        if specimen.matroid.n == n:
            return specimen


def any_matroid(random: Random, n: int) -> Specimen:
    return with_ground_set(random, n, WITHOUT_LOWER_LIMITS)


def any_minor(random: Random, n: int) -> Specimen:
    specimen = any_matroid(random, n)
    for step in random.integers(len(MINOR_BUILDERS), size=random.integers(1, 4)):
        specimen = MINOR_BUILDERS[step](random, specimen)
    return specimen


def grouped(random: Random, n: int) -> Specimen:
    """Return a matroid that limits disjoint groups: uniform, partition, or made of one."""
    specimen = with_ground_set(random, n, [uniform, partition, partition])
    for step in random.integers(2, size=random.integers(0, 3)):
        specimen = [restricted, contracted][step](random, specimen)
    return specimen


def intersection(random: Random, builder: Builder, neighbourhood: str) -> System:
    """Return an intersection of 1 to 3 matroids that agree on what they force in."""
    while True:
        n = some_n(random)
        parts = [builder(random, n) for _ in range(random.choice([1, 2, 2, 3]))]
        forced = frozenset(e for part in parts for e in part.matroid.forced.tolist())
        if all(part.allows(forced) for part in parts):
            break
    system = Intersection(*(part.matroid for part in parts), neighbourhood=neighbourhood)
    return System(
        system,
        lambda s: all(part.allows(s | forced) for part in parts),
        f"Intersection({', '.join(map(repr, parts))}, neighbourhood={neighbourhood!r})",
        exchange=system.neighbourhood == "exchange",
    )


def roomy(random: Random, n: int) -> Specimen:
    """Return a matroid of rank 2 to 4 with hardly a loop, so that circuits are long and overlap."""
    kind = random.integers(3)
    if kind == 0:
        k = int(random.integers(2, 5))
        return Specimen(Uniform(n, k), lambda s: len(s) <= k, f"Uniform({n}, {k})")
    if kind == 1:
        labels = random.integers(0, 2, n).tolist()
        return Specimen(
            Partition(labels, 2),
            lambda s: all(sum(labels[e] == label for e in s) <= 2 for label in labels),
            f"Partition({labels}, 2)",
        )
    edges = [tuple(random.permutation(5)[:2].tolist()) for _ in range(n)]
    return Specimen(
        Graphic(edges),
        lambda s: not s or nx.is_forest(nx.MultiGraph([edges[e] for e in s])),
        f"Graphic({edges})",
    )


def crowded(random: Random) -> System:
    parts = [roomy(random, LARGEST + 1) for _ in range(random.integers(2, 4))]
    return System(
        Intersection(*(part.matroid for part in parts), neighbourhood="matroid"),
        lambda s: all(part.allows(s) for part in parts),
        f"Intersection({', '.join(map(repr, parts))}, neighbourhood='matroid')",
        exchange=False,
    )


SYSTEM_BUILDERS: dict[str, Callable[[Random], System]] = {
    "packing": packing,
    "bmatching": bmatching,
    "set packing": set_packing,
    "intersection of partitions": lambda random: intersection(random, grouped, "auto"),
    "partitions as matroids": lambda random: intersection(random, grouped, "matroid"),
    "intersection": lambda random: intersection(random, any_matroid, "matroid"),
    "crowded intersection": crowded,
    "intersection of minors": lambda random: intersection(random, any_minor, "matroid"),
    "exchange system": exchange_system,
    "oracle system": oracle_system,
    "large oracle system": lambda random: oracle_system(random, verified=False),
}

SYSTEMS = {name: randoms.map(builder) for name, builder in SYSTEM_BUILDERS.items()}


def starting_sets(specimen: System) -> st.SearchStrategy[np.ndarray]:
    return randoms.map(lambda random: as_array(some_allowed_set(random, specimen.system.n, specimen.allows)))
