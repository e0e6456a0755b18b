"""What pages about one answer are made of: parts with words, a plot and a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

import pandas as pd

from swapwise.report.document import document, section, table, text

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: How plots look on any ground, before titles and traces.
LOOKS: dict[str, Any] = {
    "template": "none",
    "font": {"family": "system-ui, sans-serif", "size": 13},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "#808890", "activecolor": "#808890"},
}
AXIS: dict[str, Any] = {
    "gridcolor": "rgba(128,128,128,0.25)",
    "zeroline": False,
    "showline": True,
    "ticks": "outside",
}

#: What is drawn on the ground must be seen on white and on black: all have a contrast of 3 to either.
GREY = "#808890"
MARKS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#A67C00", "#9A6FD0")

#: Colours are not all that tells lines apart.
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "cross")

# Letters of a name that a tick has room for on a phone.
_LONGEST = 22

# Letters that are written from right to left, and what turns the direction of others.
_OTHER_WAY = {"R", "AL", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI"}


@dataclass(frozen=True)
class Part:
    """A section of a page: ``words`` above a plot, and what is HTML already below it.

    ``pointing`` is said of the plot to those who have a mouse, not on paper.

    >>> print(Part("why", "Why", "Because 1 < 2.").html())
    <section id="why" aria-labelledby="why-heading"><h2 id="why-heading">Why</h2>
    <p>Because 1 &lt; 2.</p>
    </section>
    """

    name: str
    heading: str
    words: str
    figure: Figure | None = None
    height: int = 380
    below: str = ""
    pointing: str = ""

    def html(self) -> str:
        """Return the section; its plot is drawn by the script of the page."""
        if self.figure is None:
            content = f"<p>{text(self.words)}</p>" if self.words else ""
        else:
            hint = f' <span class="pointing">{text(self.pointing)}</span>' if self.pointing else ""
            # A group, not an image: it has buttons, which those who cannot see it may come to.
            told = (
                f'role="group" aria-label="Chart: {text(self.heading)}" aria-describedby="{self.name}-words"'
            )
            plot = f'<div class="plot" id="plot-{self.name}" style="--height: {self.height}px" {told}></div>'
            content = f'<p id="{self.name}-words">{text(self.words)}{hint}</p>'
            content += f'\n<figure id="panel-{self.name}">{plot}</figure>'
        return section(self.name, text(self.heading), f"{content}\n{self.below}".strip())


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
        f'<nav aria-label="Parts of this page">{links}</nav>',
        "<noscript><p>The plots need JavaScript; the tables do not.</p></noscript></header><main>",
        *(part.html() for part in parts),
        "</main>",
    ]
    return document(title, "\n".join(body), {part.name: part.figure for part in parts if part.figure})


def asked_part(asked: Mapping[str, str] | None, facts: Mapping[str, object], seconds: float | None) -> Part:
    """Return what was asked for, and on what it ran; a fact that is None is left out.

    >>> "<td>0.2 seconds</td>" in asked_part({"size": "3"}, {"samples": 40}, 0.2).below
    True
    """
    if asked is not None and not isinstance(asked, Mapping):
        raise TypeError(f"asked must be a dict of strings, got {asked!r}")
    took = None if seconds is None else f"{seconds:.3g} seconds"
    lines = {**(asked or {}), **facts, "time": took}
    shown = [[name, str(value)] for name, value in lines.items() if value is not None]
    return Part("asked", "What was asked", "", below=table(["what", "value"], shown, "asked"))


def require_data(model: Any, X: Any) -> None:
    """Raise an error that says what is wrong, unless the model is fitted and X a frame such as fit was given.

    >>> from swapwise import SparseRegressor
    >>> require_data(SparseRegressor(1).fit([[1, 2], [3, 5], [4, 4]], [1, 2, 3]), pd.DataFrame({"a": [1]}))
    Traceback (most recent call last):
    ...
    ValueError: X must have the 2 columns of fit, got 1
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    if not isinstance(X, pd.DataFrame):
        raise TypeError(f"X must be a pandas.DataFrame, got {type(X).__name__}")
    if X.shape[1] != model.n_features_in_:
        raise ValueError(f"X must have the {model.n_features_in_} columns of fit, got {X.shape[1]}")


def chart(traces: Sequence[Any], across: Any, upwards: Any, **layout: Any) -> Figure:
    """Return a plot with the looks of all plots, for two axes as plotly describes them.

    >>> chart([], {"title": "size"}, {"title": "loss"}).layout.xaxis.title.text
    'size'
    """
    import plotly.graph_objects as go

    above = {"orientation": "h", "x": 0, "y": 1.0, "yanchor": "bottom", "xanchor": "left"}
    return go.Figure(
        list(traces),
        {
            **LOOKS,
            "margin": {"l": 64, "r": 16, "t": 56, "b": 52},
            "xaxis": {**AXIS, "automargin": True, **across},
            "yaxis": {**AXIS, "automargin": True, **upwards},
            "legend": above,
            **layout,
        },
    )


def points(
    x: Iterable[float], y: Iterable[float], hover: Iterable[str], name: str, colour: str, **more: Any
) -> dict[str, Any]:
    """Return a trace of points that tell about themselves; ``hover`` and ``name`` are plotly's text.

    >>> points([1], [2], ["one"], "all", "#000000")["mode"]
    'markers'
    """
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [float(one) for one in x],
        "y": [float(one) for one in y],
        "marker": {"color": colour, "size": 8},
        "hovertext": list(hover),
        "hoverinfo": "text",
        **more,
    }


def ring(x: float, y: float, name: str) -> dict[str, Any]:
    """Return a ring around the point that was chosen.

    >>> ring(1, 2, "chosen")["marker"]["symbol"]
    'circle-open'
    """
    look = {"symbol": "circle-open", "size": 18, "color": GREY, "line": {"width": 3}}
    return points([x], [y], [name], name, GREY, marker=look, hoverinfo="skip")


def plotted(name: object) -> str:
    """Return what shows a name in a plot: plotly takes tags in a text for its own.

    >>> plotted("<b>sugar & spice</b>")
    '&lt;b&gt;sugar &amp; spice&lt;/b&gt;'
    """
    return escape(str(name), quote=False)


def tick(name: object, longest: int = _LONGEST) -> str:
    """Return what shows a name where there is little room, by default at an axis.

    >>> tick("the colour of the third door on the left")
    'the colour …n the left'
    """
    return plotted(shortened(name, longest))


def shortened(name: object, longest: int) -> str:
    """Return a name of so many letters at most, without its middle: many differ in their last letters alone.

    >>> shortened("the third door", 9)
    'the …door'
    """
    whole = str(name)
    ahead, behind = (longest - 1) // 2 + (longest - 1) % 2, (longest - 1) // 2
    return whole if len(whole) <= longest else f"{whole[:ahead]}…{whole[-behind:]}"


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
    """Return the numbers of a plot as a table that is folded away.

    >>> as_table(["size"], [["1"]]).startswith("<details><summary>")
    True
    """
    return f"<details><summary>{text(summary)}</summary>{table(head, lines, kind)}</details>"
