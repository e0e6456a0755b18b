"""Files about features: the group of each, its cost, or bounds on its coefficient."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import hint, quoted
from swapwise.app.cli.reading.tables import require_file, usual_separator
from swapwise.app.cli.reading.text_files import read_cells
from swapwise.checks import some_of


def read_groups(
    path: Path, features: Sequence[str], left_out: Sequence[str] = (), *, partial: bool = False
) -> dict[str, str]:
    """Return the group of every feature, from lines ``feature,group``; others may be ``left_out``.

    A ``partial`` file need not name all features, and those that it does not are left out.
    """
    words = _cells_by_feature(path, ("feature", "group"), features, left_out)
    group_of = {feature: group for feature, (group,) in words.items()}
    missing = [repr(feature) for feature in features if not group_of.get(feature)]
    if missing and not partial:
        raise BadInput(
            f"{path} has no group for {some_of(missing)}, {len(missing)} of {len(features)} features; name "
            "a group for each, which may be its own, or leave features out by --force-out"
        )
    return {feature: group_of[feature] for feature in features if group_of.get(feature)}


def read_costs(path: Path, features: Sequence[str], left_out: Sequence[str] = ()) -> dict[str, float]:
    """Return the cost of every feature, from lines ``feature,cost``; others may be ``left_out``."""
    words = _cells_by_feature(path, ("feature", "cost"), features, left_out)
    missing = [feature for feature in features if words.get(feature, ("",)) == ("",)]
    if missing:
        raise BadInput(
            f"{path} has no cost for {quoted(missing)}, {len(missing)} of {len(features)} features; name a "
            "cost for each, which may be 0, or leave features out by --force-out"
        )
    costs = {feature: _number(words[feature][0]) for feature in features}
    for feature, cost in costs.items():
        if not 0 <= cost < math.inf:
            got = words[feature][0]
            raise BadInput(f"{path}: the cost of {feature!r} must be a number of at least 0, got {got!r}")
    return costs


def read_bounds(
    path: Path, features: Sequence[str], left_out: Sequence[str] = ()
) -> dict[str, tuple[float | None, float | None]]:
    """Return bounds on coefficients, from lines ``feature,lower,upper``; None where a cell is empty."""
    bounds = {}
    for feature, pair in _cells_by_feature(path, ("feature", "lower", "upper"), features, left_out).items():
        lower, upper = (None if word == "" else _number(word) for word in pair)
        for word, bound in zip(pair, (lower, upper), strict=True):
            if bound is not None and not math.isfinite(bound):
                raise BadInput(
                    f"{path}: the bounds of {feature!r} must be numbers, or empty for none, got {word!r}"
                )
        if (lower or 0.0) > 0 or (upper or 0.0) < 0:
            raise BadInput(
                f"{path}: the bounds of {feature!r} must hold 0, the coefficient of features that are not "
                f"chosen, got {' to '.join(pair)}"
            )
        if feature not in left_out:
            bounds[feature] = lower, upper
    return bounds


def _number(word: str) -> float:
    """Parse a number with a decimal point or comma; NaN if it is none."""
    try:
        return float(word.replace(",", "."))
    except ValueError:
        return math.nan


def _cells_by_feature(
    path: Path, header: tuple[str, ...], features: Sequence[str], left_out: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the other cells of each feature's line; the feature is in its first column."""
    require_file(path)
    rows = read_cells(path, usual_separator(path))
    if len(rows[0]) != len(header):
        wanted = (
            f"{'two' if len(header) == 2 else 'three'} columns, {', '.join(header[:-1])} and {header[-1]}"
        )
        raise BadInput(f"{path} must have {wanted}, got {len(rows[0])}")
    known = {*features, *left_out}
    rows = _without_header(rows, header, known)
    if len(header) == 2:
        _require_order(rows, header[-1], known, path)
    words_of: dict[str, tuple[str, ...]] = {}
    for feature, *words in rows:
        if feature not in known:
            raise BadInput(
                f"{path} names {feature!r}, which is not a feature of the data{hint(feature, features)}"
            )
        if words_of.setdefault(feature, tuple(words)) != tuple(words):
            clash = (
                f"puts {feature!r} into two groups" if header[-1] == "group" else f"names {feature!r} twice"
            )
            raise BadInput(f"{path} {clash}, {_shown(words_of[feature])} and {_shown(words)}")
    return words_of


def _shown(words: Sequence[str]) -> str:
    return repr(",".join(words))


def _without_header(
    rows: list[list[str]], header: tuple[str, ...], known: Collection[str]
) -> list[list[str]]:
    """Return the rows without the header: the known words, or a first row above features alone."""
    first, *others = rows
    if first[0] in known:
        return rows
    is_header = tuple(word.lower() for word in first) == header
    return others if is_header or (others and all(row[0] in known for row in others)) else rows


def _require_order(rows: list[list[str]], what: str, known: Collection[str], path: Path) -> None:
    """Refuse a file with the groups or costs in the first column, and the features in the second."""
    n_first, n_second = (sum(row[place] in known for row in rows) for place in (0, 1))
    if 2 * n_first < len(rows) < 2 * n_second:
        raise BadInput(f"{path} must have features first and {what}s second, got them the other way round")
