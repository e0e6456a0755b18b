"""The parts of a page about a learnt graph beside its picture: path, weights, missing answers, degrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swapwise.app.report.parts import PagePart, as_table, criterion_of, path_table
from swapwise.charts.chart import FOUND, GREY, PROVEN, Axis, Band, Bars, Chart, Curve, Rule, Series
from swapwise.charts.document import table
from swapwise.charts.frames import require_columns
from swapwise.checks import FloatArray
from swapwise.graphs.estimators.cross_validated import WRITTEN
from swapwise.graphs.pictures.words import GraphWords, counted

#: Columns of a path by criterion, in the order in which a frame without an estimator is looked through.
GRAPH_CRITERIA = {"ebic": "ebic", "bic": "bic", "cv": "score_mean", "log_likelihood": "log_likelihood"}

EdgeWeights = dict[tuple[int, int], float]


def edges_parts(model: Any) -> list[PagePart]:
    """Return the fit over the number of edges, and the one that was chosen, if several were compared."""
    if not hasattr(model, "path_"):
        return []
    path = edge_path(model)
    columns = ["n_edges", *(name for name in [*GRAPH_CRITERIA.values(), "score_se"] if name in model.path_)]
    below = path_table(model.path_[columns])
    return [PagePart("path", "What was chosen, and why", path.words(), edges_chart(path), below)]


def edges_chart(path: EdgePath) -> Chart:
    """Return a criterion over the number of edges, with a band of one standard error, and the chosen one."""
    series: list[Series] = []
    error = np.zeros(len(path.values)) if path.error is None else np.nan_to_num(path.error)
    sizes = [float(size) for size in path.n_edges]
    if error.any():
        ends = (path.values - error).tolist(), (path.values + error).tolist()
        series.append(Band(sizes, *ends, "one standard error", FOUND))
    hover = [
        f"{counted(n, 'edge')}: {y:.6g}" + (f" ± {e:.2g}" if e > 0 else "")
        for n, y, e in zip(path.n_edges, path.values, error, strict=True)
    ]
    series.append(Curve(sizes, path.values.tolist(), "", FOUND, marker="circle", size=6, hover=hover))
    if path.chosen is not None:
        size = path.n_edges[path.chosen]
        by = f" (by {WRITTEN.get(path.chosen_by, path.chosen_by)})" if path.chosen_by else ""
        series.append(Rule(float(size), f"chosen: {size}{by}", PROVEN, upright=True))
    if path.near is not None:
        series.append(Rule(path.near, "one standard error from the best", GREY, "dot"))
    across, upwards = path.view
    return Chart(
        Axis("number of edges", integers=True, limits=across), Axis(path.label, limits=upwards), tuple(series)
    )


def weights_part(
    weights: EdgeWeights, names: Sequence[str], words: GraphWords, chosen: bool, draws: pd.DataFrame | None
) -> PagePart:
    """Return all edges, strongest first; with bootstrap samples, how their weights and presence vary."""
    heading = f"{words.weight.capitalize()}s"
    if not weights:
        return PagePart("weights", heading, "There is no edge: none improves the criterion.")
    head, rows = ["edge", words.weight], []
    for u, v in sorted(weights, key=lambda edge: -abs(weights[edge])):
        row = [f"{names[u]} – {names[v]}", f"{weights[u, v]:.3f}"]
        if draws is not None:
            drawn = draws.loc[(u, v)]
            row += [f"{drawn['lower']:.3f} to {drawn['upper']:.3f}", f"{100 * drawn['inclusion']:.0f} %"]
        rows.append(row)
    head += [] if draws is None else ["interval", "in samples"]
    summary = f"Strongest first. Positive: {words.positive}; negative: {words.negative}."
    if not chosen:
        summary += " Edges are added while they improve the fit and limits allow; weak ones say little."
    return PagePart("weights", heading, summary, below=table(head, rows, "numbers long"))


def missing_parts(X: pd.DataFrame, names: Sequence[str]) -> list[PagePart]:
    """Return the shares of missing answers, and the pair observed together least, if any are missing."""
    missing = X.isna().to_numpy()
    if not missing.any():
        return []
    share, seen = missing.mean(axis=0), (~missing).astype(int)
    most = int(share.argmax())
    words = [
        f"{100 * missing.mean():.2g} % of all answers are missing, most of “{names[most]}”: "
        f"{100 * share[most]:.2g} %. No row was dropped for that: every variable is fitted to all samples in "
        "which it was observed."
    ]
    if len(names) > 1:
        together = seen.T @ seen + (len(X) + 1) * np.eye(len(names), dtype=int)
        u, v = divmod(int(together.argmin()), len(names))
        least = f"{together[u, v]} of {len(X)} rows have both"
        words.append(f"Least is known of “{names[u]}” and “{names[v]}”: {least}.")
    rows = [
        [names[n], f"{seen[:, n].sum()}", f"{100 * share[n]:.3g} %"]
        for n in np.argsort(-share, kind="stable").tolist()
        if share[n]
    ]
    below = as_table(["variable", "rows", "missing"], rows, "numbers long", "All that have some")
    return [PagePart("missing", "Missing answers", " ".join(words), below=below)]


def degrees_part(weights: EdgeWeights, names: Sequence[str], field: Any, limits: Sequence[int]) -> PagePart:
    """Return the neighbours of each variable; ``limits`` are the largest numbers of them."""
    near: list[list[int]] = [[] for _ in names]
    for u, v in sorted(weights):
        near[u].append(v)
        near[v].append(u)
    counts = np.bincount([len(others) for others in near])
    hover = [f"{count} with {counted(n, 'neighbour')}" for n, count in enumerate(counts)]
    places = [float(n) for n in range(len(counts))]
    bars = Bars(places, [0.0] * len(counts), counts.tolist(), hover=hover, horizontal=False)
    upwards = Axis("number of variables", integers=True, limits=(0.0, 1.08 * max(counts.max(initial=1), 1)))
    chart = Chart(Axis("number of neighbours", integers=True), upwards, (bars,), height=220)
    head = ["variable", "neighbours", "how many"] + ["field"] * (field is not None)
    rows = [
        [names[n], ", ".join(names[other] for other in sorted(near[n])), str(len(near[n]))]
        + ([f"{field[n]:.3f}"] if field is not None else [])
        for n in sorted(range(len(names)), key=lambda node: -len(near[node]))
    ]
    words = _fullness(near, limits)
    return PagePart("degrees", "Degrees", words, chart, table(head, rows, "numbers named"))


def _fullness(near: list[list[int]], limits: Sequence[int]) -> str:
    """Return how many variables have as many neighbours as they may, if there are limits."""
    if min(limits, default=0) >= len(near) - 1:
        return f"The most that a variable has is {counted(max(map(len, near), default=0), 'neighbour')}."
    full = sum(bool(others) and len(others) == limit for others, limit in zip(near, limits, strict=True))
    has = "has as many neighbours as it may" if full == 1 else "have as many neighbours as they may"
    return f"{full} of {len(near)} variables {has}."


@dataclass(frozen=True)
class EdgePath:
    """A criterion over the number of edges, its standard errors if it has any, and which row was chosen."""

    criterion: str
    label: str
    n_edges: list[int]
    values: FloatArray
    error: FloatArray | None
    chosen: int | None
    #: The criterion that chose it, if that is known
    chosen_by: str | None
    near: float | None

    @property
    def large_is_good(self) -> bool:
        return self.criterion in ("cv", "log_likelihood")

    @property
    def view(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The limits of both axes: graphs that have too few edges by far are out of view.

        >>> import pandas as pd
        >>> from types import SimpleNamespace
        >>> frame = pd.DataFrame({"n_edges": [0, 1, 2, 3, 4], "bic": [900.0, 500.0, 40.0, 30.0, 35.0]})
        >>> edge_path(SimpleNamespace(path_=frame, criterion="bic", n_edges_=3)).view
        ((1.5, 4.5), (29.2, 40.8))
        """
        sizes = np.array(self.n_edges)
        size = sizes[self._best() if self.chosen is None else self.chosen]
        error = np.zeros(len(self.values)) if self.error is None else np.nan_to_num(self.error)
        rows = 3 * sizes >= 2 * size
        low, high = np.nanmin((self.values - error)[rows]), np.nanmax((self.values + error)[rows])
        spare = 0.08 * (high - low) or 1.0
        across = float(sizes[2 * sizes >= size].min()) - 0.5, float(sizes.max()) + 0.5
        return across, (float(low - spare), float(high + spare))

    def _best(self) -> int:
        return int(np.nanargmax(self.values) if self.large_is_good else np.nanargmin(self.values))

    @property
    def runner_up(self) -> int | None:
        """The row that would be best without the chosen one, if there are two."""
        others = [
            row for row in range(len(self.values)) if row != self.chosen and np.isfinite(self.values[row])
        ]
        sign = -1.0 if self.large_is_good else 1.0
        return min(others, key=lambda row: sign * self.values[row], default=None)

    def words(self) -> str:
        """Return why this number of edges was chosen, and which comes next."""
        assert self.chosen is not None
        tried = f"Of the graphs with {min(self.n_edges)} to {max(self.n_edges)} edges"
        best = "highest" if self.large_is_good else "lowest"
        edges, value = counted(self.n_edges[self.chosen], "edge"), self.values[self.chosen]
        if self.near is not None:
            why = f"the one with {edges} is the smallest within one standard error of the {best} {self.label}"
            return f"{tried}, {why}."
        if self.chosen != self._best():
            return f"{tried}, the one with {edges} was chosen; its {self.label} is {value:.6g}."
        words = f"{tried}, the one with {edges} has the {best} {self.label}, {value:.6g}."
        if self.runner_up is None:
            return words
        apart = abs(self.values[self.runner_up] - value)
        side = "lower" if self.large_is_good else "higher"
        unsure = ": the data hardly tell the two apart" * bool(apart < self._clear_difference())
        next_one = counted(self.n_edges[self.runner_up], "edge")
        return f"{words} Next is the one with {next_one}, {apart:.3g} {side}{unsure}."

    def _clear_difference(self) -> float:
        """Return the difference below which two graphs are as good: 2, or the standard error of the score."""
        if self.error is None or self.chosen is None:
            return 0.0 if self.large_is_good else 2.0
        return float(self.error[self.chosen])


