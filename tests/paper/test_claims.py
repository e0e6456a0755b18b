"""Claims get the verdict that their figures call for, and none where there are no figures."""

import numpy as np
import pandas as pd
import pytest

from swapwise import BMatching, Coverage, Intersection, Partition, maximize
from swapwise.paper.claims import (
    CLAIMS,
    Finding,
    describe,
    findings,
    introduction,
    related_work,
    summary,
    to_markdown,
    verdicts,
)
from swapwise.paper.comparisons import Comparison, Missing, tidy
from swapwise.paper.grid import BEYOND, NEIGHBOURS, PLAIN
from swapwise.paper.measure import COLUMNS
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000

pytestmark = pytest.mark.experiments

LOCAL = ("oblivious", "semi-oblivious", "non-oblivious")
OTHERS = {"regression": ("random-residual-greedy", "modular"), "ising": ("modular", "random")}
QUALITY = {
    "oblivious": 0.9,
    "semi-oblivious": 0.9,
    "non-oblivious": 0.895,
    "random-residual-greedy": 0.85,
    "modular": 0.8,
    "random": 0.3,
}
SECONDS = {
    "oblivious": 0.5,
    "semi-oblivious": 0.2,
    "non-oblivious": 0.05,
    "random-residual-greedy": 0.06,
    "modular": 0.02,
    "random": 0.001,
}
EVALUATIONS = {"oblivious": 1000, "semi-oblivious": 100, "non-oblivious": 10}


def row(setting, part, method, size, trial, **figures):
    known = {"value": 1.0, "quality": 1.0, "n_iter": 3, "n_evaluations": 5, "status": "COMPLETE", **figures}
    coordinates = {"setting": setting, "part": part, "method": method, "size": size, "trial": trial}
    return {**dict.fromkeys(COLUMNS), **coordinates, "flavour": "default", "seed": 0, **known}


