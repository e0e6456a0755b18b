"""The panels of the figure as declared data: which rows, which column and which looks every curve has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from swapwise.charts.chart import Axis, Chart, Dash, Marker
from swapwise.charts.chart import Curve as Drawn
from swapwise.charts.frames import require_columns
from swapwise.paper.comparisons import DECLARED, best_known_share, listed
from swapwise.paper.measure import COLUMNS
from swapwise.paper.procedures import ARBITRARY, AS_PUBLISHED, DEFAULT, FLAVOURS, LOCAL_SEARCHES, Search
from swapwise.paper.settings import ISING_10, ISING_20, REGRESSION_200, REGRESSION_1000, Setting
from swapwise.search.result import Status

# The colours of Okabe and Ito, which the colour-blind tell apart; without black and yellow, of which one
# is lost on dark ground and the other on white.
BLUE, PURPLE, VERMILION = "#0072B2", "#CC79A7", "#D55E00"
GREEN, ORANGE, SKY = "#009E73", "#E69F00", "#56B4E9"
GREY = "#7F7F7F"

#: A column that is computed from the rows: the value, divided by the best that any method found.
SHARE = "share"
#: Another: the upper bound on the optimum, on the scale of quality.
BOUND = "bound"

_FLAVOUR_NOTES = {
    DEFAULT: "each move has its own M",
    AS_PUBLISHED: "as published: one M for all moves",
}


@dataclass(frozen=True)
class Style:
    """How a curve looks; ``hollow`` markers are for what is guaranteed, not found: see ``report.chart``."""

    color: str
    marker: Marker
    dash: Dash
    hollow: bool = False


@dataclass(frozen=True)
class Line:
    """A curve as declared: the mean of one column over the rows of one method."""

    name: str
    setting: Setting
    part: str
    method: str
    column: str
    style: Style
    is_new: bool = False


@dataclass(frozen=True)
class Curve:
    """A curve as measured.

    Attributes
    ----------
    name : of the method
    x : sizes, ascending
    mean : over trials; NaN, a gap in the line, where no trial has a number: trivial bounds prove no share
    spread : standard deviation over trials; NaN where there is only one
    low, high : mean − spread and mean + spread; on a log axis, low is not below the least trial
    trials : how many there are
    is_new : whether the paper had to leave it out
    until : the last size that was run, if the grid has larger ones
    """

    name: str
    x: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    low: np.ndarray
    high: np.ndarray
    trials: np.ndarray
    style: Style
    is_new: bool = False
    until: int | None = None


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    >>> PAPER_PANELS[1].caption, PAPER_PANELS[1].y_label, PAPER_PANELS[1].log
    ('(b) regression, objective, n = 200', 'R²', False)
    """

    letter: str
    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    y_unit: str = ""
    log: bool = False
    top: float | None = None  # what y cannot exceed
    note: str = ""  # at the foot of the figure

    @property
    def caption(self) -> str:
        """Letter and title."""
        return f"({self.letter}) {self.title}"

    @property
    def sizes(self) -> list[int]:
        """All sizes that its settings have, whether they were run or not."""
        return sorted({size for line in self.lines for size in line.setting.sizes})

    def curves(self, rows: pd.DataFrame) -> list[Curve]:
        """Return the curves that have rows, in the declared order; none says that it was not run."""
        found = (_curve(line, rows, self.log) for line in self.lines)
        return [curve for curve in found if curve is not None]

    def chart(self, curves: list[Curve]) -> Chart:
        """Return some curves, or none, as a chart."""
        limits = log_range(curves) if self.log and curves else None
        if self.top is not None and curves:
            least = min(float(np.nanmin([curve.mean, curve.low])) for curve in curves)
            room = 0.05 * max(self.top - least, 1e-6)
            limits = least - room, self.top + room
        sizes = {float(size): str(size) for size in self.sizes}
        across = Axis(self.x_label, ticks=sizes, limits=(self.sizes[0] - 0.5, self.sizes[-1] + 0.5))
        upwards = Axis(self.y_label, self.y_unit, log=self.log, limits=limits)
        return Chart(across, upwards, tuple(_drawn(curve, across, upwards) for curve in curves), height=260)


