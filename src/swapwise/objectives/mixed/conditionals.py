"""The conditional distributions of a mixed graph, for any samples: what is left of the data after a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from swapwise.checks import FloatArray
from swapwise.objectives.ising.open import read_weight
from swapwise.objectives.mixed.columns import Columns, read_matrix
from swapwise.objectives.mixed.families import Binary, Counts, Gaussian


@dataclass(frozen=True, eq=False)
class Conditionals:
    """Columns with their scales: conditional variances, and of counts how much a unit is."""

    columns: Columns
    scales: FloatArray
    #: What each vertex is to its neighbours where it is missing
    filling: FloatArray

    def own(self, X: FloatArray) -> FloatArray:
        """Return what is predicted, one vertex per row: NaN where it is missing, but 0 if it is binary."""
        own = np.ascontiguousarray(self.columns.own(X).T)
        for vertex, family in enumerate(self.columns.families):
            if isinstance(family, Binary):
                own[vertex] = np.nan_to_num(own[vertex])
        return own

    def of_families(self, what: str, own: FloatArray, local: FloatArray | None = None) -> FloatArray:
        """Return what each family says of its vertices, such as their terms."""
        answers = []
        for vertex, family in enumerate(self.columns.families):
            row = slice(vertex, vertex + 1)
            fields = () if local is None else (local[row],)
            answers.append(getattr(family, what)(own[row], *fields, self.scales[row, None]))
        return np.concatenate(answers)

    def base(self, own: FloatArray) -> FloatArray:
        """Return what log-likelihoods have beside their terms, in units of the data."""
        are_gaussian = [isinstance(family, Gaussian) for family in self.columns.families]
        logs = np.where(are_gaussian, np.log(self.columns.spread), 0.0)[:, None]
        return self.of_families("base", own) - np.where(np.isnan(own), 0.0, logs)

    def mean_log_likelihood(
        self, X: Any, coupling: FloatArray, fields: FloatArray, sample_weight: Any = None
    ) -> float:
        """Return the mean over samples of ``Σ_v log p(x_v | neighbours)``, over what was observed.

        Samples of which everything is missing do not count.
        """
        matrix = read_matrix(X)
        matrix, weight = with_answers(matrix, read_weight(sample_weight, len(matrix)))
        own, seen = self.own(matrix), self.columns.standardised(matrix).T
        seen = np.where(np.isnan(seen), self.filling[:, None], seen)
        terms = self.of_families("terms", own, coupling @ seen + fields[:, None]) + self.base(own)
        return float(np.average(terms.sum(axis=0), weights=weight))


def scales_of(columns: Columns, variances: FloatArray) -> FloatArray:
    """Return the scale of each vertex: conditional variances, and of counts how much a unit is."""
    are_counts = [isinstance(family, Counts) for family in columns.families]
    return np.where(are_counts, 1.0 / columns.spread, variances)


def with_answers(X: FloatArray, weight: FloatArray | None) -> tuple[FloatArray, FloatArray | None]:
    """Return the samples that count and of which not everything is missing.

    >>> with_answers(np.array([[1.0, np.nan], [np.nan, np.nan]]), None)[0]
    array([[ 1., nan]])
    """
    answered = ~np.isnan(X).all(axis=1)
    counts = answered if weight is None else answered & (weight > 0)
    if not counts.any():
        raise ValueError("X must have a value in a sample of positive weight, got none")
    return X[counts], None if weight is None else weight[counts]
