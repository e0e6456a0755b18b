"""Files that say which feature is in which group."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.tables import require_file, usual_separator
from swapwise.cli.reading.text_files import read_cells
from swapwise.cli.reading.wording import hint, some_of

HEADER = ["feature", "group"]


def read_groups(path: Path, features: Sequence[str], left_out: Sequence[str] = ()) -> dict[str, str]:
    """Return the group of every feature, from lines such as ``feature,group``; others may be ``left_out``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "groups.csv"
    ...     _ = path.write_text("feature,group\\nx,roof\\ny,hall\\n")
    ...     read_groups(path, ["y", "x"])
    {'y': 'hall', 'x': 'roof'}
    """
    require_file(path)
    rows = read_cells(path, usual_separator(path))
    if len(rows[0]) != 2:
        raise BadInput(f"{path} must have two columns, feature and group, got {len(rows[0])}")
    known = {*features, *left_out}
    rows = _without_header(rows, known)
    _require_order(rows, known, path)
    group_of: dict[str, str] = {}
    for feature, group in rows:
        if feature not in known:
            raise BadInput(
                f"{path} names {feature!r}, which is no feature of the data{hint(feature, features)}"
            )
        if group_of.setdefault(feature, group) != group:
            raise BadInput(f"{path} puts {feature!r} into two groups, {group_of[feature]!r} and {group!r}")
    missing = [repr(feature) for feature in features if not group_of.get(feature)]
    if missing:
        raise BadInput(
            f"{path} has no group for {some_of(missing)}, {len(missing)} of {len(features)} features; name "
            "a group for each, which may be its own, or leave features out by --force-out"
        )
    return {feature: group_of[feature] for feature in features}


def _without_header(rows: list[list[str]], known: Collection[str]) -> list[list[str]]:
    """Return the rows less the first if that is a header: of known words, or above features alone."""
    first, *others = rows
    if first[0] in known:
        return rows
    is_header = [word.lower() for word in first] == HEADER
    return others if is_header or (others and all(row[0] in known for row in others)) else rows


def _require_order(rows: list[list[str]], known: Collection[str], path: Path) -> None:
    """Say so if the first column holds the groups, and the second the features."""
    n_first, n_second = (sum(row[place] in known for row in rows) for place in (0, 1))
    if 2 * n_first < len(rows) < 2 * n_second:
        raise BadInput(f"{path} must have features first and groups second, got them the other way round")
