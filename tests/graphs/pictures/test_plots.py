"""Graphs are drawn so that widths, colours, dashes and names tell what they should."""

import itertools

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.legend import Legend

import swapwise as sw
from swapwise.graphs.pictures.labels import covered_length
from swapwise.graphs.pictures.plots import NEGATIVE, POSITIVE, sample_weights


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def weighted_graph():
    graph = nx.Graph()
    graph.add_nodes_from(["lone", "a", "b", "c"])
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", -1.0), ("a", "c", 0.25)])
    return graph


def legends(axes):
    """The entries of all legends."""
    found = [one for one in axes.get_children() if isinstance(one, Legend)]
    return [[text.get_text() for text in one.get_texts()] for one in found]


def edges_of(axes):
    """The lines of edges, by their label."""
    return {one.get_label(): one for one in axes.collections if isinstance(one, LineCollection)}


def nodes_of(axes):
    (nodes,) = (one for one in axes.collections if isinstance(one, PathCollection))
    return nodes


def places_of(axes):
    return np.asarray(nodes_of(axes).get_offsets())


def boxes_of_texts(axes):
    axes.figure.draw_without_rendering()
    return [text.get_window_extent() for text in axes.texts]


def discs(axes):
    """Left, bottom, right and top of every node, in pixels."""
    axes.figure.draw_without_rendering()
    middle = axes.transData.transform(places_of(axes))
    radius = np.sqrt(nodes_of(axes).get_sizes()) / 2 * axes.figure.dpi / 72
    return np.hstack([middle - radius[:, None], middle + radius[:, None]])


def n_covered(axes):
    """How many pairs of a name and another node or name overlap."""
    names, nodes = boxes_of_texts(axes), discs(axes)
    pairs = sum(one.overlaps(other) for one, other in itertools.combinations(names, 2))
    for at, box in enumerate(names):
        inside = (nodes[:, :2] < box.max - 1).all(axis=1) & (nodes[:, 2:] > box.min + 1).all(axis=1)
        pairs += np.count_nonzero(np.delete(inside, at))
    return pairs


class TestEdges:
    def test_sign_by_colour_and_dash_and_weight_by_width(self):
        places = {"a": (0, 0), "b": (1, 0), "c": (1, 1), "lone": (0, 1)}
        axes = sw.plot_graph(weighted_graph(), positions=places)
        positive, negative = edges_of(axes)["positive"], edges_of(axes)["negative"]
        # The weakest first, so that strong ones lie above.
        np.testing.assert_array_equal(positive.get_segments(), [[(0, 0), (1, 1)], [(0, 0), (1, 0)]])
        np.testing.assert_array_equal(negative.get_segments(), [[(1, 0), (1, 1)]])
        weak, strong = positive.get_linewidths()
        assert weak < negative.get_linewidths()[0] < strong
        assert to_hex(positive.get_colors()[0]).upper() == POSITIVE
        assert to_hex(negative.get_colors()[0]).upper() == NEGATIVE
        assert [dash for _, dash in positive.get_linestyles()] == [None, None]
        assert all(dash for _, dash in negative.get_linestyles())

    def test_dashes_are_as_long_on_thin_lines(self):
        graph = nx.Graph()
        graph.add_weighted_edges_from([("a", "b", -2.0), ("b", "c", -0.1)])
        negative = edges_of(sw.plot_graph(graph))["negative"]
        (_, thin), (_, wide) = negative.get_linestyles()  # scaled by the width already
        np.testing.assert_allclose(thin, wide)

    def test_pale_by_weight_or_by_frequency_or_not(self):
        graph = weighted_graph()
        nx.set_edge_attributes(graph, {("a", "b"): 0.2, ("a", "c"): 0.9, ("b", "c"): 1.0}, "frequency")
        alphas = {
            alpha: edges_of(sw.plot_graph(graph, alpha=alpha))["positive"].get_colors()[:, 3]
            for alpha in ("weight", "frequency", None)
        }
        assert alphas["weight"][0] < alphas["weight"][1] == 1
        assert alphas["frequency"][0] > alphas["frequency"][1]
        assert (alphas[None] == 1).all()

    def test_the_legend_says_what_widths_mean(self):
        assert legends(sw.plot_graph(weighted_graph())) == [["positive", "negative", "0.5", "1", "2"]]
        alike = nx.path_graph(3)
        assert legends(sw.plot_graph(alike)) == [["positive"]]
        title = sw.plot_graph(weighted_graph(), alpha="frequency").get_legend().get_title().get_text()
        assert title == "weight; pale: seldom chosen"

    def test_widths_of_the_legend_are_those_of_the_edges(self):
        graph = nx.Graph()
        graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 0.5), (2, 3, 0.2)])
        axes = sw.plot_graph(graph)
        samples = [line.get_linewidth() for line in axes.get_legend().get_lines()[1:]]
        np.testing.assert_allclose(samples, edges_of(axes)["positive"].get_linewidths())

    @pytest.mark.parametrize(
        ("weights", "shown"), [([], []), ([3e-5, 7e-4], [1e-4, 2e-4, 5e-4]), ([40.0, 45.0, 90.0], [20, 50])]
    )
    def test_round_weights(self, weights, shown):
        np.testing.assert_allclose(sample_weights(np.array(weights)), shown)

    def test_light_edges_can_be_left_out(self):
        drawn = edges_of(sw.plot_graph(weighted_graph(), threshold=0.25))
        assert [len(one.get_segments()) for one in drawn.values()] == [1, 1]
        bare = sw.plot_graph(weighted_graph(), threshold=5.0)
        assert edges_of(bare) == {}
        assert bare.get_legend() is None

    def test_weights_can_be_written_on_the_edges(self):
        axes = sw.plot_graph(weighted_graph(), edge_labels=True, labels=False)
        assert sorted(text.get_text() for text in axes.texts) == ["-1.00", "0.25", "2.00"]
        lines = [line for one in edges_of(axes).values() for line in one.get_segments()]
        for text in axes.texts:
            spot = np.array(text.get_position())
            beside = [abs(np.linalg.det([b - a, spot - a])) for a, b in lines]
            assert min(beside) < 1e-6


