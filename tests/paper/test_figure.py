"""The figure for print shows every panel and curve, and nothing in it covers anything else."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from swapwise.paper.figure import SMALL, draw_figure
from swapwise.paper.panels import BEYOND_PANELS, PAPER_PANELS, SCATTERS
from tests.paper.test_panels import BAD_ROWS, fake, row, table

pytestmark = pytest.mark.experiments


def lines(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def bars(axes):
    return [bar for bars in axes.collections for bar in bars.get_segments()]


class TestPanels:
    def test_nine_panels_with_their_curves(self):
        rows = fake()
        figure = draw_figure(rows)
        assert isinstance(figure, Figure)
        for axes, panel in zip(figure.axes[:9], (*PAPER_PANELS, *BEYOND_PANELS), strict=True):
            assert axes.get_title() == panel.caption
            chart = panel.chart(rows)
            assert (axes.get_xlabel(), axes.get_ylabel()) == (chart.x.label, chart.y.label)
            assert axes.get_yscale() == ("log" if panel.y.log else "linear")
            assert axes.get_xticks().tolist() == panel.sizes
            assert list(lines(axes)) == [curve.name for curve in chart.series]
            for curve, line in zip(chart.series, axes.get_lines(), strict=True):
                assert line.get_ydata() == pytest.approx(curve.y)
                assert np.rint(line.get_xdata()).tolist() == curve.x
                assert line.get_color() == curve.colour
        assert "Beyond the paper" in [text.get_text() for text in figure.texts]

    def test_as_published_has_the_six_of_the_paper(self):
        figure = draw_figure(fake("as-published"))
        assert [axes.get_title() for axes in figure.axes] == [panel.caption for panel in PAPER_PANELS]
        words = [text.get_text() for text in figure.texts]
        assert "Beyond the paper" not in words
        assert "as published: one M for all moves" in words[-1]

    def test_four_panels_of_value_against_time(self):
        rows = fake()
        figure = draw_figure(rows)
        named = {text.get_text() for legend in figure.legends[2:] for text in legend.get_texts()}
        for axes, scatter in zip(figure.axes[9:], SCATTERS, strict=True):
            points = scatter.chart(rows).series
            assert axes.get_title() == scatter.caption
            assert axes.get_xscale() == "log"
            assert list(lines(axes)) == [point.name for point in points]
            assert {"auto", "oblivious", "greedy", "htp"} < set(lines(axes)) <= named
            for point, line in zip(points, axes.get_lines(), strict=True):
                assert line.get_xdata() == pytest.approx(point.x)
                assert line.get_ydata() == pytest.approx(point.y)
        assert "The neighbours" in [text.get_text() for text in figure.texts]

    def test_bars_are_mean_and_spread(self):
        rows = table(*(row(trial=trial, quality=y) for trial, y in enumerate([0.2, 0.4])))
        (bar,) = bars(draw_figure(rows).axes[1])
        assert bar[:, 1] == pytest.approx([0.3 - 0.02**0.5, 0.3 + 0.02**0.5])

    def test_one_trial_has_no_bars(self):
        figure = draw_figure(fake(trials=1))
        assert not any(bars(axes) for axes in figure.axes)
        assert "One trial" in figure.texts[-1].get_text()

    def test_what_was_not_run_says_so(self):
        figure = draw_figure(fake(without=["ising-10", "certificates"]))
        silent = [axes for axes in figure.axes if "not run" in [text.get_text() for text in axes.texts]]
        assert [axes.get_title()[1] for axes in silent] == ["d", "e", "h", "i", "l"]
        assert not any(axes.get_lines() or axes.get_legend() for axes in silent)

    def test_legends_name_every_curve(self):
        figure = draw_figure(fake())
        shared = [[text.get_text() for text in legend.get_texts()] for legend in figure.legends]
        for names, panels in zip(shared[:2], (figure.axes[:3], figure.axes[3:6]), strict=True):
            assert set(names) == set().union(*(lines(axes) for axes in panels))
            names = [name for name in names if name != "bound on the optimum"]
            both = [
                [name, f"{name} from arbitrary"] for name in ("oblivious", "semi-oblivious", "non-oblivious")
            ]
            assert names[:6] == [name for pair in both for name in pair]
        for axes in figure.axes[6:9]:
            assert [text.get_text() for text in axes.get_legend().get_texts()] == list(lines(axes))


def written(figure):
    """Everything written outside the axes' frames and the frames themselves, with the place that it takes."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    things = [(text.get_text(), text) for text in figure.texts]
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes if axes.get_legend())]
    things += [("legend", legend) for legend in legends]
    for axes in figure.axes:
        things.append(("frame", axes.patch))
        things += [(text.get_text(), text) for text in (axes.title, axes.xaxis.label, axes.yaxis.label)]
        # Only the labels of ticks that lie within the axes are drawn.
        for axis in (axes.xaxis, axes.yaxis):
            drawn = axis._update_ticks()
            things += [(tick.label1.get_text(), tick.label1) for tick in drawn if tick.label1.get_text()]
    return [(name, thing.get_window_extent(renderer)) for name, thing in things]


@pytest.mark.parametrize(
    "rows",
    [
        fake(),
        fake(trials=1),
        fake("as-published"),
        fake(without=["ising-10"]),
        fake(without=["regression-1000", "ising-20"]),
        fake(without=["paper"]).assign(promised=0.1),
        fake()[lambda rows: rows["size"] <= 3],
        fake()[lambda rows: ~rows["method"].isin(["oblivious", "semi-oblivious", "non-oblivious"])],
    ],
    ids=[
        "default",
        "one trial",
        "as published",
        "without small graphs",
        "without what is large",
        "every guarantee",
        "cut off",
        "from arbitrary alone",
    ],
)
def test_fonts_are_large_enough_and_nothing_covers_anything_else_or_is_cut_off(rows):
    figure = draw_figure(rows)
    things = written(figure)
    for name, box in things:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1, name
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1, name
    for (name, box), (other, place) in combinations(things, 2):
        assert not box.overlaps(place), (name, other)
    assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= SMALL >= 7


@pytest.mark.parametrize(("rows", "error", "message"), BAD_ROWS)
def test_bad_rows(rows, error, message):
    with pytest.raises(error, match=message):
        draw_figure(rows)


def test_rows_are_left_as_they_are():
    rows = fake().sample(frac=1, random_state=0)
    before = rows.copy()
    draw_figure(rows)
    assert rows.equals(before)


def test_importing_the_module_does_not_import_matplotlib():
    code = "import sys, swapwise.paper.figure; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
