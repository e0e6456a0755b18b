"""What pages about one answer are made of: parts with words, a chart and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import bidirectional

import numpy as np
import pandas as pd

from swapwise.charts.chart import Chart
from swapwise.charts.document import document, section, table, text
from swapwise.charts.svg import drawn

# Letters that are written from right to left, and what turns the direction of others.
_OTHER_WAY = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"}


@dataclass(frozen=True)
class Part:
    """A section of a page: ``words`` above a chart, and what is HTML already above and below it.

    ``pointing`` is said of the chart to those who have a mouse, not on paper; ``picture`` is a drawing that
    is no chart.

    >>> print(Part("why", "Why", "Because 1 < 2.").html())
    <section id="why" aria-labelledby="why-heading"><h2 id="why-heading">Why</h2>
    <p id="why-words">Because 1 &lt; 2.</p>
    </section>
    """

    name: str
    heading: str
    words: str
    chart: Chart | None = None
    below: str = ""
    above: str = ""
    pointing: str = ""
    picture: str = ""

    def html(self) -> str:
        """Return the section."""
        hint = f' <span class="pointing">{text(self.pointing)}</span>' if self.pointing else ""
        words = f'<p id="{self.name}-words">{text(self.words)}{hint}</p>' if self.words else ""
        picture = self.picture
        if self.chart is not None:
            about = f"{self.name}-words" if self.words else ""
            picture = drawn(self.chart, f"Chart: {self.heading}", about)
        figure = f'<figure id="panel-{self.name}">{picture}</figure>' if picture else ""
        content = "\n".join(filter(None, [words, self.above, figure, self.below]))
        return section(self.name, text(self.heading), content)


def page_of(title: str, about: str, parts: Sequence[Part], notice: str = "") -> str:
    """Return a whole page with links to its parts, and an important notice above them, if there is one.

    >>> page = page_of("An answer", "of two words", [Part("why", "Why", "Because.")])
    >>> '<a href="#why">Why</a>' in page
    True
    """
    links = " ".join(f'<a href="#{part.name}">{text(part.heading)}</a>' for part in parts)
    body = [
        f'<header><h1>{text(title)}</h1><p class="note">{text(about)}</p>',
        f'<p class="incomplete">{text(notice)}</p>' if notice else "",
        f'<nav aria-label="Parts of this page">{links}</nav></header><main>',
        *(part.html() for part in parts),
        "</main>",
    ]
    return document(title, "\n".join(body))


def listed(facts: Mapping[str, object]) -> str:
    """Return facts as a list of names and values; one that is None is left out.

    >>> listed({"time": "2 seconds", "proof": None})
    '<dl><dt>time</dt><dd>2 seconds</dd></dl>'
    """
    known = {name: value for name, value in facts.items() if value is not None}
    said = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in known.items())
    return f"<dl>{said}</dl>"


def settings_part(asked: Mapping[str, str] | None, facts: Mapping[str, object]) -> Part:
    """Return what was asked for, and on what it ran; a fact that is None is left out.

    >>> "<td>40</td>" in settings_part({"size": "3"}, {"samples": 40}).below
    True
    """
    if asked is not None and not isinstance(asked, Mapping):
        raise TypeError(f"asked must be a dict of strings, got {asked!r}")
    lines = {**(asked or {}), **facts}
    shown = [[name, str(value)] for name, value in lines.items() if value is not None]
    return Part("settings", "Settings", "", below=table(["what", "value"], shown, "asked"))


def seconds_in_words(seconds: float | None) -> str | None:
    """Return how long something took, if that is known.

    >>> seconds_in_words(0.25), seconds_in_words(None)
    ('0.25 seconds', None)
    """
    return None if seconds is None else f"{seconds:.3g} seconds"


def training_frame(model: Any, X: Any) -> pd.DataFrame | None:
    """Return the data that a fitted model was given as a frame of pandas, with names if fit saw any.

    >>> from swapwise import SparseRegressor
    >>> model = SparseRegressor(1).fit([[1, 2], [3, 5], [4, 4]], [1, 2, 3])
    >>> training_frame(model, [[1, 2]]).shape
    (1, 2)
    >>> training_frame(model, pd.DataFrame({"a": [1]}))
    Traceback (most recent call last):
    ...
    ValueError: X must have the 2 columns of the training data, got 1
    """
    import narwhals.stable.v1 as nw
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if X is None:
        return None
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and not isinstance(X, pd.DataFrame):
        X = pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    elif not isinstance(X, pd.DataFrame):
        X = np.asarray(X)
        if X.ndim != 2 or X.dtype == object:
            raise TypeError("X must be the frame or the array that fit was given, got neither")
        names = getattr(model, "feature_names_in_", None)
        X = pd.DataFrame(X, columns=names if X.shape[1] == model.n_features_in_ else None)
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X must have the {model.n_features_in_} columns of the training data, got {X.shape[1]}"
        )
    return X


def columns_of(model: Any, X: pd.DataFrame | None) -> list[Any]:
    """Return the names of the columns: those of X, or those that fit saw; x0, x1, … if there are none."""
    if X is not None and not isinstance(X.columns, pd.RangeIndex):
        return list(X.columns)
    known = getattr(model, "feature_names_in_", None)
    return [f"x{k}" for k in range(model.n_features_in_)] if known is None else known.tolist()


def columns_in_words(model: Any) -> str:
    """Return what columns are called: features, unless these are chosen as groups of columns.

    >>> from swapwise import SparseRegressor
    >>> columns_in_words(SparseRegressor(1)), columns_in_words(SparseRegressor(1, groups=[0, 0, 1]))
    ('features', 'columns')
    """
    return "features" if model.groups is None else "columns"


def significant(number: float) -> str:
    """Return a number with four significant digits, zeros at the end included.

    >>> significant(3.64), significant(-327.61), significant(12345.6), significant(0.0)
    ('3.640', '-327.6', '1.235e+04', '0')
    """
    return f"{number:#.4g}".rstrip(".") if number else "0"


def shown_name(name: object) -> str:
    """Return a name as pages write it: a blank one says so, and one that runs leftwards turns nothing else.

    >>> shown_name("tea"), shown_name(" ")
    ('tea', '(no name)')
    """
    whole = str(name)
    if not whole.strip():
        return "(no name)"
    turns = any(bidirectional(letter) in _OTHER_WAY for letter in whole)
    return f"\u2068{whole}\u2069" if turns else whole


def as_table(
    head: Sequence[str],
    lines: Iterable[Sequence[str]],
    kind: str = "numbers",
    summary: str = "The same as a table",
) -> str:
    """Return the numbers of a chart as a table that is folded away.

    >>> as_table(["size"], [["1"]]).startswith("<details><summary>")
    True
    """
    return f"<details><summary>{text(summary)}</summary>{table(head, lines, kind)}</details>"
