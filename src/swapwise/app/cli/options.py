"""The options that commands share, and the words that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
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


def command_of(record: Any) -> Callable[[Callable[[Any], None]], Callable[..., None]]:
    """Make a command of a function of one record (a dataclass), whose fields are the command's options.

    A field whose type is a record, too, stands for the options that are its fields.
    """

    def decorate(run: Callable[[Any], None]) -> Callable[..., None]:
        @wraps(run)
        def command(**values: Any) -> None:
            run(_record_of(record, values))

        command.__signature__ = Signature(list(_options_of(record)))  # type: ignore[attr-defined]
        return command

    return decorate


def _options_of(record: Any) -> Iterator[Parameter]:
    for field in signature(record, eval_str=True).parameters.values():
        if is_dataclass(field.annotation):
            yield from _options_of(field.annotation)
        else:
            yield field.replace(kind=Parameter.KEYWORD_ONLY)


def _record_of(record: Any, values: Mapping[str, Any]) -> Any:
    kinds = {field.name: field.annotation for field in signature(record, eval_str=True).parameters.values()}
    return record(
        **{name: values[name] for name in kinds if name in values},
        **{name: _record_of(kind, values) for name, kind in kinds.items() if is_dataclass(kind)},
    )


def flag(text: str, *names: str, panel: str | None = None) -> Any:
    """Return an option without a value; help would show one if the metavar were not empty."""
    return option(text, "", *names, panel=panel)


def option(text: str, metavar: str | None = None, *names: str, panel: str | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel)


def file(text: str) -> Any:
    return option(text, "FILE", panel=FILES)


def limit(text: str, metavar: str | None = None, *names: str) -> Any:
    return option(text, metavar, *names, panel=LIMITS)


DATA = "A table: .csv, .tsv or .txt (also packed, as .csv.gz), .parquet or .npz."
Separator = Annotated[
    str | None,
    option("What is between the columns of text: , ; | or tab, blank.", "SIGN", panel=READING),
]
Decimal = Annotated[str | None, option("The sign before decimals: . or ,", "SIGN", panel=READING)]
Encoding = Annotated[
    str | None,
    option("Of text that is not UTF-8, such as cp1252 or latin-1.", "NAME", panel=READING),
]
DropMissing = Annotated[bool, flag("Leave out rows with missing values.", "--drop-missing")]
ForceOut = Annotated[
    list[str] | None, option("Columns to leave out: c,d, or one option per column.", "NAMES")
]
Report = Annotated[Path | None, file("A page with charts, as .html, that opens offline.")]
Force = Annotated[bool, flag("Overwrite files that exist.", "--force", panel=FILES)]
Quiet = Annotated[bool, flag("Print nothing but errors.", "--quiet", "-q", panel=MESSAGES)]
Debug = Annotated[bool, flag("Show the traceback of an error.", "--debug", panel=MESSAGES)]
Method = Annotated[str, option("How to search, as in swapwise.maximize.", "NAME", panel=SEARCH)]
Certify = Annotated[bool, flag("Prove how good the choice is.", "--certify", panel=SEARCH)]
ProofSeconds = Annotated[float, option("Time limit of the proof.", "NUMBER", panel=SEARCH)]
Json = Annotated[Path | None, file("The answer as JSON; - prints it and nothing else.")]


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
