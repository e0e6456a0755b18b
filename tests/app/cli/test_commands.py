"""The command line: one command from nothing to the report, however often it is stopped on the way."""

import inspect
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from swapwise.app.cli import app, bench
from swapwise.app.cli import reproduce as reproduction
from swapwise.paper import run as runs
from swapwise.paper import sessions
from swapwise.paper.grid import SEED, cells, names
from swapwise.paper.procedures import BENCHMARKS, LOCAL_SEARCHES
from swapwise.paper.store import RESULTS

ROOT = Path(__file__).parents[3]
SOME = ["--trials", "2", "--only", "regression,ising-10", "--only", "modular,random-residual-greedy"]
N_ROWS = 2 * (2 * 20 + 5)


def reproduce(out, *options):
    return CliRunner().invoke(app, ["reproduce", "--out", str(out), "--jobs", "1", *options])


# Makes the program kill itself as soon as it has stored so many rows.
DEADLY = """
import os, signal
from swapwise.paper.store import Store

add, made = Store.add, []

def add_and_die(store, row):
    add(store, row)
    made.append(row)
    if len(made) == {}:
        os.kill(os.getpid(), signal.SIGKILL)

Store.add = add_and_die
"""


def command(out, *options, before=""):
    code = f"{before}\nfrom swapwise.app.cli import app; app()"
    line = [sys.executable, "-c", code, "reproduce", "--out", str(out), *(options or SOME)]
    # No pipe: workers of a process that is killed would keep it open.
    with open(out / "notes", "w") as notes:
        return subprocess.Popen(
            line, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=notes, start_new_session=True
        )


def stored_in(out):
    """The rows of the file, in order, without opening it as a store."""
    with closing(sqlite3.connect(out / RESULTS)) as file:
        return file.execute("SELECT * FROM rows ORDER BY rowid").fetchall()


def sessions_of(out):
    with closing(sqlite3.connect(out / RESULTS)) as file:
        file.row_factory = sqlite3.Row
        return [dict(session) for session in file.execute("SELECT * FROM sessions ORDER BY number")]


def rows_of(out):
    return pd.read_csv(out / "rows.csv").drop(columns="seconds")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    done = reproduce(out, *SOME)
    assert done.exit_code == 0, done.output
    return out, done.output


