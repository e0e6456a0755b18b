"""A start from second-order models: searched in closed form, and on few elements at a time."""

from __future__ import annotations

import numpy as np

from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.constraints.minors import Induced
from swapwise.objectives.base import SetFunction, SparseObjective, SparseState
from swapwise.search.clock import Clock
from swapwise.search.local_search import BestImprovement, LocalSearch
from swapwise.search.loop import Trace, climb
from swapwise.search.pivots import Oblivious
from swapwise.search.steps import move_to

# A model that leads to a worse set than the one it was made for ends the rounds; few get that far.
MOST_MODELS = 20

# So many elements are looked at in a round, and so many for each that can be chosen.
POOL, POOL_PER_CHOICE = 100, 4

# So many allowed sets are among them, so that every part of the constraint has a choice.
LAYERS = 6


def has_model(objective: SetFunction) -> bool:
    """Tell whether the objective has second-order models."""
    return (
        isinstance(objective, SparseObjective)
        and objective.single
        and type(objective).quadratic_model is not SparseObjective.quadratic_model
    )


def model_set(state: SparseState, constraint: IndependenceSystem, clock: Clock) -> IndexArray:
    """Return an allowed set that the models around it do not improve; the state is left there.

    Newton's method for sets: search the second-order model around the fit, refit on what it finds, repeat
    for as long as the value rises.
    """
    best, value = state.support, state.value
    for _ in range(MOST_MODELS):
        clock.check()
        target = _best_of_model(state, constraint, clock)
        if np.array_equal(target, state.support):
            break
        state.apply(move_to(state.support, target))
        if not state.value > value:
            break
        best, value = state.support, state.value
    return best


def _best_of_model(state: SparseState, constraint: IndependenceSystem, clock: Clock) -> IndexArray:
    pool = np.arange(constraint.n)
    if isinstance(constraint, Matroid):  # elsewhere elements cannot be given new numbers
        pool = _pool(state, constraint)
    model = state.objective.quadratic_model(state, pool) if len(pool) else None
    if model is None:
        return state.support
    system = Induced(constraint, pool) if isinstance(constraint, Matroid) else constraint
    with unwarned():  # collinear columns are no news before they are chosen
        local = model.start(np.searchsorted(pool, state.support))
        steps = LocalSearch(system, Oblivious(), BestImprovement(1e-10), 1, clock)
        climb(local, steps, Trace(local.support, []), clock)
    return pool[local.support]


def _pool(state: SparseState, matroid: Matroid) -> IndexArray:
    """Return the chosen elements, a few disjoint allowed sets that promise most, and single ones that do."""
    weights: FloatArray = state.objective.promises(state).copy()
    chosen = np.union1d(state.support, matroid.forced)
    weights[chosen] = 0.0
    layers = [chosen]
    for _ in range(LAYERS):
        layer = matroid.max_weight(weights).support
        weights[layer] = 0.0
        layers.append(layer)
    wanted = max(POOL, POOL_PER_CHOICE * matroid.max_size())
    heaviest = np.argsort(-weights, kind="stable")[: max(0, wanted - sum(map(len, layers)))]
    layers.append(heaviest[weights[heaviest] > 0])
    return np.unique(np.concatenate(layers)).astype(np.intp)
