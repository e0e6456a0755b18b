"""Layouts keep nodes apart and off edges, undo crossings, and are the same for the same graph."""

import itertools

import networkx as nx
import numpy as np
import pytest

from swapwise.graphs.pictures import layout as graph_layout
from swapwise.graphs.pictures.labels import Obstacles, chosen_sides, covered_length, offsets
from swapwise.graphs.pictures.layout import layout
from swapwise.graphs.pictures.untangle import clutter, untangled


def laid_out(graph, how="stress"):
    return layout(list(graph), dict.fromkeys(graph.edges, 1.0), how)


def n_crossings(graph, place):
    """Counted plainly, by the signs of determinants."""

    def side(p, q, r):
        return np.sign(np.linalg.det([q - p, r - p]))

    def cross(a, b, c, d):
        return side(a, b, c) != side(a, b, d) and side(c, d, a) != side(c, d, b)

    pairs = itertools.combinations(graph.edges, 2)
    return sum(
        cross(*(place[node] for node in (*one, *other))) for one, other in pairs if not set(one) & set(other)
    )


def nearest_edge(graph, place):
    """How close a node is to an edge that is not its own, by many points on the edges."""
    shares = np.linspace(0, 1, 200)[:, None]
    away = [
        np.linalg.norm((1 - shares) * place[u] + shares * place[v] - place[node], axis=1).min()
        for u, v in graph.edges
        for node in graph
        if node not in (u, v)
    ]
    return min(away, default=np.inf)


