"""Tables that users hand in: data in some formats, and files that say which feature is in which group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swapwise.checks import warn
from swapwise.cli.failures import BadInput

if TYPE_CHECKING:
    import pandas as pd

SEPARATORS = {".csv": ",", ".tsv": "\t"}
FORMATS = ".csv, .tsv, .parquet or .npz"

GROUPS_HEADER = ["feature", "group"]

# Names in a message: more of them say no more.
MOST_NAMES = 5


def read_table(path: Path) -> pd.DataFrame:
    """Return a table with different names for its columns, in the format that the file's name ends in.

    An array of an ``.npz`` file is a column if it has one dimension. One of two dimensions, such as ``X``, is
    columns ``X_0``, ``X_1``, … or those that an array ``columns`` names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\\n1,2\\n")
    ...     read_table(path)
       a  b
    0  1  2
    """
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    if path.stat().st_size == 0:
        raise BadInput(f"{path} is empty")
    suffix = path.suffix.lower()
    if suffix in SEPARATORS:
        table = _read_text(path, SEPARATORS[suffix])
    elif suffix == ".parquet":
        table = _read_parquet(path)
    elif suffix == ".npz":
        table = _read_arrays(path)
    else:
        raise BadInput(f"{path} must end in {FORMATS}, which tells its format")
    _require_different(map(str, table.columns), path)
    if table.empty:
        raise BadInput(f"{path} has names of columns, but no rows")
    return table.rename(columns=str)


def _read_text(path: Path, separator: str) -> pd.DataFrame:
    import pandas as pd

    header = _parsed(path, separator, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = header.iloc[0].tolist() if len(header) else []
    # By the header itself: pandas would number columns of the same name.
    _require_different(names, path)
    has_row_names = names[:1] == [""] or _has_one_more(path, separator, len(names))
    if has_row_names:  # as pandas writes them, and R without a name for them in the header
        warn(f"the first column of {path} has no name, and is taken as the names of the rows")
    table = _parsed(path, separator, index_col=0 if has_row_names else False)
    assert isinstance(table, pd.DataFrame)
    return table.reset_index(drop=True)


def _has_one_more(path: Path, separator: str, n_names: int) -> bool:
    """Tell whether the first row has one entry more than the header has names."""
    try:
        first = _parsed(path, separator, header=None, skiprows=1, nrows=1, dtype=str)
    except BadInput:  # there is no such row
        return False
    return first.shape[1] == n_names + 1 and bool(first.iloc[0].notna().all())


def _parsed(path: Path, separator: str, **options: Any) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(path, sep=separator, skipinitialspace=True, **options)
    except pd.errors.EmptyDataError:
        raise BadInput(f"{path} is empty") from None
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} must be text in UTF-8: {error.reason} at byte {error.start}") from None
    except pd.errors.ParserError as error:
        raise BadInput(f"{path} cannot be read: {error}") from None


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise BadInput(f"{path}: Parquet files need pyarrow, which is not installed here") from None
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read as Parquet: {error}") from None


def _read_arrays(path: Path) -> pd.DataFrame:
    from zipfile import BadZipFile

    import numpy as np
    import pandas as pd

    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (BadZipFile, ValueError, EOFError) as error:
        raise BadInput(f"{path} cannot be read as arrays of numpy: {error}") from None
    names = arrays.pop("columns", None)
    lengths = {name: array.shape[0] if array.ndim else 0 for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise BadInput(f"the arrays of {path} must have as many rows each, got {lengths}")
    return pd.concat([_columns_of(path, *item, names) for item in arrays.items()] or [pd.DataFrame()], axis=1)


def _columns_of(path: Path, name: str, array: Any, names: Any) -> pd.DataFrame:
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
    return pd.DataFrame(array, columns=[str(one) for one in names])


def _require_different(names: Iterable[str], path: Path) -> None:
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadInput(f"{path} has several columns of the same name: {some_of(twice)}")


def read_groups(path: Path, features: Sequence[str], left_out: Sequence[str] = ()) -> dict[str, str]:
    """Return the group of every feature, from lines such as ``feature,group``; others may be ``left_out``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "groups.csv"
    ...     _ = path.write_text("feature,group\\nx,roof\\ny,hall\\n")
    ...     read_groups(path, ["y", "x"])
    {'y': 'hall', 'x': 'roof'}
    """
    if not path.is_file():
        raise BadInput(f"there is no file {path}")
    separator = SEPARATORS.get(path.suffix.lower(), ",")
    table = _parsed(path, separator, header=None, dtype=str, keep_default_na=False)
    if table.shape[1] != 2:
        raise BadInput(f"{path} must have two columns, feature and group, got {table.shape[1]}")
    rows: list[list[str]] = table.to_numpy().tolist()
    if [word.lower() for word in rows[0]] == GROUPS_HEADER:
        rows = rows[1:]
    group_of: dict[str, str] = {}
    for feature, group in rows:
        if feature in left_out:
            continue
        if feature not in features:
            raise BadInput(
                f"{path} names {feature!r}, which is no feature of the data{hint(feature, features)}"
            )
        if group_of.setdefault(feature, group) != group:
            raise BadInput(f"{path} puts {feature!r} into two groups, {group_of[feature]!r} and {group!r}")
    missing = [repr(feature) for feature in features if not group_of.get(feature)]
    if missing:
        raise BadInput(f"{path} has no group for {some_of(missing)}")
    return {feature: group_of[feature] for feature in features}


def hint(name: str, known: Iterable[str]) -> str:
    """Return a name that may have been meant, to be added to a message.

    >>> hint("hieght", ["height", "age"])
    " (did you mean 'height'?)"
    """
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def some_of(words: Sequence[str]) -> str:
    """Return the first of some words, and how many more there are.

    >>> some_of(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    more = len(words) - MOST_NAMES
    return ", ".join(words[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
