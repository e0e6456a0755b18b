"""Text made safe to print: names come from files, and a terminal obeys control characters."""

from __future__ import annotations

import os
import re
import sys

# Control characters other than line feeds, and those that change the direction of text.
OBEYED = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

# A word is a run without blanks, quotes and commas; no file has a longer name.
LONGEST_WORD = 300
TOO_LONG = re.compile(rf"[^\s,;'\"]{{{LONGEST_WORD + 1},}}")
LONGEST_LINE = 5000


def printable(text: str) -> str:
    r"""Escape control characters, and cut out the middle of endless words and lines.

    >>> print(printable("\x1b[31mred"), printable("a" * 1000), sep="\n")
    \x1b[31mred
    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…(1000 characters)…aaaaaaaaaaaaaaaaaaaa
    """
    shown = OBEYED.sub(lambda found: repr(found[0])[1:-1], text)
    shown = TOO_LONG.sub(lambda found: _shortened(found[0], 40, 20), shown)
    lines = shown.split("\n")
    long = LONGEST_LINE // 2
    return "\n".join(line if len(line) <= LONGEST_LINE else _shortened(line, long, long) for line in lines)


def printable_line(text: str) -> str:
    return printable(text.replace("\n", "\\n"))


def _shortened(text: str, begin: int, end: int) -> str:
    return f"{text[:begin]}…({len(text)} characters)…{text[-end:]}"


def open_closed_streams() -> None:
    """Open null streams for those that the shell has closed (``2>&-``).

    Python has None in their place, and the next file that is opened would get their numbers.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the program ends)
