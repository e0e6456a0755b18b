"""Methods that add one element at a time and never drop one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.checks import BoolArray, FloatArray
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move, Step, additions
from swapwise.objectives.base import SetFunction, State, costs_little
from swapwise.search.local_search import LocalSearch
from swapwise.search.methods.base import Method
from swapwise.search.rules import Additions, BestImprovement


class Greedy(Method):
    """Add the element that gains the most, as long as one fits: forward selection.

    For regression it is also called forward stepwise selection or orthogonal least squares. ``"omp"`` is its
    cheaper relative, which looks at gradients.

    References
    ----------
    Nemhauser, Wolsey and Fisher (1978), An analysis of approximations for maximizing submodular functions.
    Elenberg, Khanna, Dimakis and Negahban (2018), Restricted strong convexity implies weak submodularity.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> maximize(Coverage([{1, 2, 3}, {1, 2}, {4}]), Uniform(3, 2), "greedy").support
    array([0, 2])
    """

    name = "greedy"
    warns = True

    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        """Make the best addition."""
        search = LocalSearch(self._constraint, Additions(), BestImprovement(self._tol))
        while steps := search.advance(state, budget):
            yield steps
        self.finished = search.finished


class RandomResidualGreedy(Method):
    """In each of rank rounds, add a random element of what would be the max-weight rest.

    The rest is the base of the contracted matroid with the largest sum of marginal gains; one of its
    elements, each as likely as the others, is added.

    References
    ----------
    Buchbinder, Feldman, Naor and Schwartz (2014), Submodular maximization with cardinality constraints.
    Chen, Feldman and Karbasi (2018), Weakly submodular maximization beyond cardinality constraints.
    Thiery and Ward (2022), Two-sided weak submodularity, with the better factor γ/(γ + β).

    Examples
    --------
    >>> from swapwise import Linear, Partition, maximize
    >>> maximize(Linear([1, 2, 3]), Partition(["a", "a", "b"], 1), "random-residual-greedy").support
    array([1, 2])
    """

    name = "random-residual-greedy"
    draws = True
    warns = True

    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        """Ask for a matroid."""
        return None if isinstance(constraint, Matroid) else f"a matroid, got {constraint!r}"

    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        """Make the random addition of a round, up to a base."""
        assert self._rng is not None
        while True:
            gains = gains_of_additions(state, self._constraint.addable(state.support), budget)
            best_first = np.argsort(-gains, kind="stable")
            fitting = best_first[np.isfinite(gains[best_first])]
            rest = np.setdiff1d(self._constraint.extend(state.support, fitting), state.support)
            if not len(rest):
                return
            move = Move(added=(int(self._rng.choice(rest)),))
            budget.keep([Step(move, np.inf)], np.inf)
            state.apply(move)
            yield [Step(move, state.value)]


def gains_of_additions(state: State, addable: BoolArray, budget: Budget) -> FloatArray:
    """Return the gain of adding each element, minus infinity where that is not feasible.

    Until all are known, the best of those that are is kept in the budget.
    """
    gains = np.full(len(addable), -np.inf)
    batch = additions(addable)
    for piece in budget.pieces([batch], costs_little(state, batch)):
        scores, listed = state.gains(piece), piece.to_list()
        gains[listed.added[:, 0]] = scores[np.isfinite(scores)]
        index, top = piece.best(scores)
        if index >= 0 and top > 0:
            budget.keep([Step(piece.move(index), state.value + top)], top)
    return gains
