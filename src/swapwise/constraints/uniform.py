"""At most k elements."""

from __future__ import annotations

import numpy as np

from swapwise.checks import IndexArray, as_count
from swapwise.constraints.base import LaminarTree, names_of
from swapwise.constraints.laminar import Laminar


class Uniform(Laminar):
    """At most ``k`` of ``n`` elements: the plain size limit.

    Examples
    --------
    >>> from swapwise import Uniform
    >>> pair = Uniform(4, 2)
    >>> pair.is_independent([0, 3]), pair.is_independent([0, 1, 3])
    (True, False)
    >>> pair.max_weight([0.5, 2.0, 1.0, 0.1]).support
    array([1, 2])
    """

    def __init__(self, n: int, k: int) -> None:
        self.n = as_count(n, "n")
        self.k = as_count(k, "k")
        root = np.zeros(1, dtype=np.intp)
        self._tree = LaminarTree(
            leaf=np.zeros(self.n, dtype=np.intp),
            end=root + 1,
            parent=root,
            capacity=root + min(self.k, self.n),
        )
        self._levels = [root]

    def induced(self, elements: IndexArray) -> Uniform:
        """Return the same limit on some of the elements."""
        part = Uniform(len(elements), self.k)
        part.names = names_of(self, elements)
        return part

    def __repr__(self) -> str:
        """Return a short description."""
        return f"Uniform(n={self.n}, k={self.k})"
