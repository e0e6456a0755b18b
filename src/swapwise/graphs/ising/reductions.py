"""The sums over spins in chunks that an Ising model needs.

Each takes the weights of the samples as the first of its ``rows``, unless all weigh the same. Samples of
weight 0 are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray
from swapwise.data.reductions import FirstBad, Reduction
from swapwise.graphs.ising.model import Neighbourhood
from swapwise.graphs.ising.spin_data import curvatures_of, gradients_of, hessian_of
from swapwise.override import override

# Patterns up to this number are counted in a table of all that there could be: 128 kB, which a cache holds.
MOST_IN_A_TABLE = 1 << 14

# Samples of a part: arrays of one number per vertex and sample take 4 MB for 64 vertices.
ROWS_AT_ONCE = 1 << 13


class CountedPatterns(NamedTuple):
    """Patterns in order, how often each was seen, and the sums of all columns over its samples."""

    patterns: IndexArray
    counts: NDArray[Any]
    sums: FloatArray


def with_weight(chunk: FloatArray, rows: tuple[NDArray[Any], ...]) -> tuple[FloatArray, FloatArray | None]:
    """Return the samples of positive weight in a chunk, and their weights; None if all weigh the same."""
    if not rows:
        return chunk, None
    weight = rows[0]
    return (chunk, weight) if weight.all() else (chunk[weight > 0], weight[weight > 0])


class Tally(Reduction):
    """How often -1, 0 and +1 are in each column, the weight of +1, and the products of columns."""

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        chunk, weight = with_weight(chunk, rows)
        counts = np.stack([(chunk == value).sum(axis=0) for value in (-1, 0, 1)])
        up = counts[2] if weight is None else weight @ (chunk == 1)
        # Entries that are not finite are refused by the counts.
        with np.errstate(over="ignore", invalid="ignore"):
            return counts, up, chunk.T @ (chunk if weight is None else chunk * weight[:, None])


@dataclass(frozen=True)
class FirstOther(FirstBad):
    """The first entry that is neither ``low`` nor 1: sample, feature, value; None if there is none."""

    low: int

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        weight, numbers = rows
        is_other = (chunk != self.low) & (chunk != 1) & (weight > 0)[:, None]
        if not is_other.any():
            return None
        row, column = np.argwhere(is_other)[0]
        return int(numbers[row]), int(column), float(chunk[row, column])


@dataclass(frozen=True)
class Patterns(Reduction):
    """Which spins are seen together in each neighbourhood, how often, and sums of columns over them.

    A pattern is a number: bit k says whether the k-th vertex of the neighbourhood is at +1.
    """

    neighbourhoods: list[Neighbourhood]
    #: Whether all columns are to be summed over the samples of each pattern
    with_sums: bool

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        chunk, weight = with_weight(chunk, rows)
        is_up = np.ascontiguousarray(chunk.T == 1)
        summed = chunk if self.with_sums else chunk[:, :0]
        return [_counted(_patterns(is_up, vertices), summed, weight) for vertices in self.neighbourhoods]

    @override
    def merge(self, first: Any, second: Any) -> Any:
        return [_added(one, other) for one, other in zip(first, second, strict=True)]


def _patterns(is_up: NDArray[np.bool_], vertices: Neighbourhood) -> IndexArray:
    patterns = is_up[vertices[0]].astype(np.intp)
    for place, vertex in enumerate(vertices[1:], 1):
        patterns |= is_up[vertex].astype(np.intp) << place
    return patterns


def _counted(patterns: IndexArray, summed: FloatArray, weight: FloatArray | None) -> CountedPatterns:
    if patterns.max(initial=0) < MOST_IN_A_TABLE:
        table = np.bincount(patterns, weight)
        seen = np.flatnonzero(table)
        counts, place = table[seen], (np.cumsum(table > 0) - 1)[patterns]
    else:
        seen, place = np.unique(patterns, return_inverse=True)
        counts = np.bincount(place, weight)
    if not summed.shape[1]:
        return CountedPatterns(seen, counts, np.empty((len(seen), 0)))
    rows = np.arange(len(place) + 1)
    entries = np.ones(len(place)) if weight is None else weight
    has_pattern = scipy.sparse.csr_array((entries, place, rows), shape=(len(place), len(seen)))
    return CountedPatterns(seen, counts, has_pattern.T @ summed)


def _added(first: CountedPatterns, second: CountedPatterns) -> CountedPatterns:
    seen, place = np.unique(np.concatenate([first.patterns, second.patterns]), return_inverse=True)
    counts = np.zeros(len(seen), dtype=first.counts.dtype)
    sums = np.zeros((len(seen), first.sums.shape[1]))
    np.add.at(counts, place, np.concatenate([first.counts, second.counts]))
    np.add.at(sums, place, np.concatenate([first.sums, second.sums]))
    return CountedPatterns(seen, counts, sums)


@dataclass(frozen=True)
class VertexGradients(Reduction):
    """The gradient of every vertex's log-likelihood (a row) by its coupling to every other (a column)."""

    couplings: FloatArray
    fields: FloatArray

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        total = np.zeros_like(self.couplings)
        for spins, weight in _parts(chunk, rows):
            weighted = spins if weight is None else spins * weight
            total += gradients_of(spins, self.couplings @ spins + self.fields[:, None], weighted)
        return (total,)


@dataclass(frozen=True)
class Hessian(Reduction):
    """Minus the second derivatives in the couplings of some edges and, if they are free, in all fields."""

    couplings: FloatArray
    fields: FloatArray
    tail: IndexArray
    head: IndexArray
    are_free: bool

    @override
    def __call__(self, chunk: FloatArray, *rows: NDArray[Any]) -> Any:
        size = len(self.tail) + self.are_free * len(self.fields)
        total = np.zeros((size, size))
        for spins, weight in _parts(chunk, rows):
            curve = curvatures_of(spins, self.couplings @ spins + self.fields[:, None])
            curve = curve if weight is None else curve * weight
            total += hessian_of(spins, curve, self.tail, self.head, fields=self.are_free)
        return (total,)


def _parts(
    chunk: FloatArray, rows: tuple[NDArray[Any], ...]
) -> Iterator[tuple[FloatArray, FloatArray | None]]:
    """Yield the samples of positive weight, some at a time: spins, one vertex per row, and weights if any."""
    chunk, weight = with_weight(chunk, rows)
    for begin in range(0, len(chunk), ROWS_AT_ONCE):
        part = slice(begin, begin + ROWS_AT_ONCE)
        yield np.where(chunk[part].T == 1, 1.0, -1.0), None if weight is None else weight[part]
