"""A limit on the number of elements of each kind."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from operator import itemgetter
from typing import Any, Self

import numpy as np

from swapwise.checks import IndexArray, as_count, is_missing, warn
from swapwise.constraints.base import names_of
from swapwise.constraints.kinds import LaminarTree
from swapwise.constraints.laminar import Laminar
from swapwise.override import override


class Partition(Laminar):
    """At most ``capacity`` elements per label, and at least ``at_least``: three sensors per site, say.

    Parameters
    ----------
    labels : iterable of hashable, or mapping from name or position to hashable
        One label for each element of the ground set: a list, an array, a dict, a pandas Series. The keys of
        a dict, or the index of a Series, are names (strings), which are remembered, so that estimators can
        match them with the columns of their data; or the positions 0 to n - 1 in any order.
    capacity : int or mapping from label to int
        How many elements of each label may be chosen: a number for all, a dict or a pandas Series.
    at_least : int or mapping from label to int, optional
        How many elements of each label must be chosen; of labels that a mapping does not name, none must.
        With ``at_least`` equal to ``capacity``, exactly that many are chosen. Answers of searches and
        proofs meet the limits; during a search, sets only have to leave room for what is missing.
    size : int, optional
        How many elements may be chosen in all.

    Attributes
    ----------
    labels : list of hashable
        The different labels, in the order in which they first appear.
    capacity, at_least : dict from label to int
    size : int, or None
    names : list of str, or None
        The names of the elements, if they were given.

    See Also
    --------
    Laminar : groups within groups.
    FewGroups : a limit on the number of groups.
    Intersection : several groupings at once.

    Notes
    -----
    A set is independent if it can be completed: if no label has more elements than its capacity u, and
    ``Σ max(elements of the label, at_least)`` over all labels is at most ``size``. This is a matroid. Its
    bases are the largest sets that meet all limits, and since f is monotone, one of them is the best of all
    sets that do.

    References
    ----------
    - Schrijver (2003), Combinatorial Optimization: Polyhedra and Efficiency.

    Examples
    --------
    >>> from swapwise import Partition
    >>> sites = Partition(["roof", "roof", "cellar", "cellar"], 1)
    >>> sites.is_independent([0, 2]), sites.is_independent([0, 1])
    (True, False)

    A limit of its own for each label:

    >>> Partition(["roof", "roof", "cellar", "cellar"], {"roof": 2, "cellar": 0}).rank()
    2

    At least one per label, three in all:

    >>> mixed = Partition(["roof", "roof", "roof", "cellar", "cellar"], 3, at_least=1, size=3)
    >>> mixed.is_independent([0, 1]), mixed.is_independent([0, 1, 2])  # a place is kept for the cellar
    (True, False)

    With names, from which the labels may be read:

    >>> Partition.from_columns(["age_mean", "age_worst", "height_mean"]).labels
    ['age', 'height']
    """

    def __init__(
        self,
        labels: Iterable[Hashable] | Mapping[str, Hashable] | Mapping[int, Hashable],
        capacity: int | Mapping[Any, int],
        at_least: int | Mapping[Any, int] | None = None,
        size: int | None = None,
    ) -> None:
        given, self.names = read_labels(labels)
        group, self.labels = number_labels(given)
        self.capacity = read_capacity(capacity, self.labels)
        self.at_least = _read_at_least(at_least, self.labels)
        self.size = None if size is None else as_count(size, "size")
        self._check_lower_limits(np.bincount(group, minlength=len(self.labels)))
        self._set_groups(group)

    def _check_lower_limits(self, n_elements: IndexArray) -> None:
        for label, there_are in zip(self.labels, n_elements.tolist(), strict=True):
            least, most = self.at_least[label], self.capacity[label]
            if least > most:
                raise ValueError(
                    f"at_least must not exceed capacity, but {label!r} has at_least {least}, capacity {most}"
                )
            if least > there_are:
                raise ValueError(
                    f"at least {least} elements of {label!r} must be chosen, but there are only {there_are}"
                )
        needed = sum(self.at_least.values())
        if self.size is not None and self.size < needed:
            raise ValueError(
                f"size must be at least {needed}, the sum of the lower limits of all labels, got {self.size}"
            )

    def _set_groups(self, group: IndexArray) -> None:
        """Set the limits: element e is in group number ``group[e]``, which has the label of that number."""
        groups = np.arange(len(self.labels) + 1)
        self.n, least = len(group), [*self.at_least.values()]
        # Without a limit on all, places may be kept for elements that are not among these.
        size = self.n + sum(least) if self.size is None else self.size
        self._tree = LaminarTree(
            leaf=group + 1,
            end=np.append(len(groups), groups[1:] + 1),
            parent=np.zeros(len(groups), dtype=np.intp),
            capacity=np.array([size, *self.capacity.values()], dtype=np.intp),
            at_least=np.array([0, *least], dtype=np.intp),
        )
        self._levels = [groups[:1], groups[1:]] if len(groups) > 1 else [groups]

    @override
    def induced(self, elements: IndexArray) -> Partition:
        part = object.__new__(Partition)
        used, first, group = np.unique(self._tree.leaf[elements], return_index=True, return_inverse=True)
        in_turn = np.argsort(first)
        part.names = names_of(self, elements)
        part.labels = [self.labels[node - 1] for node in used[in_turn]]
        absent = set(self.labels) - set(part.labels)
        part.labels += [label for label in self.labels if label in absent and self.at_least[label]]
        part.capacity = {label: self.capacity[label] for label in part.labels}
        part.at_least = {label: self.at_least[label] for label in part.labels}
        part.size = self.size
        part._set_groups(np.argsort(in_turn)[group])
        return part

    @override
    def _truncated(self, size: int) -> Partition:
        shorter = self.induced(np.arange(self.n))
        shorter.size = size if self.size is None else min(size, self.size)
        shorter._set_groups(shorter._tree.leaf - 1)
        return shorter

    @override
    def _called(self, node: int) -> str:
        return repr(self.labels[node - 1])

    @classmethod
    def from_columns(
        cls,
        columns: Iterable[str],
        sep: str = "_",
        capacity: int | Mapping[Any, int] = 1,
        part: int = 0,
        *,
        label: Callable[[str], Hashable] | None = None,
        at_least: int | Mapping[Any, int] | None = None,
        size: int | None = None,
    ) -> Self:
        """Return the partition of columns by a part of their names, such as ``df.columns``.

        The label of a column is ``name.split(sep)[part]``: what comes before the first ``sep``, or after the
        last with ``part=-1``. A name without ``sep`` is its own label. ``label``, a function of the name, is
        used instead of both if it is given. The limits are those of the class.

        >>> columns = ["radius_mean", "radius_worst", "area_mean", "id"]
        >>> Partition.from_columns(columns).labels
        ['radius', 'area', 'id']
        >>> Partition.from_columns(columns, part=-1, capacity={"mean": 2, "worst": 1, "id": 0}).rank()
        3

        A ``ColumnTransformer`` makes names such as ``num__age``: with ``sep="__"``, part 0 is the transformer
        and part -1 the column. Names that hold ``sep`` themselves are split from the right by a function:

        >>> Partition.from_columns(["num__age", "num__height", "cat__sex"], sep="__").labels
        ['num', 'cat']
        >>> columns = ["blood_type_A", "blood_type_B", "sex_f"]
        >>> Partition.from_columns(columns, label=lambda name: name.rsplit("_", 1)[0]).labels
        ['blood_type', 'sex']
        """
        if isinstance(columns, str) or not isinstance(columns, Iterable):
            raise TypeError(f"columns must be names of columns, got {columns!r}")
        if not isinstance(sep, str) or not sep:
            raise ValueError(f"sep must be a string that is not empty, got {sep!r}")
        names = list(columns)
        _require_names(names)
        if label is not None:
            if not callable(label):
                raise TypeError(f"label must be a function of a column's name, got {label!r}")
            return cls({name: label(name) for name in names}, capacity, at_least, size)
        if names and not any(sep in name for name in names):
            warn(f"no column has {sep!r} in its name, so every column is a label of its own")
        return cls({name: _part_of(name, sep, part) for name in names}, capacity, at_least, size)

    @property
    def element_labels(self) -> list[Hashable]:
        """The label of every element."""
        return [self.labels[node - 1] for node in self._tree.leaf]

    @override
    def __repr__(self) -> str:
        shown = [f"capacity={_in_short(self.capacity)}"]
        if self.has_lower_limits:
            shown.append(f"at_least={_in_short(self.at_least)}")
        if self.size is not None:
            shown.append(f"size={self.size}")
        return f"Partition(n={self.n}, {len(self.labels)} labels, {', '.join(shown)})"


def _in_short(limits: dict[Hashable, int]) -> int | dict[Hashable, int]:
    different = set(limits.values())
    return different.pop() if len(different) == 1 else limits


def read_labels(labels: Any, what: str = "labels") -> tuple[list[Hashable], list[str] | None]:
    if isinstance(labels, str) or not isinstance(labels, Iterable) or hasattr(labels, "columns"):
        raise TypeError(
            f"{what} must be a flat collection with one label for each element, got a {type(labels).__name__}"
        )
    if not (hasattr(labels, "keys") and hasattr(labels, "items")):
        return list(labels), None
    keys = [key.item() if isinstance(key, np.generic) else key for key in list(labels.keys())]
    given = [label for _, label in labels.items()]
    for key, label in zip(keys, given, strict=True):
        if isinstance(label, Iterable) and not isinstance(label, Hashable):
            raise TypeError(
                f"{what}: expected feature → label, got label → features ({key!r} → {label!r}); to turn them "
                "round: {feature: label for label, features in given.items() for feature in features}"
            )
    if all(isinstance(key, str) for key in keys):
        _require_names(keys)
        return given, keys
    return _in_order_of_positions(keys, given, what), None


def _in_order_of_positions(keys: list[Any], labels: list[Hashable], what: str) -> list[Hashable]:
    n = len(keys)
    are_numbers = all(isinstance(key, int) and not isinstance(key, bool) for key in keys)
    if not are_numbers or sorted(keys) != list(range(n)):
        shown = ", ".join(map(repr, keys[:3])) + (", …" if n > 3 else "")
        raise ValueError(
            f"{what} must be by name (strings) or by position (0 to {n - 1} in any order, each once), got "
            f"labels for {shown}; for labels in the order of the features, hand in a list"
        )
    return [label for _, label in sorted(zip(keys, labels, strict=True), key=itemgetter(0))]


def number_labels(labels: list[Hashable]) -> tuple[IndexArray, list[Hashable]]:
    """Return the number of each label, and the different ones in the order in which they first appear."""
    number: dict[Hashable, int] = {}
    codes = []
    for position, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise TypeError(f"labels must be hashable, got {label!r} at position {position}")
        if is_missing(label):
            raise ValueError(f"every element needs a label, got {label!r} at position {position}")
        codes.append(number.setdefault(label, len(number)))
    return np.array(codes, dtype=np.intp), list(number)


def _require_names(names: list[Any]) -> None:
    seen: set[str] = set()
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"names must be strings, got {name!r} at position {position}")
        if name in seen:
            raise ValueError(f"names must differ, got {name!r} again at position {position}")
        seen.add(name)


def _part_of(name: str, sep: str, part: int) -> str:
    pieces = name.split(sep)
    if len(pieces) == 1:
        return name
    try:
        return pieces[part]
    except IndexError:
        raise ValueError(
            f"{name!r} has only {len(pieces)} parts between {sep!r}, so no part {part}"
        ) from None


def _read_at_least(at_least: Any, names: list[Hashable]) -> dict[Hashable, int]:
    if not hasattr(at_least, "keys"):
        return _for_all(0 if at_least is None else at_least, names, "at_least")
    for label in at_least.keys():  # noqa: SIM118 (a Series is iterated by its values)
        if label not in names:
            raise ValueError(f"at_least names {label!r}, a label that no element has")
    limits = dict(at_least.items())
    return {name: as_count(limits.get(name, 0), f"at_least of {name!r}") for name in names}


def _for_all(limit: Any, names: list[Hashable], what: str) -> dict[Hashable, int]:
    if not isinstance(limit, (int, np.integer)):
        raise TypeError(
            f"{what} must be a non-negative integer, or a mapping from label to one, got {limit!r}"
        )
    return dict.fromkeys(names, as_count(limit, what))


def read_capacity(capacity: Any, names: list[Hashable]) -> dict[Hashable, int]:
    if not hasattr(capacity, "keys"):
        return _for_all(capacity, names, "capacity")
    unused = set(capacity.keys()) - set(names)
    if unused:
        warn(f"no element has the label {unused.pop()!r} that capacity names")
    return {name: as_count(_capacity_of(name, capacity), f"the capacity of {name!r}") for name in names}


def _capacity_of(name: Hashable, capacity: Any) -> Any:
    try:
        return capacity[name]
    except (KeyError, IndexError):
        raise ValueError(f"capacity must name every label, but has none for {name!r}") from None
