"""Predictions of a model against the training data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from swapwise.app.report.facts import mean_and_deviation
from swapwise.app.report.parts import PagePart, as_table, shown_name
from swapwise.charts.chart import COLOURS, GREY, MARKERS, Axis, Chart, Curve
from swapwise.checks import FloatArray, IndexArray

# More points than this cannot be distinguished, and make the page slow.
MOST_POINTS = 1000

# Calibration: the number of bins of similar predictions, and the fewest samples per bin.
_BINS, _LEAST_IN_BIN = 10, 10


class _CalibrationBin(NamedTuple):
    """A bin of similar predictions: mean prediction, mean of the data, its standard error, sample count."""

    predicted: float
    seen: float
    error: float
    samples: int


def data_parts(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    offset: Any = None,
    sample_weight: FloatArray | None = None,
    where: str = "the training data",
) -> list[PagePart]:
    """Return residuals or calibration, as suits the kind of target.

    A model that was fitted with an offset has no part without that offset.
    """
    y, family = np.asarray(y), getattr(model, "family_", None)
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    if family is None:  # least squares
        return [_residuals(np.asarray(model.predict(X), float), y.astype(float), weight, where)]
    if offset is None and model._has_offset:
        return []
    shift = {} if offset is None else {"offset": offset}
    if family.outcome == "class":
        return [_class_calibration(model.classes_, model.predict_proba(X, **shift), y, weight, where)]
    predicted = np.asarray(model.predict(X, **shift), float)
    return [_mean_calibration(family.outcome, predicted, y.astype(float), weight, where)]


def _residuals(predicted: FloatArray, y: FloatArray, weight: FloatArray, where: str) -> PagePart:
    counted = np.flatnonzero(weight)
    residual = y - predicted
    ends, deviation = residual[counted], mean_and_deviation(residual, weight)[1]
    words = (
        f"The data minus the prediction; a good model leaves no pattern. On {where}, from "
        f"{ends.min():.4g} to {ends.max():.4g}, with a standard deviation of {deviation:.4g}."
    )
    rows = counted
    if len(rows) > MOST_POINTS:
        rows = counted[np.linspace(0, len(counted) - 1, MOST_POINTS).astype(int)]
        words += f" {MOST_POINTS} of {len(counted)} samples are drawn."
    hover = [f"row {n}\npredicted {predicted[n]:.5g}\nresidual {residual[n]:.4g}" for n in rows]
    look: dict[str, Any] = {"dash": None, "marker": "circle", "size": 6, "hover": hover}
    chart = Chart(
        Axis("predicted target"),
        Axis("residual: target − predicted", zero=True),
        (Curve(predicted[rows].tolist(), residual[rows].tolist(), **look),),
    )
    head = ["predicted from", "to", "samples", "mean residual", "standard deviation", "least", "largest"]
    lines = []
    for some in _bins_of_similar(predicted, weight):
        mine = residual[some]
        numbers = (*mean_and_deviation(mine, weight[some]), mine.min(), mine.max())
        span = predicted[some].min(), predicted[some].max()
        lines.append([*(f"{x:.5g}" for x in span), str(len(some)), *(f"{x:.4g}" for x in numbers)])
    below = as_table(head, lines, "numbers long", "By bins of similar predictions, as a table")
    return PagePart("fit", "Residuals", words, chart, below)


def _class_calibration(
    names: Any, probability: FloatArray, y: Any, weight: FloatArray, where: str
) -> PagePart:
    classes = list(enumerate(names))
    # The curve of one of two classes determines that of the other.
    curves = {
        shown_name(name): _calibrated(probability[:, rank], (y == name).astype(float), weight)
        for rank, name in (classes[1:] if len(classes) == 2 else classes)
    }
    words = "Bins of similar predicted probability: the mean prediction against the observed frequency."
    labels = ("class", "predicted probability", "share in the data")
    return _calibration(curves, f"{words} On {where}.", labels)


def _mean_calibration(
    outcome: str, predicted: FloatArray, y: FloatArray, weight: FloatArray, where: str
) -> PagePart:
    curves = {f"{outcome}s": _calibrated(predicted, y, weight)}
    words = f"Bins of similar expected {outcome}s: the mean prediction against the observed mean."
    labels = ("what", f"expected {outcome}", f"mean {outcome} in the data")
    return _calibration(curves, f"{words} On {where}.", labels)


def _bins_of_similar(predicted: FloatArray, weight: FloatArray) -> list[IndexArray]:
    """Return bins of similar predictions, with nearly equal numbers of samples that have a weight."""
    counted = np.flatnonzero(weight)
    n_bins = max(1, min(_BINS, len(counted) // _LEAST_IN_BIN))
    return np.array_split(counted[np.argsort(predicted[counted], kind="stable")], n_bins)


def _calibrated(predicted: FloatArray, seen: FloatArray, weight: FloatArray) -> list[_CalibrationBin]:
    bins = []
    for some in _bins_of_similar(predicted, weight):
        mine = weight[some]
        mean, deviation = mean_and_deviation(seen[some], mine)
        error = deviation * float(np.linalg.norm(mine) / mine.sum())  # over the root of n, if all are equal
        bins.append(_CalibrationBin(float(np.average(predicted[some], weights=mine)), mean, error, len(some)))
    return bins


def _calibration(
    curves: dict[str, list[_CalibrationBin]], words: str, labels: tuple[str, str, str]
) -> PagePart:
    """Return the curves of the most frequent classes, as many as there are colours, and a table of all."""
    what, across, upwards = labels
    named = [(name, one) for name, bins in curves.items() for one in bins]
    worst, at = max(named, key=lambda pair: abs(pair[1].seen - pair[1].predicted))
    words += f" They differ most where {at.predicted:.3g} was predicted and {at.seen:.3g} was observed"
    words += f", of {worst}." if len(curves) > 1 else "."
    frequent = sorted(curves, key=lambda name: -sum(one.seen * one.samples for one in curves[name]))
    drawn = [name for name in curves if name in frequent[: len(COLOURS)]]
    if len(drawn) < len(curves):
        words += f" The {len(drawn)} most frequent of {len(curves)} classes are drawn."
    series = [
        _identity_line(curves, drawn),
        *(_curve(name, curves[name], rank) for rank, name in enumerate(drawn)),
    ]
    chart = Chart(Axis(across), Axis(upwards), tuple(series))
    rows = [
        [name, f"{one.predicted:.4g}", f"{one.seen:.4g}", f"{one.error:.2g}", str(one.samples)]
        for name, one in named
    ]
    below = as_table([what, across, upwards, "standard error", "samples"], rows, "numbers long")
    return PagePart("fit", "Calibration", words, chart, below)


def _identity_line(curves: dict[str, list[_CalibrationBin]], drawn: list[str]) -> Curve:
    """Return the line on which predictions equal the data."""
    ends = [value for name in drawn for one in curves[name] for value in (one.predicted, one.seen)]
    line = [min(ends), max(ends)]
    return Curve(line, line, "as predicted", GREY, dash="dot")


def _curve(name: str, bins: list[_CalibrationBin], rank: int) -> Curve:
    hover = [
        f"{name}\npredicted {one.predicted:.4g}\ndata {one.seen:.4g} ± {one.error:.2g}\n{one.samples} samples"
        for one in bins
    ]
    return Curve(
        [one.predicted for one in bins],
        [one.seen for one in bins],
        name,
        COLOURS[rank],
        marker=MARKERS[rank],
        low=[one.seen - one.error for one in bins],
        high=[one.seen + one.error for one in bins],
        hover=hover,
    )
