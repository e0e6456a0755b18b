"""The race as one picture: time, answer, growth; a colour is a program in all three."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

import numpy as np

from benchmarks.race.climbs import RESTARTS, mean_gaps
from benchmarks.race.compare import OWN, exponents
from benchmarks.race.gaps import Answers, gaps
from benchmarks.race.programs import PROGRAMS
from benchmarks.race.rows import Climb, Lap
from benchmarks.race.rows import Figure as Measured

COLOURS = {name: f"C{number}" for number, name in enumerate(PROGRAMS)}
GROWTH = "time against features"
NONE = 1e-4  # gaps of R² below are drawn on a linear scale, so that none has a place
MOMENTS = 200


def picture(
    laps: Sequence[Lap],
    hard: Sequence[Lap],
    answers: Sequence[Answers],
    climbs: Sequence[Climb],
    figures: Sequence[Measured],
) -> Any:
    """Return a matplotlib figure of three panels; one without data says so."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(16, 5.6), layout="constrained")
    times, gap, growth = figure.subplots(1, 3)
    _draw_times(times, [lap for lap in laps if lap.seconds])
    _draw_answers(gap, [lap for lap in hard if lap.seconds], answers, climbs)
    _draw_growth(growth, figures)
    for axes in (times, gap, growth):
        if axes.has_data():
            axes.grid(alpha=0.3)
        else:
            axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
            axes.set(xticks=[], yticks=[], xlabel="", ylabel="")
    shown = _programs([*laps, *hard])
    handles = [Line2D([], [], marker="o", color=COLOURS[name], label=name) for name in shown]
    if handles:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=len(handles), fontsize=11, frameon=False
        )
    return figure


def _programs(laps: Iterable[Lap]) -> list[str]:
    """Return those that ran, in the order of the list of programs."""
    ran = {lap.program for lap in laps if lap.seconds}
    return [name for name in PROGRAMS if name in ran]


def _draw_times(axes: Any, laps: Sequence[Lap]) -> None:
    """Draw median seconds at every size, with their range over designs and seeds, per thread count."""
    axes.set_title("Time of a fit")
    if not laps:
        return
    shapes = sorted({_shape(lap) for lap in laps}, key=lambda shape: (shape[0] * shape[1], shape))
    counts, names = sorted({lap.threads for lap in laps}), _programs(laps)
    places = len(names) * len(counts)
    for position, (name, threads) in enumerate((name, count) for name in names for count in counts):
        at, seconds = [], []
        for number, shape in enumerate(shapes):
            some = [lap.seconds for lap in laps if _is(lap, name, threads, shape) and lap.seconds]
            if some:
                at.append(number + 0.7 * ((position + 0.5) / places - 0.5))  # side by side
                seconds.append((median(some), min(some), max(some)))
        filled = COLOURS[name] if threads == counts[0] else "white"
        style = {"color": COLOURS[name], "markerfacecolor": filled, "markersize": 6}
        if seconds:
            middle, low, high = np.array(seconds).T
            axes.errorbar(at, middle, [middle - low, high - middle], fmt="o", elinewidth=1, **style)
    labels = [f"{samples:,}\n× {features:,}\n{size}" for samples, features, size in shapes]
    axes.set_xticks(range(len(shapes)), labels, fontsize=8)
    marks = ", ".join(f"{'filled' if n == counts[0] else 'open'}: {n} thread{'s' * (n > 1)}" for n in counts)
    axes.set(
        yscale="log", title="Time of a fit", ylabel="seconds", xlabel=f"samples × features, chosen ({marks})"
    )


def _shape(lap: Lap) -> tuple[int, int, int]:
    return lap.setting.samples, lap.setting.features, lap.setting.size


def _is(lap: Lap, name: str, threads: int, shape: tuple[int, int, int]) -> bool:
    return (lap.program, lap.threads, _shape(lap)) == (name, threads, shape)


def _draw_answers(
    axes: Any, laps: Sequence[Lap], answers: Sequence[Answers], climbs: Sequence[Climb]
) -> None:
    """Draw the mean gap to the best known over time: peers as points, the climb of swapwise as a line."""
    points = {name: (_median(laps, name), gaps(answers, name)) for name in _programs(laps)}
    slowest = max((seconds for seconds, _ in points.values()), default=0.0)
    for name, (seconds, found) in points.items():
        if found is not None:
            axes.plot(seconds, found.mean, "o", markersize=10, color=COLOURS[name])
            # Words go to the right, where there is room for them.
            place = ((9, 4), "left") if seconds < slowest / 2 or len(points) == 1 else ((9, -18), "right")
            words = {"xytext": place[0], "ha": place[1], "textcoords": "offset points"}
            says = f"{name}: below in {found.below} of {found.trials}"
            axes.annotate(says, (seconds, found.mean), color=COLOURS[name], **words)
    best = {one.setting: one.best for one in answers}
    climbed = [one for one in climbs if one.setting in best]
    if climbed and OWN in points:
        # From when every search has something to show; where its first part ends, the line meets the point.
        begin, end = (max(one.seconds[step] / one.first for one in climbed) for step in (0, -1))
        multiples = np.geomspace(begin, end, MOMENTS)
        axes.plot(multiples * points[OWN][0], mean_gaps(climbed, best, multiples), color=COLOURS[OWN])
    axes.set_xscale("log")
    axes.set_yscale("symlog", linthresh=NONE)
    axes.margins(y=0.1)
    axes.set_ylim(bottom=0)
    axes.set(
        title="Answer on hard data: how far R² is below the best known",
        xlabel=f"seconds (line: swapwise as it goes on, with {RESTARTS} restarts)",
        ylabel="mean gap",
    )


def _median(laps: Sequence[Lap], name: str) -> float:
    return median(lap.seconds for lap in laps if lap.program == name and lap.seconds)


def _draw_growth(axes: Any, figures: Sequence[Measured]) -> None:
    """Draw seconds against the number of features, with an exponent at the end of each line."""
    for (topic, subject), slope in exponents(figures).items():
        if topic != GROWTH or subject not in COLOURS:
            continue
        curve = sorted(
            (row.at, row.value)
            for row in figures
            if (row.topic, row.subject, row.quantity) == (topic, subject, "seconds")
        )
        axes.plot(*zip(*curve, strict=True), "-o", markersize=4, color=COLOURS[subject])
        place = {"xytext": (7, -3), "textcoords": "offset points", "color": COLOURS[subject]}
        axes.annotate(f"$n^{{{slope:.2f}}}$", curve[-1], **place)
    axes.margins(x=0.2)
    axes.set(xscale="log", yscale="log", title="Growth of time with features")
    axes.set(xlabel="features (1000 samples, 10 chosen)", ylabel="seconds")
