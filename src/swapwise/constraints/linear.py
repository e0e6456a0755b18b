"""Linearly independent columns."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from swapwise.checks import BoolArray, FloatArray, IndexArray, as_matrix
from swapwise.constraints.base import names_of
from swapwise.constraints.matroid import Matroid
from swapwise.override import override

# A column of length 1 is dependent on others if it is no further than this from their span. With
# others that pass the test just so, rounding moves their span by about 2e-16 divided by this, hence
# the square root of the rounding error: smaller, and dependent columns would pass for independent.
TOLERANCE = 1e-8


class LinearMatroid(Matroid):
    """Columns of a real matrix that are linearly independent.

    Columns are scaled to length 1 first, so their units do not matter. A column counts as dependent
    on others if it is within 1e-8 of their span; columns of zeros can never be chosen.

    Parameters
    ----------
    matrix : array of shape (any, n)
        One column for each element of the ground set.

    See Also
    --------
    Graphic : the same of a graph.
    OracleMatroid : any other matroid.

    References
    ----------
    - Oxley (2011), Matroid Theory, 2nd edition.

    Examples
    --------
    The third column is the sum of the first two:

    >>> from swapwise import LinearMatroid
    >>> columns = LinearMatroid([[1, 0, 1, 0], [0, 1, 1, 0], [0, 0, 0, 5]])
    >>> columns.is_independent([0, 2, 3]), columns.is_independent([0, 1, 2])
    (True, False)
    >>> columns.rank([0, 1, 2])
    2
    """

    def __init__(self, matrix: ArrayLike) -> None:
        self._columns = _unit_columns(as_matrix(matrix, "matrix", "one column for each element"))
        self.n = self._columns.shape[1]

    @override
    def __repr__(self) -> str:
        return f"LinearMatroid(n={self.n}, {len(self._columns)} rows)"

    @override
    def induced(self, elements: IndexArray) -> LinearMatroid:
        part = object.__new__(LinearMatroid)
        part.n, part.names = len(elements), names_of(self, elements)
        part._columns = self._columns[:, elements]
        return part

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        if len(support) > len(self._columns):
            return False
        # The diagonal of R holds the distance of each column from the span of those before it.
        triangle = np.linalg.qr(self._columns[:, support], mode="r")
        return bool((np.abs(np.diagonal(triangle)) > TOLERANCE).all())

    @override
    def _swap_mask(self, support: IndexArray) -> BoolArray:
        # Both tests are of distances: from the span of all of X (can j be added?), and from the span of
        # X - i. With A_X = QR the latter leaves one more direction, row i of R⁻¹Qᵀ: it is orthogonal to all
        # of X but i.
        basis, triangle = np.linalg.qr(self._columns[:, support])
        inside, outside = self._projected(basis)
        directions = scipy.linalg.solve_triangular(triangle, np.eye(len(support)))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        feasible = np.empty((self.n, len(support) + 1), dtype=bool)
        feasible[:, :-1] = np.hypot(directions @ inside, outside).T > TOLERANCE
        feasible[:, -1] = outside > TOLERANCE
        return feasible

    @override
    def addable(self, support: IndexArray) -> BoolArray:
        _, outside = self._projected(np.linalg.qr(self._columns[:, support])[0])
        addable = outside > TOLERANCE
        addable[support] = False
        return addable

    def _projected(self, basis: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the coefficients of each column along a basis, and the length of the rest."""
        inside = basis.T @ self._columns
        return inside, np.linalg.norm(self._columns - basis @ inside, axis=0)

    @override
    def extend(self, support: IndexArray, order: Iterable[int]) -> IndexArray:
        chosen = np.asarray(support, dtype=np.intp).tolist()
        basis = np.empty_like(self._columns[:, : len(self._columns)])
        basis[:, : len(chosen)] = np.linalg.qr(self._columns[:, chosen])[0]
        for element in order:
            if len(chosen) == basis.shape[1]:
                break
            direction = _outside(basis[:, : len(chosen)], self._columns[:, element])
            length = np.linalg.norm(direction)
            if length > TOLERANCE:
                basis[:, len(chosen)] = direction / length
                chosen.append(int(element))
        return np.sort(np.array(chosen, dtype=np.intp))


def _unit_columns(matrix: FloatArray) -> FloatArray:
    # By the largest entry first: squares of very large or very small entries leave the floats.
    largest = np.abs(matrix).max(axis=0, initial=0.0)
    scaled = matrix / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=0)
    return scaled / np.where(length > 0, length, 1.0)


def _outside(basis: FloatArray, column: FloatArray) -> FloatArray:
    """Return the part of a column orthogonal to the basis."""
    # Twice, since the first time leaves rounding errors that are large next to a short remainder.
    for _ in range(2):
        column = column - basis @ (basis.T @ column)
    return column
