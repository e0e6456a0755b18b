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
    """The pairs of vertices that may be coupled, by their smaller and larger ends, ridge and fields.

    >>> IsingModel.read(3, ridge=0.1, fields=False, edges=None).tail
    array([0, 0, 1])
    """

    n_vertices: int
    tail: IndexArray
    head: IndexArray
    ridge: float
    fields: bool

    @classmethod
    def read(cls, n_vertices: int, ridge: Any, fields: Any, edges: Any) -> Self:
        """Return a model as users describe it, or say what is wrong with the description."""
        ridge = as_real(ridge, "ridge")
        if not isinstance(fields, (bool, np.bool_)):
            raise TypeError(f"fields must be True or False, got {fields!r}")
        return cls(n_vertices, *read_edges(edges, n_vertices), ridge, bool(fields))

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.tail)

    def coupling_matrix(self, coef: FloatArray) -> FloatArray:
        """Return the couplings of all pairs as a symmetric matrix.

        >>> IsingModel.read(2, 0.0, False, None).coupling_matrix(np.array([0.5]))
        array([[0. , 0.5],
               [0.5, 0. ]])
        """
        couplings = np.zeros((self.n_vertices, self.n_vertices))
        couplings[self.tail, self.head] = couplings[self.head, self.tail] = coef
        return couplings

    def degrees(self, support: IndexArray) -> IndexArray:
        """Return the number of neighbours of every vertex.

        >>> IsingModel.read(3, 0.0, False, None).degrees(np.array([0, 1]))
        array([2, 1, 1])
        """
        return np.bincount(np.append(self.tail[support], self.head[support]), minlength=self.n_vertices)

    def neighbourhoods(self, support: IndexArray) -> list[Neighbourhood]:
        """Return every vertex with its neighbours.

        >>> IsingModel.read(3, 0.0, False, None).neighbourhoods(np.array([0, 1]))
        [(0, 1, 2), (1, 0), (2, 0)]
        """
        neighbours: list[list[int]] = [[] for _ in range(self.n_vertices)]
        for u, v in zip(self.tail[support].tolist(), self.head[support].tolist(), strict=True):
            neighbours[u].append(v)
            neighbours[v].append(u)
        return [(vertex, *sorted(others)) for vertex, others in enumerate(neighbours)]
