"""The constraints of a path: one for every size, or for every capacity of the groups of a partition."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from swapwise.checks import as_count, warn
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.partition import Partition
from swapwise.constraints.uniform import Uniform
from swapwise.estimators.constraint_of import Elements, resolve_constraint, with_forced

ALONG = ("size", "capacity")

# What makes a constraint of a size, the largest size there is, and that to try by default
Growth = tuple[Callable[[int], Constraint], int, int]

LARGEST_DEFAULT_SIZE = 20


def growing_constraints(
    constraint: Any, sizes: Any, along: str, forced: Any, elements: Elements, n_samples: int
) -> dict[int, Constraint]:
    """Return the constraint of every size, in rising order, with what is forced in.

    >>> growing_constraints(None, [3, 1], "size", None, Elements.of(None, 5), 100)
    {1: Uniform(n=5, k=1), 3: Uniform(n=5, k=3)}
    >>> pairs = Partition(["a", "a", "b", "b"], 1)
    >>> list(growing_constraints(pairs, None, "capacity", None, Elements.of(None, 4), 100))
    [1, 2]
    """
    if along not in ALONG:
        raise ValueError(f"along must be 'size' or 'capacity', got {along!r}")
    base = Uniform(elements.n, elements.n) if constraint is None else resolve_constraint(constraint, elements)
    n_forced = 0 if forced is None else len(elements.find(forced, "forced"))
    if along == "capacity":
        family, possible, largest = _by_capacity(base, n_samples)
    else:
        family, possible, largest = _by_size(base, max(n_forced, _largest_size(n_samples)))
    wanted = range(1, largest + 1) if sizes is None else _read_sizes(sizes)
    limits = {size: family(size) for size in sorted({min(size, possible) for size in wanted})}
    if n_forced:
        limits = _with_room(limits, forced, elements, tell=sizes is not None)
    return {size: with_forced(limit, forced, elements) for size, limit in limits.items()}


def _largest_size(n_samples: int) -> int:
    return max(1, min(LARGEST_DEFAULT_SIZE, n_samples // 2))


def _by_size(base: Constraint, most: int) -> Growth:
    """Return what makes a constraint of a size, the largest size there is, and that to try by default."""
    if not isinstance(base, Matroid):
        raise TypeError(
            "a path over sizes needs a constraint that can be truncated: None, an int or a matroid such as "
            f"sw.Partition; got {base!r}. (In an intersection, truncate one matroid yourself for each size, "
            "and choose by GridSearchCV over the constraint of the plain estimator.)"
        )
    possible = base.max_size()
    largest = max(1, min(most, possible))
    if isinstance(base, Uniform):
        return lambda size: Uniform(base.n, size), possible, largest
    return base.truncate, possible, largest


def _by_capacity(base: Constraint, n_samples: int) -> Growth:
    if not isinstance(base, Partition):
        raise TypeError(f"along='capacity' needs a sw.Partition, whose capacities it varies, got {base!r}")
    of_element = base.element_labels
    labels = of_element if base.names is None else dict(zip(base.names, of_element, strict=True))
    fullest = max(map(of_element.count, base.labels), default=1)
    room = n_samples // 2 // max(1, len(base.labels))  # for each label, if the others are as full
    largest = max(1, min(LARGEST_DEFAULT_SIZE, fullest, room))
    return lambda size: Partition(labels, size), fullest, largest


def _read_sizes(sizes: Any) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be whole numbers such as range(1, 11), got {sizes!r}")
    wanted = sorted({as_count(size, "a value of sizes") for size in sizes})
    if not wanted:
        raise ValueError("sizes must hold at least one number, got none")
    return wanted


def _with_room(
    limits: dict[int, Constraint], forced: Any, elements: Elements, tell: bool
) -> dict[int, Constraint]:
    """Leave out the sizes that the forced elements do not fit into."""
    support = elements.find(forced, "forced")
    roomy = {size: limit for size, limit in limits.items() if limit.is_independent(support)}
    missing = [size for size in limits if size not in roomy]
    why = f"leave no room for what is forced in, which counts: {list(forced)!r}"
    if not roomy:
        raise ValueError(f"the sizes {missing} {why}")
    if missing and tell:
        warn(f"the sizes {missing} are left out, as they {why}")
    return roomy
