"""What users of ``swapwise graph`` should know before they rely on the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapwise.app.cli.checking.identifiers import note_on_identifiers
from swapwise.checks import warn

if TYPE_CHECKING:
    from swapwise.app.cli.graph_table import Rows

# More edges than this make an unreadable picture.
MANY_EDGES = 100


def note_on_rows(rows: Rows, by_criterion: bool) -> None:
    """Warn of few rows, of which criteria warn by themselves, and of columns that number the rows."""
    n_rows, n_columns = rows.table.shape
    if n_rows < n_columns and not by_criterion:
        warn(f"the table has {n_rows} rows for {n_columns} columns: a graph of so few is hardly reliable")
    note_on_identifiers(rows.table)


def note_on_edges(n_edges: int) -> None:
    if n_edges > MANY_EDGES:
        warn(
            f"{n_edges} edges are more than a picture can show: --max-edges {MANY_EDGES // 2} keeps the "
            "best, --threshold 0.1 leaves out those with a weight of at most 0.1"
        )
