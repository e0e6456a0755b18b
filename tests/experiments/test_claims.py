"""Claims get the verdict that their figures call for, and none where there are no figures."""

import numpy as np
import pandas as pd
import pytest

from swapwise.experiments.claims import CLAIMS, Finding, describe, findings, to_markdown
from swapwise.experiments.comparisons import Comparison, Missing, tidy
from swapwise.experiments.measure import COLUMNS
from swapwise.experiments.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000

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
    """Rows of which every claim holds but those of what is too slow."""
    rows = []
    for setting in (REGRESSION_200, REGRESSION_1000, ISING_10, ISING_20):
        for method in (*LOCAL, *OTHERS[setting.experiment]):
            for size in setting.sizes:
                for trial in range(trials):
                    ahead = 0.01 * size if setting is ISING_20 and method == "non-oblivious" else 0.0
                    quality = QUALITY[method] + ahead + 0.001 * trial
                    # Matching takes longer than sorting.
                    slower = 2 if setting is ISING_10 and method == "modular" else 1
                    seconds = SECONDS[method] * slower
                    figures = {
                        "value": quality,
                        "quality": quality,
                        "n_evaluations": EVALUATIONS.get(method, 20),
                        "status": "LOCAL_OPTIMUM" if method in LOCAL else "COMPLETE",
                        "seconds": seconds * (1 + trial) if setting.timed else None,
                    }
                    rows.append(row(setting.name, "paper", method, size, trial, **figures))
    for method in (*LOCAL, *OTHERS["regression"]):
        plain = {"n_evaluations": None, "status": None, "seconds": 10 * SECONDS[method]}
        rows += [row("regression-200", "plain", f"plain {method}", size, 0, **plain) for size in (2, 4)]
    for start in ("greedy", "modular"):
        found = {"value": 0.7, "status": "LOCAL_OPTIMUM"}
        rows.append(row("ising-10", "starts", f"oblivious from {start}", 1, 0, **found))
    proof = {"proven": 0.8, "promised": 0.01, "status": "LOCAL_OPTIMUM"}
    rows.append(row("ising-10", "certificates", "certificate with ridge", 1, 0, **proof))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def find(rows, words, plain=False):
    """The one finding whose sentence ends with these words, or has no others."""
    found = [
        finding
        for finding in findings(rows)
        if finding.sentence.rstrip(".").endswith(words) and ("plain" in finding.where) == plain
    ]
    (chosen,) = [finding for finding in found if finding.sentence == words] or found
    return chosen


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
    assert len(found) == len(CLAIMS)
    for finding in found:
        slow = finding.sentence.rstrip(".").endswith(SLOW)
        assert finding.verdict == ("does not hold" if slow else "holds"), finding


R200 = {"setting": "regression-200"}
V10, V20 = {"setting": "ising-10"}, {"setting": "ising-20"}
NON, OBLIVIOUS, MODULAR = ({"method": name} for name in ("non-oblivious", "oblivious", "modular"))


@pytest.mark.parametrize(
    ("words", "column", "value", "where", "said"),
    [
        ("faster than the oblivious variant", "seconds", 0.04, R200 | OBLIVIOUS, "closed form"),
        ("faster than the oblivious variant", "seconds", lambda x: x / 3, R200 | NON, "30 times as fast"),
        ("that of the oblivious variant", "quality", 0.87, R200 | NON, "-3."),
        ("that of the oblivious variant", "quality", 0.8, R200 | NON | {"size": 7}, "at capacity 7"),
        ("achieves a higher objective value", "quality", 0.8, R200 | NON | {"size": 3}, "at capacity 3"),
        ("a similar running time", "seconds", lambda x: x / 4, R200 | NON, "in favour of non-oblivious"),
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
        (
            "the non-oblivious variant outperforms the benchmarks",
            "quality",
            0.99,
            V20 | MODULAR | {"size": 1},
            "modular at b = 1",
        ),
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
    assert "capacities 2, 4, 1 trial each" in plain.measured
    assert find(rows, "faster than the oblivious variant").verdict == "holds"


def test_more_evaluations_are_no_acceleration():
    rows = changed(as_in_the_paper(), "n_evaluations", 2000, setting="ising-20", method="semi-oblivious")
    assert find(rows, "variants of our proposed local search algorithms").verdict == "does not hold"


@pytest.mark.parametrize("words", SLOW)
def test_too_slow_is_what_had_to_be_stopped(words):
    rows = as_in_the_paper()
    large = rows["setting"].isin(["regression-1000", "ising-20"])
    stopped = rows.assign(status=rows["status"].mask(large & (rows["method"] == "oblivious"), "TIME_LIMIT"))
    assert find(stopped, words).verdict == "holds"
    without_the_largest = find(rows[~large | (rows["size"] < 7)], words)
    assert without_the_largest.verdict == "not measured"
    assert "no rows of oblivious at" in without_the_largest.measured


def test_what_is_not_proven_is_not_refuted():
    found = find(
        changed(as_in_the_paper(), "proven", 0.4, part="certificates"), "achieve a good approximation"
    )
    assert found.verdict == "not measured"
    assert "proven at least 0.400" in found.measured
    assert "promised 0.01 on average" in found.measured
    nothing = changed(as_in_the_paper(), "promised", np.nan, part="certificates")
    assert "promised nothing" in find(nothing, "achieve a good approximation").measured


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
    # That methods refuse a constraint, or do not, is seen without rows.
    assert {x.verdict for x in found if "broader class" not in x.sentence} == {"not measured"}
    assert all(x.measured.startswith("Missing: ") for x in found if "broader class" not in x.sentence)


@pytest.mark.parametrize("column", ["setting", "part", "method"])
def test_any_part_may_be_missing(column):
    rows = as_in_the_paper(trials=1)
    before = [x.verdict for x in findings(rows)]
    for name in rows[column].unique():
        after = [x.verdict for x in findings(rows[rows[column] != name])]
        assert all(new in (old, "not measured") for new, old in zip(after, before, strict=True))
        assert after != before or name == "random"


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
    assert describe(as_in_the_paper(1)).endswith("1 trial in each setting; running times are of one core.")
    assert describe(pd.DataFrame()) == "There are no rows."
