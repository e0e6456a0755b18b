"""Words that are nearly numbers: with a unit, with other signs, or written in several ways."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from swapwise.cli.reading.numerals import GROUPED

if TYPE_CHECKING:
    import pandas as pd

# A number, with one thing before or behind it that is none.
WITH_UNIT = r"^[+-]?([€$£¥]?)\s*[+-]?\d+(?:[.,'’ \u00a0\u202f]\d+)*\s*([^\d\s.,+\-:/][^:\s]{0,11})?$"

# What looks like the minus of the keyboard, and what accountants write instead.
OTHER_MINUS = re.compile(r"[\u2212\u2010-\u2014\ufe63\uff0d]\s*(?=[\d.,])")
BRACKETS = re.compile(r"\(\s*([^()+-]*\d[^()]*)\)")


def with_usual_sign(word: str) -> str:
    """Return a word with the minus that it probably means.

    >>> with_usual_sign("(1.5)"), with_usual_sign("\u22125"), with_usual_sign("Ulm (2)")
    ('-1.5', '-5', 'Ulm (2)')
    """
    return BRACKETS.sub(r"-\1", word) if BRACKETS.fullmatch(word) else OTHER_MINUS.sub("-", word, count=1)


def have_unit(words: pd.Series) -> pd.Series:
    """Tell which words are numbers with a unit, if most are and there is one unit; otherwise none is.

    >>> import pandas as pd
    >>> have_unit(pd.Series(["5 ppb", "6.5ppb", "?"])).tolist(), have_unit(pd.Series(["1st", "2nd"])).tolist()
    ([True, True, False], [False, False])
    """
    parts = words.str.extract(WITH_UNIT).fillna("")
    units = parts[0] + parts[1]
    found = units != ""
    return found & (units[found].nunique() == 1 and 2 * found.sum() >= len(words))


def two_ways(words: pd.Series) -> pd.Series:
    """Return one word for each of the ways in which points and commas are used, if there are several.

    >>> import pandas as pd
    >>> two_ways(pd.Series(["1.234", "943", "3.5"])).tolist()
    ['1.234', '3.5']
    """
    marked = words[words.str.contains("[.,]")]
    last = marked.str.extract(r"([.,])[^.,]*$")[0]
    first_of_kind = ~last.mask(marked.str.fullmatch(GROUPED), "grouped").duplicated()
    return marked[first_of_kind] if first_of_kind.sum() > 1 else marked[:0]
