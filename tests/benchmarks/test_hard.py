"""The comparison on hard regressions, on tiny ones: what is measured, kept and said of it."""

import doctest
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from rich.console import Console

from benchmarks.hard import __main__ as command
from benchmarks.hard.instances import SIZES, instances
from benchmarks.hard.measure import Rules, measure
from benchmarks.hard.summary import beside, ratios
from benchmarks.hard.tables import below_a_peer, verdicts
from benchmarks.race.best import Best, BestKnown
from benchmarks.race.designs import HARD_DESIGNS, Setting
from benchmarks.race.gaps import Answers, answers, gap_table, gaps
from benchmarks.race.rows import Lap
from benchmarks.race.store import Store
from swapwise.paper.store import StoreError

pytestmark = pytest.mark.race

TINY = [Setting(design, 6.0, 60, 40, 3, seed) for design in ("factor", "lags") for seed in (0, 1)]
FEW = ["swapwise", "OMP", "Lars"]


@pytest.mark.parametrize("name", ["__main__", "instances", "measure", "summary", "tables"])
def test_examples_in_docstrings(name):
    assert doctest.testmod(import_module(f"benchmarks.hard.{name}")).failed == 0


def test_quick_instances_are_a_fair_part_of_all():
    quick = instances(quick=True)
    assert set(quick) <= set(instances())
    assert {(one.design, one.samples) for one in quick} == {(d, s[0]) for d in HARD_DESIGNS for s in SIZES}
    for samples, _, _ in SIZES:
        assert {one.snr for one in quick if one.samples == samples} == {1.0, 6.0}


def lap(setting, program, r2, seconds=1.0):
    return Lap(setting, program, 1, "", seconds, r2, 3, 3, "")


def test_what_is_known_is_not_measured_again(tmp_path, monkeypatch):
    given = []

    def instead(function, options, threads, limit):
        given.append(options["calls"])
        for number, call in enumerate(options["calls"]):
            for name in call["programs"]:
                yield {"number": number, **FOUND, "program": name}
            if call["restarts"]:
                yield {"number": number, "program": "restarts", "r2": 0.75, "restarts": call["restarts"]}

    FOUND = {"seconds": 1.0, "r2": 0.5, "found": 3, "recovered": 3, "note": ""}
    monkeypatch.setattr("benchmarks.hard.measure.apart", instead)
    store, best = Store(tmp_path / "rows.jsonl"), BestKnown(tmp_path / "best.jsonl")
    measure(TINY, Rules(FEW), store, best)
    assert [len(calls) for calls in given] == [2, 2]
    assert best.of(TINY[0]) == Best(0.75, "swapwise, restarts", 200)
    measure(TINY, Rules(FEW), store, best)
    measure(TINY, Rules(FEW, runs=1), store, best)
    assert len(given) == 2
    measure(TINY[:1], Rules(FEW, runs=9), store, best)  # times of fewer runs are not those asked for
    assert given.pop()[0]["programs"] == ["swapwise", "OMP"]
    measure(TINY[:1], Rules(FEW, runs=9, restarts=300), store, best)
    (call,) = given.pop()
    assert (call["programs"], call["restarts"], call["seed"]) == ([], 100, 200)
    measure(TINY[:1], Rules(FEW, runs=9, fresh=True, again=True), store, best)
    (call,) = given.pop()
    assert (call["programs"], call["restarts"], call["seed"]) == (["swapwise", "OMP"], 200, 300)


def test_best_answers_only_rise(tmp_path):
    best = BestKnown(tmp_path / "best.jsonl")
    best.add([(TINY[0], Best(0.5, "OMP")), (TINY[0], Best(0.4, "Lars", 7)), (TINY[0], Best(0.6, "abess"))])
    assert BestKnown(best.path).of(TINY[0]) == Best(0.6, "abess", 7)
    assert best.of(TINY[1]) is None
    best.path.write_text("what\n")
    with pytest.raises(StoreError, match=r"line 1 of .* is not a best answer"):
        BestKnown(best.path)


def test_summary():
    laps = [
        *(lap(TINY[0], name, r2, s) for name, r2, s in (("swapwise", 0.5, 1.0), ("abess", 0.6, 2.0))),
        *(lap(TINY[1], name, r2, s) for name, r2, s in (("swapwise", 0.7, 3.0), ("abess", 0.7 - 1e-9, 1.0))),
        *(lap(TINY[2], name, r2, s) for name, r2, s in (("swapwise", 0.9, 1.0), ("abess", None, None))),
    ]
    known = BestKnown.__new__(BestKnown)
    known._best = {TINY[1]: Best(0.8, "OMP")}
    found = answers(laps, known)
    compared = beside(found, "abess")
    assert (compared.above, compared.equal, compared.below) == (0, 1, 1)
    assert compared.least == pytest.approx(-0.1)
    assert beside(found, "skscope") is None
    own = gaps(found, "swapwise")
    assert (own.trials, own.below) == (3, 2)
    assert own.mean == pytest.approx(0.2 / 3)
    times = ratios(laps, "abess")
    assert (times.median, times.worst) == (1.75, 3.0)
    said = list(verdicts(found, laps, timed=True))
    assert all(line.startswith("not reached") for line in said)
    assert len(said) == 5
    assert list(below_a_peer(found)) == [f"{TINY[0]}: -1.0e-01 beside abess"]


def test_table_of_gaps(capsys):
    bests = (0.5, 0.6, 0.5, 0.5)
    found = [Answers(one, {"swapwise": 0.5}, best) for one, best in zip(TINY, bests, strict=True)]
    Console(width=120).print(gap_table(found, ["swapwise", "OMP"]))
    out = capsys.readouterr().out
    assert "1 of 2, 5.0e-02, 1.0e-01" in out
    assert "1 of 4, 2.5e-02, 1.0e-01" in out


def test_from_the_command_to_the_tables(tmp_path, monkeypatch, capsys):
    settings = [replace(TINY[0], size=2), TINY[2]]
    monkeypatch.setattr(command, "instances", lambda quick: settings)
    options = ["--skip", "abess", "skscope", "--restarts", "2", "--runs", "2", "--store", str(tmp_path)]
    assert command.main(options) == 0
    out = capsys.readouterr().out
    assert "reached: below OMP in 0 (aim: none)" in out
    assert "below the best known in 0 of 2" in out
    rows = Store(tmp_path / "rows.jsonl").rows.values()
    assert sorted(row.program for row in rows) == ["OMP", "OMP", "swapwise", "swapwise"]
    best = BestKnown(tmp_path / "best.jsonl")
    assert [best.of(setting).restarts for setting in settings] == [2, 2]
    assert all(best.of(row.setting).r2 >= row.r2 for row in rows)
    assert np.all([row.seconds > 0 for row in rows])
