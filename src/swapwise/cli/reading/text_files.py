"""Tables in text: read by pandas in one pass, and looked at row by row only where something is off."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO, StringIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.messages import quoted, some_of
from swapwise.cli.reading.content import content_of
from swapwise.cli.reading.dialect import Dialect
from swapwise.cli.reading.numerals import has_comma_decimals, is_number, with_numbers
from swapwise.cli.reading.rows import SEPARATORS, Layout, layout_of, rows_of, separator_of

if TYPE_CHECKING:
    import pandas as pd

# What a table of two values has in every line; the names of columns are other words.
ANSWERS = {"no", "yes", "n", "y", "false", "true"}

# Lines of remarks (those with columns may be the header), and the separator as Excel declares it.
ABOVE = re.compile(rb'((?:#[^\r\n,;\t|]*\r?\n)*)(?:"?sep=([,;\t|])"?[^\S\r\n]*\r?\n)?', re.IGNORECASE)

# Lines, or bytes of more than two lines, that tell what the separator is.
MOST_LINES, MOST_BYTES = 50, 1_000_000

# Of more columns, pandas is faster on the whole file than on parts of it, and later on one block of numbers.
MANY_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class _File:
    """The content of a file, and how its header is read."""

    path: Path
    content: bytes
    #: Where the header begins, and the number of lines above it
    start: int
    n_above: int
    separator: str

    @cached_property
    def head(self) -> str:
        """The first lines."""
        return _head(self.content, self.start)

    @cached_property
    def first_rows(self) -> list[list[str]]:
        """The cells of the first lines, with the names of the columns first."""
        return [row.cells for row in rows_of(self.head, self.separator)]

    @cached_property
    def body(self) -> int:
        """Where the row below the names begins."""
        lines = next(rows_of(self.head, self.separator)).last_line
        above = "".join(line for line, _ in zip(StringIO(self.head, newline=""), range(lines), strict=False))
        return self.start + len(above.encode())

    def layout(self) -> Layout:
        """Look at each row, which takes long."""
        text = "\n" * self.n_above + self.content[self.start :].decode()
        return layout_of(text, self.separator, self.path)

    def parse(self, width: int, decimal: str, **how: Any) -> pd.DataFrame:
        """Return the columns below the names, by their places."""
        import pandas as pd

        body = BytesIO(self.content)
        body.seek(self.body)
        numbered = {"header": None, "names": range(width), "index_col": False}
        blanks = {"skipinitialspace": b" " in self.content}  # which takes pandas a third longer
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pd.errors.DtypeWarning)  # such columns are read again
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells would be lost
            options = {"low_memory": width < MANY_COLUMNS} | numbered | blanks | how
            return pd.read_csv(body, sep=self.separator, decimal=decimal, **options)


def read_text(path: Path, usual: str | None, dialect: Dialect) -> pd.DataFrame:
    """Return a table that begins with the names of its columns; its index are the lines of the file.

    ``usual`` is what is expected between the columns, None for anything. Another separator is used if only
    that fits, and told. There are no blanks around words.
    """
    file = _opened(path, content_of(path, dialect.encoding), usual, dialect.sign)
    if not file.first_rows:  # but for blanks and quotes
        raise BadInput(f"{path} is empty: there is no name of a column in it")
    names = [name.strip() for name in file.first_rows[0]]
    _require_header(names, path)
    decimal = dialect.decimal or ("," if has_comma_decimals(file.first_rows[1:], file.separator) else ".")
    table, width, n_before = _parsed(file, decimal)
    if n_before or names[0] == "":  # as R writes them without a name, and pandas
        names, n_before = names[1 - n_before :], 1
        warn(f"the first column of {path} has no name, and is taken as the names of the rows")
    if dialect.separator is None and file.separator != usual:
        warn(f"{path} is read with {SEPARATORS.get(file.separator, 'blanks')} between its columns")
    named = {n_before + place: name or f"column {place + 1}" for place, name in enumerate(names)}
    require_different(named.values(), path)
    empty = {place for place in named if not names[place - n_before] and table[place].isna().all()}
    named = {place: name for place, name in named.items() if place not in empty}

    def named_words(part: pd.DataFrame, decimal: str) -> pd.DataFrame:
        part = part if len(named) == part.shape[1] else part[list(named)]
        part = _with_words(part, file, width, decimal)
        return part.set_axis([named[place] for place in part.columns], axis=1)

    def read(columns: Collection[str] | None, decimal: str) -> pd.DataFrame:
        """Read some columns as they are written, or all with another decimal sign."""
        if columns is None:
            return named_words(file.parse(width, decimal).set_axis(table.index), decimal)
        some = {place: name for place, name in named.items() if name in columns}
        return file.parse(width, decimal, usecols=list(some), dtype=str).rename(columns=some)

    found, is_given = named_words(table, decimal), dialect.decimal is not None
    if len(named) > MANY_COLUMNS:
        found = found.copy()  # in one block of each type
    return with_numbers(found, path, read, decimal, is_given=is_given, separator=file.separator)


def read_cells(path: Path, usual: str | None) -> list[list[str]]:
    """Return the words of a small text file, line by line, without the blanks around them."""
    # No option is about this file: of two separators that fit, it has the usual one.
    content = content_of(path, None, remedy="save it as UTF-8")
    file = _opened(path, content, usual, None, strict=False)
    text = "\n" * file.n_above + file.content[file.start :].decode()
    rows = list(rows_of(text, file.separator))
    width = len(rows[0].cells)
    for row in rows:
        if len(row.cells) != width:
            got = f"must have {width} cells as the lines before, got {len(row.cells)}"
            raise BadInput(f"{path}: line {row.first_line} {got}")
    return [[word.strip() for word in row.cells] for row in rows]


def require_different(names: Iterable[str], path: Path) -> None:
    """Say which names there are several of."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadInput(
            f"{path} has several columns of the same name: {quoted(twice)}; rename one of them, or leave it "
            "out of the file"
        )


