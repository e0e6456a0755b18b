"""``swapwise select``: from a table to a choice, or a clear message on what is wrong."""

import json
import os
import signal
import subprocess
import sys
import types
from dataclasses import replace

import joblib
import numpy as np
import pandas as pd
import pytest

import swapwise as sw
from swapwise.app.cli.reading.tables import read_table
from tests.app.cli.running import refused, select

SITES = ("roof", "hall", "cellar")
NAMES = [f"{site}_{number}" for site in SITES for number in range(3)]


def words(text):
    return " ".join(text.split())


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((120, 9)), columns=NAMES)
    town = rng.choice(["Bonn", "Kiel", "Ulm"], 120)
    signal = 3 * frame["roof_1"] - 2 * frame["hall_0"] + frame["hall_2"]
    frame["y"] = signal + 6 * (town == "Kiel") + 0.5 * rng.standard_normal(120)
    return frame.assign(town=town)


@pytest.fixture
def numbers(table):
    return table.drop(columns="town")


@pytest.fixture
def data(tmp_path, numbers):
    numbers.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def groups_file(path, group_of):
    path.write_text("feature,group\n" + "".join(f"{name},{group}\n" for name, group in group_of.items()))
    return path


def answer_of(path):
    return json.loads(path.read_text())


def chosen_in(answer):
    return [row["feature"] for row in answer["chosen"]]


# What is chosen is what the estimator chooses.


