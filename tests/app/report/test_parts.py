"""The parts of a page say in words, in a chart and in a table what a model, a search and a proof have."""

import re
from dataclasses import replace
from html import unescape

import numpy as np
import pandas as pd
import pytest

from swapwise import SparseClassifier, SparseRegressor, SparseRegressorCV, Status, exact, maximize
from swapwise.app.report.chosen_parts import ChosenFeatures
from swapwise.app.report.data_parts import MOST_POINTS, data_parts
from swapwise.app.report.fit_parts import path_parts
from swapwise.app.report.proof_parts import certificate_parts, proof_history_parts, verdict_in_words
from swapwise.app.report.search_parts import MOST_MOVES, RecordedMove, moves_of, moves_parts
from swapwise.app.report.selection import selection_report
from swapwise.charts.chart import Axis, Bars, Chart, Curve
from swapwise.charts.svg import drawn
from swapwise.constraints.uniform import Uniform
from swapwise.extending import ProofEvent
from swapwise.objectives.linear import Linear
from swapwise.search.result import Event
from tests.app.report import test_selection
from tests.app.report.test_selection import NAMES, sample, trimmed

data, model = test_selection.data, test_selection.model


def cells_of(html):
    """The body of a table, row by row, as text."""
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', html)
    return [[unescape(name), *re.findall(r"<td.*?>(.*?)</td>", cells)] for name, cells in rows]


def perturbed():
    """A result that left a local optimum at its second move, and found a better one."""
    sets = [((0, 1), (), [0, 1], 3.0), ((2,), (0, 1), [2], 1.0), ((3,), (), [2, 3], 5.0)]
    names = ["working sets", "perturbation", "working sets"]
    history = [
        Event(k, added, dropped, np.array(support), value, 0.1, name)
        for k, ((added, dropped, support, value), name) in enumerate(zip(sets, names, strict=True), 1)
    ]
    found = maximize(Linear([1, 2, 1, 4]), Uniform(4, 2))
    return replace(found, support=np.array([2, 3]), value=5.0, n_iter=3, history=history, strategies=[])


