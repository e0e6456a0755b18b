"""Tables in text: read by pandas in one pass, and row by row only where something is off."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import quoted
from swapwise.app.cli.reading.content import content_of
from swapwise.app.cli.reading.numerals import decimal_of, has_decimal_commas, with_numbers
from swapwise.app.cli.reading.rows import SEPARATORS, Dialect, Row, layout_of, n_named, rows_of, separator_of
from swapwise.checks import some_of, warn

if TYPE_CHECKING:
    import pandas as pd

# Lines of remarks (those with columns may be the header), the separator as Excel declares it, blank lines.
ABOVE = re.compile(
    rb'((?:#[^\r\n,;\t|]*\r?\n)*)(?:"?sep=([,;\t|])"?[^\S\r\n]*\r?\n)?(?: *\r?\n)*', re.IGNORECASE
)

# The separator is found from this many lines, or from the first two and this many bytes.
MOST_LINES, MOST_BYTES = 50, 1_000_000

# Of more columns, pandas is faster on the whole file than on parts of it, and later on one block of numbers.
MANY_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class _TextFile:
    """The content of a file, and its layout."""

    path: Path
    content: bytes
    #: Where the names of the columns begin, and the number of lines above them
    start: int
    n_above: int
    #: Where the row below the names begins
    body: int
    separator: str
    first_rows: list[Row]

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.first_rows[0].cells]

    @property
    def text(self) -> str:
        """All from the names on; what stands above is blank lines, so that lines keep their numbers."""
        return "\n" * self.n_above + self.content[self.start :].decode()

    def parse(self, width: int, decimal: str, *, in_parts: bool = True) -> pd.DataFrame:
        """Return the columns below the names, by their places."""
        import pandas as pd

        body = BytesIO(self.content)
        body.seek(self.body)
        how = {"sep": self.separator, "decimal": decimal, "low_memory": in_parts and width < MANY_COLUMNS}
        blanks = {"skipinitialspace": b" " in self.content}  # costs pandas a third more time
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells would be lost
            warnings.simplefilter("error", pd.errors.DtypeWarning)  # numbers in some parts, text in others
            try:
                return pd.read_csv(body, header=None, names=range(width), index_col=False, **how, **blanks)
            except pd.errors.DtypeWarning:
                return self.parse(width, decimal, in_parts=False)


def read_text(path: Path, usual: str | None, dialect: Dialect) -> pd.DataFrame:
    """Return a table that begins with the names of its columns; its index are the lines of the file.

    ``usual`` is the expected separator, None for any; another one is used, with a note, if only that fits.
    Blanks around words are removed.
    """
    file = _open(path, content_of(path, dialect.encoding), usual, dialect.sign)
    _require_header([name for name in file.names if name], path)
    has_commas = file.separator != "," and has_decimal_commas(row.cells for row in file.first_rows[1:])
    decimal = dialect.decimal or ("," if has_commas else ".")
    table, has_one_more = _parse(file, decimal)
    if dialect.separator is None and file.separator != usual:
        warn(f"{path} is read with {SEPARATORS.get(file.separator, 'blanks')} between its columns")
    if decimal == "," and not dialect.decimal:
        warn(f"{path} is read with decimal commas: 1,5 is 1.5")
    names = [*[""] * has_one_more, *file.names]
    if not names[0]:  # as R and pandas write the names of rows
        warn(f"the first column of {path} has no name, and is taken as the names of the rows")
    used = [place for place, name in enumerate(names) if name or (place and table[place].notna().any())]
    columns = [names[place] or f"column {place + 1}" for place in used]
    require_different(columns, path)
    table = table if len(used) == table.shape[1] else table[used]  # selecting many columns is slow
    table = table.set_axis(columns, axis=1)
    if len(used) > MANY_COLUMNS:
        table = table.copy()  # in one block of each type
    if b" " in file.content or b"\t" in file.content or not file.content.isascii():
        table = _stripped(table, decimal)
    # Where commas are decimal, programs write semicolons between columns.
    is_sure = bool(dialect.decimal) or (decimal == "," and file.separator == ";")
    return with_numbers(table, path, decimal, is_sure=is_sure)


def read_cells(path: Path, usual: str | None) -> list[list[str]]:
    """Return the words of a small text file, line by line, without the blanks around them."""
    # No option is about this file: of two separators that fit, the usual one is taken.
    content = content_of(path, None, remedy="save it as UTF-8")
    file = _open(path, content, usual, None, strict=False)
    rows = list(rows_of(file.text, file.separator, path))
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            got = f"must have {width} cells as the lines before, got {len(row.cells)}"
            raise BadInput(f"{path}: line {row.first_line} {got}")
    return [[word.strip() for word in row.cells] for row in rows]


def require_different(names: Iterable[str], path: Path) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        problem = f"{path} has several columns of the same name: {quoted(twice)}"
        raise BadInput(f"{problem}; rename one of them, or leave it out of the file")


def _open(
    path: Path, content: bytes, usual: str | None, separator: str | None, *, strict: bool = True
) -> _TextFile:
    above = ABOVE.match(content)
    assert above is not None  # it may be empty
    start, n_remarks = above.end(), above[1].count(b"\n")
    if n_remarks:
        lines = f"{n_remarks} line{'s' * (n_remarks > 1)}"
        warn(f"{path}: {lines} above the table, with # before, left out")
    n_above, head = above[0].count(b"\n"), content[start : _end_of_head(content, start)].decode()
    separator = separator or (above[2] or b"").decode() or separator_of(head, usual, path, strict=strict)
    rows = list(rows_of("\n" * n_above + head, separator, path))
    if not rows:
        raise BadInput(f"{path} is empty: there is no name of a column in it")
    header = "".join(islice(StringIO(head, newline=""), rows[0].last_line - n_above))
    return _TextFile(path, content, start, n_above, start + len(header.encode()), separator, rows)


def _end_of_head(content: bytes, start: int) -> int:
    """Return where the first lines end, before a row with a cell that goes on after the last of them."""
    end = start
    for n_lines in range(MOST_LINES):
        if n_lines > 1 and end - start > MOST_BYTES:
            break
        end = content.find(b"\n", end) + 1 or len(content)
    if end < len(content) and content.count(b'"', start, end) % 2:  # within a cell
        end = content.rfind(b"\n", start, content.rfind(b'"', start, end)) + 1 or end
    return end


def _require_header(names: Sequence[str], path: Path) -> None:
    """Refuse numbers as names, unless they count up, as in tables that never had other names."""
    if not names or None in map(decimal_of, names):
        return
    steps = set(np.diff([int(name) for name in names])) if all(map(str.isdecimal, names)) else {0}
    are_years = {len(name) for name in names} == {len("2000")}
    if len(steps) != 1 or 0 in steps or not (are_years or steps == {1}):
        problem = f"{path}: the first line must hold the names of the columns, got numbers: {some_of(names)}"
        raise BadInput(f"{problem}; is there a header?")
    warn(f"the first line of {path}, {some_of(names)}, is taken as the names of the columns")


def _parse(file: _TextFile, decimal: str) -> tuple[pd.DataFrame, bool]:
    """Return all columns by their places, and whether one more comes before the first name."""
    import pandas as pd

    width, table = len(file.names), None
    first_line = file.first_rows[0].last_line + 1
    try:
        table = file.parse(width, decimal)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=range(width)), False
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        pass
    if table is not None and _is_plain(file, table):
        return table.set_axis(pd.RangeIndex(first_line, first_line + len(table), name="line")), False
    lines, width, has_one_more = layout_of(file.text, file.separator, file.path)
    table = file.parse(width, decimal)
    if len(table) != len(lines):
        raise BadInput(
            f"{file.path} cannot be read: pandas finds {len(table)} rows and Python {len(lines)}; is a quote "
            "not closed, or a line of nothing but quotes or odd blanks?"
        )
    return table.set_axis(pd.Index(lines, dtype="int64", name="line")), has_one_more


def _is_plain(file: _TextFile, table: pd.DataFrame) -> bool:
    """Return whether every row is certainly one line, with a cell for each name, as pandas has read them."""
    content, start = file.content, file.body
    ends = np.frombuffer(content, dtype=np.uint8)[start:] == ord("\n")
    if np.count_nonzero(ends) + (not content.endswith(b"\n")) != len(table):
        return False
    if b"\r" in content and content.count(b"\r", start) != content.count(b"\r\n", start):
        return False
    # A row that is too short lacks its last cell at least.
    last = n_named(file.names) - 1
    doubtful = np.flatnonzero(table[last].isna())
    if not len(doubtful):
        return True
    lines = start + np.concatenate([[0], np.flatnonzero(ends) + 1, [len(ends)]])
    text = b"".join(content[lines[row] : lines[row + 1]] for row in doubtful).decode()
    try:
        return all(len(row.cells) > last for row in rows_of(text, file.separator, file.path))
    except BadInput:
        return False


def _stripped(table: pd.DataFrame, decimal: str) -> pd.DataFrame:
    """Return a table without blanks around words, parsed again where there are any."""
    import pandas as pd

    for name in [name for name, dtype in table.dtypes.items() if dtype.kind == "O"]:
        words = table[name].str.strip()
        if (words.notna() & (words != table[name])).any():
            written = words.to_csv(index=False, header=False, quoting=csv.QUOTE_ALL)
            how = {"decimal": decimal, "low_memory": False}  # in parts, each would have a type of its own
            read = pd.read_csv(StringIO(written), header=None, skip_blank_lines=False, **how)
            table[name] = read[0].set_axis(table.index)
    return table
