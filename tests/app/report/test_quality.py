"""Tables and figures of quality hold what search and certificate say."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import swapwise as sw
from swapwise.app.report.quality import COLUMNS, plot_quality, quality_over_sizes
from swapwise.certify.prover import Prover


def regression(n=10, samples=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((samples, n)) + 0.5 * rng.standard_normal((samples, 1))
    return sw.LeastSquares(X, X @ rng.standard_normal(n) + rng.standard_normal(samples))


def table(sizes=(1, 2, 3), upper_bound=(2.0, 3.0, 3.5), guarantee=(0.5, 0.4, 0.3), trivial=False):
    """A frame as returned by quality_over_sizes, with numbers that are easy to tell apart."""
    value = np.arange(1.0, len(sizes) + 1)
    columns = {"size": sizes, "value": value, "upper_bound": upper_bound, "guarantee": guarantee}
    frame = pd.DataFrame(columns)
    return frame.assign(ratio=frame["value"] / frame["upper_bound"], trivial=trivial)


def line(axes, label):
    return {one.get_label(): one for one in axes.get_lines()}[label]


class TestFrame:
    @pytest.mark.parametrize("method", ["auto", "modular", sw.SemiOblivious()])
    def test_rows_are_those_of_search_and_certificate(self, method):
        objective, asked = regression(), []

        def constraint_of(size):
            asked.append(size)
            return sw.Partition(np.arange(10) % 2, size)

        frame = quality_over_sizes(objective, constraint_of, (size for size in (3, 1)), method=method)
        assert list(frame.columns) == COLUMNS
        assert frame["size"].tolist() == asked == [3, 1]
        for row in frame.itertuples():
            constraint = sw.Partition(np.arange(10) % 2, row.size)
            result = sw.maximize(objective, constraint, method)
            certificate = sw.certify(objective, constraint, result)
            assert row.value == result.value
            assert row.upper_bound == certificate.upper_bound
            assert row.ratio == certificate.ratio
            assert row.trivial == certificate.trivial
            assert row.kind == certificate.kind
            assert row.guarantee == result.guarantee.beyond_trivial.ratio
            assert row.seconds > 0

    def test_gap_and_time_limit_reach_the_certificate(self):
        objective = sw.FacilityLocation(np.random.default_rng(0).uniform(size=(30, 24)))
        bound = {
            name: quality_over_sizes(objective, lambda size: sw.Uniform(24, size), [8], **options)
            for name, options in {"tight": {}, "loose": {"gap": 0.9}, "hasty": {"time_limit": 0.0}}.items()
        }
        assert bound["tight"]["kind"][0] == "branching"
        for name in ("loose", "hasty"):
            assert bound[name]["upper_bound"][0] > bound["tight"]["upper_bound"][0]
            assert bound[name]["value"][0] == bound["tight"]["value"][0]

    def test_trivial_bounds_are_marked(self):
        wide = sw.LeastSquares(np.random.default_rng(0).standard_normal((15, 60)), np.arange(15.0))
        with pytest.warns(UserWarning, match="no strong-concavity bound"):
            frame = quality_over_sizes(wide, lambda size: sw.Uniform(60, size), [1, 7], time_limit=0.2)
        assert frame["trivial"].tolist() == [False, True]
        assert frame["ratio"][1] == pytest.approx(frame["value"][1])

    def test_nothing_is_promised_of_an_unknown_function(self):
        unknown = sw.CustomSetFunction(len, n=4, monotone=True)
        frame = quality_over_sizes(unknown, lambda size: sw.Uniform(4, size), [1, 2])
        assert frame["guarantee"].isna().all()
        assert frame["ratio"].tolist() == [1, 1]

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            ({"constraint_of": sw.Uniform(10, 2)}, TypeError, r"constraint_of must be.*try lambda size"),
            ({"constraint_of": 3}, TypeError, "constraint_of must be a function.*got 3"),
            ({"constraint_of": lambda size: size}, TypeError, "constraint must be one such as"),
            ({"sizes": 5}, TypeError, r"sizes must be integers such as range\(1, 11\), got 5"),
            ({"sizes": "12"}, TypeError, "sizes must be integers"),
            ({"sizes": [1.5]}, TypeError, "a size must be a non-negative integer, got 1.5"),
            ({"sizes": [2, -1]}, ValueError, "a size must be a non-negative integer, got -1"),
            ({"sizes": []}, ValueError, "at least one size"),
            ({"objective": len}, TypeError, "objective must be a SetFunction"),
            ({"objective": sw.CustomSetFunction(len, 10)}, TypeError, "not known to be monotone"),
            ({"method": "best"}, ValueError, "got 'best'"),
            ({"gap": -1}, ValueError, "gap must be"),
            ({"time_limit": "long"}, TypeError, "time_limit must be"),
        ],
    )
    def test_what_is_refused(self, changes, error, message):
        arguments = {
            "objective": regression(),
            "constraint_of": lambda size: sw.Uniform(10, size),
            "sizes": [1],
        } | changes
        with pytest.raises(error, match=message):
            quality_over_sizes(**arguments)

    def test_what_is_wrong_is_told_before_anything_is_searched(self):
        def constraint_of(size):
            raise AssertionError("searched")

        with pytest.raises(ValueError, match="got -1"):
            quality_over_sizes(regression(), constraint_of, [1, -1])
        with pytest.raises(ValueError, match="gap must be"):
            quality_over_sizes(regression(), constraint_of, [1], gap=-1)


class TestFigure:
    def test_the_lines_are_the_columns_in_order_of_size(self):
        above, below = plot_quality(table(sizes=(3, 1, 2))).axes
        for axes, label, wanted in [
            (above, "value found", [2, 3, 1]),
            (above, "proven upper bound", [3, 3.5, 2]),
            (below, "proven by the certificate", [2 / 3, 3 / 3.5, 1 / 2]),
            (below, "guaranteed", [0.4, 0.3, 0.5]),
        ]:
            np.testing.assert_array_equal(line(axes, label).get_xdata(), [1, 2, 3])
            np.testing.assert_allclose(line(axes, label).get_ydata(), wanted)

    def test_the_region_between_value_and_bound_is_shaded(self):
        above, _ = plot_quality(table()).axes
        (region,) = above.collections
        corners = {tuple(corner) for corner in region.get_paths()[0].vertices}
        assert {(1, 1), (2, 2), (3, 3), (1, 2), (2, 3), (3, 3.5)} <= corners

    def test_axes_and_legends(self):
        above, below = plot_quality(table()).axes
        assert [above.get_ylabel(), below.get_ylabel(), below.get_xlabel()] == [
            "value of the objective",
            "share of the optimum",
            "size",
        ]
        assert below.get_ylim()[0] <= 0 < 1 <= below.get_ylim()[1] < 1.1
        labels = [text.get_text() for axes in (above, below) for text in axes.get_legend().get_texts()]
        assert "the optimum lies here" in labels
        assert len(labels) == 5

    def test_bounds_that_are_missing_and_promises_that_are_not_made(self):
        frame = table(upper_bound=(2.0, np.inf, 3.5), guarantee=(np.nan,) * 3)
        above, below = plot_quality(frame).axes
        assert np.isnan(line(above, "proven upper bound").get_ydata()).tolist() == [False, True, False]
        assert [one.get_label() for one in below.get_lines()] == ["proven by the certificate"]

    def test_a_trivial_bound_is_not_drawn_as_a_proven_share(self):
        _, below = plot_quality(table(trivial=[False, True, False])).axes
        proven = line(below, "proven by the certificate").get_ydata()
        assert np.isnan(proven).tolist() == [False, True, False]
        trivial = line(below, "trivial bound, nothing proven")
        assert trivial.get_xdata().tolist() == [2]
        np.testing.assert_allclose(trivial.get_ydata(), [2 / 3])
        assert (trivial.get_markerfacecolor(), trivial.get_linestyle()) == ("white", "None")
        # Only what is guaranteed or trivial is hollow; what was found is not.
        assert line(below, "proven by the certificate").get_markerfacecolor() != "white"
        assert line(below, "guaranteed").get_markerfacecolor() == "white"

    def test_axes_of_the_users_own(self, tmp_path):
        figure = Figure()
        axes = figure.subplots(1, 2)
        frame = table()
        before = frame.copy()
        assert plot_quality(frame, axes) is figure
        assert len(axes[0].get_lines()) == len(axes[1].get_lines()) == 2
        pd.testing.assert_frame_equal(frame, before)
        figure.savefig(tmp_path / "figure.png")

    def test_one_row_can_be_drawn_and_saved(self, tmp_path):
        frame = quality_over_sizes(regression(), lambda size: sw.Uniform(10, size), [2])
        plot_quality(frame).savefig(tmp_path / "figure.png")
        assert (tmp_path / "figure.png").stat().st_size > 0

    @pytest.mark.parametrize(
        ("frame", "ax", "error", "message"),
        [
            ([1, 2], None, TypeError, "must be a pandas.DataFrame"),
            (table().drop(columns=["ratio", "value"]), None, ValueError, "value, ratio are missing"),
            (table().iloc[:0], None, ValueError, "at least one row"),
            (table(), Figure().subplots(), TypeError, "ax must be two matplotlib axes"),
            (table(), Figure().subplots(1, 3), TypeError, "ax must be two matplotlib axes"),
        ],
    )
    def test_what_is_refused(self, frame, ax, error, message):
        with pytest.raises(error, match=message):
            plot_quality(frame, ax)

    def test_pyplot_is_left_alone(self):
        code = (
            "import sys, pandas as pd; from swapwise.app.report.quality import plot_quality; "
            "heavy = 'matplotlib' in sys.modules; "
            "row = dict(size=1, value=1.0, upper_bound=2.0, ratio=0.5, trivial=False, guarantee=0.1); "
            "plot_quality(pd.DataFrame([row])); "
            "sys.exit(heavy or 'matplotlib.pyplot' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_interrupt_ends_all_sizes(monkeypatch):
    objective = sw.LeastSquares(np.random.default_rng(0).standard_normal((20, 8)), np.arange(20.0))

    def interrupted(self, *arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Prover, "_simple_bounds", interrupted)
    with pytest.warns(UserWarning, match="interrupted at size 2"):
        frame = quality_over_sizes(objective, lambda size: sw.Uniform(8, size), [2, 3, 4])
    assert frame["size"].tolist() == [2]
