"""What is drawn of a graph, and how large it can be: nodes, edges, and names inside or beside the nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.graphs.pictures.labels import SIDES, Obstacles, chosen_sides, offsets, wrapped

# Points. Names that can be read are written into nodes up to a radius, and else beside smaller ones.
LABEL, SMALL_LABEL, SMALLEST_INSIDE, MANY_NODES = 8.0, 7.0, 6.0, 40
LARGEST_RADIUS, SMALL_RADIUS, LEAST_RADIUS = 16.0, 4.5, 2.0

# Share of a circle's width that a name may take, and of the room between nodes that a radius may.
_WITHIN, OF_ROOM, _SMALL_OF_ROOM = 0.88, 0.28, 0.2

# Lines of text are this much apart, in sizes of the font.
_LINE_HEIGHT = 1.25

# Points around the picture, so that lines around nodes are whole, and between a node and its name.
_EDGE_OF_PAGE, _APART = 3.0, 2.0

# Points between nodes, even where few of them have much room.
_FARTHEST = 90.0

#: Width and height of a text in points, for a size of the font.
Measure = Callable[[str, float], tuple[float, float]]


@dataclass(frozen=True)
class DrawnNodes:
    keys: list[Any]
    names: list[str]
    groups: list[Hashable] | None
    field: FloatArray | None
    diameter: FloatArray | None


@dataclass(frozen=True)
class DrawnEdges:
    """Edges of a graph, the weakest first, by the numbers of their nodes; ``shown`` from 0 (pale) to 1."""

    ends: IndexArray
    weight: FloatArray
    shown: FloatArray

    @property
    def strength(self) -> FloatArray:
        size = np.abs(self.weight)
        strength: FloatArray = size / (size.max(initial=0.0) or 1.0)
        return strength


@dataclass(frozen=True)
class DrawingSizes:
    """Sizes in points; ``sides`` are the numbers of the names' sides, or None if names are inside.

    ``limits`` are those of the axes: left, right, bottom, top.
    """

    radius: FloatArray
    font: float
    sides: IndexArray | None
    shifts: FloatArray
    limits: FloatArray


def read_nodes(graph: Any, labels: Any, groups: Any, node_size: Any) -> DrawnNodes:
    keys = list(graph)
    if isinstance(labels, (bool, np.bool_)):
        names = [str(key) if labels else "" for key in keys]
    else:
        names = [str(name) for name in one_each(labels, keys, "labels")]
    field = np.array([float(value) for _, value in graph.nodes(data="field", default=0.0)])
    diameter = None
    if node_size is not None:
        alike = isinstance(node_size, Real)
        given = [node_size] * len(keys) if alike else one_each(node_size, keys, "node_size")
        diameter = np.array([float(size) for size in given])
        if not (diameter > 0).all() or not np.isfinite(diameter).all():
            raise ValueError(f"node_size must be positive, got {node_size!r}")
    return DrawnNodes(
        keys,
        names,
        None if groups is None else one_each(groups, keys, "groups"),
        field if field.any() else None,
        diameter,
    )


def one_each(given: Any, keys: Sequence[Any], name: str) -> list[Any]:
    """Return one value per node, by name or in order."""
    if hasattr(given, "index") and hasattr(given, "to_dict"):  # a pandas Series
        given = given.to_dict()
    if isinstance(given, Mapping):
        if missing := [key for key in keys if key not in given]:
            raise ValueError(f"{name} must have every node, but {missing[0]!r} is missing")
        return [given[key] for key in keys]
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise TypeError(f"{name} must be a mapping or a sequence with one per node, got {given!r}")
    if len(given) != len(keys):
        raise ValueError(f"{name} must have one for each of {len(keys)} nodes, got {len(given)}")
    return list(given)


def drawing_sizes(
    places: FloatArray, nodes: DrawnNodes, edges: DrawnEdges, room: tuple[float, float], measure: Measure
) -> DrawingSizes:
    if not len(places):
        return DrawingSizes(np.zeros(0), LABEL, None, np.zeros((0, 2)), np.array([-1.0, 1.0, -1.0, 1.0]))
    margin = np.full(4, LARGEST_RADIUS)
    for _ in range(3):  # sizes follow from the scale, and the scale from what stands out
        scale, limits = _scale(places, np.array(room), margin)
        radius, font, inside = _sizes(places * scale, nodes, measure)
        points = (places - limits[[0, 2]]) * scale
        boxes = np.hstack([points - radius[:, None], points + radius[:, None]])
        sides, shifts = None, np.zeros((len(points), 2))
        if not inside and any(nodes.names):
            sides, shifts, names = _beside(points, radius, nodes, edges, np.array(room), font, measure)
            boxes = np.vstack([boxes, names])
        out = np.concatenate([points.min(axis=0) - boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
        out[2:] -= points.max(axis=0)
        margin = np.maximum(out, 0.0) + _EDGE_OF_PAGE
    return DrawingSizes(radius, font, sides, shifts, _scale(places, np.array(room), margin)[1])


def _scale(places: FloatArray, room: FloatArray, margin: FloatArray) -> tuple[float, FloatArray]:
    """Return points per unit, and limits that centre the graph; margins are left, below, right, above."""
    low, high = places.min(axis=0), places.max(axis=0)
    free = np.maximum(room - margin[:2] - margin[2:], 0.2 * room)
    fill = (free / np.maximum(high - low, 1e-9)).min()  # and less of it, where nodes are few
    scale = float(min(fill, _FARTHEST / room_between(places)))
    corner = low - (margin[:2] + (free - (high - low) * scale) / 2) / scale
    far = corner + room / scale
    return scale, np.array([corner[0], far[0], corner[1], far[1]])


def _sizes(points: FloatArray, nodes: DrawnNodes, measure: Measure) -> tuple[FloatArray, float, bool]:
    room = room_between(points)
    large = min(LARGEST_RADIUS, OF_ROOM * room)
    radius = np.full(len(points), large) if nodes.diameter is None else nodes.diameter / 2
    widths = [max((measure(name, 1.0)[0], 1e-9)) for name in nodes.names]
    font = min([LABEL + 2.0, *(2 * _WITHIN * radius / widths), *(1.1 * radius)])
    if font >= SMALLEST_INSIDE or not any(nodes.names):
        return radius, float(font), True
    font = SMALL_LABEL if len(points) > MANY_NODES else LABEL
    if nodes.diameter is None:
        radius = np.full(len(points), max(LEAST_RADIUS, min(SMALL_RADIUS, _SMALL_OF_ROOM * room)))
    return radius, font, False


def room_between(points: FloatArray) -> float:
    """Return the distance that nearly all nodes keep from the one next to them; of one node, 100."""
    if len(points) < 2:
        return 100.0
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    np.fill_diagonal(apart, np.inf)
    return max(float(np.quantile(apart.min(axis=1), 0.05)), 1e-9)


def _beside(
    points: FloatArray,
    radius: FloatArray,
    nodes: DrawnNodes,
    edges: DrawnEdges,
    room: FloatArray,
    font: float,
    measure: Measure,
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """Return the sides of names beside nodes, their middles seen from the nodes, and their boxes."""
    sizes = np.array([measure(wrapped(name), font) for name in nodes.names])
    picture = Obstacles(
        points, radius + _APART, points[edges.ends], edges.strength, np.array([0.0, 0.0, *room])
    )
    sides = chosen_sides(picture, sizes)
    shifts = offsets(sizes, picture.radius)[np.arange(len(points)), sides]
    middles = points + shifts
    return sides, shifts, np.hstack([middles - sizes / 2, middles + sizes / 2])


def aligned(side: int) -> str:
    across = SIDES[side][0]
    return "left" if across > 0 else "right" if across < 0 else "center"


def line_height(text: str, font: float) -> float:
    return _LINE_HEIGHT * font * (text.count("\n") + 1)
