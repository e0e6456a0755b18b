"""The rows of a table in text: what is between its columns, and whether every row has as many cells."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.numerals import is_number

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
BLANKS = r"\s+"

# Between blanks: all within quotes, or all up to the next blank.
WORD = re.compile(r'"(?:[^"\r\n]|"")*"?|[^ \t\r\n"][^ \t\r\n]*')

# What Excel takes as the separator, and is no row.
DECLARATION = re.compile(r'"?sep=([,;\t|])"?[^\S\r\n]*(?=[\r\n])', re.IGNORECASE)

# Rows, and cells of each, that tell which separator it is.
MOST_ROWS, MOST_CELLS = 20, 100

# As much of a file as these rows take, even if they are long.
MOST_OF_TEXT = 2_000_000

# As much of a cell as a message needs.
MOST_LETTERS = 20

# Cells may hold whole documents: more than the csv module allows by itself.
LONGEST_CELL = 2**31 - 1


class Row(NamedTuple):
    """Cells, the lines of the file that they are in, and whether all quotes are where they should be.

    >>> Row(2, 2, ["1", "2"]).cells
    ['1', '2']
    """

    first_line: int
    last_line: int
    cells: list[str]
    well_quoted: bool = True


@dataclass(frozen=True, eq=False)
class Layout:
    """Where in a text the rows of a table are.

    >>> layout_of("a;b\\n1;2\\n", Path("t.csv"), None).names
    ['a', 'b']
    """

    separator: str
    #: As the first row has them
    names: list[str]
    #: Where the first row ends
    start: int
    #: The line of the file that each of the other rows begins in
    lines: Sequence[int]
    #: How many cells the longest of them has
    width: int
    #: Whether they begin with a cell more than the first row
    has_one_more: bool


def layout_of(text: str, path: Path, usual: str | None) -> Layout:
    """Return where the rows of a table are, or say which of them has too many or too few cells.

    ``usual`` is what is expected between columns, None for anything.

    >>> layout_of("a,b\\n1,5,2,5\\n", Path("t.csv"), ",")
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: t.csv: line 2 has 4 cells, but there are 2 names; decimal commas? save the
    table with semicolons or points
    """
    separator = separator_of(text, usual)
    stream = stream_of(text)
    rows = rows_of(stream, separator, path)
    names = [name.strip() for name in next(rows).cells]
    start = stream.tell()
    widths = _Widths(names, separator, path)
    for row in rows:
        widths.see(row)
    return Layout(separator, names, start, widths.lines, widths.widest, widths.has_one_more())


def stream_of(text: str) -> StringIO:
    """Return the text from its begin on, without what only says the separator, as Excel writes it.

    >>> stream_of("sep=;\\na;b\\n").read()
    '\\na;b\\n'
    """
    stream = StringIO(text, newline="")
    declared = DECLARATION.match(text)
    stream.seek(declared.end() if declared else 0)
    return stream


def rows_of(stream: StringIO, separator: str, path: Path) -> Iterator[Row]:
    """Yield the rows that are not blank, of which there must be one.

    >>> [row.cells for row in rows_of(StringIO("a, b\\n\\n1,2\\n"), ",", Path("t.csv"))]
    [['a', 'b'], ['1', '2']]
    """
    rows = _between_blanks(stream) if separator == BLANKS else _between(stream, separator, path)
    first = next(rows, None)
    if first is None:
        raise BadInput(f"{path} is empty")
    yield first
    yield from rows


def separator_of(text: str, usual: str | None) -> str:
    """Return what is between the columns: what makes the most rows as long as the first.

    >>> separator_of("size, in m;y\\n1,5;2\\n1;3\\n", ",")
    ';'
    """
    declared = DECLARATION.match(text)
    if declared:
        return declared[1]
    candidates = [*SEPARATORS, BLANKS] if usual is None else list(dict.fromkeys([usual, *SEPARATORS]))
    head = text[:MOST_OF_TEXT]
    if len(head) < len(text):
        head = head[: head.rfind("\n") + 1] or head
    scores = {separator: _fitness(head, separator) for separator in candidates}
    return max(candidates, key=scores.__getitem__)  # the first of equal ones


def _fitness(text: str, separator: str) -> tuple[float, float, bool, int]:
    """Return which part of the first rows fits the header, and which exactly; and how many cells are numbers.

    Blanks are in words, too: where something else fits as well, they are not between columns.
    """
    try:
        rows = [row.cells for row in islice(rows_of(stream_of(text), separator, Path()), MOST_ROWS)]
    except BadInput:
        return (0.0, 0.0, False, 0)
    header, *others = rows
    if len(header) == 1:
        return (0.0, 0.0, False, 0)
    exact = sum(len(row) == len(header) for row in others)
    fitting = exact + sum(len(row) == len(header) + 1 for row in others)
    cells = [cell.strip() for row in others for cell in row[:MOST_CELLS]]
    n_numbers = sum(map(is_number, cells))
    return ((1 + fitting) / len(rows), exact / len(rows), separator != BLANKS, n_numbers)


def _between_blanks(stream: StringIO) -> Iterator[Row]:
    for line, text in enumerate(stream, 1):
        words = WORD.findall(text)
        if words:
            yield Row(line, line, [_unquoted(word) for word in words])


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return word
    return word[1:].removesuffix('"').replace('""', '"')


def _between(stream: StringIO, separator: str, path: Path) -> Iterator[Row]:
    how: dict[str, Any] = {"delimiter": separator, "skipinitialspace": True}
    recent: list[str] = []
    reader = csv.reader(_recorded(stream, recent), **how)
    before, usual = 0, csv.field_size_limit(LONGEST_CELL)
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                well_quoted = len(recent) == 1 or _is_one_row(recent, how)
                yield Row(before + 1, reader.line_num, cells, well_quoted)
            before = reader.line_num
            recent.clear()
    except csv.Error as error:
        raise BadInput(f"{path}: line {before + 1} cannot be read: {error}") from None
    finally:
        csv.field_size_limit(usual)


def _recorded(lines: Iterable[str], recent: list[str]) -> Iterator[str]:
    for line in lines:
        recent.append(line)
        yield line


def _is_one_row(lines: list[str], how: dict[str, Any]) -> bool:
    """Return whether lines are a single row when nothing may stand between a quote and the next separator."""
    try:
        return len(list(csv.reader(lines, strict=True, **how))) == 1
    except csv.Error:
        return False


@dataclass
class _Widths:
    """How many cells rows have, and whether that goes together with the names."""

    names: list[str]
    separator: str
    path: Path
    lines: array[int] = field(default_factory=lambda: array("q"))
    widest: int = 0
    all_one_more: bool = True
    #: The first row with something beyond the names
    long: Row | None = None
    first_cells: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        named = [place for place, name in enumerate(self.names, 1) if name]
        self.n_named = named[-1] if named else 0

    def see(self, row: Row) -> None:
        cells, n_names = row.cells, len(self.names)
        self.lines.append(row.first_line)
        self.widest = max(self.widest, len(cells))
        if row.last_line > row.first_line:
            self._require_no_swallowed_row(row)
        self.all_one_more = self.all_one_more and len(cells) == n_names + 1
        if self.all_one_more:
            self.first_cells.add(cells[0].strip())
        if len(cells) == n_names:
            return
        if len(cells) < self.n_named:
            raise BadInput(self._told(row))
        if self.long is None and any(cell.strip() for cell in cells[n_names:]):
            self.long = row

    def has_one_more(self) -> bool:
        """Return whether rows begin with distinct names, as R writes them; refuse other extra cells."""
        if self.long is None:
            return False
        if self.all_one_more and len(self.first_cells) == len(self.lines):
            return True
        told = self._told(self.long)
        if self.separator == "," and len(self.long.cells) <= 2 * len(self.names):
            told += "; decimal commas? save the table with semicolons or points"
        if self.all_one_more:
            told += "; if the first are names of the rows, they must be different"
        raise BadInput(told)

    def _told(self, row: Row) -> str:
        cells = f"{len(row.cells)} cell{'s' if len(row.cells) > 1 else ''}"
        names = f"there are {self.n_named} names" if self.n_named > 1 else "there is 1 name"
        return f"{self.path}: line {row.first_line} has {cells}, but {names}"

    def _require_no_swallowed_row(self, row: Row) -> None:
        """Refuse a cell over several lines if its quotes are odd, or whole rows seem to be in it."""
        for cell in row.cells:
            first, *others = re.split(r"\r\n?|\n", cell)
            whole = [line for line in others[:-1] if line.strip()]
            rows = bool(whole) and all(line.count(self.separator) == self.n_named - 1 > 0 for line in whole)
            if others and (rows or not row.well_quoted):
                begin = first[:MOST_LETTERS]
                raise BadInput(
                    f"{self.path}: the cell that begins {begin!r} spans lines {row.first_line} to "
                    f"{row.last_line}: is there a quote too many?"
                )
