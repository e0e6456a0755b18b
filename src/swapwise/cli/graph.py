"""``swapwise graph``: which columns of two values depend on each other."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swapwise.cli.compiling import timed
from swapwise.cli.failures import INTERRUPTED, BadInput, told_in_one_line, warnings_as_notes
from swapwise.cli.options import DATA, Debug, DropMissing, Force, Quiet, Report, file, option
from swapwise.cli.output import Output, check_outputs, check_page, write_outputs
from swapwise.cli.show import say, show_graph

if TYPE_CHECKING:
    import pandas as pd

# What may stand for the two values of a column: no and yes, as text in small letters.
CODINGS = (("0", "1"), ("-1", "1"), ("no", "yes"), ("false", "true"))


class DegreeChoice(StrEnum):
    """How the degree is chosen.

    >>> DegreeChoice("cv").value
    'cv'
    """

    CV = "cv"


def graph(
    data: Annotated[Path, typer.Argument(help=DATA, show_default=False)],
    max_degree: Annotated[
        int, option(help="At most so many neighbours of each column.", metavar="NUMBER")
    ] = 3,
    choose: Annotated[
        DegreeChoice | None, typer.Option(help="Choose the degree, up to --max-degree, by cross-validation.")
    ] = None,
    drop_missing: DropMissing = False,
    report: Report = None,
    graphml: Annotated[Path | None, file(help="The graph, as GraphML.")] = None,
    edges: Annotated[Path | None, file(help="The edges, as .csv.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn which columns depend on each other, from a table of 0 and 1, -1 and +1, or yes and no."""
    with told_in_one_line("swapwise graph", debug=debug), warnings_as_notes(quiet):
        if max_degree < 1:
            raise BadInput(f"--max-degree must be at least 1, got {max_degree}")
        check_page(report)
        check_outputs([report, graphml, edges], inputs=[data], force=force)
        table = _read(data, drop_missing)
        with timed(quiet) as watch:
            model = _estimator(max_degree, choose, quiet).fit(table)
        asked = {"data": str(data), "largest degree": str(max_degree)}
        asked |= {} if choose is None else {"degree chosen by": choose.value}
        outputs: list[Output] = [
            (graphml, partial(_graphml, model)),
            (edges, partial(_edge_list, model)),
            (report, partial(_page, model, table, asked, watch.seconds)),
        ]
        # Before anything is printed: whoever reads that may stop reading.
        written = write_outputs(outputs, force=force)
        if not quiet:
            show_graph(model, len(table), watch)
            for line in written:
                say(line)
        if model.result_.status == "INTERRUPTED":
            raise typer.Exit(INTERRUPTED)


def _read(path: Path, drop_missing: bool) -> pd.DataFrame:
    from swapwise.cli.columns import without_missing
    from swapwise.cli.tables import read_table

    table = without_missing(read_table(path), drop=drop_missing)
    if table.shape[1] < 2:
        raise BadInput(f"{path} must have at least two columns, got {table.shape[1]}")
    return table.apply(as_yes_or_no)


def as_yes_or_no(column: pd.Series) -> pd.Series:
    """Return a column of two values as booleans.

    >>> import pandas as pd
    >>> as_yes_or_no(pd.Series(["no", "Yes"], name="ill")).tolist()
    [False, True]
    >>> as_yes_or_no(pd.Series([1, 2], name="ill"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: the column 'ill' must hold 0 and 1, -1 and 1, no and yes or false and
    true, got 1, 2
    """
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    from swapwise.cli.wording import some_of

    if is_numeric_dtype(column) and not is_bool_dtype(column):
        words = column.map("{:g}".format)
    else:
        words = column.astype(str).str.strip().str.lower()
    seen = sorted(set(words))
    for low, high in CODINGS:
        if set(seen) <= {low, high}:
            return words == high
    known = [f"{low} and {high}" for low, high in CODINGS]
    raise BadInput(
        f"the column {column.name!r} must hold {', '.join(known[:-1])} or {known[-1]}, got {some_of(seen)}"
    )


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
    nx.write_graphml(model.graph_, file)
    return file.getvalue()


def _edge_list(model: Any) -> str:
    import pandas as pd

    rows = model.graph_.edges.data("weight")
    text: str = pd.DataFrame(rows, columns=["source", "target", "weight"]).to_csv(index=False)
    return text


def _page(model: Any, table: pd.DataFrame, asked: dict[str, str], seconds: float) -> str:
    from swapwise.report.graph_page import graph_report

    return graph_report(model, table, asked=asked, seconds=seconds)
