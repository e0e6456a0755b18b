"""The search of least squares on few columns: under nested limits in one call, else by the usual loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.moves import TIE
from swapwise.objectives.base import SparseObjective, SparseState
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.clock import Clock
from swapwise.search.local_search import BestImprovement, LocalSearch
from swapwise.search.loop import Trace, climb
from swapwise.search.pivots import Oblivious

# Columns of which less than this share is left are not added: products with them are mostly rounding, and
# nothing here looks at the columns themselves.
LEAST_SHARE = 1e-6

# As long as this share is left of every column, inner products are as good as the columns themselves.
PLAIN_SHARE = 1e-3

# After so many moves the clock is looked at.
MOVES_AT_A_TIME = 1000


class FewColumns:
    """A model on few elements, and the sets of them that are allowed."""

    def __init__(self, model: SparseObjective, system: IndependenceSystem, clock: Clock, tol: float) -> None:
        self.model, self.system, self._clock, self._tol = model, system, clock, tol
        limits = system.nested_limits()
        self._arguments: tuple[Any, ...] | None = None
        if limits is not None and isinstance(model, LeastSquares):
            every = np.arange(model.n)
            self._arguments = (
                model.design.gram(every, every),
                model.products_with_y,
                model.squares,
                LEAST_SHARE * model.squares,
                limits,
                np.isin(every, system.forced),
            )
            self._room, self._total = system.max_size(), model.total

    @property
    def is_fused(self) -> bool:
        """Whether a search takes next to no time."""
        return self._arguments is not None

    def climb(self, start: IndexArray) -> tuple[IndexArray, float]:
        """Return where the best moves lead from a set, and the value there."""
        found = self._climb_in_one_call(start) if self.is_fused else None
        return self._climb_by_loop(start) if found is None else found

    def _climb_by_loop(self, start: IndexArray) -> tuple[IndexArray, float]:
        with unwarned():  # collinear columns are no news before they are chosen
            state = self.model.start(start)
            steps = LocalSearch(self.system, Oblivious(), BestImprovement(self._tol), 1, self._clock)
            climb(state, steps, Trace(state.support, []), self._clock)
        return state.support, state.value

    def _climb_in_one_call(self, start: IndexArray) -> tuple[IndexArray, float] | None:
        """Do so in compiled code; None if the start holds columns that others of it nearly span."""
        chosen, explained, n_moves = start, 0.0, MOVES_AT_A_TIME
        while n_moves == MOVES_AT_A_TIME:
            self._clock.check()
            complete, chosen, explained, _, moves, _ = self._call(chosen, 0.0, MOVES_AT_A_TIME)
            if not complete:
                return None
            n_moves = len(moves)
        return np.sort(chosen), explained / self._total

    def plain_moves(self, start: IndexArray, most: int) -> tuple[int, IndexArray, FloatArray]:
        """Return the first moves from a set, as long as no column is nearly spanned by those chosen.

        That is, how many gains were computed, a row for each move with what it adds and drops (-1 for
        nothing), and the gains.
        """
        complete, _, _, evaluated, moves, gains = self._call(start, PLAIN_SHARE, most)
        return (evaluated, moves, gains / self._total) if complete else (0, moves[:0], gains[:0])

    def _call(self, start: IndexArray, share: float, most: int) -> Any:
        from swapwise.kernels import climb as kernel

        assert self._arguments is not None
        room = max(len(start), self._room)
        return kernel.climb(*self._arguments, start, room, self._total, self._tol, TIE, share, most)


def few_columns(
    state: SparseState, constraint: IndependenceSystem, elements: IndexArray, clock: Clock, tol: float
) -> FewColumns | None:
    """Return the model around a state on some elements, or None if there is none."""
    model = state.objective.quadratic_model(state, elements) if len(elements) else None
    if model is None:
        return None
    system = constraint.induced(elements) if isinstance(constraint, Matroid) else constraint
    return FewColumns(model, system, clock, tol)


def layers(weights: FloatArray, chosen: IndexArray, matroid: Matroid, count: int) -> IndexArray:
    """Return the forced elements, and disjoint allowed sets of the heaviest that are not chosen."""
    is_left = weights > 0
    is_left[chosen] = False
    is_left[matroid.forced] = False
    heaviest = np.argsort(-weights, kind="stable")
    found = [matroid.forced]
    for _ in range(count):
        heaviest = heaviest[is_left[heaviest]]
        found.append(matroid.extend(np.empty(0, dtype=np.intp), heaviest))
        is_left[found[-1]] = False
    return np.concatenate(found)
