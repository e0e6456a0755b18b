"""Pictures of graphs; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, as_real
from swapwise.report.axes import COLOURS, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = COLOURS[:2]

# Points, of the nodes of a graph and their names.
NODE_RADIUS, LABEL_SIZE = 4.5, 8.0

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
        Such as an ``IsingGraph``.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure, which pyplot does not know of.
    positions : mapping from node to (x, y), or array of shape (n_nodes, 2), optional
        Where the nodes are; by default where springs along the edges draw them, those without in a row.
    labels : bool
        Write the names of the nodes beside them.
    threshold : float
        Leave out edges whose weight is at most so large.

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
    graph = getattr(model, "graph_", model)
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise TypeError(f"model must be a networkx graph or an estimator with graph_, got {model!r}")
    threshold = as_real(threshold, "threshold")
    weight = {(u, v): float(w) for u, v, w in graph.edges(data="weight", default=1.0) if abs(w) > threshold}
    place = _spring_layout(graph, list(weight)) if positions is None else _places(graph, positions)
    axes = axes_or_new(ax, height=5.6)
    _draw_edges(axes, weight, place)
    _draw_nodes(axes, graph, place)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    if labels:
        _write_beside(axes, place)
    return axes


def _spring_layout(graph: Any, edges: list[Any]) -> dict[Any, FloatArray]:
    import networkx as nx

    linked = nx.Graph(edges)
    place = nx.spring_layout(linked, iterations=200, seed=0)
    # No spring holds the others, and they would fly off: a row beneath.
    loose = [node for node in graph if node not in linked]
    bottom = min((float(point[1]) for point in place.values()), default=0.0) - 0.3
    for node, x in zip(loose, np.linspace(-1.0, 1.0, len(loose) + 2)[1:-1], strict=True):
        place[node] = np.array([x, bottom])
    return {node: place[node] for node in graph}


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


def _write_beside(axes: Axes, place: dict[Any, FloatArray]) -> None:
    """Write the name of each node on the side where it overlaps least with nodes and names before it."""
    from matplotlib.patheffects import withStroke

    figure = axes.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()  # only now is it known how large the axes are
    points = axes.transData.transform(np.array(list(place.values())).reshape(-1, 2)) * 72 / figure.dpi
    whole = np.array([[0.0, 0.0, *figure.get_size_inches() * 72]])
    taken = np.column_stack([points - NODE_RADIUS, points + NODE_RADIUS])
    for node, point in zip(place, points, strict=True):
        size = np.array([0.6 * LABEL_SIZE * len(str(node)), 1.3 * LABEL_SIZE])
        offsets = [np.array(side) * (NODE_RADIUS + size / 2) for side in SIDES]
        boxes = [np.concatenate([point + offset - size / 2, point + offset + size / 2]) for offset in offsets]
        overlaps = [_overlap(box, taken) + size.prod() - _overlap(box, whole) for box in boxes]
        best = int(np.argmin(np.round(overlaps)))
        taken = np.vstack([taken, boxes[best]])
        centred: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": LABEL_SIZE, "zorder": 3}
        at, offset = tuple(place[node]), tuple(offsets[best])
        name = axes.annotate(str(node), at, offset, textcoords="offset points", **centred)
        name.set_path_effects([withStroke(linewidth=2.0, foreground="white")])


def _overlap(box: FloatArray, others: FloatArray) -> float:
    """Return the area that a box has in common with others; a box is left, bottom, right, top."""
    sizes = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(sizes, 0.0).prod(axis=1).sum())
