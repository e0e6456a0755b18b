"""The plots show what the estimators and searches found, in the axes that they are given."""

import itertools
from dataclasses import replace
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
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import swapwise as sw
from swapwise.charts.chart import COLOURS
from tests.app.report.test_parts import perturbed


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


GRAPH_PATH = pd.DataFrame(
    {
        "n_edges": [2, 0, 1, 3],
        "log_likelihood": [-30.0, -60.0, -50.0, -29.0],
        "bic": [64.0, 120.0, 102.0, 66.0],
        "ebic": [70.0, 120.0, 105.0, 75.0],
        "score_mean": [-3.0, -6.0, -5.0, -3.1],
        "score_se": [0.3, 0.1, 0.2, 0.4],
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


NEAR = "one standard error from the best"


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


def lines_and_bars(axes):
    """What is drawn as lines, and the lengths of bars, and where nodes are."""
    nodes = [np.asarray(one.get_offsets()) for one in axes.collections if isinstance(one, PathCollection)]
    lengths = np.array([patch.get_width() for patch in axes.patches])
    return [line.get_xydata() for line in axes.get_lines()] + [lengths] + nodes


def texts(axes):
    return [text.get_text() for text in axes.texts]


CALLS = {
    "path": lambda ax: sw.plot_path(SIZE_PATH, ax),
    "graph path": lambda ax: sw.plot_path(GRAPH_PATH, ax),
    "support": lambda ax: sw.plot_support(fitted(), ax),
    "history": lambda ax: sw.plot_history(sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 1)), ax),
    "proof": lambda ax: sw.certify(sw.Linear([1, 2]), sw.Uniform(2, 1)).plot(ax),
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


ESTIMATORS = {
    sw.plot_path: sw.SparseRegressorCV(sizes=[1, 2], cv=2),
    sw.plot_support: sw.SparseRegressor(2),
    sw.plot_history: sw.SparseRegressor(2),
    sw.plot_graph: sw.IsingGraph(1),
}


@pytest.mark.parametrize("plot", ESTIMATORS, ids=lambda plot: plot.__name__)
class TestEstimators:
    def test_one_that_is_not_fitted_is_refused(self, plot):
        for model in (ESTIMATORS[plot], make_pipeline(StandardScaler(), ESTIMATORS[plot])):
            with pytest.raises(NotFittedError, match=f"{type(ESTIMATORS[plot]).__name__} instance is not"):
                plot(clone(model))

    def test_of_a_pipeline_the_last_step_is_drawn(self, plot):
        data = np.where(np.random.default_rng(0).random((30, 3)) < 0.5, -1.0, 1.0)
        before = "passthrough" if plot is sw.plot_graph else StandardScaler()
        model = clone(make_pipeline(before, ESTIMATORS[plot])).fit(data, data @ [1.0, 2.0, 0.5])
        for whole, last in zip(lines_and_bars(plot(model)), lines_and_bars(plot(model[-1])), strict=True):
            np.testing.assert_array_equal(whole, last)


class TestPath:
    def test_the_criterion_over_the_size_with_error_bars(self):
        axes = sw.plot_path(SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2))
        curve, chosen = axes.get_lines()[0], axes.get_lines()[-1]
        np.testing.assert_array_equal(curve.get_xydata(), [[1, 0.5], [2, 0.2], [3, 0.3]])
        (whiskers,) = (one for one in axes.collections if isinstance(one, LineCollection))
        heights = [segment[:, 1] for segment in whiskers.get_segments()]
        np.testing.assert_allclose(heights, [[0.45, 0.55], [0.18, 0.22], [0.27, 0.33]])
        assert set(chosen.get_xdata()) == {2}
        assert legend(axes) == ["chosen: 2 (by cv)"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("size", "cross-validated loss")

    def test_another_criterion(self):
        model = SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2)
        axes = sw.plot_path(model, criterion="bic")
        np.testing.assert_array_equal(axes.get_lines()[0].get_ydata(), [9, 4, 7])
        assert not axes.collections
        assert axes.get_ylabel() == "BIC"
        assert legend(axes) == ["chosen: 2 (by cv)"]

    def test_what_is_within_one_standard_error(self):
        model = SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2, one_standard_error=True)
        axes = sw.plot_path(model)
        assert legend(axes) == ["chosen: 2 (by cv)", NEAR]
        (near,) = (line for line in axes.get_lines() if line.get_label() == NEAR)
        np.testing.assert_allclose(near.get_ydata(), 0.22)
        assert NEAR not in legend(sw.plot_path(model, criterion="bic"))
        model.path_ = SIZE_PATH.assign(cv_se=np.nan)
        assert NEAR not in legend(sw.plot_path(model))

    def test_what_is_within_one_standard_error_for_graphs(self):
        model = SimpleNamespace(path_=GRAPH_PATH, criterion="cv", n_edges_=2, one_standard_error=True)
        (near,) = (line for line in sw.plot_path(model).get_lines() if line.get_label() == NEAR)
        np.testing.assert_allclose(near.get_ydata(), -3.3)
        assert NEAR not in legend(sw.plot_path(model, criterion="bic"))

    def test_a_path_over_capacities(self):
        model = SimpleNamespace(path_=SIZE_PATH, criterion="cv", size_=2, along="capacity")
        assert sw.plot_path(model).get_xlabel() == "capacity per group"

    @pytest.mark.parametrize(
        ("model", "loss"),
        [
            (sw.SparseRegressorCV(sizes=[1], cv=2), "mean squared error"),
            (sw.SparseClassifierCV(sizes=[1], cv=2), "log-loss"),
            (sw.SparseGLMRegressorCV(sizes=[1], cv=2), "Poisson deviance"),
            (sw.SparseGLMRegressorCV(sizes=[1], cv=2, family="gamma"), "Gamma deviance"),
        ],
    )
    def test_the_loss_is_named(self, model, loss):
        rng = np.random.default_rng(0)
        axes = sw.plot_path(model.fit(rng.standard_normal((30, 2)), rng.integers(1, 3, size=30)))
        assert axes.get_ylabel() == f"cross-validated {loss}"
        assert axes.get_xlabel() == "number of chosen features"

    def test_a_frame_says_what_it_can(self):
        axes = sw.plot_path(SIZE_PATH)
        assert axes.get_ylabel() == "cross-validated loss"
        assert axes.get_legend() is None
        assert sw.plot_path(SIZE_PATH[["size", "value"]]).get_ylabel() == "value of the objective"

    def test_the_criterion_of_graphs_over_the_number_of_edges(self):
        model = SimpleNamespace(path_=GRAPH_PATH, criterion="ebic", gamma=0.5, n_edges_=2)
        axes = sw.plot_path(model)
        curve, chosen = axes.get_lines()
        np.testing.assert_array_equal(curve.get_xydata(), [[0, 120], [1, 105], [2, 70], [3, 75]])
        assert (set(chosen.get_xdata()), chosen.get_linestyle()) == ({2.0}, "--")
        assert legend(axes) == ["chosen: 2 (by EBIC)"]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("number of edges", "EBIC (γ = 0.5)")
        low, high = axes.get_ylim()
        assert low < 70 < 75 < high < 105  # graphs with too few edges are out of view

    def test_the_score_of_graphs_has_a_band(self):
        model = SimpleNamespace(path_=GRAPH_PATH, criterion="cv", n_edges_=2)
        axes = sw.plot_path(model)
        (band,) = axes.collections
        heights = band.get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == (-6.1, -2.7)
        assert axes.get_ylabel() == "held-out score"
        assert not sw.plot_path(model, criterion="log_likelihood").collections

    def test_a_frame_of_graphs_does_not_know_what_was_chosen(self):
        axes = sw.plot_path(GRAPH_PATH)
        assert axes.get_ylabel() == "EBIC"
        assert axes.get_legend() is None

    def test_a_choice_that_an_interrupt_left_no_scores_of(self):
        path = GRAPH_PATH.drop(columns=["score_mean", "score_se", "ebic"])
        axes = sw.plot_path(SimpleNamespace(path_=path, criterion="cv", n_edges_=2))
        assert axes.get_ylabel() == "BIC"

    @pytest.mark.parametrize("criterion", ["ebic", "cv"])
    def test_a_fitted_estimator(self, criterion):
        spins = np.cumprod(np.where(np.random.default_rng(0).random((80, 4)) < 0.2, -1, 1), axis=1)
        model = sw.IsingGraphCV(criterion=criterion, cv=2).fit(spins)
        curve, chosen = sw.plot_path(model).get_lines()
        column = "score_mean" if criterion == "cv" else "ebic"
        np.testing.assert_array_equal(curve.get_ydata(), model.path_[column])
        assert set(chosen.get_xdata()) == {model.n_edges_}

    @pytest.mark.parametrize(
        ("arguments", "options", "error", "message"),
        [
            (5, {}, TypeError, "model must be a pandas.DataFrame, as returned by the path_ of a fitted"),
            (SIZE_PATH[["bic"]], {}, ValueError, "size is missing"),
            (SIZE_PATH[:0], {}, ValueError, "at least one row"),
            (SIZE_PATH[["size"]], {}, ValueError, "one that the path has: none"),
            (SIZE_PATH, {"criterion": "aic"}, ValueError, "one that the path has: cv, bic, value; got 'aic'"),
            (SIZE_PATH, {"criterion": "best"}, ValueError, "got 'best'"),
            (GRAPH_PATH, {"criterion": "aic"}, ValueError, "graphs has: ebic, bic, cv, log_likelihood; got"),
            (GRAPH_PATH[:0], {}, ValueError, "at least one row"),
            (GRAPH_PATH[["n_edges"]], {}, ValueError, "graphs has: none"),
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

    def test_groups_are_reported_with_how_many_are_chosen(self):
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

    def test_coefficients_can_be_scaled(self):
        scale = [10.0, 1.0, 1.0, 1.0, 0.0]
        axes = sw.plot_support(fitted(), scale=scale, top=3)
        assert tick_labels(axes) == ["x0", "x1", "x3"]
        assert [width for width, _ in bars(axes)] == [5.0, -2.0, 1.0]
        assert axes.get_xlabel() == "coefficient, times scale"
        named = fitted(feature_names_in_=np.array(list("abcde"), dtype=object))
        by_name = pd.Series(scale, index=list("abcde"))[::-1]
        assert tick_labels(sw.plot_support(named, scale=by_name))[0] == "a"

    def test_a_model_without_features_says_so(self):
        for groups in (None, list("uvvuv")):
            axes = sw.plot_support(fitted(support_=np.array([], dtype=int)), groups=groups)
            assert texts(axes) == ["nothing chosen"]
            assert tick_labels(axes) == []
        assert not texts(sw.plot_support(fitted()))

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
            (fitted(), {"scale": [1.0]}, ValueError, "scale must have length 5, got length 1"),
            (fitted(), {"scale": [-1.0] * 5}, ValueError, "scale must be non-negative"),
            (
                fitted(feature_names_in_=list("abcde")),
                {"scale": pd.Series(1.0, index=list("abcd"))},
                ValueError,
                "scale must have a number for every feature, but 'e' is missing",
            ),
            (fitted(), {"top": -1}, ValueError, "top must be a non-negative integer, got -1"),
        ],
    )
    def test_what_is_refused(self, model, options, error, message):
        with pytest.raises(error, match=message):
            sw.plot_support(model, **options)


