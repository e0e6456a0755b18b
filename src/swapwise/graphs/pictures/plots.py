"""Pictures of graphs; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from swapwise.charts.chart import COLOURS
from swapwise.charts.figures import axes_or_new, drawn_model
from swapwise.checks import FloatArray, as_real
from swapwise.graphs.pictures.labels import covered_length, overlaps, wrapped
from swapwise.graphs.pictures.layout import Layout
from swapwise.graphs.pictures.layout import layout as laid_out
from swapwise.graphs.pictures.sizes import (
    LABEL,
    LARGEST_RADIUS,
    MANY_NODES,
    OF_ROOM,
    SMALLEST_INSIDE,
    DrawingSizes,
    DrawnEdges,
    DrawnNodes,
    aligned,
    drawing_sizes,
    line_height,
    one_each,
    read_nodes,
    room_between,
)
from swapwise.graphs.pictures.words import words_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

POSITIVE, NEGATIVE = COLOURS[:2]

Alpha = Literal["weight", "frequency"]

# Points that an edge of median length takes in a new figure, and the radius of a node (of many), at least.
_EDGE, _RADIUS, _SMALL_RADIUS = 40.0, 12.0, 7.5

# Edges with numbers on them are so much longer.
_ROOM_FOR_WEIGHTS = 1.5

# Inches of a new figure, and of the legend below the graph and the bar of fields beside it.
_NARROWEST, _LOWEST, _LARGEST, _BELOW, _BESIDE = 4.2, 3.0, 16.0, 0.5, 0.8

# Of edges: how wide in points, among few nodes, and how pale those that are least shown.
_THINNEST, _WIDEST, _PALEST = 0.9, 5.0, 0.45

# Points of a dash and of the gap after it, on edges of any width.
_DASH = (5.0, 2.5)

# Beyond 3 a variable has one value in 99.8 % of cases, and one that never varies has a field of about 20.
_SMALLEST_FIELD, _LARGEST_FIELD = 0.5, 3.0

# Where on an edge its weight may be written, from the middle outwards.
_SPOTS = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


def plot_graph(
    model: Any,
    ax: Axes | None = None,
    *,
    layout: Layout = "stress",
    positions: Mapping[Any, ArrayLike] | ArrayLike | None = None,
    labels: Any = True,
    threshold: float = 0.0,
    groups: Any = None,
    node_size: Any = None,
    edge_labels: bool = False,
    alpha: Alpha | None = "weight",
) -> Axes:
    """Draw a graph: edges as wide as their weight is large, blue if positive, orange and dashed if negative.

    Short names are written into the nodes, longer ones beside them, where they cover least. Nodes are
    coloured by group, or else by their attribute ``field``, if any has one that is not zero.

    Parameters
    ----------
    model : fitted estimator with ``graph_``, or networkx graph
        Such as an ``IsingGraph``, or a pipeline that ends in one.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure that is as large as the graph needs;
        ``ax.figure.savefig("x.png")`` saves it.
    layout : {"stress", "spring", "circle"}
        Distances on the page like those in the graph, with nodes moved off edges and crossings undone;
        springs along the edges; or a circle in the order of the nodes, group by group. The first two lay
        out each component by itself: they stand side by side, the largest first and nodes without an edge
        at the bottom.
    positions : mapping from node to (x, y), or array of shape (n_nodes, 2), optional
        Where the nodes are, instead of a layout: those of another picture, to compare two graphs.
    labels : bool, mapping from node to str, or sequence of str
        Whether to write the names of the nodes, or what to write instead.
    threshold : float
        Leave out edges whose weight is at most this large.
    groups : mapping from node to group, or sequence, optional
        What nodes belong to, such as the scale of a questionnaire: one colour each.
    node_size : float, mapping from node to float, or sequence, optional
        Diameter in points; by default what names and the room between nodes ask for.
    edge_labels : bool
        Write the weights on the edges.
    alpha : {"weight", "frequency"} or None
        Edges are the paler the smaller their weight, or their attribute ``frequency``, such as the share of
        bootstrap samples that have the edge. None for none.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    plot_centrality : how central the vertices are.
    IsingGraph, GaussianGraph, MixedGraph : what learns graphs.

    Examples
    --------
    >>> import networkx as nx
    >>> graph = nx.Graph()
    >>> graph.add_edge("rain", "umbrella", weight=1.5)
    >>> ax = plot_graph(graph)
    >>> [text.get_text() for text in ax.texts]
    ['rain', 'umbrella']
    """
    drawn = drawn_model(model)
    graph = getattr(drawn, "graph_", model)
    if not hasattr(graph, "nodes") or not hasattr(graph, "edges"):
        raise TypeError(f"model must be a networkx graph or an estimator with graph_, got {model!r}")
    nodes = read_nodes(graph, labels, groups, node_size)
    edges = _edges(graph, as_real(threshold, "threshold"), alpha)
    places = _laid_out(nodes, edges, layout) if positions is None else _given(nodes.keys, positions)
    axes = axes_or_new(ax, *_figure_size(nodes, places, _ROOM_FOR_WEIGHTS if edge_labels else 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    title = words_of(drawn).weight + ("; pale: seldom chosen" if alpha == "frequency" else "")
    widest = float(np.clip(_WIDEST * (25 / max(len(places), 1)) ** 0.5, _WIDEST / 2, _WIDEST))
    _draw_legends(axes, nodes, edges, title, widest)
    room = _room(axes)
    sizes = drawing_sizes(places, nodes, edges, room, _text_size)
    _draw_edges(axes, edges, places, widest, _dashes(edges, places, sizes, room[0]))
    _draw_nodes(axes, nodes, places, sizes)
    _write_names(axes, nodes, places, sizes)
    left, right, bottom, top = sizes.limits.tolist()
    axes.set_xlim(left, right, auto=True)  # as limits that are fixed would not give way to the aspect
    axes.set_ylim(bottom, top, auto=True)
    if edge_labels:
        _write_weights(axes, edges, places, sizes)
    return axes


def _edges(graph: Any, threshold: float, alpha: Alpha | None) -> DrawnEdges:
    if alpha is not None and alpha not in get_args(Alpha):
        raise ValueError(f"alpha must be 'weight', 'frequency' or None, got {alpha!r}")
    number = {node: at for at, node in enumerate(graph)}
    kept = [
        (number[u], number[v], float(data.get("weight", 1.0)), float(data.get("frequency", 1.0)))
        for u, v, data in graph.edges(data=True)
        if u != v and abs(data.get("weight", 1.0)) > threshold
    ]
    kept.sort(key=lambda edge: abs(edge[2]))
    ends = np.array([edge[:2] for edge in kept], dtype=np.intp).reshape(-1, 2)
    weight = np.array([edge[2] for edge in kept])
    shown = np.ones(len(kept))
    if alpha == "frequency":
        shown = np.clip([edge[3] for edge in kept], 0.0, 1.0)
    elif alpha == "weight":
        shown = np.abs(weight) / np.abs(weight).max(initial=1e-300)
    return DrawnEdges(ends, weight, shown)


def _laid_out(nodes: DrawnNodes, edges: DrawnEdges, how: Layout) -> FloatArray:
    order, groups = list(range(len(nodes.keys))), nodes.groups
    if groups is not None and how == "circle":
        order.sort(key=lambda node: groups.index(groups[node]))
    weights = {(int(u), int(v)): float(w) for (u, v), w in zip(edges.ends, edges.weight, strict=True)}
    found = laid_out(order, weights, how)
    return np.array([found[node] for node in sorted(order)]).reshape(-1, 2)


def _given(keys: list[Any], positions: Any) -> FloatArray:
    if isinstance(positions, Mapping):
        places = one_each(positions, keys, "positions")
        return np.array([np.asarray(place, dtype=float) for place in places]).reshape(-1, 2)
    given = np.asarray(positions, dtype=float)
    if given.shape != (len(keys), 2):
        raise ValueError(f"positions must have shape {(len(keys), 2)}, got {given.shape}")
    return given


def _figure_size(nodes: DrawnNodes, places: FloatArray, stretch: float) -> tuple[float, float]:
    """Return inches in which names have room, inside the nodes if possible."""
    extent = np.ptp(places, axis=0) if len(places) else np.zeros(2)
    many = len(places) > MANY_NODES
    font, least = (SMALLEST_INSIDE, _SMALL_RADIUS) if many else (LABEL, _RADIUS)
    radius = max([least, *(0.6 * _text_size(name, font)[0] for name in nodes.names)])
    if radius <= LARGEST_RADIUS:
        edge, margin = radius / (OF_ROOM * room_between(places)), np.full(2, 2 * radius)
    else:
        beside = max(_text_size(wrapped(name), LABEL)[0] for name in nodes.names)
        edge, margin = beside / room_between(places), np.array([1.6 * beside, 4 * LABEL])
    bar = nodes.field is not None and nodes.groups is None
    width, height = (extent * stretch * max(edge, _EDGE) + margin) / 72 + [_BESIDE * bar, _BELOW]
    return float(np.clip(width, _NARROWEST, _LARGEST)), float(np.clip(height, _LOWEST, _LARGEST))


def _text_size(text: str, font: float) -> tuple[float, float]:
    """Return width and height in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    look = FontProperties(size=100)
    widest = max(
        text_to_path.get_text_width_height_descent(line, look, False)[0] for line in text.split("\n")
    )
    return widest * font / 100, line_height(text, font)


