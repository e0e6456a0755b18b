"""The panels of the figure and of the page, each declared once: which rows it shows, and with which looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log10
from typing import NamedTuple

import numpy as np
import pandas as pd

from swapwise.charts.chart import Axis, Chart, Curve, Dash, Marker
from swapwise.charts.frames import require_columns
from swapwise.paper.comparisons import DECLARED, best_known_share, listed, span
from swapwise.paper.grid import GRID, NEIGHBOURS
from swapwise.paper.measure import COLUMNS
from swapwise.paper.neighbours import rule_of
from swapwise.paper.procedures import ARBITRARY, DEFAULT, FLAVOURS, LOCAL_SEARCHES, Search
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000, Setting
from swapwise.search.result import Status

# The colours of Okabe and Ito, which the colour-blind tell apart; without black and yellow, of which one
# is lost on dark ground and the other on white.
BLUE, PURPLE, VERMILION = "#0072B2", "#CC79A7", "#D55E00"
GREEN, ORANGE, SKY = "#009E73", "#E69F00", "#56B4E9"
GREY = "#7F7F7F"

_SLOW = ("oblivious", "semi-oblivious")
_CAPACITY, _DEGREE = "capacity per category", "degree bound b"
R2, RATIO, BEST = Axis("R²"), Axis("ratio to the true graph"), Axis("share of the best found")
TIME = Axis("processor time", "seconds", log=True)

Figures = Callable[[pd.DataFrame, pd.DataFrame], pd.Series]


def share(mine: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Values divided by the best that any method found."""
    return best_known_share(rows)[mine.index]


