"""What all HTML pages share: one file that opens without a network, light or dark, with plots inside."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

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

_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e8eb);
  --ground: light-dark(#ffffff, #15181c); --line: light-dark(#d0d7de, #3a4048);
  --soft: light-dark(#59636e, #a3abb5); --yes: light-dark(#116329, #4ac26b);
  --no: light-dark(#b3261e, #ff8a80); --link: light-dark(#0550ae, #79c0ff); }
:root[data-theme="light"] { color-scheme: light; } :root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 4rem; color: var(--ink);
  background: var(--ground); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
a { color: var(--link); } nav a { margin-right: 1rem; white-space: nowrap; }
:focus-visible, .modebar-btn:focus-visible { outline: 3px solid var(--link) !important; outline-offset: 2px; }
#theme { float: right; margin: 0 0 0.5rem 1rem; padding: 0.4rem 0.8rem; font: inherit; color: inherit;
  background: none; border: 1px solid var(--line); border-radius: 0.4rem; cursor: pointer; }
#theme[aria-pressed="true"] { background: var(--line); }
.incomplete { color: var(--no); font-weight: 600; }
.note { color: var(--soft); }
.panels { display: grid; gap: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
.plot, .empty { height: var(--height, 480px); }
.empty { margin: 0; display: grid; place-items: center; color: var(--soft);
  border: 1px dashed var(--line); }
.wide { overflow-x: auto; } summary { cursor: pointer; }
.wide :is(thead th:first-child, tbody th) { position: sticky; left: 0; background: var(--ground); }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; white-space: nowrap; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; min-width: 3rem; }
td.number, th.number { text-align: right; } tbody th { font-weight: 400; }
.numbers th, .numbers td { white-space: nowrap; }
.named :is(th, td):nth-child(2) { text-align: left; }
.long tbody th, .named :is(tbody th, td:nth-child(2)) { white-space: normal; min-width: 7rem; }
.named td:nth-child(2) { min-width: 4.5rem; }
:is(.long, .named) thead th { white-space: normal; overflow-wrap: normal; vertical-align: bottom; }
.wrapped thead th { overflow-wrap: anywhere; min-width: 4.5rem; }
.verdict { white-space: nowrap; font-weight: 600; } .yes { color: var(--yes); } .no { color: var(--no); }
img { max-width: 100%; height: auto; background: white; }
@media (max-width: 40rem) { .modebar { display: none; } table { font-size: 0.875rem; }
  th, td { padding: 0.2rem 0.3rem; } :is(.long, .named) tbody th { min-width: 6rem; } }
.paper body { width: 180mm; padding: 0; } .paper .plot { height: 465px; }
.paper section > figure > .plot { height: min(0.85 * var(--height), 800px); }
@page { margin: 15mm; }
@media print { :root, :root[data-theme] { color-scheme: light; }
  #theme, nav, .modebar, .pointing, details:not([open]) { display: none; }
  body { padding: 0; font-size: 14px; } h1, h2, h3, caption, summary { break-after: avoid; }
  section > p:not(:last-child) { break-after: avoid; } .wide + .note { break-before: avoid; }
  h2 { margin-top: 1.5rem; }
  p, figure, tr, table:not(:has(tr:nth-child(20))) { break-inside: avoid; }
  .wide { overflow: visible; } .wide :is(thead th:first-child, tbody th) { position: static; }
  table { font-size: 12px; } th, td { padding: 0.15rem 0.35rem; min-width: 2rem; }
  .matrix { font-size: 7px; } .matrix :is(thead, tbody) :is(th, td) { min-width: 0; padding: 1px; } }
"""

