"""Families known only by a test of their sets: the base class, and the matroids among them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from swapwise.checks import IndexArray, as_count
from swapwise.constraints.axioms import Axioms
from swapwise.constraints.base import IndependenceSystem
from swapwise.constraints.matroid import Matroid
from swapwise.override import override

# Answers that are kept, so that no set is tested twice in a series of searches: some 10 MB.
MOST_REMEMBERED = 65_536


class Oracle(IndependenceSystem):
    """A family given by a function, which is called once per set, and has to be deterministic."""

    _axioms: Axioms

    def __init__(self, n: int, is_independent: Callable[[IndexArray], bool]) -> None:
        self.n = as_count(n, "n")
        if not callable(is_independent):
            raise TypeError(f"is_independent must be callable, got {is_independent!r}")
        self._oracle = is_independent
        self._answers: dict[tuple[int, ...], bool] = {}

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}(n={self.n}, {getattr(self._oracle, '__name__', self._oracle)!s})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_answers": {}}  # they can be computed again

    @override
    def _is_independent(self, support: IndexArray) -> bool:
        return self._allows(tuple(support.tolist()))

    def _allows(self, elements: tuple[int, ...]) -> bool:
        known = self._answers.get(elements)
        if known is None:
            if len(self._answers) >= MOST_REMEMBERED:
                self._answers.clear()
            known = self._answers[elements] = self._call(elements)
        return known

    def _call(self, elements: tuple[int, ...]) -> bool:
        answer = self._oracle(np.array(elements, dtype=np.intp))
        if not isinstance(answer, (bool, np.bool_)):
            raise TypeError(
                f"is_independent must return True or False, got {answer!r} for the set {list(elements)}"
            )
        return bool(answer)


class OracleMatroid(Oracle, Matroid):
    """A matroid given by a function that says which sets are independent.

    Parameters
    ----------
    n : int
        Size of the ground set.
    is_independent : callable
        Gets a sorted integer array and returns True or False, for the same set always the same. It has to be
        a matroid: ∅ is independent, so is every subset of an independent set, and of two independent sets the
        larger has an element that can be added to the smaller.

    Raises
    ------
    ValueError
        If an axiom is broken, with the sets that break it. Up to 12 elements all sets are verified. Beyond,
        some 4000 questions verify pairs and random exchanges, and every set that a search meets is checked;
        what was not verified is named by ``assumptions``, and by every certificate that rests on it.

    See Also
    --------
    OracleSystem : for a family that is not a matroid, such as a budget.
    Matroid : the class to subclass.

    References
    ----------
    - Oxley (2011), Matroid Theory, 2nd edition.

    Examples
    --------
    At most two elements, not both of them odd:

    >>> from swapwise import OracleMatroid
    >>> mixed = OracleMatroid(4, lambda support: len(support) <= 2 and (support % 2).sum() <= 1)
    >>> mixed.is_independent([0, 2]), mixed.is_independent([1, 3])
    (True, False)
    >>> mixed.rank([1, 3])
    1

    Not a matroid, so not for a guarantee or a proof that needs one:

    >>> OracleMatroid(3, lambda support: sum([2, 1, 1][j] for j in support) <= 2)
    Traceback (most recent call last):
    ...
    ValueError: OracleMatroid(n=3, <lambda>) is not a matroid: it allows [0] and [1, 2], but none of ...
    """

    def __init__(self, n: int, is_independent: Callable[[IndexArray], bool]) -> None:
        super().__init__(n, is_independent)
        self._axioms = Axioms(self, p=1)
