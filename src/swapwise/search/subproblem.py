"""The problem on a few elements: a second-order model, and the constraint induced on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from swapwise.budget import Budget
from swapwise.checks import FloatArray, IndexArray, unwarned
from swapwise.constraints.base import IndependenceSystem
from swapwise.moves import Move, Step
from swapwise.objectives.base import SparseObjective
from swapwise.objectives.gram_search import GramSearch
from swapwise.objectives.least_squares import LeastSquares
from swapwise.search.loop import Trace, run
from swapwise.search.result import Event
from swapwise.search.rules import BestImprovement, Oblivious
from swapwise.search.strategies import LocalSearch


class Subproblem:
    """A model on some elements, searched by best improvement: in compiled code under laminar limits.

    Sets and steps are in the numbers of the whole ground set.
    """

    #: The model's value where the last search began and ended
    value_at_start: float
    value: float

    def __init__(
        self, model: SparseObjective, constraint: IndependenceSystem, elements: IndexArray, tol: float
    ) -> None:
        self.model, self.elements = model, elements
        self.system = constraint.induced(elements)
        self._tol = tol
        self._compiled: GramSearch | None = None
        if isinstance(model, LeastSquares) and self.system.laminar_tree() is not None:
            self._compiled = GramSearch(model, self.system, tol, elements)

    @property
    def is_compiled(self) -> bool:
        """Whether a search takes next to no time."""
        return self._compiled is not None

    def search(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        """Return the best moves from a set of the elements to a local optimum of the model."""
        places = np.searchsorted(self.elements, start)
        if self._compiled is not None:
            steps = self._compiled.steps(places, budget)
            if steps is not None:
                self.value_at_start, self.value = self._compiled.value_at_start, self._compiled.value
                return steps
        return self._search_by_loop(places, budget)

    def _search_by_loop(self, start: IndexArray, budget: Budget) -> Sequence[Step]:
        trace = Trace(start)
        strategy = LocalSearch(self.system, Oblivious(), BestImprovement(self._tol))
        with unwarned():  # that columns are collinear matters once they are chosen
            state = self.model.start(start)
            self.value_at_start = state.value
            try:
                run([strategy], state, trace, Budget(budget.clock, budget.moves))
            finally:
                self.value = state.value
                steps = [self._step(event) for event in trace.history]
                if steps:
                    budget.keep(steps, steps[-1].value)
        return steps

    def _step(self, event: Event) -> Step:
        added, dropped = (
            tuple(self.elements[list(places)].tolist()) for places in (event.added, event.dropped)
        )
        return Step(Move(added, dropped), event.value)


def disjoint_bases(
    weights: FloatArray, chosen: IndexArray, constraint: IndependenceSystem, count: int
) -> IndexArray:
    """Return the forced elements, and disjoint maximal sets of the largest weights among those not chosen."""
    is_left = weights > 0
    is_left[chosen] = False
    is_left[constraint.forced] = False
    best_first = np.argsort(-weights, kind="stable")
    found = [constraint.forced]
    for _ in range(count):
        best_first = best_first[is_left[best_first]]
        found.append(constraint.extend(np.empty(0, dtype=np.intp), best_first))
        is_left[found[-1]] = False
    return np.concatenate(found)
