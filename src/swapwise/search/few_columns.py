"""The search of least squares on few columns: under nested limits in one call, else by the usual loop."""

from __future__ import annotations

import numpy as np

from swapwise.checks import IndexArray
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import TIE
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.clock import Clock
from swapwise.search.local_search import BestImprovement, LocalSearch
from swapwise.search.loop import Trace, climb
from swapwise.search.pivots import Oblivious

# Columns of which less than this share is left are not added: products with them are mostly rounding, and
# nothing here looks at the columns themselves.
LEAST_SHARE = 1e-6

# After so many moves the clock is looked at.
MOVES_AT_A_TIME = 1000


def search_few(
    model: SparseObjective, system: IndependenceSystem, start: IndexArray, clock: Clock, tol: float
) -> IndexArray:
    """Return where the best moves lead from a set."""
    limits = system.nested_limits()
    if limits is None or not isinstance(model, LeastSquares):
        local = model.start(start)
        steps = LocalSearch(system, Oblivious(), BestImprovement(tol), 1, clock)
        climb(local, steps, Trace(local.support, []), clock)
        return local.support
    from swapwise.kernels import climb as kernel

    every = np.arange(model.n)
    gram = model.design.gram(every, every)
    fixed = np.isin(every, system.forced)
    chosen, moves = start, MOVES_AT_A_TIME
    while moves == MOVES_AT_A_TIME:
        clock.check()
        chosen, _, moves = kernel.climb(
            gram,
            model.products_with_y,
            model.squares,
            LEAST_SHARE * model.squares,
            limits,
            fixed,
            chosen,
            max(len(start), system.max_size()),
            model.total,
            tol,
            TIE,
            MOVES_AT_A_TIME,
        )
    return np.sort(chosen)
