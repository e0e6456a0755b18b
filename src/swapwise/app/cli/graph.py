"""``swapwise graph``: which columns depend on each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swapwise.app.cli.failures import BadInput, exit_on_error, warnings_to_stderr
from swapwise.app.cli.options import (
    DATA,
    PROOF_SECONDS,
    SEARCH,
    STANDARD_OUTPUT,
    Certify,
    Correlation,
    Debug,
    Decimal,
    DropMissing,
    Encoding,
    Force,
    ForceOut,
    GraphModel,
    Json,
    Method,
    ProofSeconds,
    Quiet,
    Report,
    Separator,
    check_data,
    check_method,
    check_proof_seconds,
    command_of,
    file,
    flag,
    limit,
    option,
)
from swapwise.app.cli.output import Output, check_outputs, check_page, deliver
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.show import show_graph
from swapwise.checks import warn
from swapwise.clock import Clock

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.app.cli.graph_answer import GraphAnswer
    from swapwise.app.cli.graph_table import GraphTable

# The data of --demo, and the name of one of its columns, which is too long for a picture.
DEMO, DILUTED = "178 wines and 13 of their chemical properties (scikit-learn)", "od280/od315_of_diluted_wines"

PICTURES = (".png", ".pdf", ".svg")

# More edges than this make an unreadable picture.
MANY_EDGES = 100

# Workers take seconds to start.
SECONDS_WORTH_WORKERS = 10.0


class EdgeCriterion(StrEnum):
    """What chooses the number of edges."""

    EBIC = "ebic"
    BIC = "bic"
    CV = "cv"
    NONE = "none"


@dataclass(frozen=True)
class GraphOptions:
    """The options of ``swapwise graph``."""

    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None
    demo: Annotated[bool, flag(f"Try it on {DEMO}.", "--demo")] = False
    max_degree: Annotated[
        int | None, limit("Maximum number of neighbours of a column; any by default.", "NUMBER")
    ] = None
    max_edges: Annotated[int | None, limit("Maximum number of edges in all.", "NUMBER")] = None
    model: Annotated[
        GraphModel,
        option("Kind of graph: columns of two values, of numbers, or both; auto detects it.", panel=SEARCH),
    ] = GraphModel.AUTO
    correlation: Annotated[
        Correlation | None,
        option("Correlation for a Gaussian graph, of numbers or answers on a scale.", panel=SEARCH),
    ] = None
    criterion: Annotated[
        EdgeCriterion,
        typer.Option(
            help="How to choose the number of edges; none: as many as the limits allow.",
            case_sensitive=False,
            rich_help_panel=SEARCH,
        ),
    ] = EdgeCriterion.EBIC
    gamma: Annotated[
        float | None,
        option("The γ of EBIC; larger values give fewer edges.", "NUMBER", panel=SEARCH),
    ] = None
    threshold: Annotated[
        float, option("Leave out edges whose weight is at most this.", "NUMBER", panel=SEARCH)
    ] = 0.0
    method: Method = "auto"
    certify: Certify = False
    proof_seconds: ProofSeconds = PROOF_SECONDS
    bootstrap: Annotated[
        int,
        option("Number of bootstrap resamples, for intervals of the edges.", "NUMBER", panel=SEARCH),
    ] = 0
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of folds and bootstrap samples.", metavar="NUMBER", rich_help_panel=SEARCH
        ),
    ] = None
    counts: Annotated[
        str | None,
        option("Column with the number of times each row was seen.", "COLUMN"),
    ] = None
    poisson: Annotated[
        list[str] | None,
        option("Columns of counts, such as visits: a mixed graph.", "NAMES"),
    ] = None
    force_out: ForceOut = None
    drop_missing: DropMissing = False
    separator: Separator = None
    decimal: Decimal = None
    encoding: Encoding = None
    report: Report = None
    figure: Annotated[Path | None, file("A drawing of the graph, as .png, .pdf or .svg.")] = None
    graphml: Annotated[Path | None, file("The graph, as GraphML.")] = None
    edges: Annotated[Path | None, file("The edges, as .csv.")] = None
    json: Json = None
    force: Force = False
    quiet: Quiet = False
    debug: Debug = False


@command_of(GraphOptions)
def graph(options: GraphOptions) -> None:
    """Learn which columns depend on each other directly, and how strongly, from a table.

    Columns of two values (0 and 1, -1 and +1, no and yes), of numbers, or of both; cells may be missing.
    """
    force, quiet = options.force, options.quiet
    with exit_on_error("swapwise graph", debug=options.debug), warnings_to_stderr(quiet) as notes:
        _check(options)
        printed = options.json == STANDARD_OUTPUT
        json = None if printed else options.json
        paths = [options.report, options.figure, options.graphml, options.edges, json]
        check_outputs(paths, inputs=[options.data], force=force)
        answer = _answer(options, notes)
        outputs: list[Output] = [
            (json, answer.to_json),
            (options.edges, answer.to_csv),
            (options.graphml, answer.to_graphml),
            (options.figure, partial(answer.to_figure, options.figure or Path())),
            (options.report, answer.to_html),
        ]
        deliver("swapwise graph", answer, outputs, show_graph, as_json=printed, force=force, quiet=quiet)


def _check(options: GraphOptions) -> None:
    """Refuse wrong values in terms of the options, before anything is read."""
    check_data(options.data, demo=options.demo)
    for name in ("max_degree", "max_edges"):
        number = getattr(options, name)
        if number is not None and number < 1:
            raise BadInput(f"--{name.replace('_', '-')} must be at least 1, got {number}")
    for name in ("gamma", "threshold", "bootstrap"):
        number = getattr(options, name)
        if number is not None and not number >= 0:
            raise BadInput(f"--{name} must be at least 0, got {number:g}")
    criterion = options.criterion
    if options.gamma is not None and criterion is not EdgeCriterion.EBIC:
        raise BadInput(f"--gamma is for --criterion ebic, got --criterion {criterion.value}")
    if criterion is EdgeCriterion.NONE and options.max_degree is None and options.max_edges is None:
        raise BadInput(
            "--criterion none takes as many edges as limits allow: give --max-degree or --max-edges"
        )
    check_method(options.method)
    check_proof_seconds(options.proof_seconds)
    check_page(options.report)
    picture = options.figure
    if picture is not None and picture.suffix.lower() not in PICTURES:
        raise BadInput(f"--figure draws {', '.join(PICTURES[:-1])} or {PICTURES[-1]}, got {picture}")
    if options.graphml is not None and options.graphml.suffix.lower() not in (".graphml", ".xml"):
        raise BadInput(f"--graphml writes .graphml or .xml, got {options.graphml}")
    if options.edges is not None and options.edges.suffix.lower() != ".csv":
        raise BadInput(f"--edges writes .csv, got {options.edges}; --json has the edges, too")


def _answer(options: GraphOptions, notes: list[str]) -> GraphAnswer:
    import sys

    from swapwise.app.cli.answers import proof_of
    from swapwise.app.cli.graph_answer import GraphAnswer
    from swapwise.app.cli.graph_table import read_graph_table
    from swapwise.app.cli.reading.tables import read_table

    dialect = Dialect(options.separator, options.decimal, options.encoding)
    rows = read_graph_table(
        _demo_table() if options.data is None else read_table(options.data, dialect),
        counts=options.counts,
        force_out=options.force_out or [],
        drop_missing=options.drop_missing,
        model=options.model,
        correlation=options.correlation,
        poisson=options.poisson or [],
    )
    _warn_of_rows(options, rows)
    progress = not options.quiet and sys.stderr.isatty()
    model, clock = _estimator(options, rows, progress), Clock()
    data = {"X": rows.table, "sample_weight": rows.counts}
    model.fit(**data)
    seconds = clock.seconds()
    n_edges = model.graph_.number_of_edges()
    if n_edges > MANY_EDGES:
        warn(
            f"{n_edges} edges are more than a picture can show: --max-edges {MANY_EDGES // 2} keeps the "
            "best, --threshold 0.1 leaves out those with a weight of at most 0.1"
        )
    proof = proof_of(model, data, options.proof_seconds, progress) if options.certify else None
    boot = _bootstrap(model, rows, options, progress, seconds) if options.bootstrap else None
    results = {"certify": proof, "bootstrap": boot}
    nothing = [name for name, found in results.items() if getattr(options, name) and found is None]
    return GraphAnswer(model, rows, _in_words(options, rows), seconds, proof, boot, notes, tuple(nothing))


def _demo_table() -> pd.DataFrame:
    from sklearn.datasets import load_wine

    table: pd.DataFrame = load_wine(as_frame=True).data
    return table.rename(columns={DILUTED: "od280_od315"})


def _warn_of_rows(options: GraphOptions, rows: GraphTable) -> None:
    """Warn of too few rows, of a limit that is none, and of columns that number the rows."""
    from swapwise.app.cli.checking.columns import note_on_identifiers
    from swapwise.app.cli.checking.targets import require_rows_for_folds

    (n_rows, n_columns), most, criterion = rows.table.shape, options.max_degree, options.criterion
    if most is not None and most >= n_columns:
        warn(f"--max-degree is {most}, but a column has only {n_columns - 1} others: no limit")
    if criterion is EdgeCriterion.CV:
        require_rows_for_folds(n_rows)
    if criterion is EdgeCriterion.NONE and n_rows < n_columns:  # criteria warn by themselves
        warn(f"the table has {n_rows} rows for {n_columns} columns: a graph of so few is hardly reliable")
    note_on_identifiers(rows.table)


def _estimator(options: GraphOptions, rows: GraphTable, progress: bool) -> Any:
    import swapwise

    name = {"ising": "IsingGraph", "gaussian": "GaussianGraph", "mixed": "MixedGraph"}[rows.model.value]
    n_columns = rows.table.shape[1]
    max_degree = _at_most(options.max_degree, n_columns)
    parameters: dict[str, Any] = {
        "max_edges": _at_most(options.max_edges, n_columns**2),
        "threshold": options.threshold,
        "method": options.method,
        "random_state": options.seed,
        "progress": progress,
    }
    if rows.model is GraphModel.GAUSSIAN:
        parameters["correlation"] = rows.correlation.value
    if rows.model is GraphModel.MIXED:
        parameters["families"] = rows.families()
    if options.criterion is EdgeCriterion.NONE:
        return getattr(swapwise, name)(max_degree, **parameters)
    parameters["criterion"] = options.criterion.value
    parameters |= {} if options.gamma is None else {"gamma": options.gamma}
    return getattr(swapwise, f"{name}CV")(max_degree, **parameters)


def _at_most(limit: int | None, largest: int) -> int | None:
    """Return a limit, or a number that limits nothing if the limit is larger, which arrays may not hold."""
    return None if limit is None else min(limit, largest)


def _bootstrap(model: Any, rows: GraphTable, options: GraphOptions, progress: bool, seconds: float) -> Any:
    """Learn the graph from resampled tables; None if that, or the fit before, was interrupted."""
    from swapwise.graphs.stability.bootstrap import bootstrap_graph
    from swapwise.search.result import Status

    if model.result_.status is Status.INTERRUPTED:
        return None
    n_boots = options.bootstrap
    n_jobs = -1 if seconds * n_boots > SECONDS_WORTH_WORKERS else None
    parameters: dict[str, Any] = {"sample_weight": rows.counts, "n_jobs": n_jobs, "progress": progress}
    try:
        return bootstrap_graph(model, rows.table, n_boots, random_state=options.seed, **parameters)
    except KeyboardInterrupt:
        return None


def _in_words(options: GraphOptions, rows: GraphTable) -> dict[str, Any]:
    """Return the options as the page and the JSON show them."""
    words = {
        "data": DEMO if options.demo else str(options.data),
        "model": rows.model.value,
        "correlation": rows.correlation.value if rows.model is GraphModel.GAUSSIAN else None,
        "largest degree": options.max_degree,
        "most edges": options.max_edges,
        "criterion": options.criterion.value,
        "gamma": options.gamma,
        "threshold": options.threshold or None,
        "method": options.method,
        "counts in": options.counts,
        "counts of events": ", ".join(rows.poisson) or None,
        "bootstrap": options.bootstrap or None,
        "seed": options.seed,
        "certify": options.certify or None,
    }
    return {name: value for name, value in words.items() if value is not None}
