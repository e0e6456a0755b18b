"""A graph on its way: every refit begins where the last one ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.clock import Budget
from swapwise.graphs.ising.objective import PairwisePseudoLikelihood
from swapwise.moves import NOTHING, Found, Move, MoveBatch, MoveList, Step
from swapwise.objectives.base import SparseState, best_of_batches, embed
from swapwise.objectives.least_squares.by_products import least_squares_of
from swapwise.objectives.least_squares.objective import LeastSquares
from swapwise.override import override

# A part of several drops is refitted, to bound the moves that drop more, if at least this many share it.
SHARED_BY = 3

# Bounds are refits themselves. Those that converged are right to 1e-12 of the values, even in separable data,
# and ties are as near. What is below the incumbent by less than this is not pruned.
ROOM = 1e-9

# At most this many gains are remembered: some hundred megabytes.
MOST_REMEMBERED = 1_000_000

# Where edges are many and samples few, nothing curves in some directions. Models have at least this ridge,
# relative to the largest curvature.
LEAST_MODEL_RIDGE = 1e-4

Key = tuple[int, ...]


class MoveGain(NamedTuple):
    """The gain of a move as it was computed, and an upper bound on it."""

    gain: float
    bound: float


UNKNOWN = MoveGain(np.nan, np.inf)


class IsingState(SparseState):
    """The parameters of a fit, from which moves are refitted by a few Newton steps each."""

    objective: PairwisePseudoLikelihood
    _parameters: FloatArray  # couplings in the order of the support, then fields
    _scored: dict[Key, MoveGain]  # moves from this set

    def __init__(self, objective: PairwisePseudoLikelihood, support: IndexArray) -> None:
        self._parameters = objective.no_couplings(len(support))
        super().__init__(objective, support)

    @override
    def _settle(self, support: IndexArray) -> None:
        self._scored = {}
        self.support = support
        self.value, self._parameters = self.objective.fit_from(support, self._parameters)
        self._coef = embed(self.objective, support, self._parameters[: len(support)])
        self._gradient = None
        self.n_evaluations += 1

    @override
    def apply(self, move: Move) -> None:
        support = move.result(self.support)
        self._parameters = self._parameters_on(support)
        self._settle(support)

    def _parameters_on(self, support: IndexArray) -> FloatArray:
        """Return parameters to begin with on another set: couplings that both have, else zeros; fields."""
        return np.append(self._coef[support], self._parameters[len(self.support) :])

    @property
    @override
    def gradient(self) -> FloatArray:
        if self._gradient is None:
            fields = self._parameters[len(self.support) :]
            self._gradient = self.objective.gradient_with(self._coef, fields)
            self._gradient[self.support] = 0.0
        return self._gradient

    @override
    def model(self, elements: IndexArray, damping: float = 0.0) -> LeastSquares | None:
        objective, samples = self.objective, self.objective.data.samples
        if samples is None:
            return None
        fields = self._parameters[len(self.support) :]
        hessian = samples.mean_hessian(self._coef, fields, objective.no_couplings(0), elements, damping)
        # The slope in fields, and in couplings that are chosen, is zero but for the ridge.
        slope = np.append(
            self.gradient[elements] + objective.ridge * self._coef[elements], np.zeros(len(fields))
        )
        target = slope + hessian @ np.append(self._coef[elements], fields)
        ridge = objective.ridge + LEAST_MODEL_RIDGE * float(np.diag(hessian).max(initial=0.0))
        return least_squares_of(hessian, target, ridge, len(fields))

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        listed = moves.to_list()
        keys = _keys(listed)
        if len(self._scored) > MOST_REMEMBERED:
            self._scored = {}
        fresh = [row for row, key in enumerate(keys) if key not in self._scored]
        gains, converged = self._refits(listed.take(np.array(fresh, dtype=np.intp)))
        # A refit that did not converge does not bound the maximum.
        bounds = np.where(converged, gains, np.inf)
        for row, gain, bound in zip(fresh, gains.tolist(), bounds.tolist(), strict=True):
            self._scored[keys[row]] = MoveGain(gain, bound)
        return moves.spread(np.array([self._scored[key].gain for key in keys], dtype=np.float64))

    def _refits(self, moves: MoveList) -> tuple[FloatArray, BoolArray]:
        self.n_evaluations += len(moves)
        values, converged = self.objective.values_after(self.support, self._parameters, moves)
        for row in np.flatnonzero(~converged):  # exactly as it is refitted if the move is taken
            support = moves.move(int(row)).result(self.support)
            values[row] = self.objective.fit_from(support, self._parameters_on(support))[0]
        return values - self.value, converged

    @override
    def find_best(self, batches: Iterable[MoveBatch], incumbent: float, budget: Budget) -> Found | None:
        # In every batch the cheapest drop for each addition is refitted first, which bounds the gain of the
        # best move from below, but does not tell which of several equal ones comes first.
        def prune(moves: MoveBatch, least: float) -> MoveList:
            listed = moves.to_list()
            probes = _cheapest_of_each(listed, self._coef**2)
            for piece in self._pieces(probes, budget):
                index, gain = piece.best(self.gains(piece))
                if gain > least:
                    least = gain
                    budget.keep([Step(piece.move(index), self.value + gain)], gain)
            return self.unpruned(listed, least, budget)

        return best_of_batches(self, batches, incumbent, budget, prune=prune)

    def unpruned(self, listed: MoveList, least: float, budget: Budget) -> MoveList:
        """Return the moves without those that monotonicity proves to gain less than ``least``.

        A move that drops only a part of what another one drops gains no less, and many moves share that part.
        """
        least -= ROOM * self.magnitude
        n_dropped = (listed.dropped != NOTHING).sum(axis=1)
        # Strong couplings first: without them most is lost, and so most moves are ruled out. Padding is last.
        strength = np.append(self._coef**2, -1.0)[listed.dropped]
        dropped = np.take_along_axis(listed.dropped, np.argsort(-strength, axis=1, kind="stable"), axis=1)
        kept = np.ones(len(listed), dtype=bool)
        # To drop nothing loses nothing: that rules moves out only if more than nothing is to be gained.
        for size in range(0 if least > 0 else 1, int(n_dropped.max(initial=0))):
            for columns in combinations(range(dropped.shape[1]), size):
                rows = np.flatnonzero(kept & (n_dropped > max(size, *columns, 0)))
                parts = MoveList(listed.added[rows], dropped[rows][:, columns])
                kept[rows] = self._bounds(parts, budget) >= least
        return listed.take(np.flatnonzero(kept))

    def _bounds(self, parts: MoveList, budget: Budget) -> FloatArray:
        """Return an upper bound on the gain of each row: infinity where too few rows share the refit."""
        keys = _keys(parts)
        shared = Counter(keys)
        rows = {key: row for row, key in enumerate(keys) if shared[key] >= SHARED_BY}
        for piece in self._pieces(parts.take(np.array(list(rows.values()), dtype=np.intp)), budget):
            self.gains(piece)
        return np.array([self._scored.get(key, UNKNOWN).bound for key in keys], dtype=np.float64)

    def _pieces(self, moves: MoveList, budget: Budget) -> Iterator[MoveBatch]:
        return budget.pieces([moves], self.objective.scoring == "pass") if len(moves) else iter(())

    @override
    def move_smoothness(self, moves: MoveBatch) -> FloatArray:
        # By the argument of PairwisePseudoLikelihood.smoothness, the largest curvature · (deg_u + deg_v) over
        # the edges of the move, with degrees within the move: edges that share no vertex do not add up.
        listed = moves.to_list()
        touched = np.concatenate([listed.added, listed.dropped], axis=1)
        there = touched != NOTHING
        ends = np.stack([self.objective.tail[touched], self.objective.head[touched]])
        degrees = np.zeros(touched.shape)
        for column in range(touched.shape[1]):
            for end in ends:
                shared = (ends[0] == end[:, [column]]) | (ends[1] == end[:, [column]])
                degrees[:, column] += (shared & there).sum(axis=1)
        curvature = np.where(there, self.objective.edge_curvature[touched], 0.0)
        largest = (curvature * degrees).max(axis=1, initial=0.0) + self.objective.ridge
        return moves.spread(largest)


def _cheapest_of_each(moves: MoveList, cost: FloatArray) -> MoveList:
    """Return for everything that is added the move whose drops cost least."""
    order = np.lexsort((moves.sums(moves.dropped, cost), *moves.added.T[::-1]))
    added = moves.added[order]
    is_first = (
        np.append(True, (added[1:] != added[:-1]).any(axis=1)) if len(added) else np.zeros(0, dtype=bool)
    )
    return moves.take(np.sort(order[is_first]))


def _keys(moves: MoveList) -> list[Key]:
    """Return the elements that each move exchanges, which identify it among moves from one set."""
    touched = np.sort(np.hstack([moves.added, moves.dropped]), axis=1)
    if not (touched == NOTHING).any():
        return list(map(tuple, touched.tolist()))
    return [tuple(element for element in row if element != NOTHING) for row in touched.tolist()]