def _opened(
    path: Path, content: bytes, usual: str | None, separator: str | None, *, strict: bool = True
) -> _File:
    above = ABOVE.match(content)
    assert above is not None  # it may be empty
    n_remarks, n_above = above[1].count(b"\n"), above[0].count(b"\n")
    if n_remarks:
        lines = f"{n_remarks} line{'s' * (n_remarks > 1)}"
        warn(f"{path}: {lines} above the table, with # before, left out")
    if not content[above.end() : above.end() + MOST_BYTES].strip():
        raise BadInput(f"{path} is empty")
    separator = separator or (above[2].decode() if above[2] else None)
    if not separator:
        separator = separator_of(_head(content, above.end()), usual, path, strict=strict)
    return _File(path, content, above.end(), n_above, separator)


def _head(content: bytes, start: int) -> str:
    """Return the first lines from a place on, and no part of a row if a cell goes over several of them."""
    end, n_lines = start, 0
    while end < len(content) and n_lines < MOST_LINES and (n_lines < 2 or end - start < MOST_BYTES):
        found = content.find(b"\n", end)
        end = len(content) if found < 0 else found + 1
        n_lines += bool(content[start:end].strip()) if n_lines == 0 else 1
    head = content[start:end]
    if end < len(content) and head.count(b'"') % 2:  # within a cell
        head = head[: head.rfind(b"\n", 0, head.rfind(b'"')) + 1] or head
    return head.decode()


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
    """Return whether names are numbers in equal steps, such as 0, 1, 2 or years."""
    if len(names) == 1 or not all(name.isdecimal() for name in names):
        return False
    steps = {int(after) - int(name) for name, after in pairwise(names)}
    are_years = all(len(name) == len("2000") for name in names)
    return len(steps) == 1 and bool(steps - {0}) and (are_years or steps == {1})


