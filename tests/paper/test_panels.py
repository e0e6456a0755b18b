"""Panels hold the curves that they should, with means and spreads as computed by hand."""

import numpy as np
import pandas as pd
import pytest

from swapwise.paper.comparisons import best_known_share
from swapwise.paper.grid import BEYOND, GRID, OPTIMA, PAPER, PRINTED, cells
from swapwise.paper.measure import COLUMNS
from swapwise.paper.panels import (
    BEYOND_PANELS,
    NAMES,
    PAPER_PANELS,
    SCATTERS,
    TICKS,
    check_rows,
    footnotes,
    methods_of,
    nines,
    panels_of,
    scatter_note,
    shares_and_seconds,
    start_of,
    starts_of,
)
from swapwise.paper.procedures import LOCAL_SEARCHES
from swapwise.paper.settings import ISING_10, REGRESSION_200

pytestmark = pytest.mark.experiments

ALL = {panel.letter: panel for panel in (*PAPER_PANELS, *BEYOND_PANELS)}


def row(**figures):
    """A row with all columns; what is not given is empty, as in the experiments."""
    usual = {"setting": "regression-200", "part": "paper", "method": "oblivious", "size": 1, "trial": 0}
    return {**dict.fromkeys(COLUMNS), **usual, "flavour": "default", "seed": 0, **figures}


def table(*rows):
    return pd.DataFrame(rows, columns=list(COLUMNS))


def fake(flavour="default", trials=3, without=(), start="both"):
    """A row for each cell of the whole grid, with made-up figures; ``without`` settings or parts."""
    rng = np.random.default_rng(0)
    rows = []
    for cell in cells(trials, flavour=flavour, start=start):
        key = dict(zip(COLUMNS, cell.key, strict=False))
        if {key["setting"], key["part"]} & set(without):
            continue
        value = 1 - 0.5 * rng.random() / cell.size
        figures = {"value": value, "quality": value}
        figures["seconds"] = 0.01 * cell.size * rng.uniform(0.5, 2.0)
        if key["part"] == "optimum":
            figures |= {"upper_bound": 1.01 * value, "proven": 1 / 1.01, "status": "ITERATION_LIMIT"}
        if key["part"] == "certificates":
            figures |= {"proven": value, "promised": 0.1 / cell.size if "10" not in key["setting"] else None}
        rows.append(row(**key, **figures))
    return table(*rows)


def labels(letter, rows):
    return [curve.name for curve in ALL[letter].chart(rows).series]


def means_of(letter, name, rows):
    return {line.name: means for line, means in ALL[letter].means(rows).items()}[name]


class TestDeclared:
    @pytest.mark.parametrize(
        ("letter", "caption", "x_label", "y_label", "log"),
        [
            ("a", "(a) regression, time, n = 200", "capacity per category", "processor time (seconds)", True),
            ("b", "(b) regression, objective, n = 200", "capacity per category", "R²", False),
            ("c", "(c) regression, objective, n = 1000", "capacity per category", "R²", False),
            ("d", "(d) graphical, time, |V| = 10", "degree bound b", "processor time (seconds)", True),
            ("e", "(e) graphical, objective, |V| = 10", "degree bound b", "ratio to the true graph", False),
            ("f", "(f) graphical, objective, |V| = 20", "degree bound b", "ratio to the true graph", False),
        ],
    )
    def test_the_six_of_the_paper(self, letter, caption, x_label, y_label, log):
        panel = ALL[letter]
        chart = panel.chart(fake()[:0])
        assert (panel.caption, chart.x.label, chart.y.label) == (caption, x_label, y_label)
        assert chart.y.log == log

    def test_every_line_is_in_the_grid(self):
        grid = {
            (block.setting, block.procedure.part, block.procedure.name, size)
            for block in (*PAPER, *PRINTED, *OPTIMA, *BEYOND)
            for size in block.sizes or block.setting.sizes
        }
        for panel in PAPER_PANELS:
            for line in panel.lines:
                is_benchmark = line.method in ("random", "random-residual-greedy")
                assert is_benchmark or (line.setting, line.part, line.method, 1) in grid, line
        for line in (line for panel in BEYOND_PANELS for line in panel.lines):
            assert (line.setting, line.part, line.method, 1) in grid, line

    @pytest.mark.parametrize("panel", ALL.values(), ids=ALL)
    def test_curves_of_a_panel_differ_without_their_colours(self, panel):
        shapes = [line.look[1:] for line in panel.lines]
        colors = [line.look.color for line in panel.lines]
        looks = list(zip(shapes, colors, strict=True))
        assert len(set(looks)) == len(looks)
        if panel in PAPER_PANELS:
            assert len(set(shapes)) == len(looks)
            # A search has one colour, and is dashed from the start that is printed.
            looks = {line.method: line.look for line in panel.lines}
            for method in LOCAL_SEARCHES:
                assert looks[f"{method} from arbitrary"] == looks[method]._replace(dash="dash")
            assert len(set(colors)) == len(looks) - 3


