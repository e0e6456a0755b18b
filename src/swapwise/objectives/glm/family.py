"""What a family of likelihoods is: one record, which objectives, estimators, command line and report read."""

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

    >>> from swapwise.objectives.glm.poisson import POISSON_FAMILY as family
    >>> family.name, family.mean(np.zeros(2)), family.deviances(np.array([1.0, 0.0]), np.zeros(2))
    ('poisson', array([1., 1.]), array([0., 2.]))
    """

    #: As users name it
    name: str
    #: The model in a sentence
    title: str
    #: Its number in :mod:`swapwise.kernels`
    number: int
    #: From the target as it is given, and the number of samples if that is known, to a checked one
    read_target: Callable[[Any, int | None], FloatArray]
    #: The mean of the target, or the probability of 1, from η
    mean: Callable[[FloatArray], FloatArray]
    #: From target and η: twice what the log-likelihood of each sample is below that of a perfect fit
    deviances: Callable[[FloatArray, FloatArray], FloatArray]
    #: The log-likelihood of a perfect fit, but for terms that do not depend on η
    perfect: Callable[[FloatArray], FloatArray]
    #: From target, weights that sum to one, and η without an intercept: a first guess of the intercept
    first_intercept: Callable[[FloatArray, FloatArray, FloatArray], float]
    #: How the warning about coefficients without a maximum begins
    runaway: str
    #: What the deviance is called: "Poisson deviance"
    deviance_name: str
    #: What a target is called: "count", "amount", "class"
    outcome: str = "number"
    #: How large the terms of the log-likelihood are, by sample: what they are rounded by
    sizes: Callable[[FloatArray], FloatArray] = np.abs
    #: What the second derivative in η does not exceed, by sample; None if it knows no bounds
    most_curvature: Callable[[FloatArray], FloatArray] | None = None
    #: What an offset is to users; None if the family has no use for one
    offset: str | None = None
    #: Whether the target has no values below zero
    non_negative: bool = True
    #: Whether there are classes, and how many numbers make up η, by the target; None for one number
    scores: Callable[[FloatArray], FloatArray] | None = None
    #: Whether a target of zero has no likelihood
    positive: bool = False
    #: A parameter that the kernel needs
    parameter: float = 0.0
    #: The same family with another parameter; None if it has none that users know
    with_parameter: Callable[[float], Family] | None = None
    #: From target, means and weights (or None): the parameter under which the target is likeliest
    best_parameter: Callable[[FloatArray, FloatArray, FloatArray | None], float] | None = None
    #: From the mean deviance: minus twice the mean log-likelihood at the best dispersion, but for a constant;
    #: None if there is none to choose, and this is the mean deviance itself
    at_best_dispersion: Callable[[float], float] | None = None

    @property
    def kernel(self) -> tuple[int, float]:
        """What kernels know the family by."""
        return self.number, self.parameter


def about_zero(target: FloatArray, weight: FloatArray, eta: FloatArray) -> float:
    """Return the intercept that makes the linear predictor zero on average."""
    return -float(eta @ weight) / float(weight.sum())


def equal_sums(target: FloatArray, weight: FloatArray, eta: FloatArray) -> float:
    """Return the intercept with which means, exponentials of η, have the same sum as the target."""
    total = float(weight @ target)
    if total == 0:
        return about_zero(target, weight, eta)
    return float(np.log(total) - scipy.special.logsumexp(eta, b=weight))


def exponential(eta: FloatArray) -> FloatArray:
    """Return the mean of a log link, kept within floating point."""
    return np.exp(np.clip(eta, np.log(SMALLEST_MEAN), np.log(LARGEST_MEAN)))


def nothing(target: FloatArray) -> FloatArray:
    """Return zeros: the log-likelihood of outcomes that were certain."""
    return np.zeros(len(target))
