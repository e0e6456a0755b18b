"""A graph drawn on a page: laid out as in figures, with names and numbers shown on hover.

It is drawn twice, for wide and for narrow windows, so that letters have the same size in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from swapwise.charts.chart import GREY
from swapwise.charts.svg import framed, legend_of, shortened
from swapwise.checks import FloatArray
from swapwise.graphs.pictures.labels import SIDES, wrapped
from swapwise.graphs.pictures.layout import layout
from swapwise.graphs.pictures.plots import NEGATIVE, POSITIVE, field_limit, sample_weights
from swapwise.graphs.pictures.sizes import (
    DrawingSizes,
    DrawnEdges,
    DrawnNodes,
    aligned,
    drawing_sizes,
    line_height,
)
from swapwise.graphs.pictures.words import GraphWords

# Pixels: the widths that are drawn for, what is left free above and below, and the limits of the height.
_WIDTHS = {"broad": 860.0, "narrow": 340.0}
_AROUND, _LOWEST, _HIGHEST = 40.0, 200.0, 900.0

# Pixels per edge, with names inside of nodes and beside them, and the letters up to which they are inside.
_EDGE, _LONG_EDGE, _INSIDE = 84.0, 120.0, 5

# Pixels of a screen that a point of a printed page is shown with.
_PIXELS = 1.5

# Beyond this many variables, names are left to the pointer.
_MOST_NAMES = 120

# Letters of a name that there is room for: three lines.
_LONGEST = 44

# Width of a letter of the page's font, in sizes of the font: wide enough for most names.
_LETTER = 0.6

# Pixels of the widths of edges, and how pale the weakest is.
_THINNEST, _WIDEST, _PALEST = 1.2, 6.0, 0.5

# Fields from purple to green.
_FIELDS = np.array([[123, 50, 148], [247, 247, 247], [0, 136, 55]], dtype=np.float64)


def graph_svg(
    weights: dict[tuple[int, int], float],
    names: Sequence[str],
    field: Any,
    words: GraphWords,
    described_by: str = "",
) -> str:
    """Return a drawing of a graph on numbered variables, with its legend."""
    order = sorted(weights, key=lambda edge: abs(weights[edge]))
    weight = np.array([weights[edge] for edge in order])
    edges = DrawnEdges(np.array(order, dtype=np.intp).reshape(-1, 2), weight, np.ones(len(order)))
    places = np.array(list(layout(range(len(names)), weights).values())).reshape(-1, 2)
    written = [shortened(name, _LONGEST) if len(names) <= _MOST_NAMES else "" for name in names]
    nodes = DrawnNodes(list(range(len(names))), written, None, field, None)
    drawings = [_drawing(kind, nodes, edges, places, names, words) for kind in _WIDTHS]
    return framed(_legend(edges, field, words), "".join(drawings), "Chart: The graph", described_by)


def _drawing(
    kind: str,
    nodes: DrawnNodes,
    edges: DrawnEdges,
    places: FloatArray,
    names: Sequence[str],
    words: GraphWords,
) -> str:
    """Return the graph for windows of one kind; narrow ones have it upright."""
    width = _WIDTHS[kind]
    extent = np.ptp(places, axis=0) if len(places) else np.zeros(2)
    if kind == "narrow" and extent[0] > extent[1]:
        places, extent = places[:, ::-1], extent[::-1]
    edge = _EDGE if max(map(len, nodes.names), default=0) <= _INSIDE else _LONG_EDGE
    if kind == "narrow":  # as high as its width allows, and higher where names need it
        edge = min(edge, max(width / max(extent[0], 1.0), edge / 2))
    height = float(np.clip(extent[1] * edge + 2 * _AROUND, _LOWEST, _HIGHEST))
    sizes = drawing_sizes(places, nodes, edges, (width / _PIXELS, height / _PIXELS), _text_size)
    left, right, bottom, top = sizes.limits.tolist()
    at = np.column_stack(
        [(places[:, 0] - left) / (right - left) * width, (top - places[:, 1]) / (top - bottom) * height]
    )
    inside = [
        *_lines(edges, at, names, words),
        *_circles(nodes, edges, at, names, sizes),
        *_names(nodes, at, sizes),
    ]
    box = f'class="{kind}" viewBox="0 0 {width:g} {height:.0f}" width="{width:g}" height="{height:.0f}"'
    return f'<svg {box} aria-hidden="true">{"".join(inside)}</svg>'


def _text_size(text: str, font: float) -> tuple[float, float]:
    return _LETTER * font * max(map(len, text.split("\n"))), line_height(text, font)


def _width(strength: float) -> float:
    return _THINNEST + (_WIDEST - _THINNEST) * strength


def _line_style(sign: float) -> str:
    return f'stroke="{POSITIVE}"' if sign > 0 else f'stroke="{NEGATIVE}" stroke-dasharray="6 4"'


def _lines(edges: DrawnEdges, at: FloatArray, names: Sequence[str], words: GraphWords) -> list[str]:
    """Return a line per edge, the thin ones first, grouped by sign, as the legend hides them."""
    parts = []
    for sign, number in ((1.0, 0), (-1.0, 1)):
        lines = []
        for place in np.flatnonzero(edges.weight * sign > 0):
            u, v = edges.ends[place]
            strength = float(edges.strength[place])
            (x, y), (to_x, to_y) = at[[u, v]].round(1).tolist()
            hover = escape(f"{names[u]} – {names[v]}\n{words.weight} {edges.weight[place]:.3f}")
            look = f'stroke-width="{_width(strength):.1f}" opacity="{_PALEST + (1 - _PALEST) * strength:.2f}"'
            lines.append(f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" {look} data-t="{hover}"/>')
        if lines:
            parts.append(f'<g data-s="{number}" {_line_style(sign)}>{"".join(lines)}</g>')
    return parts


def _circles(
    nodes: DrawnNodes, edges: DrawnEdges, at: FloatArray, names: Sequence[str], sizes: DrawingSizes
) -> list[str]:
    parts = []
    for node, (x, y) in enumerate(at.round(1).tolist()):
        ends = edges.ends[(edges.ends == node).any(axis=1)]
        near = ", ".join(names[other] for other in sorted(ends.sum(axis=1) - node)) or "none"
        own = "" if nodes.field is None else f"field {nodes.field[node]:.3f}\n"
        fill = "" if nodes.field is None else f' fill="{_shade(nodes.field[node], nodes.field)}"'
        hover = escape(f"{names[node]}\n{own}neighbours: {near}")
        kind = "node" if nodes.field is None else "field"
        radius = _PIXELS * float(sizes.radius[node])
        parts.append(f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius:.1f}"{fill} data-t="{hover}"/>')
    return parts


def _shade(value: float, field: FloatArray) -> str:
    share = float(np.clip(value / field_limit(field), -1.0, 1.0))
    colour = _FIELDS[1] + abs(share) * (_FIELDS[2 if share > 0 else 0] - _FIELDS[1])
    return "#" + "".join(f"{round(part):02x}" for part in colour)


def _names(nodes: DrawnNodes, at: FloatArray, sizes: DrawingSizes) -> list[str]:
    parts, font = [], _PIXELS * sizes.font
    for node, (x, y) in enumerate(at.tolist()):
        if not nodes.names[node]:
            continue
        if sizes.sides is None:
            ink = ""
            if nodes.field is not None:
                dark = abs(nodes.field[node]) > 0.6 * field_limit(nodes.field)
                ink = f' class="{"light" if dark else "in"}"'
            parts.append(_text([nodes.names[node]], x, y, font, "middle", ink))
            continue
        side, lines = int(sizes.sides[node]), wrapped(nodes.names[node]).split("\n")
        width = _PIXELS * _text_size("\n".join(lines), sizes.font)[0]
        hung = aligned(side) if abs(SIDES[side][0]) == 1 else "center"
        toward = {"left": -0.5, "right": 0.5, "center": 0.0}[hung]  # its width is a guess, its end is not
        shift = _PIXELS * sizes.shifts[node]
        anchor = {"left": "start", "right": "end", "center": "middle"}[hung]
        place = x + shift[0] + toward * width, y - shift[1]
        parts.append(_text(lines, *place, font, anchor, ' class="beside"'))
    return parts


def _text(lines: Sequence[str], x: float, y: float, font: float, anchor: str, look: str) -> str:
    first = y + 0.35 * font - 0.625 * font * (len(lines) - 1)
    spans = "".join(
        f'<tspan x="{x:.1f}" y="{first + 1.25 * font * number:.1f}">{escape(line)}</tspan>'
        for number, line in enumerate(lines)
    )
    return f'<text{look} text-anchor="{anchor}" font-size="{font:.1f}">{spans}</text>'


def _legend(edges: DrawnEdges, field: Any, words: GraphWords) -> str:
    entries = [
        (name, f'<g stroke-width="3" {_line_style(sign)}><path d="M1 7H23"/></g>', number)
        for name, sign, number in (("positive", 1.0, 0), ("negative", -1.0, 1))
        if (edges.weight * sign > 0).any()
    ]
    largest = np.abs(edges.weight).max(initial=0.0)
    for rank, size in enumerate(sample_weights(edges.weight)):
        line = f'<path d="M1 7H23" stroke="{GREY}" stroke-width="{_width(size / largest):.1f}"/>'
        entries.append((f"{words.weight} {size:g}" if not rank else f"{size:g}", line, -1))
    if field is not None:
        limit = field_limit(field)
        for rank, value in enumerate((-limit, 0.0, limit)):
            spot = f'<circle cx="12" cy="7" r="6" class="field" fill="{_shade(value, field)}"/>'
            beyond = " or beyond" if value and np.abs(field).max() > limit else ""
            entries.append((f"field {value:.2g}{beyond}" if not rank else f"{value:.2g}{beyond}", spot, -1))
    return legend_of(entries)
