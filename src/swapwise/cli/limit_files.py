"""Files that say something about each feature: its group, or what it costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.messages import hint, quoted, some_of
from swapwise.cli.reading.numerals import WITH_COMMAS, WITH_POINTS
from swapwise.cli.reading.tables import require_file, usual_separator
from swapwise.cli.reading.text_files import read_cells


def read_groups(
    path: Path, features: Sequence[str], left_out: Sequence[str] = (), *, partial: bool = False
) -> dict[str, str]:
    """Return the group of every feature, from lines such as ``feature,group``; others may be ``left_out``.

    In a ``partial`` file, features that it does not name are groups of their own.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "groups.csv"
    ...     _ = path.write_text("feature,group\\nx,roof\\ny,hall\\n")
    ...     read_groups(path, ["y", "x"])
    {'y': 'hall', 'x': 'roof'}
    """
    group_of = _words_of_features(path, ("feature", "group"), features, left_out)
    missing = [repr(feature) for feature in features if not group_of.get(feature)]
    if missing and not partial:
        raise BadInput(
            f"{path} has no group for {some_of(missing)}, {len(missing)} of {len(features)} features; name "
            "a group for each, which may be its own, or leave features out by --force-out"
        )
    return {feature: group_of.get(feature) or feature for feature in features}


def read_costs(path: Path, features: Sequence[str], left_out: Sequence[str] = ()) -> dict[str, float]:
    """Return what every feature costs, from lines such as ``feature,cost``; others may be ``left_out``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "costs.csv"
    ...     _ = path.write_text("feature,cost\\nx,2.5\\ny,0\\n")
    ...     read_costs(path, ["y", "x"])
    {'y': 0.0, 'x': 2.5}
    """
    words = _words_of_features(path, ("feature", "cost"), features, left_out)
    missing = [feature for feature in features if not words.get(feature)]
    if missing:
        raise BadInput(
            f"{path} has no cost for {quoted(missing)}, {len(missing)} of {len(features)} features; name a "
            "cost for each, which may be 0, or leave features out by --force-out"
        )
    return {feature: _cost(words[feature], feature, path) for feature in features}


def _cost(word: str, feature: str, path: Path) -> float:
    """Return the number that a word stands for, be it with a decimal point or a comma."""
    style = next((style for style in (*WITH_POINTS, *WITH_COMMAS) if style.is_plain(word)), None)
    cost = math.nan if style is None else style.value(word)
    if not 0 <= cost < math.inf:
        raise BadInput(f"{path}: the cost of {feature!r} must be a number of at least 0, got {word!r}")
    return cost


def _words_of_features(
    path: Path, header: tuple[str, str], features: Sequence[str], left_out: Sequence[str]
) -> dict[str, str]:
    """Return what a file of two columns says of each feature that it names."""
    require_file(path)
    rows = read_cells(path, usual_separator(path))
    _, what = header
    if len(rows[0]) != 2:
        raise BadInput(f"{path} must have two columns, feature and {what}, got {len(rows[0])}")
    known = {*features, *left_out}
    rows = _without_header(rows, header, known)
    _require_order(rows, what, known, path)
    said: dict[str, str] = {}
    for feature, word in rows:
        if feature not in known:
            raise BadInput(
                f"{path} names {feature!r}, which is no feature of the data{hint(feature, features)}"
            )
        if said.setdefault(feature, word) != word:
            says = f"puts {feature!r} into" if what == "group" else f"has {feature!r} with"
            raise BadInput(f"{path} {says} two {what}s, {said[feature]!r} and {word!r}")
    return said


def _without_header(
    rows: list[list[str]], header: tuple[str, str], known: Collection[str]
) -> list[list[str]]:
    """Return the rows less the first if that is a header: of known words, or above features alone."""
    first, *others = rows
    if first[0] in known:
        return rows
    is_header = tuple(word.lower() for word in first) == header
    return others if is_header or (others and all(row[0] in known for row in others)) else rows


def _require_order(rows: list[list[str]], what: str, known: Collection[str], path: Path) -> None:
    """Say so if the first column holds the groups or costs, and the second the features."""
    n_first, n_second = (sum(row[place] in known for row in rows) for place in (0, 1))
    if 2 * n_first < len(rows) < 2 * n_second:
        raise BadInput(f"{path} must have features first and {what}s second, got them the other way round")
