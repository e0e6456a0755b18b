"""The search of least squares on few columns: under nested limits in one call, else by the usual loop."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.kernels import DEPENDENT, GOING_ON
from swapwise.numerics import TIE
from swapwise.objectives.base import SparseObjective, SparseState
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.local_search import BestImprovement, LocalSearch
from swapwise.search.loop import Trace, climb
from swapwise.search.pivots import Oblivious

# Columns of which less than this share is left are not added: products with them are mostly rounding, and
# nothing here looks at the columns themselves.
LEAST_SHARE = 1e-6

# As long as this share is left of every column, inner products are as good as the columns themselves.
PLAIN_SHARE = 1e-3

# The clock is looked at after so many numbers of the tableau have been gone through, about.
WORK_AT_A_TIME = 10**7


class FewColumns:
    """A model on few elements, and the sets of them that are allowed."""

    #: Where a search is that the clock has ended, if it has come to an allowed set
    reached: IndexArray | None = None

    def __init__(self, model: SparseObjective, system: IndependenceSystem, clock: Clock, tol: float) -> None:
        self.model, self.system, self._clock, self._tol = model, system, clock, tol
        limits = system.nested_limits()
        self._problem: tuple[Any, ...] | None = None
        if limits is not None and isinstance(model, LeastSquares):
            every = np.arange(model.n)
            gram, floor = model.design.gram(every, every), LEAST_SHARE * model.squares
            self._problem = gram, model.squares, floor, limits, np.isin(every, system.forced)
            self._with_y, self._squares = model.products_with_y, model.squares
            self._total = model.total
            self._room = system.max_size()

    @property
    def is_fused(self) -> bool:
        """Whether a search takes next to no time."""
        return self._problem is not None

    def climb(self, start: IndexArray) -> tuple[IndexArray, float]:
        """Return where the best moves lead from a set, and the value there."""
        found = self._climb_in_one_call(start) if self.is_fused else None
        return self._climb_by_loop(start) if found is None else found

    def _climb_by_loop(self, start: IndexArray) -> tuple[IndexArray, float]:
        trace = Trace(start, [])
        with unwarned():  # collinear columns are no news before they are chosen
            state = self.model.start(start)
            steps = LocalSearch(self.system, Oblivious(), BestImprovement(self._tol), 1, self._clock)
            try:
                climb(state, steps, trace, self._clock)
            finally:
                self.reached = trace.support
        return state.support, state.value

    def _climb_in_one_call(self, start: IndexArray) -> tuple[IndexArray, float] | None:
        """Do so in compiled code; None if the start holds columns that others of it nearly span."""
        tableau = self._tableau(start)
        elements, counts, explained = tableau[0], tableau[-2], tableau[-1]
        for status, *_ in self._calls(tableau, start, 0.0):
            if status == DEPENDENT:
                return None
            self.reached = np.sort(elements[: counts[0]]) if counts[1] == len(start) else None
        return np.sort(elements[: counts[0]]), float(explained[0]) / self._total

    def plain_moves(self, start: IndexArray, most: int) -> tuple[int, IndexArray, FloatArray]:
        """Return the first moves from a set, as long as no column is nearly spanned by those chosen.

        That is, how many gains were computed, a row for each move with what it adds and drops (-1 for
        nothing), and the gains.
        """
        evaluated, moves, gains = 0, [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
        for status, computed, some, their_gains in self._calls(self._tableau(start), start, PLAIN_SHARE):
            if status == DEPENDENT:
                break
            evaluated += computed
            moves.append(some)
            gains.append(their_gains / self._total)
            if sum(map(len, moves)) >= most:
                break
        return evaluated, np.concatenate(moves)[:most], np.concatenate(gains)[:most]

    def _calls(self, tableau: tuple[Any, ...], start: IndexArray, share: float) -> Iterator[Any]:
        """Yield what the kernel returns, a few moves at a time, with a look at the clock before each."""
        from swapwise.kernels import swaps

        assert self._problem is not None
        rounds = max(1, WORK_AT_A_TIME // tableau[2].size)
        status = GOING_ON
        while status == GOING_ON:
            self._clock.check()
            answer = swaps.best_moves(
                *self._problem, tableau, start, self._total, self._tol, TIE, share, rounds
            )
            status = answer[0]
            yield answer

    def _tableau(self, start: IndexArray) -> tuple[Any, ...]:
        n, room = self.model.n, max(1, len(start), self._room)
        return (
            np.empty(room, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros((n, room)),
            np.zeros((room, room)),
            np.zeros(room),
            self._with_y.copy(),
            self._squares.copy(),
            np.zeros(2, dtype=np.int64),
            np.zeros(1),
        )


def few_columns(
    state: SparseState, constraint: IndependenceSystem, elements: IndexArray, clock: Clock, tol: float
) -> FewColumns | None:
    """Return the model around a state on some elements, or None if there is none."""
    model = state.model(elements) if len(elements) else None
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
