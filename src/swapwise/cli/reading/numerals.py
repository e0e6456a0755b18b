"""Numbers as people write them: decimal commas, and signs between thousands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from swapwise.checks import warn
from swapwise.cli.reading.messages import some_of

if TYPE_CHECKING:
    import pandas as pd

INTEGER = r"[+-]?\d+"

# Either thousands or decimals, unless the rest of the file tells which.
GROUPED = r"[+-]?[1-9]\d{0,2}(?:[.,]\d{3})+"


@dataclass(frozen=True)
class NumberFormat:
    """A number format: the decimal separator, and the signs that may separate thousands.

    >>> NumberFormat(",", ".", "points").value("1.234,50")
    1234.5
    """

    decimal: str
    thousands: str
    #: The thousands separator in a word
    name: str

    @cached_property
    def is_plain(self) -> Callable[[str], object]:
        """Matches numbers without thousands separators.

        >>> bool(NumberFormat(",", ".", "points").is_plain("-1,5e3"))
        True
        """
        decimal = re.escape(self.decimal)
        return re.compile(rf"[+-]?(\d+({decimal}\d*)?|{decimal}\d+)([eE][+-]?\d+)?").fullmatch

    @cached_property
    def is_grouped(self) -> Callable[[str], object]:
        """Matches numbers with thousands separators.

        >>> bool(NumberFormat(",", ".", "points").is_grouped("0.123"))
        False
        """
        decimal = re.escape(self.decimal)
        return re.compile(rf"[+-]?[1-9]\d{{0,2}}([{self.thousands}]\d{{3}})+({decimal}\d*)?").fullmatch

    def fits(self, word: str) -> bool:
        """Return whether a word is a number in this format.

        >>> NumberFormat(",", ".", "points").fits("3.5")
        False
        """
        return bool(self.is_plain(word) or self.is_grouped(word))

    def value(self, word: str) -> float:
        """Return the number that a word stands for."""
        for sign in self.thousands:
            word = word.replace(sign, "")
        return float(word.replace(self.decimal, "."))


BLANKS, APOSTROPHES = (" \u00a0\u2009\u202f", "blanks"), ("'’", "apostrophes")
WITH_COMMAS = tuple(NumberFormat(",", *between) for between in ((".", "points"), BLANKS, APOSTROPHES))
WITH_POINTS = tuple(NumberFormat(".", *between) for between in ((",", "commas"), BLANKS, APOSTROPHES))
DECIMAL_COMMAS = WITH_COMMAS[0]


def has_decimal_commas(table: pd.DataFrame, between_commas: bool) -> bool:
    """Return whether some column has commas that cannot separate thousands.

    With commas between the columns too, such cells are in quotes, as those with thousands often are: then all
    commas of that column must be like that.

    >>> import pandas as pd
    >>> has_decimal_commas(pd.DataFrame({"a": ["1,5", "2"]}), False)
    True
    >>> has_decimal_commas(pd.DataFrame({"a": ["1,500", "2"]}), False)
    False
    """
    grouped, enough = re.compile(GROUPED).fullmatch, all if between_commas else any
    for name in _with_commas(table):
        words = _words_of(table[name])
        with_comma = [word for word in words if "," in word and DECIMAL_COMMAS.fits(word)]
        if with_comma and enough(not grouped(word) for word in with_comma) and _fit_decimal_commas(words):
            return True
    return False


def with_numbers(
    table: pd.DataFrame,
    path: Path,
    as_text: Callable[[Sequence[str]], pd.DataFrame],
    *,
    decimal_comma: bool,
) -> pd.DataFrame:
    """Return a table with numbers for what pandas takes for text, and say so.

    With ``decimal_comma``, commas may be before decimals. If they are, pandas may have taken points between
    thousands for decimal ones: ``as_text`` returns columns as they are in the file, by their names.

    >>> import warnings
    >>> import pandas as pd
    >>> table = pd.DataFrame({"a": ["1,5", "2"], "b": [3.007, 943]})
    >>> words = pd.DataFrame({"b": ["3.007", "943"]})
    >>> with warnings.catch_warnings(action="ignore"):
    ...     with_numbers(table, "t.csv", words.__getitem__, decimal_comma=True)
         a       b
    0  1.5  3007.0
    1  2.0   943.0
    """
    import pandas as pd

    notes = _Notes()
    floats = [name for name, dtype in table.dtypes.items() if dtype.kind == "f"]
    texts = table.columns[[dtype.kind == "O" for dtype in table.dtypes]]
    raw = as_text(floats) if floats and decimal_comma and _with_commas(table) else pd.DataFrame()
    # Points that cannot be between thousands tell what the others are, and commas that may be either.
    points = any(_has_decimal_points(raw[name]) for name in raw.columns)
    read = {}
    for name in texts:
        either = points and _may_be_thousands(_words_of(table[name]))
        read[name] = _numbers_of(table[name], decimal_comma and not either, notes)
    if not points and notes.has_decimal_commas:
        for name, column in raw.items():
            if any(map(DECIMAL_COMMAS.is_grouped, _words_of(column))):
                # If they do not go together, they stay text, which is refused if the column is used.
                read[name] = _numbers_of(column, True, notes)
    notes.tell(path)
    if not read:
        return table
    return pd.DataFrame({name: read.get(name, table[name]) for name in table.columns}, index=table.index)


def _with_commas(table: pd.DataFrame) -> list[str]:
    """Return the columns of text that have a comma somewhere."""
    texts = [name for name in table.columns if holds_words(table[name])]
    return [name for name in texts if table[name].str.contains(",", regex=False).eq(True).any()]


def holds_words(column: pd.Series) -> bool:
    """Return whether a column is text, and not what pandas only stores like text, such as huge integers.

    >>> import pandas as pd
    >>> holds_words(pd.Series(["a", None])), holds_words(pd.Series([10**25]))
    (True, False)
    """
    from pandas.api.types import infer_dtype

    return column.dtype.kind == "O" and infer_dtype(column) in ("string", "mixed", "mixed-integer")


def _has_decimal_points(column: pd.Series) -> bool:
    return any("." in word and not DECIMAL_COMMAS.is_grouped(word) for word in _words_of(column))


def _may_be_thousands(words: list[str]) -> bool:
    grouped = re.compile(GROUPED).fullmatch
    return all(grouped(word) for word in words if "," in word)


def _words_of(column: pd.Series) -> list[str]:
    return [str(cell).strip() for cell in column.dropna()]


class _Notes:
    """Columns with numbers that Python would not read, and an example from each."""

    def __init__(self) -> None:
        self.decimals: list[str] = []
        self.thousands: dict[NumberFormat, dict[str, str]] = {}

    @property
    def has_decimal_commas(self) -> bool:
        return bool(self.decimals) or DECIMAL_COMMAS in self.thousands

    def tell(self, path: Path) -> None:
        if self.decimals:
            named = some_of([repr(name) for name in self.decimals])
            warn(f"{path} has decimal commas in {named}: 1,5 is read as 1.5")
        for number_format, words in self.thousands.items():
            named, word = some_of([repr(name) for name in words]), next(iter(words.values()))
            read = f"{number_format.value(word):.15g}"
            warn(f"{path} has {number_format.name} between thousands in {named}: {word} is read as {read}")


def _numbers_of(column: pd.Series, decimal_comma: bool, notes: _Notes) -> pd.Series:
    """Return the numbers that cells stand for if all, or all but typing errors, are written alike."""
    import pandas as pd

    if decimal_comma:
        quickly = _plain_decimal_commas(column)
        if quickly is not None:
            notes.decimals.append(str(column.name))
            return quickly
    words, there = _words_of(column), column.notna()
    if words and all(map(re.compile(INTEGER).fullmatch, words)):  # too large for pandas
        return column.astype(float)
    number_format = _format_of(words, decimal_comma)
    if number_format is None:
        return column
    grouped = next(filter(number_format.is_grouped, words), None)
    if grouped is None:
        notes.decimals.append(str(column.name))
    else:
        notes.thousands.setdefault(number_format, {})[str(column.name)] = grouped
    values = [number_format.value(word) if number_format.fits(word) else word for word in words]
    is_clean = not any(isinstance(value, str) for value in values)
    read = pd.Series(values, index=column.index[there], dtype=float if is_clean else object)
    return read.reindex(column.index)


def _plain_decimal_commas(column: pd.Series) -> pd.Series | None:
    """Return the numbers of a column if all have decimal commas, or none, and nothing between thousands."""
    import pandas as pd

    if not holds_words(column):
        return None
    has_comma = column.str.contains(",", regex=False).eq(True)
    if not has_comma.any() or column.str.contains("[^-+0-9eE,]").eq(True).any():
        return None
    numbers = pd.to_numeric(column.str.replace(",", ".", regex=False), errors="coerce")
    return numbers.astype(float) if (numbers.notna() == column.notna()).all() else None


def _format_of(words: list[str], decimal_comma: bool) -> NumberFormat | None:
    """Return the format of all words; with decimal commas, some words may not be numbers."""
    signs = set("".join(words))

    def fitting(formats: Iterable[NumberFormat]) -> NumberFormat | None:
        grouped = (one for one in formats if not signs.isdisjoint(one.thousands))
        return next((one for one in grouped if all(map(one.fits, words))), None)

    if not decimal_comma:
        return fitting([*WITH_POINTS, *WITH_COMMAS])
    # Before commas between thousands: 1,234 may be either.
    plainly = DECIMAL_COMMAS if _most_have_decimal_commas(words) else None
    return fitting(WITH_COMMAS) or plainly or fitting(WITH_POINTS)


def _most_have_decimal_commas(words: list[str]) -> bool:
    """Return whether most words are numbers, some with a comma, and the others not numbers at all."""
    numbers = [word for word in words if DECIMAL_COMMAS.is_plain(word)]
    if 2 * len(numbers) <= len(words) or not any("," in word for word in numbers):
        return False
    return not any(is_number(word) for word in words if not DECIMAL_COMMAS.is_plain(word))


def _fit_decimal_commas(words: list[str]) -> bool:
    others = [word for word in words if not DECIMAL_COMMAS.fits(word)]
    return 2 * len(others) < len(words) and not any(map(is_number, others))


def is_number(word: str) -> bool:
    """Return whether a word is a number in any format.

    >>> is_number("1.234,5"), is_number("1.2,3")
    (True, False)
    """
    return any(number_format.fits(word) for number_format in (*WITH_COMMAS, *WITH_POINTS))


def are_numbers(words: pd.Series) -> pd.Series:
    """Return which words are numbers in any format.

    >>> import pandas as pd
    >>> are_numbers(pd.Series(["1e3", "1,5", "1 234", "4O"])).tolist()
    [True, True, True, False]
    """
    import pandas as pd

    # Words that group rows are few.
    known = {word: is_number(word) for word in words.unique()}
    return pd.to_numeric(words, errors="coerce").notna() | words.map(known).astype(bool)