class TestCurves:
    def test_methods_in_the_fixed_order(self):
        rows = fake().sample(frac=1, random_state=0).reset_index(drop=True)
        printed = [f"{method} from arbitrary" for method in LOCAL_SEARCHES]
        regression = [*LOCAL_SEARCHES, "random residual greedy", "modular", *printed]
        graphs = [*LOCAL_SEARCHES, "modular", "random", *printed]
        assert labels("a", rows) == labels("b", rows) == labels("c", rows) == regression
        assert labels("d", rows) == graphs
        assert labels("e", rows) == labels("f", rows) == ["bound on the optimum", *graphs]
        assert set(NAMES) == {*regression, *labels("f", rows)}
        assert labels("a", fake(start="empty")) == regression[:5]
        assert labels("a", fake(start="arbitrary")) == regression[3:]

    def test_what_the_paper_left_out_is_new(self):
        rows = fake()
        new = {letter: [x.name for x in panel.means(rows) if x.is_new] for letter, panel in ALL.items()}
        slow = [f"{method}{start}" for start in ("", " from arbitrary") for method in LOCAL_SEARCHES[:2]]
        assert new == {letter: slow if letter in "cf" else [] for letter in ALL}

    def test_the_bound_on_the_optimum_has_the_scale_of_quality(self):
        optimum = {"setting": "ising-10", "part": "optimum", "method": "optimum", "status": "OPTIMAL"}
        rows = table(
            row(**optimum, value=2.0, quality=0.5, upper_bound=2.0, proven=1.0),
            row(
                **optimum | {"status": "ITERATION_LIMIT"},
                trial=1,
                value=2.0,
                quality=0.5,
                upper_bound=4.0,
                proven=0.5,
            ),
        )
        assert means_of("e", "bound on the optimum", rows)["mean"].tolist() == pytest.approx([0.75])
        assert footnotes(rows)[1] == (
            "Optima proven: (e) 1 of 2, else the best set is at least 50.0% of the bound."
        )
        assert footnotes(rows[:1])[1] == "Optima proven: (e) 1 of 1."
        larger = rows[:1].assign(setting="ising-20")
        assert footnotes(larger)[1] == "Optima proven: (f) 1 of 1 (b up to 5)."

    def test_beyond_the_paper(self):
        rows = fake()
        starts = ("empty", "modular", "greedy")
        assert labels("g", rows) == [f"{m} from {s}" for m in ("oblivious", "non-oblivious") for s in starts]
        assert {f"{method} from greedy, q = 2" for method in LOCAL_SEARCHES} < set(labels("h", rows))
        assert {f"oblivious from {start}, q = 1" for start in starts} < set(labels("h", rows))
        proven = ["n = 200", "n = 200, ridge", "|V| = 10, ridge"]
        expected = [*(f"proven: {name}" for name in proven), "guaranteed: n = 200"]
        assert labels("i", rows) == [*expected, "guaranteed: n = 200, ridge"]
        colors = {curve.name: curve.colour for curve in ALL["i"].chart(rows).series}
        assert colors["proven: n = 200"] == colors["guaranteed: n = 200"]

    def test_a_trivial_bound_is_a_gap_in_the_line(self):
        proofs = {"setting": "regression-200", "part": "certificates", "method": "certificate"}
        shares = {1: 0.9, 2: None, 3: 1.0, 5: None}
        rows = table(*(row(**proofs, size=size, proven=share) for size, share in shares.items()))
        means = means_of("i", "proven: n = 200", rows)
        np.testing.assert_array_equal(means["mean"], [0.9, np.nan, 1.0])
        assert (means.index.tolist(), means["trials"].tolist()) == ([1, 2, 3], [1, 0, 1])
        assert footnotes(rows)[0] == "One trial, so there is no spread; each move has its own M."

    def test_mean_and_standard_deviation(self):
        values = {1: [0.1, 0.4, 0.7], 3: [0.5, 0.6]}
        rows = table(*(row(size=s, trial=t, quality=y) for s, ys in values.items() for t, y in enumerate(ys)))
        means = means_of("b", "oblivious", rows)
        assert means.index.tolist() == [1, 3]
        assert means["mean"].tolist() == pytest.approx([0.4, 0.55])
        assert means["spread"].tolist() == pytest.approx([0.3, 0.005**0.5])
        assert means["trials"].tolist() == [3, 2]
        (curve,) = ALL["b"].chart(rows).series
        assert curve.low == pytest.approx([0.1, 0.55 - 0.005**0.5])
        assert curve.high == pytest.approx([0.7, 0.55 + 0.005**0.5])

    def test_bars_stay_positive_on_a_log_axis(self):
        rows = table(*(row(trial=trial, seconds=y) for trial, y in enumerate([0.01, 0.01, 1.0])))
        ((mean, spread, low, high),) = means_of("a", "oblivious", rows)[
            ["mean", "spread", "low", "high"]
        ].to_numpy()
        assert mean < spread
        assert low == 0.01
        assert high == pytest.approx(mean + spread)

    def test_one_trial_has_no_spread(self):
        (curve,) = ALL["b"].chart(table(row(quality=0.5))).series
        assert (curve.y, curve.low, curve.high) == ([0.5], None, None)

    @pytest.mark.parametrize("empty", [None, np.nan, np.inf, "0"])
    def test_empty_cells_are_no_points(self, empty):
        column, letter = ("seconds", "a") if empty == "0" else ("quality", "b")
        empty = 0.0 if empty == "0" else empty
        rows = table(row(size=1, **{column: empty}), row(size=2, **{column: 0.5}))
        assert means_of(letter, "oblivious", rows).index.tolist() == [2]
        assert ALL[letter].chart(rows[:1]).series == ()

    def test_without_rows_there_is_no_curve(self):
        rows = fake(without=["regression-1000", "certificates"])
        assert [letter for letter, panel in ALL.items() if not panel.means(rows)] == ["c", "g", "i"]


