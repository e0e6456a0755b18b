"""Many local optima of least squares in little time: compiled searches in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import IndependenceSystem
from swapwise.kernels import perturbations
from swapwise.moves import NOTHING

# A perturbation drops a share of the set between these two.
SHARES = 0.1, 0.6


class LocalOptima(NamedTuple):
    """Sets that searches ended with, their values, and how often a number of a tableau was updated."""

    sets: list[IndexArray]
    values: FloatArray
    work: int


class SinglePrecision:
    """Least squares on inner products, columns and y scaled to length 1, under laminar limits.

    It finds sets that are worth a closer look. Only elements whose ``products`` with all columns are given,
    one row for each, can be chosen.

    >>> from swapwise import LeastSquares, Uniform
    >>> f = LeastSquares(np.eye(3), [2.0, 1.0, 0.0])
    >>> model = SinglePrecision(f.squares, f.products_with_y, f.total, Uniform(3, 1))
    >>> model.know(np.arange(3), np.eye(3))
    >>> model.local_optima([np.array([1])], 0, np.random.default_rng(0)).sets
    [array([0])]
    >>> model.gains_by_column([np.array([1])]).round(3)
    array([0.6, 0. , 0. ])
    """

    def __init__(
        self, squares: FloatArray, with_y: FloatArray, total: float, system: IndependenceSystem
    ) -> None:
        tree, fixed = system.laminar_tree(), np.zeros(system.n, dtype=bool)
        assert tree is not None
        fixed[system.forced] = True
        self._limits, self._room = (tuple(tree), fixed), max(1, system.max_size())
        self._factors = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
        self._with_y = (with_y * self._factors / np.sqrt(total)).astype(np.float32)

    def know(self, elements: IndexArray, products: FloatArray) -> None:
        """Take in what can be chosen from now on."""
        scaled = perturbations.scaled(products, self._factors[elements], self._factors)
        scaled[np.arange(len(elements)), elements] = 1.0  # penalties count as length
        row_of = np.full(len(self._factors), NOTHING, dtype=np.int64)
        row_of[elements] = np.arange(len(elements))
        self._model = scaled, row_of, self._with_y, *self._limits

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator
    ) -> LocalOptima:
        """Return where searches from some sets lead, and those from ``count`` perturbations of the best."""
        source = rng.bit_generator
        with source.lock:
            sets, values, work = perturbations.local_optima(
                self._model, self._padded(starts), count, *SHARES, source.capsule
            )
        return LocalOptima([np.sort(row[row >= 0]) for row in sets], values, work)

    def gains_by_column(self, sets: Sequence[IndexArray]) -> FloatArray:
        """Return the gain of the best move that adds each column to one of the sets, 0 if none improves."""
        return perturbations.gains_by_column(self._model, self._padded(sets)).astype(float)

    def _padded(self, sets: Sequence[IndexArray]) -> Any:
        padded = np.full((len(sets), self._room), NOTHING, dtype=np.int64)
        for row, some in zip(padded, sets, strict=True):
            row[: len(some)] = some
        return padded
