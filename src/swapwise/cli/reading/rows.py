"""The rows of a table in text: what is between its columns, and whether every row has as many cells."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.dialect import BLANKS

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}

# Between blanks: all within quotes, or all up to the next blank.
WORD = re.compile(r'"(?:[^"\r\n]|"")*"?|[^ \t\r\n"][^ \t\r\n]*')

# As much of a cell as a message needs.
MOST_LETTERS = 20


class Row(NamedTuple):
    """Cells, the lines that they are in, and whether all quotes are where they should be."""

    first_line: int
    last_line: int
    cells: list[str]
    well_quoted: bool = True


def rows_of(text: str, separator: str) -> Iterator[Row]:
    """Yield the rows that are not blank."""
    if separator == BLANKS:
        for line, words in enumerate(map(WORD.findall, StringIO(text, newline="")), 1):
            if words:
                yield Row(line, line, [_unquoted(word) for word in words])
        return
    recent: list[str] = []
    reader = _reader(_recorded(StringIO(text, newline=""), recent), separator)
    before, usual = 0, csv.field_size_limit(2**31 - 1)  # cells may hold whole documents
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield Row(before + 1, reader.line_num, cells, len(recent) == 1 or _is_one(recent, separator))
            before = reader.line_num
            recent.clear()
    except csv.Error as error:
        raise BadInput(f"line {before + 1} cannot be read: {error}") from None
    finally:
        csv.field_size_limit(usual)


def _reader(lines: Iterable[str], separator: str, strict: bool = False) -> Any:
    return csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=strict)


def _recorded(lines: Iterable[str], recent: list[str]) -> Iterator[str]:
    for line in lines:
        recent.append(line)
        yield line


def _is_one(lines: list[str], separator: str) -> bool:
    """Return whether lines are a single row when nothing may stand between a quote and the next separator."""
    try:
        return len(list(_reader(lines, separator, strict=True))) == 1
    except csv.Error:
        return False


def _unquoted(word: str) -> str:
    return word[1:].removesuffix('"').replace('""', '"') if word.startswith('"') else word


def separator_of(text: str, usual: str | None, path: Path, *, strict: bool = True) -> str:
    """Return what is between the columns of the first lines of a file: what gives each of them as many cells.

    ``usual`` is what is expected, None for anything. Blanks are in words, too: they are between columns only
    where nothing else is.
    """
    signs = [*dict.fromkeys([usual or ",", *SEPARATORS])]
    shares = {sign: _fitting_share(text, sign) for sign in signs}
    found = [sign for sign in signs if shares[sign] == 1]
    if len(found) > 1 and strict:
        names = " or ".join(SEPARATORS[sign] for sign in found)
        options = " or ".join(f"--separator {_shown(sign)}" for sign in found)
        raise BadInput(f"{path} may have {names} between its columns: {options} says which")
    if not found and usual is None:
        shares[BLANKS] = _fitting_share(text, BLANKS)
    # If none fits, what fits best: the rows that it does not fit are told.
    return found[0] if found else max(shares, key=lambda sign: shares[sign])


def _shown(sign: str) -> str:
    return "tab" if sign == "\t" else repr(sign)


def _fitting_share(text: str, separator: str) -> float:
    """Return which share of rows goes with the first, if that has several cells."""
    try:
        header, *others = [row.cells for row in rows_of(text, separator)]
    except (BadInput, ValueError):
        return 0.0
    least, most = _n_named(header), len(header) + 1
    if least < 2:
        return 0.0
    fitting = sum(least <= len(row) and not any(map(str.strip, row[most:])) for row in others)
    return (1 + fitting) / (1 + len(others))


def _n_named(names: list[str]) -> int:
    return max((place for place, name in enumerate(names, 1) if name.strip()), default=0)


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the rows of a table are, how many cells the longest has, and whether all begin with a name."""

    lines: array[int]
    width: int
    has_one_more: bool


def layout_of(text: str, separator: str, path: Path) -> Layout:
    """Look at every row, or say which has too many or too few cells, or seems to be within quotes."""
    rows = rows_of(text, separator)
    names = next(rows).cells
    n_named, lines, width = _n_named(names), array("q"), len(names)
    long, firsts, all_one_more = None, set[str](), True
    for row in rows:
        lines.append(row.first_line)
        width = max(width, len(row.cells))
        if row.last_line > row.first_line:
            _require_no_row_within(row, separator, n_named, path)
        if len(row.cells) < n_named:
            raise BadInput(_told(row, n_named, path))
        all_one_more = all_one_more and len(row.cells) == len(names) + 1
        if all_one_more:
            firsts.add(row.cells[0].strip())
        if long is None and any(map(str.strip, row.cells[len(names) :])):
            long = row
    if long is not None and not (all_one_more and len(firsts) == len(lines)):
        told = _told(long, n_named, path)
        if separator == "," and len(long.cells) <= 2 * len(names):
            told += "; decimal commas? save the table with semicolons or points"
        if all_one_more:
            told += "; if the first are names of the rows, they must be different"
        raise BadInput(told)
    return Layout(lines, width, long is not None)


def _told(row: Row, n_named: int, path: Path) -> str:
    cells = f"{len(row.cells)} cell{'s' if len(row.cells) > 1 else ''}"
    names = f"there are {n_named} names" if n_named > 1 else "there is 1 name"
    return f"{path}: line {row.first_line} has {cells}, but {names}"


def _require_no_row_within(row: Row, separator: str, n_named: int, path: Path) -> None:
    """Refuse a cell over several lines if its quotes are odd, or whole rows seem to be in it."""
    for cell in row.cells:
        first, *others = re.split(r"\r\n?|\n", cell)
        whole = [line for line in others[:-1] if line.strip()]
        rows = bool(whole) and all(line.count(separator) == n_named - 1 > 0 for line in whole)
        if others and (rows or not row.well_quoted):
            raise BadInput(
                f"{path}: the cell that begins {first[:MOST_LETTERS]!r} spans lines {row.first_line} to "
                f"{row.last_line}: is there a quote too many?"
            )
