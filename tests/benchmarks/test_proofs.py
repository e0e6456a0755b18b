"""The benchmark of proofs, on tiny problems and without peers: what is measured, kept and said of it."""

import doctest
import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import swapwise as sw
from benchmarks.proofs import __main__ as command
from benchmarks.proofs import environments
from benchmarks.proofs import measure as measuring
from benchmarks.proofs.constraints import constraint_of
from benchmarks.proofs.data import draw, start_of
from benchmarks.proofs.environments import PEERS, CannotInstall
from benchmarks.proofs.lines import BEFORE, CONSTRAINTS, GROUPS, Group, Line
from benchmarks.proofs.measure import Rules, measure
from benchmarks.proofs.outcomes import Outcome, Store
from benchmarks.proofs.picture import picture
from benchmarks.proofs.programs import PROGRAMS, SOURCE, Places
from benchmarks.proofs.runs import swapwise as own_run
from benchmarks.proofs.runs.penalised import Start
from benchmarks.proofs.tables import markdown, ratios
from benchmarks.race.apart import Failed
from swapwise.paper.store import StoreError

MODULES = [
    *("__main__", "constraints", "data", "environments", "lines", "measure", "outcomes", "picture"),
    *("programs", "tables", "runs.penalised", "runs.report", "runs.swapwise"),
]
TINY = Line("table", 80, 20, 3, 0.1)
EVERY_LINE = [line for group in GROUPS.values() for line in group.lines]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    assert doctest.testmod(import_module(f"benchmarks.proofs.{name}")).failed == 0


def test_lines_are_told_apart_by_their_names():
    assert len({line.slug for line in EVERY_LINE}) == len(EVERY_LINE)
    assert len({(line.group, str(line)) for line in EVERY_LINE}) == len(EVERY_LINE)
    assert {name for group in GROUPS.values() for name in group.programs} == set(PROGRAMS)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_the_truth_is_feasible(name):
    line = replace(TINY, features=100, size=5, constraint=name)
    X, y = draw(line, 0)
    assert X.shape == (80, 100)
    best = sw.maximize(sw.LeastSquares(X, y), constraint_of(name, 100, 5))
    assert best.value > 0.7  # signal to noise 5, so that a set without the truth has far less


@pytest.mark.parametrize("model", ["least squares", "logistic"])
def test_the_penalty_gives_the_size(model):
    line = replace(TINY, samples=300, features=12, model=model, ridge=0.01)
    X, y = draw(line, 1)
    start = start_of(line, X, y)
    if model == "least squares":
        objective = sw.LeastSquares(X, y, ridge=line.ridge)
    else:
        objective = sw.Logistic(X, y, ridge=line.ridge, fit_intercept=False)
    values = [sw.exact(objective, sw.Uniform(12, size)).value for size in range(1, 7)]
    penalised = np.array(values) - start.penalty * np.arange(1, 7)
    assert np.argmax(penalised) + 1 == line.size
    assert start.value == pytest.approx(values[line.size - 1])


def test_start_is_read_as_it_was_written(tmp_path):
    start = Start(0.01, 0.5, [1, 3], [2.0, -1.0])
    start.write(str(tmp_path))
    assert Start.read(str(tmp_path)) == start
    np.testing.assert_array_equal(start.vector(4, 2.0), [0.0, 4.0, 0.0, -2.0])


def written(folder, line, seed=0):
    X, y = draw(line, seed)
    np.save(folder / "X.npy", X)
    np.save(folder / "y.npy", y)
    return X, y


def test_own_run_reports_what_certify_proves(tmp_path):
    X, y = written(tmp_path, TINY)
    job = {"model": TINY.model, "constraint": "uniform", "size": 3, "ridge": 0.1, "seconds": 10.0}
    *doing, found = own_run.run(folder=str(tmp_path), gap=1e-4, **job)
    assert all("doing" in message for message in doing)
    best = sw.exact(sw.LeastSquares(X, y, ridge=0.1), sw.Uniform(20, 3))
    assert found["support"] == best.support.tolist()
    seconds, value, bound = found["points"][-1]
    assert value == pytest.approx(best.value)
    assert best.value <= bound * (1 + 1e-9)
    assert bound <= value / (1 - 1e-4) + 1e-9
    assert 0 < seconds < 10
    assert found["megabytes"] > 10


