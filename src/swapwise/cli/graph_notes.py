"""What users of ``swapwise graph`` should know before they rely on the graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from swapwise.checks import warn
from swapwise.cli.messages import quoted

if TYPE_CHECKING:
    from swapwise.cli.graph_table import Rows

# More edges than this make an unreadable picture.
MANY_EDGES = 100

# A column that numbers the rows of a table this long is no coincidence.
NUMBERED_ROWS = 10

# Names of columns that say which row it is.
IDENTIFIER = re.compile(
    r"(.*[\s_.\-])?(id|ids|uid|guid|index|key|nr|number|case|row|respondent)", re.IGNORECASE
)


def note_on_rows(rows: Rows, by_criterion: bool) -> None:
    """Warn of few rows, of which criteria warn by themselves, and of columns that number the rows."""
    n_rows, n_columns = rows.table.shape
    if n_rows < n_columns and not by_criterion:
        warn(f"the table has {n_rows} rows for {n_columns} columns: a graph of so few is hardly reliable")
    numbering = [name for name in rows.table.columns if numbers_the_rows(rows.table[name])]
    if numbering:
        warn(
            f"{quoted(numbering)} seems to number the rows, but is taken for a variable; "
            f"--force-out {','.join(map(str, numbering))} leaves it out"
        )


def numbers_the_rows(column: pd.Series) -> bool:
    """Return whether a column is named like an identifier and has another whole number in every row.

    >>> [numbers_the_rows(pd.Series(range(20), name=name)) for name in ("person_id", "age")]
    [True, False]
    """
    if column.dtype.kind not in "iuf" or len(column) < NUMBERED_ROWS or column.isna().any():
        return False
    named = IDENTIFIER.fullmatch(str(column.name).strip()) is not None
    return bool(named and column.is_unique and (column % 1 == 0).all())


def note_on_edges(n_edges: int) -> None:
    """Say how a graph of very many edges becomes one that can be read."""
    if n_edges > MANY_EDGES:
        warn(
            f"{n_edges} edges are more than a picture can show: --max-edges {MANY_EDGES // 2} keeps the "
            "best, --threshold 0.1 leaves out those with a weight of at most 0.1"
        )
