"""Small random matroids of every family, each with its definition written out a second time.

A :class:`Specimen` is a matroid and a plain function that says which sets it should allow, as slow
and as close to the textbook as can be. ``FAMILIES`` maps a name to a strategy that draws specimens,
degenerate ones included: no elements, loops only, no limits at all, parallel elements, capacity 0.

Hypothesis draws no more than the seed of a specimen. Drawn piece by piece, most of them are too
poor to tell right from wrong: nine in ten have no swap that is possible for some drops and not for
others. With six elements at the most, what fails is small enough without shrinking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, permutations

import networkx as nx
import numpy as np
from hypothesis import strategies as st

from swapwise import Graphic, Laminar, LinearMatroid, OracleMatroid, Partition, Transversal, Uniform
from swapwise.constraints.matroid import Matroid

LARGEST = 6  # elements: 64 subsets, so that all of them can be looked at

Set = frozenset[int]
Random = np.random.Generator


@dataclass(frozen=True)
class Specimen:
    """A matroid, the definition of what it should allow, and the call that makes it."""

    matroid: Matroid
    allows: Callable[[Set], bool]
    recipe: str

    def __repr__(self) -> str:
        return self.recipe

    def independent_sets(self) -> set[Set]:
        return {subset for subset in subsets(range(self.matroid.n)) if self.allows(subset)}


def subsets(elements) -> list[Set]:
    elements = list(elements)
    return [frozenset(s) for size in range(len(elements) + 1) for s in combinations(elements, size)]


def as_array(subset) -> np.ndarray:
    return np.array(sorted(subset), dtype=np.intp)


def some_n(random: Random) -> int:
    return int(random.choice([0, 1, 2, 3, 4, 5, 6], p=[0.03, 0.04, 0.06, 0.12, 0.2, 0.25, 0.3]))


def some_of(random: Random, n: int) -> list[int]:
    """Return a random set of elements; its size, too, is random."""
    return sorted(random.permutation(n)[: random.integers(0, n + 1)].tolist())


def some_order(random: Random, n: int) -> list[int]:
    """Return some of the elements in any order, and every second time all of them."""
    order = random.permutation(n).tolist()
    return order if random.random() < 0.5 else order[: random.integers(0, n + 1)]


def some_independent_set(random: Random, specimen: Specimen) -> Set:
    chosen: Set = frozenset()
    for element in some_order(random, specimen.matroid.n):
        if specimen.allows(chosen | {element}):
            chosen |= {element}
    return chosen


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
    return Specimen(matroid, inner.allows, f"OracleMatroid of {inner}")


BASIC_BUILDERS = [uniform, partition, laminar, graphic, transversal, linear, oracle]


def truncated(random: Random, inner: Specimen) -> Specimen:
    forced = frozenset(inner.matroid.forced.tolist())
    size = int(random.integers(len(forced), inner.matroid.rank() + 2))
    return Specimen(
        inner.matroid.truncate(size),
        lambda s: len(s | forced) <= size and inner.allows(s),
        f"{inner}.truncate({size})",
    )


def restricted(random: Random, inner: Specimen) -> Specimen:
    kept = frozenset(some_of(random, inner.matroid.n)) | frozenset(inner.matroid.forced.tolist())
    return Specimen(
        inner.matroid.restrict(kept),
        lambda s: s <= kept and inner.allows(s),
        f"{inner}.restrict({sorted(kept)})",
    )


def contracted(random: Random, inner: Specimen) -> Specimen:
    independent = sorted(some_independent_set(random, inner))
    forced = frozenset(independent[: random.integers(0, 3)])
    return Specimen(
        inner.matroid.contract(forced),
        lambda s: inner.allows(s | forced),
        f"{inner}.contract({sorted(forced)})",
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
