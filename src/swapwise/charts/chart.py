"""One description of every chart, drawn in figures (matplotlib) and pages (SVG).

Markers mean the same in all of them. A filled marker is what was found on the data at hand. A hollow one is
there only to be compared with it: a guarantee, a trivial bound, the mean over bootstrap samples. What was
chosen among several is marked by a dashed line across the chart, never by a ring.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Marker = Literal[
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "triangle-left",
    "x",
    "cross",
    "star",
    "pentagon",
]
Dash = Literal["solid", "dash", "dot", "dashdot"]

#: These have a contrast of 3 to white and to black, and differ for the colour-blind.
GREY = "#808890"
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#A67C00", "#9A6FD0")

#: Colours are not all that tells curves apart.
MARKERS: tuple[Marker, ...] = ("circle", "square", "diamond", "triangle-up", "x", "cross")

#: The colours of found values, and of proven bounds.
FOUND, PROVEN = COLOURS[0], COLOURS[1]


@dataclass(frozen=True)
class Axis:
    """A quantity and its unit, and how it is laid out; limits that descend turn the axis round."""

    quantity: str
    unit: str = ""
    log: bool = False
    #: Whether ticks are at whole numbers only
    integers: bool = False
    limits: tuple[float, float] | None = None
    #: Labels of some places, instead of numbers
    ticks: Mapping[float, str] | None = None
    #: Which of the ticks are headings of those that follow
    headings: tuple[float, ...] = ()
    #: Whether there is a line at 0
    zero: bool = False
    #: Whether ticks are seen at all
    visible: bool = True

    @property
    def label(self) -> str:
        return f"{self.quantity} ({self.unit})" if self.unit else self.quantity


@dataclass(frozen=True)
class Curve:
    """Points, joined by a line unless ``dash`` is None; a gap where y is NaN.

    ``low`` and ``high`` are the ends of a bar at each point, ``hover`` the text of each point.
    """

    x: Sequence[float]
    y: Sequence[float]
    name: str = ""
    colour: str = COLOURS[0]
    dash: Dash | None = "solid"
    marker: Marker | None = None
    hollow: bool = False
    size: float = 8.0
    width: float = 2.0
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    hover: Sequence[str] = ()
    #: From 0 (not seen) to 1, one per point
    opacity: Sequence[float] | None = None
    #: Whether each value holds until the next one
    steps: bool = False


@dataclass(frozen=True)
class Band:
    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    name: str = ""
    colour: str = COLOURS[0]
    steps: bool = False


@dataclass(frozen=True)
class Bars:
    """Bars from ``begin`` to ``end``, at places on the other axis."""

    at: Sequence[float]
    begin: Sequence[float]
    end: Sequence[float]
    name: str = ""
    colour: str = COLOURS[0]
    hover: Sequence[str] = ()
    horizontal: bool = True
    striped: bool = False


@dataclass(frozen=True)
class Intervals:
    """Lines from ``low`` to ``high`` across, one per row."""

    at: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    name: str = ""
    colour: str = GREY
    width: float = 5.0


@dataclass(frozen=True)
class Rule:
    """A line across the whole chart, at one value of y, or of x if it is upright."""

    at: float
    name: str = ""
    colour: str = GREY
    dash: Dash = "dash"
    upright: bool = False


@dataclass(frozen=True)
class Tiles:
    """A matrix of numbers from -1 to 1 as colours, the first row at y = 0; NaN are left out."""

    values: Sequence[Sequence[float]]
    hover: Sequence[Sequence[str]]
    #: Whether the numbers are written into the tiles
    written: bool = True


Series = Curve | Band | Bars | Intervals | Rule | Tiles


@dataclass(frozen=True)
class Chart:
    """Series on two axes; those with a name are in the legend, in which all of one name are one entry.

    ``height`` is in pixels of a page; ``title`` is that of a figure, as pages have headings.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...] = field(default=())
    title: str = ""
    height: int = 320

    @property
    def names(self) -> list[str]:
        named = (one.name for one in self.series if not isinstance(one, Tiles))
        return list(dict.fromkeys(name for name in named if name))


def names_axis(names: Sequence[str], headings: Sequence[float] = ()) -> Axis:
    """Return an axis of names, the first at the top."""
    ticks = {float(place): name for place, name in enumerate(names)}
    return Axis("", ticks=ticks, limits=(len(names) - 0.4, -0.6), headings=tuple(headings))