class TestNodes:
    def test_names_can_be_left_out_or_be_others(self):
        assert {text.get_text() for text in sw.plot_graph(weighted_graph()).texts} == {"lone", "a", "b", "c"}
        assert not sw.plot_graph(weighted_graph(), labels=False).texts
        others = {"lone": "L", "a": "A", "b": "B", "c": "C"}
        for given in (others, pd.Series(others), ["L", "A", "B", "C"]):
            texts = sw.plot_graph(weighted_graph(), labels=given).texts
            assert [text.get_text() for text in texts] == ["L", "A", "B", "C"]

    def test_short_names_are_inside_and_long_ones_beside(self):
        for names, inside in ((["a1", "b2", "c3"], True), (["feeling lonely", "sleep", "friends"], False)):
            axes = sw.plot_graph(nx.path_graph(names))
            for text, disc in zip(boxes_of_texts(axes), discs(axes), strict=True):
                assert (disc[0] < text.x0 and text.x1 < disc[2]) == inside

    def test_names_with_dollars_are_no_formulas(self):
        (text, _) = sw.plot_graph(nx.path_graph(["$x$", "y"])).texts
        assert not text.get_parse_math()

    def test_groups(self):
        groups = {"lone": "x", "a": "y", "b": "x", "c": "y"}
        axes = sw.plot_graph(weighted_graph(), groups=groups)
        colours = nodes_of(axes).get_facecolors()
        assert (colours[0] == colours[2]).all()
        assert (colours[1] == colours[3]).all()
        assert (colours[0] != colours[1]).any()
        assert legends(axes) == [["x", "y"], ["positive", "negative", "0.5", "1", "2"]]
        in_order = sw.plot_graph(weighted_graph(), groups=["x", "y", "x", "y"])
        np.testing.assert_array_equal(nodes_of(in_order).get_facecolors(), colours)

    def test_many_groups_have_colours_of_their_own(self):
        graph = nx.empty_graph(15)
        colours = nodes_of(sw.plot_graph(graph, groups=list(range(15)))).get_facecolors()
        assert len(np.unique(colours, axis=0)) == 15

    def test_sizes(self):
        sizes = nodes_of(sw.plot_graph(weighted_graph(), node_size=20)).get_sizes()
        np.testing.assert_allclose(sizes, 20.0**2)
        sizes = nodes_of(sw.plot_graph(weighted_graph(), node_size=[10, 20, 30, 40])).get_sizes()
        np.testing.assert_allclose(sizes, np.array([10.0, 20.0, 30.0, 40.0]) ** 2)

    def test_fields(self):
        spins = np.where(np.random.default_rng(0).random((80, 3)) < [0.2, 0.5, 0.9], 1, 0)
        model = sw.IsingGraph(1).fit(spins)
        axes = sw.plot_graph(model)
        nodes = nodes_of(axes)
        np.testing.assert_array_equal(nodes.get_array(), model.field_)
        assert nodes.get_clim()[1] == -nodes.get_clim()[0] == pytest.approx(np.abs(model.field_).max())
        assert [one.get_ylabel() for one in axes.figure.axes if one is not axes] == ["field"]
        assert axes.get_legend() is None or axes.get_legend().get_title().get_text() == "coupling"
        assert len(sw.plot_graph(weighted_graph()).figure.axes) == 1
        assert len(sw.plot_graph(model, groups=["x", "y", "x"]).figure.axes) == 1

    def test_one_huge_field_does_not_make_the_others_pale(self):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: 20.0, 1: 1.0, 2: -1.0}, "field")
        assert nodes_of(sw.plot_graph(graph)).get_clim() == (-3.0, 3.0)


