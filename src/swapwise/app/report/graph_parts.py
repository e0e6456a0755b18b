"""The parts of a page about a learnt graph beside its picture: path, weights, missing answers, degrees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from swapwise.app.report.graph_path import GRAPH_CRITERIA, EdgePath, edge_path
from swapwise.app.report.parts import PagePart, as_table, path_table
from swapwise.charts.chart import FOUND, GREY, PROVEN, Axis, Band, Bars, Chart, Curve, Rule, Series
from swapwise.charts.document import table
from swapwise.graphs.estimators.cross_validated import WRITTEN
from swapwise.graphs.pictures.words import GraphWords, counted

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
