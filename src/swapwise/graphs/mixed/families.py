"""How a vertex of a mixed graph is distributed given its neighbours: one record per family.

Given its local field h, the log-likelihood of x is ``x h − A(h)`` and a constant, with a convex A. A family
is one class here and one number in kernels/ising.hpp.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import gammaln, xlogy

from swapwise.checks import FloatArray
from swapwise.graphs.ising.spin_data import SURE, curvatures_of, drawn_spins, slopes_of
from swapwise.override import override

# Exponentials are cut off before they leave floating point, as they are in the kernels.
LARGEST_EXPONENT = 500.0

# Larger means of counts cannot be drawn from.
LARGEST_MEAN = 1e15


class VertexFamily(ABC):
    """Terms of one family, with their derivatives: all of arrays of own values, local fields and scales.

    What is missing is NaN, but 0 if the family is binary.
    """

    name: str
    #: The number by which the kernels know it
    number: int
    #: Whether there is a number that terms curve no more than
    is_smooth: bool = True

    @abstractmethod
    def terms(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        """Return ``x h − A(h)``."""

    @abstractmethod
    def slopes(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the derivatives of the terms in the local field."""

    @abstractmethod
    def curvatures(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        """Return minus the second derivatives of the terms in the local field."""

    @abstractmethod
    def largest_curvatures(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        """Return upper bounds on the curvatures; where there are none, mean curvatures."""

    @abstractmethod
    def highest(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        """Return upper bounds on the terms at any local field."""

    @abstractmethod
    def base(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        """Return the part of the log-likelihood that depends on x alone."""

    @abstractmethod
    def widest(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        """Return a bound on the best bias of each vertex, a row, that varies."""

    @abstractmethod
    def draw(self, local: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        """Return a value for each local field."""


class Binary(VertexFamily):
    """A spin of -1 or +1, with ``A(h) = log(2 cosh h)``: the terms are ``log σ(2 x h)``."""

    name, number = "binary", 0

    @override
    def terms(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return -np.logaddexp(0.0, -2.0 * own * local)

    @override
    def slopes(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return slopes_of(own, local)

    @override
    def curvatures(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return curvatures_of(own, local)

    @override
    def largest_curvatures(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return own**2

    @override
    def highest(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return np.where(own == 0, -np.log(2.0), 0.0)

    @override
    def base(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return np.where(own == 0, np.log(2.0), 0.0)

    @override
    def widest(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return SURE + 2.0 * np.abs(local).max(axis=1)

    @override
    def draw(self, local: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        return drawn_spins(local, rng)


class Gaussian(VertexFamily):
    """A real number of known conditional variance s, its scale: ``A(h) = s h²/2``, with mean ``s h``."""

    name, number = "gaussian", 1

    @override
    def terms(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, own * local - scale * local**2 / 2.0)

    @override
    def slopes(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, own - scale * local)

    @override
    def curvatures(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return self.largest_curvatures(own, scale)

    @override
    def largest_curvatures(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, np.broadcast_to(scale, own.shape))

    @override
    def highest(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, own**2 / (2.0 * scale))

    @override
    def base(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, -(own**2) / (2.0 * scale) - np.log(2.0 * np.pi * scale) / 2.0)

    @override
    def widest(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return (SURE + np.nan_to_num(np.abs(own)).max(axis=1)) / scale[:, 0] + np.abs(local).max(axis=1)

    @override
    def draw(self, local: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        return scale * local + np.sqrt(scale) * rng.standard_normal(len(local))


class Counts(VertexFamily):
    """A count k whose mean is ``e^{s h}``, as that of a Poisson variable; ``x = s k`` with the scale s."""

    name, number, is_smooth = "counts", 2, False

    def _means(self, local: FloatArray, scale: FloatArray) -> FloatArray:
        means: FloatArray = np.exp(np.minimum(scale * local, LARGEST_EXPONENT))
        return means

    @override
    def terms(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, own * local - self._means(local, scale))

    @override
    def slopes(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, own - scale * self._means(local, scale))

    @override
    def curvatures(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, scale**2 * self._means(local, scale))

    @override
    def largest_curvatures(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        observed = (own == own).sum(axis=1, keepdims=True)
        total = np.nan_to_num(own).sum(axis=1, keepdims=True)
        means = np.divide(total, observed, out=np.zeros_like(total), where=observed > 0)
        return _there(own, np.broadcast_to(scale * means, own.shape))

    @override
    def highest(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        counts = own / scale
        return _there(own, xlogy(counts, counts) - counts)

    @override
    def base(self, own: FloatArray, scale: FloatArray) -> FloatArray:
        return _there(own, -gammaln(own / scale + 1.0))

    @override
    def widest(self, own: FloatArray, local: FloatArray, scale: FloatArray) -> FloatArray:
        counts = np.nan_to_num(own / scale).max(axis=1)
        return (SURE + np.log1p(counts)) / scale[:, 0] + np.abs(local).max(axis=1)

    @override
    def draw(self, local: FloatArray, scale: float, rng: np.random.Generator) -> FloatArray:
        means = np.minimum(self._means(local, np.array(scale)), LARGEST_MEAN)
        return scale * rng.poisson(means).astype(np.float64)


def _there(own: FloatArray, values: FloatArray) -> FloatArray:
    return np.where(np.isnan(own), 0.0, values)


#: The families by name
FAMILIES: dict[str, VertexFamily] = {family.name: family for family in (Binary(), Gaussian(), Counts())}
