"""One HTML page with all results, which opens without a network: curves to explore, claims and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from swapwise.charts.document import document, section, table, text
from swapwise.charts.svg import drawn
from swapwise.paper.claims.verdicts import summary
from swapwise.paper.comparisons import optimum_share
from swapwise.paper.neighbours import rule_of
from swapwise.paper.panels import (
    BEST,
    TIME,
    Panel,
    Scatter,
    check_rows,
    footnotes,
    methods_of,
    panels_of,
    scatter_note,
    shares_and_seconds,
    start_of,
    starts_of,
)
from swapwise.paper.sessions import missing_rows_in_words

TITLE = "Local search by localizability: the experiments reproduced"
PAPER = "Kaito Fujii, Approximation Guarantees of Local Search Algorithms via Localizability of Set Functions"

_CLAIM_HEADS = ("where", "the paper", "measured", "verdict", "remark")

_VERDICTS = {"holds": ("yes", "✓"), "does not hold": ("no", "✗"), "not measured": ("open", "–")}


def render_page(rows: pd.DataFrame, findings: Sequence[Any], manifest: Mapping[str, Any]) -> str:
    """Return a self-contained HTML page of some hundred kilobytes, from rows as for :func:`draw_figure`.

    ``findings`` are those of :func:`swapwise.paper.findings`, ``manifest`` says how the rows were made, as
    JSON has it. If the run is not complete, the page says so at its top.
    """
    rows = check_rows(rows)
    if not isinstance(manifest, Mapping):
        raise TypeError(f"manifest must be a dict of JSON values, got {manifest!r}")
    paper, beyond, scatters = panels_of(rows)
    body = [
        f"<header><h1>{escape(TITLE)}</h1>",
        f'<p class="note">The experiments of {escape(PAPER)} (ICML 2020), run by swapwise.</p>',
        f'<p class="incomplete">{escape(missing_rows_in_words(manifest))}</p>',
        f'<p>Claims of the paper: <a href="#claims">{escape(summary(findings))}</a>.</p>' if findings else "",
        "</header><main>",
        section("curves", "Curves", _curves(paper, beyond, rows)),
        *([section("neighbours", "The neighbours", _neighbours(scatters, rows))] if scatters else []),
        section("claims", "What the paper says, and what was measured", _claims(findings)),
        section("tables", "Means", _mean_tables(rows)),
        section("manifest", "How it was run", table(["what", "value"], _flat(manifest), "manifest")),
        "</main>",
    ]
    return document(TITLE, "\n".join(body))


def _curves(paper: Sequence[Panel], beyond: Sequence[Panel], rows: pd.DataFrame) -> str:
    help_ = "Point at a curve for its numbers; click on a name to hide its curve, twice to see it alone."
    parts = [f'<p class="note">{escape(" ".join(footnotes(rows)))} {help_}</p>', _boxes(paper, rows)]
    if beyond:
        parts += ["<h3>Beyond the paper</h3>", _boxes(beyond, rows)]
    return "\n".join(parts)


def _neighbours(scatters: Sequence[Scatter], rows: pd.DataFrame) -> str:
    note = f"All methods on the paper's instances: value against time. {scatter_note(rows)}"
    tables = []
    for setting in (scatter.setting for scatter in scatters):
        methods = shares_and_seconds(rows, setting, methods_of(setting))
        starts = shares_and_seconds(rows, setting, starts_of(setting)).rename(start_of)
        words = {"method": "methods", "start": f"{rule_of(setting)} local search by where it starts"}
        for head, means in zip(words, (methods, starts), strict=True):
            cells = ([name, f"{x.share:.4f}", _seconds(x.seconds)] for name, x in means.iterrows())
            heads, caption = [head, BEST.label, TIME.label], f"{setting.name}: {words[head]}"
            tables += [table(heads, cells, "numbers", caption)] if len(means) else []
    return "\n".join([f'<p class="note">{escape(note)}</p>{_boxes(scatters, rows)}', *tables])


def _boxes(panels: Iterable[Panel | Scatter], rows: pd.DataFrame) -> str:
    boxes = []
    for panel in panels:
        chart, content = panel.chart(rows), '<p class="empty">not run</p>'
        if chart.series:
            content = drawn(chart, f"Chart: {panel.title}: {chart.y.label} over {chart.x.label}")
        caption = f"<figcaption>{escape(panel.caption)}</figcaption>"
        boxes.append(f'<figure id="panel-{panel.letter}">{caption}{content}</figure>')
    inside = "\n".join(boxes)
    return f'<div class="panels">{inside}</div>'


def _claims(findings: Sequence[Any]) -> str:
    if not findings:
        return "<p>No claims were looked at.</p>"
    lines = []
    for one in findings:
        kind, mark = _VERDICTS.get(one.verdict, ("open", "–"))
        cells = (one.where, one.sentence, one.measured, f"{mark} {one.ruling}", one.remark)
        looks = ("where", "", "", f"verdict {kind}", "")
        lines.append("<tr>" + "".join(map(_claim_cell, _CLAIM_HEADS, looks, cells)) + "</tr>")
    head = "".join(f'<th scope="col">{name}</th>' for name in _CLAIM_HEADS)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    held = f'<div class="wide" tabindex="0"><table class="claims">{inside}</table></div>'
    return f"<p>{text(summary(findings))}.</p>{held}"


def _claim_cell(head: str, look: str, content: object) -> str:
    # The name of its column is for windows that are too narrow for columns.
    kind = f' class="{look}"' if look else ""
    return f'<td{kind} data-head="{head}">{text(content)}</td>'


def _mean_tables(rows: pd.DataFrame) -> str:
    rows = rows.assign(optimum=optimum_share(rows))
    is_proof = rows["part"] == "certificates"
    kinds = (
        (None, "quality", rows[~is_proof], "{:.3f}".format),
        ("share of the optimum, where it is proven", "optimum", rows[~is_proof], "{:.3f}".format),
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
    """Yield every leaf of nested values, with the names that lead to it."""
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
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