def as_in_the_paper(trials=2):
    """Rows of which every claim holds."""
    rows = []
    for setting in (REGRESSION_200, REGRESSION_1000, ISING_10, ISING_20):
        for method in (*LOCAL, *OTHERS[setting.experiment]):
            for size in setting.sizes:
                for trial in range(trials):
                    ahead = 0.01 * size if setting is ISING_20 and method == "non-oblivious" else 0.0
                    quality = QUALITY[method] + ahead + 0.001 * trial
                    # Matching takes longer than sorting.
                    slower = 2 if setting is ISING_10 and method == "modular" else 1
                    seconds = SECONDS[method] * slower * (1 if setting.timed else 1000)
                    figures = {
                        "value": quality,
                        "quality": quality,
                        "n_evaluations": EVALUATIONS.get(method, 20),
                        "status": "LOCAL_OPTIMUM" if method in LOCAL else "COMPLETE",
                        "seconds": seconds * (1 + trial),
                        "alone": setting.timed,
                    }
                    rows.append(row(setting.name, "paper", method, size, trial, **figures))
    for block in PLAIN:
        method = block.procedure.method
        if block.procedure.printed_start != "arbitrary":
            seconds = 10 * SECONDS[method] * (2 if block.setting is ISING_10 and method == "modular" else 1)
            plain = {"n_evaluations": None, "status": None, "seconds": seconds, "alone": True}
            where = block.setting.name, "plain", f"plain {method}"
            rows += [row(*where, size, 0, **plain) for size in block.sizes]
    for block in BEYOND:
        part, found = block.procedure.part, {"value": 0.7, "status": "LOCAL_OPTIMUM"}
        found |= {"proven": 0.8, "promised": 0.01, "quality": None} if part == "certificates" else {}
        rows += [
            row(block.setting.name, part, block.procedure.name, size, 0, seconds=3.0, alone=False, **found)
            for size in block.sizes or block.setting.sizes
        ]
    for block in NEIGHBOURS:
        found = {"value": 0.6, "quality": 1.05, "seconds": 3.0, "alone": False}
        found |= {"status": "LOCAL_OPTIMUM"} if block.procedure.part == "starts" else {}
        rows += [
            row(block.setting.name, block.procedure.part, block.procedure.name, size, 0, **found)
            for size in block.sizes
        ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def find(rows, words, plain=False):
    """What became of the one claim that ends with these words."""
    chosen = [
        claim
        for claim in CLAIMS
        if claim.sentence.rstrip(".").endswith(words) and ("plain" in claim.where) == plain
    ]
    with pytest.MonkeyPatch.context() as patch:  # the others take their time
        patch.setattr(verdicts, "CLAIMS", chosen)
        (found,) = findings(rows)
    return found


def changed(rows, column, value, **where):
    """Rows with other figures in one column; a function gets the old ones."""
    rows = rows.copy()
    chosen = np.logical_and.reduce([rows[name].isin(np.atleast_1d(wanted)) for name, wanted in where.items()])
    assert chosen.any()
    rows.loc[chosen, column] = value(rows.loc[chosen, column]) if callable(value) else value
    return rows


SLOW = ("slow running time", "we omit them")


def test_all_claims_hold_where_the_rows_are_as_in_the_paper():
    found = findings(as_in_the_paper())
    assert len(found) == len(CLAIMS) == 35
    about_theorems = [finding for finding in found if finding.verdict == "not measured"]
    assert [finding.where for finding in about_theorems] == ["Related work, sparse optimization"] * 2
    for finding in found:
        assert finding.verdict == "holds" or finding in about_theorems, finding
        assert "There are no" not in finding.remark
        assert "Missing" not in finding.measured
    assert summary(found) == f"{len(CLAIMS) - 2} hold, 0 do not, 2 not measured"


R200 = {"setting": "regression-200"}
V10, V20 = {"setting": "ising-10"}, {"setting": "ising-20"}
NON, OBLIVIOUS, MODULAR = ({"method": name} for name in ("non-oblivious", "oblivious", "modular"))


def from_both(rows):
    """The rows, and the same for searches from the start that is printed."""
    is_search = rows["part"].isin(["paper", "plain"]) & rows["method"].str.removeprefix("plain ").isin(LOCAL)
    printed = rows[is_search].replace({"part": {"paper": "printed"}})
    printed["method"] += " from arbitrary"
    there = rows["method"].isin(printed["method"])  # those of the neighbours
    return pd.concat([rows[~there], printed], ignore_index=True)


class TestStarts:
    def test_a_claim_about_searches_is_judged_for_each_start(self):
        rows = from_both(as_in_the_paper())
        found = findings(rows)
        assert [x for x in found if x.start != "arbitrary"] == findings(as_in_the_paper())
        assert summary(found) == (
            "from empty 33 hold, 0 do not, 2 not measured; from arbitrary 33 hold, 0 do not, 2 not measured"
        )

    def test_each_start_has_a_verdict_of_its_own(self, monkeypatch):
        words = "achieves a higher objective value"
        monkeypatch.setattr(verdicts, "CLAIMS", [x for x in CLAIMS if x.sentence.endswith(words)])
        method = {"method": "non-oblivious from arbitrary"}
        rows = changed(from_both(as_in_the_paper()), "quality", 0.8, size=3, **R200, **method)
        empty, arbitrary = findings(rows)
        assert (empty.ruling, arbitrary.ruling) == ("holds from empty", "does not hold from arbitrary")
        assert "Not ahead of random-residual-greedy at capacity 3" in arbitrary.remark
        page = to_markdown([empty, arbitrary])
        assert "regression: holds from empty; does not hold from arbitrary\n\n> In comparison" in page
        assert page.count("\n## ") == 1
        assert f"\n\nFrom arbitrary: {arbitrary.measured}\n\n*Higher" in page

    def test_local_optima_of_both_starts_are_compared_with_the_best_of_all(self):
        rows = changed(
            from_both(as_in_the_paper()), "value", 0.3, method="oblivious from arbitrary", size=2, **R200
        )
        chosen = [x for x in findings(rows) if x.sentence.startswith("localizability")]
        assert [x.ruling for x in chosen] == ["holds from empty", "does not hold from arbitrary"]

    def test_only_the_starts_that_were_run_are_judged(self):
        rows = from_both(as_in_the_paper())
        only = rows[~((rows["part"] == "paper") & rows["method"].isin(LOCAL))]
        only = only[~only["method"].isin([f"plain {method}" for method in LOCAL])]
        assert {x.start for x in findings(only)} == {"", "arbitrary"}
        plain = rows[rows["method"].str.startswith("plain")]
        assert {x.start for x in findings(plain) if x.verdict == "holds"} == {"empty", "arbitrary"}
        without = rows[~rows["method"].str.endswith(" from arbitrary")]
        assert {x.start for x in findings(without)} == {"", "empty"}


def test_a_running_time_that_is_shorter_is_similar_enough():
    rows = changed(as_in_the_paper(), "seconds", lambda x: x / 4, part="paper", **R200 | NON)
    found = find(rows, "a similar running time")
    assert found.verdict == "holds"
    assert "or a shorter one" in found.remark


@pytest.mark.parametrize(("seconds", "close"), [(1.0, False), (1.8, True), (2.2, True), (4.0, False)])
def test_a_running_time_close_to_the_bar_is_told(seconds, close):
    rows = changed(as_in_the_paper(), "seconds", 1.0, part="paper", **V10 | MODULAR)
    rows = changed(rows, "seconds", seconds, part="paper", **V10 | NON)
    assert ("close to the bar" in find(rows, "with that of modular approximation").remark) == close


@pytest.mark.parametrize(
    ("words", "column", "value", "where", "said"),
    [
        ("faster than the oblivious variant", "seconds", 0.04, R200 | OBLIVIOUS, "closed form"),
        ("faster than the oblivious variant", "seconds", lambda x: x / 3, R200 | NON, "30 times as fast"),
        ("that of the oblivious variant", "quality", 0.87, R200 | NON, "-3."),
        ("that of the oblivious variant", "quality", 0.8, R200 | NON | {"size": 7}, "at capacity 7"),
        ("achieves a higher objective value", "quality", 0.8, R200 | NON | {"size": 3}, "at capacity 3"),
        ("faster than the oblivious variant", "seconds", lambda x: x / 4, R200 | NON, "favour of non-obl"),
        ("a similar running time", "seconds", lambda x: x * 4, R200 | NON, "0.3 times as fast"),
        ("faster than the other methods", "seconds", 0.03, R200 | OBLIVIOUS, "as fast as oblivious"),
        ("its solution is poor", "quality", 0.83, R200 | NON, "against non-oblivious"),
        ("its solution is poor", "quality", 0.89, R200 | MODULAR | {"size": 1}, "ahead at 9 of 10"),
        (
            "techniques work well in practice",
            "seconds",
            0.5,
            V10 | {"method": "semi-oblivious"},
            "values of f",
        ),
        ("with that of modular approximation", "seconds", 0.2, V10 | NON, "own M"),
        ("for larger solution size", "quality", 0.95, V10 | MODULAR | {"size": 5}, "modular at b = 5"),
        ("in cases of larger solution size", "quality", 0.1, V20 | MODULAR | {"size": [1, 2, 3]}, "best"),
        (
            "in cases of larger solution size",
            "quality",
            0.99,
            V20 | MODULAR | {"size": 6},
            "modular at b = 6",
        ),
        ("to a global optimal solution", "value", 0.3, {"method": "oblivious from greedy"}, "0.33"),
        ("the proposed local search algorithms", "seconds", 1.5, V10 | OBLIVIOUS | {"size": 2}, "1.5 s"),
        (
            "accelerated local search algorithms",
            "status",
            "TIME_LIMIT",
            V20 | NON | {"size": 2},
            "126 of 128",
        ),
    ],
)
def test_a_claim_does_not_hold_once_its_figures_say_so(words, column, value, where, said):
    part = "starts" if "from" in where.get("method", "") else "paper"
    found = find(changed(as_in_the_paper(), column, value, part=part, **where), words)
    assert found.verdict == "does not hold"
    assert said in f"{found.measured} {found.remark}"


def test_the_plain_program_has_its_own_figure():
    rows = changed(as_in_the_paper(), "seconds", 0.1, method="plain oblivious")
    plain = find(rows, "faster than the oblivious variant", plain=True)
    assert plain.verdict == "does not hold"
    assert "plain non-oblivious is 0.2 times as fast" in plain.measured
    assert "capacities 2, 4, 6, 8, 10, 1 trial each" in plain.measured
    assert "values of f" not in plain.measured
    assert find(rows, "faster than the oblivious variant").verdict == "holds"


def test_more_evaluations_are_no_acceleration():
    rows = changed(as_in_the_paper(), "n_evaluations", 2000, setting="ising-20", method="semi-oblivious")
    assert find(rows, "variants of our proposed local search algorithms").verdict == "does not hold"


@pytest.mark.parametrize(
    ("words", "setting", "largest"), [(SLOW[0], "regression-1000", 10), (SLOW[1], "ising-20", 7)]
)
def test_too_slow_is_what_takes_more_than_a_minute_at_the_largest_size(words, setting, largest):
    rows = as_in_the_paper()
    found = find(rows, words)
    assert found.verdict == "holds"
    assert (
        f"{largest}, 2 trials: a run of oblivious takes 750 s on average, 1,000 s at most" in found.measured
    )
    assert "beside others" in found.remark
    slow = {"setting": setting, "part": "paper", "method": "semi-oblivious"}
    assert find(changed(rows, "seconds", 59.0, size=largest, **slow), words).verdict == "does not hold"
    assert find(changed(rows, "seconds", 61.0, size=largest, **slow), words).verdict == "holds"
    # Smaller sizes do not count, but have to be there.
    assert find(changed(rows, "seconds", 1.0, size=1, **slow), words).verdict == "holds"
    absent = find(changed(rows, "seconds", None, size=1, **slow), words)
    assert absent.verdict == "not measured"
    assert f"seconds of semi-oblivious in {setting} at" in absent.measured
    assert "beside others" not in find(rows.assign(alone=True), words).remark


@pytest.mark.parametrize("said", [False, "False", 0.0])
def test_seconds_beside_others_are_not_compared(said):
    rows = as_in_the_paper()
    rows["alone"] = rows["alone"].astype(object)
    words = "faster than the oblivious variant"
    beside = changed(rows, "alone", said, setting="regression-200", method="oblivious", size=3)
    found = find(beside, words)
    assert found.verdict == "not measured"
    assert (
        "seconds of oblivious in regression-200 at capacity 3, measured with nothing beside" in found.measured
    )
    # They say nothing of efficiency, either; seconds of files that do not say it were measured alone.
    long = changed(rows, "seconds", 5.0, setting="ising-10", method="oblivious", size=3, part="paper")
    assert find(long, "the proposed local search algorithms").verdict == "does not hold"
    long = changed(long, "alone", said, setting="ising-10", method="oblivious", size=3, part="paper")
    efficient = find(long, "the proposed local search algorithms")
    assert efficient.verdict == "holds"
    assert "There are no seconds of oblivious in ising-10 at b = 3." in efficient.remark
    for old in (long.drop(columns="alone"), long.assign(alone=None)):
        old = old[old["setting"].isin(["regression-200", "ising-10"])]
        assert find(old, "the proposed local search algorithms").verdict == "does not hold"
        assert find(old, words).verdict == "holds"


def test_runs_that_do_not_end_at_a_local_optimum_are_counted():
    words = "accelerated local search algorithms"
    assert "128 of 128 runs of semi-oblivious and non-oblivious ended at a local optimum, in" in (
        find(as_in_the_paper(), words).measured
    )
    rows = changed(as_in_the_paper(), "status", "ITERATION_LIMIT", part="paper", size=2, **V20, **NON)
    found = find(rows, words)
    assert found.verdict == "does not hold"
    assert "126 of 128" in found.measured


def test_a_verdict_needs_all_declared_sizes():
    rows = as_in_the_paper()
    may_stay = ("efficiency", "any local optimum", "simple local search", "broader class")
    for gone in (rows["size"] <= 2, rows["size"] >= 5):
        for found in findings(rows[~gone]):
            if found.where.startswith(("Related work", "Table 1")):
                continue  # those look at whatever instances the methods share
            if not any(words in found.sentence for words in may_stay):
                assert found.verdict == "not measured", found
                assert " at capacit" in found.measured or " at b = " in found.measured
            elif "broader" not in found.sentence:
                assert "There are no " in found.remark
    one_gone = (rows["size"] == 4) & (rows["setting"] == "ising-20") & (rows["method"] == "modular")
    found = find(rows[~one_gone], "in cases of larger solution size")
    assert found.verdict == "not measured"
    assert found.measured == "Missing: quality of modular in ising-20 at b = 4."
    # Both have the size, but not on the same instance.
    apart = changed(rows, "trial", 7, setting="ising-20", method="modular", size=4)
    found = find(apart, "in cases of larger solution size")
    assert "an instance of ising-20 at b = 4 with quality of all" in found.measured


def spread(rows, by, **where):
    """Rows with a quality that is higher in the last trial and lower in the first."""
    rows = changed(rows, "quality", lambda x: x - by, trial=0, part="paper", **where)
    return changed(rows, "quality", lambda x: x + by, trial=1, part="paper", **where)


def test_leads_have_the_standard_error_of_pairs():
    words, doubt = "achieves a higher objective value", "is not clear of sampling error at"
    higher = find(as_in_the_paper(), words)
    # Trials differ, but both methods alike.
    assert "+0.045±0.000, " in higher.measured
    assert doubt not in higher.remark
    # Differences 0.045 ∓ 0.03: a standard error of 0.03.
    some = find(spread(as_in_the_paper(), 0.03, size=[6, 7], **R200, **NON), words)
    assert some.verdict == "holds"
    assert some.measured.count("+0.045±0.030") == 2
    assert f"{doubt} capacities 6–7." in some.remark
    assert "by means" in some.remark
    assert "decides the verdict" not in some.remark
    # 0.045 is more than two standard errors of 0.02.
    assert doubt not in find(spread(as_in_the_paper(), 0.02, size=[6, 7], **R200, **NON), words).remark
    single = find(as_in_the_paper(trials=1), words)
    assert "±" not in single.measured
    assert "has one trial, and so no standard error, at capacities 1–10" in single.remark


def test_a_verdict_that_only_sampling_error_decides_says_so():
    words, decided = "achieves a higher objective value", "Every size that decides the verdict"
    everywhere = find(spread(as_in_the_paper(), 0.03, **R200, **NON), words)
    assert everywhere.verdict == "holds"
    assert decided in everywhere.remark
    behind = changed(as_in_the_paper(), "quality", lambda x: x - 0.05, size=3, **R200, **NON, part="paper")
    assert decided not in find(behind, words).remark
    unclear = find(spread(behind, 0.03, size=3, **R200, **NON), words)
    assert unclear.verdict == "does not hold"
    assert decided in unclear.remark
    # Sizes that are not judged do not decide.
    larger = find(spread(as_in_the_paper(), 0.2, size=[3, 4, 5], **V10, **NON), "for larger solution size")
    assert larger.verdict == "holds"
    assert decided in larger.remark
    smaller = find(spread(as_in_the_paper(), 0.2, size=[1, 2], **V10, **NON), "for larger solution size")
    assert decided not in smaller.remark
    assert "sampling error at b = 1–2" in smaller.remark


def test_bars_within_sampling_error_are_named():
    words = "that of the oblivious variant"
    assert "within sampling error" not in find(as_in_the_paper(), words).remark
    rows = spread(as_in_the_paper(), 0.03, size=7, **R200, **NON)
    assert "The bar of 5% is within sampling error at capacity 7." in find(rows, words).remark
    rows = spread(as_in_the_paper(), 0.03, **R200, **NON)
    assert "within sampling error of the bar of 2%" in find(rows, words).remark
    assert "(-0.6%±3.3%)" in find(rows, words).measured
    rows = spread(as_in_the_paper(), 0.1, **R200, **NON)
    assert "within sampling error of the bar of 5%" in find(rows, "its solution is poor").remark


def test_growth_has_a_standard_error():
    words = "in cases of larger solution size"
    found = find(as_in_the_paper(), words)
    assert "which differ by +0.035±0.000" in found.measured
    assert "That is within" not in found.remark
    rows = spread(as_in_the_paper(), 0.03, size=[4, 5, 6, 7], **V20, **NON)
    assert "which differ by +0.035±0.030" in find(rows, words).measured
    assert "That is within sampling error." in find(rows, words).remark
    # What all sizes of a trial share is no error of the growth.
    assert "differ by +0.035±0.000" in find(spread(as_in_the_paper(), 0.03, **V20, **NON), words).measured


def test_broader_needs_rows_of_graphs():
    rows = as_in_the_paper()
    words = "broader class of combinatorial constraints"
    found = find(rows[~rows["setting"].str.startswith("ising")], words)
    assert found.verdict == "not measured"
    assert "oblivious, semi-oblivious and non-oblivious in the ising experiment" in found.measured
    others = rows[~rows["setting"].str.startswith("ising") | ~rows["method"].isin(LOCAL)]
    assert find(others, words).verdict == "not measured"


def test_times_counts_and_ratios_are_of_the_same_instances():
    rows = changed(as_in_the_paper(), "n_evaluations", 10**6, trial=1, part="paper", **R200, **NON)
    found = find(rows, "faster than the oblivious variant")
    # Trials take 0.05 and 0.1 s, and 0.5 and 1 s.
    assert "non-oblivious is 10 times as fast as oblivious (71 ms and 707 ms a run" in found.measured
    assert "values of f in a run: non-oblivious 500,005, oblivious 1,000" in found.measured
    shared = changed(rows, "seconds", None, trial=1, part="paper", **R200, **OBLIVIOUS)
    found = find(shared, "faster than the oblivious variant")
    assert "(50 ms and 500 ms a run" in found.measured
    assert "values of f in a run: non-oblivious 10, oblivious 1,000" in found.measured


def test_what_is_not_proven_is_not_refuted():
    found = find(
        changed(as_in_the_paper(), "proven", 0.4, part="certificates"), "achieve a good approximation"
    )
    assert found.verdict == "not measured"
    assert "proven at least 0.400" in found.measured
    assert "guaranteed 0.01 on average" in found.measured
    nothing = changed(as_in_the_paper(), "promised", np.nan, part="certificates")
    assert "guaranteed nothing" in find(nothing, "achieve a good approximation").measured


def test_sizes_at_which_both_explain_everything_are_ties():
    rows = changed(as_in_the_paper(), "quality", 1.0, setting="regression-1000", size=[9, 10])
    rows = changed(rows, "quality", 0.9995, setting="regression-1000", size=[9, 10], method="non-oblivious")
    (found,) = (x for x in findings(rows) if x.sentence.startswith("in this setting, we can observe"))
    assert found.verdict == "holds"
    assert "tied, tied (ahead at 8 of 10, 2 tied at 1)" in found.measured
    everywhere = changed(rows, "quality", 1.0, setting="regression-1000")
    (found,) = (x for x in findings(everywhere) if x.sentence.startswith("in this setting, we can observe"))
    assert found.verdict == "does not hold"


def test_ratios_to_the_true_graph_do_not_end_at_one():
    rows = changed(as_in_the_paper(), "quality", lambda x: x + 1, setting="ising-20")
    assert find(rows, "in cases of larger solution size").verdict == "holds"
    assert "tied" not in find(rows, "in cases of larger solution size").measured


def test_a_claim_that_is_judged_at_larger_sizes_only_says_so():
    words = "in cases of larger solution size"
    allowed = "Judged at the larger sizes, as 'particularly' allows"
    assert f"{allowed}. Particularly" in find(as_in_the_paper(), words).remark
    rows = changed(as_in_the_paper(), "quality", 0.95, size=1, **V20, **MODULAR)
    found = find(rows, words)
    assert found.verdict == "holds"
    assert f"{allowed}; at every size it would not hold. Particularly" in found.remark
    assert "Not ahead of modular at b = 1." in found.remark
    refuted = find(changed(rows, "quality", 0.99, size=6, **V20, **MODULAR), words)
    assert refuted.verdict == "does not hold"
    assert f"{allowed}. Particularly" in refuted.remark


@pytest.mark.parametrize(
    "rows",
    [
        pd.DataFrame(),
        pd.DataFrame(columns=list(COLUMNS)),
        as_in_the_paper().assign(
            **dict.fromkeys(["value", "quality", "seconds", "status", "proven"], np.nan)
        ),
        as_in_the_paper().assign(quality=np.inf, value=0.0, seconds=0.0, proven=None, status=None),
    ],
    ids=["nothing", "no rows", "all NaN", "no use"],
)
def test_without_figures_nothing_is_measured(rows):
    rows = rows.assign(n_evaluations=np.nan) if len(rows) else rows
    found = findings(rows)
    assert {x.verdict for x in found} == {"not measured"}
    assert all(x.measured.startswith(("Missing: ", "Nothing is run: ")) for x in found)


NEEDED_STARTS = ("oblivious from greedy", "oblivious from modular")
NEEDED_NEIGHBOURS = (
    *("greedy", "filmus-ward", "frank-wolfe", "cosamp", "grasp", "clash", "foba"),
    *("bresler", "sparsitron", "l1-constrained-logistic"),
)


@pytest.mark.parametrize("column", ["setting", "part", "method"])
def test_any_part_may_be_missing(column):
    rows = as_in_the_paper(trials=1)
    before = findings(rows)
    added = {block.procedure.name for block in NEIGHBOURS}
    for name in rows[column].unique():
        if name in added:
            continue  # see below
        after = findings(rows[rows[column] != name])
        assert all(
            new.verdict in (old.verdict, "not measured") for new, old in zip(after, before, strict=True)
        )
        # Other starts than these only give the best value known, if they do.
        may_go = name == "pairs" or (" from " in name and name not in NEEDED_STARTS)
        assert after != before or may_go


class TestRelatedWork:
    def test_any_method_may_be_missing(self, monkeypatch):
        about_others = [claim for claim in CLAIMS if claim[0].startswith(("Related work", "Table 1"))]
        monkeypatch.setattr(verdicts, "CLAIMS", about_others)
        rows = as_in_the_paper(trials=1)
        before = findings(rows)
        for name in (*NEEDED_NEIGHBOURS, "htp"):
            after = findings(rows[rows["method"] != name])
            pairs = list(zip(after, before, strict=True))
            assert all(new.verdict in (old.verdict, "not measured") for new, old in pairs)
            assert (after != before) == (name != "htp")

    def test_what_is_said_of_theorems_is_not_measured(self):
        found = find(as_in_the_paper(), "incomparable to ours")
        assert found.verdict == "not measured"
        assert "ising-20: non-oblivious is ahead on 2 of 2 instances, behind on 0" in found.measured
        assert "about theorems" in found.remark

    def test_a_framework_that_is_not_here_is_not_measured(self):
        found = find(as_in_the_paper(), "p-exchange system constraints")
        assert (found.verdict, found.measured[:14]) == ("not measured", "Nothing is run")

    def test_gradients_that_do_not_choose_are_not_similar(self):
        rows = changed(as_in_the_paper(), "n_evaluations", 5000, method="cosamp", **V10)
        assert find(rows, "[NT10, BRB13]").verdict == "does not hold"

    def test_the_true_graph_may_be_the_best(self):
        rows = as_in_the_paper()
        found = find(rows, "guarantees on approximation ratios")
        assert found.verdict == "holds"
        assert "ising-10, b = 5" in found.measured
        rows = changed(rows, "quality", lambda x: np.minimum(x, 1.0), setting=["ising-10", "ising-20"])
        assert find(rows, "guarantees on approximation ratios").verdict == "does not hold"

    @pytest.mark.parametrize("below", [False, True])
    def test_one_example_below_the_bar_refutes(self, monkeypatch, below):
        shares = [1.0, 0.49 if below else 0.5]
        monkeypatch.setattr(related_work, "_shares", lambda *given: shares)
        found = find(as_in_the_paper(), "to a single matroid constraint")
        assert found.verdict == ("does not hold" if below else "holds")

    def test_either_kind_of_system_is_searched_by_its_own_moves(self):
        found = find(as_in_the_paper(), "(1/p − ε)-approximation local search algorithm")
        assert found.verdict == "holds"
        assert "one could refute it" not in found.remark
        assert "with q = 1 it gives 1/(p + 1) = 0.333" in found.remark
        for family, shares in zip(related_work.SYSTEMS, self.shares_of_systems(), strict=True):
            # Were every set one move away, the search would try all of them.
            assert 0.5 <= min(shares) < 1
            assert f"{family}: at least {min(shares):.3f}, {np.mean(shares):.3f} on average" in found.measured

    @staticmethod
    def shares_of_systems():
        """Shares of the optimum, with constraints made here: of two matroids, and of a b-matching."""
        rows, columns = Partition([0, 0, 0, 1, 1, 1, 2, 2], 1), Partition([0, 1, 2, 0, 1, 2, 0, 1], 1)
        edges = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (2, 4)]
        for constraint in (Intersection(rows, columns, neighbourhood="matroid"), BMatching(edges, 1)):
            shares = []
            for seed in range(related_work.EXAMPLES):
                rng = np.random.default_rng(seed)
                f = Coverage([rng.choice(10, rng.integers(1, 5), replace=False).tolist() for _ in range(8)])
                best = maximize(f, constraint, "exhaustive").value
                shares.append(maximize(f, constraint, "oblivious").value / best)
            yield shares

    def test_the_limit_leaves_no_room_for_wrong_edges(self, monkeypatch):
        monkeypatch.setattr(related_work, "_edges_found", lambda method: [(12, 12)])
        found = find(as_in_the_paper(), "for the forward-backward greedy algorithm")
        assert "under the true limit of 3 edges per vertex. foba finds 12 of 12 edges" in found.measured
        assert found.remark.endswith("all true edges are found; the limit leaves no room for others.")

    def test_a_graph_that_is_not_found_again(self, monkeypatch):
        monkeypatch.setattr(related_work, "_edges_found", lambda method: [(12, 12), (11, 12)])
        found = find(as_in_the_paper(), "for the forward-backward greedy algorithm")
        assert found.verdict == "does not hold"
        assert "12 of 12 and 11 of 12 edges" in found.measured

    def test_a_promise_of_greedy_is_told(self, monkeypatch):
        promised = {"oblivious": 0.1, "greedy": 0.2, "omp": 0.0}
        monkeypatch.setattr(
            introduction, "_guaranteed_under_b_matching", lambda: (promised, ["random-residual-greedy"])
        )
        found = find(as_in_the_paper(), "Greedy-based: N/A")
        assert found.verdict == "does not hold"
        assert "There is a guarantee for oblivious (0.1) and greedy (0.2); nothing for omp" in found.measured


