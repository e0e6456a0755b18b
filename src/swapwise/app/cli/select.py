"""``swapwise select``: choose the features of a table that explain one of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swapwise.app.cli.failures import exit_on_error, warnings_to_stderr
from swapwise.app.cli.options import STANDARD_OUTPUT, check_proof_seconds, command_of
from swapwise.app.cli.output import Output, check_outputs, check_page, deliver
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.request import DEMO_TARGET, SelectionRequest, SelectOptions, request_of
from swapwise.app.cli.show import show_selection

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.app.cli.selection import Selection


@command_of(SelectOptions)
def select(options: SelectOptions) -> None:
    """Choose the features that explain a target best, under limits on the choice."""
    force, quiet = options.force, options.quiet
    with exit_on_error("swapwise select", debug=options.debug), warnings_to_stderr(quiet) as notes:
        check_proof_seconds(options.proof_seconds)
        request = request_of(options)
        printed = options.json == STANDARD_OUTPUT
        json = None if printed else options.json
        check_page(options.report)
        inputs = [options.data, *request.limits.files]
        check_outputs([options.report, json, options.save], inputs=inputs, force=force)
        selection = _answer(request, notes)
        outputs: list[Output] = [
            (json, selection.to_json),
            (options.save, selection.to_bytes),
            (options.report, selection.to_html),
        ]
        deliver(
            "swapwise select", selection, outputs, show_selection, as_json=printed, force=force, quiet=quiet
        )


def _answer(request: SelectionRequest, notes: list[str]) -> Selection:
    import sys

    from swapwise.app.cli.problem import read_problem
    from swapwise.app.cli.reading.tables import read_table
    from swapwise.app.cli.selection import select_features

    options = request.options
    dialect = Dialect(options.separator, options.decimal, options.encoding)
    table = _demo_table() if options.data is None else read_table(options.data, dialect)
    problem = read_problem(request, table)
    return select_features(problem, notes, progress=not options.quiet and sys.stderr.isatty())


def _demo_table() -> pd.DataFrame:
    """Return the data with the measurement first in every name: ``area_worst`` for "worst area"."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    table: pd.DataFrame = data.data
    words = table.columns.str.extract("(mean|worst|error)", expand=False)
    measured = table.columns.str.replace(" ?(mean|worst|error) ?", "", regex=True)
    table.columns = measured + "_" + words
    return table.assign(**{DEMO_TARGET: data.target_names[data.target]})
