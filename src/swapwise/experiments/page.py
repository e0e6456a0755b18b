"""One HTML page with all results, which opens without a network: curves to explore, claims and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.experiments.claims import summary
from swapwise.experiments.manifest import what_is_missing
from swapwise.experiments.neighbours import rule_of
from swapwise.experiments.panels import (
    PAPER_PANELS,
    Curve,
    Panel,
    check_rows,
    footnotes,
    log_range,
    log_range_of,
    panels_of,
)
from swapwise.experiments.scatters import (
    SCATTERS,
    TICKS,
    Point,
    Scatter,
    methods_of,
    nines,
    scatter_note,
    scatters_of,
    shares_and_seconds,
    start_of,
    starts_of,
)
from swapwise.report.document import document, section, table, text
from swapwise.report.parts import AXIS, LOOKS

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TITLE = "Local search by localizability: the experiments reproduced"
PAPER = "Kaito Fujii, Approximation Guarantees of Local Search Algorithms via Localizability of Set Functions"

_VERDICTS = {"holds": ("yes", "✓"), "does not hold": ("no", "✗"), "not measured": ("open", "–")}

# Pixels. All plots have room for the longest legend beneath them, so that their axes are in line.
_HEIGHT, _TOP, _BELOW, _X_LABEL = 480, 30, 200, 52


def render_page(
    rows: pd.DataFrame,
    findings: Sequence[Any],
    manifest: Mapping[str, Any],
) -> str:
    """Return a self-contained HTML page of the experiments.

    Parameters
    ----------
    rows : pandas.DataFrame
        As for :func:`swapwise.experiments.figure.draw_figure`.
    findings : sequence of objects with where, sentence, measured, verdict and remark
        The paper's claims and what became of them.
    manifest : mapping
        How the rows were made, as JSON has it; shown as a table. If it says that the run is not complete,
        so does the page, at its top.

    Returns
    -------
    str
        About five megabytes, most of which is plotly.js.

    Examples
    --------
    >>> from swapwise.experiments.measure import COLUMNS
    >>> row = {"setting": "ising-20", "part": "paper", "method": "random", "size": 1, "trial": 0,
    ...        "flavour": "as-published", "seed": 0, "quality": 0.3}
    >>> page = render_page(pd.DataFrame([row], columns=COLUMNS), [], {"python": "3.11"})
    >>> page.count("<figure "), '<div class="plot" id="plot-f"' in page
    (6, True)
    """
    rows = check_rows(rows)
    if not isinstance(manifest, Mapping):
        raise TypeError(f"manifest must be a dict of JSON values, got {manifest!r}")
    curves = {panel: panel.curves(rows) for panel in panels_of(rows)}
    plots = {panel.letter: _plot(panel, found) for panel, found in curves.items() if found}
    points = {scatter: scatter.points(rows) for scatter in scatters_of(rows)}
    plots |= {scatter.letter: _scatter_plot(found) for scatter, found in points.items() if found}
    body = [
        f"<header><h1>{escape(TITLE)}</h1>",
        f'<p class="note">The experiments of {escape(PAPER)} (ICML 2020), run by swapwise.</p>',
        f'<p class="incomplete">{escape(what_is_missing(manifest))}</p>',
        "</header><main>",
        section("curves", "Curves", _curves(curves, footnotes(rows))),
        *([section("neighbours", "The neighbours", _neighbours(points, rows))] if points else []),
        section("claims", "What the paper says, and what was measured", _claims(findings)),
        section("tables", "Means", _mean_tables(rows)),
        section("manifest", "How it was run", table(["what", "value"], _flat(manifest), "manifest")),
        "</main>",
    ]
    return document(TITLE, "\n".join(body), plots)


def _curves(curves: dict[Panel, list[Curve]], notes: list[str]) -> str:
    help_ = "Point at a curve for its numbers; click on a name to hide its curve, twice to see it alone."
    boxes = {panel: _panel_box(panel, bool(found)) for panel, found in curves.items()}
    paper = "\n".join(box for panel, box in boxes.items() if panel in PAPER_PANELS)
    beyond = "\n".join(box for panel, box in boxes.items() if panel not in PAPER_PANELS)
    parts = [
        f'<p class="note">{escape(" ".join(notes))} {help_}</p>',
        "<noscript><p>The curves need JavaScript; the tables below have the same numbers.</p></noscript>",
        f'<div class="panels">{paper}</div>',
    ]
    if beyond:
        parts += ["<h3>Beyond the paper</h3>", f'<div class="panels">{beyond}</div>']
    return "\n".join(parts)


def _neighbours(points: dict[Scatter, list[Point]], rows: pd.DataFrame) -> str:
    """Return the panels of value against time, and tables of the same, of methods and of starts."""
    boxes = "\n".join(_panel_box(scatter, bool(found)) for scatter, found in points.items())
    note = f"All methods on the paper's instances: value against time. {scatter_note(rows)}"
    tables = []
    for setting in (scatter.setting for scatter in SCATTERS):
        methods = shares_and_seconds(rows, setting, methods_of(setting))
        starts = shares_and_seconds(rows, setting, starts_of(setting)).rename(start_of)
        words = {"method": "methods", "start": f"{rule_of(setting)} local search by where it starts"}
        for head, means in zip(words, (methods, starts), strict=True):
            cells = ([name, f"{x.share:.4f}", _seconds(x.seconds)] for name, x in means.iterrows())
            heads, caption = [head, Scatter.y_label, Scatter.x_label], f"{setting.name}: {words[head]}"
            tables += [table(heads, cells, "numbers", caption)] if len(means) else []
    return "\n".join([f'<p class="note">{escape(note)}</p><div class="panels">{boxes}</div>', *tables])


def _panel_box(panel: Panel | Scatter, was_run: bool) -> str:
    caption = escape(panel.caption)
    label = escape(f"{panel.title}: {panel.y_label} over {panel.x_label}")
    plot = f'<div class="plot" id="plot-{panel.letter}" role="img" aria-label="{label}"></div>'
    content = plot if was_run else '<p class="empty">not run</p>'
    return f'<figure id="panel-{panel.letter}"><figcaption>{caption}</figcaption>{content}</figure>'


def _plot(panel: Panel, curves: list[Curve]) -> Figure:
    import plotly.graph_objects as go

    sizes = panel.sizes
    across = {"title": {"text": panel.x_label}, "tickvals": sizes, "range": [sizes[0] - 0.5, sizes[-1] + 0.5]}
    upwards: dict[str, Any] = {"title": {"text": panel.y_label}, "type": "log" if panel.log else "linear"}
    if panel.log:
        ends = [float(np.log10(end)) for end in log_range(curves)]
        upwards |= {"dtick": 1, "exponentformat": "power", "range": ends}
    if panel.top is not None:
        least = min(float(np.nanmin([curve.mean, curve.low])) for curve in curves)
        room = 0.05 * max(panel.top - least, 1e-6)
        upwards |= {"range": [least - room, panel.top + room]}
    figure = go.Figure(
        [_trace(panel, curve) for curve in curves],
        {
            **LOOKS,
            "margin": {"l": 64, "r": 12, "t": _TOP, "b": _BELOW},
            "xaxis": {**AXIS, **across},
            "yaxis": {**AXIS, **upwards},
            "legend": {"yref": "container", "y": (_BELOW - _X_LABEL) / _HEIGHT, "yanchor": "top", "x": 0.0},
            "showlegend": True,
        },
    )
    return figure


def _scatter_plot(points: list[Point]) -> Figure:
    import plotly.graph_objects as go

    ends = [float(np.log10(end)) for end in log_range_of([point.seconds for point in points])]
    lowest = min(nines(point.share) for point in points)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": point.name,
            "x": [point.seconds],
            "y": [nines(point.share)],
            "marker": {"symbol": point.style.marker, "size": 10, "color": point.style.color},
            "hovertext": [
                f"{point.name}<br>share of the best found: {point.share:.5f}<br>seconds: {point.seconds:.2g}"
                f"<br>{point.instances} runs"
            ],
            "hoverinfo": "text",
        }
        for point in points
    ]
    seconds = {"title": {"text": Scatter.x_label}, "type": "log", "dtick": 1, "exponentformat": "power"}
    shares = {"tickvals": [nines(tick) for tick in TICKS], "ticktext": list(TICKS.values())}
    shares |= {"title": {"text": Scatter.y_label}, "range": [lowest - 0.2, nines(1.0) + 0.2]}
    below = {"yref": "container", "y": (_BELOW - _X_LABEL) / _HEIGHT, "yanchor": "top", "x": 0.0}
    return go.Figure(
        traces,
        {
            **LOOKS,
            "margin": {"l": 64, "r": 12, "t": _TOP, "b": _BELOW},
            "xaxis": {**AXIS, **seconds, "range": ends},
            "yaxis": {**AXIS, **shares},
            "legend": {**below, "orientation": "h", "font": {"size": 11}, "entrywidth": 100},
            "showlegend": True,
        },
    )


def _trace(panel: Panel, curve: Curve) -> dict[str, Any]:
    look = curve.style
    has_spread = np.isfinite(curve.spread)
    hover = [
        f"{curve.label}<br>{panel.x_label}: {size}<br>{panel.y_label}: {mean:.4g}"
        + (f" ± {spread:.2g}<br>{count} trials" if count > 1 else "<br>1 trial")
        for size, mean, spread, count in zip(curve.x, curve.mean, curve.spread, curve.trials, strict=True)
    ]
    marker = look.marker + ("-open" if look.hollow else "")
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": curve.label,
        "x": curve.x.tolist(),
        "y": curve.mean.tolist(),
        "line": {"color": look.color, "dash": look.dash, "width": 2},
        "marker": {"symbol": "x-thin-open" if look.marker == "x" else marker, "size": 8},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": np.where(has_spread, curve.high - curve.mean, 0.0).tolist(),
            "arrayminus": np.where(has_spread, curve.mean - curve.low, 0.0).tolist(),
            "thickness": 1,
            "width": 0,
            "visible": bool(has_spread.any()),
        },
        "hovertext": hover,
        "hoverinfo": "text",
    }


def _claims(findings: Sequence[Any]) -> str:
    if not findings:
        return "<p>No claims were looked at.</p>"
    lines = []
    for one in findings:
        kind, mark = _VERDICTS.get(one.verdict, ("open", "–"))
        said = "".join(f"<td>{text(cell)}</td>" for cell in (one.where, one.sentence, one.measured))
        verdict = f'<td class="verdict {kind}">{mark} {text(one.verdict)}</td>'
        lines.append(f"<tr>{said}{verdict}<td>{text(one.remark)}</td></tr>")
    names = ("where", "the paper", "measured", "verdict", "remark")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<p>{text(summary(findings))}.</p><div class="wide"><table class="claims">{inside}</table></div>'


def _mean_tables(rows: pd.DataFrame) -> str:
    """Return tables of methods and sizes: what was reached, how long it took and what is proven."""
    is_proof = rows["part"] == "certificates"
    kinds = (
        (None, "quality", rows[~is_proof], "{:.3f}".format),
        ("seconds", "seconds", rows[rows["alone"].ne(False)], _seconds),
        ("proven share of the optimum", "proven", rows[is_proof], "{:.3f}".format),
    )
    tables = []
    for setting in rows["setting"].drop_duplicates():
        for words, column, chosen, form in kinds:
            mine = chosen[chosen["setting"] == setting]
            y = pd.to_numeric(mine[column]).astype(float).replace([np.inf, -np.inf], np.nan).dropna()
            if y.empty:
                continue
            means = y.groupby([mine["method"][y.index], mine["size"][y.index]], sort=False).mean().unstack()
            means = means.sort_index(axis="columns")
            cells = (
                [method, *("" if np.isnan(mean) else form(mean) for mean in line)]
                for method, line in zip(means.index, means.to_numpy(), strict=True)
            )
            head = ["method", *(str(size) for size in means.columns)]
            reached = "R²" if setting.startswith("regression") else "ratio to the true graph"
            tables.append(table(head, cells, "numbers", f"{setting}: {words or reached}"))
    return "\n".join(tables)


def _seconds(mean: float) -> str:
    return f"{mean:.0f}" if mean >= 10 else f"{mean:#.2g}"


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Go through nested values: every leaf with the names that lead to it."""
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        inner = ((str(key), one) for key, one in value.items())
    elif isinstance(value, list | tuple) and any(isinstance(one, Mapping | list | tuple) for one in value):
        inner = ((str(rank), one) for rank, one in enumerate(value, 1))
    else:
        yield name, ", ".join(map(str, value)) if isinstance(value, list | tuple) else _plain(value)
    for key, one in inner:
        yield from _flat(one, f"{name} › {key}" if name else key)


def _plain(value: Any) -> str:
    """Return a value in words: JSON has true, false and null."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
