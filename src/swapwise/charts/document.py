"""The frame of all HTML pages: one file that opens without a network, light or dark, with charts inside.

The browser runs the one script whose fingerprint the page names, and no other: whatever the names of columns
hold, they stay text.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

from swapwise.charts.svg import MARGIN_STEP, MARGINS, definitions

_FOLDER = Path(__file__).parent
_STYLE = (_FOLDER / "page.css").read_text(encoding="utf-8") + "".join(
    f".left{step} {{ margin-left: {MARGIN_STEP * step}px; }}\n" for step in range(1, MARGINS + 1)
)
# What a pointer, the arrow keys and the buttons of legends do. Texts are set as text, never as HTML.
_SCRIPT = (_FOLDER / "page.js").read_text(encoding="utf-8")


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