def bound(mine: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """The upper bound on the optimum, on the scale of quality."""
    value, quality, upper = (
        pd.to_numeric(mine[name]).astype(float) for name in ("value", "quality", "upper_bound")
    )
    return upper / value * quality


class Look(NamedTuple):
    """How a curve looks; ``hollow`` markers are for what is guaranteed, not found."""

    color: str
    marker: Marker
    dash: Dash | None = "solid"
    hollow: bool = False


@dataclass(frozen=True)
class Line:
    """The mean of a column, or of what is computed from rows, over the rows of one method.

    ``is_new`` lines are those that the paper had to leave out.
    """

    name: str
    setting: Setting
    part: str
    method: str
    column: str | Figures
    look: Look
    is_new: bool = False

    def means(self, rows: pd.DataFrame, log: bool) -> pd.DataFrame:
        """Return mean, spread (standard deviation), low, high (ends of the bar) and trials by size.

        Means are NaN, a gap in the line, where no trial has a number: trivial bounds prove no share. With one
        trial there is no spread. On a log axis, low is not below the least trial.
        """
        mine = self._mine(rows)
        y = mine[self.column] if isinstance(self.column, str) else self.column(mine, rows)
        # Empty cells are None or NaN, and bounds that were never reached are infinite: both are no points.
        y = pd.to_numeric(y).astype(float)
        y = y[np.isfinite(y) & ((y > 0) | (not log))]
        by_size = y.groupby(mine["size"][y.index].astype(int)).agg(["mean", "std", "min", "count"])
        by_size = by_size.set_axis(["mean", "spread", "least", "trials"], axis="columns")
        first, last = (by_size.index[0], by_size.index[-1]) if len(by_size) else (1, 0)
        run = sorted(set(mine["size"].astype(int)))
        means = by_size.reindex([size for size in run if first <= size <= last])
        means["low"], means["high"] = means["mean"] - means["spread"], means["mean"] + means["spread"]
        if log:
            means["low"] = np.maximum(means["low"], means["least"])
        return means.fillna({"trials": 0})

    def until(self, rows: pd.DataFrame) -> int | None:
        last = int(self._mine(rows)["size"].max())
        return last if last < max(DECLARED.get((self.setting.name, self.method), ()), default=0) else None

    def _mine(self, rows: pd.DataFrame) -> pd.DataFrame:
        is_mine = (rows["setting"] == self.setting.name) & (rows["part"] == self.part)
        return rows[is_mine & (rows["method"] == self.method)]


@dataclass(frozen=True)
class Panel:
    """Curves over sizes, on one pair of axes."""

    letter: str
    title: str
    across: str
    y: Axis
    lines: tuple[Line, ...]
    top: float | None = None  # what y cannot exceed
    note: str = ""  # at the foot of the figure

    @property
    def caption(self) -> str:
        return f"({self.letter}) {self.title}"

    @property
    def sizes(self) -> list[int]:
        """All sizes that its settings have, whether they were run or not."""
        return sorted({size for line in self.lines for size in line.setting.sizes})

    def means(self, rows: pd.DataFrame) -> dict[Line, pd.DataFrame]:
        """Return the points of the lines that were run, in the declared order."""
        found = {line: line.means(rows, self.y.log) for line in self.lines}
        return {line: means for line, means in found.items() if len(means)}

    def chart(self, rows: pd.DataFrame) -> Chart:
        found = self.means(rows)
        limits = None
        if found:
            numbers = np.concatenate([means[["mean", "low", "high"]].to_numpy() for means in found.values()])
            if self.y.log:
                limits = log_range(numbers)
            if self.top is not None:
                least = float(np.nanmin(numbers))
                room = 0.05 * max(self.top - least, 1e-6)
                limits = least - room, self.top + room
        ticks = {float(size): str(size) for size in self.sizes}
        x = Axis(self.across, ticks=ticks, limits=(self.sizes[0] - 0.5, self.sizes[-1] + 0.5))
        y = replace(self.y, limits=limits)
        return Chart(x, y, tuple(_curve(line, means, x, y) for line, means in found.items()), height=260)


def _curve(line: Line, means: pd.DataFrame, x: Axis, y: Axis) -> Curve:
    hover = [
        f"{line.name}\n{x.label}: {one.Index}\n{y.label}: {one.mean:.4g}"
        + (f" ± {one.spread:.2g}\n{one.trials:.0f} trials" if one.trials > 1 else "\n1 trial")
        for one in means.itertuples()
    ]
    look, ends = line.look, {}
    if means["spread"].notna().any():
        ends = {name: means[name].tolist() for name in ("low", "high")}
    at = means.index.tolist(), means["mean"].tolist()
    return Curve(*at, line.name, look.color, look.dash, look.marker, look.hollow, hover=hover, **ends)


def log_range(numbers: np.ndarray) -> tuple[float, float]:
    """Return the ends of a log axis, so that two powers of ten lie between them."""
    low, high = 0.85 * float(np.nanmin(numbers)), float(np.nanmax(numbers)) / 0.85
    if np.ceil(np.log10(low)) >= np.floor(np.log10(high)):
        low = 10.0 ** np.floor(np.log10(low))
    if np.ceil(np.log10(low)) >= np.floor(np.log10(high)):
        high = 10.0 ** np.ceil(np.log10(high))
    return low, high


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
    """Return the place of a share on the axis: ``−log10(1 − share)``, at most that of the last tick."""
    return -log10(max(1.0 - share, 1.0 - max(TICKS)))


@dataclass(frozen=True)
class Scatter:
    """One point per method: seconds across, on a log scale, and the share of the best found upwards."""

    letter: str
    title: str
    setting: Setting

    @property
    def caption(self) -> str:
        return f"({self.letter}) {self.title}"

    def means(self, rows: pd.DataFrame) -> pd.DataFrame:
        means = shares_and_seconds(rows, self.setting, methods_of(self.setting))
        return means.reindex([name for name in LOOKS if name in means.index])

    def chart(self, rows: pd.DataFrame) -> Chart:
        means = self.means(rows)
        lowest = min(map(nines, means["share"]), default=0.0)
        x = replace(TIME, limits=log_range(means["seconds"].to_numpy()) if len(means) else None)
        ticks = {nines(tick): label for tick, label in TICKS.items()}
        y = replace(BEST, ticks=ticks, limits=(lowest - 0.2, nines(1.0) + 0.2))
        return Chart(x, y, tuple(_point(name, one) for name, one in means.iterrows()), height=260)


def _point(name: str, means: pd.Series) -> Curve:
    hover = (
        f"{name}\n{BEST.label}: {means['share']:.5f}\nseconds: {means['seconds']:.2g}"
        f"\n{means['instances']:.0f} runs"
    )
    color, marker, *_ = LOOKS[name][1]
    at = [means["seconds"]], [nines(means["share"])]
    return Curve(*at, name, color, dash=None, marker=marker, size=10, hover=[hover])


def methods_of(setting: Setting) -> list[str]:
    """Return the methods of the paper, those around it, and "auto"."""
    blocks = [block for block in GRID if block.setting == setting]
    return ["auto", *(x.procedure.name for x in blocks if x.procedure.part in ("paper", "neighbours"))]


def starts_of(setting: Setting) -> list[str]:
    """Return the local search of :func:`rule_of` from all starts, the empty set first, and "auto"."""
    rule = rule_of(setting)
    names = (block.procedure.name for block in GRID if block.setting == setting)
    return ["auto", rule, *(name for name in names if name.startswith(f"{rule} from") and "q =" not in name)]


def start_of(search: str) -> str:
    """Return the start of a search of :func:`starts_of`."""
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


def _looks() -> dict[str, tuple[str, Look]]:
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
        name: (family, Look(FAMILIES[family][0], marker, None))
        for family, names in members.items()
        for name, marker in zip(names, _MARKERS, strict=False)
    }


