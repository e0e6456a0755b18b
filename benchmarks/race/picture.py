"""The race as one picture: how long a fit takes, size by size, swapwise among its peers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from statistics import median
from typing import Any

from benchmarks.race.compare import OWN
from benchmarks.race.programs import PROGRAMS
from benchmarks.race.rows import Lap

ACCENT = "#d55e00"
#: Peers are shades of one colour, told apart by their marks too.
SHADES, MARKS = ("#1f4e79", "#5b8db8", "#9dbbd6"), ("s", "^", "D", "v", "P", "X", "<", ">")
# How far apart the dots of the programs are within a size, whose share of the axis is 1.
SPREAD = 0.6


def picture(laps: Sequence[Lap]) -> Any:
    """Return a matplotlib figure of the times with the least number of threads; without any it says so."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.subplots()
    threads = min((lap.threads for lap in laps), default=1)
    laps = [lap for lap in laps if lap.threads == threads]
    if not any(lap.seconds for lap in laps):
        axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
        axes.set(xticks=[], yticks=[])
        return figure
    _draw_times(axes, laps)
    counted = f"{threads} thread{'s' * (threads > 1)}"
    axes.set_title(
        "How long it takes to choose the features of a regression\n"
        f"median and range over designs; {counted}; left is faster",
        fontsize=10,
    )
    axes.set_xlabel("seconds per fit (log scale)")
    axes.set_ylabel("samples × features, chosen")
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(len(names), 4), frameon=False)
    return figure


def _draw_times(axes: Any, laps: Sequence[Lap]) -> None:
    """Draw the median of the times at every size and their range, or why there are none."""
    shapes = sorted({_shape(lap) for lap in laps}, key=lambda shape: (shape[0] * shape[1], shape))
    ran = {lap.program for lap in laps if lap.seconds}
    names = [name for name in PROGRAMS if name in ran]
    axes.set_xscale("log")
    for (row, shape), (place, name) in product(enumerate(shapes), enumerate(names)):
        mine = [lap for lap in laps if (lap.program, _shape(lap)) == (name, shape)]
        seconds = [lap.seconds for lap in mine if lap.seconds]
        at = row + SPREAD * ((place + 0.5) / len(names) - 0.5)
        look = _look(names, name)
        if seconds:
            axes.plot([min(seconds), max(seconds)], [at, at], color=look["color"], linewidth=1.2)
            axes.plot(median(seconds), at, linestyle="none", **look, label=name if row == 0 else None)
        elif mine:
            where = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
            axes.text(0.99, at, f"{name}: {mine[0].note}", fontsize=8, **where)
    axes.set_yticks(range(len(shapes)), [f"{n:,} × {p:,}, {size}" for n, p, size in shapes])
    axes.set_ylim(len(shapes) - 0.5, -0.5)
    axes.set_axisbelow(True)
    axes.grid(axis="x", alpha=0.3)
    for line in range(1, len(shapes)):
        axes.axhline(line - 0.5, color="0.85", linewidth=0.8)


def _look(names: Sequence[str], name: str) -> dict[str, Any]:
    if name == OWN:
        return {"color": ACCENT, "marker": "o", "markersize": 8}
    peer = [one for one in names if one != OWN].index(name)
    return {"color": SHADES[peer % len(SHADES)], "marker": MARKS[peer % len(MARKS)], "markersize": 6}


def _shape(lap: Lap) -> tuple[int, int, int]:
    return lap.setting.samples, lap.setting.features, lap.setting.size
