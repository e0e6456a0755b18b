"""The figure for print: the paper's panels, what goes beyond it, and the neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.charts.chart import Chart, Curve
from swapwise.charts.figures import DASHES, MARKERS
from swapwise.paper.panels import (
    FAMILIES,
    LOOKS,
    NAMES,
    Panel,
    Scatter,
    check_rows,
    footnotes,
    panels_of,
    scatter_note,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches. The width is that of a text page with two columns, so that points of a font are points in print.
# Every panel has the same place in its cell, whatever its labels: then all axes are of one size and in line.
WIDTH, CELL = 6.75, 2.25
LEFT, RIGHT = 0.5, 0.06
HEADING, TITLE, HEIGHT, X_LABEL, LEGEND, LONG_LEGEND, NOTE = 0.28, 0.24, 1.4, 0.37, 0.36, 0.98, 0.13
# Panels of value against time stand two in a row, and are higher.
WIDE_CELL, WIDE_RIGHT, HIGH, FAMILY_LEGEND = WIDTH / 2, 0.14, 1.9, 1.1

# Letters in a line of the notes at the foot.
LINE = 130

# Points.
SMALL, NORMAL, LARGE = 7.0, 7.5, 9.0

# Curves are shifted, so that their bars stand side by side: all of them within this share of the width.
_SHIFTS = 0.035

_LEGEND_LOOKS: dict[str, Any] = {
    "fontsize": SMALL,
    "frameon": False,
    "handlelength": 2.8,
    "labelspacing": 0.25,
    "borderaxespad": 0.0,
    "borderpad": 0.0,
}


def draw_figure(rows: pd.DataFrame) -> Figure:
    """Draw the experiments as in the paper's figure, then what goes beyond the paper, then its neighbours.

    Parameters
    ----------
    rows : pandas.DataFrame
        The rows of ``rows.csv``, of one flavour. Rows of the flavour as-published have the paper's panels
        only.

    Returns
    -------
    matplotlib.figure.Figure
        As wide as a page, with fonts of at least 7 points; pyplot does not know of it. Panels that were not
        run have "not run" in their middle.

    See Also
    --------
    findings : the same rows, compared with the paper's claims.

    Examples
    --------
    >>> from swapwise.paper.measure import COLUMNS
    >>> row = {"setting": "ising-20", "part": "paper", "method": "random", "size": 1, "trial": 0,
    ...        "flavour": "as-published", "seed": 0, "quality": 0.3}
    >>> figure = draw_figure(pd.DataFrame([row], columns=COLUMNS))
    >>> len(figure.axes), figure.axes[5].get_title()
    (6, '(f) graphical, objective, |V| = 20')
    """
    rows = check_rows(rows)
    from matplotlib.figure import Figure  # not pyplot: it would keep the figure

    paper, beyond, scatters = panels_of(rows)
    row, high_row = TITLE + HEIGHT + X_LABEL, TITLE + HIGH + X_LABEL
    notes = [line for note in (*footnotes(rows), scatter_note(rows)) for line in wrap(note, LINE)]
    foot = (len(notes) + 1) * NOTE
    height = 2 * (row + LEGEND) + foot
    height += HEADING + row + LONG_LEGEND if beyond else 0
    height += HEADING + 2 * high_row + FAMILY_LEGEND if scatters else 0
    figure = Figure(figsize=(WIDTH, height), facecolor="white")
    top = height
    for panels in (paper[:3], paper[3:]):
        entries = [entry for one in _draw_row(figure, panels, rows, top) for entry in one.items()]
        if entries:
            _write_shared_legend(figure, dict(entries), (top - row) / height)
        top -= row + LEGEND
    if beyond:
        _write_heading(figure, "Beyond the paper", top)
        for rank, handles in enumerate(_draw_row(figure, beyond, rows, top - HEADING)):
            at = ((rank + 0.5) * CELL / WIDTH, (top - HEADING - row) / height)
            _write_own_legend(figure, figure.axes[-len(beyond) + rank], handles, at)
        top -= HEADING + row + LONG_LEGEND
    if scatters:
        _write_heading(figure, "The neighbours", top)
        _draw_scatters(figure, scatters, rows, top - HEADING)
    figure.text(0.5, foot / 2 / height, "\n".join(notes), ha="center", va="center", fontsize=SMALL)
    return figure


def _write_heading(figure: Figure, words: str, top: float) -> None:
    at = (top - HEADING / 2) / figure.get_size_inches()[1]
    figure.text(0.5, at, words, ha="center", va="center", fontsize=LARGE, fontweight="bold")


def _draw_row(
    figure: Figure, panels: tuple[Panel, ...], rows: pd.DataFrame, top: float
) -> list[dict[str, Artist]]:
    """Draw three panels whose titles begin at a height in inches; return the handles of each by name."""
    wide, bottom = CELL - LEFT - RIGHT, top - TITLE - HEIGHT
    # Titles in the middle of the cell, not of the axes: long ones have no room to spare on the right.
    return [
        _draw(figure, panel, rows, (rank * CELL + LEFT, bottom, wide, HEIGHT), (CELL / 2 - LEFT) / wide)
        for rank, panel in enumerate(panels)
    ]


def _draw(
    figure: Figure,
    panel: Panel | Scatter,
    rows: pd.DataFrame,
    place: tuple[float, float, float, float],
    title_at: float = 0.5,
) -> dict[str, Artist]:
    """Draw a panel at a place in inches, and return the handles of its legend by name."""
    width, height = figure.get_size_inches()
    left, bottom, wide, high = place
    axes = figure.add_axes((left / width, bottom / height, wide / width, high / height))
    chart = panel.chart(rows)
    axes.set_title(panel.caption, fontsize=NORMAL, pad=4, x=title_at)
    handles = _draw_curves(axes, chart)
    _set_axes(axes, chart)
    return handles


def _draw_curves(axes: Axes, chart: Chart) -> dict[str, Artist]:
    left, right = chart.x.limits or (0.0, 1.0)
    handles: dict[str, Artist] = {}
    for rank, curve in enumerate(chart.series):
        assert isinstance(curve, Curve)
        assert curve.marker is not None
        x, looks = np.array(curve.x), dict[str, Any]()
        if curve.dash is None:
            looks |= {"linestyle": "none", "markersize": 5.5 if curve.marker == "star" else 4.2}
            looks |= {"markeredgecolor": "white", "markeredgewidth": 0.4, "clip_on": False}
        else:
            shift = (rank - (len(chart.series) - 1) / 2) / len(chart.series)
            x = x + shift * _SHIFTS * (right - left)
            looks |= {"linestyle": DASHES[curve.dash], "linewidth": 1.0, "markersize": 3.2}
            looks |= {"markerfacecolor": "white" if curve.hollow else curve.colour, "markeredgewidth": 0.8}
        # Thin bars beneath the lines; where there is one trial, the spread is NaN and there is no bar.
        if curve.low is not None and curve.high is not None:
            axes.vlines(x, curve.low, curve.high, color=curve.colour, linewidth=0.7, alpha=0.55, zorder=1)
        looks |= {"marker": MARKERS[curve.marker], "color": curve.colour, "label": curve.name}
        (handles[curve.name],) = axes.plot(x, curve.y, **looks)
    return handles


def _set_axes(axes: Axes, chart: Chart) -> None:
    """Write what the axes of a chart say, in the sizes of print; without curves, that it was not run."""
    from matplotlib.ticker import NullFormatter

    axes.set_xlabel(chart.x.label, fontsize=NORMAL, labelpad=2)
    axes.set_ylabel(chart.y.label, fontsize=NORMAL, labelpad=2)
    axes.spines[["top", "right"]].set_visible(False)
    for axis, line, side in ((chart.x, axes.xaxis, "x"), (chart.y, axes.yaxis, "y")):
        if axis.log:
            axes.set(**{f"{side}scale": "log"})
            line.set_minor_formatter(NullFormatter())
        if axis.limits is not None:
            axes.set(**{f"{side}lim": axis.limits})
        if axis.ticks is not None:
            low, high = sorted(axis.limits or (-np.inf, np.inf))
            shown = {at: label for at, label in axis.ticks.items() if low <= at <= high}
            line.set_ticks(list(shown), list(shown.values()))
    if chart.series:
        axes.grid(alpha=0.25, linewidth=0.5)
    else:
        axes.set_yticks([], [])
        axes.set_yticks([], [], minor=True)
        words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": NORMAL, "color": "0.4"}
        axes.text(0.5, 0.5, "not run", transform=axes.transAxes, **words)
    axes.tick_params(labelsize=SMALL, pad=2, which="both")
    axes.tick_params(length=2.5)


def _write_own_legend(
    figure: Figure, axes: Axes, handles: dict[str, Artist], at: tuple[float, float]
) -> None:
    if handles:
        where: dict[str, Any] = {"loc": "upper center", "bbox_transform": figure.transFigure}
        axes.legend(list(handles.values()), list(handles), bbox_to_anchor=at, **where, **_LEGEND_LOOKS)


def _write_shared_legend(figure: Figure, handles: dict[str, Artist], at: float) -> None:
    """Put one legend beneath a row; a search from another start stands below the one from the empty set."""
    names = sorted(handles, key=NAMES.index)
    # The page is as wide as five names of some 14 letters, or four of those that end in "from arbitrary".
    in_one_row = len(names) <= 5 and sum(map(len, names)) <= 70
    figure.legend(
        [handles[name] for name in names],
        names,
        loc="upper center",
        bbox_to_anchor=(0.5, at),
        ncols=len(names) if in_one_row else min(len(names), 4),
        columnspacing=1.0,
        **_LEGEND_LOOKS | {"handlelength": 2.4},
    )


def _draw_scatters(figure: Figure, scatters: Iterable[Scatter], rows: pd.DataFrame, top: float) -> None:
    """Draw two rows of panels, and one legend beneath them with a column per family of methods."""
    width, height = figure.get_size_inches()
    shown: dict[str, dict[str, Artist]] = {family: {} for family in FAMILIES}
    for rank, scatter in enumerate(scatters):
        bottom = top - (rank // 2) * (TITLE + HIGH + X_LABEL) - TITLE - HIGH
        place = (rank % 2) * WIDE_CELL + LEFT, bottom, WIDE_CELL - LEFT - WIDE_RIGHT, HIGH
        for name, handle in _draw(figure, scatter, rows, place).items():
            shown[LOOKS[name][0]].setdefault(name, handle)
    left = 0.08
    for family, entries in ((family, entries) for family, entries in shown.items() if entries):
        at = left / width, (bottom - X_LABEL) / height
        left += 0.3 + 0.055 * max(map(len, (family, *entries)))
        figure.legend(
            list(entries.values()),
            list(entries),
            title=family,
            title_fontproperties={"size": SMALL, "weight": "bold"},
            alignment="left",
            loc="upper left",
            bbox_to_anchor=at,
            **_LEGEND_LOOKS | {"handlelength": 1.0},
        )