#: Family and look of every method
LOOKS = _looks()

_METHODS = {
    "oblivious": Look(BLUE, "circle"),
    "semi-oblivious": Look(PURPLE, "square"),
    "non-oblivious": Look(VERMILION, "diamond"),
    "random-residual-greedy": Look(GREEN, "triangle-up", "dashdot"),
    "modular": Look(ORANGE, "triangle-down", "dot"),
    "random": Look(SKY, "x", "dash"),
}


_PRINTED = {method: Search(method, ARBITRARY).name for method in LOCAL_SEARCHES}
_NAMES = {method: method.replace("-greedy", " greedy").replace("random-", "random ") for method in _METHODS}
OPTIMUM = "bound on the optimum"

#: The names of curves in the paper's panels, in the order of legends.
NAMES = [OPTIMUM, *(name for method in _METHODS for name in (_NAMES[method], _PRINTED.get(method)) if name)]


def _paper(setting: Setting, column: str = "quality", new: tuple[str, ...] = ()) -> tuple[Line, ...]:
    """Return a line per method of the paper, dashed for its searches from the start that is printed."""
    lines = [
        Line(_NAMES[method], setting, "paper", method, column, look, method in new)
        for method, look in _METHODS.items()
    ]
    dashed = [
        Line(name, setting, "printed", name, column, _METHODS[method]._replace(dash="dash"), method in new)
        for method, name in _PRINTED.items()
    ]
    return (*lines, *dashed)


def _with_optimum(setting: Setting, new: tuple[str, ...] = ()) -> tuple[Line, ...]:
    optimum = Line(OPTIMUM, setting, "optimum", "optimum", bound, Look(GREY, "pentagon"))
    return (optimum, *_paper(setting, new=new))


def _starts() -> tuple[Line, ...]:
    """Return two methods (colours) from three starts (markers and dashes)."""
    looks: dict[str, tuple[Marker, Dash]] = {
        "empty": ("circle", "solid"),
        "modular": ("triangle-down", "dot"),
        "greedy": ("square", "dash"),
    }
    return tuple(
        Line(
            f"{method} from {start}",
            REGRESSION_1000,
            "paper" if start == "empty" else "starts",
            method if start == "empty" else f"{method} from {start}",
            share,
            Look(_METHODS[method].color, *looks[start]),
        )
        for method in ("oblivious", "non-oblivious")
        for start in looks
    )


