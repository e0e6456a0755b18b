"""Where the nodes of a graph are drawn: by stress, untangled, with components side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, get_args

import networkx as nx
import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.graphs.pictures.untangle import clutter, untangled

Layout = Literal["stress", "spring", "circle"]

# Width over height that packed components come close to: about that of a page across.
SHAPE = 1.3

# Beyond some edges, places move apart more slowly than distances in the graph grow: a long chain bends
# instead of leaving the page empty above and below.
_NEAR, _BEND = 3.0, 0.75

# By nodes times edges: the numbers of random starts and of layouts to untangle, which take about a second.
_EFFORT = {600.0: (24, 6), 6000.0: (8, 2), np.inf: (2, 1)}

# Beyond this many nodes, stress (quadratic in the nodes) is too slow.
_MOST = 500

# Stress counts differences by this power of the distance: edges matter more than with the usual 2.
_POWER = 3.0

# Rounds of majorisation: places move by less than a hundredth of an edge long before.
_ROUNDS = 150

# A weak edge is this much longer than the strongest in a graph that is so dense that distances say little.
_STRETCH = 0.8

# Room between components, and between leaves around a node, in edges.
_GAP, _BESIDE = 1.0, 0.9


def layout(
    nodes: Sequence[Any], weights: Mapping[tuple[Any, Any], float], how: Layout = "stress"
) -> dict[Any, FloatArray]:
    """Return places in which an edge has a length of about 1, whatever component it is in.

    The same graph always gets the same places.
    """
    if how not in get_args(Layout):
        raise ValueError(f"layout must be one of {', '.join(map(repr, get_args(Layout)))}, got {how!r}")
    if how == "circle":
        return _circle(nodes)
    edges = {edge: abs(weight) for edge, weight in weights.items() if edge[0] != edge[1]}
    linked = nx.Graph(list(edges))
    component = _springs if how == "spring" else _by_stress
    blocks = [
        # Nodes in the order of the graph, as that of a set would change from run to run.
        _laid_out([node for node in nodes if node in part], edges, component)
        for part in sorted(nx.connected_components(linked), key=len, reverse=True)
    ]
    place: dict[Any, FloatArray] = {}
    width = _best_width(blocks)
    top = _stack(blocks, width, 0.0, place)
    _stack([{node: np.zeros(2)} for node in nodes if node not in linked], width, top, place)
    return {node: place[node] for node in nodes}


def _circle(nodes: Sequence[Any]) -> dict[Any, FloatArray]:
    """Return places on a circle, clockwise from the top, with neighbours 1 apart."""
    n = len(nodes)
    radius = 0.5 / np.sin(np.pi / n) if n > 1 else 0.0
    turn = np.pi / 2 - 2 * np.pi * np.arange(n) / max(n, 1)
    spots = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return dict(zip(nodes, spots, strict=True))


Component = Callable[[int, IndexArray, FloatArray], FloatArray]


def _laid_out(
    nodes: list[Any], strengths: Mapping[tuple[Any, Any], float], component: Component
) -> dict[Any, FloatArray]:
    """Return places of connected nodes: wide, lower left corner at 0, edges of median length 1."""
    number = {node: at for at, node in enumerate(nodes)}
    inside = {edge: size for edge, size in strengths.items() if edge[0] in number}
    ends = np.array([[number[u], number[v]] for u, v in inside], dtype=np.intp)
    strength = np.array(list(inside.values()), dtype=np.float64)
    strength /= strength.max() or 1.0
    places = _lying(component(len(nodes), ends, strength))
    lengths = np.linalg.norm(places[ends[:, 0]] - places[ends[:, 1]], axis=1)
    places = (places - places.min(axis=0)) / (np.median(lengths) or 1.0)
    return dict(zip(nodes, places, strict=True))


def _lying(places: FloatArray) -> FloatArray:
    """Return the places turned so that they are wide rather than high, the first node at the upper left."""
    centred = places - places.mean(axis=0)
    turned: FloatArray = centred @ np.linalg.svd(centred, full_matrices=False)[2].T
    if turned.shape[1] < 2:
        turned = np.column_stack([turned, np.zeros(len(turned))])
    return turned * np.where(turned[0] * [1.0, -1.0] > 0, -1.0, 1.0)


def _springs(n: int, ends: IndexArray, strength: FloatArray) -> FloatArray:
    graph = nx.empty_graph(n)
    graph.add_weighted_edges_from((u, v, size) for (u, v), size in zip(ends.tolist(), strength, strict=True))
    found = nx.spring_layout(graph, iterations=200 if n <= _MOST else 50, seed=0, weight="weight")
    return np.array([found[node] for node in range(n)])


def _by_stress(n: int, ends: IndexArray, strength: FloatArray) -> FloatArray:
    """Return the least cluttered of several layouts of small stress that were untangled."""
    if n > _MOST:
        return _springs(n, ends, np.ones(len(ends)))
    if n == 2:
        return np.array([[0.0, 0.0], [1.0, 0.0]])
    distances = _distances(n, ends, strength)
    starts = [_scaled(distances)]
    rng = np.random.default_rng(0)
    n_random, n_kept = next(effort for most, effort in _EFFORT.items() if n * len(ends) <= most)
    starts += [rng.standard_normal((n, 2)) * n**0.5 for _ in range(n_random)]
    firm, drawn = _firmness(n, ends), (ends, strength, distances)
    found = [_majorised(start, distances, firm) for start in starts]
    found = sorted(found, key=lambda places: clutter(places, *drawn))[:n_kept]
    return min((untangled(places, *drawn) for places in found), key=lambda places: clutter(places, *drawn))


def _distances(n: int, ends: IndexArray, strength: FloatArray) -> FloatArray:
    """Return how far apart nodes should be.

    In sparse graphs all edges are equally long. In dense ones nearly all nodes are within two edges of each
    other, and strong edges are shorter instead, so that what belongs together is seen. Many leaves around a
    node lie on a ring that has room for them.
    """
    density = min(1.0, max(0.0, (2 * len(ends) / n - 4.0) / 6.0))
    lengths = 1.0 + _STRETCH * density * (1.0 - strength)
    lengths /= np.median(lengths)
    degrees = np.bincount(ends.ravel(), minlength=n)[ends]
    ring = np.where(degrees.min(axis=1) == 1, _BESIDE * degrees.max(axis=1) / (2 * np.pi), 0.0)
    lengths = np.maximum(lengths, ring)
    links = scipy.sparse.coo_array((lengths, (ends[:, 0], ends[:, 1])), shape=(n, n))
    distances: FloatArray = scipy.sparse.csgraph.shortest_path(links.tocsr(), directed=False)
    return np.where(distances > _NEAR, _NEAR * (np.maximum(distances, 1e-9) / _NEAR) ** _BEND, distances)


def _firmness(n: int, ends: IndexArray) -> FloatArray:
    """Return additional weights, which keep leaves on their ring."""
    degrees = np.bincount(ends.ravel(), minlength=n)[ends]
    firm = np.zeros((n, n))
    firm[ends[:, 0], ends[:, 1]] = np.where(degrees.min(axis=1) == 1, 2.0 * degrees.max(axis=1), 0.0)
    return firm + firm.T


def _scaled(distances: FloatArray) -> FloatArray:
    """Return places by classical multidimensional scaling."""
    squares = distances**2
    squares = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-squares / 2)
    places: FloatArray = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 1e-3))
    return places


def _majorised(places: FloatArray, distances: FloatArray, firm: FloatArray) -> FloatArray:
    """Return places of small stress ``Σ (1 + c_uv) (‖x_u − x_v‖ − d_uv)²/d_uv³``, by majorisation.

    E. Gansner, Y. Koren and S. North (2004), *Graph drawing by stress majorization*.
    """
    n = len(places)
    weight = (distances + np.eye(n)) ** -_POWER * (1.0 - np.eye(n))
    weight *= 1.0 + firm
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n)  # on the complement of common shifts
    for _ in range(_ROUNDS):
        apart = np.hypot(*(places.T[:, :, None] - places.T[:, None]))
        pull = -weight * distances / np.maximum(apart, 1e-9)
        pull[np.diag_indices(n)] = 0.0
        pull[np.diag_indices(n)] = -pull.sum(axis=1)
        moved = inverse @ (pull @ places)
        step = np.abs(moved - places).max()
        places = moved
        if step < 1e-3:
            break
    return places


def _extent(block: dict[Any, FloatArray]) -> FloatArray:
    extent: FloatArray = np.max(list(block.values()), axis=0)
    return extent


def _best_width(blocks: list[dict[Any, FloatArray]]) -> float:
    """Return the width at which rows of components leave least of a page empty."""
    widths = [_extent(block)[0] + _GAP for block in blocks]
    totals = np.cumsum(widths)
    tried = sorted({max([*widths, total]) for total in totals}) or [1.0]

    def largest_side(width: float) -> float:
        height = -_stack(blocks, width, 0.0, {})
        return max(width / SHAPE, height)

    return float(min(tried, key=largest_side))


def _stack(
    blocks: list[dict[Any, FloatArray]], widest: float, top: float, place: dict[Any, FloatArray]
) -> float:
    """Put blocks side by side in rows that hang from ``top``, one below the other; return where they end."""
    rows: list[list[dict[Any, FloatArray]]] = []
    used = np.inf
    for block in blocks:
        width = _extent(block)[0] + _GAP
        if used + width > widest + 1e-9:
            rows.append([])
            used = 0.0
        rows[-1].append(block)
        used += width
    for row in rows:
        height = max(_extent(block)[1] for block in row)
        left = (widest - sum(_extent(block)[0] + _GAP for block in row) + _GAP) / 2
        for block in row:
            corner = np.array([left, top - (height + _extent(block)[1]) / 2])
            place.update({node: corner + point for node, point in block.items()})
            left += _extent(block)[0] + _GAP
        top -= height + _GAP
    return top
