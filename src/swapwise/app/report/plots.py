"""Pictures of fitted estimators and of searches; matplotlib axes go in and come out."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.app.report.chosen_parts import SupportBars
from swapwise.app.report.fit_parts import path_chart
from swapwise.app.report.graph_parts import edge_path, edges_chart
from swapwise.app.report.proof_parts import proof_history_chart
from swapwise.app.report.search_parts import moves_chart, moves_of, no_moves_chart, without_moves
from swapwise.certify.certificate import Certificate
from swapwise.charts.chart import PROVEN, Rule
from swapwise.charts.figures import axes_or_new, draw, drawn_model
from swapwise.checks import FloatArray, as_count, as_real, as_vector
from swapwise.constraints.partition import Partition
from swapwise.estimators.ground_set import GroundSet
from swapwise.search.result import SearchResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    See Also
    --------
    SparseRegressorCV, IsingGraphCV : what has a path.
    plot_support : what was chosen.

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
        return draw(edges_chart(edge_path(model, criterion)), axes_or_new(ax))
    return draw(path_chart(model, criterion), axes_or_new(ax))


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

    They are drawn per standard deviation of the feature, as on the page of :meth:`SparseRegressor.report`:
    so they can be compared, whatever the units of the features.

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
        What to call the features, if not as in the training data.
    top : int, optional
        How many of the largest coefficients to draw.
    scale : float, sequence or Series, optional
        What coefficients are multiplied with: a number for all, or one for each feature, in order or by
        name. By default the standard deviations of the features in the training data; ``scale=1`` draws
        coefficients in the units of the data.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    plot_path : how good other sizes are.
    plot_history : how the answer was found.

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
    quantity = "coefficient" if len(coef) == 1 else "norm of the coefficients over the classes"
    if scale is None and hasattr(model, "feature_std_"):
        size, quantity = size * model.feature_std_, f"{quantity} per standard deviation of the feature"
    elif scale is not None:
        size = size * _scale(model, scale, len(size))
        quantity += "" if isinstance(scale, Real) and scale == 1 else ", times scale"
    called = _names(model, names, len(size))
    support = SupportBars(model.support_, size, called, _group_labels(model, groups, len(size)))
    chart = support.chart(quantity, None if top is None else as_count(top, "top"))
    n_rows = len(chart.y.ticks or ())
    axes = draw(chart, axes_or_new(ax, height=max(2.2, 0.7 + 0.24 * n_rows)))
    if not n_rows:
        axes.text(0.5, 0.5, "nothing chosen", ha="center", va="center", transform=axes.transAxes)
    return axes


def _scale(model: Any, scale: Any, n_features: int) -> FloatArray:
    if isinstance(scale, Real):
        return np.full(n_features, as_real(scale, "scale"))
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
        elements = GroundSet.of(given, n_features, None if names is None else list(names))
        return [(elements.labels or [])[element] for element in elements.of_feature]
    constraint: Any = getattr(model, "constraint_", None)
    while hasattr(constraint, "matroid"):  # a truncation, restriction or contraction of it
        constraint = constraint.matroid
    if not isinstance(constraint, Partition):
        return None
    return constraint.element_labels


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

    See Also
    --------
    SearchResult : whose history is drawn.
    plot_proof : how a bound came down.

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
    axes, proof, bounds = axes_or_new(ax), found.certificate, []
    if proof is not None and np.isfinite(proof.upper_bound):
        label = "trivial upper bound" if proof.trivial else "proven upper bound"
        bounds = [Rule(proof.upper_bound, label, PROVEN)]
    if found.history:
        return draw(moves_chart(moves_of(found), rules=bounds), axes)
    chart = no_moves_chart(found)
    draw(replace(chart, series=(*chart.series, *bounds)), axes)
    axes.annotate(without_moves(found), (0, found.value), (0, 6), textcoords="offset points", ha="center")
    return axes


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

    See Also
    --------
    Certificate : whose history is drawn.
    plot_history : how a search went.

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
    return draw(proof_history_chart(proof), axes_or_new(ax))
