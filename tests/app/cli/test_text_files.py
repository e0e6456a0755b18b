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

from swapwise.app.cli.checking.cells import not_numbers
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.limit_files import read_groups
from swapwise.app.cli.reading.rows import Dialect, rows_of
from swapwise.app.cli.reading.tables import read_table
from swapwise.checks import unwarned

ROW_NAMES = "first column of .* is taken as the names of the rows"


@pytest.fixture
def read(tmp_path):
    def read(content, name="t.csv", **dialect):
        path = tmp_path / name
        path.write_bytes(content.encode())
        return read_table(path, Dialect(**dialect))

    return read


# What is refused, with the name of the file if that matters.

WIDTHS = {
    "decimal commas": (
        "a,b,c,y\n0,13,-0,13,0,64,-0,84\n",
        r"line 2 has 8 cells, but there are 4 names; decimal commas\? save the table with semicolons or poi",
    ),
    "two more": ("a,b,y\n1,2,3,4,5\n1,2,3,4,5\n", "line 2 has 5 cells, but there are 3 names; decimal com"),
    "later": ("a,b,y\n1,2,3\n1,2,3\n1,2,3,4\n", "line 4 has 4 cells, but there are 3 names"),
    "fewer": ("a,b,c,y\n1,2,3,4\n1,2,3\n", "line 3 has 3 cells, but there are 4 names$"),
    "one": ("a;b\n1;2\nend\n", "line 3 has 1 cell, but there are 2 names$"),
    "one column": ("a,b,y\n1,5,2,3\n1,5,2,4\n", "4 cells, .*; names of rows must be different, and in all"),
    "some": ("a,b,y\n1,5,2,3\n2,2,3\n", "line 2 has 4 cells, but there are 3 names"),
    "below blank lines": ("\na,b\n\n1,2\n \n1,2,3\n", "line 6 has 3 cells, but there are 2 names"),
    "below a cell of two lines": ('a,b\n1,"x\ny"\n1\n', "line 4 has 1 cell, but there are 2 names"),
}


@pytest.mark.parametrize("mistake", WIDTHS)
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_rows_of_other_widths_are_reported(read, mistake, ends):
    content, message = WIDTHS[mistake]
    with unwarned(), pytest.raises(BadInput, match=message):
        read(content.replace("\n", ends))


@pytest.mark.parametrize("last", ["", "NA", '""'])
@pytest.mark.parametrize("words", ["x", '"x, y"', '5" x', '"5"" x"'])
def test_missing_values_in_the_last_column_are_no_short_rows(read, last, words):
    table = read(f"a,b,y\n1,{words},2\n3,{words},{last}\n")
    assert table["y"].isna().tolist() == [False, True]
    with pytest.raises(BadInput, match="line 3 has 2 cells, but there are 3 names"):
        read(f"a,b,y\n1,{words},2\n3,{words}\n4,{words},{last}\n")


STRAY = {
    "twice": ('a\tb\tn\n1\t2\tx\n3\t4\t"5 inch\n5\t6\tx\n7\t8\t"5 inch\n9\t9\tx\n', "3 goes on to line 5"),
    "in the first column": ('n\ta\tb\n"5 inch\t1\t2\n"5 inch\t3\t4\n', "2 goes on to line 3"),
    "above blank lines": ('a\tn\n1\t"5 inch\n\n\n2\t"5 inch\n', "2 goes on to line 5"),
    "once": ('a\tn\n1\t"5 inch\n2\tx\n3\tx\n', "2 goes on to line 4"),
    "at the end": ('a\tn\n1\tx\n2\t"5 inch', "3 does not end"),
    "far": ('a\tn\n1\t"5 inch\n' + "2\tx\n" * 50_000, "2 goes on to line 50002"),
    "around rows": ('a\tb\tc\n1\t"2\n4\t5\t6\n7"\t8\n1\t2\t3\n', "2 goes on to line 4"),
    "between blanks": ('a b y\n1 "5 2\n2 3 4\n', "2 goes on to line 3"),
    "between blanks, twice": ('a b\n1 "5\n2 "6\n', "2 goes on to line 3"),
}


@pytest.mark.parametrize("place", STRAY)
def test_quotes_swallow_no_rows(read, place):
    content, message = STRAY[place]
    with unwarned(), pytest.raises(BadInput, match=f"a cell of line {message}: is there a quote too many"):
        read(content, "t.tsv" if "\t" in content else "t.txt")


