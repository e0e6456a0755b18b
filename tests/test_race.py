"""The race against peers: data are what they are called, rows are kept, and a small race runs to its end."""

import doctest
import inspect
import json
import subprocess
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.sparse import csr_array

from benchmarks.race import race as races
from benchmarks.race import topics
from benchmarks.race.__main__ import main
from benchmarks.race.apart import Failed, TookTooLong, apart
from benchmarks.race.climbs import climb, climbs
from benchmarks.race.cold import PEER, SCRIPT, new_process
from benchmarks.race.compare import comparisons, exponents
from benchmarks.race.designs import BLOCK, DESIGNS, REAL, Setting, grid
from benchmarks.race.groups import grouped
from benchmarks.race.laps import laps, refitted
from benchmarks.race.memory import peak, reset_peak
from benchmarks.race.moves import paces, restarts
from benchmarks.race.programs import PROGRAMS, chosen
from benchmarks.race.race import Rules, keys, race
from benchmarks.race.rows import Climb, Figure, Lap
from benchmarks.race.scaling import exponent, growth
from benchmarks.race.store import Store
from benchmarks.race.sweep import sweep
from benchmarks.race.tables import beside_table, figure_tables, markdown, race_tables
from benchmarks.race.versions import stamp
from swapwise.paper.store import StoreError

pytestmark = pytest.mark.race

SETTING = Setting("ar-0.3", 3.0, samples=100, features=50, size=3, seed=0)
MODULES = sorted(f"benchmarks.race.{path.stem}" for path in Path(races.__file__).parent.glob("*.py"))
linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
FEW = ["swapwise", "OMP", "Lars"]


def drawn(design, snr=3.0, samples=4000, features=100, size=5):
    return Setting(design, snr, samples, features, size, seed=1).draw()


@pytest.mark.parametrize("design", DESIGNS)
def test_instances_are_as_users_have_data_and_the_same_every_time(design):
    first, second = drawn(design), drawn(design)
    assert first.X.shape == (4000, 100)
    assert first.X.dtype == first.y.dtype == np.float64
    if design == "one-hot":
        assert first.X.format == "csr"
        assert (first.X != second.X).nnz == 0
    else:
        assert first.X.flags.c_contiguous
        assert np.array_equal(first.X, second.X)
    assert np.array_equal(first.y, second.y)
    assert np.array_equal(first.truth, second.truth)
    assert len(np.unique(first.truth)) == first.size == 5


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.7, 0.9])
def test_autocorrelation(correlation):
    X = drawn(f"ar-{correlation:g}").X
    found = np.corrcoef(X.T)
    assert np.diag(found, 1).mean() == pytest.approx(correlation, abs=0.01)
    assert np.diag(found, 2).mean() == pytest.approx(correlation**2, abs=0.01)
    assert X[:, [0, -1]].std(axis=0) == pytest.approx(1, abs=0.05)


def test_correlation_everywhere_and_in_blocks():
    everywhere = np.corrcoef(drawn("equicorrelated").X.T)
    assert everywhere[0, 1] == pytest.approx(0.5, abs=0.05)
    assert everywhere[0, 99] == pytest.approx(0.5, abs=0.05)
    blocks = np.corrcoef(drawn("block").X.T)
    assert blocks[0, BLOCK - 1] == pytest.approx(0.8, abs=0.05)
    assert blocks[0, BLOCK] == pytest.approx(0, abs=0.06)


def test_the_papers_design_is_standardised():
    X = drawn("uniform").X
    assert X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert X.std(axis=0) == pytest.approx(1)
    assert np.abs(X).max() < 2  # as of no Gaussian of this size


def test_one_hot_has_one_level_a_variable_and_no_column_of_zeros():
    X = drawn("one-hot", samples=200).X
    assert set(X.data) == {1.0}
    assert np.array_equal(X[:, :50].sum(axis=1), np.ones(200))
    assert X.sum(axis=0).min() >= 1
    with pytest.raises(ValueError, match="multiple of 50 features and at least as many samples; got 70"):
        drawn("one-hot", features=70)


@pytest.mark.parametrize("snr", [0.5, 3.0, 20.0])
@pytest.mark.parametrize("design", ["ar-0.7", "one-hot"])
def test_signal_to_noise(design, snr):
    instance = drawn(design, snr)
    # The share of the variance that the signal has, as a fit on the true features finds it.
    expected = snr / (1 + snr)
    assert refitted(instance.X, instance.y, instance.truth) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("design", REAL)