def _room(axes: Axes) -> tuple[float, float]:
    """Return width and height of the axes in points, once the figure is laid out."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    for _ in range(2):  # a legend that stands out makes the axes smaller, and then stands out less
        figure.draw_without_rendering()
    box = axes.get_window_extent()
    return box.width * 72 / figure.dpi, box.height * 72 / figure.dpi


def _width(strength: Any, widest: float) -> Any:
    return _THINNEST + (widest - _THINNEST) * strength


def _line(
    weight: float, width: float, begin: float = 0.0, dash: float = _DASH[0], gap: float = _DASH[1]
) -> dict[str, Any]:
    """Return colour and dashes by the sign; dashes are as long on thin lines as on wide ones."""
    if weight >= 0:
        return {"color": POSITIVE, "linestyle": "-"}
    return {"color": NEGATIVE, "linestyle": (begin / width, (dash / width, gap / width))}


def _dashes(edges: DrawnEdges, places: FloatArray, sizes: DrawingSizes, room: float) -> FloatArray:
    """Return offsets, lengths and gaps of dashes, in points: a dash touches either node."""
    scale = room / (sizes.limits[1] - sizes.limits[0])
    length = scale * np.linalg.norm(places[edges.ends[:, 0]] - places[edges.ends[:, 1]], axis=1)
    seen = np.maximum(length - sizes.radius[edges.ends].sum(axis=1), sum(_DASH))
    gaps = np.maximum(1.0, np.round((seen - _DASH[0]) / sum(_DASH)))
    stretch = seen / (gaps * sum(_DASH) + _DASH[0])
    period = stretch * sum(_DASH)
    begin = period - sizes.radius[edges.ends[:, 0]] % period
    return np.column_stack([begin, stretch * _DASH[0], stretch * _DASH[1]])


def _draw_edges(axes: Axes, edges: DrawnEdges, places: FloatArray, widest: float, dashes: FloatArray) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba

    widths, alphas = _width(edges.strength, widest), _PALEST + (1.0 - _PALEST) * edges.shown
    for label, sign in (("positive", 1.0), ("negative", -1.0)):
        chosen = np.flatnonzero(edges.weight * sign > 0)
        if len(chosen):
            looks = [
                _line(sign, width, *dashes[edge]) for edge, width in zip(chosen, widths[chosen], strict=True)
            ]
            colours = [to_rgba(look["color"], a) for look, a in zip(looks, alphas[chosen], strict=True)]
            lines = LineCollection(
                list(places[edges.ends[chosen]]),
                linewidths=widths[chosen],
                colors=colours,
                linestyles=[look["linestyle"] for look in looks],
                capstyle="butt",
                label=label,
                zorder=1,
            )
            axes.add_collection(lines, autolim=False)


def _draw_legends(axes: Axes, nodes: DrawnNodes, edges: DrawnEdges, title: str, widest: float) -> None:
    from matplotlib.lines import Line2D

    if nodes.groups is not None:
        spots = [
            Line2D([], [], linestyle="none", marker="o", color=colour, markeredgecolor="black", label=group)
            for group, colour in group_colours(nodes.groups).items()
        ]
        above = _legend(axes, spots, loc="lower center", bbox_to_anchor=(0.5, 1.0))
        axes.add_artist(above)  # by itself, as the next legend takes its place otherwise
        above.set_clip_on(False)  # what the axes clip gets no room
    elif nodes.field is not None:
        _draw_bar(axes, nodes.field)
    lines = [
        Line2D([], [], linewidth=2.0, label=label, **_line(sign, 2.0))
        for label, sign in (("positive", 1.0), ("negative", -1.0))
        if (edges.weight * sign > 0).any()
    ]
    largest = np.abs(edges.weight).max(initial=0.0)
    for size in sample_weights(edges.weight):
        width = _width(size / largest, widest)
        lines.append(Line2D([], [], linewidth=width, color="0.45", label=f"{size:g}"))
    if lines:
        _legend(axes, lines, loc="upper center", bbox_to_anchor=(0.5, 0.0), title=title)


def _legend(axes: Axes, handles: list[Any], **where: Any) -> Any:
    """Draw a legend in one row if it fits, else in as many columns as do."""
    widths = [_text_size(handle.get_label(), LABEL)[0] + 4.5 * LABEL for handle in handles]
    room = _room(axes)[0]
    columns = len(handles) if sum(widths) <= room else max(1, min(len(handles) - 1, int(room / max(widths))))
    look: dict[str, Any] = {"frameon": False, "fontsize": LABEL, "title_fontsize": LABEL, "borderpad": 0.2}
    look |= {"handletextpad": 0.5, "columnspacing": 1.2, "ncols": columns}
    return axes.legend(handles=handles, **look, **where)


def sample_weights(weight: FloatArray) -> list[float]:
    """Return up to three round weights for a legend of widths; none if all weights are equally large."""
    size = np.abs(weight)
    if not len(size) or np.ptp(size) < 0.05 * size.max():
        return []
    tens = 10.0 ** np.arange(np.floor(np.log10(size.max())) - 1, np.floor(np.log10(size.max())) + 1)
    round_numbers = [float(f"{lead * ten:.0e}") for ten in tens for lead in (1, 2, 5)]
    within = [number for number in round_numbers if number <= size.max()]
    return within[-3:] if size.min() <= within[-2] else within[-2:]


def group_colours(groups: list[Any]) -> dict[str, str]:
    """Return a colour per group on which black letters can be read, in the order of the nodes."""
    import matplotlib
    from matplotlib.colors import to_hex, to_rgb

    names = list(dict.fromkeys(map(str, groups)))
    colours = [to_rgb(colour) for colour in COLOURS]
    if len(names) > len(colours):
        colours = [to_rgb(matplotlib.colormaps["tab20"](rank)) for rank in range(20)]
    pale = [to_hex((0.5 + red / 2, 0.5 + green / 2, 0.5 + blue / 2)) for red, green, blue in colours]
    return {name: pale[rank % len(pale)] for rank, name in enumerate(names)}


def field_limit(field: FloatArray) -> float:
    return min(max(float(np.abs(field).max(initial=0.0)), _SMALLEST_FIELD), _LARGEST_FIELD)


def _field_scale(field: FloatArray) -> Any:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    limit = field_limit(field)
    return ScalarMappable(Normalize(-limit, limit), "PRGn")


def _draw_bar(axes: Axes, field: FloatArray) -> None:
    scale = _field_scale(field)
    beyond = "both" if np.abs(field).max() > scale.get_clim()[1] else "neither"
    bar = axes.figure.colorbar(scale, ax=axes, shrink=0.5, aspect=25, label="field", extend=beyond)
    bar.ax.tick_params(labelsize=LABEL)
    bar.ax.yaxis.label.set_fontsize(LABEL)
    bar.outline.set_visible(False)


def _draw_nodes(axes: Axes, nodes: DrawnNodes, places: FloatArray, sizes: DrawingSizes) -> None:
    style: dict[str, Any] = {
        "s": (2 * sizes.radius) ** 2,
        "edgecolors": "black",
        "linewidths": 0.7,
        "zorder": 2,
    }
    style |= {"clip_on": False, "in_layout": False}
    if nodes.groups is not None:
        colours = group_colours(nodes.groups)
        axes.scatter(*places.T, color=[colours[str(group)] for group in nodes.groups], **style)
    elif nodes.field is not None:
        scale = _field_scale(nodes.field)
        x, y = places.T
        axes.scatter(x, y, c=nodes.field, cmap=scale.cmap, norm=scale.norm, **style)
    else:
        axes.scatter(*places.T, color="white", **style)


def _write_names(axes: Axes, nodes: DrawnNodes, places: FloatArray, sizes: DrawingSizes) -> None:
    from matplotlib.patheffects import withStroke

    centred: dict[str, Any] = {"ha": "center", "va": "center", "textcoords": "offset points", "zorder": 4}
    centred |= {"fontsize": sizes.font, "in_layout": False, "annotation_clip": False, "parse_math": False}
    for at, name in enumerate(nodes.names):
        if not name:
            continue
        if sizes.sides is None:
            axes.annotate(name, tuple(places[at]), (0.0, 0.0), color=_ink(nodes, at), **centred)
            continue
        side = aligned(int(sizes.sides[at]))
        shift = tuple(sizes.shifts[at])
        text = axes.annotate(wrapped(name), tuple(places[at]), shift, multialignment=side, **centred)
        text.set_path_effects([withStroke(linewidth=2.0, foreground="white", alpha=0.85)])


def _ink(nodes: DrawnNodes, at: int) -> str:
    if nodes.groups is not None or nodes.field is None:
        return "black"
    red, green, blue, _ = _field_scale(nodes.field).to_rgba(nodes.field[at])
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"


def _write_weights(axes: Axes, edges: DrawnEdges, places: FloatArray, sizes: DrawingSizes) -> None:
    from matplotlib.patheffects import withStroke

    font = max(0.8 * sizes.font, 5.5)
    scale = _room(axes)[0] / float(sizes.limits[1] - sizes.limits[0])
    points = places * scale
    lines = points[edges.ends]
    taken = np.hstack([points - sizes.radius[:, None], points + sizes.radius[:, None]])
    for edge in reversed(range(len(lines))):
        text = f"{edges.weight[edge]:.2f}"
        half = np.array(_text_size(text, font)) / 2
        middles = np.array([(1 - share) * lines[edge, 0] + share * lines[edge, 1] for share in _SPOTS])
        boxes = np.hstack([middles - half, middles + half])
        others = covered_length(boxes, np.delete(lines, edge, axis=0)).sum(axis=1) / half[1]
        covered = overlaps(boxes, taken).sum(axis=1) / (boxes[0, 2:] - boxes[0, :2]).prod()
        best = int(np.argmin(others + 20.0 * covered + 0.05 * np.arange(len(boxes))))
        taken = np.vstack([taken, boxes[best]])
        x, y = middles[best] / scale
        written = axes.text(x, y, text, fontsize=font, ha="center", va="center", zorder=3, in_layout=False)
        written.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
