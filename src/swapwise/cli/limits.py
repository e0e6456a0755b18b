"""Limits on what is chosen: the options of ``swapwise select`` as a constraint, and files of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.messages import hint, some_of
from swapwise.cli.reading.tables import require_file, usual_separator
from swapwise.cli.reading.text_files import read_cells

if TYPE_CHECKING:
    from swapwise.constraints.base import Constraint
    from swapwise.constraints.partition import Partition

# The header that a file of groups may have.
HEADER = ["feature", "group"]

# Without any limit, the best choice would be to choose all.
DEFAULT_SIZE = 10


@dataclass(frozen=True)
class Limits:
    """The limits that a user asked for."""

    size: int | None = None
    groups: Path | None = None
    groups_from_prefix: str | None = None
    per_group: int | None = None
    and_groups: Path | None = None
    and_per_group: int | None = None

    @property
    def has_groups(self) -> bool:
        """Whether the features are in groups.

        >>> Limits(size=3).has_groups
        False
        """
        return self.groups is not None or self.groups_from_prefix is not None

    def check(self) -> None:
        """Refuse options that do not go together, and limits below 1.

        >>> Limits(size=0).check()
        Traceback (most recent call last):
        ...
        swapwise.cli.failures.BadInput: --size must be at least 1, got 0
        """
        if self.groups is not None and self.groups_from_prefix is not None:
            raise typer.BadParameter("give --groups or --groups-from-prefix, not both")
        if self.per_group is not None and not self.has_groups:
            raise typer.BadParameter("--per-group needs --groups or --groups-from-prefix")
        if self.and_groups is not None and not self.has_groups:
            raise typer.BadParameter("--and-groups needs --groups or --groups-from-prefix beside it")
        if self.and_per_group is not None and self.and_groups is None:
            raise typer.BadParameter("--and-per-group needs --and-groups")
        if self.groups_from_prefix == "":
            raise typer.BadParameter(
                "--groups-from-prefix must be what ends the prefix, such as _; got nothing"
            )
        numbers = {"size": self.size, "per-group": self.per_group, "and-per-group": self.and_per_group}
        for name, number in numbers.items():
            if number is not None and number < 1:
                raise BadInput(f"--{name} must be at least 1, got {number}")

    def constraint(
        self, features: Sequence[str], left_out: Sequence[str] = (), forced: Sequence[str] = ()
    ) -> tuple[Constraint | None, dict[str, str] | None]:
        """Return the constraint on the features, None for no limit, and the group of each feature.

        Files of groups may name features that are ``left_out``. Those that are ``forced`` must be
        independent together.

        >>> limits = Limits(groups_from_prefix="_", per_group=1)
        >>> limits.constraint(["roof_1", "roof_2", "hall_1"])[0]
        Partition(n=3, 2 labels, capacity=1)
        >>> limits.constraint(["roof_1", "roof_2", "hall_1"], forced=["roof_1", "roof_2"])
        Traceback (most recent call last):
        ...
        swapwise.cli.failures.BadInput: --force-in names 2 features of group 'roof', but at most 1 of each is
        allowed; --per-group 2 allows them
        """
        from swapwise.constraints.intersection import Intersection
        from swapwise.constraints.partition import Partition
        from swapwise.constraints.uniform import Uniform

        self._require_size(len(features), len(forced))
        if not self.has_groups:
            return (None if self.size is None else Uniform(len(features), self.size)), None
        first = self._partition(features, left_out)
        group_of = dict(zip(features, map(str, first.element_labels), strict=True))
        _require_room(forced, group_of, self.per_group or 1, "--per-group")
        if self.and_groups is None:
            return (first if self.size is None else first.truncate(self.size)), group_of
        other_group_of, most = read_groups(self.and_groups, features, left_out), self.and_per_group or 1
        _require_room(forced, other_group_of, most, "--and-per-group")
        parts = [first, Partition(other_group_of, most)]
        if self.size is not None:  # a part of its own: moves under a truncated partition are far more
            return Intersection(*parts, Uniform(len(features), self.size)), group_of
        return Intersection(*parts), group_of

    def _require_size(self, n_features: int, n_forced: int) -> None:
        if self.size is None:
            return
        if self.size > n_features:
            raise BadInput(f"--size is {self.size}, but there are only {n_features} features to choose from")
        if self.size < n_forced:
            raise BadInput(
                f"--force-in names {n_forced} features, but at most {self.size} in all are allowed; --size "
                f"{n_forced} allows them"
            )

    def _partition(self, features: Sequence[str], left_out: Sequence[str]) -> Partition:
        from swapwise.constraints.partition import Partition

        most = self.per_group or 1
        if self.groups is not None:
            return Partition(read_groups(self.groups, features, left_out), most)
        end = self.groups_from_prefix or ""
        if not any(end in name for name in features):
            raise BadInput(
                f"--groups-from-prefix is {end!r}, but no name has {end!r} in it: every feature would be a "
                "group of its own"
            )
        return Partition.from_columns(features, end, most)

    def in_words(self) -> str:
        """Return what may be chosen, for people.

        >>> Limits(size=5, groups_from_prefix="_", per_group=2).in_words()
        "at most 2 of each prefix before '_', at most 5 in all"
        """
        words = []
        if self.groups is not None:
            words.append(f"at most {self.per_group or 1} of each group of {self.groups}")
        if self.groups_from_prefix is not None:
            words.append(f"at most {self.per_group or 1} of each prefix before {self.groups_from_prefix!r}")
        if self.and_groups is not None:
            words.append(f"at most {self.and_per_group or 1} of each group of {self.and_groups}")
        if self.size is not None:
            words.append(f"at most {self.size} in all")
        return ", ".join(words)


def _require_room(forced: Sequence[str], group_of: Mapping[str, str], most: int, option: str) -> None:
    """Refuse more forced features of a group than its limit."""
    for group, count in Counter(group_of[name] for name in forced).items():
        if count > most:
            raise BadInput(
                f"--force-in names {count} features of group {group!r}, but at most {most} of each "
                f"{'is' if most == 1 else 'are'} allowed; {option} {count} allows them"
            )


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
