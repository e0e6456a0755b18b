"""The page about chosen features shows all there is to say, and no name of a column does any harm."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from swapwise import (
    SparseClassifier,
    SparseGLMRegressor,
    SparsePoissonRegressor,
    SparseRegressor,
    SparseRegressorCV,
)
from swapwise.report.chosen_parts import MOST_CLASSES, MOST_DRAWN, Chosen
from swapwise.report.parts import tick
from swapwise.report.selection import selection_report
from tests.report import pages
from tests.report.pages import EVIL, Reader

opened = pages.opened

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
        assert "0 of 6 features were chosen: no feasible feature improves the fit." in page
        assert "Fewer than two features were chosen" in page
        assert 'id="plot-chosen"' not in page

    def test_classes_have_columns_of_their_own(self, data):
        X, y = data
        target = np.array(["low", "mid", EVIL])[np.digitize(y, [-1, 1])]
        text = trimmed(selection_report(SparseClassifier(2).fit(X, target), X, target), "chosen")
        assert f"Coefficients by classfeature{EVIL}lowmid" in text
        assert f"Per standard deviation of the featurefeature{EVIL}lowmid" in text

    def test_many_classes_have_several_tables(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((300, 3)), columns=["a", "b", "c"])
        y = np.arange(300) % (2 * MOST_CLASSES + 1)
        model = SparseClassifier(2).fit(X, y)
        page = selection_report(model, X, y, groups={})
        tables = re.findall(r"<table.*?</table>", page[page.index('id="chosen"') : page.index('id="path"')])
        heads = [re.findall(r'<th scope="col".*?>(.*?)</th>', one)[2:] for one in tables]
        assert heads[:3] == [list("012345"), ["6", "7", "8", "9", "10", "11"], ["12"]]
        assert heads[3:] == heads[:3]
        for place, one in enumerate(tables[:3]):
            some = slice(MOST_CLASSES * place, MOST_CLASSES * (place + 1))
            rows = dict(re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', one))
            for name, cells in rows.items():
                shown = re.findall(r'<td class="number">([-.\de]+)</td>', cells)
                numbers = (
                    model.intercept_ if name == "(intercept)" else model.coef_[:, list("abc").index(name)]
                )
                assert shown == [f"{number:.4g}" for number in numbers[some]]
            assert len(rows) == 3

    def test_more_groups_than_colours(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((80, 9))).add_prefix("x")
        model = SparseRegressor(9).fit(X, X @ np.arange(9.0, 0.0, -1.0))
        traces = Chosen(model, X, list(X), [f"g{n}" for n in range(9)]).part().figure.data
        assert [trace.name for trace in traces] == ["g0", "g1", "g2", "g3", "g4", "g5", "other groups"]
        assert len({trace.marker.color for trace in traces}) == 7
        assert "x8 (g8)" in traces[-1].hovertext[-1]

    @pytest.mark.parametrize(
        ("kind", "of_y", "words", "heading"),
        [
            (SparseRegressor, lambda y: y, "R² on the data of fit", "Residuals"),
            (
                SparsePoissonRegressor,
                lambda y: np.round(np.exp(y / 4)),
                "deviance explained on the data of fit",
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

    @pytest.mark.parametrize(("family", "outcome"), [("gamma", "amount"), ("negative-binomial", "count")])
    def test_words_are_those_of_the_family(self, data, family, outcome):
        X, y = data[0], np.ceil(np.exp(data[1] / 4))
        model = SparseGLMRegressor(2, family=family).fit(X, y)
        page = selection_report(model, X, y)
        assert f"deviance explained on the data of fit{model.score(X, y):.4f}" in trimmed(page, "asked")
        assert f"expected {outcome}mean {outcome} in the data" in trimmed(page, "fit")
        assert ("dispersion alpha" in trimmed(page, "asked")) == (family == "negative-binomial")

    @pytest.mark.parametrize("kind", [SparsePoissonRegressor, SparseClassifier])
    def test_an_offset_that_is_given_is_used(self, data, kind):
        X, offset = data[0], np.linspace(0, 1, len(data[0]))
        y = data[1] > 0 if kind is SparseClassifier else np.round(np.exp(data[1] / 4))
        model = kind(1).fit(X, y, offset=offset)
        page = selection_report(model, X, y, offset=offset)
        score = model.score(X, y, offset=offset)
        assert (f"{100 * score:.1f} %" if kind is SparseClassifier else f"{score:.4f}") in trimmed(
            page, "asked"
        )
        assert "They differ most where" in trimmed(page, "fit")

    def test_an_offset_is_not_guessed(self, data):
        X, y = data[0], np.ones(len(data[0]))
        model = SparsePoissonRegressor(1).fit(X, y, offset=np.linspace(0, 1, len(y)))
        page = selection_report(model, X, y)
        assert "fitted with an offset" in trimmed(page, "fit")
        assert "deviance" not in trimmed(page, "asked")

    def test_the_fit_in_numbers(self, data, model):
        X, y = data
        text = trimmed(selection_report(model, X, y), "asked")
        assert f"standard deviation of the residuals{np.std(y - model.predict(X)):.4g}" in text

    def test_accuracy_stands_beside_that_of_no_model(self, data):
        X, y = data[0], np.where(data[1] > 1, EVIL, "no")
        model = SparseClassifier(2).fit(X, y)
        text = trimmed(selection_report(model, X, y), "asked")
        shares = [100 * np.mean(y == one) for one in (EVIL, "no")]
        assert shares[1] > shares[0]
        assert f"most frequent classno: {shares[1]:.1f} % of the data of fit" in text
        of_none, p = np.mean(y == EVIL), model.predict_proba(X)[:, 0]
        deviance = [-np.mean(np.log(np.where(y == EVIL, q, 1 - q))) for q in (p, of_none)]
        assert f"deviance explained on the data of fit{1 - deviance[0] / deviance[1]:.4f}" in text

    def test_the_chosen_size(self, data):
        model = SparseRegressorCV(sizes=range(1, 4), criterion="ebic").fit(*data)
        asked = trimmed(selection_report(model, *data), "asked")
        assert f"size chosen{model.size_}, of 1 to 3, by EBIC" in asked

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
        assert tick(EVIL) == "&lt;script&gt;ale…)&lt;/script&gt;"
        assert tick("&lt;") == "&amp;lt;"

    def test_no_name_is_left_as_it_is(self, page):
        for name in (EVIL, IMAGE, LINK):
            assert name not in pages.own(page)
        assert "\\u003c" in page  # only the breaks of hover texts
        assert set(re.findall(r"\\u003c/?\w*", page)) == {"\\u003cbr"}


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
Plotly.Fx.hover("plot-moves", [{curveNumber: 1, pointNumber: 1}]);
Plotly.Fx.hover("plot-correlation", {xval: 1, yval: 3});
"""


# A phone's width, for what is in the page; the plots are told as they are when a window changes.
NARROW = """
document.body.style.width = "400px";
Promise.all(plots().map((plot) => Plotly.Plots.resize(plot))).then(() => {
  document.body.dataset.over = document.body.scrollWidth - document.body.clientWidth;
});
"""


@pytest.mark.browser
class TestInChromium:
    def test_charts_names_and_toggle(self, opened, data, model):
        path = SparseRegressorCV(sizes=range(1, 6)).fit(*data)
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
        document = opened(then(page, NARROW))
        assert drawn(document) == ["chosen", "moves", "fit", "correlation"]
        assert 'data-over="0"' in document
        assert harmless(document)

    @pytest.mark.parametrize(
        "mischief", ["<img alt=''>", "<p onclick='go()'></p>", "<a href='javascript:x'></a>"]
    )
    def test_harm_is_seen(self, page, mischief):
        assert harmless(page)
        assert not harmless(page.replace("</main>", f"{mischief}</main>"))

    def test_a_plot_that_is_not_drawn_is_missed(self, opened, page):
        assert drawn(opened(page.replace("of Object.entries(panels)", "of []"))) == []