@pytest.mark.parametrize("first", ["0,1,1", "-1,1,1", "0.5,1,2", "5,3", "2020,2019,2017"])
def test_there_must_be_a_header(read, first):
    with pytest.raises(BadInput, match=r"must hold the names of the columns, got .*; is there a header"):
        read(f"{first}\n{first}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("yes,No,yes\n1,0,1\n", "several columns of the same name: 'yes'"),
        ("column 2,,y\nu,v,1\n", "several columns of the same name: 'column 2'"),
        ("a,y\n1,2\n\0,3\n", r"t\.csv must be text, got other bytes in line 3"),
        ('""\n', "is empty: there is no name of a column"),
        ("\n \n", "is empty"),
        ("", "is empty"),
    ],
)
def test_other_files_are_reported(read, content, message):
    with pytest.raises(BadInput, match=message):
        read(content)


# What is read, and without a word.

READ = {
    "separators behind some rows": ("a,b\n1,2\n3,4,\n5,6,,\t\n", {"a": [1, 3, 5], "b": [2, 4, 6]}),
    "separators behind names": ("a,b,,\n1,2\n3,4,\n", {"a": [1, 3], "b": [2, 4]}),
    "separators behind all rows": ("a,b\n1,2,\n1,4,\n", {"a": [1, 1], "b": [2, 4]}),
    "names that begin like remarks": ("#id,b\n1,2\n", {"#id": [1], "b": [2]}),
    "short names": ("y,n,x\n1,1,1\n", {"y": [1], "n": [1], "x": [1]}),
    "blanks around words": (
        'town,n,flag,y\nUlm,1,True,1\nUlm ,5 ,False ,2\n" Ulm ", 3 ,True,\t3\n',
        {"town": ["Ulm"] * 3, "n": [1, 5, 3], "flag": [True, False, True], "y": [1, 2, 3]},
    ),
    "a long cell": ("geo,y\n" + "x" * 200_000 + ",1\nz,2\n", {"geo": ["x" * 200_000, "z"], "y": [1, 2]}),
    "a remark with commas": (
        'id,said,y\n0,"Nice, clean,\nwould come, yes",2\n1,"plain ",4\n',
        {"id": [0, 1], "said": ["Nice, clean,\nwould come, yes", "plain"], "y": [2, 4]},
    ),
    "a remark of three lines": ('n,y\n"a\nb, c\nd",2\nx,4\n', {"n": ["a\nb, c\nd", "x"], "y": [2, 4]}),
    "a remark with another end": ('n,y\n"warm\rdry",2\nx,4\n', {"n": ["warm\rdry", "x"], "y": [2, 4]}),
}