def test_real_data_have_the_shape_that_the_grid_says(design):
    (setting,) = grid([design], [3], [(100, 50, 3)], seeds=3)
    instance = setting.draw()
    assert instance.X.shape == (setting.samples, setting.features)
    assert instance.X.std(axis=0).min() > 0


def test_a_refit_is_least_squares_with_an_intercept():
    instance = SETTING.draw()
    columns = np.column_stack([np.ones(100), instance.X[:, [4, 7]]])
    residual = instance.y - columns @ np.linalg.pinv(columns) @ instance.y
    expected = 1 - residual.var() / instance.y.var()
    assert refitted(instance.X, instance.y, np.array([4, 7])) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    "name", ["swapwise", "abess", "OMP", "Lars", "fastcan", "abess (screening)", "SequentialFeatureSelector"]
)
def test_programs_find_an_easy_truth(name):
    program = PROGRAMS[name]
    if program.version() is None:
        pytest.skip(f"{program.package} is not installed")
    instance = Setting("ar-0", 20.0, samples=100, features=12, size=2, seed=0).draw()
    assert program.why_not(instance) == ""
    assert chosen(program.select(instance.X, instance.y, 2)).tolist() == instance.truth.tolist()


def test_data_are_made_dense_only_for_those_who_need_it(monkeypatch):
    given = {}

    def spy(name):
        def select(X, y, size):
            given[name] = type(X)
            return np.arange(size)

        return replace(PROGRAMS[name], select=select)

    for name in ("swapwise", "OMP"):
        monkeypatch.setitem(PROGRAMS, name, spy(name))
    setting = Setting("one-hot", 3.0, samples=100, features=50, size=3, seed=0)
    list(laps(vars(setting), ["swapwise", "OMP"], repeats=1))
    assert given == {"swapwise": csr_array, "OMP": np.ndarray}


@given(st.floats(-3, 3), st.floats(0.01, 100))
def test_exponents_are_those_of_power_laws(power, factor):
    sizes = np.array([10.0, 70.0, 200.0, 5000.0])
    assert exponent(sizes, factor * sizes**power) == pytest.approx(power, abs=1e-9)


def lap(program, seconds, r2, seed=0, found=3, note="", setting=SETTING):
    return Lap(replace(setting, seed=seed), program, 1, "versions", seconds, r2, found, 3, note)


def figure(at, value, topic="time against features", quantity="seconds"):
    return Figure(topic, "swapwise", at, quantity, value, True, 1, "versions")


MADE_UP = [
    *(lap("swapwise", seconds, 0.75, seed) for seed, seconds in enumerate([1.0, 2.0, 6.0])),
    *(lap("abess", 4.0, 0.75 - 0.25 * seed, seed) for seed in range(3)),
    *(lap("skscope", None, None, seed, 0, "over 120 s") for seed in range(3)),
    lap("l0bnb", 8.0, 0.25, 1, found=1),
]
FIGURES = [*(figure(at, at / 1000) for at in (1000, 10_000)), figure(200, 0.5, "cold start", "import s")]


def test_comparisons_pair_the_same_seeds():
    abess, skscope, l0bnb = comparisons(MADE_UP)
    assert (abess.seeds, abess.seconds, abess.ratio) == (3, 2.0, 0.5)
    assert (abess.below, abess.above, abess.short) == (0.0, 0.5, 0)
    assert (skscope.seeds, skscope.ratio, skscope.note) == (0, None, "over 120 s")
    assert (l0bnb.ratio, l0bnb.below, l0bnb.short) == (0.25, 0.5, 2)
    assert comparisons(MADE_UP[3:]) == []  # nothing to compare with


def shown(tables):
    console = Console(width=140, file=StringIO())
    for table in tables:
        console.print(table)
    return console.file.getvalue()


