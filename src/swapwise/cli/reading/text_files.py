"""Tables in text: which names they have, which rows, and what is in their cells."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.reading.messages import some_of
from swapwise.cli.reading.numerals import has_decimal_commas, holds_words, is_number, with_numbers
from swapwise.cli.reading.rows import SEPARATORS, Layout, layout_of, rows_of, separator_of, stream_of
from swapwise.cli.reading.text_content import text_of

if TYPE_CHECKING:
    import pandas as pd

# What a table of two values has in every line; the names of columns are other words.
ANSWERS = {"no", "yes", "n", "y", "false", "true"}


# Lines of remarks; those with columns may be the header.
COMMENTS = re.compile(r"(?:#[^\n,;\t|]*\n)+")


def read_text(path: Path, usual: str | None) -> pd.DataFrame:
    """Return a table that begins with the names of its columns; its index are the lines of the file.

    ``usual`` is what is expected between the columns, None for anything. Another separator that fits better
    is used, and told. There are no blanks around words.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\\n1,2\\n")
    ...     read_text(path, ",")
          a  b
    line
    2     1  2
    """
    text = _without_comments(text_of(path), path)
    layout = layout_of(text, path, usual)
    _require_header(layout.names, path)
    names, n_before = layout.names, int(layout.has_one_more)
    if layout.has_one_more or names[0] == "":  # as R writes them without a name, and pandas
        names, n_before = names[1 - n_before :], 1
        warn(f"the first column of {path} has no name, and is taken as the names of the rows")
    if layout.separator != usual:
        warn(f"{path} is read with {SEPARATORS.get(layout.separator, 'blanks')} between its columns")
    named = {n_before + place: name or f"column {place + 1}" for place, name in enumerate(names)}
    require_different(named.values(), path)
    parse = partial(_parsed, text, layout, path)
    table = _stripped(parse(named))
    unnamed = table.columns.difference(names)
    table = table.drop(columns=[name for name in unnamed if table[name].isna().all()])

    def as_text(chosen: Sequence[str]) -> pd.DataFrame:
        wanted = set(chosen)
        return parse({place: name for place, name in named.items() if name in wanted}, dtype=str)

    decimal_comma = layout.separator == ";" or has_decimal_commas(table, layout.separator == ",")
    return with_numbers(table, path, as_text, decimal_comma=decimal_comma)


def read_cells(path: Path, usual: str | None) -> list[list[str]]:
    """Return the words of a text file, line by line, without the blanks around them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "groups.csv"
    ...     _ = path.write_text("x, roof\\ny,hall \\n")
    ...     read_cells(path, ",")
    [['x', 'roof'], ['y', 'hall']]
    """
    text = _without_comments(text_of(path), path)
    rows = list(rows_of(stream_of(text), separator_of(text, usual), path))
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            raise BadInput(
                f"{path}: line {row.first_line} must have {width} cells as the lines before, got "
                f"{len(row.cells)}"
            )
    return [[word.strip() for word in row.cells] for row in rows]


def _without_comments(text: str, path: Path) -> str:
    """Return a text with blank lines for those above the table that begin with # and have no columns."""
    comments = COMMENTS.match(text)
    if comments is None:
        return text
    n_lines = comments[0].count("\n")
    warn(f"{path}: {n_lines} {'lines' if n_lines > 1 else 'line'} above the table, with # before, left out")
    return "\n" * n_lines + text[comments.end() :]


def require_different(names: Iterable[str], path: Path) -> None:
    """Say which names there are several of.

    >>> require_different(["a", "b", "a"], Path("t.csv"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: t.csv has several columns of the same name: 'a'; rename one of them, or
    leave it out of the file
    """
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadInput(
            f"{path} has several columns of the same name: {some_of(twice)}; rename one of them, or leave it "
            "out of the file"
        )


def _require_header(names: Sequence[str], path: Path) -> None:
    """Refuse numbers for names, unless they count up, as those of tables that never had other names."""
    named = [name for name in names if name]
    are_answers = len(named) > len(set(named)) and all(name.lower() in ANSWERS for name in named)
    if not named or not (are_answers or all(map(is_number, named))):
        return
    if are_answers or not _count(named):
        got = f"{'answers' if are_answers else 'numbers'}: {some_of(named)}"
        raise BadInput(
            f"{path}: the first line must hold the names of the columns, got {got}; is there a header?"
        )
    warn(f"the first line of {path}, {some_of(named)}, is taken as the names of the columns")


def _count(names: Sequence[str]) -> bool:
    """Return whether names are numbers in equal steps, such as 0, 1, 2 or years.

    >>> _count(["2020", "2018", "2016"]), _count(["3", "7"])
    (True, False)
    """
    if len(names) == 1 or not all(name.isdecimal() for name in names):
        return False
    steps = {int(after) - int(name) for name, after in pairwise(names)}
    are_years = all(len(name) == len("2000") for name in names)
    return len(steps) == 1 and bool(steps - {0}) and (are_years or steps == {1})


def _parsed(text: str, layout: Layout, path: Path, named: dict[int, str], **options: Any) -> pd.DataFrame:
    """Return some columns, which have names by their places."""
    import pandas as pd

    lines = pd.Index(layout.lines, dtype="int64", name="line")
    if not len(lines):
        return pd.DataFrame(columns=list(named.values()), index=lines)
    named = {place: name for place, name in named.items() if place < layout.width}
    body = StringIO(text, newline="")
    body.seek(layout.start)
    numbered = {"header": None, "names": range(layout.width), "usecols": list(named), "index_col": False}
    sep = layout.separator
    try:
        read = pd.read_csv(body, sep=sep, skipinitialspace=True, low_memory=False, **numbered, **options)
    except pd.errors.ParserError:
        read = None
    if read is None or len(read) != len(lines):
        raise BadInput(
            f"{path} cannot be read: a quote is not closed, perhaps in line {lines[-1]}, or a line holds "
            "nothing but quotes or odd blanks"
        )
    return read[list(named)].set_axis(list(named.values()), axis=1).set_axis(lines)


def _stripped(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without blanks around words, which may be numbers or nothing without them."""
    import pandas as pd

    for name in filter(lambda name: holds_words(table[name]), table.columns):
        words = table[name].str.strip()
        blank = words.notna() & (words != table[name])
        if blank.any():
            written = table[name].mask(blank, words).to_csv(index=False, header=False, quoting=csv.QUOTE_ALL)
            read = pd.read_csv(StringIO(written), header=None, skip_blank_lines=False)[0]
            table[name] = read.set_axis(table.index)
    return table
