"""The parts that pages about one answer are made of, each with words, a chart and a table."""

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

# Unicode's classes of letters written from right to left, and of marks that change the direction.
_OTHER_WAY = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"}


@dataclass(frozen=True)
class PagePart:
    """A section of a page: ``words`` above a chart, and HTML above and below it.

    ``pointing`` is a hint at the chart for those who have a mouse, not on paper; ``picture`` is a drawing
    that is no chart.
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
        hint = f' <span class="pointing">{text(self.pointing)}</span>' if self.pointing else ""
        words = f'<p id="{self.name}-words">{text(self.words)}{hint}</p>' if self.words else ""
        picture = self.picture
        if self.chart is not None:
            about = f"{self.name}-words" if self.words else ""
            picture = drawn(self.chart, f"Chart: {self.heading}", about)
        figure = f'<figure id="panel-{self.name}">{picture}</figure>' if picture else ""
        content = "\n".join(filter(None, [words, self.above, figure, self.below]))
        return section(self.name, text(self.heading), content)


def page_of(title: str, about: str, parts: Sequence[PagePart], notice: str = "") -> str:
    """Return a whole page with links to its parts, and an important notice above them, if there is one."""
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
    """Return facts as a list of names and values; one that is None is left out."""
    known = {name: value for name, value in facts.items() if value is not None}
    items = "".join(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in known.items())
    return f"<dl>{items}</dl>"


def settings_part(asked: Mapping[str, str] | None, facts: Mapping[str, object]) -> PagePart:
    """Return the user's settings and other facts as a table; a fact that is None is left out."""
    if asked is not None and not isinstance(asked, Mapping):
        raise TypeError(f"asked must be a dict of strings, got {asked!r}")
    lines = {**(asked or {}), **facts}
    shown = [[name, str(value)] for name, value in lines.items() if value is not None]
    return PagePart("settings", "Settings", "", below=table(["what", "value"], shown, "asked"))


def seconds_in_words(seconds: float | None) -> str | None:
    return None if seconds is None else f"{seconds:.3g} seconds"


def training_frame(model: Any, X: Any) -> pd.DataFrame | None:
    """Return the data of a fit as a frame of pandas, with names if fit saw any."""
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
    """Return "features", or "columns" if these are chosen in groups."""
    return "features" if model.groups is None else "columns"


def significant(number: float) -> str:
    """Return a number with four significant digits, zeros at the end included.

    >>> significant(3.64), significant(-327.61), significant(12345.6), significant(0.0)
    ('3.640', '-327.6', '1.235e+04', '0')
    """
    return f"{number:#.4g}".rstrip(".") if number else "0"


def shown_name(name: object) -> str:
    """Return a name as pages write it: a blank one as "(no name)", one that runs leftwards isolated."""
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
    """Return the numbers of a chart as a table that is folded away."""
    return f"<details><summary>{text(summary)}</summary>{table(head, lines, kind)}</details>"


def path_table(path: pd.DataFrame) -> str:
    rows = [[f"{float(value):.6g}" for value in row] for row in path.to_numpy()]
    return as_table([name.replace("_", " ") for name in path.columns], rows)


def criterion_of(
    frame: pd.DataFrame,
    columns: Mapping[str, str],
    wanted: str | None,
    usual: str | None = None,
    path: str = "the path",
) -> str:
    """Return the wanted criterion, or the usual one (of which an interrupt may have left nothing)."""
    there = [name for name, column in columns.items() if column in frame and frame[column].notna().any()]
    if wanted is None and there:
        return usual if usual in there else there[0]
    if wanted not in there:
        raise ValueError(
            f"criterion must be one that {path} has: {', '.join(there) or 'none'}; got {wanted!r}"
        )
    return wanted