def test_tables_say_what_was_measured():
    text = shown(race_tables(comparisons(MADE_UP)))
    assert "ar-0.3, snr 3, 100x50x3: swapwise takes 2.0000 s" in text
    cells = {line.split("│")[1].strip(): line.split("│")[2:-1] for line in text.splitlines() if "│" in line}
    assert [cell.strip() for cell in cells["abess"]] == ["0.5", "+0.0e+00", "+5.0e-01", "3", ""]
    assert [cell.strip() for cell in cells["skscope"]] == ["", "", "", "", "over 120 s"]
    assert cells["l0bnb"][-1].strip() == "2 too few"
    text = shown(figure_tables(FIGURES))
    assert "exponent" in text.split("cold start")[0]
    assert "exponent" not in text.split("cold start")[1]
    assert exponents(FIGURES)["time against features", "swapwise"] == pytest.approx(1)


def test_the_table_of_a_readme():
    head, rule, line = markdown(comparisons(MADE_UP)).splitlines()
    assert head.count("|") == rule.count("|") == line.count("|")
    assert line.startswith("| ar-0.3, snr 3, 100x50x3 | 2.000 | 0.5 | over 120 s | 0.25 | +0.0e+00 |  | ")


def test_the_picture_is_of_one_thread_and_has_an_accent():
    from benchmarks.race.picture import ACCENT, picture

    two_threads = [replace(row, threads=2, seconds=99.0) for row in MADE_UP]
    (axes,) = picture([*MADE_UP, *two_threads, lap("skscope", 3.0, 0.5, 7, 0)]).axes
    dots = {line.get_label(): line for line in axes.get_lines() if line.get_linestyle() == "None"}
    assert {name: line.get_xdata()[0] for name, line in dots.items()} == {
        "swapwise": 2.0,
        "abess": 4.0,
        "skscope": 3.0,
        "l0bnb": 8.0,
    }
    assert [name for name, line in dots.items() if line.get_color() == ACCENT] == ["swapwise"]
    ranges = [list(line.get_xdata()) for line in axes.get_lines() if line.get_linestyle() == "-"]
    assert [1.0, 6.0] in ranges
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        "seconds per fit (log scale)",
        "samples × features, chosen",
    )
    assert [text.get_text() for text in axes.get_yticklabels()] == ["100 × 50, 3"]


def test_the_picture_says_why_there_is_no_time():
    from benchmarks.race.picture import picture

    larger = replace(SETTING, samples=10_000)
    elsewhere = [replace(row, setting=larger) for row in MADE_UP]
    (axes,) = picture([*elsewhere, lap("skscope", 3.0, 0.5, 0, 0)]).axes
    assert [text.get_text().strip() for text in axes.texts] == ["skscope: over 120 s"]
    assert [text.get_text() for text in picture([]).axes[0].texts] == ["not measured"]


def test_the_table_beside_one_peer():
    rows = [
        *MADE_UP,
        *(replace(row, threads=2, r2=0.25) for row in MADE_UP if row.program in ("swapwise", "abess")),
    ]
    cells = next(
        line for line in shown([beside_table(comparisons(rows), "abess")]).splitlines() if "100 x 50" in line
    )
    assert [cell.strip() for cell in cells.split("│")[1:-1]] == [
        "100 x 50, 3", "ar-0.3, snr 3", "2.0000", "0.5", "+0.0e+00", "2.0000", "0.5", "+0.0e+00",
    ]  # fmt: skip


def test_a_climb_ends_with_the_answer_and_never_falls():
    (message,) = (one for one in climb([vars(SETTING)], restarts=3) if "doing" not in one)
    assert message["seconds"] == sorted(message["seconds"])
    assert message["r2"] == sorted(message["r2"])
    assert message["seconds"][0] <= message["first"]
    instance = SETTING.draw()
    first = PROGRAMS["swapwise"].select(instance.X, instance.y, instance.size)
    assert message["r2"][-1] >= refitted(instance.X, instance.y, first) - 1e-12


def test_climbs_are_measured_once_for_each_version(tmp_path, monkeypatch):
    given = []

    def instead(function, options, threads, limit):
        given.append(len(options["settings"]))
        return ({"first": 0.5, "seconds": [0.5], "r2": [0.25]} for _ in options["settings"])

    monkeypatch.setattr("benchmarks.race.climbs.apart", instead)
    settings = [replace(SETTING, seed=seed) for seed in range(3)]
    store = Store(tmp_path / "rows.jsonl")
    climbs(settings[:1], Rules(FEW), store)
    climbs(settings, Rules(FEW), Store(store.path))
    climbs(settings, Rules(FEW), Store(store.path))
    assert given == [1, 2]
    climbs(settings, Rules(FEW), Store(store.path), fresh=True)
    assert given == [1, 2, 3]
    assert Store(store.path).climbs(settings)[2] == Climb(
        settings[2], 1, stamp("swapwise"), 0.5, (0.5,), (0.25,)
    )


