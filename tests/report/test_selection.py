"""The page about chosen features shows all there is to say, and no name of a column does any harm."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from swapwise import (
    SparseClassifier,
    SparsePoissonRegressor,
    SparseRegressor,
    SparseRegressorCV,
    exact,
)
from swapwise.constraints.uniform import Uniform
from swapwise.objectives.linear import Linear
from swapwise.report.fit_parts import MOST_POINTS, data_part, path_part
from swapwise.report.parts import tick
from swapwise.report.search_parts import certificate_part, moves_of, moves_part
from swapwise.report.selection import MOST_DRAWN, selection_report
from tests.report import test_page
from tests.report.test_page import EVIL, Reader

opened = test_page.opened

IMAGE = "</script><img src=x onerror=alert(2)>"
LINK = '<a href="javascript:alert(3)">go</a>'
NAMES = ["rooms", EVIL, IMAGE, LINK, "a & b", "tax"]
GROUPS = {"rooms": "house", EVIL: EVIL, IMAGE: EVIL, LINK: "house", "a & b": "house"}
CHARTS = ["chosen", "path", "moves", "certificate", "fit", "correlation"]


def sample(n=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, 6)), columns=NAMES)
    return X, X.to_numpy() @ [3.0, 2.0, -1.5, 1.0, 0.0, 0.0] + rng.standard_normal(n)


@pytest.fixture(scope="module")
def data():
    return sample()


@pytest.fixture(scope="module")
def model(data):
    return SparseRegressor(4, start="empty").fit(*data)


@pytest.fixture(scope="module")
def page(data, model):
    proof = model.certify(*data, time_limit=5)
    asked = {"size": "4", EVIL: EVIL}
    return selection_report(model, *data, groups=GROUPS, certificate=proof, asked=asked, seconds=1.5)


def trimmed(page, name):
    """The text of a section, its heading first."""
    return Reader(page).text[name]


class TestContent:
    def test_what_was_asked(self, page):
        text = trimmed(page, "asked")
        for words in (
            "size4",
            f"{EVIL}{EVIL}",
            "SparseRegressor",
            "120 samples of 6 features",
            "1.5 seconds",
        ):
            assert words in text

    def test_no_time_without_one(self, data, model):
        assert "seconds" not in trimmed(selection_report(model, *data), "asked")

    def test_features_by_group_with_coefficients(self, data, model, page):
        text = trimmed(page, "chosen")
        assert f"4 of 6 features were chosen: 2 of 3 of house; 2 of 2 of {EVIL}." in text
        rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page[page.index('id="chosen"') :])[:4]
        assert [unescape(name) for name, _ in rows] == ["rooms", LINK, EVIL, IMAGE]
        for name, cells in rows:
            group, coefficient, scaled = re.findall(r"<td.*?>(.*?)</td>", cells)
            column = NAMES.index(unescape(name))
            assert unescape(group) == GROUPS[unescape(name)]
            assert coefficient == f"{model.coef_[column]:.4g}"
            assert scaled == f"{model.coef_[column] * data[0].iloc[:, column].std(ddof=0):.4g}"

    def test_without_groups_there_is_no_column_of_them(self, data, model):
        page = selection_report(model, *data)
        assert "group" not in trimmed(page, "chosen")
        assert "4 of 6 features were chosen." in page

    def test_a_feature_that_has_no_group_says_so(self, data):
        X, y = data
        model = SparseRegressor(1).fit(X, X["tax"])
        assert "1 of 6 of no group" in trimmed(selection_report(model, X, y, groups={}), "chosen")

    @pytest.mark.filterwarnings("ignore:y is constant")
    def test_nothing_chosen(self, data):
        X, y = data
        page = selection_report(SparseRegressor(2).fit(X, np.ones(len(y))), X, np.ones(len(y)))
        assert "0 of 6 features were chosen: nothing gains anything." in page
        assert "Fewer than two features were chosen" in page
        assert 'id="plot-chosen"' not in page

    def test_classes_have_columns_of_their_own(self, data):
        X, y = data
        target = np.array(["low", "mid", EVIL])[np.digitize(y, [-1, 1])]
        text = trimmed(selection_report(SparseClassifier(2).fit(X, target), X, target), "chosen")
        assert f"coefficient of {EVIL}coefficient of lowcoefficient of mid" in text

    @pytest.mark.parametrize(
        ("kind", "of_y", "words", "heading"),
        [
            (SparseRegressor, lambda y: y, "R² on the data of fit", "Residuals"),
            (
                SparsePoissonRegressor,
                lambda y: np.round(np.exp(y / 4)),
                "D² on the data of fit",
                "Calibration",
            ),
            (SparseClassifier, lambda y: y > 0, "classified correctly", "Calibration"),
        ],
    )
    def test_every_kind_of_target(self, data, kind, of_y, words, heading):
        X, y = data[0], of_y(data[1])
        model = kind(2).fit(X, y)
        page = selection_report(model, X, y)
        score = model.score(X, y)
        shown = f"{100 * score:.1f} %" if kind is SparseClassifier else f"{score:.4f}"
        assert f"{words}{shown}" in trimmed(page, "asked")
        assert trimmed(page, "fit").startswith(heading)

    def test_an_offset_is_not_guessed(self, data):
        X, y = data[0], np.ones(len(data[0]))
        model = SparsePoissonRegressor(1).fit(X, y, offset=np.linspace(0, 1, len(y)))
        page = selection_report(model, X, y)
        assert "fitted with an offset" in trimmed(page, "fit")
        assert "D²" not in page

    def test_correlations_name_the_strongest_pair(self, data):
        X, y = data[0].copy(), data[1]
        X["tax"] = -X["rooms"] + 0.5 * X["tax"]
        model = SparseRegressor(6).fit(X, y)
        strongest = X["rooms"].corr(X["tax"])
        assert f"The strongest is {strongest:.2f}, of rooms and tax." in selection_report(model, X, y)

    def test_plots_of_many_features_show_the_largest(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((200, MOST_DRAWN + 3))).add_prefix("x")
        y = X @ np.arange(1.0, MOST_DRAWN + 4)
        page = selection_report(SparseRegressor(MOST_DRAWN + 3).fit(X, y), X, y)
        assert f"The {MOST_DRAWN} of the largest coefficients are drawn." in page
        ticks = re.search(r'"ticktext": \[(.*?)\]', page)[1]
        assert '"x0"' not in ticks
        assert ticks.count("x") == MOST_DRAWN
        assert '<th scope="row">x0</th>' in page

    def test_names_of_plots_are_escaped_and_short(self):
        assert tick(EVIL) == "&lt;script&gt;alert(1)&lt;/scr…"
        assert tick("&lt;") == "&amp;lt;"

    def test_no_name_is_left_as_it_is(self, page):
        for name in (EVIL, IMAGE, LINK):
            assert name not in test_page.own(page)
        assert "\\u003c" in page  # only the breaks of hover texts
        assert set(re.findall(r"\\u003c/?\w*", page)) == {"\\u003cbr"}


class TestParts:
    def test_the_path_shows_what_was_chosen(self, data):
        model = SparseRegressorCV(sizes=range(1, 7), criterion="bic").fit(*data)
        part = path_part(model)
        line, chosen = part.figure.data
        assert list(line.x) == [1, 2, 3, 4, 5, 6]
        assert list(line.y) == model.path_["bic"].tolist()
        assert (chosen.x[0], chosen.y[0]) == (model.size_, model.path_["bic"].min())
        assert f"Of 6 sizes, size {model.size_} was chosen, by BIC" in part.words

    def test_a_cross_validated_path_has_bars(self, data):
        model = SparseRegressorCV(sizes=range(1, 5)).fit(*data)
        part = path_part(model)
        assert list(part.figure.data[0].error_y.array) == model.path_["cv_se"].tolist()
        assert "cross-validated mean squared error" in part.words

    def test_gains_add_up_to_the_value(self, model):
        moves = moves_of(model.result_, lambda element: NAMES[element])
        assert np.isclose(sum(move.gain for move in moves), model.result_.value)
        assert moves[0].words == "+ rooms"

    def test_the_path_of_a_greedy_start_comes_first(self, data):
        result = SparseRegressor(3, start="greedy").fit(*data).result_
        moves = moves_of(result, str)
        assert [move.kind for move in moves[:3]] == ["start"] * 3
        assert np.isclose(sum(move.gain for move in moves), result.value)

    def test_exchanges_from_a_start_that_is_not_empty(self, data):
        result = SparseRegressor(2, start=[4, 5]).fit(*data).result_
        moves = moves_of(result, str)
        assert moves[0].gain is None
        assert {move.kind for move in moves} == {"exchanged"}
        assert re.fullmatch(r"\+ \d − \d", moves[0].words)
        assert "not on record" in moves_part(result, str).words

    def test_a_search_without_moves_says_so(self, data):
        result = SparseRegressor(2, start=[0, 1]).fit(*data).result_
        part = moves_part(result, str)
        assert "no move on record" in part.words
        assert part.figure is None

    def test_moves_of_groups_bear_their_names(self, data):
        X, y = data
        model = SparseRegressor(1, groups=["left"] * 3 + ["right"] * 3, start="empty").fit(X, y)
        assert "+ left" in trimmed(selection_report(model, X, y), "moves")

    def test_a_bar_between_value_and_bound(self, data, model):
        proof = replace(model.certify(*data), value=0.6, upper_bound=0.8, resolution=0.0)
        part = certificate_part(proof, model.result_)
        found, open_ = part.figure.data
        assert (found.base[0], found.x[0]) == (0.0, 0.6)
        assert (open_.base[0], open_.base[0] + open_.x[0]) == (0.6, 0.8)
        assert "at least 74.9 % of the optimum" in certificate_part(replace(proof, value=0.5999), model).words
        assert "better" not in part.words
        better = replace(proof, better=np.array([1]), better_value=0.7)
        assert "a better choice was found, of value 0.7" in certificate_part(better, model.result_).words

    def test_no_bound_and_no_proof(self, data, model):
        proof = replace(model.certify(*data), upper_bound=np.inf)
        assert "no bound on the optimum was proven" in certificate_part(proof, model.result_).words
        assert "No proof was asked for" in certificate_part(None, model.result_).words

    def test_the_proof_of_the_search_itself(self):
        result = exact(Linear([1, 3, 2]), Uniform(3, 2))
        assert "proven to be the optimum" in certificate_part(None, result).words

    def test_not_too_many_points(self):
        X, y = sample(MOST_POINTS + 50)
        part = data_part(SparseRegressor(2).fit(X, y), X, y)
        assert len(part.figure.data[0].x) == MOST_POINTS
        assert f"{MOST_POINTS} of {MOST_POINTS + 50} samples" in part.words

    def test_residuals(self, data, model):
        trace = data_part(model, *data).figure.data[0]
        assert np.allclose(np.add(trace.x, trace.y), data[1])

    def test_calibration_keeps_the_mean(self, data):
        X, y = data[0], np.where(data[1] > 1, "yes", "no")
        _, curve = data_part(SparseClassifier(2).fit(X, y), X, y).figure.data
        assert curve.name == "yes"
        assert len(curve.x) == 10
        assert np.isclose(np.mean(curve.y), np.mean(y == "yes"))


class TestBadInput:
    def test_model(self, data):
        with pytest.raises(
            TypeError, match="model must be a fitted SparseRegressor or one of its kin, got 3"
        ):
            selection_report(3, *data)

    def test_array(self, data, model):
        with pytest.raises(TypeError, match=r"X must be a pandas.DataFrame, got ndarray"):
            selection_report(model, data[0].to_numpy(), data[1])

    def test_columns(self, data, model):
        with pytest.raises(ValueError, match="X must have the 6 columns of fit, got 5"):
            selection_report(model, data[0].iloc[:, :5], data[1])

    def test_target(self, data, model):
        with pytest.raises(ValueError, match="y must have one value for each of the 120 rows of X, got 3"):
            selection_report(model, data[0], data[1][:3])

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("groups", "groups must be a mapping from feature to group"),
            ("asked", "asked must be a dict of strings"),
            ("certificate", "certificate must be a Certificate or None"),
        ],
    )
    def test_others(self, data, model, name, message):
        with pytest.raises(TypeError, match=message):
            selection_report(model, *data, **{name: 3})


def drawn(document):
    """The charts that have something in them."""
    boxes = re.findall(r'<figure id="panel-(\w+)">(.*?)</figure>', document, re.DOTALL)
    shapes = ('class="trace', 'class="point', 'class="hm"')
    return [name for name, box in boxes if 'class="main-svg"' in box and any(s in box for s in shapes)]


def harmless(document):
    """Whether no name of a column became an element of the page, or a link that does more than move."""
    tags = Reader(document).tags
    names = [name for name, _ in tags]
    links = {attrs[name] for _, attrs in tags for name in ("href", "xlink:href") if name in attrs}
    handlers = [name for _, attrs in tags for name in attrs if name.startswith("on")]
    return (
        "img" not in names
        and not handlers
        and all(link.startswith(("#", "data:image/png")) for link in links)
    )


def hovered(document):
    """The texts that stand beside points which a mouse is at."""
    boxes = re.findall(r'<g class="hovertext".*?</g>', document, re.DOTALL)
    return [unescape(re.sub(r"<.*?>", " ", box)) for box in boxes]


def then(page, script):
    """The page with something done to it, once it is drawn."""
    return page.replace("</body>", f"<script>{script}</script></body>")


TOGGLE = """
const theme = document.getElementById("theme"), look = document.body.dataset;
const state = () => theme.getAttribute("aria-pressed") + " " + getComputedStyle(document.body).color;
look.before = state(); theme.click(); look.after = state();
"""

HOVER = """
Plotly.Fx.hover("plot-chosen", [{curveNumber: 1, pointNumber: 0}]);
Plotly.Fx.hover("plot-moves", [{curveNumber: 0, pointNumber: 2}]);
Plotly.Fx.hover("plot-correlation", {xval: 1, yval: 3});
"""


PRINT = """
const theirs = () => `${root.dataset.theme} ${document.body.style.width}`;
dispatchEvent(new Event("beforeprint")); document.body.dataset.printed = theirs();
dispatchEvent(new Event("afterprint")); document.body.dataset.afterwards = theirs();
"""

# A phone's width, for what is in the page; the plots are told as they are when a window changes.
NARROW = """
document.body.style.width = "400px";
Promise.all(plots().map((plot) => Plotly.Plots.resize(plot))).then(() => {
  document.body.dataset.over = document.body.scrollWidth - document.body.clientWidth;
});
"""


class TestInChromium:
    def test_charts_names_and_toggle(self, opened, data, model):
        path = SparseRegressorCV(sizes=range(1, 6)).fit(*data)
        path.result_ = model.result_  # one with moves
        proof = replace(model.certify(*data), upper_bound=1.0)
        page = selection_report(path, *data, groups=GROUPS, certificate=proof, asked={EVIL: EVIL})
        document = opened(then(page, TOGGLE + HOVER))
        assert drawn(document) == CHARTS
        assert 'data-before="false rgb(27, 31, 36)" data-after="true rgb(230, 232, 235)"' in document
        assert '<html lang="en" data-theme="dark">' in document
        # The ticks of the plots have followed.
        assert re.search(r'class="xtick".*?fill: rgb\((.*?)\)', document)[1] == "230, 232, 235"
        assert len(Reader(document).all("script")) == 4
        assert harmless(document)
        texts = hovered(document)
        assert len(texts) == 3
        assert all(EVIL in text or IMAGE in text or LINK in text for text in texts)

    def test_classes_on_a_phone(self, opened, data):
        X, y = data[0], np.array(["low", "mid", EVIL])[np.digitize(data[1], [-1, 1])]
        page = selection_report(SparseClassifier(3, start="empty").fit(X, y), X, y)
        document = opened(then(page, PRINT + NARROW))
        assert drawn(document) == ["chosen", "moves", "fit", "correlation"]
        assert 'data-over="0"' in document
        assert 'data-printed="light 180mm" data-afterwards="undefined "' in document
        assert harmless(document)

    @pytest.mark.parametrize(
        "mischief", ["<img alt=''>", "<p onclick='go()'></p>", "<a href='javascript:x'></a>"]
    )
    def test_harm_is_seen(self, page, mischief):
        assert harmless(page)
        assert not harmless(page.replace("</main>", f"{mischief}</main>"))

    def test_a_plot_that_is_not_drawn_is_missed(self, opened, page):
        assert drawn(opened(page.replace("of Object.entries(panels)", "of []"))) == []
