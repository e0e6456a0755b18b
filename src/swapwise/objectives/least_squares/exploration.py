"""The best of many local optima of least squares in memory: compiled, in single precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.base import Constraint
from swapwise.kernels import exploration, perturbations
from swapwise.objectives.least_squares.local_optima import unit_factors

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.objective import LeastSquares

# The initial candidates are this many disjoint bases, of at most so many elements in all.
FIRST_BASES, MOST_AT_FIRST = 4, 1000


class Exploration:
    """Local optima of all columns, under laminar limits, found among few candidates at a time.

    See ``kernels/exploration.hpp``. Values are of single precision.
    """

    def __init__(
        self, objective: LeastSquares, constraint: Constraint, first: IndexArray | None = None
    ) -> None:
        tree, fixed = constraint.laminar_tree(), np.zeros(constraint.n, dtype=bool)
        assert tree is not None
        fixed[constraint.forced] = True
        rank = max(1, constraint.max_size())
        with_y = objective.products_with_y * unit_factors(objective) / np.sqrt(objective.total)
        columns = objective.unit_columns
        self._search = exploration.begin(columns, with_y.astype(np.float32), tuple(tree), fixed, rank)
        if first is None:
            exploration.join_best(self._search, max(1, min(FIRST_BASES, MOST_AT_FIRST // rank)))
        else:
            exploration.join(self._search, first)

    def search_once(self, support: IndexArray) -> tuple[IndexArray, float, bool]:
        """Search among the candidates; return the set, its value, and whether no other column improves it.

        Columns that improve it become candidates.
        """
        found: tuple[IndexArray, float, bool] = exploration.search_once(self._search, support)
        return found

    def better(
        self, support: IndexArray, value: float, most_failures: int, most_work: float
    ) -> tuple[IndexArray, float] | None:
        found = exploration.better(self._search, support, value, most_failures, most_work)
        return found if found[1] > value else None

    @property
    def candidates(self) -> IndexArray:
        return np.sort(exploration.candidates(self._search)[0])

    @property
    def work(self) -> float:
        """Number of entries of tableaus updated so far, or their equivalent."""
        return float(exploration.candidates(self._search)[1])


def columns_of(objective: LeastSquares) -> Any:
    """Return the kernels' source of products of unit columns: a copy of small data, else the data."""
    design, factors = objective.design, unit_factors(objective)
    copied = design.unit_columns(factors)
    if copied is not None:
        return copied
    # Of data that are read in passes there are few columns here, and products of all of them take one pass.
    known = design.gram_of_all() if design.sequential else None

    def with_all(elements: IndexArray) -> Any:
        rows = design.products(elements) if known is None else known[elements]
        return perturbations.scaled(rows, factors[elements], factors)

    def with_others(elements: IndexArray, others: IndexArray) -> Any:
        gram = design.gram(elements, others) if known is None else known[np.ix_(elements, others)]
        return perturbations.scaled(gram, factors[elements], factors[others])

    return exploration.computed_columns(design.n_samples, with_all, with_others)
