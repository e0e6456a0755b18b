"""``swapwise select``: choose the features of a table that explain one of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapwise.cli.failures import BadInput, told_in_a_line, warnings_as_notes
from swapwise.cli.limits import DEFAULT_SIZE
from swapwise.cli.options import (
    DATA,
    LIMITS,
    SEARCH,
    Choice,
    Debug,
    DropMissing,
    Family,
    Force,
    ForceOut,
    Quiet,
    Report,
    file,
    flag,
    option,
)
from swapwise.cli.output import Output, check_outputs, check_page, write_outputs
from swapwise.cli.question import DEMO, DEMO_TARGET, Question, question_of
from swapwise.cli.show import say, show_selection

STANDARD_OUTPUT = Path("-")
PROOF_SECONDS = 10.0

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.cli.selection import Selection


def select(
    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None,
    target: Annotated[
        str | None, option("--target", "-t", help="The column to explain.", metavar="COLUMN")
    ] = None,
    family: Annotated[
        Family, typer.Option(help="What the target is: a number, a class or a count.")
    ] = Family.LINEAR,
    force_out: ForceOut = None,
    drop_missing: DropMissing = False,
    one_hot: Annotated[
        bool,
        flag("--one-hot", help="Make columns of 0 and 1 of text, chosen together or not at all."),
    ] = False,
    demo: Annotated[bool, flag("--demo", help=f"Try it on {DEMO}.")] = False,
    size: Annotated[
        int | None,
        option(
            help=f"At most so many features; {DEFAULT_SIZE} by default, or no limit if there are groups.",
            metavar="NUMBER",
            panel=LIMITS,
        ),
    ] = None,
    groups: Annotated[
        Path | None,
        option(
            help="A CSV of two columns, feature and group, with a line for every feature.",
            metavar="FILE",
            panel=LIMITS,
        ),
    ] = None,
    groups_from_prefix: Annotated[
        str | None,
        option(help="Groups by what names begin with, up to this, such as _.", metavar="TEXT", panel=LIMITS),
    ] = None,
    per_group: Annotated[
        int | None,
        option(help="At most so many of each group; 1 by default.", metavar="NUMBER", panel=LIMITS),
    ] = None,
    and_groups: Annotated[
        Path | None,
        option(help="Other groups, which limit the choice too.", metavar="FILE", panel=LIMITS),
    ] = None,
    and_per_group: Annotated[
        int | None,
        option(help="At most so many of each of those; 1 by default.", metavar="NUMBER", panel=LIMITS),
    ] = None,
    force_in: Annotated[
        list[str] | None,
        option(help="Features to choose in any case: a,b, or once for each.", metavar="NAMES", panel=LIMITS),
    ] = None,
    path: Annotated[
        str | None,
        option(
            help="Sizes to try, such as 1:30; up to 20 with --choose alone.",
            metavar="FIRST:LAST",
            panel=SEARCH,
        ),
    ] = None,
    choose: Annotated[
        Choice | None, typer.Option(help="What chooses the size; cv by default.", rich_help_panel=SEARCH)
    ] = None,
    method: Annotated[
        str, option(help="How to search, as in swapwise.maximize.", metavar="NAME", panel=SEARCH)
    ] = "auto",
    ridge: Annotated[
        float | None, option(help="Weight of the penalty on coefficients.", metavar="NUMBER", panel=SEARCH)
    ] = None,
    certify: Annotated[bool, flag("--certify", help="Prove how good the choice is.", panel=SEARCH)] = False,
    proof_seconds: Annotated[
        float, option(help="How long the proof may take at most.", metavar="NUMBER", panel=SEARCH)
    ] = PROOF_SECONDS,
    report: Report = None,
    json: Annotated[Path | None, file(help="The answer for programs; - prints it, and nothing else.")] = None,
    save: Annotated[Path | None, file(help="The fitted model, for joblib.load.")] = None,
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
            for line in written.said:
                say(line)
        written.end("swapwise select", interrupted=selection.interrupted)


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
