"""The ground set of a selection: features one by one, or groups of them whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from swapwise.app.cli.checking.columns import Dataset
from swapwise.app.cli.failures import BadInput
from swapwise.app.cli.limit_files import read_groups
from swapwise.checks import IndexArray, warn


@dataclass(frozen=True)
class GroundSet:
    """The elements of a selection: features, or whole groups of features."""

    #: The element that each feature is, or is a part of
    element_of: dict[str, str]
    #: Columns of the table that cannot be chosen, but may be named in files
    left_out: Sequence[str] = ()
    #: Features that are chosen in any case
    forced_features: Sequence[str] = ()

    @classmethod
    def of(
        cls, features: Sequence[str], left_out: Sequence[str] = (), forced: Sequence[str] = ()
    ) -> GroundSet:
        return cls({name: name for name in features}, left_out, forced)

    @property
    def features(self) -> list[str]:
        return list(self.element_of)

    @property
    def elements(self) -> list[str]:
        return list(dict.fromkeys(self.element_of.values()))

    @property
    def forced(self) -> list[str]:
        return list(dict.fromkeys(self.element_of[name] for name in self.forced_features))

    def places(self, elements: Iterable[str]) -> IndexArray:
        place = {name: number for number, name in enumerate(self.elements)}
        return np.array(sorted(place[name] for name in elements), dtype=np.intp)

    def by_element(self, group_of: Mapping[str, str]) -> dict[str, str]:
        """Return the group of each element, all of whose features must be in one."""
        found: dict[str, str] = {}
        for feature, element in self.element_of.items():
            if found.setdefault(element, group_of[feature]) != group_of[feature]:
                raise BadInput(
                    f"the group {element!r} of --whole-groups has features of the groups {found[element]!r} "
                    f"and {group_of[feature]!r}, but it is chosen whole: put all of its features into one of "
                    "them"
                )
        return found


def read_ground_set(
    dataset: Dataset, whole_groups: Path | None, left_out: Sequence[str], forced: Sequence[str]
) -> tuple[Dataset, GroundSet]:
    """Return the ground set, and the dataset with the groups of a file as its variables."""
    features = dataset.variables
    if whole_groups is None:
        return dataset, GroundSet.of(features, left_out, forced)
    named = read_groups(whole_groups, features, left_out, partial=True)
    group_of = {feature: named.get(feature, feature) for feature in features}
    for feature in features:
        if feature in named.values() and named.get(feature) != feature:
            raise BadInput(
                f"{whole_groups} has a group {feature!r}, but the feature of that name is not in it: put it "
                "there, or rename the group"
            )
    if len(set(group_of.values())) == len(features):
        warn(f"{whole_groups} has no group of two features or more")
    columns = dataset.X.columns
    variable_of = dataset.variable_of or dict(zip(columns, columns, strict=True))
    whole = {column: group_of[variable] for column, variable in variable_of.items()}
    return replace(dataset, variable_of=whole), GroundSet(group_of, left_out, forced)
