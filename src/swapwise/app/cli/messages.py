"""Messages about tables: a problem with its advice, lists of names, close matches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from swapwise.checks import some_of


@dataclass(frozen=True)
class Diagnostic:
    """A problem with a column or a table, what to do about it, and the options that would help."""

    fact: str
    advice: str
    #: The columns that ``--force-out`` would leave out
    leave_out: tuple[str, ...] = ()
    #: Another option that solves the problem
    option: str = ""
    #: An option that settles how to read the column, which only the user can decide
    decide: str = ""

    @property
    def message(self) -> str:
        return f"{self.fact}; {self.advice}"


def hint(name: str, known: Iterable[str]) -> str:
    """Return the known name that is closest to an unknown one, as the end of a message."""
    names = list(known)
    alike = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    close = alike or get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def quoted(names: Iterable[str]) -> str:
    """Quote the first few names, and count the others."""
    return some_of([repr(name) for name in names])
