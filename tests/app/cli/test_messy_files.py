"""Messages of ``swapwise select`` about ten messy files, and about a wrong encoding."""

import pytest

from tests.app.cli.running import select

ROWS = "".join(f"{n},{n * n % 7},{n * 3 % 5}.5\n" for n in range(8))
OUT = ", or leave out the column by --force-out"

# The content of the file, and the message about it, after its name if that is in it.
MESSY = {
    "a cell too many": (
        f"a,b,y\n{ROWS}1,2,3,4\n",
        "line 10 has 4 cells, but there are 3 names; decimal commas? ",
    ),
    "decimal commas between commas": (
        "a,b,y\n0,5,1,5,2\n1,5,0,5,1\n",
        "line 2 has 5 cells, but there are 3 names; decimal commas? save the table with semicolons or points",
    ),
    "a quote that is not closed": (
        f'a,b,y\n1,"5 inch,2\n{ROWS}',
        "a cell of line 2 goes on to line 10: is there a quote too many?",
    ),
    "a name twice": (
        f"a,a,y\n{ROWS}",
        "has several columns of the same name: 'a'; rename one of them, or leave it out of the file",
    ),
    "no names": (
        "1,2.5,3\n" + ROWS,
        "the first line must hold the names of the columns, got numbers: 1, 2.5, 3; is there a header?",
    ),
    "a typing error": (
        f"a,b,y\n{ROWS}4O,1,2\n",
        f"the column 'a' has text in 1 of 9 rows: '4O' in line 10; correct it in the data{OUT}",
    ),
    "a sign for missing values": (
        f"a,b,y\n{ROWS}?,1,2\n",
        "the column 'a' has '?' in 1 of 9 rows, the first in line 10, which looks like missing values: leave "
        f"such cells empty; then --drop-missing leaves out their rows{OUT}",
    ),
    "commas that may be either": (
        'a,b,y\n"1,234",1,3\n"2,500",2,4\n"3,100",5,7\n',
        "the column 'a' holds numbers such as '1,234', which may be 1.234 or 1234; --decimal , or --decimal "
        f". says which{OUT}",
    ),
    "separators that may be either": (
        "a, m;b;y\n1,5;2;3\n2;2,5;4\n",
        "may have commas or semicolons between its columns: --separator ',' or --separator ';' says which",
    ),
    "several at once": (
        "day,a,town,y\n"
        + "".join(f"2024-05-0{n},{n if n % 3 else ''},{'AB'[n % 2]},{n * n}\n" for n in range(1, 9)),
        "3 problems:\n"
        "  the column 'day' holds dates such as '2024-05-01'\n"
        "  missing values in 2 of 8 rows, by column: 'a' 2\n"
        "  no numbers in the column 'town', such as 'B'\n"
        "try: --force-out day --drop-missing --one-hot",
    ),
}


@pytest.mark.parametrize("mess", MESSY)
def test_messages_about_a_messy_file(tmp_path, mess):
    content, message = MESSY[mess]
    (tmp_path / "t.csv").write_text(content)
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "1")
    assert done.exit_code == 1
    assert message in done.output


def test_an_encoding_that_is_not_given(tmp_path):
    (tmp_path / "t.csv").write_bytes(f"größe,b,y\n{ROWS}".encode("latin-1"))
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "1")
    assert (
        "is no text in UTF-8, as line 1 shows: --encoding says which; --encoding cp1252 reads 'grö"
        in done.output
    )
    done = select(tmp_path / "t.csv", "--target", "y", "--size", "1", "--encoding", "latin-1")
    assert done.exit_code == 0, done.output
