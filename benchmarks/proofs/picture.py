"""Gaps over time: a panel for each line, a curve for each program and seed."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

from benchmarks.proofs.lines import GAP
from benchmarks.proofs.outcomes import Outcome, gap_of
from benchmarks.proofs.programs import PROGRAMS

COLOURS = {name: f"C{number}" for number, name in enumerate(PROGRAMS)}
COLUMNS = 3
LEAST = GAP / 10  # gaps below are drawn here: those of optima have no place on a logarithmic axis


def picture(outcomes: Sequence[Outcome]) -> Any:
    """Return a matplotlib figure."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    lines = list(dict.fromkeys(outcome.line for outcome in outcomes))
    columns = min(COLUMNS, len(lines)) or 1
    rows = ceil(len(lines) / columns) or 1
    figure = Figure(figsize=(5 * columns, 3.4 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, line in zip(panels, lines, strict=False):
        for outcome in outcomes:
            if outcome.line == line and outcome.points:
                _draw(axes, outcome)
        axes.axhline(GAP, color="grey", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", yscale="log", ylim=(LEAST / 2, 1.2), title=str(line))
        axes.title.set_fontsize(9)
        axes.grid(alpha=0.3)
    for axes in panels[len(lines) :]:
        axes.set_axis_off()
    figure.supxlabel("seconds")
    figure.supylabel("gap")
    shown = [name for name in PROGRAMS if any(one.program == name and one.points for one in outcomes)]
    handles = [Line2D([], [], marker="o", color=COLOURS[name], label=name) for name in shown]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    return figure


def _draw(axes: Any, outcome: Outcome) -> None:
    """Draw how the gap fell: it stays until the next point, and the last one is marked."""
    seconds = [point[0] for point in outcome.points]
    gaps = [max(gap_of(*point[1:]), LEAST) for point in outcome.points]
    colour = COLOURS[outcome.program]
    axes.step(seconds, gaps, where="post", color=colour, alpha=0.7)
    axes.plot(seconds[-1], gaps[-1], "o", color=colour, markersize=4)
