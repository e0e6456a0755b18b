"""At most so many elements of each kind."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, as_count, is_missing, warn
from swapwise.constraints.laminar import Laminar


class Partition(Laminar):
    """At most ``capacity`` elements of each label: three sensors per site, one lag per signal.

    Parameters
    ----------
    labels : iterable of hashable
        One label for each element of the ground set: a list, an array, a pandas Series.
    capacity : int or mapping from label to int
        How many elements of each label may be chosen: a number for all, a dict or a pandas Series.

    Examples
    --------
    >>> from swapwise import Partition
    >>> sites = Partition(["roof", "roof", "cellar", "cellar"], 1)
    >>> sites.is_independent([0, 2]), sites.is_independent([0, 1])
    (True, False)

    A limit of its own for each label:

    >>> Partition(["roof", "roof", "cellar", "cellar"], {"roof": 2, "cellar": 0}).rank()
    2
    """

    def __init__(self, labels: Iterable[Hashable], capacity: int | Mapping[Hashable, int]) -> None:
        leaf, names = _encode(labels)
        self.n = len(leaf)
        self.labels = names
        self.capacity = _read_capacity(capacity, names)
        groups = len(names)
        self._set_tree(
            leaf=leaf + 1,
            end=np.concatenate([[groups + 1], np.arange(2, groups + 2)]).astype(np.intp),
            parent=np.zeros(groups + 1, dtype=np.intp),
            capacity=np.array([self.n, *self.capacity.values()], dtype=np.intp),
        )

    def __repr__(self) -> str:
        """Return a short description."""
        limits = set(self.capacity.values())
        capacity = limits.pop() if len(limits) == 1 else self.capacity
        return f"Partition(n={self.n}, {len(self.labels)} labels, capacity={capacity})"


def _encode(labels: Any) -> tuple[IndexArray, list[Hashable]]:
    if isinstance(labels, (str, Mapping)) or not isinstance(labels, Iterable) or hasattr(labels, "columns"):
        hint = "; for a mapping from feature to label, give [labels[name] for name in names]"
        raise TypeError(
            f"labels must be a flat collection with one label for each element, got a {type(labels).__name__}"
            f"{hint if isinstance(labels, Mapping) else ''}"
        )
    number: dict[Hashable, int] = {}
    codes = []
    for position, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise TypeError(f"labels must be hashable, got {label!r} at position {position}")
        if is_missing(label):
            raise ValueError(f"every element needs a label, got {label!r} at position {position}")
        codes.append(number.setdefault(label, len(number)))
    return np.array(codes, dtype=np.intp), list(number)


def _read_capacity(capacity: Any, names: list[Hashable]) -> dict[Hashable, int]:
    if not hasattr(capacity, "keys"):
        if not isinstance(capacity, (int, np.integer)):
            raise TypeError(
                f"capacity must be a non-negative integer, or a mapping from label to one, got {capacity!r}"
            )
        return dict.fromkeys(names, as_count(capacity, "capacity"))
    unused = set(capacity.keys()) - set(names)
    if unused:
        warn(f"no element has the label {unused.pop()!r} that capacity names")
    return {name: as_count(_capacity_of(name, capacity), f"the capacity of {name!r}") for name in names}


def _capacity_of(name: Hashable, capacity: Any) -> Any:
    try:
        return capacity[name]
    except (KeyError, IndexError):
        raise ValueError(f"capacity must name every label, but has none for {name!r}") from None
