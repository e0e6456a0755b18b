"""The options of ``swapwise select``, checked together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from swapwise.app.cli.checking.columns import names_among, require_columns
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.limits import LimitOptions
from swapwise.app.cli.messages import quoted
from swapwise.app.cli.options import (
    DATA,
    PROOF_SECONDS,
    SEARCH,
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
    check_data,
    check_method,
    file,
    flag,
    limit,
    option,
)

if TYPE_CHECKING:
    import pandas as pd

NO_LIMITS = LimitOptions()

DEMO = "scikit-learn's breast cancer data: ten measurements of cells, each as mean, error and worst"
DEMO_TARGET = "diagnosis"
#: Every measurement takes work, but all of its three columns take no more than one of them
DEMO_LIMITS = LimitOptions(groups_from_prefix="_", few_groups=3, size=6)


@dataclass(frozen=True)
class SelectOptions:
    """The options of ``swapwise select``, as they are given."""

    data: Annotated[Path | None, typer.Argument(help=DATA, show_default=False)] = None
    target: Annotated[str | None, option("The column to explain.", "COLUMN", "--target", "-t")] = None
    family: Annotated[FamilyName, option("Kind of target: numbers, classes, counts or positive amounts.")] = (
        FamilyName.LINEAR
    )
    offset: Annotated[str | None, option("A column to add to the linear predictor.", "COLUMN")] = None
    exposure: Annotated[
        str | None, option("A column that the target is proportional to, such as hours.", "COLUMN")
    ] = None
    force_out: ForceOut = None
    drop_missing: DropMissing = False
    one_hot: Annotated[
        bool, flag("One-hot encode text; the columns of a variable are chosen together.", "--one-hot")
    ] = False
    separator: Separator = None
    decimal: Decimal = None
    encoding: Encoding = None
    demo: Annotated[bool, flag(f"Try it on {DEMO}.", "--demo")] = False
    limits: LimitOptions = NO_LIMITS
    force_in: Annotated[
        list[str] | None, limit("Features that are always chosen: a,b, or one option per feature.", "NAMES")
    ] = None
    path: Annotated[
        str | None,
        option("Sizes to try, such as 1:30; up to 20 with --choose alone.", "FIRST:LAST", panel=SEARCH),
    ] = None
    choose: Annotated[
        SizeCriterion | None,
        option("How to choose the size; cv by default.", panel=SEARCH),
    ] = None
    method: Method = "auto"
    ridge: Annotated[
        float | None, option("Weight of the penalty on squared coefficients.", "NUMBER", panel=SEARCH)
    ] = None
    certify: Certify = False
    proof_seconds: ProofSeconds = PROOF_SECONDS
    report: Report = None
    json: Json = None
    save: Annotated[Path | None, file("The fitted model, for joblib.load.")] = None
    force: Force = False
    quiet: Quiet = False
    debug: Debug = False


@dataclass(frozen=True)
class SelectionRequest:
    """The options of ``swapwise select``, checked, with what those that are not given stand for."""

    options: SelectOptions
    limits: LimitOptions
    target: str
    family: FamilyName
    #: Names of columns; the words of the options until :meth:`matched_to` matches them to a table
    force_in: list[str]
    force_out: list[str]
    sizes: range | None
    choose: SizeCriterion | None

    @property
    def offset_column(self) -> str | None:
        """The column that is added to the linear predictor, or whose logarithm is."""
        return self.options.exposure if self.options.offset is None else self.options.offset

    def in_words(self) -> dict[str, str]:
        options = self.options
        words = {
            "data": DEMO if options.data is None else str(options.data),
            "target": self.target,
            "family": self.family.value,
            "offset": options.offset or "",
            "exposure": options.exposure or "",
            "limits": self.limits.in_words(),
            "sizes tried": f"{self.sizes[0]} to {self.sizes[-1]}" if self.sizes else "",
            "size chosen by": self.choose.value if self.choose else "",
            "forced in": _listed(self.force_in),
            "forced out": _listed(self.force_out),
            "method": options.method,
            "ridge": "" if options.ridge is None else f"{options.ridge:g}",
            "text": "one-hot encoded" if options.one_hot else "",
            "rows with missing values": "left out" if options.drop_missing else "",
        }
        return {name: word for name, word in words.items() if word}

    def matched_to(self, table: pd.DataFrame) -> SelectionRequest:
        """Return the request with its names matched to the columns of a table, which must exist."""
        force_in = names_among(self.force_in, table.columns)
        force_out = names_among(self.force_out, table.columns)
        named = {"--target": [self.target], "--force-out": force_out, "--force-in": force_in}
        if self.offset_column is not None:
            named["--offset" if self.options.offset is not None else "--exposure"] = [self.offset_column]
        for text in self.limits.not_both or []:
            names = names_among([text], table.columns)
            if len(names) < 2:
                raise BadInput(f"--not-both must name two features or more, such as a,b; got {text!r}")
            named[f"--not-both {text}"] = names
        for name, names in named.items():
            require_columns(names, table, name)
            if name != "--target" and self.target in names:
                raise BadInput(f"{name} names the target {self.target!r}, which is to be explained")
            if name not in ("--target", "--offset", "--exposure") and self.offset_column in names:
                raise BadInput(f"{name} names {self.offset_column!r}, which is the offset, not a feature")
        both = [name for name in force_in if name in force_out]
        if both:
            raise BadInput(f"--force-in and --force-out both name {quoted(both)}: choose one of the options")
        return replace(self, force_in=force_in, force_out=force_out)


def request_of(options: SelectOptions) -> SelectionRequest:
    check_data(options.data, demo=options.demo)
    if not options.demo and options.target is None:
        raise typer.BadParameter("--target must say which column to explain")
    if options.target is not None and not options.target.strip():
        raise typer.BadParameter(f"--target must say which column to explain, got {options.target!r}")
    if options.offset is not None and options.exposure is not None:
        raise typer.BadParameter("give --offset or --exposure, whose logarithm is the offset, not both")
    limits = options.limits
    limits.check()
    check_method(options.method)
    if options.ridge is not None and not 0 <= options.ridge < math.inf:
        raise BadInput(f"--ridge must be a number of at least 0, got {options.ridge:g}")
    follows_path = options.path is not None or options.choose is not None
    if follows_path and limits.in_all[1] is not None:
        problem = "--path and --choose try several sizes, which does not go with"
        raise typer.BadParameter(f"{problem} {limits.size_option}")
    is_plain_demo = options.demo and not follows_path and limits == NO_LIMITS
    return SelectionRequest(
        options,
        limits=DEMO_LIMITS if is_plain_demo else limits,
        family=FamilyName.LOGISTIC if options.demo else options.family,
        target=options.target or DEMO_TARGET,
        force_in=options.force_in or [],
        force_out=options.force_out or [],
        sizes=_sizes(options.path),
        choose=(options.choose or SizeCriterion.CV) if follows_path else None,
    )


def _listed(names: list[str]) -> str:
    """Join names by commas; a name with a comma of its own is quoted."""
    return ", ".join(repr(name) if "," in name else name for name in names)


def _sizes(path: str | None) -> range | None:
    """Parse ``first:last``."""
    if path is None:
        return None
    first, _, last = path.partition(":")
    if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
        raise typer.BadParameter(f"--path must be the first and the last size, such as 1:30; got {path!r}")
    return range(int(first), int(last) + 1)
