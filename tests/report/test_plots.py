"""The plots show what the estimators and searches found, in the axes that they are given."""

import itertools
from types import SimpleNamespace

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import swapwise as sw
from swapwise.report.axes import COLOURS
from swapwise.report.graph_plots import NEGATIVE, POSITIVE


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


GRAPH_PATH = pd.DataFrame(
    {
        "max_degree": [1, 1, 2, 2],
        "ridge": [0.1, 0.2, 0.1, 0.2],
        "n_edges": [1.0, 1.0, 2.0, 2.0],
        "score_mean": [-5.0, -6.0, -3.0, -4.0],
        "score_se": [0.1, 0.2, 0.3, 0.4],
    }
)
SIZE_PATH = pd.DataFrame(
    {
        "size": [3, 1, 2],
        "value": [0.9, 0.5, 0.8],
        "bic": [7.0, 9.0, 4.0],
        "cv_mean": [0.3, 0.5, 0.2],
        "cv_se": [0.03, 0.05, 0.02],
        "aic": [np.nan] * 3,
    }
)


def fitted(**changes):
    """What plot_support needs of an estimator: five features, of which four are chosen."""
    has = {"coef_": np.array([0.5, -2.0, 0.0, 1.0, -0.1]), "support_": np.array([0, 1, 3, 4])}
    return SimpleNamespace(**has | changes)


def weighted_graph():
    graph = nx.Graph()
    graph.add_nodes_from(["lone", "a", "b", "c"])
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", -1.0), ("a", "c", 0.25)])
    return graph


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def tick_labels(axes):
    return [label.get_text() for label in axes.get_yticklabels()]


def bars(axes):
    """The length and colour of every bar, from the top."""
    patches = sorted(axes.patches, key=lambda patch: patch.get_y())
    return [(patch.get_width(), to_hex(patch.get_facecolor()).upper()) for patch in patches]


def edges_of(axes):
    """The ends and widths of the edges drawn, by their label."""
    drawn = [one for one in axes.collections if isinstance(one, LineCollection)]
    return {one.get_label(): (one.get_segments(), one.get_linewidths()) for one in drawn}


def boxes_of_texts(axes):
    axes.figure.draw_without_rendering()
    return [text.get_window_extent() for text in axes.texts]


CALLS = {
    "path": lambda ax: sw.plot_path(SIZE_PATH, ax),
    "graph path": lambda ax: sw.plot_path(GRAPH_PATH, ax),
    "support": lambda ax: sw.plot_support(fitted(), ax),
    "history": lambda ax: sw.plot_history(sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 1)), ax),
    "graph": lambda ax: sw.plot_graph(weighted_graph(), ax),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
class TestAxes:
    def test_those_given_are_used_and_returned(self, call):
        left, right = Figure().subplots(1, 2)
        assert call(right) is right
        assert right.has_data()
        assert not left.has_data()

    def test_without_there_is_a_new_figure(self, call):
        first, second = call(None), call(None)
        assert isinstance(first, Axes)
        assert first.figure is not second.figure
        assert isinstance(first.figure, Figure)

    def test_other_things_are_refused(self, call):
        with pytest.raises(TypeError, match="ax must be matplotlib axes, got 'here'"):
            call("here")


def test_a_new_figure_is_one_that_pyplot_would_show():
    before = plt.get_fignums()
    axes = sw.plot_history(sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 1)))
    assert axes.figure.number not in before
    assert axes.figure.number in plt.get_fignums()