class TestParts:
    def test_the_path_shows_what_was_chosen(self, data):
        model = SparseRegressorCV(sizes=range(1, 7), criterion="bic").fit(*data)
        (part,) = path_parts(model)
        line, chosen = part.chart.series
        assert list(line.x) == [1, 2, 3, 4, 5, 6]
        assert list(line.y) == model.path_["bic"].tolist()
        assert (chosen.at, chosen.upright) == (model.size_, True)
        assert f"Of 6 sizes, from 1 to 6, size {model.size_} was chosen, by BIC" in part.words

    def test_a_cross_validated_path_has_bars(self, data):
        model = SparseRegressorCV(sizes=range(1, 5)).fit(*data)
        (part,) = path_parts(model)
        line = part.chart.series[0]
        np.testing.assert_allclose(np.subtract(line.high, line.y), model.path_["cv_se"])
        np.testing.assert_allclose(np.subtract(line.y, line.low), model.path_["cv_se"])
        assert "cross-validated mean squared error" in part.words

    def test_a_path_without_a_fold_was_chosen_by_bic(self, data):
        model = SparseRegressorCV(sizes=range(1, 4)).fit(*data)
        model.path_[["cv_mean", "cv_se"]] = np.nan
        model.criterion_ = "bic"
        (part,) = path_parts(model)
        assert "by BIC" in part.words
        assert list(part.chart.series[0].y) == model.path_["bic"].tolist()

    def test_one_size_has_no_path(self, model):
        assert path_parts(model) == []

    def test_gains_add_up_to_the_value(self, model):
        moves = moves_of(model.result_)
        assert np.isclose(sum(move.gain for move in moves), model.result_.value)
        assert moves[0].words(NAMES.__getitem__) == "+ rooms"

    @pytest.mark.parametrize("kind", [SparseRegressor, SparseClassifier])
    @pytest.mark.parametrize("start", ["auto", "empty", "greedy", "modular", "model"])
    def test_the_chart_is_that_of_the_record(self, data, kind, start):
        X, y = data
        result = kind(3, start=start).fit(X, y if kind is SparseRegressor else y > np.median(y)).result_
        (part,) = moves_parts(result, str)
        line, *marks = part.chart.series
        values = [event.value for event in result.history]
        assert list(line.y) == [0.0, *values]
        drawn = {x: y for trace in marks for x, y in zip(trace.x, trace.y, strict=True)}
        assert drawn == dict(enumerate(values, 1))
        assert drawn[len(drawn)] == pytest.approx(result.value)
        table = part.below[part.below.index("<details>") :]
        assert [row[0] for row in cells_of(table)] == [str(event.n_iter) for event in result.history]

    def test_strategies_are_distinguished(self, data):
        X, y = data
        result = SparseRegressor(2, start="arbitrary").fit(X[NAMES[::-1]], y).result_
        (part,) = moves_parts(result, NAMES[::-1].__getitem__)
        labels = [trace.name for trace in part.chart.series[1:]]
        assert labels == ["arbitrary: added", "oblivious: exchanged"]
        assert len({(trace.colour, trace.marker) for trace in part.chart.series[1:]}) == 2
        rows = cells_of(part.below)
        ran, start = rows[:2], rows[2]
        assert start[:3] == ["1", "+ tax, a &amp; b", "arbitrary"]
        assert [row[:2] for row in ran] == [["1. arbitrary", "1"], ["2. oblivious", str(result.n_iter - 1)]]
        assert [float(row[2]) for row in ran] == [
            pytest.approx(event.value, rel=1e-5) for event in (result.history[0], result.history[-1])
        ]

    def test_one_strategy_needs_no_table_of_strategies(self, model):
        assert "strategy" not in moves_parts(model.result_, str)[0].below

    def test_perturbations_are_marked(self):
        result = perturbed()
        (part,) = moves_parts(result, str)
        solid, dotted, *marks = part.chart.series
        (at,) = (event.n_iter for event in result.history if event.strategy == "perturbation")
        before, leap = result.history[at - 2], result.history[at - 1]
        np.testing.assert_array_equal(dotted.x, [at - 1, at, np.nan])
        np.testing.assert_array_equal(dotted.y, [before.value, leap.value, np.nan])
        np.testing.assert_array_equal(solid.y, [0.0, before.value, np.nan, leap.value, result.value])
        assert dotted.dash == "dot"
        mark = next(trace for trace in marks if trace.name == "perturbation")
        assert (list(mark.x), list(mark.y)) == ([at], [leap.value])
        assert "At a perturbation or a restart it left a local optimum" in part.words
        row = cells_of(part.below)[at - 1]
        assert row[1:] == ["+ 2 − 0, 1", "perturbation", "-2", "1"]

    def test_exchanges_from_a_start_that_is_not_empty(self, data):
        result = SparseRegressor(2, start=[4, 5]).fit(*data).result_
        moves = moves_of(result)
        assert moves[0].gain is None
        assert {move.kind for move in moves} == {"exchanged"}
        assert re.fullmatch(r"\+ \d − \d", moves[0].words(str))
        (part,) = moves_parts(result, str)
        assert "It began with a given set" in part.words
        assert list(part.chart.series[0].y) == [event.value for event in result.history]

    def test_a_search_without_moves_has_nothing_to_show(self, data):
        assert moves_parts(SparseRegressor(2, start=[0, 1]).fit(*data).result_, str) == []

    def test_thousands_of_moves_stay_a_small_page(self):
        n = 6000
        events = [Event(k + 1, (k,), (), np.arange(k + 1), float(k + 1), 0.0, "greedy") for k in range(n)]
        events[700] = events[700]._replace(strategy="perturbation")
        result = replace(perturbed(), history=events, n_iter=n, value=float(n))
        (part,) = moves_parts(result, "a feature with a long name {}".format)
        shown = sorted(x for trace in part.chart.series if trace.marker for x in trace.x)
        assert shown[0] == 1
        assert shown[-1] == n
        assert 701 in shown
        assert len(shown) <= MOST_MOVES + 1
        assert f"{len(shown)} of the moves are shown here" in part.words
        assert len(part.html()) < 250_000

    def test_a_move_of_very_many_elements_names_some(self):
        move = RecordedMove(1, "added", "modular", tuple(range(5000)), (), 1.0, 1.0)
        assert move.words(str).endswith("10, 11 and 4988 more")

    def test_moves_of_groups_bear_their_names(self, data):
        X, y = data
        model = SparseRegressor(1, groups=["left"] * 3 + ["right"] * 3, start="empty").fit(X, y)
        assert "+ left" in trimmed(selection_report(model, X, y), "moves")

    def test_a_bar_between_value_and_bound(self, data, model):
        proof = replace(model.certify(*data), value=0.6, upper_bound=0.8, resolution=0.0)
        (part,) = certificate_parts(proof, model.result_)
        found, open_ = part.chart.series
        assert (found.begin, found.end) == ([0.0], [0.6])
        assert (open_.begin, open_.end) == ([0.6], [0.8])
        assert part.chart.x.limits[0] == 0
        assert (
            "at least 74.9% of the optimum" in certificate_parts(replace(proof, value=0.5999), model)[0].words
        )
        assert "better" not in part.words
        better = replace(proof, better=np.array([1]), better_value=0.7)
        assert "a better choice was found, of value 0.7" in certificate_parts(better, model.result_)[0].words

    def test_a_bar_that_is_nearly_full_is_seen_from_close(self, data, model):
        proof = replace(model.certify(*data), value=0.999, upper_bound=1.0, resolution=0.0)
        (part,) = certificate_parts(proof, model.result_)
        begin, end = part.chart.x.limits
        assert (1.0 - 0.999) / (end - begin) > 0.25
        assert begin < 0.999 < 1.0 < end
        assert part.chart.x.ticks == {0.999: "0.999", 1.0: "1"}
        assert part.chart.x.label == f"value of the objective, from {begin:.6g} on"

    def test_value_and_bound_are_distinguished(self, data, model):
        proof = replace(model.certify(*data), value=0.99999999, upper_bound=1.0, bounds={}, resolution=0.0)
        (part,) = certificate_parts(proof, model.result_)
        assert "0.99999999, is at least 99.9999990% of the optimum" in part.words
        assert "says nothing about new data" in part.words
        assert "at least 99.9999990% of the optimum" in part.below
        assert list(part.chart.x.ticks.values()) == ["0.99999999", "1"]

    @pytest.mark.parametrize(
        ("status", "words"),
        [
            (Status.INTERRUPTED, "was interrupted: left to run, it could tighten the bound"),
            (Status.TIME_LIMIT, "was stopped after 7 s: left to run, it could tighten the bound"),
            (Status.ITERATION_LIMIT, "was stopped at its limit of nodes: left to run, it could tighten"),
        ],
    )
    def test_a_proof_that_was_cut_short_could_be_tightened(self, data, model, status, words):
        proof = replace(model.certify(*data), value=0.6, upper_bound=0.8, resolution=0.0, status=status)
        proof = replace(proof, seconds=7.2)
        assert words in certificate_parts(proof, model.result_)[0].words
        assert words in certificate_parts(replace(proof, upper_bound=np.inf), model.result_)[0].words
        done = replace(proof, upper_bound=0.6)
        assert "tighten" not in certificate_parts(done, model.result_)[0].words

    def test_a_value_of_nothing_has_no_bar(self, data, model):
        proof = replace(model.certify(*data), value=0.0, upper_bound=0.0)
        (part,) = certificate_parts(proof, model.result_)
        assert part.words.startswith("Proven optimal: no feasible choice has a larger value than 0")
        assert part.chart is None

    def test_value_and_bound_over_time(self, data, model):
        history = tuple(ProofEvent(0.1 * k, 0.6, 1.0 - 0.001 * k, "branching", k) for k in range(1, 201))
        numbers = {"value": 0.6, "upper_bound": 0.8, "resolution": 0.0, "history": history}
        proof = replace(model.certify(*data), **numbers, n_nodes=200, seconds=25.0)
        (part,) = proof_history_parts(proof, model.result_)
        between, bound, value = part.chart.series
        assert bound.x == [*(event.seconds for event in history), 25.0]
        assert bound.y == [*(event.upper_bound for event in history), 0.8]
        assert set(value.y) == {0.6}
        assert (between.low, between.high) == (value.y, bound.y)
        assert value.steps
        assert bound.steps
        assert between.steps
        assert (
            "ended after 25 seconds, with 200 parts of the problem looked at: gap 50%: at least 7"
            in part.words
        )
        assert part.chart.x.log
        assert part.chart.x.limits[1] == pytest.approx(1.3 * 25)
        rows = cells_of(part.below)
        assert len(rows) == 30
        assert rows[0] == ["0.1", "0.6", "0.999", "branching", "1"]
        assert rows[-1] == ["25", "0.6", "0.8", proof.kind, "200"]

    def test_no_history_where_there_is_nothing_to_see(self, data, model):
        history = tuple(ProofEvent(0.1 * k, 0.6, 1.0 - 0.1 * k, "branching", k) for k in range(5))
        numbers = {"value": 0.6, "upper_bound": 0.8, "resolution": 0.0, "history": history}
        proof = replace(model.certify(*data), **numbers)
        assert proof_history_parts(proof, model.result_)
        assert proof_history_parts(None, model.result_) == []
        assert proof_history_parts(replace(proof, history=history[:4]), model.result_) == []
        assert proof_history_parts(replace(proof, upper_bound=np.inf, bounds={}), model.result_) == []

    def test_no_bound_and_no_proof(self, data, model):
        proof = replace(model.certify(*data), upper_bound=np.inf)
        assert "no bound on the optimum was proven" in certificate_parts(proof, model.result_)[0].words
        assert certificate_parts(None, model.result_) == []
        assert verdict_in_words(None, model.result_, "graph").startswith(
            "not requested: swapwise graph --certify"
        )

    def test_the_proof_of_the_search_itself(self):
        result = exact(Linear([1, 3, 2]), Uniform(3, 2))
        (part,) = certificate_parts(None, result)
        assert part.words.startswith(
            "Proven optimal: no feasible choice has a larger value than 5 (by gains)."
        )
        assert "says nothing about new data" in part.words
        assert part.chart is None

    def test_a_trivial_bound_is_not_shown_as_a_share(self, data, model):
        numbers = {"value": 0.893, "upper_bound": 1.0, "bounds": {"all": 1.0}, "kind": "all"}
        proof = replace(model.certify(*data), **numbers)
        (part,) = certificate_parts(proof, model.result_)
        assert part.words.startswith("Nothing proven beyond the trivial bound: the value found is 0.893,")
        assert "no choice can have more than 1, about the value of all elements together." in part.words
        assert "nothing proven beyond the trivial bound" in part.below
        assert "89.3" not in part.words + part.below
        assert part.chart.series[1].name == "the optimum lies here"

    def test_what_is_assumed_and_what_is_in_doubt(self, data, model):
        remarks = {"assumptions": ("that it is a matroid",), "doubt": "a value is only known within bounds"}
        proof = replace(model.certify(*data), value=0.6, upper_bound=0.8, resolution=0.0, **remarks)
        words = certificate_parts(proof, model.result_)[0].words
        assert "This assumes that it is a matroid." in words
        assert "More could not be proven because a value is only known within bounds." in words
        optimal = certificate_parts(replace(proof, upper_bound=0.6), model.result_)[0].words
        assert "This assumes that it is a matroid." in optimal
        assert "because" not in optimal

    def test_not_too_many_points(self):
        X, y = sample(MOST_POINTS + 50)
        (part,) = data_parts(SparseRegressor(2).fit(X, y), X, y)
        assert len(part.chart.series[0].x) == MOST_POINTS
        assert len(part.html()) < 150_000
        assert f"{MOST_POINTS} of {MOST_POINTS + 50} samples" in part.words

    def test_residuals(self, data, model):
        (part,) = data_parts(model, *data)
        trace = part.chart.series[0]
        assert np.allclose(np.add(trace.x, trace.y), data[1])
        assert f"from {min(trace.y):.4g} to {max(trace.y):.4g}" in part.words
        rows = cells_of(part.below)
        assert len(rows) == 10
        assert sum(int(row[2]) for row in rows) == len(data[1])
        assert np.isclose(sum(int(row[2]) * float(row[3]) for row in rows), sum(trace.y), atol=0.1)
        assert max(float(row[-1]) for row in rows) == float(f"{max(trace.y):.4g}")

    def test_calibration_keeps_the_mean(self, data):
        X, y = data[0], np.where(data[1] > 1, "yes", "no")
        _, curve = data_parts(SparseClassifier(2).fit(X, y), X, y)[0].chart.series
        assert curve.name == "yes"
        assert len(curve.x) == 10
        assert np.isclose(np.mean(curve.y), np.mean(y == "yes"))

    def test_calibration_as_a_table(self, data):
        X, y = data[0], np.where(data[1] > 1, "yes", "no")
        (part,) = data_parts(SparseClassifier(2).fit(X, y), X, y)
        curve, rows = part.chart.series[1], cells_of(part.below)
        assert [row[:3] for row in rows] == [
            ["yes", f"{p:.4g}", f"{s:.4g}"] for p, s in zip(curve.x, curve.y, strict=True)
        ]
        worst = np.abs(np.subtract(curve.x, curve.y)).argmax()
        assert f"{curve.x[worst]:.3g} was predicted and {curve.y[worst]:.3g} was observed." in part.words

    def test_the_most_frequent_classes_are_drawn(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((360, 2)))
        y = np.repeat(np.arange(8), [20, 60, 50, 50, 50, 10, 60, 60])
        (part,) = data_parts(SparseClassifier(1).fit(X, y), X, y)
        assert [trace.name for trace in part.chart.series] == ["as predicted", "1", "2", "3", "4", "6", "7"]
        assert "The 6 most frequent of 8 classes are drawn." in part.words
        assert {row[0] for row in cells_of(part.below)} == set("01234567")
        assert len({trace.marker for trace in part.chart.series[1:]}) == 6

    def test_correlations_as_a_matrix_or_pairs(self):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.standard_normal((90, 31))).add_prefix("x")
        X["x4"] = X["x2"] + 0.1 * X["x4"]
        y = X @ np.arange(1.0, 32.0)
        (few,), (many,) = (
            ChosenFeatures(SparseRegressor(k).fit(X, y), list(X), None).correlation_parts(X) for k in (30, 31)
        )
        rows = cells_of(few.below)
        assert [len(row) for row in rows] == [31] * 30
        names = [row[0].split(". ")[1] for row in rows]
        assert rows[3][1 + 7] == f"{X[names[3]].corr(X[names[7]]):.2f}"
        pairs = cells_of(many.below)
        assert len(pairs) == 30
        assert set(pairs[0]) == {"x2", "x4", f"{X['x2'].corr(X['x4']):.3f}"}
        strengths = [abs(float(pair[2])) for pair in pairs]
        assert strengths == sorted(strengths, reverse=True)


@pytest.mark.parametrize(
    "series",
    [
        Bars([0.0, 1.0], [0.0, 0.0], [1.0, np.nan]),
        Curve(np.arange(2.0), np.arange(2.0), low=np.zeros(2), high=np.ones(2)),
        Curve([0.0, 1.0, 2.0], [-1e308, 1e308, 1.0]),
    ],
    ids=["missing", "arrays", "huge"],
)
def test_charts_draw_what_has_a_place(series):
    assert not re.search(r"\b(nan|inf)\b", drawn(Chart(Axis("x"), Axis("y"), (series,)), "Chart", ""))
