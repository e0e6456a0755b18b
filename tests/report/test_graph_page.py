"""The page about a graph draws it, lists it, and no name of a variable does any harm."""

import re

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from swapwise import IsingGraph, IsingGraphCV
from swapwise.report.fit_parts import degree_part
from swapwise.report.graph_page import _drawn, _numbered, graph_report
from tests.report import pages
from tests.report.pages import EVIL, Reader
from tests.report.test_selection import IMAGE, LINK, NARROW, TOGGLE, drawn, harmless, hovered, then

opened = pages.opened

NAMES = ["rain", EVIL, IMAGE, LINK, "a & b", "sun"]


@pytest.fixture(scope="module")
def data():
    turns = np.where(np.random.default_rng(0).random((300, 6)) < 0.2, -1, 1)
    spins = np.cumprod(turns, axis=1)
    spins[:, 3] *= -1
    return pd.DataFrame((spins > 0).astype(int), columns=NAMES)


@pytest.fixture(scope="module")
def model(data):
    return IsingGraphCV(max_degrees=[1, 2], ridges=[0.01, 0.1], cv=3).fit(data)


@pytest.fixture(scope="module")
def page(data, model):
    proof = model.certify(data, time_limit=2)
    return graph_report(model, data, certificate=proof, asked={EVIL: EVIL}, seconds=2.5)


class TestContent:
    def test_what_was_asked(self, data, model, page):
        text = Reader(page).text["asked"]
        score = f"{model.score(data):.5g} on the data of fit"
        for words in (f"{EVIL}{EVIL}", "IsingGraphCV", "300 samples of 6 variables", score, "2.5 seconds"):
            assert words in text
        assert f"largest degree chosen{model.max_degree_}, of 1 to 2, by cross-validation" in text
        assert f"ridge chosen{model.ridge_:g}, of 0.01, 0.1" in text

    def test_couplings_strongest_first(self, model, page):
        text = Reader(page).text["couplings"]
        edges = [(abs(model.coupling_[u, v]), u, v) for u, v in model.support_]
        listed = [f"{NAMES[u]} – {NAMES[v]}{model.coupling_[u, v]:.4g}" for _, u, v in sorted(edges)[::-1]]
        assert text.endswith("".join(listed) + "\n")

    def test_degrees_and_neighbours(self, data):
        model = IsingGraph({"rain": 1, EVIL: 2, IMAGE: 0, LINK: 1, "a & b": 1, "sun": 1}).fit(data)
        text = Reader(graph_report(model, data)).text["degrees"]
        for node in model.graph_:
            near = ", ".join(name for name in NAMES if name in model.graph_[node])
            assert f"{node}{near}{len(model.graph_[node])}" in text
        full = sum(model.graph_.degree[name] == limit > 0 for name, limit in model.max_degree.items())
        assert f"{full} of 6 variables have as many neighbours as they may" in text

    def test_moves_name_their_edges(self, model, page):
        first = model.result_.history[0].added[0]
        edge = " – ".join(NAMES[column] for column in model.constraint_.edges[first])
        assert f"1+ {edge}" in Reader(page).text["moves"]

    def test_the_chosen_degree_and_ridge(self, model):
        *lines, chosen = degree_part(model).figure.data
        assert [line.name for line in lines] == ["ridge 0.01", "ridge 0.1"]
        assert (chosen.x[0], chosen.y[0]) == (model.max_degree_, model.path_["score_mean"].max())

    def test_one_degree(self, data):
        page = graph_report(IsingGraph(1).fit(data), data)
        assert "by swapwise graph --choose cv, and in Python by IsingGraphCV" in Reader(page).text["path"]
        assert "ridge used" in Reader(page).text["asked"]
        assert "No proof was asked for" in Reader(page).text["certificate"]

    @pytest.mark.filterwarnings("ignore:.*allows only the empty set")
    def test_no_edge(self, data):
        page = graph_report(IsingGraph(0).fit(data), data)
        assert "There is no edge" in Reader(page).text["couplings"]
        assert "6 variables, 0 edges" in page

    def test_columns_without_names(self, data):
        X = pd.DataFrame(data.to_numpy())
        assert "0 – 1" in Reader(graph_report(IsingGraph(2).fit(X), X)).text["couplings"]

    def test_no_name_is_left_as_it_is(self, page):
        for name in (EVIL, IMAGE, LINK):
            assert name not in pages.own(page)
        assert set(re.findall(r"\\u003c/?\w*", page)) == {"\\u003cbr"}


class TestDrawing:
    def test_every_edge_is_a_line_between_its_ends(self, model):
        figure = _drawn(_numbered(model), NAMES, model.field_, "").figure
        nodes = figure.data[-1]
        place = dict(zip(zip(nodes.x, nodes.y, strict=True), range(6), strict=True))
        seen = nx.Graph()
        for trace in figure.data:
            if trace.mode == "lines":
                ends = [place.get(at) for at in zip(trace.x, trace.y, strict=True)]
                pairs = list(zip(ends[::3], ends[1::3], strict=True))
                seen.add_edges_from(pairs, sign=1 if trace.name == "positive" else -1)
        assert {frozenset(edge) for edge in seen.edges} == {
            frozenset(edge) for edge in model.support_.tolist()
        }
        assert all(sign == np.sign(model.coupling_[u, v]) for u, v, sign in seen.edges(data="sign"))

    def test_hover_tells_field_and_neighbours(self, model):
        nodes = _drawn(_numbered(model), NAMES, model.field_, "").figure.data[-1]
        assert nodes.hovertext[0].startswith(f"rain<br>field {model.field_[0]:.4g}<br>neighbours: &lt;script")

    def test_many_names_are_left_to_the_mouse(self):
        X = pd.DataFrame(np.random.default_rng(0).integers(2, size=(40, 40)))
        model = IsingGraph(1, method="modular").fit(X)
        nodes = _drawn(_numbered(model), [str(n) for n in X], model.field_, "").figure.data[-1]
        assert nodes.mode == "markers"


class TestBadInput:
    def test_model(self, data):
        with pytest.raises(TypeError, match="model must be a fitted IsingGraph or IsingGraphCV, got 'x'"):
            graph_report("x", data)

    def test_array(self, data, model):
        with pytest.raises(TypeError, match=r"X must be a pandas.DataFrame, got ndarray"):
            graph_report(model, data.to_numpy())


HOVER = """
const drawing = document.getElementById("plot-graph");
Plotly.Fx.hover(drawing, [{curveNumber: drawing.data.length - 1, pointNumber: 1}]);
const moves = document.getElementById("plot-moves");
const evil = moves.data[1].hovertext.findIndex((text) => text.includes("&lt;"));
Plotly.Fx.hover(moves, [{curveNumber: 1, pointNumber: evil}]);
"""


@pytest.mark.browser
class TestInChromium:
    def test_charts_names_and_toggle(self, opened, page):
        document = opened(then(page, TOGGLE + NARROW + HOVER))
        assert drawn(document) == ["graph", "degrees", "path", "moves", "certificate", "proof"]
        assert 'data-before="false rgb(27, 31, 36)" data-after="true rgb(230, 232, 235)"' in document
        assert 'data-over="0"' in document
        assert len(Reader(document).all("script")) == 4
        assert harmless(document)
        texts = hovered(document)
        assert len(texts) == 2
        assert EVIL in texts[0]
        assert all(EVIL in text or IMAGE in text or LINK in text for text in texts)
