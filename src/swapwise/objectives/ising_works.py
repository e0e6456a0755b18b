"""The sums over spins in chunks that an Ising model needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.reductions import Reduction
from swapwise.objectives.ising_parts import pulls_at

#: A vertex, and behind it its neighbours from the smallest to the largest
Neighbourhood = tuple[int, ...]

#: Patterns, their counts, and the sums of columns over their samples
Counted = tuple[IndexArray, IndexArray, FloatArray]

# Patterns up to this number are counted in a table of all that there could be.
MOST_IN_A_TABLE = 1 << 14

# So many samples are looked at together: what is worked out for each vertex and sample stays small.
ROWS_AT_ONCE = 1 << 13


@dataclass(frozen=True)
class Patterns(Reduction):
    """Which spins are seen together in each neighbourhood, how often, and with what elsewhere.

    A pattern is a number: bit k says whether the k-th vertex of the neighbourhood is at +1.

    >>> Patterns([(0, 2)], with_sums=False)(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]))
    [(array([1, 2]), array([1, 2]), array([], shape=(2, 0), dtype=float64))]
    """

    neighbourhoods: list[Neighbourhood]
    #: Whether all columns are to be summed over the samples of each pattern
    with_sums: bool

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return the patterns of every neighbourhood in order, their counts and, one a row, their sums."""
        is_up = np.ascontiguousarray(block.T == 1)
        summed = block if self.with_sums else block[:, :0]
        return [_counted(_patterns(is_up, vertices), summed) for vertices in self.neighbourhoods]

    def merge(self, first: Any, second: Any) -> Any:
        """Return the patterns that either has, their counts and their sums."""
        return [_added(one, other) for one, other in zip(first, second, strict=True)]


def _patterns(is_up: NDArray[np.bool_], vertices: Neighbourhood) -> IndexArray:
    patterns = is_up[vertices[0]].astype(np.intp)
    for place, vertex in enumerate(vertices[1:], 1):
        patterns |= is_up[vertex].astype(np.intp) << place
    return patterns


def _counted(patterns: IndexArray, summed: FloatArray) -> Counted:
    if patterns.max() < MOST_IN_A_TABLE:
        table = np.bincount(patterns)
        seen = np.flatnonzero(table)
        counts, place = table[seen], (np.cumsum(table > 0) - 1)[patterns]
    else:
        seen, place, counts = np.unique(patterns, return_inverse=True, return_counts=True)
    if not summed.shape[1]:
        return seen, counts, np.empty((len(seen), 0))
    rows = np.arange(len(place) + 1)
    has_pattern = csr_array((np.ones(len(place)), place, rows), shape=(len(place), len(seen)))
    return seen, counts, has_pattern.T @ summed


def _added(first: Counted, second: Counted) -> Counted:
    seen, place = np.unique(np.concatenate([first[0], second[0]]), return_inverse=True)
    counts, sums = np.zeros(len(seen), dtype=np.intp), np.zeros((len(seen), first[2].shape[1]))
    np.add.at(counts, place, np.concatenate([first[1], second[1]]))
    np.add.at(sums, place, np.concatenate([first[2], second[2]]))
    return seen, counts, sums


@dataclass(frozen=True)
class Pulls(Reduction):
    """What every vertex (a column) pulls at every other (a row), summed over the samples.

    >>> Pulls(np.zeros((2, 2)), np.zeros(2))(np.array([[1.0, 1.0], [0.0, 1.0]]))
    (array([[2., 0.],
           [0., 2.]]),)
    """

    couplings: FloatArray
    fields: FloatArray

    def __call__(self, block: FloatArray, *rows: NDArray[Any]) -> Any:
        """Return a square matrix."""
        pulls = np.zeros_like(self.couplings)
        for begin in range(0, len(block), ROWS_AT_ONCE):
            spins = np.where(block[begin : begin + ROWS_AT_ONCE].T == 1, 1.0, -1.0)
            pulls += pulls_at(spins, self.couplings @ spins + self.fields[:, None])
        return (pulls,)
