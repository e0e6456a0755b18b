"""Exchanges listed as arrays: sets to add in order, minimal drops, batches of bounded size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.moves import NOTHING, MoveList, first_of_each

LARGEST_BATCH = 50_000  # moves: enough to keep numpy busy, few enough for the scores to stay in memory


def added_sets(candidates: IndexArray, size: int, largest: int = LARGEST_BATCH) -> Iterator[IndexArray]:
    """Yield all sets of ``size`` candidates, one per row, in lexicographic order.

    A piece has at most ``largest`` rows, or those that differ only in their last element.
    """
    for places in _places(len(candidates), size, largest):
        yield candidates[places]


def _places(count: int, size: int, largest: int) -> Iterator[IndexArray]:
    if size == 0:
        yield np.empty((1, 0), dtype=np.intp)
        return
    for shorter in _places(count, size - 1, largest):
        first = shorter[:, -1] + 1 if size > 1 else np.zeros(1, dtype=np.intp)
        for piece in pieces_of(count - first, largest):
            row, place = spell_out(count - first[piece])
            yield np.column_stack([shorter[piece][row], first[piece][row] + place])


def pieces_of(sizes: IndexArray | FloatArray, largest: float) -> Iterator[slice]:
    """Cut a list of items with sizes into pieces of at most ``largest`` in all, but at least one item.

    >>> list(pieces_of(np.array([4, 4, 9, 1]), 8))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    ends = np.cumsum(sizes)
    begin = 0
    while begin < len(ends):
        before = ends[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + largest, side="right")))
        yield slice(begin, end)
        begin = end


def spell_out(counts: IndexArray) -> tuple[IndexArray, IndexArray]:
    """Return, for rows that are each to be repeated ``counts`` times, the row and the place within it.

    >>> spell_out(np.array([2, 0, 1]))
    (array([0, 0, 2]), array([0, 1, 0]))
    """
    row = np.repeat(np.arange(len(counts)), counts)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)


def left_aligned(elements: IndexArray, width: int) -> IndexArray:
    """Sort each row, move the padding to its end, and cut or widen it to ``width`` columns."""
    last = np.iinfo(np.intp).max
    ordered = np.sort(np.where(elements < 0, last, elements), axis=1)
    aligned = np.full((len(elements), width), NOTHING, dtype=np.intp)
    kept = ordered[:, :width]
    aligned[:, : kept.shape[1]] = np.where(kept == last, NOTHING, kept)
    return aligned


def in_order(row: IndexArray, dropped: IndexArray) -> IndexArray:
    """Return the order of (row, dropped), lexicographic and with every pair once."""
    order = np.lexsort([*dropped.T[::-1], row])
    return order[first_of_each(np.column_stack([row, dropped])[order])]


def runs_of(added: IndexArray) -> Iterator[slice]:
    begins = np.flatnonzero(first_of_each(added)).tolist()
    return map(slice, begins, [*begins[1:], len(added)])


def cheapest_in_each(
    lists: Iterable[MoveList], cost: FloatArray, n_added: int, n_dropped: int
) -> Iterator[MoveList]:
    """Yield the cheapest drops of each list, which has all moves that add the same; at least one list."""
    moves = None
    for moves in lists:
        yield MoveList.joined([moves.cheapest(cost)], n_added, n_dropped)
    if moves is None:
        yield MoveList.joined([], n_added, n_dropped)


def batched(lists: Iterable[MoveList], n_added: int, n_dropped: int) -> Iterator[MoveList]:
    """Yield the moves in batches of the given width and of bounded length: at least one, possibly empty."""
    waiting: list[MoveList] = []
    rows = 0
    for moves in lists:
        for chunk in moves.chunks(LARGEST_BATCH):
            if rows + len(chunk) > LARGEST_BATCH:
                yield MoveList.joined(waiting, n_added, n_dropped)
                waiting, rows = [], 0
            waiting.append(chunk)
            rows += len(chunk)
    yield MoveList.joined(waiting, n_added, n_dropped)


def minimal_hitting_sets(circuits: list[BoolArray]) -> tuple[IndexArray, IndexArray]:
    """Return (row, columns) such that the columns are a minimal hitting set of the circuits of that row.

    ``circuits[m][row]`` marks the columns of one circuit of the row; a row without a mark has none.
    Columns are padded with -1 and in no order, and the same set may come more than once.

    >>> row, columns = minimal_hitting_sets([np.array([[1, 1, 0]]) > 0, np.array([[0, 1, 1]]) > 0])
    >>> columns.tolist()  # the column in both; the first and the last
    [[1, -1], [0, 2]]
    """
    row = np.arange(len(circuits[0]))
    circuits = [np.pad(circuit, ((0, 0), (0, 1))) for circuit in circuits]  # padding finds the last column
    hits = np.full((len(row), len(circuits)), NOTHING, dtype=np.intp)
    for place, circuit in enumerate(circuits):
        done = ~circuit[row].any(axis=1) | circuit[row[:, None], hits].any(axis=1)
        still = np.flatnonzero(~done)
        branch, column = np.nonzero(circuit[row[still]])
        row = np.concatenate([row[done], row[still[branch]]])
        branched = hits[still[branch]]
        branched[:, place] = column
        hits = np.concatenate([hits[done], branched])
    # A column is needed if it is the only one that hits some circuit.
    needed = hits < 0
    for circuit in circuits:
        on = circuit[row[:, None], hits]
        needed |= on & (on.sum(axis=1) == 1)[:, None]
    minimal = needed.all(axis=1)
    return row[minimal], hits[minimal]


def without_supersets(moves: MoveList) -> MoveList:
    """Leave out moves that drop a proper superset of another drop for the same added elements.

    Moves that add the same must follow each other.
    """
    size = (moves.dropped >= 0).sum(axis=1)
    keep = np.ones(len(moves), dtype=bool)
    for run in runs_of(moves.added):
        sizes, dropped = size[run], moves.dropped[run]
        if sizes.min() == sizes.max():
            continue  # sets of one size do not hold each other
        elements, column = np.unique(dropped, return_inverse=True)
        marks = np.zeros((len(dropped), len(elements)), dtype=np.float32)
        marks[np.arange(len(dropped))[:, None], column.reshape(dropped.shape)] = 1.0
        marks[:, elements < 0] = 0.0
        holds = (marks @ marks.T == sizes) & (sizes < sizes[:, None])
        keep[run] = ~holds.any(axis=1)
    return moves.take(np.flatnonzero(keep))
