"""Tables in Markdown, to be read as they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def markdown(head: Sequence[str], lines: Mapping[str, Sequence[str]]) -> str:
    """Return a table; the first column names its lines.

    >>> print(markdown(["method", "share"], {"htp": ["0.9"]}))
    | method | share |
    |---|---|
    | htp | 0.9 |
    """
    rule = "|" + "---|" * len(head)
    rows = [head, *([name, *texts] for name, texts in lines.items())]
    first, *rest = ("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join([first, rule, *rest])
