"""Tables in binary formats: Parquet, and arrays of numpy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, is_zipfile

import numpy as np

from swapwise.app.cli.failures import BadInput
from swapwise.checks import some_of, warn

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path) -> pd.DataFrame:
    """Return the table of a Parquet file; levels of its index are columns if they have names."""
    import pandas as pd

    try:
        table = pd.read_parquet(path)
    except ImportError:
        raise BadInput(f"{path}: Parquet files need pyarrow: pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {' '.join(str(error).split())}") from None
    if None in table.index.names and not isinstance(table.index, pd.RangeIndex):
        warn(f"the index of {path} has no name, and is taken as the names of the rows")
    named = [table.index.get_level_values(name) for name in table.index.names if name is not None]
    columns = [level.to_frame(index=False) for level in named]
    return pd.concat([*columns, table.reset_index(drop=True)], axis=1)


def read_arrays(path: Path) -> pd.DataFrame:
    """Return the arrays of an ``.npz`` file as one table."""
    import pandas as pd

    arrays = _loaded(path)
    names = arrays.pop("columns", None)
    if names is not None and names.ndim != 1:
        raise BadInput(f"the array 'columns' of {path} must be a row of names, got {names.ndim} dimensions")
    if not arrays:
        raise BadInput(f"{path} must hold arrays, got none")
    shapes = some_of([f"{name!r} {array.shape}" for name, array in arrays.items()])
    if not all(array.ndim in (1, 2) for array in arrays.values()):
        raise BadInput(f"the arrays of {path} must have one or two dimensions, got {shapes}")
    if len({len(array) for array in arrays.values()}) > 1:
        raise BadInput(f"the arrays of {path} must have as many rows each, got {shapes}")
    return pd.concat([_columns_of(path, *item, names) for item in arrays.items()], axis=1)


def _loaded(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by their names, in the byte order of this machine."""
    if not is_zipfile(path):
        raise BadInput(f"{path} is no .npz file, whatever its name says; numpy.savez writes them")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (BadZipFile, ValueError, EOFError) as error:
        problem = "objects in it; store numbers or text" if "allow_pickle" in str(error) else error
        raise BadInput(f"{path} cannot be read as arrays of numpy: {problem}") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise BadInput(f"{path} must hold arrays of numpy, got other files in it")
    return {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}


def _columns_of(path: Path, name: str, array: Any, names: Any) -> pd.DataFrame:
    import pandas as pd

    if array.ndim == 1:
        return pd.DataFrame({name: array})
    if names is None:
        return pd.DataFrame(array, columns=[f"{name}_{number}" for number in range(array.shape[1])])
    if len(names) != array.shape[1]:
        wanted = f"the array 'columns' of {path} must name the {array.shape[1]} columns of {name!r}"
        raise BadInput(f"{wanted}, got {len(names)} names")
    words = [word.decode(errors="replace") if isinstance(word, bytes) else str(word) for word in names]
    return pd.DataFrame(array, columns=words)
