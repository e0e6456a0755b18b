"""A state of least squares: every gain in closed form."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.circuits import Exchanges, LargerExchanges
from swapwise.kernels import exchanges, swaps
from swapwise.moves import Found, Move, MoveBatch, MoveList, Run, Step, SwapGrid, first_of_each, move_between
from swapwise.numerics import COLLINEAR, ROUNDING, TIE
from swapwise.objectives.base import (
    SparseState,
    best_by_element,
    best_of_batches,
    embed,
    gradient_norms2,
    is_better,
)
from swapwise.objectives.least_squares.active_set import ActiveSet
from swapwise.objectives.least_squares.gram_search import GramSearch
from swapwise.objectives.least_squares.objective import READ_AHEAD, LeastSquares
from swapwise.objectives.least_squares.pair_search import PairSearch, can_pair
from swapwise.override import override

TINY = float(np.finfo(float).tiny)

# Gains of data in single precision are exact up to this share of the value.
SINGLE_ROUNDING = 4e-6

# The error of a fit per unit of its coefficients times the lengths of their columns.
COEFFICIENT_ROUNDING = 8 * float(np.finfo(float).eps)

# The squared residual of a column includes its penalty: if it is less than this share of that, the rest has
# been lost to rounding.
LOST = 0.5

# Inner products of no more than this share of the columns that are added are read off those with all columns.
MANY_APART = 0.2


class LeastSquaresState(SparseState):
    """Scores moves by the formulas of ``swapwise.kernels.swaps``, on factors that moves update."""

    objective: LeastSquares
    #: The best coefficients, by slot
    weights: FloatArray

    def __init__(self, objective: LeastSquares, support: IndexArray) -> None:
        self.objective = objective
        self.n_evaluations = 1
        self._floor = LOST * objective.penalty
        self._single_rounding = SINGLE_ROUNDING if objective.design.is_float32 else 0.0
        self._basis = ActiveSet(objective, support)
        self._arrive()

    @override
    def apply(self, move: Move) -> None:
        self.n_evaluations += 1
        self._basis.apply(move)
        self._arrive()

    def _arrive(self) -> None:
        basis, objective = self._basis, self.objective
        self.support, self.value = basis.support, basis.value
        self._find_weights()
        # Large coefficients that cancel each other, as those of nearly collinear columns do, lose digits.
        lengths = np.sqrt(objective.squares[basis.elements[: basis.size]] / objective.total)
        reach = float(np.abs(self.weights) @ lengths)
        self._rounding = max(self._single_rounding, COEFFICIENT_ROUNDING * reach)

    def _find_weights(self) -> None:
        self.weights = self._basis.weights[: self._basis.size]

    @property
    def corr(self) -> FloatArray:
        return self._basis.corr

    @property
    @override
    def coef(self) -> FloatArray:
        return embed(self.objective, self._basis.elements[: self._basis.size], self.weights)

    @property
    @override
    def gradient(self) -> FloatArray:
        gradient = (2.0 / self.objective.total) * self.corr
        gradient[self.support] = 0.0
        return gradient

    @override
    def screening_scores(self) -> FloatArray:
        # The slope is 2c/‖y‖², and such an element adds c²/σ to what is explained of ‖y‖².
        objective = self.objective
        return gradient_norms2(self) * (objective.total / 4) / np.maximum(objective.squares, TINY)

    @override
    def model(self, elements: IndexArray, damping: float = 0.0) -> LeastSquares:
        return self.objective.restricted(elements, partial(self._likely, elements))

    def _likely(self, elements: IndexArray) -> IndexArray | None:
        if not len(self.support):
            return None
        scores = self.screening_scores()
        scores[elements] = 0.0
        return np.argsort(-scores, kind="stable")[: int(READ_AHEAD * len(elements))]

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        if isinstance(moves, SwapGrid):
            useful = moves.useful
            self.n_evaluations += int(useful.sum())
            self._warn_if_nothing_is_left(moves)
            gains = swaps.grid_gains(useful, self._basis.slot[moves.drops], *self._quantities())
            return gains / self.objective.total
        if isinstance(moves, MoveList) and moves.are_swaps():
            return self._gains_of_swaps(moves)
        if not self._basis.is_plain:
            return super().gains(moves)  # dropping several of them together cancels large numbers
        return self._gains_of_moves(moves.to_list())

    @override
    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        found = None
        for batch in batches:
            if isinstance(batch, SwapGrid):
                budget.check()
                index, gain = self._best_of_grid(batch)
                best = Found(batch.move(index), gain) if index >= 0 else None
            elif isinstance(batch, Exchanges) and self._basis.is_plain:
                budget.check()
                best = self._best_exchange(batch)
            elif isinstance(batch, LargerExchanges) and can_pair(self, batch):
                reached = incumbent if found is None else found.score
                best = PairSearch(self, batch).best(reached, budget)
            else:
                best = best_of_batches(self, [batch], incumbent, budget, are_cheap=self._are_cheap)
            if best is not None and is_better(best.score, found, incumbent, self.magnitude):
                found = best
                budget.keep([Step(best.move, self.value + best.score)], best.score)
        return found

    def _are_cheap(self, moves: MoveBatch) -> bool:
        return self._basis.is_plain or moves.to_list().are_swaps()

    def _best_of_grid(self, moves: SwapGrid) -> tuple[int, float]:
        self._warn_if_nothing_is_left(moves)
        total = self.objective.total
        slots = self._basis.slot[moves.drops]
        index, gain, evaluated = swaps.best_of_grid(moves.feasible, slots, *self._quantities(), TIE, total)
        self.n_evaluations += evaluated
        return index, gain / total

    def elements_of_larger(
        self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget
    ) -> IndexArray | None:
        """Return the elements of moves that add two and gain more than ``incumbent``; None if not known."""
        larger = [batch for batch in batches if batch.effort > 1]
        known = [batch for batch in larger if isinstance(batch, LargerExchanges) and can_pair(self, batch)]
        if len(known) < len(larger) or len(known) != 1:
            return None
        return PairSearch(self, known[0]).elements(incumbent, budget)

    def _best_exchange(self, moves: Exchanges) -> Found | None:
        """Return the best of the moves that add one element, by a lazy scan of their circuits."""
        total = self.objective.total
        added, columns, gain, evaluated = exchanges.best_of(*self._exchange_quantities(moves), TIE, total)
        self.n_evaluations += evaluated
        if added < 0:
            return None
        return Found(Move((added,), tuple(moves.drops[columns].tolist())), gain / total)

    def _exchange_quantities(self, moves: Exchanges) -> tuple[Any, ...]:
        coupling, coef, _, *rest = self._quantities()
        slots = self._basis.slot[moves.drops]
        return tuple(moves.circuits), slots, self._basis.inverse, coupling, coef, *rest

    @override
    def best_run(self, constraint: Constraint, tol: float, budget: Budget) -> Run:
        if not self.objective.is_small or constraint.laminar_tree() is None:
            return Run()
        every = np.arange(self.objective.n)
        search = GramSearch(self.objective, constraint, tol, every)
        steps = search.steps(self.support, budget, well_conditioned=True)
        self.n_evaluations += search.n_evaluations
        if steps is None:
            return Run()
        if steps:
            self.apply(move_between(self.support, search.support))
        # A scan of all moves from new factors differs from the last one of the search by rounding only, if
        # these factors come from inner products, too, and lead to the same value.
        is_exact = self._basis.by_products and abs(search.value - self.value) <= ROUNDING
        return Run(steps, search.is_optimal and is_exact)

    @override
    def resolution(self, tol: float) -> float:
        return max(tol, self._rounding) * self.magnitude

    @property
    def least_loss(self) -> float:
        size = self._basis.size
        losses = self.weights**2 / np.diag(self._basis.inverse)[:size]
        return float(losses.min(initial=np.inf)) / self.objective.total if size else 0.0

    def gains_by_element(self, moves: MoveBatch) -> FloatArray:
        """Return the gain of the best move that adds each element, or 0 if none improves."""
        if isinstance(moves, Exchanges) and self._basis.is_plain:
            gains, evaluated = exchanges.best_of_each(*self._exchange_quantities(moves))
            self.n_evaluations += evaluated
            return gains / self.objective.total
        if not isinstance(moves, SwapGrid):
            return best_by_element(self, moves)
        self.n_evaluations += moves.feasible.size
        gains = swaps.best_of_rows(moves.feasible, self._basis.slot[moves.drops], *self._quantities())
        return gains / self.objective.total

    @override
    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        if not isinstance(moves, SwapGrid):
            listed = moves.to_list()
            touched = np.hstack([listed.added, listed.dropped])
            bounds = self.objective.design.curvature_bounds(touched, self.objective.penalty)
            return (2.0 / self.objective.total) * bounds
        slots = self._basis.slot[moves.drops]
        curvature = swaps.pair_curvatures(self.objective.squares, moves.drops, slots, self._basis.gram())
        curvature *= 2.0 / self.objective.total
        return curvature

    def _quantities(self) -> tuple[FloatArray, ...]:
        spread = 1.0 / np.diag(self._basis.inverse)[: self._basis.size]
        return self._basis.coupling, self.weights, spread, self.corr, self._basis.sigma, self._floor

    def _gains_of_swaps(self, moves: MoveList) -> FloatArray:
        self.n_evaluations += len(moves)
        added, dropped = moves.swap_columns()
        slots = np.append(self._basis.slot, -1)[dropped]  # nothing is -1, whose slot is the last
        gains = np.zeros(len(moves))
        adds = added >= 0
        gains[adds] = swaps.pair_gains(added[adds], slots[adds], *self._quantities())
        loses = ~adds & (slots >= 0)
        lost = slots[loses]
        gains[loses] = -(self.weights[lost] ** 2) / np.diag(self._basis.inverse)[lost]
        return gains / self.objective.total

    def _gains_of_moves(self, moves: MoveList) -> FloatArray:
        added, places, across, products = self._products_left(moves.added)
        gains = swaps.move_gains(
            added,
            places,
            across,
            np.where(moves.dropped >= 0, self._basis.slot[moves.dropped], -1),
            products,
            self._basis.inverse,
            self._basis.coupling,
            self.weights,
            self.corr,
            self._floor,
            self._basis.small_share,
        )
        gains /= self.objective.total
        collinear = np.flatnonzero(np.isnan(gains))
        self.n_evaluations += len(moves) - len(collinear)  # refits count themselves
        gains[collinear] = super().gains(moves.take(collinear))
        return gains

    def _products_left(self, added: IndexArray) -> tuple[IndexArray, IndexArray, IndexArray, FloatArray]:
        """Return inner products of the residuals of added columns, and their positions.

        Before these come the added elements, row by row in another order, and the row and the column of each.
        If each is added alone, its square suffices. Where no row has more than one that is in no other row,
        as with products of variables, products with the others suffice.
        """
        newcomers = np.unique(added[added >= 0])
        places, left = np.searchsorted(newcomers, added), self._basis.sigma[newcomers]
        places[added < 0] = len(newcomers)
        if added.shape[1] <= 1:
            return added, places, np.zeros_like(places), left[:, None]
        different = places[first_of_each(added)]
        counts = np.bincount(different.ravel(), minlength=len(newcomers) + 1)
        # All but one of each row are in as many rows as this, or more.
        counts[-1] = len(added) + 1  # padding
        is_common = counts >= np.sort(counts[different], axis=1)[:, 1].min(initial=len(added))
        order = np.argsort(np.where(added >= 0, ~is_common[places], 2), axis=1, kind="stable")
        added, places = np.take_along_axis(added, order, 1), np.take_along_axis(places, order, 1)
        common = np.flatnonzero(is_common[:-1])
        products = np.column_stack([self._left_together(newcomers, newcomers[common]), left])
        products[common, np.arange(len(common))] = left[common]
        across = np.where(is_common, np.cumsum(is_common) - 1, len(common))[places]
        return added, places, np.minimum(across, len(common)), products

    def _left_together(self, first: IndexArray, second: IndexArray) -> FloatArray:
        coupling = self._basis.coupling[first, : self._basis.size]
        if len(second) <= MANY_APART * len(first) and not self.objective.design.is_float32:
            gram = self.objective.design.products(second)
            chosen = self._basis.elements[: self._basis.size]
            apart: FloatArray = gram[:, first].T - coupling @ gram[:, chosen].T
            return apart
        basis, columns, _ = self._basis.with_others(first)
        rest = columns - coupling @ basis
        products: FloatArray = rest @ columns[np.searchsorted(first, second)].T
        return products

    def _warn_if_nothing_is_left(self, grid: SwapGrid) -> None:
        free, objective = grid.free, self.objective
        if not free.any():
            return
        spanned = (COLLINEAR * objective.precision) ** 2 * objective.squares[free] + objective.ridge
        if not (self._basis.sigma[free] > spanned).any():
            chosen = len(self.support)
            self.objective.warn_of_rank(
                f"{chosen} chosen columns span all that could be added to them: others add nothing to the fit"
                if chosen
                else "all columns are zero, or constant beside an intercept: they add nothing to the fit"
            )
