"""Tables in text: nothing of a file is left out or shifted without a word."""

import csv
import io
import os
import sys
import warnings
from itertools import pairwise
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.checks import unwarned
from swapwise.cli.checking.cells import not_numbers
from swapwise.cli.failures import BadInput
from swapwise.cli.limit_files import read_groups
from swapwise.cli.reading.rows import Dialect, rows_of
from swapwise.cli.reading.tables import read_table

ROW_NAMES = "first column of .* is taken as the names of the rows"


@pytest.fixture
def read(tmp_path):
    def read(content, name="t.csv", **dialect):
        path = tmp_path / name
        path.write_bytes(content.encode())
        return read_table(path, Dialect(**dialect))

    return read


# As many cells as names.

WRONG_WIDTHS = {
    "decimal commas": (
        "a,b,c,y\n0,13,-0,13,0,64,-0,84\n",
        r"line 2 has 8 cells, but there are 4 names; decimal commas\? save the table with semicolons or poi",
    ),
    "two more": (
        "a,b,y\n1,2,3,4,5\n1,2,3,4,5\n",
        "line 2 has 5 cells, but there are 3 names; decimal commas",
    ),
    "later": ("a,b,y\n1,2,3\n1,2,3\n1,2,3,4\n", "line 4 has 4 cells, but there are 3 names"),
    "far more": ("a,b\n1,2,3,4,5\n", "line 2 has 5 cells, but there are 2 names; decimal commas"),
    "fewer": ("a,b,c,y\n1,2,3,4\n1,2,3\n", "line 3 has 3 cells, but there are 4 names$"),
    "one": ("a;b\n1;2\nend\n", "line 3 has 1 cell, but there are 2 names$"),
    "one column": (
        "a,b,y\n1,5,2,3\n1,5,2,4\n",
        "line 2 has 4 cells, but there are 3 names; .*; names of rows must be different, and in all rows",
    ),
    "some": ("a,b,y\n1,5,2,3\n2,2,3\n", "line 2 has 4 cells, but there are 3 names"),
    "below blank lines": ("\na,b\n\n1,2\n \n1,2,3\n", "line 6 has 3 cells, but there are 2 names"),
    "below a cell of two lines": ('a,b\n1,"x\ny"\n1\n', "line 4 has 1 cell, but there are 2 names"),
}


