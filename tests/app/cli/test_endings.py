"""How ``swapwise select`` ends: files that are written whatever happens, interrupts, proofs, first runs."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.app.cli.answers import finite
from swapwise.app.cli.show import proof_in_words
from tests.app.cli.running import refused, select


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((80, 6)), columns=list("abcdef"))
    frame.assign(y=3 * frame["a"] + 2 * frame["b"] + frame["c"] + rng.standard_normal(80)).to_csv(
        tmp_path / "data.csv", index=False
    )
    return tmp_path / "data.csv"


def answer_of(path):
    return json.loads(path.read_text())


def never(*_, **__):
    pytest.fail("the search was begun")


# Files.


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("x" * 300 + ".json", "cannot write"),
        ("no/a.json", "there is no folder"),
    ],
)
def test_files_that_cannot_be_are_reported_before_the_search(tmp_path, data, name, message, monkeypatch):
    monkeypatch.setattr("swapwise.app.cli.selection.select_features", never)
    refused(select(data, "-t", "y", "--json", tmp_path / name), message)


def test_folders_that_take_no_files_are_reported_before_the_search(data, monkeypatch):
    monkeypatch.setattr("swapwise.app.cli.selection.select_features", never)
    if os.path.isdir("/proc/self"):
        refused(select(data, "-t", "y", "--json", "/proc/self/a.json"), "cannot write /proc/self/a.json")


def test_a_report_is_a_page(tmp_path, data, monkeypatch):
    monkeypatch.setattr("swapwise.app.cli.selection.select_features", never)
    refused(select(data, "-t", "y", "--report", tmp_path / "a.pdf"), "its name must end in .html")


def test_names_may_be_as_long_as_they_may_be(tmp_path, data):
    out = tmp_path / ("x" * 250 + ".json")
    assert select(data, "-t", "y", "--json", out).exit_code == 0
    assert answer_of(out)["chosen"]


def test_a_file_that_came_to_exist_is_left_alone(tmp_path, data, monkeypatch):
    fit, out = sw.SparseRegressor.fit, tmp_path / "a.json"

    def slowly(model, X, y):
        out.write_text("mine")
        return fit(model, X, y)

    monkeypatch.setattr(sw.SparseRegressor, "fit", slowly)
    done = select(data, "-t", "y", "--json", out, "--quiet")
    assert out.read_text() == "mine"
    assert "a-2.json is written instead" in done.stderr
    assert answer_of(tmp_path / "a-2.json")["chosen"]


def test_files_are_written_before_anything_is_printed(tmp_path, data, monkeypatch):
    def closed(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("swapwise.app.cli.select.show_selection", closed)
    done = select(data, "-t", "y", "--json", tmp_path / "a.json")
    assert done.exit_code == 1
    assert not done.output
    assert answer_of(tmp_path / "a.json")["chosen"]


def test_a_file_that_fails_loses_no_other_and_no_answer(tmp_path, data, monkeypatch):
    from swapwise.app.cli import output

    write = output.write_new

    def full(path, content):
        if path.suffix == ".joblib":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(output, "write_new", full)
    files = ["--json", tmp_path / "a.json", "--save", tmp_path / "m.joblib", "--report", tmp_path / "r.html"]
    done = select(data, "-t", "y", "--size", 2, *files)
    assert done.exit_code == 1
    assert "2 of 6 features chosen" in done.output
    assert "m.joblib: no space left on device" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "data.csv", "r.html"]


def test_an_interrupt_while_files_are_made_loses_no_answer(tmp_path, data, monkeypatch):
    def impatient(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("swapwise.app.cli.selection.Selection.to_html", impatient)
    files = ["--json", tmp_path / "a.json", "--report", tmp_path / "r.html"]
    done = select(data, "-t", "y", "--size", 2, *files)
    assert done.exit_code == 130
    assert "2 of 6 features chosen" in done.output
    assert "r.html was written" in done.stderr
    assert answer_of(tmp_path / "a.json")["chosen"]


def test_notes_are_in_the_answer(tmp_path, data):
    frame = pd.read_csv(data)
    frame.loc[3, "a"] = np.nan
    frame.to_csv(tmp_path / "m.csv", index=False)
    files = ["--json", tmp_path / "a.json", "--report", tmp_path / "r.html"]
    select(tmp_path / "m.csv", "-t", "y", "--drop-missing", "--quiet", *files)
    note = "1 of 80 rows have missing values and are left out"
    assert answer_of(tmp_path / "a.json")["notes"] == [note]
    assert f'<th scope="row">notes</th><td>{note}</td>' in (tmp_path / "r.html").read_text()


def test_names_that_are_no_text_lose_nothing(tmp_path, data):
    strange = tmp_path / os.fsdecode(b"caf\xe9.csv")
    strange.write_bytes(data.read_bytes())
    assert select(strange, "-t", "y", "--json", tmp_path / "a.json", "--quiet").exit_code == 0
    assert answer_of(tmp_path / "a.json")["asked"]["data"].endswith("caf?.csv")


def test_what_is_no_number_is_null():
    assert finite({"a": [np.float64("nan"), np.int64(2)], "b": float("inf")}) == {"a": [None, 2], "b": None}


def test_the_answer_is_printed_for_programs(data):
    done = select(data, "-t", "y", "--size", 2, "--json", "-")
    assert [row["feature"] for row in json.loads(done.stdout)["chosen"]] == ["a", "b"]


# Interrupts.


@pytest.mark.parametrize("choose", ["cv", "bic"])
def test_a_path_that_is_interrupted_is_written(tmp_path, data, monkeypatch, choose):
    from swapwise.search.path import PathSearch

    attempt, made = PathSearch._attempt, []

    def impatient(*arguments):
        made.append(arguments)
        if len(made) == 3:
            raise KeyboardInterrupt
        return attempt(*arguments)

    monkeypatch.setattr(PathSearch, "_attempt", impatient)
    done = select(data, "-t", "y", "--path", "1:5", "--choose", choose, "--json", tmp_path / "a.json")
    assert done.exit_code == 130
    assert "interrupted, with the best so far" in done.output
    assert "chosen by bic" in done.output
    answer = answer_of(tmp_path / "a.json")
    assert answer["interrupted"]
    assert {"a", "b"} <= {row["feature"] for row in answer["chosen"]}
    assert [row["cv_mean"] for row in answer["path"]] == [None] * 5


def test_a_proof_that_is_interrupted_is_reported(tmp_path, data, monkeypatch):
    def certify(model, X, y, **_):
        return replace(proof, status=sw.Status.INTERRUPTED)

    X, y = pd.read_csv(data).drop(columns="y"), pd.read_csv(data)["y"]
    proof = replace(sw.SparseRegressor(2).fit(X, y).certify(X, y), upper_bound=0.95)
    monkeypatch.setattr(sw.SparseRegressor, "certify", certify)
    done = select(data, "-t", "y", "--size", 2, "--certify", "--json", tmp_path / "a.json")
    assert done.exit_code == 130
    assert "interrupted: more might be proven" in done.output
    assert answer_of(tmp_path / "a.json")["certificate"]["status"] == "INTERRUPTED"


def test_a_proof_that_never_began_is_reported(tmp_path, data, monkeypatch):
    def certify(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sw.SparseRegressor, "certify", certify)
    done = select(data, "-t", "y", "--size", 2, "--certify", "--json", tmp_path / "a.json")
    assert done.exit_code == 130
    assert "Nothing proven: the proof was interrupted" in done.output
    answer = answer_of(tmp_path / "a.json")
    assert answer["interrupted"]
    assert "certificate" not in answer


def test_an_interrupt_among_imports_is_no_traceback():
    code = (
        "import sys, swapwise\n"
        "class Impatient:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
        "from swapwise.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.slow
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_among_sizes_ends_it_in_good_order(tmp_path, data, stop):
    code = (
        "import os\n"
        "from swapwise.search import path\n"
        "attempt, made = path.PathSearch._attempt, []\n"
        "def impatient(*arguments):\n"
        "    made.append(arguments)\n"
        f"    if len(made) == 3: os.kill(os.getpid(), {int(stop)})\n"
        "    return attempt(*arguments)\n"
        "path.PathSearch._attempt = impatient\n"
        "from swapwise.__main__ import main\n"
        "main()\n"
    )
    options = ["--target", "y", "--path", "1:5", "--json", str(tmp_path / "a.json")]
    line = [sys.executable, "-c", code, "select", str(data), *options]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert answer_of(tmp_path / "a.json")["interrupted"]


@pytest.mark.slow
def test_a_terminal_that_knows_little_gets_what_it_can_show(data):
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    line = [sys.executable, "-m", "swapwise", "select", str(data), "-t", "y", "--size", "2"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr
    assert "R? 0.8835 on 80 rows" in done.stdout


# Proofs.


def poor_search(monkeypatch, then):
    """Let the search end with the worst of all choices, and what comes after it be done by ``then``."""
    fit = sw.SparseRegressor.fit

    def poorly(model, X, y):
        if not isinstance(model.start, str):
            return then(fit, model, X, y)
        model = model.set_params(start=[4, 5], max_iter=0)
        fit(model, X, y)
        return model.set_params(start="auto", max_iter=None)

    monkeypatch.setattr(sw.SparseRegressor, "fit", poorly)


def test_a_better_choice_that_a_proof_finds_is_taken(tmp_path, data, monkeypatch):
    poor_search(monkeypatch, lambda fit, *arguments: fit(*arguments))
    done = select(data, "-t", "y", "--size", 2, "--certify", "--json", tmp_path / "a.json")
    assert "the proof has found a better choice than the search" in done.stderr
    answer = answer_of(tmp_path / "a.json")
    assert [row["feature"] for row in answer["chosen"]] == ["a", "b"]
    proof = answer["certificate"]
    assert (proof["ratio"], proof["value"]) == (1, answer["search"]["value"])


def test_a_better_choice_is_not_lost_to_an_interrupt(tmp_path, data, monkeypatch):
    poor_search(monkeypatch, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    done = select(data, "-t", "y", "--size", 2, "--certify", "--json", tmp_path / "a.json")
    answer = answer_of(tmp_path / "a.json")
    assert [row["feature"] for row in answer["chosen"]] == ["e", "f"]
    assert answer["certificate"]["better"] == ["a", "b"]
    assert "would be a, b" in done.output


def test_a_better_choice_than_that_of_a_path_is_named(tmp_path, data, monkeypatch):
    X, y = pd.read_csv(data).drop(columns="y"), pd.read_csv(data)["y"]
    worst = sw.SparseRegressor(2, start=[4, 5], max_iter=0).fit(X, y)
    proof = worst.certify(X, y)
    assert proof.better.tolist() == [0, 1]
    monkeypatch.setattr(sw.SparseRegressorCV, "certify", lambda *_, **__: proof)
    done = select(data, "-t", "y", "--path", "2:2", "--certify", "--json", tmp_path / "a.json")
    assert "would be a, b" in done.output
    assert answer_of(tmp_path / "a.json")["certificate"]["better_value"] == pytest.approx(proof.better_value)


def test_a_proof_that_ran_out_of_time_says_so(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 60)) + rng.standard_normal((100, 60))
    pd.DataFrame(X).add_prefix("x").assign(y=X.sum(axis=1)).to_csv(tmp_path / "w.csv", index=False)
    done = select(tmp_path / "w.csv", "-t", "y", "--size", 15, "--certify", "--proof-seconds", 0)
    assert "stopped after 0 s: more might be proven" in done.output
    refused(select(tmp_path / "w.csv", "-t", "y", "--proof-seconds", -1), "must be at least 0, got -1")


def test_a_trivial_bound_is_called_trivial(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((20, 60))).add_prefix("x").assign(y=rng.standard_normal(20))
    frame.to_csv(tmp_path / "wide.csv", index=False)
    how = ["-t", "y", "--size", 8, "--certify", "--proof-seconds", 0.2, "--json", tmp_path / "a.json"]
    done = select(tmp_path / "wide.csv", *how)
    assert "Nothing proven beyond the trivial bound: objective 0.9" in done.output
    assert "at most 1 possible, by the fit of all features together" in done.output
    assert "% of the optimum" not in done.output
    assert "new data" not in done.output
    proof = answer_of(tmp_path / "a.json")["certificate"]
    assert (proof["proven_optimal"], proof["trivial_bound"]) == (False, True)


def proof_of(value, upper_bound, **more):
    bounds = {"all": 1.0, "relaxation": upper_bound}
    return sw.Certificate(upper_bound, value, "relaxation", bounds, np.array([0]), **more)


@pytest.mark.parametrize(
    ("proof", "words"),
    [
        (proof_of(0.8, 0.8), "Proven optimal, by a relaxation (objective 0.8)"),
        (
            proof_of(0.7, 0.8, assumptions=("that it is a matroid",), doubt="a value is not known"),
            "Proven: at least 87.4% of the optimum, by a relaxation (objective 0.7, at most 0.8 possible); "
            "assuming that it is a matroid; not more because a value is not known",
        ),
        (proof_of(0.8, np.inf), "Nothing proven: objective 0.8, and no bound on what is possible"),
        (
            proof_of(0.8, 0.9999),
            "Nothing proven beyond the trivial bound: objective 0.8, at most 1 possible, "
            "by the fit of all features together",
        ),
    ],
)
def test_what_is_proven_is_reported_in_a_line(proof, words):
    assert proof_in_words(proof) == words


def test_proofs_are_reported_in_the_words_of_the_command(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 40))
    frame = pd.DataFrame(X).add_prefix("x").assign(y=X.sum(axis=1))
    frame.to_csv(tmp_path / "wide.csv", index=False)
    model = sw.SparseRegressor(2).fit(frame.drop(columns="y"), frame["y"])
    assert model.certify(frame.drop(columns="y"), frame["y"], max_nodes=0).kind == "all"
    done = select(tmp_path / "wide.csv", "-t", "y", "--size", 2, "--certify")
    assert "hessian" not in done.stderr


# Tables that fit.


def test_a_choice_by_folds_says_how_well_they_are_predicted(data):
    X, y = pd.read_csv(data).drop(columns="y"), pd.read_csv(data)["y"]
    model = sw.SparseRegressorCV(sizes=range(1, 4)).fit(X, y)
    loss = model.path_["cv_mean"].min()
    done = select(data, "-t", "y", "--path", "1:3")
    assert f"chosen by cv: mean squared error {loss:.4g} on rows left out" in done.output


def test_many_classes_fit_on_a_terminal(tmp_path, data):
    frame = pd.read_csv(data)
    frame["y"] = pd.qcut(frame["y"], 6, labels=[f"class {number}" for number in range(6)])
    frame.to_csv(tmp_path / "c.csv", index=False)
    done = select(tmp_path / "c.csv", "-t", "y", "--family", "logistic", "--size", 2)
    assert done.exit_code == 0, done.output
    assert "class 0 " in done.output
    assert max(map(len, done.output.split("Intercept")[0].splitlines())) <= 80
