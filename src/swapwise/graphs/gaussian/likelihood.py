"""The maximum likelihood of a precision matrix on a given graph: covariance selection."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray
from swapwise.kernels import gaussian

# Correlations that move by no more than this in a sweep have settled; there are at most this many sweeps.
SETTLED, MOST_SWEEPS = 1e-10, 20_000

# A fit counts as the maximum if its correlations on the edges are as close as this to those of the data.
CLOSE = 1e-6


class NoMaximum(ValueError):
    """The likelihood grows without bound on a graph; by which vertex, if it is known."""

    def __init__(self, message: str, vertex: int | None = None) -> None:
        super().__init__(message)
        self.vertex = vertex


class GaussianFit(NamedTuple):
    """A Gaussian distribution whose precision matrix has zeros where a graph has no edge."""

    precision: FloatArray
    #: The inverse of it
    covariance: FloatArray
    #: The mean over samples with the covariance matrix that was given, and with mean 0
    log_likelihood: float
    #: Whether covariances on the edges are those of the data
    converged: bool


def fit_correlations(
    given: FloatArray, tail: IndexArray, head: IndexArray, ridge: float = 0.0
) -> GaussianFit:
    """Return the maximum-likelihood fit of a Gaussian distribution to a correlation matrix, on a graph.

    Correlations on the edges are those given, divided by 1 + ridge, and the precision matrix has zeros
    elsewhere; the likelihood is that of the matrix as given. Without a ridge, there is no maximum where a
    variable is a linear combination of its neighbours, such as a copy of one, or has as many neighbours as
    there are samples.

    References
    ----------
    A. P. Dempster, "Covariance selection", Biometrics 28, 1972.
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", 2009, section 17.3.1.
    """
    correlations = given / (1.0 + ridge)
    np.fill_diagonal(correlations, 1.0)
    precision = _select(correlations, tail, head)
    factor, info = scipy.linalg.lapack.dpotrf(precision, lower=1, clean=1)
    inverse, failed = scipy.linalg.lapack.dpotri(factor, lower=1) if info == 0 else (factor, info)
    if failed != 0:
        raise NoMaximum("the likelihood has almost no maximum on this graph; give a ridge such as 0.01")
    covariance = np.tril(inverse) + np.tril(inverse, -1).T
    wrong = max(
        float(np.abs(covariance[tail, head] - correlations[tail, head]).max(initial=0.0)),
        float(np.abs(np.diag(covariance) - 1.0).max(initial=0.0)),
    )
    likelihood = float(np.log(np.diag(factor)).sum()) - 0.5 * float((given * precision).sum())
    likelihood -= 0.5 * len(given) * float(np.log(2.0 * np.pi))
    return GaussianFit(precision, covariance, likelihood, wrong <= CLOSE)


def _select(correlations: FloatArray, tail: IndexArray, head: IndexArray) -> FloatArray:
    n = len(correlations)
    ends, others = np.append(tail, head), np.append(head, tail)
    begin = np.append(0, np.cumsum(np.bincount(ends, minlength=n)))
    fitted, precision = correlations.copy(), np.zeros((n, n))
    neighbours = others[np.argsort(ends, kind="stable")]
    _, _, dependent = gaussian.select(fitted, precision, begin, neighbours, SETTLED, MOST_SWEEPS)
    if dependent >= 0:
        raise NoMaximum(
            f"the likelihood has no maximum on this graph: vertex {dependent} is a linear combination of its "
            "neighbours, or these are of each other; leave out copies of variables, ask for fewer neighbours "
            "than there are samples, or give a ridge such as 0.01",
            int(dependent),
        )
    return (precision + precision.T) / 2