class Instead:
    """Places that start no process: every program finds the first features, and some fail."""

    def __init__(self, failing=()):
        self.asked, self.failing = [], failing

    def run(self, program, job, threads, limit):
        self.asked.append(program.name)
        if program.name in self.failing:
            raise self.failing[program.name]
        support = list(range(job["size"]))
        yield {"points": [[1.0, 0.5, 1.0]], "support": support, "own_gap": 0.5, "megabytes": 1.0, "note": ""}


@pytest.fixture
def at_once(monkeypatch):
    """Draw data in this process."""

    def apart(measure, options, threads, limit):
        return measure(**options)

    monkeypatch.setattr(measuring, "apart", apart)


@pytest.mark.usefixtures("at_once")
def test_what_is_known_is_not_measured_again(tmp_path):
    places = Instead()
    rules = Rules(["swapwise", "okridge"], places, 2.0, seeds=2)
    found = list(measure([TINY], rules, Store(tmp_path)))
    assert places.asked == ["swapwise", "okridge"] * 2
    assert [outcome.seed for outcome in found] == [0, 0, 1, 1]
    again = list(measure([TINY], rules, Store(tmp_path)))
    assert len(places.asked) == 4
    assert again == found
    (tmp_path / found[0].name).unlink()
    assert list(measure([TINY], rules, Store(tmp_path))) == found
    assert places.asked[4:] == ["swapwise"]
    list(measure([TINY], replace(rules, fresh=True, seeds=1), Store(tmp_path)))
    assert places.asked[5:] == ["swapwise", "okridge"]
    (tmp_path / found[0].name).write_text("{}")
    with pytest.raises(StoreError, match="is not an outcome; delete it"):
        list(measure([TINY], rules, Store(tmp_path)))


@pytest.mark.usefixtures("at_once")
def test_values_are_computed_plainly(tmp_path):
    X, y = draw(TINY, 0)
    (found,) = measure([TINY], Rules(["swapwise"], Instead(), 2.0, seeds=1), Store(None))
    assert found.plain == pytest.approx(sw.LeastSquares(X, y, ridge=0.1)([0, 1, 2]))
    assert found.note.startswith("claims a value of 0.500000, which is")
    assert found.gap == 0.5


@pytest.mark.usefixtures("at_once")
def test_programs_that_fail_say_why():
    failing = {
        "okridge": Failed("okridge", "ValueError: too wide"),
        "l0bnb": CannotInstall("not installed (Python 3.13): ERROR: none found"),
    }
    line = replace(TINY, size=2)
    rules = Rules(["okridge", "l0bnb", "swapwise"], Instead(failing), 2.0, seeds=1)
    found = list(measure([line], rules, Store(None)))
    assert [one.note for one in found[:2]] == ["crashed: ValueError: too wide", str(failing["l0bnb"])]
    assert found[2].gap is not None
    (outcome,) = measure([replace(line, model="poisson")], replace(rules, programs=["l0bnb"]), Store(None))
    assert outcome.note == "knows no poisson"
    assert "crashed: ValueError: too wide" in markdown(found)


def outcome(program, points, line=TINY, seed=0, plain=None, support=(1, 2), note=""):
    return Outcome(line, seed, program, 20.0, 2, points, support, plain=plain, megabytes=2500.0, note=note)


