"""How well a model fits: over the size of the answer, and on the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from swapwise.checks import FloatArray
from swapwise.estimators.classifier import SparseClassifier
from swapwise.estimators.poisson import SparsePoissonRegressor
from swapwise.report.axes import COLOURS
from swapwise.report.parts import GREY, Part, as_table, chart, plotted, points, ring
from swapwise.report.plots import CRITERIA, LOSSES

# More points than this are no longer told apart, and make the page slow.
MOST_POINTS = 2000

_BINS, _LEAST_IN_BIN = 10, 10


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
    'One size was asked for; SparseRegressorCV compares several.'
    """
    title = "Fit against size"
    path = getattr(model, "path_", None)
    if path is None:
        words = f"One size was asked for; {type(model).__name__}CV compares several."
        return Part("path", title, words)
    path, by = path.sort_values("size"), model.criterion
    what = f"cross-validated {LOSSES.get(type(model).__name__, 'loss')}" if by == "cv" else by.upper()
    y = path[CRITERIA[by]].to_numpy(float)
    line = Line(
        "all sizes", path["size"].tolist(), y.tolist(), path["cv_se"].tolist() if by == "cv" else None
    )
    unit = "capacity" if model.along == "capacity" else "size"
    figure = line_chart([line], (model.size_, y[path["size"] == model.size_][0]), unit, what)
    words = f"Of {len(path)} sizes, {unit} {model.size_} was chosen, by {what}: small is good."
    columns = [name for name in ("n_features", CRITERIA[by], "cv_se", "value") if name in path]
    return Part("path", title, words, figure, below=_path_table(path, ["size", *columns]))


def degree_part(model: Any) -> Part:
    """Return how good the graphs of all degrees and ridges are, and the one that was chosen.

    >>> from swapwise import IsingGraph
    >>> degree_part(IsingGraph(3)).words
    'One largest degree was asked for; IsingGraphCV compares several.'
    """
    title = "Fit against degree"
    path = getattr(model, "path_", None)
    if path is None:
        return Part("path", title, "One largest degree was asked for; IsingGraphCV compares several.")
    lines = [
        Line(
            f"ridge {ridge:g}",
            rows["max_degree"].tolist(),
            rows["score_mean"].tolist(),
            rows["score_se"].tolist(),
        )
        for ridge, rows in path.sort_values("max_degree").groupby("ridge")
    ]
    is_it = (path["max_degree"] == model.max_degree_) & (path["ridge"] == model.ridge_)
    chosen = (model.max_degree_, float(path.loc[is_it, "score_mean"].iloc[0]))
    figure = line_chart(lines, chosen, "largest degree", "held-out score")
    words = (
        f"Largest degree {model.max_degree_} and ridge {model.ridge_:g} were chosen by the held-out "
        "pseudo-log-likelihood: large is good."
    )
    return Part("path", title, words, figure, below=_path_table(path, list(path.columns)))


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
        colour = COLOURS[rank % len(COLOURS)]
        bars = {
            "type": "data",
            "array": error.tolist(),
            "thickness": 1,
            "width": 3,
            "visible": bool(error.any()),
        }
        traces.append(points(line.x, line.y, hover, line.name, colour, mode="lines+markers", error_y=bars))
    x_axis: dict[str, Any] = {"title": {"text": across}}
    x_axis |= {"dtick": 1} if max(len(line.x) for line in lines) <= 15 else {}
    return chart([*traces, ring(*chosen, "chosen")], x_axis, {"title": {"text": upwards}})


