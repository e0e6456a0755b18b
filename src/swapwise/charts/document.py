"""What all HTML pages share: one file that opens without a network, light or dark, with charts inside.

The browser runs the one script whose fingerprint the page names, and no other: whatever the names of columns
hold, they stay text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape

from swapwise.charts.svg import MARGIN_STEP, MARGINS, definitions

_STYLE = """
:root { color-scheme: light dark; --ink: light-dark(#1b1f24, #e6e8eb);
  --ground: light-dark(#ffffff, #15181c); --line: light-dark(#d0d7de, #3a4048);
  --soft: light-dark(#59636e, #a3abb5); --yes: light-dark(#116329, #4ac26b);
  --no: light-dark(#b3261e, #ff8a80); --link: light-dark(#0550ae, #79c0ff);
  --node: light-dark(#e8edf2, #333a42); }
:root[data-theme="light"] { color-scheme: light; } :root[data-theme="dark"] { color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 4rem; color: var(--ink);
  background: var(--ground); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
section > p { max-width: 60rem; }
a { color: var(--link); } nav a { margin-right: 1rem; white-space: nowrap; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
button { font: inherit; color: inherit; background: none; cursor: pointer; }
#theme { float: right; margin: 0 0 0.5rem 1rem; padding: 0.4rem 0.8rem; border: 1px solid var(--line);
  border-radius: 0.4rem; }
#theme[aria-pressed="true"] { background: var(--line); }
.incomplete { color: var(--no); font-weight: 600; }
.note { color: var(--soft); }
.panels { display: grid; gap: 1.75rem 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; }
section > figure { max-width: 60rem; }
.empty { margin: 0; height: 300px; display: grid; place-items: center; color: var(--soft);
  border: 1px dashed var(--line); }
.defs { position: absolute; }
.chart { font-size: 13px; line-height: 1.4; margin: 0.5rem 0 1.25rem; }
.legend { display: flex; flex-wrap: wrap; gap: 0 0.9rem; margin: 0.25rem 0; }
.legend button, .legend span { display: inline-flex; align-items: center; gap: 0.35rem; border: 0;
  padding: 0.15rem 0; text-align: left; overflow-wrap: anywhere; }
.legend svg { flex: none; }
.legend button[aria-pressed="false"] { opacity: 0.45; text-decoration: line-through; }
.panels .chart { display: flex; flex-direction: column; } .panels .legend { order: 1; }
.plot { padding: 2px 16px 2px 0; } .plot svg { display: block; overflow: visible; }
.plot svg svg { overflow: hidden; }
.plot text { fill: var(--ink); pointer-events: none; } .area text { font-size: 12px; }
.plot text.in { fill: #1b1f24; } .plot text.heading { font-weight: 600; }
.plot .grid { stroke: var(--line); stroke-width: 1; opacity: 0.7; }
.plot .axis { stroke: var(--soft); stroke-width: 1; }
.line { fill: none; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.hollow { fill: var(--ground); stroke-width: 1.5; }
.upwards, .across { color: var(--soft); } .across { text-align: center; } .foot8 { height: 8px; }
.foot22 { height: 22px; }
[data-s].off { display: none; }
:is(circle, rect, use).on { stroke: var(--ink); stroke-width: 2; } line.on { stroke: var(--ink); }
:is(.node, .field) { stroke: var(--soft); stroke-width: 1.5; } .node { fill: var(--node); }
.plot text.light { fill: #ffffff; } :is(.broad, .narrow) { max-width: 100%; height: auto; }
.plot text.beside { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; stroke-linejoin: round; }
.narrow { display: none !important; }
@media (max-width: 44rem) { .broad { display: none !important; } .narrow { display: block !important; } }
#tip { position: fixed; z-index: 9; max-width: min(24rem, 92vw); padding: 0.3rem 0.6rem;
  white-space: pre-line; pointer-events: none; color: var(--ground); background: var(--ink);
  border-radius: 0.3rem;
  font-size: 13px; line-height: 1.4; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.25rem; }
dt { color: var(--soft); } dd { margin: 0; }
.wide { overflow-x: auto; } summary { cursor: pointer; }
.wide :is(thead th:first-child, tbody th) { position: sticky; left: 0; background: var(--ground); }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: 0.25rem 0; white-space: nowrap; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; min-width: 3rem; }
td.number, th.number { text-align: right; } tbody th { font-weight: 400; }
.numbers th, .numbers td { white-space: nowrap; }
.named :is(th, td):nth-child(2) { text-align: left; }
.long tbody th, .named :is(tbody th, td:nth-child(2)) { white-space: normal; min-width: 7rem;
  overflow-wrap: anywhere; }
.named td:nth-child(2) { min-width: 4.5rem; }
:is(.long, .named) thead th { white-space: normal; vertical-align: bottom; }
.wrapped thead th { overflow-wrap: anywhere; min-width: 4.5rem; }
:is(.asked, .manifest) :is(th, td) { overflow-wrap: anywhere; min-width: 8rem; }
.claims { font-size: 0.925rem; } .claims td { min-width: 8rem; } .claims td:nth-child(3) { width: 32%; }
.claims .where { width: 9rem; min-width: 6rem; } .claims td:nth-child(5) { width: 26%; }
.verdict { white-space: nowrap; font-weight: 600; } .yes { color: var(--yes); } .no { color: var(--no); }
@media (max-width: 40rem) { header { clear: right; }
  table { font-size: 0.875rem; } th, td { padding: 0.2rem 0.3rem; }
  :is(.long, .named) tbody th { min-width: 6rem; } dl { grid-template-columns: 1fr; }
  dd { margin: 0 0 0.4rem 1rem; }
  .claims thead { display: none; }
  .claims :is(tbody, tr, td) { display: block; border: 0; width: auto !important; }
  .claims tr { border-bottom: 1px solid var(--line); padding: 0.5rem 0; }
  .claims td:empty { display: none; } .claims td::before { content: attr(data-head); color: var(--soft);
  display: block; font-size: 0.8rem; font-weight: 400; } }
@page { margin: 15mm; }
@media print { :root, :root[data-theme] { color-scheme: light; }
  #theme, #tip, nav, .pointing, details:not([open]) { display: none; }
  .broad { display: block !important; } .narrow { display: none !important; }
  body { padding: 0; font-size: 14px; } h1, h2, h3, caption, summary { break-after: avoid; }
  section > p:not(:last-child) { break-after: avoid; } .wide + .note { break-before: avoid; }
  h2 { margin-top: 1.5rem; }
  p, figure, tr, table:not(:has(tr:nth-child(20))) { break-inside: avoid; }
  .wide { overflow: visible; } .wide :is(thead th:first-child, tbody th) { position: static; }
  table { font-size: 12px; } th, td { padding: 0.15rem 0.35rem; min-width: 2rem; }
  .matrix { font-size: 7px; } .matrix :is(thead, tbody) :is(th, td) { min-width: 0; padding: 1px; } }
""" + "".join(f".left{step} {{ margin-left: {MARGIN_STEP * step}px; }}\n" for step in range(1, MARGINS + 1))

# What a pointer, the arrow keys and the buttons of legends do. Texts are set as text, never as HTML.
_SCRIPT = """
const root = document.documentElement, toggle = document.getElementById("theme");
const darkness = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches;
const follow = () => toggle.setAttribute("aria-pressed", isDark());
toggle.hidden = false; follow();
toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; follow(); });
darkness.addEventListener("change", follow);
const tip = document.getElementById("tip");
let shown = null;
const show = (mark) => {
  if (shown) shown.classList.remove("on");
  shown = mark; tip.hidden = !mark;
  if (!mark) return;
  tip.textContent = mark.dataset.t;
  mark.classList.add("on");
  const box = mark.getBoundingClientRect(), high = tip.offsetHeight, wide = tip.offsetWidth;
  const left = Math.min(Math.max(4, box.left + box.width / 2 - wide / 2), innerWidth - wide - 4);
  tip.style.left = left + "px";
  tip.style.top = (box.top - high - 8 > 0 ? box.top - high - 8 : box.bottom + 8) + "px";
};
const isSeen = (mark) => mark.getClientRects().length;
const marksOf = (plot) => [...plot.querySelectorAll("[data-t]")].filter(isSeen);
const nearest = (plot, event) => {
  let best = null, least = 24;
  for (const mark of marksOf(plot)) {
    const box = mark.getBoundingClientRect();
    const across = event.clientX - box.left - box.width / 2, down = event.clientY - box.top - box.height / 2;
    const far = Math.hypot(across, down);
    if (far < least) { least = far; best = mark; }
  }
  return best;
};
for (const plot of document.querySelectorAll(".plot")) {
  const point = (event) => {
    const mark = event.target.closest("rect[data-t], line[data-t]") || nearest(plot, event);
    if (mark !== shown) show(mark);
  };
  plot.addEventListener("pointermove", point);
  plot.addEventListener("pointerdown", point);
  plot.addEventListener("pointerleave", () => show(null));
  plot.addEventListener("blur", () => show(null));
  plot.addEventListener("keydown", (event) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (event.key === "Escape") show(null);
    const marks = step ? marksOf(plot) : [];
    if (!marks.length) return;
    event.preventDefault();
    const at = marks.indexOf(shown);
    show(marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length]);
  });
}
for (const chart of document.querySelectorAll(".chart")) {
  const buttons = [...chart.querySelectorAll("button[data-s]")];
  const put = (button, on) => {
    button.setAttribute("aria-pressed", on);
    for (const part of chart.querySelectorAll('.plot [data-s="' + button.dataset.s + '"]'))
      part.classList.toggle("off", !on);
  };
  const isOn = (button) => button.getAttribute("aria-pressed") === "true";
  for (const button of buttons) {
    button.addEventListener("click", () => put(button, !isOn(button)));
    button.addEventListener("dblclick", () => {
      const alone = buttons.every((other) => isOn(other) === (other === button));
      for (const other of buttons) put(other, alone || other === button);
    });
  }
}
"""


def _fingerprint(code: str) -> str:
    return f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"


# The browser itself refuses whatever is not in the file, and every script and style that is not this one.
_POLICY = f"default-src 'none'; script-src {_fingerprint(_SCRIPT)}; style-src {_fingerprint(_STYLE)}"


def document(title: str, body: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{escape(_POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<button id="theme" type="button" hidden>Dark</button>
{definitions()}
{body}
<div id="tip" role="status" hidden></div>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def section(name: str, heading: str, content: str) -> str:
    """Return a part of a page with a heading; ``content`` is HTML."""
    title = f'<h2 id="{name}-heading">{heading}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-heading">{title}\n{content}\n</section>'


def table(head: Sequence[str], lines: Iterable[Sequence[str]], kind: str, caption: str = "") -> str:
    """Return a table whose first column names its rows; in tables of ``numbers``, all else is a number.

    In tables of ``numbers named`` the second column has names too. There, and in the first column of
    ``numbers long``, names may take several lines; with ``wrapped``, so may those at the top.
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
    # Tables that scroll sideways must be reachable by keyboard.
    return (
        f'<div class="wide" tabindex="0"><table class="{kind}">{title}<thead><tr>{heads}</tr></thead>'
        f"<tbody>{filled}</tbody></table></div>"
    )


def text(value: object) -> str:
    """Return a value as text that is safe in HTML."""
    return escape(str(value))
