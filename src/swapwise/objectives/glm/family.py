"""A family of likelihoods: one record, which objectives, estimators, command line and report read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from swapwise.checks import FloatArray

# Means beyond these would round to zero or infinity in a deviance.
SMALLEST_MEAN, LARGEST_MEAN = 1e-300, 1e300


@dataclass(frozen=True)
class Family:
    """A family of likelihoods of a target given its linear predictor η, concave in η.

    Functions are of arrays with one number per sample, at module level so that records can be pickled. To add
    a family, write a record, its kernel in ``kernels/families.hpp``, and an objective that names it.
    """

    #: The name in options and files
    name: str
    #: The model in a sentence
    title: str
    #: Its number in :mod:`swapwise.kernels`
    number: int
    #: Maps the target as given, and the number of samples if known, to a checked target
    read_target: Callable[[Any, int | None], FloatArray]
    #: The mean of the target, or the probability of 1, from η
    mean: Callable[[FloatArray], FloatArray]
    #: From target and η: twice the gap of each sample's log-likelihood to that of a perfect fit
    deviances: Callable[[FloatArray, FloatArray], FloatArray]
    #: The log-likelihood of a perfect fit, up to terms that do not depend on η
    perfect: Callable[[FloatArray], FloatArray]
    #: From target, weights that sum to one, and η without an intercept: a first guess of the intercept
    first_intercept: Callable[[FloatArray, FloatArray, FloatArray], float]
    #: Why coefficients may diverge: the beginning of the warning
    divergence_cause: str
    #: The name of the deviance, such as "Poisson deviance"
    deviance_name: str
    #: The name of a target, such as "count", "amount", "class"
    outcome: str = "number"
    #: The size of each sample's term of the log-likelihood, on which its rounding depends
    sizes: Callable[[FloatArray], FloatArray] = np.abs
    #: An upper bound on the second derivative in η, by sample; None if it is unbounded
    most_curvature: Callable[[FloatArray], FloatArray] | None = None
    #: The meaning of an offset, for users; None if the family has none
    offset: str | None = None
    #: Whether targets are non-negative
    non_negative: bool = True
    #: From the target: the basis of class scores, one column per number of η; None for a single number
    scores: Callable[[FloatArray], FloatArray] | None = None
    #: Whether targets are positive
    positive: bool = False
    #: A parameter of the kernel
    parameter: float = 0.0
    #: The same family with another parameter; None if users cannot set one
    with_parameter: Callable[[float], Family] | None = None
    #: From target, means and weights (or None): the maximum-likelihood parameter
    best_parameter: Callable[[FloatArray, FloatArray, FloatArray | None], float] | None = None
    #: From the mean deviance: minus twice the mean log-likelihood at the best dispersion, up to a constant;
    #: None if there is no dispersion, and this is the mean deviance itself
    at_best_dispersion: Callable[[float], float] | None = None

    @property
    def kernel(self) -> tuple[int, float]:
        return self.number, self.parameter


def about_zero(target: FloatArray, weight: FloatArray, eta: FloatArray) -> float:
    return -float(eta @ weight) / float(weight.sum())


def equal_sums(target: FloatArray, weight: FloatArray, eta: FloatArray) -> float:
    """The intercept at which the means, exponentials of η, have the same sum as the target."""
    total = float(weight @ target)
    if total == 0:
        return about_zero(target, weight, eta)
    return float(np.log(total) - scipy.special.logsumexp(eta, b=weight))


def exponential(eta: FloatArray) -> FloatArray:
    return np.exp(np.clip(eta, np.log(SMALLEST_MEAN), np.log(LARGEST_MEAN)))