def few_of(features):
    """Features and a target that depends on a few of them."""
    rng = np.random.default_rng(features)
    X = rng.standard_normal((80, features)) + rng.standard_normal((80, 1))
    return X, X[:, :6] @ [3.0, -2.0, 2.0, 1.0, -1.0, 1.0] + rng.standard_normal(80)


def in_two_ways(features):
    kinds = np.arange(features)
    return sw.Intersection(sw.Partition(kinds % 7, 1), sw.Partition(kinds // 100, 2))


DEFAULT_FITS = {
    "500 features": lambda: sw.SparseRegressor(6).fit(*few_of(500)),
    "5000 features": lambda: sw.SparseRegressor(6).fit(*few_of(5000)),
    "intersection": lambda: sw.SparseRegressor(in_two_ways(500)).fit(*few_of(500)),
    "classes": lambda: sw.SparseClassifier(3).fit(few_of(30)[0], few_of(30)[1] > 0),
    "path": lambda: sw.SparseRegressorCV(sizes=range(1, 9), criterion="bic").fit(*few_of(30)),
    "restarts": lambda: sw.SparseRegressor(6, n_restarts=8, random_state=0).fit(*few_of(40)),
    "graph": lambda: sw.IsingGraph(2).fit(np.sign(few_of(6)[0])),
    "exact": lambda: sw.exact(sw.LeastSquares(*few_of(12)), sw.Uniform(12, 3)),
}
STARTS = ["auto", "empty", "arbitrary", "greedy", "modular", "best-singleton", "relaxation", "model"]


class TestHistory:
    @pytest.mark.parametrize("fit", DEFAULT_FITS.values(), ids=DEFAULT_FITS.keys())
    def test_all_of_the_record_is_drawn(self, fit):
        model = fit()
        result = getattr(model, "result_", model)
        values = [event.value for event in result.history]
        drawn = [line for line in sw.plot_history(model).get_lines() if line.get_marker() not in ("None", "")]
        at = sorted(place for line in drawn for place in line.get_xydata().tolist())
        assert at == [[float(n), value] for n, value in enumerate(values, 1)] != []
        assert values[-1] == pytest.approx(result.value)

    @pytest.mark.parametrize("start", STARTS)
    def test_strategies_are_distinguished(self, start):
        X, y = few_of(40)
        result = sw.maximize(sw.LeastSquares(X, y, ridge=1.0), sw.Uniform(40, 6), start=start)
        axes = sw.plot_history(result)
        by = list(dict.fromkeys(event.strategy for event in result.history))
        named = list(dict.fromkeys(label.split(": ")[0] for label in legend(axes)))
        assert named == (by if len(by) > 1 else [label for label in ("added", "exchanged") if label in named])
        marks = [line for line in axes.get_lines() if line.get_label() in legend(axes)]
        assert len({line.get_color() for line in marks}) == len(marks)
        # All begin with nothing, which has the value 0.
        assert axes.get_lines()[0].get_xydata()[0].tolist() == [0.0, 0.0]

    def test_a_dotted_line_leads_to_a_perturbation(self):
        result = perturbed()
        axes = sw.plot_history(result)
        solid, dotted, *_ = axes.get_lines()
        np.testing.assert_array_equal(solid.get_ydata(), [0.0, 3.0, np.nan, 1.0, 5.0])
        assert dotted.get_linestyle() == ":"
        assert dotted.get_xydata()[:2].tolist() == [[1.0, 3.0], [2.0, 1.0]]
        assert legend(axes) == ["added", "perturbation"]

    def test_additions_and_exchanges_are_distinguished(self):
        # From {0, 1}: better elements replace worse ones, then the rest is added.
        constraint = sw.Partition(["a", "b", "b", "c"], 1)
        result = sw.maximize(sw.Linear([1, 2, 5, 3]), constraint, start=[0, 1])
        axes = sw.plot_history(SimpleNamespace(result_=result))
        whole, *marks = axes.get_lines()
        np.testing.assert_array_equal(whole.get_ydata(), [event.value for event in result.history])
        shown = {line.get_label(): line.get_xydata().tolist() for line in marks}
        for label, is_exchange in (("added", False), ("exchanged", True)):
            moves = [event for event in result.history if bool(event.dropped) == is_exchange]
            assert shown[label] == [[event.n_iter, event.value] for event in moves] != []
        assert legend(axes) == ["exchanged", "added"]
        assert len({line.get_marker() for line in marks}) == 2
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("move", "value of the objective")

    def test_what_is_proven(self):
        result = sw.exact(sw.Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), sw.Uniform(4, 2))
        axes = sw.plot_history(result)
        (bound,) = (line for line in axes.get_lines() if line.get_label() == "proven upper bound")
        assert set(bound.get_ydata()) == {result.certificate.upper_bound}
        assert bound.get_linestyle() == "--"
        unknown = sw.CustomSetFunction(lambda chosen: len(chosen) ** 0.5, 4, monotone=True)
        axes = sw.plot_history(sw.exact(unknown, sw.Uniform(4, 2), max_nodes=0))
        assert legend(axes) == ["added", "trivial upper bound"]

    def test_a_search_without_a_move(self):
        axes = sw.plot_history(sw.maximize(sw.Linear([1, 2]), sw.Uniform(2, 2), start=[0, 1]))
        assert axes.get_legend() is None
        assert texts(axes) == ["no move: the search began at a local optimum, of value 3"]
        level, mark = axes.get_lines()[-2:]
        assert set(level.get_ydata()) == {3}
        assert mark.get_xydata().tolist() == [[0, 3]]
        axes.figure.draw_without_rendering()
        low, high = axes.get_xlim()
        assert [tick for tick in axes.get_xticks() if low <= tick <= high] == [0]

    def test_what_is_refused(self):
        with pytest.raises(
            TypeError, match=r"result must be a SearchResult or a fitted estimator, got \[1\]"
        ):
            sw.plot_history([1])


def certificate(events, upper_bound, seconds=None, **changes):
    """A proof of an answer of value 0.7 that went as the events say: (seconds, value, bound, kind)."""
    history = tuple(sw.extending.ProofEvent(*event, n_nodes=0) for event in events)
    end = events[-1][0] if seconds is None else seconds
    has = {"value": 0.7, "kind": "branching", "bounds": {"all": 1.0}, "support": np.array([0])} | changes
    return sw.Certificate(upper_bound=upper_bound, history=history, seconds=end, **has)


AT_ONCE = [(0.01, 0.7, np.inf, ""), (0.02, 0.7, 1.0, "all"), (0.1, 0.7, 0.7, "relaxation")]
SLOW = [(0.01, 0.7, 1.0, "all"), (0.1, 0.7, 0.8, "relaxation"), (30.0, 0.7, 0.75, "branching")]


class TestProof:
    def test_lines_go_through_the_record(self):
        proof = certificate(SLOW, 0.75, seconds=60.0)
        axes = proof.plot()
        bound, value = axes.get_lines()
        assert bound.get_xydata()[1:].tolist() == [[0.1, 0.8], [30.0, 0.75], [60.0, 0.75]]
        assert set(value.get_ydata()) == {0.7}
        assert {bound.get_drawstyle(), value.get_drawstyle()} == {"steps-post"}
        assert legend(axes) == ["proven upper bound", "best value so far"]
        assert axes.get_title(loc="left") == "gap 6.7%: at least 93.3% of the optimum"
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (seconds)", "value of the objective")

    def test_what_lies_between_the_lines_is_shaded(self):
        (shade,) = certificate(SLOW, 0.75, seconds=60.0).plot().collections
        (area,) = shade.get_paths()
        assert (area.vertices[:, 1].min(), area.vertices[:, 1].max()) == (0.7, 1.0)
        assert area.contains_point((29.0, 0.79))  # in steps, as the lines are
        assert not area.contains_point((31.0, 0.76))

    def test_of_a_long_proof_time_is_logarithmic(self):
        axes = certificate(SLOW, 0.75, seconds=60.0).plot()
        assert axes.get_xscale() == "log"
        low, high = axes.get_xlim()
        assert 0 < low < 0.1 < 60.0 < high
        axes.figure.draw_without_rendering()
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert {"0.1", "1", "10"} <= set(labels)

    def test_of_a_short_proof_time_is_linear_from_the_beginning(self):
        axes = certificate(AT_ONCE, 0.7).plot()
        assert axes.get_xscale() == "linear"
        assert axes.get_xlim()[0] == 0
        assert axes.get_xlim()[1] > 0.1  # the last step is not on the frame
        assert axes.get_title(loc="left") == "proven optimal"

    def test_a_trivial_bound_far_away_is_out_of_view(self):
        near, far = [(1.0, 0.7, 1.0, "all"), (2.0, 0.7, 0.8, "relaxation")], SLOW[:1]
        assert certificate(near, 0.8).plot().get_ylim()[1] > 1.0
        low, high = certificate([*far, (1.0, 0.7, 0.71, "relaxation")], 0.71).plot().get_ylim()
        assert low < 0.7 < 0.71 < high < 0.72

    def test_nothing_but_the_trivial_bound(self):
        axes = certificate([(0.0, 0.7, np.inf, ""), (0.1, 0.7, 1.0, "all")], 1.0, kind="all").plot()
        assert axes.get_title(loc="left") == "nothing proven beyond the trivial bound"
        assert legend(axes) == ["trivial upper bound", "best value so far"]
        assert axes.get_ylim()[0] < 0.7 < 1.0 < axes.get_ylim()[1]

    def test_no_bound_at_all(self):
        axes = certificate([(0.0, 0.7, np.inf, "")], np.inf, seconds=1.0, bounds={}).plot()
        assert axes.get_title(loc="left") == "no upper bound on the optimum"
        assert legend(axes) == ["best value so far"]

    def test_an_answer_that_is_not_the_best_has_a_line_of_its_own(self):
        events = [(0.0, 0.7, np.inf, ""), (0.1, 0.7, 0.9, "relaxation"), (0.2, 0.8, 0.8, "branching")]
        axes = certificate(events, 0.8, better=np.array([1]), better_value=0.8).plot()
        assert legend(axes) == ["proven upper bound", "best value so far", "value of the answer"]
        assert axes.get_title(loc="left") == "gap of the answer 13%: at least 87.4% of the optimum"
        assert set(axes.get_lines()[2].get_ydata()) == {0.7}

    def test_a_certificate_without_a_record_shows_where_it_ended(self):
        bound, value = replace(certificate(SLOW, 0.75), history=()).plot().get_lines()
        assert bound.get_xydata().tolist() == [[0.0, 0.75], [30.0, 0.75]]
        assert value.get_xydata().tolist() == [[0.0, 0.7], [30.0, 0.7]]

    def test_a_result_with_a_proof(self):
        result = sw.exact(sw.Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), sw.Uniform(4, 2))
        axes = sw.plot_proof(result)
        assert lines_and_bars(axes)[1].tolist() == lines_and_bars(result.certificate.plot())[1].tolist()

    @pytest.mark.parametrize("given", [sw.maximize(sw.Linear([1.0]), sw.Uniform(1, 1)), None, "proof"])
    def test_what_is_refused(self, given):
        with pytest.raises(TypeError, match="certificate must be a Certificate or a result that has one"):
            sw.plot_proof(given)
