"""What an Ising model is made of before any data are seen: vertices, edges, ridge and fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_real
from swapwise.graphs.edges import read_edges

#: A vertex, and behind it its neighbours from the smallest to the largest
Neighbourhood = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class IsingModel:
    """The pairs of vertices that may be coupled, by their smaller and larger ends, ridge and fields."""

    n_vertices: int
    tail: IndexArray
    head: IndexArray
    ridge: float
    fields: bool

    @classmethod
    def read(cls, n_vertices: int, ridge: Any, fields: Any, edges: Any) -> Self:
        ridge = as_real(ridge, "ridge")
        if not isinstance(fields, (bool, np.bool_)):
            raise TypeError(f"fields must be True or False, got {fields!r}")
        return cls(n_vertices, *read_edges(edges, n_vertices), ridge, bool(fields))

    @property
    def n(self) -> int:
        return len(self.tail)

    def coupling_matrix(self, coef: FloatArray) -> FloatArray:
        couplings = np.zeros((self.n_vertices, self.n_vertices))
        couplings[self.tail, self.head] = couplings[self.head, self.tail] = coef
        return couplings

    def degrees(self, support: IndexArray) -> IndexArray:
        return np.bincount(np.append(self.tail[support], self.head[support]), minlength=self.n_vertices)

    def neighbourhoods(self, support: IndexArray) -> list[Neighbourhood]:
        neighbours: list[list[int]] = [[] for _ in range(self.n_vertices)]
        for u, v in zip(self.tail[support].tolist(), self.head[support].tolist(), strict=True):
            neighbours[u].append(v)
            neighbours[v].append(u)
        return [(vertex, *sorted(others)) for vertex, others in enumerate(neighbours)]
