"""How good the answers are over the size of the support: found, guaranteed and proven."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from swapwise.certify.certify import certify
from swapwise.charts.chart import FOUND, GUARANTEED, PROVEN, Axis, Band, Chart, Curve
from swapwise.charts.figures import draw
from swapwise.charts.frames import require_columns
from swapwise.checks import as_count, as_real, as_time_limit, warn
from swapwise.constraints.base import Constraint
from swapwise.maximize import maximize
from swapwise.objectives.base import SetFunction
from swapwise.search.result import Status
from swapwise.search.rules import Pivot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ["size", "value", "upper_bound", "ratio", "trivial", "guarantee", "kind", "seconds"]


def quality_over_sizes(
    objective: SetFunction,
    constraint_of: Callable[[int], Constraint],
    sizes: Iterable[int],
    *,
    method: str | Pivot = "auto",
    time_limit: float | None = 10.0,
    gap: float = 1e-4,
) -> pd.DataFrame:
    """Search and certify for several sizes, and return one row for each.

    Parameters
    ----------
    objective : SetFunction
    constraint_of : callable
        Takes a size and returns the constraint, for instance ``lambda size: Uniform(n, size)``; what the
        size means is up to it.
    sizes : iterable of int
    method : str or pivot rule
        As in :func:`maximize`.
    time_limit, gap
        As in :func:`certify`, per size.

    Returns
    -------
    pandas.DataFrame
        Columns ``size``, ``value``, ``upper_bound``, ``ratio`` and ``trivial`` (of the certificate; if it is
        trivial, the ratio is no proof of quality), ``guarantee`` (the ratio of the best guarantee that
        is not trivial, or NaN), ``kind`` (of the certificate) and ``seconds`` (of search and proof together).

    Examples
    --------
    >>> from swapwise import Coverage, Uniform
    >>> f = Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {1, 5}])
    >>> quality_over_sizes(f, lambda size: Uniform(4, size), [1, 2])[["size", "value", "ratio", "guarantee"]]
       size  value  ratio  guarantee
    0     1    3.0    1.0        1.0
    1     2    5.0    1.0        1.0
    """
    if not callable(constraint_of):
        hint = "; try lambda size: Uniform(n, size)" if isinstance(constraint_of, Constraint) else ""
        raise TypeError(
            f"constraint_of must be a function from a size to a constraint, got {constraint_of!r}{hint}"
        )
    checked = _as_sizes(sizes)
    gap = as_real(gap, "gap")
    time_limit = as_time_limit(time_limit)
    rows: list[dict[str, Any]] = []
    for size in checked:
        row, interrupted = _row(objective, constraint_of(size), size, method, time_limit, gap)
        rows.append(row)
        if interrupted:
            warn(
                f"interrupted at size {size}, which is less well proven than it could be; others are left out"
            )
            break
    return pd.DataFrame(rows, columns=COLUMNS)


def _as_sizes(sizes: Iterable[int]) -> list[int]:
    if isinstance(sizes, str) or not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must be integers such as range(1, 11), got {sizes!r}")
    checked = [as_count(size, "a size") for size in sizes]
    if not checked:
        raise ValueError("sizes must hold at least one size, got none")
    return checked


def _row(
    objective: SetFunction,
    constraint: Constraint,
    size: int,
    method: str | Pivot,
    time_limit: float | None,
    gap: float,
) -> tuple[dict[str, Any], bool]:
    """Return a row, and whether it was interrupted."""
    result = maximize(objective, constraint, method)
    certificate = certify(objective, constraint, result, time_limit=time_limit, gap=gap)
    promise = None if result.guarantee is None else result.guarantee.beyond_trivial
    row = {
        "size": size,
        "value": result.value,
        "upper_bound": certificate.upper_bound,
        "ratio": certificate.ratio,
        "trivial": certificate.trivial,
        "guarantee": np.nan if promise is None else promise.ratio,
        "kind": certificate.kind,
        "seconds": result.seconds + certificate.seconds,
    }
    return row, Status.INTERRUPTED in (result.status, certificate.status)


def plot_quality(frame: pd.DataFrame, ax: Sequence[Axes] | None = None) -> Figure:
    """Draw what :func:`quality_over_sizes` found: where the optimum lies, and what is proven of the answer.

    Where the bound is trivial no share of the optimum is drawn, as none is proven: hollow circles stand for
    the value divided by that bound, and the line has a gap.

    Parameters
    ----------
    frame : pandas.DataFrame
        With the columns ``size``, ``value``, ``upper_bound``, ``ratio``, ``trivial`` and ``guarantee``.
    ax : two matplotlib axes, optional
        Draw into these: the values into the first, the shares of the optimum into the second. By
        default a new figure is made, which pyplot does not know of.

    Returns
    -------
    matplotlib.figure.Figure
        Save it by its method ``savefig``.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform
    >>> f = Coverage([{1, 2, 3}, {3, 4}, {4, 5}, {1, 5}])
    >>> figure = plot_quality(quality_over_sizes(f, lambda size: Uniform(4, size), [1, 2, 3]))
    >>> [axes.get_ylabel() for axes in figure.axes]
    ['value of the objective', 'share of the optimum']
    """
    data = _plottable(frame)
    above, below = _two_axes(ax)
    draw(_values_chart(data), above)
    draw(_shares_chart(data), below)
    figure = below.get_figure(root=True)
    assert figure is not None
    return figure


def _plottable(frame: pd.DataFrame) -> pd.DataFrame:
    needed = ["size", "value", "upper_bound", "ratio", "trivial", "guarantee"]
    require_columns(frame, "frame", needed, "quality_over_sizes")
    # A bound that was not reached in time is infinite: a gap in its line.
    return frame[needed].sort_values("size").astype(float).replace(np.inf, np.nan)


def _two_axes(ax: Sequence[Axes] | None) -> tuple[Axes, Axes]:
    from matplotlib.axes import Axes

    if ax is None:
        from matplotlib.figure import Figure  # not pyplot: it would keep the figure

        figure = Figure(figsize=(7.0, 5.6), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        return above, below
    given = [] if isinstance(ax, Axes) else list(ax)
    if len(given) != 2 or not all(isinstance(one, Axes) for one in given):
        raise TypeError(f"ax must be two matplotlib axes, one above the other, got {ax!r}")
    return given[0], given[1]


def _values_chart(data: pd.DataFrame) -> Chart:
    size, value, bound = (data[name].tolist() for name in ("size", "value", "upper_bound"))
    series = (
        Band(size, value, bound, "the optimum lies here", PROVEN),
        Curve(size, value, "value found", FOUND, marker="circle", size=7),
        # On top, so that both lines are seen where the answer is proven to be the optimum.
        Curve(size, bound, "proven upper bound", PROVEN, dash="dash"),
    )
    return Chart(Axis("", integers=True), Axis("value of the objective"), series)


def _shares_chart(data: pd.DataFrame) -> Chart:
    size, ratio, guaranteed = (data[name].to_numpy() for name in ("size", "ratio", "guarantee"))
    trivial = data["trivial"].to_numpy() > 0
    proven = np.where(trivial, np.nan, ratio).tolist()
    series = [Curve(size.tolist(), proven, "proven by the certificate", FOUND, marker="circle", size=7)]
    if trivial.any():
        at, label = (size[trivial].tolist(), ratio[trivial].tolist()), "trivial bound, nothing proven"
        series.append(Curve(*at, label, GUARANTEED, dash=None, marker="circle", hollow=True, size=7))
    if not np.isnan(guaranteed).all():
        at = size.tolist(), guaranteed.tolist()
        series.append(Curve(*at, "guaranteed", GUARANTEED, dash="dot", marker="square", hollow=True, size=6))
    upwards = Axis("share of the optimum", limits=(-0.03, 1.03))
    return Chart(Axis("size", integers=True), upwards, tuple(series))
