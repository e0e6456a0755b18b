"""Compiled local search of least squares on inner products, under laminar limits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.kernels import blocks as block_kernels
from swapwise.kernels import swaps
from swapwise.moves import NOTHING, Move, Step
from swapwise.numerics import TIE
from swapwise.override import override

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.groups import GroupLeastSquares
    from swapwise.objectives.least_squares.objective import LeastSquares

TINY = float(np.finfo(float).tiny)

# Columns with a smaller squared residual than this, relative to their squared length, are not added: products
# with them are mostly rounding, and this search does not read the columns themselves.
LEAST_SHARE = 1e-6

# If all squared residuals are above this share, inner products are as good as the columns themselves.
WELL_CONDITIONED = 1e-3

# The clock is checked after updates of about this many entries of the tableau.
WORK_PER_CALL = 10**7

# The search ends after this many moves, as errors of updates add up.
MOST_MOVES = 1000


class GramSearch:
    """The compiled search on one model: each call of :meth:`steps` is a search from a set.

    ``elements`` are the numbers of the model's columns elsewhere, which moves of steps use.
    """

    #: The set where the last search ended, in the model's own numbers
    support: IndexArray
    #: The value there, and at the start of the search
    value: float
    value_at_start: float
    #: Number of gains computed
    n_evaluations: int
    #: Whether no move is known to gain anything there
    is_optimal: bool
    #: Whether a search takes no more than some milliseconds
    is_quick: bool = True
    #: Whether many moves are made per call
    makes_runs: bool = True
    #: Whether it tries moves beyond one for one, where there are any
    tries_larger: bool = True
    #: The largest number of columns of an element: a move sweeps the tableau once for each
    _widest: int = 1
    #: Inner products, and the columns whose products with all others are known
    _gram: tuple[FloatArray, BoolArray] | None = None

    def __init__(self, model: LeastSquares, system: Constraint, tol: float, elements: IndexArray) -> None:
        self._design, self._squares, self._floor = model.design, model.squares, LEAST_SHARE * model.squares
        self._system, self._limits = system, self._read_limits(system)
        self._with_y, self._total = model.products_with_y, model.total
        self._room, self._tol = system.max_size(), tol
        self._names: list[int] = elements.tolist()

    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        fixed, tree = np.zeros(system.n, dtype=bool), system.laminar_tree()
        fixed[system.forced] = True
        assert tree is not None
        return tuple(tree), fixed

    def steps(
        self, start: IndexArray, budget: Budget, *, well_conditioned: bool = False
    ) -> list[Step] | None:
        """Return the best moves from a set, one after the other; None if its columns are nearly collinear.

        With ``well_conditioned``, the search ends where a column is nearly spanned by the chosen ones. When
        the clock runs out, the moves so far are kept in the budget.
        """
        tableau = self._tableau(start)
        elements, counts, explained = tableau[0], tableau[-2], tableau[-1]
        most, per_call = budget.most(MOST_MOVES), max(1, WORK_PER_CALL // (self._widest * tableau[2].size))
        share = WELL_CONDITIONED if well_conditioned else 0.0
        steps: list[Step] = []
        self.n_evaluations, gained, status = 0, 0.0, swaps.GOING_ON
        while status in (swaps.GOING_ON, swaps.MISSING) and len(steps) < most:
            budget.check()
            # The elements of the start are added first, one per round.
            rounds = min(per_call, len(start) - int(counts[1]) + most - len(steps))
            status, evaluated, moves, gains = self._best_moves(tableau, start, share, rounds)
            if status == swaps.DEPENDENT:
                return None
            self.n_evaluations += evaluated
            more = float(gains.sum())
            gained += more
            values = (explained[0] - more + gains.cumsum()) / self._total
            steps += [
                Step(self._move(move), value) for move, value in zip(moves, values.tolist(), strict=True)
            ]
            if steps:
                budget.keep(steps, steps[-1].value)
        self.support, self.value = np.sort(elements[: counts[0]]), float(explained[0]) / self._total
        self.value_at_start = self.value - gained / self._total
        self.is_optimal = status == swaps.OPTIMAL
        return steps

    def grown(self, start: IndexArray, barred: IndexArray) -> IndexArray:
        """Return an initial set, grown without ``barred`` elements; by default ``start`` as it is."""
        return start

    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        if self._gram is None:
            self._gram = self._design.gram_rows(start, partial(self._likely, tableau, 2 * self._room))
        problem = *self._gram, self._squares, self._floor, *self._limits
        found = swaps.best_moves(*problem, tableau, start, self._total, self._tol, TIE, share, rounds)
        if found[0] == swaps.MISSING:
            # As many again as are known, so that few calls are enough.
            more = int(np.count_nonzero(self._gram[1]))
            missing = tableau[-2][2:]
            self._gram = self._design.gram_rows(missing, partial(self._likely, tableau, more))
        return found

    def _likely(self, tableau: tuple[Any, ...], most: int) -> IndexArray:
        corr, sigma = tableau[5:7]
        scores = corr**2 / np.maximum(sigma, self._floor + TINY)
        if self._gram is not None:
            scores[self._gram[1]] = 0.0
        return np.argsort(-scores, kind="stable")[:most]

    def _move(self, move: IndexArray | Move) -> Move:
        if not isinstance(move, Move):
            added, *dropped = move.tolist()
            move = Move((added,), tuple([place for place in dropped if place != NOTHING]))
        return Move(*(tuple([self._names[place] for place in part]) for part in (move.added, move.dropped)))

    def _tableau(self, start: IndexArray) -> tuple[Any, ...]:
        n, room = len(self._squares), max(1, len(start), self._room)
        zeros: FloatArray = np.zeros((n, room))
        return (
            np.empty(room, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            zeros,
            np.zeros((room, room)),
            np.zeros(room),
            self._with_y.copy(),
            self._squares.copy(),
            np.zeros(3, dtype=np.int64),
            np.zeros(1),
        )


class BlockSearch(GramSearch):
    """The search where elements are groups of columns: see ``swapwise.kernels.blocks``."""

    def __init__(
        self, model: GroupLeastSquares, system: Constraint, tol: float, elements: IndexArray
    ) -> None:
        blocks = model.blocks
        super().__init__(blocks.plain, system, tol, elements)
        rows, gram = blocks.rows, self._design.gram_of_all()
        self._products = gram if (np.diff(rows) == 1).all() else gram[np.ix_(rows, rows)]
        self._with_y, self._squares = self._with_y[rows], self._squares[rows]
        self._own, self._begin, self._at = blocks.own, blocks.begin, blocks.at
        self._widest = int(np.diff(self._begin).max(initial=1))

    @override
    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        floor = (share or LEAST_SHARE) * self._squares
        problem = self._products, floor, self._begin, self._at, *self._limits
        return block_kernels.best_moves(
            *problem, tableau, start, self._total, self._tol, TIE, share > 0, rounds
        )

    @override
    def _tableau(self, start: IndexArray) -> tuple[Any, ...]:
        n, rows = len(self._begin) - 1, len(self._squares)
        most = max(1, len(start), self._room)
        sizes = np.sort(np.diff(self._begin))[::-1]
        room = max(1, int(sizes[:most].sum()))
        return (
            np.empty(most, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros((rows, room)),
            np.zeros((room, room)),
            np.zeros(room),
            self._with_y.copy(),
            self._squares.copy(),
            self._own.copy(),
            np.empty(room, dtype=np.int64),
            np.full(rows, -1, dtype=np.int64),
            np.zeros(3, dtype=np.int64),
            np.zeros(1),
        )
