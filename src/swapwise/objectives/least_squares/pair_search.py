"""The best move of least squares that adds two elements at once, beyond one matroid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.circuits import LargerExchanges
from swapwise.kernels import pairs
from swapwise.moves import Found, Move, MoveList, Step
from swapwise.numerics import TIE
from swapwise.objectives.base import State, is_better
from swapwise.objectives.least_squares.active_set import qr_factor_of

if TYPE_CHECKING:
    from swapwise.objectives.least_squares.state import LeastSquaresState

# Candidates whose inner products with all others are computed at once.
AT_ONCE = 256

# Moves are scored once there are more than this many: the best of them raises the incumbent for all others.
MOST_MOVES = 1000

# If less than this share of a column is left beside another, it is computed from the columns: this many
# entries at a time.
CLOSE, CLOSE_NUMBERS = 1e-6, 10**6

# Kernels encode the circuits of both elements in the bits of one number.
MOST_MATROIDS = 32


def can_pair(state: LeastSquaresState, moves: LargerExchanges) -> bool:
    few = moves.alone.circuits.of.shape[1] <= MOST_MATROIDS
    return moves.n_added == 2 and few and state._basis.is_plain


class PairSearch:
    """Search for moves that add two elements, from a set of columns that are not nearly collinear.

    All pairs are bounded by their circuits, see ``swapwise.kernels.pairs``. Of the few moves that may be
    better than the best so far, the constraint checks which lead to independent sets.
    """

    def __init__(self, state: LeastSquaresState, moves: LargerExchanges) -> None:
        self._state, self._moves = state, moves
        basis, circuits, drops = state._basis, moves.alone.circuits, moves.alone.drops
        sizes = np.append(np.diff(circuits.begin), 1)
        self._candidates = np.flatnonzero(circuits.open & (sizes[circuits.of] > 0).all(axis=1))
        self._slots = basis.slot[drops]
        self._coupling = np.ascontiguousarray(basis.coupling[np.ix_(self._candidates, self._slots)])
        inverse = basis.inverse[np.ix_(self._slots, self._slots)]
        self._problem = (
            np.ascontiguousarray(self._coupling.T),
            self._coupling,
            inverse,
            basis.weights[self._slots],
            basis.corr[self._candidates],
            _positive(basis.sigma[self._candidates]),
            state.objective.squares[self._candidates],
        )
        self._in_common = self._coupling @ np.linalg.inv(inverse) if len(drops) else self._coupling
        part = circuits._replace(of=circuits.of[self._candidates], open=circuits.open[self._candidates])
        self._circuits = tuple(part)

    def best(self, incumbent: float, budget: Budget) -> Found | None:
        state, found = self._state, None
        for first in range(0, len(self._candidates), AT_ONCE):
            budget.check()
            products, row = self._products(first), 0
            while row < len(products):
                reached = incumbent if found is None else found.score
                least = (reached - TIE * state.magnitude) * state.objective.total
                row, moves, gains = self._next(first, products, row, least)
                best = self._best_of(moves, gains / state.objective.total, reached, budget)
                if best is not None and is_better(best.score, found, incumbent, state.magnitude):
                    found = best
                    budget.keep([Step(best.move, state.value + best.score)], best.score)
        return found

    def elements(self, incumbent: float, budget: Budget) -> IndexArray:
        """Return the elements of all pairs that may gain more than ``incumbent``."""
        state, found = self._state, np.zeros(self._state.objective.n, dtype=bool)
        least = (incumbent - TIE * state.magnitude) * state.objective.total
        for first in range(0, len(self._candidates), AT_ONCE):
            budget.check()
            products, row = self._products(first), 0
            while row < len(products):
                row, moves, _ = self._next(first, products, row, least)
                found[moves.added] = True
        return np.flatnonzero(found)

    def _products(self, first: int) -> FloatArray:
        rest = self._candidates[first:]
        products = self._state.objective.design.gram(rest[:AT_ONCE], rest)
        products -= self._in_common[first : first + AT_ONCE] @ self._coupling[first:].T
        return products

    def _next(
        self, first: int, products: FloatArray, row: int, least: float
    ) -> tuple[int, MoveList, FloatArray]:
        size = self._moves.alone.widths[1]
        end, close, *listed = pairs.find(
            self._problem, self._circuits, products[row:, row:], first + row, size, least, CLOSE, MOST_MOVES
        )
        both = zip(listed, *self._close(close, least), strict=True)
        added, dropped, gains = (np.concatenate(parts) for parts in both)
        drops = np.append(self._moves.alone.drops, -1)
        return end - first, MoveList(self._candidates[added], drops[dropped]), gains

    def _close(self, close: IndexArray, least: float) -> Iterator[Any]:
        if not len(close):
            return
        state, size = self._state, self._moves.alone.widths[1]
        basis, objective = state._basis, state.objective
        places, where = np.unique(close, return_inverse=True)
        elements, where = self._candidates[places], where.reshape(close.shape)
        chosen, columns, y = basis.with_others(elements)
        names = basis.elements[: basis.size]
        qr, _ = qr_factor_of(chosen, np.sqrt(objective.squares[names]), objective.penalty[names])
        rest, coupling = qr.residuals(columns)
        left_of_y, penalty = qr.residuals(y[None, :])[0][0], objective.penalty[elements]
        squares = (rest**2).sum(axis=1) + penalty
        for begin in range(0, len(close), at_once := max(1, CLOSE_NUMBERS // rest.shape[1])):
            one, two = where[begin : begin + at_once].T
            ratio = (rest[one] * rest[two]).sum(axis=1) / _positive(squares[one])
            second = rest[two] - ratio[:, None] * rest[one]
            sigma = (second**2).sum(axis=1) + penalty[two] + ratio**2 * penalty[one]
            shares = (coupling[two] - ratio[:, None] * coupling[one])[:, self._slots]
            yield pairs.find_close(
                self._problem,
                self._circuits,
                close[begin : begin + at_once],
                _positive(sigma),
                second @ left_of_y,
                np.ascontiguousarray(shares),
                size,
                least,
            )

    def _best_of(self, moves: MoveList, gains: FloatArray, incumbent: float, budget: Budget) -> Found | None:
        state, best = self._state, dict[Move, float]()
        tie = TIE * state.magnitude
        for index in np.argsort(-gains, kind="stable").tolist():
            if gains[index] < incumbent - tie:
                break
            move = moves.move(index)
            move = Move(move.added, tuple(sorted(move.dropped)))
            if move in best or not self._moves.is_independent(move.result(state.support)):
                continue
            budget.check()
            score = float(State.gains(state, moves.take(slice(index, index + 1)))[0])  # by a refit
            if score > incumbent:
                best[move] = score
                incumbent = max(incumbent, score - tie)  # from here on, only ties and better moves
        if not best:
            return None
        top = max(best.values())
        tied = [move for move, score in best.items() if score >= top - tie]
        needed = [move for move in tied if not any(_drops_more(move, other) for other in tied)]
        first = min(needed, key=lambda move: (move.added, move.dropped))
        return Found(first, best[first])


def _drops_more(move: Move, other: Move) -> bool:
    """Whether a move drops something needlessly: another adds the same and drops a part of it."""
    return move.added == other.added and set(other.dropped) < set(move.dropped)


def _positive(squares: FloatArray) -> FloatArray:
    """Return squared lengths that can be divided by: columns of zeros are orthogonal to all others."""
    return np.where(squares > 0, squares, 1.0)
