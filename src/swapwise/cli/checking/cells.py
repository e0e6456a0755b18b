"""Cells that are not numbers in columns that should be: typing errors, missing values, dates, units."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

from swapwise.cli.messages import Diagnostic, quoted, some_of
from swapwise.cli.reading.numerals import decimal_of
from swapwise.cli.reading.numerals import is_number as is_numeral

if TYPE_CHECKING:
    import pandas as pd

# What people write where there is no value, beside what pandas knows.
MISSING = {*"?-–.*x", "??", "--", "..", "missing", "unknown", "na", "n.a.", "none", "#value!", "#div/0!"}

DATE = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d\d[-/.]\d\d[-/.]\d\d)([T ].*)?"

# A number, with one thing before or behind it that is none.
WITH_UNIT = r"^[+-]?([€$£¥]?)\s*[+-]?\d+(?:[.,'’ \u00a0\u202f]\d+)*\s*([^\d\s.,+\-:/][^:\s]{0,11})?$"

# What looks like the minus of the keyboard, and what accountants write instead.
OTHER_MINUS = re.compile(r"[\u2212\u2010-\u2014\ufe63\uff0d]\s*(?=[\d.,])")
BRACKETS = re.compile(r"\(\s*([^()+-]*\d[^()]*)\)")

# As much of a cell as a message needs.
MOST_LETTERS = 40


def is_number(column: pd.Series) -> bool:
    """Return whether a column holds numbers or booleans, whatever its dtype."""
    from pandas.api.types import infer_dtype, is_complex_dtype, is_numeric_dtype, is_object_dtype

    if is_object_dtype(column):
        kinds = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")
        return infer_dtype(column, skipna=True) in kinds
    return bool(is_numeric_dtype(column) and not is_complex_dtype(column))


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that do not hold numbers."""
    # By the types first, which is fast for thousands of columns.
    unsure = [name for name, dtype in table.dtypes.items() if dtype.kind not in "biuf"]
    return [name for name in unsure if not is_number(table[name])]


def holds_lists(column: pd.Series) -> bool:
    """Return whether some cell of a column is not a single value."""
    from pandas.api.types import is_object_dtype

    return is_object_dtype(column) and not all(isinstance(cell, Hashable) for cell in column)


def strange_cells(column: pd.Series, *, only_missing: bool = False) -> Diagnostic | None:
    """Return what is wrong with the cells that are not numbers, if most cells of a text column are.

    With ``only_missing``, only cells that look like missing values count as wrong.
    """
    words = _words_of(column)
    if words is None:
        return None
    strange = words[~are_numbers(words)]
    if strange.empty or 2 * len(strange) >= len(words):
        return None
    of_all = f"in {len(strange)} of {len(column)} rows"
    kinds = dict.fromkeys(strange)
    if all(word.lower() in MISSING for word in kinds):
        fact = (
            f"{column.name!r} has {quoted(kinds)} {of_all}, the first in {_place(strange.index[0], column)}, "
            "which looks like missing values: leave such cells empty"
        )
        return Diagnostic(fact, "then --drop-missing leaves out their rows")
    if only_missing:
        return None
    return Diagnostic(
        f"{column.name!r} has text {of_all}: {_shown(strange, column)}", "correct it in the data"
    )


def other_kind(column: pd.Series) -> Diagnostic | None:
    """Return what is wrong with a text column that holds dates, units or numbers in an unknown format."""
    from pandas.api.types import is_datetime64_any_dtype

    words = _words_of(column)
    if is_datetime64_any_dtype(column) or (words is not None and words.str.fullmatch(DATE).all()):
        first = str(column.dropna().iloc[0])
        return Diagnostic(
            f"{column.name!r} holds dates such as {first!r}", "make numbers of them, such as days"
        )
    if words is None:
        return None
    if are_numbers(words).all():
        return _not_read(words, column)
    usual = words.map(_with_usual_sign)
    if are_numbers(usual).all():
        other, meant = words[usual != words].iloc[0], usual[usual != words].iloc[0]
        return Diagnostic(f"{column.name!r} holds numbers written as {other!r}", f"write {meant}")
    with_unit = words[_have_unit(usual)]
    if len(with_unit):
        fact = f"{column.name!r} holds numbers with a unit, such as {with_unit.iloc[0]!r}"
        return Diagnostic(fact, "write the numbers alone")
    return None


def _with_usual_sign(word: str) -> str:
    """Return a word with the minus that it probably means."""
    return BRACKETS.sub(r"-\1", word) if BRACKETS.fullmatch(word) else OTHER_MINUS.sub("-", word, count=1)


def _have_unit(words: pd.Series) -> pd.Series:
    """Return which words are numbers with a unit: none unless most are and they share one unit."""
    parts = words.str.extract(WITH_UNIT).fillna("")
    units = parts[0] + parts[1]
    found = units != ""
    return found & (units[found].nunique() == 1 and 2 * found.sum() >= len(words))


def _not_read(words: pd.Series, column: pd.Series) -> Diagnostic:
    """Return why a column of numbers is still text."""
    signs = words.map(decimal_of)
    first = words[signs.isin([",", "."]) & ~signs.duplicated()]
    if len(first) > 1:
        fact = f"{column.name!r} has numbers written in several ways: {_shown(first, column)}"
        return Diagnostic(fact, "write all alike")
    if len(first):
        sign, word = decimal_of(first.iloc[0]), first.iloc[0]
        name = "commas" if sign == "," else "points"
        fact = f"{column.name!r} holds numbers with decimal {name}, such as {word!r}, and others do not"
        return Diagnostic(
            fact, f"write all alike; --decimal {sign} is for all columns", decide=f"--decimal {sign}"
        )
    unclear = words[words.str.contains(",", regex=False)]
    if len(unclear):
        word = unclear.iloc[0]
        fact = f"{column.name!r} holds numbers such as {word!r}"
        either = f"{word.replace(',', '.')} or {word.replace(',', '')}"
        decide = "--decimal , or --decimal ."
        return Diagnostic(f"{fact}, which may be {either}", f"{decide} says which", decide=decide)
    return Diagnostic(
        f"{column.name!r} holds numbers as text, such as {words.iloc[0]!r}", "store them as numbers"
    )


def _words_of(column: pd.Series) -> pd.Series | None:
    """Return the cells of a column of text that has any."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    is_text = is_object_dtype(column) or is_string_dtype(column)
    present = column.dropna()
    return present.astype(str).str.strip() if is_text and len(present) else None


def _shown(words: pd.Series, column: pd.Series) -> str:
    """Return some words and where in the column they are."""
    return some_of([f"{word[:MOST_LETTERS]!r} in {_place(label, column)}" for label, word in words.items()])


def _place(label: int, column: pd.Series) -> str:
    """Return where a cell is: in which line of its file, if the index says so, otherwise in which row."""
    if column.index.name == "line":
        return f"line {label}"
    return f"row {column.index.get_loc(label) + 1}"


def are_numbers(words: pd.Series) -> pd.Series:
    """Return which words are numbers in any format."""
    import pandas as pd

    known = {word: is_numeral(word) for word in words.unique()}
    return pd.to_numeric(words, errors="coerce").notna() | words.map(known).astype(bool)