@pytest.mark.experiments
def test_all_files_are_written(whole):
    out, _ = whole
    names = "results.sqlite rows.csv figure.png figure.pdf claims.md report.html"
    assert {path.name for path in out.iterdir()} == set(names.split())
    assert (out / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figure.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.experiments
def test_the_table_says_what_the_rows_say(whole):
    out, output = whole
    rows = rows_of(out)
    some = rows[(rows["setting"] == "regression-1000") & (rows["method"] == "modular")]
    means = some.groupby("size")["quality"].mean()
    line = output.split("regression-1000")[1].split("modular")[1].splitlines()[0]
    assert line.split() == [f"{mean:.3f}".removeprefix("0") if mean < 0.9995 else "1.00" for mean in means]
    assert f"{N_ROWS} of {N_ROWS} rows, " in output


@pytest.mark.experiments
def test_the_session_says_how_it_was_made(whole):
    (session,) = sessions_of(whole[0])
    assert json.loads(session["options"]) == {
        "flavour": "default",
        "trials": 2,
        "seed": SEED,
        "jobs": 1,
        "only": ["regression", "ising-10", "modular", "random-residual-greedy"],
        "quick": False,
        "start": "both",
    }
    assert (session["rows"], session["stored"], session["wanted"]) == (N_ROWS, N_ROWS, N_ROWS)
    assert session["seconds"] > 0
    assert json.loads(session["machine"])["processor"]
    assert {"python", "numpy", "swapwise"} <= set(json.loads(session["versions"]))


@pytest.mark.experiments
def test_run_again_it_has_nothing_to_do(whole):
    out, _ = whole
    before = (out / "rows.csv").read_bytes()
    again = reproduce(out, *SOME)
    assert f"{N_ROWS} of {N_ROWS} rows are there already" in again.stderr
    assert (out / "rows.csv").read_bytes() == before


@pytest.mark.experiments
@pytest.mark.parametrize("rows_before", [1, 60])
def test_killed_and_started_again_it_ends_with_the_same_rows(whole, tmp_path, rows_before):
    process = command(tmp_path, before=DEADLY.format(rows_before))
    assert process.wait() == -signal.SIGKILL
    left = stored_in(tmp_path)
    assert not (tmp_path / "rows.csv").exists()

    process = command(tmp_path)
    assert process.wait() == 0
    assert f"{rows_before} of {N_ROWS} rows are there already" in (tmp_path / "notes").read_text()
    rows = stored_in(tmp_path)
    assert (len(left), rows[: len(left)], len(rows)) == (rows_before, left, N_ROWS)
    pd.testing.assert_frame_equal(rows_of(tmp_path), rows_of(whole[0]))
    assert [session["rows"] for session in sessions_of(tmp_path)] == [None, N_ROWS - rows_before]


@pytest.mark.experiments
def test_interrupted_it_shows_what_there_is(tmp_path, monkeypatch):
    measure = runs.measure
    made = []

    def interrupted(cell):
        made.append(cell)
        if len(made) > 12:
            raise KeyboardInterrupt
        return measure(cell)

    monkeypatch.setattr(runs, "measure", interrupted)
    monkeypatch.setattr(runs, "warm_up", lambda cells: None)
    done = reproduce(tmp_path, *SOME)
    assert done.exit_code == 130
    assert "Interrupted; the same command resumes it" in done.stderr
    assert f"12 of {N_ROWS} rows" in done.output
    assert "not complete: it has 12 of" in (tmp_path / "claims.md").read_text()
    assert len(rows_of(tmp_path)) == 12
    assert (tmp_path / "report.html").exists()
    (session,) = sessions_of(tmp_path)
    assert (session["stored"], session["wanted"]) == (12, N_ROWS)


@pytest.mark.experiments
def test_a_damaged_store_is_not_built_upon(tmp_path):
    (tmp_path / RESULTS).write_bytes(b"{}\n" * 400)
    done = reproduce(tmp_path, *SOME)
    assert done.exit_code == 1
    assert "results.sqlite is damaged" in str(done.exception)
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.experiments
@pytest.mark.parametrize("name", ["rows.jsonl", "manifest.json"])
def test_a_folder_of_an_earlier_version_is_left_alone(tmp_path, name):
    (tmp_path / name).write_text("[]")
    done = reproduce(tmp_path, *SOME)
    assert done.exit_code == 1
    assert f"{name} was written by another version of swapwise" in str(done.exception)
    assert "or give another one by --out" in str(done.exception)
    assert {path.name for path in tmp_path.iterdir()} == {name}


@pytest.mark.experiments
def test_other_versions_are_told(whole, tmp_path):
    shutil.copy(whole[0] / RESULTS, tmp_path)
    with closing(sqlite3.connect(tmp_path / RESULTS)) as file, file:
        found = json.loads(sessions_of(tmp_path)[0]["versions"]) | {"numpy": "0.1"}
        file.execute("UPDATE sessions SET versions = ? WHERE number = 1", (json.dumps(found),))
    notes = " ".join(reproduce(tmp_path, *SOME).stderr.split())
    assert "They were made with something else: numpy was 0.1 and is" in notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "ising-30"], "only knows no 'ising-30' (did you mean 'ising-20'?); there are"),
        (["--trials", "0"], "Invalid value for '--trials'"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
        (
            ["--seed", str(2**63), "--quick", "--only", "ising-10,random"],
            f"seed must be below 2**63, got {2**63}",
        ),
        (["--start", "greedy"], "Invalid value for '--start'"),
        (["--jobs", "0"], "jobs must be at least 1, or -1 for one per core; got 0"),
    ],
)
def test_bad_options_are_refused_before_any_work(tmp_path, options, message):
    done = reproduce(tmp_path / "new", *options)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert not (tmp_path / "new").exists()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    done = reproduce(tmp_path / "file" / "sub", *SOME)
    assert done.exit_code == 1
    assert "swapwise reproduce: " in str(done.exception)
    told = reproduce(tmp_path / "file", *SOME).stderr
    assert "is a file" in " ".join(told.replace("│", " ").split())  # in whatever lines its length leads to


