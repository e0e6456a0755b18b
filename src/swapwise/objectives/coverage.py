"""Weighted coverage: choose sets whose union weighs the most."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from typing import Any

import numpy as np
import scipy

from swapwise.checks import FloatArray, IndexArray, as_elements, as_real
from swapwise.moves import Move
from swapwise.objectives.base import SetFunction
from swapwise.objectives.swap_state import SwapState
from swapwise.override import override


class Coverage(SetFunction):
    r"""The total weight of the items that the chosen sets cover.

    .. math:: f(S) = \sum_{i \,∈\, ∪_{j∈S} A_j} w_i

    Element ``j`` covers the items of ``sets[j]``, which may be any hashable objects. ``weights``
    maps every item to a weight that is not negative; without it, each item weighs 1.

    See Also
    --------
    FacilityLocation : elements that serve clients more or less well.
    Linear : no overlaps.

    References
    ----------
    - Krause and Golovin (2014), Submodular function maximization.

    Examples
    --------
    >>> from swapwise.moves import MoveList
    >>> f = Coverage([{"a", "b"}, {"b", "c"}, {"d"}], weights={"a": 1, "b": 2, "c": 3, "d": 4})
    >>> f([0, 1])
    6.0
    >>> f.start([0, 1]).gains(MoveList(added=np.array([[2]]), dropped=np.array([[0]])))
    array([3.])
    """

    submodular = True
    scoring = "closed form"
    #: How much the first, second, ... time that an item is covered counts; later times count nothing.
    layers: FloatArray = np.ones(1)

    def __init__(
        self, sets: Iterable[Iterable[Hashable]], weights: Mapping[Any, float] | None = None
    ) -> None:
        columns: dict[Hashable, int] = {}
        rows = [_columns_of(covered, j, columns) for j, covered in enumerate(_each(sets, "sets"))]
        self.n = len(rows)
        self.items = list(columns)
        self.item_weights = _weights_of(self.items, weights)
        indptr = np.cumsum([0, *map(len, rows)])
        indices = np.concatenate([np.empty(0, dtype=np.intp), *rows])
        #: Row j holds a one for every item that element j covers.
        self.incidence = scipy.sparse.csr_array(
            (np.ones(len(indices)), indices, indptr), shape=(self.n, len(self.items))
        )

    @override
    def _value(self, support: IndexArray) -> float:
        return self._worth(np.bincount(self._covered_by(support), minlength=len(self.items)))

    def _covered_by(self, elements: IndexArray) -> IndexArray:
        covered: IndexArray = self.incidence[elements].indices
        return covered

    def _worth(self, counts: IndexArray) -> float:
        times = np.append(0.0, self.layers.cumsum())
        return float((self.item_weights * times[counts.clip(max=len(self.layers))]).sum())

    def _next_worth(self, counts: IndexArray) -> FloatArray:
        """The value that each item would add if it were covered once more."""
        layers = np.append(self.layers, 0.0)
        worth: FloatArray = self.item_weights * layers[counts.clip(max=len(self.layers))]
        return worth

    @override
    def layered(self, layers: FloatArray) -> Coverage:
        potential = copy(self)
        potential.layers = layers
        return potential

    @override
    def start(self, support: Iterable[int] = ()) -> CoverageState:
        return CoverageState(self, as_elements(support, self.n, "the start"))


class CoverageState(SwapState):
    """A state of :class:`Coverage` that counts how often every item is covered.

    A swap loses the last layer of each item of the dropped element; where the added one covers the item, too,
    it gains that layer instead of the next.
    """

    objective: Coverage

    def __init__(self, objective: Coverage, support: IndexArray) -> None:
        self._counts = np.bincount(objective._covered_by(support), minlength=len(objective.items))
        super().__init__(objective, support)

    @override
    def apply(self, move: Move) -> None:
        for elements, step in ((move.added, 1), (move.dropped, -1)):
            touched = self.objective._covered_by(np.asarray(elements, dtype=np.intp))
            np.add.at(self._counts, touched, step)
        super().apply(move)

    @override
    def _settle(self, support: IndexArray) -> None:
        self.support = support
        self.value = self.objective._worth(self._counts)
        self.n_evaluations += 1
        self._next = self.objective._next_worth(self._counts)
        # Items that no element covers have no last layer to lose.
        self._last = self.objective._next_worth(np.maximum(self._counts - 1, 0))

    @override
    def _additions(self, added: IndexArray) -> FloatArray:
        additions: FloatArray = self.objective.incidence[added] @ self._next
        return additions

    @override
    def _losses(self, drops: IndexArray) -> FloatArray:
        losses: FloatArray = self.objective.incidence[drops] @ self._last
        return losses

    @override
    def _overlaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        saved = self.objective.incidence[drops]
        saved.data = (self._last - self._next)[saved.indices]
        saved.eliminate_zeros()
        overlaps: FloatArray = (self.objective.incidence[added] @ saved.T).toarray()
        return overlaps


def _each(values: Any, name: str) -> Iterable[Any]:
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a collection of items to cover, got {values!r}")
    if getattr(values, "ndim", 1) != 1:
        raise TypeError(
            f"{name} must be a flat collection, got an array of more than one dimension; "
            f"for an incidence matrix, give [np.flatnonzero(row) for row in matrix]"
        )
    return values


def _columns_of(covered: Iterable[Hashable], j: int, columns: dict[Hashable, int]) -> IndexArray:
    """The columns of the items of ``sets[j]``; items not seen before get the next ones."""
    found = set()
    for item in _each(covered, f"sets[{j}]"):
        try:
            found.add(columns.setdefault(item, len(columns)))
        except TypeError:
            raise TypeError(f"sets[{j}] must hold hashable items, got {item!r}") from None
    return np.array(sorted(found), dtype=np.intp)


def _weights_of(items: list[Hashable], weights: Mapping[Any, float] | None) -> FloatArray:
    if weights is None:
        return np.ones(len(items))
    if not hasattr(weights, "keys"):
        raise TypeError(f"weights must be a mapping from item to weight, or None, got {weights!r}")
    for item in items:
        if item not in weights:
            raise ValueError(f"weights must hold every item of the sets, but item {item!r} is missing")
    values = [as_real(weights[item], f"the weight of item {item!r}") for item in items]
    return np.array(values, dtype=np.float64)