class TestBestKnown:
    def test_largest_value_of_the_same_instance_and_size(self):
        there = {"setting": "ising-10", "method": "oblivious"}
        rows = table(
            row(**there, value=2.0),
            row(**there | {"method": "oblivious from greedy", "part": "starts"}, value=3.0),
            row(**there | {"method": "oblivious from greedy, q = 2", "part": "pairs"}, value=4.0),
            row(**there, trial=1, value=5.0),
            row(**there, size=2, value=6.0),
            row(**there, seed=1, value=7.0),
            row(**there | {"setting": "ising-20"}, value=8.0),
            row(**there | {"part": "certificates"}, value=9.0),
            row(**there | {"part": "plain"}, value=9.0),
        )
        share = best_known_share(rows)
        assert share[:7].tolist() == [0.5, 0.75, 1, 1, 1, 1, 1]
        assert share[7:].isna().all()
        means = means_of("h", "oblivious from empty, q = 1", rows)["mean"]
        assert means.tolist() == pytest.approx([(0.5 + 1 + 1) / 3, 1])

    def test_rows_in_any_order_and_with_any_index(self):
        rows = fake()
        mixed = check_rows(rows.sample(frac=1, random_state=1))
        for one, other in zip(ALL["g"].chart(rows).series, ALL["g"].chart(mixed).series, strict=True):
            assert one.y == pytest.approx(other.y)


class TestWords:
    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            (fake(), "Mean ± standard deviation over 3 trials; each move has its own M."),
            (fake("as-published", 2), "over 2 trials; as published: one M for all moves."),
            (fake()[lambda rows: (rows["trial"] == 0) | (rows["size"] == 1)], "over 1 to 3 trials"),
            (fake(trials=1), "One trial, so there is no spread; each move has its own M."),
            (table(row(part="plain")), "No panel was run; each move has its own M."),
        ],
    )
    def test_trials_and_flavour(self, rows, words):
        assert words in footnotes(rows)[0]

    def test_new_is_explained_where_it_is_seen(self):
        assert footnotes(fake())[2] == (
            "(c) and (f): the paper left out the oblivious and semi-oblivious searches, being too slow."
        )
        assert "(f): the" in footnotes(fake(without=["regression-1000"]))[2]
        some = footnotes(fake(without=["regression-1000", "ising-20"]))
        assert not any("left out" in note for note in some)

    def test_the_start_is_explained_where_it_is_seen(self):
        assert "as Algorithms 1, 3 and 4 are printed" in footnotes(fake())[1]
        assert not any("Algorithm" in note for note in footnotes(fake(start="empty")))

    def test_curves_that_were_cut_off_are_named(self):
        rows = fake()
        assert not any("not run" in note for note in footnotes(rows))
        is_slow = rows["setting"].eq("ising-20") & rows["method"].isin(["oblivious", "semi-oblivious"])
        cut = rows[~(is_slow & (rows["size"] > 2) & ((rows["size"] > 4) | (rows["method"] == "oblivious")))]
        assert footnotes(cut)[-1] == "(f): not run: oblivious beyond 2; semi-oblivious beyond 4."
        # A size at which nothing is proven was run.
        rows.loc[rows["part"] == "certificates", "proven"] = None
        assert not any("not run" in note for note in footnotes(rows))

    @pytest.mark.parametrize("seconds", [[0.002, 0.003], [0.0013, 0.035], [0.5, 0.9], [1e-4, 20.0]])
    def test_log_axes_have_two_powers_of_ten(self, seconds):
        rows = table(*(row(size=size, seconds=y) for size, y in enumerate(seconds, 1)))
        low, high = ALL["a"].chart(rows).y.limits
        assert low < seconds[0] < seconds[1] < high
        assert sum(low <= 10.0**power <= high for power in range(-6, 4)) >= 2

    def test_what_is_not_in_the_paper_is_for_the_default_flavour(self):
        assert panels_of(fake()) == (PAPER_PANELS, BEYOND_PANELS, SCATTERS)
        assert panels_of(fake("as-published")) == (PAPER_PANELS, (), ())


