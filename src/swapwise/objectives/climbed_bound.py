"""An upper bound of the fit on very many elements, from steps that cost little each."""

from __future__ import annotations

from contextlib import suppress

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime
from swapwise.objectives.base import SparseObjective

# The climb ends when its bound is this close to a value that is reached, relative to the values themselves.
TIGHT = 1e-6

# A long memory saves looks at the data, which are what takes time.
STEPS, MEMORY = 2000, 30


class _TightEnough(Exception):
    """There is nothing left to be gained."""


def climbed_bound(objective: SparseObjective, support: IndexArray, clock: Clock) -> float:
    """Return what f(support) does not exceed, the better the more time there is.

    Newton's method takes the cube of the number of elements in operations, in one piece. Here L-BFGS climbs
    by values and gradients, and every point w on its way proves a bound: with curvature of at least m,
    ``f(support) ≤ u(w) + ‖∇u(w)‖² / 2m``, the gradient taken on ``support``. The ceiling of the objective
    holds from the start.

    >>> import numpy as np
    >>> from swapwise import Logistic
    >>> X = np.random.default_rng(0).standard_normal((50, 6))
    >>> f = Logistic(X, X[:, 0] > 0, ridge=0.1)
    >>> everything = np.arange(6)
    >>> 0 <= climbed_bound(f, everything, Clock()) - f(everything) < 1e-6
    True
    >>> climbed_bound(f, everything, Clock(0.0)) == f.ceiling
    True
    """
    from scipy.optimize import minimize  # takes its time to import, which few need

    rows = objective.members(support)
    whole = objective.coef(())
    first = whole[rows].ravel()
    bound = objective.ceiling

    def fall(point: FloatArray) -> tuple[float, FloatArray]:
        nonlocal bound
        clock.check()
        coef = whole.copy()
        coef[rows] = point.reshape(whole[rows].shape)
        value, gradient = objective.value_and_gradient(coef)
        slope = gradient[rows].ravel()
        bound = min(bound, value + objective._missed(slope))
        if bound - value <= TIGHT * max(abs(value), objective.scale):
            raise _TightEnough
        return -value, -slope

    options = {"maxiter": STEPS, "maxfun": 2 * STEPS, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
    with suppress(OutOfTime, _TightEnough):
        minimize(fall, first, jac=True, method="L-BFGS-B", options=options)
    return float(bound)
