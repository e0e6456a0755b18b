"""The potential of a set function without a closed form: a base in colours, and the unions of colours."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import NOTHING, Move, MoveBatch, MoveList, SwapGrid, additions
from swapwise.numerics import TIE
from swapwise.objectives.base import SetFunction, State, costs_little


class ColourUnion(NamedTuple):
    colours: BoolArray
    weight: float
    state: State


class Recolouring(NamedTuple):
    dropped: int
    added: int  # possibly the same element
    colour: int
    gain: float


class Colouring:
    """A base S whose elements have one of ℓ colours, and its potential ``Σ_J weights[|J|] f(S_J)``.

    J goes through the sets of colours, and S_J is the union of these. A move drops an element and adds one of
    any colour; an element may also change its colour. In a grid of scores for each J, the move from (u, c) to
    (v, j) gains what the swap does at S_J if c and j are in J, what the addition does if only j is, what the
    drop does if only c is, and else nothing: 2^ℓ − 1 grids score all moves.

    If every element has a colour of its own, which its successor takes over (``inherited``), the S_J are all
    subsets of S.
    """

    def __init__(
        self,
        objective: SetFunction,
        support: IndexArray,
        colours: IndexArray,
        weights: FloatArray,
        *,
        inherited: bool = False,
    ) -> None:
        self.support, self.colours, self._inherited = support, colours, inherited
        self.n_levels = len(weights) - 1
        subsets = [np.array(J, dtype=bool) for J in product([False, True], repeat=self.n_levels) if any(J)]
        self._parts = [
            ColourUnion(J, weights[J.sum()], objective.start(support[J[colours]])) for J in subsets
        ]
        self._scale = objective.scale * sum(part.weight for part in self._parts)

    @property
    def potential(self) -> float:
        return float(sum(part.weight * part.state.value for part in self._parts))

    @property
    def n_evaluations(self) -> int:
        return sum(part.state.n_evaluations for part in self._parts)

    def climb(self, constraint: Constraint, tol: float, budget: Budget) -> Iterator[IndexArray]:
        """Make the best move while it raises the potential by ``tol`` times its value; yield the bases."""
        while True:
            before = self.potential
            move = self.best_move(constraint, tol * max(abs(before), self._scale), budget)
            if move is None:
                return
            self.apply(move)
            if self.potential <= before:  # the gain was rounding
                return
            yield self.support

    def best_move(self, constraint: Constraint, incumbent: float, budget: Budget) -> Recolouring | None:
        scores = self.scores(constraint, budget)
        top = float(scores.max(initial=-np.inf))
        if top <= incumbent:
            return None
        ties = scores >= top - TIE * (top + abs(self.potential))
        added, column, colour = np.unravel_index(int(np.argmax(ties)), scores.shape)
        dropped = int(self.support[column])
        if self._inherited:
            colour = self.colours[column]
        return Recolouring(dropped, int(added), int(colour), top)

    def scores(self, constraint: Constraint, budget: Budget) -> FloatArray:
        """Return the gains by element added, element dropped and colour (one if inherited)."""
        feasible = np.zeros((constraint.n, len(self.support)), dtype=bool)
        for grid in constraint.moves(self.support):
            assert isinstance(grid, SwapGrid)
            feasible[:, np.searchsorted(self.support, grid.drops)] |= grid.feasible[:, :-1]
        total = np.zeros((*feasible.shape, 1 if self._inherited else self.n_levels))
        for part in self._parts:
            budget.check()
            inside = part.colours[self.colours]
            swaps = self._swaps(part.state, feasible[:, inside], budget)
            if self._inherited:
                total[:, inside, 0] += part.weight * swaps
                continue
            gains, losses = self._additions(part.state, feasible, budget), self._losses(part.state, budget)
            for colour, is_in in enumerate(part.colours):
                total[:, inside, colour] += part.weight * (swaps if is_in else -losses)
                total[:, ~inside, colour] += part.weight * is_in * gains[:, None]
        if not self._inherited:
            feasible[self.support, np.arange(len(self.support))] = True  # a change of colour
        return np.where(feasible[:, :, None], total, -np.inf)

    def apply(self, move: Recolouring) -> None:
        place = int(np.searchsorted(self.support, move.dropped))
        colour = self.colours[place]
        for part in self._parts:
            leaves, comes = part.colours[colour], part.colours[move.colour]
            if leaves and comes and move.dropped == move.added:
                continue
            if leaves or comes:
                part.state.apply(Move((move.added,) * int(comes), (move.dropped,) * int(leaves)))
        support, colours = self.support.copy(), self.colours.copy()
        support[place], colours[place] = move.added, move.colour
        order = np.argsort(support)
        self.support, self.colours = support[order], colours[order]

    def _swaps(self, state: State, feasible: BoolArray, budget: Budget) -> FloatArray:
        grid = SwapGrid(state.support, np.column_stack([feasible, np.zeros(len(feasible), dtype=bool)]))
        return _finite(_gains(state, grid, budget))[:, :-1]

    def _additions(self, state: State, feasible: BoolArray, budget: Budget) -> FloatArray:
        addable: BoolArray = np.logical_or.reduce(feasible, axis=1)
        addable[self.support] = True
        addable[state.support] = False
        return _finite(_gains(state, additions(addable), budget))[:, 0]

    def _losses(self, state: State, budget: Budget) -> FloatArray:
        dropped = state.support[:, None]
        return -_gains(state, MoveList(np.full_like(dropped, NOTHING), dropped), budget)


def _gains(state: State, moves: MoveBatch, budget: Budget) -> FloatArray:
    cheap = costs_little(state, moves)
    if cheap:
        return state.gains(moves)
    scores = [state.gains(piece) for piece in budget.pieces([moves], cheap)]
    return moves.spread(np.concatenate(scores) if scores else np.empty(0))


def _finite(scores: FloatArray) -> FloatArray:
    return np.where(np.isfinite(scores), scores, 0.0)


def colour_weights(ratio: float, levels: int) -> FloatArray:
    """Return the weights ``(1 + r/ℓ)^{i−1} / C(ℓ−1, i−1)`` of unions of i colours; the first is for none."""
    weights = [(1 + ratio / levels) ** (i - 1) / comb(levels - 1, i - 1) for i in range(1, levels + 1)]
    return np.array([0.0, *weights])