class TestPath:
    def test_the_criterion_over_the_size_with_error_bars(self):
        axes = sw.plot_path(SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2))
        curve, chosen = axes.get_lines()[0], axes.get_lines()[-1]
        np.testing.assert_array_equal(curve.get_xydata(), [[1, 0.5], [2, 0.2], [3, 0.3]])
        (whiskers,) = (one for one in axes.collections if isinstance(one, LineCollection))
        heights = [segment[:, 1] for segment in whiskers.get_segments()]
        np.testing.assert_allclose(heights, [[0.45, 0.55], [0.18, 0.22], [0.27, 0.33]])
        assert set(chosen.get_xdata()) == {2}
        assert legend(axes) == ["chosen: 2"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("size", "cross-validated loss")

    def test_another_criterion(self):
        model = SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2)
        axes = sw.plot_path(model, criterion="bic")
        np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), [9, 4, 7])
        assert not axes.collections
        assert axes.get_ylabel() == "BIC"

    def test_a_frame_says_what_it_can(self):
        axes = sw.plot_path(SIZE_PATH)
        assert axes.get_ylabel() == "cross-validated loss"
        assert axes.get_legend() is None
        assert sw.plot_path(SIZE_PATH[["size", "value"]]).get_ylabel() == "value"

    def test_one_line_for_every_ridge_of_graphs(self):
        model = SimpleNamespace(path_=GRAPH_PATH.iloc[::-1], max_degree_=2, ridge_=0.2)
        axes = sw.plot_path(model)
        lines = [container.lines[0] for container in axes.containers]
        np.testing.assert_array_equal([line.get_ydata() for line in lines], [[-5, -3], [-6, -4]])
        np.testing.assert_allclose([line.get_xdata() for line in lines], [[1, 2], [1, 2]], atol=0.1)
        assert sorted(legend(axes)) == ["chosen", "ridge 0.1", "ridge 0.2"]
        (ring,) = (line for line in axes.get_lines() if line.get_label() == "chosen")
        assert ring.get_ydata() == [-4]
        assert ring.get_xdata() == lines[1].get_xdata()[1]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("largest degree", "held-out score")
        assert sorted(legend(sw.plot_path(GRAPH_PATH))) == ["ridge 0.1", "ridge 0.2"]

    def test_a_fitted_estimator(self):
        spins = np.where(np.random.default_rng(0).random((30, 3)) < 0.5, -1, 1)
        model = sw.IsingGraphCV([1, 2], [0.01], cv=2).fit(spins)
        (container,) = sw.plot_path(model).containers
        np.testing.assert_array_equal(container.lines[0].get_ydata(), model.path_["score_mean"])

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "message"),
        [
            (5, {}, TypeError, "model must be a pandas.DataFrame, as of the path_ of a fitted"),
            (SIZE_PATH[["bic"]], {}, ValueError, "size is missing"),
            (SIZE_PATH[:0], {}, ValueError, "at least one row"),
            (SIZE_PATH[["size"]], {}, ValueError, "one that the path has: none"),
            (SIZE_PATH, {"criterion": "aic"}, ValueError, "one that the path has: cv, bic, value; got 'aic'"),
            (SIZE_PATH, {"criterion": "best"}, ValueError, "got 'best'"),
            (GRAPH_PATH, {"criterion": "bic"}, ValueError, "must be None for a path of graphs"),
            (GRAPH_PATH.drop(columns="score_se"), {}, ValueError, "score_se is missing"),
        ],
    )
    def test_what_is_refused(self, arguments, options, error, message):
        with pytest.raises(error, match=message):
            sw.plot_path(arguments, **options)


