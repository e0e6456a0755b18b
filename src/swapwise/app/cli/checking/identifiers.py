"""Columns that number the rows of a table, and are taken for variables by mistake."""

from __future__ import annotations

import re

import pandas as pd

from swapwise.app.cli.messages import quoted
from swapwise.checks import warn

# A column that numbers the rows of a table this long is no coincidence.
NUMBERED_ROWS = 10

# Names of columns that say which row it is.
IDENTIFIER = re.compile(
    r"(.*[\s_.\-])?(id|ids|uid|guid|index|key|nr|number|case|row|respondent)", re.IGNORECASE
)


def note_on_identifiers(table: pd.DataFrame) -> None:
    numbering = [name for name in table.columns if _is_identifier(name) and _counts(table[name])]
    if numbering:
        warn(
            f"{quoted(numbering)} seems to number the rows, but is taken for a variable; "
            f"--force-out {','.join(map(str, numbering))} leaves it out"
        )


def _is_identifier(name: object) -> bool:
    return IDENTIFIER.fullmatch(str(name).strip()) is not None


def _counts(column: pd.Series) -> bool:
    if column.dtype.kind not in "iuf" or len(column) < NUMBERED_ROWS or column.isna().any():
        return False
    return bool(column.is_unique and (column % 1 == 0).all())
