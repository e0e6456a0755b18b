"""From a table to a dataset: names of columns, missing values, text, and the target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.app.cli.checking.cells import text_columns
from swapwise.app.cli.checking.targets import as_target
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import hint, quoted
from swapwise.checks import some_of, warn

if TYPE_CHECKING:
    import pandas as pd

# A column that numbers the rows of a table this long is no coincidence.
NUMBERED_ROWS = 10

# Names of columns that identify rows.
IDENTIFIER = re.compile(
    r"(.*[\s_.\-])?(id|ids|uid|guid|index|key|nr|number|case|row|respondent)", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Columns of numbers, the target, and which columns stand for which variable."""

    X: pd.DataFrame
    y: pd.Series
    #: The variable of each column, if some variables have several; else None
    variable_of: dict[str, str] | None
    #: The columns of text that were one-hot encoded, and the one that each column was made of
    text: pd.DataFrame | None = None
    made_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def variables(self) -> list[str]:
        """The names of the variables, in the order of the table."""
        names = list(self.X.columns) if self.variable_of is None else list(self.variable_of.values())
        return list(dict.fromkeys(names))


def names_among(given: Iterable[str], columns: Iterable[str]) -> list[str]:
    """Return the given names, each once: words between commas, or columns with commas in their names."""
    known, names = set(columns), list[str]()
    for some in given:
        words = some.split(",")
        while words:
            # The longest run of words that is a column, or else one word.
            runs = (",".join(words[:end]) for end in range(len(words), 0, -1))
            run = next((run for run in runs if run in known or run.strip() in known), words[0])
            names.append(run if run in known else run.strip())
            words = words[run.count(",") + 1 :]
    return [name for name in dict.fromkeys(names) if name]


def require_columns(names: Sequence[str], table: pd.DataFrame, option: str) -> None:
    unknown = next((name for name in names if name not in table.columns), None)
    if unknown is not None:
        problem = (
            f"{option} names {unknown!r}, but the data have no such column{hint(unknown, table.columns)}"
        )
        raise BadInput(f"{problem}; they have {quoted(table.columns)}")


def missing_in_words(table: pd.DataFrame) -> str:
    missing = table.isna()
    rows, counts = missing.any(axis=1).sum(), missing.sum()
    by_column = some_of([f"{name!r} {count}" for name, count in counts[counts > 0].items()])
    return f"missing values in {rows} of {len(table)} rows, by column: {by_column}"


def without_missing(table: pd.DataFrame, *, drop: bool) -> pd.DataFrame:
    """Return the table, which must have no missing values, or its complete rows, renumbered."""
    complete = table.notna().all(axis=1)
    n_left = int(complete.sum())
    if n_left < len(table) and not drop:
        raise BadInput(f"{missing_in_words(table)}; --drop-missing leaves out these rows")
    if n_left < len(table):
        if not n_left:
            problem = f"all {len(table)} rows have missing values: none is left"
            raise BadInput(f"{problem}; --force-out leaves out columns")
        warn(f"{len(table) - n_left} of {len(table)} rows have missing values and are left out")
        table = table[complete]
    return table.reset_index(drop=True)


def read_dataset(table: pd.DataFrame, target: str, *, classes: bool) -> Dataset:
    """Return the columns as numbers, and the target, which may be text if it holds ``classes``."""
    import pandas as pd

    y = as_target(table[target], classes=classes)
    table = table.drop(columns=target)
    texts = text_columns(table)
    if not texts:
        return Dataset(pd.DataFrame(table.to_numpy(dtype=float), columns=table.columns), y, None)
    pieces, variable_of = list[Any](), dict[str, str]()
    for name in table.columns:
        made, values = [name], table[[name]]
        if name in texts:
            first, *others = categories_of(table[name])
            made = [f"{name}_{value}" for value in others]
            warn(f"{name!r} is one-hot encoded, reference level {str(first)!r}: {quoted(made)}")
            values = pd.DataFrame({value: table[name] == value for value in others})
        twice = variable_of.keys() & made
        if twice:
            raise BadInput(f"--one-hot would make a second column {min(twice)!r}: rename that of the data")
        pieces.append(values.to_numpy(dtype=float))
        variable_of |= dict.fromkeys(made, name)
    X = pd.DataFrame(np.hstack(pieces), columns=list(variable_of))
    made_of = {column: name for column, name in variable_of.items() if name in texts}
    return Dataset(X, y, variable_of, table[texts], made_of)


def categories_of(column: pd.Series) -> list[Any]:
    """Return the different values of a column in their order, numbers before words."""
    return sorted(column.dropna().unique(), key=lambda value: (isinstance(value, str), value))


def note_on_identifiers(table: pd.DataFrame) -> None:
    named = [name for name in table.columns if IDENTIFIER.fullmatch(str(name).strip())]
    numbering = [name for name in named if _numbers_rows(table[name])]
    if numbering:
        warn(
            f"{quoted(numbering)} seems to number the rows, but is taken for a variable; "
            f"--force-out {','.join(map(str, numbering))} leaves it out"
        )


def _numbers_rows(column: pd.Series) -> bool:
    if column.dtype.kind not in "iuf" or len(column) < NUMBERED_ROWS or column.isna().any():
        return False
    return bool(column.is_unique and (column % 1 == 0).all())