def test_tables():
    large = replace(TINY, group="large")
    found = [
        outcome("swapwise", ((0.2, 0.5, 0.8), (0.5, 0.7, 0.70001)), plain=0.7),
        outcome("swapwise", ((20.0, 0.6, 0.8),), plain=0.6, seed=1),
        outcome("okridge", ((20.0, 0.6, 0.8),), plain=0.6),
        outcome("okridge", (), seed=1, note="crashed"),
    ]
    row = markdown(found).splitlines()[-1]
    assert row.endswith("| 0.50 s; gap 25.0 % at 20 s | gap 25.0 % at 20 s; crashed | okridge worse |")
    assert "peak 2.5 GB" in markdown([replace(one, line=large) for one in found])
    assert "| 0.8750 | 0.7500 |" in ratios(found)
    assert "| different sets |" in markdown([replace(found[0], plain=None), replace(found[2], support=(3,))])


def test_picture_has_a_panel_for_each_line():
    other = replace(TINY, size=5)
    found = [outcome("swapwise", ((0.2, 0.5, 0.8), (0.5, 0.7, 0.7))), outcome("okridge", (), other)]
    drawn = picture(found)
    titles = [axes.get_title() for axes in drawn.axes]
    assert titles == [str(TINY), str(other)]
    (curve, *_) = drawn.axes[0].lines
    np.testing.assert_allclose(curve.get_ydata(), [0.375, 1e-5])


def test_environments_are_made_once(tmp_path, monkeypatch):
    made, asked = [], []

    class Builder:
        def __init__(self, **options):
            pass

        def create(self, folder):
            made.append(Path(folder).name)
            Path(folder).mkdir()

    monkeypatch.setattr(environments, "EnvBuilder", Builder)
    monkeypatch.setattr(environments, "_pip", lambda python, *wanted: asked.append(wanted))
    for _ in range(2):
        assert PEERS["okridge"].python(tmp_path) == tmp_path / "okridge" / "bin" / "python"
    assert made == ["okridge"]
    assert asked == [PEERS["okridge"].requirements]


@pytest.mark.race
def test_from_the_command_to_the_tables(tmp_path, monkeypatch, capsys):
    group = Group((TINY, replace(TINY, constraint="partition")), 5.0, ("swapwise", BEFORE), seeds=1)
    monkeypatch.setitem(command.GROUPS, "table", group)
    options = ["table", "--store", str(tmp_path / "store"), "--picture", str(tmp_path / "gaps.png")]
    assert command.main([*options, "--before", str(SOURCE), "--threads", "1"]) == 0
    out, notes = capsys.readouterr()
    assert "| samples × features | swapwise | swapwise before | answers |" in out
    assert out.count("the same") == 2
    assert len(notes.splitlines()) == 4
    assert (tmp_path / "gaps.png").stat().st_size > 1000
    stored = [json.loads(path.read_text()) for path in (tmp_path / "store").iterdir()]
    assert {entry["program"] for entry in stored} == {"swapwise", BEFORE}
    assert all(entry["plain"] == pytest.approx(entry["points"][-1][1]) for entry in stored)
    assert command.main([*options, "--programs", "swapwise", "--threads", "1"]) == 0
    assert capsys.readouterr().err == ""


def test_programs_are_checked_before_anything_is_run(capsys):
    with pytest.raises(SystemExit):
        command.main(["--programs", "swapwise,gurobi"])
    assert "got 'gurobi'" in capsys.readouterr().err


def test_places_of_programs(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr("benchmarks.proofs.programs.apart_in", lambda *given: calls.append(given))
    monkeypatch.setattr(environments.Peer, "python", lambda self, folder: folder / self.name)
    places = Places(tmp_path, before=Path("old"))
    for name in ("swapwise", BEFORE, "el0ps"):
        places.run(PROGRAMS[name], {}, 1, 10.0)
    pythons = [call[0] for call in calls]
    first = [call[3]["PYTHONPATH"].split(":")[0] for call in calls]
    assert pythons[2] == str(tmp_path / "el0ps")
    assert first[:2] == [str(SOURCE), "old"]
    assert calls[1][1] == ("benchmarks.proofs.runs.swapwise", "run")
