"""The constraints of a path: one per size, or per capacity of the groups of a partition."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import as_count, warn
from swapwise.constraints.base import Constraint
from swapwise.constraints.partition import Partition
from swapwise.constraints.uniform import Uniform
from swapwise.estimators.ground_set import GroundSet, resolve_constraint, with_forced

ALONG = ("size", "capacity")


class GrowingFamily(NamedTuple):
    """Constraints by size, and the sizes there are."""

    of_size: Callable[[int], Constraint]
    #: Smaller sizes miss a lower limit, larger ones allow no more
    least: int
    possible: int
    #: The largest one to try by default
    largest: int


LARGEST_DEFAULT_SIZE = 20


def growing_constraints(
    constraint: Any, sizes: Any, along: str, forced: Any, ground: GroundSet, n_samples: int
) -> dict[int, Constraint]:
    """Return the constraint of every size, in rising order, with forced elements in it."""
    if along not in ALONG:
        raise ValueError(f"along must be 'size' or 'capacity', got {along!r}")
    base = Uniform(ground.n, ground.n) if constraint is None else resolve_constraint(constraint, ground)
    n_forced = 0 if forced is None else len(ground.find(forced, "forced"))
    if along == "capacity":
        growth = _by_capacity(base, n_samples)
    else:
        growth = _by_size(base, max(n_forced, _largest_size(n_samples, ground.n)))
    wanted: Iterable[int] = range(max(1, growth.least), max(growth.largest, growth.least) + 1)
    if sizes is not None:
        wanted = _large_enough(_read_sizes(sizes), growth.least, along)
    limits = {size: growth.of_size(size) for size in sorted({min(size, growth.possible) for size in wanted})}
    if n_forced:
        limits = _with_room(limits, forced, ground, warns=sizes is not None)
    return {size: with_forced(limit, forced, ground) for size, limit in limits.items()}


def _largest_size(n_samples: int, n_elements: int) -> int:
    """Return the largest size to try by default.

    With many elements to choose from, the best sets of more than about n / (log p · log log n) fit noise, and
    information criteria never stop (Zhu et al., PNAS 117 (2020), take the same).
    """
    noise = math.log(max(n_elements, 2)) * math.log(math.log(max(n_samples, 16)))
    return max(1, min(LARGEST_DEFAULT_SIZE, n_samples // 2, int(n_samples / noise)))


def _by_size(base: Constraint, most: int) -> GrowingFamily:
    """Return the truncations of a constraint; ``most`` is the largest size by default."""
    possible, smallest = base.max_size(), base.completed(base.forced, np.zeros(base.n))
    largest = max(1, min(most, possible))
    if isinstance(base, Uniform) and not base.at_least:
        return GrowingFamily(lambda size: Uniform(base.n, size), 0, possible, largest)
    return GrowingFamily(base.truncate, len(smallest), possible, largest)


def _by_capacity(base: Constraint, n_samples: int) -> GrowingFamily:
    if not isinstance(base, Partition):
        raise TypeError(f"along='capacity' needs a sw.Partition, whose capacities it varies, got {base!r}")
    of_element = base.element_labels
    labels = of_element if base.names is None else dict(zip(base.names, of_element, strict=True))
    fullest = max(map(of_element.count, base.labels), default=1)
    room = n_samples // 2 // max(1, len(base.labels))  # for each label, if the others are as full
    largest = max(1, min(LARGEST_DEFAULT_SIZE, fullest, room))
    least = max(base.at_least.values(), default=0)
    return GrowingFamily(
        lambda size: Partition(labels, size, base.at_least, base.size), least, fullest, largest
    )


def _read_sizes(sizes: Any) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be whole numbers such as range(1, 11), got {sizes!r}")
    wanted = sorted({as_count(size, "a value of sizes") for size in sizes})
    if not wanted:
        raise ValueError("sizes must hold at least one number, got none")
    return wanted


def _large_enough(sizes: list[int], least: int, along: str) -> list[int]:
    enough = [size for size in sizes if size >= least]
    missing = sizes[: len(sizes) - len(enough)]
    kind, what = ("sizes", "all lower limits need") if along == "size" else ("capacities", "a limit needs")
    why = f"below {least}, as many as {what}"
    if not enough:
        raise ValueError(f"the {kind} {missing} are all {why}")
    if missing:
        warn(f"the {kind} {missing} are left out, as they are {why}")
    return enough


def _with_room(
    limits: dict[int, Constraint], forced: Any, ground: GroundSet, warns: bool
) -> dict[int, Constraint]:
    support = ground.find(forced, "forced")
    roomy = {size: limit for size, limit in limits.items() if limit.is_independent(limit.required(support))}
    missing = [size for size in limits if size not in roomy]
    why = f"leave no room for what is forced in, which counts: {list(forced)!r}"
    if not roomy:
        raise ValueError(f"the sizes {missing} {why}")
    if missing and warns:
        warn(f"the sizes {missing} are left out, as they {why}")
    return roomy