def _curve(line: Line, rows: pd.DataFrame, log: bool) -> Curve | None:
    is_mine = (rows["setting"] == line.setting.name) & (rows["part"] == line.part)
    mine = rows[is_mine & (rows["method"] == line.method)]
    if mine.empty:
        return None
    y = _figures(line.column, mine, rows)
    # Empty cells are None or NaN, and bounds that were never reached are infinite: both are no points.
    y = pd.to_numeric(y).astype(float)
    y = y[np.isfinite(y) & ((y > 0) | (not log))]
    if y.empty:
        return None
    by_size = y.groupby(mine["size"][y.index].astype(int)).agg(["mean", "std", "min", "count"])
    run = sorted(set(mine["size"].astype(int)))
    by_size = by_size.reindex([size for size in run if by_size.index[0] <= size <= by_size.index[-1]])
    mean, spread, least = (by_size[name].to_numpy(float) for name in ("mean", "std", "min"))
    low = np.maximum(mean - spread, least) if log else mean - spread
    declared = DECLARED.get((line.setting.name, line.method), ())
    return Curve(
        line.name,
        by_size.index.to_numpy(int),
        mean,
        spread,
        low,
        mean + spread,
        by_size["count"].fillna(0).to_numpy(int),
        line.style,
        line.is_new,
        run[-1] if run[-1] < max(declared, default=0) else None,
    )


def _figures(column: str, mine: pd.DataFrame, rows: pd.DataFrame) -> pd.Series:
    """Return a column of some rows, computed if it has to be."""
    if column == SHARE:
        return best_known_share(rows)[mine.index]
    if column == BOUND:
        value, quality, bound = (
            pd.to_numeric(mine[name]).astype(float) for name in ("value", "quality", "upper_bound")
        )
        return bound / value * quality
    return mine[column]


def _drawn(curve: Curve, across: Axis, upwards: Axis) -> Drawn:
    """Return a curve with its spread, and what its points say of themselves."""
    hover = [
        f"{curve.name}\n{across.label}: {size}\n{upwards.label}: {mean:.4g}"
        + (f" ± {spread:.2g}\n{count} trials" if count > 1 else "\n1 trial")
        for size, mean, spread, count in zip(curve.x, curve.mean, curve.spread, curve.trials, strict=True)
    ]
    look, ends = curve.style, {}
    if np.isfinite(curve.spread).any():
        ends = {"low": curve.low.tolist(), "high": curve.high.tolist()}
    return Drawn(
        curve.x.tolist(),
        curve.mean.tolist(),
        curve.name,
        look.color,
        look.dash,
        look.marker,
        look.hollow,
        hover=hover,
        **ends,
    )


_METHODS = {
    "oblivious": Style(BLUE, "circle", "solid"),
    "semi-oblivious": Style(PURPLE, "square", "solid"),
    "non-oblivious": Style(VERMILION, "diamond", "solid"),
    "random-residual-greedy": Style(GREEN, "triangle-up", "dashdot"),
    "modular": Style(ORANGE, "triangle-down", "dot"),
    "random": Style(SKY, "x", "dash"),
}


def _printed(method: str) -> str:
    """Return the name of a search of the paper from the start that is printed."""
    return Search(method, ARBITRARY).name


def _name(method: str) -> str:
    return method.replace("-greedy", " greedy").replace("random-", "random ")


#: What is drawn beside the paper's methods.
OPTIMUM = "bound on the optimum"

#: The names of curves in the paper's panels, in the order of legends.
NAMES = (
    OPTIMUM,
    *(
        name
        for method in _METHODS
        for name in ([method, _printed(method)] if method in LOCAL_SEARCHES else [_name(method)])
    ),
)


def _paper(setting: Setting, column: str, left_out: tuple[str, ...] = ()) -> tuple[Line, ...]:
    """Return a line for each of the paper's methods, dashed for its searches from the start that is printed.

    ``left_out`` are those that the paper could not run.
    """
    lines = [
        Line(_name(method), setting, "paper", method, column, style, method in left_out)
        for method, style in _METHODS.items()
    ]
    dashed = [
        replace(
            line,
            name=_printed(line.method),
            part="printed",
            method=_printed(line.method),
            style=replace(line.style, dash="dash"),
        )
        for line in lines
        if line.method in LOCAL_SEARCHES
    ]
    return (*lines, *dashed)


