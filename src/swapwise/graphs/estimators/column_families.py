"""Columns of any type as the vertices of a mixed graph: the family of each, and its values as numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from swapwise.checks import FloatArray
from swapwise.graphs.estimators.two_values import SpinCoding, coding_of, require_observed
from swapwise.graphs.estimators.vertices import Vertices
from swapwise.graphs.mixed.columns import check_values
from swapwise.graphs.mixed.families import FAMILIES


@dataclass(frozen=True, eq=False)
class MixedCoding:
    """The family of each column, and the two values of binary ones."""

    families: list[str]
    pairs: SpinCoding | None

    @classmethod
    def read(cls, values: NDArray[Any], vertices: Vertices, given: Any, X: Any = None) -> Self:
        """Return the families as given, or else by the values of the columns."""
        require_observed(values, vertices.nodes)
        named = _named_families(given, vertices)
        families = [
            named.get(place) or _guess(values[:, place], name) for place, name in enumerate(vertices.nodes)
        ]
        binary = [place for place, family in enumerate(families) if family == "binary"]
        if not binary:
            return cls(families, None)
        names = [vertices.nodes[place] for place in binary]
        _require_pairs(values[:, binary], names)
        frame = X.iloc[:, binary] if isinstance(X, pd.DataFrame) else None
        return cls(families, coding_of(values[:, binary], names, frame))

    def to_numbers(self, values: NDArray[Any], names: Sequence[Hashable]) -> FloatArray:
        """Return spins for binary columns and the numbers of others, with NaN where they are missing."""
        numbers = np.empty(values.shape)
        binary = np.array([family == "binary" for family in self.families])
        if self.pairs is not None:
            chosen = [name for name, is_binary in zip(names, binary, strict=True) if is_binary]
            numbers[:, binary] = self.pairs.to_spins(values[:, binary], chosen)
        for place in np.flatnonzero(~binary).tolist():
            try:
                numbers[:, place] = values[:, place].astype(np.float64)
            except ValueError:
                raise ValueError(
                    f"X must hold numbers where a column is {self.families[place]}, got others in "
                    f"{names[place]!r}"
                ) from None
            check_values(FAMILIES[self.families[place]], numbers[:, place], f"{names[place]!r}")
        return numbers


def _named_families(given: Any, vertices: Vertices) -> dict[int, str]:
    if given is None:
        return {}
    if isinstance(given, str):
        given = [given] * vertices.n
    if isinstance(given, Mapping):
        named = {vertices.position(column, "families"): name for column, name in given.items()}
    else:
        names = list(given)
        if len(names) != vertices.n:
            raise ValueError(f"families must have a name for each of {vertices.n} columns, got {len(names)}")
        named = {place: name for place, name in enumerate(names) if name is not None}
    for place, name in named.items():
        if name not in FAMILIES:
            raise ValueError(
                f"families must be among {', '.join(FAMILIES)}; got {name!r} for {vertices.nodes[place]!r}"
            )
    return named


def _observed(column: NDArray[Any]) -> NDArray[Any]:
    return column[~pd.isna(column)]


def _guess(column: NDArray[Any], name: Hashable) -> str:
    """Return the family of a column by its values; whole numbers from 0, counts or a scale, are refused."""
    there = _observed(column)
    levels = pd.unique(there)
    if len(levels) <= 2:
        return "binary"
    try:
        numbers = there.astype(np.float64)
    except (TypeError, ValueError):
        _require_pairs(column[:, None], [name])
        raise AssertionError("words of more than two values are refused") from None
    if (numbers >= 0).all() and not (numbers % 1).any():
        raise ValueError(
            f"families must say what {name!r} is, whole numbers from {numbers.min():g} to "
            f"{numbers.max():g}, as in families={{{name!r}: 'counts'}}, or 'gaussian' if they are a scale"
        )
    return "gaussian"


def _require_pairs(values: NDArray[Any], names: Sequence[Hashable]) -> None:
    for column, name in zip(values.T, names, strict=True):
        levels = pd.unique(_observed(column))
        if len(levels) > 2:
            some = ", ".join(repr(level) for level in levels[:4].tolist()) + ", …" * (len(levels) > 4)
            raise ValueError(
                f"X must hold two values where a column is binary, got {some} in {name!r}; an edge has one "
                "coupling, so categories need a column each, as by pd.get_dummies(X, columns=...), or two of "
                "them made one"
            )