def _pairs() -> tuple[Line, ...]:
    """Return q = 1 as in the panel of starts, and q = 2 with a look of its own.

    Semi-oblivious search from empty is left out: it lies between the two others, and on them.
    """
    single = [
        Line(f"{line.name}, q = 1", ISING_10, line.part, line.method, share, line.look)
        for line in _starts()
        if line.method in ("oblivious", "oblivious from modular", "oblivious from greedy", "non-oblivious")
    ]
    names = {method: f"{method} from greedy, q = 2" for method in LOCAL_SEARCHES}
    double = [
        Line(name, ISING_10, "pairs", name, share, Look(_METHODS[method].color, "triangle-up", "dashdot"))
        for method, name in names.items()
    ]
    return (*single, *double)


def _certificates() -> tuple[Line, ...]:
    """Return what is proven (solid, filled) and what is guaranteed (dotted, hollow) for three problems."""
    problems: tuple[tuple[str, Setting, str, str, Marker], ...] = (
        ("n = 200", REGRESSION_200, "certificate", BLUE, "circle"),
        ("n = 200, ridge", REGRESSION_200, "certificate with ridge", VERMILION, "diamond"),
        ("|V| = 10, ridge", ISING_10, "certificate with ridge", GREEN, "square"),
    )
    kinds: tuple[tuple[str, str, Dash], ...] = (
        ("proven", "proven", "solid"),
        ("guaranteed", "promised", "dot"),
    )
    return tuple(
        Line(
            f"{kind}: {name}",
            setting,
            "certificates",
            method,
            column,
            Look(color, marker, dash, hollow=column == "promised"),
        )
        for kind, column, dash in kinds
        for name, setting, method, color, marker in problems
    )


#: The six panels of the paper, in its order.
PAPER_PANELS: tuple[Panel, ...] = (
    Panel("a", "regression, time, n = 200", _CAPACITY, TIME, _paper(REGRESSION_200, "seconds")),
    Panel("b", "regression, objective, n = 200", _CAPACITY, R2, _paper(REGRESSION_200), 1.0),
    Panel("c", "regression, objective, n = 1000", _CAPACITY, R2, _paper(REGRESSION_1000, new=_SLOW), 1.0),
    Panel("d", "graphical, time, |V| = 10", _DEGREE, TIME, _paper(ISING_10, "seconds")),
    Panel("e", "graphical, objective, |V| = 10", _DEGREE, RATIO, _with_optimum(ISING_10)),
    Panel("f", "graphical, objective, |V| = 20", _DEGREE, RATIO, _with_optimum(ISING_20, new=_SLOW)),
)

#: Panels that the paper does not have; only rows of the default flavour go there.
BEYOND_PANELS: tuple[Panel, ...] = (
    Panel(
        "g",
        "where the search begins, n = 1000",
        _CAPACITY,
        BEST,
        _starts(),
        1.0,
        "values are divided by the largest that any method found, also in (h) and (j) to (m)",
    ),
    Panel("h", "pairs at a time, |V| = 10", _DEGREE, BEST, _pairs(), 1.0, "a move adds at most q elements"),
    Panel(
        "i",
        "proven of the answer",
        f"capacity, or {_DEGREE}",
        Axis("share of the optimum"),
        _certificates(),
        1.0,
        "proven by a certificate; guaranteed by the search alone; ridge: with a small quadratic penalty",
    ),
)

#: All methods in the paper's four settings; only rows of the default flavour go there.
SCATTERS: tuple[Scatter, ...] = (
    Scatter("j", "regression, n = 200", REGRESSION_200),
    Scatter("k", "regression, n = 1000", REGRESSION_1000),
    Scatter("l", "graphical, |V| = 10", ISING_10),
    Scatter("m", "graphical, |V| = 20", ISING_20),
)


