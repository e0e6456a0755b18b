"""``swapwise select``: choose the features of a table that explain one of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapwise.cli import select_options as asks
from swapwise.cli.failures import BadInput, told_in_a_line, warnings_as_notes
from swapwise.cli.options import DATA, Debug, DropMissing, Family, Force, ForceOut, Quiet, Report
from swapwise.cli.output import Output, check_outputs, check_page, write_outputs
from swapwise.cli.question import DEMO_TARGET, Question, question_of
from swapwise.cli.show import show_selection

STANDARD_OUTPUT = Path("-")
PROOF_SECONDS = 10.0

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.cli.selection import Selection


def select(
    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None,
    target: asks.Target = None,
    family: asks.Kind = Family.LINEAR,
    force_out: ForceOut = None,
    drop_missing: DropMissing = False,
    one_hot: asks.OneHot = False,
    demo: asks.Demo = False,
    size: asks.Size = None,
    groups: asks.Groups = None,
    groups_from_prefix: asks.GroupsFromPrefix = None,
    per_group: asks.PerGroup = None,
    and_groups: asks.AndGroups = None,
    and_per_group: asks.AndPerGroup = None,
    force_in: asks.ForceIn = None,
    path: asks.SizesToTry = None,
    choose: asks.Choose = None,
    method: asks.Method = "auto",
    ridge: asks.Ridge = None,
    certify: asks.Certify = False,
    proof_seconds: asks.ProofSeconds = PROOF_SECONDS,
    report: Report = None,
    json: asks.Json = None,
    save: asks.Save = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose the features that explain a target best, under limits on how many of them, and say which."""
    asked = dict(locals())  # all options, before anything else has a name here
    with told_in_a_line("swapwise select", debug=debug), warnings_as_notes(quiet) as notes:
        if not proof_seconds >= 0:
            raise BadInput(f"--proof-seconds must be at least 0, got {proof_seconds:g}")
        question = question_of(asked)
        printed, json = json == STANDARD_OUTPUT, None if json == STANDARD_OUTPUT else json
        check_page(report)
        check_outputs([report, json, save], inputs=[data, groups, and_groups], force=force)
        selection = _answer(question, proof_seconds, notes, quiet)
        made: list[Output] = [(json, selection.to_json), (save, selection.to_bytes)]
        # Before anything is printed: whoever reads that may stop reading.
        written = write_outputs([*made, (report, selection.to_html)], force=force)
        if printed:
            typer.echo(selection.to_json(), nl=False)
        elif not quiet:
            show_selection(selection)
        written.end("swapwise select", interrupted=selection.interrupted, quiet=quiet or printed)


def _answer(question: Question, proof_seconds: float, notes: list[str], quiet: bool) -> Selection:
    """Read the data and choose."""
    import sys

    from swapwise.cli.problem import read_problem
    from swapwise.cli.reading.tables import read_table
    from swapwise.cli.selection import select_features

    table = _demo_table() if question.data is None else read_table(question.data)
    problem = read_problem(question, table)
    progress = not quiet and sys.stderr.isatty()
    return select_features(problem, proof_seconds, notes, quiet=quiet, progress=progress)


def _demo_table() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    table: pd.DataFrame = load_diabetes(as_frame=True, scaled=False).frame
    return table.rename(columns={"target": DEMO_TARGET})
