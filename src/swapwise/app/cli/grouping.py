"""The group of each feature by its name: a prefix, or a match of a pattern."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.messages import quoted
from swapwise.checks import some_of, warn


def by_prefix(features: Sequence[str], end: str) -> dict[str, str]:
    """Return the group of each feature, the part of its name before ``end``, and note which there are."""
    if not any(end in name for name in features):
        raise BadInput(
            f"--groups-from-prefix is {end!r}, but no name has {end!r} in it: every feature would be a "
            "group of its own"
        )
    group_of = {name: name.partition(end)[0] for name in features}
    help_with_one = ""
    if any(name.count(end) > 1 for name in features):
        last = f"(.+){re.escape(end)}"
        help_with_one = f"; --groups-from-pattern {last!r} takes what comes before the last {end!r}"
    _note_groups(group_of, "prefix", help_with_one)
    return group_of


def by_pattern(features: Sequence[str], pattern: str) -> dict[str, str]:
    """Return the group of each feature, the match of a regular expression in its name, and note them.

    The match of the first parentheses counts, or the whole one if there are none.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(
            f"--groups-from-pattern must be a regular expression, got {pattern!r}: {error}"
        ) from None
    place = min(compiled.groups, 1)
    found = {name: match[place] for name in features if (match := compiled.search(name))}
    group_of = {name: group for name, group in found.items() if group}
    missing = [name for name in features if name not in group_of]
    if missing:
        raise BadInput(
            f"--groups-from-pattern {pattern!r} finds nothing in {quoted(missing)}, {len(missing)} of "
            f"{len(features)} features; let it match every name, or leave features out by --force-out"
        )
    _note_groups(group_of, "pattern", "")
    return group_of


def _note_groups(group_of: Mapping[str, str], by: str, help_with_one: str) -> None:
    """Note the groups that were made of names, and warn where they limit nothing."""
    sizes = Counter(group_of.values())
    if len(sizes) == 1 < len(group_of):
        warn(f"all {len(group_of)} features are in one group by {by}, {next(iter(sizes))!r}{help_with_one}")
    elif len(sizes) == len(group_of) > 1:
        warn(f"each of the {len(group_of)} features is a group of its own by {by}")
    else:
        listed = some_of([f"{group} ({count})" for group, count in sizes.items()])
        warn(f"{len(sizes)} group{'s' * (len(sizes) > 1)} by {by}: {listed}")
