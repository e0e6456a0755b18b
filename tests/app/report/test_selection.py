"""The page about chosen features shows all there is to say, and no name of a column does any harm."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import polars as pl
import pytest

from swapwise import (
    SparseClassifier,
    SparseGLMRegressor,
    SparseRegressor,
    SparseRegressorCV,
)
from swapwise.app.report.chosen_parts import MOST_CLASSES, MOST_DRAWN, ChosenFeatures
from swapwise.app.report.parts import significant
from swapwise.app.report.selection import selection_report
from swapwise.charts.svg import in_lines
from tests.app.report import pages
from tests.app.report.pages import EVIL, Reader, charts_of, harmless, then

opened = pages.opened

IMAGE = "</script><img src=x onerror=alert(2)>"
LINK = '<a href="javascript:alert(3)">go</a>'
NAMES = ["rooms", EVIL, IMAGE, LINK, "a & b", "tax"]
GROUPS = {"rooms": "house", EVIL: EVIL, IMAGE: EVIL, LINK: "house", "a & b": "house"}
CHARTS = ["chosen", "path", "certificate", "fit", "correlation", "moves"]


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
    def test_the_answer_comes_first_and_settings_last(self, page):
        sections = re.findall(r'<section id="(\w+)"', page)
        assert sections == ["chosen", "certificate", "fit", "correlation", "moves", "settings"]

    def test_the_answer_has_score_proof_and_time(self, data, model, page):
        text = trimmed(page, "chosen")
        for words in (
            f"R² on the training data{model.score(*data):.4f}",
            "proofproven optimal",
            "1.5 seconds",
        ):
            assert words in text

    def test_a_cross_validated_score_is_shown_first(self, data):
        model = SparseRegressorCV(sizes=range(1, 4)).fit(*data)
        row = model.path_.set_index("size").loc[model.size_]
        loss = f"cross-validated mean squared error{row['cv_mean']:.5g} ± {row['cv_se']:.2g} on rows left out"
        text = trimmed(selection_report(model, *data), "chosen")
        assert text.index(loss) < text.index("R² on the training data")

    def test_settings(self, page):
        text = trimmed(page, "settings")
        for words in (
            "size4",
            f"{EVIL}{EVIL}",
            "SparseRegressor",
            "120 samples of 6 features",
            "search4 moves",
        ):
            assert words in text

    def test_what_has_nothing_to_say_is_left_out(self, data):
        X, y = data
        page = selection_report(SparseRegressor(1, start=[0]).fit(X, y), X, y)
        assert re.findall(r'<section id="(\w+)"', page) == ["chosen", "fit", "settings"]
        assert "not requested: swapwise select --certify" in trimmed(page, "chosen")
        assert "time of the search" in trimmed(page, "chosen")
        assert "searchno move: the search began at a local optimum" in trimmed(page, "settings")

    def test_without_data(self, data, model):
        page = selection_report(model)
        assert re.findall(r'<section id="(\w+)"', page) == ["chosen", "moves", "settings"]
        assert f"value of the objective{model.result_.value:.5g}" in trimmed(page, "chosen")
        whole = selection_report(model, *data)
        table = re.compile(r'<table class="numbers long">.*?</table>')
        assert table.search(page)[0] == table.search(whole)[0]

    def test_a_page_is_small(self, page):
        assert len(page.encode()) < 100_000

    def test_features_by_group_with_coefficients(self, data, model, page):
        text = trimmed(page, "chosen")
        assert f"4 of 6 features were chosen: 2 of 3 of house; 2 of 2 of {EVIL}." in text
        rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', page[page.index('id="chosen"') :])[:4]
        assert [unescape(name) for name, _ in rows] == ["rooms", LINK, EVIL, IMAGE]
        for name, cells in rows:
            group, coefficient, scaled = re.findall(r"<td.*?>(.*?)</td>", cells)
            column = NAMES.index(unescape(name))
            assert unescape(group) == GROUPS[unescape(name)]
            assert coefficient == significant(model.coef_[column])
            assert scaled == significant(model.coef_[column] * data[0].iloc[:, column].std(ddof=0))

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
        assert charts_of(page) == ["fit"]

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
        tables = re.findall(r"<table.*?</table>", page[page.index('id="chosen"') : page.index('id="fit"')])
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
                assert shown == [significant(number) for number in numbers[some]]
            assert len(rows) == 3

    def test_more_groups_than_colours(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((80, 9))).add_prefix("x")
        model = SparseRegressor(9).fit(X, X @ np.arange(9.0, 0.0, -1.0))
        bars = ChosenFeatures(model, list(X), [f"g{n}" for n in range(9)]).part({}).chart.series
        assert len({bar.colour for bar in bars}) == 7
        assert [bar.colour for bar in bars[6:]] == [bars[6].colour] * 3

    @pytest.mark.parametrize(
        ("kind", "of_y", "words", "heading"),
        [
            (SparseRegressor, lambda y: y, "R² on the training data", "Residuals"),
            (
                SparseGLMRegressor,
                lambda y: np.round(np.exp(y / 4)),
                "deviance explained on the training data",
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
        assert f"{words}{shown}" in trimmed(page, "chosen")
        assert trimmed(page, "fit").startswith(heading)

    @pytest.mark.parametrize(("family", "outcome"), [("gamma", "amount"), ("negative-binomial", "count")])
    def test_words_are_those_of_the_family(self, data, family, outcome):
        X, y = data[0], np.ceil(np.exp(data[1] / 4))
        model = SparseGLMRegressor(2, family=family).fit(X, y)
        page = selection_report(model, X, y)
        assert f"deviance explained on the training data{model.score(X, y):.4f}" in trimmed(page, "chosen")
        assert f"expected {outcome}mean {outcome} in the data" in trimmed(page, "fit")
        assert ("dispersion alpha" in trimmed(page, "settings")) == (family == "negative-binomial")

    @pytest.mark.parametrize("kind", [SparseGLMRegressor, SparseClassifier])
    def test_an_offset_that_is_given_is_used(self, data, kind):
        X, offset = data[0], np.linspace(0, 1, len(data[0]))
        y = data[1] > 0 if kind is SparseClassifier else np.round(np.exp(data[1] / 4))
        model = kind(1).fit(X, y, offset=offset)
        page = selection_report(model, X, y, offset=offset)
        score = model.score(X, y, offset=offset)
        assert (f"{100 * score:.1f} %" if kind is SparseClassifier else f"{score:.4f}") in trimmed(
            page, "chosen"
        )
        assert "They differ most where" in trimmed(page, "fit")

    def test_an_offset_is_not_guessed(self, data):
        X, y = data[0], np.ones(len(data[0]))
        model = SparseGLMRegressor(1).fit(X, y, offset=np.linspace(0, 1, len(y)))
        page = selection_report(model, X, y)
        assert 'id="fit"' not in page
        assert "deviance" not in trimmed(page, "chosen")

    def test_the_fit_in_numbers(self, data, model):
        X, y = data
        text = trimmed(selection_report(model, X, y), "chosen")
        assert f"standard deviation of the residuals{np.std(y - model.predict(X)):.4g}" in text

    def test_accuracy_stands_beside_that_of_no_model(self, data):
        X, y = data[0], np.where(data[1] > 1, EVIL, "no")
        model = SparseClassifier(2).fit(X, y)
        text = trimmed(selection_report(model, X, y), "chosen")
        shares = [100 * np.mean(y == one) for one in (EVIL, "no")]
        assert shares[1] > shares[0]
        assert f"most frequent classno: {shares[1]:.1f} % of the training data" in text
        of_none, p = np.mean(y == EVIL), model.predict_proba(X)[:, 0]
        deviance = [-np.mean(np.log(np.where(y == EVIL, q, 1 - q))) for q in (p, of_none)]
        assert f"deviance explained on the training data{1 - deviance[0] / deviance[1]:.4f}" in text

    def test_the_chosen_size(self, data):
        model = SparseRegressorCV(sizes=range(1, 4), criterion="ebic").fit(*data)
        settings = trimmed(selection_report(model, *data), "settings")
        assert f"size chosen{model.size_}, of 1 to 3, by EBIC" in settings

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
        drawing = page[page.index('<figure id="panel-chosen"') : page.index("</figure>")]
        names = re.findall(r"<tspan.*?>(x\d+)</tspan>", drawing)
        assert "x0" not in names
        assert len(names) == MOST_DRAWN
        assert '<th scope="row">x0</th>' in page

    def test_long_names_keep_all_their_letters(self):
        name = "the colour of the third door on the left side"
        assert in_lines(name).replace("\n", " ") == name
        assert max(map(len, in_lines("x" * 90 + "1").split("\n"))) <= 24
        assert in_lines("x" * 90 + "1").endswith("1")

    def test_no_name_is_left_as_it_is(self, page):
        for name in (EVIL, IMAGE, LINK):
            assert name not in page
        assert harmless(page)


def test_arrays_and_frames_of_polars_give_the_same_page(data, model):
    X, y = data
    frame = pl.DataFrame({name: X[name].to_list() for name in X.columns})
    page = selection_report(model, X, y)
    assert selection_report(model, X.to_numpy(), y) == page
    assert selection_report(model, frame, pl.Series(np.asarray(y))) == page


class TestBadInput:
    def test_model(self, data):
        with pytest.raises(
            TypeError, match="model must be a fitted SparseRegressor or one of its kin, got 3"
        ):
            selection_report(3, *data)

    def test_neither_frame_nor_array(self, data, model):
        with pytest.raises(TypeError, match="X must be the frame or the array that fit was given"):
            selection_report(model, "data.csv", data[1])

    def test_columns(self, data, model):
        with pytest.raises(ValueError, match="X must have the 6 columns of the training data, got 5"):
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


TOGGLE = """
const theme = document.getElementById("theme"), look = document.body.dataset;
const state = () => theme.getAttribute("aria-pressed") + " " + getComputedStyle(document.body).color;
look.before = state(); theme.click(); look.after = state();
"""

# What keys, a pointer and the legend do, in the chart of a section.
USED = """
const used = document.querySelector("#panel-SECTION .plot"), log = document.body.dataset;
const press = (key) => used.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
press("ArrowRight"); log.first = tip.textContent;
press("ArrowLeft"); log.last = tip.textContent;
press("Escape"); log.hidden = tip.hidden;
const box = used.querySelector("[data-t]").getBoundingClientRect();
const at = {clientX: box.left + 3, clientY: box.top + 3, bubbles: true};
used.dispatchEvent(new PointerEvent("pointermove", at));
log.pointed = tip.textContent;
const button = document.querySelector("#panel-SECTION .legend button");
const isDrawn = (part) => getComputedStyle(part).display !== "none";
const seen = () => [...used.querySelectorAll("[data-s]")].filter(isDrawn);
log.seen = seen().length; button.click();
log.less = seen().length + " " + button.getAttribute("aria-pressed");
button.click(); button.dispatchEvent(new MouseEvent("dblclick", {bubbles: true})); log.alone = seen().length;
"""

# A phone's width, for the content of the page.
NARROW = """
document.body.style.width = "400px";
document.body.dataset.over = document.body.scrollWidth - document.body.clientWidth;
"""


def noted(document, name):
    return unescape(re.search(rf'data-{name}="(.*?)"', document, re.DOTALL)[1])


@pytest.mark.browser
class TestInChromium:
    def test_charts_names_and_toggle(self, opened, data, model):
        path = SparseRegressorCV(sizes=range(1, 6)).fit(*data)
        proof = replace(model.certify(*data), upper_bound=1.0)
        page = selection_report(path, *data, groups=GROUPS, certificate=proof, asked={EVIL: EVIL})
        assert charts_of(page) == CHARTS
        document = opened(then(page, TOGGLE + NARROW + USED.replace("SECTION", "moves")))
        assert 'data-before="false rgb(27, 31, 36)" data-after="true rgb(230, 232, 235)"' in document
        assert '<html lang="en" data-theme="dark">' in document
        assert 'data-over="0"' in document
        assert len(Reader(document).all("script")) == 2
        assert harmless(document)
        assert noted(document, "first").startswith("move 1: + rooms")
        assert noted(document, "last").startswith(f"move {path.result_.n_iter}: ")
        assert noted(document, "pointed") == noted(document, "first")
        assert noted(document, "hidden") == "true"
        assert (noted(document, "seen"), noted(document, "less"), noted(document, "alone")) == (
            "1",
            "0 false",
            "1",
        )

    def test_only_the_script_of_the_page_runs(self, opened, page):
        opened(page)
        with pytest.raises(AssertionError, match="CONSOLE"):
            opened(page.replace("</main>", "<script>document.title = 'no'</script></main>"))

    @pytest.mark.parametrize(
        "mischief", ["<img alt=''>", "<p onclick='go()'></p>", "<a href='javascript:x'></a>"]
    )
    def test_harm_is_seen(self, page, mischief):
        assert harmless(page)
        assert not harmless(page.replace("</main>", f"{mischief}</main>"))
