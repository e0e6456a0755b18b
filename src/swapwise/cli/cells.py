"""Columns that should be numbers but have other cells: typing errors, words for missing values, dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapwise.cli.wording import some_of

if TYPE_CHECKING:
    import pandas as pd

# What people write where there is no value, beside what pandas knows.
MISSING = {*"?-–.*x", "??", "--", "..", "missing", "unknown", "na", "n.a.", "none", "#value!", "#div/0!"}

DATE = r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}|\d\d[-/.]\d\d[-/.]\d\d)([T ].*)?"

# As much of a cell as a message needs.
MOST_LETTERS = 40


def is_number(column: pd.Series) -> bool:
    """Tell whether a column holds numbers or booleans, whatever its type is called.

    >>> import pandas as pd
    >>> is_number(pd.Series([10**25, None])), is_number(pd.Series(["a", "b"]))
    (True, False)
    """
    from pandas.api.types import infer_dtype, is_complex_dtype, is_numeric_dtype, is_object_dtype

    if is_object_dtype(column):
        kinds = ("integer", "floating", "mixed-integer-float", "decimal", "boolean")
        return infer_dtype(column, skipna=True) in kinds
    return bool(is_numeric_dtype(column) and not is_complex_dtype(column))


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that do not hold numbers.

    >>> import pandas as pd
    >>> text_columns(pd.DataFrame({"age": [40, 41], "town": ["Ulm", "Kiel"]}))
    ['town']
    """
    # By the types first, which is fast for thousands of columns.
    unsure = [name for name, dtype in table.dtypes.items() if dtype.kind not in "biuf"]
    return [name for name in unsure if not is_number(table[name])]


def strange_cells(column: pd.Series, *, only_missing: bool = False) -> str | None:
    """Return a word on the cells that are no numbers, if most of a column of text are; otherwise None.

    With ``only_missing``, a word only on cells that look like missing values.

    >>> import pandas as pd
    >>> strange_cells(pd.Series(["40", "4O", "41"], name="age"))
    "'age' has text in 1 of 3 rows: '4O' in row 2; correct it in the data"
    """
    words = _words_of(column)
    if words is None:
        return None
    strange = words[~_are_numbers(words)]
    if strange.empty or 2 * len(strange) >= len(words):
        return None
    of_all = f"in {len(strange)} of {len(column)} rows"
    kinds = dict.fromkeys(strange)
    if all(word.lower() in MISSING for word in kinds):
        named = some_of([repr(word) for word in kinds])
        return (
            f"{column.name!r} has {named} {of_all}, the first in {_place(strange.index[0], column)}, which "
            "looks like missing values: leave such cells empty, then --drop-missing leaves out their rows"
        )
    if only_missing:
        return None
    places = [f"{word[:MOST_LETTERS]!r} in {_place(label, column)}" for label, word in strange.items()]
    return f"{column.name!r} has text {of_all}: {some_of(places)}; correct it in the data"


def other_kind(column: pd.Series) -> str | None:
    """Return a word on what a column holds that is neither words nor numbers to calculate with, or None.

    >>> import pandas as pd
    >>> other_kind(pd.Series(["2024-05-01", "2024-06-01"], name="day"))
    "'day' holds dates such as '2024-05-01'; make numbers of them, such as days"
    """
    from pandas.api.types import is_datetime64_any_dtype

    words = _words_of(column)
    if is_datetime64_any_dtype(column) or (words is not None and words.str.fullmatch(DATE).all()):
        first = str(column.dropna().iloc[0])
        return f"{column.name!r} holds dates such as {first!r}; make numbers of them, such as days"
    if words is not None and _are_numbers(words).all():
        return f"{column.name!r} holds numbers as text, such as {words.iloc[0]!r}; store them as numbers"
    return None


def _words_of(column: pd.Series) -> pd.Series | None:
    """Return the cells of a column of text that has any."""
    from pandas.api.types import is_object_dtype, is_string_dtype

    is_text = is_object_dtype(column) or is_string_dtype(column)
    present = column.dropna()
    return present.astype(str).str.strip() if is_text and len(present) else None


def _are_numbers(words: pd.Series) -> pd.Series:
    import pandas as pd

    return pd.to_numeric(words, errors="coerce").notna()


def _place(label: int, column: pd.Series) -> str:
    """Return where a cell is: in which line of its file, if the index says so, otherwise in which row."""
    if column.index.name == "line":
        return f"line {label}"
    return f"row {column.index.get_loc(label) + 1}"