def test_the_store_keeps_rows_and_replaces_those_measured_again(tmp_path):
    store = Store(tmp_path / "rows.jsonl")
    store.add(MADE_UP)
    store.add(FIGURES)
    store.add([lap("abess", 5.0, 0.5)])
    again = Store(tmp_path / "rows.jsonl")
    assert list(again.rows.values()) == list(store.rows.values())
    assert len(again.rows) == len(MADE_UP) + len(FIGURES)
    (kept,) = again.laps(keys([SETTING], Rules(["abess"])))
    assert kept.seconds == 5.0
    assert again.figures("cold start", full=True, threads=1) == FIGURES[2:]
    assert again.figures("cold start", full=False, threads=1) == []
    assert again.figures("cold start", full=True, threads=2) == []


@pytest.mark.parametrize("line", ["{}", "[]", "nothing", '{"kind": "Lap"}', '{"kind": "Other"}'])
def test_a_foreign_file_is_left_alone(tmp_path, line):
    (tmp_path / "rows.jsonl").write_text(line + "\n")
    with pytest.raises(StoreError, match=r"line 1 of .* is not a row of the race"):
        Store(tmp_path / "rows.jsonl")
    assert main(["--out", str(tmp_path), "--programs", "OMP"]) == 1


def test_topics_are_measured_once_for_each_version(tmp_path, monkeypatch):
    calls = []

    def instead(call, options, threads, limit):
        calls.append(call)
        return iter([{"subject": "oblivious", "at": 1000, "quantity": "seconds", "value": 0.5}])

    monkeypatch.setattr(topics, "apart", instead)
    path = tmp_path / "rows.jsonl"
    for number, fresh, expected in ((1, False, 1), (1, False, 1), (2, False, 2), (2, True, 3)):
        monkeypatch.setattr(topics, "stamp", partial(stamped, number))
        (row,) = topics.measure("the paper's sweep", True, Rules(["swapwise"]), Store(path), fresh)
        assert (row.value, row.full, row.versions, len(calls)) == (0.5, True, f"swapwise {number}", expected)


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("topic", topics.TOPICS)
def test_topics_call_measures_as_they_can_be_called(topic, full):
    calls = topics.TOPICS[topic](full, ["swapwise"])
    assert calls
    for call, options in calls:
        inspect.signature(call).bind(**json.loads(json.dumps(options)))


