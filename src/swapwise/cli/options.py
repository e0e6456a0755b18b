"""The options that commands have in common, and the words that they know."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Family(StrEnum):
    """What is fitted.

    >>> Family("poisson").value
    'poisson'
    """

    LINEAR = "linear"
    LOGISTIC = "logistic"
    POISSON = "poisson"


class Choice(StrEnum):
    """How the size is chosen from a path.

    >>> Choice("bic").value
    'bic'
    """

    CV = "cv"
    BIC = "bic"
    EBIC = "ebic"


DATA = "A table: .csv, .tsv, .parquet or .npz."
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")]
Report = Annotated[Path | None, typer.Option(help="Write a page with charts here, as .html.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