def edge_path(model: Any, criterion: str | None = None) -> EdgePath:
    """Return the path of a fitted estimator, or a frame like it, by one criterion."""
    frame = getattr(model, "path_", model)
    require_columns(frame, "model", ["n_edges"], "the path_ of an IsingGraphCV")
    frame = frame.sort_values("n_edges", kind="stable")
    by = getattr(model, "criterion", None)
    name = criterion_of(frame, GRAPH_CRITERIA, criterion, by, "the path of graphs")
    values = frame[GRAPH_CRITERIA[name]].to_numpy(dtype=float)
    error = frame["score_se"].to_numpy(dtype=float) if name == "cv" and "score_se" in frame else None
    sizes = [int(size) for size in frame["n_edges"]]
    size = getattr(model, "n_edges_", None)
    near = None
    if name == "cv" and getattr(model, "one_standard_error", False) and error is not None:
        best = int(np.nanargmax(values))
        near = float(values[best] - error[best]) if np.isfinite(error[best]) else None
    chosen = sizes.index(int(size)) if size is not None and int(size) in sizes else None
    return EdgePath(name, _label(model, name), sizes, values, error, chosen, by, near)


def _label(model: Any, criterion: str) -> str:
    if criterion == "cv":
        return "held-out score"
    if criterion == "log_likelihood":
        return "log-likelihood"
    gamma = getattr(model, "gamma", None) if criterion == "ebic" else None
    return criterion.upper() + ("" if gamma is None else f" (γ = {gamma:g})")
