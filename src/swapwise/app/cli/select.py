"""``swapwise select``: choose the features of a table that explain one of its columns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapwise.app.cli.failures import exit_on_error, warnings_to_stderr
from swapwise.app.cli.limits import DEFAULT_SIZE, Heredity
from swapwise.app.cli.options import (
    DATA,
    LIMITS,
    PROOF_SECONDS,
    SEARCH,
    STANDARD_OUTPUT,
    Certify,
    Debug,
    Decimal,
    DropMissing,
    Encoding,
    FamilyName,
    Force,
    ForceOut,
    Json,
    Method,
    ProofSeconds,
    Quiet,
    Report,
    Separator,
    SizeCriterion,
    check_proof_seconds,
    file,
    flag,
    limit,
    option,
)
from swapwise.app.cli.output import Output, check_outputs, check_page, deliver
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.request import DEMO, DEMO_TARGET, SelectionRequest, request_of
from swapwise.app.cli.show import show_selection

if TYPE_CHECKING:
    import pandas as pd

    from swapwise.app.cli.selection import Selection

Target = Annotated[str | None, option("--target", "-t", help="The column to explain.", metavar="COLUMN")]
Kind = Annotated[
    FamilyName, typer.Option(help="Kind of target: numbers, classes, counts or positive amounts.")
]
Offset = Annotated[str | None, option(help="A column to add to the linear predictor.", metavar="COLUMN")]
Exposure = Annotated[
    str | None,
    option(help="A column that the target is proportional to, such as hours.", metavar="COLUMN"),
]
OneHot = Annotated[
    bool, flag("--one-hot", help="One-hot encode text; the columns of a variable are chosen together.")
]
Demo = Annotated[bool, flag("--demo", help=f"Try it on {DEMO}.")]
Size = Annotated[
    int | None,
    limit(
        help=f"Maximum number of features; {DEFAULT_SIZE} by default, unless groups or a budget limit them.",
        metavar="NUMBER",
    ),
]
Exactly = Annotated[
    int | None,
    limit(
        help="Exactly this many features in all; per group: --per-group N --at-least N.",
        metavar="NUMBER",
    ),
]
AtLeast = Annotated[
    int | None,
    limit(help="Minimum number of features per group; in all, if there are no groups.", metavar="NUMBER"),
]
Groups = Annotated[
    Path | None,
    limit(
        "--groups",
        "--limit-by",
        help="Groups to limit: a CSV with two columns, feature and group, one line per feature.",
        metavar="FILE",
    ),
]
GroupsFromPrefix = Annotated[
    str | None, limit(help="Groups by prefix: the part of a name before this, such as _.", metavar="TEXT")
]
GroupsFromPattern = Annotated[
    str | None,
    limit(
        help="Groups by regular expression: its match in a name, or that of its first parentheses.",
        metavar="REGEX",
    ),
]
PerGroup = Annotated[
    int | None,
    limit(
        help="Maximum number of features per group; 1 by default, any with --at-least or --few-groups.",
        metavar="NUMBER",
    ),
]
FewGroups = Annotated[int | None, limit(help="Features from at most this many groups.", metavar="NUMBER")]
AndGroups = Annotated[Path | None, limit(help="A second CSV of groups to limit.", metavar="FILE")]
AndPerGroup = Annotated[
    int | None, limit(help="Maximum number per group of --and-groups; 1 by default.", metavar="NUMBER")
]
WholeGroups = Annotated[
    Path | None,
    limit(
        help="Groups chosen whole or not at all, which count once: a CSV of feature and group.",
        metavar="FILE",
    ),
]
NotBoth = Annotated[
    list[str] | None,
    limit(help="At most one of these features: a,b; can be given several times.", metavar="NAMES"),
]
NotBothAbove = Annotated[
    float | None,
    limit(help="No two features with an absolute correlation above this, such as 0.9.", metavar="NUMBER"),
]
Costs = Annotated[
    Path | None, limit(help="A CSV with two columns, feature and cost, for --budget.", metavar="FILE")
]
Budget = Annotated[float | None, limit(help="Maximum total cost of the chosen features.", metavar="NUMBER")]
Hierarchy = Annotated[
    Heredity | None,
    typer.Option(
        help="Products a:b and powers a^2 only with all of their factors, or (weak) at least one.",
        rich_help_panel=LIMITS,
    ),
]
ProductSign = Annotated[
    str | None, limit(help="Sign between factors in names; : by default, or a blank.", metavar="TEXT")
]
Positive = Annotated[bool, flag("--positive", help="No negative coefficients.", panel=LIMITS)]
Bounds = Annotated[
    Path | None,
    limit(help="Bounds on coefficients: a CSV of feature, lower and upper, empty for none.", metavar="FILE"),
]
ForceIn = Annotated[
    list[str] | None,
    limit(help="Features that are always chosen: a,b, or one option per feature.", metavar="NAMES"),
]
SizesToTry = Annotated[
    str | None,
    option(
        help="Sizes to try, such as 1:30; up to 20 with --choose alone.", metavar="FIRST:LAST", panel=SEARCH
    ),
]
Choose = Annotated[
    SizeCriterion | None, typer.Option(help="How to choose the size; cv by default.", rich_help_panel=SEARCH)
]
Ridge = Annotated[
    float | None,
    option(help="Weight of the penalty on squared coefficients.", metavar="NUMBER", panel=SEARCH),
]
Save = Annotated[Path | None, file(help="The fitted model, for joblib.load.")]


def select(
    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None,
    target: Target = None,
    family: Kind = FamilyName.LINEAR,
    offset: Offset = None,
    exposure: Exposure = None,
    force_out: ForceOut = None,
    drop_missing: DropMissing = False,
    one_hot: OneHot = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    demo: Demo = False,
    size: Size = None,
    exactly: Exactly = None,
    at_least: AtLeast = None,
    groups: Groups = None,
    groups_from_prefix: GroupsFromPrefix = None,
    groups_from_pattern: GroupsFromPattern = None,
    per_group: PerGroup = None,
    few_groups: FewGroups = None,
    and_groups: AndGroups = None,
    and_per_group: AndPerGroup = None,
    whole_groups: WholeGroups = None,
    not_both: NotBoth = None,
    not_both_above: NotBothAbove = None,
    costs: Costs = None,
    budget: Budget = None,
    hierarchy: Hierarchy = None,
    product_sign: ProductSign = None,
    positive: Positive = False,
    bounds: Bounds = None,
    force_in: ForceIn = None,
    path: SizesToTry = None,
    choose: Choose = None,
    method: Method = "auto",
    ridge: Ridge = None,
    certify: Certify = False,
    proof_seconds: ProofSeconds = PROOF_SECONDS,
    report: Report = None,
    json: Json = None,
    save: Save = None,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Choose the features that explain a target best, under limits on the choice."""
    options = dict(locals())  # all options, before anything else has a name here
    with exit_on_error("swapwise select", debug=debug), warnings_to_stderr(quiet) as notes:
        check_proof_seconds(proof_seconds)
        request = request_of(options)
        printed, json = json == STANDARD_OUTPUT, None if json == STANDARD_OUTPUT else json
        check_page(report)
        check_outputs([report, json, save], inputs=[data, *request.limits.files], force=force)
        dialect = Dialect(separator, decimal, encoding)
        selection = _answer(request, dialect, proof_seconds, notes, quiet)
        outputs: list[Output] = [
            (json, selection.to_json),
            (save, selection.to_bytes),
            (report, selection.to_html),
        ]
        deliver(
            "swapwise select", selection, outputs, show_selection, as_json=printed, force=force, quiet=quiet
        )


def _answer(
    request: SelectionRequest, dialect: Dialect, proof_seconds: float, notes: list[str], quiet: bool
) -> Selection:
    import sys

    from swapwise.app.cli.problem import read_problem
    from swapwise.app.cli.reading.tables import read_table
    from swapwise.app.cli.selection import select_features

    table = _demo_table() if request.data is None else read_table(request.data, dialect)
    problem = read_problem(request, table)
    progress = not quiet and sys.stderr.isatty()
    return select_features(problem, proof_seconds, notes, progress=progress)


def _demo_table() -> pd.DataFrame:
    """Return the data with the measurement first in every name: ``area_worst`` for "worst area"."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    table: pd.DataFrame = data.data
    words = table.columns.str.extract("(mean|worst|error)", expand=False)
    measured = table.columns.str.replace(" ?(mean|worst|error) ?", "", regex=True)
    table.columns = measured + "_" + words
    return table.assign(**{DEMO_TARGET: data.target_names[data.target]})
