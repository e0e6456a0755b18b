"""The panels of value against time: one point per method, declared as data like the panels of curves."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10
from typing import ClassVar

import pandas as pd

from swapwise.charts.chart import Axis, Chart, Curve, Marker
from swapwise.paper.comparisons import best_known_share
from swapwise.paper.grid import GRID, NEIGHBOURS
from swapwise.paper.neighbours import rule_of
from swapwise.paper.panels import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILION, Style, log_range_of
from swapwise.paper.procedures import DEFAULT, LOCAL_SEARCHES
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000, Setting

#: Families of methods, each with its colour; within a family, shapes tell methods apart.
FAMILIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "local search": (BLUE, ("auto", *LOCAL_SEARCHES, "filmus-ward", "distorted", "ordered")),
    "one by one": (GREEN, ("greedy", "omp", "foba", "random-residual-greedy")),
    "projections": (VERMILION, ("iht", "htp", "cosamp", "grasp", "clash", "arht", "frank-wolfe")),
    "one look": (ORANGE, ("modular", "random", "sieve", "streak", "streaming")),
    "graphs only": (SKY, ()),
    "others": (PURPLE, ()),
}
_MARKERS: tuple[Marker, ...] = (
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "triangle-down",
    "star",
    "pentagon",
    "cross",
    "x",
)

#: The ticks of shares: each step upwards is a tenth of what is missing. More than the last one counts as 1.
TICKS: dict[float, str] = {0.0: "0", 0.5: ".5", 0.9: ".9", 0.99: ".99", 0.999: ".999", 0.9999: "1"}


def nines(share: float) -> float:
    """Return where a share is on the axis: ``−log10(1 − share)``, at most that of the last tick.

    >>> round(nines(0.9), 6), round(nines(0.99), 6), round(nines(1.0), 6)
    (1.0, 2.0, 4.0)
    """
    return -log10(max(1.0 - share, 1.0 - max(TICKS)))


@dataclass(frozen=True)
class Point:
    """One method in one setting.

    Attributes
    ----------
    name : of the method
    family : a name of ``FAMILIES``
    seconds : the median over instances
    share : the mean, over the same instances, of its value divided by the best that any method found there
    instances : how many there are
    """

    name: str
    family: str
    seconds: float
    share: float
    instances: int
    style: Style


@dataclass(frozen=True)
class Scatter:
    """One pair of axes: seconds across, on a log scale, and the share of the best found upwards.

    >>> SCATTERS[0].caption
    '(j) regression, n = 200'
    """

    letter: str
    title: str
    setting: Setting
    x_label: ClassVar[str] = "processor time (seconds)"
    y_label: ClassVar[str] = "share of the best found"

    @property
    def caption(self) -> str:
        """Letter and title."""
        return f"({self.letter}) {self.title}"

    def points(self, rows: pd.DataFrame) -> list[Point]:
        """Return a point for every method that has rows, family by family; none says that it was not run."""
        means = shares_and_seconds(rows, self.setting, methods_of(self.setting))
        return [
            Point(name, family, means.seconds[name], means.share[name], int(means.instances[name]), style)
            for name, (family, style) in _LOOKS.items()
            if name in means.index
        ]

    def chart(self, points: list[Point]) -> Chart:
        """Return some points, or none, as a chart."""
        lowest = min((nines(point.share) for point in points), default=0.0)
        ticks = {nines(tick): label for tick, label in TICKS.items()}
        limits = log_range_of([point.seconds for point in points]) if points else None
        across = Axis("processor time", "seconds", log=True, limits=limits)
        upwards = Axis(self.y_label, ticks=ticks, limits=(lowest - 0.2, nines(1.0) + 0.2))
        return Chart(across, upwards, tuple(map(_drawn, points)), height=260)


def _drawn(point: Point) -> Curve:
    hover = (
        f"{point.name}\nshare of the best found: {point.share:.5f}\nseconds: {point.seconds:.2g}"
        f"\n{point.instances} runs"
    )
    look = point.style
    at = [point.seconds], [nines(point.share)]
    return Curve(*at, point.name, look.color, dash=None, marker=look.marker, size=10, hover=[hover])


def methods_of(setting: Setting) -> list[str]:
    """Return the methods of the paper, those around it, and what the library does by itself.

    >>> methods_of(ISING_10)[:4]
    ['auto', 'oblivious', 'semi-oblivious', 'non-oblivious']
    """
    blocks = [block for block in GRID if block.setting == setting]
    return ["auto", *(x.procedure.name for x in blocks if x.procedure.part in ("paper", "neighbours"))]


def starts_of(setting: Setting) -> list[str]:
    """Return one local search from all starts, the empty set first, and what the library does by itself.

    >>> starts_of(ISING_10)[:3]
    ['auto', 'semi-oblivious', 'semi-oblivious from arbitrary']
    """
    rule = rule_of(setting)
    names = (block.procedure.name for block in GRID if block.setting == setting)
    return ["auto", rule, *(name for name in names if name.startswith(f"{rule} from") and "q =" not in name)]


def start_of(search: str) -> str:
    """Return where a search of :func:`starts_of` begins.

    >>> start_of("oblivious"), start_of("oblivious from htp"), start_of("auto")
    ('empty', 'htp', 'auto')
    """
    return search if search == "auto" else search.partition(" from ")[2] or "empty"


def shares_and_seconds(rows: pd.DataFrame, setting: Setting, methods: list[str]) -> pd.DataFrame:
    """Return mean share of the best found, median seconds and number of instances of methods that have rows.

    The methods of the paper are run on more instances than those around it: only what both have counts.
    """
    rows = rows.assign(share=best_known_share(rows), seconds=pd.to_numeric(rows["seconds"]).astype(float))
    rows = rows[(rows["setting"] == setting.name) & rows["share"].notna()]
    instance = ["size", "seed", "trial"]
    common = rows.loc[rows["part"] == "neighbours", instance].drop_duplicates()
    mine = rows[rows["method"].isin(methods)].merge(common, on=instance).groupby("method")
    means = mine.agg(share=("share", "mean"), seconds=("seconds", "median"), instances=("share", "size"))
    return means.reindex([name for name in methods if name in means.index])


def _looks() -> dict[str, tuple[str, Style]]:
    """Return family and looks of every method of the grid, in the order of the legend.

    A method that no family names is for graphs only, or among the others.
    """
    placed = {name for _, names in FAMILIES.values() for name in names}
    settings: dict[str, set[str]] = {}
    for block in NEIGHBOURS:
        if block.procedure.part == "neighbours":
            settings.setdefault(block.procedure.name, set()).add(block.setting.experiment)
    rest = {name: where for name, where in settings.items() if name not in placed}
    members = {family: list(names) for family, (_, names) in FAMILIES.items()}
    members["graphs only"] += [name for name, where in rest.items() if where == {"ising"}]
    members["others"] += [name for name, where in rest.items() if where != {"ising"}]
    return {
        name: (family, Style(FAMILIES[family][0], marker, "solid"))
        for family, names in members.items()
        for name, marker in zip(names, _MARKERS, strict=False)
    }


_LOOKS = _looks()

#: All methods in the paper's four settings; only rows of the default flavour go there.
SCATTERS: tuple[Scatter, ...] = (
    Scatter("j", "regression, n = 200", REGRESSION_200),
    Scatter("k", "regression, n = 1000", REGRESSION_1000),
    Scatter("l", "graphical, |V| = 10", ISING_10),
    Scatter("m", "graphical, |V| = 20", ISING_20),
)


def scatter_note(rows: pd.DataFrame) -> str:
    """Say what the points are; nothing if there are none."""
    points = {x: x.points(rows) for x in scatters_of(rows)}
    if not any(points.values()):
        return ""
    counts = sorted({int(point.instances) for found in points.values() for point in found})
    of = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
    letters = f"({SCATTERS[0].letter}) to ({SCATTERS[-1].letter})"
    return (
        f"{letters}: mean share and median seconds of {of} runs, two or three sizes; above .9999 counts as 1."
    )


def scatters_of(rows: pd.DataFrame) -> tuple[Scatter, ...]:
    """Return the panels that rows of this flavour have, whether all of them were run or not."""
    return SCATTERS if rows["flavour"].iloc[0] == DEFAULT else ()
