"""Orthogonal matching pursuit: the steepest addition, then a refit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from swapwise.clock import Budget
from swapwise.constraints.base import Constraint
from swapwise.moves import Move, Step, additions
from swapwise.objectives.base import SparseState, State, gradient_norms2
from swapwise.override import override
from swapwise.search.methods.base import SparseMethod, moved_to


class OrthogonalMatchingPursuit(SparseMethod):
    """Add the element with the longest gradient, as long as one fits, and refit after each.

    A round adds ``argmax ‖∇u(w)_j‖²`` over the elements that can be added. It takes one gradient, where
    ``"greedy"`` (forward selection) scores every addition by its exact gain: for least squares, OMP
    divides ``c_j²`` by ``‖a_j‖²`` if columns are scaled to unit length, and greedy by what is left of
    ``‖a_j‖²`` beside the chosen columns. Gradients depend on the scale of columns, so give them one. It ends
    when nothing that can be added has a gradient, or when the steepest addition gains nothing. With bounds on
    coefficients, a gradient counts as far as coefficients can follow it.

    See Also
    --------
    Greedy : exact gains in place of gradients.
    sklearn.linear_model.OrthogonalMatchingPursuit : under a size limit only.

    References
    ----------
    - Pati, Rezaiifar and Krishnaprasad (1993), Orthogonal matching pursuit.
    - Tropp (2004), Greed is good: algorithmic results for sparse approximation.
    - Elenberg, Khanna, Dimakis and Negahban (2018), Restricted strong convexity implies weak submodularity.

    Examples
    --------
    >>> from swapwise import LeastSquares, Partition, maximize
    >>> f = LeastSquares(np.eye(4), [1.0, 3.0, 2.0, 1.0])
    >>> maximize(f, Partition(["a", "a", "b", "b"], 1), "omp").support
    array([1, 2])
    """

    name = "omp"
    within_bounds = True

    @override
    def rounds(self, state: State, budget: Budget) -> Iterator[Sequence[Step]]:
        assert isinstance(state, SparseState)
        while True:
            budget.check()
            move = steepest_addition(state, self._constraint)
            if move is None:
                return
            steps = moved_to(move.result(state.support), state, budget, self._tol)
            if not steps:
                return
            yield steps


def steepest_addition(state: SparseState, constraint: Constraint) -> Move | None:
    moves = additions(constraint.addable(state.support))
    index, top = moves.best(np.where(moves.free, gradient_norms2(state), -np.inf)[:, None])
    return moves.move(index) if top > 0 else None
