import re

import networkx as nx
import numpy as np
import pytest

from swapwise import Graphic
from tests.contracts.constraint_zoo import swap_grid


def test_heaviest_sets_are_spanning_trees():
    graph = nx.gnm_random_graph(30, 120, seed=3)
    weights = np.random.default_rng(0).random(120)
    for (_, _, data), weight in zip(graph.edges(data=True), weights, strict=True):
        data["weight"] = weight
    tree = nx.maximum_spanning_tree(graph)
    assert Graphic(graph).max_weight(weights).weight == pytest.approx(tree.size(weight="weight"))


def test_elements_are_edges_in_the_order_of_the_graph():
    graph = nx.Graph([("c", "a"), ("b", "a"), ("c", "b")])
    assert Graphic(graph).edges == list(graph.edges)


def test_multigraphs_have_parallel_edges():
    graph = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "b")])
    matroid = Graphic(graph)
    assert matroid.edges == [("a", "b"), ("a", "b"), ("b", "b")]
    assert matroid.loops().tolist() == [2]
    assert not matroid.is_independent([0, 1])


def test_directions_do_not_matter():
    assert Graphic(nx.DiGraph([(0, 1), (1, 0)])).rank() == 1


def test_pairs_of_any_kind():
    for edges in ([[0, 1], [1, 2]], np.array([[0, 1], [1, 2]]), iter([(0, 1), (1, 2)]), [{0, 1}, {1, 2}]):
        assert Graphic(edges).rank() == 2


def test_a_long_path_needs_no_recursion():
    n = 5000
    ring = Graphic([(v, (v + 1) % n) for v in range(n)])
    support = np.arange(n - 1)
    assert swap_grid(ring, support).feasible[n - 1].tolist() == [True] * (n - 1) + [False]


@pytest.mark.parametrize("edge", [(1, 2, 3), (1,), 7, "ab", None])
def test_refuses_edges_that_are_no_pairs(edge):
    expected = re.escape(f"edges must be pairs of vertices, got {edge!r} as number 1")
    with pytest.raises(TypeError, match=expected):
        Graphic([(0, 1), edge])


def test_refuses_vertices_that_are_none():
    with pytest.raises(TypeError, match=r"vertices must be hashable, got \[0\] in edge number 0"):
        Graphic([([0], 1)])
    with pytest.raises(ValueError, match="every edge needs two vertices, got nan in edge number 0"):
        Graphic([(1.0, float("nan"))])
    with pytest.raises(ValueError, match="every edge needs two vertices, got None in edge number 1"):
        Graphic([(1, 2), (None, 1)])


def test_shows_its_numbers():
    assert repr(Graphic([(0, 1), (1, 2)])) == "Graphic(n=2, 3 vertices)"
