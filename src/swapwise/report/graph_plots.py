"""Pictures of graphs; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.report.axes import COLOURS, axes_or_new, drawn_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = COLOURS[:2]

# Points, of the nodes of a graph and their names; those of many nodes are smaller.
NODE_RADIUS, LABEL_SIZE, SMALL_LABEL_SIZE = 4.5, 8.0, 6.5
MANY_NODES = 30

# Inches of a figure for ROOM_FOR nodes; more of them get a larger one, up to a factor.
WIDTH, HEIGHT, ROOM_FOR, LARGEST_FACTOR = 6.4, 5.6, 20, 3.0

# Up to this many nodes, the layout by graph distances is fast enough; beyond, springs are.
MOST_NODES_BY_DISTANCE = 100

# Where a name may stand, seen from its node: the first of those where it overlaps with least.
SIDES = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))


def plot_graph(
    model: Any,
    ax: Axes | None = None,
    *,
    positions: Mapping[Any, ArrayLike] | ArrayLike | None = None,
    labels: bool = True,
    threshold: float = 0.0,
) -> Axes:
    """Draw a graph: edges as wide as their weight is large, blue if positive, orange and dashed if negative.

    Nodes are coloured by their attribute ``field``, if any has one that is not zero.

    Parameters
    ----------
    model : fitted estimator with ``graph_``, or networkx graph
        Such as an ``IsingGraph``, or a pipeline that ends in one.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure, the larger the more nodes there are;
        ``ax.figure.savefig("x.png")`` saves it.
    positions : mapping from node to (x, y), or array of shape (n_nodes, 2), optional
        Where the nodes are; by default each component is laid out by itself, and they stand side by side,
        the largest first and nodes without an edge at the bottom.
    labels : bool
        Write the names of the nodes beside them.
    threshold : float
        Leave out edges whose weight is at most this large.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("rain", "umbrella", weight=1.5)
    >>> ax = plot_graph(graph)
    >>> [text.get_text() for text in ax.texts]
    ['rain', 'umbrella']
    """
    graph = getattr(drawn_model(model), "graph_", model)
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise TypeError(f"model must be a networkx graph or an estimator with graph_, got {model!r}")
    threshold = as_real(threshold, "threshold")
    weight = {(u, v): float(w) for u, v, w in graph.edges(data="weight", default=1.0) if abs(w) > threshold}
    place = layout(graph, list(weight)) if positions is None else _places(graph, positions)
    factor = min(max(1.0, (len(place) / ROOM_FOR) ** 0.5), LARGEST_FACTOR)
    axes = axes_or_new(ax, WIDTH * factor, HEIGHT * factor)
    _draw_edges(axes, weight, place)
    _draw_nodes(axes, graph, place)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    if labels:
        _write_beside(axes, place, SMALL_LABEL_SIZE if len(place) > MANY_NODES else LABEL_SIZE)
    return axes


def layout(graph: Any, edges: list[Any]) -> dict[Any, FloatArray]:
    """Return places in which an edge has a length of about 1, whatever component it is in."""
    import networkx as nx

    edges = [(u, v) for u, v in edges if u != v]
    linked = nx.Graph(edges)
    parts = sorted(nx.connected_components(linked), key=len, reverse=True)
    blocks = [
        # Nodes in the order of the graph, as that of a set would change from run to run.
        _component_layout(
            [node for node in graph if node in part], [edge for edge in edges if edge[0] in part]
        )
        for part in parts
    ]
    loose = [{node: np.zeros(2)} for node in graph if node not in linked]
    areas = sum(float(np.prod(_extent(block) + 1.0)) for block in blocks) + len(loose)
    widest = max([(areas * WIDTH / HEIGHT) ** 0.5, *(_extent(block)[0] + 1.0 for block in blocks)])
    place: dict[Any, FloatArray] = {}
    top = 0.0
    for group in (blocks, loose):
        top = _stack(group, widest, top, place)
    return {node: place[node] for node in graph}


def _component_layout(nodes: list[Any], edges: list[Any]) -> dict[Any, FloatArray]:
    """Return places of connected nodes, with the lower left corner at 0 and edges of length 1 in the mean."""
    import networkx as nx

    part = nx.Graph()
    part.add_nodes_from(nodes)
    part.add_edges_from(edges)
    if len(part) <= MOST_NODES_BY_DISTANCE:
        place = nx.kamada_kawai_layout(part, weight=None)
    else:
        place = nx.spring_layout(part, iterations=200, seed=0, weight=None)
    length = np.mean([np.linalg.norm(place[u] - place[v]) for u, v in edges])
    corner = np.min(list(place.values()), axis=0)
    return {node: (place[node] - corner) / length for node in nodes}


def _extent(block: dict[Any, FloatArray]) -> FloatArray:
    extent: FloatArray = np.max(list(block.values()), axis=0)
    return extent


def _stack(
    blocks: list[dict[Any, FloatArray]], widest: float, top: float, place: dict[Any, FloatArray]
) -> float:
    """Put blocks side by side in rows that hang from ``top``, one below the other; return where they end."""
    rows: list[list[dict[Any, FloatArray]]] = []
    used = np.inf
    for block in blocks:
        width = _extent(block)[0] + 1.0
        if used + width > widest + 1e-9:
            rows.append([])
            used = 0.0
        rows[-1].append(block)
        used += width
    for row in rows:
        height = max(_extent(block)[1] for block in row)
        gap = (widest - sum(_extent(block)[0] for block in row)) / len(row)
        left = gap / 2
        for block in row:
            corner = np.array([left, top - (height + _extent(block)[1]) / 2])
            place.update({node: corner + point for node, point in block.items()})
            left += _extent(block)[0] + gap
        top -= height + 1.0
    return top


def _places(graph: Any, positions: Any) -> dict[Any, FloatArray]:
    nodes = list(graph)
    if not isinstance(positions, Mapping):
        given = np.asarray(positions, dtype=float)
        if given.shape != (len(nodes), 2):
            raise ValueError(f"positions must have shape {(len(nodes), 2)}, got {given.shape}")
        return dict(zip(nodes, given, strict=True))
    if missing := [node for node in nodes if node not in positions]:
        raise ValueError(f"positions must have every node, but {missing[0]!r} is missing")
    return {node: np.asarray(positions[node], dtype=float) for node in nodes}


def _draw_edges(axes: Axes, weight: dict[Any, float], place: dict[Any, FloatArray]) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    largest = max(map(abs, weight.values()), default=1.0)
    signs: list[tuple[str, float, dict[str, Any]]] = [
        ("positive", 1.0, {"color": POSITIVE}),
        ("negative", -1.0, {"color": NEGATIVE, "linestyle": (0, (3, 1.2))}),
    ]
    in_legend = []
    for label, sign, look in signs:
        edges = [edge for edge, w in weight.items() if w * sign > 0]
        if edges:
            lines = [np.array([place[u], place[v]]) for u, v in edges]
            widths = [0.4 + 3.6 * abs(weight[edge]) / largest for edge in edges]
            axes.add_collection(LineCollection(lines, linewidths=widths, label=label, zorder=1, **look))
            in_legend.append(Line2D([], [], linewidth=2.0, label=label, **look))
    if in_legend:
        below: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, 0.0), "ncols": 2}
        axes.legend(handles=in_legend, frameon=False, **below)


def _draw_nodes(axes: Axes, graph: Any, place: dict[Any, FloatArray]) -> None:
    points = np.array(list(place.values())).reshape(-1, 2)
    field = np.array([float(value) for _, value in graph.nodes(data="field", default=0.0)])
    look: dict[str, Any] = {
        "s": (2 * NODE_RADIUS) ** 2,
        "edgecolors": "black",
        "linewidths": 0.6,
        "zorder": 2,
    }
    if not field.any():
        axes.scatter(*points.T, color="white", **look)
        return
    # Beyond 3 a variable has one value in 99.8 % of cases, and one that never varies has a field of about 20.
    largest = float(np.abs(field).max())
    limit = min(max(largest, 0.5), 3.0)
    x, y = points.T
    drawn = axes.scatter(x, y, c=field, cmap="PRGn", vmin=-limit, vmax=limit, **look)
    beyond = "both" if largest > limit else "neither"
    axes.figure.colorbar(drawn, ax=axes, shrink=0.6, label="field", extend=beyond)


def _write_beside(axes: Axes, place: dict[Any, FloatArray], font: float) -> None:
    """Write the name of each node on the side where it overlaps least with nodes and names before it."""
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # only now is it known how large the axes are
    points = axes.transData.transform(np.array(list(place.values())).reshape(-1, 2)) * 72 / figure.dpi
    whole = np.array([[0.0, 0.0, *figure.get_size_inches() * 72]])
    taken = np.column_stack([points - NODE_RADIUS, points + NODE_RADIUS])
    for node, point in zip(place, points, strict=True):
        size = np.array([0.6 * font * len(str(node)), 1.3 * font])
        offsets = [np.array(side) * (NODE_RADIUS + size / 2) for side in SIDES]
        boxes = [np.concatenate([point + offset - size / 2, point + offset + size / 2]) for offset in offsets]
        overlaps = [_overlap(box, taken) + size.prod() - _overlap(box, whole) for box in boxes]
        best = int(np.argmin(np.round(overlaps)))
        taken = np.vstack([taken, boxes[best]])
        centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": font, "zorder": 3}
        at, offset = tuple(place[node]), tuple(offsets[best])
        name = axes.annotate(str(node), at, offset, textcoords="offset points", **centred)
        name.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def _overlap(box: FloatArray, others: FloatArray) -> float:
    """Return the area that a box has in common with others; a box is left, bottom, right, top."""
    sizes = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(sizes, 0.0).prod(axis=1).sum())
