"""From a table to numbers: names of columns, missing values, text, and the target."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from swapwise.checks import warn
from swapwise.cli.cells import is_number, other_kind, strange_cells, text_columns
from swapwise.cli.failures import BadInput
from swapwise.cli.targets import as_target
from swapwise.cli.wording import hint, some_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of numbers, the target, which columns stand for which variable, and what made them."""

    X: pd.DataFrame
    y: pd.Series
    #: The variable of each column, if some variables have several; else None
    variable_of: dict[str, str] | None
    #: The fitted transformer that makes X of a table like the one that was read, whatever else is in it
    transformer: Any

    @property
    def variables(self) -> list[str]:
        """What can be chosen, in the order of the table.

        >>> Design(None, None, {"age": "age", "town_Kiel": "town", "town_Ulm": "town"}, None).variables
        ['age', 'town']
        """
        names = list(self.X.columns) if self.variable_of is None else list(self.variable_of.values())
        return list(dict.fromkeys(names))


def names_among(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the names that were given, each once: words that are a column, and others split at commas.

    >>> names_among(["a, b", "size, in m", "a"], ["a", "b", "size, in m"])
    ['a', 'b', 'size, in m']
    """
    known = set(columns)
    names = [name.strip() for some in given for name in ([some] if some in known else some.split(","))]
    return [name for name in dict.fromkeys(names) if name]


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
        if name in table.columns:
            continue
        whole = _variable_with(name, table)
        if whole is not None:
            raise BadInput(f"{option} names {name!r}, which is one value of {whole!r}: name all of {whole!r}")
        there = some_of([repr(column) for column in table.columns])
        close = hint(name, table.columns)
        raise BadInput(f"{option} names {name!r}, but the data have no such column{close}; they have {there}")


def _variable_with(name: str, table: pd.DataFrame) -> str | None:
    """Return the column of which ``--one-hot`` would make one of this name."""
    for column in table.columns:
        if name.startswith(f"{column}_") and (table[column].astype(str) == name[len(column) + 1 :]).any():
            return str(column)
    return None


def without_missing(table: pd.DataFrame, *, drop: bool) -> pd.DataFrame:
    """Return the table, which must have no missing values, or its rows without any; rows are numbered anew.

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
        return table.reset_index(drop=True)
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


def require_numbers(table: pd.DataFrame, target: str, *, one_hot: bool, classes: bool) -> None:
    """Refuse columns that are nearly numbers, or dates, and say where in the file that is seen.

    To be asked before rows are left out. With ``one_hot`` such columns may be text, if they group the rows.

    >>> import pandas as pd
    >>> ages = pd.DataFrame({"age": ["40", "4O", "41"], "y": [1, 2, 3]})
    >>> require_numbers(ages, "y", one_hot=False, classes=False)
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: the column 'age' has text in 1 of 3 rows: '4O' in row 2; correct it in
    the data, or leave out the column by --force-out
    """
    y = table[target]
    if not is_number(y):
        wrong = strange_cells(y, only_missing=classes) or (None if classes else other_kind(y))
        if wrong:
            raise BadInput(f"the target {wrong}")
    text = [table[name] for name in text_columns(table) if name != target]
    unfit = [column for column in text if not (one_hot and _groups_rows(column))]
    told = {column.name: wrong for column in unfit if (wrong := strange_cells(column) or other_kind(column))}
    if told:
        first, *others = told
        more = f"; look at {some_of([repr(name) for name in others])} too" if others else ""
        raise BadInput(f"the column {told[first]}, or leave out the column by --force-out{more}")


def read_design(table: pd.DataFrame, target: str, *, one_hot: bool, classes: bool) -> Design:
    """Return the columns as numbers and the target; ``classes`` says that the target may be text.

    >>> import pandas as pd
    >>> towns = pd.DataFrame({"town": ["Ulm", "Kiel", "Ulm", "Kiel"], "y": [1, 2, 3, 4]})
    >>> design = read_design(towns, "y", one_hot=True, classes=False)
    >>> design.X
       town_Ulm
    0       1.0
    1       0.0
    2       1.0
    3       0.0
    >>> design.transformer.transform(pd.DataFrame({"town": ["Ulm"], "street": ["Lange"]}))
       town_Ulm
    0       1.0
    """
    X = table.drop(columns=target)
    if X.shape[1] == 0:
        raise BadInput(f"there is no column to choose from beside the target {target!r}")
    y = as_target(table[target], classes=classes)
    text = text_columns(X)
    if text and not one_hot:
        named = some_of([repr(name) for name in text])
        raise BadInput(
            f"no numbers in the columns {named}; --one-hot makes columns of 0 and 1 of text, --force-out "
            "leaves columns out"
        )
    for name in text:
        _require_factor(X[name])
    variable_of = _variables(X, text) if text else None
    transformer = _transformer(list(X.columns), text)
    numbers = transformer.fit_transform(X).astype(float)
    _require_finite(numbers)
    return Design(numbers, y, variable_of, transformer)


def _transformer(names: list[str], text: list[str]) -> Any:
    """Return what picks the columns, in their order, and makes columns of 0 and 1 of text."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder

    words, parts = set(text), list[tuple[str, Any, list[str]]]()
    for is_text, run in groupby(names, words.__contains__):
        # Without the first value: with all of them, they would add up to the intercept.
        how = OneHotEncoder(drop="first", sparse_output=False) if is_text else "passthrough"
        parts.append((f"{'text' if is_text else 'numbers'} {len(parts) + 1}", how, list(run)))
    return ColumnTransformer(parts, verbose_feature_names_out=False).set_output(transform="pandas")


def _variables(X: pd.DataFrame, text: list[str]) -> dict[str, str]:
    """Return the variable of every column that the transformer will make, and say what becomes of text."""
    words = set(text)
    variable_of: dict[str, str] = {}
    for name in X.columns:
        made = [name]
        if name in words:
            first, *others = sorted(X[name].unique())
            made = [f"{name}_{value}" for value in others]
            named = some_of([repr(column) for column in made])
            warn(f"{name!r} becomes columns of 0 and 1, against {str(first)!r}: {named}")
        for column in made:
            if variable_of.setdefault(column, name) != name:
                raise BadInput(f"--one-hot would make a second column {column!r}: rename that of the data")
    return variable_of


def _require_finite(X: pd.DataFrame) -> None:
    import numpy as np

    finite = np.isfinite(X.to_numpy()).all(axis=0)
    if not finite.all():
        raise BadInput(
            f"infinite numbers in the columns {some_of([repr(name) for name in X.columns[~finite]])}"
        )


def _groups_rows(column: pd.Series) -> bool:
    """Tell text that groups the rows from text that tells them apart."""
    return bool(column.nunique() <= len(column) / 2)


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
    if not _groups_rows(column):
        raise BadInput(
            f"the column {column.name!r} has {n_values} different values in {len(column)} rows, too many for "
            "--one-hot; --force-out leaves it out"
        )
    if n_values == 1:
        raise BadInput(
            f"the column {column.name!r} is {column.iloc[0]!r} in all rows; --force-out leaves it out"
        )