def data_part(model: Any, X: pd.DataFrame, y: Any) -> Part:
    """Return how the model's predictions compare with the data of fit, as suits the kind of target.

    >>> from swapwise import SparseRegressor
    >>> X = pd.DataFrame({"tea": [1.0, 2.0, 3.0, 5.0]})
    >>> data_part(SparseRegressor(1).fit(X, [1.0, 2.0, 3.0, 6.0]), X, [1.0, 2.0, 3.0, 6.0]).heading
    'Residuals'
    """
    y = np.asarray(y)
    if isinstance(model, SparseClassifier):
        return _class_calibration(model, X, y)
    if isinstance(model, SparsePoissonRegressor):
        return _count_calibration(model, X, y)
    predicted = np.asarray(model.predict(X), float)
    residual = y.astype(float) - predicted
    rows = np.arange(len(y))
    words = "What the data have beyond the prediction; a good model leaves no pattern. On the data of fit."
    if len(rows) > MOST_POINTS:
        rows = np.linspace(0, len(y) - 1, MOST_POINTS).astype(int)
        words += f" {MOST_POINTS} of {len(y)} samples are drawn."
    hover = [f"row {n}<br>predicted {predicted[n]:.5g}<br>residual {residual[n]:.4g}" for n in rows]
    look = {"color": COLOURS[0], "size": 6, "opacity": 0.8}
    trace = points(
        predicted[rows], residual[rows], hover, "samples", COLOURS[0], marker=look, showlegend=False
    )
    zero = {"zeroline": True, "zerolinecolor": GREY, "zerolinewidth": 2}
    figure = chart([trace], {"title": {"text": "predicted"}}, {"title": {"text": "data − predicted"}, **zero})
    return Part("fit", "Residuals", words, figure)


def _class_calibration(model: SparseClassifier, X: pd.DataFrame, y: Any) -> Part:
    probability = model.predict_proba(X)
    classes = list(enumerate(model.classes_))
    # Of two classes, the one says all of the other.
    curves = {
        str(name): _calibrated(probability[:, rank], (y == name).astype(float))
        for rank, name in (classes[1:] if len(classes) == 2 else classes)
    }
    words = "Samples of like predicted probability together: what was said, and how often it was so."
    figure = _calibration(curves, "predicted probability", "share in the data")
    return Part("fit", "Calibration", f"{words} On the data of fit.", figure)


def _count_calibration(model: SparsePoissonRegressor, X: pd.DataFrame, y: Any) -> Part:
    if model._has_offset:
        return Part("fit", "Calibration", "Not drawn: the model was fitted with an offset.")
    curves = {"counts": _calibrated(np.asarray(model.predict(X), float), y.astype(float))}
    words = "Samples of like expected counts together: what was expected, and the mean of what was counted."
    figure = _calibration(curves, "expected count", "mean count in the data")
    return Part("fit", "Calibration", f"{words} On the data of fit.", figure)


def _calibrated(predicted: FloatArray, seen: FloatArray) -> list[tuple[float, float, float, int]]:
    """Return mean prediction, mean of the data, its standard error and the number of samples of each bin."""
    n_bins = max(1, min(_BINS, len(seen) // _LEAST_IN_BIN))
    bins = np.array_split(np.argsort(predicted, kind="stable"), n_bins)
    return [
        (predicted[b].mean(), seen[b].mean(), float(seen[b].std() / np.sqrt(len(b))), len(b)) for b in bins
    ]


def _calibration(curves: dict[str, list[tuple[float, float, float, int]]], across: str, upwards: str) -> Any:
    traces: list[dict[str, Any]] = []
    for rank, (name, bins) in enumerate(curves.items()):
        x, y, error, _ = zip(*bins, strict=True)
        hover = [
            f"{plotted(name)}<br>predicted {p:.4g}<br>data {s:.4g} ± {e:.2g}<br>{k} samples"
            for p, s, e, k in bins
        ]
        bars = {"type": "data", "array": list(error), "thickness": 1, "width": 3}
        colour = COLOURS[rank % len(COLOURS)]
        traces.append(points(x, y, hover, plotted(name), colour, mode="lines+markers", error_y=bars))
    ends = [value for bins in curves.values() for p, s, *_ in bins for value in (p, s)]
    straight = {"dash": "dot", "color": GREY}
    line = [min(ends), max(ends)]
    just = points(line, line, ["", ""], "as predicted", GREY, mode="lines", line=straight, hoverinfo="skip")
    return chart([just, *traces], {"title": {"text": across}}, {"title": {"text": upwards}})
