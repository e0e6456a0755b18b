"""Charts drawn as SVG for pages: as wide as there is room, with letters and markers of one size.

Everything is placed by percentages, so that no script has to draw. A script adds what a pointer or the arrow
keys ask for: the text of a mark (``data-t``), and series to be hidden (``data-s``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil

import numpy as np

from swapwise.charts.chart import GREY, Band, Bars, Chart, Curve, Dash, Intervals, Rule, Series, Tiles
from swapwise.charts.scales import Scale, scales_of
from swapwise.checks import FloatArray

# Pixels of a letter of a tick, between two lines of one, and from ticks to the chart.
_LETTER, _LINE, _APART = 7.0, 14, 8

#: Pixels by which the margin on the left grows from one class of the style to the next, and how many are.
MARGIN_STEP, MARGINS = 8, 26

#: Letters of a line of a name.
LONGEST = 24

# Share of the room of a row that its bar takes.
_THICKNESS = 0.75

_DASHES: dict[Dash, str] = {"solid": "", "dash": "6 4", "dot": "2 3", "dashdot": "7 3 2 3"}

# All markers but circles, about a point; what a page defines once.
_MARKERS = {
    "square": "M-4-4H4V4H-4z",
    "diamond": "M0-5.5L5 0 0 5.5-5 0z",
    "triangle-up": "M0-5.5L5.2 4H-5.2z",
    "triangle-down": "M0 5.5L5.2-4H-5.2z",
    "triangle-left": "M-5.5 0L4 5.2V-5.2z",
    "x": "M-4.6-2.9L-2.9-4.6 0-1.7 2.9-4.6 4.6-2.9 1.7 0 4.6 2.9 2.9 4.6 0 1.7-2.9 4.6-4.6 2.9-1.7 0z",
    "cross": "M-1.4-5.2H1.4V-1.4H5.2V1.4H1.4V5.2H-1.4V1.4H-5.2V-1.4H-1.4z",
    "star": "M0-7L1.7-2.2 6.7-2.2 2.7.9 4.1 5.7 0 2.8-4.1 5.7-2.7.9-6.7-2.2-1.7-2.2z",
    "pentagon": "M0-5.5L5.2-1.7 3.2 4.4H-3.2L-5.2-1.7z",
}

# From -1 to 1: light enough at both ends for dark digits.
_LEAST, _MIDDLE, _MOST = np.array([[240, 162, 122], [247, 247, 247], [111, 179, 222]], dtype=np.float64)


def definitions() -> str:
    paths = "".join(f'<path id="m-{name}" d="{shape}"/>' for name, shape in _MARKERS.items())
    lines = f'<path d="M-2 2l4-4M0 8l8-8M6 10l4-4" stroke="{GREY}" stroke-width="2"/>'
    stripes = f'<pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse">{lines}</pattern>'
    return f'<svg class="defs" width="0" height="0" aria-hidden="true"><defs>{paths}{stripes}</defs></svg>'


def drawn(chart: Chart, label: str, described_by: str = "") -> str:
    """Return a chart as HTML: its legend, and the drawing, which is one stop of the tab key."""
    across, upwards = scales_of(chart)
    rows, columns = upwards.ticks(), across.ticks()
    letters = max((len(line) for _, text in rows for line in text.split("\n")), default=0)
    margin = min(ceil((letters * _LETTER + _APART + 4) / MARGIN_STEP), MARGINS) if rows else 1
    inside = [_axes(chart, across, upwards), *(_series(chart, across, upwards))]
    picture = f'<svg width="100%" height="{chart.height}" aria-hidden="true">{"".join(inside)}</svg>'
    foot = 8 + (_LINE if columns else 0)
    across_words = f'<div class="across">{escape(chart.x.label)}</div>' if chart.x.label else ""
    upwards_words = f'<div class="upwards">{escape(chart.y.label)}</div>' if chart.y.label else ""
    body = f'<div class="area left{margin}">{picture}<div class="foot{foot}"></div>{across_words}</div>'
    return framed(_legend(chart), upwards_words + body, label, described_by)


def framed(legend: str, picture: str, label: str, described_by: str = "") -> str:
    """Return a drawing with its legend above it; ``label`` names it for screen readers."""
    about = f' aria-describedby="{escape(described_by)}"' if described_by else ""
    attributes = f'tabindex="0" role="group" aria-roledescription="chart" aria-label="{escape(label)}"{about}'
    return f'<div class="chart">{legend}<div class="plot" {attributes}>{picture}</div></div>'


def legend_of(entries: Iterable[tuple[str, str, int]]) -> str:
    """Return a legend from names, drawings of 24 by 14 pixels, and numbers of series that buttons hide.

    An entry with a negative number has no button.
    """
    parts = []
    for name, drawing, number in entries:
        sample = f'<svg width="24" height="14" aria-hidden="true">{drawing}</svg>{escape(name)}'
        button = f'<button type="button" aria-pressed="true" data-s="{number}">{sample}</button>'
        parts.append(button if number >= 0 else f"<span>{sample}</span>")
    return f'<div class="legend">{"".join(parts)}</div>' if parts else ""


def percent(share: float) -> str:
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + "%"


def _axes(chart: Chart, across: Scale, upwards: Scale) -> str:
    columns, rows = across.ticks(), upwards.ticks()
    parts: list[str] = []
    headings = {float(place) for place in upwards.at(chart.y.headings)}
    for place, text in columns:
        at = percent(place)
        if chart.x.ticks is None:
            parts.append(f'<line class="grid" x1="{at}" x2="{at}" y2="100%"/>')
        parts.append(f'<text x="{at}" y="100%" dy="1.3em" text-anchor="middle">{escape(text)}</text>')
    for place, text in rows:
        at = percent(1 - place)
        if chart.y.ticks is None:
            parts.append(f'<line class="grid" x2="100%" y1="{at}" y2="{at}"/>')
        parts.append(_row_name(text, at, is_heading=place in headings))
    parts.append('<line class="axis" x2="100%" y1="100%" y2="100%"/>')
    parts.append('<line class="axis" y2="100%"/>' if rows and chart.y.ticks is None else "")
    return "".join(parts)


def _row_name(text: str, at: str, is_heading: bool) -> str:
    lines = text.split("\n")
    shifts = [4 - (len(lines) - 1) * _LINE / 2, *[_LINE] * (len(lines) - 1)]
    inner = "".join(
        f'<tspan x="-{_APART}" dy="{shift:g}">{escape(line)}</tspan>'
        for shift, line in zip(shifts, lines, strict=True)
    )
    bold = ' class="heading"' if is_heading else ""
    return f'<text y="{at}" text-anchor="end"{bold}>{inner}</text>'


def _series(chart: Chart, across: Scale, upwards: Scale) -> list[str]:
    number = {name: rank for rank, name in enumerate(chart.names)}
    parts = []
    for scale, line in ((across, 'x1="{0}" x2="{0}" y2="100%"'), (upwards, 'x2="100%" y1="{0}" y2="{0}"')):
        if scale.axis.zero:
            zero = float(scale.at(0.0))
            parts.append(
                f'<line class="axis" {line.format(percent(zero if scale is across else 1 - zero))}/>'
            )
    for one in chart.series:
        drawing = _one(one, across, upwards)
        name = "" if isinstance(one, Tiles) else one.name
        parts.append(f'<g data-s="{number[name]}">{drawing}</g>' if name else f"<g>{drawing}</g>")
    return parts


def _one(one: Series, across: Scale, upwards: Scale) -> str:
    if isinstance(one, Curve):
        return _curve(one, across.at(one.x), 1 - upwards.at(one.y), upwards)
    if isinstance(one, Band):
        return _band(one, across, upwards)
    if isinstance(one, Bars):
        return _bars(one, across, upwards)
    if isinstance(one, Intervals):
        return _intervals(one, across, upwards)
    if isinstance(one, Rule):
        return _rule(one, across, upwards)
    return _tiles(one, across, upwards)


def _scaled(paths: Iterable[str]) -> str:
    """Return paths on a square of 1000 by 1000 that is stretched to the chart, without their widths."""
    return f'<svg viewBox="0 0 1000 1000" preserveAspectRatio="none">{"".join(paths)}</svg>'


def _path(x: FloatArray, y: FloatArray, steps: bool = False) -> str:
    parts, pen_up = [], True
    for a, b in zip((1000 * x).tolist(), (1000 * y).tolist(), strict=True):
        if not (np.isfinite(a) and np.isfinite(b)):
            pen_up = True
            continue
        parts.append(f"M{a:.5g} {b:.5g}" if pen_up else f"{f'H{a:.5g}' if steps else ''}L{a:.5g} {b:.5g}")
        pen_up = False
    return "".join(parts)


def _line_look(colour: str, width: float, dash: Dash) -> str:
    dashes = f' stroke-dasharray="{_DASHES[dash]}"' if _DASHES[dash] else ""
    return f'class="line" stroke="{colour}" stroke-width="{width:g}"{dashes}'


def _curve(one: Curve, x: FloatArray, y: FloatArray, upwards: Scale) -> str:
    paths = []
    if one.low is not None and one.high is not None:
        ends = zip(1 - upwards.at(one.low), 1 - upwards.at(one.high), strict=True)
        bars = [_path(np.array([a, a]), np.array(both)) for a, both in zip(x, ends, strict=True)]
        paths.append(f'<path {_line_look(one.colour, 1, "solid")} d="{"".join(bars)}"/>')
    if one.dash is not None:
        paths.append(f'<path {_line_look(one.colour, one.width, one.dash)} d="{_path(x, y, one.steps)}"/>')
    marks = _marks(one, x, y) if one.marker is not None or one.hover else ""
    return _scaled(paths) + marks if paths else marks


def _marks(one: Curve, x: FloatArray, y: FloatArray) -> str:
    """Return a mark per point in view; a line with hover texts but no markers has invisible marks."""
    marks = []
    for place, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        if not (-0.02 <= a <= 1.02 and -0.02 <= b <= 1.02):
            continue
        hover = f' data-t="{escape(one.hover[place])}"' if place < len(one.hover) else ""
        pale = "" if one.opacity is None else f' opacity="{one.opacity[place]:.2f}"'
        at = percent(a), percent(b)
        if one.marker in (None, "circle"):
            marks.append(f'<circle cx="{at[0]}" cy="{at[1]}" r="{one.size / 2:g}"{pale}{hover}/>')
        else:
            marks.append(f'<use href="#m-{one.marker}" x="{at[0]}" y="{at[1]}"{pale}{hover}/>')
    return f"<g {_mark_look(one)}>{''.join(marks)}</g>"


def _mark_look(one: Curve) -> str:
    if one.marker is None:
        return 'fill="transparent"'
    return f'class="hollow" stroke="{one.colour}"' if one.hollow else f'fill="{one.colour}"'


def _band(one: Band, across: Scale, upwards: Scale) -> str:
    x, low, high = across.at(one.x), 1 - upwards.at(one.low), 1 - upwards.at(one.high)
    known = np.isfinite(low) & np.isfinite(high) & np.isfinite(x)
    x, low, high = x[known], low[known], high[known]
    if one.steps and len(x):
        x = np.repeat(x, 2)[1:]
        low, high = np.repeat(low, 2)[:-1], np.repeat(high, 2)[:-1]
    outline = _path(np.concatenate([x, x[::-1]]), np.concatenate([low, high[::-1]]))
    return _scaled([f'<path fill="{one.colour}" fill-opacity="0.2" d="{outline}"/>'])


def _bars(one: Bars, across: Scale, upwards: Scale) -> str:
    parts = []
    for place, (at, begin, end) in enumerate(zip(one.at, one.begin, one.end, strict=True)):
        sides = [at - _THICKNESS / 2, at + _THICKNESS / 2]
        if not np.isfinite([at, begin, end]).all():
            continue
        x, y = ([begin, end], sides) if one.horizontal else (sides, [begin, end])
        left, right = np.clip(np.sort(across.at(x)), 0, 1).tolist()
        top, bottom = np.clip(np.sort(1 - upwards.at(y)), 0, 1).tolist()
        box = f'x="{percent(left)}" y="{percent(top)}" width="{percent(right - left)}"'
        box += f' height="{percent(bottom - top)}"'
        hover = f' data-t="{escape(one.hover[place])}"' if place < len(one.hover) else ""
        parts.append(f'<rect {box} fill="{one.colour}"{hover}/>')
        parts.append(f'<rect {box} fill="url(#stripes)" pointer-events="none"/>' if one.striped else "")
    return "".join(parts)


def _intervals(one: Intervals, across: Scale, upwards: Scale) -> str:
    low, high, y = across.at(one.low), across.at(one.high), 1 - upwards.at(one.at)
    lines = [_path(np.array([a, b]), np.array([at, at])) for a, b, at in zip(low, high, y, strict=True)]
    return _scaled([f'<path {_line_look(one.colour, one.width, "solid")} d="{"".join(lines)}"/>'])


def _rule(one: Rule, across: Scale, upwards: Scale) -> str:
    place = float((across if one.upright else upwards).at(one.at))
    if not 0 <= place <= 1:
        return ""
    at = percent(place if one.upright else 1 - place)
    ends = f'x1="{at}" x2="{at}" y2="100%"' if one.upright else f'x2="100%" y1="{at}" y2="{at}"'
    return f"<line {_line_look(one.colour, 1.5, one.dash)} {ends}/>"


def _tiles(one: Tiles, across: Scale, upwards: Scale) -> str:
    side = len(one.values)
    edges = np.arange(side + 1) - 0.5
    x, y = across.at(edges), 1 - upwards.at(edges)
    parts = []
    for row, line in enumerate(one.values):
        for column, value in enumerate(line):
            if not np.isfinite(value):
                continue
            left, top = min(x[column], x[column + 1]), min(y[row], y[row + 1])
            width, height = abs(x[1] - x[0]), abs(y[1] - y[0])
            box = (
                f'x="{percent(left)}" y="{percent(top)}" width="{percent(width)}" height="{percent(height)}"'
            )
            hover = f'data-t="{escape(one.hover[row][column])}"'
            parts.append(f'<rect {box} fill="{_shade(value)}" {hover}/>')
            if one.written:
                middle = f'x="{percent(left + width / 2)}" y="{percent(top + height / 2)}" dy="0.35em"'
                parts.append(f'<text class="in" {middle} text-anchor="middle">{value:.2f}</text>')
    return "".join(parts)


def _shade(value: float) -> str:
    colour = _MIDDLE + abs(value) * ((_MOST if value > 0 else _LEAST) - _MIDDLE)
    return "#" + "".join(f"{round(part):02x}" for part in np.clip(colour, 0, 255))


def _legend(chart: Chart) -> str:
    of_name: dict[str, list[Series]] = {name: [] for name in chart.names}
    for one in chart.series:
        if not isinstance(one, Tiles) and one.name:
            of_name[one.name].append(one)
    return legend_of(
        (name, "".join(map(_sample, some)), rank) for rank, (name, some) in enumerate(of_name.items())
    )


def _sample(one: Series) -> str:
    if isinstance(one, Bars):
        fills = [one.colour, *["url(#stripes)"] * one.striped]
        return "".join(f'<rect x="4" y="1" width="16" height="12" fill="{fill}"/>' for fill in fills)
    if isinstance(one, Band):
        return f'<rect x="2" y="1" width="20" height="12" fill="{one.colour}" fill-opacity="0.2"/>'
    if isinstance(one, Intervals):
        return f'<path {_line_look(one.colour, one.width, "solid")} d="M2 7H22"/>'
    if isinstance(one, Rule):
        return (
            f'<path {_line_look(one.colour, 1.5, one.dash)} d="{"M12 0V14" if one.upright else "M1 7H23"}"/>'
        )
    assert isinstance(one, Curve)
    line = "" if one.dash is None else f'<path {_line_look(one.colour, one.width, one.dash)} d="M1 7H23"/>'
    if one.marker is None:
        return line
    shape = '<circle cx="12" cy="7" r="4"/>'
    if one.marker != "circle":
        shape = f'<use href="#m-{one.marker}" x="12" y="7"/>'
    return f"{line}<g {_mark_look(one)}>{shape}</g>"


def in_lines(name: str, longest: int = LONGEST) -> str:
    """Return a name in at most two lines, broken between words if possible; longer ones lose their middle."""
    if len(name) <= longest:
        return name
    if len(name) > 2 * longest:
        return f"{name[:longest]}\n…{name[-longest + 1 :]}"
    ends = [at + 1 for at, letter in enumerate(name) if letter in " _-/.–" and len(name) - at - 1 <= longest]
    at = max((end for end in ends if end <= longest + 1), default=longest)
    first, second = name[:at].rstrip(), name[at:].lstrip()
    return f"{first}\n{second}" if len(second) <= longest else f"{first}\n{second[: longest - 1]}…"


def shortened(name: str, longest: int) -> str:
    """Return a name without its middle if it is too long: many names differ in their last letters."""
    half = (longest - 1) // 2
    return name if len(name) <= longest else f"{name[:half]}…{name[-half:]}"


def row_height(names: Sequence[str]) -> int:
    return 34 if any("\n" in name for name in names) else 24
