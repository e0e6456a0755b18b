"""Numbers as people write them: read as they are meant, with a note, or left as text."""

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.checks import unwarned
from swapwise.cli.reading.cells import other_kind
from swapwise.cli.reading.numerals import with_numbers
from swapwise.cli.reading.tables import read_table

THOUSANDS = {
    "points": ["3.007", "12.450", "943", "-1.234.567"],
    "points that pandas reads": ["3.007", "12.450", "943", "+1.000"],
    "points and decimals": ["3.007,5", "0,25", "943", "1.234.567,"],
}


def written(path, cells, others, separator):
    """Write a table of two columns, as it stands, and return what is read of it."""
    lines = [separator.join(pair) for pair in zip(["cost", *cells], ["other", *others], strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return read_table(path)


@pytest.mark.parametrize("kind", THOUSANDS)
@pytest.mark.parametrize("row_names", ["", "header", "R"])
@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas|first column)")
def test_points_between_thousands_beside_decimal_commas(tmp_path, kind, row_names):
    cells = THOUSANDS[kind]
    head = {"": "", "header": ";", "R": ""}[row_names]
    names = ["", *([f"row {n};" for n in range(4)] if row_names else [""] * 4)]
    first = [f"{name}{cell}" for name, cell in zip(names, [f"{head}cost", *cells], strict=True)]
    text = [f"{cell};{other}" for cell, other in zip(first, ["x", "1,5", "2", ",5", "7,"], strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(text))
    with pytest.warns(UserWarning, match=f"points between thousands in 'cost': {cells[0]} is read as 3007"):
        read = read_table(tmp_path / "t.csv")
    assert read["cost"].tolist() == [float(cell.replace(".", "").replace(",", ".")) for cell in cells]
    assert read["x"].tolist() == [1.5, 2, 0.5, 7]
    assert read.index.tolist() == [2, 3, 4, 5]


@pytest.mark.filterwarnings("ignore:.*is read with")
def test_points_are_decimal_where_nothing_else_is_said(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert written(tmp_path / "t.csv", ["3.007", "12.450"], ["1", "2"], ",")["cost"].tolist() == [
            3.007,
            12.45,
        ]
    with pytest.warns(UserWarning, match="decimal commas in 'other'") as told:
        read = written(tmp_path / "t.csv", ["0.007", "12.5", ""], ["1,5", "2", "3"], ";")
    np.testing.assert_array_equal(read["cost"], [0.007, 12.5, np.nan])
    assert not any("thousands" in str(note.message) for note in told)
    read = written(tmp_path / "t.csv", ["3.007", "12.450"], ["1", "2"], ";")
    assert read["cost"].tolist() == [3.007, 12.45]


@pytest.mark.parametrize("cells", [["3.007", "943", "3.5"], ["3.007", "0.123", "1"]])
@pytest.mark.parametrize("others", [["1,5", "2,5", "3,5"], ["1,500", "2", "3"]])
def test_points_that_cannot_be_thousands_tell_what_the_others_are(tmp_path, cells, others):
    with unwarned():
        read = written(tmp_path / "t.csv", cells, others, ";")
    assert read["cost"].tolist() == [float(cell) for cell in cells]
    assert read["other"].iloc[0] == (1500 if others[0] == "1,500" else 1.5)


def test_a_column_left_out_decides_nothing(tmp_path):
    """Answers such as 1,3 are no reason to take 20.629 for thousands, where other points are decimal."""
    (tmp_path / "t.csv").write_text('q,w,y\n"1,3",20.629,0.5\n2,18.251,1.5\n"1,2",19.118,2.5\n')
    with pytest.warns(UserWarning, match="decimal commas in 'q'") as told:
        read = read_table(tmp_path / "t.csv")
    assert read["w"].tolist() == [20.629, 18.251, 19.118]
    assert not any("thousands" in str(note.message) for note in told)


@pytest.mark.parametrize("cells", [["3,5", "3.5", "4,5"]])
@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas)")
def test_points_that_mean_two_things_are_told(tmp_path, cells):
    read = written(tmp_path / "t.csv", cells, ["1,5", "2,5", "3,5"], ";")
    last = next(cell for cell in cells[1:] if "." in cell)
    places = f"{cells[0]!r} in line 2, {last!r} in line {cells.index(last) + 2}"
    assert other_kind(read["cost"]).fact == f"'cost' has numbers written in several ways: {places}"


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (['"1,234"', "943", '"-1,234,567.50"', "0.5"], "commas"),
        (["1 234", "943", "-1 234 567.50", "0.5"], "blanks"),
        (["1\u00a0234", "943", "-1\u202f234\u202f567.50", "0.5"], "blanks"),
        (["+1'234", "943", "-1’234’567.50", "0.5"], "apostrophes"),
        (['"1.234,"', "943", '"-1.234.567,50"', '"0,5"'], "points"),
    ],
)
@pytest.mark.filterwarnings("error:.*decimal")
def test_thousands_between_commas(tmp_path, cells, name):
    shown = re.escape(cells[0].strip('"'))
    with pytest.warns(UserWarning, match=f"has {name} between thousands in 'cost': {shown} is read as 1234$"):
        read = written(tmp_path / "t.csv", cells, ["a", "b", "c", "d"], ",")
    assert read["cost"].tolist() == [1234, 943, -1234567.5, 0.5]


