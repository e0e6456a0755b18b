"""Designs on which searches end in different answers: few samples, and columns that stand in for each other.

Columns have mean 0 and standard deviation 1: programs that do not scale them are at no disadvantage.
"""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter
from scipy.stats import norm

from swapwise.checks import FloatArray

Generator = np.random.Generator

FACTORS, OWN_VARIANCE = (
    10,
    0.2,
)  # what columns have in common, and the share of the variance that is their own
LINKED, LINKAGE = 50, 0.95  # variants in a block, and the correlation of neighbours before they become counts
RAREST = 0.05  # allele frequency, as studies of associations commonly ask for
LAGS, PERSISTENCE = 50, 0.8  # columns per signal, and the correlation of a signal with itself a step before
DEGREES_OF_FREEDOM = 3  # of Student's t: the variance exists, the kurtosis does not
HEAVY_CORRELATION = 0.7
MEAN = 1.0  # of the variables that are multiplied: products then correlate with their factors


def autoregression(draws: FloatArray, correlation: float) -> FloatArray:
    """Return rows in which columns i and j have the correlation ρ^|i − j|, of draws of variance 1."""
    innovation = np.sqrt(1 - correlation**2)
    draws[:, 0] /= innovation  # so that the first column has the variance of all others
    return np.ascontiguousarray(lfilter([innovation], [1.0, -correlation], draws, axis=1))


def factor(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return columns that are mostly mixtures of a few common factors."""
    common = rng.standard_normal((samples, FACTORS)) @ rng.standard_normal((FACTORS, features))
    own = rng.standard_normal((samples, features)) * np.sqrt(FACTORS * OWN_VARIANCE / (1 - OWN_VARIANCE))
    return _standardised(common + own)


def genotype(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return counts of the rarer allele, 0 to 2, of variants that are linked within blocks."""
    frequency = rng.uniform(RAREST, 0.5, features)
    draws = rng.standard_normal((2 * samples, features))
    for first in range(0, features, LINKED):
        draws[:, first : first + LINKED] = autoregression(draws[:, first : first + LINKED], LINKAGE)
    alleles = draws < norm.ppf(frequency)
    return _standardised(alleles[:samples].astype(float) + alleles[samples:])


def lags(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return a few signals, each at the present and at many steps before."""
    signals = -(-features // LAGS)
    series = autoregression(rng.standard_normal((signals, samples + LAGS - 1)), PERSISTENCE)
    windows = np.lib.stride_tricks.sliding_window_view(series, LAGS, axis=1)  # signal, time, lag
    return _standardised(windows.transpose(1, 0, 2).reshape(samples, -1)[:, :features])


def products(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return variables, their squares and the products of all pairs, as many as there are places."""
    variables = int(np.ceil((np.sqrt(9 + 8 * features) - 3) / 2))  # m variables make m (m + 3) / 2 columns
    base = MEAN + rng.standard_normal((samples, variables))
    left, right = np.triu_indices(variables)
    return _standardised(np.hstack([base, base[:, left] * base[:, right]])[:, :features])


def heavy_tailed(rng: Generator, samples: int, features: int) -> FloatArray:
    """Return an autoregression along the columns of numbers of which a few are very large."""
    draws = rng.standard_t(DEGREES_OF_FREEDOM, (samples, features))
    return _standardised(autoregression(draws, HEAVY_CORRELATION))


HARD = {
    "factor": factor,
    "genotype": genotype,
    "lags": lags,
    "products": products,
    "heavy-tailed": heavy_tailed,
}


def _standardised(X: FloatArray) -> FloatArray:
    """Return the columns with mean 0 and standard deviation 1; those that are constant become zero."""
    X = X - X.mean(axis=0)
    deviation = X.std(axis=0)
    return np.ascontiguousarray(X / np.where(deviation > 0, deviation, 1.0))
