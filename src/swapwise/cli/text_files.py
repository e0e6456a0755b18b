"""Tables in text: which encoding, which separator, which names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from swapwise.checks import warn
from swapwise.cli.failures import BadInput
from swapwise.cli.numerals import is_number, with_numbers
from swapwise.cli.wording import some_of

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
BLANKS = r"\s+"

# In this order: text of the latter kinds is no UTF-8, UTF-16 begins with a mark, and Windows-1252 is nearly
# anything. Whatever Latin-1 has for letters, Windows-1252 has too.
ENCODINGS = {"utf-8": "UTF-8", "utf-16": "UTF-16", "cp1252": "Windows-1252"}


def read_text(path: Path, usual: str | None) -> pd.DataFrame:
    """Return a table that begins with the names of its columns; its index are the lines of the file.

    ``usual`` is what is expected between the columns, None for anything. If the first line has none of it,
    but another separator, that is used. Where semicolons are, decimal commas may be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "data.csv"
    ...     _ = path.write_text("a,b\\n1,2\\n")
    ...     read_text(path, ",")
          a  b
    line
    2     1  2
    """
    return _decoded(path, partial(_table, path, usual))


def read_cells(path: Path, usual: str | None) -> list[list[str]]:
    """Return the words of a text file, line by line, without the blanks around them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "groups.csv"
    ...     _ = path.write_text("x, roof\\ny,hall \\n")
    ...     read_cells(path, ",")
    [['x', 'roof'], ['y', 'hall']]
    """

    def read(encoding: str) -> list[list[str]]:
        separator = _separator(path, usual, encoding)
        words = _parsed(path, separator, encoding, header=None, dtype=str, keep_default_na=False)
        return [[word.strip() for word in row] for row in words.to_numpy().tolist()]

    return _decoded(path, read)


def require_different(names: Iterable[str], path: Path) -> None:
    """Say which names there are several of.

    >>> require_different(["a", "b", "a"], Path("t.csv"))
    Traceback (most recent call last):
    ...
    swapwise.cli.failures.BadInput: t.csv has several columns of the same name: 'a'; rename one of them, or
    leave it out of the file
    """
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise BadInput(
            f"{path} has several columns of the same name: {some_of(twice)}; rename one of them, or leave it "
            "out of the file"
        )


def _decoded(path: Path, read: Callable[[str], T]) -> T:
    """Return what is read in the first encoding in which all of the file is text."""
    for encoding, name in ENCODINGS.items():
        try:
            content = read(encoding)
        except UnicodeError:
            continue
        if encoding == "cp1252":
            warn(f"{path} is no text in UTF-8, and is read as {name}: look at letters such as ä and é")
        return content
    known = ", ".join(ENCODINGS.values())
    raise BadInput(f"{path} must be text in one of {known}, got none of them; save it as UTF-8")


def _table(path: Path, usual: str | None, encoding: str) -> pd.DataFrame:
    import pandas as pd

    separator = _separator(path, usual, encoding)
    names = _first_line(path, separator, encoding)
    if any("\0" in name for name in names):
        raise BadInput(f"{path} must be text, got other bytes in its first line; save it as CSV in UTF-8")
    _require_header(names, path)
    # By the header itself: pandas would number columns of the same name.
    require_different([name for name in names if name], path)
    has_row_names = names[:1] == [""] or _has_one_more(path, separator, encoding, len(names))
    table = _parsed(
        path, separator, encoding, index_col=0 if has_row_names else False, header=0, low_memory=False
    )
    if has_row_names:  # as pandas writes them, and R without a name for them in the header
        names = names[1:] if names[0] == "" else names
        warn(f"the first column of {path} has no name, and is taken as the names of the rows")
    if separator != usual:
        warn(f"{path} is read with {SEPARATORS.get(separator, 'blanks')} between its columns")
    table.columns = [name or f"column {place}" for place, name in enumerate(names, 1)]
    table.index = pd.RangeIndex(2, len(table) + 2, name="line")
    nothing = [
        column for column, name in zip(table, names, strict=True) if not name and table[column].isna().all()
    ]
    parse = partial(_parsed, path, separator, encoding)
    as_text = partial(_as_text, parse, table.columns, table.index, int(has_row_names))
    return with_numbers(table.drop(columns=nothing), path, as_text, decimal_comma=separator == ";")


def _as_text(
    parse: Callable[..., pd.DataFrame], names: pd.Index, lines: pd.Index, n_before: int, chosen: Sequence[str]
) -> pd.DataFrame:
    """Return columns as they are in the file, which has some more before those of the names."""
    wanted = set(chosen)
    name_at = {n_before + place: name for place, name in enumerate(names) if name in wanted}
    # The header is a row like others here, as that of R is shorter than they are.
    numbered = {"header": None, "names": range(n_before + len(names)), "usecols": list(name_at)}
    words = parse(dtype=str, index_col=False, **numbered)[1:]
    return words.rename(columns=name_at).set_axis(lines)


def _require_header(names: Sequence[str], path: Path) -> None:
    """Refuse numbers for names, unless they count up, as those of tables that never had other names."""
    named = [name for name in names if name]
    if not named or not all(map(is_number, named)):
        return
    counts_up = named[0].isdecimal() and named == [str(int(named[0]) + step) for step in range(len(named))]
    if not counts_up or len(named) == 1:
        got = some_of(named)
        raise BadInput(f"{path}: the first line must hold the names of the columns, got numbers: {got}")


def _separator(path: Path, usual: str | None, encoding: str) -> str:
    """Return what is between the columns: the usual, unless the first line has only something else."""
    candidates = [*SEPARATORS, BLANKS] if usual is None else [usual, *SEPARATORS]
    for separator in candidates:
        if len(_first_line(path, separator, encoding)) > 1:
            return separator
    return candidates[0]


def _first_line(path: Path, separator: str, encoding: str) -> list[str]:
    words = _parsed(path, separator, encoding, header=None, nrows=1, dtype=str, keep_default_na=False)
    return [word.strip() for word in words.iloc[0]] if len(words) else []


def _has_one_more(path: Path, separator: str, encoding: str, n_names: int) -> bool:
    """Tell whether the first row has one entry more than the header has names."""
    try:
        first = _parsed(path, separator, encoding, header=None, skiprows=1, nrows=1, dtype=str)
    except BadInput:  # there is no such row
        return False
    return first.shape[1] == n_names + 1 and bool(first.iloc[0].notna().all())


def _parsed(path: Path, separator: str, encoding: str, **options: Any) -> pd.DataFrame:
    from lzma import LZMAError
    from zipfile import BadZipFile
    from zlib import error as ZlibError

    import pandas as pd

    try:
        return pd.read_csv(path, sep=separator, encoding=encoding, skipinitialspace=True, **options)
    except pd.errors.EmptyDataError:
        raise BadInput(f"{path} is empty") from None
    except pd.errors.ParserError as error:
        raise BadInput(f"{path} cannot be read: {_in_words(error)}") from None
    except UnicodeError:
        raise
    except ImportError:
        raise BadInput(f"{path} cannot be unpacked: that needs a library which is not installed") from None
    except (OSError, EOFError, ValueError, LZMAError, BadZipFile, ZlibError) as error:
        raise BadInput(f"{path} cannot be read: {' '.join(str(error).split())}") from None


def _in_words(error: Exception) -> str:
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return " ".join(str(error).split())
    expected, line, got = found.groups()
    return f"line {line} must have {expected} cells as the lines before, got {got}"
