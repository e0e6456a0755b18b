"""Methods that add one element at a time and never drop one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.constraints.matroid import Matroid
from swapwise.moves import Move, Step, move_between
from swapwise.objectives.base import SetFunction, State
from swapwise.override import override
from swapwise.search.local_search import LocalSearch
from swapwise.search.methods.base import Method
from swapwise.search.rules import Additions, BestImprovement, gains_of_additions


class Greedy(Method):
    """Add the element that gains the most, as long as one fits: forward selection.

    For regression it is also called forward stepwise selection or orthogonal least squares. ``"omp"`` is its
    cheaper relative, which compares gradients.

    See Also
    --------
    OrthogonalMatchingPursuit : compares gradients.
    ForwardBackward : with steps back.

    References
    ----------
    - Nemhauser, Wolsey and Fisher (1978), An analysis of approximations for maximizing submodular functions.
    - Elenberg, Khanna, Dimakis and Negahban (2018), Restricted strong convexity implies weak submodularity.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> maximize(Coverage([{1, 2, 3}, {1, 2}, {4}]), Uniform(3, 2), "greedy").support
    array([0, 2])
    """

    name = "greedy"
    warns = True

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        search = LocalSearch(self._constraint, Additions(), BestImprovement(self._tol))
        while steps := search.advance(state, budget):
            yield steps
        self.finished = search.finished


class Density(Method):
    """Add the element that gains the most for what it takes of the budget, as long as one can be paid for.

    With several budgets, what counts is that of which an element takes the largest share. By itself it may
    end far from the best: a cheap element comes first, and leaves too little for a far better one. See
    ``"cost-benefit"``.

    See Also
    --------
    CostBenefit : the better of this and greedy.
    swapwise.Knapsack : the budget.

    References
    ----------
    - Khuller, Moss and Naor (1999), The budgeted maximum coverage problem.

    Examples
    --------
    >>> from swapwise import Knapsack, Linear, maximize
    >>> maximize(Linear([5.0, 4.0, 4.0]), Knapsack([4.0, 3.0, 2.0], 5.0), "density").support
    array([1, 2])
    """

    name = "density"
    warns = True

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        return needs_budget(constraint)

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        shares = self._constraint.shares
        assert shares is not None
        while True:
            gains = gains_of_additions(state, self._constraint.addable(state.support), budget)
            worthy = np.flatnonzero(gains > state.resolution(self._tol))
            if not len(worthy):
                return
            # What costs nothing comes first, the best of it before the others.
            per_cost = gains[worthy] / np.maximum(shares[worthy], np.finfo(float).tiny)
            best = int(worthy[np.lexsort((-gains[worthy], -per_cost))[0]])
            move = Move(added=(best,))
            budget.keep([Step(move, state.value + gains[best])], float(gains[best]))
            state.apply(move)
            yield [Step(move, state.value)]


class CostBenefit(Method):
    """The better of two greedy sets, by gain and by gain per cost: what searches within a budget begin with.

    See Also
    --------
    Greedy, Density : the two sets that it compares.
    swapwise.Knapsack : the budget.

    References
    ----------
    - Leskovec et al. (2007), Cost-effective outbreak detection in networks.

    Examples
    --------
    >>> from swapwise import Knapsack, Linear, maximize
    >>> maximize(Linear([9.0, 4.0, 4.0]), Knapsack([5.0, 2.0, 2.0], 5.0), "cost-benefit").support
    array([0])
    """

    name = "cost-benefit"

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        return needs_budget(constraint)

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        best: list[Step] = []
        for kind in (Greedy(), Density()):
            trial, steps = self._objective.start(state.support), list[Step]()
            run = kind.bound(self._objective, self._constraint, self._tol)
            while more := run.advance(trial, Budget(budget.clock)):
                steps += more
            state.n_evaluations += trial.n_evaluations
            if steps and steps[-1].value > (best[-1].value if best else state.value):
                best = steps
                budget.forget()
                budget.keep(best, best[-1].value)
        if best:
            target = state.support
            for step in best:
                target = step.move.result(target)
            state.apply(move_between(state.support, target))
            yield best


def needs_budget(constraint: Constraint) -> str | None:
    return None if constraint.shares is not None else f"a budget, such as a Knapsack, got {constraint!r}"


class RandomResidualGreedy(Method):
    """In each of rank rounds, add a random element of what would be the max-weight rest.

    The rest is the base of the contracted matroid with the largest sum of marginal gains; one of its
    elements, each as likely as the others, is added. One that would lower the value, which no element of a
    monotone function does, is not: the round is over without an addition.

    See Also
    --------
    Greedy : without chance.

    References
    ----------
    - Buchbinder, Feldman, Naor and Schwartz (2014), Submodular maximization with cardinality constraints.
    - Chen, Feldman and Karbasi (2018), Weakly submodular maximization beyond cardinality constraints.
    - Thiery and Ward (2022), Two-sided weak submodularity, with the better factor γ/(γ + β).

    Examples
    --------
    >>> from swapwise import Linear, Partition, maximize
    >>> maximize(Linear([1, 2, 3]), Partition(["a", "a", "b"], 1), "random-residual-greedy").support
    array([1, 2])
    """

    name = "random-residual-greedy"
    draws = True
    warns = True

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        return None if isinstance(constraint, Matroid) else f"a matroid, got {constraint!r}"

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert self._rng is not None
        left = self._constraint.n
        while left:
            gains = gains_of_additions(state, self._constraint.addable(state.support), budget)
            best_first = np.argsort(-gains, kind="stable")
            fitting = best_first[np.isfinite(gains[best_first])]
            rest = np.setdiff1d(self._constraint.extend(state.support, fitting), state.support)
            if len(rest) > left:  # rounds without an addition have used up places
                rest = np.sort(rest[np.argsort(-gains[rest], kind="stable")[:left]])
            if not len(rest):
                return
            drawn, left = int(self._rng.choice(rest)), len(rest) - 1
            if gains[drawn] < -state.resolution(self._tol):
                continue
            move = Move(added=(drawn,))
            budget.keep([Step(move, np.inf)], np.inf)
            state.apply(move)
            yield [Step(move, state.value)]
