"""The page opens without a network, shows everything, and a real browser has nothing to complain of."""

import re
from html import unescape

import pytest

from swapwise.paper.claims import Finding
from swapwise.paper.page import render_page
from swapwise.paper.panels import BEYOND_PANELS, PAPER_PANELS
from tests.app.report import pages
from tests.app.report.pages import EVIL, Reader, charts_of, then
from tests.paper.test_panels import BAD_ROWS, fake, row, table

pytestmark = pytest.mark.experiments

PANELS = (*PAPER_PANELS, *BEYOND_PANELS)
opened = pages.opened


def finding(*given, verdict="holds", start=""):
    usual = ("(a)", "ten times faster", "11 times", verdict, "")
    return Finding(*(given or usual), start)


@pytest.fixture(scope="module")
def page():
    claims = [finding(), finding(verdict="does not hold", start="arbitrary"), finding(verdict="not measured")]
    return render_page(fake(), claims, {"seed": 7, "machine": {"cores": 2}})


class TestSelfContained:
    def test_nothing_is_loaded_from_elsewhere(self, page):
        reader = Reader(page)
        assert reader.all("link") == []
        assert not any("src" in attrs for attrs in reader.all("script"))
        for tag, attrs in reader.tags:
            for name in {"src", "href", "srcset", "data", "action", "poster"} & set(attrs):
                assert attrs[name].startswith(("data:", "#")), (tag, attrs)
        for style in re.findall(r"<style>(.*?)</style>", page, re.DOTALL):
            assert "url(" not in style
            assert "@import" not in style

    def test_the_browser_is_told_to_load_nothing(self, page):
        (policy,) = [attrs["content"] for attrs in Reader(page).all("meta") if "http-equiv" in attrs]
        assert policy.startswith("default-src 'none'")
        assert "http" not in policy

    def test_a_page_is_small(self, page):
        assert len(page.encode()) < 600_000

    def test_a_document_for_people_and_machines(self, page):
        reader = Reader(page)
        assert page.startswith("<!DOCTYPE html>")
        assert reader.all("html") == [{"lang": "en"}]
        assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in reader.all("meta")
        assert len(reader.all("title")) == len(reader.all("h1")) == len(reader.all("main")) == 1
        names = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
        assert len(set(names)) == len(names)


class TestContent:
    def test_every_panel_has_a_figure_with_its_caption(self, page):
        reader = Reader(page)
        for panel in PANELS:
            assert reader.text[f"panel-{panel.letter}"].startswith(panel.caption)
        assert charts_of(page)[:9] == [panel.letter for panel in PANELS]

    def test_as_published_has_six(self):
        page = render_page(fake("as-published"), [], {})
        assert len(Reader(page).all("figure")) == 6
        assert "Beyond the paper" not in page

    def test_what_was_not_run_says_so(self):
        page = render_page(fake(without=["regression-1000"]), [], {})
        reader = Reader(page)
        silent = [panel.letter for panel in PANELS if "not run" in reader.text[f"panel-{panel.letter}"]]
        assert silent == ["c", "g"]
        assert not {"c", "g"} & set(charts_of(page))

    def test_hover_tells_mean_spread_and_trials(self):
        rows = table(
            *(row(trial=trial, quality=y) for trial, y in enumerate([0.2, 0.4])), row(size=2, quality=1)
        )
        page = render_page(rows, [], {})
        start = 'data-t="oblivious\ncapacity per category: '
        assert f'{start}1\nR²: 0.3 ± 0.14\n2 trials"' in page
        assert f'{start}2\nR²: 1\n1 trial"' in page

    def test_claims(self, page):
        text = Reader(page).text["claims"]
        for words in (
            "ten times faster",
            "11 times",
            "✓ holds",
            "✗ does not hold from arbitrary",
            "– not measured",
        ):
            assert words in text
        assert "No claims were looked at" in render_page(table(row(quality=1.0)), [], {})

    def test_means_of_methods_and_sizes(self):
        rows = table(
            row(trial=0, quality=0.25, seconds=0.5),
            row(trial=1, quality=0.5, seconds=12.0),
            row(size=10, quality=0.75),
            row(size=2, method="modular", quality=0.125),
            row(part="certificates", method="certificate", quality=0.9, proven=0.875),
        )
        text = Reader(render_page(rows, [], {})).text["tables"]
        assert "regression-200: R²method1210oblivious0.3750.750modular0.125" in text
        assert "regression-200: secondsmethod1oblivious6.2" in text
        assert "regression-200: proven share of the optimummethod1certificate0.875" in text
        assert "0.900" not in text

    def test_shares_of_the_optimum_are_of_instances_where_it_is_proven(self):
        graph = {"setting": "ising-10", "size": 2}
        optimum = {"part": "optimum", "method": "optimum"}
        rows = table(
            row(**graph, value=3.0, quality=0.6),
            row(**graph, trial=1, value=1.0, quality=0.6),
            row(**graph | optimum, value=4.0, quality=0.8, status="OPTIMAL"),
            row(**graph | optimum, trial=1, value=5.0, quality=0.8, status="ITERATION_LIMIT"),
        )
        text = Reader(render_page(rows, [], {})).text["tables"]
        assert "share of the optimum, where it is provenmethod2oblivious0.750optimum1.000" in text

    def test_the_manifest_is_gone_through(self):
        manifest = {
            "options": {"trials": 3, "quick": False, "only": ["ising-10", "random"], "limit": None},
            "sessions": [{"rows": 1.5}, {"rows": True}],
            "empty": {},
        }
        page = render_page(table(row(quality=1.0)), [], manifest)
        pairs = re.findall(
            r'<th scope="row">([^<]*)</th><td>([^<]*)</td>', page[page.index('id="manifest"') :]
        )
        assert pairs == [
            ("options › trials", "3"),
            ("options › quick", "no"),
            ("options › only", "ising-10, random"),
            ("options › limit", ""),
            ("sessions › 1 › rows", "1.5"),
            ("sessions › 2 › rows", "yes"),
        ]

    def test_zero_and_one_are_numbers(self):
        page = render_page(table(row(quality=1.0)), [], {"seed": 0, "trials": 1})
        assert '<th scope="row">seed</th><td>0</td>' in page
        assert '<th scope="row">trials</th><td>1</td>' in page

    def test_everything_from_data_is_escaped(self):
        rows = table(row(quality=1.0), row(setting=EVIL, method=EVIL, quality=1.0))
        claim = finding(EVIL, EVIL, EVIL, EVIL, EVIL)
        page = render_page(rows, [claim], {EVIL: {EVIL: EVIL}, "list": [EVIL]})
        assert EVIL not in page
        assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 11
        assert '"' not in re.search(r'aria-label="(.*?)">', page)[1]


