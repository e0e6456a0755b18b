"""The conditional distributions of a fitted mixed graph, for any samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray
from swapwise.graphs.ising.open import read_weight
from swapwise.graphs.mixed.columns import MixedColumns, read_matrix
from swapwise.graphs.mixed.families import Binary, Counts, Gaussian


@dataclass(frozen=True, eq=False)
class Conditionals:
    """Columns in units in which Gaussian ones have a conditional variance of 1."""

    columns: MixedColumns
    #: The value of each vertex for its neighbours where it is missing
    imputed: FloatArray

    @cached_property
    def scales(self) -> FloatArray:
        """The scale of each vertex: of counts, how much a unit is; 1 for others."""
        are_counts = [isinstance(family, Counts) for family in self.columns.families]
        return np.where(are_counts, 1.0 / self.columns.spread, 1.0)

    def own(self, X: FloatArray) -> FloatArray:
        """Return the predicted values, one vertex per row: NaN where they are missing, but 0 if binary."""
        own = np.ascontiguousarray(self.columns.own(X).T)
        for vertex, family in enumerate(self.columns.families):
            if isinstance(family, Binary):
                own[vertex] = np.nan_to_num(own[vertex])
        return own

    def of_families(self, what: str, own: FloatArray, local: FloatArray | None = None) -> FloatArray:
        answers = []
        for vertex, family in enumerate(self.columns.families):
            row = slice(vertex, vertex + 1)
            fields = () if local is None else (local[row],)
            answers.append(getattr(family, what)(own[row], *fields, self.scales[row, None]))
        return np.concatenate(answers)

    def draw(self, vertex: int, local: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return values of a vertex with these local fields, in units of the data."""
        family = self.columns.families[vertex]
        drawn = family.draw(local, float(self.scales[vertex]), rng) * self.columns.spread[vertex]
        return drawn if isinstance(family, Counts) else drawn + self.columns.centre[vertex]

    def in_units_of_data(self, coupling: FloatArray, fields: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return slopes and intercepts by which local fields depend on values as they are."""
        slopes = coupling / self.columns.spread
        return slopes, fields - slopes @ self.columns.centre

    def base(self, own: FloatArray) -> FloatArray:
        """Return the part of log-likelihoods that does not depend on local fields, in units of the data."""
        are_gaussian = [isinstance(family, Gaussian) for family in self.columns.families]
        logs = np.where(are_gaussian, np.log(self.columns.spread), 0.0)[:, None]
        return self.of_families("base", own) - np.where(np.isnan(own), 0.0, logs)

    def mean_log_likelihood(
        self,
        X: Any,
        coupling: FloatArray,
        fields: FloatArray,
        sample_weight: Any = None,
        completed: FloatArray | None = None,
    ) -> float:
        """Return the mean over samples of ``Σ_v log p(x_v | neighbours)``, over what was observed.

        Neighbours see ``completed``, or else means. Samples of which everything is missing do not count.
        """
        matrix = read_matrix(X)
        weight = read_weight(sample_weight, len(matrix))
        counts = have_answers(matrix, weight)
        own = self.own(matrix[counts])
        seen = self.columns.standardised((matrix if completed is None else completed)[counts]).T
        seen = np.where(np.isnan(seen), self.imputed[:, None], seen)
        terms = self.of_families("terms", own, coupling @ seen + fields[:, None]) + self.base(own)
        weight = None if weight is None else weight[counts]
        return float(np.average(terms.sum(axis=0), weights=weight))


def have_answers(X: FloatArray, weight: FloatArray | None) -> BoolArray:
    """Return which samples have a positive weight and an observed entry."""
    counts: BoolArray = ~np.asarray(np.isnan(X).all(axis=1))
    if weight is not None:
        counts = counts & (weight > 0)
    if not counts.any():
        raise ValueError("X must have a value in a sample of positive weight, got none")
    return counts