GRAPHS = {
    "chain": nx.path_graph(15),
    "cycle": nx.cycle_graph(12),
    "star": nx.star_graph(14),
    "tree": nx.balanced_tree(2, 4),
    "grid": nx.grid_2d_graph(4, 5),
    "sparse": nx.gnm_random_graph(15, 14, seed=5),
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
class TestStress:
    def test_planar_graphs_have_no_crossing_and_no_node_on_an_edge(self, graph):
        place = laid_out(graph)
        assert n_crossings(graph, place) == 0
        assert nearest_edge(graph, place) > 0.25

    def test_nodes_keep_apart(self, graph):
        place = list(laid_out(graph).values())
        nearest = min(np.linalg.norm(a - b) for a, b in itertools.combinations(place, 2))
        assert nearest > 0.35

    def test_the_same_every_time(self, graph):
        np.testing.assert_array_equal(list(laid_out(graph).values()), list(laid_out(graph).values()))


class TestLayouts:
    def test_components_are_beside_each_other_with_edges_alike(self):
        parts = [nx.cycle_graph(24), nx.path_graph(2), nx.path_graph(2), nx.cycle_graph(3), nx.empty_graph(1)]
        graph = nx.disjoint_union_all(parts)
        place = laid_out(graph)
        lengths = [np.linalg.norm(place[u] - place[v]) for u, v in graph.edges]
        assert max(lengths) < 1.3 * min(lengths)
        boxes = [
            (np.min([place[node] for node in part], axis=0), np.max([place[node] for node in part], axis=0))
            for part in nx.connected_components(graph)
        ]
        for (low, high), (other_low, other_high) in itertools.combinations(boxes, 2):
            assert (high < other_low).any() or (other_high < low).any()
        *others, last = place.values()
        assert last[1] < min(at[1] for at in others)

    def test_a_dense_graph_has_strong_edges_short(self):
        graph = nx.complete_graph(12)
        weights = {(u, v): 1.0 if (u < 6) == (v < 6) else 0.05 for u, v in graph.edges}
        place = layout(list(graph), weights)
        lengths = {edge: np.linalg.norm(place[edge[0]] - place[edge[1]]) for edge in weights}
        strong, weak = (
            np.mean([lengths[edge] for edge in weights if weights[edge] == w]) for w in (1.0, 0.05)
        )
        assert strong < 0.65 * weak

    @pytest.mark.parametrize("how", ["stress", "spring", "circle"])
    @pytest.mark.parametrize("n", [0, 1, 2, 3])
    def test_few_nodes(self, n, how):
        place = laid_out(nx.path_graph(n), how)
        assert list(place) == list(range(n))
        assert all(np.isfinite(at).all() and at.shape == (2,) for at in place.values())
        assert len({tuple(at) for at in place.values()}) == n

    def test_more_nodes_than_stress_is_fast_for(self, monkeypatch):
        by_stress = laid_out(nx.path_graph(12))
        monkeypatch.setattr(graph_layout, "_MOST", 11)
        place = laid_out(nx.path_graph(12))
        assert np.isfinite(list(place.values())).all()
        assert not np.allclose(list(place.values()), list(by_stress.values()))

    def test_another_name(self):
        with pytest.raises(ValueError, match="layout must be one of 'stress', 'spring', 'circle', got 'x'"):
            layout([0], {}, "x")


class TestUntangled:
    def test_it_is_less_cluttered(self):
        graph = nx.gnm_random_graph(14, 18, seed=1)
        ends = np.array(graph.edges)
        far = np.ones((14, 14)) - np.eye(14)
        places = np.random.default_rng(0).standard_normal((14, 2)) * 2
        moved = untangled(places, ends, np.ones(18), far)
        assert clutter(moved, ends, np.ones(18), far) < 0.7 * clutter(places, ends, np.ones(18), far)
        assert n_crossings(graph, moved) < n_crossings(graph, places)

    def test_nodes_go_off_edges_and_off_each_other(self):
        far = 2.0 * (np.ones((3, 3)) - np.eye(3))
        for third in ((1.0, 0.0), (1.95, 0.0)):
            places = np.array([[0.0, 0.0], [2.0, 0.0], third])
            moved = untangled(places, np.array([[0, 1]]), np.ones(1), far)
            graph = nx.empty_graph(3)
            graph.add_edge(0, 1)
            assert nearest_edge(graph, moved) > 0.3

    def test_what_is_in_nobodys_way_stays(self):
        places = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
        ends, far = np.array([[0, 1], [2, 3]]), np.ones((4, 4)) - np.eye(4)
        np.testing.assert_array_equal(untangled(places, ends, np.ones(2), far), places)


class TestSides:
    def test_lengths_in_boxes_by_many_points(self):
        rng = np.random.default_rng(0)
        boxes = np.sort(rng.random((20, 2, 2)), axis=1).reshape(20, 4)
        edges = np.concatenate([rng.random((30, 2, 2)), [[[0.2, 0.5], [0.9, 0.5]], [[0.5, 0.1], [0.5, 0.8]]]])
        shares = np.linspace(0, 1, 2001)[:, None]
        plain = np.array(
            [
                [
                    ((spots >= box[:2]) & (spots <= box[2:])).all(axis=1).mean() * np.linalg.norm(b - a)
                    for a, b in edges
                    for spots in [(1 - shares) * a + shares * b]
                ]
                for box in boxes
            ]
        )
        np.testing.assert_allclose(covered_length(boxes, edges), plain, atol=2e-3)

    def test_off_other_nodes(self):
        # By itself, the second name would stand to the right, away from the others, on the third node.
        nodes = np.array([[50.0, 50.0], [450.0, 50.0], [475.0, 50.0]])
        sizes = np.array([[46.0, 10.0], [46.0, 10.0], [0.1, 0.1]])
        middles = self.middles(nodes, np.array([0.0, 0.0, 600.0, 100.0]), sizes)
        assert (np.abs(nodes[2] - middles[1]) >= sizes[1] / 2 + 4.0 - 1e-9).any()

    def test_off_other_names(self):
        # The frame leaves the third name no side but the left, where the second would stand by itself.
        nodes = np.array([[50.0, 50.0], [400.0, 50.0], [480.0, 50.0]])
        middles = self.middles(nodes, np.array([0.0, 44.0, 486.0, 56.0]), np.full((3, 2), [46.0, 10.0]))
        np.testing.assert_allclose(middles[1:] - nodes[1:], [[-27.0, 0.0], [-27.0, 0.0]])

    def middles(self, nodes, frame, sizes):
        picture = Obstacles(nodes, np.full(3, 4.0), np.zeros((0, 2, 2)), np.zeros(0), frame)
        return nodes + offsets(sizes, picture.radius)[np.arange(3), chosen_sides(picture, sizes)]

    def test_off_edges_and_within_the_frame(self):
        nodes = np.array([[50.0, 50.0]])
        spokes = [[[50.0, 50.0], [50.0 + x, 50.0 + y]] for x, y in ((0, 50), (0, -50), (-50, 0), (-40, 40))]
        picture = Obstacles(
            nodes, np.array([4.0]), np.array(spokes), np.ones(4), np.array([0.0, 0.0, 100.0, 100.0])
        )
        size = np.array([[30.0, 10.0]])
        (side,) = chosen_sides(picture, size)
        middle = nodes[0] + offsets(size, picture.radius)[0, side]
        box = np.concatenate([middle - size[0] / 2, middle + size[0] / 2])
        assert covered_length(box[None], np.array(spokes)).sum() == 0
        narrow = picture._replace(frame=np.array([0.0, 0.0, 60.0, 100.0]))
        assert (nodes[0] + offsets(size, picture.radius)[0, chosen_sides(narrow, size)[0]])[0] < middle[0]
