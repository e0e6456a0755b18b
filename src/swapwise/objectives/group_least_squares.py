"""Least squares with whole groups of columns as elements."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import IndexArray, as_matrix, as_real, as_vector
from swapwise.clock import Clock
from swapwise.kernels import GAUSSIAN
from swapwise.objectives.base import rows_of
from swapwise.objectives.fit_bounds import QUICK_FIT
from swapwise.objectives.glm.likelihood import read_weight
from swapwise.objectives.glm.objective import GeneralizedLinear
from swapwise.objectives.least_squares.active_set import explained_in_full


class GroupLeastSquares(GeneralizedLinear):
    """R² of the least-squares fit on the columns of the chosen groups.

    ``f(G) = 1 − min over w on the columns of G of (‖y − Xw‖² + ridge ‖w‖²) / ‖y‖²``, as in
    :class:`LeastSquares`, but an element of the ground set is a group: dummies of one factor, lags of one
    signal. Centre ``y`` and the columns first if the fit is to have an intercept.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    groups : iterable of hashable
        One label a column; the elements are the labels in order of appearance.
    ridge : float
        Weight of the penalty ``‖w‖²``.
    sample_weight : array-like of shape (n_samples,), optional

    Examples
    --------
    >>> import numpy as np
    >>> from swapwise import GroupLeastSquares, Uniform, maximize
    >>> f = GroupLeastSquares(np.eye(4), [1.0, 1.0, 3.0, 0.5], groups=["a", "a", "b", "c"])
    >>> result = maximize(f, Uniform(3, 2))
    >>> result.support, result.coef
    (array([0, 1]), array([1., 1., 3., 0.]))
    """

    family = GAUSSIAN
    steepest = 1.0
    curvature_is = "hessian"

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: Iterable[Hashable],
        ridge: float = 0.0,
        sample_weight: ArrayLike | None = None,
    ) -> None:
        n_samples = len(as_matrix(X, "X", finite=False))
        target = as_vector(y, n_samples, "y")
        weight = read_weight(sample_weight, n_samples)
        total = float(weight @ target**2)
        # In units of R²; weights that sum to one make the penalty smaller by their sum.
        unit = 2.0 / (total or 1.0)
        mass = n_samples if sample_weight is None else float(np.sum(sample_weight))
        super().__init__(X, target, as_real(ridge, "ridge") * unit / mass, weight * unit, None, False, groups)
        self.scale = 1.0

    def upper_bound(self, support: IndexArray | None = None, clock: Clock | None = None) -> float:
        """Return what R² does not exceed; nearly collinear columns count in full, as in least squares."""
        if support is None:
            return 1.0
        if not len(support) or self._fit_seconds(support) > QUICK_FIT:
            return super().upper_bound(support, clock)
        root, rows = np.sqrt(self.weight), rows_of(self, support)
        columns, y = self.columns[rows] * root, self.target * root
        explained = explained_in_full(columns, y, self.ridge, self.precision, self._rounding_of(rows))
        return min(1.0, explained / float(y @ y)) if y.any() else 0.0