# The plots take the colours of the page, and follow when the reader changes from light to dark. Paper is
# white and narrower than most windows. A plot only knows how large it is when it is told, and paper does not
# wait: to ask the plot to look for itself would be too late.
_SCRIPT = """
const panels = JSON.parse(document.getElementById("panels").textContent);
const root = document.documentElement, toggle = document.getElementById("theme");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches;
const ink = () => getComputedStyle(document.body).color;
for (const [letter, plot] of Object.entries(panels)) {
  plot.layout.font.color = ink();
  Plotly.newPlot("plot-" + letter, plot.data, plot.layout, CONFIG);
}
// Those who cannot see a plot have its name, words and a table; loose numbers of ticks would say nothing.
for (const drawing of document.querySelectorAll(".main-svg")) drawing.setAttribute("aria-hidden", "true");
const plots = () => Object.keys(panels).map((letter) => document.getElementById("plot-" + letter));
const follow = () => {
  toggle.setAttribute("aria-pressed", isDark());
  for (const plot of plots()) Plotly.relayout(plot, {"font.color": ink()});
};
toggle.hidden = false;
toggle.setAttribute("aria-pressed", isDark());
toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; follow(); });
darkness.addEventListener("change", follow);
const put = (theme, onPaper, size) => {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  root.classList.toggle("paper", onPaper);
  for (const plot of plots()) Plotly.relayout(plot, size(plot));
  follow();  // last: a legend finds its place only when the plot is drawn once more
};
let before;
addEventListener("beforeprint", () => {
  if (root.classList.contains("paper")) return;
  before = root.dataset.theme;
  put("light", true, (plot) => ({width: plot.clientWidth, height: plot.clientHeight}));
});
addEventListener("afterprint", () => put(before, false, () => ({width: null, height: null, autosize: true})));
"""


def document(title: str, body: str, plots: Mapping[str, Figure]) -> str:
    """Return a whole page; each plot is drawn into the element whose id is ``plot-`` and its name.

    >>> page = document("Tea & cake", "<p>Hello</p>", {})
    >>> "<title>Tea &amp; cake</title>" in page, "http-equiv" in page
    (True, True)
    """
    from plotly.offline import get_plotlyjs

    data = {name: json.loads(plot.to_json()) for name, plot in plots.items()}
    # No text of the data may end the script that it stands in.
    panels = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    drawing = _SCRIPT.replace("CONFIG", json.dumps(_CONFIG))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
<script>{get_plotlyjs()}</script>
</head>
<body>
<button id="theme" type="button" hidden>Dark</button>
{body}
<script type="application/json" id="panels">{panels}</script>
<script>{drawing}</script>
</body>
</html>
"""


def section(name: str, heading: str, content: str) -> str:
    """Return a part of a page with a heading; ``content`` is HTML.

    >>> section("why", "Why", "<p>Because.</p>").startswith('<section id="why"')
    True
    """
    title = f'<h2 id="{name}-heading">{heading}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-heading">{title}\n{content}\n</section>'


def table(head: Sequence[str], lines: Iterable[Sequence[str]], kind: str, caption: str = "") -> str:
    """Return a table whose first column names its rows; all else is a number in tables of numbers.

    In tables of ``numbers named`` the second column has names too. There, and in the first column of
    ``numbers long``, names may take several lines; with ``wrapped``, so may those at the top.

    >>> "<td>&lt;b&gt;</td>" in table(["what", "value"], [["name", "<b>"]], "asked")
    True
    """
    side = ' class="number"' if "numbers" in kind.split() else ""
    first, *others = (text(name) for name in head)
    heads = f'<th scope="col">{first}</th>' + "".join(f'<th scope="col"{side}>{name}</th>' for name in others)
    filled = "".join(
        f'<tr><th scope="row">{text(name)}</th>'
        + "".join(f"<td{side}>{text(x)}</td>" for x in rest)
        + "</tr>"
        for name, *rest in lines
    )
    title = f"<caption>{text(caption)}</caption>" if caption else ""
    # What scrolls sideways must be reachable by those who have no mouse.
    return (
        f'<div class="wide" tabindex="0"><table class="{kind}">{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{filled}</tbody></table></div>"
    )


def text(value: object) -> str:
    """Return what shows the value in HTML, whatever it is made of.

    >>> text("<script>")
    '&lt;script&gt;'
    """
    return escape(str(value))
