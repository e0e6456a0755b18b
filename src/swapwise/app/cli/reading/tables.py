"""Tables that users hand in, in any supported format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.reading.binary_files import read_arrays, read_parquet
from swapwise.app.cli.reading.content import COMPRESSIONS
from swapwise.app.cli.reading.rows import Dialect
from swapwise.app.cli.reading.text_files import read_text, require_different

if TYPE_CHECKING:
    import pandas as pd

# The separator of a text file by its suffix; None where its first lines decide.
USUAL_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None, ".dat": None, ".data": None}
FORMATS = ".csv, .tsv, .txt (also with .gz, .bz2, .xz, .zip or .zst behind it), .parquet or .npz"


def read_table(path: Path, dialect: Dialect | None = None) -> pd.DataFrame:
    """Return a table with different names for its columns, in the format of the file's suffix.

    The index of a text file are its lines; ``dialect`` overrides what is found in it. An array of an ``.npz``
    file is a column if it has one dimension. One of two dimensions, such as ``X``, is columns ``X_0``,
    ``X_1``, … or those that an array ``columns`` names.
    """
    require_file(path)
    suffix = _format(path)
    if suffix in USUAL_SEPARATORS:
        table = read_text(path, USUAL_SEPARATORS[suffix], dialect or Dialect())
    elif suffix == ".parquet":
        table = read_parquet(path)
    elif suffix == ".npz":
        table = read_arrays(path)
    else:
        raise BadInput(f"{path} must end in {FORMATS}, which tells its format; save it as .csv")
    require_different(map(str, table.columns), path)
    if table.empty:
        raise BadInput(f"{path} has names of columns, but no rows")
    return table.rename(columns=str)


def require_file(path: Path) -> None:
    if path.is_dir():
        raise BadInput(f"cannot read {path}: it is a folder")
    if not path.exists():
        raise BadInput(f"there is no file {path}")
    if not path.is_file():
        raise BadInput(f"{path} is no file but a pipe or a device: save what comes out of it as .csv")


def usual_separator(path: Path) -> str | None:
    """Return the separator that a text file's suffix stands for, None for any."""
    return USUAL_SEPARATORS.get(_format(path), ",")


def _format(path: Path) -> str:
    """Return the suffix of the format, before that of a compression."""
    before = Path(path.stem).suffix.lower()
    is_packed_text = path.suffix.lower() in COMPRESSIONS and before in USUAL_SEPARATORS
    return before if is_packed_text else path.suffix.lower()
