"""A start from second-order models: searched in closed form, and on few elements at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.data.design import Design
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.clock import Clock
from swapwise.search.few_columns import FewColumns
from swapwise.search.steps import move_to

# So few elements are better looked at all at once, move by move.
SMALL = 200

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# So many elements are looked at in a round, and so many for each that can be chosen.
POOL, POOL_PER_CHOICE = 100, 4

# So many allowed sets are among them, so that every part of the constraint has a choice.
LAYERS = 6

# Working sets begin with so many, or this many elements in all if those are fewer, and grow by so many that
# promise most at the set found.
FIRST_LAYERS, MOST_AT_FIRST, NEW_LAYERS = 4, 3000, 1

# The search among few columns is begun anew with this share of the set found, and with this share of a random
# set, by turns; it ends when so many in a row have led to nothing better.
KEPT, DRAWN, VAIN_KICKS = 0.4, 0.2, 8

# As long as a round changes more than this share of the set, promises are good enough to go on with.
LARGE_CHANGE = 0.25


def has_model(objective: SetFunction) -> bool:
    """Tell whether the objective has second-order models."""
    return (
        isinstance(objective, SparseObjective)
        and objective.single
        and type(objective).quadratic_model is not SparseObjective.quadratic_model
    )


def prefers_model(objective: SetFunction, constraint: IndependenceSystem) -> bool:
    """Tell whether a start from models is the fastest."""
    if isinstance(objective, LeastSquares):
        # A model that holds every element is the search itself, less its history.
        return isinstance(constraint, Matroid) and objective.n > SMALL
    return has_model(objective)


def model_set(
    state: SparseState,
    constraint: IndependenceSystem,
    clock: Clock,
    tol: float = 1e-10,
    *,
    again: bool = False,
) -> IndexArray:
    """Return an allowed set that the models around it do not improve.

    Newton's method for sets: search the second-order model around the fit, refit on what it finds, repeat
    for as long as the value rises. Where the objective is its own model, these are working sets: the
    elements that were looked at once are looked at again, and the rounds end when an exact scan of all
    elements finds no better move. The state is left at the set, unless the last model led astray.

    ``again`` says that searches of the same objective went before: working sets then begin with the last one
    of theirs, whose inner products are known, and kicks are left to them.
    """
    if isinstance(state.objective, LeastSquares):
        if isinstance(constraint, Matroid):
            return _working_sets(state, constraint, clock, tol, again)
        return (
            state.support
        )  # elements cannot be given new numbers, so that the model is the objective itself
    return _newton(state, constraint, clock, tol)


def _newton(state: SparseState, constraint: IndependenceSystem, clock: Clock, tol: float) -> IndexArray:
    best, value = state.support, state.value
    for _ in range(MOST_MODELS):
        clock.check()
        pool = _promising(state, constraint) if isinstance(constraint, Matroid) else None
        target = _best_of_model(state, constraint, pool, clock, tol)
        if np.array_equal(target, state.support):
            break
        state.apply(move_to(state.support, target))
        if not state.value > value:
            break
        best, value = state.support, state.value
    return best


def _working_sets(state: Any, matroid: Matroid, clock: Clock, tol: float, again: bool) -> IndexArray:
    first = state.objective.last_pool if again else np.empty(0, dtype=np.intp)
    if not len(first):
        layers = max(1, min(FIRST_LAYERS, MOST_AT_FIRST // max(1, matroid.max_size())))
        first = _layers(state.objective.promises(state), state, matroid, layers)
    pool, least = np.union1d(first, state.support), max(tol, state.rounding)
    kicks = Kicks(state.objective.design, 0 if again else VAIN_KICKS)
    while True:
        clock.check()
        before = state.support
        few = _few_columns(state, matroid, pool, clock, tol)
        assert few is not None
        target = pool[few.climb(np.searchsorted(pool, before))[0]]
        if not np.array_equal(target, before):
            state.apply(move_to(before, target))
        if len(np.setdiff1d(target, before)) > LARGE_CHANGE * len(target):
            weights = state.objective.promises(state)
        else:
            weights = state.gains_by_element(next(matroid.moves(target)))
            weights[weights <= least * state.magnitude] = 0.0
        grown = np.union1d(pool, _layers(weights, state, matroid, NEW_LAYERS))
        if len(grown) == len(pool):
            better = kicks.better(few, np.searchsorted(pool, target), state.value + least * state.magnitude)
            if better is None:
                return state.support
            state.apply(move_to(target, pool[better]))
        pool = grown


class Kicks:
    """Searches among few columns from parts of sets: most take about a thousandth of a second."""

    def __init__(self, design: Design, most_in_vain: int) -> None:
        self._rng = np.random.default_rng(0)
        self._vain, self._most = 0, most_in_vain
        self._entries = design.n_samples * design.n_features

    def better(self, few: FewColumns, chosen: IndexArray, value: float) -> IndexArray | None:
        """Return a set of more than this value, or None if the last few kicks have found none."""
        # A kick should cost far less than a look at the data does.
        most = min(self._most, self._entries // max(1, few.model.n * len(chosen)))
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


def _best_of_model(
    state: SparseState, constraint: IndependenceSystem, pool: IndexArray | None, clock: Clock, tol: float
) -> IndexArray:
    elements = np.arange(constraint.n) if pool is None else pool
    few = _few_columns(state, constraint, elements, clock, tol)
    if few is None:
        return state.support
    with unwarned():  # collinear columns are no news before they are chosen
        return elements[few.climb(np.searchsorted(elements, state.support))[0]]


def _few_columns(
    state: SparseState, constraint: IndependenceSystem, elements: IndexArray, clock: Clock, tol: float
) -> FewColumns | None:
    model = state.objective.quadratic_model(state, elements) if len(elements) else None
    if model is None:
        return None
    system = constraint.induced(elements) if isinstance(constraint, Matroid) else constraint
    return FewColumns(model, system, clock, tol)


def _promising(state: SparseState, matroid: Matroid) -> IndexArray:
    """Return the chosen elements, a few disjoint allowed sets that promise most, and single ones that do."""
    weights = state.objective.promises(state).copy()
    pool = np.union1d(_layers(weights, state, matroid, LAYERS), state.support)
    weights[pool] = 0.0
    wanted = max(POOL, POOL_PER_CHOICE * matroid.max_size())
    heaviest = np.argsort(-weights, kind="stable")[: max(0, wanted - len(pool))]
    return np.union1d(pool, heaviest[weights[heaviest] > 0])


def _layers(weights: FloatArray, state: SparseState, matroid: Matroid, count: int) -> IndexArray:
    """Return the forced elements, and disjoint allowed sets of the heaviest that are not chosen."""
    is_left = weights > 0
    is_left[state.support] = False
    is_left[matroid.forced] = False
    heaviest = np.argsort(-weights, kind="stable")
    layers = [matroid.forced]
    for _ in range(count):
        heaviest = heaviest[is_left[heaviest]]
        layers.append(matroid.extend(np.empty(0, dtype=np.intp), heaviest))
        is_left[layers[-1]] = False
    return np.concatenate(layers)
