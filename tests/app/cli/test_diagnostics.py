"""All problems of a table are reported at once, and the options that a message names solve them."""

import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from swapwise.app.cli import app
from swapwise.app.cli.checking.diagnostics import require_usable
from swapwise.app.cli.failures import BadInput

ROWS = 60


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((ROWS, 3)), columns=["no2", "o3", "y"]).round(3)
    frame.insert(0, "date", pd.date_range("2024-01-03", periods=ROWS).strftime("%Y-%m-%d"))
    frame["weather"] = ["rain", "sun", "snow"] * (ROWS // 3)
    frame["station_id"] = [f"S{number}" for number in range(ROWS)]
    frame.loc[:11, "no2"] = np.nan
    frame.loc[10:12, "o3"] = np.nan
    return frame


def lines_of(table, **options):
    with pytest.raises(BadInput) as error:
        require_usable(table, "y", **{"one_hot": False, "drop_missing": False} | options)
    return str(error.value).splitlines()


def select(path, *options):
    return CliRunner().invoke(app, ["select", str(path), "-t", "y", *options])


def remedy_of(lines):
    return shlex.split(lines[-1].removeprefix("try: "))


def test_all_problems_are_reported_at_once(table):
    assert lines_of(table) == [
        "4 problems:",
        "  the column 'date' holds dates such as '2024-01-03'",
        "  the column 'station_id' has 60 different values in 60 rows, too many for --one-hot",
        "  missing values in 13 of 60 rows, by column: 'no2' 12, 'o3' 3",
        "  no numbers in the column 'weather', such as 'sun'",
        "try: --force-out date,station_id --drop-missing --one-hot",
    ]


def test_what_was_done_is_not_reported_again(table):
    assert lines_of(table, one_hot=True)[-1] == "try: --force-out date,station_id --drop-missing"
    assert lines_of(table, one_hot=True, drop_missing=True)[-1] == "try: --force-out date,station_id"
    less = table.drop(columns=["date", "station_id"])
    assert lines_of(less, drop_missing=True) == [
        "no numbers in the column 'weather', such as 'sun'; --one-hot encodes text as columns of 0 and 1, "
        "--force-out leaves columns out"
    ]
    by_column = "missing values in 13 of 60 rows, by column: 'no2' 12, 'o3' 3"
    assert lines_of(less, one_hot=True) == [f"{by_column}; --drop-missing leaves out these rows"]
    require_usable(less, "y", one_hot=True, drop_missing=True)


CHANGED = {
    "nothing": lambda table: table,
    "strange names": lambda table: table.rename(
        columns={"date": "date, day", "station_id": "the station's $id", "no2": "-no2"}
    ).assign(unit="5 ppb"),
    "options for names": lambda table: table.rename(columns={"date": "-date", "station_id": "-id"}),
    "a name that is two": lambda table: table.rename(columns={"date": "a", "station_id": "b"}).assign(
        **{"a,b": range(ROWS)}
    ),
    "an empty column": lambda table: table.assign(nothing=np.nan, hardly=[1.0] + [np.nan] * (ROWS - 1)),
    "all rows incomplete": lambda table: table.assign(no2=[1.0, np.nan] * 30, o3=[np.nan, 2.0] * 30),
    "words that rows take along": lambda table: table.assign(
        kind=["a"] * 55 + ["b"] * 5, no2=[1.5, 2.5] * 27 + [1.0] + [np.nan] * 5
    ),
    "infinite numbers": lambda table: table.assign(ratio=[np.inf, *range(59)], other=[*range(59), -np.inf]),
    "typing errors": lambda table: table.assign(age=["4O", *range(59)], size=["?", *range(59)]),
    "one word": lambda table: table.assign(country="DE", nearly=["DE"] * 59 + [None]),
}


@pytest.mark.parametrize("changed", CHANGED.values(), ids=CHANGED)
def test_the_suggested_options_work(tmp_path, table, changed):
    path = tmp_path / "t.csv"
    changed(table).to_csv(path, index=False)
    done = select(path, "--quiet")
    assert done.exit_code == 1
    lines = done.output.splitlines()
    assert lines[0].startswith("swapwise select: ")
    assert lines[0].endswith(f"{len(lines) - 2} problems:")
    again = select(path, "--quiet", *remedy_of(lines))
    assert (again.exit_code, again.output) == (0, "")
    # No more than that is needed.
    for option in {"--drop-missing", "--one-hot"} & set(remedy_of(lines)):
        assert select(path, "--quiet", *(word for word in remedy_of(lines) if word != option)).exit_code == 1


def test_names_are_quoted_for_the_shell(table):
    last = lines_of(CHANGED["strange names"](table))[-1]
    together = "'the station'\"'\"'s $id,unit'"
    assert last == f"try: --force-out {together} --force-out 'date, day' --drop-missing --one-hot"
    assert "--force-out=-date,-id" in lines_of(CHANGED["options for names"](table))[-1]


def test_columns_that_leave_no_rows_are_named():
    table = pd.DataFrame({"a": [1.0, 2, None, 4, 5], "b": [None] * 4 + [1.0], "y": range(5)})
    by_column = "missing values in 4 of 5 rows, by column: 'a' 1, 'b' 4; --drop-missing alone leaves only 1"
    assert lines_of(table) == [f"{by_column}; try: --force-out b --drop-missing"]
    assert lines_of(table, drop_missing=True) == [f"{by_column}; try: --force-out b"]
    require_usable(table.drop(columns="b"), "y", one_hot=False, drop_missing=True)
    days = table.assign(day="1.5.2024")
    assert lines_of(days)[-1] == "try: --force-out b,day --drop-missing"
    assert lines_of(days, drop_missing=True)[-1] == "try: --force-out b,day"


def test_words_that_never_change_are_reported(table):
    assert "  the column 'country' is 'DE' in all rows" in lines_of(CHANGED["one word"](table))
    assert "  the column 'nearly' is 'DE' in all rows" in lines_of(CHANGED["one word"](table))
    some = "rows without missing values"
    lines = lines_of(CHANGED["words that rows take along"](table))
    assert f"  the column 'kind' is 'a' in all {some}" in lines
    few = pd.DataFrame({"kind": [*"aabbcc"], "a": [1, None] * 3, "y": range(6)})
    assert f"  the column 'kind' has 3 different values in 3 {some}, too many for --one-hot" in lines_of(few)


def test_columns_that_are_left_out_have_no_missing_values(table):
    table.loc[:, ["no2", "o3"]] = 1.5
    table.loc[3, "date"] = None
    assert lines_of(table)[-1] == "try: --force-out date,station_id --one-hot"


def test_what_must_be_chosen_cannot_be_left_out(table):
    last = lines_of(table, forced=["date", "o3"])[-1]
    assert last.endswith("--drop-missing --one-hot, without 'date' in --force-in")


def test_tables_without_any_use_are_reported():
    table = pd.DataFrame({"a": ["5 %", "6 %"], "b": ["1.5.2024", "2.5.2024"], "y": [1, 2]})
    assert lines_of(table)[-1] == "no column can be used as it is: correct the data"


def test_not_all_of_very_many_are_reported():
    days = pd.DataFrame({f"d{number}": ["1.5.2024", "2.5.2024"] for number in range(40)})
    lines = lines_of(days.assign(a=1, y=[1, 2]))
    assert (lines[0], lines[-2], len(lines)) == ("40 problems:", "  and 28 more", 15)
    assert lines[-1].endswith("d38,d39")


def test_types_that_are_neither_are_reported(table):
    table = table[["y"]].assign(took=pd.to_timedelta([1, 2] * (ROWS // 2), unit="h"))
    for one_hot in (False, True):
        (line,) = lines_of(table, one_hot=one_hot)
        assert line.startswith(
            f"the column 'took' holds values of type {table['took'].dtype}, neither numbers"
        )


def test_the_target_comes_first_and_alone(tmp_path, table):
    table["y"] = [f"{number} ppb" for number in range(ROWS)]
    table.to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv")
    assert done.exit_code == 1
    assert done.output.splitlines() == [
        "swapwise select: the target 'y' holds numbers with a sign or unit, such as '0 ppb'; write the "
        "numbers alone, with - for minus"
    ]


def test_columns_that_were_left_out_are_not_reported(tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False)
    done = select(tmp_path / "t.csv", "--force-out", "date,station_id,no2")
    assert "date" not in done.output
    assert "missing values in 3 of 60 rows, by column: 'o3' 3" in done.output