def _optimum(setting: Setting) -> Line:
    return Line(OPTIMUM, setting, "optimum", "optimum", BOUND, Style(GREY, "pentagon", "solid"))


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
            SHARE,
            Style(_METHODS[method].color, *looks[start]),
        )
        for method in ("oblivious", "non-oblivious")
        for start in looks
    )


def _pairs() -> tuple[Line, ...]:
    """Return one element at a time as in the panel of starts, and two at a time with a look of their own.

    Semi-oblivious search from empty is left out: it lies between the two others, and on them.
    """
    single = [
        Line(f"{line.name}, q = 1", ISING_10, line.part, line.method, SHARE, line.style)
        for line in _starts()
        if line.method in ("oblivious", "oblivious from modular", "oblivious from greedy", "non-oblivious")
    ]
    names = {method: f"{method} from greedy, q = 2" for method in LOCAL_SEARCHES}
    double = [
        Line(name, ISING_10, "pairs", name, SHARE, Style(_METHODS[method].color, "triangle-up", "dashdot"))
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
            Style(color, marker, dash, hollow=column == "promised"),
        )
        for kind, column, dash in kinds
        for name, setting, method, color, marker in problems
    )


_SLOW = ("oblivious", "semi-oblivious")
_CAPACITY, _DEGREE = "capacity per category", "degree bound b"
_RATIO, _BEST, _TIME = "ratio to the true graph", "share of the best found", "processor time"

#: The six panels of the paper, in its order.
PAPER_PANELS: tuple[Panel, ...] = (
    Panel(
        "a",
        "regression, time, n = 200",
        _CAPACITY,
        _TIME,
        _paper(REGRESSION_200, "seconds"),
        "seconds",
        True,
    ),
    Panel("b", "regression, objective, n = 200", _CAPACITY, "R²", _paper(REGRESSION_200, "quality"), top=1.0),
    Panel(
        "c",
        "regression, objective, n = 1000",
        _CAPACITY,
        "R²",
        _paper(REGRESSION_1000, "quality", _SLOW),
        top=1.0,
    ),
    Panel("d", "graphical, time, |V| = 10", _DEGREE, _TIME, _paper(ISING_10, "seconds"), "seconds", log=True),
    Panel(
        "e",
        "graphical, objective, |V| = 10",
        _DEGREE,
        _RATIO,
        (_optimum(ISING_10), *_paper(ISING_10, "quality")),
    ),
    Panel(
        "f",
        "graphical, objective, |V| = 20",
        _DEGREE,
        _RATIO,
        (_optimum(ISING_20), *_paper(ISING_20, "quality", _SLOW)),
    ),
)

#: What the paper does not have; only rows of the default flavour go there.
BEYOND_PANELS: tuple[Panel, ...] = (
    Panel(
        "g",
        "where the search begins, n = 1000",
        _CAPACITY,
        _BEST,
        _starts(),
        top=1.0,
        note="values are divided by the largest that any method found, also in (h) and (j) to (m)",
    ),
    Panel(
        "h",
        "pairs at a time, |V| = 10",
        _DEGREE,
        _BEST,
        _pairs(),
        top=1.0,
        note="a move adds at most q elements",
    ),
    Panel(
        "i",
        "proven of the answer",
        f"capacity, or {_DEGREE}",
        "share of the optimum",
        _certificates(),
        top=1.0,
        note="proven by a certificate; guaranteed by the search alone; ridge: with a small quadratic penalty",
    ),
)


def log_range(curves: list[Curve]) -> tuple[float, float]:
    """Return the ends of a log axis: all curves with their bars, and two powers of ten to be labelled."""
    low = min(float(np.nanmin([curve.mean, curve.low])) for curve in curves)
    return log_range_of([low, *(float(np.nanmax([curve.mean, curve.high])) for curve in curves)])


def log_range_of(numbers: Sequence[float]) -> tuple[float, float]:
    """Return the ends of a log axis for some numbers, so that two powers of ten lie between them."""
    low, high = 0.85 * min(numbers), max(numbers) / 0.85
    if np.ceil(np.log10(low)) >= np.floor(np.log10(high)):
        low = 10.0 ** np.floor(np.log10(low))
    if np.ceil(np.log10(low)) >= np.floor(np.log10(high)):
        high = 10.0 ** np.ceil(np.log10(high))
    return low, high


