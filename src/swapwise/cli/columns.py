"""From a table to numbers: missing values, text, and the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.tables import hint, some_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of numbers, the target, and which columns stand for which variable."""

    X: pd.DataFrame
    y: pd.Series
    #: The variable of each column, if some variables have several; else None
    variable_of: dict[str, str] | None

    @property
    def variables(self) -> list[str]:
        """What can be chosen, in the order of the table.

        >>> Design(None, None, {"age": "age", "town_Kiel": "town", "town_Ulm": "town"}).variables
        ['age', 'town']
        """
        names = list(self.X.columns) if self.variable_of is None else list(self.variable_of.values())
        return list(dict.fromkeys(names))


def require_columns(names: Sequence[str], table: pd.DataFrame, option: str) -> None:
    """Say which name is no column of the table.

    >>> import pandas as pd
    >>> require_columns(["hieght"], pd.DataFrame({"height": [1]}), "--target")
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: --target names 'hieght', but the data have no such column (did you mean
    'height'?); they have 'height'
    """
    for name in names:
        if name not in table.columns:
            there = some_of([repr(column) for column in table.columns])
            close = hint(name, table.columns)
            raise BadInput(
                f"{option} names {name!r}, but the data have no such column{close}; they have {there}"
            )


def without_missing(table: pd.DataFrame, *, drop: bool) -> pd.DataFrame:
    """Return the table, which must have no missing values, or its rows without any.

    >>> import pandas as pd
    >>> without_missing(pd.DataFrame({"a": [1, None], "b": [1, 2]}), drop=False)
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: missing values, by column: 'a' 1; --drop-missing leaves out the 1 of 2
    rows that have any
    """
    missing = table.isna()
    rows = int(missing.any(axis=1).sum())
    if not rows:
        return table
    if not drop:
        counts = missing.sum()
        told = some_of([f"{name!r} {count}" for name, count in counts[counts > 0].items()])
        raise BadInput(
            f"missing values, by column: {told}; --drop-missing leaves out the {rows} of {len(table)} rows "
            "that have any"
        )
    if rows == len(table):
        raise BadInput(f"all {rows} rows have missing values: none is left; --force-out leaves out columns")
    warn(f"{rows} of {len(table)} rows have missing values and are left out")
    return table[~missing.any(axis=1)].reset_index(drop=True)


def read_design(table: pd.DataFrame, target: str, *, one_hot: bool, classes: bool) -> Design:
    """Return the columns as numbers and the target; ``classes`` says that the target may be text.

    >>> import pandas as pd
    >>> towns = pd.DataFrame({"town": ["Ulm", "Kiel", "Ulm", "Kiel"], "y": [1, 2, 3, 4]})
    >>> read_design(towns, "y", one_hot=True, classes=False).X
       town_Ulm
    0       1.0
    1       0.0
    2       1.0
    3       0.0
    """
    X, y = table.drop(columns=target), table[target]
    if X.shape[1] == 0:
        raise BadInput(f"there is no column to choose from beside the target {target!r}")
    _require_target(y, classes)
    text = [name for name in X.columns if not _is_number(X[name])]
    if text and not one_hot:
        named = some_of([repr(name) for name in text])
        raise BadInput(
            f"no numbers in the columns {named}; --one-hot makes columns of 0 and 1 of text, --force-out "
            "leaves columns out"
        )
    for name in text:
        _require_factor(X[name])
    if text:
        X, variable_of = _dummies(X, text)
    else:
        variable_of = None
    X = X.astype(float)
    _require_finite(X)
    return Design(X, y, variable_of)


def _is_number(column: pd.Series) -> bool:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    return bool(is_numeric_dtype(column) and not is_complex_dtype(column))


def _require_target(y: pd.Series, classes: bool) -> None:
    if y.nunique() == 1:
        raise BadInput(f"the target {y.name!r} is constant: it is {y.iloc[0]!s} in all {len(y)} rows")
    if classes:
        return
    if not _is_number(y):
        raise BadInput(
            f"the target {y.name!r} must hold numbers, got text such as {y.iloc[0]!r}; for classes, "
            "--family logistic"
        )
    _require_finite(y.to_frame())


def _require_finite(X: pd.DataFrame) -> None:
    import numpy as np

    infinite = [repr(name) for name in X.columns if not np.isfinite(X[name].to_numpy(dtype=float)).all()]
    if infinite:
        raise BadInput(f"infinite numbers in the columns {some_of(infinite)}")


def _require_factor(column: pd.Series) -> None:
    """Refuse what is no text, and text that tells the rows apart instead of grouping them."""
    from pandas import CategoricalDtype
    from pandas.api.types import is_object_dtype, is_string_dtype

    is_category = isinstance(column.dtype, CategoricalDtype)
    is_text = is_category or is_object_dtype(column) or is_string_dtype(column)
    if not is_text:
        raise BadInput(
            f"the column {column.name!r} has type {column.dtype}, neither numbers nor text; --force-out "
            "leaves it out"
        )
    n_values = column.nunique()
    if n_values > len(column) / 2:
        raise BadInput(
            f"the column {column.name!r} has {n_values} different values in {len(column)} rows, too many for "
            "--one-hot; --force-out leaves it out"
        )
    if n_values == 1:
        raise BadInput(
            f"the column {column.name!r} is {column.iloc[0]!r} in all rows; --force-out leaves it out"
        )


def _dummies(X: pd.DataFrame, text: list[str]) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return columns of 0 and 1 in the place of text, and the variable of every column."""
    import pandas as pd

    parts: list[pd.DataFrame] = []
    variable_of: dict[str, str] = {}
    for name in X.columns:
        part = X[[name]]
        if name in text:
            words = X[name].astype(str)
            # Without the first value: with all of them, they would add up to the intercept.
            part = pd.get_dummies(words, prefix=name, drop_first=True)
            made = some_of([repr(column) for column in part.columns])
            warn(f"{name!r} becomes columns of 0 and 1, against {min(words)!r}: {made}")
        for column in part.columns:
            if variable_of.setdefault(column, name) != name:
                raise BadInput(f"--one-hot would make a second column {column!r}: rename that of the data")
        parts.append(part)
    return pd.concat(parts, axis=1), variable_of
