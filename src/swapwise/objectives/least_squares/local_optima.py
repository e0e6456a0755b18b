"""Many local optima of a small model in little time: compiled searches in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.kernels import perturbations
from swapwise.moves import NOTHING

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.objective import LeastSquares

# A perturbation drops a share of the set between these two.
SHARES = 0.1, 0.6


class LocalOptima(NamedTuple):
    """Local optima, their values, and the number of entries of tableaus updated to find them."""

    sets: list[IndexArray]
    values: FloatArray
    work: int


class SinglePrecision:
    """Searches of a least-squares model under laminar limits, in single precision, for candidate sets."""

    def __init__(self, model: LeastSquares, system: Constraint) -> None:
        tree, fixed, factors = system.laminar_tree(), np.zeros(system.n, dtype=bool), unit_factors(model)
        assert tree is not None
        fixed[system.forced] = True
        gram = perturbations.scaled(model.design.gram_of_all(), factors, factors)
        np.fill_diagonal(gram, 1.0)  # penalties count as length
        with_y = (model.products_with_y * factors / np.sqrt(model.total)).astype(np.float32)
        self._model, self._room = (gram, with_y, tuple(tree), fixed), max(1, system.max_size())

    def local_optima(self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator) -> LocalOptima:
        """Return the ends of searches from some sets, and from ``count`` perturbations of the best."""
        padded = np.full((len(starts), self._room), NOTHING, dtype=np.int64)
        for row, start in zip(padded, starts, strict=True):
            row[: len(start)] = start
        source = rng.bit_generator
        with source.lock:
            sets, values, work = perturbations.local_optima(*self._model, padded, count, source.capsule)
        return LocalOptima([np.sort(row[row >= 0]) for row in sets], values, work)


def unit_factors(objective: LeastSquares) -> FloatArray:
    squares = objective.squares
    factors: FloatArray = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
    return factors