def _parsed(file: _File, decimal: str) -> tuple[pd.DataFrame, int, int]:
    """Return all columns by their places, how many there are, and how many come before the first name."""
    import pandas as pd

    names, *rows = file.first_rows
    n_before = int(any(row[len(names) :][-1:] > [""] for row in rows))
    n_before *= all(len(row) == len(names) + 1 for row in rows)
    width = len(names) + n_before
    try:
        table = file.parse(width, decimal)
    except pd.errors.EmptyDataError:
        return pd.DataFrame(columns=range(width)), width, 0
    except (pd.errors.ParserError, pd.errors.ParserWarning):
        table = None
    first_line = file.content.count(b"\n", 0, file.body) + 1
    if table is not None and _is_plain(file, table, n_before):
        table.index = pd.RangeIndex(first_line, first_line + len(table), name="line")
        return table, width, n_before
    layout = file.layout()
    try:
        if table is None or layout.width != width:
            table = file.parse(layout.width, decimal)
    except pd.errors.ParserError:
        table = None
    if table is None or len(table) != len(layout.lines):
        last = layout.lines[-1] if layout.lines else first_line
        raise BadInput(
            f"{file.path} cannot be read: a quote is not closed, perhaps in line {last}, or a line holds "
            "nothing but quotes or odd blanks"
        )
    numbers = pd.Index(layout.lines, dtype="int64", name="line")
    return table.set_axis(numbers), layout.width, int(layout.has_one_more)


def _is_plain(file: _File, table: pd.DataFrame, n_before: int) -> bool:
    """Return whether every row is certainly one line, with a cell for each name, as pandas has read them."""
    content, body = file.content, file.body
    n_ends = np.count_nonzero(np.frombuffer(content, dtype=np.uint8)[body:] == ord("\n"))
    if n_ends + (not content.endswith(b"\n")) != len(table):
        return False
    if b"\r" in content and content.count(b"\r", body) != content.count(b"\r\n", body):
        return False
    if n_before and not table[0].is_unique:
        return False
    names = file.first_rows[0]
    last = max((place for place, name in enumerate(names) if name.strip()), default=0) + n_before
    # A row that is too short lacks its last cell at least.
    return not table[last].isna().any() or _has_separators(file, last)


def _has_separators(file: _File, expected: int) -> bool:
    """Return whether every line has as many separators outside quotes; False if that is not clear."""
    if len(file.separator) > 1 or ord(file.separator) > 127:
        return False
    body = np.frombuffer(file.content, dtype=np.uint8)[file.body :]
    starts = np.append(0, np.flatnonzero(body[:-1] == ord("\n")) + 1)
    signs, quotes = body == ord(file.separator), body == ord('"')
    if quotes.any():
        n_quotes = np.cumsum(quotes)
        if (n_quotes[starts[1:] - 1] % 2).any():  # a quote that is part of a cell
            return False
        signs &= n_quotes % 2 == 0
    return bool((np.add.reduceat(signs, starts, dtype=np.int64) >= expected).all())


def _with_words(table: pd.DataFrame, file: _File, width: int, decimal: str) -> pd.DataFrame:
    """Return a table whose text is text, and not numbers in parts of it, without blanks around words."""
    import pandas as pd
    from pandas.api.types import infer_dtype

    texts = [place for place, dtype in table.dtypes.items() if dtype.kind == "O"]
    kinds = {place: infer_dtype(table[place], skipna=True) for place in texts}
    mixed = [place for place, kind in kinds.items() if kind not in ("string", "boolean", "empty")]
    changed: dict[int, pd.Series] = {}
    if mixed:
        words = file.parse(width, decimal, usecols=mixed, dtype=str, low_memory=False).set_axis(table.index)
        changed |= {place: words[place] for place in mixed}
    if b" " in file.content or b"\t" in file.content or not file.content.isascii():
        for place in texts:
            column = changed.get(place, table[place])
            words = column.str.strip() if kinds[place] != "boolean" else column
            blank = words.notna() & (words != column)
            if blank.any():
                written = words.to_csv(index=False, header=False, quoting=csv.QUOTE_ALL)
                read = pd.read_csv(StringIO(written), header=None, skip_blank_lines=False, decimal=decimal)
                changed[place] = read[0].set_axis(table.index)
    if changed:
        table = table.copy()
    for place, column in changed.items():
        table[place] = column
    return table
