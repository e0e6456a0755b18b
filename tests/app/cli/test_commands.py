"""The command line: one command from nothing to the report, however often it is stopped on the way."""

import inspect
import json
import os
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from swapwise.app.cli import app, bench
from swapwise.app.cli import reproduce as reproduction
from swapwise.paper import manifest as manifests
from swapwise.paper import run as runs
from swapwise.paper.grid import SEED, cells

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
    names = "rows.jsonl rows.csv figure.png figure.pdf claims.md report.html manifest.json"
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
def test_the_manifest_says_how_it_was_made(whole):
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    assert manifest["complete"]
    (session,) = manifest["sessions"]
    assert session["options"] == {
        "flavour": "default",
        "trials": 2,
        "seed": SEED,
        "jobs": 1,
        "only": ["regression", "ising-10", "modular", "random-residual-greedy"],
        "quick": False,
        "start": "both",
    }
    assert (manifest["rows"], manifest["wanted"]) == (N_ROWS, N_ROWS)
    assert session["rows"] == N_ROWS
    assert session["seconds"] > 0
    assert session["machine"]["processor"]
    assert {"python", "numpy", "swapwise"} <= set(session["versions"])


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
    store = tmp_path / "rows.jsonl"
    process = command(tmp_path, before=DEADLY.format(rows_before))
    assert process.wait() == -signal.SIGKILL
    left = store.read_bytes()
    assert not (tmp_path / "rows.csv").exists()

    process = command(tmp_path)
    assert process.wait() == 0
    assert f"{rows_before} of {N_ROWS} rows are there already" in (tmp_path / "notes").read_text()
    assert store.read_bytes().startswith(left)
    assert store.read_bytes().count(b"\n") == N_ROWS
    pd.testing.assert_frame_equal(rows_of(tmp_path), rows_of(whole[0]))
    assert len(json.loads((tmp_path / "manifest.json").read_text())["sessions"]) == 2


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
    assert not json.loads((tmp_path / "manifest.json").read_text())["complete"]


@pytest.mark.experiments
def test_a_half_written_row_is_made_again(whole, tmp_path):
    lines = (whole[0] / "rows.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(lines[:-20])
    done = reproduce(tmp_path, *SOME)
    assert "The last row was half written" in done.stderr
    pd.testing.assert_frame_equal(rows_of(tmp_path), rows_of(whole[0]))


@pytest.mark.experiments
def test_a_damaged_store_is_not_built_upon(tmp_path):
    (tmp_path / "rows.jsonl").write_bytes(b"{}\n")
    done = reproduce(tmp_path, *SOME)
    assert done.exit_code == 1
    assert "line 1 of" in str(done.exception)
    assert "is damaged" in str(done.exception)
    assert not (tmp_path / "rows.csv").exists()


@pytest.mark.experiments
def test_a_foreign_manifest_is_left_alone(tmp_path):
    (tmp_path / "manifest.json").write_text("[]")
    done = reproduce(tmp_path, *SOME)
    assert done.exit_code == 1
    assert "manifest.json is not a manifest of this program" in str(done.exception)


@pytest.mark.experiments
def test_other_versions_are_told(whole, tmp_path):
    manifest = json.loads((whole[0] / "manifest.json").read_text())
    manifest["sessions"][0]["versions"]["numpy"] = "0.1"
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "rows.jsonl").write_bytes((whole[0] / "rows.jsonl").read_bytes())
    notes = " ".join(reproduce(tmp_path, *SOME).stderr.split())
    assert "They were made with something else: numpy was 0.1 and is" in notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "ising-30"], "only knows no 'ising-30' (did you mean 'ising-20'?); there are"),
        (["--trials", "0"], "Invalid value for '--trials'"),
        (["--seed", "-1"], "Invalid value for '--seed'"),
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
    store = tmp_path / "rows.jsonl"
    process = command(tmp_path, "--trials", "500", "--jobs", "2", "--only", "regression-1000,oblivious")
    while process.poll() is None and (not store.exists() or store.read_bytes().count(b"\n") < 20):
        time.sleep(0.01)
    os.killpg(process.pid, stop)
    assert process.wait(timeout=60) == 130
    notes = (tmp_path / "notes").read_text()
    assert "Interrupted; the same command resumes it" in notes
    assert "Traceback" not in notes
    assert "tasks which were still" not in notes
    assert len(rows_of(tmp_path)) == store.read_bytes().count(b"\n") >= 20


def test_seeds_and_trials_are_those_of_the_grid():
    defaults = inspect.signature(cells).parameters
    assert (defaults["trials"].default, defaults["seed"].default) == (reproduction.TRIALS, reproduction.SEED)


def test_versions_are_compared_with_all_sessions_that_made_rows():
    def session(rows, version):
        return {"rows": rows, "machine": {}, "versions": {"numpy": version}}

    sessions = [session(None, "1"), session(0, "2"), session(5, "3"), session(None, "3")]
    assert manifests.changed({"sessions": sessions}) == ["numpy was 1 and is 3"]
    assert manifests.changed({"sessions": sessions[:1]}) == []


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
