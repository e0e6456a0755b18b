"""Words that messages on tables have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

# Names in a message: more of them say no more.
MOST_NAMES = 5


def hint(name: str, known: Iterable[str]) -> str:
    """Return a name that may have been meant, to be added to a message.

    >>> hint("hieght", ["height", "age"])
    " (did you mean 'height'?)"
    >>> hint("age", ["weight", " AGE"])
    " (did you mean ' AGE'?)"
    """
    names = list(known)
    alike = [other for other in names if other.strip().casefold() == name.strip().casefold()]
    close = alike or get_close_matches(name, names, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def quoted(names: Iterable[str]) -> str:
    """Return the first of some names, in quotes, and how many more there are.

    >>> quoted(["a", "b c"])
    "'a', 'b c'"
    """
    return some_of([repr(name) for name in names])


def some_of(words: Sequence[str]) -> str:
    """Return the first of some words, and how many more there are.

    >>> some_of(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    more = len(words) - MOST_NAMES
    return ", ".join(words[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
