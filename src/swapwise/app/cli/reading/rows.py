"""The format of a text file: its dialect, the separator of its columns, and the lines of its rows."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from swapwise.app.cli.failures import BadInput

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
BLANKS = r"\s+"


@dataclass(frozen=True)
class Dialect:
    """The format of a text file as options give it; None for what the file itself must show."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and len(self.sign or "") != 1 and self.sign != BLANKS:
            expected = "a single character such as ',' or ';', tab, or blank"
            raise BadInput(f"--separator must be {expected}; got {self.separator!r}")
        if self.decimal not in (None, ".", ","):
            raise BadInput(f"--decimal must be . or , (a point or a comma); got {self.decimal!r}")

    @property
    def sign(self) -> str | None:
        words = {"tab": "\t", "\\t": "\t", "blank": BLANKS, "space": BLANKS, " ": BLANKS}
        return words.get(self.separator or "", self.separator)


class Row(NamedTuple):
    """The cells of a row, and the lines that they are in."""

    first_line: int
    last_line: int
    cells: list[str]


def rows_of(text: str, separator: str, path: Path) -> Iterator[Row]:
    """Yield the rows that are not blank; refuse a stray quote, and name its row."""
    lines: Iterable[str] = StringIO(text, newline="")
    if separator == BLANKS:
        lines = (re.sub(r"[ \t]+", " ", line.strip()) + "\n" for line in lines)
    sign = " " if separator == BLANKS else separator
    reader = csv.reader(lines, delimiter=sign, skipinitialspace=True, strict=True)
    before, usual = 0, csv.field_size_limit(2**31 - 1)  # cells may hold whole documents
    try:
        for cells in reader:
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield Row(before + 1, reader.line_num, cells)
            before = reader.line_num
    except csv.Error:
        raise BadInput(_one_quote_too_many(path, before + 1, reader.line_num)) from None
    finally:
        csv.field_size_limit(usual)


def _one_quote_too_many(path: Path, first: int, last: int) -> str:
    cell = f"a cell of line {first}" + (f" goes on to line {last}" if last > first else " does not end")
    return f"{path}: {cell}: is there a quote too many?"


def separator_of(text: str, usual: str | None, path: Path, *, strict: bool = True) -> str:
    """Return the separator of the first lines of a file: the one that gives each of them as many cells.

    ``usual`` is the expected one, None for any. Blanks separate columns only where nothing else does: they
    are in words, too.
    """
    shares = {sign: _fitting_share(text, sign, path) for sign in dict.fromkeys([usual or ",", *SEPARATORS])}
    found = [sign for sign, share in shares.items() if share == 1]
    if len(found) > 1 and strict:
        names = " or ".join(SEPARATORS[sign] for sign in found)
        options = " or ".join("--separator " + repr(sign).replace(r"'\t'", "tab") for sign in found)
        raise BadInput(f"{path} may have {names} between its columns: {options} says which")
    if not found and usual is None:
        shares[BLANKS] = _fitting_share(text, BLANKS, path)
    # If none fits, the best is taken, and the rows that it does not fit are refused later.
    return max(shares, key=lambda sign: shares[sign])


def _fitting_share(text: str, separator: str, path: Path) -> float:
    """Return the share of rows with as many cells as the first, if that has several."""
    rows = []
    with suppress(BadInput):  # raised again when all rows are read
        for row in rows_of(text, separator, path):
            rows.append(row.cells)
    if not rows or n_named(rows[0]) < 2:
        return 0.0
    least, most = n_named(rows[0]), len(rows[0]) + 1
    return sum(least <= len(row) and not any(map(str.strip, row[most:])) for row in rows) / len(rows)


def n_named(names: list[str]) -> int:
    """Return the place of the last name, counted from 1."""
    return max((place for place, name in enumerate(names, 1) if name.strip()), default=0)


def layout_of(text: str, separator: str, path: Path) -> tuple[array[int], int, bool]:
    """Return the lines where rows begin, the cells of the longest, and whether names of rows come first.

    Rows with too many or too few cells are refused, and those that seem to be within quotes.
    """
    rows = rows_of(text, separator, path)
    names = next(rows).cells
    least, width, lines, firsts, long = n_named(names), len(names), array("q"), set[str](), None
    for row in rows:
        inner = [line for cell in row.cells for line in cell.splitlines()[1:-1]]
        if any(line.count(separator) == least - 1 > 1 for line in inner):  # one is common in text
            raise BadInput(_one_quote_too_many(path, row.first_line, row.last_line))
        if len(row.cells) < least:
            raise BadInput(_wrong_width(row, least, path))
        lines.append(row.first_line)
        width = max(width, len(row.cells))
        if len(row.cells) == len(names) + 1:
            firsts.add(row.cells[0].strip())
        if long is None and any(map(str.strip, row.cells[len(names) :])):
            long = row
    if long is not None and (len(firsts) < len(lines) or width > len(names) + 1):
        advice = "decimal commas? save the table with semicolons or points; " if separator == "," else ""
        names_of_rows = "names of rows must be different, and in all rows"
        raise BadInput(f"{_wrong_width(long, least, path)}; {advice}{names_of_rows}")
    return lines, width, long is not None


def _wrong_width(row: Row, n_names: int, path: Path) -> str:
    cells = f"{len(row.cells)} cell{'s' if len(row.cells) > 1 else ''}"
    names = f"there are {n_names} names" if n_names > 1 else "there is 1 name"
    return f"{path}: line {row.first_line} has {cells}, but {names}"
