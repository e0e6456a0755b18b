"""The axes that plots are drawn on, and the model that is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def axes_or_new(ax: Axes | None, width: float = 6.4, height: float = 4.0) -> Axes:
    from matplotlib.axes import Axes

    if ax is None:
        import matplotlib.pyplot as plt  # so that plt.show() and notebooks know the figure

        return plt.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib axes, got {ax!r}")
    return ax


def drawn_model(model: Any) -> Any:
    """Return the estimator to draw: the last step of a pipeline, that of a selector, or the argument itself.

    An estimator that is not fitted raises scikit-learn's ``NotFittedError``.
    """
    steps = getattr(model, "steps", None)
    last = steps[-1][1] if isinstance(steps, list) else model
    if hasattr(last, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(last)
    return getattr(last, "estimator_", last)
