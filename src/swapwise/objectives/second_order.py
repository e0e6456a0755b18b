"""Inner products of columns and a response: what is left without their means, and columns that have them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.threads import few_threads

# Directions in which columns of length 1 have less than this, squared, are rounding.
FLAT = 1e-13


class InnerProducts(NamedTuple):
    """Those of columns with each other, those with a response, and the square of the response.

    >>> products = InnerProducts(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([3.0, 1.0]), 5.0)
    >>> columns, response = products.columns()
    >>> (columns.T @ columns).round(6), (response @ columns).round(6), float((response @ response).round(6))
    (array([[2., 1.],
           [1., 2.]]), array([3., 1.]), 5.0)
    """

    gram: FloatArray
    with_response: FloatArray
    square: float

    def without_last(self) -> InnerProducts:
        """Return the inner products once the last column is taken out of the others and of the response."""
        tied, weight = self.gram[:-1, -1], max(self.gram[-1, -1], np.finfo(float).tiny)
        last = self.with_response[-1]
        return InnerProducts(
            self.gram[:-1, :-1] - np.outer(tied, tied) / weight,
            self.with_response[:-1] - tied * (last / weight),
            self.square - last**2 / weight,
        )

    def of(self, places: IndexArray, unit: float) -> InnerProducts:
        """Return those of some columns, in other units."""
        gram = self.gram[np.ix_(places, places)]
        return InnerProducts(gram / unit, self.with_response[places] / unit, self.square / unit)

    def columns(self) -> tuple[FloatArray, FloatArray]:
        """Return a matrix and a response that have these inner products, with few samples."""
        lengths = np.sqrt(np.maximum(np.diag(self.gram), 0.0))
        units = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        with few_threads(len(lengths)):
            sizes, directions = np.linalg.eigh(self.gram * np.outer(units, units))
        clear = sizes > FLAT * len(sizes)
        roots, directions = np.sqrt(sizes[clear]), directions[:, clear].T
        explained = directions @ (self.with_response * units) / roots
        rest = np.sqrt(max(0.0, self.square - float(explained @ explained)))
        columns = np.vstack([roots[:, None] * directions * lengths, np.zeros(len(lengths))])
        return columns, np.append(explained, rest)
