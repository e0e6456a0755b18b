"""The ground set of an estimator, and the constraint on it, given by number, name or label."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, as_count, as_elements, some_of, warn
from swapwise.constraints.base import Constraint, places_of, require_single_elements
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.partition import number_labels, read_labels
from swapwise.constraints.uniform import Uniform


@dataclass(frozen=True, eq=False)
class GroundSet:
    """The elements to choose from: features, or groups of them."""

    #: The element that each feature belongs to
    of_feature: IndexArray
    #: The groups, or the names of the features if they have any
    labels: list[Any] | None
    #: Whether elements are groups
    grouped: bool

    @classmethod
    def of(cls, groups: Any, n_features: int, feature_names: list[str] | None = None) -> GroundSet:
        """Return the ground set for ``groups``.

        These are None, one label per feature, labels by name or position, or a function that returns the
        label for a name, or for a position if there are no names.
        """
        if groups is None:
            return cls(np.arange(n_features), feature_names, grouped=False)
        if callable(groups):
            groups = _labelled(groups, range(n_features) if feature_names is None else feature_names)
        labels, names = read_labels(groups, "groups")
        if names is not None and feature_names is not None:
            labels = _matched(labels, names, feature_names)
        if len(labels) != n_features:
            raise ValueError(
                f"groups must have one label for each of the {n_features} features, got {len(labels)}; a "
                "function of their names, or a mapping, does for any number of them"
            )
        return cls(*number_labels(labels), grouped=True)

    @cached_property
    def n(self) -> int:
        return int(self.of_feature.max(initial=-1)) + 1

    @property
    def groups(self) -> IndexArray | None:
        """The group of each feature, as objectives take it, or None."""
        return self.of_feature if self.grouped else None

    @property
    def noun(self) -> str:
        return "groups" if self.grouped else "features"

    def features(self, support: IndexArray | Sequence[int]) -> IndexArray:
        """Return the features of some elements, sorted."""
        chosen = np.zeros(self.n, dtype=bool)
        chosen[support] = True
        return np.flatnonzero(chosen[self.of_feature])

    def filled_in_words(self, filled: IndexArray) -> str:
        """Return a message that some elements were chosen only to meet a lower limit."""
        labels = filled.tolist() if self.labels is None else [self.labels[element] for element in filled]
        adds, was = ("adds", "was") if len(filled) == 1 else ("add", "were")
        names = some_of([repr(label) for label in labels])
        return f"{names} {adds} nothing, and {was} chosen only to meet a lower limit"

    def find(self, chosen: Any, what: str) -> IndexArray:
        """Return the elements with these labels or names, or features by position."""
        if isinstance(chosen, str) or not isinstance(chosen, Iterable):
            raise TypeError(f"{what} must be a list of {self.noun}, got {chosen!r}")
        given = list(chosen)
        if not self.grouped and not any(isinstance(item, str) for item in given):
            return as_elements(given, self.n, what)
        place: dict[Hashable, int] = {label: position for position, label in enumerate(self.labels or [])}
        for item in given:
            if item not in place:
                hint = "" if self.labels else ", which have no names here"
                raise ValueError(f"{what} must be among the {self.noun}{hint}, got {item!r}")
        return as_elements([place[item] for item in given], self.n, what)


def _labelled(groups: Callable[[Any], Any], names: Sequence[Any]) -> list[Any]:
    labels = []
    for name in names:
        try:
            labels.append(groups(name))
        except (AttributeError, TypeError, LookupError, ValueError) as failure:
            if isinstance(names, range):
                raise TypeError(
                    "groups is a function that does not take positions, but X has no names (if a transformer "
                    f"before has dropped them: .set_output(transform='pandas') keeps them): {failure}"
                ) from failure
            raise ValueError(f"groups, a function, failed for the feature {name!r}: {failure!r}") from failure
    return labels


def _matched(labels: list[Hashable], names: list[str], feature_names: list[str]) -> list[Hashable]:
    """Return labels by name in the order of the features, without those of unknown names."""
    unused = sorted(set(names) - set(feature_names))
    if unused and set(feature_names) <= set(names):
        # An encoder makes no column for a level that does not occur in the rows it is fitted to.
        warn(f"groups names {some_of([repr(name) for name in unused])}, which the data do not have: left out")
        labels = [label for label, name in zip(labels, names, strict=True) if name not in unused]
        names = [name for name in names if name not in unused]
    return [labels[place] for place in places_of(feature_names, names, "groups")]


def resolve_constraint(constraint: Any, ground: GroundSet) -> Constraint:
    """Return the constraint that an int, an object or a callable of n stands for."""
    if callable(constraint) and not isinstance(constraint, (Constraint, type)):
        constraint = constraint(ground.n)
    if not isinstance(constraint, Constraint):
        return Uniform(ground.n, _read_size(constraint))
    by_name = constraint.names is not None and ground.labels is not None
    if by_name and all(isinstance(label, str) for label in ground.labels or []):
        return constraint.aligned_to(ground.labels or [])
    if constraint.n != ground.n:
        raise ValueError(
            f"the constraint is on n = {constraint.n} elements, but there are {ground.n} {ground.noun}"
        )
    if constraint.names is not None and ground.labels is None:
        warn(
            "the constraint names its features, but X has no names, so they are matched by position (if a "
            "transformer before has dropped them: .set_output(transform='pandas') keeps them)"
        )
    return constraint


def _read_size(constraint: Any) -> int:
    try:
        return as_count(constraint, "constraint")
    except TypeError:
        raise TypeError(
            "constraint must be an integer (the largest number of features), a constraint such as "
            f"sw.Partition, or a callable of n that returns either, got {constraint!r}"
        ) from None


def with_forced(constraint: Constraint, forced: Any, ground: GroundSet) -> Constraint:
    if forced is None:
        return constraint
    support = constraint.required(ground.find(forced, "forced"))
    if not constraint.is_independent(support):
        raise ValueError(
            f"the forced {ground.noun} must be independent, but {list(forced)!r} is not independent under "
            f"{constraint!r}"
        )
    return constraint.contract(support)


def allows_nothing(constraint: Constraint) -> bool:
    """Return whether the empty set is the only independent set, though there are elements."""
    return constraint.n > 0 and len(constraint.loops()) == constraint.n


def check_exchanges(q: Any, constraint: Constraint) -> None:
    if not isinstance(q, (int, np.integer)) or q <= 1:
        return
    if isinstance(constraint, Matroid):
        raise ValueError(
            "leave q at 1: under a number of features or a single matroid, one feature is swapped for one; "
            f"got q = {q}"
        )
    if constraint.p is None:
        require_single_elements(int(q), constraint)
