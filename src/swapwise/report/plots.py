"""Pictures of fitted estimators and of searches; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.certify.certificate import Certificate
from swapwise.checks import FloatArray, as_count, as_vector
from swapwise.constraints.partition import Partition
from swapwise.estimators.constraint_of import Elements
from swapwise.report.axes import COLOURS, axes_or_new, drawn_model, tidy
from swapwise.report.course import Course, course_of
from swapwise.report.facts import loss_name
from swapwise.report.frames import require_columns
from swapwise.report.graph_path import EdgePath, edge_path
from swapwise.report.quality import FOUND, PROMISED, PROVEN
from swapwise.report.record import LEAPS, Move, begins_empty, moves_of, series_of, without_moves
from swapwise.search.result import SearchResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# By kind of move; colours tell strategies apart.
MARKER_OF = {"added": "o", "exchanged": "D", "dropped": "v"}
MARKER_OF |= {"perturbation": "X", "restart": "*", "backward": "<"}

# In the order in which a frame without an estimator is looked through; "cv" has its mean and spread.
CRITERIA = {"cv": "cv_mean", "ebic": "ebic", "bic": "bic", "gic": "gic", "aic": "aic", "value": "value"}


def plot_path(model: Any, ax: Axes | None = None, *, criterion: str | None = None) -> Axes:
    """Draw how good the answers of a path are over their size, and which one was chosen, by what.

    The size of a graph is the number of its edges; those that have too few by far may be out of view. With
    the rule of one standard error, a thin line shows what is near enough to the best.

    Parameters
    ----------
    model : fitted estimator with ``path_`` (``SparseRegressorCV``, ``IsingGraphCV``), or that frame
        Or a pipeline that ends in one. A frame by itself does not know what was chosen.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure; ``ax.figure.savefig("x.png")`` saves it.
    criterion : str, optional
        ``"cv"``, ``"aic"``, ``"bic"``, ``"ebic"``, ``"gic"`` or ``"value"``, if not the one that the
        estimator chose by. Those of graphs are ``"ebic"``, ``"bic"``, ``"cv"`` and ``"log_likelihood"``.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import pandas as pd
    >>> path = pd.DataFrame({"size": [1, 2, 3], "bic": [9.0, 4.0, 5.0]})
    >>> plot_path(path, criterion="bic").get_ylabel()
    'BIC'
    """
    model = drawn_model(model)
    frame = getattr(model, "path_", model)
    if isinstance(frame, pd.DataFrame) and "n_edges" in frame:
        return _draw_edges(edge_path(model, criterion), model, axes_or_new(ax))
    require_columns(frame, "model", ["size"], "the path_ of a fitted estimator")
    chosen_by = getattr(model, "criterion", None)
    name = _criterion(frame, chosen_by if criterion is None else criterion)
    axes, path = axes_or_new(ax), frame.sort_values("size")
    bars = path["cv_se"] if name == "cv" and "cv_se" in path else None
    axes.errorbar(path["size"], path[CRITERIA[name]], bars, fmt="o-", color=FOUND, markersize=4, capsize=2)
    if (chosen := getattr(model, "size_", None)) is not None:
        by = "" if chosen_by is None else f" (by {chosen_by})"
        axes.axvline(chosen, color=PROVEN, linestyle="--", zorder=1, label=f"chosen: {chosen}{by}")
        if name == "cv":
            best = path.loc[path["cv_mean"].idxmin()]
            _draw_threshold(axes, model, best["cv_mean"] + best["cv_se"])
        axes.legend(frameon=False)
    axes.set_xlabel("capacity" if getattr(model, "along", "size") == "capacity" else "size")
    axes.set_ylabel(_label(model, name))
    return tidy(axes, integers=True)


def _label(model: Any, criterion: str) -> str:
    if criterion != "cv":
        return criterion if criterion == "value" else criterion.upper()
    return f"cross-validated {loss_name(model)}"


def _draw_threshold(axes: Axes, model: Any, level: float) -> None:
    """Draw what is near enough to the best, if that rule was asked for and there is a standard error."""
    if getattr(model, "one_standard_error", False) and np.isfinite(level):
        look: dict[str, Any] = {"color": "black", "linewidth": 0.8, "linestyle": ":", "zorder": 1}
        axes.axhline(level, label="one standard error from the best", **look)


def _criterion(frame: pd.DataFrame, wanted: str | None) -> str:
    there = [name for name, column in CRITERIA.items() if column in frame and frame[column].notna().any()]
    if wanted is None and there:
        return there[0]
    if wanted not in there:
        raise ValueError(
            f"criterion must be one that the path has: {', '.join(there) or 'none'}; got {wanted!r}"
        )
    return wanted


def _draw_edges(path: EdgePath, model: Any, axes: Axes) -> Axes:
    """Draw a criterion over the number of edges, with a band of one standard error."""
    axes.plot(path.n_edges, path.values, "o-", color=FOUND, markersize=3, linewidth=1.2)
    if path.error is not None and np.isfinite(path.error).any():
        band: dict[str, Any] = {"color": FOUND, "alpha": 0.2, "linewidth": 0}
        axes.fill_between(path.n_edges, path.values - path.error, path.values + path.error, **band)
    if path.chosen is not None:
        chosen_by = getattr(model, "criterion", None)
        by = "" if chosen_by is None else f" (by {chosen_by})"
        ring: dict[str, Any] = {"markersize": 11, "markerfacecolor": "none", "markeredgecolor": PROVEN}
        ring |= {"markeredgewidth": 1.8, "linestyle": "none"}
        at = path.n_edges[path.chosen]
        axes.plot([at], [path.values[path.chosen]], "o", label=f"chosen: {at}{by}", **ring)
        _draw_threshold(axes, model, np.nan if path.near is None else path.near)
        axes.legend(frameon=False)
    axes.set_xlabel("number of edges")
    axes.set_ylabel(path.label)
    axes.set_xlim(path.view[0])
    axes.set_ylim(path.view[1])
    return tidy(axes, integers=True)


def plot_support(
    estimator: Any,
    ax: Axes | None = None,
    *,
    groups: Any = None,
    names: Any = None,
    top: int | None = None,
    scale: Any = None,
) -> Axes:
    """Draw the coefficients of the chosen features as bars, group by group.

    Parameters
    ----------
    estimator : fitted estimator with ``coef_`` and ``support_``
        Or a ``SparseSelector``, or a pipeline. Of several classes, the norm over the classes is drawn.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure that is as high as its bars need.
    groups : sequence, Series or dict, optional
        A label for each feature, in order or by name. By default the ``groups`` of the estimator, or the
        labels of its constraint if that is a ``Partition`` (truncated or not).
    names : sequence of str, optional
        What to call the features, if not as in the data of fit.
    top : int, optional
        How many of the largest coefficients to draw.
    scale : sequence or Series, optional
        A number for each feature, in order or by name, that its coefficient is multiplied with.
        Coefficients are in the units of the data; pass ``scale=X.std()`` to compare them with each other.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import Partition, SparseRegressor
    >>> X = np.random.default_rng(0).standard_normal((40, 4))
    >>> model = SparseRegressor(Partition(["roof", "roof", "cellar", "cellar"], 1)).fit(X, X @ [3, 0, 0, 1])
    >>> [label.get_text() for label in plot_support(model).get_yticklabels()]
    ['roof: 1 of 2 chosen', 'x0', 'cellar: 1 of 2 chosen', 'x3']
    """
    model = drawn_model(estimator)
    if not hasattr(model, "coef_") or not hasattr(model, "support_"):
        raise TypeError(f"estimator must be fitted and have coef_ and support_, got {estimator!r}")
    coef = np.atleast_2d(model.coef_)
    size = coef[0] if len(coef) == 1 else np.linalg.norm(coef, axis=0)
    if scale is not None:
        size = size * _scale(model, scale, len(size))
    called = _names(model, names, len(size))
    label_of = _group_labels(model, groups, len(size))
    shown = model.support_[np.argsort(-np.abs(size[model.support_]), kind="stable")]
    shown = shown if top is None else shown[: as_count(top, "top")]
    rows = _rows(shown, model.support_, label_of)
    axes = axes_or_new(ax, height=max(2.2, 0.7 + 0.24 * len(rows)))
    for place, (feature, _, rank) in enumerate(rows):
        if feature is not None:
            axes.barh(place, size[feature], color=COLOURS[rank % len(COLOURS)], height=0.75)
    axes.set_yticks(
        range(len(rows)), [text if feature is None else called[feature] for feature, text, _ in rows]
    )
    if not rows:
        axes.text(0.5, 0.5, "nothing chosen", ha="center", va="center", transform=axes.transAxes)
    for tick, (feature, *_) in zip(axes.get_yticklabels(), rows, strict=True):
        tick.set(fontweight="bold" if feature is None else "normal")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.axvline(0.0, color="black", linewidth=0.8)
    label = "coefficient" if len(coef) == 1 else "norm of the coefficients over the classes"
    axes.set_xlabel(label if scale is None else f"{label}, times scale")
    return tidy(axes, grid="x")


def _scale(model: Any, scale: Any, n_features: int) -> FloatArray:
    names = getattr(model, "feature_names_in_", None)
    if isinstance(scale, pd.Series) and names is not None:
        if missing := [name for name in names if name not in scale.index]:
            raise ValueError(f"scale must have a number for every feature, but {missing[0]!r} is missing")
        scale = scale.loc[list(names)]
    return as_vector(scale, n_features, "scale", non_negative=True)


def _names(model: Any, names: Any, n_features: int) -> list[str]:
    given = getattr(model, "feature_names_in_", None) if names is None else names
    called = (
        [f"x{feature}" for feature in range(n_features)] if given is None else [str(name) for name in given]
    )
    if len(called) != n_features:
        raise ValueError(f"names must have one for each of {n_features} features, got {len(called)}")
    return called


def _group_labels(model: Any, groups: Any, n_features: int) -> list[Hashable] | None:
    """Return a label for each feature, or None if nothing is known of groups."""
    names = getattr(model, "feature_names_in_", None)
    given = groups if groups is not None else getattr(model, "groups", None)
    if given is not None:
        elements = Elements.of(given, n_features, None if names is None else list(names))
        return [(elements.labels or [])[element] for element in elements.of_feature]
    constraint: Any = getattr(model, "constraint_", None)
    while hasattr(constraint, "matroid"):  # a truncation, restriction or contraction of it
        constraint = constraint.matroid
    if not isinstance(constraint, Partition):
        return None
    return constraint.element_labels


def _rows(shown: Any, chosen: Any, label_of: list[Hashable] | None) -> list[tuple[int | None, str, int]]:
    """Return what stands below each other: features (with the number of their group) and headings."""
    if label_of is None:
        return [(int(feature), "", 0) for feature in shown]
    rows: list[tuple[int | None, str, int]] = []
    for rank, label in enumerate(dict.fromkeys(label_of[feature] for feature in shown)):
        k = sum(label_of[feature] == label for feature in chosen)
        rows.append((None, f"{label}: {k} of {label_of.count(label)} chosen", rank))
        rows.extend((int(feature), "", rank) for feature in shown if label_of[feature] == label)
    return rows


def plot_history(result: Any, ax: Axes | None = None) -> Axes:
    """Draw the value over the moves of a search, from where it began to the answer.

    Where several strategies made the moves, they are told apart. A dotted line leads to a perturbation, a
    restart or a backward step: the value may fall there before it rises above.

    Parameters
    ----------
    result : SearchResult, or fitted estimator with ``result_``
        Or a pipeline. The upper bound of a certificate (that of :func:`swapwise.exact`) is drawn too.
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure; ``ax.figure.savefig("x.png")`` saves it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> ax = plot_history(maximize(Linear([1, 3, 2]), Uniform(3, 1), start="arbitrary"))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['arbitrary: added', 'oblivious: exchanged']
    """
    found = getattr(drawn_model(result), "result_", result)
    if not isinstance(found, SearchResult):
        raise TypeError(f"result must be a SearchResult or a fitted estimator, got {result!r}")
    axes = axes_or_new(ax)
    _draw_moves(axes, moves_of(found), begins_empty(found))
    if not found.history:
        axes.axhline(found.value, color=PROMISED, linewidth=1)
        axes.plot([0], [found.value], "o", color=COLOURS[0], markersize=4)
        text, at = without_moves(found), (0, found.value)
        axes.annotate(text, at, (0, 6), textcoords="offset points", ha="center")
    proof = found.certificate
    if proof is not None and np.isfinite(proof.upper_bound):
        label = "trivial upper bound" if proof.trivial else "proven upper bound"
        axes.axhline(proof.upper_bound, color=PROVEN, linestyle="--", label=label)
    axes.set_xlabel("move")
    axes.set_ylabel("value")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False)
    return tidy(axes, integers=True)


def _draw_moves(axes: Axes, moves: list[Move], from_empty: bool) -> None:
    """Draw a line over the moves, which is dotted where it leads to a leap, and a mark on each move."""
    x = np.array([0.0] * from_empty + [float(move.number) for move in moves])
    y = np.array([0.0] * from_empty + [move.value for move in moves])
    leaps = [place + from_empty for place, move in enumerate(moves) if move.is_leap]
    line: dict[str, Any] = {"color": PROMISED, "linewidth": 1}
    axes.plot(np.insert(x, leaps, np.nan), np.insert(y, leaps, np.nan), **line)
    for place in leaps:
        axes.plot(x[place - 1 : place + 1], y[place - 1 : place + 1], linestyle=":", **line)
    for rank, series in enumerate(series_of(moves)):
        colour, size = ("black", 8) if series.kind in LEAPS else (COLOURS[rank % len(COLOURS)], 4)
        at = [move.number for move in series.moves], [move.value for move in series.moves]
        axes.plot(*at, MARKER_OF[series.kind], color=colour, markersize=size, label=series.label)


def plot_proof(certificate: Any, ax: Axes | None = None) -> Axes:
    """Draw how the best value and the proven upper bound came closer to each other over time.

    The optimum lies between the two lines; the title says how large the gap is in the end. Time is on a
    logarithmic scale if the proof took long. The bound that is known without a proof (R² ≤ 1) may be out of
    view; if nothing else was proven, it is shown and called trivial.

    Parameters
    ----------
    certificate : Certificate, or SearchResult of :func:`swapwise.exact`
    ax : matplotlib axes, optional
        Draw into these; by default into a new figure; ``ax.figure.savefig("x.png")`` saves it.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, certify
    >>> ax = plot_proof(certify(Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {6}]), Uniform(4, 2)))
    >>> [text.get_text() for text in ax.get_legend().get_texts()], ax.get_title(loc="left")
    (['proven upper bound', 'best value so far'], 'proven optimal')
    """
    proof = certificate.certificate if isinstance(certificate, SearchResult) else certificate
    if not isinstance(proof, Certificate):
        raise TypeError(f"certificate must be a Certificate or a result that has one, got {certificate!r}")
    axes, course = axes_or_new(ax), course_of(proof)
    _draw_course(axes, course)
    if course.is_logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlim(course.across)
    axes.set_ylim(course.upwards)
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xlabel("seconds")
    axes.set_ylabel("value")
    axes.set_title(course.words, loc="left", fontsize="medium")
    axes.legend(frameon=False)
    return tidy(axes)


def _draw_course(axes: Axes, course: Course) -> None:
    """Draw both lines in steps, since what is proven holds until something better is, and the gap."""
    seconds, values, bounds = course.seconds, course.values, course.bounds
    if not np.isnan(bounds[-1]):
        axes.step(seconds, bounds, where="post", color=PROVEN, zorder=3, label=course.bound_label)
    axes.step(seconds, values, where="post", color=FOUND, zorder=3, label="best value so far")
    if course.answer is not None:
        axes.axhline(course.answer, color=PROMISED, linestyle=":", label="value of the answer")
    shade: dict[str, Any] = {"color": PROVEN, "alpha": 0.2, "linewidth": 0}
    axes.fill_between(seconds, values, bounds, step="post", **shade)
