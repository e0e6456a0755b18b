"""What may be chosen together, as the options of ``swapwise select`` say it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from swapwise.cli.failures import BadInput
from swapwise.cli.reading.groups import read_groups

if TYPE_CHECKING:
    from swapwise.constraints.base import IndependenceSystem
    from swapwise.constraints.partition import Partition

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
        """Refuse options that do not go together, and limits that allow nothing.

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
    ) -> tuple[IndependenceSystem | None, dict[str, str] | None]:
        """Return the sets of features that are allowed, None for all, and the group of each feature.

        Files of groups may name features that are ``left_out``. Those that are ``forced`` must be allowed
        together.

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
        limited = first if self.size is None else first.truncate(self.size)
        if self.and_groups is None:
            return limited, group_of
        other_group_of, most = read_groups(self.and_groups, features, left_out), self.and_per_group or 1
        _require_room(forced, other_group_of, most, "--and-per-group")
        return Intersection(limited, Partition(other_group_of, most)), group_of

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
    """Say which group has more forced features than are allowed of it."""
    for group, count in Counter(group_of[name] for name in forced).items():
        if count > most:
            raise BadInput(
                f"--force-in names {count} features of group {group!r}, but at most {most} of each "
                f"{'is' if most == 1 else 'are'} allowed; {option} {count} allows them"
            )
