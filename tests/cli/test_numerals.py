"""Numbers as people write them: read as they can only be meant, with a note, or left as text and told."""

import re
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swapwise.checks import unwarned
from swapwise.cli.checking.cells import other_kind
from swapwise.cli.reading.dialect import Dialect
from swapwise.cli.reading.numerals import WITH_COMMAS, WITH_POINTS, decimal_of
from swapwise.cli.reading.tables import read_table

COMMAS = "is read with decimal commas: 1,5 is 1.5$"


@pytest.fixture
def written(tmp_path):
    """Write a table of two columns, as it stands, and return what is read of it."""

    def written(cells, others, separator, **dialect):
        path = tmp_path / ("t.tsv" if separator == "\t" else "t.csv")
        lines = [separator.join(pair) for pair in zip(["cost", *cells], ["other", *others], strict=True)]
        path.write_text("\n".join(lines), encoding="utf-8")
        return read_table(path, Dialect(**dialect))

    return written


THOUSANDS = {
    "points": ["3.007", "12.450", "943", "-1.234.567"],
    "points that pandas reads": ["3.007", "12.450", "943", "+1.000"],
    "points and decimals": ["3.007,5", "0,25", "943", "1.234.567,"],
}


@pytest.mark.parametrize("kind", THOUSANDS)
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.filterwarnings("ignore:.*(semicolons|decimal commas)")
def test_points_between_thousands_beside_decimal_commas(written, kind, far):
    """Also if the first lines, which are looked at before all, have no decimals."""
    cells = ["1"] * (100 if far else 0) + THOUSANDS[kind]
    others = ["2"] * (len(cells) - 4) + ["1,5", "2", ",5", "7,"]
    example = THOUSANDS[kind][0]
    with pytest.warns(UserWarning, match=f"points between thousands in 'cost': {example} is read as 3007"):
        read = written(cells, others, ";")
    assert read["cost"].tolist() == [float(cell.replace(".", "").replace(",", ".")) for cell in cells]
    assert read["other"].tolist()[-4:] == [1.5, 2, 0.5, 7]
    assert read.index.tolist() == list(range(2, len(cells) + 2))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.filterwarnings("ignore:.*semicolons")
def test_points_are_decimal_where_nothing_else_is_said(written, separator):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(decimal commas|between thousands)")
        read = written(["3.007", "12.450"], ["1", "2"], separator)
    assert read["cost"].tolist() == [3.007, 12.45]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_may_be_either_is_for_the_user_to_say(written, separator):
    cells = ['"1,234"', '"25,500"', "7"]
    with unwarned():
        unread = written(cells, ["1", "2", "3"], separator)
        read = {sign: written(cells, ["1", "2", "3"], separator, decimal=sign)["cost"] for sign in ",."}
    assert unread["cost"].tolist() == ["1,234", "25,500", "7"]
    told = other_kind(unread["cost"])
    assert told.fact == "'cost' holds numbers such as '1,234', which may be 1.234 or 1234"
    assert told.advice == "--decimal , or --decimal . says which"
    assert read[","].tolist() == [1.234, 25.5, 7]
    assert read["."].tolist() == [1234, 25500, 7]


@pytest.mark.parametrize("others", [["0.5", "1", "2"], ["1", '"1,234.5"', "3"], ["1", '"1,234,567"', "2"]])
def test_other_columns_may_tell_what_commas_are(written, others):
    with pytest.warns(UserWarning, match="commas between thousands in 'cost'.*: 1,234 is read as 1234$"):
        assert written(['"1,234"', '"25,500"', "7"], others, ",")["cost"].tolist() == [1234, 25500, 7]


@pytest.mark.parametrize("far", [False, True])
@pytest.mark.filterwarnings("ignore:.*(semicolons|thousands)")
def test_points_and_commas_before_decimals_are_told(written, far):
    first = ["1"] * (100 if far else 0)
    read = written([*first, "3.5", "3.007"], [*first, "1,5", "2"], ";")
    assert read["cost"].dtype.kind == "f"
    assert read["other"].tolist()[-2:] == ["1,5", "2"]
    told = other_kind(read["other"])
    assert told.fact == "'other' holds numbers with decimal commas, such as '1,5', and others do not"
    assert told.decide == "--decimal ,"
    read = written(["3.5", "3.007"], ["1,5", "2"], ";", decimal=",")
    assert "decimal points, such as '3.5'" in other_kind(read["cost"]).fact
    assert read["other"].tolist() == [1.5, 2]


def test_answers_with_commas_are_no_decimals_beside_points(written):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = written(['"1,3"', "2", '"1,2"'], ["20.629", "18.251", "19.118"], ",")
    assert read["other"].tolist() == [20.629, 18.251, 19.118]
    assert read["cost"].tolist() == ["1,3", "2", "1,2"]


@pytest.mark.filterwarnings("ignore:.*(semicolons|decimal commas)")
def test_points_that_mean_two_things_are_told(written):
    read = written(["3,5", "3.5", "4,5"], ["1,5", "2,5", "3,5"], ";")
    places = "'3,5' in line 2, '3.5' in line 3"
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
def test_thousands_between_commas(written, cells, name):
    shown = re.escape(cells[0].strip('"'))
    with pytest.warns(UserWarning, match=f"has {name} between thousands in 'cost': {shown} is read as 1234$"):
        read = written(cells, ["a", "b", "c", "d"], ",")
    assert read["cost"].tolist() == [1234, 943, -1234567.5, 0.5]


@pytest.mark.filterwarnings("ignore:.*(semicolons|thousands)")
def test_a_typing_error_hides_no_decimal_commas(written):
    with pytest.warns(UserWarning, match=COMMAS):
        read = written(["3.007", "2", "3"], ["1,5", "2,o", "3,5"], ";")
    assert read["cost"].tolist() == [3007, 2, 3]
    assert read["other"].tolist() == ["1,5", "2,o", "3,5"]


@pytest.mark.filterwarnings("ignore:.*semicolons")
def test_blanks_between_thousands_before_decimal_commas(written):
    with pytest.warns(UserWarning, match="blanks between thousands in 'cost': 1 234,5 is read as 1234.5"):
        read = written(["1 234,5", "0,5", ""], ["a", "b", "c"], ";")
    np.testing.assert_array_equal(read["cost"], [1234.5, 0.5, np.nan])


@pytest.mark.parametrize("cells", [["1 23", "4 567"], ["1 234", "Ulm"], ["012 345", "1"]])
def test_other_words_stay(written, cells):
    assert written(cells, ["1", "2"], ",")["cost"].tolist() == cells


@given(st.integers(-(10**12), 10**12).filter(lambda n: abs(n) > 999))
def test_thousands_are_read_as_they_are_written(number):
    for style in (*WITH_COMMAS, *WITH_POINTS):
        word = f"{number:,}".replace(",", style.thousands[0])
        assert style.fits(word)
        assert style.value(word) == number
        assert decimal_of(word) in ("", style.decimal)
