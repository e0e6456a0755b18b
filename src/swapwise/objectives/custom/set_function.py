"""A set function of the user's own, from any Python callable."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from swapwise.checks import FloatArray, IndexArray, as_count, as_elements, is_number, warn
from swapwise.moves import Move, MoveBatch
from swapwise.numerics import EQUAL
from swapwise.objectives.base import SetFunction, State
from swapwise.override import override


class CustomSetFunction(SetFunction):
    """Any callable as a set function: ``f(S) = function(S) − function(∅)``.

    ``function`` takes a sorted integer array of elements of ``0 .. n-1``, which may be empty, and
    returns a finite number.
    It should be monotone: a warning is given, once, when adding an element is seen to lower it. Say
    ``monotone=True`` or ``submodular=True`` (and monotone) if you know that it is: certificates rest on it.

    See Also
    --------
    CustomObjective : a function of coefficients.
    SetFunction : the class to subclass for more.

    Examples
    --------
    >>> f = CustomSetFunction(lambda chosen: 1.0 + len(chosen) ** 0.5, n=5)
    >>> f([0, 1, 2, 3])
    2.0
    """

    def __init__(
        self,
        function: Callable[[IndexArray], float],
        n: int,
        *,
        monotone: bool = False,
        submodular: bool = False,
    ) -> None:
        if not callable(function):
            raise TypeError(
                f"function must be a callable that takes an integer array and returns a number, "
                f"got {function!r}"
            )
        self.function = function
        self.monotone = monotone or submodular
        self.submodular = submodular
        self.n = as_count(n, "n")
        self._warned = False
        self._at_empty = self._raw_value(np.empty(0, dtype=np.intp))
        # Differences of f are differences of raw values, which round by the size of the offset.
        self.scale = abs(self._at_empty)

    @override
    def _value(self, support: IndexArray) -> float:
        return self._raw_value(support) - self._at_empty

    def _raw_value(self, support: IndexArray) -> float:
        # A copy: the function may change its argument.
        try:
            value = self.function(support.copy())
        except Exception as error:
            error.add_note(f"swapwise called the function with the set {support.tolist()}")
            raise
        if not is_number(value):
            raise TypeError(f"function must return a number, got {value!r} for the set {support.tolist()}")
        number = float(value)
        if not np.isfinite(number):
            raise ValueError(f"function must be finite, got {number} for the set {support.tolist()}")
        return number

    @override
    def start(self, support: Iterable[int] = ()) -> CustomState:
        return CustomState(self, as_elements(support, self.n, "the start"))

    def _warn_if_lower(self, before: IndexArray, value: float, added: tuple[int, ...], gain: float) -> None:
        scale = abs(value) + abs(value + gain) + self.scale
        if self._warned or gain >= -EQUAL * scale:
            return
        self._warned = True
        elements = f"element {added[0]}" if len(added) == 1 else f"elements {list(added)}"
        warn(
            f"the function is not monotone: adding {elements} to the set {before.tolist()} changes it by "
            f"{gain:.6g}; the search still runs, but no guarantee holds",
            always=True,
        )


class CustomState(State):
    """A state of :class:`CustomSetFunction` that warns if an addition ever lowers the value."""

    objective: CustomSetFunction

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        listed = moves.to_list()
        gains = super().gains(listed)
        only_adds = (listed.dropped < 0).all(axis=1) & (gains < 0)
        for index in np.flatnonzero(only_adds):
            added, gain = listed.move(int(index)).added, float(gains[index])
            self.objective._warn_if_lower(self.support, self.value, added, gain)
        return moves.spread(gains)

    @override
    def apply(self, move: Move) -> None:
        before, value = self.support, self.value
        super().apply(move)
        if not move.dropped:
            self.objective._warn_if_lower(before, value, move.added, self.value - value)