@pytest.mark.parametrize(("rows", "error", "message"), BAD_ROWS)
def test_bad_rows(rows, error, message):
    with pytest.raises(error, match=message):
        render_page(rows, [], {})


def test_a_bad_manifest():
    with pytest.raises(TypeError, match=r"manifest must be a dict of JSON values, got \[1\]"):
        render_page(fake(), [], [1])


def test_a_run_that_is_not_complete_says_so_at_the_top():
    manifest = {"complete": False, "rows": 3, "wanted": 9}
    assert "not complete: it has 3 of 9 rows" in render_page(fake(), [], manifest).split("<main>")[0]
    assert "not complete" not in render_page(fake(), [], {**manifest, "complete": True})


def test_seconds_of_cells_that_ran_beside_others_are_not_shown():
    beside, alone = fake(), fake()
    beside["alone"], alone["alone"] = False, True
    assert "ising-10: seconds" in render_page(alone, [], {})
    assert "ising-10: seconds" not in render_page(beside, [], {})


def curves(page, letter):
    """The names of the curves that a panel has, each with its marks."""
    begin = page.index(f'<figure id="panel-{letter}"')
    box = page[begin : page.index("</figure>", begin)]
    marked = {unescape(name) for name in re.findall(r'data-t="(.*?)\n', box)}
    return [name for name in map(unescape, re.findall(r"</svg>([^<]+)</button>", box)) if name in marked]


def test_every_curve_is_drawn():
    rows = fake(trials=1, without=["ising-20", "certificates"])
    page = render_page(rows, [], {"evil": EVIL})
    for panel in PANELS:
        assert curves(page, panel.letter) == [line.name for line in panel.means(rows)], panel.letter


def test_only_what_is_guaranteed_is_hollow(page):
    for panel in PANELS:
        for curve in panel.chart(fake()).series:
            assert curve.hollow == curve.name.startswith("guaranteed"), curve.name


# Whether any word of the claims is broken inside, in windows of some widths.
BROKEN = """
const broken = [];
for (const width of [500, 1300, 1800]) {
  root.style.width = width + "px";
  for (const cell of document.querySelectorAll(".claims td")) {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) for (const found of walker.currentNode.data.matchAll(/[A-Za-z]+/g)) {
      const range = document.createRange();
      range.setStart(walker.currentNode, found.index);
      range.setEnd(walker.currentNode, found.index + found[0].length);
      if (range.getClientRects().length > 1) broken.push(found[0]);
    }
  }
}
document.body.dataset.broken = broken.join(" ");
"""


@pytest.mark.browser
class TestInChromium:
    def test_words_of_claims_are_whole(self, opened):
        long = " ".join(["approximation guarantees of localizability"] * 30)
        page = render_page(fake(), [finding("Abstract", long, long, "not measured", long)], {})
        assert 'data-broken=""' in opened(then(page, BROKEN))

    @pytest.mark.parametrize(
        "mischief",
        [
            "<script>undefinedFunction()</script>",
            "<script>console.error('no')</script>",
            "<img src='https://example.org/logo.png'>",
            "<p onclick='go()' style='color: red'></p>",
        ],
    )
    def test_complaints_are_heard(self, opened, page, mischief):
        with pytest.raises(AssertionError, match="CONSOLE"):
            opened(page.replace("</body>", f"{mischief}</body>"))