def check_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as they are, with an index of their own, or raise an error that says what is wrong.

    >>> check_rows(pd.DataFrame({"size": [1]}))
    Traceback (most recent call last):
    ...
    ValueError: rows must have the columns setting, ..., as returned by the experiments; ... are missing
    """
    require_columns(rows, "rows", COLUMNS, "the experiments")
    flavours = sorted({str(flavour) for flavour in rows["flavour"]})
    if len(flavours) > 1 or flavours[0] not in FLAVOURS:
        raise ValueError(f"rows must have one flavour of {', '.join(FLAVOURS)}; got {', '.join(flavours)}")
    return rows.reset_index(drop=True)


def panels_of(rows: pd.DataFrame) -> tuple[Panel, ...]:
    """Return the panels that rows of this flavour have, whether all of them were run or not."""
    return (*PAPER_PANELS, *(BEYOND_PANELS if rows["flavour"].iloc[0] == DEFAULT else ()))


def footnotes(rows: pd.DataFrame) -> list[str]:
    """Say of how many trials the curves are, how the methods were run, what is new and what was cut off.

    >>> row = {"setting": "ising-10", "part": "paper", "method": "random", "size": 1, "trial": 0,
    ...        "flavour": "default", "seed": 0, "quality": 0.3}
    >>> footnotes(pd.DataFrame([row], columns=COLUMNS))
    ['One trial, so there is no spread; each move has its own M.', '(e): not run: random beyond 1.']
    """
    by_panel = {panel: panel.curves(rows) for panel in panels_of(rows)}
    curves = [curve for found in by_panel.values() for curve in found]
    counts = sorted({int(count) for curve in curves for count in curve.trials if count})
    how = _FLAVOUR_NOTES[rows["flavour"].iloc[0]]
    if not counts:
        return [f"No panel was run; {how}."]
    if counts == [1]:
        notes = [f"One trial, so there is no spread; {how}."]
    else:
        trials = f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else f"{counts[0]}"
        notes = [f"Mean ± standard deviation over {trials} trials; {how}."]
    if any(curve.name.endswith(ARBITRARY) for curve in curves):
        notes.append(
            f"From {ARBITRARY}: from the first indices that fit, as Algorithms 1, 3 and 4 are printed; else "
            "from the empty set."
        )
    new = {panel: [x.name for x in found if x.is_new] for panel, found in by_panel.items()}
    letters = listed([f"({panel.letter})" for panel, names in new.items() if names])
    if letters:
        notes.append(f"{letters}: the paper left out the {listed(_SLOW)} searches, being too slow.")
    notes += _proven_note(rows)
    notes += [f"({panel.letter}): {panel.note}." for panel, found in by_panel.items() if found and panel.note]
    for panel, found in by_panel.items():
        ends = sorted({curve.until for curve in found if curve.until is not None})
        cut = [f"{listed([x.name for x in found if x.until == end])} beyond {end}" for end in ends]
        notes += [f"({panel.letter}): not run: {'; '.join(cut)}."] if cut else []
    return notes


def _proven_note(rows: pd.DataFrame) -> list[str]:
    """Say in how many instances the optimum is proven, and how close to the bound the best of others are."""
    theirs = rows[rows["part"] == "optimum"]
    texts = []
    for panel in PAPER_PANELS:
        settings = [line.setting for line in panel.lines if line.column == BOUND]
        mine = theirs[theirs["setting"].isin([setting.name for setting in settings])]
        if mine["upper_bound"].notna().any():
            open_ = mine[mine["status"] != Status.OPTIMAL]
            least = pd.to_numeric(open_["proven"])[open_["upper_bound"].notna()].min()
            rest = f", else the best set is at least {least:.1%} of the bound" if least > 0 else ""
            most = DECLARED[settings[0].name, "optimum"][-1]
            upto = f" (b up to {most})" if most < settings[0].sizes[-1] else ""
            texts.append(f"({panel.letter}) {len(mine) - len(open_)} of {len(mine)}{upto}{rest}")
    return [f"Optima proven: {'; '.join(texts)}."] if texts else []
