"""FoBa: forward selection with backward steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import as_real
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import Found, Move, MoveList, Step, additions, move_between
from swapwise.objectives.base import SetFunction, SparseState, State
from swapwise.override import override
from swapwise.search.methods.base import Method, needs_coefficients
from swapwise.search.methods.matching_pursuit import steepest_addition
from swapwise.search.result import Status

#: The name of steps that drop an element on the record
BACKWARD = "backward"


class ForwardBackward(Method):
    """Forward steps add the best element; backward steps drop elements that are hardly missed.

    With δ_k the gain of the last forward step to size k, an element is dropped from a set of size k if that
    loses at most ``nu · δ_k``, the cheapest element first. Under any constraint a forward step is the best
    addition that is feasible. Where none is, as at a base of a matroid, backward steps may make room for
    others; the search ends where neither kind is possible.

    It does end. Let W_k be the value when the search was last at size k. A backward step from size k leads
    to a value of at least ``W_k − ν δ_k > W_k − δ_k ≥ W_{k−1}``, so it raises the last of ``(W_0, ..,
    W_{k−1})``; a forward step appends W_k to these. Either way the sequence grows in lexicographic order, and
    there are finitely many. (``W_k − δ_k ≥ W_{k−1}`` holds with equality after a forward step, and W_k only
    rises until the search is at size k − 1 again.) Each pair of a forward and a backward step gains at least
    ``(1 − ν) δ``, so there are at most ``max f / ((1 − ν) ε)`` backward steps, if ε is the least gain that
    counts: ``tol`` times the value.

    Steps back lower the value. They are on the record, as made by ``"backward"``, if they led to a better
    set; the answer is the best set that the search came to.

    Parameters
    ----------
    nu : number from 0 to below 1
        How much of the last gain a backward step may lose.
    forward : "gain" or "gradient"
        Whether a forward step is the best addition by its exact gain, or the one with the longest gradient,
        which is cheaper where gains take refits.

    See Also
    --------
    Greedy : without steps back.

    References
    ----------
    - Zhang (2011), Adaptive forward-backward greedy algorithm for learning sparse representations.
    - Jalali, Johnson and Ravikumar (2011), On learning discrete graphical models using greedy methods.
    - Liu, Fujimaki and Ye (2014), Forward-backward greedy algorithms for general convex smooth functions over
      a cardinality constraint, for ``forward="gradient"``.

    Examples
    --------
    Column 0 is best at first, and needless beside 1 and 2:

    >>> from swapwise import LeastSquares, Uniform, maximize
    >>> X = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0], [0.8, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> f = LeastSquares(X, [1.0, 1.0, 0.0, 0.1])
    >>> maximize(f, Uniform(4, 3), "greedy").support, maximize(f, Uniform(4, 3), "foba").support
    (array([0, 1, 2]), array([1, 2, 3]))
    """

    name = "foba"
    warns = True

    def __init__(self, nu: float = 0.5, forward: str = "gain") -> None:
        self.nu = as_real(nu, "nu")
        if self.nu >= 1:
            raise ValueError(f"nu must be less than 1, got {nu!r}")
        if forward not in ("gain", "gradient"):
            raise ValueError(f"forward must be 'gain' or 'gradient', got {forward!r}")
        self.forward = forward

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        return needs_coefficients(objective) if self.forward == "gradient" else None

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        best, value, trial = state.support, state.value, list[Step]()
        for step in self._walk(state, budget, trial):
            trial.append(step)
            if step.value > value + state.resolution(self._tol):
                best, value = state.support, state.value
                yield list(trial)
                trial.clear()
            elif len(trial) == budget.moves:  # a further step would exceed the limit
                self.finished = Status.ITERATION_LIMIT
                break
        if trial:
            state.apply(move_between(state.support, best))

    def _walk(self, state: State, budget: Budget, trial: Sequence[Step]) -> Iterator[Step]:
        """Make the steps of the algorithm; ``trial`` has those since the best set, which may be given up."""
        gains: list[float] = []  # of the last forward step to each size
        while True:
            # Moves from a trial set are not moves from the set on the record, and must not be kept.
            found = self._addition(state, Budget(budget.clock) if trial else budget)
            before = state.value
            if found is None:
                return
            state.apply(found)
            if state.value <= before + state.resolution(self._tol):
                state.apply(found.undone)
                return
            gains.append(state.value - before)
            yield Step(found, state.value)
            while (drop := self._cheapest_drop(state, budget)) and -drop.score <= self.nu * gains[-1]:
                before = state.value
                state.apply(drop.move)
                # With wrong scores, the algorithm would not end.
                if before - state.value > self.nu * gains[-1]:
                    state.apply(drop.move.undone)
                    break
                gains.pop()
                yield Step(drop.move, state.value, BACKWARD)

    def _addition(self, state: State, budget: Budget) -> Move | None:
        budget.check()
        if self.forward == "gradient":
            assert isinstance(state, SparseState)
            return steepest_addition(state, self._constraint)
        moves = additions(self._constraint.addable(state.support))
        found = state.find_best([moves], state.resolution(self._tol), budget)
        return None if found is None else found.move

    def _cheapest_drop(self, state: State, budget: Budget) -> Found | None:
        free = self._constraint.droppable(state.support)
        nothing = np.empty((len(free), 0), dtype=np.intp)
        return state.find_best([MoveList(nothing, free[:, None])], -np.inf, Budget(budget.clock))
