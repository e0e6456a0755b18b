"""The strategies that look at the whole ground set: local search, greedy methods, and sets in one jump."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from swapwise.checks import BoolArray, FloatArray, IndexArray, warn
from swapwise.clock import Budget
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move, Step, additions, move_between
from swapwise.objectives.base import SetFunction, State, costs_little
from swapwise.search.loop import Strategy, ending_at
from swapwise.search.result import Status
from swapwise.search.rules import Acceptance, BestImprovement, Oblivious, Pivot


class LocalSearch(Strategy):
    """Moves to a neighbouring set for as long as the rules find a good enough one."""

    def __init__(
        self, constraint: IndependenceSystem, rule: Pivot, acceptance: Acceptance, q: int = 1
    ) -> None:
        self._constraint, self._rule, self._acceptance, self._q = constraint, rule, acceptance, q
        self.name, self.finished = rule.name, rule.finished
        # A rule of one's own, derived from this one, may leave moves out or score them otherwise.
        self._may_run = type(rule) is Oblivious and isinstance(acceptance, BestImprovement) and q == 1
        self._optimum: IndexArray | None = None

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Make the move that the rules choose, or many at first where that can be done in compiled code."""
        if self._may_run:
            self._may_run = False  # only once: errors of updates add up, so later moves are scored exactly
            steps, is_optimal = state.best_run(self._constraint, self._acceptance.tol, budget)
            self._optimum = state.support if is_optimal else None
            if steps:
                return ending_at(steps, state.value)
        if self._optimum is not None and np.array_equal(self._optimum, state.support):
            return []  # nothing has led away from where the search ended
        found = self._acceptance.pick(self._rule, state, self._constraint, self._q, budget)
        self._optimum = state.support if found is None else None
        return [] if found is None else self._make(found.move, state)

    def _make(self, move: Move, state: State) -> Sequence[Step]:
        before = state.value
        state.apply(move)
        if state.value > before:
            return [Step(move, state.value)]
        state.apply(move.undone)
        warn(f"{move} did not raise the value {before:.6g} as predicted: {self._rule.failure_hint}")
        self.finished = Status.INTERRUPTED
        return []


class Jump(Strategy):
    """One move to a set that is found by other means; nothing if the set is there already."""

    def __init__(self, constraint: IndependenceSystem) -> None:
        self._constraint = constraint
        self._done = False

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Go to the set at once."""
        if self._done:
            return []
        self._done = True
        move = move_between(state.support, self._target(state, budget))
        if not move.added:
            return []
        budget.keep([Step(move, np.inf)], np.inf)
        state.apply(move)
        return [Step(move, state.value)]

    def _target(self, state: State, budget: Budget) -> IndexArray:
        raise NotImplementedError


class Modular(Jump):
    """Ignore all interaction: the max-weight set by the gains of single elements (Algorithm 6)."""

    name = "modular"

    def _target(self, state: State, budget: Budget) -> IndexArray:
        gains = gains_of_additions(state, self._constraint.addable(state.support), budget)
        found = self._constraint._max_weight(np.maximum(gains, 0.0), budget.clock)
        return np.union1d(found.support, state.support)


class RandomSet(Jump):
    """A random maximal set: the baseline of the paper's second experiment."""

    name = "random"

    def __init__(self, constraint: IndependenceSystem, rng: np.random.Generator) -> None:
        super().__init__(constraint)
        self._rng = rng

    def _target(self, state: State, budget: Budget) -> IndexArray:
        return self._constraint.random_set(state.support, self._rng)


class MaximalSet(Jump):
    """A maximal set in index order: line 2 of the paper's algorithms."""

    name = "arbitrary"

    def _target(self, state: State, budget: Budget) -> IndexArray:
        return self._constraint.extend(state.support, np.arange(self._constraint.n))


class BestSingleton(Jump):
    """The best single element, completed to a maximal set in index order."""

    name = "best-singleton"

    def _target(self, state: State, budget: Budget) -> IndexArray:
        first = state.support
        gains = gains_of_additions(state, self._constraint.addable(first), budget)
        if gains.max(initial=-np.inf) > -np.inf:
            first = np.union1d(first, [int(np.argmax(gains))])
        return self._constraint.extend(first, np.arange(self._constraint.n))


class Given(Jump):
    """A set that is worked out when the search begins, such as the rounding of a relaxation."""

    def __init__(
        self, name: str, constraint: IndependenceSystem, find: Callable[[Budget], IndexArray]
    ) -> None:
        super().__init__(constraint)
        self.name, self._find = name, find

    def _target(self, state: State, budget: Budget) -> IndexArray:
        return self._find(budget)


class RandomResidualGreedy(Strategy):
    """In each of rank rounds, add a random element of what would be the max-weight rest.

    The rest is the base of the contracted matroid with the largest sum of marginal gains; one of its
    elements, each as likely as the others, is added (Chen, Feldman and Karbasi 2018).
    """

    name = "random-residual-greedy"

    @classmethod
    def require(cls, objective: SetFunction, constraint: IndependenceSystem) -> None:
        """Ask for a matroid."""
        if not isinstance(constraint, Matroid):
            raise TypeError(f"{cls.name} is for a matroid, got {constraint!r}; greedy works here")

    def __init__(self, matroid: Matroid, rng: np.random.Generator) -> None:
        self._matroid, self._rng = matroid, rng

    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        """Make the random addition of this round; none at a base."""
        gains = gains_of_additions(state, self._matroid.addable(state.support), budget)
        best_first = np.argsort(-gains, kind="stable")
        fitting = best_first[np.isfinite(gains[best_first])]
        rest = np.setdiff1d(self._matroid.extend(state.support, fitting), state.support)
        if not len(rest):
            return []
        move = Move(added=(int(self._rng.choice(rest)),))
        budget.keep([Step(move, np.inf)], np.inf)
        state.apply(move)
        return [Step(move, state.value)]


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
