"""Columns of a mixed graph as users give them, and on the scales on which they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from swapwise.checks import FloatArray, as_matrix, require_finite
from swapwise.graphs.mixed.families import FAMILIES, Binary, Counts, VertexFamily


@dataclass(frozen=True, eq=False)
class MixedColumns:
    """The family of each column, and the mean and standard deviation by which it is standardised.

    Spins are left as they are: their centre is 0 and their spread 1.
    """

    families: tuple[VertexFamily, ...]
    centre: FloatArray
    spread: FloatArray

    @classmethod
    def read(cls, X: FloatArray, families: Sequence[str], weight: FloatArray | None) -> Self:
        kinds = read_families(families, X.shape[1])
        counts = np.ones(len(X)) if weight is None else weight
        centre, spread = np.zeros(X.shape[1]), np.ones(X.shape[1])
        for column, family in enumerate(kinds):
            check_values(family, X[:, column], f"column {column}")
            there = ~np.isnan(X[:, column]) & (counts > 0)
            if isinstance(family, Binary) or not there.any():
                continue
            values, weights = X[there, column], counts[there]
            centre[column] = np.average(values, weights=weights)
            deviation = np.sqrt(np.average((values - centre[column]) ** 2, weights=weights))
            spread[column] = deviation or 1.0
        return cls(kinds, centre, spread)

    def standardised(self, X: FloatArray) -> FloatArray:
        """Return values as neighbours see them."""
        return (X - self.centre) / self.spread

    def own(self, X: FloatArray) -> FloatArray:
        """Return values as they are predicted: counts are not centred."""
        is_count = np.array([isinstance(family, Counts) for family in self.families])
        return (X - np.where(is_count, 0.0, self.centre)) / self.spread


def read_families(families: Sequence[str], n: int) -> tuple[VertexFamily, ...]:
    if isinstance(families, str):
        families = [families] * n
    names = list(families)
    if len(names) != n:
        raise ValueError(f"families must have a name for each of {n} columns, got {len(names)}")
    for column, name in enumerate(names):
        if name not in FAMILIES:
            raise ValueError(
                f"families must be among {', '.join(FAMILIES)}; got {name!r} for column {column}"
            )
    return tuple(FAMILIES[name] for name in names)


def read_matrix(X: Any) -> FloatArray:
    matrix = as_matrix(X, "X", finite=False)
    if 0 in matrix.shape:
        raise ValueError(f"X must have at least one sample and one column, got shape {matrix.shape}")
    require_finite(np.where(np.isnan(matrix), 0.0, matrix), "X")
    return matrix


def check_values(family: VertexFamily, values: FloatArray, column: str) -> None:
    there = values[~np.isnan(values)]
    if isinstance(family, Binary):
        wrong, expected = there[np.abs(there) != 1], "-1 and +1, as it is binary"
    elif isinstance(family, Counts):
        wrong, expected = there[(there < 0) | (there % 1 != 0)], "whole numbers from 0, as it holds counts"
    else:
        return
    if len(wrong):
        raise ValueError(f"{column} of X must hold {expected}; got {wrong[0]:g}")