@pytest.mark.filterwarnings("ignore:.*is read with")
def test_commas_are_decimal_between_semicolons_whatever_is_behind_them(tmp_path):
    with pytest.warns(UserWarning, match="decimal commas in 'cost'"):
        read = written(tmp_path / "t.csv", ["1,234", "25,500"], ["1", "2"], ";")
    assert read["cost"].tolist() == [1.234, 25.5]
    with pytest.warns(UserWarning, match="commas between thousands in 'cost': 1,234 is read as 1234"):
        read = written(tmp_path / "t.csv", ["1,234", "25,500.5", "1,000"], ["1", "2", "3"], ";")
    assert read["cost"].tolist() == [1234, 25500.5, 1000]


@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas)")
def test_a_typing_error_hides_no_decimal_commas(tmp_path):
    with pytest.warns(UserWarning, match="points between thousands in 'cost'"):
        read = written(tmp_path / "t.csv", ["3.007", "2", "3"], ["1,5", "2,o", "3,5"], ";")
    assert read["cost"].tolist() == [3007, 2, 3]
    assert read["other"].tolist() == [1.5, "2,o", 3.5]


@pytest.mark.filterwarnings("ignore:.*is read with")
def test_blanks_between_thousands_before_decimal_commas(tmp_path):
    with pytest.warns(UserWarning, match="blanks between thousands in 'cost': 1 234,5 is read as 1234.5"):
        read = written(tmp_path / "t.csv", ["1 234,5", "0,5", ""], ["a", "b", "c"], ";")
    np.testing.assert_array_equal(read["cost"], [1234.5, 0.5, np.nan])


@pytest.mark.parametrize(
    "cells", [["1 23", "4 567"], ["1 234", "Ulm"], ["012 345", "1"], ['"1,23"', '"1,234"']]
)
def test_other_words_stay(tmp_path, cells):
    assert written(tmp_path / "t.csv", cells, ["1", "2"], ",")["cost"].tolist() == [
        c.strip('"') for c in cells
    ]


def never(*_):
    pytest.fail("the file was read again")


@given(st.lists(st.integers(-(10**12), 10**12).filter(lambda n: abs(n) > 999), min_size=1))
def test_thousands_are_read_as_they_are_written(numbers):
    words = pd.Series([f"{number:,}" for number in numbers], name="n")
    for sign, decimal_comma in ((",", False), (".", True), ("'", False), (" ", True)):
        table = pd.DataFrame({"n": words.str.replace(",", sign)})
        with unwarned():
            read = with_numbers(table, Path("t.csv"), never, decimal_comma=decimal_comma)
        assert read["n"].tolist() == numbers