def check_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with an index of their own, or raise an error that says what is wrong."""
    require_columns(rows, "rows", COLUMNS, "the experiments")
    flavours = sorted({str(flavour) for flavour in rows["flavour"]})
    if len(flavours) > 1 or flavours[0] not in FLAVOURS:
        raise ValueError(f"rows must have one flavour of {', '.join(FLAVOURS)}; got {', '.join(flavours)}")
    return rows.reset_index(drop=True)


def panels_of(rows: pd.DataFrame) -> tuple[tuple[Panel, ...], tuple[Panel, ...], tuple[Scatter, ...]]:
    """Return the panels of the paper, those beyond it and the neighbours, whether they were run or not.

    Rows of the flavour as-published have those of the paper only.
    """
    is_default = rows["flavour"].iloc[0] == DEFAULT
    return (PAPER_PANELS, BEYOND_PANELS, SCATTERS) if is_default else (PAPER_PANELS, (), ())


def footnotes(rows: pd.DataFrame) -> list[str]:
    """Return notes on the trials, the flavour, curves that the paper left out, and sizes not run."""
    paper, beyond, _ = panels_of(rows)
    by_panel = {panel: panel.means(rows) for panel in (*paper, *beyond)}
    curves = {line: means for found in by_panel.values() for line, means in found.items()}
    counts = {int(count) for means in curves.values() for count in means["trials"] if count}
    is_default = rows["flavour"].iloc[0] == DEFAULT
    how = "each move has its own M" if is_default else "as published: one M for all moves"
    if not counts:
        return [f"No panel was run; {how}."]
    if counts == {1}:
        notes = [f"One trial, so there is no spread; {how}."]
    else:
        notes = [f"Mean ± standard deviation over {span(counts, 'trial')}; {how}."]
    if any(line.name.endswith(ARBITRARY) for line in curves):
        notes.append(
            f"From {ARBITRARY}: from the first indices that fit, as Algorithms 1, 3 and 4 are printed; else "
            "from the empty set."
        )
    new = [f"({panel.letter})" for panel, found in by_panel.items() if any(line.is_new for line in found)]
    if new:
        notes.append(f"{listed(new)}: the paper left out the {listed(_SLOW)} searches, being too slow.")
    notes += _proven_note(rows)
    notes += [f"({panel.letter}): {panel.note}." for panel, found in by_panel.items() if found and panel.note]
    for panel, found in by_panel.items():
        until = {line.name: line.until(rows) for line in found}
        ends = sorted({end for end in until.values() if end is not None})
        cut = [f"{listed([name for name in until if until[name] == end])} beyond {end}" for end in ends]
        notes += [f"({panel.letter}): not run: {'; '.join(cut)}."] if cut else []
    return notes


def _proven_note(rows: pd.DataFrame) -> list[str]:
    """Return in how many instances the optimum is proven, and how near the others are to their bounds."""
    texts = []
    for panel in PAPER_PANELS:
        setting = panel.lines[0].setting
        mine = rows[(rows["part"] == "optimum") & (rows["setting"] == setting.name)]
        if panel.lines[0].column == bound and mine["upper_bound"].notna().any():
            open_ = mine[mine["status"] != Status.OPTIMAL]
            least = pd.to_numeric(open_["proven"])[open_["upper_bound"].notna()].min()
            rest = f", else the best set is at least {least:.1%} of the bound" if least > 0 else ""
            most = DECLARED[setting.name, "optimum"][-1]
            upto = f" (b up to {most})" if most < setting.sizes[-1] else ""
            texts.append(f"({panel.letter}) {len(mine) - len(open_)} of {len(mine)}{upto}{rest}")
    return [f"Optima proven: {'; '.join(texts)}."] if texts else []


def scatter_note(rows: pd.DataFrame) -> str:
    *_, scatters = panels_of(rows)
    counts = {int(count) for scatter in scatters for count in scatter.means(rows)["instances"]}
    letters = f"({SCATTERS[0].letter}) to ({SCATTERS[-1].letter})"
    if not counts:
        return ""
    of = f"{span(counts, 'run')}, two or three sizes"
    return f"{letters}: mean share and median seconds of {of}; above .9999 counts as 1."
