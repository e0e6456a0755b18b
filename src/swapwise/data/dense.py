"""A design matrix in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_matrix, as_vector


class DenseDesign:
    """The few things a search asks of a design matrix A: columns, ``Aᵀ V`` and squared norms.

    Rows are samples, columns are features. Sample weights multiply every row by the root of its
    weight, which turns weighted least squares into plain least squares.
    """

    def __init__(self, X: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        matrix = as_matrix(X, "X")
        if 0 in matrix.shape:
            raise ValueError(f"X must have at least one sample and one feature, got shape {matrix.shape}")
        self.n_samples, self.n_features = matrix.shape
        self.row_scale: FloatArray | None = None
        if sample_weight is not None:
            weight = as_vector(sample_weight, self.n_samples, "sample_weight", non_negative=True)
            if not weight.any():
                raise ValueError("sample_weight must have a positive entry, got zeros only")
            self.row_scale = np.sqrt(weight)
            matrix = matrix * self.row_scale[:, None]
        self._matrix = matrix

    def rows(self, values: ArrayLike, name: str) -> FloatArray:
        """Return one number a sample, scaled as the rows of the matrix are."""
        vector = as_vector(values, self.n_samples, name)
        return vector if self.row_scale is None else vector * self.row_scale

    def columns(self, elements: IndexArray) -> FloatArray:
        """Return the columns ``elements`` as the rows of a new contiguous array."""
        return np.ascontiguousarray(self._matrix[:, elements].T)

    def combine(self, coef: FloatArray) -> FloatArray:
        """Return ``A w``."""
        return self._matrix @ coef

    def correlate(self, vectors: FloatArray) -> FloatArray:
        """Return ``Aᵀ V`` for a vector or a thin matrix: one pass over the data."""
        return self._matrix.T @ vectors

    def largest_entries(self) -> FloatArray:
        """Return the largest absolute value in every column."""
        largest: FloatArray = np.maximum(self._matrix.max(axis=0), -self._matrix.min(axis=0))
        return largest

    def squared_norms(self) -> FloatArray:
        """Return the squared length of every column."""
        return np.einsum("ij,ij->j", self._matrix, self._matrix)

    def extreme_eigenvalues(self) -> tuple[float, float]:
        """Return bounds on the smallest and largest eigenvalue of ``AᵀA``, safe against rounding.

        Both come from the smaller of ``AᵀA`` and ``AAᵀ``.
        """
        wide = self.n_features > self.n_samples
        small = self._matrix @ self._matrix.T if wide else self._matrix.T @ self._matrix
        eigenvalues = np.linalg.eigvalsh(small)
        margin = np.finfo(float).eps * max(self._matrix.shape) * eigenvalues[-1]
        smallest = 0.0 if wide else max(0.0, float(eigenvalues[0] - margin))
        return smallest, float(eigenvalues[-1] + margin)
