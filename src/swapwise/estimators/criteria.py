"""Information criteria, the sizes and ranks that they count, and the size that losses choose."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy.linalg import svdvals
from scipy.special import gammaln

from swapwise.checks import FloatArray
from swapwise.numerics import COLLINEAR, FLOAT64_PRECISION

CRITERIA = ("cv", "aic", "bic", "ebic", "gic")

WEIGHTS_ARE = ("importance", "precision", "counts")


class SampleSize(NamedTuple):
    """The number of samples, and how much more the weighted deviance varies than one of equal weights.

    ``n`` is the number of rows, or the sum of the weights if they are counts. The design effect is Kish's
    ``n Σw² / (Σw)²``, at least 1: with weights of importance, a feature of pure noise lowers the deviance by
    this times as much as without, so penalties have to be as many times as large.

    - Kish (1965), Survey Sampling.
    - Lumley and Scott (2015), AIC and BIC for modeling with complex survey data.
    """

    n: int
    design_effect: float = 1.0

    @classmethod
    def of(
        cls, n_rows: int, total: FloatArray | None, own: FloatArray | None, weights_are: str = "importance"
    ) -> Self:
        """Return the size of a sample with weights, all positive.

        ``total`` is the weight of each row in the fit: its own weight, ``own``, times that of its class.

        >>> uneven = np.array([3.0, 1.0, 1.0, 1.0])
        >>> SampleSize.of(4, uneven, uneven), SampleSize.of(4, uneven, uneven, "counts")
        (SampleSize(n=4, design_effect=1.33...), SampleSize(n=6, design_effect=1.0))
        """
        if total is None:
            return cls(n_rows)
        if own is None or weights_are == "importance":
            own = np.ones(n_rows)
        n = int(own.sum()) if weights_are == "counts" else n_rows
        # Weights of 1e-200 and 1e200 have squares too: only their ratios matter.
        own, total = own / own.max(), total / total.max()
        return cls(n, max(1.0, float(own.sum() * (total * (total / own)).sum() / total.sum() ** 2)))


def n_parameters(columns: FloatArray, *, fit_intercept: bool) -> int:
    """Return the rank of columns beside an intercept, which is their number of free parameters.

    That of a constant column is 0 beside an intercept, and that of a full set of dummies as much as without
    its first level.
    """
    if fit_intercept:
        # Beside an intercept a column may be shifted; this makes constant ones zero, to the last digit.
        columns = columns - columns[0]
    largest = np.abs(columns).max(axis=0)
    columns = columns[:, largest > 0] / largest[largest > 0]
    if fit_intercept:
        columns = np.column_stack([np.ones(len(columns)), columns])
    if not columns.size:
        return 0
    triangle = np.linalg.qr(columns / np.linalg.norm(columns, axis=0), mode="r")
    rank = np.count_nonzero(svdvals(triangle) > COLLINEAR * FLOAT64_PRECISION)
    return int(rank) - fit_intercept


def information_criteria(
    deviance: float,
    n_coefficients: int,
    n_chosen: int,
    *,
    n_samples: int,
    n_features: int,
    gamma: float = 0.5,
    design_effect: float = 1.0,
) -> dict[str, float]:
    """Return AIC, BIC, EBIC and GIC: deviance plus a penalty on the size of a model; small is good.

    With k free coefficients on s of p features (or groups, where those are chosen), and N samples, the
    penalties are

    - AIC (Akaike 1974): ``2k``
    - BIC (Schwarz 1978): ``k log N``
    - EBIC (Chen and Chen 2008): ``k log N + 2 gamma log C(p, s)``
    - GIC (Fan and Tang 2013): ``k log p · log log N``

    each times the design effect, if rows have weights; see :class:`SampleSize`.
    """
    k, log_n = n_coefficients, np.log(n_samples)
    choices = gammaln(n_features + 1) - gammaln(n_chosen + 1) - gammaln(n_features - n_chosen + 1)
    penalties = {
        "aic": 2.0 * k,
        "bic": k * log_n,
        "ebic": k * log_n + 2 * gamma * choices,
        "gic": k * np.log(n_features) * np.log(max(log_n, 1.0)),  # never negative, however few the samples
    }
    return {name: float(deviance + design_effect * penalty) for name, penalty in penalties.items()}


def mean_and_error(by_fold: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean over the folds, a row each, and its standard error; NaN where there are too few."""
    n_folds, n_sizes = by_fold.shape
    unknown = np.full(n_sizes, np.nan)
    error = by_fold.std(axis=0, ddof=1) / np.sqrt(n_folds) if n_folds > 1 else unknown
    return by_fold.mean(axis=0) if n_folds else unknown, error


def chosen_place(losses: FloatArray, errors: FloatArray, one_standard_error: bool) -> int:
    """Return the place of the least loss, or of the first within one standard error of it.

    Ties go to the first.

    >>> losses, errors = np.array([3.0, 2.1, 2.0]), np.array([0.3, 0.2, 0.2])
    >>> chosen_place(losses, errors, False), chosen_place(losses, errors, True)
    (2, 1)
    """
    best = int(np.argmin(losses))
    if not one_standard_error or np.isnan(errors[best]):
        return best
    return int(np.argmax(losses <= losses[best] + errors[best]))
