"""Least squares among many columns: search the few that promise most, look at all, take in what improves."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, cast

import numpy as np

from swapwise.checks import FloatArray, IndexArray
from swapwise.clock import Clock, OutOfTime, plain_interrupts
from swapwise.constraints.matroid import Matroid
from swapwise.events import notify
from swapwise.objectives.base import SparseState
from swapwise.search.few_columns import FewColumns, few_columns, layers
from swapwise.search.steps import move_to

if TYPE_CHECKING:
    from swapwise.objectives.least_squares_state import LeastSquaresState

# Working sets begin with so many allowed sets, or this many elements in all if those are fewer, and grow by
# so many that promise most at the set found.
FIRST_LAYERS, MOST_AT_FIRST, NEW_LAYERS = 4, 3000, 1

# As long as a round changes more than this share of the set, promises are good enough to go on with.
LARGE_CHANGE = 0.25

# A column that adds less than this share of what the weakest chosen one does has to wait for the scan.
FAR_LESS = 0.5

# The search among few columns is begun anew with this share of the set found, and with this share of a random
# set, by turns; it ends when so many in a row have led to nothing better.
KEPT, DRAWN, VAIN_KICKS = 0.4, 0.2, 8

# What a number of the tableau costs in a kick, in numbers of a product with all of the data.
WORK_OF_A_KICK = 16


def working_sets(
    state: SparseState, matroid: Matroid, clock: Clock, tol: float, first: IndexArray | None = None
) -> IndexArray:
    """Return a set of columns that no exchange with any other column improves; the state is left there.

    ``first`` is the working set that a search of the same objective ended with: this one begins with it, and
    kicks are left to that search.
    """
    return _WorkingSets(cast("LeastSquaresState", state), matroid, clock, tol, first).search()


class _WorkingSets:
    def __init__(
        self,
        state: LeastSquaresState,
        matroid: Matroid,
        clock: Clock,
        tol: float,
        first: IndexArray | None,
    ) -> None:
        self._state, self._matroid, self._clock, self._tol = state, matroid, clock, tol
        self._least = max(tol, state.rounding)
        self._pool = self._first_pool(first)
        self._kicks = _Kicks(VAIN_KICKS if first is None else 0)

    def _first_pool(self, first: IndexArray | None) -> IndexArray:
        state, matroid = self._state, self._matroid
        if first is None or not len(first):
            most = max(1, min(FIRST_LAYERS, MOST_AT_FIRST // max(1, matroid.max_size())))
            first = layers(state.screening_scores(), state.support, matroid, most)
        return np.union1d(first, state.support)

    def search(self) -> IndexArray:
        """Go on until nothing improves among all columns, and no kick among the few leads to better ones."""
        state = self._state
        for rounds in count(1):
            if not len(self._pool):
                break
            self._clock.check()
            notify(rounds=rounds, passes=state.objective.n_passes, value=state.value)
            few = cast(FewColumns, few_columns(state, self._matroid, self._pool, self._clock, self._tol))
            before = state.support
            self._go_to(self._climbed(few))
            changed = len(np.setdiff1d(state.support, before)) > LARGE_CHANGE * len(state.support)
            grown = self._grown(self._promises()) if changed else self._pool
            if len(grown) == len(self._pool):
                grown = self._grown(self._improvements())
            if len(grown) == len(self._pool) and not self._kicked(few):
                break
            self._pool = grown
        return state.support

    def _climbed(self, few: FewColumns) -> IndexArray:
        """Return where the best moves among the few lead; cut short, go where they have led so far."""
        try:
            with plain_interrupts():
                return few.climb(np.searchsorted(self._pool, self._state.support))[0]
        except (OutOfTime, KeyboardInterrupt):
            if few.reached is not None:
                self._go_to(few.reached)
            raise

    def _grown(self, weights: FloatArray) -> IndexArray:
        """Return the pool with the heaviest columns that are not in it yet."""
        return np.union1d(self._pool, layers(weights, self._state.support, self._matroid, NEW_LAYERS))

    def _promises(self) -> FloatArray:
        """Return what each column would add by itself, 0 if far less than the weakest chosen one does."""
        state = self._state
        gains = state.screening_scores()
        gains[gains < FAR_LESS * state.least_loss] = 0.0
        return gains

    def _improvements(self) -> FloatArray:
        """Return what the best exchange that adds each column gains, 0 if that is no improvement."""
        (grid,) = self._matroid.moves(self._state.support)
        gains = self._state.gains_by_element(grid)
        gains[gains <= self._least * self._state.magnitude] = 0.0
        return gains

    def _kicked(self, few: FewColumns) -> bool:
        """Tell whether a kick has led to a better set."""
        design = self._state.objective.design
        entries = design.n_samples * design.n_features
        chosen = np.searchsorted(self._pool, self._state.support)
        value = self._state.value + self._least * self._state.magnitude
        better = self._kicks.better(few, chosen, value, entries)
        return better is not None and self._go_to(better)

    def _go_to(self, places: IndexArray) -> bool:
        """Go to a set of the pool, and back if it is no better than inner products made it look."""
        before, value = self._state.support, self._state.value
        target = self._pool[places]
        if np.array_equal(target, before):
            return False
        self._state.apply(move_to(before, target))
        if self._state.value > value:
            return True
        self._state.apply(move_to(target, before))
        return False


class _Kicks:
    """Searches among few columns from parts of sets: most take about a thousandth of a second."""

    def __init__(self, most_in_vain: int) -> None:
        self._rng = np.random.default_rng(0)
        self._vain, self._most = 0, most_in_vain

    def better(self, few: FewColumns, chosen: IndexArray, value: float, entries: int) -> IndexArray | None:
        """Return a set of more than this value, or None if the last few kicks have found none.

        Kicks are to cost no more than a product of the chosen columns with the ``entries`` of the data does.
        """
        most = min(self._most, entries // (WORK_OF_A_KICK * max(1, few.model.n * len(chosen))))
        while few.is_fused and self._vain < most:
            found, reached = few.climb(np.union1d(self._part(few, chosen), few.system.forced))
            self._vain += 1
            if reached > value:
                self._vain = 0
                return found
        return None

    def _part(self, few: FewColumns, chosen: IndexArray) -> IndexArray:
        if self._vain % 2 == 0:
            return chosen[self._rng.random(len(chosen)) < KEPT]
        drawn = few.system.random_set(few.system.forced, self._rng)
        return drawn[self._rng.random(len(drawn)) < DRAWN]