@pytest.mark.experiments
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stopped_with_workers_at_work_it_ends_soon_and_keeps_what_there_is(tmp_path, stop):
    store = tmp_path / RESULTS
    process = command(tmp_path, "--trials", "500", "--jobs", "2", "--only", "regression-1000,oblivious")
    # While it runs the file is locked, but it grows: some twenty rows have a page of 4096 bytes.
    while process.poll() is None and (not store.exists() or store.stat().st_size < 10 * 4096):
        time.sleep(0.01)
    os.killpg(process.pid, stop)
    assert process.wait(timeout=60) == 130
    notes = (tmp_path / "notes").read_text()
    assert "Interrupted; the same command resumes it" in notes
    assert "Traceback" not in notes
    assert "tasks which were still" not in notes
    assert len(rows_of(tmp_path)) == len(stored_in(tmp_path)) >= 20


def test_runs_with_other_options_have_folders_of_their_own():
    usual = {"flavour": "default", "start": "both", "quick": False, "only": [], "trials": 10, "seed": 2020}
    other = {"start": "empty", "quick": True, "only": ["ising-20"], "trials": 3, "seed": 1}
    assert reproduction._name_of(usual) == "default"
    assert reproduction._name_of(usual | other) == "default-from-empty-quick-ising-20-3-trials-seed-1"


def test_help_names_what_only_takes():
    known = names()
    options = {option.name: option for option in get_command(app).commands["reproduce"].params}
    told = set(re.findall(r"[a-z0-9-]+", options["only"].help))
    assert {*known["experiment"], *known["setting"], *known["part"]} <= told
    assert {*LOCAL_SEARCHES, *BENCHMARKS} <= told & {*known["method"]}
    assert "ising-20,oblivious" in CliRunner().invoke(app, ["reproduce", "--help"]).output


def test_seeds_and_trials_are_those_of_the_grid():
    defaults = inspect.signature(cells).parameters
    assert (defaults["trials"].default, defaults["seed"].default) == (reproduction.TRIALS, reproduction.SEED)


def test_versions_are_compared_with_all_sessions_that_made_rows():
    def session(rows, version):
        return {"rows": rows, "machine": {}, "versions": {"numpy": version}}

    some = [session(None, "1"), session(0, "2"), session(5, "3"), session(None, "3")]
    assert sessions.changed({"sessions": some}) == ["numpy was 1 and is 3"]
    assert sessions.changed({"sessions": some[:1]}) == []


def test_the_race_runs_from_a_clone(monkeypatch):
    given = []
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("benchmarks.race.__main__.main", lambda *arguments: given.append(arguments) or 130)
    done = CliRunner().invoke(app, ["bench", "--quick", "--seeds", "2"])
    assert done.exit_code == 130
    assert given == [(["--quick", "--seeds", "2"], "swapwise bench")]


def test_without_a_clone_there_is_no_race(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "lib" / "swapwise" / "app" / "cli" / "bench.py"))
    done = CliRunner().invoke(app, ["bench"])
    assert done.exit_code == 1
    assert "run it in a clone of the repository" in str(done.exception)


def test_the_version_is_that_of_the_package():
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"swapwise {version('swapwise')}\n")


def test_shells_can_complete_commands():
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).output
    words = {"_SWAPWISE_COMPLETE": "complete_bash", "COMP_WORDS": "swapwise s", "COMP_CWORD": "1"}
    assert CliRunner().invoke(app, [], prog_name="swapwise", env=words).output.split() == ["select"]


@pytest.mark.parametrize(("colour", "is_there"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colours_can_be_turned_off(colour, is_there):
    line = [sys.executable, "-c", "from swapwise.app.cli import app; app()", "select"]
    own = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, env=own | {"FORCE_COLOR": "1"} | colour
    )
    assert done.returncode == 2
    assert ("\x1b[31m" in done.stderr) is is_there
