"""The chosen features: their coefficients by group, and the correlations between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from swapwise.checks import FloatArray, some_of
from swapwise.estimators.constraint_of import Elements
from swapwise.report.document import table
from swapwise.report.parts import GREY, MARKS, Part, as_table, chart, plotted, shown_name, tick

# Plots show at most this many features, those of the largest coefficients; tables have all.
MOST_DRAWN = 40

# Classes per table: more columns would be too wide for paper, and go into the next table.
MOST_CLASSES = 6

# For more features than this, the table lists pairs.
_LARGEST_MATRIX = 30

# Correlations are written into their cells where these are large enough, on a phone too.
_MOST_WRITTEN = 8

# Light enough at both ends for dark digits.
_COLOUR_SCALE = [[0, "#f0a27a"], [0.5, "#f7f7f7"], [1, "#6fb3de"]]

_OTHERS = "other groups"


class Chosen:
    """The chosen features, group by group, and those of larger coefficients first.

    >>> from swapwise import SparseRegressor
    >>> X = pd.DataFrame({"tea": [1.0, 2.0, 4.0, 3.0], "milk": [1.0, 1.0, 0.0, 0.0]})
    >>> Chosen(SparseRegressor(1).fit(X, X["tea"]), X, ["tea", "milk"], None).part().words
    '1 of 2 features was chosen.'
    """

    def __init__(self, model: Any, X: pd.DataFrame, names: list[str], group_of: list[Any] | None) -> None:
        self.model, self.X, self.names, self.group_of = model, X, names, group_of
        self.coef = np.atleast_2d(model.coef_)
        spread = np.zeros(len(names))
        spread[model.support_] = X.iloc[:, model.support_].to_numpy(float).std(axis=0)
        #: Coefficients in units of the features' standard deviations, which can be compared
        self.scaled: FloatArray = self.coef * spread
        self.size: FloatArray = self.scaled[0] if len(self.coef) == 1 else np.linalg.norm(self.scaled, axis=0)
        by_size = sorted(model.support_.tolist(), key=lambda feature: -abs(self.size[feature]))
        self.groups = list(dict.fromkeys(self.group(feature) for feature in by_size))
        place = {group: rank for rank, group in enumerate(self.groups)}
        self.features = sorted(by_size, key=lambda feature: place[self.group(feature)])
        drawn = set(by_size[:MOST_DRAWN])
        #: The features that plots have room for, in order
        self.drawn = [feature for feature in self.features if feature in drawn]

    def group(self, feature: int) -> str:
        """Return the group of a feature; all are in one if there are none."""
        return "" if self.group_of is None else shown_name(self.group_of[feature])

    def part(self) -> Part:
        """Return the coefficients as bars and as a table."""
        words = f"{len(self.features)} of {len(self.names)} features "
        words += "was chosen" if len(self.features) == 1 else "were chosen"
        if self.group_of is not None and self.features:
            all_groups = [self.group(feature) for feature in range(len(self.names))]
            mine = [self.group(feature) for feature in self.features]
            words += ": " + "; ".join(
                f"{mine.count(group)} of {all_groups.count(group)} of {group}" for group in self.groups
            )
        words += "." if self.features else ": no feasible feature improves the fit."
        if len(self.model.result_.filled):
            elements = Elements.of(self.model.groups, len(self.names), [str(name) for name in self.X.columns])
            words += f" {elements.filled_in_words(self.model.result_.filled)}."
        if len(self.model.result_.at_bound):
            held = some_of([shown_name(self.names[feature]) for feature in self.model.result_.at_bound])
            words += f" Coefficients at one of their bounds: {held}."
        if not self.features:
            return Part("chosen", "What was chosen", words)
        if len(self.features) > MOST_DRAWN:
            words += f" The {MOST_DRAWN} of the largest coefficients are drawn."
        classes = getattr(self.model, "classes_", [])
        if len(classes) == 2:
            no, yes = map(shown_name, classes)
            words += f" A positive coefficient speaks for {yes}, a negative one for {no}."
        if len(self.coef) > 1:
            words += " A bar is as long as the coefficients of all classes together, by their norm."
        named = 0 if self.group_of is None else min(len(self.groups), len(MARKS) + 1)
        height = 120 + 24 * len(self.drawn) + 16 * named
        return Part("chosen", "What was chosen", words, self._bars(), height, self._tables())

    def _tables(self) -> str:
        if len(self.coef) > 1:
            return self._tables_of_classes()
        numbers = np.stack([self.coef[0], self.scaled[0]])
        constant = f"{float(np.ravel(self.model.intercept_)[0]):.4g}"
        return (
            self._table(["coefficient", "per standard deviation"], numbers)
            + f'<p class="note">Intercept: {constant}.</p>'
        )

    def _tables_of_classes(self) -> str:
        """Return a table for every few classes: what was fitted, and folded away what can be compared."""
        names = [shown_name(name) for name in self.model.classes_]
        intercepts = np.broadcast_to(np.ravel(self.model.intercept_), len(names))
        plain, scaled = "", ""
        for first in range(0, len(names), MOST_CLASSES):
            some = slice(first, first + MOST_CLASSES)
            plain += self._table(names[some], self.coef[some], "Coefficients by class", intercepts[some])
            scaled += self._table(names[some], self.scaled[some], "Per standard deviation of the feature")
        folded = "The coefficients per standard deviation, which can be compared"
        return f"{plain}<details><summary>{folded}</summary>{scaled}</details>"

    def _table(
        self,
        head: Sequence[str],
        numbers: FloatArray,
        caption: str = "",
        intercepts: FloatArray | None = None,
    ) -> str:
        grouped = self.group_of is not None
        rows = [
            [self.names[f], *[self.group(f)] * grouped, *(f"{number:.4g}" for number in numbers[:, f])]
            for f in self.features
        ]
        if intercepts is not None:
            rows.append(["(intercept)", *[""] * grouped, *(f"{number:.4g}" for number in intercepts)])
        kind = "numbers named" if grouped else "numbers long"
        kind += " wrapped" if len(self.coef) > 1 else ""
        return table(["feature", *["group"] * grouped, *head], rows, kind, caption)

    def _bars(self) -> Any:
        coloured = self.groups[: len(MARKS)]
        traces = []
        for rank, name in enumerate([*coloured, _OTHERS]):
            mine = [
                (place, f)
                for place, f in enumerate(self.drawn)
                if (self.group(f) == name if rank < len(coloured) else self.group(f) not in coloured)
            ]
            if mine:
                traces.append(self._bars_of(mine, name, [*MARKS[: len(coloured)], GREY][rank]))
        across = {"title": {"text": "per standard deviation"}, "zeroline": True}
        return chart(traces, across, self._names_axis(), showlegend=self.group_of is not None)

    def _bars_of(self, placed: list[tuple[int, int]], name: str, colour: str) -> dict[str, Any]:
        of_group = "" if self.group_of is None else " ({})"
        hover = [
            plotted(self.names[f]) + of_group.format(plotted(self.group(f))) + f"<br>{self.size[f]:.4g}"
            for _, f in placed
        ]
        return {
            "type": "bar",
            "orientation": "h",
            "name": tick(name),
            "x": [float(self.size[f]) for _, f in placed],
            "y": [place for place, _ in placed],
            "marker": {"color": colour},
            "hovertext": hover,
            "hoverinfo": "text",
        }

    def _names_axis(self) -> dict[str, Any]:
        many = len(self.drawn)
        ticks = {"tickvals": list(range(many)), "ticktext": [tick(self.names[f]) for f in self.drawn]}
        return {**ticks, "range": [many - 0.5, -0.5], "showgrid": False, "ticks": ""}

    def correlation_part(self) -> Part:
        """Return the correlations between the chosen features."""
        title = "Correlation among the chosen"
        if len(self.drawn) < 2:
            return Part("correlation", title, "Fewer than two features were chosen.")
        values = self.X.iloc[:, self.drawn].astype(float)
        correlation = values.set_axis(range(len(self.drawn)), axis=1).corr().to_numpy()
        names = [self.names[feature] for feature in self.drawn]
        words = _strongest(correlation, names)
        if len(self.features) > len(self.drawn):
            words = f"Of the {MOST_DRAWN} that have the largest coefficients. {words}"
        upwards = self._names_axis()
        across = {**upwards, "range": [-0.5, len(names) - 0.5], "tickangle": -45}
        figure = chart([_heatmap(correlation, names)], across, upwards)
        height = max(200 + 26 * len(names), 340)
        return Part("correlation", title, words, figure, height, _correlation_table(correlation, names))


def _heatmap(correlation: FloatArray, names: list[str]) -> dict[str, Any]:
    hover = [
        [f"{plotted(a)}<br>{plotted(b)}<br>{correlation[i, j]:.3f}" for j, b in enumerate(names)]
        for i, a in enumerate(names)
    ]
    return {
        "type": "heatmap",
        "z": correlation.round(4).tolist(),
        "zmin": -1,
        "zmax": 1,
        "colorscale": _COLOUR_SCALE,
        "textfont": {"color": "#1b1f24"},
        "hovertext": hover,
        "hoverinfo": "text",
        "texttemplate": "%{z:.2f}" if len(names) <= _MOST_WRITTEN else "",
        "colorbar": {"thickness": 12, "outlinewidth": 0},
    }


def _by_strength(correlation: FloatArray) -> list[tuple[int, int]]:
    """Return the pairs that have a correlation, the strongest first."""
    pairs = [pair for pair in combinations(range(len(correlation)), 2) if np.isfinite(correlation[pair])]
    return sorted(pairs, key=lambda pair: -abs(correlation[pair]))


def _strongest(correlation: FloatArray, names: list[str]) -> str:
    pairs = _by_strength(correlation)
    if not pairs:
        return "Constant features have no correlation."
    i, j = pairs[0]
    return f"The strongest is {correlation[i, j]:.2f}, of {names[i]} and {names[j]}."


def _correlation_table(correlation: FloatArray, names: list[str]) -> str:
    """Return all of them if they are few, with numbers for names at the top; else the strongest pairs."""
    if len(names) > _LARGEST_MATRIX:
        pairs = _by_strength(correlation)[:_LARGEST_MATRIX]
        rows = [[names[i], names[j], f"{correlation[i, j]:.3f}"] for i, j in pairs]
        summary = f"The {len(rows)} strongest as a table"
        return as_table(["feature", "and", "correlation"], rows, "numbers named", summary)
    head = ["feature", *(str(number) for number in range(1, len(names) + 1))]
    rows = [
        [f"{number}. {name}", *("–" if np.isnan(one) else f"{one:.2f}" for one in line)]
        for number, (name, line) in enumerate(zip(names, correlation, strict=True), 1)
    ]
    return as_table(head, rows, "numbers long matrix" if len(names) > _MOST_WRITTEN else "numbers long")