@pytest.mark.parametrize("mistake", WRONG_WIDTHS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_rows_of_other_widths_are_told(read, mistake, ends):
    content, message = WRONG_WIDTHS[mistake]
    with unwarned(), pytest.raises(BadInput, match=message):
        read(content.replace("\n", ends))


def test_separators_behind_some_rows_are_nothing(read):
    table = read("a,b\n1,2\n3,4,\n5,6,,\t\n")
    assert table.to_dict("list") == {"a": [1, 3, 5], "b": [2, 4, 6]}
    assert read("a,b,,\n1,2\n3,4,\n").to_dict("list") == {"a": [1, 3], "b": [2, 4]}
    assert read("a,b\n1,2,\n1,4,\n").to_dict("list") == {"a": [1, 1], "b": [2, 4]}


@pytest.mark.parametrize("name", ["t.csv", "t.txt", "t.tsv"])
@pytest.mark.filterwarnings("ignore:.*is read with")
def test_names_of_rows_need_no_name(read, name):
    content = 'a b y\n"p 1" 1.5 NA 3\n"p 2" 4 5 6\n'
    sign = {"t.csv": ",", "t.txt": " ", "t.tsv": "\t"}[name]
    content = content.replace(" ", sign).replace(f"p{sign}", "p ")
    with pytest.warns(UserWarning, match=ROW_NAMES):
        table = read(content, name)
    np.testing.assert_array_equal(table, [[1.5, np.nan, 3], [4, 5, 6]])
    assert list(table.columns) == ["a", "b", "y"]


def test_names_of_rows_before_a_last_column_with_gaps(read):
    with pytest.warns(UserWarning, match=ROW_NAMES):
        table = read("a,y\nr1,1,\nr2,2,5\n")
    np.testing.assert_array_equal(table, [[1, np.nan], [2, 5]])


# Quotes.

STRAY = {
    "twice": ('a\tb\tn\n1\t2\tx\n3\t4\t"5 inch\n5\t6\tx\n7\t8\t"5 inch\n9\t9\tx\n', "3 goes on to line 5"),
    "in the first column": ('n\ta\tb\n"5 inch\t1\t2\n"5 inch\t3\t4\n', "2 goes on to line 3"),
    "above blank lines": ('a\tn\n1\t"5 inch\n\n\n2\t"5 inch\n', "2 goes on to line 5"),
    "once": ('a\tn\n1\t"5 inch\n2\tx\n3\tx\n', "2 goes on to line 4"),
    "at the end": ('a\tn\n1\tx\n2\t"5 inch', "3 does not end"),
    "far": ('a\tn\n1\t"5 inch\n' + "2\tx\n" * 50_000, "2 goes on to line 50002"),
    "around rows": ('a\tb\n1\t"2\n4\t5\n7"\n1\t2\n', "2 goes on to line 4"),
}


@pytest.mark.parametrize("place", STRAY)
def test_quotes_swallow_no_rows(read, place):
    content, message = STRAY[place]
    with pytest.raises(BadInput, match=f"a cell of line {message}: is there a quote too many"):
        read(content, "t.tsv")


def test_a_stray_quote_between_blanks_is_told(read):
    for content in ('a b y\n1 "5 2\n2 3 4\n', 'a b\n1 "5\n2 3\n', 'a b\n1 "5\n2 "6\n'):
        with unwarned(), pytest.raises(BadInput, match="a cell of line 2 goes on to line 3: is there"):
            read(content, "t.txt")


def test_remarks_may_have_several_lines(read):
    table = read('a,said,b,y\n1,"Well, yes.\nNo.",3,4\n4,no,5O,6\n7,no,8,9\n7,no,8,9\n')
    assert table["said"].tolist() == ["Well, yes.\nNo.", "no", "no", "no"]
    assert not_numbers(table["b"]).fact.endswith("'5O' in line 4")


@pytest.mark.parametrize("remark", ["Nice, clean,\nwould come again, yes", "a\nb, c\nd", "warm\rand dry"])
def test_remarks_with_commas_are_no_rows(read, remark):
    table = read(f'id,remark,x,y\n0,"{remark}",1,2\n1,"plain ",3,4\n')
    assert table["remark"].tolist() == [remark, "plain"]
    assert table["x"].tolist() == [1, 3]


def test_cells_may_be_very_long(read):
    table = read("geo,y\n" + "x" * 200_000 + ",1\nz,2\n")
    assert table["y"].tolist() == [1, 2]


@pytest.mark.parametrize("names", [["2020", "2019", "2018"], ["1990", "1995", "2000"], ["0", "1", "2"]])
def test_years_are_names(read, names):
    with pytest.warns(UserWarning, match="is taken as the names of the columns"):
        assert list(read(",".join(names) + "\n0.5,1.5,2.5\n").columns) == names


def test_lines_of_remarks_above_the_table_are_left_out(read):
    with pytest.warns(UserWarning, match="2 lines above the table, with # before, left out"):
        table = read("# made today\n# by hand\na,b\n1,2\n3,x\n")
    assert list(table.columns) == ["a", "b"]
    assert table.index.tolist() == [4, 5]
    assert list(read("#id,b\n1,2\n").columns) == ["#id", "b"]


@pytest.mark.parametrize(
    "content",
    ["site\tx\ty\nAa 1\t0.1\t1\nAb 2\t0.2\t2\n", "site, x, y\nPlot 1, 1, 3\nPlot 2, 2, 4\n"],
)
def test_blanks_in_words_are_not_between_columns(read, content):
    with unwarned():
        table = read(content, "t.txt")
    assert list(table.columns) == ["site", "x", "y"]
    assert table["site"].iloc[0] in ("Aa 1", "Plot 1")


# Blanks.


def test_blanks_make_no_other_words(read):
    table = read('town,n,flag,y\nUlm,1,True,1\nUlm ,NA ,False ,2\n" Ulm ", 3 ,True,\t3\n')
    assert table["town"].tolist() == ["Ulm"] * 3
    np.testing.assert_array_equal(table["n"], [1, np.nan, 3])
    assert table["flag"].tolist() == [True, False, True]
    assert table["y"].tolist() == [1, 2, 3]
    assert table.index.tolist() == [2, 3, 4]


def test_cells_of_blanks_are_missing(read):
    table = read('self,y\nUlm,1\n"  ",2\n')
    assert table["self"].isna().tolist() == [False, True]


# Separators.


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("first, last;town\nJo;Ulm\nAn;Bonn\n", ["first, last", "town"]),
        ("a;b,c;d,y\n1,2,3\n4,5,6\n", ["a;b", "c;d", "y"]),
        ("first name,age in y\nJo Po,4\nAn Po,5\n", ["first name", "age in y"]),
        ("sep=;\na, b;y\n1;2\n", ["a, b", "y"]),
        ('"sep=|"\r\na;c|y\r\n1|2\r\n', ["a;c", "y"]),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas)")
def test_the_separator_makes_rows_of_the_same_length(read, content, names, name):
    assert list(read(content, name).columns) == names


@pytest.mark.filterwarnings("ignore:.*(is read with|first column)")
def test_quotes_between_blanks(read):
    table = read('"" "a b" "5"" pipe" c" y\n"r 1" 1 "x ""y""" 3 4\n', "t.txt")
    assert table.to_dict("list") == {"a b": [1], '5" pipe': ['x "y"'], 'c"': [3], "y": [4]}


def test_files_of_groups_have_the_usual_separator_if_another_does_as_well(tmp_path):
    (tmp_path / "g.csv").write_text("x,a;b\ny,c;d\n")
    assert read_groups(tmp_path / "g.csv", ["x", "y"]) == {"x": "a;b", "y": "c;d"}


