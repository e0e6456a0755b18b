"""Pictures of how sure a learnt graph is; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.charts.chart import (
    COLOURS,
    FOUND,
    GREY,
    PROVEN,
    Axis,
    Band,
    Chart,
    Curve,
    Dash,
    Intervals,
    Rule,
    Series,
    names_axis,
)
from swapwise.charts.figures import axes_or_new, draw
from swapwise.charts.svg import shortened
from swapwise.checks import FloatArray, as_count, as_real
from swapwise.graphs.pictures.plots import NEGATIVE, POSITIVE
from swapwise.graphs.stability.centrality import MEASURES, centralities
from swapwise.graphs.stability.tables import as_share, pair_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from swapwise.graphs.stability.bootstrap import GraphBootstrap
    from swapwise.graphs.stability.case_dropping import CaseDropping
    from swapwise.graphs.stability.comparison import GraphComparison

# Inches of a row of a chart with many of them, and of a letter in it, whose size is in points.
ROW, LETTER, ROW_FONT = 0.17, 0.06, 7.5

# Beyond this many tiles their names would overlap, whatever the size of the figure.
MOST_TILES = 120

# Letters of a name that there is room for beside a chart.
MOST_LETTERS = 40

INTERVAL = "#a9c4de"
DIFFERENT, NOT_DIFFERENT = "#1a1a1a", "#d9d9d9"

LINES: tuple[Dash, ...] = ("solid", "dash", "dashdot", "dot")


def draw_edges(boot: GraphBootstrap, ax: Axes | None, least: float, top: int) -> Axes:
    edges = boot.edges.assign(label=pair_labels(boot.names))
    often = (edges["inclusion"] >= as_real(least, "least")) & (edges["inclusion"] > 0)
    edges = edges[(edges["weight"] != 0) | often]
    by_frequency = edges.sort_values(["inclusion", "weight"], ascending=False, kind="stable").index
    by_frequency = by_frequency[: as_count(top, "top")]
    shown = edges.loc[by_frequency].sort_values(["weight", "mean"], ascending=False, kind="stable")
    axes = axes_or_new(ax, height=_height(len(shown)))
    left_out = len(boot.sample) - len(shown)
    note = f"\n({left_out} pairs that are rarely or never edges left out)" if left_out else ""
    _draw_rows(
        axes, _intervals(shown, shown["weight"], boot.level), shown["label"], f"weight of the edge{note}"
    )
    shares = [_per_cent(share) for share in shown["inclusion"]]
    _write_beside_rows(axes, shares, "an edge in % of bootstrap samples")
    return axes


def draw_centrality(boot: GraphBootstrap, measure: str, ax: Axes | None) -> Axes:
    rows = boot.centralities
    rows = rows[rows["measure"] == measure].sort_values("value", ascending=False, kind="stable")
    axes = axes_or_new(ax, height=_height(len(rows)))
    return _draw_rows(axes, _intervals(rows, rows["value"], boot.level), rows["vertex"], _in_words(measure))


def plot_centrality(model: Any, measure: str = "strength", *, ax: Axes | None = None) -> Axes:
    """Draw how central the vertices of a fitted graph are, from the most central to the least.

    Parameters
    ----------
    model : fitted graph estimator
        Such as an :class:`IsingGraph`, or a pipeline that ends in one.
    measure : str
        ``"strength"``, ``"expected_influence"``, ``"closeness"``, ``"betweenness"`` or ``"degree"``.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure that is as high as its rows need.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    centralities : the numbers.
    GraphBootstrap.plot : the same with intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import IsingGraph
    >>> from swapwise.graphs import plot_centrality
    >>> turns = np.where(np.random.default_rng(0).random((300, 3)) < 0.2, -1, 1)
    >>> model = IsingGraph(max_degree=2, edges=[(0, 1), (1, 2)]).fit(np.cumprod(turns, axis=1))
    >>> [label.get_text() for label in plot_centrality(model).get_yticklabels()]
    ['1', '0', '2']
    """
    _require_measures([measure], MEASURES, "measure")
    values = centralities(model)[measure].sort_values(ascending=False, kind="stable")
    axes = axes_or_new(ax, height=_height(len(values)))
    places = [float(place) for place in range(len(values))]
    marks = Curve(values.tolist(), places, "sample", FOUND, dash=None, marker="diamond")
    return _draw_rows(axes, [marks], values.index, _in_words(measure))


def _intervals(rows: pd.DataFrame, values: pd.Series, level: float) -> list[Series]:
    places = [float(place) for place in range(len(rows))]
    ends = rows["lower"].tolist(), rows["upper"].tolist()
    spots: dict[str, Any] = {"dash": None, "size": 7.5}
    return [
        Intervals(places, *ends, f"{100 * level:g} % interval", INTERVAL),
        Curve(rows["mean"].tolist(), places, "bootstrap mean", PROVEN, marker="circle", hollow=True, **spots),
        Curve(values.tolist(), places, "sample", FOUND, marker="diamond", **spots | {"size": 6.0}),
    ]


def _draw_rows(axes: Axes, series: Sequence[Series], labels: Any, quantity: str) -> Axes:
    names = [shortened(str(label), MOST_LETTERS) for label in labels]
    draw(Chart(Axis(quantity, zero=True), names_axis(names), tuple(series) if names else ()), axes)
    axes.tick_params(axis="y", labelsize=ROW_FONT)
    if not names:
        _say_no_edges(axes)
    return axes


def _write_beside_rows(axes: Axes, words: list[str], meaning: str) -> None:
    if words:
        right = axes.secondary_yaxis("right")
        right.set_yticks(np.arange(len(words)), words, fontsize=ROW_FONT)
        right.tick_params(axis="y", length=0)
        right.spines["right"].set_visible(False)
        right.set_ylabel(meaning, fontsize=8, loc="top")


def _per_cent(share: float) -> str:
    """Return a share in per cent, in which only 1 is 100 and only 0 is 0."""
    if 0 < share < 0.01:
        return "<1"
    return ">99" if 0.99 < share < 1 else f"{100 * share:.0f}"


def draw_differences(boot: GraphBootstrap, of: str, ax: Axes | None) -> Axes:
    frame = boot.differences(of)
    shown = frame.iloc[:MOST_TILES, :MOST_TILES]
    longest = max((len(shortened(str(label), MOST_LETTERS)) for label in shown), default=0)
    size = max(3.4, 0.8 + LETTER * longest + ROW * len(shown))
    axes = axes_or_new(ax, width=size, height=size)
    _draw_tiles(axes, shown)
    values = np.sort(_values(boot, of))[::-1][: len(shown)]
    if of == "edges":
        _colour_diagonal(axes, values)
    else:
        for place, value in enumerate(values):
            axes.text(place, place, f"{value:.2g}", ha="center", va="center", fontsize=6)
    more = len(frame) - len(shown)
    what = "edges" if of == "edges" else _in_words(of)
    axes.set_xlabel(f"{what}: black if different" + (f"  (the {more} smallest left out)" if more else ""))
    return axes


def _values(boot: GraphBootstrap, of: str) -> FloatArray:
    if of == "edges":
        return boot.sample[boot.sample != 0]
    rows = boot.centralities
    values: FloatArray = rows.loc[rows["measure"] == of, "value"].to_numpy()
    return values


def _draw_tiles(axes: Axes, frame: pd.DataFrame) -> None:
    from matplotlib.colors import ListedColormap, to_rgba

    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    if frame.empty:
        axes.set(xticks=[], yticks=[])
        _say_no_edges(axes)
        return
    shades = frame.to_numpy().astype(float)
    np.fill_diagonal(shades, 2.0)
    colours = ListedColormap([to_rgba(colour) for colour in (NOT_DIFFERENT, DIFFERENT, "white")])
    axes.imshow(shades, cmap=colours, vmin=0, vmax=2, interpolation="nearest")
    places, labels = np.arange(len(frame)), [shortened(str(label), MOST_LETTERS) for label in frame]
    axes.set_xticks(places, labels, rotation=90, fontsize=ROW_FONT)
    axes.set_yticks(places, labels, fontsize=ROW_FONT)
    # White lines between tiles.
    axes.set_xticks(places[:-1] + 0.5, minor=True)
    axes.set_yticks(places[:-1] + 0.5, minor=True)
    axes.grid(which="minor", color="white", linewidth=0.8)


def _colour_diagonal(axes: Axes, weights: FloatArray) -> None:
    from matplotlib.patches import Rectangle

    largest = float(np.abs(weights).max(initial=0.0))
    for place, weight in enumerate(weights):
        colour = POSITIVE if weight > 0 else NEGATIVE
        alpha = 0.2 + 0.8 * abs(weight) / largest
        corner = place - 0.5, place - 0.5
        axes.add_patch(Rectangle(corner, 1.0, 1.0, facecolor=colour, alpha=alpha, linewidth=0))


def draw_case_dropping(cases: CaseDropping, ax: Axes | None, measures: Iterable[str]) -> Axes:
    names = [measures] if isinstance(measures, str) else list(measures)
    _require_measures(names, ("edges", *MEASURES), "measures")
    summary, series = cases.summary, []
    for rank, name in enumerate(names):
        rows = summary[summary["measure"] == name].sort_values("share", ascending=False)
        series += _course_of(rows, _in_words(name), float(cases.coefficients[name]), rank)
    asked_for = f"asked for by CS: {cases.correlation:g} in 95 % of subsets"
    series.append(Rule(cases.correlation, asked_for, GREY, "dot"))
    lowest = float(summary.loc[summary["measure"].isin(names), "lower"].min())
    least = min(0.0, lowest - 0.05) if np.isfinite(lowest) else 0.0
    across = Axis("cases dropped", "%", limits=(0.0, 103 * (1 - float(cases.shares.min()))))
    upwards = Axis("correlation with the whole sample", limits=(least, 1.03))
    axes = draw(Chart(across, upwards, tuple(series)), axes_or_new(ax))
    axes.legend(frameon=False, fontsize=8, loc="lower left")
    return axes


def _course_of(rows: pd.DataFrame, name: str, coefficient: float, rank: int) -> list[Series]:
    """Return the mean of one measure over the cases dropped, with its interval as a band."""
    colour = COLOURS[rank % len(COLOURS)]
    if rows["mean"].isna().all():
        return [Curve([], [], f"{name} (does not vary)", colour)]
    dropped = (100 * (1 - rows["share"])).tolist()
    ends = {end: rows[end].tolist() for end in ("lower", "upper")}
    label, dash = f"{name} (CS {coefficient:.2f})", LINES[rank % len(LINES)]
    return [
        Band(dropped, ends["lower"], ends["upper"], "", colour),
        *(Curve(dropped, end, "", colour, width=1.0) for end in ends.values()),
        Curve(dropped, rows["mean"].tolist(), label, colour, dash=dash, marker="circle", size=7),
    ]


def draw_comparison(comparison: GraphComparison, ax: Axes | None, alpha: float, top: int) -> Axes:
    alpha, top = as_share(alpha, "alpha"), as_count(top, "top")
    edges = comparison.edges.assign(label=pair_labels(comparison.names))
    edges = edges[(edges["first"] != 0) | (edges["second"] != 0)]
    order = edges["difference"].abs().sort_values(ascending=False, kind="stable").index[:top]
    shown = edges.loc[order]
    axes = axes_or_new(ax, height=_height(len(shown)) + 0.3)
    more = len(edges) - len(shown)
    quantity = "weight of the edge" + (f"  ({more} edges that differ less left out)" if more else "")
    _draw_rows(axes, _dumbbells(shown, alpha), shown["label"], quantity)
    _write_beside_rows(axes, [f"{p:.3g}" for p in shown["p_max"]], "p-value for all pairs")
    p = comparison.tests["p_value"]
    words = f"global strength p = {p.iloc[0]:.3g}, largest edge difference p = {p.iloc[1]:.3g}"
    axes.set_title(words, fontsize=9, pad=24)
    return axes


def _dumbbells(rows: pd.DataFrame, alpha: float) -> list[Series]:
    places, apart = np.arange(float(len(rows))), (rows["p_max"] <= alpha).to_numpy()
    looks = [(~apart, f"p > {alpha:g}", NOT_DIFFERENT), (apart, f"p ≤ {alpha:g}", PROVEN)]
    lines = [
        Intervals(
            places[some].tolist(),
            rows["first"][some].tolist(),
            rows["second"][some].tolist(),
            label,
            colour,
            width=3.5,
        )
        for some, label, colour in looks
    ]
    spots: dict[str, Any] = {"dash": None, "size": 7.0}
    first = Curve(rows["first"].tolist(), places.tolist(), "first group", FOUND, marker="diamond", **spots)
    second = Curve(
        rows["second"].tolist(), places.tolist(), "second group", COLOURS[2], marker="circle", **spots
    )
    return [*lines, second, first]


def _require_measures(names: list[str], known: Iterable[str], what: str) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{what} must be one of {', '.join(known)}; got {name!r}")


def _in_words(measure: str) -> str:
    return measure.replace("_", " ")


def _height(n_rows: int) -> float:
    return max(2.2, 1.2 + ROW * n_rows)


def _say_no_edges(axes: Axes) -> None:
    words: dict[str, Any] = {"ha": "center", "va": "center", "backgroundcolor": "white"}
    axes.text(0.5, 0.5, "no edges", transform=axes.transAxes, **words)
