"""The coefficients of chosen features as bars, group by group."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.charts.chart import COLOURS, GREY, Axis, Bars, Chart, names_axis
from swapwise.charts.svg import in_lines, row_height
from swapwise.checks import FloatArray


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
