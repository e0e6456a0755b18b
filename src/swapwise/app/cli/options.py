"""The options that commands share, and the words that they take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from swapwise.app.cli.failures import BadInput

STANDARD_OUTPUT = Path("-")
PROOF_SECONDS = 10.0

# The parts of a command's help.
READING = "How the table is written"
LIMITS, SEARCH, FILES, MESSAGES = "What may be chosen", "How to choose", "Files to write", "Messages"


class FamilyName(StrEnum):
    """What is fitted."""

    LINEAR = "linear"
    LOGISTIC = "logistic"
    POISSON = "poisson"
    NEGATIVE_BINOMIAL = "negative-binomial"
    GAMMA = "gamma"


class SizeCriterion(StrEnum):
    """How the size is chosen from a path."""

    CV = "cv"
    BIC = "bic"
    EBIC = "ebic"


class GraphModel(StrEnum):
    """How variables are distributed given the others."""

    AUTO = "auto"
    ISING = "ising"
    GAUSSIAN = "gaussian"
    MIXED = "mixed"


class Correlation(StrEnum):
    """What a Gaussian graph is computed from."""

    PEARSON = "pearson"
    SPEARMAN = "spearman"
    KENDALL = "kendall"
    POLYCHORIC = "polychoric"


def flag(*names: str, help: str, panel: str | None = None) -> Any:
    """Return an option without a value; help would show one if the metavar were not empty."""
    return typer.Option(*names, help=help, metavar="", rich_help_panel=panel)


def option(*names: str, help: str, metavar: str, panel: str | None = None) -> Any:
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel)


def file(*names: str, help: str) -> Any:
    return option(*names, help=help, metavar="FILE", panel=FILES)


def limit(*names: str, help: str, metavar: str) -> Any:
    return option(*names, help=help, metavar=metavar, panel=LIMITS)


DATA = "A table: .csv, .tsv or .txt (also packed, as .csv.gz), .parquet or .npz."
Separator = Annotated[
    str | None,
    option(help="What is between the columns of text: , ; | or tab, blank.", metavar="SIGN", panel=READING),
]
Decimal = Annotated[
    str | None, option(help="The sign before decimals: . or ,", metavar="SIGN", panel=READING)
]
Encoding = Annotated[
    str | None,
    option(help="Of text that is not UTF-8, such as cp1252 or latin-1.", metavar="NAME", panel=READING),
]
DropMissing = Annotated[bool, flag("--drop-missing", help="Leave out rows with missing values.")]
ForceOut = Annotated[
    list[str] | None, option(help="Columns to leave out: c,d, or one option per column.", metavar="NAMES")
]
Report = Annotated[Path | None, file(help="A page with charts, as .html, that opens offline.")]
Force = Annotated[bool, flag("--force", help="Overwrite files that exist.", panel=FILES)]
Quiet = Annotated[bool, flag("--quiet", "-q", help="Print nothing but errors.", panel=MESSAGES)]
Debug = Annotated[bool, flag("--debug", help="Show the traceback of an error.", panel=MESSAGES)]
Method = Annotated[str, option(help="How to search, as in swapwise.maximize.", metavar="NAME", panel=SEARCH)]
Certify = Annotated[bool, flag("--certify", help="Prove how good the choice is.", panel=SEARCH)]
ProofSeconds = Annotated[float, option(help="Time limit of the proof.", metavar="NUMBER", panel=SEARCH)]
Json = Annotated[Path | None, file(help="The answer as JSON; - prints it and nothing else.")]


def check_data(data: Path | None, *, demo: bool) -> None:
    if demo and data is not None:
        raise typer.BadParameter(f"--demo goes without a table; got {data}")
    if not demo and data is None:
        raise typer.BadParameter("give a table, or --demo to try it on data that come with the package")


def check_proof_seconds(seconds: float) -> None:
    if not seconds >= 0:
        raise BadInput(f"--proof-seconds must be at least 0, got {seconds:g}")


def check_method(method: str) -> None:
    from swapwise.app.cli.messages import hint
    from swapwise.search.plan import NAMES

    if method not in NAMES:
        raise BadInput(f"--method must be one of {', '.join(NAMES)}; got {method!r}{hint(method, NAMES)}")
