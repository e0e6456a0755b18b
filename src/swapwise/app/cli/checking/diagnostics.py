"""All problems of a table, reported at once, and the options that solve them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from shlex import quote
from typing import TYPE_CHECKING

import numpy as np

from swapwise.app.cli.checking.cells import holds_lists, not_numbers, text_columns
from swapwise.app.cli.checking.columns import missing_in_words
from swapwise.app.cli.checking.targets import FEWEST_ROWS
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import Diagnostic, quoted

if TYPE_CHECKING:
    import pandas as pd

DROP, ONE_HOT = "--drop-missing", "--one-hot"
LEAVE_OUT, NOTHING = "--force-out leaves it out", "no column can be used as it is: correct the data"

# Lines per message: more of them would hide the last, which has the advice.
MOST_LINES = 12


def require_usable(
    table: pd.DataFrame, target: str, *, one_hot: bool, drop_missing: bool, forced: Collection[str] = ()
) -> None:
    """Refuse missing values, and columns other than the target that cannot be used as they are.

    Call it before rows are left out, so that line numbers are those of the file. Columns that are
    ``forced`` in cannot be left out.
    """
    found = _diagnostics(table, target, one_hot, drop_missing)
    if len(found) == 1:
        raise BadInput(found[0].message)
    if found:
        shown, more = found[:MOST_LINES], len(found) - MOST_LINES
        lines = [f"{len(found)} problems:", *(f"  {one.fact}" for one in shown)]
        lines += [f"  and {more} more"] if more > 0 else []
        raise BadInput("\n".join([*lines, _suggestion(found, table.columns.drop(target), forced)]))


def _diagnostics(table: pd.DataFrame, target: str, one_hot: bool, drop_missing: bool) -> list[Diagnostic]:
    texts = [name for name in text_columns(table) if name != target and table[name].notna().any()]
    unusable = [found for name in texts if (found := _not_usable(table[name], one_hot))]
    rest = table.drop(columns=_left_out(unusable))
    missing = _missing(rest, target, drop_missing)
    rest = rest.drop(columns=_left_out(missing))
    # As if the rows were left out: some problems of columns would appear only then.
    rest = rest[rest.notna().all(axis=1)]
    if rest.empty:
        return [*unusable, *missing]
    rows = "rows without missing values" if len(rest) < len(table) else "rows"
    texts = [name for name in texts if name in rest]
    late = [_not_a_factor(rest[name], rows) or (None if one_hot else _factor(rest[name])) for name in texts]
    return [*unusable, *missing, *filter(None, late), *_infinite(rest.drop(columns=[target, *texts]))]


def _left_out(found: Iterable[Diagnostic]) -> list[str]:
    return [name for one in found for name in one.leave_out]


def _not_usable(column: pd.Series, one_hot: bool) -> Diagnostic | None:
    """Return what is wrong with a column that holds neither numbers nor words that several rows share."""
    is_text = column.dtype.kind == "O" and not holds_lists(column)
    is_factor = one_hot and is_text and _groups_rows(column)
    found = None if is_factor else not_numbers(column)
    if found is None:
        return _not_a_factor(column, "rows")
    advice = f"{found.advice}, or leave out the column by --force-out"
    return Diagnostic(f"the column {found.fact}", advice, (str(column.name),), decide=found.decide)


def _not_a_factor(column: pd.Series, rows: str) -> Diagnostic | None:
    """Return what is wrong with text that is nearly unique per row, or that is constant."""
    name, n_values = str(column.name), column.nunique()
    if n_values > 1 and _groups_rows(column):
        return None
    values = f"has {n_values} different values in {len(column)} {rows}, too many for {ONE_HOT}"
    if n_values == 1:
        values = f"is {str(column.dropna().iloc[0])!r} in all {rows}"
    return Diagnostic(f"the column {name!r} {values}", LEAVE_OUT, (name,))


def _groups_rows(column: pd.Series) -> bool:
    return bool(column.nunique() <= len(column) / 2)


def _factor(column: pd.Series) -> Diagnostic:
    fact = f"no numbers in the column {column.name!r}, such as {str(column.iloc[0])!r}"
    advice = f"{ONE_HOT} encodes text as columns of 0 and 1, --force-out leaves columns out"
    return Diagnostic(fact, advice, option=ONE_HOT)


def _missing(table: pd.DataFrame, target: str, drop: bool) -> list[Diagnostic]:
    missing = table.isna()
    rows, emptiest = int(missing.any(axis=1).sum()), _emptiest(missing, target)
    if not rows or (drop and not emptiest):
        return []
    advice = f"{DROP} leaves out these rows"
    if len(emptiest) == table.shape[1] - 1:
        advice = NOTHING
    elif emptiest:
        options = [*_force_out(emptiest, table.columns), *([] if drop else [DROP])]
        advice = f"{DROP} alone leaves only {len(table) - rows}; try: {' '.join(options)}"
    return [Diagnostic(missing_in_words(table), advice, tuple(emptiest), "" if drop else DROP)]


def _emptiest(missing: pd.DataFrame, target: str) -> list[str]:
    """Return the columns with the most missing values without which enough complete rows remain."""
    in_row = missing.sum(axis=1)
    out: list[str] = []
    order = missing.drop(columns=target).sum().sort_values(ascending=False, kind="stable")
    for name in order.index:
        if (in_row == 0).sum() >= FEWEST_ROWS:
            return out
        out.append(name)
        in_row -= missing[name]
    return out if (in_row == 0).sum() >= FEWEST_ROWS else []


def _infinite(numbers: pd.DataFrame) -> list[Diagnostic]:
    finite = np.isfinite(numbers.to_numpy(dtype=float)).all(axis=0)
    names = [str(name) for name in numbers.columns[~finite]]
    return [Diagnostic(f"infinite numbers in the column {name!r}", LEAVE_OUT, (name,)) for name in names]


def _suggestion(found: list[Diagnostic], columns: Collection[str], forced: Collection[str]) -> str:
    """Return the line with the options to try."""
    unfit = set(_left_out(found))
    undecided = {name: one.decide for one in found for name in one.leave_out if one.decide}
    if len(unfit) == len(columns) and not undecided:
        return NOTHING
    out = [name for name in columns if name in unfit and name not in undecided]
    options = [*_force_out(out, columns), *dict.fromkeys(one.option for one in found if one.option)]
    decide = " and ".join(dict.fromkeys(undecided.values()))
    options += [f"{'with ' if options else ''}{decide} for {quoted(undecided)}"] if undecided else []
    both = [name for name in out if name in forced]
    without = f", without {quoted(both)} in --force-in" if both else ""
    return f"try: {' '.join(options)}{without}"


def _force_out(names: list[str], columns: Collection[str]) -> list[str]:
    """Return the options, as a shell takes them, that leave out columns."""
    plain = [name for name in names if "," not in name]
    together = ",".join(plain)
    words = plain if together in columns else [together] if plain else []
    words = [*words, *(name for name in names if "," in name)]
    return [f"--force-out{'=' if word.startswith('-') else ' '}{quote(word)}" for word in words]
