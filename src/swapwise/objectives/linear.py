"""The simplest set function: every element has a weight of its own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from swapwise.checks import FloatArray, IndexArray, as_elements, as_vector
from swapwise.moves import MoveBatch, MoveList
from swapwise.objectives.base import SetFunction
from swapwise.objectives.swap_state import SwapState
from swapwise.override import override


class Linear(SetFunction):
    r"""The total weight of a set, with weights that are not negative.

    .. math:: f(S) = \sum_{j∈S} w_j

    See Also
    --------
    Coverage : weights of what is covered, counted once.
    Constraint.max_weight : the best set by weights, without a search.

    Examples
    --------
    >>> f = Linear([3.0, 1.0, 2.0])
    >>> f([0, 2])
    5.0
    >>> f.start([1]).gains(MoveList(added=np.array([[0, 2]]), dropped=np.array([[1]])))
    array([4.])
    """

    submodular = True
    scoring = "closed form"

    def __init__(self, weights: ArrayLike) -> None:
        # f must be monotone, hence no negative weights.
        self.weights = as_vector(weights, None, "weights", non_negative=True).copy()
        self.n = self.weights.size

    @override
    def _value(self, support: IndexArray) -> float:
        return float(self.weights[support].sum())

    @override
    def layered(self, layers: FloatArray) -> Linear:
        return Linear(layers[0] * self.weights)

    @override
    def start(self, support: Iterable[int] = ()) -> LinearState:
        return LinearState(self, as_elements(support, self.n, "the start"))


class LinearState(SwapState):
    objective: Linear

    @override
    def gains(self, moves: MoveBatch) -> FloatArray:
        if not isinstance(moves, MoveList):
            return super().gains(moves)
        self.n_evaluations += len(moves)
        # A list is padded by -1, the index of the weight 0 appended last.
        weights = np.append(self.objective.weights, 0.0)
        return weights[moves.added].sum(axis=1) - weights[moves.dropped].sum(axis=1)

    @override
    def _additions(self, added: IndexArray) -> FloatArray:
        return self.objective.weights[added]

    @override
    def _losses(self, drops: IndexArray) -> FloatArray:
        return self.objective.weights[drops]

    @override
    def _overlaps(self, added: IndexArray, drops: IndexArray) -> FloatArray:
        return np.zeros((len(added), len(drops)))  # no element makes up for another
