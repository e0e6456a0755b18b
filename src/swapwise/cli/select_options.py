"""The options of ``swapwise select`` alone: what is asked, what may be chosen, and how to choose."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swapwise.cli.limits import DEFAULT_SIZE
from swapwise.cli.options import LIMITS, SEARCH, Choice, Family, file, flag, option
from swapwise.cli.question import DEMO

Target = Annotated[str | None, option("--target", "-t", help="The column to explain.", metavar="COLUMN")]
Kind = Annotated[Family, typer.Option(help="What the target is: a number, a class or a count.")]
OneHot = Annotated[
    bool, flag("--one-hot", help="Make columns of 0 and 1 of text, chosen together or not at all.")
]
Demo = Annotated[bool, flag("--demo", help=f"Try it on {DEMO}.")]
Size = Annotated[
    int | None,
    option(
        help=f"At most so many features; {DEFAULT_SIZE} by default, or no limit if there are groups.",
        metavar="NUMBER",
        panel=LIMITS,
    ),
]
Groups = Annotated[
    Path | None,
    option(
        help="A CSV of two columns, feature and group, with a line for every feature.",
        metavar="FILE",
        panel=LIMITS,
    ),
]
GroupsFromPrefix = Annotated[
    str | None,
    option(help="Groups by what names begin with, up to this, such as _.", metavar="TEXT", panel=LIMITS),
]
PerGroup = Annotated[
    int | None, option(help="At most so many of each group; 1 by default.", metavar="NUMBER", panel=LIMITS)
]
AndGroups = Annotated[
    Path | None, option(help="Other groups, which limit the choice too.", metavar="FILE", panel=LIMITS)
]
AndPerGroup = Annotated[
    int | None,
    option(help="At most so many of each of those; 1 by default.", metavar="NUMBER", panel=LIMITS),
]
ForceIn = Annotated[
    list[str] | None,
    option(help="Features to choose in any case: a,b, or once for each.", metavar="NAMES", panel=LIMITS),
]
SizesToTry = Annotated[
    str | None,
    option(
        help="Sizes to try, such as 1:30; up to 20 with --choose alone.", metavar="FIRST:LAST", panel=SEARCH
    ),
]
Choose = Annotated[
    Choice | None, typer.Option(help="What chooses the size; cv by default.", rich_help_panel=SEARCH)
]
Method = Annotated[str, option(help="How to search, as in swapwise.maximize.", metavar="NAME", panel=SEARCH)]
Ridge = Annotated[
    float | None, option(help="Weight of the penalty on coefficients.", metavar="NUMBER", panel=SEARCH)
]
Certify = Annotated[bool, flag("--certify", help="Prove how good the choice is.", panel=SEARCH)]
ProofSeconds = Annotated[
    float, option(help="How long the proof may take at most.", metavar="NUMBER", panel=SEARCH)
]
Json = Annotated[Path | None, file(help="The answer for programs; - prints it, and nothing else.")]
Save = Annotated[Path | None, file(help="The fitted model, for joblib.load.")]