def test_means_are_of_shared_instances():
    rows = as_in_the_paper(trials=2)
    # A trial in which only one of the two was run, and one without a figure, say nothing of the other.
    rows = changed(rows, "quality", np.nan, method="oblivious", trial=1)
    rows = changed(rows, "quality", 0.1, method="non-oblivious", trial=1)
    found = find(rows, "to that of the oblivious variant")
    assert found.verdict == "holds"
    assert "1 trial each" in found.measured
    uneven = rows[(rows["trial"] == 0) | (rows["size"] == 1)]
    assert "1 to 2 trials each" in find(uneven, "faster than the oblivious variant").measured


def test_times_are_geometric_means_of_pairs():
    rows = pd.DataFrame(
        [row("ising-10", "paper", "slow", 1, trial, seconds=s) for trial, s in enumerate([1.0, 16.0])]
        + [row("ising-10", "paper", "fast", 1, trial, seconds=s) for trial, s in enumerate([1.0, 1.0])]
    )
    assert Comparison.of(rows, "ising-10", "seconds", ["fast", "slow"]).times(
        "fast", "slow"
    ) == pytest.approx(4)
    with pytest.raises(Missing, match="seconds of slowest in ising-10"):
        Comparison.of(rows, "ising-10", "seconds", ["fast", "slowest"])
    apart = rows.assign(trial=range(4))
    with pytest.raises(Missing, match="an instance of ising-10 with seconds of all of fast and slow"):
        Comparison.of(apart, "ising-10", "seconds", ["fast", "slow"])