class TestPlaces:
    def test_in_the_order_of_the_nodes(self):
        places = np.array([(0, 1), (0, 0), (1, 0), (1, 1)])
        axes = sw.plot_graph(weighted_graph(), positions=places)
        np.testing.assert_array_equal(places_of(axes), places)

    def test_the_same_graph_is_drawn_the_same_and_loose_nodes_lie_beneath(self):
        places = [places_of(sw.plot_graph(weighted_graph())) for _ in range(2)]
        np.testing.assert_array_equal(*places)
        assert places[0][0, 1] < places[0][1:, 1].min()

    def test_on_a_circle_groups_are_together(self):
        graph = nx.empty_graph(6)
        places = places_of(sw.plot_graph(graph, layout="circle", groups=list("xyxyxy")))
        np.testing.assert_allclose(np.linalg.norm(places, axis=1), 1.0)
        around = np.arctan2(places[:, 1], places[:, 0])
        order = np.argsort((np.pi / 2 - around + 1e-9) % (2 * np.pi))
        assert order.tolist() == [0, 2, 4, 1, 3, 5]

    def test_many_nodes_get_a_larger_figure_and_smaller_names(self):
        few, many = (sw.plot_graph(nx.gnm_random_graph(n, n, seed=0)) for n in (10, 60))
        assert many.figure.get_size_inches().prod() > 2 * few.figure.get_size_inches().prod()
        assert many.texts[0].get_fontsize() < few.texts[0].get_fontsize()

    def test_everything_is_within_the_figure(self):
        names = [
            "number of close friends",
            "trouble sleeping",
            "income of the household",
            "life satisfaction",
        ]
        drawn = [
            sw.plot_graph(nx.cycle_graph(names)),
            sw.plot_graph(nx.path_graph(12)),
            sw.plot_graph(weighted_graph(), groups=list("xyzx")),
        ]
        for axes in drawn:
            texts = [box.extents for box in boxes_of_texts(axes)]
            keys = [one.get_window_extent().extents for one in axes.get_children() if isinstance(one, Legend)]
            boxes = np.vstack([texts, keys, discs(axes)])
            assert (boxes[:, :2] >= -0.5).all()
            assert (boxes[:, 2:] <= axes.figure.bbox.size + 0.5).all()


NAMES = ["life satisfaction", "close friends", "age at marriage", "attendance", "trouble sleeping"]
NAMES += ["feeling lonely at night", "self esteem", "trust in government", "party identification", "income"]


class TestNames:
    @pytest.mark.parametrize(
        "graph",
        [
            nx.cycle_graph(NAMES),
            nx.path_graph(NAMES),
            nx.star_graph(NAMES),
            nx.relabel_nodes(nx.gnm_random_graph(10, 13, seed=3), dict(enumerate(NAMES))),
            nx.relabel_nodes(nx.gnm_random_graph(60, 80, seed=1), "Q{}".format),
        ],
        ids=["cycle", "path", "star", "random", "many"],
    )
    def test_no_name_covers_a_node_or_a_name(self, graph):
        assert n_covered(sw.plot_graph(graph)) == 0

    def test_edges_are_kept_off_names_where_they_can(self):
        graph = nx.cycle_graph(NAMES)
        axes = sw.plot_graph(graph)
        boxes, lines = boxes_of_texts(axes), edges_of(axes)["positive"].get_segments()
        ends = [axes.transData.transform(line) for line in lines]
        along = np.linspace(0, 1, 50)[:, None]
        spots = np.vstack([(1 - along) * a + along * b for a, b in ends])
        inside = sum(np.count_nonzero(box.count_contains(spots)) for box in boxes)
        assert inside <= 0.02 * len(spots)

    def test_names_wider_than_the_room_between_nodes(self):
        names = [f"much too long to stand in line {i}" for i in range(4)]
        axes = sw.plot_graph(nx.path_graph(names), positions=[(i, 0.0) for i in range(4)])
        boxes = boxes_of_texts(axes)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


