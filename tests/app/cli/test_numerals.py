"""Numbers as people write them: read in their only possible meaning, with a note, or refused as text."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.app.cli.checking.cells import not_numbers
from swapwise.app.cli.reading.numerals import PATTERNS, decimal_of, number_of
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.reading.tables import read_table
from swapwise.checks import unwarned

COMMAS = "is read with decimal commas: 1,5 is 1.5$"


@pytest.fixture
def written(tmp_path):
    """Write a table of two columns, as it stands, and return it as it is read."""

    def written(cells, others, separator, **dialect):
        path = tmp_path / ("t.tsv" if separator == "\t" else "t.csv")
        lines = [separator.join(pair) for pair in zip(["cost", *cells], ["other", *others], strict=True)]
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_table(path, Dialect(**dialect))

    return written


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["3.007", "12.450", "943", "-1.234.567"], [3007, 12450, 943, -1234567]),
        (["3.007,5", "0,25", "943", "1.234.567,"], [3007.5, 0.25, 943, 1234567]),
        (["3.007", "12.450", "943", "+1.000"], [3007, 12450, 943, 1000]),
        (["3 007,5", "0,25", "943", ""], [3007.5, 0.25, 943, None]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*semicolons")
def test_thousands_beside_decimal_commas(written, cells, numbers):
    note = "(points|blanks) between thousands in 'cost': 3.007.* is read as 3007"
    with pytest.warns(UserWarning, match=COMMAS), pytest.warns(UserWarning, match=note):
        read = written(cells, ["1,5", "2", ",5", "7,"], ";")
    assert [None if cell != cell else cell for cell in read["cost"]] == numbers
    assert read["other"].tolist() == [1.5, 2, 0.5, 7]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.filterwarnings("ignore:.*semicolons")
def test_points_are_decimal_where_nothing_else_is_reported(written, separator):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(decimal commas|between thousands)")
        read = written(["3.007", "12.450"], ["1", "2"], separator)
    assert read["cost"].tolist() == [3.007, 12.45]


UNREAD = {
    "either": (['"1,234"', '"25,500"', "7"], "holds numbers such as '1,234', which may be 1.234 or 1234"),
    "decimal commas": (['"1,3"', "2", '"1,2"'], "holds numbers with decimal commas, such as '1,3'"),
    "several": (['"3,5"', "3.5", "4"], "has numbers written in several ways: '3,5' and '3.5'"),
}


@pytest.mark.parametrize("kind", UNREAD)
def test_what_may_be_either_is_for_the_user_to_say(written, kind):
    cells, fact = UNREAD[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unread = written(cells, ["1", "2", "3"], ",")["cost"]
    assert unread.tolist() == [cell.strip('"') for cell in cells]
    assert not_numbers(unread).fact == f"'cost' {fact}"
    assert ("--decimal ," in not_numbers(unread).decide) == (kind != "several")


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_user_says_what_commas_are(written, separator):
    cells, others = ['"1,234"', '"25,500"', "7"], ["1", "2", "3"]
    with unwarned():
        read = {sign: written(cells, others, separator, decimal=sign)["cost"].tolist() for sign in ",."}
    assert read == {",": [1.234, 25.5, 7], ".": [1234, 25500, 7]}


def test_decimals_beside_decimal_commas_that_come_late_are_reported(written):
    ones = ["1"] * 100
    with pytest.warns(UserWarning, match="semicolons"):
        read = written([*ones, "3.5", "3.007"], [*ones, "1,5", "2"], ";")
    assert read["cost"].dtype.kind == "f"
    assert not_numbers(read["other"]).decide == "--decimal ,"
    with unwarned():
        read = written([*ones, "3.5", "3.007"], [*ones, "1,5", "2"], ";", decimal=",")
    assert not_numbers(read["cost"]).fact == "'cost' holds numbers with decimal points, such as '3.5'"
    assert read["other"].tolist()[-2:] == [1.5, 2]


@pytest.mark.parametrize(
    ("cells", "others", "name"),
    [
        (['"1,234"', "943", '"-1,234,567.50"', "0.5"], "abcd", "commas"),
        (['"1,234"', "943", '"-1,234"', "5"], ["0.5", "1", "2", ""], "commas"),
        (["1 234", "943", "-1 234 567.50", "0.5"], "abcd", "blanks"),
        (["1\u00a0234", "943", "-1\u202f234\u202f567.50", "0.5"], "abcd", "blanks"),
        (["+1'234", "943", "-1’234’567.50", "0.5"], "abcd", "apostrophes"),
    ],
)
def test_thousands_between_commas(written, cells, others, name):
    shown = re.escape(cells[0].strip('"'))
    with pytest.warns(UserWarning, match=f"has {name} between thousands in 'cost': {shown} is read as 1234$"):
        read = written(cells, others, ",")
    assert read["cost"].tolist() == [number_of(cell, ".") for cell in cells]


def test_a_typing_error_hides_no_decimal_commas(written):
    with unwarned():
        read = written(["3.007", "2", "3"], ["1,5", "2,o", "3,5"], ";")
    assert read["cost"].tolist() == [3007, 2, 3]
    assert read["other"].tolist() == ["1,5", "2,o", "3,5"]


@pytest.mark.parametrize("cells", [["1 23", "4 567"], ["1 234", "Ulm"], ["012 345", "1"]])
def test_other_words_stay(written, cells):
    assert written(cells, ["1", "2"], ",")["cost"].tolist() == cells


@given(st.integers(-(10**12), 10**12).filter(lambda n: abs(n) > 999))
def test_thousands_are_read_as_they_are_written(number):
    for decimal, patterns in PATTERNS.items():
        signs = {"points": ".", "commas": ",", "blanks": "\u202f", "apostrophes": "’"}
        for name, pattern in patterns.items():
            word = f"{number:,}".replace(",", signs[name])
            assert pattern.fullmatch(word)
            assert number_of(word, decimal) == number
            assert decimal_of(word) in ("", decimal)


def test_lists_of_numbers_do_not_make_thousands_of_decimals(written):
    with pytest.warns(UserWarning, match=COMMAS):
        read = written(["2.075", "3.911", "1.250"], ["1,2", "2,5", "1,7"], "\t")
    assert read["cost"].tolist() == ["2.075", "3.911", "1.250"]  # refused where it is used


def test_levels_of_a_long_column_have_one_type(tmp_path):
    path, n_rows = tmp_path / "long.csv", 600_000  # more than pandas reads at a time
    words = np.where(np.arange(n_rows) < n_rows - 9, "01", "A7 ")
    pd.DataFrame({"level": words, "y": 1}).to_csv(path, index=False)
    assert set(read_table(path, Dialect())["level"]) == {"01", "A7"}
