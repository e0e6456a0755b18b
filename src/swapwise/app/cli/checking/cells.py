"""Cells that are not numbers in columns that should be: typing errors, missing values, dates, units."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import TYPE_CHECKING

from swapwise.app.cli.messages import Diagnostic, quoted
from swapwise.app.cli.reading.numerals import decimal_of
from swapwise.checks import some_of

if TYPE_CHECKING:
    import pandas as pd

# Words for missing values, beside those that pandas knows.
MISSING = {*"?-–.*x", "??", "--", "..", "missing", "unknown", "na", "n.a.", "none", "#value!", "#div/0!"}

DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d\d[-/.]\d\d[-/.]\d\d)([T ].*)?"
)

# A number with a unit or a currency, in brackets, or with a dash as the minus.
MARKS = r"[-+\u2212\u2010-\u2014\ufe63\uff0d]?\s*"
MARKED = re.compile(
    rf"\(?{MARKS}[€$£¥]?\s*{MARKS}\d+(?:[.,'’\s]\d+)*\s*([^\d\s.,+\-:/()][^:\s()]{{0,11}})?\s*\)?"
)
UNMARKED = re.compile(r"[-+\d.,'’\s]*")

# The number of letters of a cell that a message shows.
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


def not_numbers(column: pd.Series, *, only_missing: bool = False) -> Diagnostic | None:
    """Return why a column is text and not numbers, None if it is words that never were numbers.

    With ``only_missing``, only words for missing values among numbers count as wrong.
    """
    from pandas import CategoricalDtype
    from pandas.api.types import is_datetime64_any_dtype, is_object_dtype, is_string_dtype

    name, there = repr(column.name), column.dropna()
    is_text, is_date = is_object_dtype(column) or is_string_dtype(column), is_datetime64_any_dtype(column)
    if there.empty or isinstance(column.dtype, CategoricalDtype):
        return None
    if holds_lists(column) or not (is_text or is_date):
        what = "lists or the like" if is_text else f"values of type {column.dtype}"
        return Diagnostic(f"{name} holds {what}, neither numbers nor text", "make numbers of them")
    words = there.astype(str).str.strip()
    kinds = words.map({word: "date" if is_date else _kind(word) for word in words.unique()})
    odd, found = words[kinds != "number"], set(kinds)
    of_all, are_few = f"in {len(odd)} of {len(column)} rows", 2 * len(odd) < len(words)
    if found == {"number", "missing"} and are_few:
        first = f"the first in {_place(odd.index[0], column)}, which looks like missing values"
        fact = f"{name} has {quoted(dict.fromkeys(odd))} {of_all}, {first}: leave such cells empty"
        return Diagnostic(fact, "then --drop-missing leaves out their rows")
    if only_missing:
        return None
    if found == {"number"}:
        return _why_text(words, name)
    if found == {"date"}:
        fact = f"{name} holds dates such as {words.iloc[0]!r}"
        return Diagnostic(fact, "make numbers of them, such as days")
    if are_few:
        shown = [f"{word[:MOST_LETTERS]!r} in {_place(label, column)}" for label, word in odd.items()]
        return Diagnostic(f"{name} has text {of_all}: {some_of(shown)}", "correct it in the data")
    marked = words[kinds == "marked"]
    if 2 * len(marked) >= len(words) and marked.str.extract(MARKED)[0].nunique() <= 1:
        fact = f"{name} holds numbers with a sign or unit, such as {marked.iloc[0]!r}"
        return Diagnostic(fact, "write the numbers alone, with - for minus")
    return None


def _kind(word: str) -> str:
    """Return number (in some format), missing, date, marked (a number with a unit), or text."""
    if decimal_of(word) is not None or word.lower().lstrip("+-") in ("inf", "infinity"):
        return "number"
    if word.lower() in MISSING:
        return "missing"
    if DATE.fullmatch(word):
        return "date"
    return "marked" if MARKED.fullmatch(word) and not UNMARKED.fullmatch(word) else "text"


def _why_text(words: pd.Series, name: str) -> Diagnostic:
    """Return why a column of numbers is still text."""
    examples = {decimal_of(word): word for word in reversed(words.tolist())}
    if {",", "."} <= examples.keys():
        shown = f"{examples[',']!r} and {examples['.']!r}"
        return Diagnostic(f"{name} has numbers written in several ways: {shown}", "write all alike")
    for sign, what in {",": "commas", ".": "points"}.items():
        if sign in examples:
            fact = f"{name} holds numbers with decimal {what}, such as {examples[sign]!r}"
            option = f"--decimal {sign}"
            return Diagnostic(fact, f"{option} reads them so, in all columns", decide=option)
    unclear = [word for word in words if "," in word or "." in word]
    if unclear:
        either = f"{unclear[0].replace(',', '.')} or {re.sub('[,.]', '', unclear[0])}"
        fact = f"{name} holds numbers such as {unclear[0]!r}, which may be {either}"
        decide = "--decimal , or --decimal ."
        return Diagnostic(fact, f"{decide} says which", decide=decide)
    return Diagnostic(f"{name} holds numbers as text, such as {words.iloc[0]!r}", "store them as numbers")


def _place(label: int, column: pd.Series) -> str:
    """Return the line of a cell in its file, if the index has lines, otherwise its row."""
    if column.index.name == "line":
        return f"line {label}"
    return f"row {column.index.get_loc(label) + 1}"
