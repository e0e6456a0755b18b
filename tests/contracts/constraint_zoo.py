"""Small random matroids of every family, each with its definition written out a second time.

A :class:`Specimen` is a matroid and a plain function that says which sets it should allow, as slow
and as close to the textbook as can be. ``FAMILIES`` maps a name to a strategy that draws specimens,
degenerate ones included: no elements, loops only, no limits at all, parallel elements, capacity 0.
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


@dataclass(frozen=True)
class Specimen:
    """A matroid, and the definition of what it should allow."""

    matroid: Matroid
    allows: Callable[[Set], bool]

    def __repr__(self) -> str:
        return repr(self.matroid)

    def independent_sets(self) -> set[Set]:
        return {subset for subset in subsets(range(self.matroid.n)) if self.allows(subset)}


def subsets(elements) -> list[Set]:
    elements = list(elements)
    return [frozenset(s) for size in range(len(elements) + 1) for s in combinations(elements, size)]


def as_array(subset) -> np.ndarray:
    return np.array(sorted(subset), dtype=np.intp)


sizes = st.integers(0, LARGEST)


def element_sets(n: int, max_size: int | None = None):
    return st.sets(st.integers(0, n - 1), max_size=max_size) if n else st.just(set())


def orders(n: int):
    """Some of the elements, in any order."""
    return st.lists(st.integers(0, n - 1), unique=True) if n else st.just([])


@st.composite
def uniform(draw) -> Specimen:
    n, k = draw(sizes), draw(st.integers(0, LARGEST + 1))
    return Specimen(Uniform(n, k), lambda s: len(s) <= k)


@st.composite
def partition(draw) -> Specimen:
    labels = draw(st.lists(st.sampled_from(["a", "b", 3, (4, 5)]), max_size=LARGEST))
    capacity = {label: draw(st.integers(0, 3)) for label in dict.fromkeys(labels)}
    matroid = Partition(labels, capacity)
    return Specimen(matroid, lambda s: all(sum(labels[e] == c for e in s) <= capacity[c] for c in capacity))


@st.composite
def laminar(draw) -> Specimen:
    n = draw(sizes)
    family: list[set[int]] = []
    for proposed in draw(st.lists(element_sets(n), max_size=6)):
        if all(not (proposed & other) or proposed <= other or other <= proposed for other in family):
            family.append(proposed)
    limits = [(sorted(members), draw(st.integers(0, 4))) for members in family]
    return Specimen(Laminar(n, limits), lambda s: all(len(s & set(members)) <= c for members, c in limits))


@st.composite
def graphic(draw) -> Specimen:
    vertices = st.integers(0, draw(st.integers(0, 4)))
    edges = draw(st.lists(st.tuples(vertices, vertices), max_size=LARGEST))
    given = nx.MultiGraph(edges) if draw(st.booleans()) else edges
    matroid = Graphic(given)

    def is_forest(s: Set) -> bool:
        return not s or nx.is_forest(nx.MultiGraph([matroid.edges[e] for e in s]))

    return Specimen(matroid, is_forest)


@st.composite
def transversal(draw) -> Specimen:
    n = draw(sizes)
    # Slots for a few elements only, so that there are chains of elements that push each other on.
    slots = draw(st.lists(element_sets(n, max_size=3), max_size=4))

    def can_be_filled(s: Set) -> bool:
        return any(
            all(element in slot for element, slot in zip(s, chosen, strict=True))
            for chosen in permutations(slots, len(s))
        )

    return Specimen(Transversal(n, slots), can_be_filled)


@st.composite
def linear(draw) -> Specimen:
    n, rows = draw(sizes), draw(st.integers(0, 4))
    entries = draw(st.lists(st.integers(-2, 2), min_size=n * rows, max_size=n * rows))
    matrix = np.array(entries, dtype=float).reshape(rows, n)
    # The lengths of the columns are of no account, however far apart they are.
    scale = 10.0 ** np.array(draw(st.lists(st.integers(-9, 9), min_size=n, max_size=n)), dtype=float)

    def has_full_rank(s: Set) -> bool:
        return not s or (rows > 0 and np.linalg.matrix_rank(matrix[:, sorted(s)]) == len(s))

    return Specimen(LinearMatroid(matrix * scale), has_full_rank)


@st.composite
def oracle(draw) -> Specimen:
    inner = draw(st.one_of(uniform(), partition(), graphic(), transversal()))
    return Specimen(
        OracleMatroid(inner.matroid.n, lambda s: inner.allows(frozenset(s.tolist()))), inner.allows
    )


BASIC = {
    "uniform": uniform(),
    "partition": partition(),
    "laminar": laminar(),
    "graphic": graphic(),
    "transversal": transversal(),
    "linear": linear(),
    "oracle": oracle(),
}


@st.composite
def truncated(draw, inner: Specimen) -> Specimen:
    forced = frozenset(inner.matroid.forced.tolist())
    size = draw(st.integers(len(forced), LARGEST))
    return Specimen(inner.matroid.truncate(size), lambda s: len(s | forced) <= size and inner.allows(s))


@st.composite
def restricted(draw, inner: Specimen) -> Specimen:
    kept = frozenset(draw(element_sets(inner.matroid.n))) | set(inner.matroid.forced.tolist())
    return Specimen(inner.matroid.restrict(kept), lambda s: s <= kept and inner.allows(s))


@st.composite
def contracted(draw, inner: Specimen) -> Specimen:
    forced = frozenset(draw(independent_set(inner)).tolist())
    return Specimen(inner.matroid.contract(forced), lambda s: inner.allows(s | forced))


@st.composite
def minor(draw, steps) -> Specimen:
    specimen = draw(st.one_of(*BASIC.values()))
    for step in steps or draw(
        st.lists(st.sampled_from([truncated, restricted, contracted]), min_size=2, max_size=4)
    ):
        specimen = draw(step(specimen))
    return specimen


MINORS = {
    "truncation": minor([truncated]),
    "restriction": minor([restricted]),
    "contraction": minor([contracted]),
    "nested minors": minor(None),
}

FAMILIES = BASIC | MINORS


@st.composite
def independent_set(draw, specimen: Specimen) -> np.ndarray:
    """Draw an independent set of the specimen by its definition: greedily, in some order."""
    chosen: Set = frozenset()
    for element in draw(orders(specimen.matroid.n)):
        if specimen.allows(chosen | {element}):
            chosen |= {element}
    return as_array(chosen)
