"""Compiled local search of least squares on inner products, beyond laminar limits."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray
from swapwise.constraints.base import Constraint
from swapwise.constraints.circuits import MOST_CIRCUITS, Exchanges
from swapwise.constraints.intersection import Intersection
from swapwise.constraints.kinds import MixedLimits
from swapwise.constraints.larger_moves import LargerMoves
from swapwise.constraints.matroid import Matroid
from swapwise.kernels import exchanges, swaps
from swapwise.moves import NOTHING, MoveList
from swapwise.numerics import TIE
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares.gram_search import LEAST_SHARE, BlockSearch, GramSearch
from swapwise.objectives.least_squares.groups import GroupLeastSquares
from swapwise.objectives.least_squares.objective import is_by_column
from swapwise.override import override


def is_quick(objective: SparseObjective, system: Constraint) -> bool:
    """Whether a search of few columns is fast: there is a compiled one, bounds on coefficients aside."""
    return _search_for(objective, system) is not None


def compiled_search(
    model: SparseObjective, system: Constraint, tol: float, elements: IndexArray
) -> GramSearch | None:
    """Return the compiled search of a model under a constraint, or None if there is none.

    ``elements`` are the numbers of the model's elements elsewhere. Bounds on coefficients are handled by the
    states, which find moves by compiled scans of few columns.
    """
    kind = _search_for(model, system) if model.bounds is None else None
    return None if kind is None else kind(model, system, tol, elements)


def _search_for(model: SparseObjective, system: Constraint) -> Any:
    if isinstance(model, GroupLeastSquares):
        return None if system.laminar_tree() is None else BlockSearch
    if not is_by_column(model):
        return None
    if system.laminar_tree() is not None:
        return GramSearch
    if system.group_limits() is not None:
        return PackingSearch
    if isinstance(system, Intersection) and system.neighbourhood == "matroid":
        return CircuitSearch if len(system.parts) <= MOST_CIRCUITS else None
    if system.mixed_limits() is not None:
        return MixedSearch
    return None if isinstance(system, Matroid) or _tests_swaps_singly(system) else MaskSearch


class PackingSearch(GramSearch):
    """The search where elements take places in several groups: matchings, packings, several partitions."""

    @override
    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        limits = system.group_limits()
        assert limits is not None
        return (tuple(limits),)

    @override
    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        problem = *self._products(), self._squares, self._floor, *self._limits
        return exchanges.best_moves_of_packing(
            *problem, tableau, start, self._total, self._tol, TIE, share, rounds
        )

    @override
    def grown(self, start: IndexArray, barred: IndexArray) -> IndexArray:
        # By the best additions, one by one; a set of nearly collinear columns stays as it is.
        if self._mixed is None:
            return self._grown_one_by_one(start, barred)
        tableau, most = self._tableau(start), len(start) + self._room
        status, *_ = self._moves_within(self._mixed, tableau, start, 0.0, most, barred, drops=False)
        return start if status == swaps.DEPENDENT else np.sort(tableau[0][: tableau[-2][0]])

    def _grown_one_by_one(self, start: IndexArray, barred: IndexArray) -> IndexArray:
        tableau, added, chosen = self._tableau(start), True, start
        problem, limits = (*self._products(), self._squares, self._floor), (self._total, self._tol, TIE, 0.0)
        while added:
            feasible = np.zeros((len(self._squares), len(chosen) + 1), dtype=bool)
            feasible[:, -1] = self._system.addable(chosen)
            feasible[barred, -1] = False
            status, *_ = swaps.best_of_mask(*problem, feasible, tableau, start, *limits)
            if status == swaps.DEPENDENT:  # only a part of the start was added
                return start
            grown = np.sort(tableau[0][: tableau[-2][0]])
            added, chosen = status == swaps.GOING_ON and len(grown) > len(chosen), grown
        return chosen

    @cached_property
    def _mixed(self) -> MixedLimits | None:
        return self._system.mixed_limits()

    def _moves_within(
        self,
        limits: MixedLimits,
        tableau: tuple[Any, ...],
        start: IndexArray,
        share: float,
        rounds: int,
        barred: IndexArray,
        *,
        drops: bool = True,
    ) -> Any:
        fixed, never = np.zeros((2, len(self._squares)), dtype=bool)
        fixed[self._system.forced] = never[barred] = True
        problem = *self._products(), self._squares, self._floor, tuple(limits), fixed, never, drops
        return swaps.best_moves_within(*problem, tableau, start, self._total, self._tol, TIE, share, rounds)

    def _products(self) -> tuple[FloatArray, BoolArray]:
        if self._gram is None:
            self._gram = self._design.gram_of_all(), np.ones(len(self._squares), dtype=bool)
        return self._gram


class MixedSearch(PackingSearch):
    """The search by one-for-one swaps under limits of several kinds; the next rule makes larger moves."""

    @override
    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        return (system.mixed_limits(),)

    @override
    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        return self._moves_within(self._limits[0], tableau, start, share, rounds, start[:0])


class MaskSearch(PackingSearch):
    """The search under a constraint of any kind: by one-for-one swaps, and larger moves where none improves.

    The constraint finds the feasible swaps, so that there is a call per move.
    """

    makes_runs = False

    @override
    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        return (system,)

    @override
    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        system, elements, counts = self._limits[0], tableau[0], tableau[-2]
        chosen = start if counts[1] < len(start) else np.sort(elements[: counts[0]])
        feasible = system._swap_mask(chosen)
        feasible[chosen] = False
        problem = *self._products(), self._squares, self._floor, feasible
        found = swaps.best_of_mask(*problem, tableau, start, self._total, self._tol, TIE, share)
        is_done = found[0] in (swaps.DONE, swaps.OPTIMAL) and share == 0
        if not is_done or not self.tries_larger or system.hereditary:
            return found  # where elements need no others, the rule that follows makes larger moves
        return self._larger_move(tableau, chosen, found)

    def _larger_move(self, tableau: tuple[Any, ...], chosen: IndexArray, otherwise: Any) -> Any:
        best, least = None, np.array(self._tol * self._total)
        moves = LargerMoves(self._limits[0], chosen)
        for listed, gains in moves.search(lambda some: self._gains(tableau, some), least):
            index, gain = listed.best(gains, self._total)
            if gain > least:
                best, least[()] = listed.move(index), gain
        if best is None:
            return otherwise
        gain, parts = float(least), [np.array(part, dtype=np.intp) for part in (best.added, best.dropped)]
        if not swaps.make_move(self._products()[0], self._floor, tableau, *parts, gain):
            return swaps.DEPENDENT, 0, np.empty((0, 2), dtype=np.intp), np.empty(0)
        return swaps.GOING_ON, otherwise[1], [best], np.array([gain])

    def _gains(self, tableau: tuple[Any, ...], moves: MoveList) -> FloatArray:
        """The gains of moves by inner products; minus infinity where they would be mostly rounding."""
        elements, place, coupling, inverse, coef, corr, _, counts, _ = tableau
        gram, size = self._products()[0], int(counts[0])
        newcomers = np.unique(moves.added[moves.added >= 0])
        known = gram[np.ix_(newcomers, elements[:size])]
        left = gram[np.ix_(newcomers, newcomers)] - coupling[newcomers, :size] @ known.T
        left[np.diag_indices(len(left))] = tableau[6][newcomers]
        places = np.searchsorted(newcomers, moves.added)
        gains = swaps.move_gains(
            moves.added,
            places,
            places,
            np.where(moves.dropped >= 0, place[moves.dropped], NOTHING),
            left,
            inverse,
            coupling,
            coef,
            corr,
            self._floor,
            LEAST_SHARE,
        )
        return np.where(np.isnan(gains), -np.inf, gains)


class CircuitSearch(PackingSearch):
    """The search under several matroids of any kind, by moves that add one element.

    The matroids find the circuits, so that there is a call per move. Moves that add more are left to the rule
    that follows working sets: they are rarely better, and there are far more of them.
    """

    makes_runs = False

    @override
    def _read_limits(self, system: Constraint) -> tuple[Any, ...]:
        assert isinstance(system, Intersection)
        self.is_quick = not any(map(_tests_swaps_singly, system.matroids))
        return (system,)

    @override
    def _best_moves(self, tableau: tuple[Any, ...], start: IndexArray, share: float, rounds: int) -> Any:
        elements, counts = tableau[0], tableau[-2]
        chosen = start if counts[1] < len(start) else np.sort(elements[: counts[0]])
        moves = next(iter(self._limits[0].moves(chosen, 1)))
        assert isinstance(moves, Exchanges)
        problem = *self._products(), self._squares, self._floor, tuple(moves.circuits)
        return exchanges.best_move(*problem, tableau, start, self._total, self._tol, TIE, share)


def _tests_swaps_singly(system: Constraint) -> bool:
    made_of: tuple[Constraint, ...] = getattr(system, "_made_of", ())
    return type(system)._swap_mask is Constraint._swap_mask or any(map(_tests_swaps_singly, made_of))
