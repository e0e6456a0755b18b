"""The page about a graph: its picture, path and tables are right, and no name does any harm."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from swapwise import IsingGraph, IsingGraphCV
from swapwise.app.report.graph_page import _weights, graph_report
from swapwise.app.report.graph_parts import degrees_part, edges_parts, missing_parts, weights_part
from swapwise.app.report.stability_parts import draws_of, dropping_parts, stability_parts
from swapwise.graphs.pictures.svg import graph_svg
from swapwise.graphs.pictures.words import words_of
from tests.app.report import pages
from tests.app.report.pages import EVIL, Reader, charts_of, harmless, then
from tests.app.report.test_selection import IMAGE, LINK, NARROW, TOGGLE, USED, noted

opened = pages.opened

NAMES = ["rain", EVIL, IMAGE, LINK, "a & b", "sun"]
WORDS = words_of(IsingGraph())


@pytest.fixture(scope="module")
def data():
    turns = np.where(np.random.default_rng(0).random((300, 6)) < 0.2, -1, 1)
    spins = np.cumprod(turns, axis=1)
    spins[:, 3] *= -1
    return pd.DataFrame((spins > 0).astype(int), columns=NAMES)


@pytest.fixture(scope="module")
def model(data):
    return IsingGraphCV(2).fit(data)


def bootstrap_of(model, names):
    """What a GraphBootstrap has: a row per pair, two thirds of the edges in all samples."""
    rows = []
    for u in range(len(names)):
        for v in range(u + 1, len(names)):
            weight = float(model.adjacency_[u, v])
            share = (1.0 if u % 3 else 0.4) if weight else (0.6 if (u, v) == (0, 5) else 0.1)
            rows.append((names[u], names[v], weight, weight - 0.1, weight + 0.2, share))
    columns = ["source", "target", "weight", "lower", "upper", "inclusion"]
    return SimpleNamespace(edges=pd.DataFrame(rows, columns=columns), n_boots=200, level=0.9)


def dropping():
    rows = [
        (name, share, share, share - 0.1, share + 0.05)
        for name in ("edges", "strength")
        for share in (0.9, 0.5)
    ]
    summary = pd.DataFrame(rows, columns=["measure", "share", "mean", "lower", "upper"])
    return SimpleNamespace(summary=summary, coefficients=pd.Series({"edges": 0.5, "strength": np.nan}))


@pytest.fixture(scope="module")
def page(data, model):
    return graph_report(
        model,
        data,
        bootstrap=bootstrap_of(model, NAMES),
        case_dropping=dropping(),
        certificate=model.certify(data, time_limit=2),
        asked={EVIL: EVIL},
        seconds=2.5,
    )


def drawing_of(page, kind="broad"):
    """The drawing of a graph for windows of one kind."""
    return re.search(rf'<svg class="{kind}".*?</svg>', page, re.DOTALL)[0]


def drawn_of(model, kind="broad"):
    return drawing_of(graph_svg(_weights(model), NAMES, model.field_, WORDS), kind)


class TestContent:
    def test_the_graph_comes_first_and_settings_last(self, page):
        sections = re.findall(r'<section id="(\w+)"', page)
        expected = [
            "graph",
            "path",
            "weights",
            "stability",
            "dropping",
            "certificate",
            "degrees",
            "moves",
        ]
        assert sections == [*expected, "settings"]

    def test_what_has_nothing_to_say_is_left_out(self, data):
        page = graph_report(IsingGraph(1).fit(data), data)
        assert re.findall(r'<section id="(\w+)"', page) == [
            "graph",
            "weights",
            "degrees",
            "moves",
            "settings",
        ]
        assert "not requested: swapwise graph --certify, or the method certify" in Reader(page).text["graph"]

    def test_without_data(self, model):
        page = graph_report(model)
        assert "on the training data" not in page
        assert "rain – &lt;script" in page

    def test_the_title_says_which_graph(self, data, model):
        assert "<h1>Graph of 6 variables: 5 edges</h1>" in graph_report(model, data)
        assert "<h1>Graph of a.csv: 5 edges</h1>" in graph_report(model, data, asked={"data": "a.csv"})

    def test_a_page_is_small(self, page):
        assert len(page.encode()) < 100_000

    def test_the_answer_in_one_sentence(self, model, page):
        assert f"{model.summary()}." in Reader(page).text["graph"]
        assert "6 variables, 5 edges, chosen by EBIC (γ = 0.25)" in Reader(page).text["graph"]

    def test_settings(self, data, model, page):
        text, answer = Reader(page).text["settings"], Reader(page).text["graph"]
        for words in (f"{model.score(data):.5g} on the training data", "2.5 seconds", "proofproven optimal"):
            assert words in answer
        for words in (f"{EVIL}{EVIL}", "IsingGraphCV", "300 samples of 6 variables"):
            assert words in text
        assert model.choice_in_words() in text

    def test_weights_strongest_first_with_their_intervals(self, model, page):
        text = Reader(page).text["weights"]
        edges = sorted(_weights(model).items(), key=lambda item: -abs(item[1]))
        listed = [
            f"{NAMES[u]} – {NAMES[v]}{w:.3f}{w - 0.1:.3f} to {w + 0.2:.3f}{100 if u % 3 else 40} %"
            for (u, v), w in edges
        ]
        assert text.endswith("".join(listed) + "\n")
        assert "weak ones say little" not in text

    def test_weights_without_a_choice_of_their_number(self, data):
        text = Reader(graph_report(IsingGraph(2).fit(data), data)).text["weights"]
        assert "weak ones say little" in text
        assert "interval" not in text

    def test_degrees_and_neighbours(self, data):
        model = IsingGraph({"rain": 1, EVIL: 2, IMAGE: 0, LINK: 1, "a & b": 1, "sun": 1}).fit(data)
        text = Reader(graph_report(model, data)).text["degrees"]
        for node in model.graph_:
            near = ", ".join(name for name in NAMES if name in model.graph_[node])
            assert f"{node}{near}{len(model.graph_[node])}" in text
        full = sum(model.graph_.degree[name] == limit > 0 for name, limit in model.max_degree.items())
        assert f"{full} of 6 variables ha" in text

    def test_degrees_without_limits(self):
        words = degrees_part({(0, 1): 1.0, (1, 2): 1.0}, ["a", "b", "c"], None, [2, 2, 2]).words
        assert words == "The most that a variable has is 2 neighbours."

    def test_moves_name_their_edges(self, model, page):
        first = model.result_.history[0].added[0]
        edge = " – ".join(NAMES[column] for column in model.pairs_[first])
        assert f"1+ {edge}" in Reader(page).text["moves"]

    @pytest.mark.filterwarnings("ignore:.*allows only the empty set")
    def test_no_edge(self, data):
        page = graph_report(IsingGraph(0).fit(data), data)
        assert "There is no edge" in Reader(page).text["weights"]
        assert "6 variables, 0 edges" in page

    def test_columns_without_names(self, data):
        X = pd.DataFrame(data.to_numpy())
        model = IsingGraph(2).fit(X)
        page = graph_report(model, X, bootstrap=bootstrap_of(model, list(range(6))))
        assert "0 – 1" in Reader(page).text["weights"]

    def test_no_name_is_left_as_it_is(self, page):
        for name in (EVIL, IMAGE, LINK):
            assert name not in page
        assert harmless(page)


class TestChoice:
    def test_a_line_is_at_the_number_chosen(self, model):
        (part,) = edges_parts(model)
        curve, chosen = part.chart.series
        assert list(curve.x) == model.path_["n_edges"].tolist()
        assert (chosen.at, chosen.name) == (model.n_edges_, f"chosen: {model.n_edges_} (by EBIC)")
        assert "the one with 5 edges has the lowest EBIC (γ = 0.25)" in part.words
        second = model.path_["ebic"].nsmallest(2)
        next_one = f"{model.path_['n_edges'][second.index[1]]} edges, {np.diff(second)[0]:.3g} higher"
        assert next_one in part.words

    def test_a_band_for_scores_and_the_line_of_one_standard_error(self, data):
        model = IsingGraphCV(2, criterion="cv", cv=3, one_standard_error=True).fit(data)
        (part,) = edges_parts(model)
        near, chosen = "one standard error from the best", f"chosen: {model.n_edges_} (by cross-validation)"
        assert part.chart.names == ["one standard error", chosen, near]
        assert "is the smallest within one standard error of the highest held-out score" in part.words

    def test_a_choice_that_is_not_the_best_does_not_say_so(self):
        path = pd.DataFrame({"n_edges": [0, 1, 2], "bic": [3.0, 2.0, 1.0]})
        (part,) = edges_parts(SimpleNamespace(path_=path, criterion="bic", n_edges_=1))
        assert part.words == "Of the graphs with 0 to 2 edges, the one with 1 edge was chosen; its BIC is 2."


class TestStability:
    def test_words(self, model):
        bootstrap = bootstrap_of(model, NAMES)
        (part,) = stability_parts(bootstrap, draws_of(bootstrap, NAMES), NAMES, WORDS)
        shares = [1.0 if u % 3 else 0.4 for u, _ in _weights(model)]
        assert (
            f"200 bootstrap samples: {shares.count(1.0)} of 5 edges are in 95 % of them or more" in part.words
        )
        assert f"and {shares.count(0.4)} in less than half" in part.words
        assert "Lines hold 90 % of an edge's weights; the table of couplings has the numbers." in part.words
        assert "half of the samples join: rain – sun (60 %)" in part.words

    def test_a_line_from_the_lower_to_the_upper_end(self, model):
        draws = draws_of(bootstrap_of(model, NAMES).edges, NAMES)
        (part,) = stability_parts(draws, draws, NAMES, WORDS)
        lines, weights = part.chart.series
        ends = np.column_stack([lines.low, lines.high])
        np.testing.assert_allclose(ends - np.array(weights.x)[:, None], [[-0.1, 0.2]] * 5)
        assert list(weights.y) == [0, 1, 2, 3, 4]
        assert part.chart.y.limits == (4.6, -0.6)
        assert sorted(weights.x, reverse=True) == list(weights.x)

    def test_edges_by_name_in_any_order(self, model):
        frame = bootstrap_of(model, NAMES).edges
        turned = frame.rename(columns={"source": "target", "target": "source"}).iloc[::-1]
        pd.testing.assert_series_equal(
            draws_of(frame, NAMES)["weight"], draws_of(turned, NAMES)["weight"].sort_index()
        )

    def test_many_edges_and_none(self):
        names = [str(n) for n in range(13)]
        for weight, rows in ((0.5, 60), (0.0, None)):
            ends = [(u, v) for u in names for v in names if int(u) < int(v)]
            frame = pd.DataFrame(ends, columns=["source", "target"])
            frame = frame.assign(weight=weight, lower=0.0, upper=1.0, inclusion=0.2)
            (part,) = stability_parts(frame, draws_of(frame, names), names, WORDS)
            assert (part.chart is None) == (rows is None)
            if rows:
                assert len(part.chart.series[1].x) == rows
                assert "The 60 strongest edges are shown" in part.words

    def test_fewer_cases(self):
        (part,) = dropping_parts(dropping())
        assert "in 95 % of subsets: weights 0.5. Below" in part.words
        assert part.chart.names == ["weights", "strength"]

    def test_what_is_refused(self, model):
        frame = bootstrap_of(model, NAMES).edges
        with pytest.raises(ValueError, match="inclusion is missing"):
            draws_of(frame.drop(columns="inclusion"), NAMES)
        with pytest.raises(ValueError, match="bootstrap must be of the same variables, but 'rain' is none"):
            draws_of(frame, ["a", *NAMES[1:]])
        with pytest.raises(TypeError, match=r"case_dropping must be a pandas.DataFrame"):
            dropping_parts(5)


class TestMissing:
    def test_nothing_missing(self, data):
        assert missing_parts(data, NAMES) == []

    def test_shares_and_the_least_known_pair(self):
        X = pd.DataFrame({"a": [1, np.nan, 0, 1], "b": [0, 1, np.nan, np.nan], "c": [0, 1, 1, 0]})
        (part,) = missing_parts(X, list(X))
        assert "25 % of all answers are missing, most of “b”: 50 %" in part.words
        assert "Least is known of “a” and “b”: 1 of 4 rows have both" in part.words
        assert "c</th>" not in part.below

    def test_on_the_page(self, data):
        X = data.astype(float).mask(np.random.default_rng(0).random(data.shape) < 0.1)
        model = IsingGraph(2).fit(X)
        seen = model.n_observed_ + 1000 * np.eye(6, dtype=int)
        assert f": {seen.min()} of 300 rows have both" in Reader(graph_report(model, X)).text["missing"]


class TestWords:
    def test_every_kind_of_graph_has_its_own(self):
        gaussian = words_of(SimpleNamespace(weight_is="partial correlation"))
        assert weights_part({(0, 1): 0.5}, ["a", "b"], gaussian, True, None).heading == "Partial correlations"
        assert words_of(SimpleNamespace(weight_is="log odds")).weight == "log odds"


class TestDrawing:
    @pytest.mark.parametrize("kind", ["broad", "narrow"])
    def test_every_edge_is_a_line_between_its_ends(self, model, kind):
        drawing = drawn_of(model, kind)
        circles = re.findall(r'<circle class="field" cx="(.*?)" cy="(.*?)"', drawing)
        place = {at: node for node, at in enumerate(circles)}
        seen = {}
        for number, lines in re.findall(r'<g data-s="(\d)".*?>(.*?)</g>', drawing, re.DOTALL):
            for x, y, to_x, to_y in re.findall(r'x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"', lines):
                seen[frozenset((place[x, y], place[to_x, to_y]))] = -1 if number == "1" else 1
        assert seen == {frozenset(edge): np.sign(weight) for edge, weight in _weights(model).items()}

    def test_the_legend_names_signs_and_widths(self, model):
        page = graph_svg(_weights(model), NAMES, None, WORDS)
        legend = page[: page.index('<div class="plot"')]
        names = re.findall(r"</svg>(.*?)</", legend)
        assert names[:2] == ["positive", "negative"]
        assert names[2].startswith("coupling ")
        assert all(float(name) > 0 for name in names[3:])
        assert legend.count("<button") == 2

    def test_hover_tells_field_and_neighbours(self, model):
        field = f"rain\nfield {model.field_[0]:.3f}\nneighbours: &lt;script"
        assert f'data-t="{field}' in drawn_of(model)
        assert 'data-t="rain\nneighbours: ' in graph_svg(_weights(model), NAMES, None, WORDS)

    def test_short_names_are_inside_and_can_be_read(self):
        page = graph_svg({(0, 1): 1.0}, ["a", "b"], np.array([2.0, 0.0]), WORDS)
        texts = re.findall(r'<text class="(\w+)" .*?font-size="(.*?)"', page)
        assert [kind for kind, _ in texts] == ["light", "in"] * 2
        assert all(float(size) >= 9 for _, size in texts)

    def test_long_names_hang_on_their_nodes(self):
        names = [f"the long name of {n}" for n in range(8)]
        page = graph_svg({(n, (n + 1) % 8): 1.0 for n in range(8)}, names, None, WORDS)
        drawing = drawing_of(page)
        nodes = re.findall(r'<circle class="node" cx="(.*?)" cy=".*?" r="(.*?)"', drawing)
        texts = re.findall(r'<text class="beside" text-anchor="(\w+)" .*?<tspan x="(.*?)"', drawing)
        assert {anchor for anchor, _ in texts} >= {"start", "end"}
        for (x, radius), (anchor, at) in zip(nodes, texts, strict=True):
            if anchor != "middle":  # by the end that is next to the node, whatever the name's width
                beyond = float(at) - float(x)
                assert abs(beyond) < float(radius) + 5
                assert (anchor == "start") == (beyond > 0)

    def test_a_long_name_keeps_its_middle(self):
        page = graph_svg({(0, 1): 1.0}, ["satisfaction with life as a whole", "b"], None, WORDS)
        drawing = drawing_of(page)
        assert (
            " ".join(re.findall(r"<tspan.*?>(.*?)</tspan>", drawing)) == "satisfaction with life as a whole b"
        )

    def test_many_names_are_left_to_the_mouse(self):
        page = graph_svg({(0, 1): 1.0}, [f"variable {n}" for n in range(130)], None, WORDS)
        assert "<text" not in page
        assert page.count("<circle") == 260


class TestBadInput:
    def test_model(self, data):
        with pytest.raises(TypeError, match="model must be a fitted IsingGraph, GaussianGraph or MixedGraph"):
            graph_report("x", data)


@pytest.mark.browser
class TestInChromium:
    def test_charts_names_and_toggle(self, opened, page):
        charts = ["graph", "path", "stability", "dropping", "degrees", "moves"]
        assert charts_of(page) == charts
        document = opened(then(page, TOGGLE + NARROW + USED.replace("SECTION", "graph")))
        assert 'data-before="false rgb(27, 31, 36)" data-after="true rgb(230, 232, 235)"' in document
        assert 'data-over="0"' in document
        assert len(Reader(document).all("script")) == 2
        assert harmless(document)
        assert "coupling" in noted(document, "first")
        assert noted(document, "last").startswith("sun\nfield")