@pytest.mark.parametrize("kind", READ)
def test_odd_files_are_read_as_they_are(read, kind):
    content, cells = READ[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(content).to_dict("list") == cells


def test_lines_are_those_of_the_file(read):
    table = read('a,said,b,y\n1,"Well, yes.\nNo.",3,4\n4,no,5O,6\n7,no,8,9\n7,no,8,9\n')
    assert not_numbers(table["b"]).fact.endswith("'5O' in line 4")
    with pytest.warns(UserWarning, match="2 lines above the table, with # before, left out"):
        table = read("# made today\n# by hand\na,b\n1,2\n3,x\n")
    assert (list(table.columns), table.index.tolist()) == (["a", "b"], [4, 5])
    with pytest.warns(UserWarning, match="is read with semicolons"):
        assert read("SEP=;\na;y\n1;2\n").index.tolist() == [3]


@pytest.mark.parametrize("blank", ['"  "', "NA "])
def test_cells_of_blanks_are_missing(read, blank):
    table = read(f"self,n,y\nUlm,1,1\n{blank},{blank},2\n")
    assert table["self"].isna().tolist() == [False, True]
    np.testing.assert_array_equal(table["n"], [1, np.nan])


@pytest.mark.parametrize(("name", "sign"), [("t.csv", ","), ("t.txt", " "), ("t.tsv", "\t")])
@pytest.mark.filterwarnings("ignore:.*is read with")
def test_names_of_rows_need_no_name(read, name, sign):
    with pytest.warns(UserWarning, match=ROW_NAMES):
        table = read('a b y\n"p_1" 1.5 NA 3\n"p_2" 4 5 6\n'.replace(" ", sign).replace("_", " "), name)
    np.testing.assert_array_equal(table, [[1.5, np.nan, 3], [4, 5, 6]])
    assert list(table.columns) == ["a", "b", "y"]
    with pytest.warns(UserWarning, match=ROW_NAMES):
        table = read("a,y\nr1,1,\nr2,2,5\n")  # with gaps in the last column
    np.testing.assert_array_equal(table, [[1, np.nan], [2, 5]])


@pytest.mark.parametrize("names", ["2020,2019,2018", "1990,1995,2000", "0,1,2", "1,2,3"])
def test_numbers_that_count_are_names(read, names):
    with pytest.warns(UserWarning, match=f"the first line of .*, {names[0]}.* is taken as the names of the"):
        assert list(read(f"{names}\n0.5,1.5,2.5\n").columns) == names.split(",")


@pytest.mark.filterwarnings("ignore:.*(is read with|first column)")
def test_quotes_between_blanks(read):
    table = read('"" "a b" "5"" pipe" c" y\n"r 1" 1 "x ""y""" 3 4\n', "t.txt")
    assert table.to_dict("list") == {"a b": [1], '5" pipe': ['x "y"'], 'c"': [3], "y": [4]}


def test_parts_of_a_large_file_are_of_one_type(read):
    """pandas reads large files in parts, of which some may be numbers and others text."""
    table = read("a,b,y\n" + "1.50,7,2\n" * 300_000 + "x,8,3\n")
    assert set(table["a"]) == {"1.50", "x"}
    assert table["b"].dtype.kind == "i"


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
    assert found[-1].last_line == file.getvalue().count("\n")
    assert all(one.last_line + 1 == other.first_line for one, other in pairwise(found))


# Separators.


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("first, last;town\nJo;Ulm\nAn;Bonn\n", ["first, last", "town"]),
        ("a;b,c;d,y\n1,2,3\n4,5,6\n", ["a;b", "c;d", "y"]),
        ("first name,age in y\nJo Po,4\nAn Po,5\n", ["first name", "age in y"]),
        ("sep=;\na, b;y\n1;2\n", ["a, b", "y"]),
        ('"sep=|"\r\na;c|y\r\n1|2\r\n', ["a;c", "y"]),
        ("site\tx\ty\nAa 1\t0.1\t1\nAb 2\t0.2\t2\n", ["site", "x", "y"]),
        ("site, x, y\nPlot 1, 1, 3\nPlot 2, 2, 4\n", ["site", "x", "y"]),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
@pytest.mark.filterwarnings("ignore:.*(is read with|decimal commas)")
def test_the_separator_makes_rows_of_the_same_length(read, content, names, name):
    assert list(read(content, name).columns) == names


@pytest.mark.parametrize("content", ["a, m;b;y\n1,5;2;3\n1;2,5;4\n", "a, m;b, kg;y\n1,5;2,5;3\n1,5;2,5;4\n"])
@pytest.mark.parametrize("name", ["t.csv", "t.txt"])
def test_two_separators_that_fit_are_for_the_user_to_choose(read, content, name):
    with pytest.raises(BadInput, match="may have commas or semicolons between its columns: --separator"):
        read(content, name)
    with unwarned():
        assert read(content, name, separator=";").columns[-1] == "y"
        assert read(content, name, separator=",").columns[0] == "a"


def test_files_of_groups_have_the_usual_separator_if_another_does_as_well(tmp_path):
    (tmp_path / "g.csv").write_text("x,a;b\ny,c;d\n")
    assert read_groups(tmp_path / "g.csv", ["x", "y"]) == {"x": "a;b", "y": "c;d"}
    (tmp_path / "g.csv").write_text("sep=;\nx;roof, east\ny;hall\n")
    assert read_groups(tmp_path / "g.csv", ["x", "y"]) == {"x": "roof, east", "y": "hall"}


@pytest.mark.parametrize(("sign", "word"), [("\t", "tab"), ("\t", "\\t"), (" ", "blank"), ("^", "^")])
def test_any_separator_can_be_given(read, sign, word):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = read(f"a{sign}b\n1{sign}2\n", separator=word)
    assert table.to_dict("list") == {"a": [1], "b": [2]}


def test_separators_and_decimals_that_are_none_are_reported():
    with pytest.raises(BadInput, match=r"--separator must be a single character .*; got 'comma'"):
        Dialect(separator="comma")
    with pytest.raises(BadInput, match=r"--decimal must be \. or , \(a point or a comma\); got ';'"):
        Dialect(decimal=";")


# Files.


def test_what_unpacks_is_named(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(BadInput, match="cannot be unpacked: that needs zstandard: pip install zstandard"):
        read("a", "t.csv.zst")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes here")
def test_pipes_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(BadInput, match="is no file but a pipe or a device: save what comes out of it"):
        read_table(tmp_path / "t.csv")


def test_archives_hold_one_file(tmp_path):
    with ZipFile(tmp_path / "t.csv.zip", "w") as archive:
        archive.writestr("a.csv", "a,y\n1,2\n")
        archive.writestr("b.csv", "a,y\n1,2\n")
    with pytest.raises(BadInput, match="it must hold one file"):
        read_table(tmp_path / "t.csv.zip")
