"""Where names stand beside their nodes: on the side where they cover least."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray

# Seen from the node: straight, aslant, and shifted along the node's upper and lower end, or along its sides.
_STRAIGHT = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
_SHIFTED = tuple((shift, end) for shift in (0.5, -0.5, 0.25, -0.25, 0.75, -0.75) for end in (1, -1))
_ALONG = tuple((end, shift) for shift in (0.5, -0.5) for end in (1, -1))
_CLOSE = (*_STRAIGHT, *_SHIFTED, *_ALONG)

# Where edges leave no room beside the node, names stand off: by this many points.
_STAND_OFF = (0.0, 4.0, 9.0)

#: Where a name may stand, seen from its node; of equally good sides the first is taken.
SIDES: FloatArray = np.array(_CLOSE * len(_STAND_OFF), dtype=np.float64)
_AWAY: FloatArray = np.repeat(_STAND_OFF, len(_CLOSE))

# Costs: to cover a node or a name altogether, to leave the picture, to cover as much of the strongest
# edge as the name is high, to stand towards the middle, and to stand off by a point; a later side costs a
# little, so that names stand alike where they can.
_ON_NODE, _ON_NAME, _OUTSIDE, _ON_EDGE, _INWARD, _OFF, _RANK = 12.0, 12.0, 60.0, 2.0, 0.15, 0.03, 0.005

# A weak edge through a name still makes it hard to read.
_LEAST = 0.4

# Names change sides until none gains, which takes two or three rounds.
_ROUNDS = 6

# Letters of a line, after which a name goes on in the next one.
_LINE = 16


class Obstacles(NamedTuple):
    """What names keep off, in points: nodes, edges from end to end, and the frame."""

    nodes: FloatArray
    radius: FloatArray
    edges: FloatArray
    strength: FloatArray
    frame: FloatArray


def wrapped(name: str) -> str:
    """Return a name in short lines, broken where words end."""
    lines = [""]
    for word in re.findall(r"[^\s_/.\-]+[\s_/.\-]*|[\s_/.\-]+", name):
        if lines[-1] and len((lines[-1] + word).rstrip()) > _LINE:
            lines.append("")
        lines[-1] += word
    return "\n".join(line.strip() for line in lines)


def offsets(sizes: FloatArray, radius: FloatArray) -> FloatArray:
    """Return the middle of each name on each side, seen from its node: (n, side, 2)."""
    aslant = (np.abs(SIDES) == 1).all(axis=1)
    reach = np.where(aslant, 0.6, 1.0)[:, None] * (radius[:, None, None] + _AWAY[:, None])
    away = np.where(np.abs(SIDES) == 1, SIDES, 0.0) * reach
    found: FloatArray = away + SIDES * sizes[:, None] / 2
    return found


def chosen_sides(picture: Obstacles, sizes: FloatArray) -> IndexArray:
    """Return the side of each name: in turns, each goes where it covers least, until none gains."""
    middles = picture.nodes[:, None] + offsets(sizes, picture.radius)
    half = sizes[:, None] / 2
    boxes = np.concatenate([middles - half, middles + half], axis=2)
    fixed = _fixed_costs(boxes, picture) + _INWARD * _inwardness(picture.nodes)
    fixed += _RANK * (np.arange(len(SIDES)) % len(_CLOSE)) + _OFF * _AWAY
    side = fixed.argmin(axis=1)
    order = np.argsort(-fixed.min(axis=1), kind="stable").tolist()
    for _ in range(_ROUNDS):
        before = side.copy()
        for name in order:
            taken = np.delete(boxes[np.arange(len(side)), side], name, axis=0)
            covered = overlaps(boxes[name], taken).sum(axis=1) / sizes[name].prod()
            side[name] = np.argmin(fixed[name] + _ON_NAME * covered)
        if np.array_equal(before, side):
            break
    return side


def _inwardness(nodes: FloatArray) -> FloatArray:
    """Return from 0 to 1 how much each side of each node points to the middle of all: (n, side)."""
    away = nodes - nodes.mean(axis=0)
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    inward: FloatArray = (1.0 - away @ (SIDES / np.linalg.norm(SIDES, axis=1)[:, None]).T) / 2
    return inward


def _fixed_costs(boxes: FloatArray, picture: Obstacles) -> FloatArray:
    """Return the cost of boxes (n, side, 4) that cover nodes and edges, or leave the frame."""
    flat = boxes.reshape(-1, 4)
    area = np.maximum((flat[:, 2:] - flat[:, :2]).prod(axis=1), 1e-9)
    discs = np.hstack([picture.nodes - picture.radius[:, None], picture.nodes + picture.radius[:, None]])
    cost = _ON_NODE * overlaps(flat, discs).sum(axis=1) / area
    cost += _OUTSIDE * (1.0 - overlaps(flat, picture.frame[None]).sum(axis=1) / area)
    height = np.maximum(flat[:, 3] - flat[:, 1], 1e-9)
    loud = _LEAST + (1.0 - _LEAST) * picture.strength
    cost += _ON_EDGE * (covered_length(flat, picture.edges) @ loud) / height
    return cost.reshape(boxes.shape[:2])


def overlaps(boxes: FloatArray, others: FloatArray) -> FloatArray:
    """Return the area that boxes have in common with others; a box is left, bottom, right, top."""
    sizes = np.minimum(boxes[:, None, 2:], others[:, 2:]) - np.maximum(boxes[:, None, :2], others[:, :2])
    areas: FloatArray = np.maximum(sizes, 0.0).prod(axis=2)
    return areas


def covered_length(boxes: FloatArray, edges: FloatArray) -> FloatArray:
    """Return how much of each edge (e, 2, 2) lies in each box (k, 4): an array (k, e)."""
    begin, along = edges[:, 0], edges[:, 1] - edges[:, 0]
    safe = np.where(np.abs(along) < 1e-9, 1e-9, along)
    first = (boxes[:, None, :2] - begin) / safe
    last = (boxes[:, None, 2:] - begin) / safe
    enter = np.minimum(first, last).max(axis=2).clip(min=0.0)
    leave = np.maximum(first, last).min(axis=2).clip(max=1.0)
    length: FloatArray = np.maximum(0.0, leave - enter) * np.linalg.norm(along, axis=1)
    return length
