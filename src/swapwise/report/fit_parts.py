"""How well models fit over the size of the answer, and which one was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swapwise.report.facts import loss_name
from swapwise.report.parts import MARKS, SYMBOLS, Part, as_table, chart, points, ring
from swapwise.report.plots import CRITERIA


@dataclass(frozen=True)
class Line:
    """Numbers over a size, with their standard errors (or None) and a name that plotly may read.

    >>> Line("all sizes", [1, 2], [4.0, 3.0], None).name
    'all sizes'
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None


def path_part(model: Any) -> Part:
    """Return how good the answers of all sizes are, and the one that was chosen.

    >>> from swapwise import SparseRegressor
    >>> path_part(SparseRegressor(3)).words
    'One size was asked for. Several are compared by swapwise select --path 1:20, and in Python by
    SparseRegressorCV.'
    """
    title = "Fit against size"
    path = getattr(model, "path_", None)
    if path is None:
        several = f"swapwise select --path 1:20, and in Python by {type(model).__name__}CV"
        return Part("path", title, f"One size was asked for. Several are compared by {several}.")
    path, by = path.sort_values("size"), model.criterion_
    what = f"cross-validated {loss_name(model)}" if by == "cv" else by.upper()
    y = path[CRITERIA[by]].to_numpy(float)
    line = Line(
        "all sizes", path["size"].tolist(), y.tolist(), path["cv_se"].tolist() if by == "cv" else None
    )
    unit = "capacity" if model.along == "capacity" else "size"
    least, most = path["size"].min(), path["size"].max()
    figure = line_chart([line], (model.size_, y[path["size"] == model.size_][0]), unit, what)
    tried = f"{len(path)} sizes, from {least} to {most}"
    words = f"Of {tried}, {unit} {model.size_} was chosen, by {what}: small is good."
    columns = [name for name in ("n_features", CRITERIA[by], "cv_se", "value") if name in path]
    return Part("path", title, words, figure, below=_path_table(path, ["size", *columns]))


def _path_table(path: pd.DataFrame, columns: list[str]) -> str:
    rows = [[f"{float(value):.6g}" for value in row] for row in path[columns].to_numpy()]
    return as_table([name.replace("_", " ") for name in columns], rows)


def line_chart(lines: Sequence[Line], chosen: tuple[float, float], across: str, upwards: str) -> Any:
    """Return lines with bars of one standard error, and a ring around the chosen point.

    >>> figure = line_chart([Line("all", [1, 2], [4.0, 3.0], None)], (2, 3.0), "size", "loss")
    >>> [trace.name for trace in figure.data]
    ['all', 'chosen']
    """
    traces = []
    for rank, line in enumerate(lines):
        error = np.zeros(len(line.x)) if line.error is None else np.nan_to_num(np.asarray(line.error, float))
        hover = [
            f"{line.name}<br>{across} {x:g}: {y:.5g}" + (f" ± {e:.2g}" if e > 0 else "")
            for x, y, e in zip(line.x, line.y, error, strict=True)
        ]
        colour, symbol = MARKS[rank % len(MARKS)], SYMBOLS[rank % len(SYMBOLS)]
        bars = {
            "type": "data",
            "array": error.tolist(),
            "thickness": 1,
            "width": 3,
            "visible": bool(error.any()),
        }
        look = {"marker": {"symbol": symbol, "color": colour, "size": 8}, "error_y": bars}
        traces.append(points(line.x, line.y, hover, line.name, colour, mode="lines+markers", **look))
    x_axis: dict[str, Any] = {"title": {"text": across}}
    x_axis |= {"dtick": 1} if max(len(line.x) for line in lines) <= 15 else {}
    return chart([*traces, ring(*chosen, "chosen")], x_axis, {"title": {"text": upwards}})
