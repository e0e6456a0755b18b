"""The fit of graphs over the number of their edges, for a page's words and for charts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.app.report.parts import criterion_of
from swapwise.charts.frames import require_columns
from swapwise.checks import FloatArray
from swapwise.graphs.pictures.words import counted

#: Columns of a path by criterion, in the order in which a frame without an estimator is looked through.
GRAPH_CRITERIA = {"ebic": "ebic", "bic": "bic", "cv": "score_mean", "log_likelihood": "log_likelihood"}


@dataclass(frozen=True)
class EdgePath:
    """A criterion over the number of edges, its standard errors if it has any, and which row was chosen."""

    criterion: str
    label: str
    n_edges: list[int]
    values: FloatArray
    error: FloatArray | None
    chosen: int | None
    #: What chose it, if that is known
    chosen_by: str | None
    near: float | None

    @property
    def large_is_good(self) -> bool:
        return self.criterion in ("cv", "log_likelihood")

    @property
    def view(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The limits of both axes: graphs that have too few edges by far are out of view.

        >>> import pandas as pd
        >>> from types import SimpleNamespace
        >>> frame = pd.DataFrame({"n_edges": [0, 1, 2, 3, 4], "bic": [900.0, 500.0, 40.0, 30.0, 35.0]})
        >>> edge_path(SimpleNamespace(path_=frame, criterion="bic", n_edges_=3)).view
        ((1.5, 4.5), (29.2, 40.8))
        """
        sizes = np.array(self.n_edges)
        size = sizes[self._best() if self.chosen is None else self.chosen]
        error = np.zeros(len(self.values)) if self.error is None else np.nan_to_num(self.error)
        rows = 3 * sizes >= 2 * size
        low, high = np.nanmin((self.values - error)[rows]), np.nanmax((self.values + error)[rows])
        spare = 0.08 * (high - low) or 1.0
        across = float(sizes[2 * sizes >= size].min()) - 0.5, float(sizes.max()) + 0.5
        return across, (float(low - spare), float(high + spare))

    def _best(self) -> int:
        return int(np.nanargmax(self.values) if self.large_is_good else np.nanargmin(self.values))

    @property
    def runner_up(self) -> int | None:
        """The row that would be best without the chosen one, if there are two."""
        others = [
            row for row in range(len(self.values)) if row != self.chosen and np.isfinite(self.values[row])
        ]
        sign = -1.0 if self.large_is_good else 1.0
        return min(others, key=lambda row: sign * self.values[row], default=None)

    def words(self) -> str:
        """Return why this number of edges was chosen, and which comes next."""
        assert self.chosen is not None
        tried = f"Of the graphs with {min(self.n_edges)} to {max(self.n_edges)} edges"
        best = "highest" if self.large_is_good else "lowest"
        edges, value = counted(self.n_edges[self.chosen], "edge"), self.values[self.chosen]
        if self.near is not None:
            why = f"the one with {edges} is the smallest within one standard error of the {best} {self.label}"
            return f"{tried}, {why}."
        if self.chosen != self._best():
            return f"{tried}, the one with {edges} was chosen; its {self.label} is {value:.6g}."
        words = f"{tried}, the one with {edges} has the {best} {self.label}, {value:.6g}."
        if self.runner_up is None:
            return words
        apart = abs(self.values[self.runner_up] - value)
        side = "lower" if self.large_is_good else "higher"
        unsure = ": the data hardly tell the two apart" * bool(apart < self._clear_difference())
        next_one = counted(self.n_edges[self.runner_up], "edge")
        return f"{words} Next is the one with {next_one}, {apart:.3g} {side}{unsure}."

    def _clear_difference(self) -> float:
        """Return the difference below which two graphs are as good: 2, or the standard error of the score."""
        if self.error is None or self.chosen is None:
            return 0.0 if self.large_is_good else 2.0
        return float(self.error[self.chosen])


def edge_path(model: Any, criterion: str | None = None) -> EdgePath:
    """Return the path of a fitted estimator, or a frame like it, by one criterion."""
    frame = getattr(model, "path_", model)
    require_columns(frame, "model", ["n_edges"], "the path_ of an IsingGraphCV")
    frame = frame.sort_values("n_edges", kind="stable")
    by = getattr(model, "criterion", None)
    name = criterion_of(frame, GRAPH_CRITERIA, criterion, by, "the path of graphs")
    values = frame[GRAPH_CRITERIA[name]].to_numpy(dtype=float)
    error = frame["score_se"].to_numpy(dtype=float) if name == "cv" and "score_se" in frame else None
    sizes = [int(size) for size in frame["n_edges"]]
    size = getattr(model, "n_edges_", None)
    near = None
    if name == "cv" and getattr(model, "one_standard_error", False) and error is not None:
        best = int(np.nanargmax(values))
        near = float(values[best] - error[best]) if np.isfinite(error[best]) else None
    chosen = sizes.index(int(size)) if size is not None and int(size) in sizes else None
    return EdgePath(name, _label(model, name), sizes, values, error, chosen, by, near)


def _label(model: Any, criterion: str) -> str:
    if criterion == "cv":
        return "held-out score"
    if criterion == "log_likelihood":
        return "log-likelihood"
    gamma = getattr(model, "gamma", None) if criterion == "ebic" else None
    return criterion.upper() + ("" if gamma is None else f" (γ = {gamma:g})")
