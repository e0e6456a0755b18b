"""Sieves: many sets grow in one pass over the elements, each with a guess of the optimum of its own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from math import ceil, floor, log
from typing import NamedTuple

import numpy as np

from swapwise.checks import as_real
from swapwise.clock import Budget
from swapwise.moves import Move, Step
from swapwise.objectives.base import State
from swapwise.override import override
from swapwise.paper.methods.streaming import Stream, gain_of


class Sieves(Stream):
    """Sets that grow with a guess of the optimum each, in one pass over the elements.

    Guesses are powers of ``1 + epsilon`` within a range that the best single element so far decides: sets
    are begun as their guesses come into it, and given up as they leave it.
    """

    _size: int

    def __init__(self, epsilon: float, order: str) -> None:
        super().__init__(order)
        self.epsilon = as_real(epsilon, "epsilon", positive=True)
        if self.epsilon >= 1:
            raise ValueError(f"epsilon must be below 1, got {epsilon!r}")

    @abstractmethod
    def _range(self, best: float, size: int) -> tuple[float, float]:
        """Return the smallest and the largest guess for sets up to a size, by the best single element."""

    @abstractmethod
    def _threshold(self, guess: float, value: float, n_added: int, places: int) -> float:
        """Return what an element has to add to a set of this value that has filled some of its places."""

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        self._size = self._constraint.max_size()
        added, steps = self._pass(state, budget), list[Step]()
        for element in added[: budget.most(len(added))]:
            move = Move(added=(element,))
            state.apply(move)
            steps.append(Step(move, state.value))
        yield steps

    def _pass(self, state: State, budget: Budget) -> list[int]:
        """Return what the best set of all has beyond the start, in the order of the stream."""
        alone = self._begun(state)
        single, best, added = alone.state.resolution(self._tol), state.value, list[int]()
        sieves: dict[int, Sieve] = {}
        for element in self._stream(state, budget):
            if not self._fits(alone, element):
                continue
            gain = self._gain(alone, element, state)
            if gain > single:
                single = gain
                sieves = self._within_range(sieves, single, state)
            found = [(alone.state.value + gain, [element])]
            for power, sieve in sieves.items():
                if self._offer(element, (1 + self.epsilon) ** power, sieve, state):
                    found.append((sieve.state.value, sieve.added))
            for value, elements in found:
                if value > best + alone.state.resolution(self._tol):
                    best, added = value, elements.copy()
                    budget.keep([Step(Move(added=tuple(sorted(added))), value)], value - state.value)
        return added

    def _begun(self, state: State) -> Sieve:
        state.n_evaluations += 1
        return Sieve(self._objective.start(state.support), [])

    def _fits(self, sieve: Sieve, element: int) -> bool:
        return self._constraint._is_independent(np.sort(np.append(sieve.state.support, element)))

    def _gain(self, sieve: Sieve, element: int, state: State) -> float:
        before = sieve.state.n_evaluations
        gain = gain_of(sieve.state, element)
        state.n_evaluations += sieve.state.n_evaluations - before
        return gain

    def _within_range(self, sieves: dict[int, Sieve], single: float, state: State) -> dict[int, Sieve]:
        """Return the sieves whose guesses are in range, with those that are new."""
        lowest, highest = self._range(single, max(1, self._size - len(state.support)))
        base = log(1 + self.epsilon)
        # A guess at an end of the range is in it, despite rounding.
        powers = range(ceil(log(lowest) / base - 1e-9), floor(log(highest) / base + 1e-9) + 1)
        return {power: sieves.get(power) or self._begun(state) for power in powers}

    def _offer(self, element: int, guess: float, sieve: Sieve, state: State) -> bool:
        """Add the element to a set if it fits and adds enough; return whether it was added."""
        places = self._size - len(state.support)
        if len(sieve.added) >= places or not self._fits(sieve, element):
            return False
        gain = self._gain(sieve, element, state)
        wanted = self._threshold(guess, sieve.state.value - state.value, len(sieve.added), places)
        # An element that adds no more than rounding would take a place for nothing.
        if gain < wanted or gain <= sieve.state.resolution(self._tol):
            return False
        sieve.state.apply(Move(added=(element,)))
        sieve.added.append(element)
        state.n_evaluations += 1
        return True


class Sieve(NamedTuple):
    state: State
    added: list[int]


class SieveStreaming(Sieves):
    """Sieve-streaming: an element joins a set if it adds its share of what is missing to half of a guess.

    With the guess v, a set S of at most k elements takes what adds at least ``(v/2 − f(S)) / (k − |S|)``. Of
    all sets, one per power of ``1 + epsilon`` between m and 2km, where m is the best single element so far,
    the best is the answer.

    For a monotone submodular f under a size limit it has at least ``1/2 − epsilon`` of the optimum. Proof:
    some guess has ``(1 − ε) max f ≤ v ≤ max f``. After i additions ``f(S) ≥ iv/(2k)``, so that a full set
    has v/2. An element of the best set that was refused added less than v/(2k), so that a set that is not
    full lacks less than v/2. Elements that came before the guess was in range add less than that, too. Under
    other constraints it is a heuristic; ``"streaming"`` is the method with a theorem.

    Parameters
    ----------
    epsilon : float between 0 and 1
        How fine the guesses are; there are about ``log(2k) / epsilon`` of them.
    order : "index" or "random"
        The order in which the elements come.

    See Also
    --------
    Streak : for functions that are weakly submodular.
    StreamingSwaps : under matroids.

    References
    ----------
    - Badanidiyuru, Mirzasoleiman, Karbasi and Krause (2014), Streaming submodular maximization: massive data
      summarization on the fly.

    Examples
    --------
    >>> from swapwise import Coverage, Uniform, maximize
    >>> maximize(Coverage([{1}, {1, 2, 3}, {1, 2}, {4, 5}]), Uniform(4, 2), "sieve").support
    array([1, 3])
    """

    name = "sieve"

    def __init__(self, epsilon: float = 0.1, order: str = "index") -> None:
        super().__init__(epsilon, order)

    @override
    def _range(self, best: float, size: int) -> tuple[float, float]:
        return best, 2 * size * best

    @override
    def _threshold(self, guess: float, value: float, n_added: int, places: int) -> float:
        return (guess / 2 - value) / (places - n_added)


class Streak(Sieves):
    """Streak: sieves for functions that are only weakly submodular, such as a goodness of fit.

    With the guess τ, a set of at most k elements takes what adds at least ``τ/k``, however much it has
    already. Guesses are powers of ``1 + epsilon`` between m/(9k²) and km, where m is the best single element
    so far: there are more of them than in ``"sieve"``, since how far f is from submodular is not known.

    Elenberg et al. prove a constant factor for weakly submodular functions under a size limit, on average
    over random orders of the elements, and that there is none for the worst order. Under other constraints
    it is a heuristic.

    Parameters
    ----------
    epsilon : float between 0 and 1
        How fine the guesses are; there are about ``3 log(2k) / epsilon`` of them.
    order : "index" or "random"
        The order in which the elements come.

    See Also
    --------
    SieveStreaming : for submodular functions.

    References
    ----------
    - Elenberg, Dimakis, Feldman and Karbasi (2017), Streaming weak submodularity: interpreting neural
      networks on the fly.

    Examples
    --------
    >>> from swapwise import LeastSquares, Uniform, maximize
    >>> maximize(LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0]), Uniform(4, 2), "streak").support
    array([1, 2])
    """

    name = "streak"

    def __init__(self, epsilon: float = 0.1, order: str = "random") -> None:
        super().__init__(epsilon, order)

    @override
    def _range(self, best: float, size: int) -> tuple[float, float]:
        return best / (9 * size**2), size * best

    @override
    def _threshold(self, guess: float, value: float, n_added: int, places: int) -> float:
        return guess / places
