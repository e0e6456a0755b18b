import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from swapwise import BMatching


def test_elements_and_vertices_are_in_the_order_of_the_graph():
    graph = nx.Graph([("c", "a"), ("b", "a")])
    graph.add_node("alone")
    matching = BMatching(graph, [1, 2, 3, 4])
    assert matching.edges == list(graph.edges)
    assert matching.vertices == ["c", "a", "b", "alone"]
    assert matching.b == {"c": 1, "a": 2, "b": 3, "alone": 4}


def test_vertices_come_in_the_order_in_which_edges_name_them():
    assert BMatching([("z", "a"), ("b", "z")], 1).vertices == ["z", "a", "b"]


@pytest.mark.parametrize(
    "b", [{"a": 2, "b": 1, "c": 1}, [2, 1, 1], np.array([2, 1, 1]), (2, 1, 1), iter([2, 1, 1])]
)
def test_limits_of_every_kind(b):
    matching = BMatching([("a", "b"), ("a", "c"), ("b", "c")], b)
    assert matching.b == {"a": 2, "b": 1, "c": 1}
    assert matching.is_independent([0, 1])
    assert not matching.is_independent([0, 2])


def test_a_series_names_vertices_by_its_index():
    assert BMatching([("a", "b")], pd.Series({"b": 3, "a": 1})).b == {"a": 1, "b": 3}


def test_parallel_edges_are_edges_of_their_own():
    twice = BMatching(nx.MultiGraph([("a", "b"), ("a", "b")]), 1)
    assert twice.n == 2
    assert not twice.is_independent([0, 1])
    (moves,) = twice.moves(np.array([0]))
    assert [(move.added, move.dropped) for move in moves.moves()] == [((1,), (0,))]


def test_a_complete_graph_has_its_pairs_in_order():
    complete = BMatching.complete(5, 2)
    tail, head = np.triu_indices(5, 1)
    assert complete.edges == list(zip(tail.tolist(), head.tolist(), strict=True))
    assert complete.vertices == list(range(5))
    assert complete.max_size() == 5
    assert BMatching.complete(1, 2).vertices == [0]
    assert BMatching.complete(3, [1, 0, 1]).loops().tolist() == [0, 2]


def test_one_exchange_on_a_larger_graph():
    matching = BMatching.complete(12, 2)
    rng = np.random.default_rng(0)
    support = matching.extend(np.empty(0, dtype=np.intp), rng.permutation(matching.n))
    (moves,) = matching.moves(support)
    for move in moves.moves():
        assert matching.is_independent(move.result(support))
    cost = rng.random(matching.n)
    (cheapest,) = matching.cheapest_drops(support, cost)
    for move in cheapest.moves():
        same = (moves.added[:, 0] == move.added[0]).nonzero()[0]
        assert cost[list(move.dropped)].sum() == moves.sums(moves.dropped[same], cost).min()


def test_a_set_as_a_graph():
    matching = BMatching([("a", "b"), ("b", "c"), ("d", "a")], 2)
    graph = matching.to_graph([0, 2], weights=[1.0, 2.0, 3.0])
    assert list(graph.nodes) == ["a", "b", "c", "d"]
    assert {frozenset(e): w for *e, w in graph.edges(data="weight")} == {
        frozenset("ab"): 1.0,
        frozenset("ad"): 3.0,
    }
    assert "weight" not in matching.to_graph([0]).edges["a", "b"]
    assert BMatching([(0, 1), (1, 0)], 2).to_graph([0, 1]).number_of_edges() == 2
    with pytest.raises(ValueError, match="weights must have length 3, got length 1"):
        matching.to_graph([0], weights=[1.0])


def test_refuses_an_edge_from_a_vertex_to_itself():
    with pytest.raises(ValueError, match=r"must join two different vertices, got \('b', 'b'\) as number 1"):
        BMatching([("a", "b"), ("b", "b")], 1)


def test_refuses_edges_that_are_no_pairs():
    with pytest.raises(TypeError, match="edges must be pairs of vertices, got 'ab' as number 0"):
        BMatching(["ab"], 1)


@pytest.mark.parametrize(
    ("b", "error", "message"),
    [
        (-1, ValueError, "b must be a non-negative integer, got -1"),
        (True, TypeError, "b must be a non-negative integer, got True"),
        (1.5, TypeError, "a sequence of one for each vertex, got 1.5"),
        ("12", TypeError, "a sequence of one for each vertex, got '12'"),
        ([1], ValueError, "b must have one number for each of the 2 vertices, got 1 numbers"),
        ([1, -2], ValueError, "b of 'y' must be a non-negative integer, got -2"),
        ({"x": 1}, ValueError, "b must name every vertex, but has no number for 'y'"),
        ({"x": 1, "y": 0.5}, TypeError, "b of 'y' must be a non-negative integer, got 0.5"),
    ],
)
def test_refuses_limits_that_are_none(b, error, message):
    with pytest.raises(error, match=re.escape(message)):
        BMatching([("x", "y")], b)


def test_warns_of_a_vertex_that_no_edge_has():
    with pytest.warns(UserWarning, match="no edge has the vertex 'z' that b names"):
        BMatching([("x", "y")], {"x": 1, "y": 1, "z": 1})


def test_shows_its_numbers():
    assert repr(BMatching([(0, 1), (1, 2)], 2)) == "BMatching(n=2, 3 vertices, b=2)"
    assert repr(BMatching([(0, 1)], [1, 2])) == "BMatching(n=1, 2 vertices, b={0: 1, 1: 2})"
