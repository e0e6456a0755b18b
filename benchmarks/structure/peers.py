"""Other programs that choose a given number of columns, fitted to standardised columns.

abess is run if it is there (``pip install '.[peers]'``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    OrthogonalMatchingPursuit,
    lars_path,
)
from sklearn.utils.fixes import parse_version

from swapwise.checks import FloatArray, IndexArray

#: From training data, a size and new data to predictions
Forecaster = Callable[[FloatArray, FloatArray, int, FloatArray], FloatArray]

# How scikit-learn is asked for an L1 penalty; before 1.8, ``l1_ratio`` alone leaves the L2 penalty.
L1 = {"l1_ratio": 1.0} if parse_version(sklearn.__version__) >= parse_version("1.8") else {"penalty": "l1"}
STEPS = 60  # of the Lasso's path; more columns than are asked for come long before


def lasso_path(
    X: FloatArray, y: FloatArray, size: int, *, intercept: bool = True, positive: bool = False
) -> FloatArray:
    """Return the Lasso's coefficients with the weakest penalty that leaves no more than so many columns."""
    target = y - y.mean() if intercept else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        coefs = lars_path(X, target, method="lasso", positive=positive, max_iter=STEPS)[2]
    few = np.flatnonzero((coefs != 0).sum(axis=0) <= size)
    return np.asarray(coefs[:, few.max()])


def lasso(X: FloatArray, y: FloatArray, size: int, unseen: FloatArray) -> FloatArray:
    """Predict by the Lasso with so many columns."""
    return np.asarray(unseen @ lasso_path(X, y, size) + y.mean())


def lasso_refitted(X: FloatArray, y: FloatArray, size: int, unseen: FloatArray) -> FloatArray:
    """Predict by least squares on the columns that the Lasso chooses."""
    chosen = np.flatnonzero(lasso_path(X, y, size))
    return np.asarray(LinearRegression().fit(X[:, chosen], y).predict(unseen[:, chosen]))


def matching_pursuit(X: FloatArray, y: FloatArray, size: int, unseen: FloatArray) -> FloatArray:
    """Predict by scikit-learn's orthogonal matching pursuit."""
    return np.asarray(OrthogonalMatchingPursuit(n_nonzero_coefs=size).fit(X, y).predict(unseen))


def abess(X: FloatArray, y: FloatArray, size: int, unseen: FloatArray) -> FloatArray:
    """Predict by abess."""
    from abess import LinearRegression as Abess

    return np.asarray(Abess(support_size=size, thread=1).fit(X, y).predict(unseen)).ravel()


def forecasters() -> dict[str, Forecaster]:
    """Return the programs for least squares by name.

    >>> list(forecasters())[:3]
    ['Lasso', 'Lasso, refitted', 'OMP']
    """
    found: dict[str, Forecaster] = {
        "Lasso": lasso,
        "Lasso, refitted": lasso_refitted,
        "OMP": matching_pursuit,
    }
    return found | ({"abess": abess} if find_spec("abess") else {})


def l1_supports(X: FloatArray, y: FloatArray) -> list[IndexArray]:
    """Return the columns of logistic regressions with ever weaker L1 penalties."""
    supports = []
    for C in np.geomspace(2e-3, 1.0, 40):
        model = LogisticRegression(**L1, C=C, solver="liblinear", random_state=0)
        supports.append(np.flatnonzero(model.fit(X, y).coef_[0]))
    return supports
