from itertools import combinations

import numpy as np
import pytest

from swapwise.constraints.algorithms import random_graph
from swapwise.constraints.algorithms.random_graph import _Subgraph, random_subgraph


def complete_graph(n_vertices):
    return np.triu_indices(n_vertices, 1)


def degrees(chosen, tail, head, n_vertices):
    return np.bincount(np.append(tail[chosen], head[chosen]), minlength=n_vertices)


def largest_subgraphs(tail, head, capacity):
    """Return all largest sets of edges within the capacities, by looking at every set."""
    for size in range(len(tail), -1, -1):
        found = [
            chosen
            for chosen in combinations(range(len(tail)), size)
            if (degrees(np.array(chosen, dtype=int), tail, head, len(capacity)) <= capacity).all()
        ]
        if found:
            return found
    raise AssertionError("the empty set is always within the capacities")


@pytest.mark.parametrize(("n_vertices", "b"), [(10, 3), (20, 7), (20, 19), (60, 4), (200, 4)])
def test_regular_graphs(n_vertices, b):
    tail, head = complete_graph(n_vertices)
    chosen = random_subgraph(tail, head, np.full(n_vertices, b), np.random.default_rng(0))
    assert np.array_equal(chosen, np.unique(chosen))
    assert (degrees(chosen, tail, head, n_vertices) == b).all()


def test_an_odd_total_leaves_one_hole():
    tail, head = complete_graph(7)
    holes = set()
    for seed in range(60):
        chosen = random_subgraph(tail, head, np.full(7, 3), np.random.default_rng(seed))
        degree = degrees(chosen, tail, head, 7)
        assert sorted(degree) == [2, 3, 3, 3, 3, 3, 3]
        holes.add(int(degree.argmin()))
    assert holes == set(range(7))


def test_the_same_seed_gives_the_same_graph():
    tail, head = complete_graph(20)
    first, second, third = (
        random_subgraph(tail, head, np.full(20, 7), np.random.default_rng(seed)).tolist()
        for seed in (3, 3, 4)
    )
    assert first == second
    assert first != third


STAR_AND_TRIANGLE = (np.array([0, 0, 0, 3, 4, 3]), np.array([1, 2, 3, 4, 5, 5]))
HEXAGON = (np.arange(6), (np.arange(6) + 1) % 6)
BIPARTITE = (np.repeat(np.arange(3), 3), np.tile(np.arange(3, 6), 3))
GRAPHS = {
    "the 12 circuits on five vertices": (*complete_graph(5), [2] * 5),
    "the 15 matchings of six vertices": (*complete_graph(6), [1] * 6),
    "the 70 two-regular graphs on six vertices": (*complete_graph(6), [2] * 6),
    "one vertex left over": (*complete_graph(5), [1] * 5),
    "a circuit with two matchings, far apart": (*HEXAGON, [1] * 6),
    "a star, whose leaves compete": (*STAR_AND_TRIANGLE, [1] * 6),
    "much room at some vertices": (*STAR_AND_TRIANGLE, [2, 1, 1, 1, 2, 1]),
    "uneven room in a complete graph": (*complete_graph(5), [1, 1, 1, 3, 9]),
    "much room at one vertex only": (
        np.array([0, 0, 0, 0, 1, 1]),
        np.array([1, 2, 3, 4, 2, 3]),
        [3, 1, 1, 1, 1],
    ),
    "two hubs with spare room": (
        np.array([0, 0, 0, 1, 1, 1, 0, 2]),
        np.array([2, 3, 4, 2, 3, 4, 5, 3]),
        [3, 2, 1, 1, 1, 1],
    ),
    "between two sides": (*BIPARTITE, [2, 1, 1, 1, 1, 3]),
}


def distance_from_uniform(counts):
    """Return the chi-square distance per degree of freedom: about 1 if all are equally likely."""
    expected = sum(counts.values()) / len(counts)
    total = sum((count - expected) ** 2 / expected for count in counts.values())
    return total / max(len(counts) - 1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_the_chain_visits_every_largest_subgraph_equally_often(name):
    tail, head, capacity = GRAPHS[name]
    counts = dict.fromkeys(largest_subgraphs(tail, head, np.array(capacity)), 0)
    rng = np.random.default_rng(0)
    subgraph = _Subgraph.empty(tail, head, np.array(capacity))
    subgraph.complete(rng)
    for _ in range(1000 * len(counts)):
        subgraph._run(8, rng)
        counts[tuple(subgraph.edges().tolist())] += 1
    assert distance_from_uniform(counts) < 3


@pytest.mark.slow
def test_draws_are_uniform_from_the_first():
    tail, head = complete_graph(5)
    counts = dict.fromkeys(largest_subgraphs(tail, head, np.full(5, 2)), 0)
    assert len(counts) == 12
    rng = np.random.default_rng(0)
    for _ in range(6000):
        counts[tuple(random_subgraph(tail, head, np.full(5, 2), rng).tolist())] += 1
    assert distance_from_uniform(counts) < 3


@pytest.mark.parametrize("unlucky", [False, True])
def test_the_largest_subgraph_is_found_whether_or_not_the_walks_find_it(monkeypatch, unlucky):
    # In a long path all edges at even places must be taken: 50 of them, and no other set is as large.
    if unlucky:
        monkeypatch.setattr(random_graph.edge_swaps, "grow", lambda *arguments: arguments[8])  # adds nothing
    tail, head = np.arange(99), np.arange(1, 100)
    chosen = random_subgraph(tail, head, np.ones(100, dtype=int), np.random.default_rng(0))
    assert chosen.tolist() == list(range(0, 99, 2))


def test_vertices_without_room_stay_alone():
    tail, head = complete_graph(6)
    capacity = np.array([0, 2, 2, 2, 2, 0])
    chosen = random_subgraph(tail, head, capacity, np.random.default_rng(0))
    assert degrees(chosen, tail, head, 6).tolist() == capacity.tolist()


def test_no_edges():
    none = np.empty(0, dtype=int)
    assert random_subgraph(none, none, np.array([1, 2]), np.random.default_rng(0)).size == 0
    assert random_subgraph(np.array([0]), np.array([1]), np.array([0, 1]), np.random.default_rng(0)).size == 0
