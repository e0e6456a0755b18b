"""Pages can be read by everybody: on paper, in the dark, without a mouse, whatever names and data are."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from swapwise import IsingGraphCV, SparseClassifier, SparseGLMRegressor, SparseRegressor, Status
from swapwise.app.report.graph_page import graph_report
from swapwise.app.report.parts import shown_name
from swapwise.app.report.selection import selection_report
from swapwise.charts.chart import COLOURS as MARKS
from swapwise.charts.chart import GREY, MARKERS
from swapwise.charts.document import _STYLE
from tests.app.report import pages
from tests.app.report.pages import EVIL, Reader, charts_of, harmless, then
from tests.app.report.test_selection import sample

opened = pages.opened

ARABIC = "\u0639\u0645\u0648\u062f"
ODD = [EVIL, "\U0001f600 smile", ARABIC, "", "a long name " * 8]


def odd_page(n=200, size=60):
    """A page of many features, some of which have names that are hard to show."""
    rng = np.random.default_rng(0)
    names = [*ODD, *(f"column number {n}" for n in range(size))]
    X = pd.DataFrame(rng.standard_normal((n, len(names))), columns=names)
    y = X.to_numpy() @ np.linspace(2, 1, len(names)) + rng.standard_normal(n)
    groups = {
        name: ["", ARABIC, EVIL, "a group of long name " * 4][rank % 4] for rank, name in enumerate(names)
    }
    model = SparseRegressor(size, start="empty").fit(X, y)
    proof = replace(model.certify(X, y, time_limit=0.01), value=0.99, upper_bound=1.0, resolution=0.0)
    return selection_report(model, X, y, groups=groups, certificate=proof, asked={"data": "x" * 90})


def class_page(n_classes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((40 * n_classes, 4)), columns=list("abcd"))
    y = np.array([f"class {n}" for n in range(n_classes)])[np.arange(len(X)) % n_classes]
    return selection_report(SparseClassifier(3, start="empty").fit(X, y), X, y)


def count_page():
    X, y = sample()
    counts = np.round(np.exp(y / 4))
    return selection_report(SparseGLMRegressor(2, start="empty").fit(X, counts), X, counts)


def graph_page():
    spins = np.cumprod(np.where(np.random.default_rng(0).random((100, 5)) < 0.2, -1, 1), axis=1)
    X = pd.DataFrame(spins, columns=ODD)
    return graph_report(IsingGraphCV(2, criterion="cv", cv=2).fit(X), X)


PAGES = {
    "odd": odd_page,
    "two classes": lambda: class_page(2),
    "fourteen classes": lambda: class_page(14),
    "counts": count_page,
    "graph": graph_page,
}


@pytest.fixture(scope="module", params=PAGES)
def page(request):
    return PAGES[request.param]()


def test_a_page_is_small_whatever_its_names(page):
    assert len(page.encode()) < 250_000


class TestWithoutSight:
    def test_every_chart_has_a_name_words_and_a_table(self, page):
        reader = Reader(page)
        charts = [attrs for attrs in reader.all("div") if attrs.get("class") == "plot"]
        assert len(charts) >= 3
        for chart in charts:
            name = chart["aria-describedby"].removesuffix("-words")
            assert chart["aria-label"] == f"Chart: {reader.text[f'{name}-heading']}"
            assert (chart["role"], chart["tabindex"]) == ("group", "0")
            assert len(reader.text[chart["aria-describedby"]]) > 20
            section = page[page.index(f'<section id="{name}"') :].split("</section>")[0]
            # The words about the graph refer to the tables of other sections.
            assert "<table" in section or "the tables of couplings and degrees have" in section

    def test_drawings_are_for_those_who_see(self, page):
        outermost = re.findall(r"<svg (?!viewBox)[^>]*>", page)
        assert outermost
        assert all('aria-hidden="true"' in tag for tag in outermost)

    def test_what_hides_a_series_is_a_button_that_says_so(self, page):
        buttons = [attrs for attrs in Reader(page).all("button") if "data-s" in attrs]
        assert all(attrs["aria-pressed"] == "true" and attrs["type"] == "button" for attrs in buttons)

    def test_headings_go_down_step_by_step(self, page):
        levels = [int(tag[1]) for tag, _ in Reader(page).tags if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert max(np.diff(levels)) <= 1

    def test_what_scrolls_can_be_reached(self, page):
        boxes = [attrs for attrs in Reader(page).all("div") if attrs.get("class") == "wide"]
        assert boxes
        assert all(attrs["tabindex"] == "0" for attrs in boxes)


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return np.dot(linear, [0.2126, 0.7152, 0.0722])


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


COLOURS = {name: pair for name, *pair in re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", _STYLE)}


class TestColours:
    @pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
    def test_text_is_seen(self, theme):
        for name in ("ink", "soft", "yes", "no", "link"):
            assert contrast(COLOURS[name][theme], COLOURS["ground"][theme]) >= 4.5, name
        # The button of the theme that is on
        assert contrast(COLOURS["ink"][theme], COLOURS["line"][theme]) >= 4.5

    @pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
    def test_marks_are_seen(self, theme):
        for colour in (*MARKS, GREY):
            assert contrast(colour, COLOURS["ground"][theme]) >= 3, colour

    def test_marks_are_distinguished_by_more_than_colour(self):
        assert len(set(MARKS)) == len(set(MARKERS)) == len(MARKS) == len(MARKERS)


class TestNames:
    def test_a_blank_name_says_so(self):
        assert shown_name("") == shown_name(" \t") == "(no name)"
        assert "of (no name)" in Reader(odd_page()).text["chosen"]

    @pytest.mark.parametrize("name", [ARABIC, "\u05d0", "\u202eabc"])
    def test_a_name_from_right_to_left_turns_nothing_else(self, name):
        assert shown_name(name) == f"\u2068{name}\u2069"

    @pytest.mark.parametrize("name", ["tea", "größe", "\u540d", "\U0001f600", "1 < 2"])
    def test_others_are_left_as_they_are(self, name):
        assert shown_name(name) == name


class TestNotices:
    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (Status.INTERRUPTED, "The search was interrupted: this is the best answer found by then"),
            (Status.TIME_LIMIT, "The search ran out of time"),
            (Status.ITERATION_LIMIT, "The search came to its limit"),
        ],
    )
    def test_a_search_that_was_cut_short_says_so_at_the_top(self, status, words):
        X, y = sample()
        model = SparseRegressor(2).fit(X, y)
        model.result_ = replace(model.result_, status=status)
        assert words in selection_report(model, X, y).split("<main>")[0]

    def test_a_proof_that_was_interrupted(self):
        X, y = sample()
        model = SparseRegressor(2).fit(X, y)
        proof = replace(
            model.certify(X, y), value=0.6, upper_bound=0.8, resolution=0.0, status=Status.INTERRUPTED
        )
        top = selection_report(model, X, y, certificate=proof).split("<main>")[0]
        assert "The proof was interrupted: its bound could be tightened." in top

    def test_nothing_to_notice(self):
        X, y = sample()
        model = SparseRegressor(2).fit(X, y)
        page = selection_report(model, X, y, certificate=model.certify(X, y))
        assert 'class="incomplete"' not in page

    def test_a_graph_that_was_interrupted(self):
        X = pd.DataFrame(np.random.default_rng(0).integers(2, size=(60, 3)))
        model = IsingGraphCV(1).fit(X)
        model.result_ = replace(model.result_, status=Status.INTERRUPTED)
        assert "The search was interrupted" in graph_report(model, X).split("<main>")[0]


class TestSmall:
    @pytest.mark.filterwarnings("ignore:y is constant")
    @pytest.mark.parametrize(
        ("columns", "y"),
        [
            ({"a": [0.0, 1.0], "b": [1.0, 1.0]}, [1.0, 2.0]),
            ({"a": [0.0, 1.0, 2.0], "b": [1.0, 0.0, 1.0]}, [5.0, 5.0, 5.0]),
        ],
        ids=["two rows", "constant predictions"],
    )
    def test_little_to_say(self, columns, y):
        X = pd.DataFrame(columns)
        model = SparseRegressor(1).fit(X, y)
        text = Reader(selection_report(model, X, y, certificate=model.certify(X, y))).text
        assert "standard deviation of 0" in text["fit"]
        assert "correlation" not in text


# How wide things are in windows of some widths, and on paper.
WIDTHS = """
const widest = (name, width) => {
  root.style.width = width;
  const over = document.body.scrollWidth - document.body.clientWidth;
  const plots = [...document.querySelectorAll(".plot > svg, .area > svg")].filter(isSeen);
  const drawn = Math.max(...plots.map((svg) => svg.getBoundingClientRect().right));
  document.body.setAttribute("data-" + name, over + " " + Math.round(drawn));
};
widest("phone", "400px"); widest("paper", "680px");
"""


@pytest.mark.browser
class TestInChromium:
    @pytest.mark.parametrize(
        ("kind", "charts"),
        [
            ("odd", ["chosen", "certificate", "fit", "correlation", "moves"]),
            ("graph", ["graph", "path", "degrees", "moves"]),
        ],
    )
    def test_nothing_is_wider_than_a_phone_or_paper(self, opened, kind, charts):
        document = opened(then(PAGES[kind](), WIDTHS))
        assert charts_of(document) == charts
        assert harmless(document)
        for name, width in (("phone", 400), ("paper", 680)):
            over, right = map(int, re.search(rf'data-{name}="(.*?)"', document)[1].split())
            assert over == 0
            assert 0.75 * width < right <= width or kind == "graph"
