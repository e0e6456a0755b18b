"""``swapwise graph``: which columns of two values depend on each other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swapwise.checks import warn
from swapwise.cli.failures import BadInput, exit_on_error, warnings_to_stderr
from swapwise.cli.options import DATA, Debug, DropMissing, Force, ForceOut, Quiet, Report, file, option
from swapwise.cli.output import Output, check_outputs, check_page, with_notes, write_outputs
from swapwise.cli.show import show_graph
from swapwise.clock import Clock

if TYPE_CHECKING:
    import pandas as pd

# What may stand for the two values of a column: no and yes, as text in small letters.
CODINGS = (("0", "1"), ("-1", "1"), ("no", "yes"), ("n", "y"), ("false", "true"))


# Columns per message: more of them would not tell more.
MOST_COLUMNS = 3


class DegreeChoice(StrEnum):
    """How the degree is chosen.

    >>> DegreeChoice("cv").value
    'cv'
    """

    CV = "cv"


def graph(
    data: Annotated[Path, typer.Argument(help=DATA, show_default=False)],
    max_degree: Annotated[
        int, option(help="Maximum number of neighbours of a column.", metavar="NUMBER")
    ] = 3,
    choose: Annotated[
        DegreeChoice | None, typer.Option(help="Choose the degree, up to --max-degree, by cross-validation.")
    ] = None,
    counts: Annotated[
        str | None,
        option(help="A column that says how often each row was seen; it is no variable.", metavar="COLUMN"),
    ] = None,
    force_out: ForceOut = None,
    drop_missing: DropMissing = False,
    report: Report = None,
    graphml: Annotated[Path | None, file(help="The graph, as GraphML.")] = None,
    edges: Annotated[Path | None, file(help="The edges, as .csv.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn which columns depend on each other, from a table of 0 and 1, -1 and +1, or yes and no."""
    with exit_on_error("swapwise graph", debug=debug), warnings_to_stderr(quiet) as notes:
        if max_degree < 1:
            raise BadInput(f"--max-degree must be at least 1, got {max_degree}")
        check_page(report)
        check_outputs([report, graphml, edges], inputs=[data], force=force)
        rows = _read(data, counts, force_out or [], drop_missing, cross_validated=choose is not None)
        n_columns = rows.table.shape[1]
        if max_degree >= n_columns:
            warn(f"--max-degree is {max_degree}, but a column has only {n_columns - 1} others: no limit")
        clock = Clock()
        model = _estimator(max_degree, choose, quiet).fit(rows.table, sample_weight=rows.counts)
        seconds = clock.seconds()
        asked = {"data": str(data), "largest degree": str(max_degree)}
        asked |= {} if counts is None else {"counts in": counts}
        asked |= {} if choose is None else {"degree chosen by": choose.value}
        outputs: list[Output] = [
            (graphml, partial(_graphml, model)),
            (edges, partial(_edge_list, model)),
            (report, partial(_page, model, rows, with_notes(asked, notes), seconds)),
        ]
        # Before anything is printed: the reader of a pipe may close it.
        written = write_outputs(outputs, force=force)
        if not quiet:
            show_graph(model, rows.in_words(), seconds)
        written.end("swapwise graph", interrupted=model.result_.status == "INTERRUPTED", quiet=quiet)


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns of two values as booleans, and how often each row was seen, if that is known."""

    table: pd.DataFrame
    counts: pd.Series | None

    def in_words(self) -> str:
        """Return how many rows there are, and how many samples if their counts are whole numbers.

        >>> import pandas as pd
        >>> table = pd.DataFrame({"ill": [True, False]})
        >>> Rows(table, None).in_words(), Rows(table, pd.Series([3, 4])).in_words()
        ('2 rows', '7 samples in 2 rows')
        >>> Rows(table, pd.Series([0.3, 4.0], name="weight")).in_words()
        "2 rows, weighted by 'weight'"
        """
        n_rows = f"{len(self.table)} rows"
        if self.counts is None:
            return n_rows
        if (self.counts % 1 == 0).all():
            return f"{int(self.counts.sum())} samples in {n_rows}"
        return f"{n_rows}, weighted by {self.counts.name!r}"


def _read(
    path: Path, counts: str | None, force_out: list[str], drop_missing: bool, *, cross_validated: bool
) -> Rows:
    from swapwise.cli.reading.columns import names_among, require_columns, without_missing
    from swapwise.cli.reading.tables import read_table
    from swapwise.cli.reading.targets import require_rows_for_folds

    table = read_table(path)
    left_out = names_among(force_out, table.columns)
    require_columns(left_out, table, "--force-out")
    weights = [] if counts is None else [counts]
    require_columns(weights, table, "--counts")
    if counts in left_out:
        raise BadInput(f"--counts names {counts!r}, which --force-out leaves out: it is no variable anyway")
    table = without_missing(table.drop(columns=left_out), drop=drop_missing)
    seen = None if counts is None else as_counts(table[counts])
    table = table.drop(columns=weights)
    if table.shape[1] < 2:
        raise BadInput(f"{path} must have at least two columns to join, got {table.shape[1]}")
    if cross_validated:
        require_rows_for_folds(len(table))
    return Rows(as_yes_or_no(table), seen)


def as_counts(column: pd.Series) -> pd.Series:
    """Return how often each row was seen as numbers, or say why they are none.

    >>> import pandas as pd
    >>> as_counts(pd.Series([2, -1], name="n"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: --counts names 'n', which must say how often each row was seen, got -1 in
    row 2 of those that are used
    """
    import numpy as np

    from swapwise.cli.reading.cells import is_number, other_kind, strange_cells

    expected = f"--counts names {column.name!r}, which must say how often each row was seen"
    if not is_number(column):
        wrong = strange_cells(column) or other_kind(column)
        if wrong:
            raise BadInput(f"{expected}, but {wrong.fact}; {wrong.advice}")
        raise BadInput(f"{expected}, got text such as {column.iloc[0]!r}")
    counts = column.astype(float)
    is_bad = ~(np.isfinite(counts) & (counts >= 0)).to_numpy()
    if is_bad.any():
        row = int(np.argmax(is_bad))
        raise BadInput(f"{expected}, got {column.iloc[row]} in row {row + 1} of those that are used")
    if not counts.any():
        raise BadInput(f"{expected}, got nothing but 0")
    return counts


def as_yes_or_no(table: pd.DataFrame) -> pd.DataFrame:
    """Return columns of two values as booleans.

    >>> import pandas as pd
    >>> as_yes_or_no(pd.DataFrame({"ill": ["no", "Yes"]}))["ill"].tolist()
    [False, True]
    >>> as_yes_or_no(pd.DataFrame({"ill": [1, 2]}))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: columns must hold 0 and 1, -1 and 1, no and yes, n and y or false and
    true; got 1, 2 in 'ill'; --force-out leaves columns out
    """
    from swapwise.cli.reading.messages import some_of

    words = table.apply(_in_words)
    others = [name for name in words.columns if _yes_of(set(words[name])) is None]
    if others:
        known = [f"{low} and {high}" for low, high in CODINGS]
        got = [f"{some_of(list(dict.fromkeys(table[name].map(str))))} in {name!r}" for name in others]
        raise BadInput(
            f"columns must hold {', '.join(known[:-1])} or {known[-1]}; got {'; '.join(got[:MOST_COLUMNS])}"
            + (f"; and {len(got) - MOST_COLUMNS} columns more" if len(got) > MOST_COLUMNS else "")
            + "; --force-out leaves columns out"
        )
    return words.apply(lambda column: column == _yes_of(set(column)))


def _in_words(column: pd.Series) -> pd.Series:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        return column.map({value: f"{value:g}" for value in column.unique()})  # few, as a rule
    return column.astype(str).str.strip().str.lower()


def _yes_of(seen: set[str]) -> str | None:
    """Return the word for yes among those of a column, None if the coding is not known."""
    return next((high for low, high in CODINGS if seen <= {low, high}), None)


def _estimator(max_degree: int, choose: DegreeChoice | None, quiet: bool) -> Any:
    import sys

    import swapwise

    progress = not quiet and sys.stderr.isatty()
    if choose is None:
        return swapwise.IsingGraph(max_degree, progress=progress)
    return swapwise.IsingGraphCV(range(1, max_degree + 1), progress=progress)


def _graphml(model: Any) -> bytes:
    import networkx as nx

    file = BytesIO()
    # Control characters, which XML cannot hold at all, become blanks.
    nx.write_graphml(nx.relabel_nodes(model.graph_, lambda name: re.sub(r"[\x00-\x1f]", " ", name)), file)
    return file.getvalue()


def _edge_list(model: Any) -> str:
    import pandas as pd

    rows = model.graph_.edges.data("weight")
    text: str = pd.DataFrame(rows, columns=["source", "target", "weight"]).to_csv(index=False)
    return text


def _page(model: Any, rows: Rows, asked: dict[str, str], seconds: float) -> str:
    from swapwise.report.graph_page import graph_report

    return graph_report(model, rows.table, sample_weight=rows.counts, asked=asked, seconds=seconds)
