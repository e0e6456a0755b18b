"""A start from second-order models: searched in closed form, and on few elements at a time."""

from __future__ import annotations

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Clock
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.events import notify
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.few_columns import few_columns, layers
from swapwise.search.steps import move_to
from swapwise.search.working_sets import working_sets

# So few elements are better looked at all at once, move by move.
SMALL = 200

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# So many elements are looked at in a round, and so many for each that can be chosen.
POOL, POOL_PER_CHOICE = 100, 4

# So many allowed sets are among them, so that every part of the constraint has a choice.
LAYERS = 6

# Where no pool can be cut out of the constraint, data in blocks are asked for the inner products of all
# columns, if they are no more than these.
MOST_STREAMED = 500


def has_model(objective: SetFunction) -> bool:
    """Tell whether the objective has second-order models."""
    return isinstance(objective, SparseObjective) and objective.second_order


def prefers_model(objective: SetFunction, constraint: IndependenceSystem) -> bool:
    """Tell whether a start from models is the fastest."""
    if isinstance(objective, LeastSquares):
        # A model that holds every element is the search itself, less its history.
        return isinstance(constraint, Matroid) and objective.n > SMALL
    return has_model(objective) and not _is_too_wide(objective, constraint)


def model_set(
    state: SparseState,
    constraint: IndependenceSystem,
    clock: Clock,
    tol: float = 1e-10,
    *,
    first: IndexArray | None = None,
) -> IndexArray:
    """Return an allowed set that the models around it do not improve.

    Newton's method for sets: search the second-order model around the fit, refit on what it finds, repeat
    for as long as the value rises. Where the objective is its own model, these are working sets: the
    elements that were looked at once are looked at again, and the rounds end when an exact scan of all
    elements finds no better move. The state is left at the set, unless the last model led astray.

    ``first`` is the working set that a search of the same objective ended with: working sets then begin with
    it, and kicks are left to that search.
    """
    if isinstance(state.objective, LeastSquares):
        if isinstance(constraint, Matroid):
            return working_sets(state, constraint, clock, tol, first)
        # Elements cannot be given new numbers: the model would be the objective itself.
        return state.support
    return _newton(state, constraint, clock, tol)


def _newton(state: SparseState, constraint: IndependenceSystem, clock: Clock, tol: float) -> IndexArray:
    if _is_too_wide(state.objective, constraint):
        raise ValueError(
            f"start='model' on data in blocks needs a matroid or at most {MOST_STREAMED} elements, got "
            f"{constraint.n} under {constraint!r}; start='greedy' works here"
        )
    best, value = state.support, state.value
    for rounds in range(1, MOST_MODELS + 1):
        clock.check()
        passes = state.objective.n_passes
        if passes is not None:
            notify(rounds=rounds, passes=passes, value=state.value)
        pool = _promising(state, constraint) if isinstance(constraint, Matroid) else None
        target = _best_of_model(state, constraint, pool, clock, tol)
        if np.array_equal(target, state.support):
            break
        state.apply(move_to(state.support, target))
        if not state.value > value:
            break
        best, value = state.support, state.value
    return best


def _is_too_wide(objective: SetFunction, constraint: IndependenceSystem) -> bool:
    """Tell whether a model would hold very many elements of data in blocks: no pool can be cut out."""
    return objective.streamed and objective.n > MOST_STREAMED and not isinstance(constraint, Matroid)


def _best_of_model(
    state: SparseState, constraint: IndependenceSystem, pool: IndexArray | None, clock: Clock, tol: float
) -> IndexArray:
    elements = np.arange(constraint.n) if pool is None else pool
    few = few_columns(state, constraint, elements, clock, tol)
    if few is None:
        return state.support
    return elements[few.climb(np.searchsorted(elements, state.support))[0]]


def _promising(state: SparseState, matroid: Matroid) -> IndexArray:
    """Return the chosen elements, a few disjoint allowed sets that promise most, and single ones that do."""
    weights = state.screening_scores().copy()
    pool = np.union1d(layers(weights, state.support, matroid, LAYERS), state.support)
    weights[pool] = 0.0
    wanted = max(POOL, POOL_PER_CHOICE * matroid.max_size())
    heaviest = np.argsort(-weights, kind="stable")[: max(0, wanted - len(pool))]
    return np.union1d(pool, heaviest[weights[heaviest] > 0])