class TestExtremes:
    @pytest.mark.parametrize("layout", ["stress", "spring", "circle"])
    @pytest.mark.parametrize("n", [0, 1, 2])
    def test_few_nodes(self, n, layout):
        axes = sw.plot_graph(nx.path_graph(n), layout=layout)
        axes.figure.draw_without_rendering()
        assert len(axes.texts) == n
        if n:
            assert np.isfinite(places_of(axes)).all()

    def test_no_edges_loops_and_zeros(self):
        assert len(sw.plot_graph(nx.empty_graph(3)).texts) == 3
        graph = nx.Graph()
        graph.add_edge("a", "a", weight=1.0)
        graph.add_edge("a", "b", weight=0.0)
        assert not edges_of(sw.plot_graph(graph))

    def test_nodes_on_one_spot(self):
        axes = sw.plot_graph(nx.path_graph(2), positions=[(1.0, 1.0), (1.0, 1.0)])
        axes.figure.draw_without_rendering()
        assert np.isfinite(axes.get_xlim()).all()

    @pytest.mark.parametrize(
        ("model", "options", "error", "message"),
        [
            (5, {}, TypeError, "model must be a networkx graph or an estimator with graph_, got 5"),
            (weighted_graph(), {"threshold": -1}, ValueError, "threshold must be a non-negative number"),
            (weighted_graph(), {"positions": [[0, 0]]}, ValueError, r"shape \(4, 2\), got \(1, 2\)"),
            (weighted_graph(), {"positions": {"a": (0, 0)}}, ValueError, "'lone' is missing"),
            (weighted_graph(), {"layout": "star"}, ValueError, "layout must be one of 'stress', 'spring'"),
            (weighted_graph(), {"alpha": 0.5}, ValueError, "alpha must be 'weight', 'frequency' or None"),
            (weighted_graph(), {"groups": ["x"]}, ValueError, "one for each of 4 nodes, got 1"),
            (weighted_graph(), {"groups": "mood"}, TypeError, "groups must be a mapping or a sequence"),
            (weighted_graph(), {"labels": {"a": "A"}}, ValueError, "labels must have every node, but 'lone'"),
            (weighted_graph(), {"node_size": 0}, ValueError, "node_size must be positive, got 0"),
        ],
    )
    def test_what_is_refused(self, model, options, error, message):
        with pytest.raises(error, match=message):
            sw.plot_graph(model, **options)


def survey_graph(seed, n=30, m=40):
    """A random graph with long names and weights of both signs."""
    rng = np.random.default_rng(seed)
    graph = nx.gnm_random_graph(n, m, seed=seed)
    words = ["satisfaction", "income", "trust", "left right scale", "number of friends", "news"]
    names = {node: f"{rng.choice(words)} {node}" for node in graph}
    nx.set_edge_attributes(graph, {edge: rng.standard_normal() for edge in graph.edges}, "weight")
    return nx.relabel_nodes(graph, names)


def test_names_keep_off_edges():
    """With twelve sides right beside the node to choose from, names of such a figure covered 6.5 edges."""
    covered = []
    for seed in range(4):
        axes = sw.plot_graph(survey_graph(seed))
        boxes = np.array([box.extents for box in boxes_of_texts(axes)])
        lines = np.concatenate([one.get_segments() for one in edges_of(axes).values()])
        lengths = covered_length(boxes, axes.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2))
        covered.append(np.count_nonzero(lengths > 1.0))
    assert np.mean(covered) <= 4


def test_dashes_touch_both_nodes():
    axes = sw.plot_graph(survey_graph(1))
    lines = edges_of(axes)["negative"]
    radius = np.sqrt(nodes_of(axes).get_sizes()).max() / 2
    axes.figure.draw_without_rendering()
    for segment, (begin, (dash, gap)) in zip(lines.get_segments(), lines.get_linestyles(), strict=True):
        ends = axes.transData.transform(segment) * 72 / axes.figure.dpi
        length = np.linalg.norm(ends[1] - ends[0])
        for at in (radius + 0.1 * dash, length - radius - 0.1 * dash):
            assert (begin + at) % (dash + gap) <= dash * 1.05
