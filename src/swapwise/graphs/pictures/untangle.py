"""How cluttered a drawing of a graph is, and nodes moved until it is less so."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from swapwise.checks import FloatArray, IndexArray

# Points of the plane, one number each: conj(a) * b has the dot product and the turn from a to b.
Points = NDArray[np.complex128]

# In lengths of an edge: how far nodes keep from edges that are not theirs, and from each other.
_FROM_EDGES, _FROM_NODES = 0.32, 0.75

# Costs of a crossing, of a node on an edge, and of two nodes on each other, beside the stress of one node.
_CROSSING, _ON_EDGE, _ON_NODE = 0.5, 2.5, 3.0

# Nodes are tried at these distances from where they are, in these directions.
_RADII, _DIRECTIONS = (0.4, 0.15, 0.8, 1.4), 12

# Passes over all nodes, up to this many nodes times edges; the number of crossings that are counted to move a
# node once, and the least number of places tried. Graphs of 200 nodes take about a second.
_SWEEPS, _FEW, _MOST_WORK, _FEWEST_SPOTS = 6, 6000, 6e4, 9

# A crossing of weak edges disturbs less than one of strong edges, but it does.
_LEAST = 0.4


def clutter(places: FloatArray, ends: IndexArray, strength: FloatArray, distances: FloatArray) -> float:
    """Return the cost of crossings, of nodes close to edges or to each other, and of stress."""
    drawing = _Drawing(places, ends, strength, distances)
    costs = [drawing.costs(node, drawing.places[[node]]) for node in range(len(places))]
    return float(sum(stress[0] + mess[0] for stress, mess in costs))


def untangled(
    places: FloatArray, ends: IndexArray, strength: FloatArray, distances: FloatArray
) -> FloatArray:
    """Return the places after moving one node at a time, the worst first, to where it costs least.

    Nodes that overlap nothing stay. Every move lowers the costs of :func:`clutter` that concern the node.
    """
    drawing = _Drawing(places, ends, strength, distances)
    turns = np.exp(2j * np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS)
    around = np.concatenate([[0.0], *(radius * turns for radius in _RADII)])
    for _ in range(_SWEEPS if len(places) * len(ends) <= _FEW else 2):
        mess = np.array([drawing.costs(node, at[None])[1][0] for node, at in enumerate(drawing.places)])
        before = drawing.places.copy()
        for node in np.argsort(-mess, kind="stable")[: np.count_nonzero(mess > 1e-9)].tolist():
            some = int(_MOST_WORK / (np.count_nonzero(ends == node) * len(ends) + len(ends) + len(places)))
            tried = drawing.places[node] + around[: max(some, _FEWEST_SPOTS)]
            stress, in_the_way = drawing.costs(node, tried)
            costs = stress + in_the_way
            best = int(np.argmin(costs))
            if costs[best] < costs[0] - 1e-9:
                drawing.places[node] = tried[best]
        if np.array_equal(before, drawing.places):
            break
    return np.column_stack([drawing.places.real, drawing.places.imag])


class _Drawing:
    """Places that change, and the cost of a node at other places."""

    def __init__(
        self, places: FloatArray, ends: IndexArray, strength: FloatArray, distances: FloatArray
    ) -> None:
        self.places: Points = places[:, 0] + 1j * places[:, 1]
        self._ends, self._loud = ends, _LEAST + (1.0 - _LEAST) * strength
        self._apart = distances + np.eye(len(places))

    def costs(self, node: int, spots: Points) -> tuple[FloatArray, FloatArray]:
        """Return the stress of a node at each of the spots, and the cost of overlaps and crossings there."""
        own = (self._ends == node).any(axis=1)
        far_ends, others = self._ends[own].sum(axis=1) - node, self._ends[~own]
        tails, heads = self.places[others.T]
        stress, cost = self._from_nodes(node, spots)
        cost += _ON_EDGE * (_closeness(spots[:, None], tails, heads) @ self._loud[~own])
        if len(far_ends):
            close = _closeness(self.places, spots[:, None, None], self.places[far_ends][:, None])
            close[:, :, node] = 0.0
            close[:, np.arange(len(far_ends)), far_ends] = 0.0
            cost += _ON_EDGE * (close.sum(axis=2) @ self._loud[own])
            crossing = _cross(spots[:, None, None], self.places[far_ends][:, None], tails, heads)
            crossing &= (others != far_ends[:, None, None]).all(axis=2)
            cost += _CROSSING * ((crossing @ self._loud[~own]) @ self._loud[own])
        return stress, cost

    def _from_nodes(self, node: int, spots: Points) -> tuple[FloatArray, FloatArray]:
        away, wanted = np.abs(spots[:, None] - self.places), self._apart[node]
        stress, near = ((away - wanted) / wanted) ** 2, np.maximum(0.0, 1.0 - away / _FROM_NODES)
        stress[:, node] = near[:, node] = 0.0
        total: FloatArray = 4.0 * stress.mean(axis=1) + 0.25 * stress[:, wanted <= 1.0].sum(axis=1)
        return total, _ON_NODE * near.sum(axis=1)


def _closeness(points: Points, tails: Points, heads: Points) -> FloatArray:
    """Return 1 for points on a segment, falling to 0 for those far enough from it."""
    along, seen = np.conj(heads - tails), points - tails
    length = np.maximum(np.abs(along), 1e-9)
    turned = seen * (along / length)  # along the segment, and off it
    beyond = turned.real - np.clip(turned.real, 0.0, length)
    return np.maximum(0.0, 1.0 - np.hypot(beyond, turned.imag) / _FROM_EDGES)


def _cross(a: Points, b: Points, c: Points, d: Points) -> NDArray[Any]:
    one, other = np.conj(b - a), np.conj(d - c)
    first = (one * (c - a)).imag * (one * (d - a)).imag < 0
    second = (other * (a - c)).imag * (other * (b - c)).imag < 0
    return np.asarray(first & second)
