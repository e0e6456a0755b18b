"""The axes that plots are drawn on and how they look, and the model that is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito: told apart with any kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    """Return the axes given, or those of a new figure."""
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt  # so that plt.show() and notebooks know the figure

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib axes, got {ax!r}")
    return ax


def drawn_model(model: Any) -> Any:
    """Return the estimator to draw: the last step of a pipeline, that of a selector, or what was given.

    One that is not fitted raises scikit-learn's ``NotFittedError``; what is no estimator is returned.
    """
    steps = getattr(model, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) else model
    if hasattr(last, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(last)
    return getattr(last, "estimator_", last)


def tidy(axes: Axes, grid: Literal["both", "x"] = "both", integers: bool = False) -> Axes:
    """Return the axes with a light grid and no frame."""
    from matplotlib.ticker import MaxNLocator

    if integers:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=grid, alpha=0.25)
    axes.set_axisbelow(True)
    return axes
