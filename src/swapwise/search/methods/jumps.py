"""Methods and starts that make one move, to a set found by other means than moves."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from swapwise.checks import IndexArray
from swapwise.clock import Budget
from swapwise.moves import Step, move_between
from swapwise.objectives.base import State
from swapwise.override import override
from swapwise.search.methods.base import Method
from swapwise.search.rules import gains_of_additions


class Jump(Method):
    """One move to a set that is found by other means; none if it is the current set."""

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        move = move_between(state.support, self._target(state, budget))
        if move.added:
            budget.keep([Step(move, np.inf)], np.inf)
            state.apply(move)
            yield [Step(move, state.value)]

    @abstractmethod
    def _target(self, state: State, budget: Budget) -> IndexArray: ...


class Modular(Jump):
    """Ignore all interaction: the max-weight set by the gains of single elements (Algorithm 6).

    See Also
    --------
    Greedy : computes gains again after each addition.

    References
    ----------
    - Cevher and Krause (2011), Greedy dictionary selection for sparse representation; the paper's Appendix D.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> maximize(Coverage([{1, 2, 3}, {1, 2}, {4}]), Uniform(3, 2), "modular").support
    array([0, 1])
    """

    name = "modular"

    @override
    def _target(self, state: State, budget: Budget) -> IndexArray:
        gains = gains_of_additions(state, self._constraint.addable(state.support), budget)
        return self._constraint._max_weight_holding(
            state.support, np.maximum(gains, 0.0), budget.clock
        ).support


class RandomSet(Jump):
    """A random maximal set: the baseline of the paper's second experiment.

    See Also
    --------
    Modular : the other baseline of the paper.

    References
    ----------
    - Fujii (2020), Approximation guarantees of local search algorithms via localizability of set functions,
      ICML.

    Examples
    --------
    >>> from swapwise import Linear, Uniform, maximize
    >>> len(maximize(Linear([1, 2, 3]), Uniform(3, 2), "random").support)
    2
    """

    name = "random"
    draws = True

    @override
    def _target(self, state: State, budget: Budget) -> IndexArray:
        assert self._rng is not None
        return self._constraint.random_set(state.support, self._rng)


class MaximalSet(Jump):
    """A maximal set in index order: "add arbitrary elements" in the paper's Algorithms 1, 3 and 4."""

    name = "arbitrary"

    @override
    def _target(self, state: State, budget: Budget) -> IndexArray:
        return self._constraint.extend(state.support, np.arange(self._constraint.n))


class BestSingleton(Jump):
    """The best single element, completed to a maximal set in index order."""

    name = "best-singleton"

    @override
    def _target(self, state: State, budget: Budget) -> IndexArray:
        first = state.support
        gains = gains_of_additions(state, self._constraint.addable(first), budget)
        if gains.max(initial=-np.inf) > -np.inf:
            first = np.union1d(first, [int(np.argmax(gains))])
        return self._constraint.extend(first, np.arange(self._constraint.n))


class ComputedSet(Jump):
    def __init__(self, name: str, find: Callable[[Budget], IndexArray]) -> None:
        self.name, self._find = name, find

    @override
    def _target(self, state: State, budget: Budget) -> IndexArray:
        return self._find(budget)
