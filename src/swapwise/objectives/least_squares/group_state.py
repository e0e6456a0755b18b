"""A state of least squares with groups: every gain in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.kernels import blocks as kernels
from swapwise.moves import Found, Move, MoveBatch, MoveList, Run, SwapGrid, move_between
from swapwise.numerics import TIE
from swapwise.objectives.base import (
    SparseState,
    State,
    best_by_element,
    best_of_batches,
    embed,
    rows_of,
)
from swapwise.objectives.block_columns import offsets_of
from swapwise.objectives.least_squares.active_set import ActiveSet
from swapwise.objectives.least_squares.gram_search import BlockSearch
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.state import COEFFICIENT_ROUNDING, SINGLE_ROUNDING
from swapwise.override import override


class GroupLeastSquaresState(SparseState):
    """Scores moves by the formulas of ``swapwise.kernels.blocks``, on the factors of the chosen columns.

    Moves are refitted where columns are nearly collinear, so that inner products are not accurate enough.
    """

    objective: GroupLeastSquares
    _quantities: tuple[Any, ...] | None

    def __init__(self, objective: GroupLeastSquares, support: IndexArray) -> None:
        self.objective = objective
        self.n_evaluations = 1
        self._blocks = objective.blocks
        self._basis = ActiveSet(self._blocks.plain, np.sort(self._blocks.rows_of(support)))
        self._arrive(support)

    @override
    def apply(self, move: Move) -> None:
        self.n_evaluations += 1
        added, dropped = (
            tuple(self._blocks.rows_of(np.asarray(elements, dtype=np.intp)).tolist())
            for elements in (move.added, move.dropped)
        )
        self._basis.apply(Move(added, dropped))
        self._arrive(move.result(self.support))

    def _arrive(self, support: IndexArray) -> None:
        basis, plain = self._basis, self._blocks.plain
        self._is_plain = basis.is_plain and not self._blocks.fragile[support].any()
        self.support, self.value = support, basis.value
        if not self._is_plain and plain is not self.objective.plain:
            # The value of nearly collinear columns depends on their precision as they are given.
            self.value = self.objective._value(support)
        chosen = basis.elements[: basis.size]
        reach = np.abs(basis.weights[: basis.size]) @ np.sqrt(plain.squares[chosen] / plain.total)
        single = SINGLE_ROUNDING if plain.design.is_float32 else 0.0
        self._rounding = max(single, COEFFICIENT_ROUNDING * float(reach))
        self._quantities = None

    @property
    @override
    def coef(self) -> FloatArray:
        if self._blocks.plain is not self.objective.plain:
            return self.objective.coef(self.support)
        size = self._basis.size
        return embed(self.objective.plain, self._basis.elements[:size], self._basis.weights[:size])

    @property
    @override
    def gradient(self) -> FloatArray:
        if self._blocks.plain is not self.objective.plain:
            gradient = self.objective.gradient_at(self.coef)
        else:
            gradient = (2.0 / self.objective.plain.total) * self._basis.corr
        gradient[rows_of(self.objective, self.support)] = 0.0
        return gradient

    @override
    def screening_scores(self) -> FloatArray:
        rows = self._blocks.rows
        nothing = np.zeros((len(rows), 0))
        quantities = (
            self._blocks.begin,
            self._blocks.at,
            nothing,
            self._basis.corr[rows],
            self._blocks.own,
            self._floor(),
        )
        scores = kernels.addition_gains(quantities, self._drops(np.empty(0, dtype=np.intp)), False)
        scores[self.support] = 0.0
        return scores / self._blocks.plain.total

    @override
    def model(self, elements: IndexArray, damping: float = 0.0) -> GroupLeastSquares:
        return self.objective.model_on(elements)

    @override
    def resolution(self, tol: float) -> float:
        return max(tol, self._rounding) * self.magnitude

    @property
    def least_loss(self) -> float:
        losses = self._drops(self.support)[-1]
        return float(losses.min()) / self._blocks.plain.total if len(losses) else 0.0

    # -- gains --------------------------------------------------------------------------------------------

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        if isinstance(moves, SwapGrid) and self._is_plain:
            return self._grid_gains(moves, -np.inf, np.inf)
        listed = moves.to_list()
        if not listed.are_swaps() or not self._is_plain:
            return super().gains(moves)
        added, dropped = listed.swap_columns()
        column = np.where(dropped >= 0, np.searchsorted(self.support, dropped), -1)
        blocks, drops = self._all_quantities(), self._drops(self.support)
        gains = kernels.pair_gains(added, column, blocks, drops, True) / self._blocks.plain.total
        gains[self._blocks.fragile[added] & (added >= 0)] = np.nan
        unknown = np.flatnonzero(np.isnan(gains))
        self.n_evaluations += len(listed) - len(unknown)
        gains[unknown] = State.gains(self, listed.take(unknown))
        return moves.spread(gains)

    @override
    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        if self.objective.upper_bound() - self.value <= incumbent:
            return None  # the fit is perfect
        scores = partial(self._scores, least=incumbent)
        return best_of_batches(self, batches, incumbent, budget, scores=scores, are_cheap=self._are_cheap)

    def _scores(self, moves: MoveBatch, least: float) -> FloatArray:
        if isinstance(moves, SwapGrid) and self._is_plain:
            return self._grid_gains(moves, least, TIE)
        return self.gains(moves)

    def _are_cheap(self, moves: MoveBatch) -> bool:
        return self._is_plain and (isinstance(moves, SwapGrid) or moves.to_list().are_swaps())

    def gains_by_element(self, moves: MoveBatch) -> FloatArray:
        """Return the gain of the best move that adds each element, or 0 if none improves."""
        if not isinstance(moves, SwapGrid):
            return best_by_element(self, moves)
        return np.maximum(self.gains(moves).max(axis=1, initial=0.0), 0.0)

    def _grid_gains(self, moves: SwapGrid, least: float, tie: float) -> FloatArray:
        total = self._blocks.plain.total
        blocks, drops = self._all_quantities(), self._drops(moves.drops)
        gains, evaluated = kernels.grid_gains(moves.feasible, blocks, drops, True, least * total, tie, total)
        if least == -np.inf:  # all gains are needed; additions that only bound swaps are no evaluations then
            evaluated = int(moves.useful.sum())
        gains /= total
        fragile = self._blocks.fragile
        gains[fragile] = np.where(moves.useful[fragile], np.nan, -np.inf)
        added, column = np.nonzero(np.isnan(gains))
        self.n_evaluations += evaluated - len(added)  # refits count themselves
        if len(added):
            dropped = np.append(moves.drops, -1)[column]
            gains[added, column] = State.gains(self, MoveList(added[:, None], dropped[:, None]))
        return gains

    @override
    def best_run(self, constraint: Constraint, tol: float, budget: Budget) -> Run:
        is_small = self._blocks.plain.is_small and self._is_plain and not self._blocks.fragile.any()
        if not is_small or constraint.laminar_tree() is None:
            return Run()
        every = np.arange(self.objective.n)
        search = BlockSearch(self.model(every), constraint, tol, every)
        steps = search.steps(self.support, budget, well_conditioned=True)
        self.n_evaluations += search.n_evaluations
        if steps:
            self.apply(move_between(self.support, search.support))
        return Run(steps or ())

    def _all_quantities(self) -> tuple[Any, ...]:
        if self._quantities is None:
            basis, blocks = self._basis, self._blocks
            coupling = np.ascontiguousarray(basis.coupling[blocks.rows, : basis.size])
            gram = np.linalg.inv(basis.inverse[: basis.size, : basis.size])
            left = kernels.remaining_blocks(blocks.own, blocks.begin, blocks.at, coupling, coupling @ gram)
            corr = basis.corr[blocks.rows]
            self._quantities = (blocks.begin, blocks.at, coupling, corr, left, self._floor())
        return self._quantities

    def _floor(self) -> FloatArray:
        return self._basis.small_share * self._blocks.plain.squares[self._blocks.rows]

    def _drops(self, elements: IndexArray) -> tuple[Any, ...]:
        basis, blocks = self._basis, self._blocks
        sizes = np.diff(blocks.begin)[elements]
        first, slots = offsets_of(sizes), basis.slot[blocks.rows_of(elements)]
        return first, slots, *kernels.drop_factors(first, slots, basis.inverse, basis.weights)
