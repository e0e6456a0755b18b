"""Sets of a matroid whose rank a fractional set exceeds."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import heaviest_first
from swapwise.constraints.matroid import Matroid

# A set counts as violated if a fractional set exceeds its rank by more.
VIOLATED = 1e-4


def span(matroid: Matroid, elements: IndexArray) -> tuple[IndexArray, int]:
    """Return the closure of some elements, all that do not raise their rank, and that rank."""
    base = matroid.extend(np.empty(0, dtype=np.intp), elements)
    spanned = ~matroid.addable(base)
    spanned[base] = True
    return np.flatnonzero(spanned), len(base)


def violated_spans(
    matroid: Matroid, held: IndexArray, weights: FloatArray, point: FloatArray
) -> list[tuple[IndexArray, int]]:
    """Return sets whose rank a fractional set exceeds, each with its rank, if weights point to any.

    They are the closures of the heaviest elements, in connected parts. If the fractional set weighs more than
    any independent set, then it exceeds the rank of one of them (Edmonds 1971).
    """
    if not matroid._is_independent(held):  # then there is no set, which this inequality shows
        return [span(matroid, held)]
    rest = weights.copy()
    rest[held] = 0.0
    base = matroid.extend(held, heaviest_first(rest))
    if not len(base):
        return []
    rest[held] = np.inf
    turn = np.argsort(-rest[base], kind="stable")
    circuits = matroid._swap_mask(base)
    spanned = ~circuits[:, -1] & circuits.any(axis=1)
    circuits = circuits[:, turn]  # from the heaviest on
    base = base[turn]
    circuits[base] = np.eye(len(base), dtype=bool)
    spanned[base] = True
    # An element is spanned from the turn of the last element of its circuit on.
    last = np.where(spanned, len(base) - 1 - np.argmax(circuits[:, ::-1], axis=1), -1)
    in_turn = np.argsort(last, kind="stable")
    ends = np.searchsorted(last[in_turn], np.arange(len(base) + 1))
    component, found = np.arange(len(base)), list[tuple[IndexArray, int]]()
    for now in range(len(base)):
        joined = np.logical_or.reduce(circuits[in_turn[ends[now] : ends[now + 1]]], axis=0)
        component[np.isin(component, component[joined])] = now
        rank = np.count_nonzero(component[: now + 1] == now)
        if rank == 1 and ends[now + 1] == ends[now] + 1:
            continue  # an element by itself
        known = in_turn[ends[0] : ends[now + 1]]
        members = known[component[last[known]] == now]
        if point[members].sum() > rank + VIOLATED:
            found.append((np.sort(members), int(rank)))
    return found