class TestSupport:
    def test_the_chosen_features_from_the_largest(self):
        axes = sw.plot_support(fitted())
        assert tick_labels(axes) == ["x1", "x3", "x0", "x4"]
        assert [width for width, _ in bars(axes)] == [-2.0, 1.0, 0.5, -0.1]
        assert axes.get_ylim()[0] > axes.get_ylim()[1]
        assert axes.get_xlabel() == "coefficient"

    def test_groups_are_told_with_how_many_are_chosen(self):
        axes = sw.plot_support(fitted(), groups=["u", "v", "v", "u", "v"])
        assert tick_labels(axes) == ["v: 2 of 3 chosen", "x1", "x4", "u: 2 of 2 chosen", "x3", "x0"]
        first, second = COLOURS[:2]
        assert bars(axes) == [(-2.0, first), (-0.1, first), (1.0, second), (0.5, second)]
        weights = [label.get_fontweight() for label in axes.get_yticklabels()]
        assert weights == ["bold", "normal", "normal", "bold", "normal", "normal"]

    def test_no_heading_is_cut_off(self):
        axes = sw.plot_support(fitted(), groups=["u", "v", "v", "u", "v"])
        low, high = sorted(axes.get_ylim())
        assert low < -0.4
        assert high > 5.4

    def test_only_the_largest(self):
        axes = sw.plot_support(fitted(), groups=["u", "v", "v", "u", "v"], top=1)
        assert tick_labels(axes) == ["v: 2 of 3 chosen", "x1"]

    def test_groups_by_name_and_names(self):
        names = ["ant", "bee", "cat", "dog", "eel"]
        model = fitted(feature_names_in_=np.array(names, dtype=object))
        kinds = {"eel": "fish", "ant": "insect", "bee": "insect", "cat": "mammal", "dog": "mammal"}
        wanted = [
            "insect: 2 of 2 chosen",
            "bee",
            "ant",
            "mammal: 1 of 2 chosen",
            "dog",
            "fish: 1 of 1 chosen",
            "eel",
        ]
        assert tick_labels(sw.plot_support(model, groups=kinds)) == wanted
        assert tick_labels(sw.plot_support(model, groups=pd.Series(kinds))) == wanted
        assert tick_labels(sw.plot_support(model, names=list("abcde"))) == ["b", "d", "a", "e"]

    def test_labels_of_a_partition_are_the_groups(self):
        labels = ["u", "v", "v", "u", "v"]
        parts = sw.Partition(labels, 2)
        wanted = tick_labels(sw.plot_support(fitted(), groups=labels))
        for constraint in (parts, parts.truncate(4), parts.truncate(4).contract([1])):
            assert tick_labels(sw.plot_support(fitted(constraint_=constraint))) == wanted
        assert tick_labels(sw.plot_support(fitted(constraint_=sw.Uniform(5, 4)))) == ["x1", "x3", "x0", "x4"]

    def test_groups_of_the_estimator_come_before_its_constraint(self):
        model = fitted(groups=["g", "g", "h", "h", "h"], constraint_=sw.Partition([0, 1], 1))
        assert tick_labels(sw.plot_support(model))[0] == "g: 2 of 2 chosen"

    def test_classes_are_taken_together(self):
        coef = np.array([[3.0, 0.0, 0.1], [4.0, 0.0, 0.0]])
        axes = sw.plot_support(SimpleNamespace(coef_=coef, support_=np.array([0, 2])))
        np.testing.assert_allclose([width for width, _ in bars(axes)], [5.0, 0.1])
        assert "classes" in axes.get_xlabel()
        one = sw.plot_support(SimpleNamespace(coef_=-coef[:1], support_=np.array([0])))
        assert [width for width, _ in bars(one)] == [-3.0]

    def test_a_selector_shows_its_estimator(self):
        assert tick_labels(sw.plot_support(SimpleNamespace(estimator_=fitted()))) == ["x1", "x3", "x0", "x4"]

    def test_long_names_fit_into_the_figure(self):
        names = [f"a very long name of a feature, number {number}" for number in range(5)]
        axes = sw.plot_support(fitted(), names=names, groups=["one group with quite a long name"] * 5)
        axes.figure.draw_without_rendering()
        boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
        assert min(box.x0 for box in boxes) >= 0
        assert all(upper.y0 >= lower.y1 for upper, lower in itertools.pairwise(boxes))

    @pytest.mark.parametrize(
        ("model", "options", "error", "message"),
        [
            (5, {}, TypeError, "estimator must be fitted and have coef_ and support_, got 5"),
            (fitted(), {"names": ["a"]}, ValueError, "names must have one for each of 5 features, got 1"),
            (fitted(), {"groups": ["a"]}, ValueError, "groups must have one label for each of the 5"),
            (fitted(), {"top": -1}, ValueError, "top must be a non-negative integer, got -1"),
        ],
    )
    def test_what_is_refused(self, model, options, error, message):
        with pytest.raises(error, match=message):
            sw.plot_support(model, **options)


class TestHistory:
    def test_additions_and_exchanges_are_told_apart(self):
        # From {0, 1}: what is worth more comes in for what is worth less, then the rest is added.
        constraint = sw.Partition(["a", "b", "b", "c"], 1)
        result = sw.maximize(sw.Linear([1, 2, 5, 3]), constraint, start=[0, 1])
        axes = sw.plot_history(SimpleNamespace(result_=result))
        whole, *marks = axes.get_lines()
        np.testing.assert_array_equal(whole.get_ydata(), [event.value for event in result.history])
        shown = {line.get_label(): line.get_xydata().tolist() for line in marks}
        for label, is_exchange in (("added", False), ("exchanged", True)):
            moves = [event for event in result.history if bool(event.dropped) == is_exchange]
            assert shown[label] == [[event.n_iter, event.value] for event in moves] != []
        assert legend(axes) == ["added", "exchanged"]
        assert len({line.get_marker() for line in marks}) == 2
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("move", "value")

    def test_what_is_proven(self):
        result = sw.exact(sw.Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), sw.Uniform(4, 2))
        axes = sw.plot_history(result)
        (bound,) = (line for line in axes.get_lines() if line.get_label() == "proven upper bound")
        assert set(bound.get_ydata()) == {result.certificate.upper_bound}
        assert bound.get_linestyle() == "--"

    def test_a_search_without_a_move(self):
        axes = sw.plot_history(sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 2), start=[0, 1]))
        assert legend(axes) == ["no move was made"]
        assert axes.get_lines()[-1].get_xydata().tolist() == [[0, 3]]

    def test_what_is_refused(self):
        with pytest.raises(
            TypeError, match=r"result must be a SearchResult or a fitted estimator, got \[1\]"
        ):
            sw.plot_history([1])


