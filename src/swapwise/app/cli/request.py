"""The options of ``swapwise select``, checked together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from swapwise.app.cli.checking.columns import names_among, require_columns
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.limits import LimitOptions
from swapwise.app.cli.messages import quoted
from swapwise.app.cli.options import FamilyName, SizeCriterion, check_data, check_method

if TYPE_CHECKING:
    import pandas as pd

DEMO = "scikit-learn's breast cancer data: ten measurements of cells, each as mean, error and worst"
DEMO_TARGET = "diagnosis"
#: Every measurement takes work, but all of its three columns take no more than one of them
DEMO_LIMITS = LimitOptions(groups_from_prefix="_", few_groups=3, size=6)


@dataclass(frozen=True)
class SelectionRequest:
    """The options of ``swapwise select``."""

    data: Path | None
    limits: LimitOptions
    target: str
    family: FamilyName
    #: Names of columns; the words of the options until :meth:`matched_to` matches them to a table
    force_in: list[str]
    force_out: list[str]
    method: str
    sizes: range | None
    choose: SizeCriterion | None
    ridge: float | None
    certify: bool
    one_hot: bool
    drop_missing: bool
    #: The column that is added to the linear predictor, or whose logarithm is
    offset: str | None = None
    exposure: str | None = None

    @property
    def offset_column(self) -> str | None:
        return self.exposure if self.offset is None else self.offset

    def in_words(self) -> dict[str, str]:
        words = {
            "data": DEMO if self.data is None else str(self.data),
            "target": self.target,
            "family": self.family.value,
            "offset": self.offset or "",
            "exposure": self.exposure or "",
            "limits": self.limits.in_words(),
            "sizes tried": f"{self.sizes[0]} to {self.sizes[-1]}" if self.sizes else "",
            "size chosen by": self.choose.value if self.choose else "",
            "forced in": _listed(self.force_in),
            "forced out": _listed(self.force_out),
            "method": self.method,
            "ridge": "" if self.ridge is None else f"{self.ridge:g}",
            "text": "one-hot encoded" if self.one_hot else "",
            "rows with missing values": "left out" if self.drop_missing else "",
        }
        return {name: word for name, word in words.items() if word}

    def matched_to(self, table: pd.DataFrame) -> SelectionRequest:
        """Return the request with its names matched to the columns of a table, which must exist."""
        force_in = names_among(self.force_in, table.columns)
        force_out = names_among(self.force_out, table.columns)
        named = {"--target": [self.target], "--force-out": force_out, "--force-in": force_in}
        if self.offset_column is not None:
            named["--offset" if self.offset is not None else "--exposure"] = [self.offset_column]
        for text in self.limits.not_both or []:
            names = names_among([text], table.columns)
            if len(names) < 2:
                raise BadInput(f"--not-both must name two features or more, such as a,b; got {text!r}")
            named[f"--not-both {text}"] = names
        for option, names in named.items():
            require_columns(names, table, option)
            if option != "--target" and self.target in names:
                raise BadInput(f"{option} names the target {self.target!r}, which is to be explained")
            if option not in ("--target", "--offset", "--exposure") and self.offset_column in names:
                raise BadInput(f"{option} names {self.offset_column!r}, which is the offset, not a feature")
        both = [name for name in force_in if name in force_out]
        if both:
            raise BadInput(f"--force-in and --force-out both name {quoted(both)}: choose one of the options")
        return replace(self, force_in=force_in, force_out=force_out)


def request_of(options: Mapping[str, Any]) -> SelectionRequest:
    check_data(options["data"], demo=options["demo"])
    if not options["demo"] and options["target"] is None:
        raise typer.BadParameter("--target must say which column to explain")
    if options["target"] is not None and not options["target"].strip():
        raise typer.BadParameter(f"--target must say which column to explain, got {options['target']!r}")
    if options["offset"] is not None and options["exposure"] is not None:
        raise typer.BadParameter("give --offset or --exposure, whose logarithm is the offset, not both")
    limits = LimitOptions(**{field.name: options[field.name] for field in fields(LimitOptions)})
    limits.check()
    check_method(options["method"])
    if options["ridge"] is not None and not 0 <= options["ridge"] < math.inf:
        raise BadInput(f"--ridge must be a number of at least 0, got {options['ridge']:g}")
    follows_path = options["path"] is not None or options["choose"] is not None
    if follows_path and limits.in_all[1] is not None:
        other = "--size" if limits.exactly is None else "--exactly"
        raise typer.BadParameter(f"--path and --choose try several sizes, which does not go with {other}")
    is_plain_demo = options["demo"] and not follows_path and limits == LimitOptions()
    plain = ("data", "method", "ridge", "certify", "one_hot", "drop_missing", "offset", "exposure")
    return SelectionRequest(
        limits=DEMO_LIMITS if is_plain_demo else limits,
        family=FamilyName.LOGISTIC if options["demo"] else options["family"],
        target=options["target"] or DEMO_TARGET,
        force_in=options["force_in"] or [],
        force_out=options["force_out"] or [],
        sizes=_sizes(options["path"]),
        choose=(options["choose"] or SizeCriterion.CV) if follows_path else None,
        **{name: options[name] for name in plain},
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
