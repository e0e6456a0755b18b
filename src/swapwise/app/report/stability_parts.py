"""The stability of a learnt graph: over bootstrap samples, and over ever fewer cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from swapwise.app.report.parts import PagePart, as_table
from swapwise.charts.chart import COLOURS, FOUND, MARKERS, Axis, Chart, Curve, Intervals, names_axis
from swapwise.charts.frames import require_columns
from swapwise.charts.svg import in_lines, row_height
from swapwise.graphs.pictures.words import GraphWords, counted

# Edges that a chart has room for; the table of weights has all.
_MOST_EDGES = 60

# Shares of bootstrap samples: stable edges are in the first or more, seldom ones in less than the second.
_STABLE, _SELDOM = 0.95, 0.5

# Pairs without an edge that are named, if many samples have one.
_FEW = 5

_COLUMNS = ["source", "target", "weight", "lower", "upper", "inclusion"]


def draws_of(bootstrap: Any, columns: Sequence[Any]) -> pd.DataFrame | None:
    """Return the pairs of a bootstrap by the numbers of their variables, the smaller first."""
    if bootstrap is None:
        return None
    frame = getattr(bootstrap, "edges", bootstrap)
    require_columns(frame, "bootstrap", _COLUMNS, "the edges of bootstrap_graph")
    number = {name: at for at, name in enumerate(columns)}
    if not set(frame["source"]) | set(frame["target"]) <= set(number):
        number = {at: at for at in range(len(columns))}  # vertices without names
    try:
        ends = [(number[u], number[v]) for u, v in zip(frame["source"], frame["target"], strict=True)]
    except KeyError as error:
        raise ValueError(f"bootstrap must be of the same variables, but {error} is none of them") from None
    return frame.set_index(pd.MultiIndex.from_tuples([(min(pair), max(pair)) for pair in ends]))


def stability_parts(
    bootstrap: Any, draws: pd.DataFrame | None, names: Sequence[str], words: GraphWords
) -> list[PagePart]:
    """Return intervals of the weights over bootstrap samples, if there are any."""
    if draws is None:
        return []
    edges = draws[draws["weight"] != 0].sort_values("weight", ascending=False, kind="stable")
    others = draws[(draws["weight"] == 0) & (draws["inclusion"] >= _SELDOM)]
    count = f"{bootstrap.n_boots} bootstrap samples" if hasattr(bootstrap, "n_boots") else "Bootstrap samples"
    stable, seldom = (edges["inclusion"] >= _STABLE).sum(), (edges["inclusion"] < _SELDOM).sum()
    remarks = [
        f"{count}: {stable} of {counted(len(edges), 'edge')} are in {100 * _STABLE:.0f} % of them or more"
    ]
    remarks[0] += f", and {seldom} in less than half." if seldom else "."
    remarks.append(
        f"Lines hold {100 * getattr(bootstrap, 'level', 0.95):g} % of an edge's weights; "
        f"the table of {words.weight}s has the numbers."
    )
    if getattr(bootstrap, "interrupted", False):
        remarks.append("It was interrupted: fewer samples were drawn than asked for.")
    if len(others):
        few = others.nlargest(_FEW, "inclusion")
        named = [f"{names[u]} – {names[v]} ({100 * s:.0f} %)" for (u, v), s in few["inclusion"].items()]
        rest = f" and {len(others) - len(few)} more" if len(others) > len(few) else ""
        remarks.append(f"Pairs without an edge here that half of the samples join: {', '.join(named)}{rest}.")
    if not len(edges):
        return [PagePart("stability", "Stability", " ".join(remarks))]
    if len(edges) > _MOST_EDGES:
        remarks.append(f"The {_MOST_EDGES} strongest edges are shown.")
        edges = edges[edges["weight"].abs().rank(ascending=False, method="first") <= _MOST_EDGES]
    return [PagePart("stability", "Stability", " ".join(remarks), _intervals(edges, names, words))]


def _intervals(edges: pd.DataFrame, names: Sequence[str], words: GraphWords) -> Chart:
    """Return a line per edge, the largest weight at the top, with the weight of the sample on it."""
    labels = [f"{names[u]} – {names[v]}" for u, v in edges.index]
    hover = [
        f"{label}\n{words.weight} {row.weight:.3f}, {row.lower:.3f} to {row.upper:.3f}"
        f"\nin {100 * row.inclusion:.0f} % of samples"
        for label, row in zip(labels, edges.itertuples(), strict=True)
    ]
    rows = [float(row) for row in range(len(edges))]
    written = [in_lines(label) for label in labels]
    weight = Curve(
        edges["weight"].tolist(),
        rows,
        "in the sample; pale: seldom chosen",
        FOUND,
        dash=None,
        marker="circle",
        size=10,
        hover=hover,
        opacity=(0.25 + 0.75 * edges["inclusion"].clip(0.0, 1.0)).tolist(),
    )
    lines = Intervals(rows, edges["lower"].tolist(), edges["upper"].tolist(), "interval", width=3.0)
    height = 16 + row_height(written) * len(rows)
    return Chart(Axis(words.weight, zero=True), names_axis(written), (lines, weight), height=height)


def dropping_parts(case_dropping: Any) -> list[PagePart]:
    """Return correlations of the graphs of ever fewer cases with that of all, if such were learnt."""
    if case_dropping is None:
        return []
    frame = getattr(case_dropping, "summary", case_dropping)
    needed = ["measure", "share", "mean", "lower", "upper"]
    require_columns(frame, "case_dropping", needed, "the summary of case_dropping")
    remarks = [
        "Correlations between the graph of some of the cases and that of all, over the share of cases kept."
    ]
    coefficients = getattr(case_dropping, "coefficients", None)
    if coefficients is not None:
        known = ", ".join(f"{_measured(name)} {value:.2g}" for name, value in coefficients.dropna().items())
        correlation = getattr(case_dropping, "correlation", 0.7)
        remarks.append(
            "Correlation-stability coefficients, the largest share that can be dropped with a correlation of "
            f"{correlation:g} in 95 % of subsets: {known}. Below 0.25, the order cannot be trusted."
        )
    rows = [
        [_measured(row.measure), *(f"{x:.3g}" for x in (row.share, row.mean, row.lower, row.upper))]
        for row in frame.itertuples()
    ]
    below = as_table(["measure", "share of cases", "mean correlation", "lower", "upper"], rows)
    return [PagePart("dropping", "Fewer cases", " ".join(remarks), _correlations(frame), below)]


def _measured(name: object) -> str:
    return "weights" if name == "edges" else str(name).replace("_", " ")


def _correlations(frame: pd.DataFrame) -> Chart:
    series = []
    for rank, (name, rows) in enumerate(frame.groupby("measure", sort=False)):
        rows = rows.dropna(subset=["mean"]).sort_values("share")
        if rows.empty:
            continue
        label = _measured(name)
        hover = [
            f"{label}, {100 * row.share:.3g} % of cases: {row.mean:.3g} ({row.lower:.3g} to {row.upper:.3g})"
            for row in rows.itertuples()
        ]
        # The intervals of several measures would overlap.
        bars = {} if rank else {"low": rows["lower"].tolist(), "high": rows["upper"].tolist()}
        colour, marker = COLOURS[rank % len(COLOURS)], MARKERS[rank % len(MARKERS)]
        dropped = (100 * (1 - rows["share"])).tolist()
        series.append(
            Curve(dropped, rows["mean"].tolist(), label, colour, marker=marker, hover=hover, **bars)
        )
    return Chart(Axis("cases dropped", "%"), Axis("correlation with the whole sample"), tuple(series))
