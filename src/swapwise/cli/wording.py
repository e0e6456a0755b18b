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
    """
    close = get_close_matches(name, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def some_of(words: Sequence[str]) -> str:
    """Return the first of some words, and how many more there are.

    >>> some_of(list("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    more = len(words) - MOST_NAMES
    return ", ".join(words[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
