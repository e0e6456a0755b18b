"""At most so many elements of each kind."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from swapwise.checks import IndexArray, as_count, is_missing
from swapwise.constraints.laminar import Laminar


class Partition(Laminar):
    """At most ``capacity`` elements of each label: three sensors per site, one lag per signal.

    Parameters
    ----------
    labels : iterable of hashable
        One label for each element of the ground set: a list, an array, a pandas Series.
    capacity : int or mapping from label to int
        How many elements of each label may be chosen.

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


def _encode(labels: Iterable[Hashable]) -> tuple[IndexArray, list[Hashable]]:
    if isinstance(labels, str):
        raise TypeError(f"labels must be one label for each element, got the single string {labels!r}")
    number: dict[Hashable, int] = {}
    codes = []
    for position, label in enumerate(labels):
        if is_missing(label):
            raise ValueError(f"every element needs a label, got {label!r} at position {position}")
        codes.append(number.setdefault(label, len(number)))
    return np.array(codes, dtype=np.intp), list(number)


def _read_capacity(capacity: int | Mapping[Hashable, int], names: list[Hashable]) -> dict[Hashable, int]:
    if not isinstance(capacity, Mapping):
        return dict.fromkeys(names, as_count(capacity, "capacity"))
    missing = [name for name in names if name not in capacity]
    if missing:
        raise ValueError(f"capacity must name every label, but has none for {missing[0]!r}")
    used = set(names)
    unused = [name for name in capacity if name not in used]
    if unused:
        warnings.warn(f"no element has the label {unused[0]!r} that capacity names", stacklevel=3)
    return {name: as_count(capacity[name], f"the capacity of {name!r}") for name in names}
