"""A graph drawn on a page: as matplotlib draws it, with names and numbers under the mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from swapwise.checks import FloatArray
from swapwise.report.graph_labels import SIDES, wrapped
from swapwise.report.graph_layout import layout
from swapwise.report.graph_look import Edges, Look, Nodes, aligned, line_height, look_of
from swapwise.report.graph_plots import LARGEST_FIELD, NEGATIVE, POSITIVE, SMALLEST_FIELD, sample_weights
from swapwise.report.graph_words import GraphWords
from swapwise.report.parts import GREY, chart, plotted, points, shortened

# A line has one width, and thousands of lines are slow: edges of like weight are one line with gaps.
_STEPS, _THINNEST, _WIDEST, _PALEST = 6, 1.2, 6.0, 0.5

# Pixels: what names are laid out for, on a screen; above and below the graph; and heights of plots.
_ACROSS, _ABOVE, _BELOW, _LOWEST, _HIGHEST = 900.0, 56.0, 72.0, 340, 1000

# Pixels per edge, with names inside of nodes and beside them, and the letters up to which they are inside.
_EDGE, _LONG_EDGE, _INSIDE = 88.0, 125.0, 5

# Pixels of a screen that a point of a printed page is shown with.
_PIXELS = 1.5

# Beyond so many variables, names are left to the mouse.
_MOST_NAMES = 120

# Letters of a name that there is room for.
_LONGEST = 30

# Width of a letter of the page's font, in sizes of the font: wide enough for most names.
_LETTER = 0.56

# Fields from purple to green, and what is written on dark and on light nodes.
_FIELDS = ((0.0, "#7b3294"), (0.5, "#f7f7f7"), (1.0, "#008837"))
_PLAIN, _DARK_INK, _LIGHT_INK = "#e8edf2", "#1b1f24", "#ffffff"

# Beneath, as phones have no room beside.
_BAR = {"orientation": "h", "y": 0.0, "yanchor": "top", "thickness": 10, "outlinewidth": 0, "len": 0.6}


def graph_chart(
    weights: dict[tuple[int, int], float], names: Sequence[str], field: Any, words: GraphWords
) -> tuple[Any, int]:
    """Return a plot of a graph on numbered variables, and how high it should be in pixels.

    >>> from swapwise.report.graph_words import words_of
    >>> figure, height = graph_chart({(0, 1): -0.5}, ["tea", "milk"], None, words_of(None))
    >>> [trace.name for trace in figure.data], [note.text for note in figure.layout.annotations]
    (['negative', 'negative', 'edges', 'variables'], ['tea', 'milk'])
    """
    order = sorted(weights, key=lambda edge: abs(weights[edge]))
    weight = np.array([weights[edge] for edge in order])
    edges = Edges(np.array(order, dtype=np.intp).reshape(-1, 2), weight, np.ones(len(order)))
    places = np.array(list(layout(range(len(names)), weights).values())).reshape(-1, 2)
    written = [shortened(name, _LONGEST) if len(names) <= _MOST_NAMES else "" for name in names]
    nodes = Nodes(list(range(len(names))), written, None, field, None)
    edge = _EDGE if max(map(len, written), default=0) <= _INSIDE else _LONG_EDGE
    below = _BELOW if field is not None else 8.0  # room for the bar of fields
    height = int(np.clip(np.ptp(places[:, 1]) * edge + _ABOVE + below + 60.0, _LOWEST, _HIGHEST))
    room = _ACROSS / _PIXELS, (height - _ABOVE - below) / _PIXELS
    look = _magnified(look_of(places, nodes, edges, room, _text_size))
    hidden = {"visible": False, "automargin": False}
    left, right = _overhang(nodes, places, look)
    figure = chart(
        [
            *_lines(edges, places),
            *_samples(edges, words),
            *_middles(edges, places, names, words),
            _nodes(edges, places, names, field, look),
        ],
        {**hidden, "range": _ends(places)},
        {**hidden, "range": look.limits[2:].tolist(), "scaleanchor": "x"},
        margin={"l": left, "r": right, "t": _ABOVE, "b": below},
        annotations=_names(nodes, places, look),
    )
    return figure, height


def _ends(places: FloatArray) -> list[float]:
    """Return the leftmost and the rightmost place, or those beside a graph that has no width."""
    x = places[:, 0] if len(places) else np.zeros(1)
    beside = 0.0 if np.ptp(x) > 0 else 0.5
    return [float(x.min()) - beside, float(x.max()) + beside]


def _overhang(nodes: Nodes, places: FloatArray, look: Look) -> tuple[int, int]:
    """Return how many pixels nodes and names reach beyond the outermost nodes, to the left and right.

    As margins they keep their size on a phone, as letters do.
    """
    if not len(places):
        return 8, 8
    x = places[:, 0] * _ACROSS / float(look.limits[1] - look.limits[0])
    half = np.array([_text_size(wrapped(name), look.font)[0] / 2 for name in nodes.names])
    half = half if look.sides is not None else np.zeros(len(places))
    middle = x + look.shifts[:, 0]
    left, right = np.minimum(x - look.radius, middle - half), np.maximum(x + look.radius, middle + half)
    return int(x.min() - left.min()) + 8, int(right.max() - x.max()) + 8


def _magnified(look: Look) -> Look:
    """Return the look in pixels instead of points."""
    return replace(look, radius=_PIXELS * look.radius, font=_PIXELS * look.font, shifts=_PIXELS * look.shifts)


def _text_size(text: str, font: float) -> tuple[float, float]:
    return _LETTER * font * max(map(len, text.split("\n"))), line_height(text, font)


def _width(strength: float) -> float:
    return _THINNEST + (_WIDEST - _THINNEST) * strength


def _lines(edges: Edges, places: FloatArray) -> list[dict[str, Any]]:
    """Return lines by sign and width, the thin ones first; all of a sign are one entry of the legend."""
    step = np.minimum((_STEPS * edges.strength).astype(int), _STEPS - 1)
    traces = []
    for name, sign, colour, dash in (
        ("positive", 1, POSITIVE, "solid"),
        ("negative", -1, NEGATIVE, "6px,4px"),
    ):
        group = {"type": "scatter", "mode": "lines", "name": name, "legendgroup": name, "hoverinfo": "skip"}
        for at in np.unique(step[edges.weight * sign > 0]):
            ends = places[edges.ends[(step == at) & (edges.weight * sign > 0)]]
            share = float((at + 0.5) / _STEPS)
            line = {"color": colour, "width": _width(share), "dash": dash}
            x, y = np.concatenate([ends, np.full((len(ends), 1, 2), np.nan)], axis=1).reshape(-1, 2).T
            look = {"line": line, "opacity": _PALEST + (1 - _PALEST) * share, "showlegend": False}
            traces.append({**group, **look, "x": _without_nan(x), "y": _without_nan(y)})
        if (edges.weight * sign > 0).any():
            shown = {"line": {"color": colour, "width": 3.0, "dash": dash}, "x": [None], "y": [None]}
            traces.append({**group, **shown})
    return traces


def _without_nan(values: FloatArray) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _samples(edges: Edges, words: GraphWords) -> list[dict[str, Any]]:
    """Return lines of the legend alone, which say how wide some weights are."""
    told = f"{words.weight} "
    largest = np.abs(edges.weight).max(initial=0.0)
    nowhere = {"type": "scatter", "mode": "lines", "x": [None], "y": [None], "hoverinfo": "skip"}
    return [
        {**nowhere, "name": f"{told * (not rank)}{size:g}", "line": _grey_line(size / largest)}
        for rank, size in enumerate(sample_weights(edges.weight))
    ]


def _grey_line(strength: float) -> dict[str, Any]:
    return {"color": GREY, "width": _width(strength)}


def _middles(
    edges: Edges, places: FloatArray, names: Sequence[str], words: GraphWords
) -> list[dict[str, Any]]:
    """Return points that are not seen, as lines tell nothing where they are long."""
    if not len(edges.ends):
        return []
    middle = places[edges.ends].mean(axis=1)
    hover = [
        f"{plotted(names[u])} – {plotted(names[v])}<br>{words.weight} {weight:.4g}"
        for (u, v), weight in zip(edges.ends, edges.weight, strict=True)
    ]
    unseen = {"marker": {"size": 14, "opacity": 0}, "showlegend": False}
    return [points(middle[:, 0], middle[:, 1], hover, "edges", GREY, **unseen)]


def _nodes(edges: Edges, places: FloatArray, names: Sequence[str], field: Any, look: Look) -> dict[str, Any]:
    hover = []
    for node, name in enumerate(names):
        ends = edges.ends[(edges.ends == node).any(axis=1)]
        near = ", ".join(plotted(names[other]) for other in sorted(ends.sum(axis=1) - node)) or "none"
        own = "" if field is None else f"field {field[node]:.4g}<br>"
        hover.append(f"{plotted(name)}<br>{own}neighbours: {near}")
    marker: dict[str, Any] = {
        "size": (2 * look.radius).tolist(),
        "opacity": 1.0,
        "color": _PLAIN,
        "line": {"color": GREY, "width": 1.5},
    }
    if field is not None:
        limit = _field_limit(field)
        marker |= {"color": [float(one) for one in field], "cmin": -limit, "cmax": limit}
        marker |= {"colorscale": [list(stop) for stop in _FIELDS]}
        marker |= {"colorbar": {"title": {"text": "field"}, **_BAR}}
    kept = {"marker": marker, "showlegend": False, "cliponaxis": False}
    return points(places[:, 0], places[:, 1], hover, "variables", GREY, **kept)


def _field_limit(field: FloatArray) -> float:
    return min(max(float(np.abs(field).max(initial=0.0)), SMALLEST_FIELD), LARGEST_FIELD)


def _names(nodes: Nodes, places: FloatArray, look: Look) -> list[dict[str, Any]]:
    """Return the names where they were laid out, by pixels from their nodes; those inside suit their node."""
    notes = []
    for node, (x, y) in enumerate(places.tolist()):
        name = nodes.names[node] if look.sides is None else wrapped(nodes.names[node])
        if not name:
            continue
        text = plotted(name).replace("\n", "<br>")
        note: dict[str, Any] = {"x": x, "y": y, "text": text, "showarrow": False}
        note["font"] = {"size": round(look.font, 1)}
        if look.sides is None:
            dark = nodes.field is not None and abs(nodes.field[node]) > 0.6 * _field_limit(nodes.field)
            note["font"]["color"] = _LIGHT_INK if dark else _DARK_INK
        else:
            note |= _beside(look.shifts[node], int(look.sides[node]), _text_size(name, look.font)[0])
        notes.append(note)
    return notes


def _beside(shift: FloatArray, side: int, width: float) -> dict[str, Any]:
    """Return where a name stands, by the end that is next to its node: its width is a guess."""
    hung = aligned(side) if abs(SIDES[side][0]) == 1 else "center"
    toward = {"left": -0.5, "right": 0.5, "center": 0.0}[hung]
    return {
        "xshift": float(shift[0] + toward * width),
        "yshift": float(shift[1]),
        "align": aligned(side),
        "xanchor": hung,
    }
