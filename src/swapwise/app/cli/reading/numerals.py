"""Numbers as people write them: with decimal commas, and with signs between thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from swapwise.app.cli.messages import quoted
from swapwise.checks import warn

if TYPE_CHECKING:
    import pandas as pd


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    decimal = re.escape(decimal)
    whole = rf"(?:\d+|[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+)"
    return re.compile(rf"[+-]?(?:{whole}(?:{decimal}\d*)?|{decimal}\d+)(?:[eE][+-]?\d+)?")


ANY = {"blanks": " \u00a0\u2009\u202f", "apostrophes": "'’"}
#: Numbers, by their decimal sign and by what may be between thousands
PATTERNS = {
    decimal: {name: _pattern(decimal, signs) for name, signs in between.items()}
    for decimal, between in {",": {"points": "."} | ANY, ".": {"commas": ","} | ANY}.items()
}


def decimal_of(word: str) -> str | None:
    """Return the only decimal sign with which a word is a number, "" if either does, None if it is none."""
    signs = [sign for sign, some in PATTERNS.items() if any(one.fullmatch(word) for one in some.values())]
    return None if not signs else "" if len(signs) > 1 else signs[0]


def number_of(word: str, decimal: str) -> float:
    return float(re.sub(rf"[^-+\deE{decimal}]", "", word).replace(decimal, "."))


def has_decimal_commas(rows: Iterable[list[str]]) -> bool:
    """Return whether some cells have decimal commas, and none has a decimal point."""
    return {decimal_of(cell.strip()) for row in rows for cell in row} & {",", "."} == {","}


def with_numbers(table: pd.DataFrame, path: Path, decimal: str, *, is_sure: bool) -> pd.DataFrame:
    """Convert columns of text that can only mean numbers, and note signs between thousands.

    Commas or points that may be before decimals or between thousands stay text unless the ``decimal`` sign
    ``is_sure``, or other columns have decimal points: such columns are refused where they are used.
    """
    examples = dict[str, dict[str, str]]()
    for name in [name for name, dtype in table.dtypes.items() if dtype.kind == "O"]:
        there = table[name].dropna()
        if not len(there) or decimal_of(str(there.iloc[0])) is None:
            continue
        cells = {cell: str(cell) for cell in there.unique()}  # some are large integers
        words = list(cells.values())
        fitting = (one for one, pattern in PATTERNS[decimal].items() if all(map(pattern.fullmatch, words)))
        between = next(fitting, None)
        other = "," if decimal == "." else "."
        is_clear = is_sure or other not in "".join(words) or decimal in map(decimal_of, words)
        # Decimal commas elsewhere settle nothing: they may be lists, such as 1,2.
        if between is None or not (is_clear or (decimal == "." and _has_decimals(table))):
            continue
        numbers = {cell: number_of(word, decimal) for cell, word in cells.items()}
        table[name] = table[name].map(numbers).astype(float)
        grouped = [word for word in words if re.search(rf"[^-+\deE{decimal}]", word)]
        if grouped:
            examples.setdefault(between, {})[name] = grouped[0]
    for between, shown in examples.items():
        word = next(iter(shown.values()))
        note = f"{path} has {between} between thousands in {quoted(shown)}"
        warn(f"{note}: {word} is read as {number_of(word, decimal):.15g}")
    return table


def _has_decimals(table: pd.DataFrame) -> bool:
    """Return whether pandas has found decimals somewhere, so that commas are none."""
    return bool((np.nan_to_num(table.select_dtypes("float").to_numpy()) % 1 != 0).any())
