"""A matroid of which only a test for its sets is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swapwise.checks import IndexArray, as_count
from swapwise.constraints.matroid import Matroid


class OracleMatroid(Matroid):
    """A matroid given by a function that tells which sets are allowed.

    Parameters
    ----------
    n : int
        Size of the ground set.
    is_independent : callable
        Gets a sorted integer array and returns True or False. That it is a matroid is taken on
        trust: ∅ is allowed, so is every subset of an allowed set, and of two allowed sets the larger
        has an element that can be added to the smaller.

    Examples
    --------
    At most two elements, not both of them odd:

    >>> from swapwise import OracleMatroid
    >>> mixed = OracleMatroid(4, lambda support: len(support) <= 2 and (support % 2).sum() <= 1)
    >>> mixed.is_independent([0, 2]), mixed.is_independent([1, 3])
    (True, False)
    >>> mixed.rank([1, 3])
    1
    """

    def __init__(self, n: int, is_independent: Callable[[IndexArray], bool]) -> None:
        self.n = as_count(n, "n")
        if not callable(is_independent):
            raise TypeError(f"is_independent must be callable, got {is_independent!r}")
        self._oracle = is_independent
        if not self._is_independent(np.empty(0, dtype=np.intp)):
            raise ValueError("is_independent must allow the empty set, but returned False for it")

    def __repr__(self) -> str:
        """Return a short description."""
        return f"OracleMatroid(n={self.n}, {getattr(self._oracle, '__name__', self._oracle)!s})"

    def _is_independent(self, support: IndexArray) -> bool:
        # A copy, so that a function that changes its argument changes nobody's set.
        answer = self._oracle(support.copy())
        if not isinstance(answer, (bool, np.bool_)):
            raise TypeError(
                f"is_independent must return True or False, got {answer!r} for the set {support.tolist()}"
            )
        return bool(answer)
