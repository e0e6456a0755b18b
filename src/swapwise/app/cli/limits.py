"""The limits that ``swapwise select`` takes as options, checked together, and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.options import LIMITS, flag, limit

# Without a limit, all features would be chosen.
DEFAULT_SIZE = 10

GROUPINGS = "--groups, --groups-from-prefix or --groups-from-pattern"


class Heredity(StrEnum):
    """Whether products need all of their factors, or one of them."""

    STRONG = "strong"
    WEAK = "weak"


@dataclass(frozen=True)
class LimitOptions:
    """The options of ``swapwise select`` that limit the choice."""

    size: Annotated[
        int | None,
        limit(
            f"Maximum number of features; {DEFAULT_SIZE} by default, unless groups or a budget limit them.",
            "NUMBER",
        ),
    ] = None
    exactly: Annotated[
        int | None,
        limit("Exactly this many features in all; per group: --per-group N --at-least N.", "NUMBER"),
    ] = None
    at_least: Annotated[
        int | None, limit("Minimum number of features per group; in all, if there are no groups.", "NUMBER")
    ] = None
    groups: Annotated[
        Path | None,
        limit(
            "Groups to limit: a CSV with two columns, feature and group, one line per feature.",
            "FILE",
            "--groups",
            "--limit-by",
        ),
    ] = None
    groups_from_prefix: Annotated[
        str | None, limit("Groups by prefix: the part of a name before this, such as _.", "TEXT")
    ] = None
    groups_from_pattern: Annotated[
        str | None,
        limit(
            "Groups by regular expression: its match in a name, or that of its first parentheses.", "REGEX"
        ),
    ] = None
    per_group: Annotated[
        int | None,
        limit(
            "Maximum number of features per group; 1 by default, any with --at-least or --few-groups.",
            "NUMBER",
        ),
    ] = None
    few_groups: Annotated[int | None, limit("Features from at most this many groups.", "NUMBER")] = None
    and_groups: Annotated[Path | None, limit("A second CSV of groups to limit.", "FILE")] = None
    and_per_group: Annotated[
        int | None, limit("Maximum number per group of --and-groups; 1 by default.", "NUMBER")
    ] = None
    whole_groups: Annotated[
        Path | None,
        limit("Groups chosen whole or not at all, which count once: a CSV of feature and group.", "FILE"),
    ] = None
    #: Each item is two or more names with commas between them
    not_both: Annotated[
        list[str] | None, limit("At most one of these features: a,b; can be given several times.", "NAMES")
    ] = None
    not_both_above: Annotated[
        float | None, limit("No two features with an absolute correlation above this, such as 0.9.", "NUMBER")
    ] = None
    costs: Annotated[
        Path | None, limit("A CSV with two columns, feature and cost, for --budget.", "FILE")
    ] = None
    budget: Annotated[float | None, limit("Maximum total cost of the chosen features.", "NUMBER")] = None
    hierarchy: Annotated[
        Heredity | None,
        limit("Products a:b and powers a^2 only with all of their factors, or (weak) at least one."),
    ] = None
    product_sign: Annotated[
        str | None, limit("Sign between factors in names; : by default, or a blank.", "TEXT")
    ] = None
    #: On coefficients, as are the bounds
    positive: Annotated[bool, flag("No negative coefficients.", "--positive", panel=LIMITS)] = False
    bounds: Annotated[
        Path | None,
        limit("Bounds on coefficients: a CSV of feature, lower and upper, empty for none.", "FILE"),
    ] = None

    @property
    def has_groups(self) -> bool:
        return bool(self._groupings)

    @property
    def _groupings(self) -> list[str]:
        given = {
            "--groups": self.groups,
            "--groups-from-prefix": self.groups_from_prefix,
            "--groups-from-pattern": self.groups_from_pattern,
        }
        return [option for option, value in given.items() if value is not None]

    @property
    def most_per_group(self) -> int | None:
        """The largest number per group, None for any: 1 if no other option limits groups.

        >>> LimitOptions(groups_from_prefix="_").most_per_group
        1
        """
        if self.per_group is not None or not self.has_groups:
            return self.per_group
        return 1 if self.at_least is None and self.few_groups is None else None

    @property
    def in_all(self) -> tuple[int, int | None]:
        """The smallest and the largest number of features in all, None for any.

        >>> LimitOptions(exactly=3).in_all, LimitOptions(at_least=2).in_all
        ((3, 3), (2, None))
        """
        if self.exactly is not None:
            return self.exactly, self.exactly
        return 0 if self.has_groups else self.at_least or 0, self.size

    @property
    def size_option(self) -> str:
        """The option that limits the number of features in all."""
        return "--size" if self.exactly is None else "--exactly"

    @property
    def needs_size(self) -> bool:
        """Whether nothing else keeps all features from being chosen."""
        return self.in_all[1] is None and self.most_per_group is None and self.budget is None

    @property
    def files(self) -> list[Path | None]:
        return [self.groups, self.and_groups, self.whole_groups, self.costs, self.bounds]

    def check(self) -> None:
        self._check_groups()
        self._check_others()
        counts = ("size", "exactly", "per_group", "and_per_group", "at_least", "few_groups")
        for name in counts:
            number = getattr(self, name)
            if number is not None and number < 1:
                raise BadInput(f"--{name.replace('_', '-')} must be at least 1, got {number}")
        if self.not_both_above is not None and not 0 <= self.not_both_above < 1:
            raise BadInput(
                "--not-both-above must be at least 0 and below 1, as correlations are, got "
                f"{self.not_both_above:g}"
            )
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise BadInput(f"--budget must be a number of at least 0, got {self.budget:g}")
        self._check_lower_limits()

    def _check_groups(self) -> None:
        if len(self._groupings) > 1:
            raise typer.BadParameter(f"give {' or '.join(self._groupings)}, not both")
        for option, value in {
            "--per-group": self.per_group,
            "--and-groups": self.and_groups,
            "--few-groups": self.few_groups,
        }.items():
            if value is not None and not self.has_groups:
                raise typer.BadParameter(f"{option} needs {GROUPINGS} beside it")
        if self.and_per_group is not None and self.and_groups is None:
            raise typer.BadParameter("--and-per-group needs --and-groups")
        if self.groups_from_prefix == "":
            raise typer.BadParameter(
                "--groups-from-prefix must be the sign that ends the prefix, such as _; got nothing"
            )
        if self.at_least is not None and self.few_groups is not None:
            raise typer.BadParameter(
                "--at-least asks for features of every group, --few-groups for features of some: give one of "
                "them"
            )

    def _check_others(self) -> None:
        if self.size is not None and self.exactly is not None:
            raise typer.BadParameter("give --size, a maximum, or --exactly, not both")
        if self.costs is None and self.budget is not None:
            raise typer.BadParameter("--budget needs --costs, a file with the cost of each feature")
        if self.costs is not None and self.budget is None:
            raise typer.BadParameter("--costs needs --budget, the maximum total cost")
        if self.product_sign is not None and self.hierarchy is None:
            raise typer.BadParameter("--product-sign needs --hierarchy")
        if self.product_sign == "":
            raise typer.BadParameter("--product-sign must be the sign between factors, got nothing")
        if self.hierarchy is not None and self.whole_groups is not None:
            raise typer.BadParameter(
                "--hierarchy chooses products one by one, which does not go with --whole-groups"
            )

    def _check_lower_limits(self) -> None:
        if self.at_least is None:
            return
        option, most = "--per-group", self.per_group
        if not self.has_groups:
            option, most = self.size_option, self.in_all[1]
        if most is not None and self.at_least > most:
            raise BadInput(
                f"--at-least is {self.at_least}, but {option} allows no more than {most}; {option} "
                f"{self.at_least} or more allows them"
            )

    def in_words(self) -> str:
        """Return the limits for people.

        >>> LimitOptions(size=5, groups_from_prefix="_", per_group=2).in_words()
        "at most 2 of each prefix before '_', at most 5 in all"
        >>> LimitOptions(groups_from_pattern="^[a-z]+", per_group=2, at_least=1, not_both=["a,b"]).in_words()
        "1 to 2 of each group by '^[a-z]+', not both of a and b"
        """
        words = []
        if self.whole_groups is not None:
            words.append(f"groups of {self.whole_groups} whole or not at all (each counts once)")
        if self.has_groups:
            words += self._groups_in_words()
        if self.and_groups is not None:
            words.append(f"at most {self.and_per_group or 1} of each group of {self.and_groups}")
        for text in self.not_both or []:
            *others, last = [name.strip() for name in text.split(",")]
            kind = "not both of" if len(others) == 1 else "no two of"
            words.append(f"{kind} {', '.join(others)} and {last}")
        if self.not_both_above is not None:
            words.append(f"no two that are correlated above {self.not_both_above:g}")
        if self.budget is not None:
            words.append(f"costs of {self.costs} within {self.budget:.12g}")
        if self.hierarchy is not None:
            needed = "all of" if self.hierarchy is Heredity.STRONG else "one or more of"
            words.append(f"products only with {needed} their factors")
        if self.positive:
            words.append("coefficients of at least 0")
        if self.bounds is not None:
            words.append(f"coefficients within {self.bounds}")
        least, most = self.in_all
        if least or most is not None:
            words.append(f"{_between(least, most)} in all")
        return ", ".join(words)

    def _groups_in_words(self) -> list[str]:
        if self.groups is not None:
            each, several = f"group of {self.groups}", f"groups of {self.groups}"
        elif self.groups_from_prefix is not None:
            each, several = (f"{word} before {self.groups_from_prefix!r}" for word in ("prefix", "prefixes"))
        else:
            each, several = (f"{word} by {self.groups_from_pattern!r}" for word in ("group", "groups"))
        words = []
        if self.few_groups is not None:
            words.append(f"from at most {self.few_groups} of the {several}")
        if self.at_least is not None or self.most_per_group is not None:
            words.append(f"{_between(self.at_least or 0, self.most_per_group)} of each {each}")
        return words


def _between(least: int, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    if not least:
        return f"at most {most}"
    return f"exactly {most}" if least == most else f"{least} to {most}"