@pytest.mark.parametrize(
    ("measure", "options", "subjects"),
    [
        (
            growth,
            {"shape": (100, None, 3), "ladder": [50, 100], "programs": ["OMP"], "repeats": 1},
            {"one read", "OMP"},
        ),
        pytest.param(peak, {"program": "OMP", "shape": (60, 50, 3)}, {"OMP"}, marks=linux),
        (sweep, {"features": 200, "samples": 50, "repeats": 1}, {"oblivious"}),
        (paces, {"repeats": 1}, {"oblivious", "semi-oblivious", "non-oblivious"}),
        (
            restarts,
            {"shape": (60, 50, 3), "repeats": 1},
            {"0 restarts, 60 samples", "10 restarts, 60 samples"},
        ),
        (grouped, {"samples": 150, "features": 200, "repeats": 1}, {"uniform", "partition", "laminar"}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_measures_report_a_number_for_each_subject(measure, options, subjects):
    reports = [message for message in measure(**options) if "doing" not in message]
    assert {report["subject"] for report in reports} == subjects
    for report in reports:
        assert set(report) == {"subject", "at", "quantity", "value"}
        assert report["value"] >= 0


# In a process of its own: in that of the tests, others may give memory back at any moment.
HUNGRY = """
from dataclasses import replace

import numpy as np
from benchmarks.race.memory import peak
from benchmarks.race.programs import PROGRAMS


def hungry(X, y, size):  # takes 80 MB for a moment
    assert np.ones(10_000_000).all()
    return np.arange(size)


assert np.ones(60_000_000).all()  # a peak before the fit, which is not the fit's
ballast = np.ones(20_000_000)  # as of a process that holds much already
PROGRAMS["OMP"] = replace(PROGRAMS["OMP"], select=hungry)
reports = {report.get("quantity"): report.get("value") for report in peak("OMP", (100, 1000, 3))}
print(reports["MB beyond the data"], reports["of the data"])
"""


@linux
def test_peak_memory_is_that_of_the_fit_alone():
    if not reset_peak():
        pytest.skip("the system does not let a process begin its peak anew")
    line = [sys.executable, "-c", HUNGRY]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=Path(__file__).parents[1])
    assert done.returncode == 0, done.stderr
    beyond, of_the_data = map(float, done.stdout.split())
    assert 70 < beyond < 120
    assert 70 < 0.8 * of_the_data < 120


def test_new_processes_are_timed():
    seconds = new_process(SCRIPT.format(**PEER))
    assert list(seconds) == ["import s", "first fit s", "whole process s"]
    assert 0 < seconds["import s"] + seconds["first fit s"] < seconds["whole process s"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    done = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert done.failed == 0


def stamped(number, name):
    return f"{name} {number}"


def fake(monkeypatch, measure):
    """Let a function stand for the process that runs the programs; return the programs it was given."""
    given = []

    def instead(_, options, threads, limit):
        given.append(options["programs"])
        return measure(options["programs"])

    monkeypatch.setattr(races, "apart", instead)
    monkeypatch.setattr(races, "stamp", partial(stamped, 1))
    return given


def result(name):
    return {"program": name, "seconds": 1.0, "r2": 0.5, "found": 3, "recovered": 3, "note": ""}


def test_a_race_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    given = fake(monkeypatch, lambda programs: map(result, programs))
    store = Store(tmp_path / "rows.jsonl")
    settings = [replace(SETTING, seed=seed) for seed in range(3)]
    race(settings[:2], Rules(FEW), store)
    race(settings, Rules(FEW), Store(store.path))
    assert len(given) == 3
    race(settings, Rules(FEW, threads=2), Store(store.path))
    assert len(given) == 6
    race(settings, Rules(FEW), Store(store.path), fresh=True)
    assert len(given) == 9
    monkeypatch.setattr(races, "stamp", lambda name: f"{name} {2 if name == 'OMP' else 1}")
    race(settings[:1], Rules(FEW), Store(store.path))
    assert given[9:] == [FEW]  # all race again, since only times of one sitting compare
    race(settings[:1], Rules(["swapwise"]), Store(store.path))
    assert len(given) == 10


def test_who_takes_too_long_is_left_out_on_the_next_seed_too(tmp_path, monkeypatch):
    def measure(programs):
        if "Lars" in programs:
            raise TookTooLong("Lars", 120)
        return map(result, programs)

    given = fake(monkeypatch, measure)
    store = Store(tmp_path / "rows.jsonl")
    race([SETTING, replace(SETTING, seed=1)], Rules(FEW), store)
    assert given == [FEW, FEW[:2], FEW[:2]]
    notes = {(row.program, row.seconds, row.note) for row in store.rows.values()}
    assert notes == {("swapwise", 1.0, ""), ("OMP", 1.0, ""), ("Lars", None, "over 120 s")}


def test_who_crashes_is_told_and_tried_again_on_the_next_seed(tmp_path, monkeypatch):
    def measure(programs):
        if "OMP" in programs:
            raise Failed("OMP", "ended by signal 11")
        return map(result, programs)

    given = fake(monkeypatch, measure)
    store = Store(tmp_path / "rows.jsonl")
    race([SETTING, replace(SETTING, seed=1)], Rules(FEW), store)
    assert given == [FEW, ["swapwise", "Lars"]] * 2
    assert {row.note for row in store.rows.values() if row.program == "OMP"} == {"ended by signal 11"}


def test_without_data_there_is_no_race(tmp_path, monkeypatch):
    def measure(programs):
        raise Failed("data", "MemoryError")

    fake(monkeypatch, measure)
    with pytest.raises(Failed, match="data: MemoryError"):
        race([SETTING], Rules(FEW), Store(tmp_path / "rows.jsonl"))


def test_a_program_that_fails_is_told(monkeypatch):
    def broken(X, y, size):
        raise RuntimeError("no such thing\nand more")

    monkeypatch.setitem(PROGRAMS, "Lars", replace(PROGRAMS["Lars"], select=broken))
    monkeypatch.setitem(PROGRAMS, "fastcan", replace(PROGRAMS["fastcan"], most_work=1))
    options = {"setting": vars(SETTING), "programs": ["OMP", "Lars", "fastcan"], "repeats": 2}
    omp, lars, fastcan = (message for message in laps(**options) if "doing" not in message)
    assert (omp["found"], omp["recovered"], omp["note"]) == (3, 3, "")
    assert omp["r2"] == pytest.approx(0.75, abs=0.1)
    assert (lars["seconds"], lars["r2"], lars["note"]) == (None, None, "RuntimeError: no such thing")
    assert fastcan["note"] == "takes too long beyond features x support = 1"


MEASURES = """
import time

def sleepy():
    yield {"doing": "sleep"}
    yield {"value": 1}
    time.sleep(600)

def failing():
    yield {"doing": "trouble"}
    raise ValueError("expected nothing; got something")

def threads():
    import scipy.linalg
    from threadpoolctl import threadpool_info

    print("to be ignored")
    yield {"threads": sorted({found["num_threads"] for found in threadpool_info()})}
"""


@pytest.fixture
def measures(tmp_path, monkeypatch):
    (tmp_path / "race_measures.py").write_text(MEASURES)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield import_module("race_measures")
    del sys.modules["race_measures"]


def test_processes_apart_are_stopped(measures):
    running = apart(measures.sleepy, {}, threads=1, limit=6)
    assert next(running) == {"value": 1}
    with pytest.raises(TookTooLong, match="sleep took over 6 s"):
        next(running)


def test_processes_apart_tell_their_errors(measures):
    with pytest.raises(Failed, match="trouble: ValueError: expected nothing; got something"):
        list(apart(measures.failing, {}, threads=1, limit=60))


def test_processes_apart_have_their_threads(measures):
    assert list(apart(measures.threads, {}, threads=1, limit=60)) == [{"threads": [1]}]


def test_a_small_race_from_the_command_to_the_picture(tmp_path, capsys):
    arguments = ["--sizes", "100x50x3", "--designs", "ar-0.3", "--seeds", "1", "--race-only", "--programs"]
    assert main([*arguments, *FEW, "--threads", "1", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "scikit-learn 1." in out
    assert "ar-0.3, snr 3, 100x50x3: swapwise takes" in out
    assert {path.name for path in tmp_path.iterdir()} == {"rows.jsonl", "race.md", "race.png"}
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [row["program"] for row in rows] == FEW
    assert all(row["seconds"] > 0 and row["found"] == 3 and row["note"] == "" for row in rows)
    assert rows[0]["r2"] >= rows[1]["r2"] - 1e-10


def test_the_hard_part_of_a_race(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.race.options.QUICK_HARD_SIZE", (60, 50, 3))
    monkeypatch.setattr("benchmarks.race.options.HARD_DESIGNS", ("factor", "lags"))
    monkeypatch.setattr("benchmarks.race.climbs.RESTARTS", 2)
    assert main(["--quick", "--hard-only", "--programs", "swapwise", "OMP", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "Below the best known" in out
    assert [line.split("│")[1].strip() for line in out.splitlines() if " of " in line and "│" in line] == [
        "factor",
        "lags",
        "all",
    ]
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert kinds == ["Lap"] * 4 + ["Climb"] * 2
    assert len((tmp_path / "best.jsonl").read_text().splitlines()) == 2
    assert "| factor | " in (tmp_path / "race.md").read_text()


def test_interrupted_it_says_how_to_go_on(tmp_path, monkeypatch, capsys):
    def measure(programs):
        raise KeyboardInterrupt

    fake(monkeypatch, measure)
    assert main(["--programs", "OMP", "--out", str(tmp_path)]) == 130
    assert "the same command resumes it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--sizes", "500x10"], "a size is samples x features x support, such as 500x1000x10; got '500x10'"),
        (["--sizes", "500x10x11"], "a size needs 1 to 10 chosen"),
        (["--snr", "0"], "expected a number above 0; got '0'"),
        (["--seeds", "0"], "expected a whole number above 0; got '0'"),
        (["--programs", "glmnet"], "invalid choice: 'glmnet'"),
    ],
)
def test_bad_options_are_refused(option, message, capsys, monkeypatch):
    monkeypatch.setattr("benchmarks.race.__main__.race", None)  # there is to be no race
    with pytest.raises(SystemExit) as refused:
        main(option)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err
