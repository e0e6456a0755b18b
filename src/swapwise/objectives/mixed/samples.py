"""Samples of a mixed graph in memory: each vertex has terms of its own family."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from swapwise.checks import FloatArray
from swapwise.objectives.ising.model import IsingModel
from swapwise.objectives.ising.samples import Samples
from swapwise.objectives.mixed.columns import Columns
from swapwise.objectives.mixed.families import Binary, Counts, Gaussian, VertexFamily

# A column that others nearly determine has a conditional variance near 0, and couplings without bounds.
LEAST_VARIANCE = 1e-3

# Conditional variances are taken from regressions on all other columns if there are so many samples per
# column; they are too low if there are fewer.
SAMPLES_PER_COLUMN = 5


class MixedSamples(Samples):
    """Samples whose columns are standardised, but for spins.

    What is missing of ``own`` is NaN, but 0 if it is binary, as the kernels want it.

    >>> X = np.array([[1.0, 2.0], [-1.0, 4.0]])
    >>> model = IsingModel.read(2, 0.1, True, None)
    >>> data = MixedSamples(model, X, Columns.read(X, ["binary", "gaussian"], None), None)
    >>> data.own
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(
        self,
        model: IsingModel,
        X: FloatArray,
        columns: Columns,
        weight: FloatArray | None,
        variances: FloatArray | None = None,
    ) -> None:
        super().__init__(model, columns.standardised(X), weight)
        self.columns = columns
        self.own = own_values(X, columns)
        #: The conditional variances of Gaussian vertices; 1 for others
        self.variances = self._regressed_variances() if variances is None else variances
        self._scales = scales_of(columns, self.variances)
        numbers = np.array([family.number for family in columns.families], dtype=np.intp)
        self._kinds = (numbers, self._scales)
        self.perfect = float(self.mean(self._of_families("highest")).sum())

    def _of_families(self, what: str, local: FloatArray | None = None) -> FloatArray:
        return of_families(what, self.columns, self._scales, self.own, local)

    def terms(self, local: FloatArray) -> FloatArray:
        """Return the log-likelihood of every entry with given local fields, but for a constant."""
        return self._of_families("terms", local)

    def slopes(self, local: FloatArray) -> FloatArray:
        """Return how each term rises in its local field."""
        return self._of_families("slopes", local)

    def curves(self, local: FloatArray) -> FloatArray:
        """Return how each term curves in its local field."""
        return self._of_families("curves", local)

    @cached_property
    def most_curves(self) -> FloatArray:
        """What no term curves more than; but of counts, how they curve on average."""
        return self._of_families("most_curves")

    def _widest_biases(self, local: FloatArray) -> FloatArray:
        return self._of_families("widest", local)

    def _regressed_variances(self) -> FloatArray:
        """Return the residual variance of each Gaussian vertex, given all others; 1 if samples are few."""
        n_vertices = self.model.n_vertices
        if self.n_samples < SAMPLES_PER_COLUMN * n_vertices:
            return np.ones(n_vertices)
        centred = self.seen - self.mean(self.seen)[:, None]
        spread = np.sqrt(self.mean(centred**2))
        centred = centred / np.where(spread > 0, spread, 1.0)[:, None]
        correlations = (centred * self.weight) @ centred.T / self.n_samples
        np.fill_diagonal(correlations, 1.0)
        precision = np.diag(np.linalg.inv(correlations + LEAST_VARIANCE * np.eye(n_vertices)))
        residual = self.n_samples / (self.n_samples - n_vertices) / precision
        return self._of_gaussian(np.clip(residual, LEAST_VARIANCE, 1.0))

    def residual_variances(self, coef: FloatArray, fields: FloatArray) -> FloatArray:
        """Return how much Gaussian vertices vary around their conditional means; 1 for others."""
        residuals = self.slopes(self.local_fields(coef, fields))
        return self._of_gaussian(np.clip(self._of_observed(self.mean(residuals**2)), LEAST_VARIANCE, 1.0))

    def _of_gaussian(self, values: FloatArray) -> FloatArray:
        are_gaussian = [isinstance(family, Gaussian) for family in self.columns.families]
        return np.where(are_gaussian, values, 1.0)


def own_values(X: FloatArray, columns: Columns) -> FloatArray:
    """Return what is predicted, one vertex per row: NaN where it is missing, but 0 if it is binary."""
    own = np.ascontiguousarray(columns.own(X).T)
    for vertex, family in enumerate(columns.families):
        if isinstance(family, Binary):
            own[vertex] = np.nan_to_num(own[vertex])
    return own


def scales_of(columns: Columns, variances: FloatArray) -> FloatArray:
    """Return the scale of each vertex: conditional variances, and of counts how much a unit is."""
    are_counts = [isinstance(family, Counts) for family in columns.families]
    return np.where(are_counts, 1.0 / columns.spread, variances)


def of_families(
    what: str, columns: Columns, scales: FloatArray, own: FloatArray, local: FloatArray | None = None
) -> FloatArray:
    """Return what each family says of its vertices, such as their terms."""
    answer: FloatArray | None = None
    for family in dict.fromkeys(columns.families):
        rows = _rows(columns, family)
        fields = () if local is None else (local[rows],)
        part = getattr(family, what)(own[rows], *fields, scales[rows, None])
        if answer is None:
            answer = np.empty((len(own), *part.shape[1:]))
        answer[rows] = part
    assert answer is not None
    return answer


def _rows(columns: Columns, family: VertexFamily) -> list[int]:
    return [vertex for vertex, one in enumerate(columns.families) if one is family]
