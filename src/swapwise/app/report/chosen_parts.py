"""The chosen features: their coefficients by group, and the correlations between them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from swapwise.app.report.parts import PagePart, as_table, columns_in_words, listed, shown_name, significant
from swapwise.charts.chart import COLOURS, GREY, Axis, Bars, Chart, Tiles, names_axis
from swapwise.charts.document import table
from swapwise.charts.svg import LONGEST, in_lines, row_height
from swapwise.checks import FloatArray, some_of
from swapwise.estimators.ground_set import GroundSet

# Charts show at most this many features, those of the largest coefficients; tables have all.
MOST_DRAWN = 40

# Classes per table: more columns would be too wide for paper, and go into the next table.
MOST_CLASSES = 6

# For more features than this, the table lists pairs.
_LARGEST_MATRIX = 30

# Correlations are written into their cells where these are large enough, on a phone too.
_MOST_WRITTEN = 8


class ChosenFeatures:
    """The chosen features, group by group, and those of larger coefficients first."""

    def __init__(self, model: Any, names: list[str], group_of: list[Any] | None) -> None:
        self.model, self.names, self.group_of = model, names, group_of
        self.coef = np.atleast_2d(model.coef_)
        #: Coefficients in units of the features' standard deviations, which can be compared
        self.scaled: FloatArray = self.coef * model.feature_std_
        self.size: FloatArray = self.scaled[0] if len(self.coef) == 1 else np.linalg.norm(self.scaled, axis=0)
        labels = None if group_of is None else [self.group(feature) for feature in range(len(names))]
        self.support = SupportBars(model.support_, self.size, names, labels)
        by_size = self.support.by_size()
        self.groups = list(dict.fromkeys(self.group(feature) for feature in by_size))
        place = {group: rank for rank, group in enumerate(self.groups)}
        self.features = sorted(by_size, key=lambda feature: place[self.group(feature)])
        drawn = set(by_size[:MOST_DRAWN])
        #: The features that charts have room for, in order
        self.drawn = [feature for feature in self.features if feature in drawn]

    def group(self, feature: int) -> str:
        """Return the group of a feature; all are in one if there are none."""
        return "" if self.group_of is None else shown_name(self.group_of[feature])

    def part(self, facts: Mapping[str, object]) -> PagePart:
        """Return the answer: how many were chosen, the ``facts`` about the fit, and the coefficients."""
        above = listed(facts) if facts else ""
        if not self.features:
            is_path = hasattr(self.model, "path_")
            why = "the size that was chosen is 0" if is_path else "no feasible feature improves the fit"
            nothing = f"{self._count()}: {why}."
            return PagePart("chosen", "The answer", nothing, above=above)
        words = " ".join(filter(None, [f"{self._count()}{self._by_group()}.", *self._remarks()]))
        quantity = "coefficient per standard deviation of the feature"
        if len(self.coef) > 1:
            quantity = "norm over the classes of the coefficients per standard deviation"
        chart = self.support.chart(quantity, MOST_DRAWN, LONGEST)
        return PagePart("chosen", "The answer", words, chart, self._tables(), above)

    def _count(self) -> str:
        was = "was" if len(self.features) == 1 else "were"
        return f"{len(self.features)} of {len(self.names)} {columns_in_words(self.model)} {was} chosen"

    def _by_group(self) -> str:
        if self.group_of is None:
            return ""
        all_groups = [self.group(feature) for feature in range(len(self.names))]
        mine = [self.group(feature) for feature in self.features]
        # A group of one feature needs no count beside the feature's name.
        several = [group for group in self.groups if all_groups.count(group) > 1]
        counts = [f"{mine.count(group)} of {all_groups.count(group)} of {group}" for group in several]
        return f": {'; '.join(counts)}" if counts else ""

    def _remarks(self) -> list[str]:
        remarks, result, names = [], self.model.result_, getattr(self.model, "feature_names_in_", None)
        if len(result.filled):
            known = None if names is None else [str(name) for name in names]
            elements = GroundSet.of(self.model.groups, len(self.names), known)
            remarks.append(f"{elements.filled_in_words(result.filled)}.")
        if len(result.at_bound):
            held = some_of([self.names[feature] for feature in result.at_bound])
            remarks.append(f"Coefficients at one of their bounds: {held}.")
        if len(self.features) > MOST_DRAWN:
            remarks.append(f"The {MOST_DRAWN} of the largest coefficients are drawn.")
        classes = getattr(self.model, "classes_", [])
        if len(classes) == 2:
            no, yes = map(shown_name, classes)
            remarks.append(f"A positive coefficient speaks for {yes}, a negative one for {no}.")
        if len(self.coef) > 1:
            remarks.append("A bar is as long as the coefficients of all classes together, by their norm.")
        return remarks

    def _tables(self) -> str:
        if len(self.coef) > 1:
            return self._tables_of_classes()
        numbers = np.stack([self.coef[0], self.scaled[0]])
        constant = significant(float(np.ravel(self.model.intercept_)[0]))
        return (
            self._table(["coefficient", "per standard deviation"], numbers)
            + f'<p class="note">Intercept: {constant}.</p>'
        )

    def _tables_of_classes(self) -> str:
        """Return a table for every few classes: coefficients, and folded away those that can be compared."""
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
            [self.names[f], *[self.group(f)] * grouped, *(significant(number) for number in numbers[:, f])]
            for f in self.features
        ]
        if intercepts is not None:
            rows.append(["(intercept)", *[""] * grouped, *(significant(number) for number in intercepts)])
        kind = "numbers named" if grouped else "numbers long"
        kind += " wrapped" if len(self.coef) > 1 else ""
        return table(["feature", *["group"] * grouped, *head], rows, kind, caption)

    def correlation_parts(self, X: pd.DataFrame, sample_weight: FloatArray | None = None) -> list[PagePart]:
        """Return the correlations between the chosen features, if there are two."""
        if len(self.drawn) < 2:
            return []
        values = X.iloc[:, self.drawn].astype(float)
        correlation = _correlation(values.set_axis(range(len(self.drawn)), axis=1), sample_weight)
        names = [self.names[feature] for feature in self.drawn]
        words = _strongest(correlation, names)
        if len(self.features) > len(self.drawn):
            words = f"Of the {MOST_DRAWN} that have the largest coefficients. {words}"
        below = _correlation_table(correlation, names)
        return [
            PagePart("correlation", "Correlation among the chosen", words, _tiles(correlation, names), below)
        ]


def _correlation(values: pd.DataFrame, weight: FloatArray | None) -> FloatArray:
    """Return the (weighted) correlations; a constant column has none."""
    if weight is None:
        return values.corr().to_numpy()
    kept = values[weight > 0].to_numpy()
    covariance = np.cov(kept.T, aweights=weight[weight > 0])
    deviation = np.where(np.ptp(kept, axis=0) > 0, np.sqrt(np.diag(covariance)), np.nan)
    correlation: FloatArray = covariance / np.outer(deviation, deviation)
    return correlation


def _tiles(correlation: FloatArray, names: list[str]) -> Chart:
    """Return the matrix, with names on one side and their numbers on the other."""
    written = [in_lines(f"{number}. {name}") for number, name in enumerate(names, 1)]
    hover = [
        [f"{a}\n{b}\ncorrelation {correlation[i, j]:.3f}" for j, b in enumerate(written)]
        for i, a in enumerate(written)
    ]
    # The matrix is symmetric: the lower half is enough.
    lower = np.where(np.tri(len(names), dtype=bool), correlation.round(2) + 0.0, np.nan)
    side = len(names) - 0.5
    upwards = {float(place): name for place, name in enumerate(written)}
    across = {place: str(int(place) + 1) for place in upwards}
    return Chart(
        Axis("", ticks=across, limits=(-0.5, side)),
        Axis("", ticks=upwards, limits=(side, -0.5)),
        (Tiles(lower.tolist(), hover, written=len(names) <= _MOST_WRITTEN),),
        height=max(34 * len(names), 120),
    )


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


@dataclass(frozen=True)
class SupportBars:
    """Chosen features with the sizes of their bars; ``label_of`` has the group of every feature, if any."""

    chosen: Any
    size: FloatArray
    names: Sequence[str]
    label_of: Sequence[Hashable] | None = None

    def by_size(self) -> list[int]:
        """Return the chosen features, those of the largest coefficients first."""
        order = np.argsort(-np.abs(self.size[self.chosen]), kind="stable")
        return [int(feature) for feature in np.asarray(self.chosen)[order]]

    def rows(self, top: int | None = None) -> list[tuple[int | None, str, int]]:
        """Return the rows of the chart: features, and headings (None) with the rank of their group."""
        shown = self.by_size()[:top]
        if self.label_of is None:
            return [(feature, self.names[feature], 0) for feature in shown]
        labels = list(self.label_of)
        rows: list[tuple[int | None, str, int]] = []
        for rank, label in enumerate(dict.fromkeys(labels[feature] for feature in shown)):
            count = sum(labels[feature] == label for feature in self.chosen)
            rows.append((None, f"{label}: {count} of {labels.count(label)} chosen", rank))
            rows.extend((f, self.names[f], rank) for f in shown if labels[f] == label)
        return rows

    def chart(self, quantity: str, top: int | None = None, longest: int | None = None) -> Chart:
        """Return a bar per feature, in the colour of its group, below the name of the group.

        Names that are longer than ``longest`` go on in a second line.
        """
        rows = self.rows(top)
        series = []
        for rank in dict.fromkeys(rank for _, _, rank in rows):
            mine = [
                (place, f, name) for place, (f, name, of) in enumerate(rows) if of == rank and f is not None
            ]
            values = [float(self.size[feature]) for _, feature, _ in mine]
            hover = [f"{name}\n{value:.4g}" for (_, _, name), value in zip(mine, values, strict=True)]
            colour = COLOURS[rank] if rank < len(COLOURS) else GREY
            places = [float(place) for place, _, _ in mine]
            series.append(Bars(places, [0.0] * len(mine), values, colour=colour, hover=hover))
        names = [name if longest is None else in_lines(name, longest) for _, name, _ in rows]
        headings = [place for place, (feature, _, _) in enumerate(rows) if feature is None]
        across = Axis(quantity, zero=True)
        height = 16 + row_height(names) * max(len(rows), 1)
        return Chart(across, names_axis(names, headings=headings), tuple(series), height=height)