def rows_by_hand():
    """Two instances that all methods have, and one that only the paper's have."""
    values = {"oblivious": (0.8, 1.0, 0.5), "modular": (0.4, 0.8, 0.5)}
    seconds = (1.0, 3.0, 99.0)
    paper = [
        row(method=name, trial=t, value=values[name][t], seconds=seconds[t])
        for name in values
        for t in range(3)
    ]
    htp = [
        row(method="htp", part="neighbours", trial=t, value=v, seconds=0.1) for t, v in enumerate((0.6, 0.9))
    ]
    best = [row(method="auto", part="starts", trial=t, value=1.0, seconds=2.0) for t in range(2)]
    proof = [row(method="certificate", part="certificates", value=9.0, seconds=1.0)]
    return table(*paper, *htp, *best, *proof)


def test_only_instances_that_all_have_count():
    found = shares_and_seconds(rows_by_hand(), REGRESSION_200, methods_of(REGRESSION_200))
    assert found.share.to_dict() == pytest.approx({"auto": 1, "oblivious": 0.9, "modular": 0.6, "htp": 0.75})
    assert found.seconds.to_dict() == pytest.approx({"auto": 2, "oblivious": 2, "modular": 2, "htp": 0.1})
    assert set(found.instances) == {2}


def test_points_are_these_figures_family_by_family():
    means = SCATTERS[0].means(rows_by_hand())
    assert means.index.tolist() == ["auto", "oblivious", "htp", "modular"]
    assert means["share"].tolist() == pytest.approx([1, 0.9, 0.75, 0.6])
    points = SCATTERS[0].chart(rows_by_hand()).series
    assert [(point.name, point.x, point.y) for point in points] == [
        (name, [one.seconds], [nines(one.share)]) for name, one in means.iterrows()
    ]
    assert scatter_note(rows_by_hand()).startswith("(j) to (m): mean share and median seconds of 2 runs")


def test_without_neighbours_there_are_no_points():
    rows = fake(without=["neighbours"])
    assert [scatter.chart(rows).series for scatter in SCATTERS] == [(), (), (), ()]
    assert scatter_note(rows) == ""


def test_every_method_of_the_grid_has_looks_of_its_own():
    rows = fake(trials=1)
    for scatter in SCATTERS:
        points = scatter.chart(rows).series
        assert {point.name for point in points} == set(methods_of(scatter.setting))
        looks = [(point.colour, point.marker) for point in points]
        assert len(set(looks)) == len(looks)


def test_starts():
    names = starts_of(ISING_10)
    assert len(set(names)) == len(names)
    assert {start_of(name) for name in names} >= {"auto", "empty", "greedy", "modular", "random", "htp"}
    declared = {block.procedure.name for block in GRID if block.setting == ISING_10}
    assert set(names) <= declared


def test_each_tick_is_higher_than_the_one_below():
    assert (np.diff([nines(tick) for tick in TICKS]) > 0).all()
    assert nines(1.0) == nines(max(TICKS)) == nines(0.99999)


BAD_ROWS = [
    ([1, 2], TypeError, r"rows must be a pandas.DataFrame, as returned by the experiments, got \[1, 2\]"),
    (
        fake().drop(columns=["seed", "quality"]),
        ValueError,
        "rows must have the columns .*seed, quality are missing",
    ),
    (fake()[:0], ValueError, "rows must have at least one row, got none"),
    (table(row(), row(flavour="as-published")), ValueError, "one flavour .*; got as-published, default"),
    (table(row(flavour="odd")), ValueError, "one flavour of default, as-published; got odd"),
]


@pytest.mark.parametrize(("rows", "error", "message"), BAD_ROWS)
def test_bad_rows(rows, error, message):
    with pytest.raises(error, match=message):
        check_rows(rows)