def test_a_line_for_excel_is_counted(read, tmp_path):
    with pytest.warns(UserWarning, match="is read with semicolons"):
        assert read("SEP=;\na;y\n1;2\n").index.tolist() == [3]
    (tmp_path / "g.csv").write_text("sep=;\nx;roof, east\ny;hall\n")
    assert read_groups(tmp_path / "g.csv", ["x", "y"]) == {"x": "roof, east", "y": "hall"}


CELLS = st.text(st.sampled_from('ab ,;|\t"\n1.5é'), max_size=5).map(str.strip)


@given(
    st.lists(st.lists(CELLS.filter(bool), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(",;\t|"),
    st.sampled_from(["\n", "\r\n"]),
)
def test_rows_are_what_was_written(rows, separator, ends):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=separator, lineterminator=ends).writerows(rows)
    found = list(rows_of(file.getvalue(), separator, "t.csv"))
    assert [row.cells for row in found] == rows
    lines = file.getvalue().count("\n")
    assert found[-1].last_line == lines
    assert all(one.last_line + 1 == other.first_line for one, other in pairwise(found))


@pytest.mark.parametrize(
    "content",
    ["size, in m;weight;y\n1,5;2;3\n1;2,5;4\n", "size, m;weight, kg;y\n1,5;2,5;3\n1,5;2,5;4\n"],
)
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_two_separators_that_fit_are_for_the_user_to_choose(read, content, name):
    with pytest.raises(BadInput, match="may have commas or semicolons between its columns: --separator"):
        read(content, name)
    with unwarned():
        assert read(content, name, separator=";").columns[-1] == "y"
        assert read(content, name, separator=",").columns[0] == "size"


@pytest.mark.parametrize(("sign", "word"), [("\t", "tab"), ("\t", "\\t"), (" ", "blank"), ("^", "^")])
def test_any_separator_can_be_given(read, sign, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read(f"a{sign}b\n1{sign}2\n", separator=word)
    assert table.to_dict("list") == {"a": [1], "b": [2]}


def test_separators_and_decimals_that_are_none_are_told():
    with pytest.raises(BadInput, match=r"--separator must be a single character .*; got 'comma'"):
        Dialect(separator="comma")
    with pytest.raises(BadInput, match=r"--decimal must be \. or , \(a point or a comma\); got ';'"):
        Dialect(decimal=";")


# Missing cells at the end, which only separators tell from rows that are too short.


@pytest.mark.parametrize("last", ["", "NA", '""'])
@pytest.mark.parametrize("words", ["x", '"x, y"', '5" x', '"5"" x"'])
def test_missing_values_in_the_last_column_are_no_short_rows(read, last, words):
    table = read(f"a,b,y\n1,{words},2\n3,{words},{last}\n")
    assert table["y"].isna().tolist() == [False, True]
    with pytest.raises(BadInput, match="line 3 has 2 cells, but there are 3 names"):
        read(f"a,b,y\n1,{words},2\n3,{words}\n4,{words},{last}\n")


def test_parts_of_a_large_file_are_of_one_type(read):
    """pandas reads large files in parts, of which some may be numbers and others text."""
    table = read("a,b,y\n" + "1.50,7,2\n" * 300_000 + "x,8,3\n")
    assert set(table["a"]) == {"1.50", "x"}
    assert table["b"].dtype.kind == "i"


# Headers and files.


@pytest.mark.parametrize("first", ["0,1,1", "-1,1,1", "0.5,1,2", "5,3", "2020,2019,2017"])
def test_there_must_be_a_header(read, first):
    with pytest.raises(BadInput, match=r"must hold the names of the columns, got .*; is there a header"):
        read(f"{first}\n" + first)


def test_a_name_that_is_given_to_another_column_is_told(read):
    with pytest.raises(BadInput, match="several columns of the same name: 'column 2'"):
        read("column 2,,y\nu,v,1\n")


@pytest.mark.parametrize("first", ["y,n,x", "yes,no,maybe", "n,y"])
def test_short_names_are_names(read, first):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(read(f"{first}\n{','.join('1' for _ in first.split(','))}\n").columns) == first.split(",")


def test_bytes_within_the_text_are_told(read):
    with pytest.raises(BadInput, match=r"t\.csv must be text, got other bytes in line 3"):
        read("a,y\n1,2\n\0,3\n")


def test_what_unpacks_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(BadInput, match="cannot be unpacked: that needs zstandard: pip install zstandard"):
        read("a", "t.csv.zst")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")
def test_pipes_are_no_files(tmp_path):
    path = tmp_path / "t.csv"
    os.mkfifo(path)
    with pytest.raises(BadInput, match="is no file but a pipe or a device: save what comes out of it"):
        read_table(path)


def test_archives_hold_one_file(tmp_path):
    with ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a,y\n1,2\n")
        archive.writestr("b.csv", "a,y\n1,2\n")
    with pytest.raises(BadInput, match="it must hold one file"):
        read_table(tmp_path / "t.csv.zip")
