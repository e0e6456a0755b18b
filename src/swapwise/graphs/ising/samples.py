"""Samples of an Ising model in memory, gone through one by one."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.graphs.ising.model import IsingModel
from swapwise.graphs.ising.spin_data import (
    LONGEST_STEP,
    MAX_STEPS,
    REFIT_TOLERANCE,
    SURE,
    SpinData,
    best_biases,
    counts_of,
    curvatures_of,
    hessian_of,
    if_unequal,
    slopes_of,
    without_fields,
)
from swapwise.kernels import ising
from swapwise.moves import MoveList
from swapwise.override import override
from swapwise.threads import n_kernel_threads, product

# A refit that scores a move may stop this far below the maximum.
GAIN_TOLERANCE = 1e-13

# Means of the Hessian on the way to a fit are taken over this many places.
PLACES_OF_MEAN = 5

# Starting threads for fewer refits would cost more than it saves.
ROWS_WORTH_THREADS = 64


class Samples(SpinData):
    """Any real numbers, one vertex per row; every mean is taken over all samples.

    Entries that are NaN are missing. Where they are, ``own``, the predicted values, is 0, so that the term is
    log σ(0) whatever the parameters are, and ``seen``, the values that neighbours see, is ``completed`` or
    ``imputed``.
    """

    def __init__(
        self,
        model: IsingModel,
        samples: FloatArray,
        weight: FloatArray | None,
        completed: FloatArray | None = None,
    ) -> None:
        self.model = model
        self.n_samples = len(samples)
        self._counts = counts_of(weight, self.n_samples)
        self.n_counted = int(self._counts.sum())
        weight = if_unequal(weight)
        #: The weights, which have mean 1: an array if they differ
        self.weight: FloatArray | float = 1.0 if weight is None else _of_mean_one(weight)
        #: The predicted values and those that neighbours see: one array if nothing is missing
        self.own: FloatArray = np.ascontiguousarray(samples.T)  # the samples of a vertex lie side by side
        self.seen: FloatArray = self.own
        missing = np.isnan(self.own)
        self._observed = ~missing if missing.any() else None
        if self._observed is not None:
            self.own = np.where(missing, 0.0, self.own)
        self.imputed = self._means() if model.fields else np.zeros(model.n_vertices)
        if self._observed is not None:
            filled = self.imputed[:, None] if completed is None else completed.T
            self.seen = np.where(missing, filled, self.own)
        self.perfect = -np.log(2.0) * float(self.mean(self.own == 0).sum())
        self.offset = np.log(2.0) * float(self.mean(missing).sum())

    def _means(self) -> FloatArray:
        return self._of_observed(self.mean(self.own))

    def _of_observed(self, means: FloatArray) -> FloatArray:
        """Turn means over all samples, in which missing entries are 0, into means of what was observed."""
        if self._observed is None:
            return means
        share = self.mean(self._observed)
        return np.divide(means, share, out=np.zeros(len(means)), where=share > 0)

    @cached_property
    @override
    def n_observed(self) -> IndexArray:
        if self._observed is None:
            return np.full((self.model.n_vertices,) * 2, self.n_counted)
        observed = self._observed.astype(np.float64)  # products of whole numbers are not fast
        return ((observed * self._counts) @ observed.T).astype(np.intp)

    @property
    @override
    def samples(self) -> Samples:  # type: ignore[override]
        return self

    #: The kind and the scale of each vertex, to the kernels; none if all are binary
    _kinds: tuple[IndexArray, FloatArray] = (np.empty(0, dtype=np.intp), np.empty(0))

    @cached_property
    def _problem(self) -> tuple[Any, ...]:
        """The arguments of the kernels: see ``Problem`` in kernels/ising.hpp."""
        model = self.model
        weight = self.weight if isinstance(self.weight, np.ndarray) else np.empty(0)
        couplings = LONGEST_STEP / np.sqrt(_positive(self.edge_curvature))
        fields = LONGEST_STEP / _positive(self.vertex_sizes)
        samples = (self.own, self.seen, weight, *self._kinds)
        return (samples, model.tail, model.head, model.ridge, couplings, fields)

    @override
    def refit(self, support: IndexArray, parameters: FloatArray) -> tuple[float, bool]:
        samples, tail, head, ridge, *longest = self._problem
        lengths = ising.step_lengths(support, len(parameters), *longest)
        return ising.refit(
            samples, tail[support], head[support], parameters, ridge, lengths, REFIT_TOLERANCE, MAX_STEPS
        )

    @override
    def values_after(
        self, support: IndexArray, parameters: FloatArray, moves: MoveList
    ) -> tuple[FloatArray, BoolArray]:
        return ising.values_after(
            self._problem,
            support,
            parameters,
            moves.added,
            moves.dropped,
            GAIN_TOLERANCE,
            MAX_STEPS,
            n_kernel_threads() if len(moves) > ROWS_WORTH_THREADS else 1,
        )

    # -- at any couplings ---------------------------------------------------------------------------

    @override
    def value(self, coef: FloatArray, fields: FloatArray | None) -> float:
        log_likelihood = float(self.log_likelihoods(self.local_fields(coef, fields)).sum())
        return log_likelihood - self.model.ridge * float(coef @ coef) / 2

    def log_likelihoods(self, local: FloatArray) -> FloatArray:
        return self.mean(self.terms(local))

    def terms(self, local: FloatArray) -> FloatArray:
        return -np.logaddexp(0.0, -2.0 * self.own * local)

    def slopes(self, local: FloatArray) -> FloatArray:
        """Return the derivative of each term in its local field."""
        return slopes_of(self.own, local)

    def curvatures(self, local: FloatArray) -> FloatArray:
        """Return minus the second derivative of each term in its local field."""
        return curvatures_of(self.own, local)

    @cached_property
    def largest_curvatures(self) -> FloatArray:
        """Upper bounds on ``curvatures`` at any local field."""
        return self.own**2

    def mean(self, values: FloatArray) -> FloatArray:
        if isinstance(self.weight, np.ndarray):
            return values @ self.weight / self.n_samples
        return values.mean(axis=-1)

    def local_fields(self, coef: FloatArray, fields: FloatArray | None = None) -> FloatArray:
        """Return h for every vertex and sample, with given fields or the best ones for these couplings."""
        local = product(self.model.coupling_matrix(coef), self.seen)
        if not self.model.fields:
            return local
        return local + (self._best_biases(local) if fields is None else fields)[:, None]

    @override
    def best_fields(self, coef: FloatArray) -> FloatArray:
        if not self.model.fields:
            return np.zeros(self.model.n_vertices)
        return self._best_biases(product(self.model.coupling_matrix(coef), self.seen))

    def _best_biases(self, local: FloatArray) -> FloatArray:
        def slopes(bias: FloatArray) -> tuple[FloatArray, FloatArray]:
            there = local + bias[:, None]
            return self.mean(self.slopes(there)), self.mean(self.curvatures(there))

        return best_biases(slopes, self._widest_biases(local))

    def _widest_biases(self, local: FloatArray) -> FloatArray:
        """Return bounds on the best biases of vertices that vary."""
        largest = _positive(np.abs(self.own).max(axis=1))
        return (SURE + 2.0 * np.abs(self.own * local).max(axis=1)) / largest

    @override
    def vertex_gradients(self, coef: FloatArray, fields: FloatArray | None) -> FloatArray:
        local = self.local_fields(coef, fields)
        return product(self.slopes(local), self._weighted.T) / self.n_samples

    @cached_property
    def _weighted(self) -> FloatArray:
        return self.seen * self.weight if isinstance(self.weight, np.ndarray) else self.seen

    # -- curvature ----------------------------------------------------------------------------------

    @cached_property
    @override
    def edge_curvature(self) -> FloatArray:
        means = (self.largest_curvatures * self.weight) @ (self.seen**2).T / self.n_samples
        tail, head = self.model.tail, self.model.head
        return np.maximum(means[tail, head], means[head, tail])

    @cached_property
    @override
    def vertex_sizes(self) -> FloatArray:
        return np.sqrt(self._of_observed(self.mean(self.largest_curvatures)))

    @override
    def patterns(self, support: IndexArray) -> list[tuple[FloatArray, FloatArray]]:
        weight: FloatArray = np.broadcast_to(self.weight, self.n_samples) / self.n_samples
        found: list[tuple[FloatArray, FloatArray]] = []
        for vertex, *others in self.model.neighbourhoods(support):
            together = np.vstack([self.own[vertex], self.seen[others]])
            spins, which = np.unique(together, axis=1, return_inverse=True)
            share = np.bincount(which.ravel(), weight)
            found.append((spins, share.astype(np.float64)))
        return found

    @override
    def mean_products(self, shared: int, other: int, thirds: IndexArray) -> FloatArray:
        pair = self.largest_curvatures[shared] * self.seen[other] * self.weight
        return self.seen[thirds] @ (pair / self.n_samples)

    @override
    def hessian(self, coef: FloatArray, elements: IndexArray) -> FloatArray:
        return without_fields(
            self._products(self._curvature(self.local_fields(coef)), elements), len(elements)
        )

    def mean_hessian(
        self,
        coef: FloatArray,
        fields: FloatArray | None,
        alone: FloatArray,
        elements: IndexArray,
        share: float,
    ) -> FloatArray:
        """Return minus the Hessian for some edges and, if there are fields, for those of all vertices.

        It is the mean over the last ``share`` of the way from no couplings, with the fields ``alone``.
        """
        local = self.local_fields(coef, fields)
        back = (alone[:, None] if self.model.fields else 0.0) - local
        ways = share * (np.arange(PLACES_OF_MEAN) + 0.5) / PLACES_OF_MEAN if share > 0 else np.zeros(1)
        curve: FloatArray = np.mean([self._curvature(local + way * back) for way in ways], axis=0)
        return self._products(curve, elements)

    def _curvature(self, local: FloatArray) -> FloatArray:
        return self.curvatures(local) * self.weight / self.n_samples

    def _products(self, curve: FloatArray, elements: IndexArray) -> FloatArray:
        tail, head = self.model.tail[elements], self.model.head[elements]
        return hessian_of(self.seen, curve, tail, head, fields=self.model.fields)


def _positive(sizes: FloatArray) -> FloatArray:
    """Return sizes with the largest in place of zeros: what has no size has no effect, whatever its step."""
    return np.where(sizes > 0, sizes, sizes.max(initial=0.0) or 1.0)


def _of_mean_one(weight: FloatArray) -> FloatArray:
    weight = weight / weight.max()  # sums of very large weights are infinite
    return weight / weight.mean()
