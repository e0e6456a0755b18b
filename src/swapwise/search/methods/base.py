"""The contract of methods other than local search: a name, what they need, and rounds that move the state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from typing import Any, Self

import numpy as np

from swapwise.checks import IndexArray, as_generator, unwarned
from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import Step, move_between
from swapwise.objectives.base import SetFunction, SparseObjective, State
from swapwise.override import override
from swapwise.search.loop import Strategy


class Method(Strategy):
    """A strategy that is chosen by name, or given as an object with options of its own.

    ``__init__`` takes nothing but options; :meth:`bound` returns a copy with the problem that it is run on.
    Write :meth:`rounds`, and :meth:`missing` if not every problem will do.
    """

    #: Whether it draws at random, so that another run may end elsewhere
    draws: bool = False
    #: Whether to warn about sets on the way, of which most methods give up many. Warnings about the answer
    #: are given in any case, when it is refitted at the end.
    warns: bool = False

    _objective: SetFunction
    _constraint: Constraint
    _tol: float
    _rng: np.random.Generator | None
    _under_way: Iterator[Sequence[Step]] | None

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that it was made with, by name."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __repr__(self) -> str:
        options = (f"{name}={value!r}" for name, value in self.options.items())
        return f"{type(self).__name__}({', '.join(options)})"

    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        """Return what the method needs and the problem lacks, or None."""
        return None

    def bound(
        self,
        objective: SetFunction,
        constraint: Constraint,
        tol: float = 1e-10,
        rng: np.random.Generator | None = None,
    ) -> Self:
        """Return a fresh run of the method on a problem; None for the generator is that of seed 0."""
        run = copy(self)
        run._objective, run._constraint, run._tol = objective, constraint, tol
        run._rng = as_generator(rng) if self.draws else None
        run._under_way = None
        run.details = {}
        return run

    @abstractmethod
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        """Move the state and yield the steps, round by round: see :meth:`Strategy.advance`.

        A round that makes no move yields nothing.
        """

    @override
    def advance(self, state: State, budget: Budget) -> Sequence[Step]:
        if self._under_way is None:
            self._under_way = self.rounds(state, budget)
        with nullcontext() if self.warns else unwarned():
            return next((steps for steps in self._under_way if steps), [])


class SparseMethod(Method):
    _objective: SparseObjective
    #: Whether its steps keep to bounds on coefficients
    within_bounds: bool = False

    @override
    def missing(self, objective: SetFunction, constraint: Constraint) -> str | None:
        lacks = needs_coefficients(objective)
        if lacks is not None or self.within_bounds:
            return lacks
        assert isinstance(objective, SparseObjective)
        if objective.bounds is None:
            return None
        return "coefficients that may be any numbers: it works without bounds on coefficients only"


def needs_coefficients(objective: SetFunction) -> str | None:
    if isinstance(objective, SparseObjective):
        return None
    return f"coefficients and gradients, which {type(objective).__name__} lacks: it is a set function"


def keep_set(target: IndexArray, best: IndexArray, budget: Budget) -> None:
    """Keep a set as the answer if time runs out and it is better, in place of the set kept before."""
    budget.forget()
    budget.keep([Step(move_between(best, target), np.inf)], np.inf)


class Incumbent:
    """The best set so far of a method whose state may move to worse ones, which are not recorded."""

    def __init__(self, state: State, budget: Budget, tol: float) -> None:
        self._state, self._budget, self._tol = state, budget, tol
        self.support, self.value = state.support, state.value

    def go(self, target: IndexArray) -> list[Step]:
        state, step = self._state, move_between(self.support, target)
        keep_set(target, self.support, self._budget)
        self._move(target)
        if state.value > self.value + state.resolution(self._tol):
            self.support, self.value = state.support, state.value
            return [Step(step, state.value)]
        self._budget.forget()
        return []

    def restore(self) -> None:
        self._move(self.support)

    def _move(self, target: IndexArray) -> None:
        if not np.array_equal(target, self._state.support):
            self._state.apply(move_between(self._state.support, target))


def moved_to(target: IndexArray, state: State, budget: Budget, tol: float) -> list[Step]:
    best = Incumbent(state, budget, tol)
    steps = best.go(target)
    best.restore()
    return steps
