"""The fit of models over the size of the answer, and the size that was chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.app.report.facts import loss_name
from swapwise.app.report.parts import PagePart, criterion_of, path_table
from swapwise.charts.chart import FOUND, GREY, PROVEN, Axis, Chart, Curve, Rule, Series
from swapwise.charts.frames import require_columns

# In the order in which a frame without an estimator is looked through; "cv" has its mean and spread.
CRITERIA = {"cv": "cv_mean", "ebic": "ebic", "bic": "bic", "gic": "gic", "aic": "aic", "value": "value"}

NEAR = "one standard error from the best"


def path_parts(model: Any) -> list[PagePart]:
    """Return the fit over all sizes, and the one that was chosen, if several were compared."""
    if not hasattr(model, "path_"):
        return []
    path, by = model.path_.sort_values("size"), model.criterion_
    unit = "capacity" if model.along == "capacity" else "size"
    tried = f"{len(path)} sizes, from {path['size'].min()} to {path['size'].max()}"
    rule = ", the smallest within one standard error of the least" if model.one_standard_error else ""
    words = f"Of {tried}, {unit} {model.size_} was chosen, by {_label(model, by)}{rule}: small is good."
    columns = [
        name
        for name in ("size", "n_features", CRITERIA[by], "cv_se", "value")
        if name in path and path[name].notna().any()
    ]
    return [PagePart("path", "Fit against size", words, path_chart(model, by), path_table(path[columns]))]


def path_chart(model: Any, criterion: str | None = None) -> Chart:
    """Return a criterion over the size, with bars of one standard error, and the size that was chosen."""
    frame = getattr(model, "path_", model)
    require_columns(frame, "model", ["size"], "the path_ of a fitted estimator")
    chosen_by = getattr(model, "criterion", None)
    name = criterion_of(frame, CRITERIA, chosen_by if criterion is None else criterion)
    path, label = frame.sort_values("size"), _label(model, name)
    y = path[CRITERIA[name]].to_numpy(float)
    error = path["cv_se"].to_numpy(float) if name == "cv" and "cv_se" in path else np.full(len(y), np.nan)
    unit = "capacity" if getattr(model, "along", "size") == "capacity" else "size"
    hover = [
        f"{unit} {x:g}\n{label} {value:.5g}" + (f" ± {e:.2g}" if e > 0 else "")
        for x, value, e in zip(path["size"], y, error, strict=True)
    ]
    bars: dict[str, Any] = {}
    if np.nan_to_num(error).any():
        bars = {"low": (y - error).tolist(), "high": (y + error).tolist()}
    sizes = [float(size) for size in path["size"]]
    series: list[Series] = [Curve(sizes, y.tolist(), "", FOUND, marker="circle", hover=hover, **bars)]
    if (size := getattr(model, "size_", None)) is not None:
        by = "" if chosen_by is None else f" (by {chosen_by})"
        series.append(Rule(float(size), f"chosen: {size}{by}", PROVEN, upright=True))
        best = int(np.nanargmin(y))
        if name == "cv" and getattr(model, "one_standard_error", False) and np.isfinite(error[best]):
            series.append(Rule(float(y[best] + error[best]), NEAR, GREY, "dot"))
    return Chart(Axis(_size_label(model, unit), integers=True), Axis(label), tuple(series))


def _size_label(model: Any, unit: str) -> str:
    if unit == "capacity":
        return "capacity per group"
    if not hasattr(model, "n_features_in_"):
        return unit
    return (
        "number of chosen features" if getattr(model, "groups", None) is None else "number of chosen groups"
    )


def _label(model: Any, criterion: str) -> str:
    if criterion != "cv":
        return "value of the objective" if criterion == "value" else criterion.upper()
    return f"cross-validated {loss_name(model)}"
