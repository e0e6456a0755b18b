"""Many local optima of least squares in little time: compiled searches in single precision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.constraints.base import IndependenceSystem
from swapwise.kernels import nested, perturbations
from swapwise.moves import NOTHING

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.objective import LeastSquares

# A perturbation drops a share of the set between these two.
SHARES = 0.1, 0.6


class LocalOptima(NamedTuple):
    """Sets that searches ended with, their values, and how often a number of a tableau was updated."""

    sets: list[IndexArray]
    values: FloatArray
    work: int


class SinglePrecision:
    """Searches for sets of some candidates that are worth a closer look, under laminar limits.

    Columns and y are scaled to length 1, and all numbers are of single precision.

    >>> from swapwise import LeastSquares, Uniform
    >>> searches = SinglePrecision(LeastSquares(np.eye(3), [2.0, 1.0, 0.0]), Uniform(3, 1))
    >>> searches.join(np.array([1, 2]))
    >>> searches.local_optima([np.array([2])], 0, np.random.default_rng(0)).sets
    [array([1])]
    >>> searches.gains_by_column([np.array([1])]).round(3)
    array([0.6, 0. , 0. ])
    """

    def __init__(self, objective: LeastSquares, constraint: IndependenceSystem) -> None:
        tree = constraint.laminar_tree()
        assert tree is not None
        self._design, self._tree, self.rank = objective.design, tree, constraint.max_size()
        self._fixed = np.zeros(constraint.n, dtype=bool)
        self._fixed[constraint.forced] = True
        squares = objective.squares
        self._factors = 1.0 / np.sqrt(np.where(squares > 0, squares, 1.0))
        with_y = objective.products_with_y * self._factors / np.sqrt(objective.total)
        #: What each column explains alone
        self.alone = with_y**2
        self._with_y = with_y.astype(np.float32)
        #: The candidates, in the order in which they joined
        self.elements = np.empty(0, dtype=np.intp)
        self._place = np.full(constraint.n, NOTHING, dtype=np.int64)
        self._gram = np.empty((0, 0), dtype=np.float32)

    def join(self, elements: IndexArray) -> None:
        """Let more elements be candidates; they must not be among them already."""
        known, every = len(self.elements), np.append(self.elements, elements)
        if len(every) == len(self._place):
            rows = self._design.gram_of_all()[np.ix_(elements, every)]
        else:
            rows = self._design.gram(elements, every)
        self._place[elements] = np.arange(known, len(every))
        gram = np.empty((len(every), len(every)), dtype=np.float32)
        gram[known:] = perturbations.scaled(rows, self._factors[elements], self._factors[every])
        gram[:known, :known] = self._gram
        gram[:known, known:] = gram[known:, :known].T
        np.fill_diagonal(gram, 1.0)  # penalties count as length
        self.elements, self._gram = every, gram
        limits = tuple(self._tree._replace(leaf=self._tree.leaf[every]))
        self._model = gram, np.arange(len(every)), self._with_y[every], limits, self._fixed[every]

    def local_optima(
        self, starts: Sequence[IndexArray], count: int, rng: np.random.Generator
    ) -> LocalOptima:
        """Return where searches from some sets lead, and those from ``count`` perturbations of the best."""
        source = rng.bit_generator
        with source.lock:
            sets, values, work = perturbations.local_optima(
                self._model, self._padded(starts, self._place), count, *SHARES, source.capsule
            )
        return LocalOptima([np.sort(self.elements[row[row >= 0]]) for row in sets], values, work)

    def gains_by_column(self, sets: Sequence[IndexArray]) -> FloatArray:
        """Return the gain of the best move that adds each column to one of the sets, 0 if none improves."""
        chosen = np.unique(np.concatenate(sets))
        rows = perturbations.scaled(self._design.products(chosen), self._factors[chosen], self._factors)
        rows[np.arange(len(chosen)), chosen] = 1.0
        row_of = np.zeros(len(self._place), dtype=np.int64)
        row_of[chosen] = np.arange(len(chosen))
        model = rows, row_of, self._with_y, tuple(self._tree), self._fixed
        every = np.arange(len(self._place))
        return perturbations.gains_by_column(model, self._padded(sets, every)).astype(float)

    def heaviest(self, weights: FloatArray, bases: int) -> IndexArray:
        """Return disjoint bases of the largest positive weights among all that are no candidates yet."""
        weights[self.elements] = 0.0
        return nested.heaviest(weights, tuple(self._tree), self.rank, bases)

    def _padded(self, sets: Sequence[IndexArray], places: IndexArray) -> Any:
        padded = np.full((len(sets), max(1, self.rank)), NOTHING, dtype=np.int64)
        for row, some in zip(padded, sets, strict=True):
            row[: len(some)] = places[some]
        return padded
