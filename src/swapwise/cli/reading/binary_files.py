"""Tables in the formats of programs: Parquet, and arrays of numpy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.messages import some_of

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path) -> pd.DataFrame:
    """Return the table of a Parquet file; names of its rows are a column if that has a name."""
    import pandas as pd

    try:
        table = pd.read_parquet(path)
    except ImportError:
        raise BadInput(f"{path}: Parquet files need pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {' '.join(str(error).split())}") from None
    levels = [table.index.get_level_values(number) for number in range(table.index.nlevels)]
    unnamed = [level for level in levels if level.name is None]
    if unnamed and not isinstance(table.index, pd.RangeIndex):
        warn(f"the index of {path} has no name, and is taken as the names of the rows")
    named = [level for level in levels if level.name is not None]
    table = table.reset_index(drop=True)
    return pd.concat([*(level.to_frame(index=False) for level in named), table], axis=1) if named else table


def read_arrays(path: Path) -> pd.DataFrame:
    """Return the table that the arrays of an ``.npz`` file are."""
    import pandas as pd

    arrays = _loaded(path)
    names = _names(arrays.pop("columns", None), path)
    if not arrays:
        raise BadInput(f"{path} must hold arrays, got none")
    lengths = {name: array.shape[0] if array.ndim else 0 for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        got = some_of([f"{name!r} {length}" for name, length in lengths.items()])
        raise BadInput(f"the arrays of {path} must have as many rows each, got {got}")
    return pd.concat([_columns_of(path, *item, names) for item in arrays.items()], axis=1)


def _loaded(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by their names, numbers in the order of bytes of this machine."""
    from zipfile import BadZipFile, is_zipfile

    import numpy as np

    if not is_zipfile(path):
        raise BadInput(f"{path} is no .npz file, whatever its name says; numpy.savez writes them")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (BadZipFile, ValueError, EOFError) as error:
        told = "objects in it; store numbers or text" if "allow_pickle" in str(error) else error
        raise BadInput(f"{path} cannot be read as arrays of numpy: {told}") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise BadInput(f"{path} must hold arrays of numpy, got other files in it")
    return {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}


def _names(names: Any, path: Path) -> list[str] | None:
    if names is None:
        return None
    if names.ndim != 1:
        raise BadInput(f"the array 'columns' of {path} must be a row of names, got {names.ndim} dimensions")
    return [name.decode(errors="replace") if isinstance(name, bytes) else str(name) for name in names]


def _columns_of(path: Path, name: str, array: Any, names: list[str] | None) -> pd.DataFrame:
    import pandas as pd

    if array.ndim not in (1, 2):
        raise BadInput(f"the array {name!r} of {path} must have one or two dimensions, got {array.ndim}")
    if array.ndim == 1:
        return pd.DataFrame({name: array})
    if names is None:
        return pd.DataFrame(array, columns=[f"{name}_{number}" for number in range(array.shape[1])])
    if len(names) != array.shape[1]:
        raise BadInput(
            f"the array 'columns' of {path} must name the {array.shape[1]} columns of {name!r}, got "
            f"{len(names)} names"
        )
    return pd.DataFrame(array, columns=names)
