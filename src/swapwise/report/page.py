"""One HTML page with all results, which opens without a network: curves to explore, claims and tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.experiments.claims import summary
from swapwise.experiments.manifest import what_is_missing
from swapwise.report.panels import PAPER_PANELS, Curve, Panel, check_rows, footnotes, log_range, panels_of

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

TITLE = "Local search by localizability: the experiments reproduced"
PAPER = "Kaito Fujii, Approximation Guarantees of Local Search Algorithms via Localizability of Set Functions"

_VERDICTS = {"holds": ("yes", "✓"), "does not hold": ("no", "✗"), "not measured": ("open", "–")}

# Every plot is asked to stay at home: no logo with a link, no button that sends data away.
_CONFIG = {
    "displaylogo": False,
    "showSendToCloud": False,
    "plotlyServerURL": "",
    "responsive": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
}

# The browser itself refuses whatever is not in the file.
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

# Pixels. All plots have room for the longest legend beneath them, so that their axes are in line.
_HEIGHT, _TOP, _BELOW, _X_LABEL = 480, 30, 200, 52

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --ground: #ffffff; --line: #d0d7de; --soft: #59636e;
  --yes: #116329; --no: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --ground: #15181c; --line: #3a4048;
  --soft: #a3abb5; --yes: #4ac26b; --no: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 4rem; color: var(--ink);
  background: var(--ground); font: 16px/1.5 system-ui, sans-serif; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
.incomplete { color: var(--no); font-weight: 600; }
.note { color: var(--soft); }
.panels { display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
.plot, .empty { height: 480px; }
.empty { margin: 0; display: grid; place-items: center; color: var(--soft);
  border: 1px dashed var(--line); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; white-space: nowrap; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
td.number, th.number { text-align: right; } tbody th { font-weight: 400; }
.numbers th, .numbers td { white-space: nowrap; }
.verdict { white-space: nowrap; font-weight: 600; } .yes { color: var(--yes); } .no { color: var(--no); }
img { max-width: 100%; height: auto; background: white; }
"""

# The plots take the colours of the page, and follow when the reader changes from light to dark.
_SCRIPT = """
const panels = JSON.parse(document.getElementById("panels").textContent);
const ink = () => getComputedStyle(document.body).color;
for (const [letter, plot] of Object.entries(panels)) {
  plot.layout.font.color = ink();
  Plotly.newPlot("plot-" + letter, plot.data, plot.layout, CONFIG);
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const letter of Object.keys(panels)) Plotly.relayout("plot-" + letter, {"font.color": ink()});
});
"""


def render_page(
    rows: pd.DataFrame,
    findings: Sequence[Any],
    manifest: Mapping[str, Any],
) -> str:
    """Return a self-contained HTML page of the experiments.

    Parameters
    ----------
    rows : pandas.DataFrame
        As for :func:`swapwise.report.figure.draw_figure`.
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
    body = [
        f"<header><h1>{escape(TITLE)}</h1>",
        f'<p class="note">The experiments of {escape(PAPER)} (ICML 2020), run by swapwise.</p>',
        f'<p class="incomplete">{escape(what_is_missing(manifest))}</p>',
        "</header><main>",
        _section("curves", "Curves", _curves(curves, footnotes(rows))),
        _section("claims", "What the paper says, and what was measured", _claims(findings)),
        _section("tables", "Means", _mean_tables(rows)),
        _section("manifest", "How it was run", _table(["what", "value"], _flat(manifest), "manifest")),
        "</main>",
    ]
    return _document("\n".join(body), plots)


def _document(body: str, plots: dict[str, Figure]) -> str:
    from plotly.offline import get_plotlyjs

    data = {letter: json.loads(plot.to_json()) for letter, plot in plots.items()}
    # No text of the data may end the script that it stands in.
    panels = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    drawing = _SCRIPT.replace("CONFIG", json.dumps(_CONFIG))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(TITLE)}</title>
<style>{_STYLE}</style>
<script>{get_plotlyjs()}</script>
</head>
<body>
{body}
<script type="application/json" id="panels">{panels}</script>
<script>{drawing}</script>
</body>
</html>
"""


def _section(name: str, heading: str, content: str) -> str:
    title = f'<h2 id="{name}-heading">{heading}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-heading">{title}\n{content}\n</section>'


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


def _panel_box(panel: Panel, was_run: bool) -> str:
    caption = escape(panel.caption)
    label = escape(f"{panel.title}: {panel.y_label} over {panel.x_label}")
    plot = f'<div class="plot" id="plot-{panel.letter}" role="img" aria-label="{label}"></div>'
    content = plot if was_run else '<p class="empty">not run</p>'
    return f'<figure id="panel-{panel.letter}"><figcaption>{caption}</figcaption>{content}</figure>'


def _plot(panel: Panel, curves: list[Curve]) -> Figure:
    import plotly.graph_objects as go

    grid = {"gridcolor": "rgba(128,128,128,0.25)", "zeroline": False, "showline": True, "ticks": "outside"}
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
            "template": "none",
            "font": {"family": "system-ui, sans-serif", "size": 13},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "margin": {"l": 64, "r": 12, "t": _TOP, "b": _BELOW},
            "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#808890", "activecolor": "#808890"},
            "xaxis": {**grid, **across},
            "yaxis": {**grid, **upwards},
            "legend": {"yref": "container", "y": (_BELOW - _X_LABEL) / _HEIGHT, "yanchor": "top", "x": 0.0},
            "showlegend": True,
        },
    )
    return figure


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
        said = "".join(f"<td>{_text(cell)}</td>" for cell in (one.where, one.sentence, one.measured))
        verdict = f'<td class="verdict {kind}">{mark} {_text(one.verdict)}</td>'
        lines.append(f"<tr>{said}{verdict}<td>{_text(one.remark)}</td></tr>")
    names = ("where", "the paper", "measured", "verdict", "remark")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    inside = f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody>"
    return f'<p>{_text(summary(findings))}.</p><div class="wide"><table class="claims">{inside}</table></div>'


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
            tables.append(_table(head, cells, "numbers", f"{setting}: {words or reached}"))
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


def _table(head: Sequence[str], lines: Iterable[Sequence[str]], kind: str, caption: str = "") -> str:
    """Return a table whose first column names its rows; all else is a number in tables of numbers."""
    side = ' class="number"' if kind == "numbers" else ""
    first, *others = (_text(name) for name in head)
    heads = f'<th scope="col">{first}</th>' + "".join(f'<th scope="col"{side}>{name}</th>' for name in others)
    filled = "".join(
        f'<tr><th scope="row">{_text(name)}</th>'
        + "".join(f"<td{side}>{_text(x)}</td>" for x in rest)
        + "</tr>"
        for name, *rest in lines
    )
    title = f"<caption>{_text(caption)}</caption>" if caption else ""
    return (
        f'<div class="wide"><table class="{kind}">{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{filled}</tbody></table></div>"
    )


def _text(value: object) -> str:
    return escape(str(value))
