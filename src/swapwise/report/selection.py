"""One HTML page about chosen features: what was asked, what was chosen, how it was found, how good it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from swapwise.checks import FloatArray
from swapwise.estimators.base import SparseEstimator
from swapwise.estimators.classifier import SparseClassifier
from swapwise.estimators.constraint_of import Elements
from swapwise.estimators.poisson import SparsePoissonRegressor
from swapwise.report.axes import COLOURS
from swapwise.report.document import table
from swapwise.report.fit_parts import data_part, path_part
from swapwise.report.parts import Part, asked_part, chart, page_of, plotted, require_data, tick
from swapwise.report.search_parts import certificate_part, moves_part
from swapwise.theory.certificate import Certificate

TITLE = "Features chosen"

# Beyond so many features plots show those of the largest coefficients; tables have all.
MOST_DRAWN = 40

# Correlations are written into their cells where these are large enough, on a phone too.
_MOST_WRITTEN = 8

# Light enough at both ends for dark digits.
_COLOUR_SCALE = [[0, "#f0a27a"], [0.5, "#f7f7f7"], [1, "#6fb3de"]]

_NO_GROUP = "no group"


def selection_report(
    model: Any,
    X: pd.DataFrame,
    y: Any,
    *,
    groups: Mapping[Any, Any] | None = None,
    certificate: Certificate | None = None,
    asked: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> str:
    """Return a self-contained HTML page about the features that a fitted model has chosen.

    Parameters
    ----------
    model : fitted SparseRegressor, SparseClassifier or SparsePoissonRegressor, or one of their CV kinds
        A CV kind shows the fit against the size too.
    X : pandas.DataFrame
        The data of fit.
    y : array-like of shape (n_samples,)
        The target of fit.
    groups : mapping from feature to group, optional
        Features are listed by group; those that it does not name are in none.
    certificate : Certificate, optional
        By default that of the search, if it proved one.
    asked : mapping from str to str, optional
        What the user asked for, to be shown as a table.
    seconds : float, optional
        How long it took.

    Returns
    -------
    str
        About five megabytes, most of which is plotly.js.

    Examples
    --------
    >>> from swapwise import SparseRegressor
    >>> X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 3)), columns=["tea", "milk", "<b>"])
    >>> y = 2 * X["tea"] - X["<b>"]
    >>> page = selection_report(SparseRegressor(2).fit(X, y), X, y)
    >>> "2 of 3 features were chosen" in page, "&lt;b&gt;" in page
    (True, True)
    """
    _check(model, X, y, groups)
    names = [str(name) for name in X.columns]
    labels = Elements.of(model.groups, len(names), names).labels or names
    group_of = None if groups is None else [groups.get(name, _NO_GROUP) for name in X.columns]
    chosen = _Chosen(model, X, names, group_of)
    parts = [
        asked_part(asked, _facts(model, X, y), seconds),
        chosen.part(),
        path_part(model),
        moves_part(model.result_, lambda element: str(labels[element])),
        certificate_part(certificate, model.result_),
        data_part(model, X, y),
        chosen.correlation_part(),
    ]
    about = f"{len(model.support_)} of {len(names)} features, chosen from {len(X)} samples by swapwise."
    return page_of(TITLE, about, parts)


def _check(model: Any, X: Any, y: Any, groups: Any) -> None:
    if not isinstance(model, SparseEstimator):
        raise TypeError(f"model must be a fitted SparseRegressor or one of its kin, got {model!r}")
    require_data(model, X)
    if len(y) != len(X):
        raise ValueError(f"y must have one value for each of the {len(X)} rows of X, got {len(y)}")
    if groups is not None and not isinstance(groups, Mapping):
        raise TypeError(f"groups must be a mapping from feature to group, or None, got {groups!r}")


def _facts(model: Any, X: pd.DataFrame, y: Any) -> dict[str, str]:
    facts = {"model": type(model).__name__, "fitted to": f"{len(X)} samples of {X.shape[1]} features"}
    if getattr(model, "_has_offset", False):
        return facts
    score = float(model.score(X, y))
    if isinstance(model, SparseClassifier):
        return facts | {"classified correctly": f"{100 * score:.1f} % of the data of fit"}
    name = "D²" if isinstance(model, SparsePoissonRegressor) else "R²"
    return facts | {f"{name} on the data of fit": f"{score:.4f}"}


class _Chosen:
    """The chosen features, group by group, and those of larger coefficients first."""

    def __init__(self, model: Any, X: pd.DataFrame, names: list[str], group_of: list[Any] | None) -> None:
        self.model, self.X, self.names, self.group_of = model, X, names, group_of
        self.coef = np.atleast_2d(model.coef_)
        spread = np.zeros(len(names))
        spread[model.support_] = X.iloc[:, model.support_].to_numpy(float).std(axis=0)
        #: Coefficients in units of the features' standard deviations, which can be compared
        self.scaled: FloatArray = self.coef * spread
        self.size: FloatArray = self.scaled[0] if len(self.coef) == 1 else np.linalg.norm(self.scaled, axis=0)
        by_size = sorted(model.support_.tolist(), key=lambda feature: -abs(self.size[feature]))
        order = list(dict.fromkeys(self.group(feature) for feature in by_size))
        self.features = sorted(by_size, key=lambda feature: order.index(self.group(feature)))
        self.colour = {group: COLOURS[rank % len(COLOURS)] for rank, group in enumerate(order)}

    def group(self, feature: int) -> str:
        """Return the group of a feature; all are in one if there are none."""
        return "" if self.group_of is None else str(self.group_of[feature])

    def drawn(self) -> list[int]:
        """Return the features that plots have room for, in order."""
        largest = sorted(self.features, key=lambda feature: -abs(self.size[feature]))[:MOST_DRAWN]
        return [feature for feature in self.features if feature in largest]

    def part(self) -> Part:
        """Return the coefficients as bars and as a table."""
        words = f"{len(self.features)} of {len(self.names)} features were chosen"
        if self.group_of is not None and self.features:
            all_groups = [self.group(feature) for feature in range(len(self.names))]
            mine = [self.group(feature) for feature in self.features]
            words += ": " + "; ".join(
                f"{mine.count(group)} of {all_groups.count(group)} of {group}" for group in self.colour
            )
        words += "." if self.features else ": nothing gains anything."
        if len(self.features) > MOST_DRAWN:
            words += f" The {MOST_DRAWN} of the largest coefficients are drawn."
        if not self.features:
            return Part("chosen", "What was chosen", words)
        height = 120 + 24 * len(self.drawn())
        return Part("chosen", "What was chosen", words, self._bars(), height, self._table())

    def _table(self) -> str:
        classes = [f" of {name}" for name in self.model.classes_] if len(self.coef) > 1 else [""]
        grouped = self.group_of is not None
        head = ["feature", *["group"] * grouped, *(f"coefficient{name}" for name in classes)]
        head += [f"per standard deviation{name}" for name in classes]
        rows = []
        for feature in self.features:
            numbers = [*self.coef[:, feature], *self.scaled[:, feature]]
            named = [self.names[feature], *[self.group(feature)] * grouped]
            rows.append([*named, *(f"{number:.4g}" for number in numbers)])
        constant = ", ".join(f"{float(number):.4g}" for number in np.ravel(self.model.intercept_))
        return (
            table(head, rows, "numbers named" if grouped else "numbers long")
            + f'<p class="note">Intercept: {constant}.</p>'
        )

    def _bars(self) -> Any:
        features = self.drawn()
        traces = []
        for group, colour in self.colour.items():
            mine = [(place, f) for place, f in enumerate(features) if self.group(f) == group]
            hover = [
                plotted(self.names[f]) + (f" ({plotted(group)})" if group else "") + f"<br>{self.size[f]:.4g}"
                for _, f in mine
            ]
            traces.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": tick(group),
                    "x": [float(self.size[f]) for _, f in mine],
                    "y": [place for place, _ in mine],
                    "marker": {"color": colour},
                    "hovertext": hover,
                    "hoverinfo": "text",
                }
            )
        many = len(self.coef) > 1
        what = "norm over the classes, " if many else "coefficient "
        across = {"title": {"text": f"{what}per standard deviation"}, "zeroline": True}
        return chart(traces, across, self._names_axis(features), showlegend=self.group_of is not None)

    def _names_axis(self, features: list[int]) -> dict[str, Any]:
        ticks = {"tickvals": list(range(len(features))), "ticktext": [tick(self.names[f]) for f in features]}
        return {**ticks, "range": [len(features) - 0.5, -0.5], "showgrid": False, "ticks": ""}

    def correlation_part(self) -> Part:
        """Return how the chosen features go with each other."""
        features, title = self.drawn(), "Correlation among the chosen"
        if len(features) < 2:
            return Part("correlation", title, "Fewer than two features were chosen.")
        table_ = self.X.iloc[:, features].astype(float)
        correlation = table_.set_axis(range(len(features)), axis=1).corr().to_numpy()
        hover = [
            [
                f"{plotted(self.names[a])}<br>{plotted(self.names[b])}<br>{correlation[i, j]:.3f}"
                for j, b in enumerate(features)
            ]
            for i, a in enumerate(features)
        ]
        trace = {
            "type": "heatmap",
            "z": correlation.round(4).tolist(),
            "zmin": -1,
            "zmax": 1,
            "colorscale": _COLOUR_SCALE,
            "textfont": {"color": "#1b1f24"},
            "hovertext": hover,
            "hoverinfo": "text",
            "texttemplate": "%{z:.2f}" if len(features) <= _MOST_WRITTEN else "",
            "colorbar": {"thickness": 12, "outlinewidth": 0},
        }
        upwards = self._names_axis(features)
        across = {**upwards, "range": [-0.5, len(features) - 0.5], "tickangle": -45}
        pairs = np.triu(np.nan_to_num(np.abs(correlation), nan=-1.0) + 2.0, k=1)  # others than pairs are 0
        i, j = np.unravel_index(pairs.argmax(), pairs.shape)
        words = (
            f"The strongest is {correlation[i, j]:.2f}, of {self.names[features[i]]} and "
            f"{self.names[features[j]]}."
            if np.isfinite(correlation[i, j])
            else "Features that never vary correlate with nothing."
        )
        height = 200 + 26 * len(features)
        return Part("correlation", title, words, chart([trace], across, upwards), max(height, 340))
