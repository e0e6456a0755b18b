"""Errors about columns that hold no numbers: their names, an example, and what to do.

Frames are those of pandas, polars, pyarrow and any other library that narwhals knows.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from swapwise.checks import require_unmasked, some_of

TEXT, DATES, NUMBERS_AS_TEXT, OTHERS = "text", "dates or times", "numbers as text", "neither numbers nor text"

ADVICE = {
    TEXT: "encode text as columns of 0 and 1 (sklearn.preprocessing.OneHotEncoder, in a ColumnTransformer)",
    DATES: "make numbers of dates, such as the days since the first",
    NUMBERS_AS_TEXT: "convert text that is numbers (astype(float) in pandas, cast(float) in polars)",
}

NUMERIC = ("integer", "floating", "mixed-integer-float", "decimal", "boolean", "empty")


def require_numbers(X: Any, for_text: str = ADVICE[TEXT]) -> None:
    """Refuse columns of text, dates and the like, all at once; ``for_text`` is the advice about text."""
    require_plain(X, "X")
    found = _not_numbers(X)
    if not found:
        return
    got = []
    for kind in dict.fromkeys(kind for kind, _, _ in found):
        named = [f"{name!r}{_such_as(example)}" for one, name, example in found if one == kind]
        got.append(f"{kind} in {some_of(named)}")
    known = ADVICE | {TEXT: for_text}
    advice = [known[kind] for kind in dict.fromkeys(kind for kind, _, _ in found) if kind in known]
    out = "leave the column out" if len(found) == 1 else "leave the columns out"
    raise ValueError(f"X must hold numbers, got {'; '.join(got)}; {', '.join([*advice, f'or {out}'])}")


def require_numeric_target(y: Any, classes: str = "") -> None:
    """Refuse a target of text or dates; ``classes`` is the advice about text."""
    values = np.asarray(y)
    if values.dtype.kind in "biuf" or not values.size:
        return
    kind, example = _kind_of(np.ravel(values))
    if kind is not None:
        advice = ADVICE[kind] if kind in (DATES, NUMBERS_AS_TEXT) else classes
        raise ValueError(f"y must hold numbers, got {kind}{_shown(example)}" + f"; {advice}" * bool(advice))


def require_plain(values: Any, name: str) -> None:
    """Refuse arrays with masked entries, of complex numbers, or of bytes without a type."""
    require_unmasked(values, name)
    kind = values.dtype.kind if isinstance(values, np.ndarray) else ""
    if kind == "c":
        message = "Complex data not supported: "  # scikit-learn's words, without its print of all data
        raise ValueError(f"{message}{name} must hold real numbers, got values of type {values.dtype}")
    if kind == "V":
        raise ValueError(f"{name} must hold numbers, got values of type {values.dtype}")


def _such_as(example: Any) -> str:
    return "" if example is None else f" ({_shown(example).strip()})"


def _shown(example: Any) -> str:
    return "" if example is None else f" such as {str(example)!r}"


def _not_numbers(X: Any) -> list[tuple[str, Hashable, Any]]:
    """Return the kind, the name and an example of each column that holds no numbers."""
    if isinstance(X, pd.DataFrame):
        names = [place for place, dtype in enumerate(X.dtypes) if dtype.kind not in "biuf"]
        columns = ((X.columns[place], X.iloc[:, place].dropna().to_numpy()) for place in names)
    elif isinstance(X, np.ndarray):
        if X.dtype.kind not in "USOMm" or X.ndim != 2:
            return []
        columns = ((place, column[~pd.isna(column)]) for place, column in enumerate(X.T))
    elif hasattr(X, "__dataframe__") or hasattr(X, "__arrow_c_stream__"):
        columns = _of_frame(X)
    else:
        return []
    found = ((name, *_kind_of(values, is_array=isinstance(X, np.ndarray))) for name, values in columns)
    return [(kind, name, example) for name, kind, example in found if kind is not None]


def _of_frame(X: Any) -> Any:
    """Yield the columns, other than of numbers, of a frame of another library than pandas."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return
    for name, dtype in frame.schema.items():
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            yield name, np.array(frame[name].drop_nulls().to_list(), dtype=object)


def _kind_of(values: np.ndarray, *, is_array: bool = False) -> tuple[str | None, Any]:
    """Return the kind of values without missing ones, None for numbers; and an example.

    In an array, which has but one type, text that is numbers counts as such, and numpy refuses objects.
    """
    kind = infer_dtype(values.astype(object) if values.dtype.kind in "US" else values, skipna=True)
    if kind in NUMERIC:
        return None, None
    first = values[0] if len(values) else None
    if kind in ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period"):
        return DATES, first
    words = [value for value in values.tolist() if isinstance(value, str)]
    strange = next((word for word in words if not _is_float(word)), None)
    if strange is not None:
        return TEXT, strange
    if is_array:
        return None, None
    return (NUMBERS_AS_TEXT, words[0]) if words else (OTHERS, first if np.isscalar(first) else None)


def _is_float(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
