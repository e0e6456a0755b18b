"""Moves of least squares within bounds on coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.larger_moves import LargerMoves
from swapwise.kernels import bounded_swaps
from swapwise.moves import Found, MoveBatch, MoveList, Run, Step, SwapGrid
from swapwise.numerics import TIE
from swapwise.objectives.base import State, is_better
from swapwise.objectives.coefficient_bounds import CoefficientBounds
from swapwise.objectives.least_squares.state import TINY, LeastSquaresState
from swapwise.override import override


class BoundedLeastSquaresState(LeastSquaresState):
    """Scores moves by the formulas of ``swapwise.kernels.bounded_swaps``: closed forms that bound gains.

    They are exact where all coefficients after a move are within their bounds; other moves are refitted if
    they may be the best. So the best move is found without refitting most of them.
    """

    _corr: FloatArray | None
    _gram: FloatArray | None

    @override
    def _find_weights(self) -> None:
        basis, objective, size = self._basis, self.objective, self._basis.size
        self._chosen = basis.elements[:size].copy()  # slots change with every move
        self._within = low, high = self._bounds.lower[self._chosen], self._bounds.upper[self._chosen]
        self.weights, self._rest = basis.weights[:size], np.zeros(size)
        self._corr = self._gram = None
        if CoefficientBounds(low, high).hold(self.weights):
            return
        with_y = objective.products_with_y[self._chosen]
        if basis.is_plain:
            self.weights = bounded_swaps.fit(self._products, with_y, low, high, self.weights, objective.total)
        else:
            by_element = objective.factor_within(self.support).weights
            self.weights = by_element[np.searchsorted(self.support, self._chosen)]
        left = with_y - self._products @ self.weights
        self.value = float(self.weights @ (with_y + left) / objective.total)
        # A bound blocks a coefficient only if the slope points out of it.
        is_held = ((left < 0) & (self.weights <= low)) | ((left > 0) & (self.weights >= high))
        self._rest = np.where(is_held, left, 0.0)

    @property
    def _bounds(self) -> CoefficientBounds:
        assert self.objective.bounds is not None
        return self.objective.bounds

    @property
    def _products(self) -> FloatArray:
        if self._gram is None:
            self._gram = self.objective.products_among(self._chosen)
        return self._gram

    @property
    @override
    def corr(self) -> FloatArray:
        if not self._rest.any():
            return super().corr
        if self._corr is None:
            # The slope left on the chosen columns acts on the others through their coefficients on these.
            self._corr = super().corr + self._basis.coupling[:, : self._basis.size] @ self._rest
        return self._corr

    @property
    @override
    def gradient(self) -> FloatArray:
        return self._bounds.projected(super().gradient, self.coef)

    @override
    def screening_scores(self) -> FloatArray:
        squares = np.maximum(self.objective.squares, TINY)
        slope = self.gradient * (self.objective.total / 2)
        coef = self._bounds.clip(slope / squares)
        return coef * (2.0 * slope - squares * coef) / self.objective.total

    @override
    def best_run(self, constraint: Constraint, tol: float, budget: Budget) -> Run:
        return Run()

    @override
    def elements_of_larger(
        self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget
    ) -> IndexArray | None:
        return None

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        if isinstance(moves, SwapGrid):
            useful = moves.useful
            self.n_evaluations += int(useful.sum())
            self._warn_if_nothing_is_left(moves)
            slots = self._basis.slot[moves.drops]
            return bounded_swaps.grid_gains(useful, slots, *self._problem()) / self.objective.total
        if isinstance(moves, MoveList) and moves.are_swaps():
            added, dropped = moves.swap_columns()
            if (added >= 0).all():
                self.n_evaluations += len(moves)
                slots = np.where(dropped >= 0, self._basis.slot[dropped], -1)
                return bounded_swaps.pair_gains(added, slots, *self._problem()) / self.objective.total
        return State.gains(self, moves)

    @override
    def gains_by_element(self, moves: MoveBatch) -> FloatArray:
        total, least = self.objective.total, self.resolution(0.0)
        if isinstance(moves, SwapGrid):
            slots = self._basis.slot[moves.drops]
            gains = bounded_swaps.best_of_rows(moves.feasible, slots, *self._problem(), least * total)
            self.n_evaluations += moves.feasible.size
            return gains / total
        gains = np.zeros(self.objective.n)
        listed = moves.to_list()
        for move, bound in self._in_order(listed, self._gain_bounds(listed), least):
            if any(bound > gains[element] for element in move.added[0] if element >= 0):
                gain = float(self.gains(move)[0])
                for element in move.added[0][move.added[0] >= 0]:
                    gains[element] = max(gains[element], gain)
        return gains

    @override
    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        found = None
        for batch in batches:
            budget.check()
            reached = incumbent if found is None else found.score
            best = self._best_of_batch(batch, reached, budget)
            if best is not None and is_better(best.score, found, incumbent, self.magnitude):
                found = best
                budget.keep([Step(best.move, self.value + best.score)], best.score)
        return found

    def _best_of_batch(self, batch: MoveBatch, incumbent: float, budget: Budget) -> Found | None:
        if isinstance(batch, SwapGrid):
            return self._best_swap(batch, incumbent)
        least = np.array(incumbent)
        if isinstance(batch, LargerMoves):
            lists: Iterable[tuple[MoveList, FloatArray]] = batch.search(self._gain_bounds, least)
        else:
            pieces = (piece.to_list() for whole in batch.parts() for piece in budget.pieces([whole], True))
            lists = ((piece, self._gain_bounds(piece)) for piece in pieces)
        found = None
        for listed, bounds in lists:
            for move, _ in self._in_order(listed, bounds, least):
                budget.check()
                gain = float(self.gains(move)[0])
                if is_better(gain, found, incumbent, self.magnitude):
                    found = Found(move.move(0), gain)
                    least[()] = gain
        return found

    def _best_swap(self, grid: SwapGrid, incumbent: float) -> Found | None:
        self._warn_if_nothing_is_left(grid)
        arrays, total = self._problem()
        moves = grid.feasible, self._basis.slot[grid.drops]
        index, gain, evaluated = bounded_swaps.best_of_grid(*moves, arrays, TIE, total, incumbent * total)
        self.n_evaluations += evaluated
        return Found(grid.move(index), gain / total) if index >= 0 else None

    def _problem(self) -> tuple[tuple[Any, ...], float]:
        objective, with_y = self.objective, self.objective.products_with_y
        arrays = (
            *self._quantities(),
            *self._around_held(),
            self._products,
            with_y[self._chosen],
            *self._within,
            self._rest,
            with_y,
            objective.squares,
            self._bounds.lower,
            self._bounds.upper,
            self._basis.is_plain,
        )
        return arrays, objective.total

    def _around_held(self) -> tuple[FloatArray | IndexArray, ...]:
        """Return B, 1 / C_ii, σ and C of the free columns, residuals of the ones at a bound, and slots."""
        coupling, _, spread, _, sigma, _ = self._quantities()
        coupling, inverse = coupling[:, : len(spread)], self._basis.inverse[: len(spread), : len(spread)]
        is_held = self._rest != 0
        held, free = np.flatnonzero(is_held), np.flatnonzero(~is_held)
        place = np.where(is_held, -np.cumsum(is_held), np.cumsum(~is_held) - 1)
        if not len(held):
            nothing = coupling[:, :0], np.empty((0, 0)), np.empty((0, len(free)))
            return coupling, spread, sigma, inverse, *nothing, place
        gram, products = self._products, coupling @ self._products
        among = gram[np.ix_(free, free)]
        among[np.diag_indices(len(free))] += np.diag(among) == 0  # columns of zeros have coefficients of zero
        # Where columns are nearly collinear, these are only initial coefficients of refits.
        invert = np.linalg.inv if self._basis.is_plain else np.linalg.pinv
        inverse = np.asarray(invert(among), dtype=np.float64)
        of_held = gram[np.ix_(held, free)] @ inverse
        coupling = products[:, free] @ inverse
        sigma = self.objective.squares - np.einsum("ij,ij->i", products[:, free], coupling)
        left = products[:, held] - coupling @ gram[np.ix_(free, held)]
        held_gram = gram[np.ix_(held, held)] - of_held @ gram[np.ix_(free, held)]
        return (
            coupling,
            1.0 / np.maximum(np.diag(inverse), TINY),
            sigma,
            inverse,
            left,
            held_gram,
            of_held,
            place,
        )

    # -- moves in lists -----------------------------------------------------------------------------

    def _gain_bounds(self, moves: MoveList) -> FloatArray:
        """Upper bounds on the gains of moves: the gains if no bound blocked a coefficient."""
        if not self._basis.is_plain:
            return np.full(len(moves), np.inf)
        return self._gains_of_moves(moves)

    @staticmethod
    def _in_order(
        moves: MoveList, bounds: FloatArray, least: float | FloatArray
    ) -> Iterator[tuple[MoveList, float]]:
        for place in np.argsort(-bounds, kind="stable").tolist():
            if bounds[place] <= least:
                return
            yield moves.take(slice(place, place + 1)), float(bounds[place])
