"""Axes of matplotlib, and charts drawn into them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.charts.chart import Axis, Band, Bars, Chart, Curve, Dash, Intervals, Marker, Rule, Series, Tiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The names of markers and dashes in matplotlib.
MARKERS: dict[Marker, str] = {
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle-up": "^",
    "triangle-down": "v",
    "triangle-left": "<",
    "x": "X",
    "cross": "P",
    "star": "*",
    "pentagon": "p",
}
DASHES: dict[Dash, Any] = {"solid": "-", "dash": "--", "dot": ":", "dashdot": "-."}

# Points of a figure per pixel of a page.
_POINTS = 0.6


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt  # so that plt.show() and notebooks know the figure

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib axes, got {ax!r}")
    return ax


def drawn_model(model: Any) -> Any:
    """Return the estimator to draw: the last step of a pipeline, that of a selector, or the argument itself.

    An estimator that is not fitted raises scikit-learn's ``NotFittedError``.
    """
    steps = getattr(model, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) else model
    if hasattr(last, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(last)
    return getattr(last, "estimator_", last)


def draw(chart: Chart, axes: Axes) -> Axes:
    for rank, one in enumerate(chart.series):
        _draw_one(axes, one, 2 + 0.01 * rank)
    _set_axis(axes, chart.x, "x")
    _set_axis(axes, chart.y, "y")
    if chart.title:
        axes.set_title(chart.title, loc="left", fontsize="medium")
    if chart.names:
        _write_legend(axes, chart)
    axes.spines[["top", "right"]].set_visible(False)
    rows = chart.y.ticks is not None
    axes.grid(axis="x" if rows else "both", alpha=0.25)
    axes.set_axisbelow(True)
    return axes


def _set_axis(axes: Axes, axis: Axis, side: str) -> None:
    from matplotlib.ticker import MaxNLocator

    line = axes.xaxis if side == "x" else axes.yaxis
    if axis.log:
        axes.set(**{f"{side}scale": "log"})
        line.set_major_formatter("{x:g}")
    if axis.integers:
        line.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    if axis.ticks is not None:
        line.set_ticks(list(axis.ticks), list(axis.ticks.values()))
        for place, name in zip(axis.ticks, line.get_ticklabels(), strict=True):
            name.set(fontweight="bold" if place in axis.headings else "normal")
        axes.tick_params(axis="x" if side == "x" else "y", length=0)
    elif not axis.log:
        axes.ticklabel_format(axis="x" if side == "x" else "y", useOffset=False)
    if axis.zero:
        (axes.axvline if side == "x" else axes.axhline)(0.0, color="black", linewidth=0.8, zorder=1)
    if axis.limits is not None:
        (axes.set_xlim if side == "x" else axes.set_ylim)(axis.limits)
    line.set_label_text(axis.label)


def _write_legend(axes: Axes, chart: Chart) -> None:
    """Write every name once; charts of rows have the legend above them, where it hides none."""
    handles, names = axes.get_legend_handles_labels()
    once = dict(zip(names, handles, strict=True))
    where: dict[str, Any] = {}
    if chart.y.ticks is not None:
        where = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 4, "fontsize": 8}
    axes.legend(list(once.values()), list(once), frameon=False, **where)


def _draw_one(axes: Axes, one: Series, zorder: float) -> None:
    if isinstance(one, Curve):
        _draw_curve(axes, one, zorder)
    elif isinstance(one, Band):
        step = "post" if one.steps else None
        look: dict[str, Any] = {"color": one.colour, "alpha": 0.2, "linewidth": 0, "step": step}
        axes.fill_between(one.x, one.low, one.high, label=one.name or None, **look)
    elif isinstance(one, Bars):
        _draw_bars(axes, one, zorder)
    elif isinstance(one, Intervals):
        line: dict[str, Any] = {"color": one.colour, "linewidth": one.width, "zorder": zorder}
        axes.hlines(one.at, one.low, one.high, label=one.name or "", **line)
    elif isinstance(one, Rule):
        rule: dict[str, Any] = {"color": one.colour, "linestyle": DASHES[one.dash], "linewidth": 1.0}
        across = axes.axvline if one.upright else axes.axhline
        across(one.at, zorder=1.5, label=one.name or None, **rule)
    elif isinstance(one, Tiles):
        raise TypeError("tiles are drawn on pages only")


def _draw_curve(axes: Axes, one: Curve, zorder: float) -> None:
    look: dict[str, Any] = {"color": one.colour, "zorder": zorder}
    if one.dash is not None:
        look |= {"linestyle": DASHES[one.dash], "linewidth": one.width * _POINTS}
        look |= {"drawstyle": "steps-post"} if one.steps else {}
    else:
        look["linestyle"] = "none"
    if one.marker is not None and one.opacity is None:
        look |= {"marker": MARKERS[one.marker], "markersize": one.size * _POINTS}
        look |= {"markerfacecolor": "white"} if one.hollow else {}
    axes.plot(one.x, one.y, label=one.name or None, **look)
    if one.low is not None and one.high is not None:
        ends = np.nan_to_num([np.subtract(one.y, one.low), np.subtract(one.high, one.y)])
        bars: dict[str, Any] = {"fmt": "none", "ecolor": one.colour, "elinewidth": 1.0, "capsize": 2}
        axes.errorbar(one.x, one.y, np.maximum(ends, 0.0), zorder=zorder, **bars)
    if one.opacity is not None:
        spots: dict[str, Any] = {"s": (one.size * _POINTS) ** 2, "color": one.colour, "zorder": zorder}
        axes.scatter(one.x, one.y, **spots | {"alpha": list(one.opacity)})


def _draw_bars(axes: Axes, one: Bars, zorder: float) -> None:
    look: dict[str, Any] = {"color": one.colour, "label": one.name or None, "zorder": zorder}
    look |= {"hatch": "///"} if one.striped else {}
    lengths = np.subtract(one.end, one.begin)
    if one.horizontal:
        axes.barh(one.at, lengths, left=one.begin, height=0.75, **look)
    else:
        axes.bar(one.at, lengths, bottom=one.begin, width=0.75, **look)