def test_the_answer_is_that_of_the_estimator(tmp_path, data, numbers):
    done = select(data, "--target", "y", "--size", "3", "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    X, y = numbers[NAMES], numbers["y"]
    model = sw.SparseRegressor(3).fit(X, y)
    answer = answer_of(tmp_path / "a.json")
    assert chosen_in(answer) == list(model.get_feature_names_out())
    assert [row["coefficient"] for row in answer["chosen"]] == pytest.approx(model.coef_[model.support_])
    assert answer["fit"] == {"r2": pytest.approx(model.score(X, y))}
    assert answer["intercept"] == pytest.approx(model.intercept_)
    assert answer["search"]["status"] == "LOCAL_OPTIMUM"
    assert answer["search"]["moves"] == len(model.result_.history) > 0
    moves = len(model.result_.history)
    assert f"Search ended: local optimum, {moves} moves (oblivious, exploration), " in done.output
    assert f"R² {model.score(X, y):.4f} on 120 rows" in done.output
    for name, coefficient in zip(chosen_in(answer), model.coef_[model.support_], strict=True):
        assert f"{name} {coefficient:.4g}" in words(done.output)


def test_what_was_run_is_reported(tmp_path, data, numbers):
    options = ["--target", "high", "--family", "logistic", "--size", 2]
    numbers.assign(high=numbers["y"] > 0).drop(columns="y").to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", *options, "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    ran = sw.SparseClassifier(2).fit(numbers[NAMES], numbers["y"] > 0).result_
    search = answer_of(tmp_path / "a.json")["search"]
    assert search["method"] == ran.method == "model rounds, semi-oblivious"
    assert [(run["name"], run["moves"]) for run in search["strategies"]] == [
        (run.name, run.n_moves) for run in ran.strategies
    ]
    assert sum(run["moves"] for run in search["strategies"]) == search["moves"] == len(ran.history)
    assert search["strategies"][-1]["value"] == pytest.approx(search["value"])
    assert f"({ran.method}), " in done.output


@pytest.mark.parametrize("by_file", [False, True])
def test_at_most_so_many_of_each_group(tmp_path, data, by_file):
    file = groups_file(tmp_path / "groups.csv", {name: name.split("_")[0] for name in NAMES})
    how = ["--groups", file] if by_file else ["--groups-from-prefix", "_"]
    done = select(data, "--target", "y", *how, "--per-group", "1", "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    rows = answer_of(tmp_path / "a.json")["chosen"]
    assert [row["group"] for row in rows] == list(SITES)
    assert [row["feature"] for row in rows[:2]] == ["roof_1", "hall_0"]


def test_a_groups_file_needs_no_header_and_no_order(tmp_path, data):
    file = tmp_path / "groups.csv"
    file.write_text("".join(f"{name},{name[0]}\n" for name in reversed(NAMES)))
    done = select(data, "--target", "y", "--groups", file, "--per-group", "2", "--json", tmp_path / "a.json")
    assert done.output.count("\nh ") == 1  # a group is named once, for all of its features
    assert [row["group"] for row in answer_of(tmp_path / "a.json")["chosen"]] == list("rrhhcc")


def test_groups_may_name_what_is_left_out(tmp_path, data):
    file = groups_file(tmp_path / "groups.csv", {name: name.split("_")[0] for name in NAMES})
    how = ["--groups", file, "--and-groups", file, "--force-out", "roof_1", "--json", tmp_path / "a.json"]
    assert select(data, "--target", "y", *how).exit_code == 0
    assert [row["group"] for row in answer_of(tmp_path / "a.json")["chosen"]] == list(SITES)


def test_a_limit_in_all_beside_that_of_groups(tmp_path, data):
    limits = ["--groups-from-prefix", "_", "--per-group", "1", "--size", "2"]
    select(data, "--target", "y", *limits, "--json", tmp_path / "a.json")
    assert chosen_in(answer_of(tmp_path / "a.json")) == ["roof_1", "hall_0"]


def test_two_kinds_of_groups_at_once(tmp_path, data):
    other = groups_file(tmp_path / "other.csv", {name: f"n{name[-1]}" for name in NAMES})
    limits = ["--groups-from-prefix", "_", "--per-group", "2", "--and-groups", other, "--and-per-group", "1"]
    done = select(data, "--target", "y", *limits, "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    chosen = chosen_in(answer_of(tmp_path / "a.json"))
    assert sorted(name[-1] for name in chosen) == ["0", "1", "2"]
    assert {"roof_1", "hall_0", "hall_2"} == set(chosen)


def test_forced_in_and_out(tmp_path, data):
    forced = ["--force-in", "cellar_0,cellar_1", "--force-out", "roof_1, hall_1"]
    select(data, "--target", "y", "--size", "3", *forced, "--json", tmp_path / "a.json")
    chosen = chosen_in(answer_of(tmp_path / "a.json"))
    assert {"cellar_0", "cellar_1"} < set(chosen)
    assert "roof_1" not in chosen
    assert len(chosen) == 3


@pytest.mark.parametrize("target", [["no", "yes"], ["no", "perhaps", "yes"]])
def test_classes(tmp_path, numbers, target):
    cut = pd.qcut(numbers["y"], len(target), labels=target).astype(str)
    numbers.assign(y=cut).to_csv(tmp_path / "c.csv", index=False)
    how = ["--target", "y", "--family", "logistic", "--size", "2", "--json", tmp_path / "a.json"]
    done = select(tmp_path / "c.csv", *how)
    assert done.exit_code == 0, done.output
    answer = answer_of(tmp_path / "a.json")
    assert chosen_in(answer) == ["roof_1", "hall_0"]
    assert 0.2 < answer["fit"]["deviance_explained"] < 1
    assert f"accuracy {answer['fit']['accuracy']:.4f} on 120 rows" in done.output
    for numbers_of in (answer["intercept"], answer["chosen"][0]["coefficient"]):
        assert list(numbers_of) == (["yes"] if len(target) == 2 else target)
    assert "coefficient of yes" in words(done.output)
    assert "deviance explained" in done.output


def test_counts(tmp_path, numbers):
    rate = np.exp(0.8 * numbers["roof_0"])
    counts = np.random.default_rng(1).poisson(rate)
    numbers.assign(y=counts).to_csv(tmp_path / "c.csv", index=False)
    how = ["--target", "y", "--family", "poisson", "--size", "1", "--ridge", "0.01"]
    select(tmp_path / "c.csv", *how, "--json", tmp_path / "a.json")
    model = sw.SparseGLMRegressor(1, ridge=0.01).fit(numbers[NAMES], counts)
    answer = answer_of(tmp_path / "a.json")
    assert answer["chosen"] == [{"feature": "roof_0", "coefficient": pytest.approx(model.coef_[0])}]
    assert answer["fit"]["deviance_explained"] == pytest.approx(model.score(numbers[NAMES], counts))


@pytest.mark.parametrize("family", ["gamma", "negative-binomial"])
@pytest.mark.parametrize("choose", [[], ["--path", "1:3", "--choose", "bic"]])
def test_other_families(tmp_path, numbers, family, choose):
    rng = np.random.default_rng(1)
    amounts = rng.gamma(2.0, np.exp(0.8 * numbers["roof_0"]))
    y = amounts if family == "gamma" else rng.poisson(3 * amounts)
    numbers.assign(y=y).to_csv(tmp_path / "c.csv", index=False)
    how = ["--target", "y", "--family", family, *(choose or ["--size", "1"]), "--report", tmp_path / "r.html"]
    done = select(tmp_path / "c.csv", *how, "--json", tmp_path / "a.json", "--certify")
    assert done.exit_code == 0, done.output
    answer = answer_of(tmp_path / "a.json")
    kind = sw.SparseGLMRegressorCV if choose else sw.SparseGLMRegressor
    options = {"sizes": range(1, 4), "criterion": "bic"} if choose else {"constraint": 1}
    model = kind(family=family, **options).fit(numbers[NAMES], y)
    assert [one["feature"] for one in answer["chosen"]] == model.get_feature_names_out().tolist()
    assert answer["fit"]["deviance_explained"] == pytest.approx(model.score(numbers[NAMES], y))
    assert (
        ("Dispersion alpha" in done.output) == ("alpha" in answer["fit"]) == (family == "negative-binomial")
    )


@pytest.mark.parametrize("option", ["--offset", "--exposure"])
def test_offsets(tmp_path, numbers, option):
    hours = np.random.default_rng(2).uniform(1, 5, len(numbers))
    counts = np.random.default_rng(1).poisson(hours * np.exp(0.8 * numbers["roof_0"]))
    column = hours if option == "--exposure" else np.log(hours)
    numbers.assign(y=counts, hours=column).to_csv(tmp_path / "c.csv", index=False)
    how = ["--target", "y", "--family", "poisson", "--size", "1", option, "hours", "--certify"]
    done = select(tmp_path / "c.csv", *how, "--json", tmp_path / "a.json", "--report", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    answer, X, offset = answer_of(tmp_path / "a.json"), numbers[NAMES], np.log(hours)
    model = sw.SparseGLMRegressor(1).fit(X, counts, offset=offset)
    assert answer["chosen"] == [{"feature": "roof_0", "coefficient": pytest.approx(model.coef_[0])}]
    assert answer["fit"]["deviance_explained"] == pytest.approx(model.score(X, counts, offset=offset))
    assert answer["asked"][option[2:]] == "hours"


def test_offsets_of_log_odds(tmp_path, numbers):
    shift = np.random.default_rng(2).normal(0, 2, len(numbers))
    y = np.where(numbers["roof_0"] + shift > 0, "yes", "no")
    numbers.assign(y=y, shift=shift).to_csv(tmp_path / "c.csv", index=False)
    how = ["--target", "y", "--family", "logistic", "--size", "1", "--offset", "shift"]
    done = select(tmp_path / "c.csv", *how, "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    model = sw.SparseClassifier(1).fit(numbers[NAMES], y, offset=shift)
    answer = answer_of(tmp_path / "a.json")
    assert answer["fit"]["accuracy"] == model.score(numbers[NAMES], y, offset=shift) > 0.95


@pytest.mark.parametrize("choose", ["cv", "bic", "ebic"])
def test_a_path_of_which_one_size_is_chosen(tmp_path, data, numbers, choose):
    how = ["--path", "1:5", "--choose", choose]
    done = select(data, "--target", "y", *how, "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    model = sw.SparseRegressorCV(sizes=range(1, 6), criterion=choose).fit(numbers[NAMES], numbers["y"])
    answer = answer_of(tmp_path / "a.json")
    assert chosen_in(answer) == list(model.get_feature_names_out())
    assert [row["size"] for row in answer["path"]] == [1, 2, 3, 4, 5]
    assert f"Size {model.size_}, of 1 to 5, chosen by {choose}" in done.output


def test_a_proof_is_reported(tmp_path, data):
    done = select(data, "--target", "y", "--size", "2", "--certify", "--json", tmp_path / "a.json")
    proof = answer_of(tmp_path / "a.json")["certificate"]
    assert (proof["proven_optimal"], proof["trivial_bound"], proof["ratio"]) == (True, False, 1)
    assert (proof["assumptions"], proof["doubt"]) == ([], "")
    assert "Proven optimal, by " in done.output
    assert "it says nothing about new data" in done.output


def test_the_method_is_used(tmp_path, data):
    select(data, "--target", "y", "--size", "2", "--method", "modular", "--json", tmp_path / "a.json")
    assert answer_of(tmp_path / "a.json")["search"]["status"] == "COMPLETE"


# Tables, in all formats.


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet"])
def test_formats_say_the_same(tmp_path, numbers, name):
    path = tmp_path / name
    if name == "t.parquet":
        numbers.to_parquet(path)
    else:
        numbers.to_csv(path, index=False, sep="\t" if name == "t.tsv" else ",")
    pd.testing.assert_frame_equal(read_table(path).reset_index(drop=True), numbers)


def test_arrays_are_columns(tmp_path, numbers):
    arrays = {"X": numbers[NAMES].to_numpy(), "y": numbers["y"].to_numpy()}
    np.savez(tmp_path / "named.npz", **arrays, columns=np.array(NAMES))
    pd.testing.assert_frame_equal(read_table(tmp_path / "named.npz"), numbers)
    np.savez(tmp_path / "plain.npz", **arrays)
    assert list(read_table(tmp_path / "plain.npz").columns) == [f"X_{n}" for n in range(9)] + ["y"]


def test_names_of_rows_are_no_feature(tmp_path, numbers):
    numbers.to_csv(tmp_path / "t.csv")
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "2")
    assert "2 of 9 features" in done.output
    assert "taken as the names of the rows" in done.stderr


def test_text_becomes_columns_that_come_together(tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False)
    how = ["--target", "y", "--one-hot", "--size", "2", "--json", tmp_path / "a.json"]
    done = select(tmp_path / "t.csv", *how)
    assert done.exit_code == 0, done.output
    rows = answer_of(tmp_path / "a.json")["chosen"]
    assert [(row["group"], row["feature"]) for row in rows] == [
        ("roof_1", "roof_1"),
        ("town", "town_Kiel"),
        ("town", "town_Ulm"),
    ]
    assert "'town' is one-hot encoded, reference level 'Bonn': 'town_Kiel', 'town_Ulm'" in done.stderr


def test_text_in_groups_and_forced(tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False)
    group_of = dict.fromkeys(NAMES, "number") | {"town": "place"}
    file = groups_file(tmp_path / "groups.csv", group_of)
    how = ["--one-hot", "--groups", file, "--per-group", "1", "--force-in", "town"]
    done = select(tmp_path / "t.csv", "--target", "y", *how, "--json", tmp_path / "a.json")
    assert done.exit_code == 0, done.output
    rows = answer_of(tmp_path / "a.json")["chosen"]
    assert [row["group"] for row in rows] == ["number", "place", "place"]


def test_rows_with_missing_values_can_be_left_out(tmp_path, numbers):
    numbers.loc[[3, 5], "roof_1"] = np.nan
    numbers.loc[5, "y"] = np.nan
    numbers.to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "2", "--drop-missing")
    assert "2 of 120 rows have missing values and are left out" in done.stderr
    assert "on 118 rows" in done.output


def test_the_first_try_needs_nothing():
    done = select("--demo")
    assert done.exit_code == 0
    assert "6 of 30 features chosen to explain diagnosis" in done.output
    assert "texture_worst" in done.output


def test_a_first_try_with_a_limit_has_no_other():
    done = select("--demo", "--size", "2")
    assert "2 of 30 features chosen to explain diagnosis" in done.output
    assert "prefixes" not in done.output


# Errors take one line.

BAD = {
    "missing target": (["--target", "yy"], "--target names 'yy', but the data have no such column"),
    "capacity 0": (
        ["--groups-from-prefix", "_", "--per-group", "0"],
        "--per-group must be at least 1, got 0",
    ),
    "size 0": (["--size", "0"], "--size must be at least 1, got 0"),
    "large size": (["--size", "10"], "--size is 10, but there are only 9 features to choose from"),
    "unwritable": (["--json", "no/such/folder.json"], "there is no folder no/such"),
    "forced out": (["--force-out", "roof_7"], "--force-out names 'roof_7', but the data have no such column"),
    "forced in": (["--force-in", "y"], "--force-in names the target 'y', which is to be explained"),
    "method": (["--method", "gredy"], "exhaustive; got 'gredy' (did you mean 'greedy'?)"),
    "methods": (["--method", "lasso"], "--method must be one of auto, oblivious, semi-oblivious, non-"),
    "ridge": (["--ridge", "-1"], "--ridge must be a number of at least 0, got -1"),
    "no ridge": (["--ridge", "nan"], "--ridge must be a number of at least 0, got nan"),
    "no prefix": (
        ["--groups-from-prefix", "-"],
        "but no name has '-' in it: every feature would be a group of its own",
    ),
    "groups": (["--groups", "nowhere.csv"], "there is no file nowhere.csv"),
}


@pytest.mark.parametrize("mistake", BAD)
def test_bad_options_are_reported(data, mistake):
    options, message = BAD[mistake]
    refused(select(data, *([] if "--target" in options else ["--target", "y"]), *options), message)


FILES = {
    "text": (
        "a,b,y\n1,x,1\n2,x,2\n3,z,3\n3,z,3\n",
        "no numbers in the column 'b', such as 'x'; --one-hot encodes",
    ),
    "one word": ("a,b,y\n1,x,1\n2,x,2\n", "the column 'b' is 'x' in all rows; --force-out leaves it out"),
    "missing values": (
        "a,b,y\n1,,1\n,,2\n3,4,5\n5,6,7\n8,9,6\n",
        " rows, by column: 'a' 1, 'b' 2; --drop-missing",
    ),
    "empty": ("", "t.csv is empty"),
    "blank": ("\n\n", "t.csv is empty"),
    "no rows": ("a,b,y\n", "t.csv has names of columns, but no rows"),
    "constant": ("a,b,y\n1,2,7\n2,3,7\n", "the target 'y' is constant: it is 7 in all 2 rows"),
    "same names": ("a,a,y\n1,2,7\n2,3,8\n", "t.csv has several columns of the same name: 'a'; rename one"),
    "classes": ("a,b,y\n1,2,no\n2,3,yes\n", "the target 'y' must hold numbers, got text such as 'no'"),
    "infinite": ("a,b,y\n1,inf,1\n2,3,2\n", "infinite numbers in the column 'b'; --force-out"),
    "no header": (
        "1,2.5,3\n4,5,6\n",
        "the first line must hold the names of the columns, got numbers: 1, 2.5",
    ),
    "the same numbers": ("1,1,3\n4,5,6\n", "the first line must hold the names of the columns, got numbers"),
    "one number": ("1\n4\n", "the first line must hold the names of the columns, got numbers"),
    "target alone": ("y\n1\n2\n", "there is no column to choose from beside the target 'y'"),
    "ragged": ("a,b,y\n1,2,3\n1,2,3,4,5\n", "t.csv: line 3 has 5 cells, but there are 3 names"),
}


@pytest.mark.parametrize("mistake", FILES)
def test_bad_tables_are_reported(tmp_path, mistake):
    content, message = FILES[mistake]
    (tmp_path / "t.csv").write_text(content)
    refused(select(tmp_path / "t.csv", "--target", "y", "--size", "1"), message)


def test_bad_formats_are_reported(tmp_path):
    (tmp_path / "t.xls").write_text("x")
    refused(select(tmp_path / "t.xls", "--target", "y"), "must end in .csv, .tsv, .txt")
    for name, kind in {"t.parquet": "cannot be read as Parquet", "t.npz": "is no .npz file"}.items():
        (tmp_path / name).write_bytes(b"no such thing")
        refused(select(tmp_path / name, "--target", "y"), f"{name} {kind}")
    refused(select(tmp_path / "none.csv", "--target", "y"), "there is no file")
    refused(select(tmp_path, "--target", "y"), f"cannot read {tmp_path}: it is a folder")


GROUPS = {
    "unknown": (
        "roof_1,a\nroof_9,b\n",
        "names 'roof_9', which is not a feature of the data (did you mean 'roof_",
    ),
    "incomplete": (
        "roof_1,a\n",
        "has no group for 'roof_0', 'roof_2', 'hall_0', 'hall_1', 'hall_2' and 3 more",
    ),
    "twice": ("roof_1,a\nroof_1,b\n", "puts 'roof_1' into two groups, 'a' and 'b'"),
    "wide": ("roof_1,a,b\n", "must have two columns, feature and group, got 3"),
    "empty": ("", "is empty"),
}


@pytest.mark.parametrize("mistake", GROUPS)
def test_bad_groups_are_reported(tmp_path, data, mistake):
    content, message = GROUPS[mistake]
    (tmp_path / "groups.csv").write_text(content)
    refused(select(data, "--target", "y", "--groups", tmp_path / "groups.csv"), message)


def test_text_that_is_no_factor_is_reported(tmp_path, table):
    table.assign(town=[f"person {n}" for n in range(120)]).to_csv(tmp_path / "t.csv", index=False)
    how = ["--target", "y", "--one-hot"]
    refused(select(tmp_path / "t.csv", *how), "'town' has 120 different values in 120 rows, too many")
    table.assign(town_Ulm=1).to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", *how)
    assert "--one-hot would make a second column 'town_Ulm'" in done.output


USAGE = {
    "no data": (["--target", "y"], "give a table, or --demo"),
    "data and demo": (["x.csv", "--demo"], "--demo goes without a table; got x.csv"),
    "no target": (["x.csv"], "--target must say which column"),
    "path and size": (["--demo", "--path", "1:3", "--size", "2"], "does not go with --size"),
    "backwards": (["--demo", "--path", "3:1"], "--path must be the first and the last size"),
    "no groups": (["--demo", "--per-group", "2"], "--per-group needs --groups"),
    "two groups": (["--demo", "--groups", "g.csv", "--groups-from-prefix", "_"], "not both"),
    "other groups": (["--demo", "--and-groups", "g.csv"], "--and-groups needs --groups"),
    "family": (["--demo", "--family", "cubic"], "linear"),
}


@pytest.mark.parametrize("mistake", USAGE)
def test_options_that_do_not_go_together_are_reported(mistake):
    options, message = USAGE[mistake]
    done = select(*options)
    assert done.exit_code == 2
    assert message in words(done.stderr.replace("│", " "))


def test_a_traceback_for_those_who_ask(data):
    done = select(data, "--target", "yy", "--debug")
    assert done.exit_code == 1
    assert type(done.exception).__name__ == "BadInput"


# Files that are written.


def test_nothing_is_overwritten_without_force(tmp_path, data):
    out = tmp_path / "a.json"
    out.write_text("mine")
    refused(select(data, "--target", "y", "--json", out), "exists already; --force overwrites it")
    assert out.read_text() == "mine"
    assert select(data, "--target", "y", "--json", out, "--force").exit_code == 0
    assert len(chosen_in(answer_of(out))) == 9
    assert not [path for path in tmp_path.iterdir() if path.name.endswith("unfinished")]


def test_outputs_that_cannot_be(tmp_path, data):
    refused(select(data, "--target", "y", "--json", tmp_path), "it is a folder")
    refused(select(data, "--target", "y", "--json", data / "a.json"), "there is no folder")
    twice = ["--json", tmp_path / "a", "--save", tmp_path / "a"]
    refused(select(data, "--target", "y", *twice), "two outputs would be written to")


def test_the_saved_model_predicts(tmp_path, data, numbers):
    done = select(data, "--target", "y", "--size", "3", "--save", tmp_path / "m.joblib")
    assert f"Wrote {tmp_path / 'm.joblib'}" in done.output
    model = joblib.load(tmp_path / "m.joblib")
    assert model.score(numbers[NAMES], numbers["y"]) > 0.5


@pytest.fixture
def pages(monkeypatch):
    """What is handed to the report."""
    given = []

    def selection_report(model, frame, y, **options):
        given.append((model, frame, y, options))
        return "<html></html>"

    module = types.SimpleNamespace(selection_report=selection_report)
    monkeypatch.setitem(sys.modules, "swapwise.app.report.selection", module)
    return given


def test_the_report_gets_all_there_is(tmp_path, data, pages):
    how = ["--groups-from-prefix", "_", "--certify", "--report", tmp_path / "r.html"]
    assert select(data, "--target", "y", *how).exit_code == 0
    assert (tmp_path / "r.html").read_text() == "<html></html>"
    ((model, frame, y, options),) = pages
    assert (list(frame.columns), len(y)) == (NAMES, 120)
    assert options["groups"] == {name: name.split("_")[0] for name in NAMES}
    assert options["certificate"].value == pytest.approx(model.result_.value)
    assert options["asked"]["limits"] == "at most 1 of each prefix before '_'"
    assert all(isinstance(word, str) for word in options["asked"].values())
    assert options["seconds"] > 0


def test_the_report_knows_no_groups_but_those_of_the_user(tmp_path, table, pages):
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--target", "y", "--one-hot", "--report", tmp_path / "r.html", "--force"]
    assert select(tmp_path / "t.csv", *options, "--size", "2").exit_code == 0
    assert select(tmp_path / "t.csv", *options, "--groups-from-prefix", "_").exit_code == 0
    plain, grouped = [options["groups"] for *_, options in pages]
    assert plain is None
    assert grouped["town_Kiel"] == "town"


def test_quiet_is_quiet(tmp_path, numbers):
    numbers.to_csv(tmp_path / "t.csv")  # with names of rows, which would make a note
    done = select(tmp_path / "t.csv", "--target", "y", "--quiet", "--json", tmp_path / "a.json")
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "a.json").exists()


def test_names_are_no_markup(tmp_path, numbers):
    classes = pd.qcut(numbers["y"], 3, labels=["[b]", "[i]", "[u]"]).astype(str)
    named = numbers.assign(y=classes).rename(columns={"roof_1": "[red]roof[/red]"})
    named.to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "--target", "y", "--family", "logistic", "--size", "2")
    assert "[red]roof[/red]" in done.output
    assert "of [b]" in words(done.output)


# Interrupted.


def test_interrupted_it_writes_the_best_so_far(tmp_path, data, monkeypatch):
    fit = sw.SparseRegressor.fit

    def cut_short(model, X, y):
        fit(model, X, y)
        model.result_ = replace(model.result_, status=sw.Status.INTERRUPTED)
        return model

    monkeypatch.setattr(sw.SparseRegressor, "fit", cut_short)
    done = select(data, "--target", "y", "--size", "2", "--certify", "--json", tmp_path / "a.json")
    assert done.exit_code == 130
    assert "interrupted, with the best so far" in done.output
    answer = answer_of(tmp_path / "a.json")
    assert len(answer["chosen"]) == 2
    assert "certificate" not in answer  # whoever interrupts does not want to wait for a proof


# The program interrupts itself, as Ctrl-C or a polite kill would, when the third move is made.
IMPATIENT = """
import os, signal
from swapwise.search import loop

event, made = loop.Event, []

def interrupting(*arguments, **named):
    made.append(arguments)
    if len(made) == 3:
        os.kill(os.getpid(), signal.{stop})
    return event(*arguments, **named)

loop.Event = interrupting
from swapwise.app.cli import app
app()
"""


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_in_good_order(tmp_path, data, stop):
    code = IMPATIENT.format(stop=stop)
    options = ["--target", "y", "--method", "greedy", "--json", str(tmp_path / "a.json")]
    line = [sys.executable, "-c", code, "select", str(data), *options]
    done = subprocess.run(
        line, capture_output=True, text=True, check=False, env=os.environ | {"NO_COLOR": "1"}
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert len(answer_of(tmp_path / "a.json")["chosen"]) in (2, 3)


def test_interrupted_before_anything_is_found(data, monkeypatch):
    def never(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("swapwise.app.cli.reading.tables.read_table", never)
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        done = select(data, "--target", "y")
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.exit_code == 130
    assert "interrupted before anything was found" in done.stderr


# What is easily lost is not.


def test_options_given_twice_add_up(tmp_path, data):
    out = tmp_path / "o.json"
    options = ["--force-in", "cellar_0", "--force-in", "cellar_1", "--size", 3, "--json", out]
    assert select(data, "-t", "y", *options).exit_code == 0
    assert {"cellar_0", "cellar_1"} < set(chosen_in(answer_of(out)))


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_what_is_read_is_never_overwritten(tmp_path, data, force):
    before = data.read_bytes()
    link = tmp_path / "link.json"
    link.symlink_to(data)
    for name in (data, tmp_path / "." / "data.csv", link):
        done = select(data, "-t", "y", "--json", name, *force)
        refused(done, "would be overwritten, but it is an input")
    assert data.read_bytes() == before


def test_devices_are_no_files(data):
    refused(select(data, "-t", "y", "--json", "/dev/null", "--force"), "it is not an ordinary file")


def test_links_are_written_through(tmp_path, data):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    link.symlink_to(real)
    assert select(data, "-t", "y", "--json", link, "--force").exit_code == 0
    assert link.is_symlink()
    assert answer_of(real)["chosen"]


def test_rows_with_names_that_the_header_has_none_for(tmp_path, data, numbers):
    lines = numbers.to_csv(index=True).splitlines()
    lines[0] = lines[0].removeprefix(",")  # as R writes them
    (tmp_path / "r.csv").write_text("\n".join(lines))
    done = select(tmp_path / "r.csv", "-t", "y", "--size", 3, "--json", tmp_path / "r.json")
    assert "taken as the names of the rows" in words(done.stderr)
    assert select(data, "-t", "y", "--size", 3, "--json", tmp_path / "d.json").exit_code == 0
    assert answer_of(tmp_path / "r.json")["chosen"] == answer_of(tmp_path / "d.json")["chosen"]


def test_an_interrupt_before_there_is_an_answer_says_so(data, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("swapwise.app.cli.selection.select_features", interrupted)
    done = select(data, "-t", "y")
    assert done.exit_code == 130
    assert "interrupted" in done.stderr


def test_a_target_of_two_numbers_may_be_classes(tmp_path, numbers):
    numbers.assign(y=(numbers["y"] > 0).astype(int)).to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "2")
    assert "the target 'y' has only two values; --family logistic fits classes" in done.stderr


def test_a_column_that_numbers_the_rows_is_reported(tmp_path, numbers):
    numbers.assign(person_id=range(len(numbers))).to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "2")
    assert "'person_id' seems to number the rows" in done.stderr
    assert "--force-out person_id leaves it out" in done.stderr
