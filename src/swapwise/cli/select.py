"""``swapwise select``: choose the features of a table that explain one of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapwise.cli.failures import INTERRUPTED, BadInput, told_in_one_line, warnings_as_notes
from swapwise.cli.limits import DEFAULT_SIZE
from swapwise.cli.options import DATA, Choice, Debug, DropMissing, Family, Force, Quiet, Report
from swapwise.cli.output import Output, check_outputs, write_outputs
from swapwise.cli.question import DEMO, DEMO_TARGET, Question, question_of
from swapwise.cli.show import show_selection

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.cli.selection import Selection


def select(
    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to explain.")] = None,
    family: Annotated[Family, typer.Option(help="What the target is.")] = Family.LINEAR,
    size: Annotated[
        int | None, typer.Option(help=f"Choose at most so many features; {DEFAULT_SIZE} by default.")
    ] = None,
    groups: Annotated[Path | None, typer.Option(help="A CSV of two columns: feature, group.")] = None,
    groups_from_prefix: Annotated[
        str | None, typer.Option(help="Groups by what names begin with, up to this, such as _.")
    ] = None,
    per_group: Annotated[
        int | None, typer.Option(help="At most so many of each group; 1 by default.")
    ] = None,
    and_groups: Annotated[Path | None, typer.Option(help="Other groups, which limit the choice too.")] = None,
    and_per_group: Annotated[int | None, typer.Option(help="At most so many of each of those.")] = None,
    force_in: Annotated[
        list[str] | None, typer.Option(help="Features to choose in any case: a,b, or once for each.")
    ] = None,
    force_out: Annotated[
        list[str] | None, typer.Option(help="Columns to leave out: c,d, or once for each.")
    ] = None,
    method: Annotated[str, typer.Option(help="How to search, as in swapwise.maximize.")] = "auto",
    path: Annotated[str | None, typer.Option(help="Sizes to try, such as 1:30.")] = None,
    choose: Annotated[Choice | None, typer.Option(help="What chooses the size; cv by default.")] = None,
    ridge: Annotated[float | None, typer.Option(help="Weight of the penalty on coefficients.")] = None,
    certify: Annotated[bool, typer.Option("--certify", help="Prove how good the choice is.")] = False,
    one_hot: Annotated[
        bool,
        typer.Option("--one-hot", help="Make columns of 0 and 1 of text, chosen together or not at all."),
    ] = False,
    drop_missing: DropMissing = False,
    demo: Annotated[bool, typer.Option("--demo", help=f"Try it on {DEMO}.")] = False,
    report: Report = None,
    json: Annotated[Path | None, typer.Option(help="Write the answer here, for programs.")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the fitted model here, for joblib.load.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose the features that explain a target best, under limits on how many of them, and say which."""
    asked = dict(locals())  # all options, before anything else has a name here
    with told_in_one_line("swapwise select", debug=debug), warnings_as_notes(quiet):
        question = question_of(asked)
        check_outputs([report, json, save], inputs=[data, groups, and_groups], force=force)
        selection = _answer(question, quiet)
        if not quiet:
            show_selection(selection)
        made: list[Output] = [(json, selection.to_json), (save, selection.to_bytes)]
        write_outputs([*made, (report, selection.to_html)], quiet=quiet)
        if selection.interrupted:
            raise typer.Exit(INTERRUPTED)


def _answer(question: Question, quiet: bool) -> Selection:
    """Read the data and choose."""
    import sys

    from swapwise.cli.columns import read_design, require_columns, without_missing
    from swapwise.cli.selection import select_features
    from swapwise.cli.tables import read_table

    table = _demo_table() if question.data is None else read_table(question.data)
    require_columns([question.target], table, "--target")
    require_columns(question.force_out, table, "--force-out")
    if question.target in question.force_out:
        raise BadInput(f"--force-out names the target {question.target!r}")
    table = without_missing(table.drop(columns=question.force_out), drop=question.drop_missing)
    classes = question.family is Family.LOGISTIC
    design = read_design(table, question.target, one_hot=question.one_hot, classes=classes)
    require_columns(question.force_in, table[design.variables], "--force-in")
    return select_features(question, design, progress=not quiet and sys.stderr.isatty())


def _demo_table() -> pd.DataFrame:
    from sklearn.datasets import load_diabetes

    table: pd.DataFrame = load_diabetes(as_frame=True, scaled=False).frame
    return table.rename(columns={"target": DEMO_TARGET})
