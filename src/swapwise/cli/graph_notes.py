"""What users of ``swapwise graph`` should know before they rely on the graph."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

from swapwise.checks import warn
from swapwise.cli.messages import quoted

if TYPE_CHECKING:
    from swapwise.cli.graph_table import Rows

# Criteria such as EBIC are derived for many samples; with fewer than this they choose nearly by chance.
FEW_SAMPLES = 30

# More edges than this make an unreadable picture.
MANY_EDGES = 100

# A column that numbers the rows of a table this long is no coincidence.
NUMBERED_ROWS = 10

# Names of columns that say which row it is.
IDENTIFIER = re.compile(
    r"(.*[\s_.\-])?(id|ids|uid|guid|index|key|nr|number|case|row|respondent)", re.IGNORECASE
)


def note_on_rows(rows: Rows, by_criterion: bool) -> None:
    """Warn of few rows, of columns that number the rows, and of counts that look like survey weights."""
    n_rows, n_columns = rows.table.shape
    n_samples = n_rows if rows.counts is None else int(rows.counts.sum())
    if n_rows < n_columns:
        warn(
            f"the table has {n_rows} rows for {n_columns} columns: a graph from so few rows is "
            "hardly reliable"
        )
    elif by_criterion and n_samples < FEW_SAMPLES:
        warn(
            f"the table has {n_samples} samples: criteria that choose the number of edges are made for many "
            f"more, {FEW_SAMPLES} at least; --bootstrap 200 shows how certain edges are"
        )
    numbering = [name for name in rows.table.columns if numbers_the_rows(rows.table[name])]
    if numbering:
        warn(
            f"{quoted(numbering)} seems to number the rows, but is taken for a variable; "
            f"--force-out {','.join(map(str, numbering))} leaves it out"
        )
    if rows.counts is not None and _look_like_weights(rows.table, rows.counts):
        warn(
            f"{rows.counts.name!r} has whole numbers, taken for how often each row was seen: {n_samples} "
            f"samples, although the table has {n_rows} rows, some of them alike. If they are survey weights, "
            "divide them by their mean, or too many edges are found"
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


def _look_like_weights(table: pd.DataFrame, counts: pd.Series) -> bool:
    """Return whether counts are whole numbers, of rows that a table of counts would not have twice."""
    is_whole = bool((counts % 1 == 0).all() and (counts > 1).any())
    return is_whole and bool(table.duplicated().any())


def note_on_edges(n_edges: int) -> None:
    """Say how a graph of very many edges becomes one that can be read."""
    if n_edges > MANY_EDGES:
        warn(
            f"{n_edges} edges are more than a picture can show: --max-edges {MANY_EDGES // 2} keeps the "
            "best, --threshold 0.1 leaves out those with a weight of at most 0.1"
        )