class TestGraph:
    def test_edges_by_sign_and_weight(self):
        places = {"a": (0, 0), "b": (1, 0), "c": (1, 1), "lone": (0, 1)}
        axes = sw.plot_graph(weighted_graph(), positions=places)
        drawn = edges_of(axes)
        segments, widths = drawn["positive"]
        np.testing.assert_array_equal(segments, [[(0, 0), (1, 0)], [(0, 0), (1, 1)]])
        assert widths[0] > 2 * widths[1]
        segments, (width,) = drawn["negative"]
        np.testing.assert_array_equal(segments, [[(1, 0), (1, 1)]])
        assert widths[1] < width < widths[0]
        colour_of = {one.get_label(): to_hex(one.get_colors()[0]).upper() for one in axes.collections[:2]}
        assert colour_of == {"positive": POSITIVE, "negative": NEGATIVE}
        assert legend(axes) == ["positive", "negative"]

    def test_names_can_be_left_out(self):
        assert {text.get_text() for text in sw.plot_graph(weighted_graph()).texts} == {"lone", "a", "b", "c"}
        assert not sw.plot_graph(weighted_graph(), labels=False).texts

    def test_light_edges_can_be_left_out(self):
        drawn = edges_of(sw.plot_graph(weighted_graph(), threshold=0.25))
        assert [len(segments) for segments, _ in drawn.values()] == [1, 1]
        bare = sw.plot_graph(weighted_graph(), threshold=5.0)
        assert edges_of(bare) == {}
        assert bare.get_legend() is None

    def test_places_in_the_order_of_the_nodes(self):
        places = np.array([(0, 1), (0, 0), (1, 0), (1, 1)])
        axes = sw.plot_graph(weighted_graph(), positions=places)
        (nodes,) = (one for one in axes.collections if isinstance(one, PathCollection))
        np.testing.assert_array_equal(nodes.get_offsets(), places)
        np.testing.assert_array_equal(edges_of(axes)["positive"][0][0], [(0, 0), (1, 0)])

    def test_springs_always_pull_alike_and_loose_nodes_lie_beneath(self):
        places = []
        for _ in range(2):
            axes = sw.plot_graph(weighted_graph())
            (nodes,) = (one for one in axes.collections if isinstance(one, PathCollection))
            places.append(np.asarray(nodes.get_offsets()))
        np.testing.assert_array_equal(*places)
        assert places[0][0, 1] < places[0][1:, 1].min()

    def test_nodes_by_field(self):
        spins = np.where(np.random.default_rng(0).random((80, 3)) < [0.2, 0.5, 0.9], 1, 0)
        model = sw.IsingGraph(1).fit(spins)
        axes = sw.plot_graph(model)
        (nodes,) = (one for one in axes.collections if isinstance(one, PathCollection))
        np.testing.assert_array_equal(nodes.get_array(), model.field_)
        assert nodes.get_clim()[1] == -nodes.get_clim()[0] == pytest.approx(np.abs(model.field_).max())
        assert [one.get_ylabel() for one in axes.figure.axes if one is not axes] == ["field"]
        assert len(sw.plot_graph(weighted_graph()).figure.axes) == 1

    def test_one_huge_field_does_not_make_the_others_pale(self):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, {0: 20.0, 1: 1.0, 2: -1.0}, "field")
        (nodes,) = (one for one in sw.plot_graph(graph).collections if isinstance(one, PathCollection))
        assert nodes.get_clim() == (-3.0, 3.0)

    def test_names_do_not_overlap(self):
        names = [f"much too long to stand in line {i}" for i in range(4)]
        axes = sw.plot_graph(nx.path_graph(names), positions=[(i, 0.0) for i in range(4)])
        boxes = boxes_of_texts(axes)
        (left, _), (right, _) = axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        assert all(box.width > right - left for box in boxes)
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))

    def test_a_graph_without_edges_or_nodes(self):
        assert len(sw.plot_graph(nx.empty_graph(3)).texts) == 3
        assert not sw.plot_graph(nx.Graph()).texts

    @pytest.mark.parametrize(
        ("model", "options", "error", "message"),
        [
            (5, {}, TypeError, "model must be a networkx graph or an estimator with graph_, got 5"),
            (weighted_graph(), {"threshold": -1}, ValueError, "threshold must be a non-negative number"),
            (weighted_graph(), {"positions": [[0, 0]]}, ValueError, r"shape \(4, 2\), got \(1, 2\)"),
            (weighted_graph(), {"positions": {"a": (0, 0)}}, ValueError, "'lone' is missing"),
        ],
    )
    def test_what_is_refused(self, model, options, error, message):
        with pytest.raises(error, match=message):
            sw.plot_graph(model, **options)
