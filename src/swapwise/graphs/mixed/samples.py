"""Samples of a mixed graph in memory: each vertex has terms of its own family."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from swapwise.checks import FloatArray
from swapwise.graphs.ising.model import IsingModel
from swapwise.graphs.ising.samples import Samples
from swapwise.graphs.mixed.columns import MixedColumns
from swapwise.graphs.mixed.conditionals import Conditionals
from swapwise.graphs.mixed.families import Gaussian
from swapwise.override import override

# A column that others nearly determine has a conditional variance near 0, and couplings without bounds.
LEAST_VARIANCE = 1e-3

# Conditional variances are taken from regressions on all other columns if there are this many samples per
# column; they are too low if there are fewer.
SAMPLES_PER_COLUMN = 5


class MixedSamples(Samples):
    """Samples whose columns are standardised, but for spins; Gaussian ones by conditional deviations.

    A coupling of two Gaussian vertices is then a partial correlation, and a ridge means the same to all.
    What is missing of ``own`` is NaN, but 0 if it is binary, as the kernels want it.
    """

    def __init__(
        self,
        model: IsingModel,
        X: FloatArray,
        columns: MixedColumns,
        weight: FloatArray | None,
        variances: FloatArray | None = None,
        completed: FloatArray | None = None,
    ) -> None:
        seen = None if completed is None else columns.standardised(completed)
        super().__init__(model, columns.standardised(X), weight, seen)
        families = columns.families
        self._are_gaussian = np.array([isinstance(family, Gaussian) for family in families])
        #: Whether there are samples enough to take conditional variances from regressions on all columns
        self.are_regressed = self.n_counted >= SAMPLES_PER_COLUMN * model.n_vertices
        #: The conditional variances of Gaussian vertices; 1 for others
        self.variances = self._of_gaussian(self._regressed_variances() if variances is None else variances)
        deviations = np.sqrt(self.variances)
        self.seen, self.imputed = self.seen / deviations[:, None], self.imputed / deviations
        self.columns = replace(columns, spread=columns.spread * deviations)
        self.conditionals = Conditionals(self.columns, self.imputed)
        self.own = self.conditionals.own(X)
        numbers = np.array([family.number for family in families], dtype=np.intp)
        self._kinds = (numbers, self.conditionals.scales)
        self.perfect = float(self.mean(self._of_families("highest")).sum())
        self.offset = float(self.mean(self.conditionals.base(self.own)).sum())

    def _of_families(self, what: str, local: FloatArray | None = None) -> FloatArray:
        return self.conditionals.of_families(what, self.own, local)

    @override
    def terms(self, local: FloatArray) -> FloatArray:
        return self._of_families("terms", local)

    @override
    def slopes(self, local: FloatArray) -> FloatArray:
        return self._of_families("slopes", local)

    @override
    def curvatures(self, local: FloatArray) -> FloatArray:
        return self._of_families("curvatures", local)

    @cached_property
    @override
    def largest_curvatures(self) -> FloatArray:
        return self._of_families("largest_curvatures")

    @override
    def _widest_biases(self, local: FloatArray) -> FloatArray:
        return self._of_families("widest", local)

    def _regressed_variances(self) -> FloatArray:
        """Return the residual variance of each Gaussian vertex, given all others; 1 if samples are few."""
        n_vertices = self.model.n_vertices
        if not self.are_regressed:
            return np.ones(n_vertices)
        centred = self.seen - self.mean(self.seen)[:, None]
        spread = np.sqrt(self.mean(centred**2))
        centred = centred / np.where(spread > 0, spread, 1.0)[:, None]
        correlations = (centred * self.weight) @ centred.T / self.n_samples
        np.fill_diagonal(correlations, 1.0)
        precision = np.diag(np.linalg.inv(correlations + LEAST_VARIANCE * np.eye(n_vertices)))
        residual = self.n_counted / (self.n_counted - n_vertices) / precision
        return np.clip(residual, LEAST_VARIANCE, 1.0)

    def residual_variances(self, coef: FloatArray, fields: FloatArray) -> FloatArray:
        residuals = self.slopes(self.local_fields(coef, fields))
        found = self.variances * self._of_observed(self.mean(residuals**2))
        return self._of_gaussian(np.clip(found, LEAST_VARIANCE, 1.0))

    def _of_gaussian(self, values: FloatArray) -> FloatArray:
        return np.where(self._are_gaussian, values, 1.0)
