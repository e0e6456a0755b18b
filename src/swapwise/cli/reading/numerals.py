"""Numbers as people write them: decimal commas, and signs between thousands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from swapwise.checks import warn
from swapwise.cli.messages import quoted

if TYPE_CHECKING:
    import pandas as pd

INTEGER = re.compile(r"[+-]?\d+")

# Cells, evenly spread, that tell whether a column of text may hold numbers.
MOST_CELLS = 200


@dataclass(frozen=True)
class NumberFormat:
    """A number format: the decimal separator, and the signs that may separate thousands."""

    decimal: str
    thousands: str
    #: The thousands separator in a word
    name: str

    @cached_property
    def is_plain(self) -> Callable[[str], object]:
        """Matches numbers without thousands separators."""
        decimal = re.escape(self.decimal)
        return re.compile(rf"[+-]?(\d+({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?").fullmatch

    @cached_property
    def is_grouped(self) -> Callable[[str], object]:
        """Matches numbers with thousands separators."""
        decimal = re.escape(self.decimal)
        return re.compile(rf"[+-]?[1-9]\d{{0,2}}([{self.thousands}]\d{{3}})+({decimal}\d*)?").fullmatch

    def fits(self, word: str) -> bool:
        """Return whether a word is a number in this format."""
        return bool(self.is_plain(word) or self.is_grouped(word))

    def value(self, word: str) -> float:
        """Return the number that a word stands for."""
        for sign in self.thousands:
            word = word.replace(sign, "")
        return float(word.replace(self.decimal, "."))


BLANKS, APOSTROPHES = (" \u00a0\u2009\u202f", "blanks"), ("'’", "apostrophes")
WITH_COMMAS = tuple(NumberFormat(",", *between) for between in ((".", "points"), BLANKS, APOSTROPHES))
WITH_POINTS = tuple(NumberFormat(".", *between) for between in ((",", "commas"), BLANKS, APOSTROPHES))
FORMATS = {",": WITH_COMMAS, ".": WITH_POINTS}


def decimal_of(word: str) -> str | None:
    """Return the only decimal sign with which a word is a number, "" if either does, None if it is none."""
    fitting = [sign for sign, formats in FORMATS.items() if any(one.fits(word) for one in formats)]
    return "".join(fitting) if len(fitting) == 1 else "" if fitting else None


def is_number(word: str) -> bool:
    """Return whether a word is a number in any format."""
    return decimal_of(word) is not None


def has_comma_decimals(rows: Iterable[list[str]], separator: str) -> bool:
    """Return whether the first rows have decimal commas, and nothing that speaks for points."""
    return separator != "," and {decimal_of(cell.strip()) for row in rows for cell in row} & {",", "."} == {
        ","
    }


def with_numbers(
    table: pd.DataFrame,
    path: Path,
    read: Callable[..., pd.DataFrame],
    decimal: str,
    *,
    is_given: bool,
    separator: str,
) -> pd.DataFrame:
    """Return a table with numbers for text that can only mean these, and say so.

    It was read with a ``decimal`` sign that ``is_given`` by the user or was only found in the first lines.
    ``read(columns, decimal)`` reads it otherwise. What may mean two things stays text, which is refused where
    the column is used.
    """
    words = _number_words(table)
    sure = is_given or decimal == ","
    if not is_given and words:
        signs = {decimal_of(word) for column in words.values() for word in column} & {",", "."}
        signs |= {","} if decimal == "," else _signs_of_floats(table, words, read, separator)
        found, sure = ("," if signs == {","} else "."), len(signs) == 1
        if found != decimal:
            table, decimal = read(None, found), found
            words = _number_words(table)
    if decimal == "," and not is_given:
        warn(f"{path} is read with decimal commas: 1,5 is 1.5")
    return _converted(table, words, path, decimal, sure)


def _number_words(table: pd.DataFrame) -> dict[str, list[str]]:
    """Return the different words of each column of text that holds numbers, or mostly so."""
    found = {}
    for name in [name for name, dtype in table.dtypes.items() if dtype.kind == "O"]:
        there = table[name].dropna()
        some = there.iloc[:: 1 + len(there) // MOST_CELLS]
        if len(some) and 2 * sum(map(is_number, map(str.strip, map(str, some)))) > len(some):
            found[name] = list(dict.fromkeys(str(word).strip() for word in there.unique()))
    return found


def _signs_of_floats(
    table: pd.DataFrame, words: dict[str, list[str]], read: Callable[..., pd.DataFrame], separator: str
) -> set[str]:
    """Return what points in columns that pandas has read say of decimals, where commas in others ask that."""
    if not any("," in word for column in words.values() for word in column):
        return set()
    floats = [name for name, dtype in table.dtypes.items() if dtype.kind == "f"]
    if not floats:
        return set()
    raw = read(set(floats), ".")
    pointed = {word.strip() for name in floats for word in raw[name].dropna().unique() if "." in word}
    # Between commas, decimals have points as a rule; elsewhere 3.007 may be thousands, and 3.5 may not.
    return {"."} if pointed and (separator == "," or "." in map(decimal_of, pointed)) else set()


def _converted(
    table: pd.DataFrame, words: dict[str, list[str]], path: Path, decimal: str, sure: bool
) -> pd.DataFrame:
    """Return a table with numbers for columns of which each word is one in the same format, and say so."""
    read, grouped = {}, dict[NumberFormat, dict[str, str]]()
    for name, column in words.items():
        if all(map(INTEGER.fullmatch, column)):  # too large for pandas
            read[name] = table[name].astype(float)
            continue
        style = next((style for style in FORMATS[decimal] if all(map(style.fits, column))), None)
        unclear = not sure and any("," in word for word in column) and decimal not in map(decimal_of, column)
        if style is None or unclear:
            continue
        read[name] = table[name].str.strip().map({word: style.value(word) for word in column}).astype(float)
        example = next(filter(style.is_grouped, column), None)
        if example is not None:
            grouped.setdefault(style, {})[name] = example
    for style, examples in grouped.items():
        word = next(iter(examples.values()))
        told = f"{path} has {style.name} between thousands in {quoted(examples)}"
        warn(f"{told}: {word} is read as {style.value(word):.15g}")
    return table.assign(**read) if read else table
