"""The race as one picture: time ratios, differences of R², growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.race.compare import Comparison, exponents
from benchmarks.race.rows import Figure as Measured

LEAST_DIFFERENCE = 1e-10  # what counts as the same R²


def picture(compared: Sequence[Comparison], figures: Sequence[Measured]) -> Any:
    """Return a matplotlib figure of three panels; one without data says so."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 6), layout="constrained")
    ratios, differences, growth = figure.subplots(1, 3)
    ran = [one for one in compared if one.ratio is not None]
    peers = list(dict.fromkeys(one.peer for one in ran))
    shapes = sorted({_shape(one) for one in ran}, key=lambda shape: (shape[0] * shape[1], shape))
    ticks = ["x".join(map(str, shape)) for shape in shapes]
    for axes in (ratios, differences):
        axes.set_xticks(range(len(shapes)), ticks, rotation=20, ha="right")
    for position, peer in enumerate(peers):
        some = [one for one in ran if one.peer == peer]
        shift = 0.6 * (position / max(len(peers) - 1, 1) - 0.5)  # so that peers do not hide one another
        at = [shapes.index(_shape(one)) + shift for one in some]
        ratios.plot(at, [one.ratio for one in some], "o", label=peer)
        differences.plot(at, [one.below for one in some], "o", label=peer)
    ratios.set(yscale="log", title="time as a fraction of the peer's", xlabel="samples x features x support")
    ratios.axhline(1, color="grey", linewidth=0.8)
    differences.set_yscale("symlog", linthresh=LEAST_DIFFERENCE)
    differences.set(title="R² less the peer's, least over seeds", xlabel="samples x features x support")
    differences.axhline(0, color="grey", linewidth=0.8)
    _draw_growth(growth, figures)
    for axes in (ratios, differences, growth):
        _finish(axes)
    return figure


def _shape(one: Comparison) -> tuple[int, int, int]:
    return one.setting.samples, one.setting.features, one.setting.size


def _draw_growth(axes: Any, figures: Sequence[Measured]) -> None:
    colours: dict[str, str] = {}
    styles: dict[str, str] = {}
    for (topic, subject), slope in exponents(figures).items():
        curve = sorted(
            (row.at, row.value)
            for row in figures
            if (row.topic, row.subject, row.quantity) == (topic, subject, "seconds")
        )
        what = topic.removeprefix("time against ")
        colour = colours.setdefault(subject, f"C{len(colours)}")
        style = styles.setdefault(what, ("-", "--", ":")[len(styles) % 3])
        label = f"{subject}, {what}: exponent {slope:.2f}"
        axes.plot(*zip(*curve, strict=True), style, marker=".", color=colour, label=label)
    axes.set(xscale="log", yscale="log", title="growth", xlabel="features, samples or support", ylabel="s")


def _finish(axes: Any) -> None:
    if axes.get_legend_handles_labels()[0]:
        # Below, where it hides nothing.
        axes.legend(fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.25))
    else:
        axes.text(0.5, 0.5, "not measured", ha="center", transform=axes.transAxes)