def test_rows_as_they_come_from_a_file(tmp_path):
    rows = as_in_the_paper()
    rows.to_csv(tmp_path / "rows.csv", index=False)
    assert findings(pd.read_csv(tmp_path / "rows.csv")) == findings(rows)
    assert len(tidy(rows)) == len(rows)
    # Counts may be whole numbers of which some are missing.
    assert findings(rows.astype({"n_iter": "Int64", "n_evaluations": "Int64"})) == findings(rows)
    # Frames put together may have lines of the same name.
    assert findings(rows.set_axis([0] * len(rows))) == findings(rows)


def test_page():
    found = [
        Finding("Results", "It is *fast* for |V| = 20.", "a_b | c", "holds", ""),
        Finding("Results", "It is good.", "0.5", "does not hold", "Good: 0.9."),
        Finding("Introduction", "It is new.", "Missing: rows.", "not measured", "Why."),
    ]
    page = to_markdown(found, "Of 3 trials.", "Claims")
    assert page.startswith(
        "# Claims\n\nOf 3 trials.\n\n1 holds, 1 does not, 1 not measured.\n\n## 1. Results: holds"
    )
    assert "> It is \\*fast\\* for \\|V\\| = 20.\n\na\\_b \\| c\n\n## 2. Results: does not hold" in page
    assert page.endswith("## 3. Introduction: not measured\n\n> It is new.\n\nMissing: rows.\n\n*Why.*\n")


def test_description():
    assert describe(as_in_the_paper(1)).endswith(
        "1 trial in each setting; running times are processor time of one core."
    )
    assert describe(pd.DataFrame()) == "There are no rows."
